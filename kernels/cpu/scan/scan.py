"""Scans and reductions of NumPy arrays: a long line is cut into tiles, and many short lines are walked side by side.

The visitors walk a tile in four lanes to its aggregate, and again from its prefix. If one thread does all the work and
an operator's states are exact, elements are walked only once, as those of many lines are.
"""

# Numba reads the visitors' functions.
# mypy: disable-error-code="no-untyped-def"

from collections.abc import Callable, Sequence
from functools import partial
from math import prod
from typing import Any, NamedTuple

import numpy as np

from ...arrays import DTYPE
from ...bounded_cache import BoundedCache
from ...compiler import argument_types as types
from ...compiler.functions import njit
from ...late_dataclass import dataclass
from ...nulls import Mask, Nulls
from ...operators.built_in import traits_of
from ...operators.calls import combine, operator_type
from ...operators.inference import Form
from ...operators.operator import Operator
from ...operators.signature import Signature, State, StateForm, as_state, joined
from ...options import ScanOptions
from ..core.elements import cast
from ..core.engine import STATUS, TILE, Lines, States, Tiles, fold_states, walk_lines
from ..core.launch import (
    CONTROL,
    PARALLEL,
    Kernel,
    arrays_type,
    empty,
    entry,
    is_alone,
    is_exact,
    is_sequential,
    null_values,
    output_type,
    outside,
    plain,
    run_team,
    source_type,
    state_type,
    tiles_kernel,
    types_of,
)
from ..core.steps import OperatorInputs, Output, reduce_line, scan_lanes, scan_line
from ..core.visitors import Visitor, register
from .digit_sums import ReduceDigits, ScanDigits

Fields = tuple[np.ndarray, ...]
"""An array for each field of a state, with an item for each line."""


@dataclass(frozen=True, eq=False)
class ScanWork:
    """The parts of a scan, or of a reduction, by one operator of arrays of some dtypes that do not depend on values."""

    signature: Signature
    kernel: Kernel
    tiles: bool
    """Whether the kernel walks tiles of one line, rather than lines."""
    visitor: Any
    """The visitor of tiles."""
    facts: tuple[bool, ...]
    """The arguments of the visitor that depend on the operator."""
    layout: str
    """The layout of the arrays that the kernel takes: "C", or "A" for any."""
    identity: State
    start: Fields
    """The identity as arrays of one item."""
    state: Form
    scalar_state: bool
    outputs: Form
    scalar_output: bool
    null_value: State


def scan(
    op: Operator,
    arrays: tuple[np.ndarray, ...],
    options: ScanOptions,
    carry_in: State | None,
    *,
    write: bool,
    waits: bool,  # costs nothing here
) -> tuple[Any, Callable[[], Any]]:
    """Scan (or, without `write`, reduce) NumPy arrays; see `kernels.scan` for the parameters."""
    nulls, shape = options.nulls, arrays[0].shape
    lines: tuple[int, ...] = ()
    groups, (length, *_), inner, flipped = 1, shape, 1, False
    if len(shape) > 1:
        arrays, flipped, axis = _in_memory_order(arrays, nulls, options.axis)
        shape = shape[::-1] if flipped else shape
        lines = shape[:axis] + shape[axis + 1 :]
        groups, length, inner = prod(shape[:axis]), shape[axis], prod(shape[axis + 1 :])
    count = groups * inner
    few = count == 1 or (count < 8 and length >= 2 * TILE)
    size = count * length
    alone = few and write and (size < PARALLEL or is_alone(size))
    work = _work(op, tuple(map(DTYPE, arrays)), options, write, few, alone)
    if work.layout == "C":
        arrays = tuple([plain(a) for a in arrays])
    source = OperatorInputs(
        op,
        arrays[0] if len(arrays) == 1 else arrays,
        None if nulls is None else nulls.args,
        work.identity,
    )
    if carry_in is None and not lines:
        carries = tuple([field.copy() for field in work.start])
    else:
        carries = _carries(work, carry_in, lines, flipped)
    outs: Fields = ()
    output = None
    if write:
        make = np.empty if size < PARALLEL else empty
        outs = tuple([make(size, d) for d in work.outputs])
        to = outs[0] if work.scalar_output else outs
        output = Output(to, work.null_value, options.mark_nulls, options.exclusive)
    try:
        _walk(work, source, output, carries, (groups, length, inner), options.reverse)
    except IndexError as error:
        raise outside(op, error) from error

    def carry_out() -> Any:
        ends = [_shaped(c, lines, flipped) for c in carries] if lines else [c[0] for c in carries]
        return ends[0] if work.scalar_state else tuple(ends)

    if lines:
        outs = tuple([_shaped(out, shape, flipped) for out in outs])
    return outs[0] if write and work.scalar_output else outs or None, carry_out


