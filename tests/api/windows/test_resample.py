"""resample against pandas on the whole: any cuts, rules, time zones and gaps, buckets without rows among them."""

import warnings

import dask.dataframe as dd
import numpy as np
import pandas as pd
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

import dask_gpuscan
from dask_gpuscan import stream
from helpers.asked import computed
from helpers.backends import same
from helpers.strategies import columns, cuts, partitioned, two_thirds
from helpers.widened import as_nullable

FIXED = ("15min", "1h", "7h", "36h", "D", "3D")
CALENDAR = ("ME", "MS", "W", "W-WED", "B", "2B", "QS", "2MS", "QE", "YE", "2ME", "SME", "BQE")
ZONES = (None, "UTC", "Europe/Berlin", "America/New_York")
METHODS = (
    *("sum", "prod", "min", "max", "count", "size", "mean", "var", "std", "sem"),
    *("first", "last", "median", "nunique"),
)
DTYPES = ("int64", "float64", "bool", "int64[pyarrow]")
OPENS = ("min", "max", "first", "last")
"""The reductions that make floats of NumPy's integers and flags where a bucket has no rows."""
sides = st.sampled_from([None, "left", "right"])


@st.composite
def series(draw, dtypes=DTYPES, wide=True):
    """Values at times in order, with ties, long gaps, and all about changes of the clock."""
    x = draw(columns(dtypes, max_size=16).filter(len))
    steps = [0, 1, 10, 59, 60, 600, 1440, 4321, *([50_000, 90_000] if wide else [])]
    minutes = draw(st.lists(st.sampled_from(steps), min_size=len(x), max_size=len(x)))
    start = draw(st.sampled_from(["2026-03-28 22:00", "2026-10-24", "2025-12-31 23:59:59"]))
    unit = draw(st.sampled_from(["us", "ns", "s"]))
    times = pd.Timestamp(start) + pd.to_timedelta(np.cumsum(minutes), unit="min")
    times = pd.DatetimeIndex(times, name=draw(st.sampled_from([None, "t"]))).as_unit(unit)
    zone = draw(st.sampled_from(ZONES))
    if zone is not None:
        times = times.tz_localize("UTC").tz_convert(zone)
    x.index = times
    return x


def with_nulls(expected, x, method):
    """What pandas answers if a bucket has no rows, exactly: that is the dtype over partitions."""
    return as_nullable(expected, x) if method in OPENS else expected


def agrees(backend, x, at, method, rule, **options):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", RuntimeWarning)  # origins do nothing for calendars
        expected = getattr(x.resample(rule, **options), method)()
        frame = backend.frame(x)
        found = getattr(frame.gpuscan.resample(rule, **options), method)()
        lazy = getattr(partitioned(frame, at).gpuscan.resample(rule, **options), method)()
        computed = lazy.compute()
    assert lazy.dtype == computed.dtype
    if backend.name == "cpu":
        held = with_nulls(expected, x, method)
        same(found, held if x.resample(rule, **options).size().eq(0).any() else expected)
        same(computed, held)
        assert found.index.freq == computed.index.freq == expected.index.freq
        return
    for one in (found, computed):
        one = backend.to_pandas(one)
        assert list(one.index) == list(expected.index)
        numbers = one.to_numpy(dtype=float, na_value=np.nan)
        wanted = expected.to_numpy(dtype=float, na_value=np.nan)
        if method in ("sum", "prod"):  # null where there are no values, as of cuDF
            numbers = np.nan_to_num(numbers, nan=float(method == "prod"))
        np.testing.assert_allclose(numbers, wanted, rtol=1e-6)


@two_thirds
@given(
    x=series(),
    at=cuts(),
    method=st.sampled_from(METHODS),
    rule=st.sampled_from(FIXED),
    closed=sides,
    label=sides,
)
def test_durations_as_pandas(backend, x, at, method, rule, closed, label):
    assume(backend.name == "cpu" or x.dtype != bool)  # of which cuDF has few reductions
    agrees(backend, x, at, method, rule, closed=closed, label=label)


@pytest.mark.sampled(2)
@pytest.mark.parametrize("method", OPENS)
def test_flags_are_nan_in_buckets_without_rows(method):
    times = pd.to_datetime(["2026-03-28 22:00", "2026-03-28 22:59"])
    x = pd.Series([False, True], index=times)
    for each in (x, partitioned(x, [0.5])):
        found = getattr(each.gpuscan.resample("15min"), method)()
        found = found.compute() if isinstance(found, dd.Series) else found
        assert found.dtype == object
        assert found.iloc[[0, 3]].tolist() == [False, True]
        assert all(isinstance(value, float) for value in found.iloc[1:3])  # as pandas shifts them


