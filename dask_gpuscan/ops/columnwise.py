"""From columns to frames: a carry over a whole partition is a column operation done on each column.

What is done to one column is the business of the operation (`scans`, `fills`, `windows`). `run` sees to it that all
partitions have the same columns, whatever the carry. This module must never know a graph.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

from ..frames.registry import each, library_of


class ColumnOperation(Protocol):
    """A carry over one column, or over several that are the inputs of one operator."""

    @property
    def label(self) -> str: ...
    @property
    def reverse(self) -> bool: ...

    def dtype(self, columns: Sequence[Any]) -> Any:
        """Dtype of the result; raises what the user should see before anything is computed."""

    def aggregate(self, columns: Sequence[Any]) -> Callable[[], Any]:
        """Begin to aggregate; the function that is returned waits for the answer."""

    def combine(self, aggregates: Sequence[Any]) -> Any: ...

    def apply(self, columns: Sequence[Any], prefix: Any) -> Any:
        """Array of the result."""


class FrameCarry:
    """What all carries over frames have in common: columns are treated one by one."""

    operation: ColumnOperation
    numeric_only: bool
    columnwise = True
    keeps_index = True

    @property
    def label(self) -> str:
        return self.operation.label

    @property
    def reverse(self) -> bool:
        return self.operation.reverse

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
        return self.build(frame.iloc[:0], [library_of(frame).empty(d) for d in dtypes])

    def aggregate(self, partition: Any) -> tuple[Any, ...]:
        inputs = self.inputs(partition)
        with library_of(partition).reading(partition):
            begun = [self.operation.aggregate(c) for c in inputs]  # so that one wait does for all
            return tuple([wait() for wait in begun])

    def combine(self, aggregates: Sequence[tuple[Any, ...]]) -> tuple[Any, ...]:
        return tuple(self.operation.combine(c) for c in zip(*aggregates, strict=True))

    def apply(self, partition: Any, prefix: tuple[Any, ...] | None) -> Any:
        inputs = self.inputs(partition)
        pairs = zip(inputs, prefix or [None] * len(inputs), strict=True)
        with library_of(partition).reading(partition):
            arrays = [self.operation.apply(c, p) for c, p in pairs]
        return self.build(partition, arrays)


@dataclass(frozen=True)
class ColumnCarry(FrameCarry):
    """An operation on each column of a frame, or on a series."""

    operation: ColumnOperation
    numeric_only: bool = False

    def _kept(self, frame: Any) -> Any:
        if not self.numeric_only or frame.ndim == 1:
            return frame
        return numeric_columns(frame)

    def inputs(self, frame: Any) -> list[list[Any]]:
        return [[column] for column in each(self._kept(frame))]

    def build(self, frame: Any, arrays: list[Any]) -> Any:
        return library_of(frame).rebuild(self._kept(frame), arrays)


@dataclass(frozen=True)
class JointCarry(FrameCarry):
    """An operation that takes all columns of a frame as its inputs and gives one series."""

    operation: ColumnOperation
    columnwise = False

    def inputs(self, frame: Any) -> list[list[Any]]:
        return [each(frame)]

    def build(self, frame: Any, arrays: list[Any]) -> Any:
        return library_of(frame).series(arrays[0], frame.index)


def numeric_columns(frame: Any) -> Any:
    """Return the columns that `numeric_only` keeps."""
    library = library_of(frame)
    return library.select(frame, [library.is_numeric(d) for d in frame.dtypes])
