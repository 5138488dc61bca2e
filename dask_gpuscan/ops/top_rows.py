"""The largest or smallest values of each group.

The rows of a partition that may be among the answer stand for it; so do those among the rows of several partitions.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from .. import kernels
from ..frames.keys import By, any_null
from ..frames.messages import column_title
from ..frames.protocol import Library, Values
from ..frames.registry import Schema, common_schema, library_of, schema_of
from .groupby_together import sorted_rows
from .groups import INT64

KEEP = ("first", "last", "all")


@dataclass(frozen=True)
class Rows:
    """Rows of partitions in their order."""

    frame: Any
    schema: Schema


@dataclass(frozen=True)
class TopRows:
    """At most so many rows of each group, with the largest or the smallest values, by group and in their order.

    Parameters
    ----------
    by : By
        Keys, which become levels of the index.
    name : hashable
        The column of the values.
    n : int
        Not negative.
    largest : bool
    keep : {"first", "last", "all"}
        Which rows with the last value that is taken.
    dropna : bool
        Leave out rows with a null key.
    group : hashable, optional
        The column that numbers groups; by default equal keys are a group, and groups are in the order of keys.
    """

    by: By
    name: Any
    n: int
    largest: bool
    keep: str = "first"
    dropna: bool = True
    group: Any = None

    @property
    def label(self) -> str:
        return f"groupby-{self._method}"

    @property
    def _method(self) -> str:
        return "nlargest" if self.largest else "nsmallest"

    def check(self, frame: Any) -> None:
        """Raise the errors that a user should see early."""
        column = self.by.column(frame, self.name)
        library = library_of(column)
        layout = library.layout(column.dtype)
        if layout is None or layout.storage(column.dtype).kind not in "biuf":
            raise TypeError(
                f"{self._method} of {column_title(column)}: dtype {column.dtype} is neither of numbers nor "
                f"of times; choose another column, or cast it with astype"
            )

    def meta(self, frame: Any) -> Any:
        none = library_of(frame).no_rows(frame)
        return self.finish([self.table(none)], none)

    def table(self, partition: Any) -> Rows:
        return Rows(self._top(partition), schema_of(partition))

    def merge(self, tables: Sequence[Rows]) -> Rows:
        schema = common_schema([t.schema for t in tables])
        if len(tables) == 1:
            return tables[0]
        library = library_of(tables[0].frame)
        return Rows(self._top(library.stack([t.frame for t in tables])), schema)

    def finish(self, tables: Sequence[Rows], frame: Any) -> Any:
        rows = self.merge(tables).frame
        library = library_of(rows)
        with library.reading(rows):
            order, places, codes = self._ordered(library, rows, final=True)
            order, codes = order[places < self.n], codes[places < self.n]
            keys = [library.array(c) for c in self.by.series(rows)]
            if self.group is None:
                order = order[kernels.argsort(self._numbers_of_groups(library, keys, order, codes))]
            count = len(library.index_names(rows))
            levels = [library.array(library.index_level(rows, i)) for i in range(count)]
            arrays = [library.take(a, order) for a in (*keys, *levels)]
            values = library.take(library.array(self.by.column(rows, self.name)), order)
            index = library.key_index(arrays, [*self.by.columns, *library.index_names(rows)])
            return library.series(values, index, self.name)

    def _numbers_of_groups(
        self, library: Library, keys: list[Any], order: Values, codes: Values
    ) -> Values:
        """The number of the group of each row in the order of keys."""
        starts, lengths = kernels.run_length_encode(codes)
        groups = [library.take(key, order[starts]) for key in keys]
        sorted_groups = sorted_rows(library, library.key_index(groups, self.by.columns))
        numbers = library.xp.empty(len(starts), INT64)
        numbers[sorted_groups] = library.xp.arange(len(starts))
        return kernels.run_length_decode(lengths, [numbers])[0]

    def _top(self, frame: Any) -> Any:
        """The rows that may be among the answer, in their order.

        They are one more of each group than asked for, so that the end knows which groups have more.
        """
        library = library_of(frame)
        with library.reading(frame):
            order, places, _ = self._ordered(library, frame, final=False)
            rows = order[places < self.n + (self.keep != "all")]
            return library.rows(frame, kernels.sort(rows))

    def _ordered(self, library: Library, frame: Any, final: bool) -> tuple[Values, Values, Values]:
        """Rows by group and value, the place of each in its group, and its group; without those in no group."""
        xp = library.xp
        series, column = self.by.series(frame), self.by.column(frame, self.name)
        grouped = series if self.group is None else [library.column(frame, self.group)]
        codes = library.group_codes([library.array(c) for c in grouped]).astype(INT64)
        missing = library.missing(column)
        values, nulls = library.sort_key(column)
        if missing is not None:
            values = xp.where(missing, values.dtype.type(0), values)
            nulls = kernels.byte_mask(missing)
        keys, key_nulls = [codes, values], [None, nulls]
        rows = xp.arange(len(frame), dtype=INT64)
        if self.keep == "last":  # of equal values the last comes first, unless all rows are taken
            from_first = xp.zeros(len(frame), bool) if missing is None else missing
            if final:
                from_first = from_first | (xp.bincount(codes, minlength=1)[codes] <= self.n)
            keys, key_nulls = [*keys, xp.where(from_first, rows, -rows)], [*key_nulls, None]
        descending = [False, self.largest, False][: len(keys)]
        order = kernels.argsort(keys, nulls=key_nulls, descending=descending)
        null_key = any_null(series) if self.dropna else None
        if null_key is not None:
            order = order[~null_key[order]]
        codes = codes[order]
        heads = [codes]
        if self.keep == "all":  # equal values have one place
            heads = [codes, values[order], *([] if missing is None else [missing[order]])]
        starts, _ = kernels.run_length_encode(codes)
        ties, lengths = kernels.run_length_encode(heads)
        begin = starts[xp.searchsorted(starts, ties, side="right") - 1]
        if self.keep == "all":
            places = kernels.run_length_decode(lengths, [ties - begin])[0]
        else:
            places = rows[: len(order)] - kernels.run_length_decode(lengths, [begin])[0]
        return order, places, codes
