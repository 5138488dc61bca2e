"""Answers of pandas that are made of other rows: nulls filled, shifts, differences and relative changes."""

from __future__ import annotations

import operator
from collections.abc import Callable, Hashable
from typing import Any, NoReturn

import numpy as np
import pandas as pd
import pyarrow as pa
from pandas.api.types import is_list_like

from ... import kernels
from ...kernels.options import Shifted
from ..types import Values
from .decimals import decimals_of, has_all_digits, limbs_of, whole_of
from .layouts import (
    MANY,
    MASKED,
    NUMPY,
    AnyColumn,
    PandasArray,
    bare,
    holds_null,
    layout_of,
    masked_parts,
    nullable,
    series_of,
    to_nullable,
)

FLOATS = np.dtype(np.float64), np.dtype(np.float32)

INT64, BOOLEAN = pd.Int64Dtype(), pd.BooleanDtype()


def _column(array: PandasArray) -> pd.Series:
    return pd.Series(array, dtype=array.dtype, copy=False)


class PandasChanges:
    """Nulls filled from other rows, shifts, and changes from earlier rows."""

    def fill(self, given: AnyColumn, reverse: bool, limit: int | None) -> PandasArray:
        column = series_of(given)
        if column.dtype == np.float16:  # which pandas does not fill
            return self.fill(column.astype(np.float32), reverse, limit).astype(np.float16)
        most = (
            None if limit is None else min(limit, max(len(column), 1))
        )  # pandas counts in 32 bits
        if most is not None and column.dtype.kind == "c":  # which pandas fills without a limit only
            at = pd.Series(np.arange(len(column), dtype=np.float64)).where(column.notna().array)
            at = at.bfill(limit=most) if reverse else at.ffill(limit=most)
            places = at.fillna(-1).to_numpy(np.int64)
            return pd.api.extensions.take(bare(column.array), places, allow_fill=True)
        filled = bare((column.bfill(limit=most) if reverse else column.ffill(limit=most)).array)
        own = isinstance(filled, np.ndarray) and not np.may_share_memory(filled, column.array)
        return filled if own else filled.copy()

    def shift(self, array: PandasArray, periods: int, /, *fill: Any) -> PandasArray:
        array = bare(array)
        if periods and not fill and array.dtype in FLOATS:
            return kernels.shift(array, periods, array.dtype.type("nan"))
        is_masked, is_list = MASKED.matches(array.dtype), bool(fill) and is_list_like(fill[0])
        # pandas may take items of a list for values of rows
        if is_list and (is_masked or isinstance(array.dtype, np.dtype)):
            raise TypeError("fill_value must be a scalar")
        if fill and not is_list and (is_masked or not holds_null(array.dtype)):
            fill = () if pd.isna(fill[0]) else fill
        if periods and not fill and not holds_null(array.dtype):
            return self._shifted_integers(array, periods)
        options = {"fill_value": fill[0]} if fill else {}
        column, layout = _column(array), layout_of(array.dtype)
        if periods and len(array) >= MANY and layout is not None and layout.nulls == "in band":
            filled = column.iloc[:1].shift(1, **options)  # the value where there is no such row
            if layout_of(filled.dtype) is layout:
                value = layout.raw(filled.array).values[0]
                values = kernels.shift(layout.raw(array).values, periods, value)
                return layout.wrap(values, None, filled.dtype)
        return column.shift(periods, **options).array

    def _shifted_integers(self, array: PandasArray, periods: int) -> PandasArray:
        """Return integers, bool or intervals of rows before, null where there is no such row."""
        layout = layout_of(array.dtype)
        if layout is None:
            return _column(to_nullable(array)).shift(periods).array
        values, shifted = layout.view(array).values, Shifted(len(array), periods)
        missing = np.zeros(len(array), np.bool_)
        missing[shifted.rest] = True
        moved = kernels.shift(values, periods, values.dtype.type(0))
        return MASKED.wrap(moved, missing, nullable(array.dtype))

    def subtract(self, array: PandasArray, earlier: PandasArray) -> PandasArray:
        array = bare(array)
        if has_all_digits(array.dtype):
            return _subtracted_decimals(array, earlier)
        if not isinstance(array.dtype, np.dtype) or array.dtype.kind not in "biu":
            # series without labels, which would be aligned
            return _as_objects(array.dtype, _difference(operator.sub, array, earlier))
        before, missing = masked_parts(to_nullable(earlier))
        if array.dtype.kind == "b":
            return MASKED.wrap(array ^ before, missing, BOOLEAN)
        out = np.empty(len(array), np.int64)
        values = NUMPY.view(array).values
        known: Values = np.where(missing, values, before)
        if not kernels.subtract(values, known, out):
            _refuse_differences("int64")
        return MASKED.wrap(out, missing, INT64)

    def diff(self, array: PandasArray, periods: int) -> PandasArray:
        array = bare(array)
        if array.dtype in FLOATS:
            return kernels.difference(array, periods, array.dtype.type("nan"))
        if array.dtype == np.bool_:
            return self.subtract(array, self._shifted_integers(array, periods))
        if isinstance(array.dtype, np.dtype) and array.dtype.kind in "iu":
            return self._changed_integers(array, periods)
        if isinstance(array.dtype, pd.PeriodDtype) and not len(array):
            return array.astype(object)  # of no periods, pandas 2 fails to take differences
        if has_all_digits(array.dtype):
            return _subtracted_decimals(array, self.shift(array, periods))
        found = _difference(lambda column: column.diff(periods), array)
        return _as_objects(array.dtype, found)

    def _changed_integers(self, array: PandasArray, periods: int) -> PandasArray:
        values, shifted = NUMPY.view(array).values, Shifted(len(array), periods)
        out, missing = np.empty(len(array), np.int64), np.zeros(len(array), np.bool_)
        out[shifted.rest], missing[shifted.rest] = 0, True
        if not kernels.subtract(values[shifted.to], values[shifted.of], out[shifted.to]):
            _refuse_differences("int64")
        return MASKED.wrap(out, missing, INT64)

    def relative(self, array: PandasArray, earlier: PandasArray) -> PandasArray:
        return (_column(array) / _column(earlier) - 1).array

    def relative_change(self, array: PandasArray, periods: int) -> PandasArray:
        # pandas 2 would fill nulls first
        return _column(array).pct_change(periods, fill_method=None).array

    def group_change(self, method: str, array: PandasArray, /, **options: Hashable) -> PandasArray:
        column = _column(array)
        if method == "diff" and has_all_digits(array.dtype):
            return self.diff(array, 0)
        return getattr(column.groupby(column.notna()), method)(**options).array


