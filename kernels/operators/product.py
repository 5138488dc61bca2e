"""The operator of products of floating-point numbers in pieces, whose states overflow only where a walk in order would.

The product of a whole piece can be infinite although the product that arrives there is zero or tiny, and 0 * inf is
not what an element-by-element walk gives. So the state of a piece is its product as mantissa and exponent, with the
largest and the smallest product on the way, from which the walk's own answer follows, its overflow and underflow
included (`walked`).

Whether a walk overflows or vanishes on its way through a piece depends only on the size of the number that it starts
from: it is infinite from some size on, and zero up to some smaller one. The state holds both bounds, as the largest and
the smallest product on the way. Once these are as far apart as the ends of the type, no number passes both, and what
follows has no effect. So a bound is never farther from 1 than that, and is held as an integer of 64 bits, (exponent +
shift) << POINT | fraction, with shifts by which the largest stays below the smallest until they meet.
"""

# Numba reads the operators' functions.
# mypy: disable-error-code="no-untyped-def"

import math
from functools import lru_cache
from typing import Any, NamedTuple

import numpy as np

from ..arrays import is_array
from .calls import make_constant
from .operator import Operator

FAR = 1 << 14
"""An exponent beyond those of all types."""

POINT = 52
"""Bits of a bound below its exponent: those of a float64's mantissa without its first."""

ONE = 1 << POINT
FRACTION = ONE - 1


class ExponentLimits(NamedTuple):
    """Where the numbers of a floating-point dtype end, and how far bounds are shifted."""

    infinite: int
    """Exponent with which 0.5 is infinite."""
    least: int
    """Exponent with which 0.5 is half of the smallest subnormal number, which rounds to zero."""
    up: int
    """Added to the exponent of a smallest product."""
    down: int
    """Added to the exponent of a largest product."""


def exponent_limits(dtype: np.dtype) -> ExponentLimits:
    """Return the ends of a dtype.

    Examples
    --------
    >>> exponent_limits(np.dtype("f4"))
    ExponentLimits(infinite=129, least=-149, up=139, down=-139)
    """
    limits = np.finfo(dtype)
    infinite, least = int(limits.maxexp) + 1, int(limits.minexp) - int(limits.nmant)
    span = infinite - least
    return ExponentLimits(infinite, least, (span + 1) // 2, (span + 1) // 2 - span)


@lru_cache(maxsize=16)
def product(dtype: np.dtype, states: bool = False) -> Operator:
    """Return the operator whose states are products of numbers of a floating-point dtype, or of such `states`.

    State: (mantissa, exponent, largest product on the way, smallest). The mantissa is from 0.5 to below 1, or zero,
    infinity or NaN.
    """
    kind, (_, _, up, down) = dtype.type, exponent_limits(dtype)
    tick = 1 << POINT - int(np.finfo(dtype).nmant)
    one_high, one_low = 1 + down << POINT, 1 + up << POINT

    def bound(number, exponent):
        """Tell a number from ONE to below 2 * ONE as a bound."""
        return np.int64(number) - ONE + (exponent << POINT)

    def times(size, exponent, by):
        power = min(max(exponent + (by >> POINT), -2000), 2000)  # farther ones are no bounds
        number = size * kind((by & FRACTION) + ONE)
        small = number < ONE
        return bound(number + number if small else number, power - small)

    def combine(a, b):
        size = abs(a[0])
        if (
            not 0.0 < size <= 1.0
        ):  # zero stays zero whatever finite numbers follow, infinity as it is
            return (a[0] * b[0], a[1], a[2], a[3])
        mantissa = a[0] * b[0]
        small = abs(mantissa) < 0.5
        largest = min(max(a[2], times(size, a[1], b[2])), a[3] - tick)
        smallest = max(min(a[3], times(size, a[1], b[3])), a[2] + tick)
        return (
            mantissa + mantissa if small else mantissa,
            a[1] + b[1] - small,
            largest,
            smallest,
        )

    def lift(x):
        if not math.isfinite(x) or x == 0.0:
            return (kind(x), 0, one_high, one_low)
        mantissa, exponent = math.frexp(x)
        size, grows = abs(mantissa) * (2 * ONE), exponent > 0
        largest = bound(size, exponent + down) if grows else one_high
        smallest = one_low if grows else bound(size, exponent + up)
        return (kind(mantissa), exponent, largest, smallest)

    def again(number, exponent, largest, smallest):
        shift = 0
        if math.isfinite(number) and number != 0.0:
            number, shift = math.frexp(number)
        high, low = (largest, smallest) if largest < smallest else (one_high, one_low)
        state = (kind(number), exponent + shift, high, low)
        return combine(state, (kind(0.5), 1, one_high, one_low))

    op = Operator(combine, (0.5, 1, one_high, one_low), again if states else lift, name="product")
    make_constant(op)  # there are few dtypes, and their ends are worth it
    return op


def walked(state: tuple[Any, ...], dtype: np.dtype) -> Any:
    """Return the number that a walk in order would have come to, for a state of ``product(dtype)``.

    Parameters
    ----------
    state : tuple of scalars, or of arrays of one item a line
    dtype : dtype

    Examples
    --------
    >>> float(walked(product(np.dtype("f8")).lift(8.0), np.dtype("f8")))
    8.0
    """
    fields = (field if is_array(field) else np.asarray(field) for field in state)
    mantissa, exponent, largest, smallest = fields
    ends = exponent_limits(mantissa.dtype)
    with np.errstate(all="ignore"):
        answer = np.ldexp(mantissa, np.clip(exponent, -FAR, FAR).astype(np.intc))
        infinite = largest >= ends.infinite + ends.down << POINT
        answer = np.where(infinite, mantissa * np.inf, answer)  # NaN where a zero came later
        vanished = smallest <= ends.least + ends.up << POINT
        return np.where(vanished, mantissa * 0.0, answer).astype(dtype)[()]
