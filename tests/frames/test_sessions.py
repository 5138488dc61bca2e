"""sessionize and sessions: what pandas' idiom of shift, difference and cumsum gives, on whatever partitions."""

import dask
import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from backends import same
from strategies import cuts, partitioned

pytestmark = pytest.mark.timeout(1800)  # each gap is a kernel to compile


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
    same(backend.to_pandas(lazy.compute()), expected)
    when = df.assign(t=pd.Timestamp("2026-01-01") + pd.to_timedelta(df.t, unit="min"))
    found = partitioned(when, at).gpuscan.sessionize("t", by, gap=f"{gap}min")
    same(found.compute(), expected)


@given(df=events(), at=cuts(), by=st.sampled_from([None, "user"]))
def test_table(df, at, by):
    numbered = df.assign(session=idiom(df, 5, by))
    keys = [by, "session"] if by else ["session"]
    groups = numbered.groupby(keys)
    expected = groups.agg(
        start=("t", "min"), end=("t", "max"), count=("t", "size"), total=("x", "sum")
    ).reset_index()
    found = df.gpuscan.sessions("t", by, gap=5, total=("x", "sum"))
    same(found, expected)
    lazy = partitioned(df, at).gpuscan.sessions("t", by, gap=5, total=("x", "sum"))
    same(lazy.compute(), expected)
    assert found["count"].sum() == len(df)
    if by:
        together = df.sort_values("user", kind="stable")
        lazy = partitioned(together, at).gpuscan.sessions(
            "t", by, gap=5, clustered=True, total=("x", "sum")
        )
        same(lazy.compute(), expected)


def test_other_times():
    whole = pd.DataFrame({"t": pd.to_datetime(["2026-01-01", "2026-01-02", "2026-01-09"])})
    for dtype in ("datetime64[s]", "datetime64[ns, Europe/Berlin]", "timestamp[us][pyarrow]"):
        frame = whole.astype({"t": dtype}) if "Berlin" not in dtype else whole
        if "Berlin" in dtype:
            frame = whole.assign(t=whole.t.dt.tz_localize("Europe/Berlin"))
        for events in (frame, partitioned(frame, [0.5])):
            (found,) = dask.compute(events.gpuscan.sessionize("t", gap=pd.Timedelta(days=2)))
            assert found.tolist() == [0, 0, 1]
    floats = pd.DataFrame({"t": [0.0, 0.5, 2.0]})
    assert floats.gpuscan.sessionize("t", gap=0.6).tolist() == [0, 0, 1]


frame = pd.DataFrame(
    {"t": [3, 1, 2], "u": ["a", "b", "b"], "null": [1.0, np.nan, 3.0], "session": [1, 2, 3]}
)


@pytest.mark.parametrize(
    ("options", "error", "message"),
    [
        ({"time": "z", "gap": 1}, ValueError, "time names 'z', found 't', 'u'"),
        ({"time": "u", "gap": 1}, TypeError, "time must be a column of times or numbers"),
        ({"time": "t", "gap": -1}, ValueError, "gap must be a number that is not negative"),
        ({"time": "t", "gap": "1h"}, ValueError, "gap must be a number"),
        ({"time": "t", "gap": 1, "by": "t"}, ValueError, "both name 't'"),
        ({"time": "t", "gap": 1, "by": "z"}, ValueError, "by names 'z'"),
        ({"time": "t", "gap": 1, "by": "session"}, ValueError, "by names 'session'"),
        ({"time": "t", "gap": 1}, ValueError, "must not decrease"),
        ({"time": "null", "gap": 1}, ValueError, "column 'null' has nulls"),
    ],
)
def test_bad_input(options, error, message):
    for events in (frame, partitioned(frame, [0.5])):
        with pytest.raises(error, match=message):
            dask.compute(events.gpuscan.sessionize(**options))


def test_bad_durations():
    events = pd.DataFrame({"t": pd.to_datetime(["2026-01-01"])})
    for gap in (30, "tomorrow", "-1h", None):
        with pytest.raises(ValueError, match="gap must be a duration that is not negative"):
            events.gpuscan.sessionize("t", gap=gap)
    with pytest.raises(ValueError, match="'start' is the name of a column"):
        frame.gpuscan.sessions("t", gap=1, start=("u", "first"))
    with pytest.raises(TypeError, match="found a Series"):
        events.t.gpuscan.sessionize("t", gap=1)
