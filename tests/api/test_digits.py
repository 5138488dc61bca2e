"""How many digits of statistics are right: the bounds of docs/guide/semantics.md, against exact arithmetic."""

import math
from collections.abc import Callable, Iterable, Iterator
from decimal import Context, Decimal
from fractions import Fraction
from functools import cache
from itertools import pairwise
from pathlib import Path
from typing import Any, NamedTuple

import dask.dataframe as dd
import numpy as np
import pandas as pd
import pyarrow as pa
import pytest

import dask_gpuscan
from helpers.asked import computed

pl = pytest.importorskip("polars")

PAGE = Path(__file__).parents[2] / "docs" / "guide" / "semantics.md"


class Exact(NamedTuple):
    """An exact answer, and what its bound is made of."""

    answer: Fraction
    n: int
    """Values that it is of."""
    size: Fraction
    """What rounding errors are parts of: see the table."""
    apart: float = 1.0
    """How many times larger the values are than their deviation."""

    @property
    def ratio(self) -> float:
        """The size, in terms of the answer."""
        return float(self.size / abs(self.answer)) if self.answer else math.inf


class Bound(NamedTuple):
    """A row of the table."""

    of: str
    text: str
    units: Callable[[Exact], float]
    """The text as a function, in units in the last place of the answer."""


BOUNDS = {
    "sum": Bound(
        "`sum` of groups, buckets, `rolling` and `expanding`; `cumsum` of groups",
        "½ + n² A / 2⁵²",
        lambda of: 0.5 + of.n**2 * of.ratio / 2**52,
    ),
    "mean": Bound(
        "`mean` of these", "1½ + n² A / 2⁵²", lambda of: 1.5 + of.n**2 * of.ratio / 2**52
    ),
    "library": Bound(
        "`sum` and `mean` of groups that pandas computes itself",
        "1½ + 2 A",
        lambda of: 1.5 + 2 * of.ratio,
    ),
    "single": Bound(
        "`sum` and `cumsum` of groups of float32, which are added in float64",
        "½ + n A / 2²⁸",
        lambda of: 0.5 + of.n * of.ratio / 2**28,
    ),
    "plain": Bound("`cumsum` without groups", "n A", lambda of: of.n * of.ratio),
    "reproducible": Bound(
        "sums and means with `reproducible=True`", "1½ + n M", lambda of: 1.5 + of.n * of.ratio
    ),
    "product": Bound("`prod` of groups, `cumprod`", "n", lambda of: of.n),
    "variance": Bound("`var`, `std`, `sem`", "4 n K", lambda of: 4 * of.n * of.apart),
    "shape": Bound(
        "`skew`, `kurt`", "16 n K (1 + 1 / |S|)", lambda of: 16 * of.n * of.apart * (1 + of.ratio)
    ),
    "pair": Bound(
        "`cov`, `corr` of `rolling` and `expanding`", "4 n C", lambda of: 4 * of.n * of.ratio
    ),
    "weighted": Bound("`ewm().mean`", "8 M / alpha", lambda of: 8 * of.ratio / ALPHA),
    "weighted sum": Bound("`ewm().sum`", "8 A / alpha", lambda of: 8 * of.ratio / ALPHA),
    "weighted pair": Bound(
        "`ewm().var`, `std`, `cov`, `corr`",
        "16 K C / alpha",
        lambda of: 16 * of.apart * of.ratio / ALPHA,
    ),
    "order": Bound("`median`, `quantile`", "2 M", lambda of: 2 * of.ratio),
    "between": Bound("`interpolate`", "4 M", lambda of: 4 * of.ratio),
    "change": Bound("`pct_change`", "1½ + 1 / |S|", lambda of: 1.5 + of.ratio),
    "difference": Bound("`diff`", "½", lambda of: 0.5),
}

ALPHA = 0.25


def test_the_table_is_that_of_the_guide():
    rows = [f"| {row.of} | {row.text.replace('|', chr(92) + '|')} |" for row in BOUNDS.values()]
    assert "\n".join(rows) in PAGE.read_text(encoding="utf-8")


def check(bound: str, found: Any, exact: list[Exact], last: int = 53) -> None:
    """Check that answers are within a bound; one whose exact value is zero has no unit."""
    found = np.asarray(found, "f8").tolist()
    assert len(found) == len(exact)
    for value, of in zip(found, exact, strict=True):
        unit = math.ulp(float(of.answer)) * 2.0 ** (53 - last)
        units = BOUNDS[bound].units(of)
        if of.answer:
            error = float(abs(Fraction(value) - of.answer)) / unit
            assert error <= units, (bound, value, float(of.answer), error, units)


