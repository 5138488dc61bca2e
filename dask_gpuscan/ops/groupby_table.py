"""Group-by of rows in any order: states by key, in tables that partitions hand on.

A library gives equal keys equal codes. On CPUs the state of each code stands in a table as rows are walked in their own
order; on GPUs rows are brought together by code, and back after the scan. What partitions hand on has a row for each
key met so far, so carries grow with the number of keys. This module must never compare codes of two
calls: tables that meet are given codes together.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from .. import kernels
from ..frames.keys import Codes, Keys, any_null
from ..frames.protocol import Library
from ..frames.registry import library_of
from .carry import Schema, common_schema, schema_of
from .groupby_clustered import Clustered, ClusteredReduce, ClusteredScan


@dataclass(frozen=True)
class Table:
    """Keys, one array a column, and the states of each operation, one item a key."""

    library: Library
    keys: list[Any]
    states: list[tuple[Any, ...]]
    schema: Schema
    """Of the partitions that it stands for."""


def _rows(library: Library, x: Any, positions: Any) -> Any:
    return x[positions] if kernels.is_array(x) else library.take(x, positions)


def _joined(library: Library, parts: list[Any]) -> Any:
    if kernels.is_array(parts[0]):
        return library.numbers.concatenate(parts)
    return library.concatenate(parts)


def _together(library: Library, keys: list[Any]) -> tuple[Any, Keys]:
    """Return an order of rows in which equal keys are adjacent and else as they were, and the keys in it."""
    codes = library.group_codes(keys)
    order = library.numbers.argsort(codes, kind="stable")
    return order, Keys([codes[order]], [None])


def _firsts(keys: Keys) -> Any:
    starts, _ = kernels.run_length_encode(keys.arrays)
    return starts


def _coded(library: Library, operations: Sequence[Any]) -> bool:
    """Whether rows stay where they are, and states are looked up by code: on CPUs a sort takes much longer."""
    return library.scans_by_code and all(hasattr(o, "apply_by_code") for o in operations)


def _codes(library: Library, keys: list[Any]) -> Codes:
    codes = library.group_codes(keys)
    return Codes(codes, int(codes.max()) + 1 if len(codes) else 0)


def _first_rows(codes: Codes) -> Any:
    """The row in which each code is met first."""
    first = np.empty(codes.groups, np.int64)
    first[codes.array[::-1]] = np.arange(len(codes.array) - 1, -1, -1)
    return first


def table(carry: Clustered, operations: Sequence[Any], partition: Any) -> Table:
    """Return the states of a partition by key."""
    library = library_of(partition)
    with library.reading(partition):
        series = carry.by.series(partition)
        arrays = [library.array(c) for c in series]
        parts = list(zip(carry.parts, operations, strict=True))
        if _coded(library, operations):
            codes = _codes(library, arrays)
            states = [o.states_by_code(carry.columns(partition, p), codes) for p, o in parts]
            first = _first_rows(codes)
        else:
            order, keys = _together(library, arrays)
            rows = partition.iloc[order]
            states = [o.runs(carry.columns(rows, p), keys, False)[1] for p, o in parts]
            first = order[_firsts(keys)]
        taken = [library.take(a, first) for a in arrays]
        return Table(library, taken, states, schema_of(partition))


def merge(operations: Sequence[Any], tables: Sequence[Table]) -> Table:
    """Return one table for several, given in the order of their rows."""
    if len(tables) == 1:
        return tables[0]
    library, schema = tables[0].library, common_schema([t.schema for t in tables])
    arrays = [_joined(library, list(each)) for each in zip(*(t.keys for t in tables), strict=True)]
    order, keys = _together(library, arrays)
    states = []
    for i, operation in enumerate(operations):
        fields = zip(*(t.states[i] for t in tables), strict=True)
        joined = tuple(_rows(library, _joined(library, list(f)), order) for f in fields)
        states.append(operation.merge(library, joined, keys))
    first = order[_firsts(keys)]
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
        """Name of the scan."""
        return self.carry.label

    @property
    def reverse(self) -> bool:
        """Whether rows are met from the last to the first."""
        return self.carry.reverse

    @property
    def operations(self) -> list[Any]:
        """The scans, of rows in the order in which they are met."""
        found = [part.operation for part in self.carry.parts]
        return [replace(o, reverse=False) for o in found] if self.reverse else found

    def check(self, frame: Any) -> None:
        self.carry.check(frame)

    def meta(self, frame: Any) -> Any:
        return self.carry.meta(frame)

    def _met(self, partition: Any) -> Any:
        return partition.iloc[::-1] if self.reverse else partition

    def aggregate(self, partition: Any) -> Table:
        return table(self.carry, self.operations, self._met(partition))

    def combine(self, aggregates: Sequence[Table]) -> Table:
        return merge(self.operations, aggregates)

    def apply(self, partition: Any, prefix: Table | None) -> Any:
        library = library_of(partition)
        met = self._met(partition)
        with library.reading(partition):
            series = self.carry.by.series(met)
            arrays = [library.array(c) for c in series]
            before = 0
            if prefix is not None:
                arrays = [
                    library.concatenate([a, b]) for a, b in zip(prefix.keys, arrays, strict=True)
                ]
                before = len(arrays[0]) - len(met)
            null = any_null(series) if self.carry.dropna else None
            scan = self._by_code if _coded(library, self.operations) else self._sorted
            found = [
                self.carry.in_groups(library, array, null)
                for array in scan(library, met, arrays, prefix, before)
            ]
            return self._met(self.carry.build(met, found, met.index))

    def _inputs(self, rows: Any) -> list[tuple[Any, list[Any]]]:
        """Each scan and its columns."""
        parts = zip(self.operations, self.carry.parts, strict=True)
        return [(operation, self.carry.columns(rows, part)) for operation, part in parts]

    def _by_code(
        self, library: Library, met: Any, arrays: list[Any], prefix: Table | None, before: int
    ) -> list[Any]:
        """Scan rows where they are: the keys of the prefix, which come first, have the first codes."""
        codes = _codes(library, arrays)
        codes = Codes(codes.array[before:], codes.groups)
        return [
            operation.apply_by_code(columns, codes, None if prefix is None else prefix.states[i])
            for i, (operation, columns) in enumerate(self._inputs(met))
        ]

    def _sorted(
        self, library: Library, met: Any, arrays: list[Any], prefix: Table | None, before: int
    ) -> list[Any]:
        """Scan rows in the order of their keys, and bring the answers back."""
        order, keys = _together(library, arrays)
        back = library.numbers.argsort(order, kind="stable")[before:]
        found = []
        for i, (operation, columns) in enumerate(self._inputs(met)):
            if prefix is None:
                rows = [library.unnamed(library.take(library.array(c), order)) for c in columns]
                array = library.take(operation.apply(rows, keys, None, False), back)
            else:
                array = operation.apply_after(columns, prefix.states[i], order, back, keys)
            found.append(array)
        return found


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
    def _operations(self) -> list[Any]:
        return [part.operation for part in self.carry.parts]

    def check(self, frame: Any) -> None:
        """Raise the errors that a user should see early."""
        self.carry.check(frame)

    def meta(self, frame: Any) -> Any:
        """Empty output for an empty input."""
        return self.carry.meta(frame)

    def table(self, partition: Any) -> Table:
        """Return the states of a partition by key."""
        return table(self.carry, self._operations, partition)

    def merge(self, tables: Sequence[Table]) -> Table:
        """Return one table for several, given in the order of their rows."""
        return merge(self._operations, tables)

    def finish(self, tables: Sequence[Table], frame: Any) -> Any:
        """Return the answers of all keys."""
        carry, found = self.carry, self.merge(tables)
        library, keys = found.library, found.keys
        pairs = zip(carry.parts, found.states, strict=True)
        arrays = [p.operation.answer(carry.columns(frame, p), states) for p, states in pairs]
        if carry.dropna:
            null = any_null([library.unnamed(a) for a in keys])
            if null is not None:
                positions = library.numbers.flatnonzero(~null)
                keys = [library.take(a, positions) for a in keys]
                arrays = [library.take(a, positions) for a in arrays]
        return library.sort(carry.build(frame, arrays, library.key_index(keys, carry.by.columns)))
