"""Scans of groups of the next batch of a stream: its rows are numbered together with the groups of all before.

Numbers are differences to the least key, if keys are integers of no wide range, or those of a table of keys that stays.
Else the groups of the batch are numbered together with those before.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from functools import cached_property
from typing import Any
from weakref import WeakKeyDictionary

import numpy as np

from ... import kernels
from ...frames.keys import any_null, dense_ids
from ...frames.registry import common_schema, library_of, schema_of
from ...frames.types import GroupIds
from ...kernels import KeyTable, Nulls, Operator
from ..core.groups import NumberedGroups, States, fields_of, state_of
from .hashed import HashedScan, Table, grouped, merged, merged_states, with_gaps

NUMBERS: WeakKeyDictionary[Table, KeyTable] = WeakKeyDictionary()
"""What numbers the keys of a table of states by where they are there, for whoever takes it first: it grows with what
follows, so that it can go on from one table only."""


def follow(scan: HashedScan, partition: Any, prefix: Table) -> tuple[Any, Table]:
    """Return the answer of a partition, and the table of all groups so far."""
    return (
        _by_range(scan, partition, prefix)
        or _by_number(scan, partition, prefix)
        or _by_group(scan, partition, prefix)
    )


class ContinuedGroups(NumberedGroups):
    """The first rows are the states of all groups, in the order of their codes; each row behind them has its code.

    Parameters
    ----------
    rest : GroupIds
        The codes of the rows behind the first ones.
    """

    def __init__(self, rest: GroupIds) -> None:
        self.rest, self.before, self.occurring = rest, None, None

    @cached_property
    def codes(self) -> GroupIds:  # type: ignore[override]
        """The codes of all rows."""
        codes = self.rest.array
        first = np.arange(self.rest.groups, dtype=codes.dtype)
        return GroupIds(np.concatenate([first, codes]), self.rest.groups)

    def reduce(
        self, op: Operator, values: Any, *, nulls: Nulls = None, dtype: Any = None
    ) -> Callable[[], States]:
        if op.lift is not None or nulls is not None or dtype is not None:  # rows are no states
            return super().reduce(op, values, nulls=nulls, dtype=dtype)
        codes, groups = self.rest.array, self.rest.groups
        first, rest = (
            state_of(tuple([field[part] for field in fields_of(values)]))
            for part in (slice(groups), slice(groups, None))
        )
        states = kernels.reduce_by_code(op, codes, rest, groups, carry_in=first, check=False)
        return lambda: fields_of(states)


def _by_range(scan: HashedScan, partition: Any, prefix: Table) -> tuple[Any, Table] | None:
    """Do so if keys are integers of no wide range and the partition has many: by numbers that both have."""
    library, spec = library_of(partition), scan.spec
    with library.acquire(partition):
        arrays = [library.array(c) for c in spec.by.series(partition)]
        shared = library.shared_group_ids(prefix.keys, arrays)
        if shared is None:
            return None
        before, ids = shared[0].array, shared[1]
        own = with_gaps(ids)
        if own is None or ids.keys_of is None:
            return None
        states = [prefix.states, _states(scan, partition, own)]
        schema = common_schema([prefix.schema, schema_of(partition)])
        if prefix.ordered and len(before) == ids.groups:  # it has all keys that there may be
            rest = ContinuedGroups(GroupIds(own.occurring, ids.groups))
            found = merged_states(spec, library, states, rest, None)
            table = replace(prefix, states=found, schema=schema)
            return _scanned(scan, partition, NumberedGroups(ids), prefix), table
        met = own.occurring.astype(before.dtype, copy=False)
        codes = replace(ids, array=library.xp.concatenate([before, met]))
        every = NumberedGroups(codes, occurring=kernels.occurring(codes.array, codes.groups))
        found = merged_states(spec, library, states, every, None)
        table = Table(library, ids.keys_of(every.occurring), found, schema, ids.ordered)
        return _scanned(scan, partition, NumberedGroups(ids, before), prefix), table


def _by_number(scan: HashedScan, partition: Any, prefix: Table) -> tuple[Any, Table] | None:
    """Do so if there is one key, of numbers or texts, and many groups: by their numbers in a table that stays."""
    library, spec = library_of(partition), scan.spec
    with library.acquire(partition):
        arrays = [library.array(c) for c in spec.by.series(partition)]
        before = len(prefix.keys[0])
        if len(arrays) > 1 or before <= kernels.most_arranged(np.empty(0, np.int32)):
            return None
        numbers = _numbers(prefix)
        numbered = None if numbers is None else library.number_keys(numbers, arrays[0])
        if numbers is None or numbered is None:
            return None
        codes, new = numbered
        ids = GroupIds(codes, len(numbers))
        met = kernels.occurring(codes, len(numbers))
        own = NumberedGroups(ids, occurring=met)
        if len(met) <= kernels.most_arranged(codes):
            own = NumberedGroups(dense_ids(ids))  # reduced in chunks of rows, as in a partition
        states = [prefix.states, _states(scan, partition, own)]
        met = met.astype(codes.dtype, copy=False)
        if len(new):
            first = np.arange(before, dtype=codes.dtype)
            every = NumberedGroups(replace(ids, array=np.concatenate([first, met])))
            keys = [library.concatenate([prefix.keys[0], library.take(arrays[0], new)])]
        else:
            every, keys = ContinuedGroups(GroupIds(met, before)), prefix.keys
        found = merged_states(spec, library, states, every, None)
        schema = common_schema([prefix.schema, schema_of(partition)])
        NUMBERS[table := Table(library, keys, found, schema)] = numbers
        return _scanned(scan, partition, NumberedGroups(ids), prefix), table


def _numbers(prefix: Table) -> KeyTable | None:
    """Take the table that numbers the keys so far by where they are, or make it; None if they cannot be numbered so."""
    numbers = NUMBERS.pop(prefix, None)
    if numbers is None:
        numbers = KeyTable()
        found = prefix.library.number_keys(numbers, prefix.keys[0])
        if found is None or len(numbers) < len(prefix.keys[0]):
            return None
    return numbers


def _by_group(scan: HashedScan, partition: Any, prefix: Table) -> tuple[Any, Table]:
    """Do so where groups of the partition have numbers, by those of its groups among all."""
    own, groups = grouped(scan.spec, partition, False, False)
    found, joint = merged(scan.spec, [prefix, own], False, False)
    if not (isinstance(groups, NumberedGroups) and isinstance(joint, NumberedGroups)):
        return scan.apply(partition, prefix), found
    before = len(prefix.keys[0])
    with own.library.acquire(partition):
        ids = joint.codes
        rows = GroupIds(ids.array[before:][groups.codes.array], ids.groups)
        return _scanned(scan, partition, NumberedGroups(rows, ids.array[:before]), prefix), found


def _states(scan: HashedScan, partition: Any, own: NumberedGroups) -> list[States]:
    """Return the states of the groups of a partition."""
    spec = scan.spec
    waiting = [p.operation.aggregate(spec.columns(partition, p), own) for p in spec.parts]
    return [wait() for wait in waiting]


def _scanned(scan: HashedScan, partition: Any, groups: NumberedGroups, prefix: Table) -> Any:
    """Return the answer for rows of numbered groups, which go on from their states."""
    library, spec = prefix.library, scan.spec
    null = any_null(spec.by.series(partition)) if spec.dropna else None
    answers = [
        p.operation.apply(spec.columns(partition, p), groups, prior)
        for p, prior in zip(spec.parts, prefix.states, strict=True)
    ]
    arrays = [spec.in_groups(library, answer, null) for answer in answers]
    return spec.build(partition, arrays, library.index(partition))
