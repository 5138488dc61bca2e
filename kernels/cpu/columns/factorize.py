"""Codes of NumPy arrays without gaps: of codes that have some, and of words by their hashes.

A hash table for each share of words stays in a core's cache, and is made by one thread: after Balkesen, Teubner, Alonso
and Ozsu, *Main-memory hash joins on multi-core CPUs* (ICDE 2013), parallel radix join.
"""

# Numba reads these functions; annotations would say less than its own types do.
# mypy: disable-error-code="no-untyped-def"

from functools import lru_cache

import numpy as np
from numba import types

from ...compiler.jit import cached_njit
from ..core.engine import STATUS, TICKET
from ..core.launch import (
    CONTROL,
    PARALLEL,
    WORD,
    Kernel,
    array_type,
    empty,
    entry,
    helpers_for,
    run_kernel,
    run_team,
)
from ..core.memory import borrow, take_ticket
from ..core.shares import (
    ROW,
    SHARES,
    TEAM,
    hash_of,
    part_rows,
    positions_of,
    row_at,
    run_shares,
)

SLICE = 1 << 16
"""Rows that a thread renumbers at once."""


def value_range(values: np.ndarray) -> tuple[int, int]:
    """Return the least and the greatest of some integers; see `kernels.value_range`."""
    if len(values) < PARALLEL:
        return int(values.min()), int(values.max())
    waiting = iter(np.array_split(values, helpers_for(len(values)) + 1))
    found: list[np.ndarray] = []

    def look(_: bool) -> None:
        for piece in waiting:  # of all threads: each takes the next
            found.extend((piece.min(), piece.max()))

    run_team(len(values), np.zeros(STATUS, WORD), look)
    return int(min(found)), int(max(found))


# --- of codes ---------------------------------------------------------------------------------------


def factorize(codes: np.ndarray, groups: int, *, check: bool) -> tuple[np.ndarray, np.ndarray]:
    """Return codes without gaps, and the first row of each; see `kernels.factorize`."""
    codes = np.require(codes, requirements=["C", "A"])
    low, high = value_range(codes) if check and len(codes) else (0, -1)
    if low < 0 or high >= groups:
        wrong = codes[np.argmax((codes < 0) | (codes >= groups))]
        raise ValueError(f"codes must be from 0 to {groups - 1}, found {wrong}")
    number = np.dtype(np.int32 if len(codes) < 1 << 31 else np.int64)  # less to keep in cache
    rows = np.full(groups, -1, number)
    run_shares(codes, groups, _finding(codes.dtype, number), codes, rows)
    first_rows = np.empty(min(groups, len(codes)) + 1, WORD)
    first_rows = first_rows[: _numbering(rows.dtype)(rows, first_rows)]
    if len(first_rows) < groups:
        out = empty(len(codes), codes.dtype)
        run_kernel(len(codes), _renumbering(codes.dtype, rows.dtype), codes, rows, out)
        codes = out
    return codes, first_rows


def first_met(codes: np.ndarray, groups: int) -> np.ndarray:
    """Return whether each row is the first one of its code; see `kernels.first_met`."""
    codes = np.require(codes, requirements=["C", "A"])
    found = empty(len(codes), np.dtype(np.bool_))
    run_shares(codes, groups, _meeting(codes.dtype), codes, np.zeros(groups, np.bool_), found)
    return found


@cached_njit
def find_rows(codes, rows, shares, control):
    """Find the first row of each code; all are of groups."""
    codes, rows, shares, control = borrow(codes), borrow(rows), borrow(shares), borrow(control)
    while True:
        share = take_ticket(control, TICKET)
        if share >= shares.tickets:
            break
        begin, end = positions_of(shares, share, len(codes))
        for position in range(begin, end):
            at = row_at(shares, position)
            code = np.uintp(codes[np.uintp(at)])
            if rows[code] < 0:
                rows[code] = at


@cached_njit
def number_codes(rows, first_rows):
    """Number the codes that have rows, in the place of their first rows; return how many there are.

    No branch depends on what is there: `first_rows` has an item more than there may be codes.
    """
    rows, first_rows = borrow(rows), borrow(first_rows)
    known = np.uintp(0)
    for code in range(len(rows)):
        row = rows[np.uintp(code)]
        first_rows[known] = row
        rows[np.uintp(code)] = known
        known += np.uintp(row >= 0)
    return np.int64(known)


@cached_njit
def renumber_codes(codes, numbers, out, control):
    """Write the number of the code of each row."""
    codes, numbers, out, control = borrow(codes), borrow(numbers), borrow(out), borrow(control)
    while True:
        start = take_ticket(control, TICKET) * SLICE
        if start >= len(codes):
            break
        for at in range(start, min(len(codes), start + SLICE)):
            out[at] = numbers[np.uintp(codes[at])]


@cached_njit
def meet_codes(codes, met, out, shares, control):
    """Write whether each row is the first one of its code; all are of groups."""
    codes, met, out = borrow(codes), borrow(met), borrow(out)
    shares, control = borrow(shares), borrow(control)
    while True:
        share = take_ticket(control, TICKET)
        if share >= shares.tickets:
            break
        begin, end = positions_of(shares, share, len(codes))
        for position in range(begin, end):
            at = np.uintp(row_at(shares, position))
            code = np.uintp(codes[at])
            out[at] = not met[code]
            met[code] = True


