"""Decimals are exact, against Python's integers: as many as their types hold, cut anywhere."""

from decimal import Decimal
from fractions import Fraction
from itertools import accumulate

import dask
import dask.dataframe as dd
import pandas as pd
import pyarrow as pa
import pytest

import dask_gpuscan
from helpers.decimals import decimal_of, decimals
from helpers.strategies import in_pieces

MOST = 10**38 - 1
KINDS = [pa.decimal128(10, 3), pa.decimal128(38, 2), pa.decimal256(50, 0), pa.decimal256(76, 5)]
if hasattr(pa, "decimal64"):  # pyarrow 19
    KINDS += [pa.decimal32(9, 4), pa.decimal64(18, 1)]
GROUPS = [1, 2, 1, 1, 2, 2, 1]


def numbers(answer):
    """Return the numbers that an answer counts, and its type."""
    computed = answer.compute() if isinstance(answer, (dd.Series, dask_gpuscan.Stream)) else answer
    kind = computed.dtype.pyarrow_dtype
    found = [None if pd.isna(x) else Fraction(x) * 10**kind.scale for x in computed]
    return [None if x is None else int(x) for x in found], kind


def large(kind):
    most = 10**kind.precision - 1
    return [most, -1, None, 1, 1 - most, most - 5, 2]


def of_sums(kind):
    return pa.decimal256(76, kind.scale) if kind.bit_width > 128 else pa.decimal128(38, kind.scale)


def running(values, function, initial=None):
    """Return what is so far, null where a value is."""
    some = accumulate((v for v in values if v is not None), function, initial=initial)
    if initial is not None:
        next(some)
    return [None if v is None else next(some) for v in values]


def by_group(values, function):
    out = [None] * len(values)
    for group in set(GROUPS):
        rows = [i for i, g in enumerate(GROUPS) if g == group]
        for row, found in zip(rows, function([values[i] for i in rows]), strict=True):
            out[row] = found
    return out


@pytest.mark.parametrize("kind", KINDS, ids=str)
def test_scans(kind):
    values = large(kind)
    frame = pd.DataFrame({"x": decimals(values, kind), "g": GROUPS})
    for rows in in_pieces(frame):
        assert numbers(rows["x"].gpuscan.cummax()) == (running(values, max), kind)
        assert numbers(rows["x"].gpuscan.cummin()) == (running(values, min), kind)
        groups = rows.gpuscan.groupby("g")["x"]
        assert numbers(groups.cummax()) == (by_group(values, lambda v: running(v, max)), kind)
        expected = running(values, int.__add__)
        assert numbers(rows["x"].gpuscan.cumsum()) == (expected, of_sums(kind))
    for rows in in_pieces(frame.drop(index=[0, 5])):
        short = [values[i] for i in (1, 2, 3, 4, 6)]
        expected = running(short, int.__add__, 9)
        start = decimal_of(9, kind.scale)
        assert numbers(rows["x"].gpuscan.cumsum(initial=start)) == (expected, of_sums(kind))
        found = rows.gpuscan.groupby("g", clustered=False)["x"].cumsum()
        sums = [-1, None, 1, -1 + values[4], 3]
        assert numbers(found) == (sums, of_sums(kind))


def test_what_partitions_hand_on_may_have_more_digits():
    kind = pa.decimal128(38, 0)
    values = [-MOST, MOST, MOST, -MOST]
    for rows in in_pieces(pd.DataFrame({"x": decimals(values, kind)})):
        assert numbers(rows["x"].gpuscan.cumsum()) == ([-MOST, 0, MOST, 0], kind)
    for rows in in_pieces(pd.DataFrame({"x": decimals([MOST, MOST], kind)})):
        with pytest.raises(OverflowError, match=r"'x': overflow: 199\d+8 has more than 38 digits"):
            numbers(rows["x"].gpuscan.cumsum())
        wide = pd.ArrowDtype(pa.decimal256(76, 0))
        found = rows["x"].gpuscan.cumsum(dtype=wide)
        assert numbers(found) == ([MOST, 2 * MOST], wide.pyarrow_dtype)


