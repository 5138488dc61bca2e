"""ewm and expanding against pandas on the whole."""

import dask
import numpy as np
import pandas as pd
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from helpers.asked import computed
from helpers.backends import same
from helpers.strategies import FAMILIES, columns, cuts, frames, partitioned, two_thirds
from helpers.versions import known_to_pandas, older, since
from helpers.widened import PICKS, picked

NUMBERS = (*FAMILIES, "int8", "float32")
NAMES = ("sum", "mean", "var", "std", "sem", "min", "max", "count", "first", "last", "skew", "kurt")
STATISTICS = known_to_pandas(NAMES)
WEIGHTED = ["sum", "mean", "var"]
"""The root of var is left out, as each of its operators is one more to compile."""


def weighted_as_pandas(x, name, bias, options):
    """The answer of pandas, null where one value alone has a variance of 0.0 from rounding."""
    windows = x.ewm(**options)
    if name in ("sum", "mean"):
        return getattr(windows, name)()
    expected = getattr(windows, name)(bias=bias)
    return expected if bias else expected.where(x.expanding(0).count() > 1)


@two_thirds
@given(
    df=frames(NUMBERS), at=cuts(), statistic=st.sampled_from(STATISTICS), periods=st.integers(0, 4)
)
def test_expanding_as_pandas(backend, df, at, statistic, periods):
    expected = picked(getattr(df.expanding(periods), statistic)(), df, statistic)
    lazy = getattr(partitioned(backend.frame(df), at).gpuscan.expanding(periods), statistic)()
    if backend.name == "cpu":
        assert lazy.dtypes.tolist() == expected.dtypes.tolist()
    found = backend.to_pandas(lazy.compute())
    if backend.name != "cpu" and statistic in PICKS:  # integers without nulls are no floats
        found, expected = found.astype("float64"), expected.astype("float64")
    same(found, expected, rtol=1e-6)


@two_thirds
@given(
    x=columns(("int64", "bool", "float64", "float32", "Int64")),
    at=cuts(),
    alpha=st.sampled_from([0.1, 0.5, 1.0]),
    adjust=st.booleans(),
    ignore_na=st.booleans(),
    periods=st.integers(0, 4),
    name=st.sampled_from(WEIGHTED),
    bias=st.booleans(),
)
def test_ewm_as_pandas(backend, x, at, alpha, adjust, ignore_na, periods, name, bias):
    options = {"alpha": alpha, "adjust": adjust, "ignore_na": ignore_na, "min_periods": periods}
    if name == "sum" and not adjust:
        return
    bias_option = {"bias": bias} if name == "var" else {}
    expected = weighted_as_pandas(x, name, bias, options)
    for each in (partitioned(backend.frame(x), at), backend.frame(x)):
        found = computed(getattr(each.gpuscan.ewm(**options), name)(**bias_option))
        same(backend.to_pandas(found), expected, rtol=1e-6)


@two_thirds
@given(
    x=columns(("int64", "float64", "Float64")),
    at=cuts(),
    seconds=st.lists(st.integers(0, 9), min_size=24, max_size=24),
    unit=st.sampled_from(["ns", "s"]),
    adjust=st.just(True) if older("pandas", "3") else st.booleans(),  # pandas 2 has no other
    as_column=st.booleans(),
)
def test_times_as_pandas(backend, x, at, seconds, unit, adjust, as_column):
    times = pd.Series(pd.to_datetime(np.cumsum(seconds)[: len(x)], unit="s")).astype(
        f"datetime64[{unit}]"
    )
    options = {"halflife": "3s", "adjust": adjust}
    expected = x.ewm(times=times, **options).mean()
    whole, when = backend.frame(pd.DataFrame({"x": x, "t": times})), backend.frame(times)
    for each in (whole, partitioned(whole, at)):
        if as_column:
            found = each.gpuscan.ewm(times="t", **options).mean()["x"]
        else:
            dates = when if each is whole else partitioned(when, at)
            found = each["x"].gpuscan.ewm(times=dates, **options).mean()
        found = computed(found)
        same(backend.to_pandas(found), expected, rtol=1e-6)


def test_times_and_another_decay():
    x = pd.Series([1.0, None, 3.0, 4.0])
    times = pd.to_datetime(["2026-01-01", "2026-01-02", "2026-01-05", "2026-01-05"])
    options = {"halflife": "1D", "alpha": 0.2, "times": times}
    same(x.gpuscan.ewm(**options).mean(), x.ewm(**options).mean())