@lru_cache(maxsize=8)
def _finding(dtype: np.dtype, row: np.dtype) -> Kernel:
    codes, rows = array_type(dtype, True, "C"), array_type(row, layout="C")
    return entry(find_rows, (codes, rows, SHARES, CONTROL))


@lru_cache(maxsize=2)
def _numbering(row: np.dtype) -> Kernel:
    return entry(number_codes, (array_type(row, layout="C"), array_type(WORD, layout="C")))


@lru_cache(maxsize=8)
def _renumbering(dtype: np.dtype, row: np.dtype) -> Kernel:
    codes, numbers = array_type(dtype, True, "C"), array_type(row, layout="C")
    return entry(renumber_codes, (codes, numbers, array_type(dtype, layout="C"), CONTROL))


@lru_cache(maxsize=2)
def _meeting(dtype: np.dtype) -> Kernel:
    flags = array_type(np.dtype(np.bool_), layout="C")
    return entry(meet_codes, (array_type(dtype, True, "C"), flags, flags, SHARES, CONTROL))


# --- of words, by their hashes ----------------------------------------------------------------------

PARTS = 4
"""Tables a thread: a smaller one stays in its cache."""

SPACE = 1 << 10
"""Words that the first table of a share has room for."""

LARGER = 4, 16
"""How many times as large a table that is half full is made: at least, and at most if nearly all words are new.

10**5 words on one core, all different: 2.2 ms with 4 alone, 1.2 with both."""


def hash_codes(words: np.ndarray) -> tuple[np.ndarray, int]:
    """Return codes that are equal where words are, and a number above all of them; see `kernels.hash_codes`."""
    words = np.require(words, requirements=["C", "A"])
    rows, bounds, count = np.empty(0, ROW), np.array([0, len(words)]), 1
    team = helpers_for(len(words)) + 1
    if team >= TEAM and len(words) <= np.iinfo(ROW).max:
        count = PARTS * team
        rows, bounds = part_rows(words, count, None)
    codes = empty(len(words), np.int32 if len(words) * count < 1 << 31 else np.int64)
    insert, reinsert = _hashing(codes.dtype)
    waiting, found = iter(range(count)), [0]

    def number(_: bool) -> None:
        for share in waiting:  # of all threads: each takes the next
            begin, end = bounds[share : share + 2]
            first, space, known = begin, SPACE, 0
            table, first_rows = np.zeros(4 * space, np.uint64), np.empty(space, WORD)
            while True:
                given = words, rows, begin, end, share, count
                begin, known = insert(*given, known, table, first_rows, codes)
                if begin == end:
                    break
                least, most = LARGER
                expected = known * (end - first) // (begin - first)
                while space < min(expected, most * known) or space < least * known:
                    space *= 2
                table, first_rows = np.zeros(4 * space, np.uint64), np.resize(first_rows, space)
                reinsert(words, first_rows, known, table)
            found.append(known)

    run_team(len(words), np.zeros(STATUS, WORD), number)
    return codes, max(found) * count


@cached_njit
def insert_words(words, rows, begin, end, share, count, known, table, first_rows, codes):
    """Number the words of a share at these positions; return where the table was full, and how many are known.

    Number `i` becomes the code ``i * count + share``. A slot of the table holds a word, and its number plus one.
    """
    words, rows, table = borrow(words), borrow(rows), borrow(table)
    first_rows, codes = borrow(first_rows), borrow(codes)
    mask = np.uintp(len(table) // 2 - 1)
    for position in range(begin, end):
        at = np.uintp(rows[np.uintp(position)]) if len(rows) else np.uintp(position)
        word = words[at]
        slot = np.uintp(hash_of(word)) & mask
        while True:
            number = np.int64(table[2 * slot + np.uintp(1)])
            if number == 0:
                if known == len(first_rows):
                    return position, known
                first_rows[np.uintp(known)] = at
                known += 1
                number = known
                table[2 * slot], table[2 * slot + np.uintp(1)] = word, np.uint64(number)
                break
            if table[2 * slot] == word:
                break
            slot = (slot + np.uintp(1)) & mask
        codes[at] = (number - 1) * count + share
    return end, known


@cached_njit
def reinsert_words(words, first_rows, known, table):
    """Insert the known words into an empty table."""
    words, first_rows, table = borrow(words), borrow(first_rows), borrow(table)
    mask = np.uintp(len(table) // 2 - 1)
    for number in range(known):
        word = words[np.uintp(first_rows[np.uintp(number)])]
        slot = np.uintp(hash_of(word)) & mask
        while table[2 * slot + np.uintp(1)] != 0:
            slot = (slot + np.uintp(1)) & mask
        table[2 * slot], table[2 * slot + np.uintp(1)] = word, np.uint64(number + 1)


@lru_cache(maxsize=2)
def _hashing(code: np.dtype) -> tuple[Kernel, Kernel]:
    given, table = (
        array_type(np.dtype(np.uint64), True, "C"),
        array_type(np.dtype(np.uint64), layout="C"),
    )
    rows, first_rows, word = array_type(ROW, layout="C"), array_type(WORD, layout="C"), types.int64
    walk = given, rows, word, word, word, word, word, table, first_rows
    insert = entry(insert_words, (*walk, array_type(code, layout="C")))
    return insert, entry(reinsert_words, (given, first_rows, word, table))
