"""The engine on the CPU: one tile loop with decoupled look-back, and one loop over many short lines.

Elements are visited along a *line*: positions ``start + i * stride`` of flat arrays. A tile is cut into
four *lanes* that are walked at the same time, so that four combinations are in flight where one alone
would wait for the last. A tile is first reduced, its aggregate published; then, while the tile is still
in cache, the aggregates of the earlier tiles are folded in order (the look-back) and the tile is scanned
from that prefix. Tiles are taken by ticket, and a thread waits for aggregates only, never for prefixes.

The association depends on the length of the line and the tile size alone, never on the number of
threads or on timing: the same input gives the same bits. After Merrill and Garland, *Single-pass Parallel
Prefix Scan with Decoupled Look-back* (NVR-2016-002), section 4.

This module must never know what is combined, nor why an element is null.
"""

# Numba reads these functions; annotations would say less than its own types do.
# mypy: disable-error-code="no-untyped-def"

import numba

from .atomics import load_acquire, store_release, take_ticket
from .calls import OPTIONS, cached_njit, cast, combine, is_null, lift, load, lower, store

TILE = 16384
"""Elements a tile. Input and output of a tile must stay in a core's L2 cache between its two walks: 256 KiB
for eight-byte items. Measured on 50 million float64, two threads, milliseconds: 4096 47, 8192 45, 16384 44,
32768 44, 65536 50."""

LINE_BLOCK = 512
"""Elements of each line that are walked before the next four lines are, when the lines lie side by side."""

TICKET, FAILED, STATUS = 0, 1, 2
"""Words of the control array: the next tile, whether a thread gave up, and from here one status a tile."""


@numba.njit(**OPTIONS)
def reduce_step(op, xs, nulls, identity, state, at):
    """Combine the element at one position into `state`."""
    element = load(xs, at)
    lifted = cast(identity, lift(op, element))
    lifted = identity if is_null(nulls, element, at) else lifted
    return cast(identity, combine(op, state, lifted))


@numba.njit(**OPTIONS)
def scan_step(op, xs, nulls, outs, null_value, mark, exclusive, identity, state, at):
    """Combine the element at one position into `state` and write what the scan says there."""
    element = load(xs, at)
    lifted = cast(identity, lift(op, element))
    missing = is_null(nulls, element, at)
    lifted = identity if missing else lifted
    after = cast(identity, combine(op, state, lifted))
    if outs is not None:
        value = cast(null_value, lower(op, state) if exclusive else lower(op, after))
        # a select, not a branch: nulls come in no order that a branch predictor could learn
        store(outs, at, null_value if missing & mark else value)
    return after


@numba.njit(**OPTIONS)
def reduce_lanes(op, xs, nulls, identity, start, lane, stride, count):
    """Reduce four lanes of `count` elements at once."""
    a = b = c = d = identity
    for i in range(count):
        at = start + i * stride
        a = reduce_step(op, xs, nulls, identity, a, at)
        b = reduce_step(op, xs, nulls, identity, b, at + lane)
        c = reduce_step(op, xs, nulls, identity, c, at + 2 * lane)
        d = reduce_step(op, xs, nulls, identity, d, at + 3 * lane)
    return a, b, c, d


@numba.njit(**OPTIONS)
def scan_lanes(
    op, xs, nulls, outs, null_value, mark, exclusive, identity, seeds, start, lane, stride, count
):
    """Scan four lanes of `count` elements at once, from four seeds."""
    a, b, c, d = seeds
    for i in range(count):
        at = start + i * stride
        a = scan_step(op, xs, nulls, outs, null_value, mark, exclusive, identity, a, at)
        b = scan_step(op, xs, nulls, outs, null_value, mark, exclusive, identity, b, at + lane)
        c = scan_step(op, xs, nulls, outs, null_value, mark, exclusive, identity, c, at + 2 * lane)
        d = scan_step(op, xs, nulls, outs, null_value, mark, exclusive, identity, d, at + 3 * lane)
    return a, b, c, d


