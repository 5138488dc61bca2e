"""Statistics of groups: the operators that reduce values to states, and the functions from states to answers."""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache
from typing import Any

import numpy as np

from ...frames.types import Values
from ...kernels import BUILT_IN, Operator
from ...kernels.late_dataclass import dataclass
from ...kernels.operators.operator import Element, State
from ...kernels.scan import carry_in_from
from ..core.groups import States

FLOAT64 = np.dtype(np.float64)

# --- operators ---------------------------------------------------------------------------------------


def _seen_first(dtype: np.dtype) -> Any:
    return (dtype.type(0), False)


def _with_flag(x: Element) -> Any:
    return (x, True)


@lru_cache(maxsize=16)
def seeing(extreme: Operator) -> Operator:
    """The operator that also knows whether there was a value: state (value, seen)."""
    choose = extreme.combine

    def combine(a: State, b: State) -> Any:
        if not a[1]:
            return b
        if not b[1]:
            return a
        return (choose(a[0], b[0]), True)

    return Operator(combine, _seen_first, _with_flag, name=f"seen-{extreme.name}", inputs=1)


def _changes(a: State, b: State) -> Any:
    if a[0] == 0:
        return b
    if b[0] == 0:
        return a
    same = a[2] == b[1] or (a[2] != a[2] and b[1] != b[1])  # NaN equals NaN
    return (a[0] + b[0] - same, a[1], b[2])


def _no_changes(dtype: np.dtype) -> Any:
    return (0, dtype.type(0), dtype.type(0))


def _one(x: Element) -> Any:
    return (1, x, x)


CHANGES = Operator(_changes, _no_changes, _one, name="changes", inputs=1)
"""State: (runs of equal values, first value, last value)."""


def _halves(a: State, b: State) -> Any:
    return (a[0] + b[0], a[1] + b[1], a[2] + b[2])


def _half(x: Element) -> Any:
    return (1, x >> 32, x & 0xFFFFFFFF)


SUM_OF_TIMES = Operator(_halves, (0, 0, 0), _half, name="sum-time")
"""State: (number of values, sums of their upper and lower halves), as the sum of times may need more than 64 bits."""


def _add(a: State, b: State) -> Any:
    return a + b


COUNT = Operator(_add, 0, name="count", inputs=1)


# --- from states to answers: values, and where they are null ------------------------------------------


def itself(numbers: Values, s: States) -> Any:
    """Return the first field, which is never null."""
    return s[0], None


def if_seen(numbers: Values, s: States) -> Any:
    """Return the first field, null where the second one is False: there was no value."""
    return s[0], ~s[1]


def if_counted(numbers: Values, s: States) -> Any:
    """Return the first field, null where the second one counted no values."""
    return s[0], s[1] == 0


def corrected(numbers: Values, total: Values, error: Values) -> Any:
    """Return sums of groups with their rounding errors, except infinite ones; no sum is -0.0."""
    found = numbers.asarray(total + error)
    numbers.copyto(found, numbers.asarray(total), where=found != found)
    return found


def total(numbers: Values, s: States) -> Any:
    """Return the sums, given these, or for floating-point numbers the states of `compensated.SUM`; none is null."""
    return (corrected(numbers, *s) if len(s) > 1 else s[0]), None


def mean_of_sums(numbers: Values, s: States) -> Any:
    """Return the means, given the states of `compensated.MEAN`, null where there are no values."""
    none = s[0] == 0
    return corrected(numbers, *s[1:]) / numbers.where(none, 1.0, s[0]), none


def mean_of_times(numbers: Values, s: States) -> Any:
    """Return the means of times, given the states of `SUM_OF_TIMES`."""
    none = s[0] == 0
    n = numbers.where(none, 1, s[0])
    whole, rest = s[1] // n, s[1] % n
    rest = (rest << 32) + s[2] % n
    floor = (whole << 32) + s[2] // n + rest // n
    return floor + ((floor < 0) & (rest % n != 0)), none  # rounded towards 0, as by pandas


