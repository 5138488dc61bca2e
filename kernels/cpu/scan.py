"""Scans and reductions of NumPy arrays: shapes to lines, lines to visitors of tiles or to many lines side by side.

The visitors walk a tile in four lanes to its aggregate, and again from its prefix.
"""

# Numba reads the visitors' functions.
# mypy: disable-error-code="no-untyped-def"

from collections.abc import Callable, Sequence
from functools import lru_cache
from math import prod
from typing import Any, NamedTuple

import numba
import numpy as np
from numba.core import types

from ..jit import OPTIONS
from ..nulls import Mask
from ..operator_calls import combine, operator_type
from ..operators import Operator
from ..options import ScanOptions
from ..signature import Signature, State, StateForm, as_state, joined
from .elements import cast
from .engine import STATUS, TILE, Lines, fold_states, walk_lines
from .launch import (
    CONTROL,
    Kernel,
    Naming,
    arrays_type,
    entry,
    is_sequential,
    null_arguments,
    null_values,
    output_type,
    run_team,
    source_type,
    state_type,
    tiles_kernel,
    types_of,
    walk,
)
from .outputs import empty
from .steps import Arrays, Output, Source, reduce_line, scan_lanes, scan_line
from .visitors import Visitor, record_type, register


def scan(
    op: Operator,
    arrays: tuple[np.ndarray, ...],
    options: ScanOptions,
    carry_in: State | None,
    *,
    write: bool,
    waits: bool,  # which costs nothing here
) -> tuple[Any, Callable[[], Any]]:
    """Scan (or, without `write`, reduce) NumPy arrays; see `kernels.scan` for the parameters."""
    types_ = types_of(op, arrays, options)
    ndim = arrays[0].ndim
    axis = options.axis % ndim
    # a mask counts positions in C order, so with one the memory must be in that order as well
    masked = isinstance(options.nulls, Mask)
    flipped = ndim > 1 and not masked and all(a.flags.f_contiguous for a in arrays)
    if flipped:
        arrays, axis = tuple(a.T for a in arrays), ndim - 1 - axis
    shape = arrays[0].shape
    groups, length, inner = prod(shape[:axis]), shape[axis], prod(shape[axis + 1 :])
    flat = arrays if ndim == 1 else tuple(np.ascontiguousarray(a).reshape(-1) for a in arrays)

    lines_shape = shape[:axis] + shape[axis + 1 :]
    if flipped:
        lines_shape = lines_shape[::-1]
    carry = types_.identity
    if carry_in is not None:
        carry = as_state(carry_in, types_, "carry_in")
    carries = _line_states(carry, types_, lines_shape, flipped)

    nulls, identity = null_arguments(options.nulls), types_.plain_identity
    source = Source(op, joined(flat, op.inputs == 1), nulls, identity)
    outs = [empty(prod(shape), d) for d in types_.outputs] if write else None
    output = None
    if outs is not None:
        instead = null_values(types_.output_form, options.mark_nulls)
        to = joined(outs, types_.scalar_output)
        output = Output(to, instead, options.mark_nulls, options.exclusive)
    states = joined(carries, types_.scalar_state)
    block = groups, length, inner
    _walk(types_, source, output, type(options.nulls), states, block, options.reverse)

    out = None
    if outs is not None:
        views = [o.reshape(shape).T if flipped else o.reshape(shape) for o in outs]
        out = joined(views, types_.scalar_output)
    ends = [
        f.reshape(lines_shape[::-1]).T if flipped else f.reshape(lines_shape)[()] for f in carries
    ]
    carry_out = joined(ends, types_.scalar_state)
    return out, lambda: carry_out


def fold(op: Operator, states: Sequence[Any]) -> Any:
    """Combine states in order; each is a scalar, an array of one scalar a line, or a tuple of such."""
    scalar = not isinstance(states[0], tuple)
    fields = [states] if scalar else list(zip(*states, strict=True))
    stacked = [np.stack([np.asarray(part) for part in f]) for f in fields]
    count, *shape = stacked[0].shape
    flat = [f.reshape(-1) for f in stacked]
    form = StateForm(tuple([f.dtype for f in flat]), scalar)
    like, lines = joined([d.type(0).item() for d in form.fields], scalar), prod(shape)
    with Naming(op):
        _fold_kernel(op, form)(op, like, joined(flat, scalar), count, lines)
    return joined([f[:lines].reshape(shape)[()] for f in flat], scalar)


