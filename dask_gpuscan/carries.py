"""From columns to frames: a carry over a whole partition is a column operation done on each column.

What is done to one column is the business of the operation (`scans`, `fills`, `windows`); this module knows
only that there are columns, in order, with names and dtypes, and must never know a graph.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np

from .columns import each, library_of

Schema = tuple[tuple[Any, Any], ...]
"""Names and dtypes of columns; extension dtypes by name, as categories may differ by partition."""


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


@dataclass(frozen=True)
class Aggregate:
    """What stands for a partition: its schema, to find partitions that do not match, and its columns'."""

    schema: Schema
    columns: tuple[Any, ...]


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

    def aggregate(self, partition: Any) -> Aggregate:
        inputs = self.inputs(partition)
        with library_of(partition).reading(partition):
            begun = [self.operation.aggregate(c) for c in inputs]  # so that one wait does for all
            columns = tuple([wait() for wait in begun])
        return Aggregate(_schema(inputs), columns)

    def combine(self, aggregates: Sequence[Aggregate]) -> Aggregate:
        schema = aggregates[0].schema
        for other in aggregates[1:]:
            _check_schema(schema, other.schema)
        columns = zip(*(a.columns for a in aggregates), strict=True)
        return Aggregate(schema, tuple(self.operation.combine(column) for column in columns))

    def apply(self, partition: Any, prefix: Aggregate | None) -> Any:
        inputs = self.inputs(partition)
        prefixes: Sequence[Any] = [None] * len(inputs)
        if prefix is not None:
            _check_schema(prefix.schema, _schema(inputs))
            prefixes = prefix.columns
        pairs = zip(inputs, prefixes, strict=True)
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


def _schema(inputs: list[list[Any]]) -> Schema:
    return tuple(
        (c.name, c.dtype if isinstance(c.dtype, np.dtype) else str(c.dtype))
        for columns in inputs
        for c in columns
    )


def _check_schema(earlier: Schema, later: Schema) -> None:
    """Raise a ValueError that names what differs between partitions."""
    if earlier == later:
        return
    if len(earlier) != len(later) or any(a[0] != b[0] for a, b in zip(earlier, later, strict=True)):
        names = [", ".join(str(name) for name, _ in s) for s in (earlier, later)]
        raise ValueError(f"partitions do not match: columns ({names[0]}) and ({names[1]})")
    name, dtype, other = next(
        (a[0], a[1], b[1]) for a, b in zip(earlier, later, strict=True) if a != b
    )
    raise ValueError(
        f"partitions do not match: column {name!r} is {dtype} in one and {other} in another; "
        f"cast it with astype before the scan"
    )
