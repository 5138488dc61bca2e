"""Compensated sums of floating-point numbers: they carry the rounding errors, and are corrected by them at the end.

A state is the rounded sum, and the sum of the rounding errors of its additions; each error is a floating-point number
itself (two-sum: Knuth, The Art of Computer Programming 2, 4.2.2). In any order of combination, the answer is as good as
one that is computed with twice the digits and then rounded (Ogita, Rump and Oishi, *Accurate sum and dot product*, SIAM
Journal on Scientific Computing 26, 2005, algorithm 4.4).
"""

# Numba reads the operators' functions.
# mypy: disable-error-code="no-untyped-def"

from typing import Any

import numpy as np

from .numerics import quotient
from .operator import Operator

NOTHING_LOST = -0.0
"""The rounding error of a single number: adding it changes no number, so that compilers drop the addition."""


def lost(a: Any, b: Any, total: Any) -> Any:
    """Return the rounding error of `total`, the sum of `a` and `b`; NaN if it is infinite."""
    part = total - a
    return (a - (total - part)) + (b - part)


def corrected(total, error):
    """Return a sum plus its rounding error; without an error, zero keeps its sign, and infinity stays."""
    found = total + error
    # one comparison, which is false for NaN: two comparisons would be a branch
    return found if abs(found - total) > 0.0 else total


def _wide(x):
    return x + 0.0  # in float64


def _add(a, b):
    return a + b


def _lift(x):
    return (x + 0.0, NOTHING_LOST)


def _combine(a, b):
    total = a[0] + b[0]
    return (total, a[1] + b[1] + lost(a[0], b[0], total))


def _lower(s):
    return corrected(s[0], s[1])


def _lift_counted(x):
    return (1.0, x + 0.0, NOTHING_LOST)


def _combine_counted(a, b):
    total = a[1] + b[1]
    return (a[0] + b[0], total, a[2] + b[2] + lost(a[1], b[1], total))


def _lift_finite(x):
    seen = x - x == 0.0
    return (x if seen else -0.0, NOTHING_LOST)


def _lift_counted_finite(x):
    seen = x - x == 0.0
    return (1.0 if seen else 0.0, x if seen else -0.0, NOTHING_LOST)


def _lower_sum(s):
    return corrected(s[1], s[2]) if s[0] > 0.0 else 0.0


def _lower_mean(s):
    mean = quotient(corrected(s[1], s[2]), s[0])
    return mean if s[0] > 0.0 else np.nan


SUM = Operator(_combine, (0.0, NOTHING_LOST), _lift, _lower, name="add")
"""The sum."""

WIDE_SUM = Operator(_add, 0.0, _wide, name="add")
"""The sum for answers of float32: in float64, which needs no correction."""

SUMS = SUM, WIDE_SUM
"""The sums for answers of float64 and of float32."""

MEAN = Operator(_combine_counted, (0.0, 0.0, NOTHING_LOST), _lift_counted, name="mean")
"""The mean; state: the count, then the state of the sum."""

FINITE_SUM = Operator(
    _combine_counted, (0.0, -0.0, NOTHING_LOST), _lift_counted_finite, _lower_sum, name="sum"
)
"""The sum of finite numbers, which skips others; it begins with -0.0, and is 0.0 if there are none."""

UNCOUNTED_SUM = Operator(_combine, (-0.0, NOTHING_LOST), _lift_finite, _lower, name="sum")
"""The same without a count, which is faster: -0.0 if there are none."""

FINITE_MEAN = Operator(
    _combine_counted, (0.0, -0.0, NOTHING_LOST), _lift_counted_finite, _lower_mean, name="mean"
)
"""The mean of finite numbers, which skips others."""
