"""Scans and reductions by sums of digits (kernels/reproducible.py), block by block.

A block whose numbers have no higher bin than the state before it needs no look at the bins of single numbers: all are cut
into digits at the same places, and digits and answers are computed of several numbers at once. Other blocks are walked
number by number.
"""

# Numba reads these functions; annotations would say less than its own types do.
# mypy: disable-error-code="no-untyped-def"

from typing import NamedTuple

import numba
import numpy as np
from numba.core.extending import intrinsic

from .. import numerics, reproducible
from ..jit import OPTIONS
from ..operator_calls import combine, kinds, lower, whole
from ..reproducible import BIAS, FRACTION, ORIGIN, SIGN, WIDTH
from .elements import cast, is_null, load, store
from .steps import Output, Source, reduce_step, scan_step
from .visitors import Visitor, register

bits_of, from_bits, bin_of = (
    numba.njit(**OPTIONS)(function)
    for function in (numerics.bits_of, numerics.from_bits, reproducible.bin_of)
)

BLOCK = 256
"""Elements of a block. Its digits, and what they are made of, stay in the cache next to a core."""

LOWEST, HIGHEST = 3, 74
"""The bins of states whose digits are cut off by adding normal numbers: others are those of numbers near the ends of
float64. Below the last digit of `LOWEST`, no number is subnormal."""


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
def read(work, numbers, seen, start, size):
    """Read a block, with zeros for what is missing, and which numbers are there; return the largest exponent."""
    source, largest = work.source, np.int64(0)
    for i in range(size):
        at = start + i * work.stride
        element = load(source.xs, at)
        number = np.float64(element)
        missing = is_null(source.nulls, element, at) | (work.finite & (number - number != 0.0))
        number = 0.0 if missing else number
        numbers[i] = number
        seen[i] = not missing
        largest = max(largest, bits_of(number) & ~SIGN)
    return largest >> FRACTION


@numba.njit(**OPTIONS)
def rounding(place, digit):
    """Return the number that cuts a digit off from numbers of a bin: a sum with it is rounded to that digit."""
    power = FRACTION + WIDTH * (place - digit) - (BIAS - 1) - ORIGIN
    return from_bits(((BIAS + power) << FRACTION) | (1 << (FRACTION - 1)))


@numba.njit(**OPTIONS)
def cut(numbers, size, place, first, second, third):
    """Write the digits of a block, whose numbers have this bin or a lower one."""
    one, two, three = rounding(place, 0), rounding(place, 1), rounding(place, 2)
    for i in range(size):
        x = numbers[i]
        high = x + one
        x -= high - one
        middle = x + two
        x -= middle - two
        first[i] = bits_of(high) - bits_of(one)
        second[i] = bits_of(middle) - bits_of(two)
        third[i] = bits_of(x + three) - bits_of(three)


@numba.njit(**OPTIONS)
def total(numbers, size):
    """Add integers."""
    found = np.int64(0)
    for i in range(size):
        found += numbers[i]
    return found


@numba.njit(**OPTIONS)
def running(numbers, size, before, exclusive):
    """Write the running sums of integers in their place; return the last one."""
    for i in range(size):
        after = before + numbers[i]
        numbers[i] = before if exclusive else after
        before = after
    return before


@numba.njit(**OPTIONS)
def _observe(work, space, state, first, size):
    source = work.source
    numbers, digits = np.empty(BLOCK, np.float64), np.empty(4 * BLOCK, np.int64)
    seen, a, b, c = digits[:BLOCK], digits[BLOCK:], digits[2 * BLOCK :], digits[3 * BLOCK :]
    for begin in range(first, first + size, BLOCK):
        count = min(BLOCK, first + size - begin)
        start = work.start + begin * work.stride
        exponent = read(work, numbers, seen, start, count)
        place = max(bin_of(exponent), np.int64(state[-1]))
        if exponent > 0 and LOWEST <= place <= HIGHEST:
            cut(numbers, count, place, a, b, c)
            sums = total(seen, count), total(a, count), total(b, count), total(c, count)
            found = state_like(source.identity, *sums, place)
            state = cast(source.identity, combine(source.op, state, found))
        else:
            for i in range(count):
                state = reduce_step(source, state, start + i * work.stride)
    return state, None


@numba.njit(**OPTIONS)
def _emit(work, space, prefix, memo, first, size):
    source, output, stride, state = work.source, work.output, work.stride, prefix
    like, exclusive = source.identity, work.output.exclusive
    numbers, digits = np.empty(BLOCK, np.float64), np.empty(4 * BLOCK, np.int64)
    seen, a, b, c = digits[:BLOCK], digits[BLOCK:], digits[2 * BLOCK :], digits[3 * BLOCK :]
    for begin in range(first, first + size, BLOCK):
        count = min(BLOCK, first + size - begin)
        start = work.start + begin * stride
        place = np.int64(state[-1])
        exponent = read(work, numbers, seen, start, count)
        if LOWEST <= place <= HIGHEST and bin_of(exponent) <= place:
            cut(numbers, count, place, a, b, c)
            ends = (
                running(seen, count, np.int64(state[0]), exclusive),
                running(a, count, np.int64(state[-4]), exclusive),
                running(b, count, np.int64(state[-3]), exclusive),
                running(c, count, np.int64(state[-2]), exclusive),
            )
            for i in range(count):
                numbers[i] = lower(source.op, state_like(like, seen[i], a[i], b[i], c[i], place))
            for i in range(count):
                at = start + i * stride
                value = cast(output.null_value, numbers[i])
                missing = is_null(source.nulls, load(source.xs, at), at) & output.mark_nulls
                store(output.outs, at, output.null_value if missing else value)
            state = state_like(like, *ends, place)
        else:
            for i in range(count):
                state = scan_step(source, output, state, start + i * stride)


register(ReduceDigits, Visitor(_observe))
register(ScanDigits, Visitor(_observe, _emit))
