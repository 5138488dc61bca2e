"""From columns to frames: a carry over a whole partition is a column operation done on each column.

What is done to one column is the business of the operation (`scans`, `fills`, `windows`). `run` sees to it that all
partitions have the same columns, whatever the carry. This module must never know a graph.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any, Protocol

import numpy as np

from .columns import each, library_of
from .lookback import DataFrameCarry, final, is_lazy
from .lookback import run as look_back

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


# --- partitions that match ---------------------------------------------------------------------------


@dataclass(frozen=True)
class Aggregate:
    """What stands for a partition: the schema of its columns, and what its carry says of it."""

    schema: Schema
    inner: Any


@dataclass(frozen=True)
class Matching:
    """A carry that refuses partitions whose columns differ from those of the partitions before."""

    carry: DataFrameCarry

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__") or name == "carry":
            raise AttributeError(name)
        return getattr(self.carry, name)  # what it says of itself, where it says it

    @property
    def final(self) -> Matching:
        """The carry for the partition that nothing follows."""
        last: Any = final(self.carry)
        return replace(self, carry=last)

    def aggregate(self, partition: Any) -> Aggregate:
        return Aggregate(schema_of(partition), self.carry.aggregate(partition))

    def combine(self, aggregates: Sequence[Aggregate]) -> Aggregate:
        schema = common_schema([a.schema for a in aggregates])
        return Aggregate(schema, self.carry.combine([a.inner for a in aggregates]))

    def apply(self, partition: Any, prefix: Aggregate | None) -> Any:
        if prefix is None:
            return self.carry.apply(partition, None)
        common_schema([prefix.schema, schema_of(partition)])
        return self.carry.apply(partition, prefix.inner)


def run(obj: Any, carry: DataFrameCarry) -> Any:
    """Return `carry` over a frame or series: computed at once, or lazily for a Dask collection."""
    return look_back(obj, Matching(carry) if is_lazy(obj) else carry)


def schema_of(frame: Any) -> Schema:
    """Return the names and dtypes of the columns of a frame, or of a series."""
    return tuple(
        (c.name, c.dtype if isinstance(c.dtype, np.dtype) else str(c.dtype)) for c in each(frame)
    )


def common_schema(schemas: Sequence[Schema]) -> Schema:
    """Return the one schema of all; raises a ValueError that names what differs."""
    for other in schemas[1:]:
        _check_schema(schemas[0], other)
    return schemas[0]


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
        f"cast it with astype first"
    )
