"""Answers of pandas that take values of other rows: fills, shifts, differences and relative changes."""

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
from ...kernels.shift import subtract
from ..types import DType, Values
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
    series_of,
)
from .nulls import FLOAT64, check_floats, to_nullable, with_nulls

FLOATS = np.dtype(np.float64), np.dtype(np.float32)


def _column(array: PandasArray) -> pd.Series:
    return pd.Series(array, dtype=array.dtype, copy=False)


class PandasChanges:
    """Nulls filled from other rows, shifts, and changes from earlier rows."""

    def fill(self, given: AnyColumn, reverse: bool, limit: int | None) -> PandasArray:
        column = series_of(given)
        if column.dtype == np.float16:  # pandas does not fill it
            return self.fill(column.astype(np.float32), reverse, limit).astype(np.float16)
        most = (
            None if limit is None else min(limit, max(len(column), 1))
        )  # pandas counts in 32 bits
        if most is not None and column.dtype.kind == "c":  # pandas takes no limit
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
        found = column.shift(periods, **options).array
        if fill and periods and len(found):
            _check_fill(found[0 if periods > 0 else -1], array.dtype, fill[0])
        return found

    def _shifted_integers(self, array: PandasArray, periods: int) -> PandasArray:
        """Return integers, bool or intervals of rows before, null where there is no such row."""
        if not isinstance(array, np.ndarray):
            return _column(to_nullable(array)).shift(periods).array
        values, shifted = NUMPY.view(array).values, Shifted(len(array), periods)
        if values.dtype.kind == "b":
            return with_nulls(
                kernels.shift(values, periods, np.False_), _rest(shifted, len(values))
            )
        found = kernels.shift(values, periods, FLOAT64.type("nan"), exact=True)
        if found is None:
            check_floats(values[shifted.of])
        return found

    def subtract(self, array: PandasArray, earlier: PandasArray) -> PandasArray:
        array = bare(array)
        if has_all_digits(array.dtype):
            return _subtracted_decimals(array, earlier)
        if array.dtype in FLOATS and earlier.dtype == array.dtype:
            with np.errstate(all="ignore"):
                return array - bare(earlier)
        if not _holds_integers(array):
            # series without labels, which would be aligned
            return _as_objects(array.dtype, _difference(operator.sub, array, earlier))
        before, missing = masked_parts(earlier)
        if MASKED.matches(array.dtype):
            values, null = masked_parts(array)
            return _subtracted(values, before, missing | null, array.dtype)
        values = NUMPY.view(array).values
        if values.dtype.kind == "b":
            return with_nulls(values ^ before, missing)
        known: Values = np.where(missing, values, before)
        out = np.empty(len(values), _changes_of(values.dtype))
        _subtract(values, known, out)
        out[missing] = np.nan
        return out

    def diff(self, array: PandasArray, periods: int) -> PandasArray:
        array = bare(array)
        if array.dtype in FLOATS:
            return kernels.shift(array, periods, array.dtype.type("nan"), subtract=True)
        if _holds_integers(array):
            if MASKED.matches(array.dtype):
                return self.subtract(array, self.shift(array, periods))
            return self._changed_integers(array, periods)
        if isinstance(array.dtype, pd.PeriodDtype) and not len(array):
            return array.astype(object)  # pandas 2 cannot take differences of no periods
        if has_all_digits(array.dtype):
            return _subtracted_decimals(array, self.shift(array, periods))
        found = _difference(lambda column: column.diff(periods), array)
        return _as_objects(array.dtype, found)

    def _changed_integers(self, array: PandasArray, periods: int) -> PandasArray:
        values, shifted = NUMPY.view(array).values, Shifted(len(array), periods)
        if values.dtype.kind == "b":
            changed = values ^ kernels.shift(values, periods, np.False_)
            return with_nulls(changed, _rest(shifted, len(array)))
        dtype = _changes_of(values.dtype)
        found = kernels.shift(values, periods, dtype.type("nan"), subtract=True, exact=True)
        if found is None:  # one does not fit: raise the error that names it
            now, earlier = values[shifted.to], values[shifted.of]
            _subtract(now, earlier, np.empty(len(now), dtype))
        return found

    def relative(self, array: PandasArray, earlier: PandasArray) -> PandasArray:
        return (_column(array) / _column(earlier) - 1).array

    def relative_change(self, array: PandasArray, periods: int) -> PandasArray:
        if array.dtype in FLOATS:
            change = self.shift(array, periods) if periods else bare(array).copy()
            with np.errstate(all="ignore"):
                np.divide(bare(array), change, out=change)
                return np.subtract(change, 1, out=change)
        # pandas 2 would fill nulls first
        return _column(array).pct_change(periods, fill_method=None).array

    def group_change(self, method: str, array: PandasArray, /, **options: Hashable) -> PandasArray:
        column = _column(array)
        if method == "diff" and has_all_digits(array.dtype):
            return self.diff(array, 0)
        return getattr(column.groupby(column.notna()), method)(**options).array


