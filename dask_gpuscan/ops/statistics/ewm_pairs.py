"""Exponentially weighted statistics of two inputs, as operators; states are like those of `ewm`."""

from __future__ import annotations

from typing import Any

import numpy as np

from ...kernels import Operator
from ...kernels.operators.numerics import flushed, quotient, root
from ...kernels.operators.operator import Element, State
from .ewm import Decay

# --- covariances, adjusted: state (lead, both means, sum of products, of weights, of squares of weights, trail) ------


def _products(a: State, b: State) -> Any:
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


def _biased_products(s: State) -> Any:
    return s[3] / s[4] if s[4] > 0.0 else np.nan


def _unbiased_products(s: State) -> Any:
    room = s[4] * s[4] - s[5]
    return s[3] * s[4] / room if room > 0.0 else np.nan


def _adjusted_products(decay: Decay, bias: bool) -> Operator:
    kept, null = 1.0 - decay.alpha, decay.of_null

    def lift(x: Element, y: Element) -> Any:
        both = (x - x == 0.0) & (y - y == 0.0)
        one = 1.0 if both else 0.0
        values = x if both else 0.0, y if both else 0.0
        return (kept if both else 1.0, values[0], values[1], 0.0, one, one, 1.0 if both else null)

    lower = _biased_products if bias else _unbiased_products
    return Operator(_products, (1.0, 0.0, 0.0, 0.0, 0.0, 0.0, 1.0), lift, lower, name="ewm-cov")


# --- correlations, adjusted: state (lead, both means, sum of products, of squares of each, of weights, trail) --------


def _correlated(a: State, b: State) -> Any:
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


def _correlation(s: State) -> Any:
    if s[4] <= 0.0 or s[5] <= 0.0:
        return np.nan
    return max(-1.0, min(1.0, s[3] / (root(s[4]) * root(s[5]))))


def _adjusted_correlations(decay: Decay) -> Operator:
    kept, null = 1.0 - decay.alpha, decay.of_null

    def lift(x: Element, y: Element) -> Any:
        both = (x - x == 0.0) & (y - y == 0.0)
        one, lead, trail = 1.0 if both else 0.0, kept if both else 1.0, 1.0 if both else null
        return (lead, x if both else 0.0, y if both else 0.0, 0.0, 0.0, 0.0, one, trail)

    start = (1.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 1.0)
    return Operator(_correlated, start, lift, _correlation, name="ewm-corr")


# --- not adjusted, weights add up to one, and the first pair weighs what the others leave, which decays: state (lead,
# first pair, its weight, means of the others, sum of products, then of squares of weights or of values, trail) --------

_UNSEEN = -1.0


def _shares(mine: Element, theirs: Element, gap: Element, alpha: Element) -> Any:
    """Return the weights of the pairs of two stretches, given the weights of their first pairs.

    They are the factor of the weights of the first stretch, the weight of the second's first pair, and, for that pair
    after all pairs before it and then for the second's other pairs, how far the mean moves towards them, and the weight
    of the product of the distances.
    """
    share = gap / (gap + alpha)
    k = theirs * share
    others, point, rest = k * (1.0 - mine), theirs * (1.0 - share), 1.0 - theirs
    some = others + point
    p = point / some if some > 0.0 else 0.0
    weight = some + rest
    q = rest / weight if weight > 0.0 else 0.0
    return k, point, p, others * p, q, some * q


def _recurred_product(s: State) -> Any:
    return s[6] + (s[1] - s[4]) * (s[2] - s[5]) * s[3] * (1.0 - s[3])


def _biased_recurrence(s: State) -> Any:
    return _recurred_product(s) if s[3] >= 0.0 else np.nan


def _unbiased_recurrence(s: State) -> Any:
    room = 1.0 - (s[3] * s[3] + s[7])
    return _recurred_product(s) / room if s[3] >= 0.0 and room > 0.0 else np.nan