@pytest.mark.sampled(4)
@pytest.mark.parametrize(
    "func",
    [
        "sum",
        ["sum", "skew"],
        pytest.param(
            ["median", "count", "nunique"], marks=since("pandas", "3", "windows have no nunique")
        ),
        {"b": "max"},
        pytest.param(
            {"b": ["max", "count"], "a": "first"},
            marks=since("pandas", "3", "windows have no first"),
        ),
    ],
    ids=str,
)
def test_agg_as_pandas(func):
    df = pd.DataFrame({"a": [3.0, None, 1.0, 5.0], "b": [1, 2, 4, 8]}, index=list("wxyz"))
    for each in (df, partitioned(df, [0.2, 0.6])):
        found = each.gpuscan.expanding().agg(func)
        expected = df.expanding().agg(func)
        for label in expected:
            name = (
                label[1]
                if isinstance(label, tuple)
                else func
                if isinstance(func, str)
                else func[label]
            )
            own = df[label[0] if isinstance(label, tuple) else label]
            expected[label] = picked(expected[label], own, name)
        same(computed(found), expected)
    named = df.rename_axis(columns="of")
    same(named.gpuscan.expanding().agg("sum"), named.expanding().agg("sum"))
    weighted = {"alpha": 0.3}
    both = ["mean", "std"]
    same(df.gpuscan.ewm(**weighted).agg(both), df.ewm(**weighted).agg(both))
    same(df["a"].gpuscan.ewm(**weighted).aggregate(both), df["a"].ewm(**weighted).agg(both))
    same(df["a"].gpuscan.expanding().agg("min"), df["a"].expanding().agg("min"))


@pytest.mark.parametrize(
    "names",
    [
        pd.MultiIndex.from_tuples([("a", "x"), ("a", "y")], names=["L", "M"]),
        pd.Index([0, 1], name="n"),
    ],
)
def test_agg_keeps_the_levels_and_names_of_columns(names):
    df = pd.DataFrame({"a": [1.0, 2.0, 4.0], "b": [5.0, 3.0, 3.0]}).set_axis(names, axis=1)
    df.index = pd.date_range("2026-01-01", periods=3)
    both = ["min", "max"]
    for each in (df, partitioned(df, [0.3])):
        for ask in (
            lambda it: it.rolling(2),
            lambda it: it.expanding(),
            lambda it: it.resample("2D"),
        ):
            same(computed(ask(each.gpuscan).agg(both)), ask(df).agg(both))
    key = df.columns[0]
    same(df.gpuscan.groupby([key], clustered=True).agg(both), df.groupby([key]).agg(both))
    same(df.gpuscan.groupby([key]).agg(both), df.groupby([key]).agg(both))


def test_agg_of_what_is_not_there():
    df = pd.DataFrame({"a": [3.0], "b": [1]})
    with pytest.raises(
        ValueError, match=r"'mode' is not a statistic; statistics are 'sum', 'mean', .* 'nunique'"
    ):
        df.gpuscan.expanding().agg("mode")
    with pytest.raises(ValueError, match="agg: 'c' is not a column"):
        df.gpuscan.expanding().agg({"c": "sum"})
    for ask in (df.gpuscan.expanding(), df.a.gpuscan.expanding(), df.gpuscan.groupby("b")):
        for names in ([], ["sum", "max", "sum"]):
            with pytest.raises(ValueError, match="agg takes each name once, and at least one"):
                ask.agg(names)
    with pytest.raises(TypeError, match="agg takes the name of a method"):
        df.gpuscan.expanding().agg(lambda x: x.sum())
    assert df.gpuscan.expanding().agg(np.sum).equals(df.expanding().sum())


def test_numeric_only():
    df = pd.DataFrame({"s": ["a", "b"], "x": [1.0, 2.0], "n": [True, False]})
    df["d"] = df["x"].astype(pd.ArrowDtype(pa.decimal128(5, 2)))
    for each in (df, partitioned(df, [0.5])):
        for found, expected in (
            (
                each.gpuscan.expanding().std(numeric_only=True),
                df.expanding().std(numeric_only=True),
            ),
            (each.gpuscan.ewm(com=1).var(numeric_only=True), df.ewm(com=1).var(numeric_only=True)),
        ):
            same(computed(found), expected)
        with pytest.raises(TypeError, match="column 's'"):
            each.gpuscan.expanding().kurt()
        with pytest.raises(ValueError, match="numeric_only must be True or False"):
            each.gpuscan.expanding().sum(numeric_only="yes")


