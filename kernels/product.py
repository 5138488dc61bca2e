"""Products of floating-point numbers that stand for many elements without overflowing where a walk in order would not.

A plain product of a partition can be infinite although the product that arrives there is zero or tiny, and
0 * inf is not what an element-by-element walk gives. So what a partition hands on is its product as mantissa
and exponent, with the highest and lowest exponent on the way, from which the walk's own answer follows,
its overflow and underflow included. This module must never know where the pieces come from.
"""

import math
from typing import Any

import numpy as np

from .arrays import is_array
from .built_in import BUILT_IN
from .cpu import fold
from .operators import Operator


def _combine(a: Any, b: Any) -> Any:
    if a[0] == 0.0:  # zero stays zero whatever finite numbers follow
        return (a[0] * b[0], a[1], a[2], a[3])
    mantissa, shift = math.frexp(a[0] * b[0])
    if not math.isfinite(mantissa) or mantissa == 0.0:
        shift = 0
    highest, lowest = max(a[2], a[1] + b[2]), min(a[3], a[1] + b[3])
    return (mantissa, a[1] + b[1] + shift, highest, lowest)


def _lift(x: Any) -> Any:
    if not math.isfinite(x) or x == 0.0:
        return (x, 0, 0, 0)
    mantissa, exponent = math.frexp(x)
    return (mantissa, exponent, max(exponent, 0), min(exponent, 0))


PRODUCT = Operator(_combine, (1.0, 0, 0, 0), _lift, name="product")
"""State: (mantissa, exponent, highest exponent on the way, lowest). Zero, infinity and NaN are mantissas."""


def _again(mantissa: Any, exponent: Any, highest: Any, lowest: Any) -> Any:
    shift = 0
    if math.isfinite(mantissa) and mantissa != 0.0:
        mantissa, shift = math.frexp(mantissa)
    end = exponent + shift
    return (mantissa, end, max(highest, end, 0), min(lowest, end, 0))


PRODUCTS = Operator(_combine, (1.0, 0, 0, 0), _again, name="products")
"""`PRODUCT` of elements that are its states themselves, as they are brought together by key."""


def carrier(op: Operator, dtype: np.dtype) -> Operator:
    """Return the operator whose states are handed from piece to piece of a scan by `op` in `dtype`.

    Examples
    --------
    >>> carrier(BUILT_IN["multiply"], np.dtype("f8"))
    Operator('product')
    >>> carrier(BUILT_IN["add"], np.dtype("f8"))
    Operator('add')
    """
    return PRODUCT if op == BUILT_IN["multiply"] and dtype.kind == "f" else op


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
    >>> float(seed(BUILT_IN["multiply"], (0.5, 4, 4, 0), np.dtype("f8")))
    8.0
    >>> float(seed(BUILT_IN["multiply"], (0.5, -2, 2000, -2), np.dtype("f8")))
    inf
    """
    carries = carrier(op, dtype)
    if initial is not None:
        first = initial if carries is op else _lift(float(initial))
        state = fold(carries, [_like(first, state), state])
    if carries is op:
        return state
    limits = np.finfo(dtype)
    fields = (field if is_array(field) else np.asarray(field) for field in state)
    mantissa, exponent, highest, lowest = fields
    with np.errstate(all="ignore"):
        exact = np.ldexp(mantissa, exponent.astype(np.intc))
        overflowed = mantissa * np.inf  # NaN where a zero came later
        answer = np.where(lowest < limits.minexp - limits.nmant, mantissa * 0.0, exact)
        return np.where(highest > limits.maxexp, overflowed, answer).astype(dtype)[()]


def _like(state: Any, other: Any) -> Any:
    """One state, repeated to the lines of `other`."""
    if isinstance(other, tuple):
        return tuple(_like(part, lines) for part, lines in zip(state, other, strict=True))
    return np.broadcast_to(state, np.shape(other))
