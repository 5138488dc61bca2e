"""Stable radix sort of packed words: the high bits of a word are a row's code, the low ones its number.

Many rows are parted by their highest digit by all threads, each part into its own memory, until parts stay in a core's
cache; one thread then sorts a part by its other digits, the least significant first. Runs of rows whose codes
are equal so far are sorted by what follows of their codes in the same way. After Knuth, *The Art of Computer
Programming 3*, 5.2.5, and Polychroniou and Ross, *A comprehensive study of main-memory partitioning* (SIGMOD 2014).
"""

# Numba reads these functions; annotations would say less than its own types do.
# mypy: disable-error-code="no-untyped-def"

from functools import lru_cache, partial
from typing import Any

import numba
import numpy as np
from numba import types

from ...compiler.jit import ALLOCATING, OPTIONS, cached_njit
from ..core.engine import TICKET
from ..core.launch import CONTROL, Kernel, array_type, empty, entry, run_kernel
from ..core.memory import borrow, take_ticket
from .sort_codes import WORD_BITS, Chunk, pack

LEAF = 1 << 17
"""Most words that one thread sorts by itself: twice as many must stay in its L2 cache."""

FEW = 32
"""Most words that are sorted by insertion."""

DIGIT = 11
"""Most bits of a digit."""

SLICE = 1 << 16
"""Rows whose runs a thread sorts, or whose digits it counts, at once."""

MANY = 1 << 12
"""Words from which on digits have that many bits; else 8."""

SHORT = 13
"""Words of the parts that many rows are parted into, as a power of two, if codes are spread evenly."""

SLICES = 32
"""Slices of rows whose digits are counted by themselves."""

