"""Values of rows at a distance, and changes since then: shift, diff and pct_change.

For rows that are one group, the library's own method is called; rows in groups are gathered.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import suppress
from numbers import Number
from typing import Any

import numpy as np
import pandas as pd

from ...frames.messages import HINT, column_title, first_line, name_columns, refuse_values
from ...frames.protocol import Library
from ...frames.registry import library_of
from ...frames.types import Array, Column, DType, GroupIds
from ...kernels.cpu.core.launch import PARALLEL
from ...kernels.cpu.windows.shift import bound_shift
from ...kernels.late_dataclass import dataclass
from ...kernels.messages import shown
from ...kernels.windows_by_code import finds_rows_before
from ..core.groups import INT64
from ..core.plans import OfArray, PlannedOperation
from .exact import holds_decimals
from .halo import RowExtent
from .surroundings import WindowRows

REFUSALS = TypeError, ValueError, NotImplementedError, RuntimeError, ArithmeticError
"""The errors that libraries raise for values and dtypes that they have no answer for."""

FLOATS = (np.dtype(np.float64), np.dtype(np.float32))
"""The dtypes of floats that kernels take as they are."""


@dataclass(frozen=True)
class Shift(PlannedOperation):
    """The value `periods` rows before each row, in its group; for a negative number, behind it.

    Parameters
    ----------
    periods : int
    fill : tuple
        The value where there is no such row; empty for null.
    """

    periods: int
    fill: tuple[Any, ...] = ()
    label = "shift"

    def takes_group_ids(self, codes: GroupIds) -> bool:
        given = codes.array, codes.groups, self.periods
        return bool(self.periods) and finds_rows_before(*given)

    @property
    def extent(self) -> RowExtent:
        return RowExtent(max(self.periods, 0), max(-self.periods, 0))

    def dtype(self, columns: Sequence[Column]) -> DType:
        return self.sample(columns[0]).dtype

    def sample(self, column: Column) -> Column:
        """Return the library's own answer of one row; raises a TypeError for a fill that the column cannot hold."""
        library, given = library_of(column), self._given(column)
        try:
            shifted = library.shift(filled(column, 1), self.periods and 1, *given)
        except REFUSALS as error:
            if not self.fill:
                raise TypeError(
                    f"{_title(self, column)} cannot be shifted: {first_line(error)}"
                ) from error
            raise self._refusal(column, f": {first_line(error)}") from error
        return library.as_column(shifted)

    def _given(self, column: Column) -> tuple[Any, ...]:
        """Return the fill value for the library; raises a TypeError for a number that a column cannot hold."""
        library, dtype = library_of(column), column.dtype
        if not self.fill or not library.is_number(dtype):
            return self.fill
        (fill,) = self.fill
        if not pd.api.types.is_scalar(fill) or pd.isna(fill):
            return self.fill
        layout = library.layout(dtype)
        assert layout is not None
        own = dtype if isinstance(dtype, np.dtype) else layout.storage(dtype)
        found = _as_number(fill, own)
        if found is None:
            raise self._refusal(column, f"; {HINT}")
        return (found,)

    def _refusal(self, column: Column, reason: str) -> TypeError:
        return TypeError(
            f"{_title(self, column)} cannot hold the fill_value {shown(self.fill[0])}{reason}"
        )

    def apply(self, columns: Sequence[Column], rows: WindowRows) -> Any:
        column = columns[0]
        try:
            if not rows.is_one_group:
                return rows.returned(self._in_groups(column, rows))
            return rows.wanted_of(self._shifted(column, rows.library, rows.length))
        except OverflowError as error:
            name_columns(error, self.label, columns)
            raise

    def bound(self, column: Column) -> OfArray | None:
        if self.fill or not self.periods:
            return None
        return _bound(column, library_of(column).shift, self.periods, subtracts=False)

    def _shifted(self, column: Column, library: Library, count: int) -> Array:
        array, periods = library.array(column), _within(self.periods, count)
        if not periods:  # the library's answer may share the memory of rows that do not move
            return library.copy(array)
        return library.shift(array, periods, *(self._given(column) if self.fill else ()))

    def _in_groups(self, column: Column, rows: WindowRows) -> Array:
        library = rows.library
        array = library.array(column)
        if not self.periods:
            return library.copy(array)
        positions = rows.before(self.periods)
        if not self.fill:
            shifted = library.take(library.to_masked(array), positions, nulls=True)
            return library.from_masked(shifted, column.dtype)
        sample = self.sample(column)
        own = library.cast(array, sample.dtype)
        array = library.concatenate([library.array(sample), own])
        return library.take(array, positions + 1)


