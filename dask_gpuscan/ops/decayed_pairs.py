"""Exponentially weighted statistics of two inputs, adjusted, as operators; states are as those of `decayed`."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from ..kernels import Operator
from ..kernels.numerics import flushed, quotient
from .decay import Decay

# --- covariances: state (lead, both means, sum of products, of weights, of squares of weights, trail) -----


def _products(a: Any, b: Any) -> Any:
    if b[4] > 0.0:
        f = a[6] * b[0]
        before = a[4] * f
        weight = before + b[4]
        q = quotient(b[4], weight)
        d, e = b[1] - a[1], b[2] - a[2]
        products = a[3] * f + b[3] + d * e * before * q
        squares = a[5] * f * f + b[5]
        return (flushed(a[0] * f), a[1] + d * q, a[2] + e * q, products, weight, squares, b[6])
    return (a[0], a[1], a[2], a[3], a[4], a[5], flushed(a[6] * b[6]))


def _biased_products(s: Any) -> Any:
    return s[3] / s[4] if s[4] > 0.0 else np.nan


def _unbiased_products(s: Any) -> Any:
    room = s[4] * s[4] - s[5]
    return s[3] * s[4] / room if room > 0.0 else np.nan


def covariances(decay: Decay, bias: bool = False) -> Operator:
    """Return the operator of weighted covariances of two inputs."""
    kept, null = 1.0 - decay.alpha, decay.of_null

    def lift(x: Any, y: Any) -> Any:
        both = (x - x == 0.0) & (y - y == 0.0)
        one = 1.0 if both else 0.0
        values = x if both else 0.0, y if both else 0.0
        return (kept if both else 1.0, values[0], values[1], 0.0, one, one, 1.0 if both else null)

    lower = _biased_products if bias else _unbiased_products
    return Operator(_products, (1.0, 0.0, 0.0, 0.0, 0.0, 0.0, 1.0), lift, lower, name="ewm-cov")


# --- correlations: state (lead, both means, sum of products, of squares of each, of weights, trail) -----


def _correlated(a: Any, b: Any) -> Any:
    if b[6] > 0.0:
        f = a[7] * b[0]
        before = a[6] * f
        weight = before + b[6]
        q = quotient(b[6], weight)
        d, e, w = b[1] - a[1], b[2] - a[2], before * q
        products = a[3] * f + b[3] + d * e * w
        xx, yy = a[4] * f + b[4] + d * d * w, a[5] * f + b[5] + e * e * w
        return (flushed(a[0] * f), a[1] + d * q, a[2] + e * q, products, xx, yy, weight, b[7])
    return (a[0], a[1], a[2], a[3], a[4], a[5], a[6], flushed(a[7] * b[7]))


def _correlation(s: Any) -> Any:
    if s[4] <= 0.0 or s[5] <= 0.0:
        return np.nan
    return max(-1.0, min(1.0, s[3] / (math.sqrt(s[4]) * math.sqrt(s[5]))))


def correlations(decay: Decay) -> Operator:
    """Return the operator of weighted correlations of two inputs."""
    kept, null = 1.0 - decay.alpha, decay.of_null

    def lift(x: Any, y: Any) -> Any:
        both = (x - x == 0.0) & (y - y == 0.0)
        one, lead, trail = 1.0 if both else 0.0, kept if both else 1.0, 1.0 if both else null
        return (lead, x if both else 0.0, y if both else 0.0, 0.0, 0.0, 0.0, one, trail)

    start = (1.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 1.0)
    return Operator(_correlated, start, lift, _correlation, name="ewm-corr")
