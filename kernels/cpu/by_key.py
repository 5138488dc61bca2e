"""Reductions and scans of NumPy arrays by key, restarting at runs of equal keys, and by code, in rows of any order."""

from collections.abc import Callable
from functools import lru_cache
from typing import Any

import numpy as np
from numba.core import types

from ..counted_segments import counted_segments
from ..nulls import InBand, missing_in_band
from ..operator_calls import as_constant_as
from ..operators import Operator
from ..options import ScanOptions
from ..selection import Runs
from ..signature import Signature, State, StateForm, as_state, joined
from .by_key_visitors import ReduceRuns, ScanRuns
from .engine import walk_codes
from .launch import (
    WORD,
    Kernel,
    Naming,
    array_type,
    arrays_type,
    entry,
    is_sequential,
    null_arguments,
    null_values,
    output_type,
    source_type,
    state_type,
    tiles_kernel,
    types_of,
    walk,
)
from .outputs import empty, shrink
from .selection import SPACE, kernel_selection, space_for, space_type
from .selection_visitors import list_rows
from .steps import Output, Source
from .visitors import record_type


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
    types_ = types_of(op, values, options)
    selection = kernel_selection(runs)
    form = types_.output_form if lower else types_.state_form
    nulls: type = type(options.nulls)
    firsts = empty(selection.length, WORD) if starts else None
    outs = [empty(selection.length, d) for d in form.fields]
    work = ReduceRuns(
        _source(op, types_, values, options),
        selection.args,
        is_sequential(op, types_),
        firsts,
        joined(outs, form.scalar),
        True if lower else None,
        null_values(form, False),
    )
    kernel = _reduce_kernel(op, types_, selection.kind, nulls, starts, lower)

    def make_space(tile: int) -> Any:
        states = [np.empty(tile + 1, d) for d in types_.state]
        return space_for(tile, (list_rows,), states=joined(states, types_.scalar_state))

    count, _ = _walk(kernel, op, types_, work, types_.identity, selection.length, make_space)
    first = None if firsts is None else shrink(firsts, count)
    return first, joined([shrink(out, count) for out in outs], form.scalar)


def scan_by_key(
    op: Operator,
    runs: Runs,
    values: tuple[np.ndarray, ...],
    options: ScanOptions,
    carry_in: State | None,
    *,
    saw_null: np.ndarray | None,
    carry_out: bool,  # which costs nothing here
) -> tuple[Any, Any]:
    """Scan run by run; see `kernels.scan_by_key`."""
    types_ = types_of(op, values, options)
    carry = types_.identity
    if carry_in is not None:
        carry = as_state(carry_in, types_, "carry_in")
    selection = kernel_selection(runs)
    nulls: type = type(options.nulls)
    outs = [empty(selection.length, d) for d in types_.outputs]
    work = ScanRuns(
        _source(op, types_, values, options),
        _output(types_, outs, options),
        selection.args,
        is_sequential(op, types_),
        selection.length,
        runs.last,
    )
    kernel = _scan_kernel(op, types_, selection.kind, nulls)
    _, end = _walk(kernel, op, types_, work, carry, selection.length, _space)
    if saw_null is not None and isinstance(options.nulls, InBand):
        saw_null[0] |= any(missing_in_band(v).any() for v in values)
    return joined(outs, types_.scalar_output), end if carry_out else None


def _space(tile: int) -> Any:
    return space_for(tile, (list_rows,))


def _walk(
    kernel: Kernel,
    op: Operator,
    types_: Signature,
    work: Any,
    carry: State,
    length: int,
    make_space: Callable[[int], Any],
) -> tuple[int, Any]:
    """Let a visitor walk from a carry-in; return the number of heads and the carry-out."""
    fields = (WORD, *types_.state)
    parts = (0, *types_.parts(carry))
    carries = tuple([np.array([part], d) for part, d in zip(parts, fields, strict=True)])
    walk(
        kernel,
        _combines(op, types_),
        work,
        StateForm(fields, False),
        (0, *types_.parts(types_.plain_identity)),
        carries,
        length,
        sequential=is_sequential(op, types_),
        make_space=make_space,
    )
    count, *states = [field[0] for field in carries]
    return int(count), joined(states, types_.scalar_state)


