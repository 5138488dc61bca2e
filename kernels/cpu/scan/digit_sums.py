"""Scans and reductions by sums of digits (kernels/operators/reproducible.py), block by block.

All numbers of a block are cut at the same places, several at once: in a reduction at the bin of the largest number or
of the state before, in a scan at the bin of the state. If a scan reaches a higher bin, or if numbers are near the ends
of float64, infinite or NaN, the block is walked number by number.
"""

# Numba reads these functions; annotations would say less than its own types do.
# mypy: disable-error-code="no-untyped-def"

from functools import partial
from typing import NamedTuple

import numpy as np

from ...compiler.frozen_functions import rebuild
from ...compiler.functions import LINKED_ALLOCATING, intrinsic, njit
from ...compiler.tuples import kinds, whole
from ...operators import numerics, reproducible
from ...operators.calls import combine
from ...operators.reproducible import BIAS, FRACTION, HIGHEST, LOWEST, ORIGIN, SIGN, WIDTH
from ..core.elements import cast, is_null, load, store
from ..core.steps import OperatorInputs, Output, reduce_step, scan_step
from ..core.visitors import Visitor, register

bits_of, from_bits, bin_of, carried, units_of, scaled = (
    rebuild(function, njit)
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
"""Elements of a block. Its numbers and their digits stay in the cache next to a core."""

ZERO = np.int64(0)

HALF = 1 << (2 * WIDTH - 1)  # of a unit of the first digit, in units of the third

SPLIT = 48
"""Numbers are cut in two at 2**SPLIT units of the third digit, by sums with one float64 that round to these. Both parts
are whole numbers of fewer than 51 bits, so those of a block add up in 64 bits."""


class ReduceDigits(NamedTuple):
    """A reduction along ``start + i * stride``; `finite` says whether infinite numbers and NaN are skipped."""

    source: OperatorInputs
    start: int
    stride: int
    finite: bool


class ScanDigits(NamedTuple):
    """A scan along ``start + i * stride``, likewise."""

    source: OperatorInputs
    output: Output
    start: int
    stride: int
    finite: bool


@intrinsic
def state_like(typing_context, like, count, first, second, third, place):
    """Return a state with these digits and bin, and with the count if states begin with one."""
    counted = len(like) - 4

    def codegen(context, builder, signature, args):
        given = args[2 - counted : 2] + args[2:]
        types_ = [signature.args[k] for k in range(2 - counted, 6)]
        values = [
            context.cast(builder, *one) for one in zip(given, types_, kinds(like), strict=True)
        ]
        return whole(context, builder, like, values)

    return like(like, count, first, second, third, place), codegen


@njit
def element_at(work, at):
    """Return the number at a position, or zero if it is missing, and whether it is not missing."""
    element = load(work.source.xs, at)
    number = cast(0.0, element)
    missing = is_null(work.source.nulls, element, at)
    missing |= work.finite & (number - number != 0.0)
    return 0.0 if missing else number, not missing


@njit
def rounding(place, digit):
    """Return the number that cuts numbers of a bin at a digit: a sum with it is rounded to that digit."""
    power = FRACTION + WIDTH * (place - digit) - (BIAS - 1) - ORIGIN
    return from_bits(((BIAS + power) << FRACTION) | (1 << (FRACTION - 1)))


@njit
def cut(work, start, size, place):
    """Cut a block into digits of this bin or, if it has larger numbers, of theirs.

    Return the sums of the digits as a state, and the bin of the largest number; if it is too high, there are no digits.
    """
    while True:
        one, two, three = rounding(place, 0), rounding(place, 1), rounding(place, 2)
        a = b = c = largest = count = np.int64(0)
        for i in range(size):
            x, seen = element_at(work, start + i * work.stride)
            largest = max(largest, bits_of(x) & ~SIGN)
            count += seen
            high = x + one
            x -= high - one
            middle = x + two
            x -= middle - two
            a += bits_of(high) - bits_of(one)
            b += bits_of(middle) - bits_of(two)
            c += bits_of(x + three) - bits_of(three)
        found = bin_of(largest >> FRACTION)
        if found <= place or found > HIGHEST:
            return state_like(work.source.identity, count, a, b, c, place), found
        place = found


@njit
def cut_in_two(work, start, size, place, highs, lows):
    """Write a block in units of the third digit, in multiples of 2**SPLIT and the rest; return the largest bin."""
    two = rounding(place, 2)
    one = two * 2.0**SPLIT
    largest = np.int64(0)
    for i in range(size):
        x, _ = element_at(work, start + i * work.stride)
        largest = max(largest, bits_of(x) & ~SIGN)
        high = x + one
        highs[i + 1] = bits_of(high) - bits_of(one)
        lows[i + 1] = bits_of((x - (high - one)) + two) - bits_of(two)
    return bin_of(largest >> FRACTION)


@njit
def run(sums, size):
    """Add up an array into running sums, four elements at a time, so that fewer additions wait for each other."""
    total = np.int64(0)
    sums[0] = 0
    for i in range(1, size + 1, 4):
        a, c = sums[i], sums[i + 2]
        b = a + sums[i + 1]
        d = c + sums[i + 3]
        sums[i] = total + a
        sums[i + 1] = total + b
        sums[i + 2] = total + (b + c)
        total += b + d
        sums[i + 3] = total


@njit
def joined(high, low, upper, lower):
    """Return what `carried` returns for a sum and the two parts of an addend."""
    low += ((upper & ((1 << 2 * WIDTH - SPLIT) - 1)) << SPLIT) + lower
    over = low + HALF >> 2 * WIDTH
    return high + (upper >> 2 * WIDTH - SPLIT) + over, low - (over << 2 * WIDTH)


@njit
def digits_of(state):
    """Return the sum of a state in two parts."""
    return carried(cast(ZERO, state[-4]), cast(ZERO, state[-3]), cast(ZERO, state[-2]))


@njit
def divide(work, answers, start, size, count):
    """Divide the running sums of a block by the count of numbers so far; `count` numbers come before the block."""
    for i in range(size):
        seen = element_at(work, start + i * work.stride)[1]
        after = count + seen
        answers[i] /= np.float64(count if work.output.exclusive else after)
        count = after
    return count


@njit
def _observe(work, space, state, first, size):
    source = work.source
    for begin in range(first, first + size, BLOCK):
        count = min(BLOCK, first + size - begin)
        start = work.start + begin * work.stride
        place = cast(ZERO, state[-1])
        found, largest = cut(work, start, count, min(max(place, LOWEST), HIGHEST))
        if max(largest, place) >= LOWEST and largest <= HIGHEST:
            state = cast(source.identity, combine(source.op, state, found))
        else:
            for i in range(count):
                state = reduce_step(source, state, start + i * work.stride)
    return state, None


@partial(njit, options=LINKED_ALLOCATING)
def _emit(work, space, prefix, memo, first, size):
    source, output, stride = work.source, work.output, work.stride
    numbers = np.empty(BLOCK, np.float64)
    highs, lows = np.zeros(BLOCK + 4, np.int64), np.zeros(BLOCK + 4, np.int64)
    state, known = prefix, first  # what comes before a block may be known as a sum alone
    high, low = digits_of(state)
    seen, place = cast(ZERO, state[0]), cast(ZERO, state[-1])
    for begin in range(first, first + size, BLOCK):
        count = min(BLOCK, first + size - begin)
        start = work.start + begin * stride
        usual = LOWEST <= place <= HIGHEST
        if usual and cut_in_two(work, start, count, place, highs, lows) <= place:
            run(highs, count)
            run(lows, count)
            unit = scaled(1.0, place)
            for i in range(count):
                at = i if output.exclusive else i + 1
                numbers[i] = units_of(*joined(high, low, highs[at], lows[at])) * unit
            high, low = joined(high, low, highs[count], lows[count])
            if len(state) > 4:
                seen = divide(work, numbers, start, count, seen)
            for i in range(count):
                at, number = start + i * stride, cast(output.null_value, numbers[i])
                missing = is_null(source.nulls, load(source.xs, at), at) & output.mark_nulls
                store(output.outs, at, output.null_value if missing else number)
        else:
            state = _observe(work, space, state, known, begin - known)[0]
            for i in range(count):
                state = scan_step(source, output, state, start + i * stride)
            known = begin + count
            high, low = digits_of(state)
            seen, place = cast(ZERO, state[0]), cast(ZERO, state[-1])


register(ReduceDigits, Visitor(_observe))
register(ScanDigits, Visitor(_observe, _emit))
