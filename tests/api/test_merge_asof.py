"""merge_asof: the answer of pandas on the whole data, whatever the cuts of both sides."""

import dask
import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

import dask_gpuscan
from backends import same
from strategies import columns, cuts, partitioned

ORDERED = (
    "int64",
    "int8",
    "uint32",
    "float64",
    "float32",
    "datetime64[ns]",
    "datetime64[us, Europe/Berlin]",
    "timedelta64[s]",
    "Int64",
    "int64[pyarrow]",
    "timestamp[us][pyarrow]",
)
KEYS = ("int64", "str", "object", "category", "float64", "Int64", "string[pyarrow]")
VALUES = ("int64", "bool", "float64", "datetime64[ns]", "str", "category", "Int64", "boolean", "int64[pyarrow]")
DIRECTIONS = ("backward", "forward", "nearest")
WAYS = (None, "tasks", "disk")


def ordered(numbers, dtype):
    """Values of a dtype that do not decrease."""
    values = pd.Series(sorted(numbers), dtype="int64")
    if "timedelta" in dtype:
        return pd.to_timedelta(values, unit="h").astype(dtype)
    if "stamp" in dtype or "date" in dtype:
        times = pd.Timestamp("2026-03-28") + pd.to_timedelta(values, unit="h")
        return (times.dt.tz_localize("UTC") if "Berlin" in dtype else times).astype(dtype)
    return values.astype(dtype)


@st.composite
def sides(draw, dtypes=ORDERED):
    """Two frames that can be merged: columns of order, of keys with nulls, and others that have one name."""
    dtype, key = draw(st.sampled_from(dtypes)), draw(st.sampled_from(KEYS))
    low = 0 if dtype.startswith("u") else -8
    found = []
    for _ in range(2):
        by, x = draw(columns((key,), 14)), draw(columns(VALUES, 14))
        count = min(len(by), len(x))
        on = draw(st.lists(st.integers(low, 8), min_size=count, max_size=count))
        frame = pd.DataFrame({"on": ordered(on, dtype), "by": by[:count], "x": x[:count]})
        frame.index = pd.Index(np.arange(count) * 2 + 10, name="row")
        found.append(frame)
    return found


@st.composite
def options(draw, left):
    """How rows are matched."""
    tolerance = draw(st.sampled_from([None, None, 0, 2, 5]))
    if tolerance is not None and left["on"].dtype.kind in "mM":
        tolerance = pd.Timedelta(hours=tolerance)
    return {
        "tolerance": tolerance,
        "allow_exact_matches": draw(st.booleans()),
        "direction": draw(st.sampled_from(DIRECTIONS)),
    }


def check(backend, left, right, at, **options):
    """Compare with pandas, of frames and of collections of which one side or both are partitioned."""
    expected = pd.merge_asof(left, right, **options)
    if not len(left):  # which pandas gives the index of the right side
        expected.index = expected.index[:0] if not options.get("right_index") else left.index
    frames = [backend.frame(side) for side in (left, right)]
    same(backend.to_pandas(dask_gpuscan.merge_asof(*frames, **options)), expected)
    for own in ((True, True), (True, False), (False, True)):
        parts = [
            partitioned(frame, cut) if lazy else frame
            for frame, cut, lazy in zip(frames, at, own, strict=True)
        ]
        lazy = dask_gpuscan.merge_asof(*parts, **options)
        found = backend.to_pandas(lazy.compute())
        meta = backend.to_pandas(lazy._meta)
        pd.testing.assert_series_equal(found.dtypes, meta.dtypes)
        same(found, expected.astype(meta.dtypes.to_dict()))
        assert lazy.npartitions == (len(at[0]) + 1 if own[0] else 1)


@given(data=st.data(), frames=sides(), at=st.tuples(cuts(), cuts()), way=st.sampled_from(WAYS))
def test_by_order_alone(backend, data, frames, at, way):
    left, right = (frame.drop(columns="by") for frame in frames)
    with dask.config.set({"dataframe.shuffle.method": way}):
        check(backend, left, right, at, on="on", **data.draw(options(left)))


@given(data=st.data(), frames=sides(), at=st.tuples(cuts(), cuts()))
def test_by_keys(backend, data, frames, at):
    left, right = frames
    check(backend, left, right, at, on="on", by="by", **data.draw(options(left)))


@given(data=st.data(), frames=sides(), at=st.tuples(cuts(), cuts()))
def test_by_several_keys_of_other_names(backend, data, frames, at):
    left, right = frames
    left, right = left.assign(more=left["x"].isna()), right.assign(other=right["x"].isna())
    right = right.rename(columns={"on": "time", "by": "key"})
    names = {"left_on": "on", "right_on": "time", "left_by": ["by", "more"], "right_by": ["key", "other"]}
    suffixes = data.draw(st.sampled_from([("_x", "_y"), (None, "_right"), ("", "_")]))
    check(backend, left, right, at, suffixes=suffixes, **names, **data.draw(options(left)))


# an index of no rows has no narrow dtype in pandas
LABELS = tuple(dtype for dtype in ORDERED if dtype not in ("int8", "uint32", "float32"))


@given(
    data=st.data(),
    frames=sides(LABELS),
    at=st.tuples(cuts(), cuts()),
    keyed=st.booleans(),
)
def test_by_the_index(backend, data, frames, at, keyed):
    left, right = frames
    how = data.draw(options(left)) | ({"by": "by"} if keyed else {})
    both = [frame.set_index("on") for frame in frames]
    check(backend, *both, at, left_index=True, right_index=True, **how)
    check(backend, left, both[1], at, left_on="on", right_index=True, **how)
