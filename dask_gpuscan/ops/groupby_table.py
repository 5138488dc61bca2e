"""Group-by of rows in any order: states by key, in tables that partitions hand on.

A library gives equal keys equal codes. On CPUs the state of each code stands in a table as rows are walked in their own
order; on GPUs rows are brought together by code, and back after the scan. What partitions hand on has a row for each
key met so far, so carries grow with the number of keys. This module must never compare codes of two
calls: tables that meet are given codes together.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from .. import kernels
from ..frames.keys import Codes, Keys, any_null
from ..frames.protocol import Library
from ..frames.registry import Schema, common_schema, library_of, schema_of
from .groupby_clustered import Clustered, ClusteredReduce, ClusteredScan
from .groups import AdjacentGroups, CodedGroups, Groups, SortedGroups
from .operation import GroupOperation, GroupReduction, GroupScan


@dataclass(frozen=True)
class Table:
    """Keys, one array a column, and the states of each operation, one item a key."""

    library: Library
    keys: list[Any]
    states: list[tuple[Any, ...]]
    schema: Schema
    """Of the partitions that it stands for."""


def _rows(library: Library, x: Any, positions: Any) -> Any:
    return x[positions] if isinstance(x, library.xp.ndarray) else library.take(x, positions)


def _joined(library: Library, parts: list[Any]) -> Any:
    if isinstance(parts[0], library.xp.ndarray):
        return library.xp.concatenate(parts)
    return library.concatenate(parts)


def _sorted(library: Library, keys: list[Any]) -> tuple[Any, Keys]:
    """Return an order of rows in which equal keys are adjacent and else as they were, and the keys in it."""
    codes = library.group_codes(keys)
    order = library.xp.argsort(codes, kind="stable")
    return order, Keys([codes[order]], [None])


def _coded(library: Library, keys: list[Any]) -> CodedGroups:
    """Return the groups of equal keys, of which each has a row."""
    codes, first_rows = kernels.number_codes(*library.dense_codes(keys))
    return CodedGroups(Codes(codes, len(first_rows)), first_rows=first_rows)


def _scans_by_code(library: Library, operations: Sequence[GroupScan]) -> bool:
    """Whether rows stay where they are and states are looked up by code: on CPUs a sort takes much longer."""
    return library.scans_by_code and not any(o.needs_neighbours for o in operations)


def table(
    carry: Clustered, operations: Sequence[GroupOperation], partition: Any, by_code: bool
) -> Table:
    """Return the states of a partition by key."""
    library = library_of(partition)
    with library.reading(partition):
        series = carry.by.series(partition)
        arrays = [library.array(c) for c in series]
        groups: CodedGroups | AdjacentGroups
        if by_code:
            groups, rows = _coded(library, arrays), partition
        else:
            order, keys = _sorted(library, arrays)
            groups, rows = AdjacentGroups(keys), library.rows(partition, order)
        parts = zip(carry.parts, operations, strict=True)
        begun = [o.aggregate(carry.columns(rows, p), groups) for p, o in parts]
        states = [wait() for wait in begun]
        first = groups.first_rows if by_code else order[groups.first_rows]
        taken = [library.take(a, first) for a in arrays]
        return Table(library, taken, states, schema_of(partition))


def merge(operations: Sequence[GroupOperation], tables: Sequence[Table], by_code: bool) -> Table:
    """Return one table for several, given in the order of their rows."""
    if len(tables) == 1:
        return tables[0]
    library, schema = tables[0].library, common_schema([t.schema for t in tables])
    arrays = [_joined(library, list(each)) for each in zip(*(t.keys for t in tables), strict=True)]
    fields = [
        tuple(_joined(library, list(f)) for f in zip(*(t.states[i] for t in tables), strict=True))
        for i in range(len(operations))
    ]
    groups: CodedGroups | AdjacentGroups
    if by_code:
        groups = _coded(library, arrays)
        first = groups.first_rows
    else:
        order, keys = _sorted(library, arrays)
        groups = AdjacentGroups(keys)
        fields = [tuple(_rows(library, f, order) for f in each) for each in fields]
        first = order[groups.first_rows]
    states = [o.merge(library, f, groups) for o, f in zip(operations, fields, strict=True)]
    return Table(library, [library.take(a, first) for a in arrays], states, schema)


# --- scans -------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class KeyedScan:
    """A scan within groups whose rows may lie anywhere."""

    carry: ClusteredScan
    columnwise = False
    keeps_index = True

    @property
    def label(self) -> str:
        return self.carry.label

    @property
    def reverse(self) -> bool:
        return self.carry.reverse

    def _met(self, partition: Any) -> Any:
        """The rows in the order in which they are met."""
        if not self.reverse:
            return partition
        return library_of(partition).rows(partition, slice(None, None, -1))

    @property
    def _operations(self) -> list[GroupScan]:
        return [part.operation for part in self.carry.parts]

    def check(self, frame: Any) -> None:
        self.carry.check(frame)

    def meta(self, frame: Any) -> Any:
        return self.apply(library_of(frame).no_rows(frame), None)

    def aggregate(self, partition: Any) -> Table:
        operations = self._operations
        by_code = _scans_by_code(library_of(partition), operations)
        return table(self.carry, operations, self._met(partition), by_code)

    def combine(self, aggregates: Sequence[Table]) -> Table:
        operations = self._operations
        return merge(operations, aggregates, _scans_by_code(aggregates[0].library, operations))

    def apply(self, partition: Any, prefix: Table | None) -> Any:
        library, met = library_of(partition), self._met(partition)
        with library.reading(partition):
            series = self.carry.by.series(met)
            arrays = [library.array(c) for c in series]
            before = 0
            if prefix is not None:
                pairs = zip(prefix.keys, arrays, strict=True)
                arrays = [library.concatenate([a, b]) for a, b in pairs]
                before = len(arrays[0]) - len(met)
            null = any_null(series) if self.carry.dropna else None
            groups: Groups
            alone = False  # whether the groups of all rows had none before, and rows are sorted
            if _scans_by_code(library, self._operations):
                codes, most = library.dense_codes(arrays)
                groups = CodedGroups(Codes(codes[before:], most), codes[:before])
            else:
                order, keys = _sorted(library, arrays)
                back = library.xp.argsort(order, kind="stable")[before:]
                groups = SortedGroups(library.xp, keys, order, back, before)
                alone = prefix is None
            states = [None] * len(self.carry.parts) if prefix is None else prefix.states
            found = []
            for part, prior in zip(self.carry.parts, states, strict=True):
                columns = self.carry.columns(met, part)
                if alone:
                    taken = [library.take(library.array(c), order) for c in columns]
                    rows = [library.as_column(array) for array in taken]
                    array = part.operation.apply(rows, AdjacentGroups(keys), None)
                    array = library.take(array, back)
                else:
                    array = part.operation.apply(columns, groups, prior)
                found.append(self.carry.in_groups(library, array, null))
            return self._met(self.carry.build(met, found, library.index(met)))


# --- reductions --------------------------------------------------------------------------------------


@dataclass(frozen=True)
class KeyedReduce:
    """A reduction of groups whose rows may lie anywhere, to one row a key, in the order of the keys."""

    carry: ClusteredReduce

    @property
    def label(self) -> str:
        """Name of the reduction."""
        return self.carry.label

    @property
    def _operations(self) -> list[GroupReduction]:
        return [part.operation for part in self.carry.parts]

    def check(self, frame: Any) -> None:
        """Raise the errors that a user should see early."""
        self.carry.check(frame)

    def meta(self, frame: Any) -> Any:
        """Empty output for an empty input."""
        none = library_of(frame).no_rows(frame)
        return self.finish([self.table(none)], none)

    def table(self, partition: Any) -> Table:
        """Return the states of a partition by key."""
        library = library_of(partition)
        return table(self.carry, self._operations, partition, library.scans_by_code)

    def merge(self, tables: Sequence[Table]) -> Table:
        """Return one table for several, given in the order of their rows."""
        return merge(self._operations, tables, tables[0].library.scans_by_code)

    def finish(self, tables: Sequence[Table], frame: Any) -> Any:
        """Return the answers of all keys."""
        carry, found = self.carry, self.merge(tables)
        library = found.library
        pairs = zip(carry.parts, found.states, strict=True)
        arrays = [p.operation.finalize(carry.columns(frame, p), states) for p, states in pairs]
        return library.sort_by_index(carry.by_key(frame, found.keys, arrays))
