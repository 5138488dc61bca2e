"""The three walks over windows: by a queue, by blocks, and by a ring for each group.

**A queue of two stacks** has suffix states of the earlier rows of a window and one running state of the later ones. A
row enters by one combination into the running state, and one combination gives the answer. When the first row of a
window is no longer among the suffixes, the suffixes of all rows in the window are computed again: once for each row.
After Tangwongsan, Hirzel and Schneider, *Low-Latency Sliding-Window Aggregation in Worst-Case Constant Time* (DEBS
2017), section 3. Threads take chunks of windows, and each chunk begins with an empty queue.

**Blocks** are for windows of one width: the suffix of one block of as many rows joins the prefix of the next. Answer
`p` of a block is the suffix state of the block from its row `p` on, combined with the state of the first `p` rows of
the next block. Adjacent blocks are *lanes*: their rows are laid side by side, row `p` of all lanes together, so that
each loop is over independent lanes and becomes vector instructions for any operator. After van
Herk (Pattern Recognition Letters 13, 1992) and Gil and Werman (IEEE PAMI 15, 1993). Blocks take about half as long as a
queue: benchmarks/results/tuning-notes.md, "Rolling windows on CPUs".

**Rings** are for windows of the last rows of each group, of rows in any order: each group has a ring buffer of as many
states. A ring is walked as two blocks: slots that were not overwritten yet have the suffixes of the previous block, and
the rows since then are one running state. When they have filled the ring, its states become suffixes. A row takes about
three combinations, and no row is moved.
"""

# Numba reads these functions; annotations would say less than its own types do.
# mypy: disable-error-code="no-untyped-def"

from functools import partial
from typing import NamedTuple

import numpy as np

from ...compiler.functions import ANSWERS, INPUTS, ROLES, STATES, cached_njit, njit
from ...operators.calls import combine, lower
from ..core.elements import cast, load, store
from ..core.engine import TICKET
from ..core.memory import borrow, take_ticket
from ..core.steps import Arrays, reduce_step, state_of


class WindowBounds(NamedTuple):
    """Windows of `width` rows from row ``j + shift`` on, clipped to bounds; bounds may be None."""

    starts: np.ndarray | None
    stops: np.ndarray | None
    shift: int
    width: int
    rows: int


@njit
def window(starts, stops, bounds, j):
    """Return the bounds of window `j`."""
    rows, start = bounds.rows, j + bounds.shift
    stop = start + bounds.width
    start, stop = min(max(start, 0), rows), min(max(stop, 0), rows)
    if starts is not None:
        return max(start, starts[j]), min(stop, stops[j])
    return start, stop


@njit
def decreases(starts, stops, j):
    """Return whether bounds decrease at window `j`."""
    if starts is not None:
        return j > 0 and (starts[j] < starts[j - 1] or stops[j] < stops[j - 1])
    return False


