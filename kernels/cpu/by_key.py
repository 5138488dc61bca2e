"""From keys and values in NumPy arrays to a state a run, or a scan that restarts at runs.

This module must never loop over elements.
"""

from functools import lru_cache
from typing import Any

import numpy as np
from numba.core import types

from ..counted_segments import counted_segments
from ..nulls import InBand, missing_in_band
from ..operator_calls import as_constant_as, operator_type
from ..operators import Operator
from ..options import ScanOptions
from ..selection import Runs
from ..signature import Form, Signature, as_state, signature_of
from .by_key_visitors import ReduceRuns, ScanRuns
from .compact import WORD
from .engine import walk_codes
from .launch import (
    array_type,
    entry,
    form,
    naming,
    null_arguments,
    null_value,
    nulls_type,
    state_type,
    walk,
)
from .outputs import empty, shrink
from .selection import SPACE, kernel_selection, space_for, space_type
from .visitors import work_type


def reduce_by_key(
    op: Operator,
    runs: Runs,
    values: tuple[np.ndarray, ...],
    options: ScanOptions,
    *,
    starts: bool,
    lower: bool,
) -> tuple[np.ndarray | None, Any]:
    """Reduce each run of keys; see `kernels.reduce_by_key`."""
    types_ = signature_of(op, tuple(v.dtype for v in values), options.dtype)
    kernel_args, kind, length, keepalive = kernel_selection(runs)
    nulls_kind: Any = type(options.nulls)
    firsts = empty(length, WORD) if starts else None
    fields, scalar = types_.state, types_.scalar_state
    if lower:
        fields, scalar = types_.outputs, types_.scalar_output
    outs = [empty(length, d) for d in fields]
    like = [d.type(0).item() for d in fields]
    work = ReduceRuns(
        op,
        kernel_args,
        _kernel_values(values),
        null_arguments(options.nulls),
        _plain(types_.identity),
        _in_order(op, types_),
        firsts,
        outs[0] if scalar else tuple(outs),
        True if lower else None,
        like[0] if scalar else tuple(like),
    )
    work_kind = _reduce_type(op, types_, kind, nulls_kind, starts, lower)

    def space(tile: int) -> Any:
        states = tuple(np.empty(tile + 1, d) for d in types_.state)
        return space_for(tile, states=states[0] if types_.scalar_state else states)

    space_kind = space_type(_arrays(types_.state, types_.scalar_state))
    count, _ = _walk(op, types_, work, work_kind, (space, space_kind), types_.identity, length)
    del keepalive
    outs = [shrink(out, count) for out in outs]
    first = None if firsts is None else shrink(firsts, count)
    return first, outs[0] if scalar else tuple(outs)


def scan_by_key(
    op: Operator,
    runs: Runs,
    values: tuple[np.ndarray, ...],
    options: ScanOptions,
    carry_in: Any,
    *,
    saw_null: Any,
    carry_out: bool,  # which costs nothing here
) -> tuple[Any, Any]:
    """Scan run by run; see `kernels.scan_by_key`."""
    types_ = signature_of(op, tuple(v.dtype for v in values), options.dtype)
    carry = types_.identity
    if carry_in is not None:
        carry = as_state(carry_in, types_, "carry_in")
    null_values = [null_value(d, options.mark_nulls) for d in types_.outputs]
    kernel_args, kind, length, keepalive = kernel_selection(runs)
    nulls_kind: Any = type(options.nulls)
    outs = [empty(length, d) for d in types_.outputs]
    work = ScanRuns(
        op,
        kernel_args,
        _kernel_values(values),
        null_arguments(options.nulls),
        outs[0] if types_.scalar_output else tuple(outs),
        null_values[0] if types_.scalar_output else tuple(null_values),
        options.mark_nulls,
        options.exclusive,
        _plain(types_.identity),
        _in_order(op, types_),
        length,
        runs.last,
    )
    work_kind = _scan_type(op, types_, kind, nulls_kind)
    space = space_for, SPACE
    _, carry_out = _walk(op, types_, work, work_kind, space, carry, length)
    del keepalive
    if saw_null is not None and isinstance(options.nulls, InBand):
        saw_null[0] |= any(missing_in_band(v).any() for v in values)
    return outs[0] if types_.scalar_output else tuple(outs), carry_out


def _walk(
    op: Operator, types_: Signature, work: Any, kind: Any, space: Any, carry: Any, length: int
) -> tuple[int, Any]:
    """Let a visitor walk from a carry-in; return the number of heads and the carry-out."""
    parts = (carry,) if types_.scalar_state else carry
    fields = (WORD, *types_.state)
    carries = tuple(np.array([part], d) for part, d in zip((0, *parts), fields, strict=True))
    identity = _plain(types_.identity)
    neutral = (0, identity) if types_.scalar_state else (0, *identity)
    combines = as_constant_as(op, counted_segments(op, not types_.scalar_state))
    sequential = _in_order(op, types_)
    walk(
        combines,
        fields,
        False,
        work,
        kind,
        neutral,
        carries,
        length,
        sequential=sequential,
        space=space,
    )
    states = tuple(field[0] for field in carries[1:])
    return int(carries[0][0]), states[0] if types_.scalar_state else states


