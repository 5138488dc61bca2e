"""Windows of all rows so far, or of those so far in each group: scans by the operators of statistics.

Rows with too few observations are null. A statistic that picks one of the values picks among integers, so that it
is exact.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import field
from typing import Any

import numpy as np

from ...frames.messages import naming
from ...frames.protocol import Library
from ...frames.registry import library_of, view_of
from ...frames.types import Array, Column, Values
from ...kernels import BUILT_IN, Operator
from ...kernels.arrays import is_array
from ...kernels.late_dataclass import dataclass
from ...kernels.options import ScanOptions
from ...kernels.scan import BoundScan
from ..core.groups import INT64, Groups, ReducibleGroups, States, folded, lowered, merged, state_of
from ..core.operation import Needs
from ..core.plans import OfArray, PlannedOperation
from ..statistics.groups import FLOAT64
from ..statistics.inputs import (
    NUMBERS,
    VALUES,
    Inputs,
    check_columns,
    holds_integers,
    observed,
    read,
)
from ..statistics.table import WINDOWS
from .exact import holds_times

_ADD = BUILT_IN["add"]

HEAD = 1024
"""Rows that are looked at to find the first answer that is a number."""


@dataclass(frozen=True)
class ExpandingStatistic(PlannedOperation):
    """A statistic over all rows so far, in groups or not.

    The states are those of the operator, then the number of observations if these are counted.

    Parameters
    ----------
    label : str
        For the names of tasks, and messages.
    op : Operator
    min_periods : int
    inputs : Inputs
        How the operator's inputs are read from columns.
    of_none : float, optional
        The operator's answer for no observations; by default null.
    enough : int, optional
        How many observations always have a number as their answer; by default, that depends on their values.
    at_nulls : bool, default True
        Whether a row that is not an observation has the answer so far; else it is null.
    """

    label: str
    op: Operator
    min_periods: int
    inputs: Inputs = VALUES
    of_none: float | None = None
    enough: int | None = None
    at_nulls: bool = field(default=True, repr=False)  # states are the same
    reverse = False
    needs = Needs.STATES

    @property
    def _counts(self) -> bool:
        """Whether observations must be counted; the operator itself answers null for none."""
        return self.min_periods > (1 if self.of_none is None else 0)

    def dtype(self, columns: Sequence[Column]) -> Any:
        check_columns(self.label, columns, self.inputs)
        return np.dtype(np.float64)

    def _observations(self, arrays: tuple[Any, ...]) -> Any:
        """1 in each row that is an observation, else 0."""
        return observed(arrays, self.inputs).astype(np.int64)

    def aggregate(self, columns: Sequence[Column], groups: ReducibleGroups) -> Callable[[], States]:
        arrays = read(columns, self.inputs)
        wait = groups.reduce(self.op, state_of(arrays))
        if not self._counts:
            return wait
        if groups.is_one:
            return lambda: (*wait(), self._observed_in(arrays, 0)[0])
        count = groups.reduce(_ADD, self._observations(arrays))
        return lambda: (*wait(), *count())

    def combine(self, states: Sequence[States]) -> States:
        if not self._counts:
            return folded(self.op, list(states))
        count = sum(s[-1] for s in states)
        return (*folded(self.op, [s[:-1] for s in states]), count)

    def merge(self, library: Library, states: States, groups: ReducibleGroups) -> States:
        if not self._counts:
            return merged(self.op, states, groups)
        return (*merged(self.op, states[:-1], groups), *merged(_ADD, states[-1:], groups))

    def last(self, columns: Sequence[Column], states: States) -> Any:
        """Array of the statistic of all rows of each group, given arrays of states."""
        library, count = library_of(columns[0]), states[-1]
        out = lowered(library, self.op, states[:-1] if self._counts else states)
        if self._counts:
            out = library.xp.where(count < self.min_periods, np.nan, out)
        return library.from_floats(out)

    def apply(self, columns: Sequence[Column], groups: Groups, prior: States | None) -> Any:
        arrays, count = read(columns, self.inputs), None
        if prior is not None and self._counts:
            prior, count = prior[:-1], prior[-1]
        library = library_of(columns[0])
        of_all = groups.is_one and self.at_nulls
        numbers = self._numbers(library, arrays, prior is None) if of_all else None
        state = None if prior is None else state_of(prior)
        out = groups.scan(self.op, state_of(arrays), carry_in=state)
        if not self.at_nulls:
            out[~observed(arrays, self.inputs)] = np.nan
        if self._counts and groups.is_one:
            _, few = self._observed_in(arrays, int(count or 0))
            out[:few] = np.nan
            known = of_all and self.enough is not None and self.enough <= self.min_periods
            return library.from_floats(out, slice(few, len(out)) if known else None)
        if self._counts:
            before = count if count is None or is_array(count) else np.int64(count)
            counted = groups.scan(_ADD, self._observations(arrays), carry_in=before)
            out[counted < self.min_periods] = np.nan
        return library.from_floats(out, None if numbers is None else numbers())

    def bound(self, column: Column) -> OfArray | None:
        self.planned([column])
        if self.inputs != VALUES or column.dtype.kind not in NUMBERS or not self.at_nulls:
            return None
        scan, counts = BoundScan(self.op, ScanOptions()).of_arrays(FLOAT64), self._counts

        def answer(array: np.ndarray) -> Any:
            values = array.astype(np.float64, copy=False)
            out = scan(values)
            if counts:
                _, few = self._observed_in((values,), 0)
                out[:few] = np.nan
            return out

        return answer

    def _numbers(
        self, library: Library, arrays: tuple[Any, ...], is_first: bool
    ) -> Callable[[], slice | None] | None:
        """Begin to look for the first row whose answer is a number, before the scan, and without waiting for it.

        The returned function returns None if the first rows do not decide. `is_first` says whether no rows come before.
        """
        enough, count = self.enough, len(arrays[0])
        layout = library.layout(FLOAT64)
        if enough is None or self._counts or layout is None or layout.nulls == "in band":
            return None
        if not enough or not count:
            return lambda: slice(0, count)
        heads = [library.fetch(array[:HEAD]) for array in arrays]

        def found() -> slice | None:
            rows = np.flatnonzero(observed(tuple([head() for head in heads]), self.inputs))
            start = int(rows[enough - 1]) if len(rows) >= enough else count
            return slice(start, count) if start == 0 or (is_first and start < count) else None

        return found

    def _observed_in(self, arrays: tuple[Any, ...], count: int) -> tuple[int, int]:
        """Return the number of observations, up to `min_periods`, and the number of rows before there are enough."""
        length, done, chunk = len(arrays[0]), 0, 64
        while count < self.min_periods and done < length:
            pieces = tuple([a[done : done + chunk] for a in arrays])
            valid = observed(pieces, self.inputs).nonzero()[0]
            needed = self.min_periods - count
            if len(valid) >= needed:
                return self.min_periods, done + int(valid[needed - 1])
            count += len(valid)
            done, chunk = done + chunk, 4 * chunk
        return count, 0 if count >= self.min_periods else length


@dataclass(frozen=True)
class ExpandingPick(PlannedOperation):
    """A statistic whose answer is one of the values so far, in groups or not.

    The states of integers and times are those of the operator that picks one, then the number of values.

    Parameters
    ----------
    name : str
        A key of `WINDOWS` whose row has an operator that picks.
    floats : ExpandingStatistic
        The operation on other columns.
    """

    name: str
    floats: ExpandingStatistic
    reverse = False
    needs = Needs.STATES

    @property
    def label(self) -> str:
        """For the names of tasks, and messages."""
        return self.floats.label

    @property
    def _op(self) -> Operator:
        op = WINDOWS[self.name].picks
        assert op is not None
        return op

    def dtype(self, columns: Sequence[Column]) -> Any:
        """Return the dtype of the answer."""
        return library_of(columns[0]).nullable(columns[0].dtype)

    def plan(self, columns: Sequence[Column]) -> ExpandingPick | ExpandingStatistic:
        # as integers, of which a float64 would hold only some
        picks = holds_integers(columns[0]) or holds_times(columns[0])
        return self if picks else self.floats

    def aggregate(self, columns: Sequence[Column], groups: ReducibleGroups) -> Callable[[], States]:
        """Begin to reduce each group."""
        view = view_of(columns[0])
        wait = groups.reduce(self._op, view.values, nulls=view.nulls)
        count = groups.reduce(_ADD, library_of(columns[0]).valid(columns[0]).astype(INT64))
        return lambda: (*wait(), *count())

    def combine(self, states: Sequence[States]) -> States:
        """States of neighbouring parts of one group, on the host, as one."""
        if _are_floats(states[0]):
            return self.floats.combine(states)
        return (*folded(self._op, [s[:-1] for s in states]), sum(s[-1] for s in states))

    def merge(self, library: Library, states: States, groups: ReducibleGroups) -> States:
        """Arrays of states; those of equal keys become one."""
        if _are_floats(states):
            return self.floats.merge(library, states, groups)
        picked = merged(self._op, states[:-1], groups)
        return (*picked, *merged(_ADD, states[-1:], groups))

    def last(self, columns: Sequence[Column], states: States) -> Any:
        """Array of the statistic of all rows of each group, given arrays of states."""
        (column,) = columns
        library, layout = library_of(column), library_of(column).layout(column.dtype)
        assert layout is not None
        array = layout.wrap(lowered(library, self._op, states[:-1]), None, column.dtype)
        return self._nulled(column, array, states[-1])

    def apply(self, columns: Sequence[Column], groups: Groups, prior: States | None) -> Any:
        """Array of the answers of rows, given the states of their groups before."""
        (column,) = columns
        library, view = library_of(column), view_of(column)
        state, count = (None, None) if prior is None else (state_of(prior[:-1]), prior[-1])
        values = groups.scan(self._op, view.values, nulls=view.nulls, carry_in=state)
        layout = library.layout(column.dtype)
        assert layout is not None
        array = layout.wrap(values, None, column.dtype)
        before = np.int64(count) if isinstance(count, int) else count
        counted = groups.scan(_ADD, library.valid(column).astype(INT64), carry_in=before)
        return self._nulled(column, array, counted)

    def _nulled(self, column: Column, array: Array, counted: Values) -> Any:
        with naming(self.label, [column]):
            return library_of(column).set_null(array, counted < max(self.floats.min_periods, 1))


def _are_floats(states: States) -> bool:
    return bool(states[0].dtype.kind == "f")
