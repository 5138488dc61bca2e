"""The ways in which rows of a partition lie in groups, each with the scan and the reduction that operations need.

Rows are all one group, or equal keys are adjacent, or each row has the code of its group; a group may have had rows
before. An operation is written once, for all of these.

The states of an operation are a tuple of fields: scalars on the host where they stand for one group, arrays with one
item a group where they stand for many.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import reduce
from operator import and_
from typing import Any, TypedDict, Unpack

import numpy as np

from ... import kernels
from ...frames.keys import Keys
from ...frames.protocol import Library
from ...frames.types import ArrayModule, GroupIds, Values
from ...kernels import BUILT_IN, Nulls, Operator
from ...kernels.bounded_cache import BoundedCache
from ...kernels.factorize import occurring
from ...kernels.operators.product import product
from ...kernels.options import Exclusive
from ...kernels.scan import aggregating, fold

INT64 = np.dtype(np.int64)

WORD = 8
"""Bytes of integers that are added without a cast."""

States = tuple[Any, ...]
"""One item a field: scalars of one group, or arrays of one item a group."""

ANY = BUILT_IN["logical_any"]


def ones(xp: ArrayModule, count: int, dtype: np.dtype | type[np.generic] = INT64) -> Any:
    """Return an array of ones for kernels to read: if many in NumPy one number, as they read any strides."""
    if xp is np and count >= MANY:
        return np.broadcast_to(np.ones((), dtype), count)
    return xp.ones(count, dtype)


MANY = 1 << 12
"""Ones from which on they are one number: 1,000 take 2 microseconds; one repeated takes 5, and 8 more to be copied."""


def fields_of(state: Any) -> States:
    """Return an operator's state, or arrays of states, as fields."""
    return state if isinstance(state, tuple) else (state,)


def state_of(fields: States) -> Any:
    """Return fields as an operator's state: the one field itself, or all of them."""
    return fields if len(fields) > 1 else fields[0]


class GroupScanArguments(TypedDict, total=False):
    """Further arguments of a scan within groups; see `kernels.scan`."""

    nulls: Nulls
    exclusive: Exclusive
    carry_in: Any
    """The earlier state, or states, of groups."""
    dtype: np.dtype | None
    mark_nulls: bool
    """Whether to write nulls where values are missing, for groups that can."""


class Groups:
    """Rows in groups."""

    is_one = False
    """Whether all rows are one group."""
    reverse = False
    """Whether rows are met from the last to the first."""
    marks_nulls = False
    """Whether a scan can write nulls where values are missing."""

    def scan(self, op: Operator, values: Values, **options: Unpack[GroupScanArguments]) -> Any:
        """Scan within groups."""
        raise NotImplementedError

    def any_so_far(self, flags: Values, *, exclusive: bool = False, carry_in: Any = None) -> Any:
        """Return for each row whether any flag of its group so far is set; None if no flag is set."""
        return self.scan(ANY, flags, exclusive=exclusive, carry_in=carry_in)


class ReducibleGroups(Groups):
    """Rows in groups that can be reduced."""

    def reduce(
        self, op: Operator, values: Values, *, nulls: Nulls = None, dtype: np.dtype | None = None
    ) -> Callable[[], States]:
        """Begin to reduce each group; the function that is returned waits for the states."""
        raise NotImplementedError

    @property
    def filled(self) -> Any:
        """Which groups have rows, as an array of bool; None if all have."""
        return None

    def borders(self, rows: int) -> tuple[Any, Any] | None:
        """Return the first and the last row of each group, of `rows` rows; None if groups are not adjacent.

        The last row of a group without rows is before its first.
        """
        return None


