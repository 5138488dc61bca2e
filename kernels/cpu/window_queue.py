"""Windows as a queue of two stacks: suffix states of the earlier rows of a window, one running state of the later ones.

A row enters by one combination into the running state, and one combination answers. When the first row of a window is
no longer among the suffixes, those of all rows in the window are made anew, so that each row is in them once.
After Tangwongsan, Hirzel and Schneider, *Low-Latency Sliding-Window Aggregation in Worst-Case Constant Time*
(DEBS 2017), section 3. Threads take chunks of windows, and each chunk begins with an empty queue.
"""

# Numba reads these functions; annotations would say less than its own types do.
# mypy: disable-error-code="no-untyped-def"

from typing import NamedTuple

import numba
import numpy as np

from ..jit import OPTIONS, cached_njit
from ..operator_calls import combine, lower
from .elements import cast, load, store
from .engine import TICKET
from .memory import borrow, take_ticket
from .steps import reduce_step, state_of


class Bounds(NamedTuple):
    """Windows of `width` rows from row ``j + shift`` on, as far as they are between bounds; None where all are."""

    starts: np.ndarray | None
    stops: np.ndarray | None
    shift: int
    width: int
    rows: int


@numba.njit(**OPTIONS)
def window(starts, stops, bounds, j):
    """Return the bounds of window `j`."""
    rows, start = bounds.rows, j + bounds.shift
    stop = start + bounds.width
    start, stop = min(max(start, 0), rows), min(max(stop, 0), rows)
    if starts is not None:
        return max(start, starts[j]), min(stop, stops[j])
    return start, stop


@numba.njit(**OPTIONS)
def decreases(starts, stops, j):
    """Tell whether bounds decrease at window `j`."""
    if starts is not None:
        return j > 0 and (starts[j] < starts[j - 1] or stops[j] < stops[j - 1])
    return False


@cached_njit
def walk_queue(source, outs, bounds, chunks, suffixes, room, control):
    """Answer windows chunk by chunk, together with any other thread that runs the same call.

    Chunk `k` is windows ``chunks[k]`` to ``chunks[k + 1] - 1``. `suffixes` is this thread's, and has room for so many
    rows as any window has. Returns a window whose bounds are less than those before, where the walk ends; else -1.
    """
    source, outs, bounds = borrow(source), borrow(outs), borrow(bounds)
    chunks, suffixes, control = borrow(chunks), borrow(suffixes), borrow(control)
    op, identity = source.op, source.identity
    while True:
        ticket = take_ticket(control, TICKET)
        if ticket >= len(chunks) - 1:
            return np.int64(-1)
        first = chunks[ticket]
        origin = middle = end = np.int64(0)
        running = identity
        for j in range(first, chunks[ticket + 1]):
            start, stop = window(bounds.starts, bounds.stops, bounds, j)
            if decreases(bounds.starts, bounds.stops, j):
                return j
            if start >= end:
                middle = end = start
                running = identity
            while end < stop:
                running = reduce_step(source, running, end)
                end += 1
            if start > middle:
                if end - start > room:
                    return j
                origin, middle = start, end
                running = identity
                state = identity
                for at in range(end - 1, start - 1, -1):
                    state = cast(
                        identity, combine(op, state_of(source, load(source.xs, at), at), state)
                    )
                    store(suffixes, at - origin, state)
            state = running
            if start < middle:
                state = cast(identity, combine(op, load(suffixes, start - origin), running))
            store(outs, j, lower(op, state))
