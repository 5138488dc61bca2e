"""Codes of words and of texts by their hashes.

A hash table for each share of words stays in a core's cache, and one thread makes it: after Balkesen, Teubner, Alonso
and Ozsu, *Main-memory hash joins on multi-core CPUs* (ICDE 2013), parallel radix join. For texts, tables hold hashes of
64 bits, and bytes are compared if hashes are equal.
"""

# Numba reads these functions; annotations would say less than its own types do.
# mypy: disable-error-code="no-untyped-def"

from functools import lru_cache

import numpy as np

from ...compiler import argument_types as types
from ...compiler.functions import cached_njit
from ..core.engine import STATUS, TICKET
from ..core.launch import (
    CONTROL,
    WORD,
    Kernel,
    array_type,
    empty,
    entry,
    helpers_for,
    plain,
    run_kernel,
    run_team,
)
from ..core.memory import borrow, take_ticket
from ..core.shares import ROW, hash_of, part_rows
from .factorize import factorize
from .texts import WORK, Texts, are_one_text, as_texts, hashes_of, texts_type

SLICE = 1 << 14
"""Rows that a thread looks up at once."""

PARTS = 4
"""Tables for each thread: a smaller table stays in its cache."""

TEXT = 2
"""The work of a text in words: half as many texts are worth a table for each part. On 16 cores 200,000 integers of
1,000 values took 1.1 ms in one table and 2.2 in parts, 100,000 texts 10.5 and 12.7."""

SPACE = 1 << 10
"""The initial capacity of a table in words."""

LARGER = 4, 16
"""The factors by which a half full table grows: the least, and the greatest, if nearly all words are new.

10**5 words on one core, all different: 2.2 ms with 4 alone, 1.2 with both."""

SAMPLE = 1 << 14
"""The most rows of a sample from the whole array, which shows whether there are few distinct words."""

PART = 16
"""At most one row in this many is in the sample."""

FEW = 4
"""Words are few if a sample has at least this many rows for each of its words: all threads look words up in its table.

4 million texts of 16 bytes on two cores, milliseconds, in one table by one thread, looked up by two in that of a
sample, and in a table a part: 10 keys 27, 18, 59; 1,000 keys 49, 32, 70; 10**6 keys 422, -, 161."""

RARE = 8
"""At most one row in this many may have a word that is not in the sample, if words are few."""


def hash_codes(words: np.ndarray) -> tuple[np.ndarray, int]:
    """Return codes that are equal where words are, and a number above all of them; see `kernels.keys.hash_codes`."""
    return numbered(words, None)[:2]


