"""Reductions of buckets of time: rows are numbered by bucket, and buckets are groups whose rows are adjacent.

The first carry hands on the first time of all, from which buckets are counted. The second one reduces buckets, and
writes empty ones too, from the bucket that was open before a partition to the one that it leaves open.
"""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from functools import reduce
from typing import Any

from ...frames.messages import naming
from ...frames.protocol import Library
from ...frames.registry import column_of, library_of, stored_numbers
from ...frames.types import Array, Column, Frame, Values
from ...kernels.late_dataclass import dataclass
from ..core.carry import Aggregate
from ..core.groups import INT64
from ..core.operation import GroupReduction, Part
from ..groupby.adjacent import AdjacentReduce
from ..runs import Open
from .buckets import Buckets, Span, SpanCarry, span_of, times_in_order, without_broken_rule
from .time_column import TimeColumn


@dataclass(frozen=True)
class NumberBuckets(SpanCarry):
    """Columns of a frame or series, and one more of the number of the bucket of each row."""

    time_column: TimeColumn
    buckets: Buckets
    names: tuple[Hashable, ...]
    """The columns that are kept."""
    number: Hashable
    """Name of the new column."""
    label = "resample-buckets"
    keeps_index = True

    def check(self, frame: Frame) -> None:
        """The arguments have been checked."""

    def apply(self, partition: Frame, prefix: Span | None) -> Any:
        library = library_of(partition)
        with library.acquire(partition):
            times = times_in_order(partition, self.time_column, prefix)
            first = None if prefix is None else prefix.first
            numbers = self.buckets.numbers(library, times, first)
            arrays = [library.array(column_of(partition, name)) for name in self.names]
            arrays.append(library.from_integers(numbers))
            return library.frame(arrays, [*self.names, self.number], library.index(partition))


def with_empty(
    part: Part[GroupReduction],
    columns: Sequence[Column],
    array: Array,
    rows: Values,
    may_be_empty: bool,
) -> Any:
    """Return the answers of all buckets, given those of some.

    Parameters
    ----------
    part : Part
        It reduces the buckets.
    columns : sequence of columns
        Its columns; they may have no rows.
    array : array
        The answers of the buckets that have rows.
    rows : array of int64
        Which answer is each bucket's, -1 for a bucket without rows.
    may_be_empty : bool
        Whether dtypes are those of answers with nulls, even if there are no nulls.
    """
    library = library_of(columns[0])
    has_empty = len(array) < len(rows)
    if not has_empty and not may_be_empty:
        return array
    answer = part.operation.of_nothing(columns)
    if answer is None:
        with naming(part.operation.name, columns):
            array = library.to_nullable(array)
    if not has_empty:
        return array
    if answer is None:
        taken = library.take(array, rows, nulls=True)
        picks = part.operation.name in ("first", "last") and taken.dtype == columns[0].dtype
        return library.first_last(taken) if picks else taken
    return library.take(library.concatenate([answer, array]), rows + 1)


@dataclass(frozen=True)
class OpenBucket:
    """What later rows need to know of some rows: their open bucket, and their first and last time."""

    open: Open
    span: Span


@dataclass(frozen=True, kw_only=True)
class ResampleReduce(AdjacentReduce):
    """One row a bucket of time, in order, those without rows among them."""

    time_column: TimeColumn
    buckets: Buckets
    like: Any
    """The frame or series that is resampled; its rows do not matter."""
    may_be_empty: bool
    """Whether dtypes are those of answers with nulls, even if there are no nulls."""

    def check(self, frame: Frame) -> None:
        """The columns have been checked."""

    def aggregate(self, partition: Frame) -> Any:
        with library_of(partition).acquire(partition):
            return OpenBucket(super().aggregate(partition), span_of(partition, self.time_column))

    def combine(self, aggregates: Sequence[Aggregate]) -> Any:
        open_ = super().combine([a.open for a in aggregates])
        return OpenBucket(open_, reduce(Span.then, [a.span for a in aggregates]))

    def open_in(self, aggregate: Aggregate) -> Open:
        return aggregate.open  # type: ignore[no-any-return]

    def apply(self, partition: Frame, prefix: Aggregate) -> Any:
        library = library_of(partition)
        prefix = prefix or OpenBucket(Open(0, None, 0), Span())
        with library.acquire(partition):
            keys, arrays = self.closed(partition, prefix.open)
            numbers = stored_numbers(self.by.series(library, partition)[0])
            span = prefix.span.then(span_of(partition, self.time_column))
            border = prefix.open.border
            start = stop = 0 if border is None else int(border.values[0])
            if self.ends and span.first is not None and span.last is not None:
                stop = self.buckets.count(span.first, span.last)
            elif not self.ends and len(numbers):
                stop = int(numbers[-1])
            if span.first is not None and span.last is not None:
                self.buckets.check_memory(stop - start, span.first, span.last, len(arrays))
            found = stored_numbers(library.as_column(keys[0])) - start
            rows = library.xp.full(stop - start, -1, INT64)
            rows[found] = library.xp.arange(len(found), dtype=INT64)
            pairs = zip(self.spec.parts, arrays, strict=True)
            arrays = [
                with_empty(
                    part, self.spec.columns(library, partition, part), a, rows, self.may_be_empty
                )
                for part, a in pairs
            ]
            return self.spec.build(
                library, self.like, arrays, self._index(library, span, start, stop)
            )

    def _index(self, library: Library, span: Span, start: int, stop: int) -> Any:
        labels = self.buckets.labels(span, start, stop)
        if not self.ends:
            labels = without_broken_rule(labels)
        column = self.time_column.column(self.like)
        return library.index_of_times(labels, column.dtype, column.name)
