"""Columns in dtypes that NumPy and Arrow compute on: in this machine's byte order, without views of texts or runs."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.compute as pc

from ..messages import HINT, first_line
from ..types import DType


def storable(kind: pa.DataType) -> pa.DataType:
    """Return the type of Arrow in which values are kept; functions of Arrow take neither views of texts nor runs.

    Examples
    --------
    >>> storable(pa.list_(pa.string_view()))
    ListType(list<item: large_string>)
    """
    types = pa.types
    if types.is_string_view(kind):
        return pa.large_string()
    if types.is_binary_view(kind):
        return pa.large_binary()
    if types.is_run_end_encoded(kind):
        return storable(kind.value_type)
    if types.is_dictionary(kind):
        return pa.dictionary(kind.index_type, storable(kind.value_type), kind.ordered)
    fields = [kind.field(i) for i in range(kind.num_fields)]
    kept = [field.with_type(storable(field.type)) for field in fields]
    if kept == fields or types.is_union(kind):
        return kind
    if types.is_struct(kind):
        return pa.struct(kept)
    if types.is_map(kind):
        return pa.map_(*kept[0].type, keys_sorted=kind.keys_sorted)
    if types.is_fixed_size_list(kind):
        return pa.list_(kept[0], kind.list_size)
    is_large = types.is_large_list(kind) or types.is_large_list_view(kind)
    return pa.large_list(kept[0]) if is_large else pa.list_(kept[0])


def stored(column: pa.ChunkedArray) -> pa.ChunkedArray:
    """Return a column of Arrow in the type in which its values are kept."""
    kind = column.type
    kept = storable(kind)
    if kept == kind:
        return column
    if pa.types.is_run_end_encoded(kind):
        return pa.chunked_array([_decoded(chunk, kept) for chunk in column.chunks], kept)
    return without_views_of_lists(column).cast(kept)


def _decoded(runs: pa.Array, kept: pa.DataType) -> pa.Array:
    values = runs.values.cast(kept)
    whole = pa.RunEndEncodedArray.from_arrays(runs.run_ends, values)
    return pc.run_end_decode(whole.slice(runs.offset, len(runs)))


def without_views_of_lists(column: pa.ChunkedArray) -> pa.ChunkedArray:
    """Return a column of views of lists as one of lists; any other as it is."""
    kind = column.type
    if pa.types.is_list_view(kind):
        found = pa.list_(kind.value_field)
    elif pa.types.is_large_list_view(kind):
        found = pa.large_list(kind.value_field)
    else:
        return column
    return pa.chunked_array([_listed(chunk, found) for chunk in column.chunks], found)


def _listed(views: pa.Array, kind: pa.DataType) -> pa.Array:
    """Return views of lists as lists; pyarrow's cast gives other items where views are sliced or out of order."""
    is_large = pa.types.is_large_list(kind)
    lengths = views.value_lengths().fill_null(0).to_numpy(zero_copy_only=False)
    offsets = np.concatenate([[0], np.cumsum(lengths)])
    return (pa.LargeListArray if is_large else pa.ListArray).from_arrays(
        pa.array(offsets, pa.int64() if is_large else pa.int32()),
        views.flatten(),
        kind,
        mask=views.is_null(),
    )


def as_native(array: Any, title: str) -> Any:
    """Return an array as one of a dtype that is computed on; raises a TypeError that begins with the title.

    Examples
    --------
    >>> as_native(pd.array(["a"], dtype=pd.ArrowDtype(pa.string_view())), "a key").dtype
    large_string[pyarrow]
    """
    dtype = array.dtype
    if isinstance(dtype, np.dtype):
        return array.astype(dtype.newbyteorder("="), copy=False)
    if not isinstance(dtype, pd.ArrowDtype) or storable(dtype.pyarrow_dtype) == dtype.pyarrow_dtype:
        return array
    try:
        column = stored(pa.chunked_array(array.__arrow_array__()))
    except pa.ArrowException as error:
        raise TypeError(
            f"{title} has dtype {dtype}, whose rows Arrow cannot take: {first_line(error)}; {HINT}"
        ) from error
    return pd.arrays.ArrowExtensionArray(column)


def one_array(chunked: pa.ChunkedArray) -> pa.Array:
    """Return chunks of Arrow as one array; unlike `combine_chunks`, this does not copy a single chunk."""
    if (
        not chunked.num_chunks
    ):  # `combine_chunks` cannot make dictionaries of views, dates or decimals of no chunk
        return pa.nulls(0, chunked.type)
    return chunked.chunk(0) if chunked.num_chunks == 1 else chunked.combine_chunks()


def arrow_storage(kind: pa.DataType) -> np.dtype | None:
    """Return the dtype of the buffer of a fixed-width Arrow type; None for other types."""
    if pa.types.is_boolean(kind):
        return np.dtype(np.bool_)
    if pa.types.is_integer(kind) or kind in (pa.float32(), pa.float64()):
        numbers: np.dtype = np.dtype(kind.to_pandas_dtype())
        return numbers
    if pa.types.is_temporal(kind) and not pa.types.is_interval(kind):
        return np.dtype(f"i{kind.bit_width // 8}")
    return None


def is_native(dtype: DType) -> bool:
    """Return whether columns of a dtype are computed on as they are; `as_native` converts others."""
    if isinstance(dtype, pd.ArrowDtype):
        return bool(storable(dtype.pyarrow_dtype) == dtype.pyarrow_dtype)
    return not isinstance(dtype, np.dtype) or dtype.isnative
