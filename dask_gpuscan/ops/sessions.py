"""Gaps between the times of neighbouring rows, counted within groups: the scan under session numbers.

Rows before which there is a gap are marked by a predicate of neighbours, and marks are counted by one scan. Times are
plain numbers here, and so is the gap. This module must never know what a session is, nor which partition it works on.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from .. import kernels
from ..frames.keys import any_null
from ..frames.protocol import Library
from ..frames.registry import library_of, stored_numbers
from ..kernels import BUILT_IN, Nulls, Predicate, byte_mask, segmented
from ..kernels.selection import counter_of
from .groups import INT64, AdjacentGroups, Groups, OneGroup, ReducibleGroups, SortedGroups, States

NUMBER = "session"
"""Name of the session numbers."""

_ADD = BUILT_IN["add"]
_ADD_IN_GROUPS = segmented(_ADD)


def _whole(before: Any, after: Any, gap: Any) -> Any:
    return np.uint64(after - before) > gap  # which any difference fits into


def _real(before: Any, after: Any, gap: Any) -> Any:
    return after - before > gap


_WIDE = {"i": counter_of(_whole), "u": counter_of(_whole), "f": counter_of(_real)}
"""Whether there is a gap between two times, by the kind of their dtype."""


@dataclass(frozen=True)
class CountGaps:
    """The number of gaps before each row within its group: differences of times that are larger than `gap`.

    Its columns are the times and then the keys, which tell which rows belong to no group.
    """

    time: Hashable
    """Name of the times' column, for messages."""
    gap: int | float

    label = "sessionize"
    reverse = False
    needs_neighbours = True

    def dtype(self, columns: Sequence[Any]) -> Any:
        return INT64

    def aggregate(self, columns: Sequence[Any], groups: ReducibleGroups) -> Callable[[], States]:
        times = _times(columns[0])
        if isinstance(groups, AdjacentGroups):
            heads = groups.keys.head_flags()
            found = _reduced(times, times, self._gaps(times, times, heads), groups, heads)
            return lambda: found
        if not len(times):
            return lambda: (None, None, 0)
        gaps = int(np.count_nonzero(self._gaps(times, times, None)))
        return lambda: (times[0].item(), times[-1].item(), gaps)

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
        heads = groups.keys.head_flags()
        return _reduced(begins, ends, gaps + self._gaps(ends, begins, heads), groups, heads)

    def apply(self, columns: Sequence[Any], groups: Groups, prior: States | None) -> Any:
        """Number the rows of a partition.

        Raises
        ------
        ValueError
            For times that are null, or that decrease within a group: in this partition, or from those before to it.
        """
        times = self._checked_times(columns)
        if isinstance(groups, SortedGroups):
            return self._apply_after(columns, times, groups, prior)
        heads: Any = groups.keys.head_flags() if isinstance(groups, AdjacentGroups) else None
        self._check_order(columns, times, times, heads, lambda rows: rows)
        before = 0
        if prior is not None and prior[0] is not None and len(times):
            first = times[0].item()
            before = prior[2] + self._is_wide(prior[1], first)
            if first < prior[1]:
                self._refuse(columns, slice(0, 1))
        flags = self._gaps(times, times, heads)
        if isinstance(groups, AdjacentGroups):
            heads[:1] &= not groups.continues
            out = _numbers(flags, heads, before)
        else:
            out = groups.scan(_ADD, flags, carry_in=np.int64(before), dtype=INT64)
        return library_of(columns[0]).from_integers(out)

    def _apply_after(
        self, columns: Sequence[Any], times: Any, groups: SortedGroups, prior: States | None
    ) -> Any:
        """Number the rows of a partition, after those of their groups that came before."""
        assert prior is not None
        begins, ends = (groups.arranged(each, times) for each in prior[:2])
        gaps, heads = (
            groups.arranged(prior[2], np.zeros_like(times, INT64)),
            groups.keys.head_flags(),
        )
        self._check_order(
            columns, ends, begins, heads, lambda rows: groups.order[rows] - groups.before
        )
        gaps += self._gaps(ends, begins, heads)
        out = groups.returned(_numbers(gaps, heads))
        return library_of(columns[0]).from_integers(out)

    def _checked_times(self, columns: Sequence[Any]) -> Any:
        if library_of(columns[0]).missing(columns[0]) is not None:
            raise ValueError(f"time: column {self.time!r} has nulls; drop them first")
        return _times(columns[0])

    def _is_wide(self, before: Any, after: Any) -> bool:
        return bool(after - before > self.gap)

    def _gaps(self, ends: Any, begins: Any, heads: Any) -> Any:
        """Tell which begin later than the gap after the end of the one before; the first in a group does not."""
        kind = ends.dtype.kind
        gap = np.float64(self.gap) if kind == "f" else np.uint64(self.gap)
        nulls = [_nulls_at_heads(heads), None, None]
        wide = Predicate(_WIDE[kind], [ends[:-1], begins[1:], gap], nulls)
        flags = np.empty_like(ends, np.bool_)
        flags[:1] = False
        kernels.flags(wide, out=flags[1:])
        return flags

    def _check_order(
        self,
        columns: Sequence[Any],
        ends: Any,
        begins: Any,
        heads: Any,
        rows_of: Callable[[Any], Any],
    ) -> None:
        """Raise if any begins before the end of the one before in its group; `rows_of` tells which rows they are."""
        before, after = ends[:-1], begins[1:]
        if heads is None and ends is begins and kernels.is_sorted(ends):
            return
        is_late = after < before  # by the arrays' library: one kernel less to compile
        if heads is not None:
            is_late &= ~heads[1:]
        if is_late.any():
            self._refuse(columns, rows_of(np.flatnonzero(is_late) + 1))

    def _refuse(self, columns: Sequence[Any], rows: Any) -> None:
        """Raise if any of the rows, which are earlier than those before them, belongs to a group."""
        null = any_null(columns[1:])
        if null is None or not bool(null[rows].all()):
            raise ValueError(
                f"time: column {self.time!r} must not decrease (within each key of by); sort by it first"
            )


