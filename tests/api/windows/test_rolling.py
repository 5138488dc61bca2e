"""rolling: pandas' answers on the whole data, by rows, by time and by group, on whatever partitions."""

from contextlib import nullcontext

import dask
import numpy as np
import pandas as pd
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

import dask_gpuscan
from helpers.asked import KEYS, adjacent, check, refusals
from helpers.backends import Backend, same
from helpers.strategies import FAMILIES, columns, cuts, frames, partitioned, two_thirds
from helpers.thresholds import copy_threshold, groups_without_a_table
from helpers.versions import known_to_pandas, older
from helpers.widened import PICKS, picked

pytestmark = pytest.mark.usefixtures("near_rows_apart")
NAMES = known_to_pandas(
    ["sum", "mean", "var", "std", "sem", "min", "max", "count", "first", "last", "skew", "kurt"]
)
SORTED = known_to_pandas(["median", "quantile", "rank", "nunique"])
OPTIONS = {"quantile": {"q": 0.3}, "rank": {"method": "min", "pct": True}, "var": {"ddof": 0}}
NUMBERS = (*FAMILIES, "float32", "float16", "boolean", "int8", "UInt8")
"""Of these no value is so large that pandas, which subtracts what leaves a window, keeps a trace of it."""
BY_ROWS = st.fixed_dictionaries(
    {
        "window": st.integers(1, 9),
        "center": st.booleans(),
        "closed": st.sampled_from([None, "right", "left", "both", "neither"]),
    }
)
BY_TIME = st.fixed_dictionaries(
    {
        "window": st.sampled_from(["1s", "2s", "4s", "90s", pd.Timedelta(seconds=6)]),
        "center": st.booleans(),
        "closed": st.sampled_from([None, "right", "left", "both", "neither"]),
        "min_periods": st.sampled_from([None, 0, 1, 2, 3]),
    }
)


def check_statistic(backend, frame, at, ask, expected, name, own):
    """The same of a statistic of windows of `own`."""
    if backend.name == "cpu":
        check(backend, frame, at, ask, picked(expected, own, name))
    else:  # integers without nulls are no floats on the way to pandas
        floats = lambda it: ask(it).astype("float64")  # noqa: E731
        check(backend, frame, at, floats if name in PICKS else ask, expected)


def ask_for(name):
    return lambda windows: getattr(windows, name)(**OPTIONS.get(name, {}))


def ask_pandas_for(name):
    """What pandas answers; of ranks, that of the last row: its own are of other windows at the end of the data."""
    if name in ("skew", "kurt") and older("pandas", "3"):  # which answers 0 and -3 for equal values
        return lambda windows: getattr(windows, name)().mask(windows.min() == windows.max())
    if name != "rank":
        return ask_for(name)
    return lambda windows: windows.apply(
        lambda x: pd.Series(x).rank(**OPTIONS["rank"]).to_numpy()[-1] if len(x) else np.nan,
        raw=True,
    )


def least(data, options):
    """A draw of `min_periods` beside a window of rows."""
    count = data.draw(st.sampled_from([None, 0, 1, options["window"]]))
    return {**options, "min_periods": count}


statistics = st.sampled_from([*NAMES, *SORTED])


@pytest.mark.sampled(3)
@pytest.mark.parametrize("name", [*NAMES, *SORTED])
def test_every_statistic(backend, name):
    x = pd.Series([3.0, 1.5, np.nan, 2.0, 2.0, 7.0, -np.inf, 4.0, 4.25, 0.5, 1.0, 9.0])
    ask = lambda it: ask_for(name)(it.rolling(5, min_periods=2))  # noqa: E731
    check(backend, x, [0.1, 0.1, 0.4, 0.5, 0.9], ask, ask(x))


