"""The statistics, one row each: how groups and windows compute it, and its answer for no values.

Definitions of one statistic that differ in rounding are in its row, with a line that says why. A column that kernels
do not reduce, such as one of strings, is reduced by the library's own method of the same name, if the row says so
(`by_library`). Reductions that need values in order are in `groupby.sorted_values`.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache
from typing import Any

from ...kernels import BUILT_IN, Distinct, Operator, Quantile, Rank
from ...kernels.late_dataclass import dataclass
from ...kernels.operators import compensated, reproducible
from ...kernels.options import OrderStatistic
from ..scan.operator_traits import LARGEST_NUMBER, SMALLEST_NUMBER
from . import ewm, ewm_pairs, groups, windows
from .groups import CHANGES, COUNT, Reduction, if_counted, if_seen, itself, spread
from .inputs import PAIR, needs_more, needs_none, needs_one
from .windows import WindowStatistic


@dataclass(frozen=True)
class Statistic:
    """One statistic.

    Parameters
    ----------
    name : str
        The name of its methods, ours and the library's.
    of_none : number, optional
        The answer for no values; by default null.
    groups : Reduction, optional
        How groups are reduced; None if they have no such statistic.
    reproducible : Reduction, optional
        How groups of floating-point numbers are reduced to bits that depend on the numbers alone.
    windows : WindowStatistic, optional
        How rolling and expanding windows are reduced; None if they have no such statistic.
    weighted : callable, optional
        ``weighted(decay, **options)`` returns the operator of exponentially weighted windows; None if they have none.
    weighted_enough : int, optional
        How many observations always have a weighted answer; by default, it depends on their values.
    in_order : callable, optional
        ``in_order(**options)`` returns the order statistic of rolling and expanding windows.
    """

    name: str
    of_none: float | None = None
    groups: Reduction | None = None
    reproducible: Reduction | None = None
    windows: WindowStatistic | None = None
    weighted: Callable[..., Operator] | None = None
    weighted_enough: int | None = None
    in_order: Callable[..., OrderStatistic] | None = None


def _always(op: Operator) -> Callable[[], Operator]:
    return lambda: op


def _either(op: Operator, reproducible_op: Operator) -> Callable[..., Operator]:
    return lambda reproducible=False: reproducible_op if reproducible else op


_ROWS = (
    Statistic(
        "sum",
        of_none=0,
        groups=Reduction(
            "sum",
            BUILT_IN["add"],
            groups.total,
            wide=True,
            of_floats=compensated.SUMS,
            nan_field=0,
            by_library=True,
            null_if_none=True,
            checked_times=Reduction(
                "sum", groups.SUM_OF_TIMES, groups.sum_of_times, null_if_none=True
            ),
        ),
        reproducible=Reduction(
            "sum", BUILT_IN["add_reproducible"], itself, null_if_none=True, lowers=True
        ),
        windows=WindowStatistic(
            _either(compensated.FINITE_SUM, reproducible.FINITE_SUM),
            enough=needs_none,
            uncounted=compensated.UNCOUNTED_SUM,
        ),
        weighted=ewm.sums,
        weighted_enough=1,
    ),
    Statistic(
        "prod",
        of_none=1,
        groups=Reduction(
            "prod",
            BUILT_IN["multiply"],
            groups.product,
            wide=True,
            by_library=True,
            null_if_none=True,
        ),
    ),
    Statistic(
        "mean",
        groups=Reduction(
            "mean",
            compensated.MEAN,
            groups.mean_of_sums,
            nan_field=1,
            times=Reduction("mean", groups.SUM_OF_TIMES, groups.mean_of_times),
        ),
        reproducible=Reduction("mean", reproducible.MEAN, if_counted, lowers=True),
        # weighted means keep distances from the last value instead, so that a mean of equal values is that value
        windows=WindowStatistic(
            _either(compensated.FINITE_MEAN, reproducible.FINITE_MEAN), enough=needs_one
        ),
        weighted=ewm.means,
        weighted_enough=1,
    ),
    # infinite values are missing in windows; in groups they make the variance NaN
    Statistic(
        "var",
        groups=spread("var"),
        windows=WindowStatistic(windows.var, enough=needs_more),
        weighted=lambda decay, bias=False: ewm.variances(decay, bias, False),
    ),
    Statistic(
        "std",
        groups=spread("std"),
        windows=WindowStatistic(windows.std, enough=needs_more),
        weighted=lambda decay, bias=False: ewm.variances(decay, bias, True),
    ),
    # windows divide by the root of the number of values that are not null, infinite ones among them, as in pandas
    Statistic(
        "sem",
        groups=spread("sem"),
        windows=WindowStatistic(windows.sem, ((0, "values"), (0, "validity")), enough=needs_more),
    ),
    Statistic(
        "min",
        groups=Reduction(
            "min",
            BUILT_IN["minimum"],
            if_seen,
            over_nan=SMALLEST_NUMBER,
            by_library=True,
        ),
        windows=WindowStatistic(
            _always(windows.MIN), enough=needs_one, counts=False, picks=BUILT_IN["minimum"]
        ),
    ),
    Statistic(
        "max",
        groups=Reduction(
            "max",
            BUILT_IN["maximum"],
            if_seen,
            over_nan=LARGEST_NUMBER,
            by_library=True,
        ),
        windows=WindowStatistic(
            _always(windows.MAX), enough=needs_one, counts=False, picks=BUILT_IN["maximum"]
        ),
    ),
    Statistic(
        "any",
        of_none=False,
        groups=Reduction("any", BUILT_IN["logical_any"], itself, by_library=True),
    ),
    Statistic(
        "all",
        of_none=True,
        groups=Reduction("all", BUILT_IN["logical_all"], itself, by_library=True),
    ),
    Statistic(
        "count",
        of_none=0,
        groups=Reduction("count", COUNT, itself, "valid"),
        windows=WindowStatistic(
            _always(BUILT_IN["add"]), ((0, "validity"),), enough=needs_none, counts=False
        ),
    ),
    Statistic("size", of_none=0, groups=Reduction("size", COUNT, itself, "rows")),
    Statistic(
        "first",
        groups=Reduction("first", BUILT_IN["first"], if_seen, picks="first"),
        windows=WindowStatistic(
            _always(windows.FIRST), enough=needs_one, counts=False, picks=BUILT_IN["first"]
        ),
    ),
    Statistic(
        "last",
        groups=Reduction("last", BUILT_IN["last"], if_seen, picks="last"),
        windows=WindowStatistic(
            _always(windows.LAST), enough=needs_one, counts=False, picks=BUILT_IN["last"]
        ),
    ),
    Statistic(
        "nunique_consecutive",
        of_none=0,
        groups=Reduction("nunique_consecutive", CHANGES, itself, library_has=False, compares=True),
    ),
    Statistic("skew", windows=WindowStatistic(_always(windows.SKEW))),
    Statistic("kurt", windows=WindowStatistic(_always(windows.KURT))),
    Statistic(
        "cov",
        windows=WindowStatistic(windows.cov, PAIR, enough=needs_more),
        weighted=ewm_pairs.covariances,
    ),
    Statistic(
        "corr",
        windows=WindowStatistic(_always(windows.CORR), PAIR),
        weighted=ewm_pairs.correlations,
    ),
    Statistic("median", in_order=lambda: Quantile(0.5, "midpoint")),
    Statistic("quantile", in_order=Quantile),
    Statistic("rank", in_order=Rank),
    Statistic("nunique", of_none=0, in_order=Distinct),
)

STATISTICS = {row.name: row for row in _ROWS}
"""The statistics by name."""

REDUCTIONS = {row.name: row.groups for row in _ROWS if row.groups is not None}
"""How groups are reduced, by the name of the statistic."""

REPRODUCIBLE = {row.name: row.reproducible for row in _ROWS if row.reproducible is not None}
"""How groups of floating-point numbers are reduced to bits that depend on the numbers alone."""

WINDOWS = {row.name: row.windows for row in _ROWS if row.windows is not None}
"""How rolling and expanding windows are reduced."""

WEIGHTED = {row.name: row.weighted for row in _ROWS if row.weighted is not None}
"""The functions that make the operators of ``ewm``, from a `Decay` and, for var, std and cov, ``bias``."""

ORDER_STATISTICS = {row.name: row.in_order for row in _ROWS if row.in_order is not None}
"""The functions that make the order statistics of rolling and expanding windows from options."""

ROWS = Reduction("rows", COUNT, itself, "rows", library_has=False)
"""How the rows of groups of a frame are counted; no column is read."""


@lru_cache(maxsize=256)
def window_operator(name: str, **options: Any) -> Operator:
    """Return the operator of a statistic of rolling and expanding windows.

    Parameters
    ----------
    name : str
        A key of `WINDOWS`.
    **options
        ``ddof``, of var, std, sem and cov; ``reproducible``, of sum and mean.

    Returns
    -------
    Operator
        Over the inputs that `inputs.read` returns. For no rows it answers 0.0 for sum and count, NaN for all others.

    Notes
    -----
    Moments of order 3 and 4 combine as in Pebay, *Formulas for robust, one-pass parallel computation of covariances
    and arbitrary-order statistical moments* (SAND2008-6212, 2008), equations 2.1 and 2.2; of order 2 as in Chan,
    Golub and LeVeque (1979).

    Examples
    --------
    >>> import numpy as np
    >>> from dask_gpuscan import kernels
    >>> op = window_operator("var", ddof=0)
    >>> kernels.scan(op, np.array([1.0, 3.0, np.nan, 2.0]))[0].round(3)
    array([0.   , 1.   , 1.   , 0.667])
    """
    return WINDOWS[name].make(**options)


@lru_cache(maxsize=256)
def ewm_operator(name: str, decay: ewm.Decay, **options: Any) -> Operator:
    """Return the operator of an exponentially weighted statistic, a key of `WEIGHTED`.

    Examples
    --------
    >>> import numpy as np
    >>> from dask_gpuscan import kernels
    >>> op = ewm_operator("mean", ewm.Decay(0.5, adjust=False, ignore_na=False))
    >>> kernels.scan(op, np.array([1.0, 2.0, 3.0]))[0]
    array([1.  , 1.5 , 2.25])
    """
    return WEIGHTED[name](decay, **options)
