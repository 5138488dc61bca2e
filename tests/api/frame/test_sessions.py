"""sessionize and sessions: what pandas' idiom of shift, difference and cumsum gives, on whatever partitions."""

import dask
import dask.dataframe as dd
import numpy as np
import pandas as pd
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

import dask_gpuscan
from dask_gpuscan import stream
from helpers.asked import computed
from helpers.backends import same
from helpers.strategies import cuts, partitioned


@st.composite
def events(draw):
    """Events in the order of their times, of a few users."""
    rows = draw(st.lists(st.tuples(st.integers(0, 40), st.sampled_from("abc")), max_size=24))
    frame = pd.DataFrame(sorted(rows), columns=["t", "user"]).astype({"t": "int64", "user": "str"})
    return frame.assign(x=np.arange(len(frame)))


def idiom(frame, gap, by):
    wide = (frame.groupby("user").t if by else frame.t).diff() > gap
    numbers = (wide.groupby(frame.user) if by else wide).cumsum()
    return numbers.astype("int64").rename("session")


@given(df=events(), at=cuts(), gap=st.sampled_from([0, 5]), by=st.sampled_from([None, "user"]))
def test_numbers(backend, df, at, gap, by):
    expected = idiom(df, gap, by)
    frame = backend.frame(df)
    same(backend.to_pandas(frame.gpuscan.sessionize("t", by, gap=gap)), expected)
    lazy = partitioned(frame, at).gpuscan.sessionize("t", by, gap=gap)
    if by and backend.name == "cpu":  # a user might be null
        expected = expected.astype("float64")
    same(backend.to_pandas(lazy.compute()), expected)
    when = df.assign(t=pd.Timestamp("2026-01-01") + pd.to_timedelta(df.t, unit="min"))
    found = partitioned(backend.frame(when), at).gpuscan.sessionize("t", by, gap=f"{gap}min")
    same(backend.to_pandas(found.compute()), expected)


@given(df=events(), at=cuts(), by=st.sampled_from([None, "user"]))
def test_table(backend, df, at, by):
    numbered = df.assign(session=idiom(df, 5, by))
    keys = [by, "session"] if by else ["session"]
    groups = numbered.groupby(keys)
    expected = groups.agg(
        start=("t", "min"), end=("t", "max"), count=("t", "size"), total=("x", "sum")
    ).reset_index()
    frame = backend.frame(df)
    found = backend.to_pandas(frame.gpuscan.sessions("t", by, gap=5, total=("x", "sum")))
    same(found, expected)
    lazy = partitioned(frame, at).gpuscan.sessions("t", by, gap=5, total=("x", "sum"))
    same(backend.to_pandas(lazy.compute()), expected)
    assert found["count"].sum() == len(df)
    if by:
        together = backend.frame(df.sort_values("user", kind="stable"))
        lazy = partitioned(together, at).gpuscan.sessions(
            "t", by, gap=5, clustered=True, total=("x", "sum")
        )
        same(backend.to_pandas(lazy.compute()), expected)


def test_other_times(backend):
    whole = pd.DataFrame({"t": pd.to_datetime(["2026-01-01", "2026-01-02", "2026-01-09"])})
    for dtype in ("datetime64[s]", "datetime64[ns, Europe/Berlin]", "timestamp[us][pyarrow]"):
        host = whole.astype({"t": dtype}) if "Berlin" not in dtype else whole
        if "Berlin" in dtype:
            host = whole.assign(t=whole.t.dt.tz_localize("Europe/Berlin"))
        frame = backend.frame(host)
        for events in (frame, partitioned(frame, [0.5])):
            (found,) = dask.compute(events.gpuscan.sessionize("t", gap=pd.Timedelta(days=2)))
            assert backend.to_pandas(found).tolist() == [0, 0, 1]
            (table,) = dask.compute(events.gpuscan.sessions("t", gap=pd.Timedelta(days=2)))
            table = backend.to_pandas(table)
            assert table["count"].tolist() == [2, 1]
            same(table["end"], host.t.iloc[[1, 2]].reset_index(drop=True).rename("end"))
    floats = backend.frame(pd.DataFrame({"t": [0.0, 0.5, 2.0]}))
    assert backend.to_pandas(floats.gpuscan.sessionize("t", gap=0.6)).tolist() == [0, 0, 1]


def test_events_of_nobody_have_no_session(backend):
    df = pd.DataFrame({"t": [1, 2, 3, 9], "user": ["a", None, "a", "a"]})
    for at in ([], [0.5]):
        events = partitioned(backend.frame(df), at)
        numbers = backend.to_pandas(events.gpuscan.sessionize("t", "user", gap=2).compute())
        assert numbers.fillna(-1).tolist() == [0, -1, 0, 1]
        table = backend.to_pandas(events.gpuscan.sessions("t", "user", gap=2).compute())
        assert table["count"].tolist() == [2, 1]


