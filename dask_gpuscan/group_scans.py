"""Scans within groups: of a column by an operator, of row numbers, and fills of columns of any dtype.

A scan knows the keys of one partition and the state of the group that goes on in it. This module must never know
which partition it works on.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from . import kernels
from .columns import (
    Library,
    View,
    counts,
    is_number,
    layout_of,
    library_of,
    missing_in,
    moved_layout,
    title,
)
from .kernels import BUILT_IN, InBand, Operator
from .keys import Keys
from .reducers import States
from .reductions import joint_nulls, merged, on_states
from .runs import INT64
from .scans import METHODS, Plan, plan

_ANY = BUILT_IN["logical_any"]

_NOTHING = -(2**62)
"""Stands for a row that was never met."""


def scan_groups(op: Operator, keys: list[Any], values: Any, **options: Any) -> Any:
    """Scan within runs of equal keys, without a wait for what is open after the last row."""
    out, _ = kernels.scan_by_key(op, keys, values, carry_out=False, **options)
    return out


@dataclass(frozen=True)
class ScanGroups:
    """A scan by an operator of a column, or of several that are the operator's inputs."""

    label: str
    op: Operator
    exclusive: bool = False
    reverse: bool = False

    def dtype(self, columns: Sequence[Any]) -> Any:
        """Dtype of the answer; raises a TypeError that names the column and the way out."""
        try:
            return self._plan(columns).dtype
        except (TypeError, ValueError) as error:
            names = ", ".join(title(c) for c in columns)
            raise type(error)(f"{self.label} of {names}: {error}") from error

    def _plan(self, columns: Sequence[Any]) -> Plan:
        library, dtypes = library_of(columns[0]), tuple(c.dtype for c in columns)
        for dtype in dtypes:
            if layout_of(library, dtype) is not None and moved_layout(library, dtype) is None:
                raise TypeError(
                    f"dtype {dtype} cannot be scanned within groups; cast it with astype"
                )
        requested = None
        if self.op in METHODS:
            answer = library.grouped(METHODS[self.op], dtypes[0])
            requested = answer if is_number(library, answer) else None
        return plan(library, self.op, dtypes, requested)

    def _options(self, found: Plan, views: list[View]) -> dict[str, Any]:
        values = tuple(v.values for v in views) if len(views) > 1 else views[0].values
        return {"values": values, "nulls": joint_nulls(views), "dtype": found.kernel_dtype}

    def state(self, columns: Sequence[Any]) -> tuple[Operator, Any]:
        """Reduce the rows of one group."""
        found = self._plan(columns)
        options = self._options(found, [v.in_band() for v in found.views(columns)])
        return kernels.aggregate(found.op, reverse=self.reverse, **options)

    def join(self, states: Sequence[tuple[Operator, Any]]) -> tuple[Operator, Any]:
        """Reduce neighbouring parts of one group."""
        op = states[0][0]
        return op, kernels.fold(op, [state for _, state in states])

    def apply(self, columns: Sequence[Any], keys: Keys, carried: Any, continues: bool) -> Any:
        """Scan a partition, from the state of the group that goes on in it."""
        found = self._plan(columns)
        views = found.views(columns)
        doubt = views[0].doubt if len(views) == 1 else None
        views = [v.settled() if doubt is None else v.in_band() for v in views]
        options = self._options(found, views)
        nulls, met = options["nulls"], None
        if doubt is not None and isinstance(nulls, InBand):  # the kernel tells whether there is any
            met = library_of(columns[0]).numbers.zeros(1, np.bool_)
        carry_in = None
        if continues:
            carry_in = kernels.seed(found.op, carried[1], found.kernel_dtype)
        out = scan_groups(
            found.op,
            keys.arrays,
            key_nulls=keys.nulls,
            exclusive=self.exclusive,
            reverse=self.reverse,
            carry_in=carry_in,
            continues=continues,
            met=met,
            **options,
        )
        if doubt is not None and met is not None:
            whole = self._wrapped(found, views, None, out)  # while the kernel runs
            if not met[0]:
                doubt.dispel()
                return whole
        return self._wrapped(found, views, nulls, out)

    def _wrapped(self, found: Plan, views: list[View], nulls: Any, out: Any) -> Any:
        missing = None
        if nulls is not None and found.marks:
            missing = missing_in(views)
        return found.layout.wrap(out, missing, found.dtype)

    def runs(self, columns: Sequence[Any], keys: Keys, starts: bool) -> tuple[Any, States]:
        """Reduce each group to its state."""
        found = self._plan(columns)
        options = self._options(found, [v.in_band() for v in found.views(columns)])
        answer = found.kernel_dtype
        op, values, dtype = kernels.carried(found.op, options["values"], answer, answer)
        options |= {"values": values, "dtype": dtype}
        first, states = kernels.reduce_by_key(op, keys.arrays, starts=starts, **options)
        return first, states if isinstance(states, tuple) else (states,)

    def merge(self, library: Library, states: States, keys: Keys) -> States:
        """Reduce states of equal keys to one."""
        return merged(kernels.carrier(self.op, states[0].dtype), states, keys)

    def apply_after(
        self, columns: Sequence[Any], prior: States, order: Any, back: Any, keys: Keys
    ) -> Any:
        """Scan a partition with the states of groups before its rows: elements are lifted to states first."""
        found = self._plan(columns)
        views = [v.settled() for v in found.views(columns)]
        options = self._options(found, views)
        numbers = library_of(columns[0]).numbers
        rows = numbers.arange(len(columns[0]), dtype=INT64)
        _, states = kernels.reduce_by_key(found.op, [rows], starts=False, **options)
        states = states if isinstance(states, tuple) else (states,)
        if kernels.carrier(found.op, found.kernel_dtype) is not found.op:
            prior = (kernels.seed(found.op, prior, found.kernel_dtype),)
        pairs = zip(prior, states, strict=True)
        both = tuple(numbers.concatenate([a, b])[order] for a, b in pairs)
        out = scan_groups(
            on_states(found.op, both),
            keys.arrays,
            both if len(both) > 1 else both[0],
            exclusive=self.exclusive,
            dtype=found.kernel_dtype if len(both) == 1 else None,
        )
        out = out[back].astype(found.kernel_dtype, copy=False)
        return self._wrapped(found, views, options["nulls"], out)


