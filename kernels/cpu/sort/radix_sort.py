"""Stable radix sort of packed words: the high bits of a word are a row's code, the low ones its number.

All threads partition many rows by ranges of their highest digit, each part into its own memory, until parts stay in a
core's cache; then one thread sorts a part by its other digits, the least significant first, or NumPy sorts it. Runs of
rows with equal codes so far are sorted by the rest of their codes in the same way. After Knuth, *The Art of
Computer Programming 3*, 5.2.5, and Polychroniou and Ross, *A comprehensive study of main-memory partitioning* (SIGMOD
2014).
"""

# Numba reads these functions; annotations would say less than its own types do.
# mypy: disable-error-code="no-untyped-def"

from functools import lru_cache

import numpy as np

from ...compiler import argument_types as types
from ...compiler.functions import cached_njit, njit
from ..core.engine import TICKET
from ..core.launch import CONTROL, Kernel, array_type, empty, entry, helpers_for, run_kernel
from ..core.memory import borrow, elements, on_stack, take_ticket
from ..core.shares import TEAM
from .segments import sort_between
from .sort_codes import WORD_BITS, Chunk, pack

LEAF = 1 << 17
"""The most words that one thread sorts alone: twice as many must stay in its L2 cache."""

SHARE = 1 << 14
"""Words that a thread sorts alone even if others are idle."""

WORK = 8
"""The work of a word in elements of a scan, which decides how many words are worth a thread."""

PARTED = 2
"""The work of a word where words are parted for threads: few words are sorted by NumPy sooner than they are parted. The
order of 100,000 float64 took 3.0 ms on 16 cores in parts and 1.8 in one; that of 200,000 took 4.1 and 4.6."""

FEW = 32
"""Most words that are sorted by insertion."""

DIGIT = 11
"""Most bits of a digit."""

SLICE = 1 << 14
"""The number of rows that a thread takes to sort their runs, if there are many runs."""

RUNS = 1 << 12
"""The most runs that threads take one at a time: parts, or large groups."""

MANY = 1 << 12
"""The number of words from which on digits have `DIGIT` bits; otherwise they have 8."""

NARROW = 2 * DIGIT
"""The most bits by which many words are sorted digit by digit; NumPy sorts words of more bits, with the vector
instructions of each CPU. Milliseconds for 100,000 and a million float64 on one core with AVX2, by digits and by NumPy:
3.9, 2.5; 33, 24."""

SHORT = 13
"""The words of a part of many rows, as a power of two, if codes are spread evenly."""

WIDE = 16
"""The most bits of digits for ranges if words are spread unevenly: those of floats then have bits of the fraction."""

SKEW = 4
"""Words are spread unevenly if the most frequent digit has this many times the average number of words, or more."""

SAMPLED = 5
"""Words of a sample for each digit, as a power of two, if codes are spread evenly."""

LEAVES = 4
"""The fewest leaves for each thread, if words are shared."""

SLICES = 32
"""The number of slices of rows that are counted separately."""