def _combines(op: Operator, types_: Signature) -> Operator:
    """The operator whose states are looked back at."""
    return as_constant_as(op, counted_segments(op, not types_.scalar_state))


def _source(
    op: Operator, types_: Signature, values: tuple[np.ndarray, ...], options: ScanOptions
) -> Source:
    """What is read: kernels are much faster where they know that values lie side by side."""
    flat = [np.require(v, requirements=["C", "A"]) for v in values]
    nulls = null_arguments(options.nulls)
    return Source(op, joined(flat, len(flat) == 1), nulls, types_.plain_identity)


def _output(types_: Signature, outs: list[np.ndarray], options: ScanOptions) -> Output:
    written = null_values(types_.output_form, options.mark_nulls)
    arrays = joined(outs, types_.scalar_output)
    return Output(arrays, written, options.mark_nulls, options.exclusive)


# --- by code ----------------------------------------------------------------------------------------


def by_code(
    op: Operator,
    codes: np.ndarray,
    values: tuple[np.ndarray, ...],
    groups: int,
    options: ScanOptions,
    carry_in: State | None,
    *,
    write: bool,
) -> tuple[Any, Any]:
    """Scan, or without `write` reduce, group by group; see `kernels.scan_by_code`."""
    types_ = types_of(op, values, options)
    nulls: type = type(options.nulls)
    table = joined(_group_states(types_, groups, carry_in), types_.scalar_state)
    outs = [empty(len(codes), d) for d in types_.outputs] if write else None
    source = Source(
        op, joined(values, op.inputs == 1), null_arguments(options.nulls), types_.plain_identity
    )
    output = None if outs is None else _output(types_, outs, options)
    kernel = _codes_kernel(op, types_, nulls, write)
    with Naming(op):
        wrong = kernel(source, output, codes, table, groups)
    if wrong >= 0:
        raise ValueError(f"codes must be from 0 to {groups - 1}, found {codes[wrong]}")
    return None if outs is None else joined(outs, types_.scalar_output), table


def _group_states(types_: Signature, groups: int, carry_in: State | None) -> list[np.ndarray]:
    """One array a field, one item a group: the states that are carried in, then identities."""
    pairs = zip(types_.parts(types_.identity), types_.state, strict=True)
    table = [np.full(groups, part, d) for part, d in pairs]
    if carry_in is not None:
        given = types_.parts(as_state(carry_in, types_, "carry_in"))
        for field, states in zip(table, given, strict=True):
            field[: len(states)] = states
    return table


# --- kernels ----------------------------------------------------------------------------------------


@lru_cache(maxsize=4096)
def _reduce_kernel(
    op: Operator, types_: Signature, selection: types.Type, nulls: type, starts: bool, lower: bool
) -> Kernel:
    form = types_.output_form if lower else types_.state_form
    work = record_type(
        ReduceRuns,
        source=source_type(op, types_, nulls, "C"),
        selection=selection,
        sequential=types.boolean,
        starts=array_type(WORD, layout="C") if starts else types.none,
        outs=arrays_type(form, "C"),
        lowers=types.boolean if lower else types.none,
        like=state_type(form),
    )
    return _kernel(op, types_, work, space_type(arrays_type(types_.state_form, "C")))


@lru_cache(maxsize=4096)
def _scan_kernel(op: Operator, types_: Signature, selection: types.Type, nulls: type) -> Kernel:
    work = record_type(
        ScanRuns,
        source=source_type(op, types_, nulls, "C"),
        output=output_type(types_, "C"),
        selection=selection,
        sequential=types.boolean,
        length=types.int64,
        reverse=types.boolean,
    )
    return _kernel(op, types_, work, SPACE)


def _kernel(op: Operator, types_: Signature, work: types.Type, space: types.Type) -> Kernel:
    form = StateForm((WORD, *types_.state), False)
    return tiles_kernel(_combines(op, types_), form, work, space)


@lru_cache(maxsize=4096)
def _codes_kernel(op: Operator, types_: Signature, nulls: type, write: bool) -> Kernel:
    source = source_type(op, types_, nulls)
    output = output_type(types_, "C") if write else types.none
    codes = array_type(WORD, True, "C")
    table = arrays_type(types_.state_form, "C")
    return entry(walk_codes, (source, output, codes, table, types.int64))