@given(data=st.data(), x=columns(NUMBERS), at=cuts(), options=BY_ROWS)
def test_series_by_rows(backend, data, x, at, options):
    options, name = least(data, options), data.draw(statistics)
    x.index = pd.Index(np.arange(len(x)) // 2, name="row")
    expected = Backend().answer(x, lambda it: ask_pandas_for(name)(it.rolling(**options)))
    assume(expected is not None)
    ask = lambda it: ask_for(name)(it.rolling(**options))  # noqa: E731
    check_statistic(backend, x, at, ask, expected, name, x)


@given(data=st.data(), df=frames(("int64", "float64", "Int64", "bool")), at=cuts(), options=BY_ROWS)
def test_frames_by_rows(backend, data, df, at, options):
    options, name = least(data, options), data.draw(statistics)
    expected = ask_pandas_for(name)(df.rolling(**options))
    ask = lambda it: ask_for(name)(it.rolling(**options))  # noqa: E731
    check_statistic(backend, df, at, ask, expected, name, df)


@st.composite
def timed(draw):
    """A frame of numbers and of times that do not decrease; often they are equal."""
    x = draw(columns(("float64", "int64")))
    seconds = np.sort(draw(st.lists(st.integers(0, 30), min_size=len(x), max_size=len(x))))
    unit = draw(st.sampled_from(["s", "ms", "ns"]))
    times = pd.to_datetime(pd.Series(seconds, dtype="int64"), unit="s").astype(
        f"datetime64[{unit}]"
    )
    if draw(st.booleans()):
        times = times - pd.Timestamp(0).as_unit(unit)
    return pd.DataFrame({"x": x, "t": times.to_numpy(), "y": np.arange(len(x)) * 0.5})


@two_thirds
@given(data=st.data(), df=timed(), at=cuts(), options=BY_TIME)
def test_by_time(backend, data, df, at, options):
    name = data.draw(statistics)
    indexed = df.set_index("t")
    expected = ask_pandas_for(name)(indexed.rolling(**options))
    ask = lambda it: ask_for(name)(it.rolling(**options))[["x", "y"]]  # noqa: E731
    check_statistic(backend, indexed, at, ask, expected[["x", "y"]], name, df)
    if backend.name == "cpu":
        expected = picked(expected, df, name).reset_index()[["x", "t", "y"]]
        check(backend, df, at, lambda it: ask_for(name)(it.rolling(on="t", **options)), expected)


@given(data=st.data(), df=timed(), at=cuts(), clustered=st.booleans(), dropna=st.booleans())
def test_groups(backend, data, df, at, clustered, dropna):
    k = data.draw(columns(KEYS))
    count = min(len(k), len(df))
    assume(count)
    df = df.iloc[:count].assign(k=k.iloc[:count])
    by_time = data.draw(st.booleans())
    options = {"on": "t", **data.draw(BY_TIME)} if by_time else least(data, data.draw(BY_ROWS))
    name = data.draw(
        st.sampled_from([*known_to_pandas(["sum", "mean", "std", "min", "count", "last"]), *SORTED])
    )
    df = (adjacent(df) if clustered else df).reset_index(drop=True)
    numbers = df.groupby("k", sort=False, dropna=False, observed=True).ngroup()
    windows = {name: option for name, option in options.items() if name != "on"}
    apart = [
        ask_pandas_for(name)(
            (group.set_index("t") if by_time else group)["x"].rolling(**windows)
        ).set_axis(group.index)
        for _, group in df.groupby(numbers.to_numpy())
    ]
    expected = pd.concat(apart).sort_index()
    if dropna:
        expected = expected.where(df["k"].notna())
    groups = lambda it: it.groupby("k", clustered=clustered, dropna=dropna)["x"]  # noqa: E731
    ask = lambda it: ask_for(name)(groups(it).rolling(**options))  # noqa: E731
    check_statistic(backend, df, at, ask, expected, name, df["x"])


@pytest.mark.parametrize("has_table", [True, False])
@pytest.mark.parametrize("options", [{"window": 3, "min_periods": 1}, {"window": "20s", "on": "t"}])
def test_groups_whose_codes_are_far_apart(backend, options, has_table):
    keys = np.array([3, 60_000, 3, 9, 3, 60_000, 9, 3, 3, 9, 60_000, 3])
    times = pd.date_range("2026-01-01", periods=len(keys), freq="4s")
    df = pd.DataFrame({"k": keys, "t": times, "x": np.arange(12.0)})
    expected = df.groupby("k").rolling(**options)["x"].sum()
    expected = pd.Series(expected.to_numpy(), np.argsort(keys, kind="stable"), name="x")
    ask = lambda it: it.groupby("k")["x"].rolling(**options).sum()  # noqa: E731
    # a GPU has no room for a table of so many codes; here, that may be said of the CPU
    with nullcontext() if has_table else groups_without_a_table():
        check(backend, df, [0.2, 0.2, 0.3, 0.5, 0.9], ask, expected.sort_index())


@given(data=st.data(), x=columns(("int64", "float64", "Int64")), at=cuts(), options=BY_ROWS)
def test_operators(backend, data, x, at, options):
    options = {**options, "min_periods": 0}
    most = dask_gpuscan.maximum
    found = Backend().frame(x).gpuscan.rolling(**options).scan(most)
    windows = x.rolling(**{**options, "min_periods": 1})
    counts = x.rolling(**options).count()
    assert ((counts == 0) | (found.astype("float64") == windows.max())).all()
    check(backend, x, at, lambda it: it.rolling(**options).scan(most), found)


def test_an_operator_of_two_columns_that_does_not_commute():
    # x -> a x + b, applied from the first row of the window to the last
    df = pd.DataFrame({"a": [2.0, 3.0, 0.5, 4.0, 1.0], "b": [1.0, 0.0, 2.0, 1.0, 5.0]})
    found = [df.gpuscan.rolling(3, min_periods=1).scan(AFFINE).tolist()]
    ddf = partitioned(df, [0.2, 0.5, 0.9])
    found.append(ddf.gpuscan.rolling(3, min_periods=1).scan(AFFINE).compute().tolist())
    expected = []
    for i in range(len(df)):
        y = 0.0
        for j in range(max(0, i - 2), i + 1):
            y = df["a"][j] * y + df["b"][j]
        expected.append(y)
    assert found == [expected, expected]


AFFINE = dask_gpuscan.operator(
    lambda s, t: (t[0] * s[0], t[0] * s[1] + t[1]),
    identity=(1.0, 0.0),
    lift=lambda a, b: (a, b),
    lower=lambda s: s[1],
)


def test_a_window_that_left_a_large_number_behind_has_no_trace_of_it():
    x = pd.Series([1e16, 1.0, 1.0, 1.0, 1.0])
    assert x.gpuscan.rolling(2).sum().tolist()[2:] == [2.0, 2.0, 2.0]
    assert x.gpuscan.rolling(2).var().tolist()[2:] == [0.0, 0.0, 0.0]


def test_a_window_longer_than_many_partitions():
    x = pd.Series(np.arange(400.0))
    ddf = partitioned(x, [i / 100 for i in range(1, 100)])
    same(
        ddf.gpuscan.rolling(150, min_periods=1).sum().compute(), x.rolling(150, min_periods=1).sum()
    )


@pytest.mark.parametrize("center", [False, True])
def test_times_that_are_the_same_over_a_border(backend, center):
    x = pd.Series(np.arange(5.0), index=pd.to_datetime([0, 0, 0, 0, 3], unit="s").as_unit("s"))
    at, df = [0.2, 0.6], pd.DataFrame({"k": 1, "x": x.rename("x")})
    ask = lambda it: it.rolling("1s", center=center).sum()  # noqa: E731
    check(backend, df["x"], at, ask, ask(df["x"]))
    check(backend, df, at, lambda it: ask(it.groupby("k")["x"]), ask(df["x"]))
    check(backend, df, at, lambda it: ask(it.groupby("k", clustered=True)["x"]), ask(df["x"]))


def test_a_halo_that_is_larger_than_a_chunk_warns_with_its_size():
    ddf = partitioned(pd.Series(np.arange(400.0)), [0.5])
    windows = ddf.gpuscan.rolling(100, min_periods=1).sum()
    with (
        dask.config.set({"array.chunk-size": "256B"}),
        pytest.warns(UserWarning, match="B over a border"),
    ):
        windows.compute(scheduler="sync")


def test_only_the_open_group_goes_on_over_a_border_of_clustered_rows():
    df = pd.DataFrame({"k": [1, 1, 2, 2, 2], "x": np.arange(5.0)})
    windows = partitioned(df, [0.8]).gpuscan.groupby("k", clustered=True)["x"]
    before = windows.expanding().median().expr.carry.before
    first, second = (before.aggregate(part) for part in (df[:4], df[4:]))
    assert first.count == 2
    assert before.combine([first, second]).count == 3
    ahead = windows.rolling(9, center=True, min_periods=1).sum().expr.carry.after
    assert ahead.aggregate(df).count == 2


def test_the_column_of_times_alone_can_be_asked_for():
    df = pd.DataFrame({"x": [1.0, 2.0, 4.0], "t": pd.to_datetime([1, 2, 4], unit="s")})
    lazy = dask.dataframe.from_pandas(df, npartitions=3).gpuscan.rolling("2s", on="t").sum()
    same(lazy["t"].compute(), df["t"])
    same(lazy[["t"]].compute(), df[["t"]])
    same(lazy["x"].compute(), df.rolling("2s", on="t").sum()["x"])
    assert set(lazy["x"].simplify().expr.frame.columns) == {"x", "t"}


def test_the_column_of_times_stays_beside_columns_that_are_planned_together():
    times = pd.to_datetime([1, 2, 4], unit="s")
    df = pd.DataFrame({"t": times, "x": [1.0, 2.0, 4.0], "y": [3, 4, 5]})
    for name in ("sum", "median", "count"):
        expected = ask_pandas_for(name)(df.rolling("2s", on="t"))[["t", "x", "y"]]
        for _ in range(2):
            same(ask_for(name)(df.gpuscan.rolling("2s", on="t")), expected)
        rows = dask_gpuscan.stream([df[:2], df[2:]])
        same(ask_for(name)(rows.gpuscan.rolling("2s", on="t")).compute(), expected)
    answer = df.gpuscan.rolling("2s", on="t").sum()
    answer.loc[0, "t"] = times[2]
    assert df["t"].tolist() == times.tolist()


WHOLE = pd.DataFrame({"x": [1.0, 2.0], "s": ["a", "b"]})


REFUSED = {
    ValueError: {
        "window must be a positive number of rows, or a positive duration such as '30min', found 0": [
            {"window": 0}
        ],
        "window must be a positive": [
            {"window": -3},
            {"window": 1.5},
            {"window": True},
            {"window": "x"},
            {"window": "-1s"},
            {"window": None},
            {"window": pd.NaT},
            {"window": "1ME"},
        ],
        "on='z' is not a column; columns are": [{"window": "1s", "on": "z"}],
        "min_periods must be at most the window, 2, found 3": [{"window": 2, "min_periods": 3}],
        "on=a pandas Series is not a column": [{"window": "1s", "on": WHOLE.x}],
        "min_periods must be an integer >= 0": [{"window": 2, "min_periods": -1}],
        "min_periods must be an integer": [{"window": 2, "min_periods": 1.0}],
        "center must be True or False": [{"window": 2, "center": "yes"}],
        "closed must be one of": [{"window": 2, "closed": "both "}],
    },
    TypeError: {
        "need datetimes or timedeltas, found the index of dtype int64": [{"window": "1s"}],
        "found column 'x' of dtype float64": [{"window": "1s", "on": "x"}],
    },
}


@pytest.mark.parametrize(("error", "message", "arguments"), refusals(REFUSED))
def test_wrong_arguments(arguments, error, message):
    for it in (WHOLE, dask.dataframe.from_pandas(WHOLE, npartitions=2)):
        for ask in (it.gpuscan, it.gpuscan.groupby("s")):
            with pytest.raises(error, match=message):
                ask.rolling(**arguments)


@given(
    x=columns(("str", "category", "bool", "datetime64[ns]", "object", "float64", "Int64")),
    at=cuts(),
    options=BY_ROWS,
)
def test_counts_of_any_dtype(backend, x, at, options):
    check(backend, x, at, lambda it: it.rolling(**options).count(), x.rolling(**options).count())
    check(backend, x, at, lambda it: it.expanding(2).count(), x.expanding(2).count())


@pytest.mark.parametrize("window", [2**62, 2**63 - 1, 2**70])
@pytest.mark.parametrize("closed", ["both", "left"])
def test_windows_longer_than_any_data(window, closed):
    x = pd.Series([1.0, 2.0, 4.0, 8.0])
    for center in (False, True):
        expected = x.rolling(100, min_periods=1, center=center, closed=closed).sum()
        check(
            Backend(),
            x,
            [0.3],
            lambda it: it.rolling(window, min_periods=1, center=center, closed=closed).sum(),  # noqa: B023
            expected,
        )


def test_windows_without_values_have_no_rank():
    x = pd.Series([2.0, 1.0, np.nan, np.nan, 3.0])
    found = x.gpuscan.rolling(1, min_periods=0, closed="left").rank()
    assert found.isna().tolist() == x.shift().isna().tolist()


def test_ranks_of_centred_windows_are_those_of_their_last_rows():
    x = pd.Series([5.0, 1.0, 3.0, np.nan, 2.0, 4.0])
    found = x.gpuscan.rolling(3, center=True, min_periods=1).rank()
    assert found.fillna(-1.0).tolist() == [1.0, 2.0, -1.0, 1.0, 2.0, 2.0]


def test_columns_that_are_no_numbers_are_named():
    with pytest.raises(TypeError, match="rolling-sum of column 's': dtype"):
        WHOLE.gpuscan.rolling(2).sum()
    assert list(WHOLE.gpuscan.rolling(2).sum(numeric_only=True)) == ["x"]


def test_times_that_decrease_or_are_null_name_their_partition():
    df = pd.DataFrame({"x": range(4), "t": pd.to_datetime([1, 3, 2, 4], unit="s")})
    for at in ([0.5], [0.25]):
        with pytest.raises(
            ValueError,
            match=r"partition 1: column 't' must not decrease, and .* 00:00:02 comes after .* 00:00:03; sort",
        ):
            partitioned(df, at).gpuscan.rolling("2s", on="t").sum().compute()
    df.loc[3, "t"] = pd.NaT
    with pytest.raises(ValueError, match="column 't' has null times"):
        partitioned(df.drop(2), [0.5]).gpuscan.rolling("2s", on="t").sum().compute()


@pytest.mark.sampled(2)
@pytest.mark.parametrize("name", ["sum", "min", "std", "count"])
@pytest.mark.parametrize("least", [0, 1, 3])
def test_groups_in_any_order_with_windows_of_very_many_rows(backend, name, least):
    rng = np.random.default_rng(0)
    df = pd.DataFrame({"k": rng.integers(0, 5, 300), "x": rng.integers(0, 9, 300) / 2})
    df.loc[rng.random(300) < 0.2, "x"] = np.nan
    df.loc[rng.random(300) < 0.1, "k"] = np.nan
    window = 1 << 21  # more than rings have room for, so that rows are brought together
    expected = getattr(df.groupby("k")["x"].rolling(window, min_periods=least), name)()
    expected = expected.droplevel(0).reindex(df.index)
    ask = lambda it: getattr(it.groupby("k")["x"].rolling(window, min_periods=least), name)()  # noqa: E731
    check(backend, df, [0.3, 0.3, 0.7], ask, expected)


@pytest.mark.parametrize("rows", [150, 300])
@pytest.mark.parametrize("centered", [False, True])
def test_rows_near_borders_with_the_others_or_apart(backend, rows, centered):
    x = pd.Series(np.random.default_rng(rows).integers(-99, 99, 3 * rows) / 4)
    x[[0, 40, rows, 2 * rows - 1]] = np.nan
    options = {"window": 40, "center": centered, "min_periods": 30}
    ask = lambda it: it.rolling(**options).sum()  # noqa: E731
    with copy_threshold(backend.frame(x), 200):
        check(backend, x, [1 / 3, 2 / 3], ask, x.rolling(**options).sum())


def test_apply_takes_an_operator():
    x = pd.Series([3.0, 1.0, None, 5.0, 2.0])
    for d in (x, partitioned(x, [0.3, 0.6])):
        (found,) = dask.compute(d.gpuscan.rolling(2, min_periods=1).apply(dask_gpuscan.maximum))
        same(found, x.rolling(2, min_periods=1).max())
        with pytest.raises(TypeError, match=r"made by dask_gpuscan.operator, found <function"):
            d.gpuscan.rolling(2).apply(lambda window: window.max())
