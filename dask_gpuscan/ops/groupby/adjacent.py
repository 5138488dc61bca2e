"""Group-by where equal keys are adjacent: one pass, over any number of partitions, in the rows' own order.

The aggregate of a partition is its last group. Reductions write the groups that end in a partition, and scans continue
the group before. The check that equal keys are adjacent hands on the keys of all runs so far.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import pyarrow as pa

from ... import kernels
from ...frames.key_values import Missing
from ...frames.keys import By, any_null, boundary_key, key_arrays, key_scalar
from ...frames.protocol import Library
from ...frames.registry import library_of
from ...frames.types import Array, Column, Frame
from ...kernels.late_dataclass import dataclass
from ..core.carry import DataFrameCarry
from ..core.columnwise import of_one_group
from ..core.groups import INT64, AdjacentGroups, OneGroup
from ..runs import EndedRuns, Open, OpenRuns, places, runs_of
from .hashed import NumberedRows, first_rows, last_of_groups
from .spec import GroupBySpec


@dataclass(frozen=True)
class _Adjacent(OpenRuns):
    """The base of reductions and scans.

    Parameters
    ----------
    spec : GroupBySpec
    sorts : bool
        Whether rows must be sorted: equal keys, which are the index, share a partition, perhaps in any order.
    """

    spec: GroupBySpec
    sorts: bool = False

    @property
    def by(self) -> By:
        return self.spec.by

    @property
    def label(self) -> str:
        return self.spec.label

    def check(self, frame: Frame) -> None:
        self.spec.check(frame)

    def order(self, library: Library, partition: Frame) -> Any:
        """Return the rows of a partition in the order of their keys, as positions; None if they are in order."""
        index = library.index(partition)
        return library.argsort_index(index) if self.sorts and not library.is_sorted(index) else None

    def open_run(
        self, library: Library, partition: Frame, series: list[Column], start: int | None = None
    ) -> Open:
        order = self.order(library, partition)
        if order is not None:
            partition = library.rows(partition, order)
            series, start = self.by.series(library, partition), None
        return super().open_run(library, partition, series, start)

    def states(self, partition: Frame, start: int, stop: int) -> tuple[Any, ...]:
        library, spec = library_of(partition), self.spec
        begun = []
        for part, planned in zip(spec.parts, spec.planned(library, partition, False), strict=True):
            columns, operation, _ = planned
            columns = [library.slice_column(c, start, stop) for c in columns]
            try:
                begun.append(operation.aggregate(columns, OneGroup(self.reverse)))
            except TypeError as error:
                part.refuse(error)
        return tuple(wait() for wait in begun)

    def join(self, states: Sequence[tuple[Any, ...]]) -> tuple[Any, ...]:
        joined = []
        for part, each in zip(self.spec.parts, zip(*states, strict=True), strict=True):
            try:
                joined.append(part.operation.combine(each))
            except TypeError as error:
                part.refuse(error)
        return tuple(joined)


@dataclass(frozen=True)
class AdjacentReduce(_Adjacent):
    """One row for each group, in order of appearance."""

    ends: bool = False
    """Whether nothing follows, so that the open group ends too."""

    @property
    def final(self) -> AdjacentReduce:
        """The carry for the partition that nothing follows."""
        return replace(self, ends=True)

    def meta(self, frame: Frame) -> Any:
        return self.final.apply(library_of(frame).no_rows(frame), None)

    def apply(self, partition: Frame, prefix: Open | None) -> Any:
        library = library_of(partition)
        with library.acquire(partition):
            return self.spec.from_groups(library, partition, *self.closed(partition, prefix))

    def closed(self, partition: Frame, prefix: Open | None) -> tuple[list[Any], list[Any]]:
        """Return the keys of the groups that end in a partition, and their answers, as arrays."""
        runs, _, arrays = self.ended(partition, prefix)
        return runs.keys(), arrays

    def ended(self, partition: Frame, prefix: Open | None) -> tuple[EndedRuns, Any, list[Any]]:
        """Return the runs that end in a partition, the starts of all its own runs, and the answers of ended ones."""
        library = library_of(partition)
        prefix = prefix or Open(0, None, 0)
        order = self.order(library, partition)
        partition = partition if order is None else library.rows(partition, order)
        series = self.by.series(library, partition)
        keys = key_arrays(library, series)
        groups = AdjacentGroups(keys)
        parts = self.spec.parts
        reduced: list[Any] = [None] * len(parts)
        # reductions that read all rows find the starts of groups on the way
        for i in sorted(range(len(parts)), key=lambda i: parts[i].operation.at_borders):
            columns = self.spec.columns(library, partition, parts[i])
            try:
                reduced[i] = parts[i].operation.reduce_runs(columns, groups)
            except TypeError as error:
                parts[i].refuse(error)
        runs = runs_of(library, series, groups.first_rows, prefix.border, self.ends)
        carried = prefix.states or (None,) * len(reduced)
        arrays = []
        for part, answer, before in zip(parts, reduced, carried, strict=True):
            try:
                arrays.append(answer(runs, before))
            except TypeError as error:
                part.refuse(error)
        return runs, groups.first_rows, arrays


@dataclass(frozen=True)
class RunAggregates(AdjacentReduce):
    """One row a run, with its place among all rows; a null equals a null."""

    def apply(self, partition: Frame, prefix: Open | None) -> Any:
        library = library_of(partition)
        with library.acquire(partition):
            runs, starts, answers = self.ended(partition, prefix)
            ends = library.xp.append(starts[1:], library.xp.asarray([len(partition)], INT64))
            lengths = ends[: len(starts)] - starts
            before = prefix or Open(0, None, 0)
            numbers = map(library.from_integers, places(library, runs, lengths, before))
            names = [
                *self.by.columns,
                "run_start",
                "run_length",
                *(p.name for p in self.spec.parts),
            ]
            arrays = [*runs.keys(), *numbers, *answers]
            return library.frame(arrays, names, library.range_index(0, runs.count))


@dataclass(frozen=True)
class AdjacentScan(_Adjacent):
    """One row for each row: scans that restart where keys change."""

    keeps_index = True

    @property
    def reverse(self) -> bool:
        return self.spec.reverse

    def meta(self, frame: Frame) -> Any:
        return self.apply(library_of(frame).no_rows(frame), None)

    def apply(self, partition: Frame, prefix: Open | None) -> Any:
        library = library_of(partition)
        order = self.order(library, partition)
        if order is None:
            return self._apply(library, partition, prefix)
        back = library.xp.argsort(order)
        return library.rows(self._apply(library, library.rows(partition, order), prefix), back)

    def _apply(self, library: Library, partition: Frame, prefix: Open | None) -> Any:
        spec = self.spec
        with library.acquire(partition):
            series = self.by.series(library, partition)
            keys = key_arrays(library, series)
            continues = False
            if prefix is not None and prefix.border is not None and len(partition):
                near = boundary_key(library, series, len(partition) - 1 if self.reverse else 0)
                continues = near.values == prefix.border.values
            carried: tuple[Any, ...] = (None,) * len(spec.parts)
            if continues:
                assert prefix is not None
                carried = prefix.states
            null = any_null(library, series) if spec.dropna else None
            groups = AdjacentGroups(keys, continues, self.reverse)
            arrays = []
            for part, planned, before in zip(
                spec.parts, spec.planned(library, partition, False), carried, strict=True
            ):
                columns, operation, _ = planned
                array = operation.apply(columns, groups, before)
                arrays.append(spec.in_groups(part, columns, array, null))
            return spec.build(library, partition, arrays, library.index(partition))

    def last(self, frame: Frame, seen: Open) -> Any:
        if seen.border is None:
            return None
        library = library_of(frame)
        keys = self.by.series(library, frame)
        rows = zip(seen.border.rows, keys, strict=True)
        arrays = [library.repeat(row, 1, key.dtype) for row, key in rows]
        states = [of_one_group(library, each) for each in seen.states]
        return last_of_groups(self.spec, frame, library, arrays, states)


# --- the check ---------------------------------------------------------------------------------------


@dataclass(frozen=True)
class RunKeys:
    """The keys of runs, in the order of the runs."""

    library: Library
    arrays: list[Array]
    """One array for each key column, with one row for each run."""


@dataclass(frozen=True)
class CheckAdjacent(DataFrameCarry):
    """Passes rows through; raises a ValueError at the partition in which a key comes back after another one."""

    by: By
    dropna: bool = True
    label = "check-clustered"
    columnwise = keeps_index = True

    @property
    def key_columns(self) -> list[Any]:
        """The key columns, which are always read."""
        return [name for name in self.by.columns if name not in self.by.levels]

    def check(self, frame: Frame) -> None:
        self.by.check(frame)

    def meta(self, frame: Frame) -> Any:
        return library_of(frame).no_rows(frame)

    def aggregate(self, partition: Frame) -> RunKeys:
        library = library_of(partition)
        with library.acquire(partition):
            series = self.by.series(library, partition)
            keys = key_arrays(library, series)
            starts, _ = kernels.run_length_encode(keys.arrays, nulls=keys.nulls)
            return RunKeys(library, [library.take(library.array(c), starts) for c in series])

    def combine(self, aggregates: Sequence[RunKeys]) -> RunKeys:
        library = aggregates[0].library
        arrays = [
            library.concatenate(list(each))
            for each in zip(*(a.arrays for a in aggregates), strict=True)
        ]
        # a run that crosses a border is one run
        starts, _ = kernels.run_length_encode(library.dense_group_ids(arrays).array)
        return RunKeys(library, [library.take(a, starts) for a in arrays])

    def apply(self, partition: Frame, prefix: RunKeys | None) -> Any:
        found = self.aggregate(partition)
        if prefix is not None:
            found = self.combine([prefix, found])
        library = found.library
        with library.acquire(partition):
            columns = [library.as_column(a) for a in found.arrays]
            again = library.xp.ones(len(columns[0]), bool)
            numbered = NumberedRows(library, library.dense_group_ids(found.arrays))
            again[first_rows(*numbered.reducible())] = False
            null = any_null(library, columns) if self.dropna else None
            if null is not None:
                again &= ~null
            if bool(again.any()):
                self._refuse(library, columns, int(again.argmax()))
        return partition

    def _refuse(self, library: Library, columns: list[Column], run: int) -> None:
        found = boundary_key(library, columns, run)
        pairs = zip(found.values, found.rows, strict=True)
        values = [
            None if value is Missing.NULL else _plain(key_scalar(row)) for value, row in pairs
        ]
        key = values[0] if len(values) == 1 else tuple(values)
        names = ", ".join(map(repr, self.by.columns))
        raise ValueError(
            f"clustered='check': key {key!r} of {names} comes back after another key; sort the rows by "
            f"{names}, or leave out clustered"
        )


def _plain(value: Any) -> Any:
    """Return the value of a key as messages show it."""
    if isinstance(value, pa.Scalar):
        # Python has no nanoseconds, and no years above 9999
        is_time = pa.types.is_temporal(value.type) and not pa.types.is_interval(value.type)
        return (value.cast(pa.string()) if is_time else value).as_py()
    return value.item() if isinstance(value, np.number | np.bool_) else value
