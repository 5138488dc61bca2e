"""Merged intervals and their depth: what loops over the positions give, on whatever partitions."""

import itertools

import dask.dataframe as dd
import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

import dask_gpuscan
from helpers.asked import computed
from helpers.backends import same
from helpers.strategies import cuts, partitioned

ORIGIN = pd.Timestamp("2026-01-01", tz="UTC")


@st.composite
def stays(draw):
    """Intervals in any order, some of them empty, of a few keys."""
    rows = draw(
        st.lists(
            st.tuples(st.sampled_from("ab"), st.integers(0, 20), st.integers(0, 4)), max_size=20
        )
    )
    frame = pd.DataFrame(rows, columns=["k", "s", "e"]).astype(
        {"k": "str", "s": "int64", "e": "int64"}
    )
    return frame.assign(e=frame.s + frame.e)


def merged(frame, gap):
    found = []
    for row in frame.sort_values(["k", "s", "e"]).itertuples(index=False):
        if found and found[-1][0] == row.k and row.s <= found[-1][2] + gap:
            found[-1][2] = max(found[-1][2], row.e)
            found[-1][3] += 1
        else:
            found.append([*row, 1])
    return pd.DataFrame(found, columns=[*frame.columns, "count"]).astype(
        {**frame.dtypes, "count": "int64"}
    )


def depths(frame):
    found = []
    for key in sorted(set(frame.k)):
        own = frame[frame.k == key]
        points = sorted({*own.s, *own.e})
        for start, end in itertools.pairwise(points):
            depth = int(((own.s <= start) & (start < own.e)).sum())
            if depth and found and found[-1][0] == key and found[-1][2:] == [start, depth]:
                found[-1][2] = end
            elif depth:
                found.append([key, start, end, depth])
    return pd.DataFrame(found, columns=[*frame.columns, "depth"]).astype(
        {**frame.dtypes, "depth": "int64"}
    )


@given(df=stays(), at=cuts(), gap=st.sampled_from([0, 2]))
def test_intervals(backend, df, at, gap):
    frame = backend.frame(df)
    for rows in (frame, partitioned(frame, at)):
        intervals = rows.gpuscan.intervals("s", "e", by="k")
        same(backend.to_pandas(computed(intervals.merge(gap))), merged(df, gap))
        joined = depths(df)
        again = joined[joined.k.eq(joined.k.shift()) & joined.s.eq(joined.e.shift())]
        assert (again.depth != joined.depth.shift()[again.index]).all()
        same(backend.to_pandas(computed(intervals.depth())), joined)


@given(df=stays(), gap=st.sampled_from([0, 2]))
def test_without_keys(backend, df, gap):
    alone = df.assign(k="")
    found = backend.frame(df).gpuscan.intervals("s", "e").merge(gap)
    same(backend.to_pandas(found), merged(alone, gap).drop(columns="k"))
    found = backend.frame(df).gpuscan.intervals("s", "e").depth()
    same(backend.to_pandas(found), depths(alone).drop(columns="k"))


@pytest.mark.parametrize(
    "dtype", ["uint8", "Int64", "float32", "datetime64[us, UTC]", "timedelta64[s]"]
)
def test_dtypes(backend, dtype):
    of_time = dtype[0] in "dt"
    df = pd.DataFrame({"s": [4, 1, 2, 9], "e": [7, 3, 2, 9]})
    unit, gap = ("min", "2min") if of_time else (None, 2)

    def positions(column):
        if not of_time:
            return column.astype(dtype)
        length = pd.to_timedelta(column, unit)
        return (length if dtype[0] == "t" else ORIGIN + length).astype(dtype)

    frame = backend.frame(df.apply(positions))
    for rows in (frame, dd.from_pandas(df.apply(positions), npartitions=2)):
        found = computed(rows.gpuscan.intervals("s", "e").merge(gap))
        found = found if isinstance(found, pd.DataFrame) else backend.to_pandas(found)
        expected = pd.DataFrame({"s": [1], "e": [9]}).apply(positions).assign(count=[4])
        same(found, expected)
        found = computed(rows.gpuscan.intervals("s", "e").depth())
        found = found if isinstance(found, pd.DataFrame) else backend.to_pandas(found)
        same(found, pd.DataFrame({"s": [1, 4], "e": [3, 7]}).apply(positions).assign(depth=[1, 1]))


def test_nulls_are_left_out(backend):
    df = pd.DataFrame(
        {"k": ["a", None, "a", "a"], "s": [1, 2, np.nan, 4], "e": [2.0, 9, 3, np.nan]}
    )
    found = backend.frame(df).gpuscan.intervals("s", "e", by="k").merge()
    assert backend.to_pandas(found).to_dict("list") == {
        "k": ["a"],
        "s": [1],
        "e": [2],
        "count": [1],
    }


@pytest.mark.parametrize(
    ("change", "arguments", "gap", "error", "message"),
    [
        ({}, ("e", "s"), 0, ValueError, "ends before it starts"),
        ({"s": "float64"}, ("s", "e"), 0, TypeError, "must have one dtype"),
        ({"s": "str"}, ("s", "e"), 0, TypeError, "numbers or times"),
        ({}, ("s", "s"), 0, ValueError, "different columns"),
        ({}, ("s", "x"), 0, Exception, "'x' is not a column"),
        ({}, ("s", "e"), -1, ValueError, "not negative, found -1"),
        ({}, ("s", "e"), 0.5, ValueError, "an integer"),
        ({}, ("s", "e"), "1h", ValueError, "an integer"),
        ({}, ("s", "e"), float("nan"), ValueError, "not negative"),
        ({}, ("s", "e"), float("inf"), ValueError, "not negative"),
        ({"s": "int8", "e": "int8"}, ("s", "e"), 127, OverflowError, "beyond what int8 holds"),
        ({"s": "int8", "e": "int8"}, ("s", "e"), 300, OverflowError, "beyond what int8 holds"),
        ({"s": "datetime64[s]", "e": "datetime64[s]"}, ("s", "e"), 5, ValueError, "a duration"),
    ],
)
def test_refused(backend, change, arguments, gap, error, message):
    frame = backend.frame(pd.DataFrame({"s": [1, 2], "e": [3, 4]}).astype(change))
    with pytest.raises(error, match=message):
        frame.gpuscan.intervals(*arguments).merge(gap)


def test_names_of_the_answer(backend):
    df = pd.DataFrame({"count": [1], "s": [1], "e": [3]})
    intervals = backend.frame(df).gpuscan.intervals("s", "e", by="count")
    with pytest.raises(ValueError, match="'count' is the name of a column of the result"):
        intervals.merge()
    assert backend.to_pandas(intervals.depth()).to_dict("list") == {
        "count": [1],
        "s": [1],
        "e": [3],
        "depth": [1],
    }
    with pytest.raises(TypeError, match="found a Series"):
        backend.frame(df)["s"].gpuscan.intervals("s", "e")


def test_a_stream_is_refused():
    df = pd.DataFrame({"s": [1], "e": [3]})
    with pytest.raises(NotImplementedError, match="needs rows that come later"):
        dask_gpuscan.stream([df]).gpuscan.intervals("s", "e").merge()