def factorize_words(words: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return codes of words, and the first row of each; see `kernels.keys.factorize_words`."""
    codes, above, table = numbered(words.astype(np.uint64, copy=False), None)
    return factorize(codes, above, check=False) if table is None else (codes, table.first_rows)


def hash_texts(offsets: np.ndarray, data: np.ndarray) -> tuple[np.ndarray, int]:
    """Return codes that are equal where texts are, and a number above all of them; see `kernels.keys.hash_texts`."""
    data = np.ascontiguousarray(data)
    texts = as_texts(offsets, data)
    return numbered(hashes_of(texts, len(data)), texts)[:2]


class Table:
    """Distinct words, and texts if there are any, of some rows; writes the codes of rows."""

    def __init__(self, words: np.ndarray, texts: Texts | None, codes: np.ndarray) -> None:
        self._given = words, texts
        self._codes = codes
        offset = None if texts is None else texts[0].dtype
        self._kernels = hashing(codes.dtype, offset, offset)
        self.known = 0
        self._make(SPACE)

    def _make(self, space: int) -> None:
        self._slots, self._first_rows = np.zeros(4 * space, np.uint64), np.empty(space, WORD)

    def insert(
        self, rows: np.ndarray, begin: int, end: int, share: int = 0, count: int = 1
    ) -> None:
        """Number the rows at these positions of a list, or without one, these rows."""
        insert, reinsert, _ = self._kernels
        first = begin
        while True:
            walk = *self._given, rows, begin, end, share, count, self.known
            begin, self.known = insert(*walk, self._slots, self._first_rows, self._codes)
            if begin == end:
                return
            least, most = LARGER
            met, space = self._first_rows, len(self._first_rows)
            expected = self.known * (end - first) // (begin - first)
            while space < min(expected, most * self.known) or space < least * self.known:
                space *= 2
            self._make(space)
            self._first_rows[: self.known] = met[: self.known]
            reinsert(self._given[0], self._first_rows, 0, self.known, self._slots)

    @property
    def first_rows(self) -> np.ndarray:
        """The first row of each word."""
        return self._first_rows[: self.known]

    def look_up(self) -> None:
        """Write the codes of all rows; -1 for unknown words."""
        run_kernel(
            WORK * len(self._codes),
            self._kernels[2],
            *self._given,
            self._given[1],
            self._slots,
            self._first_rows,
            self._codes,
        )


def numbered(words: np.ndarray, texts: Texts | None) -> tuple[np.ndarray, int, Table | None]:
    """Return codes that are equal where words are, and if there are texts, these too; and a number above all.

    The last item is the table of all words, where there is one: codes then have no gaps and are in the order in which
    words are met.
    """
    words = plain(words)
    rows, bounds, count = np.empty(0, ROW), np.array([0, len(words)]), 1
    team = helpers_for(len(words) if texts is None else TEXT * len(words)) + 1
    if team > 1 and 0 < len(words) <= np.iinfo(ROW).max:
        codes = empty(len(words), np.int32 if len(words) < 1 << 31 else np.int64)
        known = _looked_up(Table(words, texts, codes), codes)
        if known:
            return codes, known, None
        count = PARTS * team
        rows, bounds = part_rows(words, count, None)
    codes = empty(len(words), np.int32 if len(words) * count < 1 << 31 else np.int64)
    waiting, found = iter(range(count)), [0]
    only: Table | None = None

    def number(_: bool) -> None:
        nonlocal only
        for share in waiting:  # of all threads: each takes the next
            table = Table(words, texts, codes)
            table.insert(rows, bounds[share], bounds[share + 1], share, count)
            found.append(table.known)
            only = table if count == 1 else None

    run_team(WORK * len(words), np.zeros(STATUS, WORD), number)
    return codes, max(found) * count, only


def _looked_up(table: Table, codes: np.ndarray) -> int:
    """Write the codes of rows of few words; return how many words there are, or 0 if they are not few."""
    sample = min(SAMPLE, len(codes) // PART + 1)
    rows = np.linspace(0, len(codes) - 1, sample).astype(ROW)
    table.insert(rows, 0, sample)
    if table.known > sample // FEW:
        return 0
    table.look_up()
    rest = np.flatnonzero(codes < 0).astype(ROW)
    if len(rest) > len(codes) // RARE:
        return 0
    table.insert(rest, 0, len(rest))
    return table.known


@cached_njit
def insert_words(words, texts, rows, begin, end, share, count, known, table, first_rows, codes):
    """Number the words of a share at these positions; return where the table was full, and the number of known words.

    Number `i` becomes the code ``i * count + share``. A slot of the table holds a word and its number plus one.
    """
    words, texts, rows, table = borrow(words), borrow(texts), borrow(rows), borrow(table)
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
            if table[2 * slot] == word and are_one_text(
                texts, np.int64(at), texts, first_rows[np.uintp(number - 1)]
            ):
                break
            slot = (slot + np.uintp(1)) & mask
        codes[at] = (number - 1) * count + share
    return end, known


@cached_njit
def look_up_words(words, texts, known, table, first_rows, codes, control):
    """Write the number of the word of each row, or -1 if the table has none.

    The known text of a number is that of its first row or, if there are no first rows, the text at that number.
    """
    words, texts, table, known = borrow(words), borrow(texts), borrow(table), borrow(known)
    first_rows, codes, control = borrow(first_rows), borrow(codes), borrow(control)
    mask = np.uintp(len(table) // 2 - 1)
    while True:
        start = take_ticket(control, TICKET) * SLICE
        if start >= len(codes):
            break
        for at in range(start, min(len(codes), start + SLICE)):
            word = words[np.uintp(at)]
            slot = np.uintp(hash_of(word)) & mask
            while True:
                number = np.int64(table[2 * slot + np.uintp(1)]) - 1
                if number < 0:
                    break
                row = first_rows[np.uintp(number)] if len(first_rows) else number
                if table[2 * slot] == word and are_one_text(texts, np.int64(at), known, row):
                    break
                slot = (slot + np.uintp(1)) & mask
            codes[np.uintp(at)] = number


@cached_njit
def reinsert_words(words, first_rows, begin, end, table):
    """Insert the words of these numbers into a table without them; without first rows, words are indexed by number."""
    words, first_rows, table = borrow(words), borrow(first_rows), borrow(table)
    mask = np.uintp(len(table) // 2 - 1)
    for number in range(begin, end):
        row = first_rows[np.uintp(number)] if len(first_rows) else number
        word = words[np.uintp(row)]
        slot = np.uintp(hash_of(word)) & mask
        while table[2 * slot + np.uintp(1)] != 0:
            slot = (slot + np.uintp(1)) & mask
        table[2 * slot], table[2 * slot + np.uintp(1)] = word, np.uint64(number + 1)


@lru_cache(maxsize=8)
def hashing(
    code: np.dtype, offset: np.dtype | None, known_offset: np.dtype | None
) -> tuple[Kernel, Kernel, Kernel]:
    """Return the kernels that insert, insert again and look up, for texts and known texts with such offsets."""
    given, table = (
        array_type(np.dtype(np.uint64), True, "C"),
        array_type(np.dtype(np.uint64), layout="C"),
    )
    texts, known = (
        types.none if each is None else texts_type(each) for each in (offset, known_offset)
    )
    rows, first_rows, word = array_type(ROW, layout="C"), array_type(WORD, layout="C"), types.int64
    out = array_type(code, layout="C")
    walk = rows, word, word, word, word, word
    insert = entry(insert_words, (given, texts, *walk, table, first_rows, out))
    reinsert = entry(reinsert_words, (given, first_rows, word, word, table))
    look_up = entry(look_up_words, (given, texts, known, table, first_rows, out, CONTROL))
    return insert, reinsert, look_up
