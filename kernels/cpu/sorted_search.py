"""Where sorted needles belong among sorted values of NumPy arrays: threads merge parts of one length."""

# Numba reads these functions; annotations would say less than its own types do.
# mypy: disable-error-code="no-untyped-def"

from functools import lru_cache

import numba
import numpy as np

from ..jit import OPTIONS, cached_njit
from .engine import TICKET
from .launch import CONTROL, WORD, Kernel, array_type, entry, run_kernel
from .memory import borrow, take_ticket
from .outputs import empty

PART = 1 << 16
"""Needles and values that a thread merges at once."""

AHEAD_OF_TIMES = np.uint64((1 << 63) - 1)
"""What is added to the bits of times, so that they are unsigned integers of their order, of which NaT is the last."""


def searchsorted_sorted(needles: np.ndarray, haystack: np.ndarray, *, right: bool) -> np.ndarray:
    """Return where needles would be inserted; see `kernels.searchsorted_sorted`."""
    out = empty(len(needles), WORD)
    sides = [_ordered(side) for side in (needles, haystack)]
    run_kernel(len(needles) + len(haystack), _merging(sides[0].dtype), *sides, right, out)
    return out


def _ordered(array: np.ndarray) -> np.ndarray:
    """Return numbers of the same order that Numba has."""
    if array.dtype.kind in "mM":
        return array.view(np.uint64) + AHEAD_OF_TIMES
    return array.astype(np.float32) if array.dtype == np.float16 else array


@numba.njit(**OPTIONS)
def _less(a, b):
    """Tell whether a value is less than another; NaN is the largest."""
    return (a < b) | ((b != b) & (a == a))


@numba.njit(**OPTIONS)
def _comes(needle, value, right):
    """Tell whether a needle comes before a value where both are merged."""
    return _less(needle, value) if right else not _less(value, needle)


@numba.njit(**OPTIONS)
def _needles_before(needles, haystack, step, right):
    """Return how many of the first elements of the merged sides, so many of them, are needles."""
    low, high = max(step - len(haystack), 0), min(step, len(needles))
    while low < high:
        middle = (low + high) // 2
        if _comes(needles[middle], haystack[step - 1 - middle], right):
            low = middle + 1
        else:
            high = middle
    return low


@cached_njit
def merge(needles, haystack, right, out, control):
    """Write how many values come before each needle, part by part of the merged sides."""
    needles, haystack = borrow(needles), borrow(haystack)
    out, control = borrow(out), borrow(control)
    length = len(needles) + len(haystack)
    while True:
        begin = take_ticket(control, TICKET) * PART
        if begin >= length:
            break
        i = _needles_before(needles, haystack, begin, right)
        stop = _needles_before(needles, haystack, min(begin + PART, length), right)
        j = begin - i
        while i < stop:
            needle = needles[i]
            while j < len(haystack) and not _comes(needle, haystack[j], right):
                j += 1
            out[i] = j
            i += 1


@lru_cache(maxsize=32)
def _merging(dtype: np.dtype) -> Kernel:
    side = array_type(dtype, True)
    return entry(merge, (side, side, numba.types.boolean, array_type(WORD), CONTROL))