@given(
    x=series(("float64",)),
    at=cuts(),
    method=st.sampled_from(["sum", "max", "size", "median"]),
    rule=st.sampled_from(CALENDAR),
    closed=sides,
    label=sides,
)
def test_calendars_as_pandas(backend, x, at, method, rule, closed, label):
    assume(backend.name == "cpu" or x.dtype != bool)  # of which cuDF has few reductions
    agrees(backend, x, at, method, rule, closed=closed, label=label)


@given(
    x=series(("float64", "int64")),
    at=cuts(),
    rule=st.sampled_from((*FIXED, "ME")),
    origin=st.sampled_from(["start", "start_day", "epoch", "2026-01-01 00:07"]),
    offset=st.sampled_from([None, "5min", "-90min"]),
    closed=sides,
)
def test_origins_as_pandas(backend, x, at, rule, origin, offset, closed):
    if origin not in ("start", "start_day", "epoch"):
        origin = pd.Timestamp(origin, tz=x.index.tz)
    agrees(backend, x, at, "sum", rule, origin=origin, offset=offset, closed=closed)


MIDNIGHTS = {
    "America/Sao_Paulo": "2018-11-04",  # clocks skip it, as the next ones do
    "Asia/Beirut": "2022-03-27",
    "America/Scoresbysund": "2023-03-26",
    "Pacific/Apia": "2011-12-30",  # and all that day
    "America/Havana": "2022-11-06",  # clocks show it twice
    "Australia/Lord_Howe": "2025-10-05",  # half an hour
}


@pytest.mark.sampled(6)
@pytest.mark.parametrize("rule", ["15min", "D", "2D", "W-SUN", "2W", "MS", "ME", "SME", "B"])
@pytest.mark.parametrize("zone", MIDNIGHTS)
def test_midnights_of_changed_clocks(zone, rule):
    times = pd.date_range(MIDNIGHTS[zone], periods=32, freq="8h", tz="UTC") - pd.Timedelta("5D")
    x = pd.Series(np.arange(32.0), index=times.tz_convert(zone))
    for closed in ("left", "right"):
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", RuntimeWarning)
            options = {"closed": closed, "offset": "5min"}
            expected = x.resample(rule, **options).sum()
            same(x.gpuscan.resample(rule, **options).sum(), expected)
            lazy = partitioned(x, [0.25, 0.5, 0.55, 0.8])
            lazy = lazy.gpuscan.resample(rule, **options).sum()
        # where the rule does not lead from one label to the next, joined indexes have none
        pd.testing.assert_series_equal(lazy.compute(), expected, check_freq=False)


QUESTIONS = (
    lambda it: it[["x", "z"]].mean(),
    lambda it: it["x"].std(),
    lambda it: it.size(),
    lambda it: it.y.count(),
    lambda it: it[["z"]].ohlc(),
    lambda it: it["z"].ohlc(),
    lambda it: it.z.quantile(0.3),
    lambda it: it.agg({"x": "mean", "y": "count"}),
    lambda it: it.x.agg(["max", "count"]),
    lambda it: it.agg(a=("x", "max"), b=("y", "size")),
)


