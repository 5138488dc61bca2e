"""Texts in the layout of Arrow: their hashes, and words in the same order."""

# Numba reads these functions; annotations would say less than its own types do.
# mypy: disable-error-code="no-untyped-def"

import secrets
from functools import lru_cache

import numpy as np

from ...compiler import argument_types as types
from ...compiler.functions import cached_njit, njit
from ..core.engine import TICKET
from ..core.launch import CONTROL, WORD, Kernel, array_type, empty, entry, run_kernel
from ..core.memory import borrow, read, take_ticket, write
from ..core.shares import hash_of

SLICE = 1 << 14
"""Texts that a thread reads at once."""

WORK = 4
"""The least work of a text, or of a word in a table, in elements of a scan."""

SEED = np.uint64(secrets.randbits(64))
"""The seed of hashes, so that nobody can choose texts with equal hashes."""

Texts = tuple[np.ndarray, int]
"""The start of each text and the end of the last one, and the address of the bytes."""


def as_texts(offsets: np.ndarray, data: np.ndarray) -> Texts:
    """Return texts for kernels; the bytes are contiguous, and must outlive the answer."""
    return np.require(offsets, requirements=["C", "A"]), data.ctypes.data


def texts_type(offset: np.dtype) -> types.Type:
    """The type of `Texts` with offsets of a dtype."""
    return types.Tuple((array_type(offset, True, "C"), types.int64))


def hashes_of(texts: Texts, size: int) -> np.ndarray:
    """Return the hash of each text; raises a ValueError for texts that are not within `size` bytes."""
    words = empty(len(texts[0]) - 1, np.uint64)
    _read(_hashing(texts[0].dtype), texts, size, SEED, words)
    return words


def text_words(offsets: np.ndarray, data: np.ndarray, count: int) -> np.ndarray:
    """Return the first bytes of texts as words that are in their order; see `kernels.keys.text_words`."""
    data = np.ascontiguousarray(data)
    texts = as_texts(offsets, data)
    words = np.empty((count, len(offsets) - 1), np.uint64)
    _read(_wording(offsets.dtype), texts, len(data), words)
    return words


