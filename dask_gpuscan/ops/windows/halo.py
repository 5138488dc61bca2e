"""The halo of a partition: the rows of its neighbours that its windows reach.

A partition hands on its last rows, or with `reverse` its first; two neighbours join theirs and cut them to as many
again, so that a window may be longer than any partition. With groups, each group has rows of its own.
"""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from dataclasses import replace
from typing import Any, Protocol

import numpy as np

from ... import kernels
from ...frames.keys import key_arrays
from ...frames.protocol import Library
from ...frames.registry import columns_of, library_of
from ...frames.types import Array, Column, Frame, GroupIds, Values
from ...kernels import BUILT_IN
from ...kernels.late_dataclass import dataclass
from ..core.carry import Summary
from ..core.columnwise import one_table
from ..core.groups import INT64, Groups
from ..groupby.hashed import NumberedRows
from ..time.time_column import TimeColumn, times_of

SMALL = 1024
"""Rows up to which halos are sent like other aggregates, all those of a window to each worker that has part of it."""

_ADD = BUILT_IN["add"]


class WindowExtent(Protocol):
    """How far windows reach."""

    @property
    def rows(self) -> int | None:
        """The most rows that windows reach; None if that depends on values."""

    @property
    def time_column(self) -> TimeColumn | None:
        """Where the times are, if it is measured in time; None if rows are counted."""

    def looks(self, reverse: bool) -> bool:
        """Return whether it reaches any rows back, or with `reverse` ahead."""

    def to(self, reverse: bool) -> int:
        """How far back, or with `reverse` ahead."""

    def near(self, count: int, times: Values | None, reverse: bool) -> tuple[int, int]:
        """Return the range of `count` rows that may be reached from behind them, or with `reverse` from before."""

    def settled(self, count: int, times: Values | None) -> int:
        """Return how many of the first of `count` rows reach no row behind all of these."""

    def near_in_groups(
        self, groups: Groups, ones: Values, times: Values | None, reverse: bool
    ) -> Values:
        """Return which rows windows may reach within their groups; the first row is next to the border.

        Parameters
        ----------
        groups : Groups
        ones : array of bool
            True for each row.
        times : array of int64, optional
        reverse : bool
        """


@dataclass(frozen=True)
class RowExtent:
    """Windows reach a number of rows back and ahead, not negative."""

    before: int
    after: int = 0
    time_column = None

    @property
    def rows(self) -> int:
        return self.before + self.after

    def looks(self, reverse: bool) -> bool:
        return self.to(reverse) > 0

    def to(self, reverse: bool) -> int:
        return self.after if reverse else self.before

    def near(self, count: int, times: Values | None, reverse: bool) -> tuple[int, int]:
        kept = min(self.to(reverse), count)
        return (0, kept) if reverse else (count - kept, count)

    def settled(self, count: int, times: Values | None) -> int:
        return max(count - self.after, 0)

    def near_in_groups(
        self, groups: Groups, ones: Values, times: Values | None, reverse: bool
    ) -> Values:
        numbers: Values = groups.scan(_ADD, ones, dtype=INT64)
        return numbers <= self.to(reverse)


@dataclass(frozen=True)
class TimeExtent:
    """Windows reach a duration back and ahead, in the unit of the times: rows of the same time are 0 away.

    If `after` is None, windows end with their rows.
    """

    time_column: TimeColumn
    before: int
    after: int | None = None
    rows = None

    def looks(self, reverse: bool) -> bool:
        return self.after is not None or not reverse

    def to(self, reverse: bool) -> int:
        return (self.after or 0) if reverse else self.before

    def near(self, count: int, times: Values | None, reverse: bool) -> tuple[int, int]:
        if not count:
            return 0, 0
        assert times is not None
        if reverse:
            end = min(int(times[0]) + self.to(reverse), 2**63 - 1)
            return 0, int(times.searchsorted(end, side="right"))
        begin = max(int(times[-1]) - self.before, -(2**63))
        return int(times.searchsorted(begin)), count

    def settled(self, count: int, times: Values | None) -> int:
        if not count:
            return 0
        assert times is not None
        return int(times.searchsorted(max(int(times[-1]) - self.to(True), -(2**63))))

    def near_in_groups(
        self, groups: Groups, ones: Values, times: Values | None, reverse: bool
    ) -> Values:
        assert times is not None
        edges: Values = groups.scan(BUILT_IN["minimum" if reverse else "maximum"], times)
        return abs(edges - times) <= self.to(reverse)