def test_times_of_nobody_may_decrease(backend):
    df = pd.DataFrame({"t": [5, 9, 2, 6, 8], "user": ["a", None, None, "a", "a"]})
    for at in ([], [0.5]):
        events = partitioned(backend.frame(df), at)
        for order, clustered in (([0, 1, 2, 3, 4], False), ([1, 2, 0, 3, 4], True)):
            part = partitioned(backend.frame(df.iloc[order]), at)
            numbers = part.gpuscan.sessionize("t", "user", gap=1, clustered=clustered).compute()
            assert backend.to_pandas(numbers).dropna().tolist() == [0, 0, 1]
        with pytest.raises(ValueError, match="must not decrease"):
            events.assign(t=9 - events.t).gpuscan.sessionize("t", "user", gap=1).compute()


@pytest.mark.parametrize("clustered", [None, True])
def test_keys_in_the_index(backend, clustered):
    index = pd.Index([None, None, 1.0, 1.0, 1.0], name="u")
    df = backend.frame(pd.DataFrame({"t": [5, 1, 1, 9, 10]}, index=index))
    for events in (df, partitioned(df, [0.7])):
        (found,) = dask.compute(events.gpuscan.sessionize("t", "u", gap=2, clustered=clustered))
        assert backend.to_pandas(found).dropna().tolist() == [0, 1, 1]


def test_null_times_in_any_partition(backend):
    df = pd.DataFrame({"t": [1.0, 2.0, 3.0, None], "u": [1, 2, 1, 2]})
    events = partitioned(backend.frame(df), [0.5])
    for options in ({}, {"by": "u"}, {"by": "u", "clustered": True}):
        with pytest.raises(ValueError, match="column 't' has nulls"):
            events.gpuscan.sessionize("t", gap=2, **options).compute()


def test_a_column_named_session(backend):
    host = pd.DataFrame({"session": [0, 1, 10, 11], "v": [5, 5, 5, 6]})
    for events in (backend.frame(host), partitioned(backend.frame(host), [0.5])):
        found = backend.to_pandas(computed(events.gpuscan.sessions("session", gap=2)))
        assert list(found.columns) == ["session", "start", "end", "count"]
        assert found.to_numpy().tolist() == [[0, 0, 1, 2], [1, 10, 11, 2]]
        events = events.rename(columns={"session": "t", "v": "session"})
        (found,) = dask.compute(events.gpuscan.sessions("t", gap=2, total=("session", "sum")))
        assert backend.to_pandas(found).total.tolist() == [10, 11]


@pytest.mark.parametrize("by", [None, "u"])
def test_extreme_times(backend, by):
    low, high = np.iinfo("int64").min, np.iinfo("int64").max
    whole = pd.DataFrame({"t": [low, low + 3, 0, high - 3, high], "u": [1, 1, 1, 1, 1]})
    for dtype in ("int64", "uint64"):
        host = whole if dtype == "int64" else whole.assign(t=[0, 3, 2**63, 2**64 - 4, 2**64 - 1])
        for events in (backend.frame(host), partitioned(backend.frame(host), [0.5])):
            for gap, expected in ((3, [0, 0, 1, 2, 2]), (2.9, [0, 1, 2, 3, 4]), (np.inf, [0] * 5)):
                (found,) = dask.compute(events.gpuscan.sessionize("t", by, gap=gap))
                assert backend.to_pandas(found).tolist() == expected


frame = pd.DataFrame(
    {"t": [3, 1, 2], "u": ["a", "b", "b"], "null": [1.0, np.nan, 3.0], "session": [1, 2, 3]}
)


@pytest.mark.parametrize(
    ("options", "error", "message"),
    [
        ({"time": "z", "gap": 1}, ValueError, "time='z' is not a column; columns are 't', 'u'"),
        ({"time": "u", "gap": 1}, TypeError, "time must be a column of times or numbers"),
        ({"time": "t", "gap": -1}, ValueError, "gap must be a number that is not negative"),
        ({"time": "t", "gap": "1h"}, ValueError, "gap must be a number"),
        ({"time": "t", "gap": 1, "by": "t"}, ValueError, "both name 't'"),
        ({"time": "t", "gap": 1, "by": "z"}, ValueError, "by='z' is not a column"),
        ({"time": "t", "gap": 1, "by": "session"}, ValueError, "by names 'session'"),
        ({"time": "t", "gap": 1}, ValueError, "must not decrease"),
        ({"time": "null", "gap": 1}, ValueError, "column 'null' has nulls"),
    ],
)
def test_bad_input(backend, options, error, message):
    whole = backend.frame(frame)
    for events in (whole, partitioned(whole, [0.5])):
        with pytest.raises(error, match=message):
            dask.compute(events.gpuscan.sessionize(**options))


def test_bad_durations(backend):
    events = backend.frame(pd.DataFrame({"t": pd.to_datetime(["2026-01-01"])}))
    for gap in (30, "tomorrow", "-1h", None):
        with pytest.raises(ValueError, match="gap must be a duration that is not negative"):
            events.gpuscan.sessionize("t", gap=gap)
    with pytest.raises(ValueError, match="'start' is the name of a column"):
        backend.frame(frame).gpuscan.sessions("t", gap=1, start=("u", "first"))
    with pytest.raises(TypeError, match="found a Series"):
        events.t.gpuscan.sessionize("t", gap=1)