def take_texts(
    offsets: np.ndarray, data: np.ndarray, rows: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """Return the texts of these rows, and an empty one for negative rows; see `kernels.keys.take_texts`."""
    data = np.ascontiguousarray(data)
    texts, rows = as_texts(offsets, data), np.require(rows, requirements=["C", "A"])
    measuring, copying = _taking(offsets.dtype)
    starts, lengths = empty(len(rows), WORD), empty(len(rows), WORD)
    wrong = np.full(1, -1, WORD)
    run_kernel(WORK * len(rows), measuring, texts, len(data), rows, starts, lengths, wrong)
    if wrong[0] >= 0:
        raise IndexError(f"rows must be of texts within the bytes, found {rows[wrong[0]]}")
    found = np.zeros(len(rows) + 1, WORD)
    np.cumsum(lengths, out=found[1:])
    out = empty(int(found[-1]), np.uint8)
    run_kernel(WORK * len(rows), copying, texts[1], starts, found, out.ctypes.data)
    return found, out


def _read(kernel: Kernel, texts: Texts, size: int, *given: object) -> None:
    offsets, wrong = texts[0], np.full(1, -1, WORD)
    run_kernel(WORK * (len(offsets) - 1), kernel, texts, size, *given, wrong)
    if wrong[0] >= 0:
        begin, end = offsets[wrong[0] : wrong[0] + 2].tolist()
        raise ValueError(
            f"offsets must not decrease, nor go beyond the {size} bytes; text {wrong[0]} is from {begin} to {end}"
        )


@njit
def are_one_text(texts, a, others, b):
    """Return whether a text and one of others are equal; without texts, that they are."""
    if texts is None:
        return True
    offsets, address = texts
    ends, place = others
    first, second = np.int64(offsets[np.uintp(a)]), np.int64(ends[np.uintp(b)])
    count = np.int64(offsets[np.uintp(a + 1)]) - first
    if np.int64(ends[np.uintp(b + 1)]) - second != count:
        return False
    first, second = address + first, place + second
    if count < 8:
        return short_word(first, count) == short_word(second, count)
    last = count - 8
    at = np.int64(0)
    while at < last:
        if read(first + at, np.uint64(0)) != read(second + at, np.uint64(0)):
            return False
        at += 8
    return read(first + last, np.uint64(0)) == read(second + last, np.uint64(0))


@njit
def short_word(address, count):
    """Return the bytes of a text of less than 8 bytes as a word; different texts of one length have different words."""
    if count >= 4:
        high = np.uint64(read(address + count - 4, np.uint32(0)))
        return np.uint64(read(address, np.uint32(0))) | high << np.uint64(32)
    word = np.uint64(0)
    for at in range(count):
        word = word << np.uint64(8) | np.uint64(read(address + at, np.uint8(0)))
    return word


@njit
def hash_of_text(address, count, seed):
    """Return a hash of 64 bits: words of 8 bytes are mixed in turn; the last word may overlap the one before."""
    found = seed ^ np.uint64(count)
    if count < 8:
        return hash_of(found ^ short_word(address, count))
    last = address + count - 8
    while address < last:
        found = hash_of(found ^ read(address, np.uint64(0)))
        address += 8
    return hash_of(found ^ read(last, np.uint64(0)))


@njit
def _bounds(offsets, row, size):
    """Return the start and the end of a text; -1 if the row has no text, or the text is not within `size` bytes."""
    if row < len(offsets) - 1:
        begin, end = np.int64(offsets[np.uintp(row)]), np.int64(offsets[np.uintp(row + 1)])
        if 0 <= begin <= end <= size:
            return begin, end
    return np.int64(-1), np.int64(-1)


@cached_njit
def write_hashes(texts, size, seed, words, wrong, control):
    """Write the hash of each text; in `wrong`, a text that is not within the `size` bytes."""
    texts, words, wrong, control = borrow(texts), borrow(words), borrow(wrong), borrow(control)
    offsets, address = texts
    while True:
        start = take_ticket(control, TICKET) * SLICE
        if start >= len(words):
            break
        for at in range(start, min(len(words), start + SLICE)):
            begin, end = _bounds(offsets, at, size)
            if begin < 0:
                wrong[0] = at
                break
            words[at] = hash_of_text(address + begin, end - begin, seed)


@cached_njit
def write_words(texts, size, words, wrong, control):
    """Write the bytes of each text as words, the first byte the most significant, with zeros after the last one."""
    texts, words, wrong, control = borrow(texts), borrow(words), borrow(wrong), borrow(control)
    offsets, address = texts
    count, rows = words.shape
    while True:
        start = take_ticket(control, TICKET) * SLICE
        if start >= rows:
            break
        for at in range(start, min(rows, start + SLICE)):
            begin, end = _bounds(offsets, at, size)
            if begin < 0:
                wrong[0] = at
                break
            for number in range(count):
                word = np.uint64(0)
                for byte in range(begin, min(end, begin + 8)):
                    place = np.uint64(56 - 8 * (byte - begin))
                    word |= np.uint64(read(address + byte, np.uint8(0))) << place
                words[np.uintp(number), np.uintp(at)] = word
                begin = min(end, begin + 8)


@lru_cache(maxsize=2)
def _hashing(offset: np.dtype) -> Kernel:
    words = array_type(np.dtype(np.uint64), layout="C")
    wrong = array_type(WORD, layout="C")
    return entry(
        write_hashes, (texts_type(offset), types.int64, types.uint64, words, wrong, CONTROL)
    )


@lru_cache(maxsize=2)
def _wording(offset: np.dtype) -> Kernel:
    words = types.Array(types.uint64, 2, "C")
    return entry(
        write_words, (texts_type(offset), types.int64, words, array_type(WORD, layout="C"), CONTROL)
    )


@cached_njit
def measure_texts(texts, size, rows, starts, lengths, wrong, control):
    """Write where the texts of rows start and their lengths; in `wrong`, a row without a text within `size` bytes."""
    texts, rows, starts, lengths = borrow(texts), borrow(rows), borrow(starts), borrow(lengths)
    wrong, control = borrow(wrong), borrow(control)
    offsets, _ = texts
    while True:
        start = take_ticket(control, TICKET) * SLICE
        if start >= len(rows):
            break
        for at in range(start, min(len(rows), start + SLICE)):
            row = rows[np.uintp(at)]
            begin, end = np.int64(0), np.int64(0)
            if row >= 0:
                begin, end = _bounds(offsets, row, size)
            if begin < 0:
                wrong[0] = at
                break
            starts[np.uintp(at)], lengths[np.uintp(at)] = begin, end - begin


@cached_njit
def copy_texts(address, starts, ends, place, control):
    """Copy texts at `starts` to a place, one after the other; `ends` has their new starts and the last one's end."""
    starts, ends, control = borrow(starts), borrow(ends), borrow(control)
    while True:
        first = take_ticket(control, TICKET) * SLICE
        if first >= len(starts):
            break
        for at in range(first, min(len(starts), first + SLICE)):
            target = ends[np.uintp(at)]
            count = ends[np.uintp(at + 1)] - target
            if count > 0:
                _copy_text(address + starts[np.uintp(at)], place + target, count)


@njit
def _copy_text(source, target, count):
    """Copy a text in words of 8 bytes; the last word may overlap the one before."""
    if count >= 8:
        last = count - 8
        at = np.int64(0)
        while at < last:
            write(target + at, read(source + at, np.uint64(0)))
            at += 8
        write(target + last, read(source + last, np.uint64(0)))
    elif count >= 4:
        last = count - 4
        first_word, last_word = read(source, np.uint32(0)), read(source + last, np.uint32(0))
        write(target, first_word)
        write(target + last, last_word)
    else:
        for byte in range(count):
            write(target + byte, read(source + byte, np.uint8(0)))


@lru_cache(maxsize=2)
def _taking(offset: np.dtype) -> tuple[Kernel, Kernel]:
    texts, words = texts_type(offset), array_type(WORD, layout="C")
    rows = array_type(WORD, True, "C")
    measuring = entry(measure_texts, (texts, types.int64, rows, words, words, words, CONTROL))
    return measuring, entry(copy_texts, (types.int64, words, words, types.int64, CONTROL))
