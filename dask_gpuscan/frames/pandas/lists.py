"""Columns of Arrow's lists: lists of any length, with offsets of 32 or 64 bits, and of one length."""

from __future__ import annotations

from functools import lru_cache

import numpy as np
import pandas as pd
import pyarrow as pa

from ..messages import HINT
from ..types import DType, Lists, Values
from .arrow import arrow_of_array
from .layouts import PandasArray, bare
from .native import one_array


def _is_list(kind: pa.DataType) -> bool:
    return pa.types.is_list(kind) or pa.types.is_large_list(kind) or _is_fixed(kind)


def _is_fixed(kind: pa.DataType) -> bool:
    return bool(pa.types.is_fixed_size_list(kind))


def _one_chunk(chunked: pa.ChunkedArray) -> pa.Array:
    try:
        return one_array(chunked)
    except pa.ArrowInvalid as error:  # more items than 32 bits count
        raise ValueError(f"lists have too many items for {chunked.type}: {error}") from error


@lru_cache(maxsize=256)
def _item_type(dtype: DType) -> pa.DataType:
    """Return the type of Arrow in which items of a dtype are kept."""
    kind = None
    if isinstance(dtype, pd.ArrowDtype):
        kind = dtype.pyarrow_dtype
    elif dtype != np.dtype(object):  # its type depends on its values
        kind = arrow_of_array(pd.array([], dtype=dtype)).type
    if kind is None or isinstance(kind, pa.BaseExtensionType):
        raise TypeError(f"dtype {dtype} has no type of Arrow, and cannot be in lists; {HINT}")
    return kind.value_type if pa.types.is_dictionary(kind) else kind


class PandasLists:
    """Columns of Arrow's lists."""

    def item_dtype(self, dtype: DType) -> pd.ArrowDtype | None:
        if not isinstance(dtype, pd.ArrowDtype) or not _is_list(dtype.pyarrow_dtype):
            return None
        return pd.ArrowDtype(dtype.pyarrow_dtype.value_type)

    def list_dtype(self, items: DType, like: DType | None = None) -> pd.ArrowDtype:
        if like is None:
            return pd.ArrowDtype(pa.list_(_item_type(items)))
        kind = like.pyarrow_dtype  # type: ignore[attr-defined]
        wanted = _item_type(items)
        if kind.value_type == wanted:
            return like
        field = kind.value_field.with_type(wanted).with_nullable(True)
        if _is_fixed(kind):
            return pd.ArrowDtype(pa.list_(field, kind.list_size))
        return pd.ArrowDtype((pa.large_list if pa.types.is_large_list(kind) else pa.list_)(field))

    def length_dtype(self, dtype: DType) -> pd.ArrowDtype:
        large = pa.types.is_large_list(dtype.pyarrow_dtype)  # type: ignore[attr-defined]
        return pd.ArrowDtype(pa.int64() if large else pa.int32())

    def lists(self, array: PandasArray) -> Lists:
        whole = _one_chunk(pa.chunked_array(array.__arrow_array__()))
        count, kind = len(whole), whole.type

        def missing() -> Values | None:
            return whole.is_null().to_numpy(zero_copy_only=False) if whole.null_count else None

        if _is_fixed(kind):
            size = kind.list_size
            offsets = np.arange(count + 1, dtype=np.int64) * size
            first, last = whole.offset * size, (whole.offset + count) * size
        else:
            number = np.dtype(np.int64 if pa.types.is_large_list(kind) else np.int32)
            offsets = np.zeros(1, number)
            if count:
                buffer, start = whole.buffers()[1], whole.offset * number.itemsize
                offsets = np.frombuffer(buffer, number, count + 1, start)
            first, last = int(offsets[0]), int(offsets[-1])
            if first:
                offsets = offsets - number.type(first)
        items = whole.values.slice(first, last - first)
        return Lists(pd.arrays.ArrowExtensionArray(pa.chunked_array([items])), offsets, missing)

    def with_items(
        self, array: PandasArray, lists: Lists, items: PandasArray, dtype: DType
    ) -> PandasArray:
        return _listed(items, lists.offsets, lists.missing, dtype)

    def from_items(self, items: PandasArray, offsets: Values, dtype: DType) -> PandasArray:
        return _listed(items, offsets, None, dtype)


def _listed(
    items: PandasArray, offsets: Values, missing: Values | None, dtype: DType
) -> PandasArray:
    kind = dtype.pyarrow_dtype  # type: ignore[attr-defined]
    values = _values(items, kind.value_type)
    mask = None if missing is None else pa.array(missing)
    if _is_fixed(kind) and not kind.list_size:  # pyarrow would divide by it
        valid = None if missing is None else pa.array(~missing).buffers()[1]
        found = pa.Array.from_buffers(kind, len(offsets) - 1, [valid], children=[values])
    elif _is_fixed(kind):
        found = pa.FixedSizeListArray.from_arrays(values, type=kind, mask=mask)
    else:
        large = pa.types.is_large_list(kind)
        made = pa.LargeListArray if large else pa.ListArray
        ends = pa.array(offsets, pa.int64() if large else pa.int32())
        found = made.from_arrays(ends, values, type=kind, mask=mask)
    return pd.arrays.ArrowExtensionArray(pa.chunked_array([found]))


def _values(items: PandasArray, kind: pa.DataType) -> pa.Array:
    items = bare(items)
    if isinstance(items, pd.Categorical):
        items = items.astype(items.categories.dtype)
    found = arrow_of_array(items)
    return _one_chunk(found if found.type == kind else found.cast(kind))
