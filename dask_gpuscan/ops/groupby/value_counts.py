"""How often each value occurs: tables of values and counts that merge, in the order in which values are met first."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from ... import kernels
from ...frames.key_values import words_of
from ...frames.keys import By, any_null, group_ids_of, is_first_of_group
from ...frames.messages import column_title, name_columns
from ...frames.protocol import Library
from ...frames.registry import Schema, common_schema, library_of, schema_of
from ...frames.types import Frame, GroupIds, Values
from ...kernels import BUILT_IN
from ...kernels.keys import factorize_words
from ...kernels.late_dataclass import dataclass
from ..core.carry import TreeReduction
from ..core.groups import INT64, ones
from ..statistics.groups import FLOAT64
from .hashed import CHUNKED, NumberedRows, first_rows, order_met
from .whole_groups import sorted_rows

FEW = 1 << 15
"""Integers up to which they are counted without a table that could merge with others.

Microseconds of 1,000 and of 10,000, with a table and without: 232, 121; 523, 286."""


@dataclass(frozen=True)
class Counts:
    """Distinct values as one array a column, and how often each was met."""

    library: Library
    values: list[Any]
    counts: Values
    schema: Schema


def _added(
    library: Library, values: list[Any], ids: GroupIds, counts: Values | None, schema: Schema
) -> Counts:
    """Add the counts of equal values, or count them; they stay in the order in which they are met first."""
    if counts is None and library.xp is np and len(ids.array) < CHUNKED:
        first = np.flatnonzero(is_first_of_group(ids))
        sums = np.bincount(ids.array).take(ids.array.take(first))
    else:
        groups, order = NumberedRows(library, ids).reducible()
        given = ones(library.xp, len(ids.array)) if counts is None else counts
        given = given if order is None else given[order]
        (sums,) = groups.reduce(BUILT_IN["add"], given, dtype=INT64)()
        first = first_rows(groups, order)
        met = order_met(groups, first)
        first, sums = first[met], sums[met]
    return Counts(library, [library.take(array, first) for array in values], sums, schema)


@dataclass(frozen=True)
class ValueCounts(TreeReduction):
    """The values of a series, or rows of columns, and their counts, or with `normalize` their shares, as a series."""

    by: By
    """The columns; without columns, the values of a series."""
    levels: bool = False
    """Whether the index has levels, if there is only one column, too."""
    normalize: bool = False
    sort: bool = True
    ascending: bool = False
    dropna: bool = True
    keys: int = 0
    """How many of the first columns are keys of groups, each with its own counts and shares."""
    drop_keys: bool = True
    sort_keys: bool = True
    """Whether groups are in the order of their keys; else values of all groups are in one order."""
    as_series: bool = False
    """Whether the last column is a series with keys before it; its dtype decides that of counts."""
    label = "value-counts"

    def check(self, frame: Frame) -> None:
        """Raise the errors that an empty series shows."""
        empty = library_of(frame).no_rows(frame)
        self.finish([self.table(empty)], empty)

    def meta(self, frame: Frame) -> Any:
        return self.finish([self.table(frame)], frame)

    def whole(self, frame: Frame) -> Any:
        """Output of one partition that is all rows; these show the errors of an empty series, too."""
        if frame.ndim == 1 and not self.normalize and len(frame) <= FEW:
            series: Any = frame
            values = library_of(series).array(series)
            if type(values) is np.ndarray and values.dtype.kind in "iu":
                return self._of_few(series, values)
        return self.finish([self.table(frame)], frame)

    def _of_few(self, series: Any, values: np.ndarray) -> Any:
        """Output for few integers: one thread numbers them as it meets them."""
        codes, first = factorize_words(words_of(values))
        counts = np.bincount(codes)
        if self.sort:
            short = counts.astype(np.uint16)  # NumPy sorts these by digits
            order = np.argsort(short if self.ascending else ~short, kind="stable")
            first, counts = first.take(order), counts.take(order)
        library = library_of(series)
        index = library.key_index([values.take(first)], [series.name])
        return library.series(counts, index, "count")

    def table(self, partition: Frame) -> Counts:
        library = library_of(partition)
        with library.acquire(partition):
            series = self.by.series(library, partition)
            arrays = [library.array(column) for column in series]
            counts: Any = None
            for i, always in enumerate(map(library.always_counted, arrays)):
                if always is None or i < self.keys:
                    continue
                if len(series) > 1:
                    raise TypeError(
                        f"value_counts of {column_title(series[i])}: pairs of categories that no row has would be "
                        f"counted, too; cast it with astype, or choose it as a Series"
                    )
                arrays = [library.concatenate([always, arrays[i]])]
                none = library.xp.zeros(len(always), INT64)
                counts = library.xp.concatenate([none, ones(library.xp, len(partition))])
            ids = group_ids_of(library, series, arrays)
            return _added(library, arrays, ids, counts, schema_of(partition))

    def merge(self, tables: Sequence[Counts]) -> Counts:
        library, schema = tables[0].library, common_schema([t.schema for t in tables])
        if len(tables) == 1:
            return tables[0]
        pairs = zip(*(t.values for t in tables), strict=True)
        values = [library.concatenate(list(arrays)) for arrays in pairs]
        counts = library.xp.concatenate([t.counts for t in tables])
        return _added(library, values, library.dense_group_ids(values), counts, schema)

    def finish(self, tables: Sequence[Counts], frame: Frame) -> Any:
        found = self.merge(tables)
        library, values, counts = found.library, found.values, found.counts
        dropped = [
            *(values[: self.keys] if self.drop_keys else ()),
            *(values[self.keys :] if self.dropna else ()),
        ]
        null = (
            any_null(library, [library.as_column(array) for array in dropped]) if dropped else None
        )
        if null is not None:
            rows = library.xp.flatnonzero(~null)
            values, counts = [library.take(array, rows) for array in values], counts[rows]
        if self.sort:
            order = kernels.argsort(counts, descending=not self.ascending)
            values, counts = [library.take(array, order) for array in values], counts[order]
        groups = self._groups(library, values)
        if groups is not None and self.sort_keys:
            order = kernels.argsort(groups)
            values, counts = [library.take(array, order) for array in values], counts[order]
            groups = groups[order]
        dtype = self._dtype(library, frame)
        layout = library.layout(dtype)
        assert layout is not None
        numbers = counts
        if self.normalize and groups is not None:
            numbers = counts / library.xp.bincount(groups, weights=counts)[groups]
        elif self.normalize:  # without values, categories have no share
            numbers = counts / (int(counts.sum()) or float("nan"))
        array = layout.wrap(numbers.astype(layout.storage(dtype)), None, dtype)
        names = [column.name for column in self.by.series(library, frame)]
        index = library.key_index(values, names, levels=self.levels)
        return library.series(array, index, "proportion" if self.normalize else "count")

    def _groups(self, library: Library, values: list[Any]) -> Values | None:
        """Return the number of the group of each row, in the order of the keys; None without keys."""
        if not self.keys:
            return None
        xp, keys = library.xp, values[: self.keys]
        ids = library.dense_group_ids(keys)
        codes, most = ids.array, ids.groups
        rows = xp.full(most, -1, INT64)
        rows[codes] = xp.arange(len(codes), dtype=INT64)
        present = xp.flatnonzero(rows >= 0)
        firsts = [library.take(array, rows[present]) for array in keys]
        order = sorted_rows(library, firsts, range(self.keys))
        numbers = xp.zeros(most, INT64)
        numbers[present[order]] = xp.arange(len(order), dtype=INT64)
        return numbers[codes]

    def _dtype(self, library: Library, frame: Frame) -> Any:
        if self.by.columns and not self.as_series:
            return FLOAT64 if self.normalize else INT64
        column = self.by.series(library, frame)[-1]
        dtype_of = library.group_dtype if self.keys else library.answer_dtype
        try:
            return dtype_of("value_counts", column.dtype, normalize=self.normalize)
        except (TypeError, ValueError) as error:
            name_columns(error, "value_counts", [column])
            raise