class OneGroup(ReducibleGroups):
    """All rows are one group."""

    is_one = True

    def __init__(self, reverse: bool = False) -> None:
        self.reverse = reverse

    def scan(self, op: Operator, values: Values, **options: Unpack[GroupScanArguments]) -> Any:
        out, _ = kernels.scan(op, values, reverse=self.reverse, carry_out=False, **options)
        return out

    def reduce(
        self, op: Operator, values: Values, *, nulls: Nulls = None, dtype: np.dtype | None = None
    ) -> Callable[[], States]:
        _, read = aggregating(op, values, dtype=dtype, nulls=nulls, reverse=self.reverse)
        return lambda: fields_of(read())

    def borders(self, rows: int) -> tuple[Any, Any] | None:
        return (slice(0, 1), slice(-1, None)) if rows and not self.reverse else None

    def any_so_far(self, flags: Values, *, exclusive: bool = False, carry_in: Any = None) -> Any:
        count = len(flags)
        if carry_in:
            return flags | True
        if not count or not flags.any():
            return None
        met = flags & False
        if self.reverse:
            met[: count - int(flags[::-1].argmax()) - exclusive] = True
        else:
            met[int(flags.argmax()) + exclusive :] = True
        return met


FORWARD, BACKWARD = OneGroup(), OneGroup(reverse=True)
"""All rows, met from the first or from the last."""


class RunArguments(TypedDict):
    """Arguments that say where runs are; see `kernels.scan_by_key`."""

    keys: Sequence[Any] | kernels.Segments
    key_nulls: Sequence[Nulls] | None


class GroupsAsRuns(ReducibleGroups):
    """The rows of each group are adjacent."""

    continues = False
    """Whether the first group continues the group that was open before."""

    def _runs(self) -> RunArguments:
        raise NotImplementedError

    def scan(
        self,
        op: Operator,
        values: Values,
        *,
        saw_null: Values | None = None,
        **options: Unpack[GroupScanArguments],
    ) -> Any:
        out, _ = kernels.scan_by_key(
            op,
            values=values,
            reverse=self.reverse,
            continues=self.continues,
            saw_null=saw_null,
            carry_out=False,
            **self._runs(),
            **options,
        )
        return out


class AdjacentGroups(GroupsAsRuns):
    """Equal keys are adjacent: groups are runs, and the first may continue the group that was open before."""

    def __init__(
        self, keys: Keys | Callable[[], Keys], continues: bool = False, reverse: bool = False,
        starts: Values = None,
    ) -> None:  # fmt: skip
        self._keys = keys
        self.continues = continues
        self.reverse = reverse
        self._starts = starts

    @classmethod
    def at(cls, starts: Values, rows: int) -> AdjacentGroups:
        """Return groups of `rows` rows in NumPy, given where each starts."""

        def keys() -> Keys:
            numbers = np.arange(len(starts), dtype=np.int32)
            return Keys([np.repeat(numbers, np.diff(starts, append=rows))], [None])

        return cls(keys, starts=starts)

    @property
    def keys(self) -> Keys:
        """The keys of the rows."""
        if not isinstance(self._keys, Keys):
            self._keys = self._keys()
        return self._keys

    def _runs(self) -> RunArguments:
        return {"keys": self.keys.arrays, "key_nulls": self.keys.nulls}

    @property
    def first_rows(self) -> Any:
        """The row in which each group starts."""
        if self._starts is None:
            self._starts, _ = kernels.run_length_encode(self.keys.arrays, nulls=self.keys.nulls)
        return self._starts

    def borders(self, rows: int) -> tuple[Any, Any]:
        first = self.first_rows
        last = first - 1
        last[:-1] = last[1:]
        last[-1:] = rows - 1
        return first, last

    def reduce(
        self, op: Operator, values: Values, *, nulls: Nulls = None, dtype: np.dtype | None = None
    ) -> Callable[[], States]:
        starts, states = kernels.reduce_by_key(
            op,
            self.keys.arrays,
            values,
            key_nulls=self.keys.nulls,
            nulls=nulls,
            dtype=dtype,
            starts=self._starts is None,
        )
        if starts is not None:
            self._starts = starts
        return lambda: fields_of(states)


