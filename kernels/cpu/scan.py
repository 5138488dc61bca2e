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
from ..signature import Signature, StateForm, as_state, joined, signature_of
from .elements import cast
from .engine import STATUS, TILE, Lines, fold_states, walk_lines
from .launch import (
    CONTROL,
    arrays_type,
    entry,
    is_sequential,
    naming,
    null_arguments,
    null_values,
    output_type,
    run_team,
    source_type,
    state_type,
    tiles_kernel,
    walk,
)
from .outputs import empty
from .steps import Output, Source, reduce_line, scan_lanes, scan_line
from .visitors import Visitor, record_type, register


def scan(
    op: Operator,
    arrays: tuple[np.ndarray, ...],
    options: ScanOptions,
    carry_in: Any,
    *,
    write: bool,
    waits: bool,  # which costs nothing here
) -> tuple[Any, Callable[[], Any]]:
    """Scan (or, without `write`, reduce) NumPy arrays; see `kernels.scan` for the parameters."""
    types_ = signature_of(op, tuple([a.dtype for a in arrays]), options.dtype)
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

    outs = [empty(prod(shape), d) for d in types_.outputs] if write else None
    kind: Any = type(options.nulls)
    source = Source(
        op, flat if op.inputs > 1 else flat[0], null_arguments(options.nulls), types_.plain_identity
    )
    output = None
    if outs is not None:
        output = Output(
            joined(outs, types_.scalar_output),
            null_values(types_.output_form, options.mark_nulls),
            options.mark_nulls,
            options.exclusive,
        )
    stride = -inner if options.reverse else inner
    first = (length - 1) * inner if options.reverse else 0
    states = joined(carries, types_.scalar_state)
    lines = groups * inner
    if not is_sequential(op, types_) and (lines == 1 or (lines < 8 and length >= 2 * TILE)):
        kernel = _tiles_kernel(op, types_, kind, write)
        for line in range(lines):
            start = line // inner * length * inner + line % inner + first
            place = start, stride
            work = Reduce(source, *place) if output is None else Scan(source, output, *place)
            walk(
                kernel,
                op,
                work,
                types_.state_form,
                types_.plain_identity,
                states,
                length,
                line=line,
            )
    else:
        known = Lines(groups, length * inner, inner, 1, first, stride, length)
        if inner == 1:
            known = Lines(1, 0, groups, length, first, stride, length)
        control = np.zeros(STATUS, np.int64)
        kernel = _lines_kernel(op, types_, kind, write)
        with naming(op):
            run_team(
                lines * length, control, lambda _: kernel(source, output, states, known, control)
            )

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
    with naming(op):
        _fold_kernel(op, form)(op, like, joined(flat, scalar), count, lines)
    return joined([f[:lines].reshape(shape)[()] for f in flat], scalar)


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
def _tiles_kernel(op: Operator, types_: Signature, nulls: type, write: bool) -> Any:
    word, source = types.int64, source_type(op, types_, nulls)
    work = record_type(Reduce, source=source, start=word, stride=word)
    if write:
        output = output_type(types_)
        work = record_type(Scan, source=source, output=output, start=word, stride=word)
    return tiles_kernel(op, types_.state_form, work)


@lru_cache(maxsize=4096)
def _lines_kernel(op: Operator, types_: Signature, nulls: type, write: bool) -> Any:
    output = output_type(types_) if write else types.none
    states = arrays_type(types_.state_form)
    lines = record_type(Lines, **dict.fromkeys(Lines._fields, types.int64))
    return entry(walk_lines, (source_type(op, types_, nulls), output, states, lines, CONTROL))


@lru_cache(maxsize=4096)
def _fold_kernel(op: Operator, form: StateForm) -> Any:
    words = types.int64, types.int64
    return entry(fold_states, (operator_type(op), state_type(form), arrays_type(form), *words))


class Reduce(NamedTuple):
    """A reduction along ``start + i * stride``."""

    source: Any
    start: Any
    stride: Any


class Scan(NamedTuple):
    """A scan along ``start + i * stride``."""

    source: Any
    output: Any
    start: Any
    stride: Any


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