# --- values, and ways to give them ---------------------------------------------------------------------

RNG = np.random.default_rng(0)
SPREAD = RNG.standard_normal(40) * 10.0 ** RNG.integers(-9, 9, 40)
CASES = {
    "ones behind 1e16": [1e16, *[1.0] * 10],
    "large ones that leave": [1.0, 1e100, 1.0, -1e100, 3.0, 1e17, 5.0, -1e17, 7.0, 1e-9],
    "all sizes": SPREAD.tolist(),
    "cancelled": [*SPREAD.tolist(), *(-SPREAD).tolist(), 0.1],
    "signs in turn": [(-1.0) ** i * (1e15 + i / 3) for i in range(21)],
}
FRAME = pd.DataFrame(
    [(k, x) for k, values in enumerate(CASES.values()) for x in values], columns=["k", "x"]
)
WINDOW = 11


WAYS: dict[str, Callable[[Callable[[Any], Any], pd.DataFrame], Any]] = {
    "frame": lambda ask, frame: ask(frame),
    "three partitions": lambda ask, frame: ask(dd.from_pandas(frame, npartitions=3)),
    "partitions of one row": lambda ask, frame: ask(dd.from_pandas(frame, npartitions=len(frame))),
    "batches of three rows": lambda ask, frame: ask(
        dask_gpuscan.stream([frame[i : i + 3] for i in range(0, len(frame), 3)])
    ),
    "batches of one row": lambda ask, frame: ask(
        dask_gpuscan.stream([frame[i : i + 1] for i in range(len(frame))])
    ),
}

FEW = [WAYS[name] for name in ("frame", "three partitions", "batches of one row")]


def pieces(frame: pd.DataFrame) -> Iterator[list[Fraction]]:
    """Yield the values of each group."""
    for _, values in frame.groupby("k")["x"]:
        yield [Fraction(float(x)) for x in values]


def so_far(frame: pd.DataFrame, rows: int = 0) -> Iterator[list[Fraction]]:
    """Yield the values of each row's group up to it, or those of so many rows."""
    for values in pieces(frame):
        for i in range(len(values)):
            yield values[max(i + 1 - rows, 0) if rows else 0 : i + 1]


def sums(each: Any) -> list[Exact]:
    return [Exact(sum(x), len(x), sum(map(abs, x))) for x in each]


def means(each: Any) -> list[Exact]:
    return [Exact(sum(x) / len(x), len(x), sum(map(abs, x)) / len(x)) for x in each]


@cache
def exact_sums(grouped: bool) -> dict[str, list[Exact]]:
    """Return the sums and means of all values, of those so far, and of windows, in groups or of all rows."""
    frame = FRAME if grouped else FRAME.assign(k=0)
    every, window = list(so_far(frame)), list(so_far(frame, WINDOW))
    return {
        "sum": sums(pieces(frame)),
        "mean": means(pieces(frame)),
        "sum so far": sums(every),
        "mean so far": means(every),
        "sum of windows": sums(window),
        "mean of windows": means(window),
        "sum by the largest": [Exact(sum(x), len(x), max(map(abs, x))) for x in every],
    }


@pytest.mark.sampled(4)
@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("clustered", [False, True])
def test_sums_of_groups(way, clustered):
    def ask(method: Callable[[Any], Any]) -> Any:
        group = lambda d: method(d.gpuscan.groupby("k", clustered=clustered)["x"])  # noqa: E731
        return computed(WAYS[way](group, FRAME)).sort_index(kind="stable")

    by_pandas, exact = way == "frame" and not clustered, exact_sums(True)
    check("library" if by_pandas else "sum", ask(lambda g: g.sum()), exact["sum"])
    check("library" if by_pandas else "mean", ask(lambda g: g.mean()), exact["mean"])
    check("sum", ask(lambda g: g.cumsum()), exact["sum so far"])
    check("sum", ask(lambda g: g.rolling(WINDOW, 1).sum()), exact["sum of windows"])
    check("mean", ask(lambda g: g.rolling(WINDOW, 1).mean()), exact["mean of windows"])
    check("sum", ask(lambda g: g.expanding().sum()), exact["sum so far"])