COUNTS = -(-WORD_BITS // 8) << DIGIT
"""The largest number of counts of digits."""

COUNTS_BYTES = 4 * COUNTS

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
    """Return the positions of rows that are tied with a neighbour."""
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
    written, leaf = (out, ties, codes), _leaf(count)
    waiting = [(0, count, chunk.width, words, other)]
    if tied is not None:
        ends = np.append(np.flatnonzero(tied == 0), count)
        bits = np.full(len(ends) - 1, chunk.width)
        waiting = _sort_leaves(ends, bits, words, other, written, low, LEAF)
    while waiting:
        start, end, width, here, there = waiting.pop()
        ends, bits = np.array([start, end]), np.array([width])
        if width and end - start > leaf:
            ends, bits = _part(start, end, low, width, here, there)
            here, there = there, here
        waiting += _sort_leaves(ends, bits, here, there, written, low, leaf)
    return out, ties


Run = tuple[int, int, int, np.ndarray, np.ndarray]
"""The bounds of a run, the number of bits in which its words may differ, the words, and room for as many."""


def _sort_leaves(
    ends: np.ndarray,
    bits: np.ndarray,
    words: np.ndarray,
    other: np.ndarray,
    written: tuple[np.ndarray, np.ndarray, np.ndarray],
    low: int,
    leaf: int,
) -> list[Run]:
    """Sort the runs between `ends` by their bits from `low` on, and return those that are too long for one thread."""
    count, runs, sizes = int(ends[-1] - ends[0]), len(bits), np.diff(ends)
    long, left = np.flatnonzero((sizes > leaf) & (bits > 0)).tolist(), bits
    wide = np.flatnonzero(sizes >= MANY)
    wide = wide[(bits[wide] > NARROW) & (sizes[wide] <= leaf)]
    if len(wide):
        bounds = list(zip(ends[wide].tolist(), ends[wide + 1].tolist(), strict=True))
        sort_between(bounds, words, words, WORK * int(sizes[wide].sum()))
        left = bits.copy()
        left[wide] = 0
    batch = max(1, SLICE * runs // max(count, 1)) if runs > RUNS else 1
    run_kernel(WORK * count, _sorting(), words, other, *written, ends, left, leaf, batch, low)
    return [(int(ends[i]), int(ends[i + 1]), int(bits[i]), words, other) for i in long]


def _leaf(count: int) -> int:
    """Return the most of `count` words that a thread sorts alone."""
    threads = helpers_for(PARTED * count) + 1
    return LEAF if threads < TEAM else min(LEAF, max(SHARE, count // (LEAVES * threads)))


def _part(
    start: int, end: int, low: int, bits: int, words: np.ndarray, other: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """Move words to `other`, ranges of codes next to each other.

    Return the end of each range's words, and the number of bits in which they may differ.
    """
    count, top = end - start, low + bits
    digit = min(bits, DIGIT, count.bit_length() - SHORT)
    sample = words[start : end : 1 << max(0, SHORT - SAMPLED)] >> np.uint64(low)
    ranges, spans = None, np.zeros(1 << digit, np.int64)
    if _is_skewed(sample, bits, digit):
        wide = min(bits, WIDE)
        ranges, spans = _ranges(sample, bits, digit, wide)
        digit = wide
    size = max(SHARE, -(-count // SLICES))
    counts = np.zeros((-(-count // size), len(spans)), np.int64)
    given = words, other, start, end, size, top - digit, (1 << digit) - 1, ranges, counts
    counting, moving = _parting(ranges is not None)
    run_kernel(WORK * count, counting, *given)
    ends = np.concatenate([[start], start + np.cumsum(counts.sum(axis=0))])
    counts[...] = ends[:-1] + np.cumsum(counts, axis=0) - counts
    run_kernel(WORK * count, moving, *given)
    return ends, bits - digit + spans


def _digits(sample: np.ndarray, bits: int, digit: int) -> np.ndarray:
    """Return how many words of a sample have each digit, the highest of `bits` bits."""
    found = sample >> np.uint64(bits - digit) & np.uint64((1 << digit) - 1)
    return np.bincount(found.astype(np.int64), minlength=1 << digit)


def _is_skewed(sample: np.ndarray, bits: int, digit: int) -> bool:
    """Return whether some digit has far more words than others."""
    found = _digits(sample, bits, digit)
    return digit < bits and int(found.max()) << digit > SKEW * len(sample)


def _ranges(
    sample: np.ndarray, bits: int, wanted: int, digit: int
) -> tuple[np.ndarray, np.ndarray]:
    """Return the number of each digit's range, and the number of bits in which digits of a range may differ.

    There are about ``2**wanted`` ranges with equally many words; a digit with more words has its own range.
    """
    found = _digits(sample, bits, digit)
    heavy = found << wanted > len(sample)
    begins = np.diff((np.cumsum(found) - found << wanted) // len(sample), prepend=-1) > 0
    begins |= heavy
    begins[1:] |= heavy[:-1]
    first = np.flatnonzero(begins)
    last = np.append(first[1:], len(begins)) - 1
    ranges = (np.cumsum(begins) - 1).astype(np.uint16)
    return ranges, np.frexp(first ^ last)[1].astype(np.int64)


# --- compiled ----------------------------------------------------------------------------------------


@njit
def _sort_leaf(words, other, out, ties, codes, start, end, low, bits, counts):
    """Sort words by the `bits` from `low` on, and write the rows and, where there is a place, the codes."""
    count = end - start
    if count <= FEW:  # by insertion; it need not be stable, as no two words are equal
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


@cached_njit
def sort_leaves(words, other, out, ties, codes, ends, left, leaf, batch, low, control):
    """Sort the runs between `ends` by the bits that are left: those of `leaf` words at most, or of equal codes."""
    words, other, out, ties = borrow(words), borrow(other), borrow(out), borrow(ties)
    codes, ends, left, control = borrow(codes), borrow(ends), borrow(left), borrow(control)
    counts = elements(on_stack(COUNTS_BYTES), COUNTS, np.uint32(0))
    while True:
        first = take_ticket(control, TICKET) * batch
        if first >= len(left):
            break
        for i in range(first, min(len(left), first + batch)):
            start, end, bits = ends[i], ends[i + 1], left[i]
            if start < end and (end <= start + leaf or bits == 0):
                _sort_leaf(words, other, out, ties, codes, start, end, low, bits, counts)


@njit
def _part_of(word, shift, mask, ranges):
    """Return the digit of a word, or the range that it is in."""
    digit = np.uintp((word >> np.uint64(shift)) & np.uint64(mask))
    return digit if ranges is None else np.uintp(ranges[digit])


@cached_njit
def count_parts(words, other, start, end, size, shift, mask, ranges, counts, control):
    """Count the words of each part in each slice of `size` words."""
    words, counts, control = borrow(words), borrow(counts), borrow(control)
    while True:
        number = take_ticket(control, TICKET)
        if number >= len(counts):
            break
        first = start + number * size
        for i in range(first, min(end, first + size)):
            counts[number, _part_of(words[i], shift, mask, ranges)] += 1


@cached_njit
def move_words(words, other, start, end, size, shift, mask, ranges, places, control):
    """Move each word of a slice to the next place of its part."""
    words, other = borrow(words), borrow(other)
    places, control = borrow(places), borrow(control)
    while True:
        number = take_ticket(control, TICKET)
        if number >= len(places):
            break
        first = start + number * size
        for i in range(first, min(end, first + size)):
            word = words[i]
            part = _part_of(word, shift, mask, ranges)
            place = places[number, part]
            other[place] = word
            places[number, part] = place + 1


_WORDS, _ROWS, _FLAGS = (array_type(np.dtype(d), layout="C") for d in ("u8", "i8", "u1"))
_TABLE, _WORD = types.Array(types.int64, 2, "C"), types.int64


@lru_cache(maxsize=1)
def _sorting() -> Kernel:
    written = _ROWS, _FLAGS, _WORDS
    return entry(sort_leaves, (_WORDS, _WORDS, *written, _ROWS, _ROWS, *[_WORD] * 3, CONTROL))


@lru_cache(maxsize=2)
def _parting(by_range: bool) -> tuple[Kernel, Kernel]:
    ranges = array_type(np.dtype(np.uint16), layout="C") if by_range else types.none
    given = _WORDS, _WORDS, *[_WORD] * 5, ranges, _TABLE, CONTROL
    return entry(count_parts, given), entry(move_words, given)
