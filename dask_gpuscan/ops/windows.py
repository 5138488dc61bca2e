"""Windows that grow from the first row, or from the first of each group: expanding statistics and ewm means.

Each statistic is an operator over float64, a table below; rows with too few observations are null. Infinite
values count as missing, as in pandas.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import numpy as np

from ..frames.messages import column_title
from ..frames.protocol import Library
from ..frames.registry import library_of
from ..kernels import BUILT_IN, Operator, is_array
from .groups import Groups, ReducibleGroups, States, fields_of, folded, merged, state_of

_ADD = BUILT_IN["add"]

_EMPTY = float("inf")


def _finite(x: Any) -> Any:
    return x - x == 0.0


# Sums carry what rounding lost (two-sum: Knuth, The Art of Computer Programming 2, 4.2.2), as pandas' do:
# state (count, sum, error). A sum begins with -0.0, which leaves even that as it is.


def _sum_lift(x: Any) -> Any:
    return (1.0, x, 0.0) if _finite(x) else (0.0, -0.0, 0.0)


def _sum(a: Any, b: Any) -> Any:
    total = a[1] + b[1]
    part = total - a[1]
    lost = (a[1] - (total - part)) + (b[1] - part)
    return (a[0] + b[0], total, a[2] + b[2] + lost)


def _corrected(s: Any) -> Any:
    if s[0] == 0.0:
        return 0.0
    return s[1] + s[2] if s[2] != 0.0 else s[1]


def _mean(s: Any) -> Any:
    return (s[1] + s[2] if s[2] != 0.0 else s[1]) / s[0]


def _min_lift(x: Any) -> Any:
    return x if _finite(x) else _EMPTY


def _min(a: Any, b: Any) -> Any:
    return min(a, b)


def _max_lift(x: Any) -> Any:
    return x if _finite(x) else -_EMPTY


def _max(a: Any, b: Any) -> Any:
    return max(a, b)


def _some(s: Any) -> Any:
    return s if _finite(s) else np.nan


def _moments_lift(x: Any) -> Any:
    return (1.0, x, 0.0) if _finite(x) else (0.0, 0.0, 0.0)


_moments = BUILT_IN["welford"].combine


def _count(a: Any, b: Any) -> Any:
    return a + b


SUM = Operator(_sum, (0.0, -0.0, 0.0), _sum_lift, _corrected, name="expanding-sum")
MEAN = Operator(_sum, (0.0, -0.0, 0.0), _sum_lift, _mean, name="expanding-mean")
MIN = Operator(_min, _EMPTY, _min_lift, _some, name="expanding-min")
MAX = Operator(_max, -_EMPTY, _max_lift, _some, name="expanding-max")
COUNT = Operator(_count, 0.0, name="expanding-count")


@lru_cache(maxsize=64)
def variance(ddof: int, root: bool) -> Operator:
    """Return the operator of the running variance or standard deviation (Chan et al. 1979)."""

    def lower(s: Any) -> Any:
        return s[2] / (s[0] - ddof) if s[0] > ddof else np.nan

    def lower_root(s: Any) -> Any:
        return math.sqrt(s[2] / (s[0] - ddof)) if s[0] > ddof else np.nan

    name = "expanding-std" if root else "expanding-var"
    lowered = lower_root if root else lower
    return Operator(_moments, (0.0, 0.0, 0.0), _moments_lift, lowered, name=name)


# Exponentially weighted means take the decay, 1 - alpha, as a second input that has the same value in
# every row, so that one compiled kernel serves every alpha.
#
# With adjust, it is a mean of means, weighted: state (seen, decay of these rows, mean, weight).


def _weighted(a: Any, b: Any) -> Any:
    decay = a[1] * b[1]
    if not b[0]:
        return (a[0], decay, a[2], a[3] * b[1])
    if not a[0]:
        return (True, decay, b[2], b[3])
    weight = a[3] * b[1] + b[3]
    share = b[3] / weight if weight > 0.0 else 1.0  # weights that vanished: the later mean counts
    return (True, decay, a[2] + (b[2] - a[2]) * share, weight)


def _weighted_lift(x: Any, decay: Any) -> Any:
    return (True, decay, x, 1.0) if _finite(x) else (False, decay, 0.0, 0.0)


def _weighted_lift_ignore(x: Any, decay: Any) -> Any:
    return (True, decay, x, 1.0) if _finite(x) else (False, 1.0, 0.0, 0.0)


def _weighted_lower(s: Any) -> Any:
    return s[2] if s[0] else np.nan


_NOTHING = (False, 1.0, 0.0, 0.0)


# Without adjust, y = (w * y + alpha * x) / (w + alpha) where w = decay ** (rows since the last value): a
# linear recurrence whose coefficients depend on the gap, so the state keeps the rows before its first
# value (lead) and after its last (trail), its first value, and the map (slope, offset) from there:
# (seen, lead, first, slope, offset, trail, decay).


def _recurrence(a: Any, b: Any) -> Any:
    if not b[0]:
        if not a[0]:
            return (False, a[1] + b[1], 0.0, 1.0, 0.0, 0.0, max(a[6], b[6]))
        return (True, a[1], a[2], a[3], a[4], a[5] + b[1], a[6])
    if not a[0]:
        return (True, a[1] + b[1], b[2], b[3], b[4], b[5], b[6])
    decay = b[6]
    gap = a[5] + b[1] + 1.0
    weight = decay if gap == 1.0 else decay**gap
    fresh = 1.0 - weight if decay == 0.5 else 1.0 - decay  # pandas weighs gaps otherwise for com=1
    kept = weight / (weight + fresh)
    slope = b[3] * kept * a[3]
    offset = b[3] * (kept * a[4] + (1.0 - kept) * b[2]) + b[4]
    return (True, a[1], a[2], slope, offset, b[5], decay)


def _recurrence_lift(x: Any, decay: Any) -> Any:
    if _finite(x):
        return (True, 0.0, x, 1.0, 0.0, 0.0, decay)
    return (False, 1.0, 0.0, 1.0, 0.0, 0.0, decay)


def _recurrence_lift_ignore(x: Any, decay: Any) -> Any:
    if _finite(x):
        return (True, 0.0, x, 1.0, 0.0, 0.0, decay)
    return (False, 0.0, 0.0, 1.0, 0.0, 0.0, decay)


def _recurrence_lower(s: Any) -> Any:
    return s[3] * s[2] + s[4] if s[0] else np.nan


_START = (False, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0)

EWM: dict[tuple[bool, bool], Operator] = {
    (True, False): Operator(_weighted, _NOTHING, _weighted_lift, _weighted_lower, name="ewm-mean"),
    (True, True): Operator(
        _weighted, _NOTHING, _weighted_lift_ignore, _weighted_lower, name="ewm-mean-ignore"
    ),
    (False, False): Operator(
        _recurrence, _START, _recurrence_lift, _recurrence_lower, name="ewm-recurrence"
    ),
    (False, True): Operator(
        _recurrence,
        _START,
        _recurrence_lift_ignore,
        _recurrence_lower,
        name="ewm-recurrence-ignore",
    ),
}
"""Operators of ``ewm().mean()`` by (adjust, ignore_na)."""


@dataclass(frozen=True)
class Window:
    """A statistic over all rows so far, of a column of numbers, in groups or not.

    The states are those of the operator, then the number of observations.
    """

    label: str
    op: Operator
    min_periods: int
    decay: float | None = None
    every_row: bool = False
    """Whether each row is an observation, null or not; else each finite value is one."""
    reverse = False
    needs_neighbours = False

    def dtype(self, columns: Sequence[Any]) -> Any:
        column = columns[0]
        if not library_of(column).is_number(column.dtype) or column.dtype.kind == "c":
            raise TypeError(
                f"{self.label} of {column_title(column)}: dtype {column.dtype} is not a real number; choose numeric "
                f"columns, or cast it with astype"
            )
        return np.dtype(np.float64)

    def _inputs(self, column: Any) -> Any:
        library = library_of(column)
        if self.every_row:
            return library.valid(column).astype(np.float64)
        values = library.floats(column)
        if self.decay is None:
            return values
        xp = library.xp
        return values, xp.broadcast_to(xp.asarray(self.decay, np.float64), values.shape)

    def _observations(self, inputs: Any) -> Any:
        """One in each row that is an observation."""
        values = fields_of(inputs)[0]
        return (np.isfinite(values) | self.every_row).astype(np.int64)

    def aggregate(self, columns: Sequence[Any], groups: ReducibleGroups) -> Callable[[], States]:
        inputs = self._inputs(columns[0])
        read = groups.reduce(self.op, inputs)
        if groups.is_one:
            return lambda: (*read(), self._observed_in(inputs, 0)[0])
        observed = groups.reduce(_ADD, self._observations(inputs))
        return lambda: (*read(), *observed())

    def combine(self, states: Sequence[States]) -> States:
        observed = sum(s[-1] for s in states)
        return (*folded(self.op, [s[:-1] for s in states]), observed)

    def merge(self, library: Library, states: States, groups: ReducibleGroups) -> States:
        return (*merged(self.op, states[:-1], groups), *merged(_ADD, states[-1:], groups))

    def apply(self, columns: Sequence[Any], groups: Groups, prior: States | None) -> Any:
        inputs = self._inputs(columns[0])
        state, observed = (None, None) if prior is None else (state_of(prior[:-1]), prior[-1])
        out = groups.scan(self.op, inputs, carry_in=state)
        if groups.is_one:
            _, few = self._observed_in(inputs, int(observed or 0))
            out[:few] = np.nan
        else:
            before = observed if observed is None or is_array(observed) else np.int64(observed)
            flags = self._observations(inputs)
            out[groups.scan(_ADD, flags, carry_in=before) < self.min_periods] = np.nan
        return library_of(columns[0]).from_floats(out)

    def _observed_in(self, inputs: Any, observed: int) -> tuple[int, int]:
        """Count observations up to `min_periods`; also the rows that come before there are enough."""
        values = fields_of(inputs)[0]
        done, chunk = 0, 64
        while observed < self.min_periods and done < len(values):
            piece = values[done : done + chunk]
            valid = (np.isfinite(piece) | self.every_row).nonzero()[0]
            needed = self.min_periods - observed
            if len(valid) >= needed:
                return self.min_periods, done + int(valid[needed - 1])
            observed += len(valid)
            done, chunk = done + chunk, 4 * chunk
        return observed, 0 if observed >= self.min_periods else len(values)
