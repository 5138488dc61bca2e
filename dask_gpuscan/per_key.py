"""Group-by of rows in any order: states by key, in tables that partitions hand on.

Rows are brought together by the codes that their library gives equal keys, and back after the scan. A table has a
row for each key met so far, so carries grow with the number of keys. This module must never compare codes of two
calls: tables that meet are given codes together.
"""

from __future__ import annotations

import functools
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

from dask.dataframe.dask_expr import new_collection
from dask.dataframe.dask_expr._expr import Expr
from dask.task_spec import List, Task, TaskRef

from . import kernels
from .clustered import Clustered, ClusteredReduce, ClusteredScan
from .columns import Library, library_of
from .keys import Keys, any_null
from .lookback import is_lazy

FAN_IN = 16
"""Tables that one task of a reduction merges."""


@dataclass(frozen=True)
class Table:
    """Keys, one array a column, and the states of each operation, one item a key."""

    library: Library
    keys: list[Any]
    states: list[tuple[Any, ...]]


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


def table(carry: Clustered, operations: Sequence[Any], partition: Any) -> Table:
    """Return the states of a partition by key."""
    library = library_of(partition)
    with library.reading(partition):
        series = carry.by.series(partition)
        arrays = [library.array(c) for c in series]
        order, keys = _together(library, arrays)
        rows = partition.iloc[order]
        states = [
            operation.runs(carry.columns(rows, part), keys, False)[1]
            for part, operation in zip(carry.parts, operations, strict=True)
        ]
        first = order[_firsts(keys)]
        return Table(library, [library.take(a, first) for a in arrays], states)


def merge(operations: Sequence[Any], tables: Sequence[Table]) -> Table:
    """Return one table for several, given in the order of their rows."""
    if len(tables) == 1:
        return tables[0]
    library = tables[0].library
    arrays = [_joined(library, list(each)) for each in zip(*(t.keys for t in tables), strict=True)]
    order, keys = _together(library, arrays)
    states = []
    for i, operation in enumerate(operations):
        fields = zip(*(t.states[i] for t in tables), strict=True)
        joined = tuple(_rows(library, _joined(library, list(f)), order) for f in fields)
        states.append(operation.merge(library, joined, keys))
    first = order[_firsts(keys)]
    return Table(library, [library.take(a, first) for a in arrays], states)


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
            order, keys = _together(library, arrays)
            back = library.numbers.argsort(order, kind="stable")[before:]
            null = any_null(series) if self.carry.dropna else None
            found = []
            for i, (part, operation) in enumerate(
                zip(self.carry.parts, self.operations, strict=True)
            ):
                columns = self.carry.columns(met, part)
                if prefix is None:
                    rows = [library.unnamed(library.take(library.array(c), order)) for c in columns]
                    array = operation.apply(rows, keys, None, False)
                    array = library.take(array, back)
                else:
                    states = prefix.states[i]
                    array = operation.apply_after(columns, states, order, back, keys)
                found.append(array if null is None else library.nulled(array, null))
            return self._met(self.carry.build(met, found, met.index))


# --- reductions --------------------------------------------------------------------------------------


def _finish(carry: ClusteredReduce, meta: Any, tables: list[Table]) -> Any:
    """One row a key, in the order of the keys."""
    found = merge([part.operation for part in carry.parts], tables)
    library, keys = found.library, found.keys
    pairs = zip(carry.parts, found.states, strict=True)
    arrays = [p.operation.answer(carry.columns(meta, p), states) for p, states in pairs]
    if carry.dropna:
        null = any_null([library.unnamed(a) for a in keys])
        if null is not None:
            positions = library.numbers.flatnonzero(~null)
            keys = [library.take(a, positions) for a in keys]
            arrays = [library.take(a, positions) for a in arrays]
    return library.sort(carry.build(meta, arrays, library.key_index(keys, carry.by.columns)))


def _merge(operations: list[Any], tables: list[Table]) -> Table:
    return merge(operations, tables)


class TableReduce(Expr):  # type: ignore[misc]
    """A reduction of groups by a tree of tables, to one partition."""

    _parameters = ("frame", "carry")

    @functools.cached_property
    def _name(self) -> str:
        return f"{self.operand('carry').label}-{self.deterministic_token}"

    @functools.cached_property
    def _meta(self) -> Any:
        return self.operand("carry").meta(self.frame._meta)

    def _divisions(self) -> tuple[None, None]:
        return (None, None)

    def _layer(self) -> dict[Any, Task]:
        carry = self.operand("carry")
        operations = [part.operation for part in carry.parts]
        graph: dict[Any, Task] = {}
        keys: list[Any] = []
        key: Any
        for i in range(self.frame.npartitions):
            key = (f"table-{self._name}", 0, i)
            graph[key] = Task(key, table, carry, operations, TaskRef((self.frame._name, i)))
            keys.append(key)
        level = 0
        while len(keys) > FAN_IN:
            level += 1
            above = []
            for i in range(0, len(keys), FAN_IN):
                key = (f"table-{self._name}", level, i // FAN_IN)
                refs = List(*map(TaskRef, keys[i : i + FAN_IN]))
                graph[key] = Task(key, _merge, operations, refs)
                above.append(key)
            keys = above
        key = (self._name, 0)
        refs = List(*map(TaskRef, keys))
        graph[key] = Task(key, _finish, carry, self.frame._meta, refs)
        return graph


def reduce_by_table(obj: Any, carry: ClusteredReduce) -> Any:
    """Return a reduction of groups of a frame or series, of any kind, whose rows may be in any order."""
    if is_lazy(obj):
        carry.check(obj._meta)
        return new_collection(TableReduce(obj.expr, carry))
    carry.check(obj)
    operations = [part.operation for part in carry.parts]
    return _finish(carry, obj.iloc[:0], [table(carry, operations, obj)])
