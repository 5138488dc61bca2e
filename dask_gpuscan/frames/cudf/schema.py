"""The dtypes of cuDF, and the labels of rows."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from decimal import Decimal
from typing import Any

import cudf
import cupy
import numpy as np
import pandas as pd
import pyarrow as pa
from cudf.core.column import ColumnBase, column_empty
from cudf.core.dtypes import DecimalDtype
from cudf.utils.dtypes import get_dtype_of_same_kind

from ...kernels.messages import shown
from ..messages import HINT, check_one_level
from ..pandas.library import PANDAS
from ..pandas.schema import SUMS, wide_integers
from ..types import DType, Scalar, Values, asked_once
from .layouts import LAYOUT, is_number, layout_of, moved_layout_of


def _asked_of_groups(method: str, dtype: DType, /, **options: Hashable) -> DType:
    """Ask a group of one null: without groups, cuDF says that means of integers are integers."""
    groups = cudf.Series._from_column(column_empty(1, dtype)).groupby(cudf.Series([0]))
    if method == "size" and isinstance(dtype, pd.ArrowDtype):  # cuDF 26.10 raises for these
        size: DType = pd.ArrowDtype(pa.int64())
        return size
    try:
        found: DType = getattr(groups, method)(**options).dtype
        return found
    except (TypeError, ValueError, AttributeError, NotImplementedError, RuntimeError) as error:
        raise TypeError(f"cuDF has no {method} of groups for dtype {dtype}; {HINT}") from error


@asked_once
def group_dtype(method: str, dtype: DType, /, **options: Hashable) -> DType:
    """Return the dtype of an answer of a method of group-by, whatever the values are."""
    if method == "value_counts":
        return np.dtype(np.float64 if options.get("normalize") else np.int64)
    found = _asked_of_groups(method, dtype, **options)
    answer = wide_integers(layout_of, method, dtype, found)
    return _unsigned(method, dtype, answer)


@asked_once
def answer_dtype(method: str, dtype: DType, /, **options: Hashable) -> DType:
    """Return the dtype of an answer of a method of a series, whatever the values are."""
    try:
        if isinstance(dtype, DecimalDtype) and method == "cumprod":
            raise TypeError("the scale of a decimal would change from row to row")
        if method == "value_counts":  # without rows its dtypes are others
            number = np.dtype(np.float64 if options.get("normalize") else np.int64)
            is_category = isinstance(dtype, cudf.CategoricalDtype)
            return number if is_category else get_dtype_of_same_kind(dtype, number)
        empty = cudf.Series._from_column(column_empty(0, dtype))
        found: DType = getattr(empty, method)(**options).dtype
        return _unsigned(method, dtype, found)
    except (TypeError, AttributeError, NotImplementedError) as error:
        raise TypeError(f"cuDF has no {method} for dtype {dtype}; {HINT}") from error


def _unsigned(method: str, dtype: DType, answer: DType) -> DType:
    """Return the dtype of an answer: uint64 for sums of uint64, for which cuDF says int64."""
    layout = layout_of(dtype)
    if method not in SUMS or layout is None or layout.storage(dtype) != np.uint64:
        return answer
    found: DType = layout.result(np.dtype(np.uint64), dtype)
    return found


class CudfDTypes:
    """Facts about the dtypes of cuDF."""

    null_sums = True
    # its deviations are made of sums of squares, which overflow and cancel, and others take longer than ours
    asks_groups = False

    layout = staticmethod(layout_of)
    moved_layout = staticmethod(moved_layout_of)
    is_number = staticmethod(is_number)
    group_dtype = staticmethod(group_dtype)
    answer_dtype = staticmethod(answer_dtype)

    def is_real(self, dtype: DType) -> bool:
        return is_number(dtype) and dtype.kind != "c"

    def is_numeric(self, dtype: DType) -> bool:
        return LAYOUT.matches(dtype) and dtype.kind not in "mM"

    def raises_on_overflow(self, dtype: DType) -> bool:
        return False

    def rounds_products(self, dtype: DType) -> bool:
        return isinstance(dtype, DecimalDtype) and dtype.scale > 0

    def holds_null(self, dtype: DType) -> bool:
        return True

    def nullable(self, dtype: DType) -> DType:
        return dtype

    def masked(self, dtype: DType) -> DType:
        return dtype

    def time_unit(self, dtype: DType) -> str:
        return PANDAS.time_unit(dtype)

    def stored_number(self, value: Scalar, dtype: DType) -> int:
        if not isinstance(dtype, DecimalDtype):
            return PANDAS.stored_number(value, dtype)
        if isinstance(value, (int, Decimal)) and not isinstance(value, bool):
            scaled = Decimal(value).scaleb(dtype.scale)
            if scaled == int(scaled):
                return int(scaled)
        raise TypeError(f"initial must be {dtype!r}, found {shown(value)}")


class CudfIndex:
    """Indexes of cuDF."""

    def index(self, frame: cudf.DataFrame) -> cudf.Index:
        return frame.index

    def index_names(self, frame: cudf.DataFrame) -> list[Hashable]:
        return list(frame.index.names)

    def index_dtypes(self, frame: cudf.DataFrame) -> list[DType]:
        index = frame.index
        # a range has no column before it is asked for it
        is_range = isinstance(index, cudf.RangeIndex)
        return [index.dtype] if is_range else [level.dtype for level in index._columns]

    def index_level(self, frame: cudf.DataFrame, number: int) -> cudf.Series:
        index = frame.index
        return cudf.Series._from_column(index._columns[number], name=index.names[number])

    def is_sorted(self, index: cudf.Index) -> bool:
        # cuDF takes nulls of several levels for the least
        levels = index._columns if isinstance(index, cudf.MultiIndex) else ()
        nulls_first = any(level.has_nulls(include_nan=True) for level in levels)
        return not nulls_first and bool(index.is_monotonic_increasing)

    def same_index(self, index: cudf.Index, other: cudf.Index) -> bool:
        return index is other or bool(index.equals(other))

    def key_index(
        self, arrays: list[ColumnBase], names: Sequence[Hashable], levels: bool = False
    ) -> cudf.Index:
        try:
            if len(arrays) == 1 and not levels:
                return cudf.Index._from_column(arrays[0], name=names[0])
            columns = [cudf.Series._from_column(a) for a in arrays]
            return cudf.MultiIndex.from_arrays(columns, names=names)
        except NotImplementedError as error:
            dtypes = ", ".join(str(a.dtype) for a in arrays)
            raise TypeError(
                f"cuDF has no index of dtype {dtypes}, as a reduction by {', '.join(map(repr, names))} "
                f"would have; cast the key with astype"
            ) from error

    def index_of_pairs(self, index: cudf.Index, frame: cudf.DataFrame) -> cudf.Index:
        names = cudf.Index(frame.columns)
        check_one_level(index, names)
        rows, each = cupy.arange(len(index)), cupy.arange(len(names))
        levels = [
            index.take(cupy.repeat(rows, len(names))),
            names.take(cupy.tile(each, len(index))),
        ]
        return cudf.MultiIndex.from_arrays(levels, names=[index.name, names.name])

    def range_index(self, start: int, stop: int) -> cudf.Index:
        return cudf.RangeIndex(start, stop)

    def index_of_times(self, times: Any, dtype: DType, name: Hashable) -> cudf.Index:
        # as numbers, since cuDF does not take times with a frequency that it does not know
        return self.key_index([LAYOUT.wrap(cupy.asarray(times.asi8), None, dtype)], [name])

    def take_index(self, index: cudf.Index, positions: Values) -> cudf.Index:
        if not isinstance(index, cudf.RangeIndex):
            return index.take(positions)
        start, step = index.start, index.step
        rows = positions if (start, step) == (0, 1) else start + step * positions
        return self.key_index([LAYOUT.wrap(rows, None, np.dtype(np.int64))], [index.name])

    def argsort_index(self, index: cudf.Index) -> Values:
        return index.argsort()

    def text_order(self, array: ColumnBase) -> None:
        return None

    def sort_by_index(self, frame: cudf.DataFrame) -> cudf.DataFrame:
        return frame if self.is_sorted(frame.index) else frame.sort_index()

    def reset_index(self, frame: cudf.DataFrame, start: int, drop: bool) -> cudf.DataFrame:
        out = frame.reset_index(drop=drop)
        out.index = self.range_index(start, start + len(frame))
        return out
