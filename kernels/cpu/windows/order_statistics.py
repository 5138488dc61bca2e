"""Order statistics of windows of NumPy arrays: of long windows in pieces, each with a wavelet matrix of its rows.

The matrix has the bits of the places of values. A word has the bits of 32 rows and, in its upper half, the number of
earlier rows with a 0. On the next level, rows with a 0 come first, in their order, and then those with a 1.
"""

# Numba reads these functions; annotations would say less than its own types do.
# mypy: disable-error-code="no-untyped-def"

from functools import lru_cache, partial
from typing import NamedTuple

import numpy as np

from ...compiler import argument_types as types
from ...compiler.functions import ALLOCATING, cached_njit, intrinsic, njit
from ...compiler.late import numba
from ...options import RANKS, Distinct, OrderStatistic, Quantile, SortKey
from ...windows import BoundWindows, Windows, pieces
from ..core.engine import FAILED, STATUS, TICKET
from ..core.launch import CONTROL, WORD, Kernel, array_type, empty, entry, run_kernel, run_team
from ..core.memory import borrow, take_ticket
from ..sort.sort import sort
from .sorted_windows import LONGEST, between, rank_of, share_of, sorted_windows

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
    """The distinct values, in order."""

    def levels(self) -> tuple[np.ndarray, np.ndarray]:
        """Return the words of each level, from the highest bit on, and the number of rows with a 0 there."""
        rows, count = len(self.codes), max(len(self.distinct) - 1, 0).bit_length()
        words = empty(count * (rows // 32 + 1), BITS).reshape(count, rows // 32 + 1)
        zeros = np.zeros(count, BITS)
        buffers = [self.codes.copy(), empty(rows, CODE)]
        _building()(*buffers, words, zeros)
        return words, zeros


def matrix(values: np.ndarray) -> Matrix:
    """Return the order of values without NaN."""
    ordered, rows = sort([SortKey(values)], [values], None, positions=True)
    codes, distinct = empty(len(values), CODE), empty(len(values), values.dtype)
    count = _numbering()(ordered, rows, codes, distinct)
    return Matrix(codes, distinct[:count])


@cached_njit
def number_values(ordered, rows, codes, distinct):
    """Write the place of each row's value among the distinct values, and the distinct values; return their number."""
    ordered, rows, codes, distinct = borrow(ordered), borrow(rows), borrow(codes), borrow(distinct)
    count = 0
    for i in range(len(rows)):
        if i == 0 or ordered[i] != ordered[i - 1]:
            distinct[count] = ordered[i] + 0.0  # whichever zero comes first
            count += 1
        codes[np.uintp(rows[i])] = count - 1
    return count


@cached_njit
def build(codes, parted, words, zeros):
    """Write the words of each level, and partition the rows by each bit in turn."""
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

    return numba.types.uint64(numba.types.uint64), codegen


@njit
def zeros_before(words, level, row):
    """Count the rows before a row that have a 0 on a level."""
    word = words[level, row >> WIDTH]
    return (word >> HALF) + _population(~word & ((ONE << (row & REST)) - ONE))


@njit
def _either(is_one, one, zero):
    """Return one of two words without a branch, which would be mispredicted half of the time."""
    return zero ^ ((one ^ zero) & (ZERO - is_one))


@njit
def select(words, zeros, lows, highs, places, codes, lanes):
    """Follow ranges of rows down the levels to the codes at their places in order, counted from 0; many at once.

    Ranges are given as low and high rows, which are overwritten.
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


@njit
def count_less(words, zeros, lows, highs, codes, less, lanes):
    """Follow ranges of rows down the levels to a code each: count the rows with smaller codes.

    In the end, the ranges are the rows with the code itself.
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


PIECE = 1 << 16
"""The fewest windows of a piece: the matrix of their rows stays in a core's cache."""

SLICE = 1 << 12
"""Windows that a thread takes at once."""

BATCH = 16
"""Windows that are followed down a matrix together, so that their memory accesses overlap."""

VALUES, ROWS = array_type(np.dtype(np.float64), layout="C"), array_type(WORD, layout="C")


def order_statistics(
    statistic: OrderStatistic, values: np.ndarray, windows: Windows, least: int
) -> np.ndarray:
    """Return an order statistic of each window; see `kernels.order_statistics`.

    Raises
    ------
    ValueError
        If bounds decrease.
    """
    if isinstance(windows, BoundWindows):
        for bounds in windows.bounds:
            if (bounds[1:] < bounds[:-1]).any():
                raise ValueError("starts and stops must not decrease")
        if windows.around[1] > LONGEST:
            windows = windows.tightened(len(values), np.arange)
    if windows.around[1] <= LONGEST:
        return sorted_windows(statistic, values, windows, least)
    found = pieces(windows, len(values), PIECE, np.arange)
    count = found[-1][1] if found else 0
    out = empty(count, values.dtype)
    alone, queue, control = len(found) < 2, iter(found), np.zeros(STATUS, WORD)

    def work(_: bool) -> None:
        for first, last, low, high in queue:
            if control[FAILED]:
                return
            starts, stops = windows.limits(np.arange(first, last), len(values))
            answers = out[first:last]
            _answer(statistic, values[low:high], starts - low, stops - low, least, answers, alone)

    run_team(0 if alone else count, control, work)
    return out


def _answer(
    statistic: OrderStatistic,
    values: np.ndarray,
    starts: np.ndarray,
    stops: np.ndarray,
    least: int,
    out: np.ndarray,
    alone: bool,
) -> None:
    """Write the answers of the windows of a piece."""
    present = np.isfinite(values)
    without = None
    if not present.all():
        before = np.zeros(len(values) + 1, WORD)
        np.cumsum(present, out=before[1:])
        without = before[stops] == before[np.maximum(stops - 1, 0)]  # ends with a row without value
        values, starts, stops = values[present], before[starts], before[stops]
    values = np.require(values, requirements=["C", "A"])
    order = matrix(values)
    if isinstance(statistic, Distinct):
        _counting()(order.codes, starts, stops, least, out)
        return
    levels = order.levels()
    elements = len(out) if alone else 0
    if isinstance(statistic, Quantile):
        q, way = statistic.q, statistic.way
        kernel = _quantiles()
        run_kernel(elements, kernel, *levels, order.distinct, starts, stops, q, way, least, out)
        return
    how = *RANKS[statistic.method], statistic.ascending, statistic.pct
    run_kernel(elements, _ranks(), *levels, order.codes, starts, stops, *how, least, out)
    if without is not None:
        out[without] = np.nan


@partial(cached_njit, options=ALLOCATING)
def quantiles(words, zeros, distinct, starts, stops, q, way, least, out, control):
    """Write a quantile of each window: followed down the matrix, to one value or to two neighbours."""
    words, zeros, distinct, control = (
        borrow(words),
        borrow(zeros),
        borrow(distinct),
        borrow(control),
    )
    starts, stops, out = borrow(starts), borrow(stops), borrow(out)
    lows, highs = np.empty(2 * BATCH, np.uint64), np.empty(2 * BATCH, np.uint64)
    places, codes = np.empty(2 * BATCH, np.uint64), np.empty(2 * BATCH, np.uint64)
    shares = np.empty(BATCH)
    while True:
        begin = take_ticket(control, TICKET) * SLICE
        if begin >= len(out):
            break
        end = min(begin + SLICE, len(out))
        for first in range(begin, end, BATCH):
            count, lies_between = min(BATCH, end - first), False
            for lane in range(count):
                start, stop = starts[first + lane], stops[first + lane]
                at = q * max(stop - start - 1, 0)
                place = int(at)
                share = share_of(way, at - place, place)
                shares[lane] = share
                lies_between |= 0.0 < share < 1.0
                for of in (lane, count + lane):
                    lows[of], highs[of] = np.uint64(start), np.uint64(stop)
                    places[of] = np.uint64(place + (share == 1.0 or (of > lane and share > 0.0)))
            select(words, zeros, lows, highs, places, codes, count * (1 + lies_between))
            for lane in range(count):
                found = stops[first + lane] - starts[first + lane]
                if found < max(least, 1):
                    out[first + lane] = np.nan
                    continue
                value, share = distinct[codes[lane]], shares[lane]
                if 0.0 < share < 1.0:
                    value = between(value, distinct[codes[count + lane]], share, way)
                out[first + lane] = value


@partial(cached_njit, options=ALLOCATING)
def ranks(words, zeros, codes, starts, stops, added, share, ascending, pct, least, out, control):
    """Write the place of the value of each window's last row."""
    words, zeros, codes, control = borrow(words), borrow(zeros), borrow(codes), borrow(control)
    starts, stops, out = borrow(starts), borrow(stops), borrow(out)
    lows, highs = np.empty(BATCH, np.uint64), np.empty(BATCH, np.uint64)
    own, less = np.empty(BATCH, np.uint64), np.empty(BATCH, np.uint64)
    while True:
        begin = take_ticket(control, TICKET) * SLICE
        if begin >= len(out):
            break
        end = min(begin + SLICE, len(out))
        for first in range(begin, end, BATCH):
            count = min(BATCH, end - first)
            for lane in range(count):
                start, stop = starts[first + lane], stops[first + lane]
                lows[lane], highs[lane] = np.uint64(start), np.uint64(stop)
                own[lane] = codes[np.uint64(stop - 1)] if start < stop else ZERO
            count_less(words, zeros, lows, highs, own, less, count)
            for lane in range(count):
                found = float(stops[first + lane] - starts[first + lane])
                if found < max(least, 1):
                    out[first + lane] = np.nan
                    continue
                equal, before = float(highs[lane] - lows[lane]), float(less[lane])
                out[first + lane] = rank_of(before, equal, found, added, share, ascending, pct)


@partial(cached_njit, options=ALLOCATING)
def count_distinct(codes, starts, stops, least, out):
    """Write the number of distinct codes of each window, while rows enter and leave windows."""
    codes, starts, stops, out = borrow(codes), borrow(starts), borrow(stops), borrow(out)
    rows = np.zeros(len(codes), np.int64)  # of each code
    low, high, different = 0, 0, 0
    for i in range(len(out)):
        start, stop = starts[i], stops[i]
        for row in range(high, stop):
            code = np.uintp(codes[row])
            different += rows[code] == 0
            rows[code] += 1
        for row in range(low, start):
            code = np.uintp(codes[row])
            rows[code] -= 1
            different -= rows[code] == 0
        low, high = start, stop
        out[i] = different if stop - start >= least else np.nan


@lru_cache(maxsize=1)
def _quantiles() -> Kernel:
    asked = types.float64, types.int64, types.int64
    return entry(quantiles, (*LEVELS, VALUES, ROWS, ROWS, *asked, VALUES, CONTROL))


@lru_cache(maxsize=1)
def _ranks() -> Kernel:
    asked = types.float64, types.float64, types.boolean, types.boolean, types.int64
    return entry(ranks, (*LEVELS, CODES, ROWS, ROWS, *asked, VALUES, CONTROL))


@lru_cache(maxsize=1)
def _counting() -> Kernel:
    return entry(count_distinct, (CODES, ROWS, ROWS, types.int64, VALUES))