class NumberedGroups(ReducibleGroups):
    """Each row has the code of its group.

    Parameters
    ----------
    codes : GroupIds
    before : array, optional
        The codes of the groups that had rows before.
    has_gaps : bool, default False
        Whether there may be codes without rows; reductions then have the other groups only.
    occurring : array, optional
        The codes that have rows, if there are gaps and they are known; else a reduction finds them.
    """

    marks_nulls = True

    def __init__(
        self,
        codes: GroupIds,
        before: Values | None = None,
        *,
        has_gaps: bool = False,
        occurring: Values | None = None,
    ) -> None:
        self.codes, self.before, self.has_gaps, self._occurring = codes, before, has_gaps, occurring

    @property
    def occurring(self) -> Any:
        """The codes that have rows, where there may be gaps."""
        if self._occurring is None:
            codes = self.codes
            self._occurring = occurring(codes.array, codes.groups, check=False)
        return self._occurring

    @property
    def first_rows(self) -> Any:
        """The row in which each code is met first, where that is known."""
        return self.codes.first_rows

    def scan(self, op: Operator, values: Values, **options: Unpack[GroupScanArguments]) -> Any:
        codes = self.codes
        out, _ = kernels.scan_by_code(
            op, codes.array, values, codes.groups, carry_codes=self.before, check=False, **options
        )
        return out

    def reduce(
        self, op: Operator, values: Values, *, nulls: Nulls = None, dtype: np.dtype | None = None
    ) -> Callable[[], States]:
        codes = self.codes
        asks = self.has_gaps and self._occurring is None
        states = kernels.reduce_by_code(
            op, codes.array, values, codes.groups,
            nulls=nulls, dtype=dtype, check=False, occurring=asks,
        )  # fmt: skip
        if asks:
            states, self._occurring = states
        fields = fields_of(states)
        if self.has_gaps and not asks and len(self.occurring) < codes.groups:
            fields = tuple([field[self.occurring] for field in fields])
        return lambda: fields


# --- states ------------------------------------------------------------------------------------------


def on_states(op: Operator, states: States) -> Operator:
    """Return the operator whose elements are states of another."""
    dtypes = tuple([s.dtype for s in states])
    found = ON_STATES.get((op.token, dtypes))
    return _on_states(op, dtypes) if found is None else found


ON_STATES: BoundedCache[tuple[str, tuple[np.dtype, ...]], Operator] = BoundedCache()
"""The answers of `on_states`, by the operator's token and the dtypes of its states."""


def _on_states(op: Operator, dtypes: tuple[np.dtype, ...]) -> Operator:
    if dtypes[0].kind == "f" and op == product(dtypes[0]):
        found = product(dtypes[0], states=True)
    elif len(dtypes) == 1:
        found = replace(op, lift=None, inputs=1)
    else:
        # if an identity depends on the dtype, the operator's state starts with the element
        identity = op.identity_for(*[dtypes[0]] * op.inputs)
        found = Operator(op.combine, identity, None, op.lower, op.name)
    return ON_STATES.store((op.token, dtypes), found)


def lowered(library: Library, op: Operator, states: States) -> Any:
    """Return the answer of an operator for each state."""
    if op.lower is None:
        return states[0]
    rows = library.xp.arange(len(states[0]), dtype=INT64)
    values = states if len(states) > 1 else states[0]
    _, out = kernels.reduce_by_key(on_states(op, states), [rows], values, starts=False, lower=True)
    return out


def at_identity(states: States, identity: Any) -> Any:
    """Return which states equal the identity in all fields."""
    pairs = zip(states, fields_of(identity), strict=True)
    return reduce(and_, [field == part for field, part in pairs])


def merged(op: Operator, states: States, groups: ReducibleGroups) -> States:
    """Reduce the states of each group to one of the same dtypes, where sums of narrow integers wrap around."""
    by = on_states(op, states)
    if all(s.dtype.kind not in "iu" or s.dtype.itemsize == WORD for s in states):
        return groups.reduce(by, state_of(states))()
    wide = kernels.signature(by, [s.dtype for s in states]).state
    given = tuple(s.astype(dtype, copy=False) for s, dtype in zip(states, wide, strict=True))
    found = groups.reduce(by, state_of(given))()
    return tuple(f.astype(s.dtype, copy=False) for f, s in zip(found, states, strict=True))


def folded(op: Operator, states: list[States]) -> States:
    """Combine states of neighbouring parts of one group, on the host."""
    return fields_of(fold(op, [state_of(s) for s in states]))
