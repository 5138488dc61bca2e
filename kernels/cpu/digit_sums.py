"""Scans and reductions by sums of digits (kernels/reproducible.py), block by block.

A block whose numbers have no higher bin than the state before it needs no look at the bins of single numbers: all are
cut into digits at the same places, and digits and answers are computed of several numbers at once. Other blocks are
walked number by number.
"""

# Numba reads these functions; annotations would say less than its own types do.
# mypy: disable-error-code="no-untyped-def"

from typing import NamedTuple

import numba
import numpy as np
from numba.core.extending import intrinsic

from .. import numerics, reproducible
from ..jit import OPTIONS
from ..operator_calls import combine, kinds, whole
from ..reproducible import BIAS, FRACTION, HIGHEST, LOWEST, ORIGIN, SIGN, WIDTH
from ..user_functions import rebuild
from .elements import cast, is_null, load, store
from .steps import Output, Source, reduce_step, scan_step
from .visitors import Visitor, register

bits_of, from_bits, bin_of, carried, units_of, scaled = (
    rebuild(function, numba.njit(**OPTIONS))
    for function in (
        numerics.bits_of,
        numerics.from_bits,
        reproducible.bin_of,
        reproducible.carried,
        reproducible.units_of,
        reproducible.scaled,
    )
)

BLOCK = 256
"""Elements of a block. Its digits, and what they are made of, stay in the cache next to a core."""

HALF = 1 << (2 * WIDTH - 1)


class ReduceDigits(NamedTuple):
    """A reduction along ``start + i * stride``; `finite` tells whether infinite numbers and NaN are left out."""

    source: Source
    start: int
    stride: int
    finite: bool


class ScanDigits(NamedTuple):
    """A scan along ``start + i * stride``, likewise."""

    source: Source
    output: Output
    start: int
    stride: int
    finite: bool


@intrinsic
def state_like(typing_context, like, count, first, second, third, place):
    """Return a state with these digits and bin, and with the count where states begin with one."""
    counted = len(like) - 4

    def codegen(context, builder, signature, args):
        given = args[2 - counted : 2] + args[2:]
        types_ = [signature.args[k] for k in range(2 - counted, 6)]
        values = [
            context.cast(builder, *one) for one in zip(given, types_, kinds(like), strict=True)
        ]
        return whole(context, builder, like, values)

    return like(like, count, first, second, third, place), codegen


@numba.njit(**OPTIONS)
def read(work, numbers, start, size):
    """Read a block, with zeros for what is missing; return the largest exponent, and how many numbers are there."""
    largest = count = np.int64(0)
    for i in range(size):
        at = start + i * work.stride
        number, seen = element_at(work, at)
        numbers[i] = number
        count += seen
        largest = max(largest, bits_of(number) & ~SIGN)
    return largest >> FRACTION, count


@numba.njit(**OPTIONS)
def element_at(work, at):
    """Return the number at a position, zero if it is missing; and whether it is there."""
    element = load(work.source.xs, at)
    number = np.float64(element)
    missing = is_null(work.source.nulls, element, at)
    missing |= work.finite & (number - number != 0.0)
    return 0.0 if missing else number, not missing


@numba.njit(**OPTIONS)
def rounding(place, digit):
    """Return the number that cuts a digit off from numbers of a bin: a sum with it is rounded to that digit."""
    power = FRACTION + WIDTH * (place - digit) - (BIAS - 1) - ORIGIN
    return from_bits(((BIAS + power) << FRACTION) | (1 << (FRACTION - 1)))


@numba.njit(**OPTIONS)
def cut(numbers, size, place, highs, lows):
    """Cut a block, whose numbers have this bin or a lower one, into digits; return the sums of these.

    Where there is room for them, the first digits are written, and the others together.
    """
    one, two, three = rounding(place, 0), rounding(place, 1), rounding(place, 2)
    a = b = c = np.int64(0)
    for i in range(size):
        x = numbers[i]
        high = x + one
        x -= high - one
        middle = x + two
        x -= middle - two
        first = bits_of(high) - bits_of(one)
        second = bits_of(middle) - bits_of(two)
        third = bits_of(x + three) - bits_of(three)
        if highs is not None:
            highs[i] = first
            lows[i] = (second << WIDTH) + third
        a += first
        b += second
        c += third
    return a, b, c


@numba.njit(**OPTIONS)
def run(highs, lows, size, state, exclusive):
    """Write running sums in the place of digits; second and third digits together have 62 bits in a block."""
    high, low = carried(state[-4], state[-3], state[-2])
    for i in range(size):
        x, y = high, low
        high, low = high + highs[i], low + lows[i]
        highs[i] = x if exclusive else high
        lows[i] = y if exclusive else low


@numba.njit(**OPTIONS)
def divide(work, answers, start, size, count):
    """Divide the running sums of a block by how many numbers there are so far, `count` of them before it."""
    for i in range(size):
        seen = element_at(work, start + i * work.stride)[1]
        after = count + seen
        answers[i] /= np.float64(count if work.output.exclusive else after)
        count = after


@numba.njit(**OPTIONS)
def _observe(work, space, state, first, size):
    source, numbers = work.source, np.empty(BLOCK, np.float64)
    for begin in range(first, first + size, BLOCK):
        count = min(BLOCK, first + size - begin)
        start = work.start + begin * work.stride
        exponent, seen = read(work, numbers, start, count)
        place = max(bin_of(exponent), np.int64(state[-1]))
        if exponent > 0 and LOWEST <= place <= HIGHEST:
            found = state_like(
                source.identity, seen, *cut(numbers, count, place, None, None), place
            )
            state = cast(source.identity, combine(source.op, state, found))
        else:
            for i in range(count):
                state = reduce_step(source, state, start + i * work.stride)
    return state, None


@numba.njit(**OPTIONS)
def _emit(work, space, prefix, memo, first, size):
    source, output, stride, state = work.source, work.output, work.stride, prefix
    numbers, answers = np.empty(BLOCK, np.float64), np.empty(BLOCK, output.outs.dtype)
    highs, lows = np.empty(BLOCK, np.int64), np.empty(BLOCK, np.int64)
    for begin in range(first, first + size, BLOCK):
        count = min(BLOCK, first + size - begin)
        start = work.start + begin * stride
        place = np.int64(state[-1])
        exponent, seen = read(work, numbers, start, count)
        if LOWEST <= place <= HIGHEST and bin_of(exponent) <= place:
            sums = cut(numbers, count, place, highs, lows)
            run(highs, lows, count, state, output.exclusive)
            for i in range(count):
                over = lows[i] + HALF >> 2 * WIDTH
                units = units_of(highs[i] + over, lows[i] - (over << 2 * WIDTH))
                numbers[i] = scaled(units, place)
            if len(state) > 4:
                divide(work, numbers, start, count, np.int64(state[0]))
            for i in range(count):
                answers[i] = numbers[i]
            for i in range(count):
                at = start + i * stride
                missing = is_null(source.nulls, load(source.xs, at), at) & output.mark_nulls
                store(output.outs, at, output.null_value if missing else answers[i])
            found = state_like(source.identity, seen, *sums, place)
            state = cast(source.identity, combine(source.op, state, found))
        else:
            for i in range(count):
                state = scan_step(source, output, state, start + i * stride)


register(ReduceDigits, Visitor(_observe))
register(ScanDigits, Visitor(_observe, _emit))
