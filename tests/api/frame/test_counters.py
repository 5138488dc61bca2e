"""Counters that are reset or wrap around: what a loop gives, whatever the dtype and the partitions."""

import dask.dataframe as dd
import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from dask_gpuscan import stream
from helpers.asked import computed
from helpers.strategies import cuts, partitioned

START = pd.Timestamp("2026-01-01")


@st.composite
def frames(draw):
    row = st.tuples(st.sampled_from("ab"), st.integers(1, 5), st.none() | st.integers(0, 255))
    frame = pd.DataFrame(draw(st.lists(row, max_size=20)), columns=["k", "s", "x"])
    frame = frame.astype({"k": "str", "s": "int64", "x": "float64"})
    frame["s"] = frame.s.cumsum()
    return frame.assign(t=START + pd.to_timedelta(frame.s, "s"))


def loop(df, keyed, wrap, by_time=False):
    last, found = {}, []
    for row in df.itertuples():
        key = row.k if keyed else None
        if pd.isna(row.x):
            found.append(None)
            continue
        answer = None
        if key in last:
            before, since = last[key]
            answer = row.x - before if row.x >= before else row.x + (wrap - before if wrap else 0)
            answer = answer / (row.s - since) if by_time else answer
        found.append(answer)
        last[key] = row.x, row.s
    return found


def listed(answer):
    return [None if pd.isna(value) else value for value in computed(answer).tolist()]


@pytest.mark.parametrize("dtype", ["float64", "UInt8", "Int64", "uint8[pyarrow]"])
@given(df=frames(), at=cuts())
def test_growth(dtype, df, at):
    typed = df.astype({"x": "Int64"}).astype({"x": dtype})
    for rows in (typed, partitioned(typed, at)):
        for keyed, asked in ((False, rows["x"].gpuscan), (True, rows.gpuscan.groupby("k")["x"])):
            for wrap in (None, 256):
                answer = asked.increase(wrap)
                assert listed(answer) == loop(df, keyed, wrap)
                assert answer.dtype == dtype
        rates = listed(rows.gpuscan.groupby("k")["x"].rate("1s", on="t"))
        expected = loop(df, True, None, True)
        assert [x is None for x in rates] == [x is None for x in expected]
        np.testing.assert_allclose(
            *([x for x in one if x is not None] for one in (rates, expected))
        )


def test_integers_of_numpy_and_of_64_bits():
    x = pd.Series([250, 3, 9], dtype="uint8")
    assert x.gpuscan.increase(256).dtype == np.float64
    assert listed(x.gpuscan.increase(256)) == [None, 9, 6]
    large = pd.Series([2**64 - 5, 3], dtype="uint64")
    for rows in (
        large,
        large.astype("UInt64"),
        large.astype("uint64[pyarrow]"),
        dd.from_pandas(large, npartitions=2),
    ):
        assert listed(rows.gpuscan.increase(2**64)) == [None, 8]
        assert listed(rows.gpuscan.increase()) == [None, 3]
    exact = pd.Series([2, 2**62 + 1], dtype="Int64")
    assert listed(exact.gpuscan.increase()) == [None, 2**62 - 1]
    with pytest.raises(OverflowError, match="Int64"):
        exact.astype("int64").gpuscan.increase()


def test_a_stream_and_the_index():
    times = START + pd.to_timedelta([0, 10, 15], "s")
    df = pd.DataFrame({"x": [100, 160, 10]}, index=times)
    assert listed(pd.concat([*stream([df[:1], df[1:]]).gpuscan.increase()])["x"]) == [None, 60, 10]
    assert listed(df["x"].gpuscan.rate("1min")) == [None, 360, 120]


@pytest.mark.parametrize(
    ("asked", "error", "message"),
    [
        (lambda m: m.increase(), TypeError, "column 'k' has dtype .*, and counters are numbers"),
        (lambda m: m.increase(0), ValueError, "wrap must be a positive integer"),
        (lambda m: m.groupby("k")[["x"]].increase(2**65), ValueError, "is more than int64 holds"),
        (lambda m: m.rate(), TypeError, "times are needed"),
        (lambda m: m.rate("0s", on="t"), ValueError, "unit must be a positive duration"),
        (lambda m: m.rate(on="z"), ValueError, "on='z' is not a column"),
    ],
)
def test_refused(asked, error, message):
    df = pd.DataFrame({"x": [1], "k": ["a"], "t": [START]})
    with pytest.raises(error, match=message):
        asked(df.gpuscan)
