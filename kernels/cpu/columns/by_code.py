"""Groups of NumPy arrays in any order, by the codes of their groups: scans, reductions, and codes without gaps.

A table has the state of each group, or its first row.
"""

# Numba reads these functions; annotations would say less than its own types do.
# mypy: disable-error-code="no-untyped-def"

from functools import partial
from typing import Any

import numpy as np

from ...bounded_cache import BoundedCache
from ...compiler import argument_types as types
from ...compiler.functions import STATES, cached_njit
from ...late_dataclass import dataclass
from ...operators.inference import Form
from ...operators.operator import Operator
from ...operators.signature import Signature, State, StateForm, as_state
from ...options import ScanOptions
from ..core.elements import fetch, load, store
from ..core.engine import TICKET
from ..core.launch import (
    CONTROL,
    PARALLEL,
    Kernel,
    array_type,
    arrays_type,
    empty,
    entry,
    is_sequential,
    null_values,
    output_type,
    outside,
    source_type,
    types_of,
)
from ..core.memory import borrow, take_ticket
from ..core.shares import FAR, SHARES, beside, positions_of, row_at, run_shares, tables_for
from ..core.steps import OperatorInputs, Output, scan_step
from ..scan.scan import fold
from .factorize import occurring as codes_with_rows


@dataclass(frozen=True, eq=False)
class Types:
    """The parts of a call that do not depend on values: dtypes, and constants as kernels take them."""

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
    gap: int
    """Fields of a state that are side by side in memory."""


def max_groups(length: int) -> None:
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
    check: bool,
    occurring: bool,
) -> tuple[Any, Any, Any]:
    """Scan, or without `write` reduce, group by group; see `kernels.scan_by_code`. Codes are always checked."""
    given = dtypes_of(values), options.dtype, type(options.nulls), options.mark_nulls
    key = op.token, *given, options.exclusive, codes.dtype, write
    work, kernel = _CODES.get(key) or _CODES.store(
        key, _codes_work(op, given[0], options, codes.dtype, write)
    )
    (codes,) = contiguous((codes,))
    source = inputs_of(op, work, values, options)
    tables = tables_for(len(codes), groups, not (write or work.sequential), work.gap)
    size = tables.number * tables.stride
    if work.scalar_state:
        table = [np.empty(size, work.state[0])]
    elif work.gap > 1:
        items = np.empty(size + work.gap - 1, work.state[0])
        table = [items[k : k + size].view(dtype) for k, dtype in enumerate(work.state)]
    else:
        table = [np.empty(size, dtype) for dtype in work.state]
    found = list(map(tables.states, table))
    for field, identity in zip(found, work.start, strict=True):
        field[:] = identity
    if carry_in is not None:
        for field, states in zip(found, carry_parts(work, carry_in), strict=True):
            field[0, slice(len(states)) if carry_codes is None else carry_codes] = states
    out, output = None, None
    if write:
        outs = new_outputs(work, len(codes))
        out = outs[0] if work.scalar_output else outs
        output = Output(out, work.null_value, options.mark_nulls, options.exclusive)
    walked = table[0] if work.scalar_state else tuple(table)
    try:
        wrong = run_shares(codes, tables, kernel, source, output, codes, walked, groups)
    except IndexError as error:
        raise outside(op, error) from error
    if wrong >= 0:
        raise ValueError(f"codes must be from 0 to {groups - 1}, found {codes[wrong]}")
    if tables.number > 1:
        every = [list(field) for field in found]
        states = fold(op, every[0] if work.scalar_state else list(zip(*every, strict=True)))
    else:
        states = found[0][0] if work.scalar_state else tuple([field[0] for field in found])
    if not occurring:
        return out, states, None
    met = codes_with_rows(codes, groups)
    if len(met) < groups:
        states = states[met] if work.scalar_state else tuple([s[met] for s in states])
    return out, states, met