def _walk(
    types_: Signature,
    source: Source,
    output: Output | None,
    nulls: type,
    states: Arrays,
    block: tuple[int, int, int],
    reverse: bool,
) -> None:
    """Walk lines of a block of ``groups * length * inner`` elements, cut into tiles if they are few and long."""
    groups, length, inner = block
    stride = -inner if reverse else inner
    first = (length - 1) * inner if reverse else 0
    op, count, write = source.op, groups * inner, output is not None
    if not is_sequential(op, types_) and (count == 1 or (count < 8 and length >= 2 * TILE)):
        kernel = _tiles_kernel(op, types_, nulls, write)
        form, identity = types_.state_form, types_.plain_identity
        for line in range(count):
            at = line // inner * length * inner + line % inner + first, stride
            work = Reduce(source, *at) if output is None else Scan(source, output, *at)
            walk(kernel, op, work, form, identity, states, length, line=line)
        return
    order = (1, 0, groups, length) if inner == 1 else (groups, length * inner, inner, 1)
    lines = Lines(*order, first, stride, length)
    control = np.zeros(STATUS, np.int64)
    kernel = _lines_kernel(op, types_, nulls, write)
    with Naming(op):
        run_team(count * length, control, lambda _: kernel(source, output, states, lines, control))


def _line_states(
    state: Any, types_: Signature, shape: tuple[int, ...], flipped: bool
) -> tuple[np.ndarray, ...]:
    """One contiguous array a field, with one item a line, in the order in which lines are walked."""
    parts = types_.parts(state)
    if shape == ():
        pairs = zip(parts, types_.state, strict=True)
        return tuple(np.array([part], dtype) for part, dtype in pairs)
    fields = []
    for part, dtype in zip(parts, types_.state, strict=True):
        full = np.broadcast_to(part, shape)
        fields.append(np.array(full.T if flipped else full, dtype=dtype, order="C").reshape(-1))
    return tuple(fields)


# --- kernels and visitors ------------------------------------------------------------------------


@lru_cache(maxsize=4096)
def _tiles_kernel(op: Operator, types_: Signature, nulls: type, write: bool) -> Kernel:
    word, source = types.int64, source_type(op, types_, nulls)
    work = record_type(Reduce, source=source, start=word, stride=word)
    if write:
        output = output_type(types_)
        work = record_type(Scan, source=source, output=output, start=word, stride=word)
    return tiles_kernel(op, types_.state_form, work)


@lru_cache(maxsize=4096)
def _lines_kernel(op: Operator, types_: Signature, nulls: type, write: bool) -> Kernel:
    output = output_type(types_) if write else types.none
    states = arrays_type(types_.state_form)
    lines = record_type(Lines, **dict.fromkeys(Lines._fields, types.int64))
    return entry(walk_lines, (source_type(op, types_, nulls), output, states, lines, CONTROL))


@lru_cache(maxsize=4096)
def _fold_kernel(op: Operator, form: StateForm) -> Kernel:
    words = types.int64, types.int64
    return entry(fold_states, (operator_type(op), state_type(form), arrays_type(form), *words))


class Reduce(NamedTuple):
    """A reduction along ``start + i * stride``."""

    source: Source
    start: int
    stride: int


class Scan(NamedTuple):
    """A scan along ``start + i * stride``."""

    source: Source
    output: Output
    start: int
    stride: int


@numba.njit(**OPTIONS)
def _observe(work, space, state, first, size):
    return reduce_line(work.source, state, work.start + first * work.stride, work.stride, size)


@numba.njit(**OPTIONS)
def _emit(work, space, prefix, between, first, size):
    source, output, stride = work.source, work.output, work.stride
    op, identity = source.op, source.identity
    count = size // 4
    at = work.start + first * stride
    states = (
        prefix,
        cast(identity, combine(op, prefix, between[0])),
        cast(identity, combine(op, prefix, between[1])),
        cast(identity, combine(op, prefix, between[2])),
    )
    state = scan_lanes(source, output, states, at, count * stride, stride, count)[3]
    scan_line(source, output, state, at + 4 * count * stride, stride, size - 4 * count)


register(Reduce, Visitor(_observe))
register(Scan, Visitor(_observe, _emit))
