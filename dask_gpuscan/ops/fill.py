"""Forward and backward fill, ungrouped and within groups: the last valid value is carried on, of every dtype.

Fixed-width columns are scanned with an operator that takes the last value; for others, and where a limit counts
rows, the column's library fills the partition, and the value carried in fills its head. Within groups each row takes
the row that it is filled from. This module must never know that there are several partitions.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from .. import kernels
from ..frames.columns import layout_of
from ..frames.keys import Codes, Keys
from ..frames.protocol import Library
from ..frames.registry import library_of
from ..kernels import BUILT_IN, Operator
from .group_scan import scan_groups
from .reduction_table import States
from .row_number import numbered
from .runs import INT64

LAST_NUMBER = Operator(lambda a, b: a if b != b else b, np.nan, name="last-number", inputs=1)
"""`last` where no value is NaN: it tells that there is none yet, so the state is one number, which is moved faster."""


@dataclass(frozen=True)
class Carried:
    """The last valid value of some rows, and how many rows have come since; all rows if none was valid.

    The value is a row that the column's library keeps, of any dtype.
    """

    seen: bool
    value: Any
    since: int


@dataclass(frozen=True)
class FillColumn:
    """Forward fill, or with `reverse` backward fill, of at most `limit` nulls in a row."""

    reverse: bool = False
    limit: int | None = None

    @property
    def label(self) -> str:
        return "bfill" if self.reverse else "ffill"

    def dtype(self, columns: Sequence[Any]) -> Any:
        return columns[0].dtype

    def aggregate(self, columns: Sequence[Any]) -> Callable[[], Carried]:
        column = columns[0]
        library, count = library_of(column), len(column)
        found = library.seek_valid(column, from_end=not self.reverse)

        def carried() -> Carried:
            at = found()
            if at is None:
                return Carried(False, None, count)
            return Carried(True, library.keep(column, at), at if self.reverse else count - 1 - at)

        return carried

    def combine(self, aggregates: Sequence[Carried]) -> Carried:
        since = 0
        for later in reversed(aggregates):
            since += later.since
            if later.seen:
                return Carried(True, later.value, since)
        return Carried(False, None, since)

    def apply(self, columns: Sequence[Any], prefix: Carried | None) -> Any:
        column = columns[0]
        library = library_of(column)
        layout = layout_of(library, column.dtype)
        kept = prefix.value if prefix is not None and prefix.seen else None
        if layout is not None and self.limit is None:
            view = layout.view(library.array(column)).settled()
            if view.nulls is None:
                return layout.wrap(view.values.copy(), None, column.dtype)
            head = self._head(column) if kept is None else None  # a GPU scans while the host looks
            one_number = layout.nan_is_null and view.values.dtype.kind == "f"
            carry = None if kept is None else library.number(kept, column.dtype)
            filled, _ = kernels.scan(
                LAST_NUMBER if one_number else BUILT_IN["last"],
                view.values,
                nulls=view.nulls,
                reverse=self.reverse,
                carry_in=carry if carry is None or one_number else (carry, True),
                dtype=view.values.dtype,
                carry_out=False,
            )
            missing = None if head is None else self._rows_of(head(), column)
            return layout.wrap(filled, missing, column.dtype)
        filled = library.fill(column, self.reverse, self.limit)
        if kept is None or prefix is None:
            return filled
        reach = self._head(column)()
        if not reach:
            return filled
        if self.limit is not None:
            reach = min(reach, max(0, self.limit - prefix.since))
        near, count = library.repeat(kept, reach, column.dtype), len(column)
        if self.reverse:
            return library.concatenate([library.part(filled, 0, count - reach), near])
        return library.concatenate([near, library.part(filled, reach, count)])

    def _head(self, column: Any) -> Callable[[], int]:
        """Begin to look how many rows come before the first valid one, in scan order."""
        found, count = library_of(column).seek_valid(column, from_end=self.reverse), len(column)

        def head() -> int:
            valid = found()
            if valid is None:
                return count
            return count - 1 - valid if self.reverse else valid

        return head

    def _rows_of(self, head: int, column: Any) -> Any:
        """Where so many rows are, or None if there are none."""
        if not head:
            return None
        count = len(column)
        missing = library_of(column).numbers.zeros(count, np.bool_)
        missing[slice(count - head, count) if self.reverse else slice(0, head)] = True
        return missing


# --- within groups -----------------------------------------------------------------------------------

_NOTHING = -(2**62)
"""Stands for a row that was never met."""


def _running_last(codes: Codes, rows: Any, carry_in: Any) -> Any:
    """The greatest row number so far in each row's group."""
    found, _ = kernels.scan_by_code(
        BUILT_IN["maximum"], codes.array, rows, codes.groups, carry_in=carry_in
    )
    return found