def _as_objects(dtype: object, found: PandasArray) -> PandasArray:
    """Return differences of periods or objects as objects: pandas makes times of them, if all there are can be."""
    if isinstance(dtype, pd.PeriodDtype):
        return found.astype(object)
    if dtype != np.object_ or found.dtype == np.object_:
        return found
    objects = found.astype(object)
    objects[found.isna()] = np.nan  # as among others
    return objects


def _difference(taken: Callable[..., pd.Series], *arrays: PandasArray) -> PandasArray:
    """Return a difference of arrays; raises an OverflowError for one that does not fit the dtype of Arrow."""
    try:
        return taken(*map(_column, arrays)).array
    except pa.ArrowInvalid:  # which what lies below nulls may have raised
        cleared = list(map(_without_values_below_nulls, arrays))
    try:
        return taken(*map(_column, cleared)).array
    except pa.ArrowInvalid:
        _refuse_differences(arrays[0].dtype)


def _subtracted_decimals(array: PandasArray, earlier: PandasArray) -> PandasArray:
    """Return differences of decimals of as many digits as their width has."""
    one, other = whole_of(limbs_of(array)), whole_of(limbs_of(earlier))
    return decimals_of(one - other, ~(pd.isna(array) | pd.isna(earlier)), array.dtype)


def _without_values_below_nulls(array: PandasArray) -> PandasArray:
    layout = layout_of(array.dtype)
    if layout is None:
        return array
    view = layout.raw(array)
    values = view.values
    return layout.wrap(np.where(view.missing(), values.dtype.type(0), values), view, array.dtype)


def _refuse_differences(dtype: object) -> NoReturn:
    raise OverflowError(
        f"a difference does not fit {dtype}; cast the column with astype('float64') first, which rounds"
    )
