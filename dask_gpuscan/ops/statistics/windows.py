"""Statistics of the rows in a window, as operators over float64.

NaN and infinite values count as missing, as in pandas. An answer does not depend on `min_periods`: users of an
operator count the observations in each window and write nulls where there are too few.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from ...frames.types import Values
from ...kernels import BUILT_IN, Operator
from ...kernels.late_dataclass import dataclass
from ...kernels.operators.built_in import observed_if_finite
from ...kernels.operators.compensated import NOTHING_LOST, lost
from ...kernels.operators.numerics import quotient, root, share
from ...kernels.operators.operator import Element, State
from .inputs import VALUES, Inputs

INFINITE = float("inf")

# Elements are lifted field by field, each with its own test ``x - x == 0.0``, which is false for NaN and infinite
# values: with one choice between whole tuples, or a helper for the test, a scan takes up to twice as long.


# --- extremes, the first and the last --------------------------------------------------------------------


def _min_lift(x: Element) -> Any:
    seen = x - x == 0.0
    return x if seen else INFINITE


def _min(a: State, b: State) -> Any:
    return min(a, b)


def _max_lift(x: Element) -> Any:
    seen = x - x == 0.0
    return x if seen else -INFINITE


def _max(a: State, b: State) -> Any:
    return max(a, b)


def _if_finite(s: State) -> Any:
    return s if s - s == 0.0 else np.nan


def _seen_lift(x: Element) -> Any:
    seen = x - x == 0.0
    return (x if seen else 0.0, seen)


def _if_seen(s: State) -> Any:
    return s[0] if s[1] else np.nan


# --- moments: state (count, mean, sums of the powers of distances from it: the second, the third, the fourth) -------


_moments = BUILT_IN["welford"].combine


def _skew_lift(x: Element) -> Any:
    seen = x - x == 0.0
    return (1.0 if seen else 0.0, x if seen else 0.0, 0.0, 0.0)


def _skew_combine(a: State, b: State) -> Any:
    n = a[0] + b[0]
    q = share(b[0], n)
    p = 1.0 - q
    d = b[1] - a[1]
    m2 = a[2] + b[2] + d * d * a[0] * q
    m3 = a[3] + b[3] + d * d * d * a[0] * q * (p - q) + 3.0 * d * (p * b[2] - q * a[2])
    return (n, a[1] + d * q, m2, m3)


def _skew(s: State) -> Any:
    n, m2 = s[0], s[2]
    if n < 3.0 or m2 <= 0.0:
        return np.nan
    return root(n - 1.0) * n / (n - 2.0) * (s[3] / m2 / root(m2))


def _kurt_lift(x: Element) -> Any:
    seen = x - x == 0.0
    return (1.0 if seen else 0.0, x if seen else 0.0, 0.0, 0.0, 0.0)


def _kurt_combine(a: State, b: State) -> Any:
    n = a[0] + b[0]
    q = share(b[0], n)
    p = 1.0 - q
    d = b[1] - a[1]
    dd = d * d
    across = dd * a[0] * q
    m2 = a[2] + b[2] + across
    m3 = a[3] + b[3] + across * d * (p - q) + 3.0 * d * (p * b[2] - q * a[2])
    m4 = a[4] + b[4] + across * dd * (p * p - p * q + q * q)
    m4 = m4 + 6.0 * dd * (p * p * b[2] + q * q * a[2]) + 4.0 * d * (p * b[3] - q * a[3])
    return (n, a[1] + d * q, m2, m3, m4)


def _kurt(s: State) -> Any:
    n, m2 = s[0], s[2]
    if n < 4.0 or m2 <= 0.0:
        return np.nan
    tails = (n * n - 1.0) * (s[4] / m2 / m2) * n - 3.0 * (n - 1.0) * (n - 1.0)
    return tails / ((n - 2.0) * (n - 3.0))


def _sem_lift(x: Element, valid: Values) -> Any:
    seen = x - x == 0.0
    return (1.0 if seen else 0.0, x if seen else 0.0, 0.0, valid)


def _sem_combine(a: State, b: State) -> Any:
    n = a[0] + b[0]
    q = share(b[0], n)
    d = b[1] - a[1]
    return (n, a[1] + d * q, a[2] + b[2] + d * d * a[0] * q, a[3] + b[3])


# --- two inputs: state (count, both means, what these have lost, sum of products of distances, of corr also squares) --

# A mean comes with its rounding error, so that distances from it are as exact as those from a mean near zero.


def _pair_lift(x: Element, y: Element) -> Any:
    both = (x - x == 0.0) & (y - y == 0.0)
    values = x if both else 0.0, y if both else 0.0
    return (1.0 if both else 0.0, values[0], values[1], NOTHING_LOST, NOTHING_LOST, 0.0)


def _cov_combine(a: State, b: State) -> Any:
    n = a[0] + b[0]
    q = share(b[0], n)
    d, e, rest, other = b[1] - a[1], b[2] - a[2], b[3] - a[3], b[4] - a[4]
    x, y = a[1] + d * q, a[2] + e * q
    x_lost = a[3] + rest * q + lost(a[1], d * q, x)
    y_lost = a[4] + other * q + lost(a[2], e * q, y)
    return (n, x, y, x_lost, y_lost, a[5] + b[5] + (d + rest) * (e + other) * a[0] * q)


def _corr_lift(x: Element, y: Element) -> Any:
    both = (x - x == 0.0) & (y - y == 0.0)
    values = x if both else 0.0, y if both else 0.0
    return (1.0 if both else 0.0, values[0], values[1], NOTHING_LOST, NOTHING_LOST, 0.0, 0.0, 0.0)


def _corr_combine(a: State, b: State) -> Any:
    n = a[0] + b[0]
    q = share(b[0], n)
    d, e, rest, other, w = b[1] - a[1], b[2] - a[2], b[3] - a[3], b[4] - a[4], a[0] * q
    x, y = a[1] + d * q, a[2] + e * q
    x_lost = a[3] + rest * q + lost(a[1], d * q, x)
    y_lost = a[4] + other * q + lost(a[2], e * q, y)
    d, e = d + rest, e + other
    products = a[5] + b[5] + d * e * w
    return (n, x, y, x_lost, y_lost, products, a[6] + b[6] + d * d * w, a[7] + b[7] + e * e * w)


def _corr(s: State) -> Any:
    if s[6] <= 0.0 or s[7] <= 0.0:
        return np.nan
    return max(-1.0, min(1.0, s[5] / (root(s[6]) * root(s[7]))))


# --- the operators ---------------------------------------------------------------------------------------

_NO_MOMENTS = (0.0, 0.0, 0.0)
_NO_PAIRS = (0.0, 0.0, 0.0, NOTHING_LOST, NOTHING_LOST)

MIN = Operator(_min, INFINITE, _min_lift, _if_finite, name="min")
MAX = Operator(_max, -INFINITE, _max_lift, _if_finite, name="max")
FIRST = Operator(BUILT_IN["first"].combine, (0.0, False), _seen_lift, _if_seen, name="first")
LAST = Operator(BUILT_IN["last"].combine, (0.0, False), _seen_lift, _if_seen, name="last")
SKEW = Operator(_skew_combine, (0.0,) * 4, _skew_lift, _skew, name="skew")
KURT = Operator(_kurt_combine, (0.0,) * 5, _kurt_lift, _kurt, name="kurt")
CORR = Operator(_corr_combine, _NO_PAIRS + (0.0,) * 3, _corr_lift, _corr, name="correlation")


# Answers are computed whether or not there are enough observations, so that a GPU's threads need not take turns.


def var(ddof: int = 1) -> Operator:
    """Return the operator of variances."""
    most = max(ddof, 0)

    def answer(s: State) -> Any:
        found = quotient(s[2], s[0] - ddof)
        return found if s[0] > most else np.nan

    return Operator(_moments, _NO_MOMENTS, observed_if_finite, answer, name="var")


def std(ddof: int = 1) -> Operator:
    """Return the operator of standard deviations."""
    most = max(ddof, 0)

    def answer(s: State) -> Any:
        found = root(quotient(s[2], s[0] - ddof))
        return found if s[0] > most else np.nan

    return Operator(_moments, _NO_MOMENTS, observed_if_finite, answer, name="std")


def sem(ddof: int = 1) -> Operator:
    """Return the operator of standard errors of the mean."""

    def answer(s: State) -> Any:
        if s[0] <= ddof or s[0] <= 0.0:
            return np.nan
        return root(quotient(s[2], s[0] - ddof)) / root(s[3])

    return Operator(_sem_combine, (0.0,) * 4, _sem_lift, answer, name="sem")


def cov(ddof: int = 1) -> Operator:
    """Return the operator of covariances."""
    most = max(ddof, 0)

    def answer(s: State) -> Any:
        found = quotient(s[5], s[0] - ddof)
        return found if s[0] > most else np.nan

    return Operator(_cov_combine, (*_NO_PAIRS, 0.0), _pair_lift, answer, name="covariance")


@dataclass(frozen=True)
class WindowStatistic:
    """How windows are reduced to a statistic.

    Parameters
    ----------
    make : callable
        Returns the operator, given the options.
    inputs : Inputs
        How the operator's inputs are read from columns.
    enough : callable, optional
        Returns, given the options, how many observations always have an answer; by default, it depends on
        their values.
    counts : bool
        Whether the first field of states is the number of observations; not with ``reproducible``.
    uncounted : Operator, optional
        A faster operator, without options, for windows that all have an observation.
    picks : Operator, optional
        If the answer is one of the values, the operator that picks it among integers, exactly.
    """

    make: Callable[..., Operator]
    inputs: Inputs = VALUES
    enough: Callable[..., int] | None = None
    counts: bool = True
    uncounted: Operator | None = None
    picks: Operator | None = None