@pytest.mark.parametrize("way", WAYS)
def test_sums_of_rows(way):
    frame, exact = FRAME.assign(k=0), exact_sums(False)

    def ask(method: Callable[[Any], Any]) -> Any:
        return computed(WAYS[way](lambda d: method(d["x"].gpuscan), frame))

    check("sum", ask(lambda s: s.rolling(WINDOW, 1).sum()), exact["sum of windows"])
    check("mean", ask(lambda s: s.rolling(WINDOW, 1).mean()), exact["mean of windows"])
    check("sum", ask(lambda s: s.expanding().sum()), exact["sum so far"])
    check("mean", ask(lambda s: s.expanding().mean()), exact["mean so far"])
    check("plain", ask(lambda s: s.cumsum()), exact["sum so far"])
    check("reproducible", ask(lambda s: s.cumsum(reproducible=True)), exact["sum by the largest"])


def test_sums_that_pandas_has():
    """Where each plain sum is wrong."""
    ones = FRAME[FRAME["k"] == 0]
    cuts = [ones, *(dd.from_pandas(ones, npartitions=n) for n in (3, 11))]
    for d in [*cuts, dask_gpuscan.stream([ones[:4], ones[4:]])]:
        for group in (d.gpuscan.groupby("k"), d.gpuscan.groupby("k", clustered=True)):
            assert computed(group["x"].sum())[0] - 1e16 == 10
            assert computed(group["x"].mean())[0] == 909090909090910.0
            assert computed(group["x"].cumsum()).iloc[-1] - 1e16 == 10
            assert computed(group["x"].rolling(11).sum()).iloc[-1] - 1e16 == 10
        assert computed(d["x"].gpuscan.rolling(11).sum()).iloc[-1] - 1e16 == 10
    many = pd.DataFrame({"k": 0, "x": np.append(1e16, np.ones(70_000))})
    assert many.gpuscan.groupby("k")["x"].sum()[0] - 1e16 == 70_000
    times = many[:11].set_index(pd.date_range("2026", periods=11, freq="h"))
    assert times.gpuscan.resample("D")["x"].sum().iloc[0] - 1e16 == 10


@pytest.mark.parametrize("make", [pl.DataFrame, pa.table])
def test_sums_of_tables(make):
    ones = FRAME[FRAME["k"] == 0]
    columns = {name: ones[name].to_numpy() for name in "kx"}
    on, x = dask_gpuscan.on(make(columns)), dask_gpuscan.on(make({"x": columns["x"]}))
    total = on.groupby("k").agg(x=("x", "sum"))["x"].to_numpy()
    assert total[0] - 1e16 == 10
    assert on.groupby("k").cumsum()["x"].to_numpy()[-1] - 1e16 == 10
    assert x.rolling(11).sum()["x"].to_numpy()[-1] - 1e16 == 10


@pytest.mark.sampled(3)
@pytest.mark.parametrize("dtype", ["float32", "Float32", "float[pyarrow]"])
@pytest.mark.parametrize("clustered", [False, True])
def test_sums_of_float32(dtype, clustered):
    values = np.array([2**24, 1, 1, -(2**30), 3, 2**30, 1e-3], "f4")
    frame = pd.DataFrame({"k": 0, "x": values}).astype({"x": dtype})
    for name in ("frame", "three partitions", "batches of one row"):
        way = WAYS[name]
        for method, exact in (("sum", sums(pieces(frame))), ("cumsum", sums(so_far(frame)))):

            def ask(d: Any, method: str = method) -> Any:
                return getattr(d.gpuscan.groupby("k", clustered=clustered)["x"], method)()

            found = computed(way(ask, frame))
            assert found.dtype == frame["x"].dtype
            by_pandas = method == "sum" and name == "frame" and not clustered
            check("library" if by_pandas else "single", found, exact, last=24)
    found = frame[:3].gpuscan.groupby("k", clustered=clustered)["x"].cumsum()
    assert found.iloc[-1] == 16777218
    times, (one,) = 10_000, sums(pieces(frame))
    many = pd.concat([frame] * times, ignore_index=True)
    of_many = many.gpuscan.groupby("k", clustered=clustered)["x"]
    check(
        "library" if dtype != "float32" and not clustered else "single",
        of_many.sum(),
        [Exact(one.answer * times, one.n * times, one.size * times)],
        last=24,
    )


