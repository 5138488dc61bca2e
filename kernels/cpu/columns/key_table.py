"""A table of keys for several calls: distinct words or texts of several arrays, numbered as they come."""

import numpy as np

from ..core.launch import WORD, empty, run_kernel
from .factorize import factorize
from .hashes import SPACE, hash_texts, hashing, numbered
from .texts import WORK, Texts, as_texts, hashes_of, take_texts

NO_ROWS = np.empty(0, WORD)
"""The first rows of words that are indexed by number."""


class KnownTexts:
    """Texts one after the other, with room for more."""

    def __init__(self) -> None:
        self._offsets, self._data = np.zeros(SPACE, WORD), np.empty(SPACE, np.uint8)

    def texts(self, count: int) -> Texts:
        """Return the first texts."""
        return self._offsets[: count + 1], self._data.ctypes.data

    def append(self, known: int, offsets: np.ndarray, data: np.ndarray) -> None:
        """Add texts after the first `known`."""
        begin, count = int(self._offsets[known]), len(offsets) - 1
        self._offsets = _with_room(self._offsets, known + 1 + count)
        self._data = _with_room(self._data, begin + len(data))
        self._offsets[known : known + 1 + count] = offsets + begin
        self._data[begin : begin + len(data)] = data


class KeyTable:
    """Distinct words or texts of several arrays, numbered as they are met; see `kernels.keys.KeyTable`."""

    def __init__(self) -> None:
        self.known = 0
        self._words, self._texts = np.empty(SPACE, np.uint64), KnownTexts()
        self._slots = np.zeros(4 * SPACE, np.uint64)

    def number_words(self, words: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Return the number of each word, and the rows of those that are new; see `kernels.keys.KeyTable`."""
        words = np.require(words, requirements=["C", "A"])
        codes, rest = self._looked_up(words, None)
        if not len(rest):
            return codes, rest
        first = self._new(codes, rest, *numbered(words[rest], None)[:2])
        self._add(words[first])
        return codes, first

    def number_texts(self, offsets: np.ndarray, data: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Return the number of each text, and the rows of those that are new; see `kernels.keys.KeyTable`."""
        data = np.ascontiguousarray(data)
        texts = as_texts(offsets, data)
        words = hashes_of(texts, len(data))
        codes, rest = self._looked_up(words, texts)
        if not len(rest):
            return codes, rest
        first = self._new(codes, rest, *hash_texts(*take_texts(offsets, data, rest)))
        self._texts.append(self.known, *take_texts(offsets, data, first))
        self._add(words[first])
        return codes, first

    def _looked_up(self, words: np.ndarray, texts: Texts | None) -> tuple[np.ndarray, np.ndarray]:
        """Return the number of each row, and the rows that have none yet."""
        codes = empty(len(words), np.dtype(np.int32))
        known, offset, wide = None, None, None
        if texts is not None:
            known, offset, wide = self._texts.texts(self.known), texts[0].dtype, WORD
        _, _, look_up = hashing(codes.dtype, offset, wide)
        run_kernel(WORK * len(words), look_up, words, texts, known, self._slots, NO_ROWS, codes)
        return codes, np.flatnonzero(codes < 0)

    def _new(
        self, codes: np.ndarray, rest: np.ndarray, found: np.ndarray, groups: int
    ) -> np.ndarray:
        """Write the numbers of rows of new keys, given those of some order; return the first row of each new key."""
        found, first = factorize(found, groups, check=False)
        order = np.argsort(first)
        numbers = np.empty(len(order), codes.dtype)
        numbers[order] = np.arange(self.known, self.known + len(order))
        codes[rest] = numbers[found]
        rows: np.ndarray = rest[first[order]]
        return rows

    def _add(self, words: np.ndarray) -> None:
        """Number words that are not known."""
        before, self.known = self.known, self.known + len(words)
        self._words = _with_room(self._words, self.known)
        self._words[before : self.known] = words
        if 4 * len(self._words) > len(self._slots):
            self._slots, before = np.zeros(4 * len(self._words), np.uint64), 0
        _, reinsert, _ = hashing(np.dtype(np.int32), None, None)
        reinsert(self._words, NO_ROWS, before, self.known, self._slots)


def _with_room(array: np.ndarray, count: int) -> np.ndarray:
    """Return an array with room for `count` items: itself, or a copy that is twice, four times, ... as long."""
    if count <= len(array):
        return array
    larger = np.empty(len(array) << (-(-count // len(array)) - 1).bit_length(), array.dtype)
    larger[: len(array)] = array
    return larger
