"""Rows at the edges of buckets: the nearer of two rows, rows that are near enough, and new rows between others."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from dataclasses import replace
from typing import Any

from ...frames.messages import naming
from ...frames.protocol import Library
from ...frames.registry import column_of, library_of, stored_numbers
from ...frames.types import Array, Column, DType, Frame, Values
from ...kernels.late_dataclass import dataclass
from ..core.groups import INT64
from ..windows.shift import Shift
from .buckets import Buckets, Span, SpanCarry, span_of, stored, times_in_order
from .time_column import TimeColumn, times_of


def append_times(frame: Frame, time_column: TimeColumn, name: str) -> Any:
    """Return a frame with one more column: the times of its rows as numbers, of a dtype that has nulls."""
    library = library_of(frame)
    numbers = library.to_masked(library.from_integers(time_column.numbers(frame)))
    return library.append(frame, library.series(numbers, library.index(frame)), name)


def nearer_rows(
    before: Values,
    ahead: Values,
    names: Sequence[Hashable],
    time: Hashable,
    dtypes: Sequence[DType],
) -> Any:
    """Return one row for each edge; of two that are equally near, the later one.

    Parameters
    ----------
    before, ahead : frame
        The rows on either side, null where there is none; the last level of their index holds the edges.
    names : sequence
        The columns of the answer.
    time : name
        The column of the times of the rows.
    dtypes : sequence of dtype
        Of the answer's columns, before nulls for edges without a row change them.
    """
    library = library_of(before)
    edges = stored_numbers(_edges(before))
    sides = [column_of(frame, time) for frame in (before, ahead)]
    earlier, later = (stored_numbers(column) for column in sides)
    known, also = (library.valid(column) for column in sides)
    takes_earlier = known & (~also | (edges - earlier < later - edges))
    rows = library.xp.arange(len(before))
    rows = library.xp.where(takes_earlier, rows, rows + len(before))
    arrays = []
    for name, dtype in zip(names, dtypes, strict=True):
        columns = [column_of(frame, name) for frame in (before, ahead)]
        with naming("nearest", columns[:1]):
            both = [library.to_nullable(library.array(column)) for column in columns]
        array = library.take(library.concatenate(both), rows)
        is_full = library.missing(library.as_column(array)) is None
        arrays.append(library.cast(array, dtype) if is_full else array)
    return _with_columns(before, names, arrays)


def _edges(frame: Frame) -> Column:
    """Return the edges, which are the last level of the index."""
    library = library_of(frame)
    return library.index_level(frame, len(library.index_names(frame)) - 1)


def _with_columns(frame: Frame, names: Sequence[Hashable], arrays: list[Array]) -> Any:
    """Return a frame of columns of these names, with the index of a frame."""
    library = library_of(frame)
    return library.frame(arrays, list(names), library.index(frame), frame)


def append_inexact(frame: Frame, time: Hashable, name: str) -> Any:
    """Return edges and their rows with one more column: 1 where the time of the row is not that of the edge, else 0."""
    library = library_of(frame)
    edges, times = _edges(frame), column_of(frame, time)
    inexact = stored_numbers(edges) != stored_numbers(times)
    return library.append(frame, inexact.astype(INT64), name)


def near_enough(frame: Frame, names: Sequence[Hashable], number: Hashable, limit: int) -> Any:
    """Return these columns, null at edges whose number, counted from their row on, is above a limit."""
    library = library_of(frame)
    far = stored_numbers(column_of(frame, number)) > limit
    arrays = [library.array(column_of(frame, name)) for name in names]
    if bool(far.any()):
        arrays = [library.set_null(array, far) for array in arrays]
    return _with_columns(frame, names, arrays)


class FillEdges(Shift):
    """The value for edges without a row."""

    label = "asfreq"


def fill_edges(
    frame: Frame, names: Sequence[Hashable], time: Hashable, samples: Sequence[Column]
) -> Any:
    """Return these columns, each with the value of its sample at edges without a row, whose time is null."""
    library = library_of(frame)
    missing = library.missing(column_of(frame, time))
    rows = library.xp.arange(1, len(frame) + 1, dtype=INT64)
    if missing is not None:
        rows[missing] = 0
    arrays = []
    for name, sample in zip(names, samples, strict=True):
        array = library.array(column_of(frame, name))
        one = library.cast(library.array(sample), library.as_column(array).dtype)
        array = library.take(library.concatenate([one, array]), rows)
        arrays.append(library.cast(array, sample.dtype))
    return _with_columns(frame, names, arrays)


@dataclass(frozen=True)
class InsertEdges(SpanCarry):
    """The rows of a frame or series under their times, and null rows at the edges of buckets between them.

    A partition has the edges after the last time before it, up to its own last time.
    """

    time_column: TimeColumn
    edges: Buckets
    """Their labels are the edges."""
    names: tuple[Hashable, ...]
    """The columns that are kept."""
    in_parts: bool
    """Whether dtypes must hold null, even if there are no new rows."""
    ends: bool = False
    """Whether nothing follows."""

    label = "resample-edges"

    @property
    def final(self) -> InsertEdges:
        """The carry for the partition that nothing follows, which has all other edges."""
        return replace(self, ends=True)

    def apply(self, partition: Frame, prefix: Span | None) -> Any:
        library = library_of(partition)
        with library.acquire(partition):
            times = times_in_order(partition, self.time_column, prefix)
            prefix = prefix or Span()
            edges = self._edges(library, prefix, prefix.then(span_of(partition, self.time_column)))
            at = library.xp.searchsorted(times, edges)
            is_new = at == library.xp.searchsorted(times, edges, side="right")
            edges, at = edges[is_new], at[is_new]
            places = at + library.xp.arange(len(at))
            rows = library.xp.ones(len(times) + len(edges), INT64)
            rows[places] = 0
            rows = library.xp.cumsum(rows) - 1
            labels = times[rows] if len(times) else rows.copy()
            labels[places], rows[places] = edges, -1
            columns = [column_of(partition, name) for name in self.names]
            arrays = [self._with_nulls(column, rows, len(edges) > 0) for column in columns]
            index = self._index(partition, labels)
            return library.frame(arrays, list(self.names), index, partition)

    def _edges(self, library: Library, before: Span, span: Span) -> Values:
        """Return the edges after the last time before, up to the last time so far or, at the end, all others."""
        xp = library.xp
        if span.first is None or span.last is None:
            return xp.zeros(0, INT64)
        start = 0
        if before.last is not None:
            last = xp.asarray([before.last], INT64)
            start = int(self.edges.numbers(library, last, span.first)[0])
        stop = self.edges.count(span.first, span.last)
        self.edges.check_memory(stop - start, span.first, span.last, len(self.names))
        edges = stored(self.edges.labels(span, start, stop))
        if before.last is not None:
            edges = edges[edges > before.last]
        return xp.asarray(edges if self.ends else edges[edges <= span.last])

    def _with_nulls(self, column: Column, rows: Values, has_new: bool) -> Any:
        """Return the rows of a column at these positions, and null at -1."""
        library = library_of(column)
        array = library.array(column)
        if not (has_new or self.in_parts):
            return library.copy(array)
        with naming("interpolate", [column]):
            return library.take(library.to_nullable(array), rows, nulls=True)

    def _index(self, partition: Frame, labels: Values) -> Any:
        times = self.time_column.column(partition)
        return library_of(partition).key_index([times_of(times, labels)], [times.name])