@pytest.mark.parametrize("dtype", ["int64", "Int64", "uint64", "int64[pyarrow]", "int8"])
def test_sums_of_integers_of_128_bits(dtype):
    most = 127 if dtype == "int8" else 2**64 - 1 if dtype == "uint64" else 2**63 - 1
    frame = pd.DataFrame({"x": pd.Series([most] * 3, dtype=dtype)})
    for rows in in_pieces(frame):
        asked = pa.decimal128(38, 0)
        for given in (asked, pd.ArrowDtype(asked)):
            found = rows["x"].gpuscan.cumsum(dtype=given)
            assert numbers(found) == ([most, 2 * most, 3 * most], asked)


def test_sums_of_integers_of_polars():
    pl = pytest.importorskip("polars")
    found = pl.Series("x", [2**62] * 3).gpuscan.cumsum(dtype=pl.Decimal(38, 0))
    assert found.dtype == pl.Decimal(38, 0)
    assert list(map(int, found)) == [2**62, 2**63, 3 * 2**62]
    prices = pl.Series("x", [Decimal("1.25"), None, Decimal("2.50")], dtype=pl.Decimal(10, 2))
    assert prices.gpuscan.cumsum().to_list() == [Decimal("1.25"), None, Decimal("3.75")]
    assert prices.gpuscan.cummax().dtype == prices.dtype


@pytest.mark.parametrize("initial", [0.5, "x", Decimal("0.001"), Decimal("NaN"), True])
def test_what_a_sum_cannot_start_from(initial):
    with pytest.raises(TypeError, match="initial must be"):
        decimals([1, 2], pa.decimal128(9, 2)).gpuscan.cumsum(initial=initial)


@pytest.mark.parametrize("dtype", ["float64", "bool"])
def test_floats_are_no_decimals(dtype):
    rows = pd.Series([1, 0], dtype=dtype)
    with pytest.raises(TypeError, match="dtype must be a numeric dtype, found decimal128"):
        rows.gpuscan.cumsum(dtype=pd.ArrowDtype(pa.decimal128(38, 0)))


@pytest.mark.parametrize("kind", KINDS, ids=str)
def test_differences(kind):
    values = [7, -5, None, 10**kind.precision - 1, 4, 12, 3]
    if kind.precision not in (38, 76):
        values[4] = 1 - 10**kind.precision
    frame = pd.DataFrame({"x": decimals(values, kind), "g": GROUPS})
    for rows in in_pieces(frame):
        found, of = numbers(rows["x"].gpuscan.diff())
        pairs = zip(values, [None, *values], strict=False)
        assert found == [None if None in p else p[0] - p[1] for p in pairs]
        assert of.precision == min(kind.precision + 1, of_sums(kind).precision)
        found, _ = numbers(rows.gpuscan.groupby("g")["x"].diff())
        assert found[3:] == [None, values[4] + 5, 12 - values[4], 3 - values[3]]


@pytest.mark.parametrize("kind", KINDS, ids=str)
def test_relative_changes(kind):
    frame = pd.DataFrame({"x": decimals([200, 500, None, 400, 100], kind), "g": [1, 1, 1, 2, 2]})
    most = 76 if kind.bit_width > 128 else 38
    # by the rule of Arrow: 1 has 19 digits, and is taken from a quotient that has these behind the point
    fits = max(kind.precision, 19) + max(kind.precision + 1, 6) + 1 <= most
    for rows in in_pieces(frame):
        for of, changes in (
            (rows["x"].gpuscan, [None, 1.5, None, None, -0.75]),
            (rows.gpuscan.groupby("g")["x"], [None, 1.5, None, None, -0.75]),
        ):
            if fits:
                found, kept = numbers(of.pct_change())
                assert found == [None if c is None else int(c * 10**kept.scale) for c in changes]
            else:
                with pytest.raises(TypeError, match=r"pct_change of column 'x': .*fewer digits"):
                    of.pct_change()


@pytest.mark.parametrize("kind", [pa.decimal128(38, 2), pa.decimal256(76, 0)], ids=str)
def test_differences_that_do_not_fit(kind):
    most = 10**kind.precision - 1
    for rows in in_pieces(pd.DataFrame({"x": decimals([-most, most], kind), "g": 1})):
        with pytest.raises(OverflowError, match=r"'x': overflow: 199\d+ has more than \d\d digits"):
            numbers(rows["x"].gpuscan.diff())
        with pytest.raises(OverflowError, match=r"'x': overflow: 199\d+ has more than \d\d digits"):
            numbers(rows.gpuscan.groupby("g")["x"].diff())


