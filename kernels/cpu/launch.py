"""From NumPy arrays to the engine: shapes to lines, dtypes to compiled kernels, tiles to threads.

It scans and reduces; `compaction` and `by_key` do the same for what they are named after. It must never loop over
elements.
"""

import os
import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from functools import lru_cache
from math import prod
from typing import Any

import numba
import numpy as np
from numba.core import types

from ..nulls import NAT, InBand, Mask, Nulls
from ..operators import Operator
from .calls import operator_type
from .engine import STATUS, TILE, fold_states, walk_lines, walk_tiles
from .jit import load_kernel
from .outputs import room
from .scanning import Reduce, Scan
from .types import Form, Signature, as_state, signature
from .visitors import work_type

PARALLEL = 1 << 18
"""Elements from which on a scan is worth a second thread: starting one costs about 60 microseconds."""


def run(
    op: Operator,
    arrays: tuple[np.ndarray, ...],
    *,
    write: bool,
    nulls: Nulls,
    axis: int,
    exclusive: bool,
    reverse: bool,
    carry_in: Any,
    dtype: np.dtype | None,
    mark_nulls: bool,
) -> tuple[Any, Any]:
    """Scan (or, without `write`, reduce) NumPy arrays; see `kernels.scan` for the parameters."""
    types_ = signature(op, tuple(a.dtype for a in arrays), dtype)
    flipped = arrays[0].ndim > 1 and all(a.flags.f_contiguous for a in arrays)
    if flipped:
        arrays, axis = tuple(a.T for a in arrays), arrays[0].ndim - 1 - axis
    shape = arrays[0].shape
    groups, length, inner = prod(shape[:axis]), shape[axis], prod(shape[axis + 1 :])
    flat = arrays if len(shape) == 1 else tuple(np.ascontiguousarray(a).reshape(-1) for a in arrays)

    lines_shape = shape[:axis] + shape[axis + 1 :]
    if flipped:
        lines_shape = lines_shape[::-1]
    carry = types_.identity
    if carry_in is not None:
        carry = as_state(carry_in, types_.state, types_.scalar_state, "carry_in")
    carries = _line_states(carry, types_, lines_shape, flipped)

    outs = [room(prod(shape), d) for d in types_.outputs] if write else None
    _walk(
        op, types_, flat, nulls, outs, mark_nulls, exclusive, carries,
        groups, length, inner, reverse,
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
    return out, (fields[0] if types_.scalar_state else tuple(fields))


def begin(
    op: Operator, arrays: tuple[np.ndarray, ...], *, waits: bool, **options: Any
) -> tuple[Any, Callable[[], Any]]:
    """Scan like `run`; the carry-out is returned by a function, as by backends that have to wait for it."""
    out, carry = run(op, arrays, **options)
    return out, lambda: carry


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
        _team(lines * length, control, lambda leader: kernel(*common, *geometry))


def walk(
    op: Operator,
    fields: Form,
    scalar: bool,
    work: Any,
    kind: Any,
    identity: Any,
    carries: Any,
    length: int,
    *,
    line: int = 0,
    tile: int = TILE,
    chained: bool = False,
    elements: int | None = None,
    space: tuple[Callable[[int], Any], Any] = (lambda tile: None, types.none),
) -> None:
    """Let a visitor of type `kind` walk `length` elements, from ``carries[line]`` and to there.

    Parameters
    ----------
    op, fields, scalar
        Combines the states that are looked back at; their dtypes; whether they are scalars.
    identity, carries
        Its identity; an array of states, or one a field.
    tile : int
        Elements a tile.
    chained : bool
        Whether tiles go on from one another, one thread walking them all.
    elements : int, optional
        What the walk costs, where it is not the length.
    space : (function, type)
        Makes a thread's scratch memory for tiles of so many elements; and its type.
    """
    make_space, space_kind = space
    kernel = _tiles_kernel(op, fields, scalar, kind, space_kind)
    tiles = max(-(-length // tile), 1)
    aggregates = tuple(np.empty(tiles, d) for d in fields)
    control = np.zeros(STATUS + tiles, np.int64)
    shared = aggregates[0] if scalar else aggregates
    known = (identity, carries, line, length, tile, chained, shared, control)
    cost = 0 if chained else length if elements is None else elements
    rows = min(tile, length)
    with naming(_user_of(work, op)):
        _team(cost, control, lambda leader: kernel(op, work, make_space(rows), *known, leader))


def _user_of(work: Any, op: Operator) -> Operator:
    """The operator whose functions may be a user's."""
    for holder in (work, getattr(work, "marks", None)):
        op = getattr(holder, "op", op)
    return op


@contextmanager
def naming(op: Operator) -> Iterator[None]:
    """Say whose functions read where there is nothing."""
    try:
        yield
    except IndexError as error:
        raise IndexError(
            f"{op.name} reads outside a tuple or an array that it uses: {error}"
        ) from error


def _team(elements: int, control: np.ndarray, work: Callable[[bool], None]) -> None:
    """Run `work` on this thread, and on the other cores where the elements are worth it.

    Dask's worker threads scan one partition each, so only the main thread takes other cores.
    """
    helpers = 0
    if elements >= PARALLEL and threading.current_thread() is threading.main_thread():
        cores = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count()
        helpers = min((cores or 1) - 1, elements // PARALLEL)
    failures: list[BaseException] = []

    def attempt(leader: bool) -> None:
        try:
            work(leader)
        except BaseException as failure:
            control[1] = 1  # whoever waits for this thread's tile gives up
            failures.append(failure)

    threads = [threading.Thread(target=attempt, args=(False,)) for _ in range(helpers)]
    for thread in threads:
        thread.start()
    attempt(True)
    for thread in threads:
        thread.join()
    if failures:
        raise failures[0]


def null_arguments(nulls: Nulls) -> Any:
    """What a kernel is told of missing elements, of `nulls_type`."""
    if isinstance(nulls, Mask):
        return (nulls.buffer, nulls.offset, nulls.shift, nulls.null)
    return True if isinstance(nulls, InBand) else None


def null_value(dtype: np.dtype, mark: bool) -> Any:
    """What is written at missing elements, if they are marked."""
    if not mark:
        return dtype.type(0).item()
    if dtype.kind in "fc":
        return dtype.type(np.nan).item()
    if dtype == np.int64:
        return NAT
    raise TypeError(f"mark_nulls: an output of {dtype} cannot hold a null")


# --- compiled kernels: one for each operator, types and kind of nulls ------------------------------


def array_type(dtype: np.dtype, readonly: bool = False, layout: str = "A") -> Any:
    """By default any stride, so that one kernel serves sliced, reversed and read-only arrays alike."""
    return types.Array(numba.from_dtype(dtype), 1, layout, readonly=readonly)


def form(kinds: list[Any], scalar: bool) -> Any:
    """One type, or a tuple of one type a field."""
    return kinds[0] if scalar else types.Tuple(kinds)


def state_type(fields: Form, scalar: bool) -> Any:
    """A scalar, or a tuple of one scalar a field."""
    return form([numba.from_dtype(d) for d in fields], scalar)


def nulls_type(nulls: type) -> Any:
    """What says that elements are missing: a mask as four numbers, a flag, or None."""
    word = types.int64
    mask = types.Tuple([array_type(np.dtype(np.uint8), True), word, word, word])
    return mask if nulls is Mask else types.boolean if nulls is InBand else types.none


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
def _tiles_kernel(op: Operator, fields: Form, scalar: bool, work: Any, space: Any) -> Any:
    """Compile the walk of a visitor over tiles, or load it from the cache on disk."""
    states = form([array_type(d) for d in fields], scalar)
    word, flag, control = types.int64, types.boolean, array_type(np.dtype(np.int64))
    state = state_type(fields, scalar)
    geometry = word, word, word, flag, states, control, flag
    return _entry(walk_tiles, (operator_type(op), work, space, state, states, *geometry))


@lru_cache(maxsize=4096)
def _lines_kernel(op: Operator, types_: Signature, nulls: type, write: bool) -> Any:
    """Compile the walk over many lines, or load it from the cache on disk."""
    states = form([array_type(d) for d in types_.state], types_.scalar_state)
    control = array_type(np.dtype(np.int64))
    scanned = list(_scan_type(op, types_, nulls, True))[:8]
    if not write:
        scanned[3:5] = types.none, types.none
    return _entry(walk_lines, (*scanned, states, *[types.int64] * 7, control))


@lru_cache(maxsize=4096)
def _fold_kernel(op: Operator, fields: Form, scalar: bool) -> Any:
    states = form([array_type(d) for d in fields], scalar)
    words = types.int64, types.int64
    return _entry(fold_states, (operator_type(op), state_type(fields, scalar), states, *words))


def _entry(function: Any, arguments: tuple[Any, ...]) -> Any:
    return load_kernel(function, arguments).entry_point
