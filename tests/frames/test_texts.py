"""Columns of strings and bytes as keys: one chunk and several, sliced ones, nulls, and texts of any length."""

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest

from dask_gpuscan.frames.pandas import texts

DTYPES = ["str", "string[pyarrow]", *map(pd.ArrowDtype, texts.OFFSETS)]
DTYPES = [pd.Series([], dtype=dtype).dtype for dtype in DTYPES]
RNG = np.random.default_rng(5)


def _array(dtype, longest: int, nulls: bool, rows: int = 500):
    """Return an array of several chunks whose first and last rows are sliced off."""
    known = ["ä" * int(n) + str(i % 7) for i, n in enumerate(RNG.integers(0, longest // 2, 60))]
    values = [known[i] for i in RNG.integers(0, 60, rows)]
    if nulls:
        values = [None if i % 5 == 1 else value for i, value in enumerate(values)]
    kind = getattr(dtype, "pyarrow_dtype", pa.string())
    if pa.types.is_binary(kind) or pa.types.is_large_binary(kind):
        values = [v and v.encode() for v in values]
    chunks = [values[:100], [], values[100:]]
    column = pa.chunked_array([pa.array(chunk, kind) for chunk in chunks])
    return pd.Series(pd.arrays.ArrowExtensionArray(column)).astype(dtype).array[7:-9]


@pytest.mark.parametrize("nulls", [False, True])
@pytest.mark.parametrize("longest", [4, 40, 200])
@pytest.mark.parametrize("dtype", DTYPES, ids=str)
def test_numbers_and_order_are_those_of_pandas(dtype, longest, nulls):
    array = _array(dtype, longest, nulls)
    if not texts.holds_text(dtype):
        pytest.skip("this pandas keeps such strings as objects")
    codes, found = texts.factorize_text(array)
    values = array.to_numpy(object)
    assert (codes < 0).tolist() == pd.isna(values).tolist()
    assert found.to_numpy(object)[codes[codes >= 0]].tolist() == values[codes >= 0].tolist()
    assert found.dtype == array.dtype
    assert len(found) == len(set(values[codes >= 0]))
    assert texts.argsort(array).tolist() == array.argsort(kind="stable").tolist()


@pytest.mark.parametrize("nulls", [False, True])
@pytest.mark.parametrize("dtype", DTYPES, ids=str)
def test_rows_of_texts_are_those_of_pandas(dtype, nulls):
    array = _array(dtype, 40, nulls)
    rows = RNG.integers(0, len(array), 1000)
    if texts.holds_text(dtype):
        for given, fills in (
            (rows, False),
            (np.where(rows < 99, -1, rows), True),
            (rows[:0], True),
        ):
            found = texts.taken_texts(array, given, fills)
            expected = array.take(given, allow_fill=fills)
            pd.testing.assert_extension_array_equal(found, expected)
            assert type(found) is type(expected)
            assert pa.chunked_array(found.__arrow_array__()).validate(full=True) is None


@pytest.mark.parametrize("dtype", DTYPES, ids=str)
def test_no_texts(dtype):
    for array in (_array(dtype, 4, False)[:0], pd.array([None, None], dtype)):
        if texts.holds_text(dtype):
            codes, found = texts.factorize_text(array)
            assert codes.tolist() == [-1] * len(array)
            assert len(found) == 0
            assert texts.argsort(array).tolist() == list(range(len(array)))


def test_python_strings_are_objects():
    assert not texts.holds_text(pd.StringDtype("python"))
    assert not texts.holds_text(np.dtype(object))
    assert not texts.holds_text(pd.ArrowDtype(pa.int8()))