@dataclass(frozen=True)
class Difference(PlannedOperation):
    """Each row's value minus that `periods` rows before, in its group; with `relative`, divided by that value.

    Parameters
    ----------
    periods : int
    relative : bool
    """

    periods: int
    relative: bool = False

    @property
    def label(self) -> str:
        return "pct_change" if self.relative else "diff"

    @property
    def _unfilled(self) -> dict[str, None]:
        """The option against filling nulls first, as pandas 2 would."""
        return {"fill_method": None} if self.relative else {}

    def takes_group_ids(self, codes: GroupIds) -> bool:
        return Shift(self.periods).takes_group_ids(codes)

    @property
    def extent(self) -> RowExtent:
        return Shift(self.periods).extent

    def dtype(self, columns: Sequence[Column]) -> DType:
        return self._dtype(columns[0], in_groups=False)

    def _dtype(self, column: Column, in_groups: bool) -> DType:
        if self.relative and column.dtype == np.bool_:
            raise TypeError(f"{_title(self, column)} is not defined; {HINT}")
        # cuDF cannot divide nullable numbers if all divisors are zero
        rows = filled(column, 2, 1 if self.relative else 0)
        library, periods = library_of(column), self.periods and 1
        try:
            is_exact = not self.relative and not library.holds_null(column.dtype)
            if not in_groups or is_exact:
                return self._of(library, rows, periods).dtype
            return library.group_change(self.label, rows, periods=periods, **self._unfilled).dtype
        except REFUSALS as error:
            why, way = "is not defined", HINT
            if self.relative and holds_decimals(column):
                why = "has changes of more digits than Arrow's decimals of its width"
                way = "cast it with astype to float64, or to decimals of fewer digits or more width"
            raise TypeError(f"{_title(self, column)} {why}; {way}") from error

    def _dtype_in_groups(self, column: Column) -> DType:
        if hasattr(column.dtype, "categories"):  # see `planned`
            return self._dtype(column, in_groups=True)
        key = type(column), column.dtype, "in groups"
        found: DType | None = self.plans.get(key)
        if found is None:
            found = self.plans.store(key, self._dtype(column, True))
        return found

    def _of(self, library: Library, array: Array, periods: int) -> Array:
        change = library.relative_change if self.relative else library.diff
        return change(array, periods)

    def apply(self, columns: Sequence[Column], rows: WindowRows) -> Any:
        try:
            return self._changed(columns[0], rows)
        except OverflowError as error:
            name_columns(error, self.label, columns)
            raise
        except TypeError as error:
            refuse_values(self.label, [column_title(columns[0])], error)

    def bound(self, column: Column) -> OfArray | None:
        if self.relative or not self.periods:
            return None
        return _bound(column, library_of(column).diff, self.periods, subtracts=True)

    def _changed(self, column: Column, rows: WindowRows) -> Any:
        library = rows.library
        if rows.is_one_group:
            periods = _within(self.periods, rows.length)
            return rows.wanted_of(self._of(library, library.array(column), periods))
        dtype = self._dtype_in_groups(column)
        array = library.to_masked(library.array(column))
        if self.periods:
            array = library.take(array, rows.before(self.periods), nulls=True)
        if self.relative and rows.ungrouped is not None:  # decimals raise for a divisor of 0
            array = library.set_null(array, rows.ungrouped)
        if self.relative:
            found = library.relative(library.array(column), array)
        else:
            found = library.subtract(library.array(column), array)
        return rows.returned(library.cast(found, dtype))


def _bound(
    column: Column, move: Callable[[Any, int], Any], periods: int, subtracts: bool
) -> OfArray | None:
    """Return what moves numbers of the dtype of a column, which `move` does for integers."""
    dtype: Any = column.dtype
    if dtype in FLOATS:
        return bound_shift(periods, dtype.type("nan"), subtracts)
    if dtype.kind not in "biu":
        return None

    def moved(array: np.ndarray) -> Any:
        if len(array) >= PARALLEL:  # as of floats: all columns go the other way
            return None
        try:
            return move(array, _within(periods, len(array)))
        except OverflowError:  # which is raised again, with the name of the column
            return None

    return moved


def _within(periods: int, rows: int) -> int:
    """Return a distance of at most the number of rows, which has the same answer: cuDF counts in 32 bits."""
    most = max(rows, 1)
    return max(-most, min(periods, most))


def filled(column: Column, count: int, number: int = 0) -> Array:
    """Return an array of the dtype of a column, of one number if the column has numbers, else of nulls."""
    library: Library = library_of(column)
    layout = library.layout(column.dtype)
    if layout is not None:
        values = library.xp.full(count, number, layout.storage(column.dtype))
        return layout.wrap(values, None, column.dtype)
    return library.take(library.empty(column.dtype), library.xp.full(count, -1, INT64), nulls=True)


def _as_number(fill: Any, dtype: np.dtype) -> Any:
    """Return a number in a dtype, rounded for floats; None if the dtype does not hold it."""
    is_bool = isinstance(fill, (bool, np.bool_))
    if is_bool != (dtype.kind == "b") or not isinstance(fill, (Number, np.bool_)):
        return None
    with np.errstate(over="ignore"), suppress(TypeError, ValueError, OverflowError):
        found = dtype.type(fill)
        if found.item() == fill or (dtype.kind in "fc" and np.isfinite(found)):
            return found
    return None


def _title(operation: Shift | Difference, column: Column) -> str:
    return f"{operation.label} of {column_title(column)}: dtype {column.dtype}"
