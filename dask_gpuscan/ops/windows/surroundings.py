"""Operations that look at the rows around each row: the rows that they see, and the carries that bring these.

An operation is written once. It sees rows of a partition between those of its halos, in one group or, as in
`group_surroundings`, in groups that are brought together, and returns the answers for them.
"""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from functools import cached_property
from typing import Any, Protocol

from ... import kernels
from ...frames.keys import Keys
from ...frames.protocol import Library
from ...frames.registry import library_of
from ...frames.types import Array, Column, Frame, GroupIds, Values
from ...kernels.late_dataclass import dataclass
from ...kernels.windows_by_code import rows_before
from ..core.carry import OverlapCarry
from ..core.columnwise import EachColumn, FrameColumns, NamedColumns
from ..core.groups import INT64
from ..core.operation import ColumnOperation, Part
from ..groupby.hashed import put_back
from ..time.time_column import check_order
from .halo import Halo, RowArrays, RowExtent, WindowExtent, joined_columns


@dataclass(frozen=True)
class AdjacentRows:
    """Groups whose rows are adjacent."""

    keys: Keys

    @cached_property
    def heads(self) -> Values:
        """Which rows are the first of their group, as an array of bool."""
        return self.keys.head_flags()

    @cached_property
    def runs(self) -> tuple[Values, Values]:
        """For each group, its first row and how many it has."""
        return kernels.run_length_encode(self.keys.arrays, nulls=self.keys.nulls)

    @cached_property
    def bounds(self) -> tuple[Values, Values]:
        """For each row, the first row of its group and the row behind the last."""
        starts, lengths = self.runs
        decoded = kernels.run_length_decode(lengths, [starts, starts + lengths])
        return decoded[0], decoded[1]


@dataclass(frozen=True)
class WindowRows:
    """The rows that an operation sees, and those for which answers are wanted."""

    library: Library
    length: int
    first: int
    """The first wanted row."""
    count: int
    """The number of wanted rows, from there on."""
    groups: AdjacentRows | None = None
    """The groups of the rows, if these are brought together."""
    times: Values | None = None
    """The times of the rows, if windows are of time."""
    group_ids: GroupIds | None = None
    """The groups of rows that are not brought together."""
    ungrouped: Values | None = None
    """Which rows are in no group; None if none is."""
    order: Values | None = None
    """The positions of these rows before they were brought together; None if they were not moved."""

    @property
    def is_one_group(self) -> bool:
        """Whether all rows are one group."""
        return self.groups is None and self.group_ids is None

    @property
    def wanted(self) -> slice:
        """The rows for which answers are wanted."""
        return slice(self.first, self.first + self.count)

    def wanted_of(self, array: Array) -> Array:
        """Return the wanted rows of an array of all."""
        if self.count == self.length:
            return array
        return self.library.slice_array(array, self.first, self.first + self.count)

    def before(self, periods: int) -> Values:
        """Return the row `periods` rows before each row in its group, and -1 where there is none.

        There must be groups, and `periods` must not be 0. The rows are found once for all columns.
        """
        found = self._before.get(periods)
        if found is None:
            found = self._before[periods] = self._find_before(periods)
        return found

    @cached_property
    def _before(self) -> dict[int, Values]:
        return {}

    def _find_before(self, periods: int) -> Values:
        if self.group_ids is not None:
            codes, groups = self.group_ids.array, self.group_ids.groups
            return rows_before(codes, groups, periods, check=False)
        assert self.groups is not None
        xp = self.library.xp
        found = xp.arange(-periods, self.length - periods, dtype=INT64)
        starts, lengths = self.groups.runs
        without = xp.minimum(lengths, abs(periods))  # rows at one end of a group
        ends = starts if periods > 0 else starts + lengths - without
        return kernels.interval_move(
            without, xp.full(int(without.sum()), -1, INT64), scatter=ends, out=found
        )

    def returned(self, array: Array) -> Array:
        """Return answers in the order that the rows had."""
        return array if self.order is None else put_back(self.library, array, self.order)

    def floats(self, answers: Values, numbers: slice | None = None) -> Array:
        """Return answers of float64 where the rows were, as an array; `numbers` as for `Arrays.from_floats`."""
        if self.order is not None:
            answers, numbers = kernels.put(answers, self.order, check=False), None
        return self.library.from_floats(answers, numbers)


class NeighbourOperation(ColumnOperation, Protocol):
    """What is done to each row and those around it; checked and planned once for dtypes."""

    @property
    def extent(self) -> WindowExtent:
        """How far it looks."""

    def planned(self, columns: Sequence[Column]) -> tuple[NeighbourOperation, Any]:
        """Return the operation for columns of these dtypes and that of its answer; raises what the user should see."""

    def takes_group_ids(self, codes: GroupIds) -> bool:
        """Return whether rows of these groups need not be brought together."""

    def apply(self, columns: Sequence[Column], rows: WindowRows) -> Any:
        """Array of the answers for the wanted rows, in the order that these had; columns have all rows."""


class NeighbourCarry(OverlapCarry):
    """The base of carries of these operations: the halos that they need."""

    clustered = True
    """Whether rows of a group are adjacent; without groups, all rows are one group."""

    @property
    def extent(self) -> WindowExtent:
        """How far operations look; it is the same for all."""
        raise NotImplementedError

    def rows_of(self, partition: Frame) -> RowArrays:
        """Return the rows of a partition, not copied."""
        raise NotImplementedError

    def names_of_rows(self, frame: Frame) -> list[Hashable]:
        """Return the names of the columns of `rows_of`."""
        raise NotImplementedError

    def last(self, frame: Frame, seen: RowArrays) -> Any:
        time_column = self.extent.time_column
        names = [*(self.grouped_by or [None] * len(seen.keys or [])), *self.names_of_rows(frame)]
        times = None if time_column is None else time_column.column(frame)
        if times is not None and times.name not in names:
            names.append("time" if times.name is None else times.name)
        return seen.frame(names, times) if names else None

    @property
    def before(self) -> Halo | None:
        return Halo(self) if self.extent.looks(False) else None

    @property
    def after(self) -> Halo | None:
        return Halo(self, reverse=True) if self.extent.looks(True) else None


