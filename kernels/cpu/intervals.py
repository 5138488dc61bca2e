"""Intervals of NumPy arrays: threads share the items evenly, for intervals of any lengths.

Counts are added up in chunks. Chunks and items are merged into one path, which is cut into parts of one length: this
bounds the items and the intervals of a part, and a binary search finds its beginning.
"""

# Numba reads these functions; annotations would say less than its own types do.
# mypy: disable-error-code="no-untyped-def"

from functools import lru_cache

import numpy as np

from ..arrays import MOST
from ..compiler import argument_types as types
from ..compiler.functions import cached_njit, njit
from ..options import Intervals
from .columns.selection import address_of
from .core.engine import TICKET
from .core.launch import CONTROL, WORD, Kernel, array_type, empty, entry, run_kernel
from .core.memory import borrow, copy_bytes, elements, read, take_ticket, write
from .core.shared import OF_WIDTH, address, call, shared_njit, zero

CHUNK = 1024
"""Intervals of a chunk: their counts are added up to one number."""

CHUNKS = 64
"""Chunks that a thread adds up at once."""

PART = 1 << 14
"""Items and intervals that a thread takes at once."""

FEW = 16
"""Items below which an interval is copied one by one."""

WORDS = array_type(WORD, True, "C")


def intervals(
    counts: np.ndarray,
    gather: np.ndarray | None,
    scatter: np.ndarray | None,
    lengths: tuple[int, int],
) -> Intervals:
    """Return intervals, checked and added up; see `backends.Backend.intervals`."""
    counts = np.require(counts, requirements=["C", "A"])
    gather, scatter = (
        None if a is None else np.require(a, requirements=["C", "A"]) for a in (gather, scatter)
    )
    sums = np.empty(-(-len(counts) // CHUNK), WORD)
    bounds = [
        (address_of(a), length)
        for a, length in zip((gather, scatter), lengths, strict=True)
        if a is not None
    ]
    table = np.array(bounds, np.int64).reshape(-1, 2)
    run_kernel(len(counts), _adding(), counts, table, sums)
    found = sums.tolist()
    total = -1 if min(found, default=0) < 0 else min(sum(found), MOST)
    return Intervals(counts, gather, scatter, np.cumsum(sums) - sums, total)


def copy_intervals(
    intervals: Intervals, source: np.ndarray, out: np.ndarray | None, *, repeats: bool
) -> np.ndarray:
    """Copy the items of intervals; see `backends.Backend.copy_intervals`."""
    counts, gather, scatter, starts, total = intervals
    source = np.require(source, requirements=["C", "A"])
    if out is None:
        out = empty(total, source.dtype)
    width = source.itemsize
    given = (0 if a is None else address_of(a) for a in (counts, source, gather, out, scatter))
    copy = address(copy_items, OF_WIDTH[width])
    run_kernel(total + len(counts), _walking(), starts, total, copy, *given, width, int(repeats))
    return out


@cached_njit
def add_up(counts, bounds, sums, control):
    """Write the sum of the counts of each chunk, at most MOST; -1 if a count is negative or an interval out of bounds.

    A row of `bounds` is the address of offsets and the number of items.
    """
    counts, bounds, sums, control = borrow(counts), borrow(bounds), borrow(sums), borrow(control)
    while True:
        begin = take_ticket(control, TICKET) * CHUNKS
        if begin >= len(sums):
            break
        for chunk in range(begin, min(begin + CHUNKS, len(sums))):
            first, stop = chunk * CHUNK, min(chunk * CHUNK + CHUNK, len(counts))
            total, bits, wrong = 0, 0, False
            for i in range(first, stop):
                total += counts[i]
                bits |= counts[i]
            if bits >= MOST // CHUNK:  # it may have wrapped around
                total = 0
                for i in range(first, stop):
                    total = MOST if counts[i] > MOST - total else total + counts[i]
            for b in range(len(bounds)):
                offsets = elements(bounds[b, 0], len(counts), np.int64(0))
                for i in range(first, stop):
                    offset, last = offsets[i], bounds[b, 1] - counts[i]
                    wrong |= (counts[i] > 0) & ((offset < 0) | (offset > last))
            sums[chunk] = -1 if wrong | (bits < 0) else total


@njit
def _find(starts, total, step):
    """Return the chunk at a step of the path of chunks and items, and the next item there."""
    low, high = 0, len(starts)
    while high - low > 1:
        middle = (low + high) // 2
        if middle * CHUNK + starts[middle] <= step:
            low = middle
        else:
            high = middle
    item = starts[low] + max(step - (low + 1) * CHUNK - starts[low], 0)
    return low, min(item, starts[low + 1] if low + 1 < len(starts) else total)


@cached_njit
def walk(starts, total, copy, counts, source, gather, target, scatter, width, repeats, control):
    """Copy items part by part: `copy` is the address of `copy_items` for their width."""
    starts, control = borrow(starts), borrow(control)
    length = total + len(starts) * CHUNK
    while True:
        begin = take_ticket(control, TICKET) * PART
        if begin >= length:
            break
        chunk, item = _find(starts, total, begin)
        stop = _find(starts, total, min(begin + PART, length))[1]
        given = counts, source, gather, target, scatter, width, repeats
        call(copy, (*given, chunk * CHUNK, starts[chunk], item, stop))


@shared_njit
def copy_items(
    kind, counts, source, gather, target, scatter, width, repeats, interval, start, item, stop
):
    """Copy items from one to another, given an earlier interval and the number of items before that.

    Arguments are addresses; items are as wide as a kind of numbers.
    """
    like, word = zero(kind), np.int64(0)
    while item < stop:
        end = start + read(counts + 8 * interval, word)
        size = min(end, stop) - item
        if size > 0:
            into = read(scatter + 8 * interval, word) + item - start if scatter else item
            to = target + width * into
            if repeats:
                elements(to, size, like)[:] = read(source + width * interval, like)
            else:
                place = read(gather + 8 * interval, word) + item - start if gather else item
                of = source + width * place
                if size < FEW:
                    for i in range(size):
                        write(to + i * width, read(of + i * width, like))
                else:
                    copy_bytes(to, of, size * width)
            item += size
        start = end
        interval += 1
    return 0


@lru_cache(maxsize=1)
def _adding() -> Kernel:
    bounds = types.Array(types.int64, 2, "C", readonly=True)
    return entry(add_up, (WORDS, bounds, array_type(WORD, layout="C"), CONTROL))


@lru_cache(maxsize=1)
def _walking() -> Kernel:
    return entry(walk, (WORDS, *(types.int64,) * 9, CONTROL))