def exact(values, method):
    """Return a sum, a mean rounded half away from zero, or an extreme of values that are not null."""
    some = [v for v in values if v is not None]
    if method == "mean":
        mean = abs(Fraction(sum(some), len(some))) + Fraction(1, 2)
        return int(mean) * (1 if sum(some) >= 0 else -1)
    return {"sum": sum, "min": min, "max": max}[method](some)


@pytest.mark.sampled(3)
@pytest.mark.parametrize("clustered", [False, True])
@pytest.mark.parametrize("kind", KINDS, ids=str)
def test_groups(kind, clustered):
    values = large(kind)
    frame = pd.DataFrame({"x": decimals(values, kind), "g": sorted(GROUPS)})
    parts = values[:4], values[4:]
    for rows in in_pieces(frame):
        groups = rows.gpuscan.groupby("g", clustered=clustered)["x"]
        for method in ("sum", "mean", "min", "max"):
            of = of_sums(kind) if method == "sum" else kind
            found = getattr(groups, method)()
            assert numbers(found) == ([exact(part, method) for part in parts], of)
        for method in ("var", "std", "sem"):
            found = getattr(groups, method)(ddof=0)
            found = found if isinstance(found, pd.Series) else found.compute()
            assert found.dtype == "double[pyarrow]"
            for part, one in zip(parts, found, strict=True):
                some = [Fraction(v, 10**kind.scale) for v in part if v is not None]
                mean = sum(some) / len(some)
                variance = sum((v - mean) ** 2 for v in some) / len(some)
                variance /= len(some) if method == "sem" else 1
                wanted = float(variance) if method == "var" else float(variance) ** 0.5
                assert one == pytest.approx(wanted, rel=1e-14)


OPERATORS = {
    "add": sum,
    "add_reproducible": sum,
    "maximum": max,
    "minimum": min,
    "first": lambda values: values[0],
    "last": lambda values: values[-1],
}


@pytest.mark.sampled(3)
@pytest.mark.parametrize("kind", KINDS, ids=str)
def test_operators_over_groups_buckets_and_windows(kind):
    most = 10**kind.precision - 1
    values = [most - 5, -1, None, 1, 1 - most, 4, None, 7]
    frame = pd.DataFrame({"x": decimals(values, kind), "g": [1, 1, 2, 2, 1, 1, 3, 2]})
    frame["t"] = pd.to_datetime([0, 1, 2, 3, 4, 5, 8, 9], unit="s")
    groups = [[values[i] for i in rows] for rows in ([0, 1, 4, 5], [2, 3, 7], [6])]
    buckets = [values[:2], values[2:4], values[4:6], [], values[6:]]
    windows = [values[max(i - 2, 0) : i + 1] for i in range(8)]
    pairs = [[0], [0, 1], [2], [2, 3], [1, 4], [4, 5], [6], [3, 7]]
    of_groups = [[values[i] for i in rows] for rows in pairs]
    for rows in in_pieces(frame):
        for name, combine in OPERATORS.items():
            op, add = getattr(dask_gpuscan, name), name.startswith("add")
            wanted = [
                [combine(some) if some else 0 if add else None for some in found]
                for found in (
                    [[v for v in each if v is not None] for each in asked]
                    for asked in (groups, groups, buckets, windows, of_groups)
                )
            ]
            if add:  # what a group is without values; windows are null there
                wanted[3:] = [
                    [None if all(v is None for v in each) else one for each, one in found]
                    for found in map(zip, (windows, of_groups), wanted[3:])
                ]
            by = rows.gpuscan.groupby("g")["x"]
            found = [
                by.reduce(op),
                rows.gpuscan.groupby("g", clustered=None)["x"].reduce(op),
                rows[["t", "x"]].gpuscan.resample("2s", on="t")["x"].reduce(op),
                rows["x"].gpuscan.rolling(3, min_periods=1).scan(op),
                by.rolling(2, min_periods=1).scan(op),
            ]
            for answer, expected in zip(found, wanted, strict=True):
                assert numbers(answer) == (expected, of_sums(kind) if add else kind), name


