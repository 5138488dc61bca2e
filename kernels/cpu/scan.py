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
from ..nulls import Mask, Nulls
from ..operator_calls import combine, operator_type
from ..operators import Operator
from ..options import ScanOptions
from ..signature import Form, Signature, as_state, signature_of
from .elements import cast
from .engine import STATUS, TILE, fold_states, walk_lines
from .launch import (
    array_type,
    entry,
    form,
    naming,
    null_arguments,
    null_value,
    nulls_type,
    run_team,
    state_type,
    walk,
)
from .outputs import empty
from .steps import reduce_line, scan_lanes, walk_line
from .visitors import Visitor, register, work_type


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
    _walk(
        op, types_, flat, options.nulls, outs, options.mark_nulls, options.exclusive, carries,
        groups, length, inner, options.reverse,
    )  # fmt: skip

    def lines_view(field: np.ndarray) -> Any:
        if flipped:
            return field.reshape(lines_shape[::-1]).T
        return field.reshape(lines_shape)[()]

    out = None
    if outs is not None:
        views = [o.reshape(shape).T if flipped else o.reshape(shape) for o in outs]
        out = views[0] if types_.scalar_output else tuple(views)
    fields = [lines_view(f) for f in carries]
    carry_out = fields[0] if types_.scalar_state else tuple(fields)
    return out, lambda: carry_out


def fold(op: Operator, states: Sequence[Any]) -> Any:
    """Combine states in order; each is a scalar, an array of one scalar a line, or a tuple of such."""
    scalar = not isinstance(states[0], tuple)
    fields = [states] if scalar else list(zip(*states, strict=True))
    stacked = [np.stack([np.asarray(part) for part in f]) for f in fields]
    shape = stacked[0].shape
    dtypes = tuple(f.dtype for f in stacked)
    kernel = _fold_kernel(op, dtypes, scalar)
    flat = tuple(f.reshape(-1) for f in stacked)
    like = tuple(f.type(0).item() for f in dtypes)
    count, lines = shape[0], prod(shape[1:])
    with naming(op):
        kernel(op, like[0] if scalar else like, flat[0] if scalar else flat, count, lines)
    folded = [f[:lines].reshape(shape[1:])[()] for f in flat]
    return folded[0] if scalar else tuple(folded)


def _line_states(
    state: Any, types_: Signature, shape: tuple[int, ...], flipped: bool
) -> tuple[np.ndarray, ...]:
    """One contiguous array a field, with one item a line, in the order in which lines are walked."""
    parts = (state,) if types_.scalar_state else state
    if shape == ():
        pairs = zip(parts, types_.state, strict=True)
        return tuple(np.array([part], dtype) for part, dtype in pairs)
    fields = []
    for part, dtype in zip(parts, types_.state, strict=True):
        full = np.broadcast_to(part, shape)
        fields.append(np.array(full.T if flipped else full, dtype=dtype, order="C").reshape(-1))
    return tuple(fields)


def _walk(
    op: Operator,
    types_: Signature,
    arrays: tuple[np.ndarray, ...],
    nulls: Nulls,
    outs: list[np.ndarray] | None,
    mark: bool,
    exclusive: bool,
    carries: tuple[np.ndarray, ...],
    groups: int,
    length: int,
    inner: int,
    reverse: bool,
) -> None:
    """Choose between long lines cut into tiles and many lines side by side, and run the kernel."""
    null_values = tuple(null_value(d, mark) for d in types_.outputs)
    identity = types_.identity
    common = (
        op,
        arrays if op.inputs > 1 else arrays[0],
        null_arguments(nulls),
        None if outs is None else outs[0] if types_.scalar_output else tuple(outs),
        None if outs is None else null_values[0] if types_.scalar_output else null_values,
        mark,
        exclusive,
        identity.item() if types_.scalar_state else tuple(f.item() for f in identity),
        carries[0] if types_.scalar_state else carries,
    )
    kind: Any = type(nulls)
    stride = -inner if reverse else inner
    first = (length - 1) * inner if reverse else 0
    lines = groups * inner
    in_order = op.in_order and any(d.kind in "fc" for d in types_.state)
    if not in_order and (lines == 1 or (lines < 8 and length >= 2 * TILE)):
        write = outs is not None
        for line in range(lines):
            start = line // inner * length * inner + line % inner + first
            if write:
                work: Any = Scan(*common[:8], start, stride)
            else:
                work = Reduce(*common[:3], common[7], start, stride)
            walk(op, types_.state, types_.scalar_state, work, _scan_type(op, types_, kind, write),
                 *common[7:], length, line=line)  # fmt: skip
        return
    kernel = _lines_kernel(op, types_, kind, outs is not None)
    control = np.zeros(STATUS, np.int64)
    if inner == 1:
        geometry = (1, 0, groups, length, first, stride, length, control)
    else:
        geometry = (groups, length * inner, inner, 1, first, stride, length, control)
    with naming(op):
        run_team(lines * length, control, lambda leader: kernel(*common, *geometry))


