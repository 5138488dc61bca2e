"""Forward and backward fill of columns of every dtype, in groups or not: the last value is carried on.

Numbers that are in no groups are scanned by an operator that takes the last value; other columns, and fills with a
limit, are filled by their library. Within groups, a scan finds the row that each row is filled from. The states are the
last value, whether there is one, and how many rows have come since.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import lru_cache
from operator import methodcaller
from typing import Any

import numpy as np

from ...frames.protocol import Library
from ...frames.registry import library_of
from ...frames.types import Array, Column, DType, Frame, Layout, View
from ...kernels import BUILT_IN, InBand, Operator
from ...kernels.arrays import is_array
from ...kernels.late_dataclass import dataclass
from ...kernels.nulls import missing_in_band
from ...kernels.operators.built_in import LAST_NUMBER, LAST_TIME
from ...kernels.options import ScanOptions
from ...kernels.scan import BoundScan
from ..core.columnwise import ColumnCarry
from ..core.groups import INT64, Groups, ReducibleGroups, States
from ..core.operation import Needs
from ..core.plans import OfArray, Planned
from .row_number import places

_LAST_IN_BAND = {"f": LAST_NUMBER, "i": LAST_TIME}
"""The operators whose state is a number, NaN or NaT if there was no value, by the kind of the scanned dtype."""

_LARGEST = BUILT_IN["maximum"]

_NOTHING = -(2**62)
"""Stands for a row that does not exist."""


def _later_seen(a: Any, b: Any) -> Any:
    return b if b[0] else (a[0], a[1] + b[1])


_SINCE = Operator(_later_seen, (False, 0), name="since")
"""State: (whether there was a value, rows since it; all rows if there was none)."""


@dataclass(frozen=True)
class _Numbers:
    """Numbers with NaN or NaT as their nulls, and the operator whose state is the last number."""

    layout: Layout
    dtype: Any
    view: View
    op: Operator

    def states(self, groups: ReducibleGroups) -> States:
        """Return the last number of each group, whether there is one, and zeros for the rows since then."""
        values = self.view.values
        (last,) = groups.reduce(self.op, values, nulls=self.view.nulls, dtype=values.dtype)()
        seen = ~missing_in_band(last)
        return self.layout.wrap(last, None, self.dtype), seen, np.zeros_like(seen, INT64)

    def filled(self, groups: Groups, carry_in: Any) -> Any:
        """Return the array with its nulls filled within groups."""
        values = self.view.values
        found = groups.scan(
            self.op, values, nulls=self.view.nulls, carry_in=carry_in, dtype=values.dtype
        )
        return self.layout.wrap(found, None, self.dtype)


def _scan(op: Operator, nulls: Any, reverse: bool, dtype: np.dtype) -> BoundScan:
    """Return the scan that fills numbers of a dtype."""
    return BoundScan(op, ScanOptions(nulls, reverse=reverse, dtype=dtype))


_scan_in_band = lru_cache(maxsize=64)(_scan)


@dataclass(frozen=True)
class Fill(Planned):
    """Forward fill, or with `reverse` backward fill, of at most `limit` nulls in a row."""

    reverse: bool = False
    limit: int | None = None
    in_groups: bool = False

    needs = Needs.STATES
    columns_in_states = (0,)

    @property
    def label(self) -> str:
        return "bfill" if self.reverse else "ffill"

    def dtype(self, columns: Sequence[Column]) -> Any:
        return columns[0].dtype

    # --- what is handed on ------------------------------------------------------------------------

    def aggregate(self, columns: Sequence[Column], groups: ReducibleGroups) -> Callable[[], States]:
        column = columns[0]
        library, count = library_of(column), len(column)
        if groups.is_one:
            found = library.seek_valid(column, from_end=not self.reverse)

            def carried() -> States:
                at = found()
                if at is None:
                    return None, False, count
                return library.host_row(column, at), True, at if self.reverse else count - 1 - at

            return carried
        number = self._as_numbers(library, library.array(column), column.dtype)
        if number is not None:
            return lambda: number.states(groups)
        valid = library.valid(column)
        rows = library.xp.where(valid, library.xp.arange(count, dtype=INT64), -1)
        (at,) = groups.reduce(_LARGEST, rows)()
        since = groups.reduce(_SINCE, (valid, (~valid).astype(INT64)))()
        return lambda: (library.take(library.array(column), at, nulls=True), *since)

    def combine(self, states: Sequence[States]) -> States:
        since = 0
        for value, seen, rows in reversed(states):
            since += rows
            if seen:
                return value, True, since
        return None, False, since

    def merge(self, library: Library, states: States, groups: ReducibleGroups) -> States:
        values, seen, since = states
        number = self._as_numbers(library, values, values.dtype)
        if number is not None:
            return number.states(groups)
        rows = library.xp.where(seen, library.xp.arange(len(seen), dtype=INT64), -1)
        (at,) = groups.reduce(_LARGEST, rows)()
        return (library.take(values, at, nulls=True), *groups.reduce(_SINCE, (seen, since))())

    def last(self, columns: Sequence[Column], states: States) -> Any:
        """Array of the last value of each group, given arrays of states, or a value."""
        value, library = states[0], library_of(columns[0])
        if value is not None:
            return value
        return library.take(library.array(columns[0]), library.xp.full(1, -1, INT64), nulls=True)

    def _as_numbers(self, library: Library, array: Array, dtype: DType) -> _Numbers | None:
        """Return an array as numbers that are filled by their own values; None for others, and with a limit."""
        layout = None if self.limit is not None else library.layout(dtype)
        if layout is None or not layout.nan_is_null:
            return None
        view = layout.view(array)
        op = _LAST_IN_BAND.get(view.values.dtype.kind)
        if op is None or not isinstance(view.nulls, InBand):
            return None
        return _Numbers(layout, dtype, view, op)

    # --- the fill itself --------------------------------------------------------------------------

    def apply(self, columns: Sequence[Column], groups: Groups, prior: States | None) -> Any:
        if groups.is_one and not self.in_groups:
            return self._apply_to_one(columns[0], prior)
        return self._apply_to_groups(columns[0], groups, prior)

    def _apply_to_one(self, column: Column, prior: States | None) -> Any:
        """Fill rows that are in no groups."""
        library = library_of(column)
        layout = library.layout(column.dtype)
        kept, _, since = (None, False, 0) if prior is None else prior
        if layout is not None and self.limit is None:
            view = layout.view(library.array(column)).resolved()
            if view.nulls is None:
                return layout.wrap(view.values.copy(), None, column.dtype)
            one_number = layout.nan_is_null and view.values.dtype.kind == "f"
            # NaN is the state before the first number, and is null in band; a GPU scans while the host looks for others
            is_null = one_number and layout.nulls == "in band"
            head = None if kept is not None or is_null else self._head(column)
            carry = None if kept is None else library.number(kept, column.dtype)
            scan = (_scan_in_band if isinstance(view.nulls, InBand) else _scan)(
                LAST_NUMBER if one_number else BUILT_IN["last"],
                view.nulls,
                self.reverse,
                view.values.dtype,
            )
            before = carry if carry is None or one_number else (carry, True)
            filled, _ = scan(view.values, before, False)
            missing = None if head is None else self._rows_of(head(), column)
            return layout.wrap(filled, missing, column.dtype)
        filled = library.fill(column, self.reverse, self.limit)
        if kept is None:
            return filled
        reach = self._head(column)()
        if not reach:
            return filled
        if self.limit is not None:
            reach = min(reach, max(0, self.limit - since))
        near, count = library.repeat(kept, reach, column.dtype), len(column)
        if self.reverse:
            return library.concatenate([library.slice_array(filled, 0, count - reach), near])
        return library.concatenate([near, library.slice_array(filled, reach, count)])

    def bound(self, column: Column) -> OfArray | None:
        library = library_of(column)
        layout, dtype = library.layout(column.dtype), column.dtype
        if self.limit is not None or self.in_groups or layout is None:
            return None
        if dtype.kind in "biu":  # without nulls
            return methodcaller("copy")
        view = layout.view(library.array(column))
        if view.values.dtype != dtype or not isinstance(view.nulls, InBand):  # as for half floats
            return None
        own = view.values.dtype
        return _scan_in_band(LAST_NUMBER, view.nulls, self.reverse, own).of_arrays(own)

    def _head(self, column: Column) -> Callable[[], int]:
        """Begin to count the rows before the first valid one, in scan order."""
        found, count = library_of(column).seek_valid(column, from_end=self.reverse), len(column)

        def head() -> int:
            valid = found()
            if valid is None:
                return count
            return count - 1 - valid if self.reverse else valid

        return head

    def _rows_of(self, head: int, column: Column) -> Any:
        """The first `head` rows in scan order, as an array of bool; None if there are none."""
        if not head:
            return None
        count = len(column)
        missing = library_of(column).xp.zeros(count, np.bool_)
        missing[slice(count - head, count) if self.reverse else slice(0, head)] = True
        return missing

    def _apply_to_groups(self, column: Column, groups: Groups, prior: States | None) -> Any:
        """Take for each row the one that it is filled from; earlier last values have numbers below zero."""
        library, count = library_of(column), len(column)
        xp, array = library.xp, library.array(column)
        values, seen, since = (None, None, None) if prior is None else prior
        known = is_array(seen)
        number = self._as_numbers(library, array, column.dtype)
        if number is not None:
            carry = None
            if known:
                carry = number.layout.view(values).values
            elif seen:
                carry = library.number(values, column.dtype)
            return number.filled(groups, carry)
        valid = library.valid(column)
        if bool(valid.all()):
            return library.copy(array)
        before = len(seen) if known else int(prior is not None)
        numbers = xp.arange(count, dtype=INT64)
        if groups.reverse:
            numbers = count - 1 - numbers
        number_before: Any = None
        if known:
            number_before = xp.where(seen, xp.arange(-before, 0, dtype=INT64), _NOTHING)
        elif prior is not None:
            number_before = np.int64(-1 if seen else _NOTHING)
        taken = groups.scan(
            _LARGEST, xp.where(valid, numbers, _NOTHING), carry_in=number_before, dtype=INT64
        )
        if self.limit is not None:
            place = places(xp, groups, count)
            place_before: Any = None
            if known:
                place_before = xp.where(seen, -1 - since, _NOTHING)
            elif prior is not None:
                place_before = np.int64(-1 - since if seen else _NOTHING)
            last = groups.scan(
                _LARGEST, xp.where(valid, place, _NOTHING), carry_in=place_before, dtype=INT64
            )
            taken[place - last > self.limit] = _NOTHING
        nothing = taken <= _NOTHING
        earlier = (taken < 0) & ~nothing
        positions = count - 1 - taken if groups.reverse else taken
        if before and bool(earlier.any()):
            if not known:
                values = library.repeat(values, 1, column.dtype)
            array = library.concatenate([values, array])
            positions = before + xp.where(earlier, taken, positions)
        positions[nothing] = -1
        return library.take(array, positions, nulls=True)


@dataclass(frozen=True)
class FillColumns(ColumnCarry):
    """A fill of each column of a frame, or of a series."""

    operation: Fill

    def settled(self, frame: Frame) -> int | None:
        limit = self.operation.limit
        return None if limit is None else max(len(frame) - limit, 0)
