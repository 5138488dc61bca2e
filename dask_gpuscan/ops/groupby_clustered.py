"""Group-by where equal keys are adjacent: one pass, over any number of partitions, in the rows' own order.

The aggregate of a partition is its last group; reductions write the groups that end in a partition, scans go on
where the group before left off. This module must never look for a key in other rows than its neighbours.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

from ..frames.keys import any_null, boundary_key, key_arrays
from ..frames.protocol import Library
from ..frames.registry import library_of
from .grouped_columns import GroupedColumns
from .groups import AdjacentGroups, OneGroup
from .operation import GroupOperation, GroupReduction, GroupScan, Part
from .runs import Open, OpenRuns, Runs, runs_of


@dataclass(frozen=True)
class Clustered(GroupedColumns, OpenRuns):
    """What both carries share."""

    parts: tuple[Part[GroupOperation], ...] = ()
    sorts: bool = False
    """Whether rows with equal keys, which are the index, share a partition, but perhaps in any order."""

    def order(self, partition: Any) -> Any:
        """Return the rows of a partition in the order of their keys, as positions; None if they are."""
        library = library_of(partition)
        index = library.index(partition)
        return library.argsort_index(index) if self.sorts and not library.is_sorted(index) else None

    def open_run(self, partition: Any, start: int | None = None) -> Open:
        order = self.order(partition)
        if order is not None:
            partition, start = library_of(partition).rows(partition, order), None
        return super().open_run(partition, start)

    def states(self, partition: Any, start: int, stop: int) -> tuple[Any, ...]:
        slice_ = library_of(partition).slice_column
        begun = [
            p.operation.aggregate(
                [slice_(c, start, stop) for c in self.columns(partition, p)], OneGroup(self.reverse)
            )
            for p in self.parts
        ]
        return tuple(wait() for wait in begun)

    def join(self, states: Sequence[tuple[Any, ...]]) -> tuple[Any, ...]:
        pairs = zip(self.parts, zip(*states, strict=True), strict=True)
        return tuple(part.operation.combine(each) for part, each in pairs)


@dataclass(frozen=True)
class ClusteredReduce(Clustered):
    """One row a group, in order of appearance."""

    parts: tuple[Part[GroupReduction], ...] = ()
    ends: bool = False
    """Whether nothing follows, so that the open group ends too."""

    @property
    def final(self) -> ClusteredReduce:
        """The carry for the partition that nothing follows."""
        return replace(self, ends=True)

    def meta(self, frame: Any) -> Any:
        return self.final.apply(library_of(frame).no_rows(frame), None)

    def apply(self, partition: Any, prefix: Open | None) -> Any:
        with library_of(partition).reading(partition):
            return self.by_key(partition, *self.closed(partition, prefix))

    def closed(self, partition: Any, prefix: Open | None) -> tuple[list[Any], list[Any]]:
        """Return the keys of the groups that end in a partition, and their answers, as arrays."""
        runs, _, arrays = self.ended(partition, prefix)
        return runs.keys(), arrays

    def ended(self, partition: Any, prefix: Open | None) -> tuple[Runs, Any, list[Any]]:
        """Return the runs that end in a partition, where all of its own start, and the answers of those that end."""
        library = library_of(partition)
        prefix = prefix or Open(0, None, 0)
        order = self.order(partition)
        partition = partition if order is None else library.rows(partition, order)
        series = self.by.series(partition)
        keys = key_arrays(series)
        groups = AdjacentGroups(keys)
        found = []
        for part in self.parts:
            columns = self.columns(partition, part)
            found.append((part.operation, columns, part.operation.aggregate(columns, groups)()))
        runs = runs_of(series, groups.first_rows, prefix.border, self.ends)
        carried = prefix.states or (None,) * len(found)
        arrays = [
            operation.finalize_runs(columns, states, runs, before)
            for (operation, columns, states), before in zip(found, carried, strict=True)
        ]
        return runs, groups.first_rows, arrays

    def by_key(self, frame: Any, keys: list[Any], arrays: list[Any]) -> Any:
        """Make the keys of groups and their answers the result, without null keys if these are left out."""
        library = library_of(frame)
        null = any_null([library.as_column(a) for a in keys]) if self.dropna else None
        if null is not None:
            positions = library.xp.flatnonzero(~null)
            keys = [library.take(a, positions) for a in keys]
            arrays = [self.take_groups(library, a, positions) for a in arrays]
        return self.build_groups(frame, keys, arrays)

    def build_groups(self, frame: Any, keys: list[Any], arrays: list[Any]) -> Any:
        """Make the keys of groups, and their answers, the result."""
        return self.build(frame, arrays, library_of(frame).key_index(keys, self.by.columns))

    def take_groups(self, library: Library, array: Any, groups: Any) -> Any:
        """Return the answers of some groups."""
        return library.take(array, groups)


@dataclass(frozen=True)
class ClusteredScan(Clustered):
    """One row a row: scans that restart where keys change."""

    parts: tuple[Part[GroupScan], ...] = ()
    reverse: bool = False
    keeps_index = True

    def meta(self, frame: Any) -> Any:
        return self.apply(library_of(frame).no_rows(frame), None)

    def apply(self, partition: Any, prefix: Open | None) -> Any:
        order = self.order(partition)
        if order is None:
            return self._apply(partition, prefix)
        library = library_of(partition)
        back = library.xp.argsort(order)
        return library.rows(self._apply(library.rows(partition, order), prefix), back)

    def _apply(self, partition: Any, prefix: Open | None) -> Any:
        library = library_of(partition)
        with library.reading(partition):
            series = self.by.series(partition)
            keys = key_arrays(series)
            continues = False
            if prefix is not None and prefix.border is not None and len(partition):
                near = boundary_key(series, len(partition) - 1 if self.reverse else 0)
                continues = near.values == prefix.border.values
            carried: tuple[Any, ...] = (None,) * len(self.parts)
            if continues:
                assert prefix is not None
                carried = prefix.states
            null = any_null(series) if self.dropna else None
            groups = AdjacentGroups(keys, continues, self.reverse)
            arrays = []
            for part, before in zip(self.parts, carried, strict=True):
                columns = self.columns(partition, part)
                array = part.operation.apply(columns, groups, before)
                arrays.append(self.in_groups(library, array, null))
            return self.build(partition, arrays, library.index(partition))
