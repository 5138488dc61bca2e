"""The operator of reproducible sums of floating-point numbers: their bits do not depend on the order of combination.

The exponents of float64 are cut into bins, and a number into digits: integers; the first counts units of the number's
own bin and each further one units of the next bin below. A state holds the sums of the digits in a few neighbouring
bins, from the bin of the largest number downwards; digits of lower bins are left out. Which bins these are follows from
the largest number, and integers add exactly. So neither the order of the numbers nor that of the combinations changes a
state.

After Demmel and Nguyen, *Parallel Reproducible Summation* (IEEE Transactions on Computers 64, 2015), sections 3 and 4;
there, the sums of digits are floating-point numbers.
"""

# Numba reads the operator's functions.
# mypy: disable-error-code="no-untyped-def"

import numpy as np

from .numerics import bits_of, from_bits, quotient
from .operator import Operator

WIDTH = 27
"""Bits of a bin. Three bins hold every bit of the largest number, as 1 + 2 * 27 is more than 53. No digit is larger
than 2**26, so sums of digits of 2**36 numbers fit 64 bits."""

ORIGIN = 16
"""Added to exponents before they are divided by `WIDTH`. It puts the numbers from 2**-13 to below 2**14 into
one bin, as states of one bin are combined fastest."""

EMPTY, NEGATIVE_ZERO, ZERO, BEYOND = -3, -2, -1, 80
"""Values of a state instead of a bin: for no numbers, for only -0.0, for only zeros, and if a number was infinite or
NaN. Then the digits count infinity, -infinity and NaN. Between the highest bin, 76, and BEYOND are more bins than a
state has."""

LOWEST, HIGHEST = 5, 74
"""The bins of states with digits that are split by adding normal numbers; other bins are near the ends of float64. No
subnormal number reaches the last digit of `LOWEST`, and no mean of such digits is subnormal."""

BIAS, FRACTION, EXPONENTS = 1023, 52, 0x7FF
"""Of float64: the bias of exponents, the bits below the exponent, and all bits of an exponent."""

SIGN, SIGN_AND_FRACTION = -1 << 63, ~(EXPONENTS << FRACTION)

FIRST, SECOND, THIRD = 1.5 * 2.0**52, 1.5 * 2.0**25, 1.5 * 2.0**-2
"""Numbers with a unit of the first, second and third digit as their last bit: a sum with one rounds to that digit."""

FIRST_BITS, SECOND_BITS, THIRD_BITS = (int(np.array(x).view("i8")) for x in (FIRST, SECOND, THIRD))


def bin_of(exponent):
    """Return the bin of numbers with this biased exponent."""
    return ((exponent + ORIGIN) * 2428) >> 16  # divided by WIDTH


def _lift(x):
    bits = bits_of(x)
    exponent = (bits >> FRACTION) & EXPONENTS
    if exponent == 0 or exponent == EXPONENTS:
        return _lift_unusual(bits)
    place = bin_of(exponent)
    power = BIAS - 1 + ORIGIN + exponent - WIDTH * place
    return _digits(from_bits((bits & SIGN_AND_FRACTION) | (power << FRACTION)), place)


def _lift_unusual(bits):
    """Return the state of a number that is zero, subnormal, infinite or NaN."""
    sign, fraction = bits & SIGN, bits & ~SIGN & SIGN_AND_FRACTION
    if bits & ~SIGN > fraction:
        infinite, negative = fraction == 0, sign != 0
        counts = infinite and not negative, infinite and negative, not infinite
        return (np.int64(counts[0]), np.int64(counts[1]), np.int64(counts[2]), np.int32(BEYOND))
    if fraction == 0:
        zero = np.int64(0)
        return (zero, zero, zero, np.int32(ZERO if sign == 0 else NEGATIVE_ZERO))
    leading = sign | (BIAS + ORIGIN << FRACTION)  # a subnormal number has none
    return _digits(from_bits(leading | fraction) - from_bits(leading), bin_of(0))


def _digits(number, place):
    """Return the state of a number of a bin, given in units of the bin and less than 2**26."""
    first = number + FIRST
    rest = number - (first - FIRST)
    second = rest + SECOND
    third = (rest - (second - SECOND)) + THIRD
    return (
        bits_of(first) - FIRST_BITS,
        bits_of(second) - SECOND_BITS,
        bits_of(third) - THIRD_BITS,
        np.int32(place),
    )


