"""Visitors that reduce and scan run by run: the engine's state is (heads, state of the open run).

What a tile alone decides on, which is all that lies between its heads, is done before the look-back; the
rows before its first head wait for the state of the run that is open there. After Merrill and Garland,
NVR-2016-002, section 5.2.
"""

# Numba reads these functions; annotations would say less than its own types do.
# mypy: disable-error-code="no-untyped-def"

from typing import NamedTuple

import numba
import numpy as np
from numba.core import types
from numba.core.extending import intrinsic
from numba.extending import overload

from ..jit import OPTIONS
from ..operator_calls import combine, kinds, lower, parts, whole
from ..signature import State
from .elements import cast, load, store
from .memory import elements
from .selection_visitors import Selected, flag_rows, list_selected, offset
from .steps import Arrays, Output, Source, reduce_line, reduce_step, scan_line
from .visitors import Visitor, register

LONG = 32
"""Rows from which on a run is reduced in four lanes."""

BLOCK = 128
"""Rows whose lanes are walked at once: lanes that are further apart than 256 bytes are not fetched ahead."""


@intrinsic
def counting(typing_context, heads, state):
    """Return ``(heads, *state)``."""
    answer = types.Tuple([heads, *kinds(state)])

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
    """Return what is written for a state: itself, or what the operator lowers it to."""


@overload(answer, jit_options={"no_cfunc_wrapper": True})
def _answer(op, lowers, like, state):
    if isinstance(lowers, types.NoneType):
        return lambda op, lowers, like, state: state
    return lambda op, lowers, like, state: cast(like, lower(op, state))


class ReduceRuns(NamedTuple):
    """One state a run, and where each starts."""

    source: Source
    selection: Selected
    sequential: bool
    starts: np.ndarray | None
    outs: Arrays
    lowers: bool | None
    like: State


@numba.njit(forceinline=True, **OPTIONS)
def _reduce(source, sequential, state, start, stride, size):
    """Reduce the rows of one run, or of the part of it in this tile, from `state`.

    Inlined, and given no more of a visitor than it needs, because runs may be short.
    """
    while size >= LONG and not sequential:
        block = size if size < BLOCK else BLOCK
        state, _ = reduce_line(source, state, start, stride, block)
        start, size = start + block * stride, size - block
    for i in range(size):
        state = reduce_step(source, state, start + i * stride)
    return state


@numba.njit(**OPTIONS)
def _observe_reduce(work, space, before, first, size):
    flag_rows(work.selection, space, first, size)
    count = list_selected(space, size)
    source, sequential, identity = work.source, work.sequential, work.source.identity
    offsets, states = space.offsets, space.states
    state, begin, start = identity, inner(identity, before), np.int64(0)
    for k in range(count + 1):  # the last one is that of the run that is open after the tile
        end = offset(offsets, k) if k < count else size
        state = _reduce(source, sequential, begin, first + start, 1, end - start)
        store(states, k, state)
        begin, start = identity, end
    return counting(before[0] + count, state), count


@numba.njit(**OPTIONS)
def _emit_reduce(work, space, prefix, count, first, size):
    if count == 0:
        return
    op, identity, runs = work.source.op, work.source.identity, prefix[0]
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


@numba.njit(**OPTIONS)
def _finish_reduce(work, prefix):
    if prefix[0] > 0:
        state = inner(work.source.identity, prefix)
        store(work.outs, prefix[0] - 1, answer(work.source.op, work.lowers, work.like, state))


register(ReduceRuns, Visitor(_observe_reduce, _emit_reduce, finish=_finish_reduce))


class ScanRuns(NamedTuple):
    """A scan that restarts at selected rows, from the first row to the last or, in reverse, from the last."""

    source: Source
    output: Output
    selection: Selected
    sequential: bool
    length: int
    reverse: bool


@numba.njit(**OPTIONS)
def _origin(work, first):
    """Where the walk through a tile starts, and its stride."""
    return (work.length - 1 - first, -1) if work.reverse else (first, 1)


@numba.njit(**OPTIONS)
def _observe_scan(work, space, before, first, size):
    at, stride = _origin(work, first)
    flag_rows(work.selection, space, at - size + 1 if work.reverse else at, size)
    if work.reverse:
        flags = elements(space.flags, size, np.uint8(0))
        for i in range(size // 2):
            flags[i], flags[size - 1 - i] = flags[size - 1 - i], flags[i]
    count = list_selected(space, size)
    source, output, identity = work.source, work.output, work.source.identity
    if count == 0:
        state = _reduce(source, work.sequential, inner(identity, before), at, stride, size)
        return counting(before[0], state), size
    offsets = space.offsets
    waiting = offset(offsets, 0)
    state, start = identity, waiting
    for k in range(count):
        end = offset(offsets, k + 1) if k + 1 < count else size
        state = scan_line(source, output, identity, at + start * stride, stride, end - start)
        start = end
    return counting(before[0] + count, state), waiting


@numba.njit(**OPTIONS)
def _emit_scan(work, space, prefix, waiting, first, size):
    at, stride = _origin(work, first)
    scan_line(work.source, work.output, inner(work.source.identity, prefix), at, stride, waiting)


register(ScanRuns, Visitor(_observe_scan, _emit_scan))
