"""Groups whose rows, together with their earlier states, are sorted by key before they are scanned."""

from __future__ import annotations

from typing import Any, Unpack

from ... import kernels
from ...frames.keys import Keys
from ...frames.types import ArrayModule, Values
from ...kernels import Operator
from .groups import INT64, Groups, GroupScanArguments, States, fields_of, on_states, state_of


class SortedGroups(Groups):
    """Rows in any order that are brought together with the earlier states of their groups, scanned, and brought back.

    Parameters
    ----------
    keys : Keys
        Of groups that had rows before, one row each, and of the rows, in an order in which equal keys are adjacent.
    order : array
        The position that each of these comes from: groups first, then rows.
    before : int
        How many groups had rows before.
    """

    def __init__(self, xp: ArrayModule, keys: Keys, order: Values, before: int) -> None:
        self.xp = xp
        self.keys, self.order, self.before = keys, order, before

    def arranged(self, states: States, values: Values) -> Any:
        """Return the state of each group followed by its rows, so that equal keys are adjacent."""
        return self.xp.concatenate([states, values])[self.order]

    def returned(self, answers: Values) -> Any:
        """Return answers in the order of keys in the rows' own order."""
        return kernels.put(answers, self.order, check=False)[self.before :]

    def scan(self, op: Operator, values: Values, **options: Unpack[GroupScanArguments]) -> Any:
        carry_in, dtype = options.get("carry_in"), options.get("dtype")
        rows = self.xp.arange(len(self.order) - self.before, dtype=INT64)
        _, states = kernels.reduce_by_key(
            op, [rows], values, nulls=options.get("nulls"), dtype=dtype, starts=False
        )
        lifted = fields_of(states)
        if carry_in is None:
            inputs = [v.dtype for v in fields_of(values)]
            identity = fields_of(kernels.signature(op, inputs, dtype).identity)
            before: States = tuple(
                self.xp.full(self.before, x, f.dtype) for x, f in zip(identity, lifted, strict=True)
            )
        else:
            before = fields_of(carry_in)
        both = tuple(self.arranged(b, x) for b, x in zip(before, lifted, strict=True))
        out, _ = kernels.scan_by_key(
            on_states(op, both),
            self.keys.arrays,
            state_of(both),
            exclusive=options.get("exclusive", False),
            dtype=dtype if len(both) == 1 else None,
            carry_out=False,
        )
        if isinstance(out, tuple):
            return tuple(map(self.returned, out))
        out = self.returned(out)
        return out if dtype is None else out.astype(dtype, copy=False)