@pytest.mark.parametrize("decay", [{"com": 2}, {"span": 5}, {"halflife": 3.5}, {"alpha": 0.3}])
def test_every_way_to_name_the_decay(backend, decay):
    x = pd.Series(np.random.default_rng(0).normal(size=100))
    windows = partitioned(backend.frame(x), [0.3, 0.6]).gpuscan.ewm(**decay)
    same(backend.to_pandas(windows.mean().compute()), x.ewm(**decay).mean())
    same(backend.to_pandas(windows.std().compute()), x.ewm(**decay).std())


def test_long_series_and_infinities(backend):
    rng = np.random.default_rng(0)
    x = pd.Series(rng.normal(100, 1, 50_000))
    x[rng.random(len(x)) < 0.2] = np.nan
    x[[5, 40_000]] = np.inf
    ddf = partitioned(backend.frame(x), [0.1, 0.5, 0.5, 0.9])
    for statistic in STATISTICS:
        lazy = getattr(ddf.gpuscan.expanding(), statistic)()
        same(backend.to_pandas(lazy.compute()), getattr(x.expanding(), statistic)(), rtol=1e-9)
    for adjust in (True, False):
        lazy = ddf.gpuscan.ewm(span=1000, adjust=adjust).mean()
        same(backend.to_pandas(lazy.compute()), x.ewm(span=1000, adjust=adjust).mean(), rtol=1e-9)


@pytest.mark.parametrize("alpha", [0.3, 0.5, 0.9, 2 / 11, 1.0])
@pytest.mark.parametrize("ignore_na", [False, True])
def test_long_gaps_keep_the_mean(backend, alpha, ignore_na):
    x = pd.Series([5.0, np.nan, 7.0, *[np.nan] * 5000, 1.0, np.nan, np.nan, 2.0])
    # pandas 3 alone has another mean after nulls where both weights are 1 / 2
    is_of_pandas = backend.name == "cpu" and not older("pandas", "3")
    other = alpha == 0.5 and not ignore_na and not is_of_pandas
    for adjust in (True,) if other else (True, False):
        options = {"alpha": alpha, "adjust": adjust, "ignore_na": ignore_na}
        lazy = partitioned(backend.frame(x), [0.3, 0.6, 0.9]).gpuscan.ewm(**options).mean()
        same(backend.to_pandas(lazy.compute()), x.ewm(**options).mean())


def test_constants_stay_constant(backend):
    x = pd.Series(np.full(40_000, 0.1))
    ddf = partitioned(backend.frame(x), [0.3, 0.6])
    assert (ddf.gpuscan.ewm(alpha=0.3).mean().compute() == 0.1).all()
    means = backend.to_pandas(ddf.gpuscan.expanding().mean().compute())
    np.testing.assert_allclose(means, 0.1, rtol=3e-16)


def test_sums_keep_what_rounding_loses(backend):
    x = pd.Series([1e16, 1.0, 1.0, -1e16])
    assert partitioned(backend.frame(x), [0.5]).gpuscan.expanding().sum().compute().iloc[-1] == 2.0


def test_count_counts_what_is_not_null():
    values = pa.array([1.0, np.nan, None, 3.0])
    x = pd.Series(pd.arrays.ArrowExtensionArray(pa.chunked_array([values])))
    same(x.gpuscan.expanding().count(), x.expanding().count())


@pytest.mark.parametrize("ddof", [0, 1, 2])
def test_ddof(backend, ddof):
    x = pd.Series([1.0, 4.0, None, 2.0, 8.0])
    windows = partitioned(backend.frame(x), [0.5]).gpuscan.expanding()
    same(backend.to_pandas(windows.var(ddof).compute()), x.expanding().var(ddof=ddof))
    same(backend.to_pandas(windows.std(ddof=ddof).compute()), x.expanding().std(ddof=ddof))


def test_bad_arguments():
    x = pd.Series([1.0], name="x")
    with pytest.raises(ValueError, match="halflife must be a number"):
        x.gpuscan.ewm(halflife="1D")
    for periods in (-1, 1.5, "2", True):
        with pytest.raises(ValueError, match="min_periods must be an integer"):
            x.gpuscan.expanding(periods)
        with pytest.raises(ValueError, match="min_periods must be an integer"):
            x.gpuscan.ewm(alpha=0.5, min_periods=periods)
    with pytest.raises(ValueError, match="bias must be True or False"):
        x.gpuscan.ewm(alpha=0.5).var(bias="no")
    with pytest.raises(NotImplementedError, match="adjust=False"):
        x.gpuscan.ewm(alpha=0.5, adjust=False).sum()
    for q in (2, "0.5", np.nan):
        with pytest.raises(ValueError, match="q must be a number from 0 to 1"):
            x.gpuscan.expanding().quantile(q)
    with pytest.raises(ValueError, match="interpolation must be one of"):
        x.gpuscan.expanding().quantile(0.5, "cubic")
    with pytest.raises(ValueError, match="method must be one of"):
        x.gpuscan.expanding().rank("first")
    with pytest.raises(ValueError, match="min_periods"):
        x.gpuscan.expanding(-1)
    with pytest.raises(ValueError, match="ddof must be an integer"):
        x.gpuscan.expanding().var(0.5)
    for bad in (pd.Series(["a"], name="s"), pd.Series(pd.to_datetime(["2026"]), name="s")):
        for series in (bad, partitioned(bad, [])):
            with pytest.raises(TypeError, match="column 's'"):
                series.gpuscan.expanding().sum()
            with pytest.raises(TypeError, match="column 's'"):
                series.gpuscan.ewm(alpha=0.5).mean()


