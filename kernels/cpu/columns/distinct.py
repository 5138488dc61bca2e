"""Numbers of distinct words in segments of a NumPy array, by a hash table for each segment."""

# Numba reads these functions; annotations would say less than its own types do.
# mypy: disable-error-code="no-untyped-def"

from functools import lru_cache, partial

import numpy as np

from ...compiler import argument_types as types
from ...compiler.functions import ALLOCATING, cached_njit
from ..core.engine import TICKET
from ..core.launch import CONTROL, WORD, Kernel, array_type, entry, run_kernel
from ..core.memory import borrow, take_ticket
from ..core.shares import hash_of, segments_at_once

_SIGN, _INFINITY, _EVERY = 1 << 63, 0x7FF << 52, (1 << 64) - 1
"""The words of -0.0, of infinity, and of all bits; no word without a sign is larger than the last."""

ALL = np.uint64(_EVERY)

WORK = 8
"""The work of a word in elements of a scan, which decides how many words are worth a thread."""


def count_distinct(words: np.ndarray, ends: np.ndarray, missing: np.ndarray | None) -> np.ndarray:
    """Return how many distinct words each segment has; see `kernels.keys.count_distinct`."""
    words, ends = (np.require(array, requirements=["C", "A"]) for array in (words, ends))
    sign, most = (_SIGN, _INFINITY) if words.dtype.kind == "f" else (0, _EVERY)
    count = len(ends) - 1
    left_out = np.empty(0, np.uint8) if missing is None else np.ascontiguousarray(missing)
    out, share = np.zeros(count, np.int64), segments_at_once(count, len(words))
    given = words.view(np.uint64), ends, left_out.view(np.uint8), sign, most
    run_kernel(WORK * len(words), _counting(), *given, share, out)
    return out


@partial(cached_njit, options=ALLOCATING)
def count_words(words, ends, missing, sign, most, share, out, control):
    """Count the distinct words of segments, without missing ones; a slot of a table is empty if it is 0.

    Words above `most`, without their sign, count as one word (NaN), and so do zeros of both signs.
    """
    words, ends, missing = borrow(words), borrow(ends), borrow(missing)
    out, control = borrow(out), borrow(control)
    table = np.empty(64, np.uint64)
    while True:
        first = take_ticket(control, TICKET) * share
        if first >= len(out):
            break
        for segment in range(first, min(len(out), first + share)):
            start, end = ends[segment], ends[segment + 1]
            slots = 64
            while slots < 2 * (end - start):
                slots *= 2
            if slots > len(table):
                table = np.empty(slots, np.uint64)
            table[:slots] = 0
            mask, known, has_zero = np.uintp(slots - 1), np.int64(0), np.int64(0)
            for at in range(start, end):
                if len(missing) and missing[np.uintp(at)]:
                    continue
                word = words[np.uintp(at)]
                magnitude = word & ~sign
                if magnitude == 0:
                    has_zero = np.int64(1)
                    continue
                word = ALL if magnitude > most else word
                slot = np.uintp(hash_of(word)) & mask
                while table[slot] != 0 and table[slot] != word:
                    slot = (slot + np.uintp(1)) & mask
                known += np.int64(table[slot] == 0)
                table[slot] = word
            out[segment] = known + has_zero


@lru_cache(maxsize=1)
def _counting() -> Kernel:
    words, flags = (array_type(np.dtype(d), True, "C") for d in (np.uint64, np.uint8))
    numbers = array_type(WORD, layout="C")
    bits = types.uint64, types.uint64
    return entry(count_words, (words, numbers, flags, *bits, types.int64, numbers, CONTROL))