def line_scan(
    op: Operator, dtype: np.dtype, options: ScanOptions
) -> Callable[[np.ndarray], np.ndarray | None]:
    """Return a function that scans a short line of a dtype from the identity, like `scan` but with less overhead.

    It returns None for other arrays. The operator has one input.
    """
    work = _work(op, (dtype,), options, True, True, True)
    if not work.scalar_output:
        return lambda values: None
    kernel, visitor, facts, identity = work.kernel, work.visitor, work.facts, work.identity
    nulls = None if options.nulls is None else options.nulls.args
    out_dtype, of_state, start, scalar = work.outputs[0], work.state, work.start, work.scalar_state
    reverse, stride = options.reverse, -1 if options.reverse else 1

    def scan_line(values: np.ndarray) -> np.ndarray | None:
        flags, length = values.flags, values.size
        if length >= PARALLEL or values.ndim != 1 or not (flags.c_contiguous and flags.aligned):
            return None
        out = np.empty(length, out_dtype)
        carry: Any = start[0].copy() if scalar else tuple([field.copy() for field in start])
        source = OperatorInputs(op, values, nulls, identity)
        output = Output(out, work.null_value, options.mark_nulls, options.exclusive)
        first = length - 1 if reverse else 0
        try:
            if work.tiles:
                tiles = max(-(-length // TILE), 1)
                fields: Any = (
                    np.empty(tiles, of_state[0])
                    if scalar
                    else tuple([np.empty(tiles, d) for d in of_state])
                )
                states = States(op, identity, carry, fields)
                control = np.zeros(STATUS + tiles, np.int64)
                given = visitor(source, output, first, stride, *facts)
                kernel(given, None, states, Tiles(0, length, TILE, False), control, True)
            else:
                lines = Lines(1, 0, 1, length, first, stride, length)
                kernel(source, output, carry, lines, np.zeros(STATUS, np.int64))
        except IndexError as error:
            raise outside(op, error) from error
        return out

    return scan_line


def _in_memory_order(arrays: Fields, nulls: Nulls, axis: int) -> tuple[Fields, bool, int]:
    """Return the elements of arrays of several axes in the order of memory, or copies of them in C order.

    Also return whether they are those of the transposed arrays, and the axis in these.
    """
    ndim = arrays[0].ndim
    axis %= ndim
    # a mask counts positions in C order, so with one the memory must be in that order as well
    flipped = not isinstance(nulls, Mask) and all(a.flags.f_contiguous for a in arrays)
    if flipped:
        arrays, axis = tuple([a.T for a in arrays]), ndim - 1 - axis
    return tuple([np.ascontiguousarray(a).reshape(-1) for a in arrays]), flipped, axis


def _shaped(flat: np.ndarray, shape: tuple[int, ...], flipped: bool) -> np.ndarray:
    return flat.reshape(shape).T if flipped else flat.reshape(shape)


def _carries(
    work: ScanWork, carry_in: State | None, lines: tuple[int, ...], flipped: bool
) -> Fields:
    """Return a contiguous array for each field, with an item for each line, in the order of the walk."""
    state: Any = work.signature.identity
    if carry_in is not None:
        state = carry_in
        parts = carry_in if isinstance(carry_in, tuple) else (carry_in,)
        dtypes = tuple([getattr(part, "dtype", ...) for part in parts])
        if dtypes != work.state or isinstance(carry_in, tuple) == work.scalar_state:
            state = as_state(carry_in, work.signature, "carry_in")
    each = zip((state,) if work.scalar_state else state, work.state, strict=True)
    if not lines:
        return tuple([np.array([part], dtype) for part, dtype in each])
    shape = lines[::-1] if flipped else lines
    fields = [(np.broadcast_to(part, shape), dtype) for part, dtype in each]
    return tuple(
        [np.array(f.T if flipped else f, dtype=d, order="C").reshape(-1) for f, d in fields]
    )


def _walk(
    work: ScanWork,
    source: OperatorInputs,
    output: Output | None,
    carries: Fields,
    block: tuple[int, int, int],
    reverse: bool,
) -> None:
    """Walk the lines of ``groups * length * inner`` elements, cut into tiles if they are few and long."""
    groups, length, inner = block
    count, kernel = groups * inner, work.kernel
    stride = -inner if reverse else inner
    first = (length - 1) * inner if reverse else 0
    if not work.tiles:
        order = (1, 0, groups, length) if inner == 1 else (groups, length * inner, inner, 1)
        states = carries[0] if work.scalar_state else carries
        control = np.zeros(STATUS, np.int64)
        given: Any = source, output, states, Lines(*order, first, stride, length), control
        if count * length < PARALLEL:
            kernel(*given)
        else:
            run_team(count * length, control, lambda _: kernel(*given))
        return
    tiles = max(-(-length // TILE), 1)
    for line in range(count):
        at = line // inner * length * inner + line % inner + first, stride
        given = (source, *at) if output is None else (source, output, *at)
        visitor = work.visitor(*given, *work.facts)
        aggregates = tuple([np.empty(tiles, field.dtype) for field in carries])
        if work.scalar_state:
            walked = States(source.op, work.identity, carries[0], aggregates[0])
        else:
            walked = States(source.op, work.identity, carries, aggregates)
        control = np.zeros(STATUS + tiles, np.int64)
        given = visitor, None, walked, Tiles(line, length, TILE, False), control
        if length < PARALLEL:
            kernel(*given, True)
        else:
            run_team(length, control, partial(kernel, *given))


def fold(op: Operator, states: Sequence[Any]) -> Any:
    """Combine states in order; each is a scalar, an array with a scalar for each line, or a tuple of these."""
    scalar = not isinstance(states[0], tuple)
    fields = [states] if scalar else list(zip(*states, strict=True))
    stacked = [np.array(each) for each in fields]
    count, *shape = stacked[0].shape
    key = op.token, tuple([f.dtype for f in stacked]), scalar
    kernel, like = _FOLDS.get(key) or _FOLDS.store(key, _folding(op, *key[1:]))
    flat, lines = tuple([f.reshape(-1) for f in stacked]), prod(shape)
    try:
        kernel(op, like, flat[0] if scalar else flat, count, lines)
    except IndexError as error:
        raise outside(op, error) from error
    ends = [f[:lines].reshape(shape)[()] for f in flat]
    return ends[0] if scalar else tuple(ends)


# --- kernels and visitors ------------------------------------------------------------------------


_WORKS: BoundedCache[Any, ScanWork] = BoundedCache()
_FOLDS: BoundedCache[Any, tuple[Kernel, State]] = BoundedCache()


def _work(
    op: Operator, dtypes: Form, options: ScanOptions, write: bool, few: bool, alone: bool
) -> ScanWork:
    given = op.token, dtypes, options.dtype, type(options.nulls), options.mark_nulls
    key = *given, options.exclusive, write, few, alone
    return _WORKS.get(key) or _WORKS.store(key, _made_work(op, dtypes, options, write, few, alone))


def _made_work(
    op: Operator, dtypes: Form, options: ScanOptions, write: bool, few: bool, alone: bool
) -> ScanWork:
    types_ = types_of(op, dtypes, options.dtype)
    # one thread walks a tile twice, unless its elements have to be, or may be, combined one after another. 10^5
    # elements in microseconds: floats filled 160 and 71, maxima 171 and 126; of integers 108 and 52, sums 100 and 42
    tiles = few and not (is_sequential(op, types_) or (alone and is_exact(op, types_)))
    pairs = zip(types_.parts(types_.identity), types_.state, strict=True)
    known = traits_of(op)
    visitor: Any = ScanVisitor if write else ReduceVisitor
    facts: tuple[bool, ...] = ()
    layout = "A"
    if tiles and known.adds_digits and not isinstance(options.exclusive, tuple):
        visitor, facts = (ScanDigits if write else ReduceDigits), (known.skips_infinite,)
        layout = "C"
    if tiles:
        kernel = _tiles_kernel(visitor, op, types_, options, layout)
    else:
        kernel = _lines_kernel(op, types_, options, write)
    return ScanWork(
        types_,
        kernel,
        tiles,
        visitor,
        facts,
        layout,
        types_.plain_identity,
        tuple([np.array([part], dtype) for part, dtype in pairs]),
        types_.state,
        types_.scalar_state,
        types_.outputs,
        types_.scalar_output,
        null_values(types_.output_form, options.mark_nulls and write),
    )


def _tiles_kernel(
    visitor: Any, op: Operator, types_: Signature, options: ScanOptions, layout: str
) -> Kernel:
    word = types.int64
    fields = {"source": source_type(op, types_, type(options.nulls), layout)}
    if "output" in visitor._fields:
        fields["output"] = output_type(types_, options, layout)
    work = types.record_type(visitor, **fields, start=word, stride=word, finite=types.boolean)
    return tiles_kernel(op, types_.state_form, work)


def _lines_kernel(op: Operator, types_: Signature, options: ScanOptions, write: bool) -> Kernel:
    output = output_type(types_, options) if write else types.none
    states = arrays_type(types_.state_form)
    lines = types.record_type(Lines, **dict.fromkeys(Lines._fields, types.int64))
    source = source_type(op, types_, type(options.nulls))
    return entry(walk_lines, (source, output, states, lines, CONTROL))


def _folding(op: Operator, dtypes: Form, scalar: bool) -> tuple[Kernel, State]:
    """Return the kernel that folds states of these dtypes, and a state of them."""
    form, words = StateForm(dtypes, scalar), (types.int64, types.int64)
    kernel = entry(fold_states, (operator_type(op), state_type(form), arrays_type(form), *words))
    return kernel, joined([d.type(0).item() for d in dtypes], scalar)


class ReduceVisitor(NamedTuple):
    """A reduction along ``start + i * stride``."""

    source: OperatorInputs
    start: int
    stride: int


class ScanVisitor(NamedTuple):
    """A scan along ``start + i * stride``."""

    source: OperatorInputs
    output: Output
    start: int
    stride: int


@njit
def _observe(work, space, state, first, size):
    return reduce_line(work.source, state, work.start + first * work.stride, work.stride, size)


@njit
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


register(ReduceVisitor, Visitor(_observe))
register(ScanVisitor, Visitor(_observe, _emit))