class FrameOverlap(FrameColumns, NeighbourCarry):
    """Operations on the columns of a frame whose rows are one group."""

    def check(self, frame: Frame) -> None:
        super().check(frame)
        if self.extent.time_column is not None:
            self.extent.time_column.check(frame)

    def rows_of(self, partition: Frame) -> RowArrays:
        library, time_column = library_of(partition), self.extent.time_column
        arrays = [
            library.array(column)
            for columns in self.inputs(library, partition)
            for column in columns
        ]
        times = None if time_column is None else time_column.times(partition)
        return RowArrays(library, len(partition), arrays, times=times)

    def names_of_rows(self, frame: Frame) -> list[Hashable]:
        return [
            column.name for columns in self.inputs(library_of(frame), frame) for column in columns
        ]

    def settled(self, frame: Frame) -> int:
        time_column = self.extent.time_column
        times = None if time_column is None else time_column.times(frame)
        return self.extent.settled(len(frame), times)

    def whole(self, frame: Frame) -> Any:
        found = self.at_once(frame)
        return self.apply(frame, None, None) if found is None else found

    def apply(self, partition: Frame, before: RowArrays | None, after: RowArrays | None) -> Any:
        library, time_column = library_of(partition), self.extent.time_column
        (pairs, _), count = self.planned(library, partition), len(partition)
        sides = [side for side in (before, after) if side is not None and side.count]
        with library.acquire(partition):
            times = None
            if time_column is not None:
                times, in_order = time_column.times_in_order(partition)
                if sides or not in_order:
                    known = [before and before.times, times, after and after.times]
                    filled = [each for each in known if each is not None and len(each)] or [times]
                    times = filled[0] if len(filled) == 1 else library.xp.concatenate(filled)
                    check_order(time_column, partition, times, None)
            if sides:
                edges = Edges(library, before, count, after, times)
                arrays = [edges.answers(operation, columns) for operation, columns in pairs]
            else:
                rows = WindowRows(library, count, 0, count, times=times)
                arrays = [operation.apply(columns, rows) for operation, columns in pairs]
        return self.build(library, partition, arrays)


@dataclass(frozen=True)
class ColumnOverlap(EachColumn, FrameOverlap):
    """An operation on each column of a frame, or on a series."""

    operation: NeighbourOperation
    numeric_only = False

    @property
    def extent(self) -> WindowExtent:
        return self.operation.extent


@dataclass(frozen=True)
class NamedOverlap(NamedColumns, FrameOverlap):
    """Operations that each give a column."""

    label: str
    parts: tuple[Part[NeighbourOperation], ...]
    as_series: bool

    @property
    def extent(self) -> WindowExtent:
        return self.parts[0].operation.extent if self.parts else RowExtent(0)


class Edges:
    """The rows of a partition between those of its halos; operations take the columns one after another."""

    def __init__(
        self,
        library: Library,
        before: RowArrays | None,
        count: int,
        after: RowArrays | None,
        times: Values | None,
    ) -> None:
        self.library, self.count, self.times, self.taken = library, count, times, 0
        self.before = before.unpack() if before is not None and before.count else None
        self.after = after.unpack() if after is not None and after.count else None

    def answers(self, operation: NeighbourOperation, own: Sequence[Column]) -> Any:
        """Return the answers of an operation for the rows of the partition, given its columns.

        If windows have a number of rows, only rows near the borders see the halos: in a long partition these are
        computed separately, so that no other rows are copied.
        """
        library, count, extent = self.library, self.count, operation.extent
        before, after = self._columns(self.before, own), self._columns(self.after, own)
        self.taken += len(own)
        ahead = 0 if self.before is None else self.before.count
        if extent.rows is None or count <= max(2 * extent.rows, library.copy_threshold):
            return self._joined(operation, [before, own, after], ahead, count, self.times)
        array = operation.apply(own, WindowRows(library, count, 0, count))
        if before:
            near = [library.slice_column(c, 0, extent.rows) for c in own]
            some = extent.to(False)
            found = self._joined(operation, [before, near], ahead, some)
            array = library.replace(array, 0, found)
        if after:
            near = [library.slice_column(c, count - extent.rows, count) for c in own]
            some = extent.to(True)
            found = self._joined(operation, [near, after], extent.to(False), some)
            array = library.replace(array, count - some, found)
        return array

    def _columns(self, rows: RowArrays | None, own: Sequence[Column]) -> list[Any]:
        if rows is None:
            return []
        pairs = zip(rows.columns[self.taken :], own, strict=False)
        return [self.library.as_column(array, column.name) for array, column in pairs]

    def _joined(
        self,
        operation: NeighbourOperation,
        parts: Sequence[Sequence[Any]],
        first: int,
        count: int,
        times: Values | None = None,
    ) -> Any:
        """The answers for some rows of columns whose parts are joined."""
        filled = [part for part in parts if len(part)]
        columns = [joined_columns(self.library, same) for same in zip(*filled, strict=True)]
        return operation.apply(
            columns, WindowRows(self.library, len(columns[0]), first, count, times=times)
        )
