"""Reductions and scans of NumPy arrays by key, restarting at runs of equal keys, and the visitors that do so.

The engine's state is (heads, state of the open run). Rows after the first head of a tile depend only on this tile, and
are done before the look-back; the rows before its first head wait for the state of the open run. After Merrill and
Garland, NVR-2016-002, section 5.2.
"""

# Numba reads these functions; annotations would say less than its own types do.
# mypy: disable-error-code="no-untyped-def"

from functools import partial
from typing import Any, NamedTuple

import numpy as np

from ...bounded_cache import BoundedCache
from ...compiler import argument_types as types
from ...compiler.functions import ANSWERS, OPTIONS, ROLES, intrinsic, njit, overloaded
from ...compiler.late import numba
from ...compiler.tuples import kinds, parts, whole
from ...nulls import InBand, missing_in_band
from ...operators.built_in import commutes
from ...operators.calls import as_constant_as, combine, lower
from ...operators.inference import Form
from ...operators.operator import Operator
from ...operators.segments import counted_segments
from ...operators.signature import Signature, State, StateForm
from ...options import ScanOptions
from ...selection import RunEnds
from ..core.elements import cast, load, store
from ..core.launch import (
    PARALLEL,
    WORD,
    array_type,
    arrays_type,
    empty,
    is_sequential,
    output_type,
    source_type,
    state_type,
    tiles_kernel,
    types_of,
)
from ..core.memory import elements
from ..core.steps import Arrays, OperatorInputs, Output, reduce_line, reduce_step, scan_line
from ..core.visitors import Visitor, register
from .by_code import Types, carry_parts, contiguous, dtypes_of, inputs_of, new_outputs, work_types
from .selection import RUNS, SPACE, TileWalk, kernel_selection, shrink, space_for, space_type, walk
from .selection_visitors import Selected, flag_rows, list_rows, list_selected, offset

LONG = 32
"""The fewest rows of a run that is reduced in four lanes."""

BLOCK = 128
"""Rows of lanes that are walked at once: lanes that are further apart than 256 bytes are not prefetched."""


LANES = 16
"""Lanes that are walked as vectors, if the operator commutes. Sums of 4 million float64 in runs of 4,000 rows, on a
core, ns for each row: 2.0 in four lanes, 1.1 in these; uncompensated 1.0 in four."""


@intrinsic
def counting(typing_context, heads, state):
    """Return ``(heads, *state)``."""
    answer = numba.types.Tuple([heads, *kinds(state)])

    def codegen(context, builder, signature, args):
        return whole(context, builder, answer, [args[0], *parts(builder, state, args[1])])

    return answer(heads, state), codegen


@intrinsic
def inner(typing_context, like, state):
    """Return the state of the open run, in the form of `like`, out of ``(heads, *state)``."""

    def codegen(context, builder, signature, args):
        fields = parts(builder, state, args[1])[1:]
        each = zip(fields, kinds(state)[1:], kinds(like), strict=True)
        return whole(context, builder, like, [context.cast(builder, *one) for one in each])

    return like(like, state), codegen


def answer(op, lowers, like, state):
    """Return what is written for a state: the state itself, or the lowered state."""


@overloaded(answer)
def _answer(op, lowers, like, state):
    if isinstance(lowers, numba.types.NoneType):
        return lambda op, lowers, like, state: state
    return lambda op, lowers, like, state: cast(like, lower(op, state))


class ReduceRuns(NamedTuple):
    """The state and the start of each run; `lanes` are for operators that commute."""

    source: OperatorInputs
    selection: Selected
    sequential: bool
    lanes: int | None
    starts: np.ndarray | None
    outs: Arrays
    lowers: bool | None
    like: State


ROLES[ReduceRuns] = {"outs": ANSWERS, "like": ANSWERS}


@partial(njit, options={**OPTIONS, "forceinline": True})
def _reduce(source, sequential, state, start, stride, size):
    """Reduce the rows of one run, or of the part of it in this tile, from `state`.

    It is inlined and takes only the parts of a visitor that it needs, as runs may be short.
    """
    while size >= LONG and not sequential:
        block = size if size < BLOCK else BLOCK
        state, _ = reduce_line(source, state, start, stride, block)
        start, size = start + block * stride, size - block
    for i in range(size):
        state = reduce_step(source, state, start + i * stride)
    return state


