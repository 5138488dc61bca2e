"""expanding().idxmax and idxmin against a walk over the rows: values and labels of any dtype, partitions, groups."""

import dask
import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

import dask_gpuscan
from helpers.strategies import FAMILIES, columns, cuts, partitioned, two_thirds

LABELS = [
    range(24),
    list("abcdefghijklmnopqrstuvwx"),
    pd.date_range("2026-01-01", periods=24),
    np.arange(24) * 0.5,
    np.arange(24) // 2,
]


def walked(x, method, min_periods=1):
    """Return the label of the extreme value so far, None where there are too few values."""
    found, best, label, count = [], None, None, 0
    for here, value in zip(x.index, x.tolist(), strict=True):
        if not pd.isna(value):
            count += 1
            if best is None or (value > best if method == "idxmax" else value < best):
                best, label = value, here
        found.append(label if count >= min_periods else None)
    return found


def values(found):
    return [None if pd.isna(v) else v for v in found.tolist()]


@two_thirds
@given(
    x=columns((*FAMILIES, "str", "datetime64[ns]", "category")),
    labels=st.sampled_from(LABELS),
    at=cuts(),
    method=st.sampled_from(["idxmax", "idxmin"]),
    min_periods=st.sampled_from([1, 1, 0, 3]),
)
def test_as_a_walk(backend, x, labels, at, method, min_periods):
    if x.dtype == "category":
        x = x.cat.as_ordered()
    x.index = labels[: len(x)]
    if backend.name == "cuda" and x.dtype == "category":
        with pytest.raises(TypeError, match="cuDF has no cum"):
            getattr(backend.frame(x).gpuscan.expanding(min_periods), method)()
        return
    expected = walked(x, method, min_periods)
    for series in (backend.frame(x), partitioned(backend.frame(x), at)):
        lazy = getattr(series.gpuscan.expanding(min_periods), method)()
        (found,) = dask.compute(lazy)
        assert found.dtype == lazy.dtype
        found = backend.to_pandas(found)
        assert found.name == "x"
        assert found.index.equals(x.index)
        assert values(found) == expected


def test_the_last_label_is_that_of_pandas(backend):
    x = pd.Series([3.0, np.nan, 7.0, 7.0, -2.0], index=list("abcde"))
    for method in ("idxmax", "idxmin"):
        found = getattr(partitioned(backend.frame(x), [0.5]).gpuscan.expanding(), method)()
        assert backend.to_pandas(found.compute()).iloc[-1] == getattr(x, method)()


@two_thirds
@given(
    x=columns(("int64", "float64", "Int64")),
    keys=st.lists(st.sampled_from([1, 2, None]), min_size=24, max_size=24),
    at=cuts(),
    clustered=st.booleans(),
    min_periods=st.sampled_from([1, 2]),
)
def test_groups(backend, x, keys, at, clustered, min_periods):
    frame = pd.DataFrame({"k": pd.array(keys[: len(x)], "Int64"), "y": x * 2, "x": x})
    if clustered:
        frame = frame.sort_values("k", kind="stable")
    frame.index = pd.date_range("2026-01-01", periods=len(x))
    expected = pd.Series([None] * len(x), frame.index, object)
    for _, rows in frame.groupby("k"):
        expected[rows.index] = walked(rows.x, "idxmax", min_periods)
    for d in (backend.frame(frame), partitioned(backend.frame(frame), at)):
        groups = d.gpuscan.groupby("k", clustered=clustered)
        (one, both) = dask.compute(
            groups["x"].expanding(min_periods).idxmax(),
            groups[["x", "y"]].expanding(min_periods).idxmax(),
        )
        assert values(backend.to_pandas(one)) == expected.tolist()
        assert both.columns.tolist() == ["x", "y"]
        for name in both.columns:
            assert values(backend.to_pandas(both[name])) == expected.tolist()


def test_frames_and_streams():
    frame = pd.DataFrame({"a": [1, 3, 2], "s": ["x", "w", "z"], "b": [2.0, None, 1.0]})
    numbers = frame.gpuscan.expanding().idxmax(numeric_only=True)
    assert numbers.to_dict("list") == {"a": [0, 1, 1], "b": [0, 0, 0]}
    assert numbers.dtypes.tolist() == ["float64", "float64"]
    stream = dask_gpuscan.stream([frame[:2], frame[2:2], frame[2:]])
    found = stream.gpuscan.expanding().idxmin().compute()
    assert found.to_dict("list") == {"a": [0, 0, 0], "s": [0, 1, 1], "b": [0, 0, 2]}
    assert frame.gpuscan.expanding()["s"].idxmax().tolist() == [0, 0, 2]


def test_the_least_integer_is_a_record():
    x = pd.Series([-(2**63), -(2**63), 5])
    assert x.gpuscan.expanding().idxmax().tolist() == [0, 0, 2]
    assert x.gpuscan.expanding().idxmin().tolist() == [0, 0, 0]


def test_what_is_refused():
    frame = pd.DataFrame([[1, 2], [3, 4]], columns=["a", "a"])
    with pytest.raises(ValueError, match="column 'a' is there twice"):
        frame.gpuscan.expanding().idxmax()
    levels = pd.Series([1, 2], index=pd.MultiIndex.from_tuples([(1, 2), (3, 4)]))
    with pytest.raises(TypeError, match="an index of one level"):
        levels.gpuscan.expanding().idxmax()
    with pytest.raises(TypeError, match="column 'x'"):
        pd.DataFrame({"x": pd.Categorical(["a", "b"])}).gpuscan.expanding().idxmax()
