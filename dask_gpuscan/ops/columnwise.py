"""From columns to frames: an operation on columns as a carry, done on each column or on all of them together."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from ..frames.registry import column_of, each, library_of
from .groups import BACKWARD, FORWARD, States
from .operation import ColumnOperation, GroupScan, Part


class FrameColumns:
    """What all carries over frames have in common: columns are treated one by one, or all together."""

    operation: ColumnOperation
    keeps_index = True

    @property
    def label(self) -> str:
        return self.operation.label

    def inputs(self, frame: Any) -> list[list[Any]]:
        """Columns of `frame` by the operation that takes them."""
        raise NotImplementedError

    def build(self, frame: Any, arrays: list[Any]) -> Any:
        """Make the result of the operations' arrays."""
        raise NotImplementedError

    def check(self, frame: Any) -> None:
        for columns in self.inputs(frame):
            self.operation.dtype(columns)

    def meta(self, frame: Any) -> Any:
        dtypes = [self.operation.dtype(columns) for columns in self.inputs(frame)]
        return self.build(
            library_of(frame).no_rows(frame), [library_of(frame).empty(d) for d in dtypes]
        )


class EachColumn(FrameColumns):
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


class AllColumns(FrameColumns):
    """An operation that takes all columns of a frame as its inputs and gives one series."""

    columnwise = False

    def inputs(self, frame: Any) -> list[list[Any]]:
        return [each(frame)]

    def build(self, frame: Any, arrays: list[Any]) -> Any:
        return library_of(frame).series(arrays[0], library_of(frame).index(frame))


class FrameCarry(FrameColumns):
    """A scan as a carry."""

    operation: GroupScan

    @property
    def reverse(self) -> bool:
        return self.operation.reverse

    def aggregate(self, partition: Any) -> tuple[States, ...]:
        inputs, one = self.inputs(partition), BACKWARD if self.reverse else FORWARD
        with library_of(partition).reading(partition):
            # all are begun before one is waited for
            begun = [self.operation.aggregate(c, one) for c in inputs]
            return tuple([wait() for wait in begun])

    def combine(self, aggregates: Sequence[tuple[States, ...]]) -> tuple[States, ...]:
        return tuple(self.operation.combine(c) for c in zip(*aggregates, strict=True))

    def apply(self, partition: Any, prefix: tuple[States, ...] | None) -> Any:
        inputs, one = self.inputs(partition), BACKWARD if self.reverse else FORWARD
        pairs = zip(inputs, prefix or [None] * len(inputs), strict=True)
        with library_of(partition).reading(partition):
            arrays = [self.operation.apply(c, one, p) for c, p in pairs]
        return self.build(partition, arrays)


@dataclass(frozen=True)
class ColumnCarry(EachColumn, FrameCarry):
    """A scan of each column of a frame, or of a series."""

    operation: GroupScan
    numeric_only: bool = False


@dataclass(frozen=True)
class JointCarry(AllColumns, FrameCarry):
    """A scan that takes all columns of a frame as its inputs and gives one series."""

    operation: GroupScan


@dataclass(frozen=True)
class PartsCarry:
    """Operations that are each made of some columns of a frame, or of a series, and give one column."""

    label: str
    parts: tuple[Part[GroupScan], ...]
    as_series: bool
    reverse = False
    columnwise = False
    keeps_index = True

    def _columns(self, frame: Any, part: Part[GroupScan]) -> list[Any]:
        return [column_of(frame, name) for name in part.sources]

    def check(self, frame: Any) -> None:
        for part in self.parts:
            part.operation.dtype(self._columns(frame, part))

    def meta(self, frame: Any) -> Any:
        library = library_of(frame)
        dtypes = [part.operation.dtype(self._columns(frame, part)) for part in self.parts]
        return self._build(library.no_rows(frame), [library.empty(d) for d in dtypes])

    def aggregate(self, partition: Any) -> tuple[States, ...]:
        with library_of(partition).reading(partition):
            begun = [
                p.operation.aggregate(self._columns(partition, p), FORWARD) for p in self.parts
            ]
            return tuple([wait() for wait in begun])

    def combine(self, aggregates: Sequence[tuple[States, ...]]) -> tuple[States, ...]:
        pairs = zip(self.parts, zip(*aggregates, strict=True), strict=True)
        return tuple(part.operation.combine(states) for part, states in pairs)

    def apply(self, partition: Any, prefix: tuple[States, ...] | None) -> Any:
        before = prefix or (None,) * len(self.parts)
        with library_of(partition).reading(partition):
            arrays = [
                part.operation.apply(self._columns(partition, part), FORWARD, state)
                for part, state in zip(self.parts, before, strict=True)
            ]
        return self._build(partition, arrays)

    def _build(self, frame: Any, arrays: list[Any]) -> Any:
        library, names = library_of(frame), [part.name for part in self.parts]
        index = library.index(frame)
        if self.as_series:
            return library.series(arrays[0], index, names[0])
        return library.frame(arrays, names, index)


def numeric_columns(frame: Any) -> Any:
    """Return the columns that `numeric_only` keeps."""
    library = library_of(frame)
    return library.select(frame, [library.is_numeric(column.dtype) for column in each(frame)])