@pytest.mark.parametrize("dtype", ["float64", "Float64", "double[pyarrow]"])
def test_infinite_sums_stay_so(dtype):
    inf, large = np.inf, 1.7e308
    values = [
        [1, inf, 2],
        [inf, -inf, 1],
        [large, large, 1],
        [-large, -large, -inf],
        [1, np.nan, inf],
    ]
    frame = pd.DataFrame({"k": np.repeat(range(5), 3), "x": np.ravel(values)})
    expected = [inf, np.nan, inf, -inf, inf]
    frame = frame.astype({"x": dtype})
    for way in FEW:
        for clustered in (False, True):
            ask = lambda d, c=clustered: d.gpuscan.groupby("k", clustered=c)["x"]  # noqa: E731
            total = computed(way(lambda d, ask=ask: ask(d).sum(), frame))
            running = computed(way(lambda d, ask=ask: ask(d).cumsum(), frame))
            np.testing.assert_array_equal(total.to_numpy("f8", na_value=np.nan), expected)
            np.testing.assert_array_equal(running.to_numpy("f8", na_value=np.nan)[2::3], expected)


# --- other statistics -----------------------------------------------------------------------------------

CONTEXT = Context(prec=80)


def root(x: Fraction) -> Fraction:
    """Return a square root to 80 digits."""
    return Fraction(CONTEXT.sqrt(CONTEXT.divide(Decimal(x.numerator), Decimal(x.denominator))))


def moment(x: list[Fraction], power: int, y: list[Fraction] | None = None) -> Fraction:
    """Return the mean of a power of distances from the mean, or of products with those of others."""
    mean = sum(x) / len(x)
    apart = [v - mean for v in x]
    if y is not None:
        other = sum(y) / len(y)
        return sum(a * (b - other) for a, b in zip(apart, y, strict=True)) / len(x)
    return sum(a**power for a in apart) / len(x)


def apart(x: list[Fraction]) -> float:
    """Return how many times larger values are than their deviation."""
    return math.sqrt(sum(v * v for v in x) / len(x) / moment(x, 2))


@cache
def noisy(offset: float, scale: float) -> pd.DataFrame:
    """Return two columns of little noise far from zero, one of which follows the other in part."""
    rng = np.random.default_rng(1)
    x = rng.standard_normal(40)
    y = x / 2 + rng.standard_normal(40)
    return pd.DataFrame({"k": 0, "x": offset + scale * x, "y": 3 * offset - scale * y})


def windows(x: pd.Series, rows: int, least: int) -> list[list[Fraction]]:
    """Return the values of windows of so many rows, or of all so far."""
    values = [Fraction(v) for v in x]
    return [values[max(i - rows, 0) if rows else 0 : i] for i in range(least, len(values) + 1)]


OFFSETS = [(0.0, 1.0), (1e9, 1e-3), (-1e9, 1e-5)]


@pytest.mark.parametrize(("offset", "scale"), OFFSETS)
@pytest.mark.parametrize("rows", [12, 0])
def test_covariances_of_values_far_from_zero(offset, scale, rows):
    frame = noisy(offset, scale)
    both = list(zip(*(windows(frame[c], rows, 12) for c in "xy"), strict=True))
    spread = [root(moment(x, 2) * moment(y, 2)) for x, y in both]
    products = [moment(x, 1, y) for x, y in both]
    cov = [
        Exact(p * len(x) / (len(x) - 1), len(x), s * len(x) / (len(x) - 1))
        for p, s, (x, _) in zip(products, spread, both, strict=True)
    ]
    corr = [
        Exact(p / s, len(x), Fraction(1))
        for p, s, (x, _) in zip(products, spread, both, strict=True)
    ]
    for way in FEW:
        for method, exact in (("cov", cov), ("corr", corr)):

            def ask(d: Any, method: str = method) -> Any:
                own = d["x"].gpuscan
                of = own.rolling(rows) if rows else own.expanding(12)
                return getattr(of, method)(d["y"])

            check("pair", computed(way(ask, frame))[11:], exact)


@pytest.mark.parametrize(("offset", "scale"), OFFSETS[:2])
def test_moments(offset, scale):
    frame = noisy(offset, scale)

    def var(x: list[Fraction]) -> Fraction:
        return moment(x, 2) * len(x) / (len(x) - 1)

    def skew(x: list[Fraction]) -> Fraction:
        n = len(x)
        return root(Fraction(n * (n - 1))) / (n - 2) * moment(x, 3) / root(moment(x, 2)) ** 3

    def kurt(x: list[Fraction]) -> Fraction:
        n = len(x)
        tails = (n * n - 1) * moment(x, 4) / moment(x, 2) ** 2 - 3 * (n - 1) ** 2
        return tails / ((n - 2) * (n - 3))

    exact = {
        "var": ("variance", var),
        "std": ("variance", lambda x: root(var(x))),
        "sem": ("variance", lambda x: root(var(x) / len(x))),
        "skew": ("shape", skew),
        "kurt": ("shape", kurt),
    }
    for rows in (12, 0):
        values = windows(frame["x"], rows, 12)
        for method, (bound, of) in exact.items():
            right = [Exact(of(x), len(x), Fraction(1), apart(x)) for x in values]
            for d in (frame, dd.from_pandas(frame, npartitions=3)):
                own = d["x"].gpuscan
                found = getattr(own.rolling(rows) if rows else own.expanding(12), method)()
                check(bound, computed(found)[11:], right)
                if not rows and bound == "variance":
                    group = d.gpuscan.groupby("k", clustered=True)["x"]
                    check(bound, computed(getattr(group, method)()), right[-1:])


