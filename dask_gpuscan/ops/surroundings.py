"""Operations that look at the rows around each row: what they see, and the carries that bring it to them.

An operation is written once. It sees rows of a partition between those of its halos, in one group or in groups that
are brought together, and says what it answers for them.
"""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

from .. import kernels
from ..frames.keys import By, any_null, key_arrays
from ..frames.protocol import Array, Library, Values
from ..frames.registry import library_of
from .clock import Clock, check_order
from .columnwise import EachColumn, FrameColumns, NamedColumns
from .groupby_table import put_back
from .grouped_columns import GroupedColumns
from .halo import Halo, Reach, RowReach, TimeReach, joined_columns, run_bounds, together
from .operation import ColumnOperation, Part


@dataclass(frozen=True)
class Rows:
    """The rows that an operation sees, and for which of them it answers."""

    library: Library
    length: int
    first: int
    """The first row that is asked for."""
    count: int
    """How many rows are asked for, from there on."""
    starts: Values | None = None
    """The first row of the group of each row; None if all rows are one group."""
    stops: Values | None = None
    """The row behind the last of the group of each row."""
    times: Values | None = None
    """Of the rows, where windows are of time."""

    @property
    def wanted(self) -> slice:
        """The rows that are asked for."""
        return slice(self.first, self.first + self.count)


class NeighbourOperation(ColumnOperation, Protocol):
    """What is done to each row and those around it."""

    @property
    def reach(self) -> Reach:
        """How far it looks."""

    def apply(self, columns: Sequence[Any], rows: Rows) -> Any:
        """Array of the answers for the rows that are asked for; columns have all rows."""


def _halo(reach: Reach, reverse: bool, by: By | None = None) -> Halo | None:
    return Halo(reach, reverse, by) if reach.to(reverse) else None


class FrameHalo(FrameColumns):
    """Operations on the columns of a frame whose rows are one group; all look equally far."""

    @property
    def reach(self) -> Reach:
        """How far they look."""
        operations = self.operations(1)
        return operations[0].reach if operations else RowReach(0)

    @property
    def before(self) -> Halo | None:
        return _halo(self.reach, False)

    @property
    def after(self) -> Halo | None:
        return _halo(self.reach, True)

    def check(self, frame: Any) -> None:
        super().check(frame)
        if isinstance(self.reach, TimeReach):
            self.reach.clock.check(frame)

    def apply(self, partition: Any, before: Any, after: Any) -> Any:
        library, reach = library_of(partition), self.reach
        around = [before, partition, after]
        frames = [library.no_rows(partition) if f is None else f for f in around]
        with library.reading(partition):
            times = None
            if isinstance(reach, TimeReach):
                times = _times(library, reach.clock, frames)
                check_order(reach.clock, times, None)
            found = list(zip(*map(self.inputs, frames), strict=True))
            pairs = zip(self.operations(len(found)), found, strict=True)
            arrays = [_answers(library, o, list(columns), times) for o, columns in pairs]
        return self.build(partition, arrays)


def _times(library: Library, clock: Clock, frames: Sequence[Any]) -> Values:
    """The times of the rows of several frames."""
    return library.xp.concatenate([clock.times(frame) for frame in frames])


@dataclass(frozen=True)
class ColumnHalo(EachColumn, FrameHalo):
    """An operation on each column of a frame, or on a series."""

    operation: NeighbourOperation
    numeric_only: bool = False


@dataclass(frozen=True)
class NamedHalo(NamedColumns, FrameHalo):
    """Operations that each give a column."""

    label: str
    parts: tuple[Part[NeighbourOperation], ...]
    as_series: bool


def _answers(
    library: Library, operation: NeighbourOperation, parts: list[list[Any]], times: Values | None
) -> Any:
    """The answers for the rows of a partition, given columns of the rows before it, of its own, and of those behind.

    Where windows are of rows, only rows near its borders see other rows than its own: they are done apart, so that no
    more is copied.
    """
    before, own, after = parts
    count, ahead, behind, rows = len(own[0]), len(before[0]), len(after[0]), operation.reach.rows
    if not ahead and not behind:
        return operation.apply(own, Rows(library, count, 0, count, times=times))
    if rows is None or count <= 2 * rows:
        return _joined_answers(library, operation, parts, ahead, count, times)
    array = operation.apply(own, Rows(library, count, 0, count))
    if ahead:
        near, some = [library.slice_column(c, 0, rows) for c in own], operation.reach.to(False)
        array[:some] = _joined_answers(library, operation, [before, near], ahead, some)
    if behind:
        near = [library.slice_column(c, count - rows, count) for c in own]
        some, first = operation.reach.to(True), operation.reach.to(False)
        array[count - some :] = _joined_answers(library, operation, [near, after], first, some)
    return array


