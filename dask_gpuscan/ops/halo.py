"""The halo of a partition: the rows of its neighbours that its windows reach.

A partition hands on its last rows, or with `reverse` its first; two neighbours join theirs and cut them to as many
again, so that a window may be longer than any partition. Over groups, each has rows of its own.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Protocol

from .. import kernels
from ..frames.keys import By
from ..frames.protocol import Array, Column, Library, Values
from ..frames.registry import each, library_of
from .clock import Clock
from .groups import INT64


class Reach(Protocol):
    """How far windows reach."""

    @property
    def rows(self) -> int | None:
        """Over how many rows at most; None if values tell."""

    def to(self, reverse: bool) -> int:
        """How far back, or with `reverse` ahead; 0 if it does not."""

    def near(self, frame: Any, reverse: bool) -> tuple[int, int]:
        """Return which rows of a frame may be reached from behind it, or with `reverse` from before: from, to."""

    def near_in_groups(
        self, frame: Any, order: Values, starts: Values, stops: Values, reverse: bool
    ) -> Values:
        """Tell which rows may be reached; `order` has those of each group together, from `starts` to `stops`."""


@dataclass(frozen=True)
class RowReach:
    """Windows reach so many rows back and ahead, which are not negative."""

    before: int
    after: int = 0

    @property
    def rows(self) -> int:
        return self.before + self.after

    def to(self, reverse: bool) -> int:
        return self.after if reverse else self.before

    def near(self, frame: Any, reverse: bool) -> tuple[int, int]:
        count = len(frame)
        kept = min(self.to(reverse), count)
        return (0, kept) if reverse else (count - kept, count)

    def near_in_groups(
        self, frame: Any, order: Values, starts: Values, stops: Values, reverse: bool
    ) -> Values:
        numbers = library_of(frame).xp.arange(len(order), dtype=INT64)
        return numbers - starts < self.after if reverse else stops - numbers <= self.before


@dataclass(frozen=True)
class TimeReach:
    """Windows reach so far back and ahead, in the unit of the times."""

    clock: Clock
    before: int
    after: int = 0
    rows = None

    def to(self, reverse: bool) -> int:
        return self.after if reverse else self.before

    def near(self, frame: Any, reverse: bool) -> tuple[int, int]:
        times, count = self.clock.times(frame), len(frame)
        if not count:
            return 0, 0
        if reverse:
            end = min(int(times[0]) + self.after, 2**63 - 1)
            return 0, int(times.searchsorted(times.dtype.type(end), side="right"))
        begin = max(int(times[-1]) - self.before, -(2**63))
        return int(times.searchsorted(times.dtype.type(begin))), count

    def near_in_groups(
        self, frame: Any, order: Values, starts: Values, stops: Values, reverse: bool
    ) -> Values:
        times = self.clock.times(frame)[order]
        if reverse:
            return times - times[starts] <= self.after
        return times[stops - 1] - times <= self.before


@dataclass(frozen=True)
class Halo:
    """The rows next to a border of partitions.

    Parameters
    ----------
    reach : Reach
        Of windows.
    reverse : bool
        Whether they are the first rows of partitions behind, rather than the last of partitions before.
    by : By, optional
        Keys, if each group has rows of its own.
    """

    reach: Reach
    reverse: bool = False
    by: By | None = None

    def aggregate(self, partition: Any) -> Any:
        return self._cut(partition)

    def combine(self, aggregates: Sequence[Any]) -> Any:
        filled = [a for a in aggregates if len(a)] or list(aggregates[:1])
        if len(filled) == 1:
            return filled[0]
        return self._cut(joined_rows(filled[::-1] if self.reverse else filled))

    def _cut(self, frame: Any) -> Any:
        library = library_of(frame)
        with library.reading(frame):
            # positions rather than a slice: it must not keep the partition in memory
            return library.rows(frame, self.positions(library, frame))

    def positions(self, library: Library, frame: Any) -> Values:
        """Return where these rows are in a partition."""
        if self.by is None:
            return library.xp.arange(*self.reach.near(frame, self.reverse), dtype=INT64)
        keys = [library.array(c) for c in self.by.series(frame)]
        order, starts, stops = together(library, keys)
        near = self.reach.near_in_groups(frame, order, starts, stops, self.reverse)
        return kernels.sort(order[near])


def together(library: Library, keys: list[Array]) -> tuple[Values, Values, Values]:
    """Return an order that has rows of equal keys together; and in it, a row, the first of its group and the end."""
    codes, _ = library.dense_codes(keys)
    (ordered,), (order,) = kernels.sort_pairs(codes, [], positions=True)
    return (order, *run_bounds([ordered]))


def run_bounds(keys: Sequence[Values], nulls: Any = None) -> tuple[Values, Values]:
    """Return, a row, the first row of its run of equal keys and the row behind the last."""
    starts, lengths = kernels.run_length_encode(list(keys), nulls=nulls)
    decoded = kernels.run_length_decode(lengths, [starts, starts + lengths])
    return decoded[0], decoded[1]


def joined_columns(library: Library, columns: Sequence[Column]) -> Column:
    """Return the rows of several columns as one."""
    if len(columns) == 1:
        return columns[0]
    return library.as_column(library.concatenate([library.array(c) for c in columns]))


def joined_rows(frames: Sequence[Any]) -> Any:
    """Return the rows of frames, or of series, as one."""
    library = library_of(frames[0])
    columns = zip(*(map(library.array, each(frame)) for frame in frames), strict=True)
    names = library.index_names(frames[0])
    levels = [
        library.concatenate([library.array(library.index_level(f, i)) for f in frames])
        for i in range(len(names))
    ]
    index = library.key_index(levels, names)
    return library.rebuild(frames[0], [library.concatenate(list(c)) for c in columns], index)
