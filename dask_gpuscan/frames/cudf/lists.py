"""Columns of cuDF's lists: 32-bit offsets and a column of items, in device memory."""

from __future__ import annotations

from typing import Any

import cudf
import cupy
import numpy as np
import pandas as pd
import pyarrow as pa
import pylibcudf as plc
from cudf.core.buffer import Buffer, as_buffer
from cudf.core.column import ColumnBase, column_empty

from ..lists import Lists
from ..messages import WAY_OUT
from ..protocol import DType, Values
from .layouts import nulls_of, view_of

_INT32 = np.dtype(np.int32)

NOT_IN_LISTS = (cudf.CategoricalDtype, cudf.IntervalDtype, pd.DatetimeTZDtype)
"""The dtypes of which cuDF has no lists."""


class CudfLists:
    """Columns of cuDF's lists."""

    def item_dtype(self, dtype: DType) -> Any:
        if isinstance(dtype, cudf.ListDtype):
            return dtype.element_type
        if isinstance(dtype, pd.ArrowDtype) and pa.types.is_list(dtype.pyarrow_dtype):
            return pd.ArrowDtype(dtype.pyarrow_dtype.value_type)
        return None

    def list_dtype(self, items: DType, like: DType | None = None) -> Any:
        if isinstance(items, NOT_IN_LISTS):
            raise TypeError(f"dtype {items} cannot be in lists of cuDF; {WAY_OUT}")
        if isinstance(items, pd.ArrowDtype):
            return pd.ArrowDtype(pa.list_(items.pyarrow_dtype))
        return cudf.ListDtype(items)

    def length_dtype(self, dtype: DType) -> Any:
        return pd.ArrowDtype(pa.int32()) if isinstance(dtype, pd.ArrowDtype) else _INT32

    def lists(self, array: ColumnBase) -> Lists:
        if not array.size:  # whose offsets need not be there
            return Lists(column_empty(0, array.element_type), cupy.zeros(1, _INT32), None)
        offsets = _offsets(array)
        first = int(offsets[0])
        if first:
            offsets = offsets - np.int32(first)
        return Lists(array.elements, offsets, _missing(array) if array.null_count else None)

    def with_items(self, array: ColumnBase, items: ColumnBase, dtype: DType) -> ColumnBase:
        if not array.size:
            return column_empty(0, dtype)
        mask = None
        if array.null_count:
            mask = as_buffer(plc.null_mask.copy_bitmask(array.plc_column))
        return _column(items, self.lists(array).offsets, mask, array.null_count, dtype)

    def from_items(self, items: ColumnBase, offsets: Values, dtype: DType) -> ColumnBase:
        return _column(items, offsets, None, 0, dtype)


def _missing(array: ColumnBase) -> Values:
    nulls = nulls_of(array)
    bits = cupy.unpackbits(nulls.buffer, bitorder="little")
    return bits[nulls.offset : nulls.offset + array.size] == 0


def _column(
    items: ColumnBase, offsets: Values, mask: Buffer | None, null_count: int, dtype: DType
) -> ColumnBase:
    """A column of lists around the memory of its offsets and items, which is not copied."""
    ends = plc.Column.from_cuda_array_interface(cupy.ascontiguousarray(offsets))
    kind, size = plc.DataType(plc.TypeId.LIST), offsets.size - 1
    column = plc.Column(kind, size, None, mask, null_count, 0, [ends, items.plc_column])
    return ColumnBase.create(column, dtype)


def _offsets(array: ColumnBase) -> Values:
    """Show where each list begins among the items of all rows of its memory."""
    every = ColumnBase.create(array.plc_column.list_view().offsets(), _INT32)
    return view_of(every).values[array.offset : array.offset + array.size + 1]