@dataclass(frozen=True)
class ScanAfterValues(ScanGroups):
    """An exclusive scan whose answer is null where its group has no value before a row."""

    def _valid(self, columns: Sequence[Any]) -> Any:
        valid = library_of(columns[0]).valid(columns[0])
        for column in columns[1:]:
            valid = valid & library_of(column).valid(column)
        return valid

    def state(self, columns: Sequence[Any]) -> tuple[Any, bool]:
        return super().state(columns), bool(self._valid(columns).any())

    def join(self, states: Sequence[tuple[Any, bool]]) -> tuple[Any, bool]:
        return super().join([state for state, _ in states]), any(seen for _, seen in states)

    def apply(self, columns: Sequence[Any], keys: Keys, carried: Any, continues: bool) -> Any:
        state, seen_before = carried if continues else (None, False)
        out = super().apply(columns, keys, state, continues)
        seen = scan_groups(
            _ANY,
            keys.arrays,
            self._valid(columns),
            key_nulls=keys.nulls,
            exclusive=True,
            reverse=self.reverse,
            carry_in=np.bool_(seen_before) if continues else None,
            continues=continues,
        )
        return self._nulled(columns, out, seen)

    def _nulled(self, columns: Sequence[Any], out: Any, seen: Any) -> Any:
        return library_of(columns[0]).nulled(out, ~seen) if self._plan(columns).marks else out

    def runs(self, columns: Sequence[Any], keys: Keys, starts: bool) -> tuple[Any, States]:
        first, states = super().runs(columns, keys, starts)
        _, seen = kernels.reduce_by_key(_ANY, keys.arrays, self._valid(columns), starts=False)
        return first, (*states, seen)

    def merge(self, library: Library, states: States, keys: Keys) -> States:
        *inner, seen = states
        return (*super().merge(library, tuple(inner), keys), *merged(_ANY, (seen,), keys))

    def apply_after(
        self, columns: Sequence[Any], prior: States, order: Any, back: Any, keys: Keys
    ) -> Any:
        *inner, seen_before = prior
        out = super().apply_after(columns, tuple(inner), order, back, keys)
        numbers = library_of(columns[0]).numbers
        valid = numbers.concatenate([seen_before, self._valid(columns)])[order]
        seen = scan_groups(_ANY, keys.arrays, valid, exclusive=True)
        return self._nulled(columns, out, seen[back])


@dataclass(frozen=True)
class CountGroups:
    """The number of each row within its group, from 0."""

    reverse: bool = False

    def dtype(self, columns: Sequence[Any]) -> Any:
        """Dtype of the answer."""
        return INT64

    def state(self, columns: Sequence[Any]) -> int:
        """Count the rows of one group."""
        return len(columns[0])

    def join(self, states: Sequence[int]) -> int:
        """Add counts."""
        return sum(states)

    def apply(self, columns: Sequence[Any], keys: Keys, carried: Any, continues: bool) -> Any:
        """Number the rows of a partition."""
        library = library_of(columns[0])
        ones = library.numbers.ones(len(columns[0]), INT64)
        out = scan_groups(
            BUILT_IN["add"],
            keys.arrays,
            ones,
            key_nulls=keys.nulls,
            reverse=self.reverse,
            carry_in=np.int64(carried) if continues else None,
            continues=continues,
        )
        return counts(library, out - 1)

    def runs(self, columns: Sequence[Any], keys: Keys, starts: bool) -> tuple[Any, States]:
        """Count the rows of each group."""
        first, lengths = kernels.run_length_encode(keys.arrays, nulls=keys.nulls)
        return first, (lengths,)

    def merge(self, library: Library, states: States, keys: Keys) -> States:
        """Add the counts of equal keys."""
        return merged(BUILT_IN["add"], states, keys)

    def apply_after(
        self, columns: Sequence[Any], prior: States, order: Any, back: Any, keys: Keys
    ) -> Any:
        """Number the rows of a partition, with as many before them as groups had."""
        library = library_of(columns[0])
        ones = library.numbers.ones(len(columns[0]), INT64)
        numbers = library.numbers.concatenate([prior[0], ones])[order]
        out = scan_groups(BUILT_IN["add"], keys.arrays, numbers)
        return counts(library, out[back] - 1)


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
            return library.fill(column, self.reverse, None)  # a copy
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