def sum_of_times(numbers: Values, s: States) -> Any:
    """Return the sums of times, given the states of `SUM_OF_TIMES`."""
    high, low = s[1] + (s[2] >> 32), s[2] & 0xFFFFFFFF
    limit = 1 << 31
    is_nat = (high == -limit) & (low == 0)
    if bool(((high < -limit) | (high >= limit) | is_nat).any()):
        raise OverflowError
    return (high << 32) + low, None


def product(numbers: Values, s: States) -> Any:
    """Return the products, given these or the states of their carry operator."""
    return (carry_in_from(BUILT_IN["multiply"], s, FLOAT64) if len(s) > 1 else s[0]), None


@dataclass(frozen=True)
class _Spread:
    """The variance, its root, or the root of the variance of the mean."""

    ddof: int
    name: str

    def __call__(self, numbers: Values, s: States) -> Any:
        few = s[0] <= self.ddof
        spread = s[2] / numbers.where(few, 1.0, s[0] - self.ddof)
        if self.name == "sem":
            spread = spread / numbers.where(few, 1.0, s[0])
        return spread if self.name == "var" else numbers.sqrt(spread), few


@dataclass(frozen=True, eq=False)
class Reduction:
    """How groups are reduced to a statistic.

    Parameters
    ----------
    name : str
        Also the library's, which is asked for the dtype of the answer.
    op : Operator
    finish : callable
        ``finish(numbers, states) -> (values, missing)``. Raises an OverflowError for answers that do not fit.
    of : {"values", "valid", "rows"}
        The input: values, whether there is a value, or rows.
    wide : bool
        Whether states have the dtype of the answer; floating-point states are always float64.
    of_floats : pair of operators, optional
        The operators for answers of float64, with states of several fields, and of float32.
    over_nan : Operator, optional
        For an extreme: the operator that skips NaN, for columns in which NaN is not null, such as Arrow's. States
        then also say whether there was a value (`seeing`).
    nan_field : int, optional
        The field of its states that is NaN once an element was NaN; only where every NaN shows.
    library_has : bool
        Whether libraries know the dtype of answers, by this name or `dtype_of`; else it is int64.
    picks : {"first", "last"}, optional
        Which value is chosen, so that columns of any dtype are reduced.
    compares : bool
        Whether it compares values alone, so that columns of any dtype are reduced.
    by_library : bool
        Whether the library's method may reduce columns that kernels do not, and also its own answers.
    null_if_none : bool
        Whether some libraries answer null for groups without values.
    times, checked_times : Reduction, optional
        The reduction of times, and of times for which the library raises if an answer does not fit.
    dtype_of : str, optional
        The library's reduction that has its dtype, if that is not `name`.
    ddof : int, optional
        Degrees of freedom, of those that take them.
    lowers : bool
        Whether the operator lowers its states to answers, which `finish` gets before their fields.
    """

    name: str
    op: Operator
    finish: Callable[[Any, States], Any]
    of: str = "values"
    wide: bool = False
    of_floats: tuple[Operator, Operator] | None = None
    over_nan: Operator | None = None
    nan_field: int | None = None
    library_has: bool = True
    picks: str | None = None
    compares: bool = False
    by_library: bool = False
    null_if_none: bool = False
    times: Reduction | None = None
    checked_times: Reduction | None = None
    dtype_of: str | None = None
    ddof: int | None = None
    lowers: bool = False

    def __dask_tokenize__(self) -> tuple[Any, ...]:
        return (self.name, self.op.token, self.of, self.wide, self.ddof)


@lru_cache(maxsize=256)
def spread(name: str, ddof: int = 1) -> Reduction:
    """Return the reduction to the variance, the standard deviation or the standard error of the mean."""
    dtype_of = "var" if name == "var" else "std"
    finish = _Spread(ddof, name)
    return Reduction(name, BUILT_IN["welford"], finish, nan_field=1, dtype_of=dtype_of, ddof=ddof)