@pytest.mark.sampled(2)
@pytest.mark.parametrize("ask", QUESTIONS, ids=range(len(QUESTIONS)))
@settings(max_examples=-(-settings.default.max_examples // 8))
@given(x=series(("float64",)), at=cuts(), rule=st.sampled_from(["6h", "W", "ME"]))
def test_frames_as_pandas(backend, ask, x, at, rule):
    df = pd.DataFrame({"x": x, "y": np.arange(len(x)), "z": x * 2})
    expected, frame = ask(df.resample(rule)), backend.frame(df)
    for data in (frame, partitioned(frame, at)):
        found = backend.to_pandas(computed(ask(data.gpuscan.resample(rule))))
        if backend.name != "cpu":
            found, expected = found.astype(float), expected.astype(float)
        same(found, expected)


@given(x=series(("float64", "Int64"), wide=False), at=cuts(), rule=st.sampled_from(["6h", "ME"]))
def test_column_of_times_as_pandas(backend, x, at, rule):
    df = pd.DataFrame({"when": x.index, "x": x.to_numpy(), "y": 1})
    df["x"] = x.array
    expected = df.resample(rule, on="when").agg({"x": "mean", "y": "count"})
    frame = backend.frame(df)
    asked = {"x": "mean", "y": "count"}
    found = [
        frame.gpuscan.resample(rule, on="when").agg(asked),
        partitioned(frame, at).gpuscan.resample(rule, on="when").agg(asked).compute(),
    ]
    for one in found:
        same(backend.to_pandas(one).astype(float), expected.astype(float))
    if backend.name == "cpu":
        same(frame.gpuscan.resample(rule, on="when").sum(), df.resample(rule, on="when").sum())
        same(frame.gpuscan.resample(rule, on="when").size(), df.resample(rule, on="when").size())


@given(
    x=series(("str", "object", "string[pyarrow]", "timedelta64[ns]", "category"), wide=False),
    at=cuts(),
    method=st.sampled_from(["sum", "min", "first", "last", "count", "nunique"]),
)
def test_values_of_other_dtypes(x, at, method):
    if x.dtype == "category" and method in ("sum", "min"):
        return
    if x.dtype == object and method in ("sum", "min"):  # of which pandas chooses dtypes by values
        return
    expected = getattr(x.resample("D"), method)()
    for found in (
        getattr(x.gpuscan.resample("D"), method)(),
        getattr(partitioned(x, at).gpuscan.resample("D"), method)().compute(),
    ):
        same(found, expected)


def test_objects_of_buckets_without_rows():
    x = pd.Series(
        ["a", None, "b"], index=pd.to_datetime(["2026-01-01", "2026-01-02", "2026-01-04"])
    )
    x = x.astype(object)
    for each in (x, partitioned(x, [0.5])):
        assert computed(each.gpuscan.resample("D").first()).tolist() == ["a", None, None, "b"]


def test_arrow_times():
    times = pd.date_range("2026", periods=4, freq="9h", unit="us")
    x = pd.Series([1, 2, 3, 4], index=times.astype("timestamp[us][pyarrow]"))
    for rule in ("D", "ME", "2h"):
        expected = x.resample(rule).sum()
        same(x.gpuscan.resample(rule).sum(), expected)
        same(partitioned(x, [0.3, 0.6]).gpuscan.resample(rule).sum().compute(), expected)


def test_gap_longer_than_partitions_and_empty_ones(backend):
    times = pd.to_datetime(["2026-01-01 00:30", "2026-01-01 00:40", *["2026-02-10 00:00"] * 2])
    x = pd.Series([1.0, 2.0, 3.0, 4.0], index=times)
    for at in ([], [0.25, 0.5, 0.75], [0, 0, 0.25, 0.25, 0.5, 0.5, 0.5, 1, 1]):
        for rule in ("h", "W", "B"):
            agrees(backend, x, at, "sum", rule)
            agrees(backend, x, at, "max", rule, closed="right")


def test_one_bucket_over_all_partitions(backend):
    x = pd.Series(np.arange(20.0), index=pd.date_range("2026-05-01", periods=20, freq="min"))
    for method in METHODS:
        agrees(backend, x, [i / 20 for i in range(20)], method, "YE")


@pytest.mark.sampled(2)
@pytest.mark.parametrize(("zone", "rule"), [("UTC", "h"), ("Europe/Berlin", "D"), ("UTC", "ME")])
def test_no_rows(zone, rule):
    """The dtypes are those of rows, which pandas does not see to."""
    x = pd.Series([1, 2], index=pd.date_range("2026", periods=2, tz=zone, unit="us", name="t"))
    for method in METHODS:
        some = getattr(partitioned(x, [0.5]).gpuscan.resample(rule), method)()
        none = getattr(partitioned(x[:0], [0.5]).gpuscan.resample(rule), method)().compute()
        assert len(none) == 0
        assert none.dtype == some.dtype
        assert none.index.dtype == x.index.dtype
        assert none.index.freq == pd.tseries.frequencies.to_offset(rule)
        assert none.index.name == "t"


def test_operator_of_the_user(backend):
    x = pd.Series([6, 3, 5], index=pd.to_datetime(["2026-01-01", "2026-01-01", "2026-01-03"]))
    import dask_gpuscan

    found = backend.frame(x).gpuscan.resample("D").reduce(dask_gpuscan.bitwise_xor)
    assert backend.to_pandas(found).astype(float).fillna(-1).tolist() == [5, -1, 5]


def test_names_of_columns_are_kept():
    index = pd.date_range("2026", periods=4, freq="12h")
    names = pd.MultiIndex.from_product([["a"], ["x", "y"]], names=["one", "two"])
    df = pd.DataFrame(np.arange(8.0).reshape(4, 2), index=index, columns=names)
    same(df.gpuscan.resample("D").sum(), df.resample("D").sum())
    lazy = partitioned(df, [0.4]).gpuscan.resample("D").sum()
    same(lazy.compute(), df.resample("D").sum())
    taken = df.set_axis(["bucket", "bucket_"], axis=1)
    same(taken.gpuscan.resample("D").sum(), taken.resample("D").sum())


YEAR = pd.to_datetime(["2026"]).as_unit("us")
ONE = pd.DataFrame({"x": [1], "s": ["a"], "when": YEAR}, index=YEAR)


@pytest.mark.parametrize(
    ("asked", "error", "message"),
    [
        ({"rule": "fortnight"}, ValueError, "rule must be a duration or a rule of pandas"),
        ({"rule": None}, ValueError, "rule must be longer than nothing, found None"),
        ({"rule": "-1h"}, ValueError, "rule must be longer than nothing"),
        ({"rule": "0h"}, ValueError, "rule must be longer than nothing"),
        ({"rule": "1ns"}, ValueError, "rule must be a multiple of the unit of the times"),
        ({"rule": "D", "closed": "both"}, ValueError, "closed must be one of 'left', 'right'"),
        ({"rule": "D", "label": 1}, ValueError, "label must be one of 'left', 'right'"),
        ({"rule": "D", "origin": "end"}, ValueError, "origin must be one of 'start_day'"),
        ({"rule": "D", "origin": "tomorrowish"}, ValueError, "origin must be one of 'start_day'"),
        (
            {"rule": "D", "origin": pd.Timestamp("2026", tz="UTC")},
            ValueError,
            "origin must have a time zone if",
        ),
        ({"rule": "D", "offset": "wide"}, ValueError, "offset must be a duration, found 'wide'"),
        (
            {"rule": "D", "on": "y"},
            ValueError,
            "on='y' is not a column; columns are 'x', 's', 'when'",
        ),
        ({"rule": "D", "on": "x"}, TypeError, "needs datetimes, found dtype int64 in column 'x'"),
    ],
)
def test_bad_arguments(asked, error, message):
    for one in (ONE, dd.from_pandas(ONE, npartitions=1)):
        with pytest.raises(error, match=message):
            one.gpuscan.resample(**asked)


@pytest.mark.parametrize(
    ("method", "duration"),
    [("resample", "w"), ("resample", "d"), ("resample", "1h"), ("resample", "2min")]
    + [("rolling", "60S"), ("rolling", "1d"), ("rolling", "60s")],
)
def test_warnings_of_durations_come_each_time(method, duration):
    x = pd.Series(1.0, index=pd.date_range("2026-01-01", periods=3, freq="h"))
    found = []
    for _ in range(2):
        with warnings.catch_warnings(record=True) as seen:
            warnings.simplefilter("always")
            getattr(x.gpuscan, method)(duration).sum()
        found.append([str(each.message) for each in seen])
    assert found[0] == found[1]
    assert not found[0] or duration not in ("1h", "2min", "60s")


def test_bad_times_and_columns():
    with pytest.raises(TypeError, match="needs datetimes, found dtype int64 in the index"):
        pd.Series([1]).gpuscan.resample("D")
    with pytest.raises(TypeError, match="on names a column of a DataFrame"):
        ONE.x.gpuscan.resample("D", on="x")
    with pytest.raises(ValueError, match="'y' is not a column; columns are 'x', 's', 'when'"):
        ONE.gpuscan.resample("D")["y"]
    with pytest.raises(TypeError, match="column 's'"):
        dd.from_pandas(ONE, npartitions=1).gpuscan.resample("D").mean()
    with pytest.raises(TypeError, match="q must be one number"):
        ONE.gpuscan.resample("D").x.quantile([0.1, 0.2])


@pytest.mark.parametrize(
    ("days", "number"), [([3, 1, 4, 5], 0), ([1, 2, 3, 1], 2), ([1, 2, 0, 3], 1)]
)
@pytest.mark.parametrize("on", [None, "t"])
def test_times_that_decrease(backend, days, number, on):
    times = pd.Timestamp("2026") + pd.to_timedelta(days, unit="D")
    df = pd.DataFrame({"x": 1.0, "t": times}, index=times)
    lazy = partitioned(backend.frame(df), [0.5, 0.75]).gpuscan.resample("D", on=on).x.sum()
    with pytest.raises(ValueError, match=f"^partition {number}: .*times must not decrease"):
        lazy.compute()


def test_times_that_are_null(backend):
    times = pd.to_datetime(["2026", None, "2027"])
    df = pd.DataFrame({"x": [1.0, 2.0, 3.0], "t": times})
    with pytest.raises(ValueError, match="column 't' has nulls; drop them"):
        backend.frame(df).gpuscan.resample("D", on="t").x.sum()


SECONDS = pd.DataFrame({"k": 1, "t": pd.to_datetime(["2024", "9999"]).as_unit("s"), "x": [1, 2]})
MEMORY = (
    r"rule 's', of times from 2024-01-01 .* to 9999-.*: the answer has 251,\d{3},\d{3},\d{3} rows, which take .*; "
    r"take a longer rule"
)


@pytest.mark.parametrize("grouped", [False, True])
def test_more_buckets_than_memory_holds(grouped):
    parts = [SECONDS[:1], SECONDS[1:]]
    for rows in (SECONDS, dd.from_pandas(SECONDS, npartitions=2), stream(parts)):
        buckets = (rows.gpuscan.groupby("k") if grouped else rows.gpuscan).resample("1s", on="t")
        with pytest.raises(MemoryError, match=MEMORY):
            computed(buckets["x"].sum())
        if isinstance(rows, pd.DataFrame):
            with pytest.raises(MemoryError, match=MEMORY):
                buckets["x"].ffill()


def test_more_edges_than_memory_holds():
    with pytest.raises(MemoryError, match=MEMORY):
        SECONDS.gpuscan.resample("1s", on="t")["x"].interpolate()


@pytest.mark.parametrize("zone", [None, "America/Santiago"])
def test_late_times_are_told(zone):
    days = pd.to_datetime(["2026-01-03", "2026-01-04", "2026-01-02", "2026-01-05"])
    frame = pd.DataFrame({"k": 1, "t": days.tz_localize(zone), "x": 1})
    which = r"2026-01-02 00:00:00\S* comes after 2026-01-04 00:00:00\S*; sort"
    lazy = dd.concat([dd.from_pandas(frame[i : i + 2], npartitions=1) for i in (0, 2)])
    for rows, where in (
        (frame, ""),
        (lazy, "partition 1: "),
        (stream([frame[:2], frame[2:]]), "batch 1: "),
        (stream([frame[:1], frame[1:2], frame[2:]]), "batch 2: "),
        (stream([frame[:1], frame[1:]]), "batch 1: "),
    ):
        with pytest.raises(ValueError, match=f"^{where}resample: .*, but in column 't' {which}"):
            computed(rows.gpuscan.resample("D", on="t")["x"].sum())
        with pytest.raises(ValueError, match=f"within a group, but in column 't' {which}"):
            computed(rows.gpuscan.groupby("k").resample("D", on="t")["x"].sum())
    with pytest.raises(ValueError, match=f"but in column 't' {which}"):
        frame.gpuscan.resample("D", on="t")["x"].interpolate()


@pytest.mark.parametrize("method", ["max", "sum", "ffill", "asfreq", "interpolate"])
@pytest.mark.parametrize("kind", ["dask", "stream"])
def test_a_part_of_nothing_but_null_times(kind, method):
    days = pd.DatetimeIndex([pd.NaT, "2020-01-01"], name="t")
    for at in (days, days[::-1]):
        rows = pd.DataFrame({"x": [1.0, 2.0]}, index=at)
        parts = [rows.iloc[:1], rows.iloc[1:]]
        given = dask_gpuscan.stream(parts)
        if kind == "dask":
            given = dd.from_map(lambda part: part, parts, meta=rows.iloc[:0])
        elif method in ("ffill", "asfreq", "interpolate"):
            continue  # which need rows that come later
        with pytest.raises(
            ValueError,
            match=r"^(partition|batch) \d: .*has nulls|contain null values|must not decrease",
        ):
            getattr(given.gpuscan.resample("D"), method)().compute()
