"""Arrow's run-end encoding: what pyarrow makes of the same array, and back."""

import dask.array as da
import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.compute as pc
import pytest
from hypothesis import given
from hypothesis import strategies as st

from dask_gpuscan import run_end_decode, run_end_encode


@given(
    items=st.lists(st.sampled_from([1, 2, None]), max_size=30),
    kind=st.sampled_from([pa.int64(), pa.float64(), pa.string(), pa.timestamp("us")]),
    cut=st.tuples(st.integers(0, 30), st.integers(0, 30)),
)
def test_as_pyarrow(items, kind, cut):
    items = [str(i) if i and kind == pa.string() else i for i in items]
    whole = pa.array(items, kind)
    runs = run_end_encode(whole)
    assert runs.equals(pc.run_end_encode(whole, pa.int64()))
    assert run_end_decode(runs).equals(whole)
    assert run_end_decode(runs.slice(*cut)).equals(whole.slice(*cut))


def test_what_is_taken():
    assert run_end_encode(np.array([np.nan, np.nan, 1.0])).run_ends.to_pylist() == [2, 3]
    assert run_end_encode(pd.Series(["a", "a", "b"])).values.to_pylist() == ["a", "b"]
    assert run_end_encode(pa.chunked_array([[1], [1, 2]])).run_ends.to_pylist() == [2, 3]


def test_bad_input():
    with pytest.raises(ValueError, match="one dimension, found 2"):
        run_end_encode(np.ones((2, 2)))
    with pytest.raises(TypeError, match="array is a Dask collection; compute it first"):
        run_end_encode(da.ones(3))
    with pytest.raises(TypeError, match=r"must be a pyarrow\.RunEndEncodedArray, found list"):
        run_end_decode([1])


def test_arrays_too_long_for_memory_are_refused():
    long = pa.RunEndEncodedArray.from_arrays(pa.array([10**12]), pa.array(["a"]))
    with pytest.raises(MemoryError, match="1,000,000,000,000 rows"):
        run_end_decode(long)
    assert run_end_decode(long[5:7]).to_pylist() == ["a", "a"]