COUNTS = -(-WORD_BITS // 8) << DIGIT
"""How many digits are counted at most."""

NO_CODES = np.empty(0, np.uint64)


def order(
    chunks: list[Chunk],
    count: int,
    starts: np.ndarray | None = None,
    codes: np.ndarray = NO_CODES,
) -> np.ndarray:
    """Return the positions of rows in the order of their codes, within segments that begin at `starts`.

    If `codes` has a place for each row, the codes of the one chunk are written to it in that order.
    """
    low = max(count - 1, 1).bit_length()
    if not chunks:
        return np.arange(count)
    tied = None
    if starts is not None:
        tied = np.ones(count, np.uint8)
        tied[starts] = 0
    found, tied = _sort_chunk(chunks[0], None, tied, count, low, codes)
    for chunk in chunks[1:]:
        places = _tied_rows(tied)
        if len(places):
            some = found[places], tied[places]
            found[places], tied[places] = _sort_chunk(chunk, *some, len(places), low)
    return found


def _tied_rows(tied: np.ndarray) -> np.ndarray:
    """Return where rows are that are tied with a neighbour."""
    some = tied.copy()
    some[:-1] |= tied[1:]
    return np.flatnonzero(some.view(np.bool_))


def _sort_chunk(
    chunk: Chunk,
    rows: np.ndarray | None,
    tied: np.ndarray | None,
    count: int,
    low: int,
    codes: np.ndarray = NO_CODES,
) -> tuple[np.ndarray, np.ndarray]:
    """Sort rows within runs; return them, and which of them are tied with the one before.

    `tied` marks rows in a run with the one before; None is one run of all rows.
    """
    words, other = empty(count, np.uint64), empty(count, np.uint64)
    out, ties = empty(count, np.int64), empty(count, np.uint8)
    pack(chunk, rows, low, words)
    left = [(0, count, chunk.width, words, other)]
    if tied is not None:
        long, number = np.empty((count // LEAF + 1, 2), np.int64), np.zeros(1, np.int64)
        given = words, other, out, ties, tied, low, chunk.width, long, number
        run_kernel(count, _kernel(sort_runs), *given)
        left = [(*run, chunk.width, words, other) for run in long[: number[0]].tolist()]
    while left:
        left += _sort_long(*left.pop(), out, ties, codes, low)
    return out, ties


def _sort_long(
    start: int,
    end: int,
    bits: int,
    words: np.ndarray,
    other: np.ndarray,
    out: np.ndarray,
    ties: np.ndarray,
    codes: np.ndarray,
    low: int,
) -> list[tuple[int, int, int, np.ndarray, np.ndarray]]:
    """Sort a run by the `bits` from `low` on, or part it and return the parts that are still too long."""
    ends = np.array([start, end])
    if bits and end - start > LEAF:
        digit = min(bits, DIGIT, (end - start).bit_length() - SHORT)
        bits -= digit
        ends = _part(start, end, low + bits, digit, words, other)
        words, other = other, words
    most = LEAF if bits else end - start
    given = words, other, out, ties, codes, ends, most, low, bits
    run_kernel(end - start, _kernel(sort_leaves), *given)
    long = np.flatnonzero(np.diff(ends) > most).tolist()
    return [(int(ends[i]), int(ends[i + 1]), bits, words, other) for i in long]


def _part(
    start: int, end: int, shift: int, digit: int, words: np.ndarray, other: np.ndarray
) -> np.ndarray:
    """Move words to `other`, those of one digit next to each other; return where those of each end."""
    size = max(SLICE, -(-(end - start) // SLICES))
    counts = np.zeros((-(-(end - start) // size), 1 << digit), np.int64)
    given = words, other, start, end, size, shift, counts
    run_kernel(end - start, _kernel(count_digits), *given)
    ends = np.concatenate([[start], start + np.cumsum(counts.sum(axis=0))])
    counts[...] = ends[:-1] + np.cumsum(counts, axis=0) - counts
    run_kernel(end - start, _kernel(move_words), *given)
    return ends


# --- compiled ----------------------------------------------------------------------------------------


@numba.njit(**OPTIONS)
def _sort_leaf(words, other, out, ties, codes, start, end, low, bits, counts):
    """Sort words by the `bits` from `low` on, and write the rows and, where there is a place, the codes."""
    count = end - start
    if count <= FEW:  # by insertion; no two words are equal, so that nothing need be stable
        for i in range(start + 1, end):
            word, at = words[i], i
            while at > start and words[at - 1] > word:
                words[at] = words[at - 1]
                at -= 1
            words[at] = word
    elif bits > 0:
        most = DIGIT if count >= MANY else 8
        passes = (bits + most - 1) // most
        width = (bits + passes - 1) // passes
        digits = 1 << width
        mask = np.uint64(digits - 1)
        for i in range(passes * digits):
            counts[i] = 0
        for i in range(start, end):
            code = words[i] >> np.uint64(low)
            for k in range(passes):
                counts[k * digits + np.intp(code & mask)] += 1
                code >>= np.uint64(width)
        for k in range(passes):
            shift = np.uint64(low + k * width)
            at = k * digits
            if counts[at + np.intp((words[start] >> shift) & mask)] == count:
                continue
            before = np.uint32(0)
            for i in range(at, at + digits):
                here = counts[i]
                counts[i] = before
                before += here
            for i in range(start, end):
                word = words[i]
                digit = at + np.intp((word >> shift) & mask)
                place = counts[digit]
                other[start + np.intp(place)] = word
                counts[digit] = place + np.uint32(1)
            words, other = other, words
    rows = (np.uint64(1) << np.uint64(low)) - np.uint64(1)
    before = ~words[start]
    for i in range(start, end):
        word = words[i]
        out[i] = word & rows
        ties[i] = ((word ^ before) & ~rows) == 0
        before = word
    if len(codes) > 0:
        for i in range(start, end):
            codes[i] = words[i] >> np.uint64(low)


@partial(cached_njit, options=ALLOCATING)
def sort_leaves(words, other, out, ties, codes, ends, most, low, bits, control):
    """Sort the runs between `ends` that have no more than so many words."""
    words, other, out, ties = borrow(words), borrow(other), borrow(out), borrow(ties)
    codes, ends, control = borrow(codes), borrow(ends), borrow(control)
    counts = np.empty(COUNTS, np.uint32)
    while True:
        i = take_ticket(control, TICKET)
        if i >= len(ends) - 1:
            break
        start, end = ends[i], ends[i + 1]
        if start < end <= start + most:
            _sort_leaf(words, other, out, ties, codes, start, end, low, bits, counts)


@partial(cached_njit, options=ALLOCATING)
def sort_runs(words, other, out, ties, tied, low, bits, long, number, control):
    """Sort runs of rows that are tied with the one before, and list those that are too long for one thread."""
    words, other, out, ties = borrow(words), borrow(other), borrow(out), borrow(ties)
    tied, long, number, control = borrow(tied), borrow(long), borrow(number), borrow(control)
    counts = np.empty(COUNTS, np.uint32)
    while True:
        at = take_ticket(control, TICKET) * SLICE
        if at >= len(words):
            break
        stop = min(len(words), at + SLICE)
        while at < stop and at > 0 and tied[at]:
            at += 1
        while at < stop:
            end = at + 1
            while end < len(words) and tied[end]:
                end += 1
            if end - at <= LEAF:
                _sort_leaf(words, other, out, ties, words[:0], at, end, low, bits, counts)
            else:
                k = take_ticket(number, 0)
                long[k, 0], long[k, 1] = at, end
            at = end


@cached_njit
def count_digits(words, other, start, end, size, shift, counts, control):
    """Count the digits of each slice of `size` words."""
    words, counts, control = borrow(words), borrow(counts), borrow(control)
    mask, shift = np.uint64(counts.shape[1] - 1), np.uint64(shift)
    while True:
        part = take_ticket(control, TICKET)
        if part >= len(counts):
            break
        first = start + part * size
        for i in range(first, min(end, first + size)):
            counts[part, np.intp((words[i] >> shift) & mask)] += 1


@cached_njit
def move_words(words, other, start, end, size, shift, places, control):
    """Move each word of a slice to the next place of its digit."""
    words, other = borrow(words), borrow(other)
    places, control = borrow(places), borrow(control)
    mask, shift = np.uint64(places.shape[1] - 1), np.uint64(shift)
    while True:
        part = take_ticket(control, TICKET)
        if part >= len(places):
            break
        first = start + part * size
        for i in range(first, min(end, first + size)):
            word = words[i]
            digit = np.intp((word >> shift) & mask)
            place = places[part, digit]
            other[place] = word
            places[part, digit] = place + 1


_WORDS, _ROWS, _FLAGS = (array_type(np.dtype(d), layout="C") for d in ("u8", "i8", "u1"))
_TABLE, _WORD = types.Array(types.int64, 2, "C"), types.int64

_LEAF = (_WORDS, _WORDS, _ROWS, _FLAGS)
_DIGITS = (_WORDS, _WORDS, _WORD, _WORD, _WORD, _WORD, _TABLE, CONTROL)

_ARGUMENTS = {
    sort_runs: (*_LEAF, _FLAGS, _WORD, _WORD, _TABLE, _ROWS, CONTROL),
    sort_leaves: (*_LEAF, _WORDS, _ROWS, _WORD, _WORD, _WORD, CONTROL),
    count_digits: _DIGITS,
    move_words: _DIGITS,
}
"""The types of what each kernel takes."""


@lru_cache(maxsize=4)
def _kernel(function: Any) -> Kernel:
    return entry(function, _ARGUMENTS[function])