@partial(cached_njit, outs=ANSWERS, suffixes=STATES)
def walk_queue(source, outs, bounds, chunks, suffixes, room, control):
    """Answer windows chunk by chunk, together with any other thread that runs the same call.

    Chunk `k` is windows ``chunks[k]`` to ``chunks[k + 1] - 1``. `suffixes` belongs to this thread, and has room for the
    rows of any window. Returns the first window with decreasing bounds, where the walk ends, or -1.
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


GROUP = 64
"""Rows of each lane that are moved at a time: enough for a stream of reads, and few enough for the L1 cache."""


class BlockScratch(NamedTuple):
    """A thread's memory for the blocks of a chunk, row by row, with the same row of all lanes side by side.

    `elements` has one lane more than the others; `running` is one row, and `answers` is `GROUP` rows.
    """

    elements: Arrays
    suffixes: Arrays
    running: Arrays
    answers: Arrays


ROLES[BlockScratch] = {
    "elements": INPUTS, "suffixes": STATES, "running": STATES, "answers": ANSWERS,
}  # fmt: skip


class Blocks(NamedTuple):
    """Chunks of `lanes` blocks of `width` answers, taken `together` at a time; answer 0 has the rows from `row` on."""

    width: int
    lanes: int
    chunks: int
    together: int
    answer: int
    row: int


@partial(cached_njit, outs=ANSWERS)
def walk_blocks(source, outs, space, blocks, control):
    """Answer windows chunk by chunk, together with any other thread that runs the same call."""
    source, outs, space, control = borrow(source), borrow(outs), borrow(space), borrow(control)
    size = blocks.lanes * blocks.width
    while True:
        first = take_ticket(control, TICKET) * blocks.together
        if first >= blocks.chunks:
            break
        for chunk in range(first, min(first + blocks.together, blocks.chunks)):
            row = blocks.row + chunk * size
            _gather(source.xs, space.elements, row, blocks.width, blocks.lanes + 1)
            _suffixes(source, space, row, blocks.width, blocks.lanes)
            to = blocks.answer + chunk * size
            _answers(source, outs, space, row, to, blocks.width, blocks.lanes)


@njit
def _gather(xs, elements, row, width, lanes):
    """Lay rows of adjacent blocks side by side."""
    for first in range(0, width, GROUP):
        last = min(first + GROUP, width)
        for lane in range(lanes):
            for p in range(first, last):
                store(elements, p * lanes + lane, load(xs, row + lane * width + p))


@njit
def _scatter(answers, outs, to, width, lanes, count):
    """Write the answers of `count` rows of each lane to their places."""
    for lane in range(lanes):
        for k in range(count):
            store(outs, to + lane * width + k, load(answers, k * lanes + lane))


@njit
def _suffixes(source, space, row, width, lanes):
    """Combine the rows of each block from the last one back."""
    elements, suffixes, running = space.elements, space.suffixes, space.running
    for lane in range(lanes):
        store(running, lane, source.identity)
    for back in range(width):
        p = width - 1 - back
        here, at = p * lanes, p * (lanes + 1)
        for lane in range(lanes):
            # not from the next suffix: LLVM would have to prove that it does not overlap with those that are written
            later = load(running, lane)
            state = state_of(source, load(elements, at + lane), row + lane * width + p)
            state = cast(source.identity, combine(source.op, state, later))
            store(running, lane, state)
            store(suffixes, here + lane, state)


@njit
def _answers(source, outs, space, row, to, width, lanes):
    """Combine the rows of each next block from the first one on, and answer with each suffix."""
    op, identity = source.op, source.identity
    elements, suffixes, running = space.elements, space.suffixes, space.running
    for lane in range(lanes):
        store(running, lane, identity)
    for first in range(0, width, GROUP):
        count = min(GROUP, width - first)
        for k in range(count):
            p = first + k
            here, at, answer = p * lanes, p * (lanes + 1) + 1, k * lanes
            for lane in range(lanes):
                state = load(running, lane)
                whole = cast(identity, combine(op, load(suffixes, here + lane), state))
                store(space.answers, answer + lane, lower(op, whole))
                element = load(elements, at + lane)
                entering = state_of(source, element, row + (lane + 1) * width + p)
                store(running, lane, cast(identity, combine(op, state, entering)))
        _scatter(space.answers, outs, to + first, width, lanes, count)


class Rings(NamedTuple):
    """For each group `width` states, the next slot, the running state of the current block, and the latest answer."""

    states: Arrays
    slots: np.ndarray
    running: Arrays
    answers: Arrays
    width: int


ROLES[Rings] = {"states": STATES, "running": STATES, "answers": STATES}


@partial(cached_njit, outs=ANSWERS)
def walk_rings(source, outs, codes, rings, groups, first, last, delayed):
    """Answer rows `first` to ``last - 1``; if `delayed`, with the state of the previous row of the group.

    Returns the first row with a code out of range, where the walk ends, or -1.
    """
    source, outs, codes, rings = borrow(source), borrow(outs), borrow(codes), borrow(rings)
    op, identity, states, width = source.op, source.identity, rings.states, rings.width
    for at in range(last):
        code = codes[at]
        if code < 0 or code >= groups:
            return at
        slot, ring = rings.slots[code], code * width
        entering = state_of(source, load(source.xs, at), at)
        running = cast(identity, combine(op, load(rings.running, code), entering))
        answer = running
        if slot + 1 < width:
            store(states, ring + slot, entering)
            answer = cast(identity, combine(op, load(states, ring + slot + 1), running))
            store(rings.running, code, running)
            rings.slots[code] = slot + 1
        else:
            suffix = entering
            store(states, ring + slot, suffix)
            for i in range(ring + slot - 1, ring - 1, -1):
                suffix = cast(identity, combine(op, load(states, i), suffix))
                store(states, i, suffix)
            store(rings.running, code, identity)
            rings.slots[code] = 0
        if at >= first:
            if delayed:
                store(outs, at - first, lower(op, load(rings.answers, code)))
            else:
                store(outs, at - first, lower(op, answer))
        if delayed:
            store(rings.answers, code, answer)
    return -1