def test_gaps_of_integers_and_of_floats_are_told_apart():
    for gap in (3, 3.0, 5.0, 5):
        whole, half = pd.DataFrame({"t": [0, gap + 1]}), pd.DataFrame({"t": [0.0, gap + 0.5]})
        assert whole.gpuscan.sessionize("t", gap=gap).tolist() == [0, 1]
        assert half.gpuscan.sessionize("t", gap=gap).tolist() == [0, 1]


def test_aggregates_are_of_columns_that_the_frame_has():
    df = pd.DataFrame({"k": list("aab"), "t": [1, 2, 9]})
    for each in (df, partitioned(df, [0.5])):
        with pytest.raises(ValueError, match="q='session' is not a column; columns are 'k', 't'"):
            each.gpuscan.sessions("t", by="k", gap=1, q=("session", "sum"))
        with pytest.raises(ValueError, match="'k' is the name of a column of the result"):
            each.gpuscan.sessions("t", by="k", gap=1, k=("t", "sum"))


EVENTS = pd.DataFrame({"k": list("aabab"), "t": [0, 1, 2, 40, 41], "x": [1, 2, 4, 8, 16]})
TIMED = EVENTS.assign(t=pd.Timestamp("2026") + pd.to_timedelta(EVENTS.t, unit="min"))


def cuts_of(frame):
    """A frame, and its cuts into one-row pieces and three."""
    streams = [stream([frame[i : i + rows] for i in range(0, len(frame), rows)]) for rows in (1, 3)]
    lazy = [dd.from_pandas(frame, npartitions=parts, sort=False) for parts in (5, 2)]
    return [frame, *streams, *lazy]


@pytest.mark.parametrize("zone", [None, "Asia/Kolkata"])
@pytest.mark.parametrize("name", ["t", None, "x"])
def test_times_in_the_index(zone, name):
    indexed = TIMED.set_index("t").rename_axis(name).tz_localize(zone)
    expected = [["a", 0, 2, 3], ["a", 1, 1, 8], ["b", 0, 1, 4], ["b", 1, 1, 16]]
    for rows in cuts_of(indexed):
        (table,) = dask.compute(rows.gpuscan.sessions(by="k", gap="5min", total=("x", "sum")))
        assert table[["k", "session", "count", "total"]].to_numpy().tolist() == expected
        assert table.start.tolist() == [indexed.index[i] for i in (0, 3, 2, 4)]
        assert table.end.tolist() == [indexed.index[i] for i in (1, 3, 2, 4)]
        numbers = computed(rows.gpuscan.sessionize(gap="5min"))
        assert numbers.tolist() == [0, 0, 0, 1, 1]
        assert numbers.index.equals(indexed.index)


@pytest.mark.parametrize("index", [pd.RangeIndex(5), pd.Index(list("abcde")), [EVENTS.k, EVENTS.t]])
def test_an_index_without_times_is_none(index):
    for rows in (TIMED.set_index(index), dask_gpuscan.on(pa.Table.from_pandas(EVENTS))):
        methods = rows.gpuscan if isinstance(rows, pd.DataFrame) else rows
        with pytest.raises(
            TypeError, match="time must name a column, unless the index holds times"
        ):
            methods.sessions(gap=5)


def test_aggregates_are_given_as_to_runs():
    agg = {"total": ("x", "sum"), 7: ("x", "max")}
    for rows in cuts_of(EVENTS):
        (table,) = dask.compute(rows.gpuscan.sessions("t", "k", gap=5, agg=agg, least=("x", "min")))
        assert table.columns.tolist() == [
            "k",
            "session",
            "start",
            "end",
            "count",
            "total",
            7,
            "least",
        ]
        assert table.total.tolist() == [3, 8, 4, 16]
        assert table[7].tolist() == [2, 8, 4, 16]
        assert table.least.tolist() == [1, 8, 4, 16]
        for wrong in ({}, ("x", "sum"), "sum"):
            with pytest.raises(
                TypeError, match=r"agg must be a dict of names to \(column, reduction"
            ):
                rows.gpuscan.sessions("t", gap=5, agg=wrong)
        with pytest.raises(ValueError, match="'total' is named by agg and by an argument"):
            rows.gpuscan.sessions("t", gap=5, agg=agg, total=("x", "min"))
        with pytest.raises(ValueError, match="'count' is the name of a column of the result"):
            rows.gpuscan.sessions("t", gap=5, agg={"count": ("x", "min")})


def test_clustered_is_of_keys():
    frame = pd.DataFrame({"k": [1, 1], "t": [0, 5]})
    for each in (frame, dd.from_pandas(frame, npartitions=2)):
        for method in (each.gpuscan.sessionize, each.gpuscan.sessions):
            with pytest.raises(
                ValueError, match="clustered must be True or False, 'check' or None"
            ):
                method("t", gap=1, clustered="no")
            with pytest.raises(ValueError, match="clustered goes with by only, found True"):
                method("t", gap=1, clustered=True)