def test_decimals_as_pandas():
    x = pd.Series([1.5, None, 2.25], dtype=pd.ArrowDtype(pa.decimal128(10, 2)), name="d")
    for each in (x, partitioned(x, [0.5])):
        (found, weighted) = dask.compute(
            each.gpuscan.expanding().var(), each.gpuscan.ewm(com=1).mean()
        )
        same(found, x.expanding().var())
        same(weighted, x.ewm(com=1).mean())


def test_no_min_periods_as_pandas():
    x = pd.Series([np.nan, 1.0, 2.0])
    same(x.gpuscan.expanding(None).sum(), x.expanding(None).sum())


@pytest.mark.parametrize(
    "times", [1.5, pd.Timestamp("2026"), b"t", {}, [1, 2], np.ones(2)], ids=repr
)
@pytest.mark.parametrize("lazy", [False, True])
def test_what_are_no_times_is_refused_alike(times, lazy):
    df = pd.DataFrame({"k": [1, 1], "x": [1.0, 2.0]})
    frame = partitioned(df, [0.5]) if lazy else df
    message = "times must be the name of a column or dates, found"
    if isinstance(times, (list, np.ndarray)):
        message = f"times must be dates, found dtype {np.asarray(times).dtype}"
    for each in (frame["x"].gpuscan, frame.gpuscan.groupby("k")["x"]):
        with pytest.raises(TypeError, match=message):
            each.ewm(halflife="1D", times=times)


def test_bad_times():
    df = pd.DataFrame({"x": [1.0, 2.0], "t": pd.to_datetime(["2026-01-01", "2026-01-02"])})

    def mean(times, halflife="1D", **options):
        return df["x"].gpuscan.ewm(halflife=halflife, times=times, **options).mean()

    with pytest.raises(ValueError, match="times must have as many rows"):
        mean(df["t"][:1])
    with pytest.raises(ValueError, match="times must have no null"):
        mean(df["t"].where([True, False]))
    with pytest.raises(TypeError, match="times must be dates"):
        mean(df["x"])
    with pytest.raises(ValueError, match="times='u' is not a column"):
        df.gpuscan.ewm(halflife="1D", times="u")
    for halflife in (2, None, "soon", "-1D"):
        with pytest.raises(ValueError, match="halflife must be"):
            mean(df["t"], halflife)
    with pytest.raises(NotImplementedError, match="ignore_na=True"):
        mean(df["t"], ignore_na=True)
    with pytest.raises(NotImplementedError, match="var takes no times"):
        df["x"].gpuscan.ewm(halflife="1D", times=df["t"]).var()
    lazy = partitioned(df, [0.5])
    with pytest.raises(TypeError, match="times must be of a Dask collection"):
        lazy["x"].gpuscan.ewm(halflife="1D", times=df["t"])


def test_equal_values_have_no_variance():
    x = pd.Series(np.full(20_000, 0.1))
    for each in (x, partitioned(x, [0.3, 0.6])):
        windows, weighted = each.gpuscan.expanding(), each.gpuscan.ewm(alpha=0.3)
        recurrence = each.gpuscan.ewm(alpha=0.3, adjust=False)
        for found in (windows.var(0), weighted.var(bias=True), recurrence.var(bias=True)):
            assert (dask.compute(found)[0] == 0.0).all()
        assert (computed(recurrence.mean()) == 0.1).all()
        for found in (windows.skew(), windows.kurt(), windows.corr()):
            assert dask.compute(found)[0].isna().all()


def test_first_answers_that_are_null_for_long(backend):
    x = pd.Series(np.arange(3000.0))
    for periods in (5, 1024, 1025, 2500, 4000):
        expected = x.expanding(periods).mean()
        found = backend.frame(x).gpuscan.expanding(periods).mean()
        same(backend.to_pandas(found), expected)
        assert int(found.isna().sum()) == min(periods - 1, 3000)