def _joined_answers(
    library: Library,
    operation: NeighbourOperation,
    parts: list[list[Any]],
    first: int,
    count: int,
    times: Values | None = None,
) -> Any:
    """The answers for some rows of columns whose parts are joined."""
    columns = [joined_columns(library, list(same)) for same in zip(*parts, strict=True)]
    return operation.apply(columns, Rows(library, len(columns[0]), first, count, times=times))


@dataclass(frozen=True)
class GroupHalo(GroupedColumns):
    """Operations on rows in groups, which all look equally far.

    Parameters
    ----------
    clustered : bool
        Whether equal keys are adjacent; else rows are brought together by key, and back.
    """

    parts: tuple[Part[NeighbourOperation], ...] = ()
    clustered: bool = False
    columnwise = False
    keeps_index = True

    @property
    def times(self) -> list[Hashable]:
        """The name of the column of times, if windows are of time and the index has none."""
        on = self._reach.clock.on if isinstance(self._reach, TimeReach) else None
        return [] if on is None else [on]

    @property
    def _reach(self) -> Reach:
        return self.parts[0].operation.reach if self.parts else RowReach(0)

    @property
    def before(self) -> Halo | None:
        return _halo(self._reach, False, None if self.clustered else self.by)

    @property
    def after(self) -> Halo | None:
        return _halo(self._reach, True, None if self.clustered else self.by)

    def check(self, frame: Any) -> None:
        super().check(frame)
        if isinstance(self._reach, TimeReach):
            self._reach.clock.check(frame)

    def meta(self, frame: Any) -> Any:
        return self.apply(library_of(frame).no_rows(frame), None, None)

    def apply(self, partition: Any, before: Any, after: Any) -> Any:
        library = library_of(partition)
        around = [before, partition, after]
        frames = [f for f in around if f is partition or (f is not None and len(f))]
        first = 0 if before is None else len(before)
        with library.reading(partition):
            arranged = _Arranged(self.by, self.clustered, library, frames)
            rows = arranged.rows(self._reach)
            null = any_null(self.by.series(partition)) if self.dropna else None
            arrays = []
            for part in self.parts:
                columns = zip(*(self.columns(f, part) for f in frames), strict=True)
                joined = [arranged.column(joined_columns(library, list(c))) for c in columns]
                array = arranged.returned(part.operation.apply(joined, rows))
                array = library.slice_array(array, first, first + len(partition))
                arrays.append(self.in_groups(library, array, null))
            return self.build(partition, arrays, library.index(partition))


class _Arranged:
    """The rows of several frames with those of each group together."""

    def __init__(self, by: By, clustered: bool, library: Library, frames: list[Any]) -> None:
        self.library, self.frames = library, frames
        self.order: Values | None = None
        same = zip(*map(by.series, frames), strict=True)
        series = [joined_columns(library, list(columns)) for columns in same]
        if clustered:
            keys = key_arrays(series)
            self.starts, self.stops = run_bounds(keys.arrays, keys.nulls)
        else:
            arrays = [library.array(column) for column in series]
            self.order, self.starts, self.stops = together(library, arrays)

    def rows(self, reach: Reach) -> Rows:
        """Return all rows, in groups."""
        times, count = None, len(self.starts)
        if isinstance(reach, TimeReach):
            times = _times(self.library, reach.clock, self.frames)
            times = times if self.order is None else kernels.take(times, self.order)
            check_order(reach.clock, times, self.starts)
        return Rows(self.library, count, 0, count, self.starts, self.stops, times)

    def column(self, column: Any) -> Any:
        """Return a column with its rows as they are arranged."""
        if self.order is None:
            return column
        return self.library.as_column(self.library.take(self.library.array(column), self.order))

    def returned(self, array: Array) -> Array:
        """Return answers where the rows were."""
        return array if self.order is None else put_back(self.library, array, self.order)