def test_products():
    frame = pd.DataFrame({"k": 0, "x": np.random.default_rng(2).uniform(-2, 2, 40)})
    product = [Exact(Fraction(math.prod(x)), len(x), Fraction(1)) for x in so_far(frame)]
    for way in FEW:
        check("product", computed(way(lambda d: d["x"].gpuscan.cumprod(), frame)), product)
        total = computed(way(lambda d: d.gpuscan.groupby("k")["x"].prod(), frame))
        check("product", total, product[-1:])


@pytest.mark.parametrize(("offset", "scale"), [(0.0, 1.0), (1e6, 1e-2)])
def test_weighted_windows(offset, scale):
    frame = noisy(offset, scale)
    exact: dict[str, list[Exact]] = {name: [] for name in ("sum", "mean", "var", "cov")}
    for x, y in zip(*(windows(frame[name], 0, 5) for name in "xy"), strict=True):
        n = len(x)
        weights = [(1 - Fraction(ALPHA)) ** (n - 1 - i) for i in range(n)]

        def mean(values: Iterable[Fraction], weights: list[Fraction] = weights) -> Fraction:
            return sum(v * w for v, w in zip(values, weights, strict=True)) / sum(weights)

        far = [v - mean(x) for v in x], [v - mean(y) for v in y]
        var = [mean([v * v for v in each]) for each in far]
        cov = mean([a * b for a, b in zip(*far, strict=True)])
        ratio = max(
            math.sqrt(mean([v * v for v in z]) / v) for z, v in zip((x, y), var, strict=True)
        )
        size = mean(map(abs, x)) * sum(weights)
        exact["sum"].append(Exact(mean(x) * sum(weights), n, size))
        exact["mean"].append(Exact(mean(x), n, max(map(abs, x))))
        exact["var"].append(Exact(var[0], n, var[0], ratio))
        exact["cov"].append(Exact(cov, n, root(var[0] * var[1]), ratio))
    bounds = {"sum": "weighted sum", "mean": "weighted"}
    for way in FEW:
        for name, right in exact.items():

            def ask(d: Any, name: str = name) -> Any:
                bias = {} if name in bounds else {"bias": True}
                other = (d["y"],) if name == "cov" else ()
                return getattr(d["x"].gpuscan.ewm(alpha=ALPHA), name)(*other, **bias)

            check(bounds.get(name, "weighted pair"), computed(way(ask, frame))[4:], right)


def test_quantiles_and_changes():
    frame = pd.DataFrame({"k": 0, "x": SPREAD})
    values, q = [Fraction(v) for v in SPREAD], Fraction(0.3)
    quantiles, changes, differences = [], [], []
    for i in range(WINDOW, len(values) + 1):
        x = sorted(values[i - WINDOW : i])
        below = int(q * (WINDOW - 1))
        near = x[below], x[below + 1]
        answer = near[0] + (near[1] - near[0]) * (q * (WINDOW - 1) - below)
        quantiles.append(Exact(answer, WINDOW, max(map(abs, near))))
    for a, b in pairwise(values):
        changes.append(Exact(b / a - 1, 2, Fraction(1)))
        differences.append(Exact(b - a, 2, Fraction(1)))
    gaps = [values[0] + (values[9] - values[0]) * Fraction(i, 9) for i in range(10)]
    between = [Exact(v, 2, max(abs(values[0]), abs(values[9]))) for v in gaps]
    holes = frame["x"][:10].where([True, *[False] * 8, True])
    check("between", holes.gpuscan.interpolate(), between)
    own = frame["x"].gpuscan
    check("order", own.rolling(WINDOW).quantile(float(q))[WINDOW - 1 :], quantiles)
    check("change", own.pct_change()[1:], changes)
    check("difference", own.diff()[1:], differences)