def _last_by_code(codes: Codes, rows: Any) -> Any:
    """The greatest row number of each group."""
    return kernels.reduce_by_code(BUILT_IN["maximum"], codes.array, rows, codes.groups)


def _later_seen(a: Any, b: Any) -> Any:
    return b if b[0] else (a[0], a[1] + b[1])


_SINCE = Operator(_later_seen, (False, 0), name="since")
"""State: (whether there was a value, rows since it; all rows if there was none)."""


@dataclass(frozen=True)
class FillGroups:
    """Each null takes the last value before it in its group, or in reverse the next: of columns of any dtype."""

    reverse: bool = False
    limit: int | None = None

    def dtype(self, columns: Sequence[Any]) -> Any:
        """Dtype of the answer."""
        return columns[0].dtype

    def state(self, columns: Sequence[Any]) -> tuple[Any, int]:
        """Return the last value of a group, or None, and how many rows have come since."""
        column = columns[0]
        at = library_of(column).seek_valid(column, from_end=not self.reverse)()
        if at is None:
            return None, len(column)
        kept = library_of(column).keep(column, at)
        return kept, at if self.reverse else len(column) - 1 - at

    def join(self, states: Sequence[tuple[Any, int]]) -> tuple[Any, int]:
        """Return the last value of all, and how many rows have come since."""
        since = 0
        for kept, rows in reversed(states):
            since += rows
            if kept is not None:
                return kept, since
        return None, since

    def apply(self, columns: Sequence[Any], keys: Keys, carried: Any, continues: bool) -> Any:
        """Fill a partition; what is carried into it stands before its first row."""
        column = columns[0]
        library, count = library_of(column), len(column)
        numbers = library.numbers
        valid = library.valid(column)
        if bool(valid.all()):
            return library.copy(library.array(column))
        kept, since = carried if continues else (None, 0)
        # rows are numbered as they are met; what is carried in was met `since` rows before the first
        rows = numbers.arange(count, dtype=INT64)
        met = count - 1 - rows if self.reverse else rows
        taken = scan_groups(
            BUILT_IN["maximum"],
            keys.arrays,
            numbers.where(valid, met, _NOTHING),
            key_nulls=keys.nulls,
            reverse=self.reverse,
            carry_in=np.int64(_NOTHING if kept is None else -1 - since),
            continues=continues,
        )
        if self.limit is not None:
            taken[met - taken > self.limit] = _NOTHING
        array = library.array(column)
        before = (taken < 0) & (taken > _NOTHING)
        positions = count - 1 - taken if self.reverse else taken
        if kept is not None and bool(before.any()):
            array = library.concatenate([array, library.repeat(kept, 1, column.dtype)])
            positions = numbers.where(before, count, positions)
        positions[taken == _NOTHING] = -1
        return library.take(array, positions, nulls=True)

    def runs(self, columns: Sequence[Any], keys: Keys, starts: bool) -> tuple[Any, States]:
        """Return the last value of each group, whether there is one, and how many rows have come since."""
        column = columns[0]
        library = library_of(column)
        rows = library.numbers.arange(len(column), dtype=INT64)
        valid = library.valid(column)
        first, lengths = kernels.run_length_encode(keys.arrays, nulls=keys.nulls)
        nulls = kernels.byte_mask(~valid)
        _, (at, seen) = kernels.reduce_by_key(
            BUILT_IN["last"],
            keys.arrays,
            rows,
            key_nulls=keys.nulls,
            nulls=nulls,
            starts=False,
        )
        at = library.numbers.where(seen, at, -1)
        since = library.numbers.where(seen, first + lengths - 1 - at, lengths)
        return first, (library.take(library.array(column), at, nulls=True), seen, since)

    def states_by_code(self, columns: Sequence[Any], codes: Codes) -> States:
        """Return the last value of each code, whether there is one, and how many rows have come since."""
        library, valid = library_of(columns[0]), library_of(columns[0]).valid(columns[0])
        place, add = numbered(codes), BUILT_IN["add"]
        last = _last_by_code(codes, np.where(valid, place, _NOTHING))
        at = _last_by_code(codes, np.where(valid, np.arange(len(valid)), -1))
        rows = kernels.reduce_by_code(add, codes.array, np.ones_like(place), codes.groups)
        seen = at >= 0
        since = rows - 1 - np.where(seen, last, -1)
        values = library.take(library.array(columns[0]), np.where(seen, at, -1), nulls=True)
        return values, seen, since

    def apply_by_code(self, columns: Sequence[Any], codes: Codes, prior: States | None) -> Any:
        """Fill a partition in the rows' order, from the last values of the first codes."""
        library, valid = library_of(columns[0]), library_of(columns[0]).valid(columns[0])
        array, before = library.array(columns[0]), 0
        since: Any = None
        seen: Any = None
        if prior is not None:
            values, seen, since = prior
            before, array = len(seen), library.concatenate([values, array])
        rows = np.arange(before, before + len(valid), dtype=INT64)
        rows[~valid] = -1
        carry_in = None if seen is None else np.where(seen, np.arange(before), -1)
        taken = _running_last(codes, rows, carry_in)
        del rows
        if self.limit is not None:
            place = numbered(codes)
            carry_in = None if since is None else np.where(seen, -1 - since, _NOTHING)
            last = _running_last(codes, np.where(valid, place, _NOTHING), carry_in)
            taken[place - last > self.limit] = -1
        taken[taken < 0] = -1
        return library.take(array, taken, nulls=True)

    def merge(self, library: Library, states: States, keys: Keys) -> States:
        """Return the last value of equal keys."""
        values, seen, since = states
        rows = library.numbers.arange(len(seen), dtype=INT64)
        nulls = kernels.byte_mask(~seen)
        last = BUILT_IN["last"]
        _, (at, any_seen) = kernels.reduce_by_key(
            last, keys.arrays, rows, nulls=nulls, starts=False
        )
        at = library.numbers.where(any_seen, at, -1)
        _, (_, rows_since) = kernels.reduce_by_key(_SINCE, keys.arrays, (seen, since), starts=False)
        return (library.take(values, at, nulls=True), any_seen, rows_since)

    def apply_after(
        self, columns: Sequence[Any], prior: States, order: Any, back: Any, keys: Keys
    ) -> Any:
        """Fill a partition whose groups have their last values before its rows."""
        column = columns[0]
        library = library_of(column)
        numbers = library.numbers
        values, seen, since = prior
        array = library.concatenate([values, library.array(column)])
        valid = numbers.concatenate([seen, library.valid(column)])[order]
        rows = numbers.arange(len(order), dtype=INT64)
        taken = scan_groups(BUILT_IN["maximum"], keys.arrays, numbers.where(valid, rows, -1))
        nothing = taken < 0
        if self.limit is not None:
            late = numbers.concatenate([since, numbers.zeros(len(column), INT64)])[order]
            nothing |= rows - taken + late[taken] > self.limit
        positions = numbers.where(nothing, -1, order[taken])
        return library.take(array, positions[back], nulls=True)
