"""Fills up to a time, ages of values and gaps up to a length: what loops give, whatever the partitions."""

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from dask_gpuscan import stream
from helpers.asked import computed
from helpers.strategies import cuts, partitioned

START = pd.Timestamp("2026-01-01", tz="UTC")


@st.composite
def frames(draw):
    row = st.tuples(
        st.sampled_from("ab"),
        st.integers(0, 5),
        st.none() | st.integers(0, 9),
        st.none() | st.sampled_from("uv"),
    )
    rows = draw(st.lists(row, max_size=24))
    frame = pd.DataFrame(rows, columns=["k", "s", "x", "text"])
    frame = frame.astype({"k": "str", "s": "int64", "x": "float64", "text": "object"})
    frame["s"] = frame.s.cumsum()
    return frame.assign(t=START + pd.to_timedelta(frame.s, "s"))


def neighbours(df, column, keyed):
    """The places of the last and the next value of each row, the places of rows in groups, and times."""
    keys = df.k.tolist() if keyed else [None] * len(df)
    place = [keys[:i].count(key) for i, key in enumerate(keys)]
    valid = df[column].notna().tolist()
    for i, key in enumerate(keys):
        own = [j for j, other in enumerate(keys) if other == key and valid[j]]
        yield (
            i,
            max([j for j in own if j <= i], default=None),
            min([j for j in own if j >= i], default=None),
            place,
        )


def filled(df, column, keyed, limit, reverse):
    found = [None] * len(df)
    for i, last, following, _ in neighbours(df, column, keyed):
        j = following if reverse else last
        if j is not None and abs(df.s[i] - df.s[j]) <= limit:
            found[i] = df[column][j]
    return found


def ages(df, keyed, in_time):
    found = [None] * len(df)
    for i, last, _, place in neighbours(df, "x", keyed):
        if last is not None:
            found[i] = df.s[i] - df.s[last] if in_time else place[i] - place[last]
    return found


def closed(df, keyed, most, in_time):
    found = [None] * len(df)
    for i, last, following, place in neighbours(df, "x", keyed):
        if last is None or following is None:
            continue
        width = place[following] - place[last]
        if last == following:
            found[i] = df.x[i]
        elif (df.s[following] - df.s[last] if in_time else width - 1) <= most:
            found[i] = (
                df.x[last] + (df.x[following] - df.x[last]) * (place[i] - place[last]) / width
            )
    return found


def listed(answer):
    return [None if pd.isna(value) else value for value in computed(answer).tolist()]


@given(df=frames(), at=cuts())
def test_fills_and_ages(df, at):
    for rows in (df, partitioned(df, at)):
        for keyed, asked in ((False, rows.gpuscan), (True, rows.gpuscan.groupby("k"))):
            for reverse, name in ((False, "ffill"), (True, "bfill")):
                answer = computed(getattr(asked, name)("4s", on="t"))
                assert listed(answer["x"]) == filled(df, "x", keyed, 4, reverse)
                assert listed(answer["text"]) == filled(df, "text", keyed, 4, reverse)
                assert answer["t"].equals(df["t"])
            numbers = asked.fill_age()["x"]
            assert listed(numbers) == ages(df, keyed, False)
            times = computed(asked.fill_age(on="t")["x"]).dt.total_seconds()
            assert listed(times) == ages(df, keyed, True)


@given(df=frames(), at=cuts())
def test_gaps(df, at):
    for rows in (df, partitioned(df, at)):
        for keyed, asked in ((False, rows["x"].gpuscan), (True, rows.gpuscan.groupby("k")["x"])):
            found = listed(asked.interpolate(max_gap=2))
            expected = closed(df, keyed, 2, False)
            assert [x is None for x in found] == [x is None for x in expected]
            np.testing.assert_allclose(
                *([x for x in each if x is not None] for each in (found, expected))
            )


@given(df=frames())
def test_times_of_the_index(df):
    rows = df.set_index("t")
    assert listed(rows["x"].gpuscan.ffill("4s")) == filled(df, "x", False, 4, False)
    assert listed(rows["x"].gpuscan.fill_age(unit="time").dt.total_seconds()) == ages(
        df, False, True
    )
    for keyed, asked in ((False, rows["x"].gpuscan), (True, rows.gpuscan.groupby("k")["x"])):
        found = pd.Series(listed(asked.interpolate(max_gap="5s")), dtype="float64")
        np.testing.assert_allclose(found, pd.Series(closed(df, keyed, 5, True), dtype="float64"))


def test_a_stream_and_a_table():
    pl = pytest.importorskip("polars")
    df = pd.DataFrame(
        {"t": START + pd.to_timedelta([0, 60, 900, 960], "s"), "x": [1.0, None, None, 4.0]}
    )
    batches = stream([df[:1], df[1:3], df[3:]]).gpuscan.ffill("10min", on="t")
    assert listed(pd.concat([*batches])["x"]) == [1, 1, None, 4]
    found = pl.from_pandas(df).gpuscan.ffill("10min", on="t")
    assert found.columns == ["t", "x"]
    assert found["x"].to_list() == [1, 1, None, 4]


@pytest.mark.parametrize(
    ("asked", "error", "message"),
    [
        (lambda m: m.ffill("9s"), TypeError, "times are needed, found dtype int64 in the index"),
        (lambda m: m.ffill("9s", on="x"), TypeError, "found dtype float64 in column 'x'"),
        (lambda m: m.ffill("9s", on="z"), ValueError, "on='z' is not a column"),
        (
            lambda m: m.ffill("long", on="t"),
            ValueError,
            "limit must be a positive integer, or a duration",
        ),
        (lambda m: m.bfill("-9s", on="t"), ValueError, "limit must be"),
        (lambda m: m.ffill(2.5), ValueError, "limit must be"),
        (lambda m: m.ffill(3, on="t"), ValueError, "on goes with a limit that is a duration"),
        (lambda m: m.ffill("9s", on="t", reset="x > 2"), ValueError, "not with reset"),
        (lambda m: m.fill_age(unit="days"), ValueError, "unit must be one of"),
    ],
)
def test_refused(asked, error, message):
    df = pd.DataFrame({"t": [START], "x": [1.0]})
    with pytest.raises(error, match=message):
        asked(df.gpuscan)


@pytest.mark.parametrize(
    ("most", "error"), [(0, ValueError), ("wide", ValueError), ("3h", TypeError)]
)
def test_refused_gaps(most, error):
    with pytest.raises(error, match=r"max_gap must be|times are needed"):
        pd.Series([1.0, None, 3.0]).gpuscan.interpolate(max_gap=most)
