"""Group-by where equal keys may be anywhere: partitions hand on tables of states by key, and tables merge.

The library gives each row the number of its group. A table holds the state of each group while rows are walked in their
own order. Rows of many groups on a GPU, and rows that are compared with the one before in their group, are sorted by
group, and put back after the scan. A table has a row for each key so far, so it grows with the number of keys. Numbers
of groups must never be compared between two calls: tables that merge are numbered together. Streams use `hashed_scan`
instead.
"""

from __future__ import annotations

import math
from collections.abc import Hashable, Sequence
from dataclasses import replace
from itertools import islice
from typing import Any

import numpy as np

from ... import kernels
from ...frames.keys import Keys, any_null, dense_ids, group_ids_of, is_first_of_group
from ...frames.protocol import Library
from ...frames.registry import Schema, common_schema, library_of, names_of, schema_of
from ...frames.types import Array, Column, Frame, GroupIds, Values
from ...kernels.by_code import max_groups
from ...kernels.factorize import most_arranged, occurring
from ...kernels.late_dataclass import dataclass
from ..core.carry import DataFrameCarry, TreeReduction
from ..core.columnwise import map_outputs, one_table
from ..core.groups import AdjacentGroups, Groups, NumberedGroups, States
from ..core.operation import Needs
from ..core.sorted_groups import SortedGroups
from ..time.sessions import CountGaps, last_times
from ..time.time_column import times_of
from .spec import GroupBySpec, key_order


@dataclass(frozen=True, eq=False)
class Table:
    """Keys, one array for each column, and the states of each operation, one item for each key."""

    library: Library
    keys: list[Array]
    states: list[States]
    schema: Schema
    """The schema of the partitions that it stands for."""
    ordered: bool = False
    """Whether groups are known to be in the order of their keys, without null keys."""

    @property
    def fits(self) -> bool:
        """Whether there are keys, as may not be in a file."""
        return bool(self.keys)

    @property
    def times(self) -> Any:
        """Of sessions, the time of the last row of each key."""
        return last_times(self.states[0])

    def take(self, positions: Values) -> Table:
        """Return the rows of the keys at some positions, in their order."""
        library = self.library
        keys = [library.take(key, positions) for key in self.keys]
        states = [tuple([rows_at(library, x, positions) for x in each]) for each in self.states]
        return replace(self, keys=keys, states=states)

    def arrays(self) -> list[Any]:
        """Return the arrays of the states."""
        return [x for each in self.states for x in each]

    def of(self, keys: list[Array], arrays: list[Array], count: int) -> Table:
        """Return a table of other keys, given the arrays of their states."""
        given = iter(arrays)
        states = [tuple(islice(given, len(each))) for each in self.states]
        return replace(self, keys=keys, states=states, ordered=False)


def rows_at(library: Library, x: Array | Values, positions: Values) -> Any:
    """Return the rows of an array, of numbers or of a library, at some positions."""
    return x[positions] if isinstance(x, library.xp.ndarray) else library.take(x, positions)


def joined_arrays(library: Library, parts: list[Array]) -> Any:
    """Return the rows of several such arrays as one."""
    if isinstance(parts[0], library.xp.ndarray):
        return library.xp.concatenate(parts)
    return library.concatenate(parts)


def in_order(library: Library, columns: Sequence[Column], order: Values | None) -> list[Any]:
    """Return columns with their rows in an order; unchanged without an order."""
    if order is None:
        return list(columns)
    return [library.as_column(library.take(library.array(c), order), c.name) for c in columns]


def put_back(library: Library, array: Array, order: Values) -> Any:
    """Return an array whose rows are in an order with each row back in its place."""
    layout = library.layout(array.dtype)
    if layout is None:
        return library.take(array, kernels.put(library.xp.arange(len(order)), order, check=False))
    view = layout.raw(array)
    missing = None if view.nulls is None else kernels.put(view.missing(), order, check=False)
    return layout.wrap(kernels.put(view.values, order, check=False), missing, array.dtype)