def _as_objects(dtype: object, found: PandasArray) -> PandasArray:
    """Return differences of periods or objects as objects: pandas makes times of them if all can be."""
    if isinstance(dtype, pd.PeriodDtype):
        return found.astype(object)
    if dtype != np.object_ or found.dtype == np.object_:
        return found
    objects = found.astype(object)
    objects[found.isna()] = np.nan  # the null that pandas writes among objects
    return objects


def _difference(taken: Callable[..., pd.Series], *arrays: PandasArray) -> PandasArray:
    """Return a difference of arrays; raises an OverflowError for one that does not fit the dtype of Arrow."""
    try:
        return taken(*map(_column, arrays)).array
    except pa.ArrowInvalid:  # values below nulls may be the cause
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


def _check_fill(made: Any, dtype: DType, fill: Any) -> None:
    """Raise a TypeError for a fill value that a cast has changed: Arrow cuts times, and converts texts and numbers."""
    is_arrow = isinstance(dtype, pd.ArrowDtype) and not pa.types.is_nested(dtype.pyarrow_dtype)
    if not (is_arrow or isinstance(dtype, pd.StringDtype)) or pd.isna(fill):
        return
    if pd.isna(made) or made != fill:
        raise TypeError(f"it would be {made!r}")


def _holds_integers(array: PandasArray) -> bool:
    """Return whether an array is one of integers or bool, of NumPy or nullable."""
    own = isinstance(array, np.ndarray) or MASKED.matches(array.dtype)
    return own and array.dtype.kind in "biu"


def _rest(shifted: Shifted, count: int) -> Values:
    """Return which rows have no row before them at that distance."""
    missing = np.zeros(count, np.bool_)
    missing[shifted.rest] = True
    return missing


def _changes_of(dtype: np.dtype) -> np.dtype:
    """Return the dtype of differences of integers, which is that of pandas."""
    is_narrow = dtype.kind == "i" and dtype.itemsize < 4
    return np.dtype(np.float32) if is_narrow else FLOAT64


def _subtract(now: Values, earlier: Values, out: Values) -> None:
    """Write differences of NumPy's integers; raises an OverflowError for one that float64 does not hold."""
    if subtract(now, earlier, out):
        return
    exact = np.empty(len(now), np.int64)
    if not subtract(now, earlier, exact):
        _refuse_differences(np.dtype(np.int64))
    check_floats(exact)


def _subtracted(now: Values, earlier: Values, missing: Values, dtype: Any) -> PandasArray:
    """Return differences of nullable integers or bool; raises an OverflowError for one that does not fit the dtype."""
    if now.dtype.kind == "b":
        return MASKED.wrap(now ^ earlier, missing, dtype)
    known = np.where(missing, now, earlier)
    out = now - known  # may wrap around
    wrong = now < known if now.dtype.kind == "u" else (now < known) != (out < 0)
    if wrong.any():
        _refuse_differences(dtype)
    return MASKED.wrap(out, missing, dtype)


def _refuse_differences(dtype: Any) -> NoReturn:
    """Raise an OverflowError that says which dtype holds more differences."""
    wider = "astype('float64') first, which rounds"
    if dtype.kind == "u" or (dtype.kind == "i" and dtype.itemsize < 8):
        is_arrow = isinstance(dtype, pd.ArrowDtype)
        wider = (
            f"astype('{'int64[pyarrow]' if is_arrow else 'Int64'}') first, or to Int64 in polars"
        )
    raise OverflowError(f"a difference does not fit {dtype}; cast the column with {wider}")
