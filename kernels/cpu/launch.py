"""From visitors to the engine: compiled kernels, threads, and the Numba types of what kernels take."""

import os
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import lru_cache
from typing import Any

import numba
import numpy as np
from numba.core import types

from ..jit import load_kernel
from ..nulls import NAT, InBand, Mask, Nulls
from ..operator_calls import operator_type
from ..operators import Operator
from ..signature import Form
from .engine import STATUS, TILE, walk_tiles

PARALLEL = 1 << 18
"""Elements from which on a scan is worth a second thread: starting one costs about 60 microseconds."""


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
    sequential: bool = False,
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
    sequential : bool
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
    known = (identity, carries, line, length, tile, sequential, shared, control)
    cost = 0 if sequential else length if elements is None else elements
    rows = min(tile, length)
    with naming(_user_of(work, op)):
        run_team(cost, control, lambda leader: kernel(op, work, make_space(rows), *known, leader))


def _user_of(work: Any, op: Operator) -> Operator:
    """The operator whose functions may be a user's."""
    for holder in (work, getattr(work, "selection", None)):
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


def run_team(elements: int, control: np.ndarray, work: Callable[[bool], None]) -> None:
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
    """Missing elements as a kernel reads them, of `nulls_type`."""
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
def _tiles_kernel(op: Operator, fields: Form, scalar: bool, work: Any, space: Any) -> Any:
    """Compile the walk of a visitor over tiles, or load it from the cache on disk."""
    states = form([array_type(d) for d in fields], scalar)
    word, flag, control = types.int64, types.boolean, array_type(np.dtype(np.int64))
    state = state_type(fields, scalar)
    geometry = word, word, word, flag, states, control, flag
    return entry(walk_tiles, (operator_type(op), work, space, state, states, *geometry))


def entry(function: Any, arguments: tuple[Any, ...]) -> Any:
    """Return what calls a kernel for arguments of these types, without looking at their types again."""
    return load_kernel(function, arguments).entry_point