@dataclass(frozen=True)
class NumberedRows:
    """The number of each row's group; numbers may be unused."""

    library: Library
    ids: GroupIds

    @property
    def are_few(self) -> bool:
        """Whether there is room for the states of all groups, so that no row need be moved, which takes longer."""
        most = max_groups(self.ids.array)
        return most is None or self.ids.groups <= most

    def reducible(
        self, adjacent: bool = False, gaps: bool = False
    ) -> tuple[NumberedGroups | AdjacentGroups, Any]:
        """Return the groups that have rows, which can be reduced, and a new order of the rows or None.

        With `gaps` there may be codes without rows, if the keys of groups are known and groups are many.
        """
        if self.are_few and not adjacent:
            ids = self.ids
            found = with_gaps(ids, SPACE) if gaps else None
            if found is not None:
                return found, None
            return NumberedGroups(dense_ids(ids)), None
        order, keys = self.sorted()
        return AdjacentGroups(keys), order

    def scannable(self) -> Groups:
        """Return all groups, whose rows can be scanned; some may have no rows."""
        if self.are_few:
            return NumberedGroups(self.ids)
        order, keys = self.sorted()
        return SortedGroups(self.library.xp, keys, order, 0)

    def sorted(self) -> tuple[Any, Keys]:
        """Return a stable order of rows in which equal keys are adjacent, and the keys in it."""
        (codes,), (order,) = kernels.sort_pairs(self.ids.array, [], positions="narrow")
        return order, Keys([codes], [None])


def with_gaps(ids: GroupIds, space: float = math.inf) -> NumberedGroups | None:
    """Return the groups that have rows, if their keys are known without rows and there are many; else None.

    In NumPy, groups are many if they, or rows, are not reduced in chunks of rows, because the bits then are those of
    groups without gaps, and if there are no more than `space` numbers for each.
    """
    if ids.keys_of is None:
        return None
    if len(ids.array) < CHUNKED and ids.groups <= SMALL:
        return NumberedGroups(ids, has_gaps=True)
    few = most_arranged(ids.array)
    enough = max(few if len(ids.array) >= CHUNKED else 0, ids.groups / space) if few else -1
    if min(len(ids.array), ids.groups) <= enough:
        return None
    if enough < 0:
        return NumberedGroups(ids, has_gaps=True)
    found = occurring(ids.array, ids.groups, check=False)
    return NumberedGroups(ids, has_gaps=True, occurring=found) if len(found) > enough else None


CHUNKED = 1 << 18
"""Rows from which on kernels may reduce groups in chunks."""

SMALL = 1 << 12
"""Numbers of groups whose states, with gaps, cost nothing."""

SPACE = 4
"""The most numbers a group up to which their states are kept with gaps.

Sums of 10**6 rows on two cores, milliseconds, without gaps and with them: 1.6 numbers a group 16.4, 8.6; 15 numbers 44,
71; variances 35, 34; 64, 162."""


def first_rows(groups: NumberedGroups | AdjacentGroups, order: Values | None) -> Any:
    """Return the row in which each group is met first."""
    return (
        groups.first_rows if order is None else kernels.take(order, groups.first_rows, check=False)
    )


def order_met(groups: NumberedGroups | AdjacentGroups, first: Values) -> Any:
    """Return the groups in the order in which they are met first, given the first row of each."""
    if isinstance(groups, NumberedGroups):
        codes = groups.codes
        few = isinstance(first, np.ndarray) and len(first) <= FEW
        if few and bool((first[1:] > first[:-1]).all()):  # numbers are in that order
            return np.arange(len(first))
        if len(codes.array) < MANY_GROUPS * len(first):
            (met,) = kernels.select([codes.array], is_first_of_group(codes))
            return met.astype(np.int64, copy=False)
    return kernels.argsort(first)


FEW = 1 << 12
"""Groups that are looked at to see whether they are in order already."""

