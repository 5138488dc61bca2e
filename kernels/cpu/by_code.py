"""Reductions and scans within groups of rows in any order: a table holds the state of each group.

This module must never loop over elements.
"""

from functools import lru_cache
from typing import Any

import numpy as np
from numba.core import types

from ..nulls import Nulls
from ..operators import Operator
from .calls import operator_type
from .engine import walk_codes
from .jit import load_kernel
from .launch import (
    array_type,
    form,
    naming,
    null_arguments,
    null_value,
    nulls_type,
    state_type,
)
from .outputs import room
from .types import Signature, as_state, signature


def by_code(
    op: Operator,
    codes: np.ndarray,
    values: tuple[np.ndarray, ...],
    groups: int,
    *,
    nulls: Nulls,
    exclusive: bool,
    carry_in: Any,
    dtype: np.dtype | None,
    write: bool,
) -> tuple[Any, Any]:
    """Scan, or without `write` reduce, group by group; see `kernels.scan_by_code`."""
    types_ = signature(op, tuple(v.dtype for v in values), dtype)
    table = _table(types_, groups, carry_in)
    outs = [room(len(codes), d) for d in types_.outputs] if write else None
    null_values = [null_value(d, False) for d in types_.outputs]
    identity = types_.identity
    kind: Any = type(nulls)
    kernel = _kernel(op, types_, kind, write)
    with naming(op):
        wrong = kernel(
            op,
            values if op.inputs > 1 else values[0],
            null_arguments(nulls),
            None if outs is None else outs[0] if types_.scalar_output else tuple(outs),
            None
            if outs is None
            else null_values[0]
            if types_.scalar_output
            else tuple(null_values),
            exclusive,
            identity.item() if types_.scalar_state else tuple(f.item() for f in identity),
            codes,
            table[0] if types_.scalar_state else table,
            groups,
        )
    if wrong >= 0:
        raise ValueError(f"codes must be from 0 to {groups - 1}, found {codes[wrong]}")
    out = None if outs is None else outs[0] if types_.scalar_output else tuple(outs)
    return out, table[0] if types_.scalar_state else table


def _table(types_: Signature, groups: int, carry_in: Any) -> tuple[np.ndarray, ...]:
    """One array a field, one item a group: the states that are carried in, then identities."""
    identity = (types_.identity,) if types_.scalar_state else types_.identity
    table = tuple(np.full(groups, part, d) for part, d in zip(identity, types_.state, strict=True))
    if carry_in is not None:
        given = as_state(carry_in, types_.state, types_.scalar_state, "carry_in")
        for field, states in zip(table, (given,) if types_.scalar_state else given, strict=True):
            field[: len(states)] = states
    return table


@lru_cache(maxsize=4096)
def _kernel(op: Operator, types_: Signature, nulls: type, write: bool) -> Any:
    """Compile the walk, or load it from the cache on disk."""
    outs, null_values = types.none, types.none
    if write:
        outs = form([array_type(d, layout="C") for d in types_.outputs], types_.scalar_output)
        null_values = state_type(types_.outputs, types_.scalar_output)
    arguments = (
        operator_type(op),
        form([array_type(d, True) for d in types_.inputs], op.inputs == 1),
        nulls_type(nulls),
        outs,
        null_values,
        types.boolean,
        state_type(types_.state, types_.scalar_state),
        array_type(np.dtype(np.int64), True, "C"),
        form([array_type(d, layout="C") for d in types_.state], types_.scalar_state),
        types.int64,
    )
    return load_kernel(walk_codes, arguments).entry_point
