"""The wavelet matrix of the places of values: which rows of any range come first in order, bit by bit.

A word has the bits of 32 rows and, in its upper half, how many rows before it have a 0. Rows with a 0 come first on the
next level, in their order, and then those with a 1.
"""

# Numba reads these functions; annotations would say less than its own types do.
# mypy: disable-error-code="no-untyped-def"

from functools import lru_cache
from typing import NamedTuple

import numba
import numpy as np
from numba.core import types
from numba.core.extending import intrinsic

from ..jit import OPTIONS, cached_njit
from ..sort_key import SortKey
from .launch import WORD, Kernel, array_type, entry
from .memory import borrow
from .outputs import empty
from .sort import sort

WIDTH, HALF, REST = np.uint64(5), np.uint64(32), np.uint64(31)
"""A word has ``1 << WIDTH`` rows; a row is in one of them at ``row & REST``."""

ZERO, ONE = np.uint64(0), np.uint64(1)

CODE, BITS = np.dtype(np.uint32), np.dtype(np.uint64)

CODES = array_type(CODE, layout="C")
LEVELS = types.Array(types.uint64, 2, "C"), array_type(BITS, layout="C")
"""The types of `Matrix.levels`."""


class Matrix(NamedTuple):
    """The order of values."""

    codes: np.ndarray
    """The place of each row's value among the distinct values."""
    distinct: np.ndarray
    """These, in order."""

    def levels(self) -> tuple[np.ndarray, np.ndarray]:
        """Return the words of each level, from the highest bit on, and how many rows have a 0 there."""
        rows, count = len(self.codes), max(len(self.distinct) - 1, 0).bit_length()
        words = empty(count * (rows // 32 + 1), BITS).reshape(count, rows // 32 + 1)
        zeros = np.zeros(count, BITS)
        buffers = [self.codes.copy(), empty(rows, CODE)]
        _building()(*buffers, words, zeros)
        return words, zeros


def matrix(values: np.ndarray) -> Matrix:
    """Return the order of values, of which none is NaN."""
    ordered, rows = sort([SortKey(values)], [values], None, positions=True)
    codes, distinct = empty(len(values), CODE), empty(len(values), values.dtype)
    count = _numbering()(ordered, rows, codes, distinct)
    return Matrix(codes, distinct[:count])


@cached_njit
def number_values(ordered, rows, codes, distinct):
    """Write the place of each row's value among the distinct ones, and these; return how many there are."""
    ordered, rows, codes, distinct = borrow(ordered), borrow(rows), borrow(codes), borrow(distinct)
    count = 0
    for i in range(len(rows)):
        if i == 0 or ordered[i] != ordered[i - 1]:
            distinct[count] = ordered[i]
            count += 1
        codes[np.uintp(rows[i])] = count - 1
    return count


@cached_njit
def build(codes, parted, words, zeros):
    """Write the words of each level, and part the rows by each bit in turn."""
    codes, parted, words, zeros = borrow(codes), borrow(parted), borrow(words), borrow(zeros)
    rows, levels = len(codes), len(zeros)
    for level in range(levels):
        shift, count = np.uint32(levels - 1 - level), 0
        for i in range(rows):
            count += (codes[i] >> shift) & 1
        zeros[level] = rows - count
        clear, set_ = ZERO, np.uint64(rows - count)  # where the next row goes whose bit is 0, and 1
        for word in range(words.shape[1]):
            bits, before, first = ZERO, clear, word * 32
            for i in range(first, min(first + 32, rows)):
                bit = np.uint64((codes[i] >> shift) & 1)
                bits |= bit << np.uint64(i - first)
                parted[set_ if bit else clear] = codes[i]
                set_ += bit
                clear += ONE - bit
            words[level, word] = (before << HALF) | bits
        codes, parted = parted, codes


@intrinsic
def _population(typing_context, word):
    """Count the bits of a word that are 1."""

    def codegen(context, builder, signature, args):
        return builder.ctpop(args[0])

    return types.uint64(types.uint64), codegen


@numba.njit(**OPTIONS)
def zeros_before(words, level, row):
    """Count the rows before one whose bit on a level is 0."""
    word = words[level, row >> WIDTH]
    return (word >> HALF) + _population(~word & ((ONE << (row & REST)) - ONE))


@numba.njit(**OPTIONS)
def _either(is_one, one, zero):
    """Return one of two words, without a branch that is guessed wrongly half of the time."""
    return zero ^ ((one ^ zero) & (ZERO - is_one))


@numba.njit(**OPTIONS)
def select(words, zeros, lows, highs, places, codes, lanes):
    """Follow ranges of rows down the levels to the codes at their places in order, counted from 0; many at once.

    Ranges are given as a low and a high row each, and lost.
    """
    for lane in range(lanes):
        codes[lane] = ZERO
    for level in range(len(zeros)):
        ones = zeros[level]
        for lane in range(lanes):
            low, high, place = lows[lane], highs[lane], places[lane]
            first, last = zeros_before(words, level, low), zeros_before(words, level, high)
            zero = last - first
            is_one = np.uint64(place >= zero)
            lows[lane] = _either(is_one, ones + low - first, first)
            highs[lane] = _either(is_one, ones + high - last, last)
            places[lane] = place - zero * is_one
            codes[lane] = (codes[lane] << ONE) | is_one


@numba.njit(**OPTIONS)
def count_less(words, zeros, lows, highs, codes, less, lanes):
    """Follow ranges of rows down the levels to a code each: count the rows whose codes are less.

    What is left of the ranges are the rows with the code itself.
    """
    for lane in range(lanes):
        less[lane] = ZERO
    for level in range(len(zeros)):
        ones, shift = zeros[level], np.uint64(len(zeros) - 1 - level)
        for lane in range(lanes):
            low, high = lows[lane], highs[lane]
            first, last = zeros_before(words, level, low), zeros_before(words, level, high)
            is_one = (codes[lane] >> shift) & ONE != ZERO
            lows[lane] = ones + low - first if is_one else first
            highs[lane] = ones + high - last if is_one else last
            less[lane] += last - first if is_one else ZERO


@lru_cache(maxsize=1)
def _numbering() -> Kernel:
    values, rows = array_type(np.dtype(np.float64), layout="C"), array_type(WORD, layout="C")
    return entry(number_values, (values, rows, CODES, values))


@lru_cache(maxsize=1)
def _building() -> Kernel:
    return entry(build, (CODES, CODES, *LEVELS))
