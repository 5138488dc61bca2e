"""Reductions and scans of NumPy arrays by key, restarting at runs of equal keys, and by code, in rows of any order."""

from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np
from numba.core import types

from ..inference import Form
from ..kept import keep
from ..nulls import InBand, missing_in_band
from ..operator_calls import as_constant_as
from ..operators import Operator
from ..options import ScanOptions
from ..segments import counted_segments
from ..selection import RunEnds
from ..signature import Signature, State, StateForm, as_state
from .by_key_visitors import ReduceRuns, ScanRuns
from .engine import walk_codes
from .launch import (
    PARALLEL,
    WORD,
    Kernel,
    array_type,
    arrays_type,
    entry,
    is_sequential,
    null_values,
    output_type,
    outside,
    source_type,
    state_type,
    tiles_kernel,
    types_of,
)
from .outputs import empty
from .selection import RUNS, SPACE, Walk, kernel_selection, shrink, space_for, space_type, walk
from .selection_visitors import list_rows
from .steps import Output, Source
from .visitors import record_type

LIST = (list_rows,)


@dataclass(frozen=True, eq=False)
class Types:
    """What does not depend on the values of a call: dtypes, and constants as kernels take them."""

    signature: Signature
    identity: State
    scalar_state: bool
    state: Form
    start: tuple[Any, ...]
    """The fields of the identity."""
    outputs: Form
    scalar_output: bool
    null_value: State
    sequential: bool


def reduce_by_key(
    op: Operator,
    runs: RunEnds,
    values: tuple[np.ndarray, ...],
    options: ScanOptions,
    *,
    starts: bool,
    lower: bool,
) -> tuple[np.ndarray | None, Any]:
    """Reduce each run of keys; see `kernels.reduce_by_key`."""
    key = op.token, _dtypes(values), options.dtype, type(options.nulls), starts, lower
    work, known = _REDUCE.get(key) or keep(
        _REDUCE, key, _reduce_work(op, key[1], options, starts, lower)
    )
    args, _, length, _keepalive = kernel_selection(runs)
    make = np.empty if length < PARALLEL else empty
    firsts = make(runs.most, WORD) if starts else None
    fields, scalar = (
        (work.outputs, work.scalar_output) if lower else (work.state, work.scalar_state)
    )
    outs = [make(runs.most, d) for d in fields]
    visitor = ReduceRuns(
        _source(op, work, _side_by_side(values), options),
        args,
        work.sequential,
        firsts,
        outs[0] if scalar else tuple(outs),
        True if lower else None,
        work.null_value,
    )

    def make_space(tile: int) -> Any:
        states = [np.empty(tile + 1, d) for d in work.state]
        one = states[0] if work.scalar_state else tuple(states)
        return space_for(tile, LIST, states=one)

    count, *_ = walk(known, op, visitor, (0, *work.start), length, make_space=make_space)
    first = None if firsts is None else shrink(firsts, count)
    found = [shrink(out, count) for out in outs]
    return first, found[0] if scalar else tuple(found)


def scan_by_key(
    op: Operator,
    runs: RunEnds,
    values: tuple[np.ndarray, ...],
    options: ScanOptions,
    carry_in: State | None,
    *,
    saw_null: np.ndarray | None,
    carry_out: bool,  # which costs nothing here
) -> tuple[Any, Any]:
    """Scan run by run; see `kernels.scan_by_key`."""
    given = _dtypes(values), options.dtype, type(options.nulls), options.mark_nulls
    key = op.token, *given, options.exclusive
    work, known = _SCAN.get(key) or keep(_SCAN, key, _scan_work(op, given[0], options))
    start = work.start if carry_in is None else _parts(work, carry_in)
    args, _, length, _keepalive = kernel_selection(runs)
    outs = _outs(work, length)
    out = outs[0] if work.scalar_output else outs
    visitor = ScanRuns(
        _source(op, work, _side_by_side(values), options),
        Output(out, work.null_value, options.mark_nulls, options.exclusive),
        args,
        work.sequential,
        length,
        runs.last,
    )
    make_space = partial(space_for, uses=LIST)
    _, *end = walk(known, op, visitor, (0, *start), length, make_space=make_space)
    if saw_null is not None and isinstance(options.nulls, InBand):
        saw_null[0] |= any(missing_in_band(v).any() for v in values)
    return out, None if not carry_out else end[0] if work.scalar_state else tuple(end)


def most_codes() -> None:
    """Any number of groups is scanned by code."""


def by_code(
    op: Operator,
    codes: np.ndarray,
    values: tuple[np.ndarray, ...],
    groups: int,
    options: ScanOptions,
    carry_in: State | None,
    carry_codes: np.ndarray | None,
    *,
    write: bool,
) -> tuple[Any, Any]:
    """Scan, or without `write` reduce, group by group; see `kernels.scan_by_code`."""
    given = _dtypes(values), options.dtype, type(options.nulls), options.mark_nulls
    key = op.token, *given, options.exclusive, codes.dtype, write
    work, kernel = _CODES.get(key) or keep(
        _CODES, key, _codes_work(op, given[0], options, codes.dtype, write)
    )
    (codes,) = _side_by_side((codes,))
    table = [np.full(groups, part, d) for part, d in zip(work.start, work.state, strict=True)]
    if carry_in is not None:
        for field, states in zip(table, _parts(work, carry_in), strict=True):
            field[slice(len(states)) if carry_codes is None else carry_codes] = states
    states = table[0] if work.scalar_state else tuple(table)
    out, output = None, None
    if write:
        outs = _outs(work, len(codes))
        out = outs[0] if work.scalar_output else outs
        output = Output(out, work.null_value, options.mark_nulls, options.exclusive)
    try:
        wrong = kernel(_source(op, work, values, options), output, codes, states, groups)
    except IndexError as error:
        raise outside(op, error) from error
    if wrong >= 0:
        raise ValueError(f"codes must be from 0 to {groups - 1}, found {codes[wrong]}")
    return out, states