@cached_njit
def walk_tiles(
    op, xs, nulls, outs, null_value, mark, exclusive, identity,
    carries, line, start, stride, length, tile, aggregates, control, leader,
):  # fmt: skip
    """Scan one long line tile by tile, together with any other thread that runs the same call.

    Without `outs` it only reduces. The leader leaves the carry-out in ``carries[line]``, where every
    thread finds the carry-in when it starts.
    """
    tiles = (length + tile - 1) // tile
    prefix = load(carries, line)
    folded = 0
    while True:
        ticket = take_ticket(control, TICKET)
        if ticket >= tiles:
            break
        size = min(tile, length - ticket * tile)
        count = size // 4
        lane = count * stride
        first = start + ticket * tile * stride
        a, b, c, d = reduce_lanes(op, xs, nulls, identity, first, lane, stride, count)
        ab = cast(identity, combine(op, a, b))
        abc = cast(identity, combine(op, ab, c))
        aggregate = cast(identity, combine(op, abc, d))
        for i in range(4 * count, size):
            aggregate = reduce_step(op, xs, nulls, identity, aggregate, first + i * stride)
        store(aggregates, ticket, aggregate)
        store_release(control, STATUS + ticket, 1)
        if outs is not None:
            prefix, folded = look_back(op, identity, aggregates, control, prefix, folded, ticket)
            seed_b = cast(identity, combine(op, prefix, a))
            seed_c = cast(identity, combine(op, prefix, ab))
            seed_d = cast(identity, combine(op, prefix, abc))
            seeds = (prefix, seed_b, seed_c, seed_d)
            state = scan_lanes(
                op, xs, nulls, outs, null_value, mark, exclusive, identity,
                seeds, first, lane, stride, count,
            )[3]  # fmt: skip
            for i in range(4 * count, size):
                at = first + i * stride
                state = scan_step(
                    op, xs, nulls, outs, null_value, mark, exclusive, identity, state, at
                )
    if leader:
        prefix, folded = look_back(op, identity, aggregates, control, prefix, folded, tiles)
        store(carries, line, prefix)


@numba.njit(**OPTIONS)
def look_back(op, identity, aggregates, control, prefix, folded, until):
    """Fold the aggregates of the tiles since the last look-back, in order, as they are published."""
    while folded < until:
        while load_acquire(control, STATUS + folded) == 0:
            if load_acquire(control, FAILED) != 0:
                return prefix, until
        prefix = cast(identity, combine(op, prefix, load(aggregates, folded)))
        folded += 1
    return prefix, folded


@cached_njit
def walk_lines(
    op, xs, nulls, outs, null_value, mark, exclusive, identity,
    carries, groups, group_stride, lines, line_stride, start, stride, length, control,
):  # fmt: skip
    """Scan ``groups * lines`` independent lines, four side by side; threads take panels by ticket.

    Line ``l`` of group ``g`` starts at ``start + g * group_stride + l * line_stride``; its carry is
    ``carries[g * lines + l]``. Without `outs` it only reduces.
    """
    panels = (lines + 31) // 32
    while True:
        ticket = take_ticket(control, TICKET)
        if ticket >= groups * panels:
            break
        group, panel = ticket // panels, ticket % panels
        base = start + group * group_stride
        end = min(lines, 32 * panel + 32)
        for block in range(0, length, LINE_BLOCK):
            count = min(LINE_BLOCK, length - block)
            line = 32 * panel
            while line + 4 <= end:
                carry = group * lines + line
                first = base + line * line_stride + block * stride
                seeds = (
                    load(carries, carry),
                    load(carries, carry + 1),
                    load(carries, carry + 2),
                    load(carries, carry + 3),
                )
                a, b, c, d = scan_lanes(
                    op, xs, nulls, outs, null_value, mark, exclusive, identity,
                    seeds, first, line_stride, stride, count,
                )  # fmt: skip
                store(carries, carry, a)
                store(carries, carry + 1, b)
                store(carries, carry + 2, c)
                store(carries, carry + 3, d)
                line += 4
            while line < end:
                carry = group * lines + line
                first = base + line * line_stride + block * stride
                state = load(carries, carry)
                for i in range(count):
                    at = first + i * stride
                    state = scan_step(
                        op, xs, nulls, outs, null_value, mark, exclusive, identity, state, at
                    )
                store(carries, carry, state)
                line += 1


@cached_njit
def fold_states(op, identity, states, count, lines):
    """Fold `count` states for each of `lines` lines, in order, into the first."""
    for line in range(lines):
        state = load(states, line)
        for i in range(1, count):
            state = cast(identity, combine(op, state, load(states, i * lines + line)))
        store(states, line, state)


# What the launcher asks Numba about an operator: the types of these functions' answers.


@cached_njit
def probe_lift(op, element):
    """Have the type of a lifted element."""
    return lift(op, element)


@cached_njit
def probe_combine(op, a, b):
    """Have the type of a combined state."""
    return combine(op, a, b)


@cached_njit
def probe_lower(op, state):
    """Have the type of a lowered state."""
    return lower(op, state)
