"""Operations that look at the rows around each row: what they see, and the carries that bring it to them.

An operation is written once. It sees rows of a partition between those of its halos, in one group or in groups that
are brought together, and says what it answers for them.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Protocol

from .. import kernels
from ..frames.keys import any_null, key_arrays
from ..frames.protocol import Array, Library, Values
from ..frames.registry import library_of
from .columnwise import AllColumns, EachColumn, FrameColumns
from .groupby_table import put_back
from .grouped_columns import GroupedColumns
from .halo import Halo, joined_columns, run_bounds
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

    @property
    def wanted(self) -> slice:
        """The rows that are asked for."""
        return slice(self.first, self.first + self.count)


class NeighbourOperation(ColumnOperation, Protocol):
    """What is done to each row and those around it.

    Attributes
    ----------
    before, after : int
        How many rows it looks back, and ahead: not negative.
    """

    @property
    def before(self) -> int: ...
    @property
    def after(self) -> int: ...

    def apply(self, columns: Sequence[Any], rows: Rows) -> Any:
        """Array of the answers for the rows that are asked for; columns have all rows."""


class Surrounded:
    """What carries of such operations have in common: which halos they need."""

    operation: NeighbourOperation

    @property
    def before(self) -> Halo | None:
        rows = self.operation.before
        return Halo(rows) if rows else None

    @property
    def after(self) -> Halo | None:
        rows = self.operation.after
        return Halo(rows, reverse=True) if rows else None


class FrameHalo(Surrounded, FrameColumns):
    """An operation on the columns of a frame whose rows are one group."""

    operation: NeighbourOperation

    def apply(self, partition: Any, before: Any, after: Any) -> Any:
        library = library_of(partition)
        frames = [before, partition, after]
        with library.reading(partition):
            found = zip(
                *(self.inputs(library.no_rows(partition) if f is None else f) for f in frames),
                strict=True,
            )
            arrays = [_answers(library, self.operation, list(columns)) for columns in found]
        return self.build(partition, arrays)


@dataclass(frozen=True)
class ColumnHalo(EachColumn, FrameHalo):
    """An operation on each column of a frame, or on a series."""

    operation: NeighbourOperation
    numeric_only: bool = False


@dataclass(frozen=True)
class JointHalo(AllColumns, FrameHalo):
    """An operation that takes all columns of a frame as its inputs and gives one series."""

    operation: NeighbourOperation


def _answers(library: Library, operation: NeighbourOperation, parts: list[list[Any]]) -> Any:
    """The answers for the rows of a partition, given columns of the rows before it, of its own, and of those behind.

    Only rows near its borders see other rows than its own: they are done apart, so that no more is copied.
    """
    before, own, after = parts
    count, reach = len(own[0]), operation.before + operation.after
    ahead, behind = len(before[0]), len(after[0])
    if not ahead and not behind:
        return operation.apply(own, Rows(library, count, 0, count))
    if count <= 2 * reach:
        return _joined_answers(library, operation, parts, ahead, count)
    array = operation.apply(own, Rows(library, count, 0, count))
    if ahead and operation.before:
        near = [library.slice_column(c, 0, reach) for c in own]
        rows = operation.before
        array[:rows] = _joined_answers(library, operation, [before, near], ahead, rows)
    if behind and operation.after:
        near = [library.slice_column(c, count - reach, count) for c in own]
        rows = operation.after
        array[count - rows :] = _joined_answers(
            library, operation, [near, after], operation.before, rows
        )
    return array


def _joined_answers(
    library: Library, operation: NeighbourOperation, parts: list[list[Any]], first: int, count: int
) -> Any:
    """The answers for some rows of columns whose parts are joined."""
    columns = [joined_columns(library, list(same)) for same in zip(*parts, strict=True)]
    return operation.apply(columns, Rows(library, len(columns[0]), first, count))


@dataclass(frozen=True)
class GroupHalo(GroupedColumns):
    """Operations on rows in groups.

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
    def before(self) -> Halo | None:
        return self._halo(max((p.operation.before for p in self.parts), default=0), False)

    @property
    def after(self) -> Halo | None:
        return self._halo(max((p.operation.after for p in self.parts), default=0), True)

    def _halo(self, rows: int, reverse: bool) -> Halo | None:
        return Halo(rows, reverse, None if self.clustered else self.by) if rows else None

    def meta(self, frame: Any) -> Any:
        return self.apply(library_of(frame).no_rows(frame), None, None)

    def apply(self, partition: Any, before: Any, after: Any) -> Any:
        library = library_of(partition)
        around = [before, partition, after]
        frames = [f for f in around if f is partition or (f is not None and len(f))]
        first = 0 if before is None else len(before)
        with library.reading(partition):
            arranged = _Arranged(self, library, frames)
            null = any_null(self.by.series(partition)) if self.dropna else None
            arrays = []
            for part in self.parts:
                columns = zip(*(self.columns(f, part) for f in frames), strict=True)
                joined = [arranged.column(joined_columns(library, list(c))) for c in columns]
                array = arranged.returned(part.operation.apply(joined, arranged.rows))
                array = library.slice_array(array, first, first + len(partition))
                arrays.append(self.in_groups(library, array, null))
            return self.build(partition, arrays, library.index(partition))


class _Arranged:
    """The rows of several frames with those of each group together."""

    def __init__(self, carry: GroupHalo, library: Library, frames: list[Any]) -> None:
        self.library, self.order = library, None
        series = [
            joined_columns(library, list(same))
            for same in zip(*map(carry.by.series, frames), strict=True)
        ]
        if carry.clustered:
            keys = key_arrays(series)
            self.starts, self.stops = run_bounds(keys.arrays, keys.nulls)
        else:
            codes, _ = library.dense_codes([library.array(c) for c in series])
            (ordered,), (self.order,) = kernels.sort_pairs(codes, [], positions=True)
            self.starts, self.stops = run_bounds([ordered])

    @cached_property
    def rows(self) -> Rows:
        """All rows, in groups."""
        count = len(self.starts)
        return Rows(self.library, count, 0, count, self.starts, self.stops)

    def column(self, column: Any) -> Any:
        """Return a column with its rows as they are arranged."""
        if self.order is None:
            return column
        return self.library.as_column(self.library.take(self.library.array(column), self.order))

    def returned(self, array: Array) -> Array:
        """Return answers where the rows were."""
        return array if self.order is None else put_back(self.library, array, self.order)