def _dtypes(values: tuple[np.ndarray, ...]) -> Form:
    return (values[0].dtype,) if len(values) == 1 else tuple([v.dtype for v in values])


def _side_by_side(values: tuple[np.ndarray, ...]) -> tuple[np.ndarray, ...]:
    """Kernels are much faster where they know that values lie side by side."""
    if all(v.flags.c_contiguous and v.flags.aligned for v in values):
        return values
    return tuple([np.require(v, requirements=["C", "A"]) for v in values])


def _source(
    op: Operator, work: Types, values: tuple[np.ndarray, ...], options: ScanOptions
) -> Source:
    nulls = options.nulls
    xs = values[0] if len(values) == 1 else values
    return Source(op, xs, None if nulls is None else nulls.args, work.identity)


def _outs(work: Types, length: int) -> tuple[np.ndarray, ...]:
    make = np.empty if length < PARALLEL else empty
    return tuple([make(length, d) for d in work.outputs])


def _parts(work: Types, state: State) -> tuple[Any, ...]:
    """The fields of a state that is carried in."""
    parts = state if isinstance(state, tuple) else (state,)
    dtypes = tuple([getattr(part, "dtype", ...) for part in parts])
    if dtypes == work.state and isinstance(state, tuple) != work.scalar_state:
        return parts
    return work.signature.parts(as_state(state, work.signature, "carry_in"))


# --- kernels ----------------------------------------------------------------------------------------


_REDUCE: dict[Any, tuple[Types, Walk]] = {}
_SCAN: dict[Any, tuple[Types, Walk]] = {}
_CODES: dict[Any, tuple[Types, Kernel]] = {}


def _types(
    op: Operator, dtypes: Form, options: ScanOptions, form: StateForm | None = None
) -> Types:
    """Return what calls with these options have in common; `form` is that of what is written, if not answers."""
    types_ = types_of(op, dtypes, options.dtype)
    return Types(
        types_,
        types_.plain_identity,
        types_.scalar_state,
        types_.state,
        types_.parts(types_.identity),
        types_.outputs,
        types_.scalar_output,
        null_values(form or types_.output_form, options.mark_nulls),
        is_sequential(op, types_),
    )


def _reduce_work(
    op: Operator, dtypes: Form, options: ScanOptions, starts: bool, lower: bool
) -> tuple[Types, Walk]:
    types_ = types_of(op, dtypes, options.dtype)
    form = types_.output_form if lower else types_.state_form
    visitor = record_type(
        ReduceRuns,
        source=source_type(op, types_, type(options.nulls), "C"),
        selection=RUNS.type,
        sequential=types.boolean,
        starts=array_type(WORD, layout="C") if starts else types.none,
        outs=arrays_type(form, "C"),
        lowers=types.boolean if lower else types.none,
        like=state_type(form),
    )
    space = space_type(arrays_type(types_.state_form, "C"))
    return _types(op, dtypes, options, form), _walk(op, types_, visitor, space)


def _scan_work(op: Operator, dtypes: Form, options: ScanOptions) -> tuple[Types, Walk]:
    types_ = types_of(op, dtypes, options.dtype)
    visitor = record_type(
        ScanRuns,
        source=source_type(op, types_, type(options.nulls), "C"),
        output=output_type(types_, options, "C"),
        selection=RUNS.type,
        sequential=types.boolean,
        length=types.int64,
        reverse=types.boolean,
    )
    return _types(op, dtypes, options), _walk(op, types_, visitor, SPACE)


def _walk(op: Operator, types_: Signature, visitor: types.Type, space: types.Type) -> Walk:
    """Return the walk of a visitor whose state is the number of heads and the state of the open run."""
    combines = as_constant_as(op, counted_segments(op, not types_.scalar_state))
    form = StateForm((WORD, *types_.state), False)
    identity = 0, *types_.parts(types_.plain_identity)
    kernel = tiles_kernel(combines, form, visitor, space)
    return Walk(kernel, combines, identity, form.fields, is_sequential(op, types_))


def _codes_work(
    op: Operator, dtypes: Form, options: ScanOptions, code: np.dtype, write: bool
) -> tuple[Types, Kernel]:
    types_ = types_of(op, dtypes, options.dtype)
    source = source_type(op, types_, type(options.nulls))
    output = output_type(types_, options, "C") if write else types.none
    codes = array_type(code, True, "C")
    table = arrays_type(types_.state_form, "C")
    kernel = entry(walk_codes, (source, output, codes, table, types.int64))
    return _types(op, dtypes, options), kernel