def dtypes_of(values: tuple[np.ndarray, ...]) -> Form:
    """Return the dtypes of arrays."""
    return (values[0].dtype,) if len(values) == 1 else tuple([v.dtype for v in values])


def contiguous(values: tuple[np.ndarray, ...]) -> tuple[np.ndarray, ...]:
    """Return arrays with elements that are neighbours in memory: kernels that know this are much faster."""
    for array in values:
        if not (array.flags.c_contiguous and array.flags.aligned):
            return tuple([np.require(v, requirements=["C", "A"]) for v in values])
    return values


def inputs_of(
    op: Operator, work: Types, values: tuple[np.ndarray, ...], options: ScanOptions
) -> OperatorInputs:
    """Return the inputs of a kernel: the operator, its inputs, their nulls, and its identity."""
    nulls = options.nulls
    xs = values[0] if len(values) == 1 else values
    return OperatorInputs(op, xs, None if nulls is None else nulls.args, work.identity)


def new_outputs(work: Types, length: int) -> tuple[np.ndarray, ...]:
    """Return new arrays for the answers."""
    make = np.empty if length < PARALLEL else empty
    if work.scalar_output:
        return (make(length, work.outputs[0]),)
    return tuple([make(length, d) for d in work.outputs])


def carry_parts(work: Types, state: State) -> tuple[Any, ...]:
    """Return the fields of a state that is carried in."""
    parts = state if isinstance(state, tuple) else (state,)
    dtypes = tuple([getattr(part, "dtype", ...) for part in parts])
    if dtypes == work.state and isinstance(state, tuple) != work.scalar_state:
        return parts
    return work.signature.parts(as_state(state, work.signature, "carry_in"))


_CODES: BoundedCache[Any, tuple[Types, Kernel]] = BoundedCache()


def work_types(
    op: Operator, dtypes: Form, options: ScanOptions, form: StateForm | None = None
) -> Types:
    """Return the types that calls with these options share; `form` is that of the output, if it is not answers."""
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
        beside(types_.state),
    )


def _codes_work(
    op: Operator, dtypes: Form, options: ScanOptions, code: np.dtype, write: bool
) -> tuple[Types, Kernel]:
    types_ = types_of(op, dtypes, options.dtype)
    source = source_type(op, types_, type(options.nulls))
    output = output_type(types_, options, "C") if write else types.none
    codes = array_type(code, True, "C")
    table = arrays_type(types_.state_form, "C")
    kernel = entry(walk_codes, (source, output, codes, table, types.int64, SHARES, CONTROL))
    return work_types(op, dtypes, options), kernel


AHEAD = 32
"""How many rows ahead states are prefetched. Sums of 4 million float64 by 10^6 codes on a core, milliseconds: 62
without, 37 at 16 rows, 30 at 32, 28 at 64; uncompensated sums 30 without, 19 at 32."""


@partial(cached_njit, table=STATES)
def walk_codes(source, output, codes, table, groups, shares, control):
    """Scan rows in their order, each from the state of its group; without `output` only reduce."""
    source, output, codes, table = borrow(source), borrow(output), borrow(codes), borrow(table)
    shares, control = borrow(shares), borrow(control)
    far = groups >= FAR
    while True:
        share = take_ticket(control, TICKET)
        if share >= shares.tickets:
            break
        offset = share * shares.stride if shares.chunk else 0
        begin, end = positions_of(shares, share, len(codes))
        for position in range(begin, end):
            at = row_at(shares, position)
            if far:
                ahead = codes[np.uintp(row_at(shares, min(position + AHEAD, end - 1)))]
                fetch(table, offset + np.int64(ahead) * shares.gap)
            code = np.int64(codes[np.uintp(at)])
            if code < 0 or code >= groups:
                shares.wrong[share] = at
                return
            slot = offset + code * shares.gap
            store(table, slot, scan_step(source, output, load(table, slot), at))
