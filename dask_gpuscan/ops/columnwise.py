"""From columns to frames: an operation on columns as a carry, done on each column or on all of them together."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from ..frames.registry import column_of, each, library_of
from .groups import BACKWARD, FORWARD, States
from .operation import ColumnOperation, GroupScan, Part, each_of, named_answers


class FrameColumns:
    """What all carries over frames have in common: operations, each on some columns."""

    keeps_index = True

    def inputs(self, frame: Any) -> list[list[Any]]:
        """Columns of `frame` by the operation that takes them."""
        raise NotImplementedError

    def operations(self, count: int) -> Sequence[Any]:
        """Return the operations, of which there are so many."""
        raise NotImplementedError

    def build(self, frame: Any, arrays: list[Any]) -> Any:
        """Make the result of the operations' arrays."""
        raise NotImplementedError

    def pairs(self, frame: Any) -> list[tuple[Any, list[Any]]]:
        """Return each operation with its columns of a frame."""
        inputs = self.inputs(frame)
        return list(zip(self.operations(len(inputs)), inputs, strict=True))

    def check(self, frame: Any) -> None:
        for operation, columns in self.pairs(frame):
            operation.dtype(columns)

    def meta(self, frame: Any) -> Any:
        dtypes = [operation.dtype(columns) for operation, columns in self.pairs(frame)]
        library = library_of(frame)
        return self.build(library.no_rows(frame), [each_of(library.empty, d) for d in dtypes])


class OneOperation(FrameColumns):
    """One operation for all."""

    operation: ColumnOperation

    @property
    def label(self) -> str:
        return self.operation.label

    def operations(self, count: int) -> Sequence[Any]:
        return [self.operation] * count


class EachColumn(OneOperation):
    """An operation on each column of a frame, or on a series."""

    numeric_only: bool
    columnwise = True

    def _kept(self, frame: Any) -> Any:
        if not self.numeric_only or frame.ndim == 1:
            return frame
        return numeric_columns(frame)

    def inputs(self, frame: Any) -> list[list[Any]]:
        return [[column] for column in each(self._kept(frame))]

    def build(self, frame: Any, arrays: list[Any]) -> Any:
        return library_of(frame).rebuild(self._kept(frame), arrays)


class AllColumns(OneOperation):
    """An operation that takes all columns of a frame as its inputs and gives one series."""

    columnwise = False

    def inputs(self, frame: Any) -> list[list[Any]]:
        return [each(frame)]

    def build(self, frame: Any, arrays: list[Any]) -> Any:
        return library_of(frame).series(arrays[0], library_of(frame).index(frame))


class NamedColumns(FrameColumns):
    """Operations that are each made of some columns of a frame, or of a series, and give one column."""

    label: str
    parts: Sequence[Part[Any]]
    as_series: bool
    columnwise = False

    def operations(self, count: int) -> Sequence[Any]:
        return [part.operation for part in self.parts]

    def inputs(self, frame: Any) -> list[list[Any]]:
        return [[column_of(frame, name) for name in part.sources] for part in self.parts]

    def build(self, frame: Any, arrays: list[Any]) -> Any:
        library, index = library_of(frame), library_of(frame).index(frame)
        names, arrays = named_answers(self.parts, arrays)
        if self.as_series:
            return library.series(arrays[0], index, names[0])
        # beside columns of others, names of the frame's own are of another kind
        own = frame.ndim == 2 and all(len(set(part.sources)) == 1 for part in self.parts)
        return library.frame(arrays, names, index, frame if own else None)


class FrameCarry(FrameColumns):
    """Scans as a carry."""

    @property
    def reverse(self) -> bool:
        return False

    def aggregate(self, partition: Any) -> tuple[States, ...]:
        pairs, one = self.pairs(partition), BACKWARD if self.reverse else FORWARD
        with library_of(partition).reading(partition):
            # all are begun before one is waited for
            begun = [operation.aggregate(columns, one) for operation, columns in pairs]
            return tuple([wait() for wait in begun])

    def combine(self, aggregates: Sequence[tuple[States, ...]]) -> tuple[States, ...]:
        states = list(zip(*aggregates, strict=True))
        pairs = zip(self.operations(len(states)), states, strict=True)
        return tuple(operation.combine(each_state) for operation, each_state in pairs)

    def apply(self, partition: Any, prefix: tuple[States, ...] | None) -> Any:
        pairs, one = self.pairs(partition), BACKWARD if self.reverse else FORWARD
        states = prefix or [None] * len(pairs)
        with library_of(partition).reading(partition):
            arrays = [
                operation.apply(columns, one, state)
                for (operation, columns), state in zip(pairs, states, strict=True)
            ]
        return self.build(partition, arrays)


@dataclass(frozen=True)
class ColumnCarry(EachColumn, FrameCarry):
    """A scan of each column of a frame, or of a series."""

    operation: GroupScan
    numeric_only: bool = False

    @property
    def reverse(self) -> bool:
        return self.operation.reverse


@dataclass(frozen=True)
class JointCarry(AllColumns, FrameCarry):
    """A scan that takes all columns of a frame as its inputs and gives one series."""

    operation: GroupScan

    @property
    def reverse(self) -> bool:
        return self.operation.reverse


@dataclass(frozen=True)
class NamedCarry(NamedColumns, FrameCarry):
    """Scans that each give a column."""

    label: str
    parts: tuple[Part[GroupScan], ...]
    as_series: bool

    @property
    def reverse(self) -> bool:
        return any(part.operation.reverse for part in self.parts)


def numeric_columns(frame: Any) -> Any:
    """Return the columns that `numeric_only` keeps."""
    library = library_of(frame)
    return library.select(frame, [library.is_numeric(column.dtype) for column in each(frame)])
