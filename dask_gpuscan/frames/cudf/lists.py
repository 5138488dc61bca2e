"""Columns of cuDF's lists: offsets of 32 bits and a column of items, in device memory."""

from __future__ import annotations

from typing import Any

import cudf
import cupy
import numpy as np
import pandas as pd
import pyarrow as pa
import pylibcudf as plc
from cudf.core.buffer import Buffer
from cudf.core.column import ColumnBase, column_empty

from ..messages import HINT
from ..types import DType, Lists, Values
from .layouts import LAYOUT, bitmap_of, device_array, mask_buffer, nulls_of

_INT32 = np.dtype(np.int32)

NOT_IN_LISTS = (cudf.CategoricalDtype, cudf.IntervalDtype, pd.DatetimeTZDtype)
"""Dtypes that cuDF's lists do not hold."""


class CudfLists:
    """Columns of cuDF's lists."""

    def item_dtype(self, dtype: DType) -> Any:
        if isinstance(dtype, cudf.ListDtype):
            return dtype.element_type
        if isinstance(dtype, pd.ArrowDtype) and pa.types.is_list(dtype.pyarrow_dtype):
            return pd.ArrowDtype(dtype.pyarrow_dtype.value_type)
        return None

    def list_dtype(self, items: DType, like: DType | None = None) -> Any:
        if like is not None and self.item_dtype(like) == items:
            return like
        if isinstance(items, NOT_IN_LISTS):
            raise TypeError(f"dtype {items} cannot be in lists of cuDF; {HINT}")
        if isinstance(items, pd.ArrowDtype):
            return pd.ArrowDtype(pa.list_(items.pyarrow_dtype))
        return cudf.ListDtype(items)

    def length_dtype(self, dtype: DType) -> Any:
        return pd.ArrowDtype(pa.int32()) if isinstance(dtype, pd.ArrowDtype) else _INT32

    def lists(self, array: ColumnBase) -> Lists:
        if not array.size:  # its offsets need not be there
            return Lists(self._empty(array.element_type), cupy.zeros(1, _INT32), lambda: None)
        offsets = _offsets(array)
        if array.offset:  # else, in libcudf, the first list begins with the first item
            offsets = offsets - offsets[:1]
        return Lists(_items(array), offsets, lambda: _missing(array))

    def with_items(
        self, array: ColumnBase, lists: Lists, items: ColumnBase, dtype: DType
    ) -> ColumnBase:
        mask = mask_buffer(bitmap_of(array)) if array.null_count else None
        return _column(items, lists.offsets, mask, array.null_count, dtype)

    def from_items(self, items: ColumnBase, offsets: Values, dtype: DType) -> ColumnBase:
        return _column(items, offsets, None, 0, dtype)

    def _empty(self, dtype: DType) -> ColumnBase:
        """Return a column without rows; cuDF itself cannot make one for lists of Arrow's dtypes."""
        items = self.item_dtype(dtype)
        if items is None:
            return column_empty(0, dtype)
        return self.from_items(self._empty(items), cupy.zeros(1, _INT32), dtype)


def _items(array: ColumnBase) -> ColumnBase:
    """Return the items of lists, the same object for the same lists, because it remembers that there is no NaN."""
    kept = vars(array).get("gpuscan_items")
    if kept is None or kept[0] is not array.plc_column:
        kept = vars(array)["gpuscan_items"] = array.plc_column, array.elements
    items: ColumnBase = kept[1]
    return items


def _missing(array: ColumnBase) -> Values | None:
    if not array.null_count:
        return None
    nulls = nulls_of(array)
    bits = cupy.unpackbits(nulls.buffer, bitorder="little")
    return bits[nulls.offset : nulls.offset + array.size] == 0


def _column(
    items: ColumnBase, offsets: Values, mask: Buffer | None, null_count: int, dtype: DType
) -> ColumnBase:
    """Return a column of lists around the memory of its offsets and items, without a copy."""
    children = [LAYOUT.wrap(offsets, None, _INT32).plc_column, items.plc_column]
    kind, size = plc.DataType(plc.TypeId.LIST), offsets.size - 1
    column = plc.Column(kind, size, None, mask, null_count, 0, children, validate=False)
    return ColumnBase.create(column, dtype, validate=False)


def _offsets(array: ColumnBase) -> Values:
    """Return the first item of each list, among the items of all rows in its memory."""
    every = array.plc_column.list_view().offsets()
    start = (every.offset() + array.offset) * _INT32.itemsize
    return device_array(every.data(), start, array.size + 1, _INT32)