@lru_cache(maxsize=4096)
def _scan_type(op: Operator, types_: Signature, nulls: type, write: bool) -> Any:
    """The type of the visitor that scans."""
    word, flag = types.int64, types.boolean
    read = {
        "op": operator_type(op),
        "xs": form([array_type(d, True) for d in types_.inputs], op.inputs == 1),
        "nulls": nulls_type(nulls),
        "identity": state_type(types_.state, types_.scalar_state),
        "start": word,
        "stride": word,
    }
    if not write:
        return work_type(Reduce, **read)
    outputs, scalar = types_.outputs, types_.scalar_output
    outs, null_value = form([array_type(d) for d in outputs], scalar), state_type(outputs, scalar)
    return work_type(Scan, **read, outs=outs, null_value=null_value, mark=flag, exclusive=flag)


@lru_cache(maxsize=4096)
def _lines_kernel(op: Operator, types_: Signature, nulls: type, write: bool) -> Any:
    """Compile the walk over many lines, or load it from the cache on disk."""
    states = form([array_type(d) for d in types_.state], types_.scalar_state)
    control = array_type(np.dtype(np.int64))
    scanned = list(_scan_type(op, types_, nulls, True))[:8]
    if not write:
        scanned[3:5] = types.none, types.none
    return entry(walk_lines, (*scanned, states, *[types.int64] * 7, control))


@lru_cache(maxsize=4096)
def _fold_kernel(op: Operator, fields: Form, scalar: bool) -> Any:
    states = form([array_type(d) for d in fields], scalar)
    words = types.int64, types.int64
    return entry(fold_states, (operator_type(op), state_type(fields, scalar), states, *words))


# --- visitors ------------------------------------------------------------------------------------


class Reduce(NamedTuple):
    """A reduction along ``start + i * stride``."""

    op: Any
    xs: Any
    nulls: Any
    identity: Any
    start: Any
    stride: Any


class Scan(NamedTuple):
    """A scan along ``start + i * stride``."""

    op: Any
    xs: Any
    nulls: Any
    outs: Any
    null_value: Any
    mark: Any
    exclusive: Any
    identity: Any
    start: Any
    stride: Any


@numba.njit(**OPTIONS)
def _observe(work, space, seed, first, size):
    at = work.start + first * work.stride
    return reduce_line(work.op, work.xs, work.nulls, work.identity, seed, at, work.stride, size)


@numba.njit(**OPTIONS)
def _emit(work, space, prefix, between, first, size):
    op, identity, stride = work.op, work.identity, work.stride
    count = size // 4
    at = work.start + first * stride
    seeds = (
        prefix,
        cast(identity, combine(op, prefix, between[0])),
        cast(identity, combine(op, prefix, between[1])),
        cast(identity, combine(op, prefix, between[2])),
    )
    state = scan_lanes(
        op, work.xs, work.nulls, work.outs, work.null_value, work.mark, work.exclusive, identity,
        seeds, at, count * stride, stride, count,
    )[3]  # fmt: skip
    walk_line(
        op, work.xs, work.nulls, work.outs, work.null_value, work.mark, work.exclusive, identity,
        state, at + 4 * count * stride, stride, size - 4 * count,
    )  # fmt: skip


register(Reduce, Visitor(_observe))
register(Scan, Visitor(_observe, _emit))
