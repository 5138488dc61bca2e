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
from ..frames.columns import counts, layout_of
from ..frames.keys import Keys, any_null
from ..frames.protocol import Library
from ..frames.registry import library_of
from ..kernels import BUILT_IN, Nulls, Operator, Predicate, byte_mask
from ..kernels.marks import counter_of
from .group_scan import scan_groups
from .reduction_table import States
from .runs import INT64

NUMBER = "session"
"""Name of the session numbers."""

_ADD = BUILT_IN["add"]

State = tuple[Any, Any, int] | None
"""First time, last time and gaps of the rows of one group, on the host; None of no rows."""


def _whole(before: Any, after: Any, gap: Any) -> Any:
    return np.uint64(after - before) > gap  # which any difference fits into


def _real(before: Any, after: Any, gap: Any) -> Any:
    return after - before > gap


_WIDE = {"i": counter_of(_whole), "u": counter_of(_whole), "f": counter_of(_real)}
"""Whether there is a gap between two times, by the kind of their dtype."""

_LATE = Operator(
    lambda a, b: a or b, False, lambda before, after: after < before, name="late", inputs=2
)
"""Whether any time is earlier than the one before it."""


@dataclass(frozen=True)
class CountGaps:
    """The number of gaps before each row within its group: differences of times that are larger than `gap`.

    Its columns are the times and then the keys, which tell which rows belong to no group.
    """

    time: Hashable
    """Name of the times' column, for messages."""
    gap: int | float

    def dtype(self, columns: Sequence[Any]) -> Any:
        """Dtype of the answer."""
        return INT64

    def state(self, columns: Sequence[Any]) -> State:
        """Return what is known of the rows of one group."""
        times = _times(columns[0])
        if not len(times):
            return None
        gaps = int(np.count_nonzero(self._gaps(times, times, None)))
        return times[0].item(), times[-1].item(), gaps

    def join(self, states: Sequence[State]) -> State:
        """Return what is known of neighbouring parts of one group."""
        found = None
        for state in states:
            if found is None or state is None:
                found = found or state
            else:
                gaps = found[2] + state[2] + self._is_wide(found[1], state[0])
                found = found[0], state[1], gaps
        return found

    def apply(
        self, columns: Sequence[Any], keys: Keys | None, carried: State, continues: bool
    ) -> Any:
        """Number the rows of a partition; without keys they are one group.

        Raises
        ------
        ValueError
            For times that are null, or that decrease within a group: in this partition, or from those before to it.
        """
        times, before, heads = (
            self._checked_times(columns),
            0,
            None if keys is None else keys.heads(),
        )
        self._check_order(columns, times, times, heads, lambda rows: rows)
        if continues and carried is not None and len(times):
            first = times[0].item()
            before = carried[2] + self._is_wide(carried[1], first)
            if first < carried[1]:
                self._refuse(columns, slice(0, 1))
        flags = self._gaps(times, times, heads)
        carry_in = np.int64(before)
        if keys is None:
            out, _ = kernels.scan(_ADD, flags, carry_in=carry_in, dtype=INT64, carry_out=False)
        else:
            out = scan_groups(
                _ADD,
                keys.arrays,
                flags,
                key_nulls=keys.nulls,
                carry_in=carry_in if continues else None,
                continues=continues,
                dtype=INT64,
            )
        return counts(library_of(columns[0]), out)

    def runs(self, columns: Sequence[Any], keys: Keys, starts: bool) -> tuple[Any, States]:
        """Return the first time, the last time and the gaps of each group."""
        times = _times(columns[0])
        return _reduced(times, times, self._gaps(times, times, keys.heads()), keys)

    def merge(self, library: Library, states: States, keys: Keys) -> States:
        """Return the same of equal keys, given in the order of their rows."""
        begins, ends, gaps = states
        return _reduced(begins, ends, gaps + self._gaps(ends, begins, keys.heads()), keys)[1]

    def apply_after(
        self, columns: Sequence[Any], prior: States, order: Any, back: Any, keys: Keys
    ) -> Any:
        """Number the rows of a partition, after those of their groups that came before."""
        times, library = self._checked_times(columns), library_of(columns[0])
        join = library.numbers.concatenate
        begins, ends = (join([each, times])[order] for each in prior[:2])
        gaps, heads = join([prior[2], np.zeros_like(times, INT64)])[order], keys.heads()
        known = len(prior[0])
        self._check_order(columns, ends, begins, heads, lambda rows: order[rows] - known)
        gaps += self._gaps(ends, begins, heads)
        return counts(library, scan_groups(_ADD, keys.arrays, gaps)[back])

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
        if kernels.reduce(_LATE, (before, after), nulls=_nulls_at_heads(heads)):
            is_late = after < before if heads is None else (after < before) & ~heads[1:]
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
    library = library_of(column)
    layout = layout_of(library, column.dtype)
    assert layout is not None
    values = layout.raw(library.array(column)).values
    kind = values.dtype.kind
    return values.astype(f"{kind if kind in 'fu' else 'i'}8", copy=False)


def _reduced(begins: Any, ends: Any, gaps: Any, keys: Keys) -> tuple[Any, States]:
    """Where each group starts, and its first begin, its last end and the sum of its gaps."""
    options: dict[str, Any] = {"key_nulls": keys.nulls, "dtype": INT64}
    first, total = kernels.reduce_by_key(_ADD, keys.arrays, gaps, **options)
    last = np.empty_like(first)
    last[:-1] = first[1:] - 1
    last[-1:] = len(gaps) - 1
    return first, (begins[first], ends[last], total)


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

    def aggregate(self, partition: Any) -> State:
        with library_of(partition).reading(partition):
            return self.gaps.state([partition])

    def combine(self, aggregates: Sequence[State]) -> State:
        return self.gaps.join(aggregates)

    def apply(self, partition: Any, prefix: State) -> Any:
        library = library_of(partition)
        with library.reading(partition):
            array = self.gaps.apply([partition], None, prefix, prefix is not None)
            return library.series(array, partition.index, NUMBER)