def _combine(a, b):
    rise = b[3] - a[3]
    if rise == 0:
        return (a[0] + b[0], a[1] + b[1], a[2] + b[2], a[3])
    down, other = max(rise, 0), max(-rise, 0)  # by how many bins the digits of each move
    third = _moved(a[0], a[1], a[2], down) + _moved(b[0], b[1], b[2], other)
    second = _moved(0, a[0], a[1], down) + _moved(0, b[0], b[1], other)
    first = _moved(0, 0, a[0], down) + _moved(0, 0, b[0], other)
    return (first, second, third, a[3] if down == 0 else b[3])


def _moved(above, next_above, own, gap):
    """Return the digit that moves to a place from `gap` places above it."""
    return own if gap == 0 else next_above if gap == 1 else above if gap == 2 else 0


def carried(first, second, third):
    """Return the value of sums of digits in units of the first and of the third digit, from -2**53 to below 2**53."""
    up = third >> WIDTH
    second += up
    over = (second + (1 << (WIDTH - 1))) >> WIDTH
    return first + over, ((second - (over << WIDTH)) << WIDTH) + (third - (up << WIDTH))


def units_of(high, low):
    """Return the float64 nearest to what `carried` returns, in units of the third digit, if `high` is a float64."""
    # the product is exact, so it does not matter whether it is rounded before it is added to
    return np.float64(high) * 2.0 ** (2 * WIDTH) + np.float64(low)


def scaled(units, place):
    """Return a number that is given in units of the third digit from a bin on."""
    power = WIDTH * (np.int64(place) - 2) - (BIAS - 1) - ORIGIN
    half = power >> 1  # in two steps, by powers of two that are both normal numbers
    return (
        units * from_bits((BIAS + half) << FRACTION) * from_bits((BIAS + power - half) << FRACTION)
    )


def _endless(s):
    endless = np.inf if s[1] == 0 else -np.inf
    return np.nan if s[2] != 0 or (s[0] != 0 and s[1] != 0) else endless


def _lower(s):
    if s[3] == BEYOND:
        return _endless(s)
    high, low = carried(s[0], s[1], s[2])
    return scaled(units_of(high, low), s[3])


def _lower_signed(s):
    return -0.0 if s[3] <= NEGATIVE_ZERO else _lower(s)


def _lift_finite(x):
    seen = x - x == 0.0
    s = _lift(x if seen else 0.0)
    return (s[0], s[1], s[2], s[3] if seen else np.int32(EMPTY))


def _lower_finite(s):
    return -0.0 if s[3] == NEGATIVE_ZERO else _lower(s)


def _combine_counted(a, b):
    return (a[0] + b[0], *_combine(a[1:], b[1:]))


def _lift_counted(x):
    return (1, *_lift(x))


def _lift_counted_finite(x):
    return (1 if x - x == 0.0 else 0, *_lift_finite(x))


def _lower_counted(s):
    if s[4] == BEYOND or s[4] == NEGATIVE_ZERO or s[0] == 0:
        return np.nan if s[0] == 0 else -0.0 if s[4] == NEGATIVE_ZERO else _endless(s[1:])
    high, low = carried(s[1], s[2], s[3])
    units, count = units_of(high, low), np.float64(s[0])
    if s[4] < LOWEST:  # the quotient may be subnormal, to which it must be rounded once
        return quotient(scaled(units, s[4]), count)
    # units are whole numbers: their quotient is far from the ends of float64
    return scaled(quotient(units, count), s[4])


NOTHING = (0, 0, 0, EMPTY)

add_reproducible = Operator(_combine, NOTHING, _lift, _lower, name="add_reproducible")

SIGNED = Operator(_combine, NOTHING, _lift, _lower_signed, name="add_reproducible")
"""The sum that begins with -0.0."""

MEAN = Operator(
    _combine_counted, (0, *NOTHING), _lift_counted, _lower_counted, name="mean_reproducible"
)
"""The mean; state: the count, then the state of the sum."""

FINITE_SUM = Operator(_combine, NOTHING, _lift_finite, _lower_finite, name="sum_reproducible")
"""The sum of finite numbers, which skips others."""

FINITE_MEAN = Operator(
    _combine_counted, (0, *NOTHING), _lift_counted_finite, _lower_counted, name="mean_reproducible"
)
"""The mean of finite numbers, which skips others."""
