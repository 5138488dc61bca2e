"""Gaps between the times of neighbouring rows, counted within groups: the scan under session numbers.

One scan of pairs of neighbours counts the gaps, restarts at the first rows of groups and finds out whether times
decrease. Times are plain numbers here, and so is the gap. This module must never know what a session is, nor which
partition it works on.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Sequence
from functools import lru_cache
from typing import Any

import numpy as np

from ... import kernels
from ...frames.keys import any_null
from ...frames.protocol import Library
from ...frames.registry import library_of, stored_numbers
from ...frames.types import Column, Scalar, Values
from ...kernels import Operator
from ...kernels.late_dataclass import dataclass
from ...kernels.operators.operator import Element, State
from ..core.carry import DataFrameCarry, Partition
from ..core.columnwise import one_table
from ..core.groups import (
    INT64,
    AdjacentGroups,
    Groups,
    OneGroup,
    ReducibleGroups,
    States,
)
from ..core.operation import Needs
from ..core.sorted_groups import SortedGroups
from .time_column import time_in, times_of

NUMBER = "session"
"""Name of the session numbers."""

_HEAD, _LATE, _GAP = 1, 2, 4
"""Parts of a state, which is an integer: whether the first row of a group was met, whether a time was earlier than the
one before it, and the number of gaps since the last head."""
_MET = _HEAD | _LATE


@lru_cache(maxsize=64, typed=True)  # a gap of 1 is not one of 1.0
def _counter(gap: np.uint64 | np.float64, of_groups: bool) -> Operator:
    """Return the operator on a time and the next whose answer is the number of gaps so far.

    For groups, it takes head flags first.
    """
    wide = _wide if isinstance(gap, np.floating) else _wide_whole

    def lift(before: Element, after: Element) -> Any:
        return (_LATE if after < before else 0) | (_GAP if wide(before, after, gap) else 0)

    def lift_of_groups(head: Element, before: Element, after: Element) -> Any:
        return _HEAD if head else lift(before, after)

    chosen = lift_of_groups if of_groups else lift
    return Operator(_counted, 0, chosen, _number, name="gaps", inputs=2 + of_groups)


def _wide_whole(before: Element, after: Element, gap: Element) -> Any:
    return np.uint64(after - before) > gap  # 64 unsigned bits hold any difference


def _wide(before: Element, after: Element, gap: Element) -> Any:
    return after - before > gap


def _counted(a: State, b: State) -> Any:
    return (a & _MET) | (b if b & _HEAD else (a & ~_MET) + b)


def _number(state: State) -> Any:
    return state >> 2


@dataclass(frozen=True)
class CountGaps:
    """The number of gaps before each row within its group: differences of times that are larger than `gap`.

    Its columns are the times, and then the keys, which show the rows in no group.
    """

    time: Hashable
    """Name of the times' column, for messages."""
    gap: int | float

    label = "sessionize"
    reverse = False
    needs = Needs.NEIGHBOURS

    def dtype(self, columns: Sequence[Column]) -> Any:
        return INT64

    def aggregate(self, columns: Sequence[Column], groups: ReducibleGroups) -> Callable[[], States]:
        times = _times(columns[0])
        if isinstance(groups, AdjacentGroups):
            first, last = groups.borders(len(times))
            numbers, _ = self._scan(times, groups.keys.head_flags())
            return lambda: (times[first], times[last], numbers[last])
        if not len(times):
            return lambda: (None, None, 0)
        numbers, _ = self._scan(times, None)
        return lambda: (times[0].item(), times[-1].item(), numbers[-1].item())

    def combine(self, states: Sequence[States]) -> States:
        found: States = (None, None, 0)
        for begin, end, gaps in states:
            if begin is None:
                continue
            first, last, so_far = found
            if first is None:
                found = begin, end, gaps
            else:
                found = first, end, so_far + gaps + self._is_wide(last, begin)
        return found

    def merge(self, library: Library, states: States, groups: ReducibleGroups) -> States:
        assert isinstance(groups, AdjacentGroups)
        begins, ends, gaps = states
        first, last = groups.borders(len(gaps))
        numbers = self._join(begins, ends, gaps, groups.keys.head_flags())
        return begins[first], ends[last], numbers[last]

    def apply(self, columns: Sequence[Column], groups: Groups, prior: States | None) -> Any:
        """Number the rows of a partition.

        Raises
        ------
        ValueError
            For times that are null, or that decrease within a group: in this partition, or from those before to it.
        """
        times = self._checked_times(columns)
        if isinstance(groups, SortedGroups):
            return self._apply_after(columns, times, groups, prior)
        before, heads = 0, None
        if isinstance(groups, AdjacentGroups):
            heads = groups.keys.head_flags()
            heads[:1] &= not groups.continues
        if prior is not None and prior[0] is not None and len(times):
            first = times[0].item()
            before = prior[2] + self._is_wide(prior[1], first)
            if first < prior[1]:
                self._refuse(columns, np.zeros_like(times[:1], INT64))
        out, met = self._scan(times, heads, before)
        if met & _LATE:
            self._refuse(columns, 1 + np.flatnonzero(_late(times, times, heads)))
        return library_of(columns[0]).from_integers(out)

    def _apply_after(
        self, columns: Sequence[Column], times: Values, groups: SortedGroups, prior: States | None
    ) -> Any:
        """Number the rows of a partition, after those of their groups that came before."""
        assert prior is not None
        begins, ends = (groups.arranged(each, times) for each in prior[:2])
        gaps = groups.arranged(prior[2], np.zeros_like(times, INT64))
        heads = groups.keys.head_flags()
        late = _late(ends, begins, heads)
        if late.any():
            self._refuse(columns, groups.order[1 + np.flatnonzero(late)] - groups.before)
        out = groups.returned(self._join(begins, ends, gaps, heads))
        return library_of(columns[0]).from_integers(out)

    def last(self, columns: Sequence[Column], states: States) -> Any:
        """Array of the number of the last session of each group, given arrays of states."""
        return library_of(columns[0]).from_integers(states[2])

    def _checked_times(self, columns: Sequence[Column]) -> Any:
        if library_of(columns[0]).missing(columns[0]) is not None:
            raise ValueError(f"time: column {self.time!r} has nulls; drop them first")
        return _times(columns[0])

    def _is_wide(self, before: Scalar, after: Scalar) -> bool:
        return bool(after - before > self.gap)

    def _gap_for(self, times: Values) -> np.uint64 | np.float64:
        return np.float64(self.gap) if times.dtype.kind == "f" else np.uint64(self.gap)

    def _scan(self, times: Values, heads: Values, before: int = 0) -> tuple[Any, int]:
        """Return the number of gaps before each row since the last head, from `before` on, and the flags met."""
        previous = np.empty_like(times)
        previous[:1], previous[1:] = times[:1], times[:-1]
        pairs = (previous, times) if heads is None else (heads, previous, times)
        counter = _counter(self._gap_for(times), heads is not None)
        out, met = kernels.scan(counter, pairs, carry_in=_GAP * before)
        return out, int(met)

    def _join(self, begins: Values, ends: Values, gaps: Values, heads: Values) -> Any:
        """Count the gaps within and between stretches of rows, from each head on.

        Methods of arrays do it: there are few stretches, and no kernel is compiled for them.
        """
        apart = begins[1:] - ends[:-1]
        apart = apart if apart.dtype.kind == "f" else apart.view(np.uint64)
        gaps = gaps.astype(INT64)
        gaps[1:] += (apart > self._gap_for(begins)) & ~heads[1:]
        so_far = gaps.cumsum()
        return so_far - (so_far - gaps)[heads][heads.cumsum() - 1]

    def _refuse(self, columns: Sequence[Column], rows: Values) -> None:
        """Raise an error if any of these rows, which are earlier than the ones before, belongs to a group."""
        null = any_null(library_of(columns[0]), columns[1:])
        late = rows if null is None else rows[~null[rows]]
        if len(late):
            time = time_in(columns[0], stored_numbers(columns[0])[late[0]].item())
            raise ValueError(
                f"time: column {self.time!r} must not decrease (within each key of by), and {time} comes after a "
                f"later one; sort by it first"
            )