def _nulls_at_heads(heads: Any) -> Nulls:
    """Of pairs of neighbours, those whose second starts a group are null."""
    return None if heads is None else byte_mask(heads[1:])


def _times(column: Any) -> Any:
    """Times as integers or floats of 64 bits."""
    values = stored_numbers(column)
    kind = values.dtype.kind
    return values.astype(f"{kind if kind in 'fu' else 'i'}8", copy=False)


def _reduced(begins: Any, ends: Any, gaps: Any, groups: AdjacentGroups, heads: Any) -> States:
    """The first begin, the last end and the sum of the gaps of each group, which start at heads."""
    first, last = groups.borders(len(gaps))
    return begins[first], ends[last], _numbers(gaps, heads)[last]


def _numbers(gaps: Any, heads: Any, before: int = 0) -> Any:
    """The sums of gaps so far, from each head on; `before` of the rows before the first head.

    Kernels of runs of keys take longer to compile, and so do two kernels, of flags and of sums.
    """
    out, _ = kernels.scan(
        _ADD_IN_GROUPS,
        (heads, gaps.astype(INT64, copy=False)),
        carry_in=(np.False_, np.int64(before)),
        carry_out=False,
    )
    return out


# --- without keys ------------------------------------------------------------------------------------


@dataclass(frozen=True)
class SessionNumbers:
    """The session number of each row of a series of times."""

    gaps: CountGaps
    label = "sessionize"
    columnwise = reverse = False
    keeps_index = True

    def check(self, times: Any) -> None:
        pass

    def meta(self, times: Any) -> Any:
        return self.apply(times, None)

    def aggregate(self, partition: Any) -> States:
        with library_of(partition).reading(partition):
            return self.gaps.aggregate([partition], OneGroup())()

    def combine(self, aggregates: Sequence[States]) -> States:
        return self.gaps.combine(aggregates)

    def apply(self, partition: Any, prefix: States | None) -> Any:
        library = library_of(partition)
        with library.reading(partition):
            array = self.gaps.apply([partition], OneGroup(), prefix)
            return library.series(array, library_of(partition).index(partition), NUMBER)