MANY_GROUPS = 8
"""Rows a group up to which looking at each row is faster than sorting the groups."""


def table(spec: GroupBySpec, partition: Frame, adjacent: bool = False) -> Table:
    """Return the states of a partition by key; operations may need equal keys to be adjacent."""
    return grouped(spec, partition, adjacent, spec.sort)[0]


def grouped(
    spec: GroupBySpec, partition: Frame, adjacent: bool, gaps: bool
) -> tuple[Table, NumberedGroups | AdjacentGroups]:
    """Return the states of a partition by key, and the groups of its rows."""
    library = library_of(partition)
    pairs = spec.planned(library, partition, False)
    return _grouped(library, spec, partition, adjacent, gaps, pairs, schema_of(partition))


def _grouped(
    library: Library,
    spec: GroupBySpec,
    partition: Frame,
    adjacent: bool,
    gaps: bool,
    pairs: list[tuple[list[Any], Any, Any]],
    schema: Schema,
) -> tuple[Table, NumberedGroups | AdjacentGroups]:
    with library.acquire(partition):
        series = spec.by.series(library, partition)
        arrays = list(map(library.array, series))
        numbered = NumberedRows(library, group_ids_of(library, series, arrays))
        groups, order = numbered.reducible(adjacent, gaps)
        begun = []
        for part, (columns, operation, _) in zip(spec.parts, pairs, strict=True):
            try:
                if order is not None:
                    columns = in_order(library, columns, order)
                begun.append(operation.aggregate(columns, groups))
            except TypeError as error:
                part.refuse(error)
        states = [wait() for wait in begun]
        return _table(spec, numbered, arrays, groups, order, states, schema), groups


def _table(
    spec: GroupBySpec,
    numbered: NumberedRows,
    arrays: list[Array],
    groups: NumberedGroups | AdjacentGroups,
    order: Values | None,
    states: list[States],
    schema: Schema,
) -> Table:
    """Return the table of groups of rows with these keys."""
    library, ids = numbered.library, numbered.ids
    if isinstance(groups, NumberedGroups) and groups.has_gaps:
        assert ids.keys_of is not None
        return Table(library, ids.keys_of(groups.occurring), states, schema, ids.ordered)
    first = first_rows(groups, order)
    found = Table(library, [library.take(a, first) for a in arrays], states, schema, ids.ordered)
    return found if spec.sort else _by_appearance(found, groups, first)


def merge(spec: GroupBySpec, tables: Sequence[Table], adjacent: bool = False) -> Table:
    """Return one table for several, given in the order of their rows."""
    return tables[0] if len(tables) == 1 else merged(spec, tables, adjacent, spec.sort)[0]


def merged(
    spec: GroupBySpec, tables: Sequence[Table], adjacent: bool, gaps: bool
) -> tuple[Table, NumberedGroups | AdjacentGroups]:
    """Return one table for several, and the groups of their keys."""
    library, schema = tables[0].library, common_schema([t.schema for t in tables])
    arrays = [
        joined_arrays(library, list(each)) for each in zip(*(t.keys for t in tables), strict=True)
    ]
    numbered = NumberedRows(library, library.dense_group_ids(arrays))
    groups, order = numbered.reducible(adjacent, gaps)
    states = merged_states(spec, library, [t.states for t in tables], groups, order)
    return _table(spec, numbered, arrays, groups, order, states, schema), groups


def merged_states(
    spec: GroupBySpec,
    library: Library,
    states: Sequence[list[tuple[Any, ...]]],
    groups: NumberedGroups | AdjacentGroups,
    order: Values | None,
) -> list[tuple[Any, ...]]:
    """Return the states of groups whose rows are the states of several tables, in this order unless it is None."""
    merged = []
    for part, each in zip(spec.parts, zip(*states, strict=True), strict=True):
        fields = tuple(joined_arrays(library, list(field)) for field in zip(*each, strict=True))
        if order is not None:
            fields = tuple(rows_at(library, field, order) for field in fields)
        try:
            merged.append(part.operation.merge(library, fields, groups))
        except TypeError as error:
            part.refuse(error)
    return merged