def test_operators_over_decimals_of_polars():
    pl = pytest.importorskip("polars")
    prices = [Decimal("1.25"), None, Decimal("2.50")]
    frame = pl.DataFrame({"k": [1, 2, 1], "x": pl.Series(prices, dtype=pl.Decimal(10, 2))})
    groups = frame.gpuscan.groupby("k")["x"]
    assert groups.reduce(dask_gpuscan.add)["x"].to_list() == [Decimal("3.75"), 0]
    found = frame["x"].gpuscan.rolling(2, min_periods=1).scan(dask_gpuscan.add)
    assert found.to_list() == [Decimal("1.25"), Decimal("1.25"), Decimal("2.50")]
    with pytest.raises(TypeError, match=r"multiply of column 'x': .*; cast it with astype"):
        groups.reduce(dask_gpuscan.multiply)


def test_groups_whose_sums_need_more_digits():
    kind = pa.decimal128(38, 0)
    values = [MOST, MOST, -MOST, None, MOST, MOST]
    frame = pd.DataFrame({"x": decimals(values, kind), "g": [1, 1, 1, 2, 3, 3]})
    for rows in in_pieces(frame):
        for clustered in (False, True):
            groups = rows.gpuscan.groupby("g", clustered=clustered)["x"]
            assert numbers(groups.mean()) == ([(MOST + 1) // 3, None, MOST], kind)
            with pytest.raises(OverflowError, match=r"sum of column 'x': overflow: 199\d+8 has mo"):
                numbers(groups.sum())
    for rows in in_pieces(frame.iloc[:4]):
        assert numbers(rows.gpuscan.groupby("g")["x"].sum()) == ([MOST, 0], kind)


def test_halves_are_rounded_away_from_zero():
    frame = pd.DataFrame({"x": decimals([1, 4, -1, -4], pa.decimal128(5, 2)), "g": [1, 1, 2, 2]})
    for rows in in_pieces(frame):
        assert numbers(rows.gpuscan.groupby("g")["x"].mean())[0] == [3, -3]


def test_rows_are_matched_by_decimals():
    kind = pa.decimal128(20, 2)
    left = pd.DataFrame({"x": decimals([-500, 10, 20, 20, 35], kind), "g": [1, 2, 1, 2, 1]})
    right = pd.DataFrame(
        {"x": decimals([-600, 10, 19, 30], kind), "h": [1, 2, 1, 2], "w": range(4)}
    )
    for one, other in zip(in_pieces(left), in_pieces(right), strict=True):
        for options, expected in (
            ({}, [0, 1, 2, 2, 3]),
            ({"left_by": "g", "right_by": "h"}, [0, 1, 2, 1, 2]),
            ({"tolerance": decimal_of(5, 2)}, [None, 1, 2, 2, 3]),
            ({"tolerance": 1, "allow_exact_matches": False}, [0, None, 2, 2, 3]),
        ):
            found = dask_gpuscan.merge_asof(one, other, on="x", **options)
            found = found if isinstance(found, pd.DataFrame) else found.compute()
            assert found["x"].dtype == left["x"].dtype
            assert [None if pd.isna(w) else w for w in found["w"]] == expected


def test_what_decimals_do_not_match():
    kind = pa.decimal128(38, 2)
    left, right = (pd.DataFrame({"x": decimals(n, kind)}) for n in ([1, 2], [1, 10**20]))
    right["w"] = [1, 2]
    for one, other in list(zip(in_pieces(left), in_pieces(right), strict=True))[:3]:
        with pytest.raises(OverflowError, match="rows are matched by decimals of up to 18 digits"):
            dask.compute(dask_gpuscan.merge_asof(one, other, on="x"))
        for tolerance in (0.5, decimal_of(1, 3)):
            with pytest.raises(TypeError, match="tolerance must be a Decimal or an integer that"):
                dask_gpuscan.merge_asof(one, other, on="x", tolerance=tolerance)


@pytest.mark.parametrize("kind", KINDS, ids=str)
def test_largest_and_smallest(kind):
    values = [*large(kind), 1, -1]
    frame = pd.DataFrame({"x": decimals(values, kind), "g": [*GROUPS, 1, 2]})
    for rows in list(in_pieces(frame))[:3]:
        x, groups = rows["x"].gpuscan, rows.gpuscan.groupby("g")["x"]
        assert numbers(x.nlargest(2)) == ([values[0], values[5]], kind)
        assert numbers(x.nsmallest(2, keep="all")) == ([values[4], -1, -1], kind)
        assert numbers(groups.nlargest(2)) == ([values[0], 2, values[5], -1], kind)