@dataclass(frozen=True)
class RowArrays:
    """Rows of partitions in their order, as arrays of columns."""

    library: Library
    count: int
    columns: list[Array]
    keys: list[Array] | None = None
    """Arrays that identify groups; None if there are none."""
    times: Values | None = None
    clustered: bool = False
    """Whether equal keys are adjacent, so that only one group continues over a border."""
    packed: bool = False
    """Whether columns and keys are in the form in which they are sent to other workers."""
    whole: bool = False
    """Whether the one group ends here, so that no row beyond is reached, even one with the same key."""

    @property
    def fits(self) -> bool:
        """Whether times are numbers, as they may not be in a file."""
        return self.times is None or self.times.dtype.kind in "iuf"

    def __sizeof__(self) -> int:  # which Dask asks for
        arrays = [*self.columns, *(self.keys or []), *([] if self.times is None else [self.times])]
        return sum(int(getattr(array, "nbytes", 8 * self.count)) for array in arrays)

    def __getstate__(self) -> dict[str, Any]:
        return vars(self.pack())

    def pack(self) -> RowArrays:
        """Return these rows in the form in which they are sent to other workers: a GPU's on the host, if possible."""
        return self if self.packed else self._each(self.library.packed, packed=True)

    def unpack(self) -> RowArrays:
        """Return these rows as operations take them."""
        return self._each(self.library.unpacked, packed=False) if self.packed else self

    def _each(self, change: Any, packed: bool) -> RowArrays:
        keys = None if self.keys is None else list(map(change, self.keys))
        return replace(self, columns=list(map(change, self.columns)), keys=keys, packed=packed)

    def frame(self, names: Sequence[Hashable], times: Column | None = None) -> Any:
        """Return these rows as a frame: their keys, their columns and, as those of a column of times, their times."""
        rows = self.unpack()
        arrays = [*(rows.keys or []), *rows.columns]
        if times is not None and rows.times is not None and len(arrays) < len(names):
            arrays.append(times_of(times, rows.times))
        return one_table(rows.library, names, arrays)

    def arrays(self) -> list[Any]:
        """Return the columns and the times."""
        return [*self.columns, *([] if self.times is None else [self.times])]

    def of(self, keys: list[Array], arrays: list[Array], count: int) -> RowArrays:
        """Return other rows, given their keys, and their columns and times."""
        columns = arrays[: len(self.columns)]
        times = None if self.times is None else arrays[-1]
        return replace(self, count=count, columns=columns, keys=keys, times=times)

    def take(self, rows: Values | tuple[int, int]) -> RowArrays:
        """Return the rows at some positions, or from one to another, in memory of their own."""
        library = self.library
        if isinstance(rows, tuple):
            start, stop = rows
            count, times = stop - start, self.times

            def some(array: Array) -> Array:
                return library.copy(library.slice_array(array, start, stop))

            times = None if times is None else times[start:stop].copy()
        else:
            count, times = len(rows), None if self.times is None else self.times[rows]

            def some(array: Array) -> Array:
                return library.take(array, rows)

        columns = [some(array) for array in self.columns]
        keys = None if self.keys is None else [some(array) for array in self.keys]
        return RowArrays(library, count, columns, keys, times, self.clustered)


def joined(parts: Sequence[RowArrays]) -> RowArrays:
    """Return the rows of several, in order."""
    filled = [part.unpack() for part in [part for part in parts if part.count] or parts[:1]]
    if len(filled) == 1:
        return filled[0]
    library, first = filled[0].library, filled[0]

    def join(arrays: Sequence[list[Array]]) -> list[Array]:
        return [library.concatenate(list(same)) for same in zip(*arrays, strict=True)]

    return RowArrays(
        library,
        sum(part.count for part in filled),
        join([part.columns for part in filled]),
        None if first.keys is None else join([part.keys or [] for part in filled]),
        None if first.times is None else library.xp.concatenate([part.times for part in filled]),
        first.clustered,
    )