def last_times(states: States) -> Any:
    """Return the time of the last row of each group."""
    return states[1]


def _late(ends: Values, begins: Values, heads: Values) -> Any:
    """Return which rows, from the second on, begin before the end of the one before in the same group."""
    late = begins[1:] < ends[:-1]
    return late if heads is None else late & ~heads[1:]


def _times(column: Column) -> Any:
    """Times as integers or floats of 64 bits."""
    values = stored_numbers(column)
    kind = values.dtype.kind
    return values.astype(f"{kind if kind in 'fu' else 'i'}8", copy=False)


# --- without keys ------------------------------------------------------------------------------------


@dataclass(frozen=True)
class SessionNumbers(DataFrameCarry):
    """The session number of each row of a series of times."""

    gaps: CountGaps
    label = "sessionize"
    keeps_index = True

    def check(self, times: Partition) -> None:
        pass

    def meta(self, times: Partition) -> Any:
        return self.apply(times, None)

    def aggregate(self, partition: Partition) -> States:
        with library_of(partition).acquire(partition):
            return self.gaps.aggregate([partition], OneGroup())()

    def combine(self, aggregates: Sequence[States]) -> States:
        return self.gaps.combine(aggregates)

    def apply(self, partition: Partition, prefix: States | None) -> Any:
        library = library_of(partition)
        with library.acquire(partition):
            array = self.gaps.apply([partition], OneGroup(), prefix)
            return library.series(array, library_of(partition).index(partition), NUMBER)

    def last(self, frame: Partition, seen: States) -> Any:
        _, time, number = seen
        if time is None:
            return None
        library = library_of(frame)
        number = library.from_integers(library.xp.asarray([number], INT64))
        found = times_of(frame, library.xp.asarray([time]))
        return one_table(library, [NUMBER, self.gaps.time], [number, found])
