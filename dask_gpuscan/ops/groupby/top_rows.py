"""Rows with the largest or smallest values, of a frame or of each group, in the order of these values.

A partition, or several, hand on the rows that may be in the answer.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from ... import kernels
from ...frames.keys import By, any_null, named_keys
from ...frames.messages import HINT, column_title
from ...frames.protocol import Library
from ...frames.registry import Schema, common_schema, library_of, schema_of
from ...frames.types import Array, ArrayModule, Column, Frame, Values
from ...kernels.late_dataclass import dataclass
from ...kernels.sorted_values import searchsorted_sorted
from ..core.carry import TreeReduction
from ..core.groups import INT64
from ..windows.exact import holds_decimals
from ..windows.halo import joined_rows
from .whole_groups import sorted_rows

KEEP = ("first", "last", "all")

MANY, MANY_ON_GPU = 1 << 13, 1 << 23
"""Rows from which on those that cannot be in the answer are left out before the others are sorted.

Microseconds of `nlargest` of 10,000 rows, if all are sorted and if not: floats 419, 239; integers below 10 205, 217.
On a GPU looking for them takes the host longer than sorting all: 2**20 float64 3.5 ms on an H100, the sort 0.9."""


@dataclass(frozen=True)
class Top:
    """Which rows have the largest or the smallest values.

    Parameters
    ----------
    n : int
        How many, of all rows or of each group; not negative.
    largest : bool
    keep : {"first", "last", "all"}
        Which rows with the last value that is taken; "last" is for one column.
    called : str, optional
        The method that asks for them, if it is neither `nlargest` nor `nsmallest`.
    """

    n: int
    largest: bool
    keep: str = "first"
    called: str | None = None

    @property
    def method(self) -> str:
        """The name of the method that asks for them."""
        return self.called or ("nlargest" if self.largest else "nsmallest")

    @property
    def most(self) -> int:
        """How many rows are handed on: one more than `n`, so that the end knows whether there are more."""
        return self.n + (self.keep != "all")

    def check(self, column: Column) -> None:
        """Raise a TypeError for a column whose values are neither numbers, decimals nor times."""
        if holds_decimals(column):
            return
        layout = library_of(column).layout(column.dtype)
        if layout is None or layout.storage(column.dtype).kind not in "biuf":
            raise TypeError(
                f"{self.method} of {column_title(column)}: dtype {column.dtype} is neither of numbers nor "
                f"of times; {HINT}"
            )

    def order(
        self,
        library: Library,
        columns: Sequence[Column],
        codes: Values | None,
        left_out: Values | None,
        final: bool,
    ) -> tuple[Values, Values]:
        """Return rows in the order of values, by group, and the place of each in its group.

        Parameters
        ----------
        library : Library
        columns : sequence of columns
        codes : array, optional
            Of groups; by default all rows are one group.
        left_out : array of bool, optional
            Rows that are not returned.
        final : bool
            Whether no other rows of the groups follow.
        """
        xp, count = library.xp, len(columns[0])
        keys: list[Values] = [] if codes is None else [codes]
        tied, descending = list(keys), [False] * len(keys)
        nulls: list[Any] = [None] * len(keys)
        for column in columns:
            missing, (values, null) = library.missing(column), _sort_key(column)
            if missing is not None:
                values = xp.where(missing, values.dtype.type(0), values)
                null = kernels.byte_mask(missing)
                tied.append(missing)
            keys, nulls, descending = [*keys, values], [*nulls, null], [*descending, self.largest]
            tied.append(values)
        numbers = xp.arange(count, dtype=INT64)
        if self.keep == "last":  # the last of equal values comes first, unless all rows are taken
            from_first = xp.zeros(count, bool) if missing is None else missing
            if final:
                rows = count if codes is None else xp.bincount(codes, minlength=1)[codes]
                from_first = from_first | (rows <= self.n)
            keys = [*keys, xp.where(from_first, numbers, -numbers)]
            nulls, descending = [*nulls, None], [*descending, False]
        order = kernels.argsort(keys, nulls=nulls, descending=descending)
        if left_out is not None:
            order = order[~left_out[order]]
        starts = numbers[:1]
        if codes is not None:
            starts, lengths = kernels.run_length_encode(codes[order])
        if self.keep != "all":
            begin = 0 if codes is None else kernels.run_length_decode(lengths, [starts])[0]
            return order, numbers[: len(order)] - begin
        # equal values have one place
        ties, lengths = kernels.run_length_encode([array[order] for array in tied])
        begin = starts[searchsorted_sorted(ties, starts, "right") - 1]
        return order, kernels.run_length_decode(lengths, [ties - begin])[0]


def _sort_key(column: Column) -> tuple[Values, kernels.Nulls]:
    """Return numbers in the order of a column, and its nulls: ranks for decimals of 128 bits."""
    values, nulls = library_of(column).sort_key(column)
    if values.dtype.kind != "V":
        return values, nulls
    order = kernels.argsort([values])
    ordered = values[order]
    ranks = np.zeros(len(values), INT64)
    ranks[order[1:]] = np.cumsum(ordered[1:] != ordered[:-1])
    return ranks, nulls


# --- of all rows -------------------------------------------------------------------------------------


@dataclass(frozen=True)
class SomeRows:
    """Rows of partitions in their order."""

    rows: Any
    schema: Schema


@dataclass(frozen=True)
class TopOfAll(TreeReduction):
    """The rows with the largest or the smallest values of columns.

    Parameters
    ----------
    by : By
        The columns; without names, the values of a series.
    top : Top
    """

    by: By
    top: Top

    @property
    def label(self) -> str:
        return self.top.method

    def check(self, frame: Frame) -> None:
        """Raise the errors that a user should see early."""
        for column in self.by.series(library_of(frame), frame):
            self.top.check(column)

    def meta(self, frame: Frame) -> Any:
        none = library_of(frame).no_rows(frame)
        return self.finish([self.table(none)], none)

    def table(self, partition: Frame) -> SomeRows:
        return SomeRows(self._some(partition), schema_of(partition))

    def merge(self, tables: Sequence[SomeRows]) -> SomeRows:
        schema = common_schema([t.schema for t in tables])
        if len(tables) == 1:
            return tables[0]
        return SomeRows(self._some(joined_rows([t.rows for t in tables])), schema)

    def finish(self, tables: Sequence[SomeRows], frame: Frame) -> Any:
        return self._first(self.merge(tables).rows)

    def whole(self, frame: Frame) -> Any:
        """Output of one partition that is all rows, which are sorted once."""
        self.check(frame)
        return self._first(frame)

    def _first(self, frame: Frame) -> Any:
        """Return the rows of the answer, in the order of their values."""
        library = library_of(frame)
        with library.acquire(frame):
            frame = self._near(library, frame)
            return library.rows(frame, self._taken(library, frame, self.top.n, final=True))

    def _some(self, frame: Frame) -> Any:
        """Return the rows that may be in the answer, in their own order."""
        library = library_of(frame)
        with library.acquire(frame):
            frame = self._near(library, frame)
            rows = self._taken(library, frame, self.top.most, final=False)
            return library.rows(frame, kernels.sort(rows))

    def _taken(self, library: Library, frame: Frame, most: int, final: bool) -> Values:
        """Return the rows with the first `most` places, in the order of their values."""
        order, places = self.top.order(library, self.by.series(library, frame), None, None, final)
        return order[places < most] if self.top.keep == "all" else order[:most]

    def _near(self, library: Library, frame: Frame) -> Any:
        """Return the rows whose first value is at least as good as the last one that may be taken."""
        xp, column = library.xp, self.by.series(library, frame)[0]
        if len(frame) < (MANY if xp is np else MANY_ON_GPU):
            return frame
        missing, (values, _) = library.missing(column), _sort_key(column)
        known = values if missing is None else values[~missing]
        most = self.top.n + 1
        if len(known) <= most:
            return frame
        last = _bound(xp, known, most, self.top.largest)
        near = ~(values < last if self.top.largest else values > last)  # NaN that is not null, too
        return library.rows(frame, xp.flatnonzero(near if missing is None else near & ~missing))


SAMPLE = 1 << 14
"""How many values the sample for a bound has."""

SPARE = 8
"""How many times as many values of the sample lie beyond the bound as beyond an exact one."""


def _bound(xp: ArrayModule, values: Values, most: int, largest: bool) -> Any:
    """Return a bound that at least `most` values reach: from a sample, or the exact one if too few reach that."""
    for step in (max(1, len(values) // SAMPLE), 1):
        some = values[::step]
        wanted = most if step == 1 else min(len(some), SPARE * (1 + most // step))
        place = len(some) - wanted if largest else wanted - 1
        last = xp.partition(some, place)[place]
        beyond = values >= last if largest else values <= last
        if step == 1 or int(xp.count_nonzero(beyond)) >= most:
            break
    return last


# --- of each group -----------------------------------------------------------------------------------


@dataclass(frozen=True)
class TopRowsTable:
    """Rows of partitions in their own order, as arrays."""

    library: Library
    keys: list[Any]
    groups: list[Any]
    """The arrays that identify groups: the keys, or one array of numbers."""
    levels: list[Any]
    """The levels of the index."""
    values: Any
    schema: Schema

    def joined(self, later: Sequence[TopRowsTable]) -> TopRowsTable:
        """Return these rows and later ones."""
        every = [self, *later]

        def join(arrays: list[list[Any]]) -> list[Any]:
            return [self.library.concatenate(list(same)) for same in zip(*arrays, strict=True)]

        return replace(
            self,
            keys=join([rows.keys for rows in every]),
            groups=join([rows.groups for rows in every]),
            levels=join([rows.levels for rows in every]),
            values=self.library.concatenate([rows.values for rows in every]),
        )

    def take(self, positions: Values) -> TopRowsTable:
        """Return the rows at these positions."""

        def take(arrays: list[Array]) -> list[Any]:
            return [self.library.take(array, positions) for array in arrays]

        return replace(
            self,
            keys=take(self.keys),
            groups=take(self.groups),
            levels=take(self.levels),
            values=self.library.take(self.values, positions),
        )


@dataclass(frozen=True)
class TopRows(TreeReduction):
    """The rows of each group with the largest or the smallest values, by group and in the order of values.

    Parameters
    ----------
    by : By
        Keys, which become levels of the index.
    column : hashable
        Of the values.
    name : hashable
        Of the answer.
    top : Top
    dropna : bool
        Leave out rows with a null key.
    group : hashable, optional
        The column that numbers groups; by default equal keys are a group, and groups are in the order of keys.
    """

    by: By
    column: Any
    name: Any
    top: Top
    dropna: bool = True
    group: Any = None

    @property
    def label(self) -> str:
        return f"groupby-{self.top.method}"

    def check(self, frame: Frame) -> None:
        """Raise the errors that a user should see early."""
        self.top.check(self.by.column(library_of(frame), frame, self.column))

    def meta(self, frame: Frame) -> Any:
        none = library_of(frame).no_rows(frame)
        return self.finish([self.table(none)], none)

    def table(self, partition: Frame) -> TopRowsTable:
        library = library_of(partition)
        with library.acquire(partition):
            series = self.by.series(library, partition)
            groups = keys = [library.array(c) for c in series]
            if self.group is not None:
                groups = [library.array(library.column(partition, self.group))]
            count = len(library.index_names(partition))
            levels = [library.array(library.index_level(partition, i)) for i in range(count)]
            values = library.array(self.by.column(library, partition, self.column))
            rows = TopRowsTable(library, keys, groups, levels, values, schema_of(partition))
            with named_keys(series):
                return self._top(rows)

    def merge(self, tables: Sequence[TopRowsTable]) -> TopRowsTable:
        common_schema([t.schema for t in tables])
        return self._top(tables[0].joined(tables[1:])) if len(tables) > 1 else tables[0]

    def finish(self, tables: Sequence[TopRowsTable], frame: Frame) -> Any:
        rows = self.merge(tables)
        library = rows.library
        with library.acquire(frame):
            order, places, codes = self._ordered(rows, final=True)
            order, codes = order[places < self.top.n], codes[places < self.top.n]
            if self.group is None:
                numbers = self._numbers_of_groups(library, rows.keys, order, codes)
                order = order[kernels.argsort(numbers)]
            found = rows.take(order)
            names = [*self.by.columns, *library.index_names(frame)]
            index = library.key_index([*found.keys, *found.levels], names)
            return library.series(found.values, index, self.name)

    def _numbers_of_groups(
        self, library: Library, keys: list[Column], order: Values, codes: Values
    ) -> Values:
        """The number of the group of each row in the order of keys."""
        starts, lengths = kernels.run_length_encode(codes)
        groups = [library.take(key, order[starts]) for key in keys]
        sorted_groups = sorted_rows(library, groups, self.by.columns)
        numbers = library.xp.empty(len(starts), INT64)
        numbers[sorted_groups] = library.xp.arange(len(starts))
        return kernels.run_length_decode(lengths, [numbers])[0]

    def _top(self, rows: TopRowsTable) -> TopRowsTable:
        """Return the rows that may be in the answer, in their own order."""
        order, places, _ = self._ordered(rows, final=False)
        return rows.take(kernels.sort(order[places < self.top.most]))

    def _ordered(self, rows: TopRowsTable, final: bool) -> tuple[Values, Values, Values]:
        """Rows by group and value, the place of each in its group, and its group; without those in no group."""
        library = rows.library
        codes = library.dense_group_ids(rows.groups).array
        null_key = (
            any_null(library, [library.as_column(k) for k in rows.keys]) if self.dropna else None
        )
        columns = [library.as_column(rows.values)]
        order, places = self.top.order(library, columns, codes, null_key, final)
        return order, places, codes[order]
