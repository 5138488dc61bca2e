"""Windows of one width by blocks: the suffix of one block of as many rows joins the prefix of the next.

Answer `p` of a block is the suffix state of the block from its row `p` on, combined with the state of the first `p`
rows of the next block. Adjacent blocks are *lanes*: their rows are laid side by side, row `p` of all lanes together, so
that each loop is over lanes that do not depend on one another, and becomes vector instructions for any operator.
After van Herk (Pattern Recognition Letters 13, 1992) and Gil and Werman (IEEE PAMI 15, 1993).

Nanoseconds a row of float64 on one thread of a Xeon with AVX-512, by windows of so many rows, and those of a queue
(`window_queue`), which walks row by row. Copying a row takes 0.6 to 1.1:

========  ===  ===  ===  ====  ====  ==========
operator  1    10   100  1000  4000  queue, any
========  ===  ===  ===  ====  ====  ==========
add       2.5  2.4  3.5  2.8   2.7   4.7 to 5.4
maximum   2.7  2.7  4.0  3.2   3.0   4.8 to 7.2
welford   5.9  5.1  6.5  5.0   4.9   4.7 to 8.1
========  ===  ===  ===  ====  ====  ==========
"""

# Numba reads these functions; annotations would say less than its own types do.
# mypy: disable-error-code="no-untyped-def"

from typing import NamedTuple

import numba

from ..jit import OPTIONS, cached_njit
from ..operator_calls import combine, lower
from .elements import cast, load, store
from .engine import TICKET
from .memory import borrow, take_ticket
from .steps import Arrays, state_of

GROUP = 64
"""Rows of each lane that are moved at a time: enough for a stream of reads, and what they are moved to stays in L1."""


class Space(NamedTuple):
    """A thread's memory for the blocks of a chunk, row by row, with the same row of all lanes side by side.

    `elements` has one lane more than the others; `running` is one row, and `answers` is `GROUP` rows.
    """

    elements: Arrays
    suffixes: Arrays
    running: Arrays
    answers: Arrays


class Blocks(NamedTuple):
    """Chunks of `lanes` blocks of `width` answers, `together` taken at a time; answer 0 is of rows from `row` on."""

    width: int
    lanes: int
    chunks: int
    together: int
    answer: int
    row: int


@cached_njit
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


@numba.njit(**OPTIONS)
def _gather(xs, elements, row, width, lanes):
    """Lay rows of adjacent blocks side by side."""
    for first in range(0, width, GROUP):
        last = min(first + GROUP, width)
        for lane in range(lanes):
            for p in range(first, last):
                store(elements, p * lanes + lane, load(xs, row + lane * width + p))


@numba.njit(**OPTIONS)
def _scatter(answers, outs, to, width, lanes, count):
    """Write the answers of so many rows of each lane where they belong."""
    for lane in range(lanes):
        for k in range(count):
            store(outs, to + lane * width + k, load(answers, k * lanes + lane))


@numba.njit(**OPTIONS)
def _suffixes(source, space, row, width, lanes):
    """Combine the rows of each block from the last one back."""
    elements, suffixes, running = space.elements, space.suffixes, space.running
    for lane in range(lanes):
        store(running, lane, source.identity)
    for back in range(width):
        p = width - 1 - back
        here, at = p * lanes, p * (lanes + 1)
        for lane in range(lanes):
            # not from the suffix behind: LLVM would look whether that overlaps with any that is written, and give up
            later = load(running, lane)
            state = state_of(source, load(elements, at + lane), row + lane * width + p)
            state = cast(source.identity, combine(source.op, state, later))
            store(running, lane, state)
            store(suffixes, here + lane, state)


@numba.njit(**OPTIONS)
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