@njit
def _reduce_beside(source, lanes, state, first, size, states, at):
    """Reduce rows from `state` in lanes side by side, if there are many; return the state after them, and their number.

    The states of lanes are in `states` from `at` on. Loops over `lanes` become vector instructions, as the compiler
    does not know the number, and so does not unroll them.
    """
    if lanes is None or size < 4 * lanes:
        return state, np.int64(0)
    identity, size = source.identity, size - size % lanes
    for lane in range(at, at + lanes):
        store(states, lane, identity)
    for row in range(first, first + size, lanes):
        for lane in range(lanes):
            store(states, at + lane, reduce_step(source, load(states, at + lane), row + lane))
    for lane in range(at, at + lanes):
        state = cast(identity, combine(source.op, state, load(states, lane)))
    return state, size


@njit
def _observe_reduce(work, space, before, first, size):
    flag_rows(work.selection, space, first, size)
    count = list_selected(space, size)
    source, sequential, identity = work.source, work.sequential, work.source.identity
    offsets, states = space.offsets, space.states
    state, begin, start = identity, inner(identity, before), np.int64(0)
    for k in range(count + 1):  # the last run is open after the tile
        end = offset(offsets, k) if k < count else size
        # so long a run leaves the last states free
        begin, done = _reduce_beside(
            source, work.lanes, begin, first + start, end - start, states, size + 1 - LANES
        )
        start += done
        state = _reduce(source, sequential, begin, first + start, 1, end - start)
        store(states, k, state)
        begin, start = identity, end
    return counting(cast(count, before[0]) + count, state), count


@njit
def _emit_reduce(work, space, prefix, count, first, size):
    if count == 0:
        return
    op, identity, runs = work.source.op, work.source.identity, cast(count, prefix[0])
    outs, lowers, like, states = work.outs, work.lowers, work.like, space.states
    if runs > 0:
        closed = load(states, 0)
        if not work.sequential:
            closed = cast(identity, combine(op, inner(identity, prefix), closed))
        store(outs, runs - 1, answer(op, lowers, like, closed))
    for k in range(1, count):
        store(outs, runs + k - 1, answer(op, lowers, like, load(states, k)))
    if work.starts is not None:
        starts, offsets = work.starts, space.offsets
        for k in range(count):
            store(starts, runs + k, first + offset(offsets, k))


@njit
def _finish_reduce(work, prefix):
    runs = cast(np.int64(0), prefix[0])
    if runs > 0:
        state = inner(work.source.identity, prefix)
        store(work.outs, runs - 1, answer(work.source.op, work.lowers, work.like, state))


register(ReduceRuns, Visitor(_observe_reduce, _emit_reduce, finish=_finish_reduce))


class ScanRuns(NamedTuple):
    """A scan that restarts at selected rows, from the first row to the last or, in reverse, from the last."""

    source: OperatorInputs
    output: Output
    selection: Selected
    sequential: bool
    length: int
    reverse: bool


@njit
def _origin(work, first):
    """Where the walk through a tile starts, and its stride."""
    return (work.length - 1 - first, -1) if work.reverse else (first, 1)


