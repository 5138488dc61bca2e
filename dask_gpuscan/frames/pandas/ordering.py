"""Columns of pandas as keys that kernels sort."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa

from ...kernels import INT128, Nulls, bitmap, byte_mask
from ..messages import column_title, first_line
from ..protocol import Values
from .layouts import PandasArray, layout_of, nullable
from .same_keys import factorized, time_keys


class PandasOrdering:
    """Columns of pandas in order: numbers as they are, others by the ranks of their distinct values."""

    def sort_key(self, column: pd.Series) -> tuple[Values, Nulls]:
        dtype = column.dtype
        layout = layout_of(dtype)
        if layout is not None and layout.storage(dtype).kind != "c":
            view = layout.raw(column.array)
            return view.values, view.nulls
        if isinstance(dtype, pd.CategoricalDtype):
            codes = column.array.codes
            return codes, byte_mask(codes < 0)
        if isinstance(dtype, pd.ArrowDtype):
            arrow = pa.chunked_array(column.array.__arrow_array__())
            if pa.types.is_decimal128(arrow.type):
                return _decimals(arrow.combine_chunks())
            if pa.types.is_dictionary(arrow.type):
                return self.sort_key(_decoded(column, arrow))
        try:
            return _ranks(column.array)
        except (TypeError, pa.ArrowException) as error:
            raise TypeError(
                f"{column_title(column)} of dtype {dtype} has values without an order: {first_line(error)}; "
                f"leave it out of the keys, or cast it with astype"
            ) from error

    def rank_values(self, column: pd.Series) -> pd.Series:
        dtype = column.dtype
        if isinstance(dtype, pd.CategoricalDtype) and not dtype.ordered:
            return column.astype(nullable(dtype.categories.dtype))
        return column

    def as_key(self, values: Any) -> pd.Series:
        return pd.Series(values, dtype=getattr(values, "dtype", None))


def _ranks(array: PandasArray) -> tuple[Values, Nulls]:
    """Number the distinct values of an array in their order."""
    codes, found = factorized(array)
    if found.dtype == object and pd.api.types.infer_dtype(found) == "string":
        found = pd.array(found, dtype="str")  # whose order Arrow finds, that of code points too
    elif found.dtype == object:
        found = time_keys(found)
    order = found.argsort(kind="stable")
    ranks = np.empty(len(found) + 1, np.int32 if len(found) < 2**31 else np.int64)
    ranks[order], ranks[-1] = np.arange(len(found)), 0
    return ranks[codes], byte_mask(codes < 0)


def _decimals(array: pa.Array) -> tuple[Values, Nulls]:
    """Show decimals of 128 bits as integers of that width."""
    validity, data = array.buffers()
    start = array.offset * INT128.itemsize
    values = np.frombuffer(data, INT128, len(array), start) if len(array) else np.empty(0, INT128)
    if validity is None or not array.null_count:
        return values, None
    return values, bitmap(np.frombuffer(validity, np.uint8), array.offset)


def _decoded(column: pd.Series, arrow: pa.ChunkedArray) -> pd.Series:
    values = pd.arrays.ArrowExtensionArray(arrow.cast(arrow.type.value_type))
    return pd.Series(values, name=column.name)
