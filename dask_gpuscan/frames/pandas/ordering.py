"""Columns of pandas in order, as numbers that kernels sort, and in the order of positions."""

from __future__ import annotations

from collections.abc import Hashable
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa

from ... import kernels
from ...kernels import INT128, Nulls, bitmap, byte_mask
from ...kernels.nulls import NAT
from ..key_values import Duration, Instant, key_value
from ..messages import column_title, first_line
from ..types import DType, Layout, Values
from .arrow import in_one_order
from .keys import factorize
from .layouts import (
    AnyColumn,
    PandasArray,
    PandasColumn,
    bare,
    holds_text,
    layout_of,
    series_of,
)
from .native import as_native, is_native, one_array
from .nulls import masked
from .sortable import (
    decoded,
    is_dictionary,
    is_narrow_decimal,
    is_ordered_dictionary,
    numbered_dtype,
)
from .texts import Texts, argsort


class PandasOrdering:
    """Columns of pandas in order: numbers as they are, others by the ranks of their distinct values."""

    def sort_key(self, column: AnyColumn) -> tuple[Values, Nulls]:
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
                return _decimals(one_array(arrow))
            if is_ordered_dictionary(dtype):
                return self.sort_key(PandasColumn(column.name, _places(arrow)))
            if is_dictionary(dtype):
                return self.sort_key(PandasColumn(column.name, decoded(column.array)))
        try:
            return _ranks(column.array)
        except (TypeError, pa.ArrowException) as error:
            raise TypeError(
                f"{column_title(column)} of dtype {dtype} has values without an order: {first_line(error)}; "
                f"leave it out of the keys, or cast it with astype"
            ) from error

    def rank_values(self, column: AnyColumn) -> AnyColumn:
        dtype = column.dtype
        if isinstance(dtype, pd.CategoricalDtype) and not dtype.ordered:
            return series_of(column).astype(masked(dtype.categories.dtype))
        return column

    def rank_dtypes(self, frame: pd.DataFrame, **options: Hashable) -> list[DType]:
        no_rows = frame.iloc[:0]
        if any(is_narrow_decimal(dtype) for dtype in frame.dtypes):
            no_rows = no_rows.astype({n: numbered_dtype(d) for n, d in frame.dtypes.items()})
        return list(no_rows.rank(**options).dtypes)

    def is_monotonic(self, given: AnyColumn, decreasing: bool) -> bool:
        column = series_of(given)
        if isinstance(column.dtype, pd.CategoricalDtype):
            column = column.cat.codes
        if isinstance(column.dtype, pd.ArrowDtype) and pa.types.is_nested(
            column.dtype.pyarrow_dtype
        ):
            raise TypeError  # pandas says False
        if is_ordered_dictionary(column.dtype):
            column = pd.Series(_places(pa.chunked_array(column.array.__arrow_array__())))
        return bool(
            column.is_monotonic_decreasing if decreasing else column.is_monotonic_increasing
        )

    def is_column(self, frame: pd.DataFrame, key: pd.Series) -> bool:
        return key.name in frame.groupby(key, observed=True).exclusions

    def as_key(self, values: Any) -> pd.Series:
        key = pd.Series(values, dtype=getattr(values, "dtype", None))
        return (
            key
            if is_native(key.dtype)
            else pd.Series(as_native(bare(key.array), "a key"), key.index, name=key.name)
        )


def _ranks(array: PandasArray) -> tuple[Values, Nulls]:
    """Return the rank of each row's value among the distinct ones, and where it is null."""
    ranks = Texts.of(array).ranks() if holds_text(array.dtype) else None
    if ranks is not None:
        return ranks, None
    codes, found = factorize(array)
    if found.dtype == object and pd.api.types.infer_dtype(found) == "string":
        found = pd.array(found, dtype="str")  # Arrow sorts them, by code points too
    elif found.dtype == object:
        found = time_keys(found)
    order = argsort(found)
    # as wide as words of texts, so that they share a kernel
    ranks = np.empty(len(found) + 1, np.int64)
    ranks[order], ranks[-1] = np.arange(len(found)), 0
    null = codes < 0
    return ranks[codes], byte_mask(null) if null.any() else None


def _places(column: pa.ChunkedArray) -> PandasArray:
    """Return the place of each row's value in an ordered dictionary."""
    chunks = [chunk.indices for chunk in in_one_order(column).chunks]
    return pd.arrays.ArrowExtensionArray(pa.chunked_array(chunks, pa.int32()))


def _decimals(array: pa.Array) -> tuple[Values, Nulls]:
    """Return decimals of 128 bits as integers of that width, without a copy."""
    validity, data = array.buffers()
    start = array.offset * INT128.itemsize
    values = np.frombuffer(data, INT128, len(array), start) if len(array) else np.empty(0, INT128)
    if validity is None or not array.null_count:
        return values, None
    return values, bitmap(np.frombuffer(validity, np.uint8), array.offset)


def time_keys(values: np.ndarray) -> np.ndarray:
    """Return times of several classes, which do not compare, as keys that do; other objects as they are."""
    keys = np.fromiter(map(key_value, values), object, len(values))
    null = pd.isna(values)
    kinds = {(type(key), getattr(key, "of_world", None)) for key in keys[~null]}
    if len(kinds) != 1 or not issubclass(kinds.pop()[0], (Instant, Duration)):
        return values
    keys[null] = None
    return keys


def taken(layout: Layout, array: PandasArray, positions: Values, fills: bool) -> PandasArray:
    """Return the rows of an array at these positions; if `fills`, null at negative ones."""
    view = layout.raw(array)
    if layout.nulls == "in band":
        fill = None
        if fills:
            fill = NAT if view.values.dtype.kind == "i" else np.nan
        return layout.wrap(
            kernels.take(view.values, positions, fill, check=False), None, array.dtype
        )
    missing = None
    if fills or view.nulls is not None:
        missing = kernels.take(view.missing(), positions, True if fills else None, check=False)
    values = kernels.take(view.values, positions, 0 if fills else None, check=False)
    return layout.wrap(values, missing, array.dtype)