@njit
def _observe_scan(work, space, before, first, size):
    at, stride = _origin(work, first)
    flag_rows(work.selection, space, at - size + 1 if work.reverse else at, size)
    if work.reverse:
        flags = elements(space.flags, size, np.uint8(0))
        for i in range(size // 2):
            flags[i], flags[size - 1 - i] = flags[size - 1 - i], flags[i]
    count = list_selected(space, size)
    source, output, identity = work.source, work.output, work.source.identity
    heads = cast(count, before[0])
    if count == 0:
        state = _reduce(source, work.sequential, inner(identity, before), at, stride, size)
        return counting(heads, state), size
    offsets = space.offsets
    waiting = offset(offsets, 0)
    state, start = identity, waiting
    for k in range(count):
        end = offset(offsets, k + 1) if k + 1 < count else size
        state = scan_line(source, output, identity, at + start * stride, stride, end - start)
        start = end
    return counting(heads + count, state), waiting


@njit
def _emit_scan(work, space, prefix, waiting, first, size):
    at, stride = _origin(work, first)
    scan_line(work.source, work.output, inner(work.source.identity, prefix), at, stride, waiting)


register(ScanRuns, Visitor(_observe_scan, _emit_scan))


LIST = (list_rows,)


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
    key = op.token, dtypes_of(values), options.dtype, type(options.nulls), starts, lower
    work, known, lanes = _REDUCE.get(key) or _REDUCE.store(
        key, _reduce_work(op, key[1], options, starts, lower)
    )
    args, _, length, _keepalive = kernel_selection(runs)
    make = np.empty if length < PARALLEL else empty
    firsts = make(runs.most, WORD) if starts else None
    fields, scalar = (
        (work.outputs, work.scalar_output) if lower else (work.state, work.scalar_state)
    )
    outs = [make(runs.most, d) for d in fields]
    visitor = ReduceRuns(
        inputs_of(op, work, contiguous(values), options),
        args,
        work.sequential,
        lanes,
        firsts,
        outs[0] if scalar else tuple(outs),
        True if lower else None,
        work.null_value,
    )

    def make_space(tile: int) -> Any:
        states = [np.empty(tile + 1, d) for d in work.state]
        one = states[0] if work.scalar_state else tuple(states)
        return space_for(tile, LIST, states=one)

    count, *_ = walk(known, op, visitor, (0, *work.start), length, make_space)
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
    carry_out: bool,  # costs nothing here
) -> tuple[Any, Any]:
    """Scan run by run; see `kernels.scan_by_key`."""
    given = dtypes_of(values), options.dtype, type(options.nulls), options.mark_nulls
    key = op.token, *given, options.exclusive
    work, known = _SCAN.get(key) or _SCAN.store(key, _scan_work(op, given[0], options))
    start = work.start if carry_in is None else carry_parts(work, carry_in)
    args, _, length, _keepalive = kernel_selection(runs)
    outs = new_outputs(work, length)
    out = outs[0] if work.scalar_output else outs
    visitor = ScanRuns(
        inputs_of(op, work, contiguous(values), options),
        Output(out, work.null_value, options.mark_nulls, options.exclusive),
        args,
        work.sequential,
        length,
        runs.last,
    )
    make_space = partial(space_for, uses=LIST)
    _, *end = walk(known, op, visitor, (0, *start), length, make_space)
    if saw_null is not None and isinstance(options.nulls, InBand):
        saw_null[0] |= any(missing_in_band(v).any() for v in values)
    return out, None if not carry_out else end[0] if work.scalar_state else tuple(end)


# --- kernels ----------------------------------------------------------------------------------------


_REDUCE: BoundedCache[Any, tuple[Types, TileWalk, int | None]] = BoundedCache()
_SCAN: BoundedCache[Any, tuple[Types, TileWalk]] = BoundedCache()


def _reduce_work(
    op: Operator, dtypes: Form, options: ScanOptions, starts: bool, lower: bool
) -> tuple[Types, TileWalk, int | None]:
    types_ = types_of(op, dtypes, options.dtype)
    lanes = LANES if commutes(op) else None
    form = types_.output_form if lower else types_.state_form
    visitor = types.record_type(
        ReduceRuns,
        source=source_type(op, types_, type(options.nulls), "C"),
        selection=RUNS.type,
        sequential=types.boolean,
        lanes=types.int64 if lanes else types.none,
        starts=array_type(WORD, layout="C") if starts else types.none,
        outs=arrays_type(form, "C"),
        lowers=types.boolean if lower else types.none,
        like=state_type(form),
    )
    space = space_type(arrays_type(types_.state_form, "C"))
    return work_types(op, dtypes, options, form), _walk(op, types_, visitor, space), lanes


def _scan_work(op: Operator, dtypes: Form, options: ScanOptions) -> tuple[Types, TileWalk]:
    types_ = types_of(op, dtypes, options.dtype)
    visitor = types.record_type(
        ScanRuns,
        source=source_type(op, types_, type(options.nulls), "C"),
        output=output_type(types_, options, "C"),
        selection=RUNS.type,
        sequential=types.boolean,
        length=types.int64,
        reverse=types.boolean,
    )
    return work_types(op, dtypes, options), _walk(op, types_, visitor, SPACE)


def _walk(op: Operator, types_: Signature, visitor: types.Type, space: types.Type) -> TileWalk:
    """Return the walk of a visitor; its state is the number of heads and the state of the open run."""
    combines = as_constant_as(op, counted_segments(op, not types_.scalar_state))
    form = StateForm((WORD, *types_.state), False)
    identity = 0, *types_.parts(types_.plain_identity)
    kernel = tiles_kernel(combines, form, visitor, space)
    return TileWalk(kernel, combines, identity, form.fields, is_sequential(op, types_))
