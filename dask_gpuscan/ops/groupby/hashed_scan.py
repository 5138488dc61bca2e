"""Scans of groups in the next batch of a stream, whose rows are numbered together with all earlier groups.

Numbers are differences to the least key, if keys are integers of a narrow range, or those of a table of keys that is
kept. Otherwise the groups of the batch are numbered together with those before.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from functools import cached_property
from typing import Any
from weakref import WeakKeyDictionary

import numpy as np

from ... import kernels
from ...frames.keys import By, any_null, dense_ids
from ...frames.registry import common_schema, library_of, schema_of
from ...frames.types import ArrayModule, Frame, GroupIds, Values
from ...kernels import Nulls, Operator
from ...kernels.factorize import most_arranged, occurring
from ...kernels.late_dataclass import dataclass
from ..core.groups import AdjacentGroups, Groups, NumberedGroups, States, fields_of, state_of
from ..core.sorted_groups import SortedGroups
from .by_key import Numbers, followed, value_of, ways_to_number
from .hashed import (
    NumberedRows,
    Table,
    TableScan,
    grouped,
    in_order,
    merged,
    merged_states,
    with_gaps,
)
from .spec import GroupBySpec

NUMBERS: WeakKeyDictionary[Table, Numbers] = WeakKeyDictionary()
"""Numbers of the keys of a table of states, which are their places in it. The first scan that goes on from the table
takes them: they grow with later rows, so only one scan can use them."""


@dataclass(frozen=True)
class HashedScan(TableScan):
    """One row for each row: scans within groups, for which streams number the keys once a batch."""

    @property
    def by(self) -> By:
        """The keys."""
        return self.spec.by

    def follow(self, partition: Frame, prefix: Any) -> tuple[Any, Any]:
        return followed(self, partition, prefix)

    def value(self, seen: Any) -> Any:
        return value_of(seen)

    def follow_all(self, partition: Frame, prefix: Table | None) -> tuple[Any, Table]:
        """Return the answer for a partition and the table behind it, given that of all keys before."""
        if prefix is None or self.reverse or self.adjacent:
            return super().follow(partition, prefix)
        return (
            _by_range(self, partition, prefix)
            or _by_number(self, partition, prefix)
            or _by_group(self, partition, prefix)
        )

    def follow_part(
        self, partition: Frame, before: Table, known: Values, codes: Values, groups: int
    ) -> tuple[Any, Table, Any]:
        """Return the answer for a partition, the states of its own keys, and their codes: see `KeyedCarry`."""
        library, spec, every = library_of(partition), self.spec, np.arange(groups)
        with library.acquire(partition):
            own = NumberedRows(library, GroupIds(codes, groups)).reducible(self.adjacent)
            states = _states(spec, partition, *own)
            if not len(known):
                answer = self.apply(partition, None)
            else:
                both = NumberedRows(library, GroupIds(np.append(known, every), groups))
                found = both.reducible(self.adjacent)
                states = merged_states(spec, library, [before.states, states], *found)
                met: Groups = NumberedGroups(GroupIds(codes, groups), known)
                if self.adjacent:
                    rows = NumberedRows(library, GroupIds(np.append(known, codes), groups))
                    order, keys = rows.sorted()
                    met = SortedGroups(np, keys, order, len(known))
                answer = _scanned(self, partition, met, before)
        schema = common_schema([before.schema, schema_of(partition)])
        return answer, replace(before, states=states, schema=schema), every


class ContinuedGroups(NumberedGroups):
    """Groups whose first rows are their states, in the order of their codes; each row behind them has its code.

    Parameters
    ----------
    xp : module
        Of the arrays: NumPy or CuPy.
    rest : GroupIds
        The codes of the rows behind the first ones.
    """

    def __init__(self, xp: ArrayModule, rest: GroupIds) -> None:
        self.xp, self.rest, self.before, self.has_gaps = xp, rest, None, False

    @cached_property
    def codes(self) -> GroupIds:  # type: ignore[override]
        """The codes of all rows."""
        codes = self.rest.array
        first = self.xp.arange(self.rest.groups, dtype=codes.dtype)
        return GroupIds(self.xp.concatenate([first, codes]), self.rest.groups)

    def reduce(
        self, op: Operator, values: Values, *, nulls: Nulls = None, dtype: np.dtype | None = None
    ) -> Callable[[], States]:
        if op.lift is not None or nulls is not None or dtype is not None:  # rows are not states
            return super().reduce(op, values, nulls=nulls, dtype=dtype)
        codes, groups = self.rest.array, self.rest.groups
        first, rest = (
            state_of(tuple([field[part] for field in fields_of(values)]))
            for part in (slice(groups), slice(groups, None))
        )
        states = kernels.reduce_by_code(op, codes, rest, groups, carry_in=first, check=False)
        return lambda: fields_of(states)


def _by_range(scan: TableScan, partition: Frame, prefix: Table) -> tuple[Any, Table] | None:
    """Scan by numbers that both share, if keys are integers of a narrow range, and on CPUs many in the partition."""
    library, spec = library_of(partition), scan.spec
    with library.acquire(partition):
        arrays = [library.array(c) for c in spec.by.series(library, partition)]
        shared = library.shared_group_ids(prefix.keys, arrays)
        if shared is None:
            return None
        before, ids = shared[0].array, shared[1]
        own = with_gaps(ids) if NumberedRows(library, ids).are_few else None
        if own is None or ids.keys_of is None:
            return None
        states = [prefix.states, _states(spec, partition, own)]
        schema = common_schema([prefix.schema, schema_of(partition)])
        if prefix.ordered and len(before) == ids.groups:  # it has all keys of the range
            rest = ContinuedGroups(library.xp, GroupIds(own.occurring, ids.groups))
            found = merged_states(spec, library, states, rest, None)
            table = replace(prefix, states=found, schema=schema)
            return _scanned(scan, partition, NumberedGroups(ids), prefix), table
        met = own.occurring.astype(before.dtype, copy=False)
        codes = replace(ids, array=library.xp.concatenate([before, met]))
        every = NumberedGroups(codes, has_gaps=True)
        found = merged_states(spec, library, states, every, None)
        table = Table(library, ids.keys_of(every.occurring), found, schema, ids.ordered)
        return _scanned(scan, partition, NumberedGroups(ids, before), prefix), table


def _by_number(scan: TableScan, partition: Frame, prefix: Table) -> tuple[Any, Table] | None:
    """Scan by numbers in a table that is kept, if keys are numbers or texts and groups are many."""
    library, spec = library_of(partition), scan.spec
    with library.acquire(partition):
        arrays = [library.array(c) for c in spec.by.series(library, partition)]
        before = len(prefix.keys[0])
        if before <= most_arranged(np.empty(0, np.int32)):
            return None
        ways = ways_to_number(library, arrays)
        numbers = None if ways is None else _numbers(prefix)
        if ways is None or numbers is None:
            return None
        codes, new = numbers.number(ways)
        ids = GroupIds(codes, len(numbers))
        met = occurring(codes, len(numbers), check=False)
        own = NumberedGroups(ids, has_gaps=True, occurring=met)
        if len(met) <= most_arranged(codes):
            own = NumberedGroups(dense_ids(ids))  # reduced in chunks of rows, as in a partition
        states = [prefix.states, _states(spec, partition, own)]
        met = met.astype(codes.dtype, copy=False)
        if len(new):
            first = np.arange(before, dtype=codes.dtype)
            every = NumberedGroups(replace(ids, array=np.concatenate([first, met])))
            pairs = zip(prefix.keys, arrays, strict=True)
            keys = [library.concatenate([key, library.take(array, new)]) for key, array in pairs]
        else:
            every, keys = ContinuedGroups(np, GroupIds(met, before)), prefix.keys
        found = merged_states(spec, library, states, every, None)
        schema = common_schema([prefix.schema, schema_of(partition)])
        NUMBERS[table := Table(library, keys, found, schema)] = numbers
        return _scanned(scan, partition, NumberedGroups(ids), prefix), table


def _numbers(prefix: Table) -> Numbers | None:
    """Take the numbers of the keys so far, or make them; None if keys cannot be numbered by a table."""
    numbers = NUMBERS.pop(prefix, None)
    if numbers is None:
        found = Numbers.of(prefix.library, prefix.keys)
        if found is None:
            return None
        numbers, _ = found
    return numbers if len(numbers) == len(prefix.keys[0]) else None


def _by_group(scan: TableScan, partition: Frame, prefix: Table) -> tuple[Any, Table]:
    """Scan by the numbers that the partition's groups get among all groups."""
    own, groups = grouped(scan.spec, partition, False, False)
    found, joint = merged(scan.spec, [prefix, own], False, False)
    if not (isinstance(groups, NumberedGroups) and isinstance(joint, NumberedGroups)):
        return scan.apply(partition, prefix), found
    before = len(prefix.keys[0])
    with own.library.acquire(partition):
        ids = joint.codes
        rows = GroupIds(ids.array[before:][groups.codes.array], ids.groups)
        return _scanned(scan, partition, NumberedGroups(rows, ids.array[:before]), prefix), found


def _states(
    spec: GroupBySpec,
    partition: Frame,
    groups: NumberedGroups | AdjacentGroups,
    order: Values | None = None,
) -> list[States]:
    """Return the states of the groups of a partition, whose rows are in this order unless it is None."""
    library = library_of(partition)
    planned = spec.planned(library, partition, False)
    waiting = [
        operation.aggregate(in_order(library, columns, order), groups)
        for columns, operation, _ in planned
    ]
    return [wait() for wait in waiting]


def _scanned(scan: TableScan, partition: Frame, groups: Groups, prefix: Table) -> Any:
    """Return the answer for rows of groups, which continue from their states."""
    library, spec, arrays = prefix.library, scan.spec, []
    null = any_null(library, spec.by.series(library, partition)) if spec.dropna else None
    planned = spec.planned(library, partition, False)
    for part, (columns, operation, _), prior in zip(
        spec.parts, planned, prefix.states, strict=True
    ):
        array = operation.apply(columns, groups, prior)
        arrays.append(spec.in_groups(part, columns, array, null))
    return spec.build(library, partition, arrays, library.index(partition))
