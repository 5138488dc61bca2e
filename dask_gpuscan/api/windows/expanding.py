"""What ``.gpuscan.ewm()`` and ``.gpuscan.expanding()`` return: windows of all rows so far, waiting for a statistic."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Sequence
from copy import copy
from dataclasses import replace
from typing import Any, Self, SupportsIndex, overload

from numpy.typing import ArrayLike

from ...engines.run import meta_of
from ...frames.pandas.library import PANDAS
from ...frames.registry import library_of
from ...ops.core.operation import Part
from ...ops.core.plans import made_once
from ...ops.statistics.ewm import Decay
from ...ops.statistics.table import (
    ORDER_STATISTICS,
    STATISTICS,
    WINDOWS,
    ewm_operator,
    window_operator,
)
from ...ops.windows.exact_expanding import EXACT, ExpandingExact
from ...ops.windows.expanding import ExpandingPick, ExpandingStatistic
from ...ops.windows.rolling import RowShape
from ..arguments import check_flags, hints
from ..types import Duration, FrameT, Obj, SeriesT
from .arguments import MOST_ROWS, Times, Weights, check_periods
from .records import Records
from .rolling import Rolling, RollingMethods
from .statistics import WindowStatistics
from .windows import FrameRows, Rows, Statistics


class WindowMethods(RollingMethods[Obj, SeriesT, FrameT]):
    """The part of `Gpuscan` and `GroupBy` that makes windows."""

    _ROWS: Callable[[Any], Rows] = FrameRows

    def ewm(
        self,
        com: float | None = None,
        span: float | None = None,
        halflife: float | Duration | None = None,
        alpha: float | None = None,
        min_periods: SupportsIndex | None = 0,
        adjust: bool = True,
        ignore_na: bool = False,
        times: Hashable | SeriesT | ArrayLike | None = None,
    ) -> Ewm[Obj, SeriesT, FrameT]:
        """Return exponentially weighted windows of all rows so far, of groups of those of each group.

        Parameters
        ----------
        com, span, halflife, alpha : float
            How fast weights decay; give one of them. In rows, as for `pandas.DataFrame.ewm`.
        halflife : float, str or timedelta
            With `times`, a duration.
        min_periods : int, default 0
            Rows with fewer values so far are null; rows without values always are.
        adjust : bool, default True
            Divide by the sum of the weights; if False, ``y[i] = (1 - alpha) * y[i - 1] + alpha * x[i]``.
        ignore_na : bool, default False
            Let weights decay by values, not by rows.
        times : name, Series, Index or array, optional
            Times of the rows, for `mean` only: the name of a column, which is left out of the answer, or as
            many dates. For a Dask collection, a name or a Dask Series with the same partitions. Of groups, in the
            rows' own order.

        Returns
        -------
        Ewm
            Its answers, of groups too, have the rows, the order and the index of the frame; those of pandas are ordered
            by group. Rows whose key is null are null.

        Raises
        ------
        TypeError, ValueError
            For other arguments, and for `times` that are not dates, have nulls or another length.

        See Also
        --------
        expanding : All rows weigh the same.

        Notes
        -----
        Each statistic is one pass by an operator with a state of at most eight numbers, over any number of
        partitions.

        Examples
        --------
        >>> import pandas as pd, dask_gpuscan
        >>> pd.Series([1.0, 2.0, 3.0]).gpuscan.ewm(alpha=0.5, adjust=False).mean().tolist()
        [1.0, 1.5, 2.25]
        >>> days = pd.to_datetime(["2026-01-01", "2026-01-02", "2026-01-04"])
        >>> pd.Series([0.0, 3.0, 6.0]).gpuscan.ewm(halflife="1D", times=days).mean().round(2).tolist()
        [0.0, 2.0, 4.91]
        >>> df = pd.DataFrame({"k": [1, 2, 1], "x": [1.0, 5.0, 2.0]})
        >>> df.gpuscan.groupby("k")["x"].ewm(alpha=0.5, adjust=False).mean().tolist()
        [1.0, 5.0, 1.5]
        """
        weights = made_once(Weights, com, span, halflife, alpha, adjust, ignore_na)
        rows = self._ROWS(self if self._IN_GROUPS else self._obj)
        return Ewm(rows, weights, min_periods, times)

    def expanding(self, min_periods: SupportsIndex = 1) -> Expanding[Obj, SeriesT, FrameT]:
        """Return windows of all rows so far, of groups of those of each group.

        Parameters
        ----------
        min_periods : int, default 1
            Fewer values give null.

        Returns
        -------
        Expanding
            Its answers, of groups too, have the rows, the order and the index of the frame; those of pandas are ordered
            by group. Rows whose key is null are null.

        Raises
        ------
        ValueError
            If `min_periods` is negative or not an integer.

        See Also
        --------
        ewm : Later rows weigh more.

        Examples
        --------
        >>> import pandas as pd, dask_gpuscan
        >>> pd.Series([1.0, 2.0, 6.0]).gpuscan.expanding().mean().tolist()
        [1.0, 1.5, 3.0]
        >>> df = pd.DataFrame({"k": [1, 2, 1], "x": [1.0, 5.0, 2.0]})
        >>> df.gpuscan.groupby("k")["x"].expanding().mean().tolist()
        [1.0, 5.0, 1.5]
        """
        rows = self if self._IN_GROUPS else self._obj
        return Expanding(self._ROWS(rows), self._NEIGHBOURS(rows), min_periods)


class Expanding(WindowStatistics[Obj, SeriesT, FrameT], Records[Obj, SeriesT, FrameT]):
    """All rows so far, for each row; see `Gpuscan.expanding`."""

    _label = "expanding"

    def __init__(self, rows: Rows, neighbours: Rows, min_periods: Any) -> None:
        self._rows, self._neighbours = rows, neighbours
        self._min_periods = check_periods(min_periods)

    def __repr__(self) -> str:
        return f"<Expanding min_periods={self._min_periods}>"

    @overload
    def __getitem__(self, columns: list[Any]) -> Expanding[FrameT, SeriesT, FrameT]: ...
    @overload
    def __getitem__(self, columns: Hashable) -> Expanding[SeriesT, SeriesT, FrameT]: ...
    def __getitem__(self, columns: Any) -> Expanding[Any, SeriesT, FrameT]:
        """Return the same windows of one column, by its name, or of several, by a list of names."""
        return self._of(columns)

    def _of(self, columns: Any) -> Self:
        chosen = super()._of(columns)
        chosen._neighbours = self._neighbours.choose(columns)
        return chosen

    def _windows_of(self, names: Sequence[str]) -> Statistics[Any, Any, Any]:
        if ORDER_STATISTICS.keys().isdisjoint(names):
            return self
        return _AllRows(self._neighbours, RowShape(MOST_ROWS), self._min_periods)

    def _operation(
        self, name: str, **options: Any
    ) -> ExpandingStatistic | ExpandingPick | ExpandingExact:
        return made_once(_so_far, name, self._min_periods, **options)


def _so_far(
    name: str, least: int, **options: Any
) -> ExpandingStatistic | ExpandingPick | ExpandingExact:
    op, found = window_operator(name, **options), WINDOWS[name]
    enough = None if found.enough is None else found.enough(**options)
    label, of_none = f"expanding-{name}", STATISTICS[name].of_none
    window = ExpandingStatistic(label, op, least, found.inputs, of_none, enough)
    inner = window if found.picks is None else ExpandingPick(name, window)
    is_exact = name in EXACT and not options  # and not reproducible, which is of floats
    return ExpandingExact(name, inner, least) if is_exact else inner


def _weighted(
    name: str, by_times: bool, least: int, at_nulls: bool, *decay: Any, **options: Any
) -> ExpandingStatistic:
    op, row = ewm_operator(name, Decay(*decay), **options), STATISTICS[name]
    inputs = ((0, "values"), (1, "times")) if by_times else WINDOWS[name].inputs
    enough = row.weighted_enough
    return ExpandingStatistic(f"ewm-{name}", op, least, inputs, row.of_none, enough, at_nulls)


class _AllRows(Rolling[Obj, SeriesT, FrameT]):
    """All rows so far; partitions hand on their values."""

    _label = "expanding"


class Ewm(Statistics[Obj, SeriesT, FrameT]):
    """Exponentially weighted rows so far, for each row; see `Gpuscan.ewm`."""

    _label = "ewm"
    _named = ("sum", "mean", "var", "std")
    _at_nulls = True

    def __init__(self, rows: Rows, weights: Weights, min_periods: Any, times: Any) -> None:
        self._rows, self._weights = rows, weights
        self._given_periods = min_periods
        self._min_periods = max(check_periods(min_periods), 1)
        self._times = None if times is None else Times.of(rows, times)
        if self._times is None:
            of_pandas = library_of(meta_of(rows.obj)) is PANDAS
            self._decay = weights.of_rows(as_pandas=of_pandas)
        else:
            self._decay = weights.of_times(self._times.unit)

    def _of_tables(self) -> Self:
        """Return the same windows of a table that is read as a frame of pandas, with weights and nulls as in polars."""
        found = copy(self)
        found._decay = replace(self._decay, as_pandas=False)
        found._at_nulls = False
        return found

    def __repr__(self) -> str:
        weights = self._weights
        shown = {**weights.given, "min_periods": self._given_periods}
        shown |= {"adjust": weights.adjust, "ignore_na": weights.ignore_na}
        return f"<Ewm {' '.join(f'{name}={value}' for name, value in shown.items())}>"

    @overload
    def __getitem__(self, columns: list[Any]) -> Ewm[FrameT, SeriesT, FrameT]: ...
    @overload
    def __getitem__(self, columns: Hashable) -> Ewm[SeriesT, SeriesT, FrameT]: ...
    def __getitem__(self, columns: Any) -> Ewm[Any, SeriesT, FrameT]:
        """Return the same windows of one column, by its name, or of several, by a list of names."""
        return self._of(columns)

    def _of(self, columns: Any) -> Self:
        chosen = super()._of(columns)
        if self._times is not None:
            chosen._times = self._times.choose(columns)
        return chosen

    def _operation(self, name: str, **options: Any) -> ExpandingStatistic:
        if self._times is not None:
            raise NotImplementedError(f"ewm {name} takes no times; only mean does")
        return self._window(name, **options)

    def _window(self, name: str, **options: Any) -> ExpandingStatistic:
        decay = self._decay
        given = name, self._times is not None, self._min_periods, self._at_nulls
        if options or self._times is not None:
            return made_once(_weighted, *given, *vars(decay).values(), **options)
        plans, key = self._weights.plans, (*given, decay.as_pandas)
        return plans.get(key) or plans.store(key, _weighted(*given, *vars(decay).values()))

    def sum(self, numeric_only: bool = False) -> Obj:
        """Return the sum of weighted values; only with `adjust`.

        Parameters
        ----------
        numeric_only : bool, default False
            Leave out columns that are not numbers.

        Returns
        -------
        Series or DataFrame
            As `mean`.

        Raises
        ------
        NotImplementedError
            With ``adjust=False``, and with times.

        See Also
        --------
        mean : The same divided by the sum of the weights.

        Examples
        --------
        >>> import pandas as pd, dask_gpuscan
        >>> pd.Series([1.0, 2.0, 3.0]).gpuscan.ewm(alpha=0.5).sum().tolist()
        [1.0, 2.5, 4.25]
        """
        self._needs_adjust("sum")
        return self._statistic("sum", numeric_only)

    def mean(self, numeric_only: bool = False) -> Obj:
        """Return the exponentially weighted moving average.

        Parameters
        ----------
        numeric_only : bool, default False
            Leave out columns that are not numbers.

        Returns
        -------
        Series or DataFrame
            Of float64, with the rows and the index of the frame; null before there are `min_periods` values. Null
            and infinite values count as missing.

        Raises
        ------
        TypeError
            For a column that is not of real numbers.

        See Also
        --------
        var : How far values are from it.

        Examples
        --------
        >>> import pandas as pd, dask_gpuscan
        >>> pd.Series([1.0, None, 3.0]).gpuscan.ewm(alpha=0.5).mean().tolist()
        [1.0, 1.0, 2.6]
        """
        if self._times is None:
            return self._statistic("mean", numeric_only)
        check_flags(numeric_only=numeric_only)
        operation = self._window("mean")
        pairs = self._times.pairs(self._rows.names(bool(numeric_only)))
        parts = [Part(to, sources, operation) for to, sources in pairs]
        with hints(self._rows.as_series, numeric_only):
            return self._times.rows.parts(operation.label, parts, self._rows.as_series)

    def var(self, bias: bool = False, numeric_only: bool = False) -> Obj:
        """Return the exponentially weighted variance; nulls as for `mean`.

        Parameters
        ----------
        bias : bool, default False
            Leave out the correction for bias. With it, the variance of one value is null.
        numeric_only : bool, default False

        Raises
        ------
        NotImplementedError
            With times.

        See Also
        --------
        std : Its square root.
        mean : What it is measured from.

        Notes
        -----
        Means and sums of squares combine as those of Chan, Golub and LeVeque (1979), weighted.

        Examples
        --------
        >>> import pandas as pd, dask_gpuscan
        >>> pd.Series([1.0, 2.0, 3.0]).gpuscan.ewm(alpha=0.5).var().round(3).tolist()
        [nan, 0.5, 0.929]
        """
        check_flags(bias=bias)
        return self._statistic("var", numeric_only, bias=bool(bias))

    def std(self, bias: bool = False, numeric_only: bool = False) -> Obj:
        """Return the exponentially weighted standard deviation; parameters as for `var`.

        Examples
        --------
        >>> import pandas as pd, dask_gpuscan
        >>> pd.Series([1.0, 2.0, 3.0]).gpuscan.ewm(alpha=0.5).std().round(3).tolist()
        [nan, 0.707, 0.964]
        """
        check_flags(bias=bias)
        return self._statistic("std", numeric_only, bias=bool(bias))

    @overload
    def cov(
        self,
        other: FrameT,
        pairwise: bool | None = None,
        bias: bool = False,
        numeric_only: bool = False,
    ) -> FrameT: ...
    @overload
    def cov(
        self,
        other: SeriesT | None = None,
        pairwise: bool | None = None,
        bias: bool = False,
        numeric_only: bool = False,
    ) -> Obj: ...
    def cov(
        self,
        other: Any = None,
        pairwise: bool | None = None,
        bias: bool = False,
        numeric_only: bool = False,
    ) -> Any:
        """Return the exponentially weighted covariance; `other` and `pairwise` as for `Expanding.cov`, `bias` as `var`.

        Raises
        ------
        NotImplementedError
            With times.

        See Also
        --------
        corr : The covariance by both deviations.

        Examples
        --------
        >>> import pandas as pd, dask_gpuscan
        >>> x, y = pd.Series([1.0, 2.0, 3.0]), pd.Series([1.0, 4.0, 5.0])
        >>> x.gpuscan.ewm(alpha=0.5).cov(y).round(3).tolist()
        [nan, 1.5, 1.643]
        """
        check_flags(bias=bias)
        return self._pairs("cov", other, pairwise, numeric_only, bias=bool(bias))

    @overload
    def corr(
        self,
        other: FrameT,
        pairwise: bool | None = None,
        numeric_only: bool = False,
    ) -> FrameT: ...
    @overload
    def corr(
        self,
        other: SeriesT | None = None,
        pairwise: bool | None = None,
        numeric_only: bool = False,
    ) -> Obj: ...
    def corr(
        self, other: Any = None, pairwise: bool | None = None, numeric_only: bool = False
    ) -> Any:
        """Return the exponentially weighted correlation; parameters as for `cov`.

        Examples
        --------
        >>> import pandas as pd, dask_gpuscan
        >>> x, y = pd.Series([1.0, 2.0, 3.0]), pd.Series([1.0, 4.0, 5.0])
        >>> x.gpuscan.ewm(alpha=0.5).corr(y).round(3).tolist()
        [nan, 1.0, 0.951]
        """
        return self._pairs("corr", other, pairwise, numeric_only)

    def _needs_adjust(self, name: str) -> None:
        if not self._weights.adjust:
            raise NotImplementedError(f"ewm {name} needs adjust=True, found adjust=False")
