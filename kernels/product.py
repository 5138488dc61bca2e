"""Products of floating-point numbers that stand for many elements without overflowing where a walk in order would not.

A plain product of a partition can be infinite although the product that arrives there is zero or tiny, and
0 * inf is not what an element-by-element walk gives. So what a partition hands on is its product as mantissa
and exponent, with the largest and the smallest product on the way, from which the walk's own answer follows,
its overflow and underflow included. This module must never know where the pieces come from.

Whether a walk overflows or vanishes on its way through a piece depends on the size of the number that it starts from,
and on nothing else: it is infinite from some size on, and zero up to some smaller one. The state holds both bounds, as
the largest and the smallest product on the way. Once these are as far apart as the ends of the type, no number passes
both, and what follows is of no effect. So a bound is never farther from 1 than that, and is held as an integer of 64
bits, (exponent + shift) << POINT | fraction, with shifts by which the largest stays below the smallest until they meet.
"""

import math
from functools import lru_cache
from typing import Any, NamedTuple

import numpy as np

from .arrays import is_array
from .built_in import BUILT_IN
from .cpu import fold
from .cpu.calls import make_constant
from .operators import Operator

FAR = 1 << 14
"""An exponent beyond those of all types."""

POINT = 52
"""Bits of a bound below its exponent: those of a float64's mantissa without its first."""

ONE = 1 << POINT
FRACTION = ONE - 1


class Ends(NamedTuple):
    """Where the numbers of a floating-point dtype end, and how far bounds are shifted."""

    infinite: int
    """Exponent with which 0.5 is infinite."""
    least: int
    """Exponent with which 0.5 is half of the smallest subnormal number, which rounds to zero."""
    up: int
    """Added to the exponent of a smallest product."""
    down: int
    """Added to the exponent of a largest product."""


def ends_of(dtype: np.dtype) -> Ends:
    """Return the ends of a dtype.

    Examples
    --------
    >>> ends_of(np.dtype("f4"))
    Ends(infinite=129, least=-149, up=139, down=-139)
    """
    limits = np.finfo(dtype)
    infinite, least = int(limits.maxexp) + 1, int(limits.minexp) - int(limits.nmant)
    span = infinite - least
    return Ends(infinite, least, (span + 1) // 2, (span + 1) // 2 - span)


@lru_cache(maxsize=16)
def product(dtype: np.dtype, states: bool = False) -> Operator:
    """Return the operator whose states are products of numbers of a floating-point dtype, or of such `states`.

    State: (mantissa, exponent, largest product on the way, smallest). The mantissa is from 0.5 to below 1, or zero,
    infinity or NaN.
    """
    kind, (_, _, up, down) = dtype.type, ends_of(dtype)
    tick = 1 << POINT - int(np.finfo(dtype).nmant)
    one_high, one_low = 1 + down << POINT, 1 + up << POINT

    def bound(number: Any, exponent: Any) -> Any:
        """Tell a number from ONE to below 2 * ONE as a bound."""
        return np.int64(number) - ONE + (exponent << POINT)

    def times(size: Any, exponent: Any, by: Any) -> Any:
        power = min(max(exponent + (by >> POINT), -2000), 2000)  # farther ones are no bounds
        number = size * kind((by & FRACTION) + ONE)
        small = number < ONE
        return bound(number + number if small else number, power - small)

    def combine(a: Any, b: Any) -> Any:
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

    def lift(x: Any) -> Any:
        if not math.isfinite(x) or x == 0.0:
            return (kind(x), 0, one_high, one_low)
        mantissa, exponent = math.frexp(x)
        size, grows = abs(mantissa) * (2 * ONE), exponent > 0
        largest = bound(size, exponent + down) if grows else one_high
        smallest = one_low if grows else bound(size, exponent + up)
        return (kind(mantissa), exponent, largest, smallest)

    def again(number: Any, exponent: Any, largest: Any, smallest: Any) -> Any:
        shift = 0
        if math.isfinite(number) and number != 0.0:
            number, shift = math.frexp(number)
        high, low = (largest, smallest) if largest < smallest else (one_high, one_low)
        state = (kind(number), exponent + shift, high, low)
        return combine(state, (kind(0.5), 1, one_high, one_low))

    op = Operator(combine, (0.5, 1, one_high, one_low), again if states else lift, name="product")
    make_constant(op)  # there are few dtypes, and their ends are worth it
    return op


def carrier(op: Operator, dtype: np.dtype) -> Operator:
    """Return the operator whose states are handed from piece to piece of a scan by `op` in `dtype`.

    Examples
    --------
    >>> carrier(BUILT_IN["multiply"], np.dtype("f8"))
    Operator('product')
    >>> carrier(BUILT_IN["add"], np.dtype("f8"))
    Operator('add')
    """
    return product(dtype) if op == BUILT_IN["multiply"] and dtype.kind == "f" else op


def carried(
    op: Operator, values: Any, answer: np.dtype, dtype: np.dtype | None
) -> tuple[Operator, Any, np.dtype | None]:
    """Return what reduces values to states of the carrier of a scan by `op` in `answer`.

    Parameters
    ----------
    op : Operator
    values : array or tuple of arrays
    answer : dtype
        Of the scan's answer.
    dtype : dtype, optional
        Of the states, if they are those of `op`.

    Returns
    -------
    carrier : Operator
    values : array or tuple of arrays
        In `answer`, if the carrier is another than `op`.
    dtype : dtype, optional
    """
    by = carrier(op, answer)
    if by is op:
        return op, values, dtype
    return by, (values[0] if isinstance(values, tuple) else values).astype(answer, copy=False), None


def seed(op: Operator, state: Any, dtype: np.dtype, initial: Any = None) -> Any:
    """Return the carry-in of a scan by `op` for a state of its carrier: what a walk in order would have come to.

    Parameters
    ----------
    op : Operator
    state : state of ``carrier(op, dtype)``
        All that comes before; scalars, or arrays of one item a line.
    dtype : dtype
        Of the scan's answer.
    initial : state of `op`, optional
        What comes before `state`.

    Examples
    --------
    >>> state = carrier(BUILT_IN["multiply"], np.dtype("f8")).lift(8.0)
    >>> float(seed(BUILT_IN["multiply"], state, np.dtype("f8"), initial=2.0))
    16.0
    """
    carries = carrier(op, dtype)
    if initial is not None:
        first = initial
        if carries.lift is not None and carries is not op:
            first = _typed(carries.lift(initial), state)
        state = fold(carries, [_like(first, state), state])
    if carries is op:
        return state
    fields = (field if is_array(field) else np.asarray(field) for field in state)
    mantissa, exponent, largest, smallest = fields
    ends = ends_of(mantissa.dtype)
    with np.errstate(all="ignore"):
        answer = np.ldexp(mantissa, np.clip(exponent, -FAR, FAR).astype(np.intc))
        infinite = largest >= ends.infinite + ends.down << POINT
        answer = np.where(infinite, mantissa * np.inf, answer)  # NaN where a zero came later
        vanished = smallest <= ends.least + ends.up << POINT
        return np.where(vanished, mantissa * 0.0, answer).astype(dtype)[()]


def _typed(state: Any, other: Any) -> Any:
    """A state of the host's numbers, in the dtypes of `other`."""
    return tuple(np.asarray(o).dtype.type(part) for part, o in zip(state, other, strict=True))


def _like(state: Any, other: Any) -> Any:
    """One state, repeated to the lines of `other`."""
    if isinstance(other, tuple):
        return tuple(_like(part, lines) for part, lines in zip(state, other, strict=True))
    return np.broadcast_to(state, np.shape(other))