def _kernel_values(values: tuple[np.ndarray, ...]) -> Any:
    """Values as a kernel reads them: it is much faster where it knows that they lie side by side."""
    flat = tuple(np.require(v, requirements=["C", "A"]) for v in values)
    return flat if len(flat) > 1 else flat[0]


def _in_order(op: Operator, types_: Signature) -> bool:
    return op.in_order and any(d.kind in "fc" for d in types_.state)


def _plain(state: Any) -> Any:
    return tuple(part.item() for part in state) if isinstance(state, tuple) else state.item()


# --- by code ----------------------------------------------------------------------------------------


def by_code(
    op: Operator,
    codes: np.ndarray,
    values: tuple[np.ndarray, ...],
    groups: int,
    options: ScanOptions,
    carry_in: Any,
    *,
    write: bool,
) -> tuple[Any, Any]:
    """Scan, or without `write` reduce, group by group; see `kernels.scan_by_code`."""
    types_ = signature_of(op, tuple(v.dtype for v in values), options.dtype)
    table = _states_table(types_, groups, carry_in)
    outs = [empty(len(codes), d) for d in types_.outputs] if write else None
    null_values = [null_value(d, False) for d in types_.outputs]
    identity = types_.identity
    kind: Any = type(options.nulls)
    kernel = _codes_kernel(op, types_, kind, write)
    with naming(op):
        wrong = kernel(
            op,
            values if op.inputs > 1 else values[0],
            null_arguments(options.nulls),
            None if outs is None else outs[0] if types_.scalar_output else tuple(outs),
            None
            if outs is None
            else null_values[0]
            if types_.scalar_output
            else tuple(null_values),
            options.exclusive,
            identity.item() if types_.scalar_state else tuple(f.item() for f in identity),
            codes,
            table[0] if types_.scalar_state else table,
            groups,
        )
    if wrong >= 0:
        raise ValueError(f"codes must be from 0 to {groups - 1}, found {codes[wrong]}")
    out = None if outs is None else outs[0] if types_.scalar_output else tuple(outs)
    return out, table[0] if types_.scalar_state else table


def _states_table(types_: Signature, groups: int, carry_in: Any) -> tuple[np.ndarray, ...]:
    """One array a field, one item a group: the states that are carried in, then identities."""
    identity = (types_.identity,) if types_.scalar_state else types_.identity
    table = tuple(np.full(groups, part, d) for part, d in zip(identity, types_.state, strict=True))
    if carry_in is not None:
        given = as_state(carry_in, types_, "carry_in")
        for field, states in zip(table, (given,) if types_.scalar_state else given, strict=True):
            field[: len(states)] = states
    return table


@lru_cache(maxsize=4096)
def _codes_kernel(op: Operator, types_: Signature, nulls: type, write: bool) -> Any:
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
    return entry(walk_codes, arguments)


# --- types of the visitors ---------------------------------------------------------------------------


@lru_cache(maxsize=4096)
def _reduce_type(
    op: Operator, types_: Signature, selection: Any, nulls: type, starts: bool, lower: bool
) -> Any:
    fields, scalar = types_.state, types_.scalar_state
    if lower:
        fields, scalar = types_.outputs, types_.scalar_output
    return work_type(
        ReduceRuns,
        **_read(op, types_, selection, nulls),
        starts=array_type(WORD, layout="C") if starts else types.none,
        outs=_arrays(fields, scalar),
        lowers=types.boolean if lower else types.none,
        like=state_type(fields, scalar),
    )


@lru_cache(maxsize=4096)
def _scan_type(op: Operator, types_: Signature, selection: Any, nulls: type) -> Any:
    return work_type(
        ScanRuns,
        **_read(op, types_, selection, nulls),
        outs=_arrays(types_.outputs, types_.scalar_output),
        null_value=state_type(types_.outputs, types_.scalar_output),
        mark=types.boolean,
        exclusive=types.boolean,
        length=types.int64,
        reverse=types.boolean,
    )


def _read(op: Operator, types_: Signature, selection: Any, nulls: type) -> dict[str, Any]:
    """The types of what both visitors read."""
    return {
        "op": operator_type(op),
        "selection": selection,
        "xs": form([array_type(d, True, "C") for d in types_.inputs], op.inputs == 1),
        "nulls": nulls_type(nulls),
        "identity": state_type(types_.state, types_.scalar_state),
        "sequential": types.boolean,
    }


def _arrays(fields: Form, scalar: bool) -> Any:
    return form([array_type(d, layout="C") for d in fields], scalar)
