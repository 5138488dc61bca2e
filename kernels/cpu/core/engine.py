"""The engine on the CPU: one tile loop with decoupled look-back, and one loop over many short lines.

A *visitor* works on a tile: `observe` returns the aggregate of the tile, which is published; then, while the tile is
still in cache, the aggregates of earlier tiles are folded in order (the look-back), and the visitor gets the prefix
(`emit`). Tiles are taken by ticket, and a thread waits only for aggregates, never for prefixes. Scans, reductions,
compactions and work by key are visitors of this one loop.

The association depends only on the length of the line and the tile size, and not on the number of threads or on timing:
the same input gives the same bits. After Merrill and Garland, *Single-pass Parallel Prefix Scan with Decoupled
Look-back* (NVR-2016-002), section 4.
"""

# Numba reads these functions; annotations would say less than its own types do.
# mypy: disable-error-code="no-untyped-def"

import os
from functools import partial
from typing import Any, NamedTuple

import numpy as np

from ...compiler.functions import ROLES, STATES, External, cached_njit, njit
from ...operators.calls import combine
from ...operators.operator import Operator
from ...operators.signature import State
from .elements import cast, load, store
from .memory import borrow, load_acquire, store_release, take_ticket
from .steps import Arrays, scan_lanes, scan_line
from .visitors import emit, finish, looks_back, observe

TILE = 16384
"""Elements of a tile. Input and output of a tile must stay in a core's L2 cache between its two walks: 256 KiB
for eight-byte items. Measured on 50 million float64, two threads, milliseconds: 4096 47, 8192 45, 16384 44,
32768 44, 65536 50."""

LINE_BLOCK = 512
"""Elements of each line that are walked before the next four lines, if lines lie side by side."""

PATIENCE = 1000
"""How often a thread looks for an aggregate before it yields its core, as the thread that it waits for may have none.
Two threads on one core took 1.9 times as long without."""

_let_others_run: Any = External("sched_yield" if os.name == "posix" else "SwitchToThread")

TICKET, FAILED, STATUS = 0, 1, 2
"""Words of the control array: the next tile, whether a thread gave up, and from here on the status of each tile."""


class States(NamedTuple):
    """The states of a walk: their operator, the identity, the carries of all lines, and the aggregates of this line."""

    op: Operator
    identity: State
    carries: Arrays
    aggregates: Arrays


ROLES[States] = {"identity": STATES, "carries": STATES, "aggregates": STATES}


class Tiles(NamedTuple):
    """A line that is cut into tiles: its number, its length, the elements of a tile, and how tiles are walked.

    Tiles that are `sequential` are observed from their prefix rather than from the identity, by one thread.
    """

    line: int
    length: int
    size: int
    sequential: bool


@cached_njit
def walk_tiles(work, space, states, tiles, control, leader):
    """Walk one long line tile by tile, together with other threads that run the same call.

    `work` is a visitor, and `space` this thread's scratch memory for it. ``carries[line]`` has the carry-in when
    threads start; the leader writes the carry-out there.
    """
    count = (tiles.length + tiles.size - 1) // tiles.size
    work, space, states, control = borrow(work), borrow(space), borrow(states), borrow(control)
    op, identity, carries, aggregates = (
        states.op,
        states.identity,
        states.carries,
        states.aggregates,
    )
    prefix = load(carries, tiles.line)
    folded = np.int64(0)  # a literal 0 would have `look_back` compiled twice
    while True:
        ticket = take_ticket(control, TICKET)
        if ticket >= count:
            break
        first = ticket * tiles.size
        left = tiles.length - first
        size = tiles.size if left > tiles.size else left
        start = prefix if tiles.sequential else identity
        observed, memo = observe(work, space, start, first, size)
        aggregate = cast(identity, observed)
        if tiles.sequential:
            emit(work, space, prefix, memo, first, size)
            prefix, folded = aggregate, count
            continue
        store(aggregates, ticket, aggregate)
        store_release(control, STATUS + ticket, 1)
        if looks_back(work):
            prefix, folded = look_back(op, identity, aggregates, control, prefix, folded, ticket)
            emit(work, space, prefix, memo, first, size)
    if leader:
        prefix, folded = look_back(op, identity, aggregates, control, prefix, folded, count)
        store(carries, tiles.line, prefix)
        finish(work, prefix)


@njit
def look_back(op, identity, aggregates, control, prefix, folded, until):
    """Fold the aggregates of the tiles since the last look-back, in order, as they are published."""
    while folded < until:
        if not wait_for(control, STATUS + folded, 1):
            return prefix, until
        prefix = cast(identity, combine(op, prefix, load(aggregates, folded)))
        folded += 1
    return prefix, folded


@njit
def wait_for(control, at, least):
    """Wait until a word of the control array is at least `least`; return False if a thread gave up."""
    looks = 0
    while load_acquire(control, at) < least:
        if load_acquire(control, FAILED) != 0:
            return False
        looks += 1
        if looks > PATIENCE:
            _let_others_run()
    return True


class Lines(NamedTuple):
    """``groups * number`` independent lines of `length` elements, `stride` apart.

    Line `l` of group `g` starts at ``start + g * group_stride + l * line_stride``.
    """

    groups: int
    group_stride: int
    number: int
    line_stride: int
    start: int
    stride: int
    length: int


@partial(cached_njit, carries=STATES)
def walk_lines(source, output, carries, lines, control):
    """Scan lines, four side by side; threads take panels by ticket. Without `output` they are reduced.

    The carry of line `l` of group `g` is ``carries[g * number + l]``.
    """
    source, output, carries, control = (
        borrow(source),
        borrow(output),
        borrow(carries),
        borrow(control),
    )
    panels, stride = (lines.number + 31) // 32, lines.stride
    while True:
        ticket = take_ticket(control, TICKET)
        if ticket >= lines.groups * panels:
            break
        group, panel = ticket // panels, ticket % panels
        base = lines.start + group * lines.group_stride
        end = min(lines.number, 32 * panel + 32)
        for block in range(0, lines.length, LINE_BLOCK):
            count = min(LINE_BLOCK, lines.length - block)
            line = 32 * panel
            while line + 4 <= end:
                carry = group * lines.number + line
                first = base + line * lines.line_stride + block * stride
                before = (
                    load(carries, carry),
                    load(carries, carry + 1),
                    load(carries, carry + 2),
                    load(carries, carry + 3),
                )
                a, b, c, d = scan_lanes(
                    source, output, before, first, lines.line_stride, stride, count
                )
                store(carries, carry, a)
                store(carries, carry + 1, b)
                store(carries, carry + 2, c)
                store(carries, carry + 3, d)
                line += 4
            while line < end:
                carry = group * lines.number + line
                first = base + line * lines.line_stride + block * stride
                state = scan_line(source, output, load(carries, carry), first, stride, count)
                store(carries, carry, state)
                line += 1


@partial(cached_njit, identity=STATES, states=STATES)
def fold_states(op, identity, states, count, lines):
    """Fold `count` states for each of `lines` lines, in order, into the first."""
    for line in range(lines):
        state = load(states, line)
        for i in range(1, count):
            state = cast(identity, combine(op, state, load(states, i * lines + line)))
        store(states, line, state)