def _recurrence_of_products(decay: Decay, bias: bool) -> Operator:
    kept, null, alpha = 1.0 - decay.alpha, decay.of_null, decay.alpha

    def lift(x: Element, y: Element) -> Any:
        both = (x - x == 0.0) & (y - y == 0.0)
        weight, lead, trail = 1.0 if both else _UNSEEN, kept if both else 1.0, 1.0 if both else null
        return (lead, x if both else 0.0, y if both else 0.0, weight, 0.0, 0.0, 0.0, 0.0, trail)

    def combine(a: State, b: State) -> Any:
        if b[3] < 0.0:
            return (a[0], a[1], a[2], a[3], a[4], a[5], a[6], a[7], flushed(a[8] * b[8]))
        gap = a[8] * b[0]
        if a[3] < 0.0:
            return (gap, b[1], b[2], b[3], b[4], b[5], b[6], b[7], b[8])
        k, point, p, v, q, w = _shares(a[3], b[3], gap, alpha)
        d, e = b[1] - a[4], b[2] - a[5]
        x, y = a[4] + d * p, a[5] + e * p
        f, g = b[4] - x, b[5] - y
        products = a[6] * k + d * e * v + b[6] + f * g * w
        squares = a[7] * k * k + point * point + b[7]
        return (a[0], a[1], a[2], flushed(a[3] * k), x + f * q, y + g * q, products, squares, b[8])

    start = (1.0, 0.0, 0.0, _UNSEEN, 0.0, 0.0, 0.0, 0.0, 1.0)
    lower = _biased_recurrence if bias else _unbiased_recurrence
    return Operator(combine, start, lift, lower, name="ewm-cov")


def _recurred_correlation(s: State) -> Any:
    d, e, w = s[1] - s[4], s[2] - s[5], s[3] * (1.0 - s[3])
    xx, yy = s[7] + d * d * w, s[8] + e * e * w
    if s[3] < 0.0 or xx <= 0.0 or yy <= 0.0:
        return np.nan
    return max(-1.0, min(1.0, (s[6] + d * e * w) / (root(xx) * root(yy))))


def _recurrence_of_correlations(decay: Decay) -> Operator:
    kept, null, alpha = 1.0 - decay.alpha, decay.of_null, decay.alpha

    def lift(x: Element, y: Element) -> Any:
        both = (x - x == 0.0) & (y - y == 0.0)
        weight, lead, trail = 1.0 if both else _UNSEEN, kept if both else 1.0, 1.0 if both else null
        values = x if both else 0.0, y if both else 0.0
        return (lead, values[0], values[1], weight, 0.0, 0.0, 0.0, 0.0, 0.0, trail)

    def combine(a: State, b: State) -> Any:
        if b[3] < 0.0:
            return (a[0], a[1], a[2], a[3], a[4], a[5], a[6], a[7], a[8], flushed(a[9] * b[9]))
        gap = a[9] * b[0]
        if a[3] < 0.0:
            return (gap, b[1], b[2], b[3], b[4], b[5], b[6], b[7], b[8], b[9])
        k, _, p, v, q, w = _shares(a[3], b[3], gap, alpha)
        d, e = b[1] - a[4], b[2] - a[5]
        x, y = a[4] + d * p, a[5] + e * p
        f, g = b[4] - x, b[5] - y
        products = a[6] * k + d * e * v + b[6] + f * g * w
        xx, yy = a[7] * k + d * d * v + b[7] + f * f * w, a[8] * k + e * e * v + b[8] + g * g * w
        weight = flushed(a[3] * k)
        return (a[0], a[1], a[2], weight, x + f * q, y + g * q, products, xx, yy, b[9])

    start = (1.0, 0.0, 0.0, _UNSEEN, 0.0, 0.0, 0.0, 0.0, 0.0, 1.0)
    return Operator(combine, start, lift, _recurred_correlation, name="ewm-corr")


def covariances(decay: Decay, bias: bool = False) -> Operator:
    """Return the operator of weighted covariances of two inputs."""
    return (_adjusted_products if decay.adjust else _recurrence_of_products)(decay, bias)


def correlations(decay: Decay) -> Operator:
    """Return the operator of weighted correlations of two inputs."""
    return (_adjusted_correlations if decay.adjust else _recurrence_of_correlations)(decay)
