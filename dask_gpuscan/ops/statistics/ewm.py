"""Exponentially weighted statistics, as operators over float64 whose functions capture the decay.

A row's decay is ``1 - alpha``, or one where `ignore_na` passes over a null. So that a weight never vanishes in a gap, a
state is not decayed behind its last value: `lead` is the decay up to its first value, and `trail` that behind its last.
The decay between the values of two states is ``trail * lead``. NaN and infinite values, for which ``x - x`` is not
zero, count as missing.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np

from ...kernels import Operator
from ...kernels.late_dataclass import dataclass
from ...kernels.operators.numerics import flushed, quotient, root
from ...kernels.operators.operator import Element, State


@dataclass(frozen=True)
class Decay:
    """How fast weights decay.

    Parameters
    ----------
    alpha : float
        The share of the last value, of a row or of a half-life.
    adjust, ignore_na : bool
        As for `pandas.DataFrame.ewm`.
    halflife : float, optional
        In units of the times that are a second input; without, rows are evenly spaced.
    as_pandas : bool, default False
        Whether a mean that is not adjusted weighs a value after a gap as pandas does if alpha is a half: by one less
        the decay, rather than by alpha.
    """

    alpha: float
    adjust: bool
    ignore_na: bool
    halflife: float | None = None
    as_pandas: bool = False

    @property
    def of_null(self) -> float:
        """The decay of a row that is null."""
        return 1.0 if self.ignore_na else 1.0 - self.alpha


# --- sums: state (decay, sum) ----------------------------------------------------------------------------


def _sum(a: State, b: State) -> Any:
    return (flushed(a[0] * b[0]), a[1] * b[0] + b[1])


def _second(s: State) -> Any:
    return s[1]


def sums(decay: Decay) -> Operator:
    """Return the operator of weighted sums."""
    kept, null = 1.0 - decay.alpha, decay.of_null

    def lift(x: Element) -> Any:
        seen = x - x == 0.0
        return (kept if seen else null, x if seen else 0.0)

    return Operator(_sum, (1.0, 0.0), lift, _second, name="ewm-sum")


# --- means, adjusted: state (lead, last value, weighted sum of distances from it, sum of weights, trail) ----------
#
# Distances from the last value make a mean of equal values exactly that value, and need no division but one a row.


def _mean(a: State, b: State) -> Any:
    seen = b[3] > 0.0
    f = a[4] * b[0] if seen else 1.0
    last = b[1] if seen else a[1]
    return (
        flushed(a[0] * f),
        last,
        flushed(f * (a[2] + a[3] * (a[1] - last))) + b[2],
        a[3] * f + b[3],
        b[4] if seen else flushed(a[4] * b[4]),
    )


def _mean_of(s: State) -> Any:
    mean = s[1] + quotient(s[2], s[3])
    return mean if s[3] > 0.0 else np.nan


def _adjusted_mean(decay: Decay) -> Operator:
    kept, null = 1.0 - decay.alpha, decay.of_null

    def lift(x: Element) -> Any:
        seen = x - x == 0.0
        one = 1.0 if seen else 0.0
        return (kept if seen else 1.0, x if seen else 0.0, 0.0, one, 1.0 if seen else null)

    return Operator(_mean, (1.0, 0.0, 0.0, 0.0, 1.0), lift, _mean_of, name="ewm-mean")


# Over times: state (time of the last value, it, weighted sum of distances from it, sum of weights).


def _timed_lift(x: Element, time: Element) -> Any:
    seen = x - x == 0.0
    return (time if seen else 0.0, x if seen else 0.0, 0.0, 1.0 if seen else 0.0)


def _adjusted_mean_of_times(decay: Decay) -> Operator:
    assert decay.halflife is not None
    rate = -math.log1p(-decay.alpha) / decay.halflife if decay.alpha < 1.0 else math.inf

    def combine(a: State, b: State) -> Any:
        if b[3] > 0.0:
            f = math.exp((a[0] - b[0]) * rate) if a[3] > 0.0 else 0.0
            return (b[0], b[1], flushed(f * (a[2] + a[3] * (a[1] - b[1]))) + b[2], a[3] * f + b[3])
        return (a[0], a[1], a[2], a[3])

    return Operator(combine, (0.0,) * 4, _timed_lift, _mean_of, name="ewm-mean-times")


# --- means, not adjusted: state (lead, first value, slope, last value, distance of the mean from it, trail) --------
#
# After each value x, the mean is ``k * mean + (1 - k) * x`` with ``k = gap / (gap + alpha)``; the gap is the decay
# since the value before. The slope is the weight of a mean before the first value; below zero, there is no value.

_UNSEEN = -1.0


def _recurred(s: State) -> Any:
    return s[3] + s[4] if s[2] >= 0.0 else np.nan


def _onto(a: State, b: State, k: Element) -> Any:
    """The state of two stretches that both have values; the mean of the first has the weight `k` in that of both."""
    return (
        a[0],
        a[1],
        flushed(a[2] * k),
        b[3],
        b[4] + flushed(k * (a[4] + (a[3] - b[1]))),
        b[5],
    )


def _recurrence(decay: Decay) -> Operator:
    kept, null = 1.0 - decay.alpha, decay.of_null
    # in pandas, k is the gap itself
    share, rest = (0.0, 1.0) if decay.as_pandas and decay.alpha == 0.5 else (1.0, decay.alpha)

    def lift(x: Element) -> Any:
        seen = x - x == 0.0
        value = x if seen else 0.0
        slope = 1.0 if seen else _UNSEEN
        return (kept if seen else 1.0, value, slope, value, 0.0, 1.0 if seen else null)

    def combine(a: State, b: State) -> Any:
        if b[2] < 0.0:
            return (a[0], a[1], a[2], a[3], a[4], flushed(a[5] * b[5]))
        gap = a[5] * b[0]
        if a[2] < 0.0:
            return (gap, b[1], b[2], b[3], b[4], b[5])
        return _onto(a, b, b[2] * (gap / (share * gap + rest)))

    start = (1.0, 0.0, _UNSEEN, 0.0, 0.0, 1.0)
    return Operator(combine, start, lift, _recurred, name="ewm-mean")


def _timed_pair(x: Element, time: Element) -> Any:
    seen = x - x == 0.0
    value, when = x if seen else 0.0, time if seen else 0.0
    return (when, value, 1.0 if seen else _UNSEEN, value, 0.0, when)


def _recurrence_of_times(decay: Decay) -> Operator:
    assert decay.halflife is not None
    rate = math.log(2.0) / decay.halflife

    def combine(a: State, b: State) -> Any:
        if b[2] < 0.0:
            return a
        if a[2] < 0.0:
            return b
        return _onto(a, b, b[2] * math.exp((a[5] - b[0]) * rate))

    start = (0.0, 0.0, _UNSEEN, 0.0, 0.0, 0.0)
    return Operator(combine, start, _timed_pair, _recurred, name="ewm-mean-times")


def means(decay: Decay) -> Operator:
    """Return the operator of weighted means; of two inputs, values and times, if the decay has a half-life."""
    if decay.halflife is None:
        return _adjusted_mean(decay) if decay.adjust else _recurrence(decay)
    return _adjusted_mean_of_times(decay) if decay.adjust else _recurrence_of_times(decay)


# --- variances, adjusted: state (lead, mean, sum of squares, of weights, of squares of weights, trail) ---------------


def _squares(a: State, b: State) -> Any:
    if b[3] > 0.0:
        f = a[5] * b[0]
        before = a[3] * f
        weight = before + b[3]
        q = quotient(b[3], weight)
        d = b[1] - a[1]
        squares = a[2] * f + b[2] + d * d * before * q
        return (flushed(a[0] * f), a[1] + d * q, squares, weight, a[4] * f * f + b[4], b[5])
    return (a[0], a[1], a[2], a[3], a[4], flushed(a[5] * b[5]))


def _biased(s: State) -> Any:
    return s[2] / s[3] if s[3] > 0.0 else np.nan


def _unbiased(s: State) -> Any:
    room = s[3] * s[3] - s[4]  # none in one value
    return s[2] * s[3] / room if room > 0.0 else np.nan


def _root(lower: Callable[[Any], Any]) -> Callable[[Any], Any]:
    return lambda s: root(lower(s))


def _adjusted_squares(decay: Decay, lower: Callable[[Any], Any]) -> Operator:
    kept, null = 1.0 - decay.alpha, decay.of_null

    def lift(x: Element) -> Any:
        seen = x - x == 0.0
        one = 1.0 if seen else 0.0
        return (kept if seen else 1.0, x if seen else 0.0, 0.0, one, one, 1.0 if seen else null)

    return Operator(_squares, (1.0, 0.0, 0.0, 0.0, 0.0, 1.0), lift, lower, name="ewm-var")


# Not adjusted, weights add up to one, and the first value weighs what the others leave, which decays:
# state (lead, first value, its weight, mean of the others, sum of squares, of squares of weights, trail).


def _recurred_squares(s: State) -> Any:
    d = s[1] - s[3]
    return s[4] + d * d * s[2] * (1.0 - s[2])


def _biased_recurrence(s: State) -> Any:
    return _recurred_squares(s) if s[2] >= 0.0 else np.nan


def _unbiased_recurrence(s: State) -> Any:
    room = 1.0 - (s[2] * s[2] + s[5])
    return _recurred_squares(s) / room if s[2] >= 0.0 and room > 0.0 else np.nan


def _recurrence_of_squares(decay: Decay, lower: Callable[[Any], Any]) -> Operator:
    kept, null, alpha = 1.0 - decay.alpha, decay.of_null, decay.alpha

    def lift(x: Element) -> Any:
        seen = x - x == 0.0
        slope, value = 1.0 if seen else _UNSEEN, x if seen else 0.0
        return (kept if seen else 1.0, value, slope, 0.0, 0.0, 0.0, 1.0 if seen else null)

    def combine(a: State, b: State) -> Any:
        if b[2] < 0.0:
            return (a[0], a[1], a[2], a[3], a[4], a[5], flushed(a[6] * b[6]))
        gap = a[6] * b[0]
        if a[2] < 0.0:
            return (gap, b[1], b[2], b[3], b[4], b[5], b[6])
        share = gap / (gap + alpha)
        k = b[2] * share
        others, point, rest = k * (1.0 - a[2]), b[2] * (1.0 - share), 1.0 - b[2]
        # the others of a, then the first value of b, then the others of b
        some = others + point
        d = b[1] - a[3]
        p = point / some if some > 0.0 else 0.0
        mean = a[3] + d * p
        squares = a[4] * k + d * d * others * p + b[4]
        weight = some + rest
        e = b[3] - mean
        q = rest / weight if weight > 0.0 else 0.0
        squares = squares + e * e * some * q
        return (
            a[0],
            a[1],
            flushed(a[2] * k),
            mean + e * q,
            squares,
            a[5] * k * k + point * point + b[5],
            b[6],
        )

    start = (1.0, 0.0, _UNSEEN, 0.0, 0.0, 0.0, 1.0)
    return Operator(combine, start, lift, lower, name="ewm-var")


def variances(decay: Decay, bias: bool, root: bool) -> Operator:
    """Return the operator of weighted variances, or standard deviations."""
    make = _adjusted_squares if decay.adjust else _recurrence_of_squares
    if decay.adjust:
        lower = _biased if bias else _unbiased
    else:
        lower = _biased_recurrence if bias else _unbiased_recurrence
    return make(decay, _root(lower) if root else lower)
