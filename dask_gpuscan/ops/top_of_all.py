"""The rows of a frame or series with the largest or smallest values, in the order of these.

The rows of a partition that may be among the answer stand for it; so do those among the rows of several partitions.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from .. import kernels
from ..frames.keys import By
from ..frames.protocol import Library, Values
from ..frames.registry import Schema, common_schema, library_of, schema_of
from .halo import joined_rows
from .top_rows import Top

MANY = 1 << 16
"""Rows from which on those that cannot be among the answer are left out before others are sorted."""


@dataclass(frozen=True)
class SomeRows:
    """Rows of partitions in their order."""

    rows: Any
    schema: Schema


@dataclass(frozen=True)
class TopOfAll:
    """At most so many rows with the largest or the smallest values of columns.

    Parameters
    ----------
    by : By
        The columns; none are a series' own values.
    top : Top
    """

    by: By
    top: Top

    @property
    def label(self) -> str:
        return self.top.method

    def check(self, frame: Any) -> None:
        """Raise the errors that a user should see early."""
        for column in self.by.series(frame):
            self.top.check(column)

    def meta(self, frame: Any) -> Any:
        none = library_of(frame).no_rows(frame)
        return self.finish([self.table(none)], none)

    def table(self, partition: Any) -> SomeRows:
        return SomeRows(self._some(partition), schema_of(partition))

    def merge(self, tables: Sequence[SomeRows]) -> SomeRows:
        schema = common_schema([t.schema for t in tables])
        if len(tables) == 1:
            return tables[0]
        return SomeRows(self._some(joined_rows([t.rows for t in tables])), schema)

    def finish(self, tables: Sequence[SomeRows], frame: Any) -> Any:
        rows = self.merge(tables).rows
        library = library_of(rows)
        with library.reading(rows):
            order, places = self.top.order(library, self.by.series(rows), None, None, final=True)
            return library.rows(rows, order[places < self.top.n])

    def _some(self, frame: Any) -> Any:
        """The rows that may be among the answer, in their order."""
        library = library_of(frame)
        with library.reading(frame):
            near = self._near(library, frame)
            frame = frame if near is None else library.rows(frame, near)
            order, places = self.top.order(library, self.by.series(frame), None, None, final=False)
            return library.rows(frame, kernels.sort(order[places < self.top.most]))

    def _near(self, library: Library, frame: Any) -> Values | None:
        """The rows whose first value is among the last that may be taken or beyond it; None if all may be."""
        xp, column = library.xp, self.by.series(frame)[0]
        missing, (values, _) = library.missing(column), library.sort_key(column)
        known = values if missing is None else values[~missing]
        most = self.top.n + 1
        if len(frame) < MANY or len(known) <= most:
            return None
        place = len(known) - most if self.top.largest else most - 1
        last = xp.partition(known, place)[place]
        near = ~(values < last if self.top.largest else values > last)  # NaN that is not null, too
        return xp.flatnonzero(near if missing is None else near & ~missing)