def _by_appearance(found: Table, groups: NumberedGroups | AdjacentGroups, first: Values) -> Table:
    """Return a table with its groups in the order of the rows in which they are met first."""
    order, library = order_met(groups, first), found.library
    states = [tuple(rows_at(library, f, order) for f in each) for each in found.states]
    keys = [library.take(k, order) for k in found.keys]
    return replace(found, keys=keys, states=states, ordered=False)


# --- scans -------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class TableScan(DataFrameCarry):
    """One row for each row: scans within groups, by tables that merge."""

    spec: GroupBySpec
    keeps_index = True
    window = 4
    """Tables are large, and each partition merges those of its window before it.

    Measured over 100 partitions of 200,000 rows with 10**6 keys, processor seconds: 2 3.6, 4 3.3, 16 4.8."""

    @property
    def label(self) -> str:
        return self.spec.label

    @property
    def reverse(self) -> bool:
        return self.spec.reverse

    @property
    def grouped_by(self) -> Sequence[Hashable]:
        return self.spec.by.columns

    @property
    def columns_in_states(self) -> Sequence[Sequence[int]]:
        return [getattr(part.operation, "columns_in_states", ()) for part in self.spec.parts]

    def time_dtype(self, frame: Frame) -> Any:
        first = next(iter(self.spec.parts), None)
        if first is None or not isinstance(first.operation, CountGaps):
            return None
        return self.spec.columns(library_of(frame), frame, first)[0].dtype

    @property
    def adjacent(self) -> bool:
        return self.spec.needs is Needs.NEIGHBOURS

    def check(self, frame: Frame) -> None:
        self.spec.check(frame)

    def meta(self, frame: Frame) -> Any:
        library = library_of(frame)
        none = library.no_rows(frame)
        return self.spec.without_rows(library, none, library.index(none))

    def aggregate(self, partition: Frame) -> Table:
        if self.reverse:
            partition = library_of(partition).rows(partition, slice(None, None, -1))
        return table(self.spec, partition, self.adjacent)

    def combine(self, aggregates: Sequence[Table]) -> Table:
        return merge(self.spec, aggregates, self.adjacent)

    def whole(self, frame: Frame) -> Any:
        if not len(frame):  # with rows, `apply` checks all
            self.check(frame)
        return self.apply(frame, None)

    def apply(self, partition: Frame, prefix: Table | None) -> Any:
        library, spec, reverse = library_of(partition), self.spec, self.reverse
        met = library.rows(partition, slice(None, None, -1)) if reverse else partition
        planned = spec.planned(library, met, checks=prefix is None)
        with library.acquire(partition):
            series = spec.by.series(library, met)
            arrays = [library.array(c) for c in series]
            before = 0
            if prefix is not None:
                pairs = zip(prefix.keys, arrays, strict=True)
                arrays = [library.concatenate([a, b]) for a, b in pairs]
                before = len(arrays[0]) - len(met)
            null = any_null(library, series) if spec.dropna else None
            groups: Groups
            alone = False  # whether rows are sorted and no group had rows before
            numbered = NumberedRows(library, group_ids_of(library, series, arrays))
            by_number = prefix is None and spec.needs is Needs.NUMBERS
            if by_number or (numbered.are_few and not self.adjacent):
                ids = numbered.ids
                rest = GroupIds(ids.array[before:], ids.groups) if before else ids
                groups = NumberedGroups(rest, ids.array[:before])
            else:
                order, keys = numbered.sorted()
                groups = SortedGroups(library.xp, keys, order, before)
                alone = prefix is None
            states = [None] * len(spec.parts) if prefix is None else prefix.states
            found = []
            for part, (columns, operation, _), prior in zip(
                spec.parts, planned, states, strict=True
            ):
                if alone:
                    rows = in_order(library, columns, order)
                    array = operation.apply(rows, AdjacentGroups(keys), None)
                    array = map_outputs(lambda a: put_back(library, a, order), array)
                else:
                    array = operation.apply(columns, groups, prior)
                found.append(spec.in_groups(part, columns, array, null))
            answers = spec.build(library, met, found, library.index(met))
            return library.rows(answers, slice(None, None, -1)) if reverse else answers

    def last(self, frame: Frame, seen: Table) -> Any:
        return last_of_groups(self.spec, frame, seen.library, seen.keys, seen.states)