def near(rows: RowArrays, extent: WindowExtent, reverse: bool) -> tuple[int, int] | Values:
    """Return the rows that may be reached over a border of partitions: as a range, or in groups as positions."""
    if rows.keys is None or rows.clustered:
        found = extent.near(rows.count, rows.times, reverse)
        return found if rows.keys is None else _open_group(rows, *found, reverse)
    library, xp, step = rows.library, rows.library.xp, 1 if reverse else -1
    ids = library.dense_group_ids(rows.keys)
    codes = xp.ascontiguousarray(ids.array[::step])
    times = None if rows.times is None else xp.ascontiguousarray(rows.times[::step])
    groups = NumberedRows(library, GroupIds(codes, ids.groups)).scannable()
    ones = xp.ones(rows.count, np.bool_)
    return xp.flatnonzero(extent.near_in_groups(groups, ones, times, reverse)[::step])


def _open_group(rows: RowArrays, start: int, stop: int, reverse: bool) -> tuple[int, int]:
    """Return the range of some rows that are in the group of the last one, or with `reverse` of the first."""
    library = rows.library
    keys = [library.as_column(library.slice_array(k, start, stop)) for k in rows.keys or []]
    found = key_arrays(library, keys)
    firsts, _ = kernels.run_length_encode(found.arrays, nulls=found.nulls)
    if len(firsts) < 2:
        return start, stop
    return (start, start + int(firsts[1])) if reverse else (start + int(firsts[-1]), stop)


class Reaching(Protocol):
    """A carry whose operations reach over borders."""

    @property
    def extent(self) -> WindowExtent: ...
    @property
    def clustered(self) -> bool:
        """Whether the rows of a group are adjacent, as they are if all rows are one group."""

    def rows_of(self, partition: Frame) -> RowArrays:
        """Return the rows of a partition, not copied."""


@dataclass(frozen=True)
class Halo(Summary):
    """The rows next to a border of partitions.

    Parameters
    ----------
    carry : Reaching
    reverse : bool
        Whether they are the first rows of partitions behind, rather than the last of partitions before.
    """

    carry: Reaching
    reverse: bool = False

    @property
    def window(self) -> int | None:
        """How many partitions look back at the same halos, if these may be large: few partitions hold all needed rows.

        Halos of one group are small if windows have few rows.
        """
        rows = self.carry.extent.rows
        return None if self.carry.clustered and rows is not None and rows <= SMALL else 4

    def aggregate(self, partition: Frame) -> RowArrays:
        with library_of(partition).acquire(partition):
            return self.cut(self.carry.rows_of(partition))

    def combine(self, aggregates: Sequence[RowArrays]) -> RowArrays:
        extent, nearest, count = self.carry.extent, list(aggregates[::-1]), 0
        anywhere = aggregates[0].keys is not None and not aggregates[0].clustered
        enough = extent.to(self.reverse) if extent.rows is not None and not anywhere else None
        for i, part in enumerate(nearest):  # the nearest are enough
            count += part.count
            if part.whole or (enough is not None and count >= enough):
                nearest = nearest[: i + 1]
                break
        if len(nearest) == 1:
            return nearest[0]
        rows = joined(nearest if self.reverse else nearest[::-1])
        return self.cut(rows, nearest[-1].whole)

    def cut(self, rows: RowArrays, whole: bool = False) -> RowArrays:
        """Return those of some rows that windows may reach, in memory of their own."""
        found = near(rows, self.carry.extent, self.reverse)
        # rows that are left out are in other groups, or too far
        if rows.clustered and rows.keys is not None:
            whole |= found != (0, rows.count)
        halo = replace(rows.take(found), whole=whole)
        if self.window:
            return halo
        return halo.pack()  # not in the thread that also sends all messages


def joined_columns(library: Library, columns: Sequence[Column]) -> Column:
    """Return the rows of several columns as one."""
    if len(columns) == 1:
        return columns[0]
    array = library.concatenate([library.array(c) for c in columns])
    return library.as_column(array, columns[0].name)


def joined_rows(frames: Sequence[Frame]) -> Any:
    """Return the rows of frames, or of series, as one."""
    library = library_of(frames[0])
    columns = zip(*(map(library.array, columns_of(frame)) for frame in frames), strict=True)
    names = library.index_names(frames[0])
    levels = [
        library.concatenate([library.array(library.index_level(f, i)) for f in frames])
        for i in range(len(names))
    ]
    index = library.key_index(levels, names)
    return library.rebuild(frames[0], [library.concatenate(list(c)) for c in columns], index)