def last_of_groups(
    spec: GroupBySpec, frame: Frame, library: Library, keys: list[Array], states: list[States]
) -> Any:
    """Return the keys of groups, the last answer of each scan, and the last times of sessions."""
    names, arrays = list(spec.by.columns) or names_of(frame), list(keys)
    for part, planned, each in zip(
        spec.parts, spec.planned(library, frame, False), states, strict=True
    ):
        columns, operation, _ = planned
        if hasattr(operation, "last"):
            found = operation.last(columns, each)
            several = isinstance(found, list)
            names += part.name if several else [part.name]  # type: ignore[operator]
            arrays += found if several else [found]
        if isinstance(part.operation, CountGaps):
            names.append(part.operation.time)
            arrays.append(times_of(columns[0], last_times(each)))
    null = any_null(library, [library.as_column(key) for key in keys]) if spec.dropna else None
    if null is not None:
        positions = library.xp.flatnonzero(~null)
        arrays = [library.take(array, positions) for array in arrays]
    return one_table(library, names, arrays)


# --- reductions --------------------------------------------------------------------------------------


ALONE = Schema((), ())
"""The schema of a table that merges with no other."""


@dataclass(frozen=True)
class HashedReduce(TreeReduction):
    """One row for each group, in the order of the keys or of appearance."""

    spec: GroupBySpec

    @property
    def label(self) -> str:
        """Name of the reduction."""
        return self.spec.label

    def check(self, frame: Frame) -> None:
        """Raise the errors that a user should see early."""
        self.spec.check(frame)

    def meta(self, frame: Frame) -> Any:
        """Empty output for an empty input."""
        library, spec = library_of(frame), self.spec
        none = library.no_rows(frame)
        keys = [library.array(c) for c in spec.by.series(library, none)]
        return spec.without_rows(library, none, spec.index_of_groups(library, keys))

    def table(self, partition: Frame) -> Table:
        """Return the states of a partition by key."""
        return table(self.spec, partition)

    def merge(self, tables: Sequence[Table]) -> Table:
        """Return one table for several, given in the order of their rows."""
        return merge(self.spec, tables)

    def whole(self, frame: Frame) -> Any:
        spec = self.spec
        if not len(frame):  # checks more
            return super().whole(frame)
        library = library_of(frame)
        pairs = spec.planned(library, frame)
        found, _ = _grouped(library, spec, frame, False, spec.sort, pairs, ALONE)
        return self._answer(found, frame, pairs)

    def finish(self, tables: Sequence[Table], frame: Frame) -> Any:
        """Return the answers of all keys."""
        found = self.merge(tables)
        return self._answer(found, frame, self.spec.planned(found.library, frame, False))

    def _answer(self, found: Table, frame: Frame, pairs: list[tuple[list[Any], Any, Any]]) -> Any:
        spec, arrays = self.spec, []
        for (columns, operation, _), states in zip(pairs, found.states, strict=True):
            arrays.append(operation.finalize(columns, states))
        library, keys, sorts = found.library, found.keys, spec.sort and not found.ordered
        order = key_order(library, keys) if sorts else None
        if order is not None:
            keys, arrays = spec.taken(library, keys, arrays, order)
        answer = spec.from_groups(library, frame, keys, arrays, not found.ordered)
        return library.sort_by_index(answer) if sorts and order is None else answer
