"""The statistics of windows in which all values weigh the same, one method each."""

from __future__ import annotations

from typing import Any, Literal, SupportsIndex, overload

from ...kernels.options import INTERPOLATIONS, RANKS
from ...ops.statistics.inputs import PAIR
from ...ops.statistics.table import ORDER_STATISTICS, WINDOWS
from ..arguments import check_choice, check_ddof, check_flags
from ..family import family
from ..types import FrameT, Interpolation, Obj, SeriesT
from .arguments import check_quantile
from .windows import Statistics

EXAMPLE = """
>>> import pandas as pd, dask_gpuscan
>>> x = pd.Series([1.0, 3.0, 2.0, 9.0, 2.0])
>>> x.gpuscan.rolling(4, min_periods=3).{name}().round(3).tolist()
{0}
"""


class WindowStatistics(Statistics[Obj, SeriesT, FrameT]):
    """The statistics of windows in which all values weigh the same."""

    _named = (
        *(name for name, statistic in WINDOWS.items() if statistic.inputs != PAIR),
        *(name for name in ORDER_STATISTICS if name != "quantile"),  # quantile needs a q
    )

    def sum(self, numeric_only: bool = False, *, reproducible: bool = False) -> Obj:
        """Return the sum of the values in each window, as float64; decimals stay decimals.

        Parameters
        ----------
        numeric_only : bool, default False
            Leave out columns that are not numbers.
        reproducible : bool, default False
            Give answers bits that depend on the values in the window alone, as in `Gpuscan.cumsum`.

        Returns
        -------
        Series or DataFrame
            Of float64, with the rows and the index of the frame; null where there are fewer than `min_periods`
            values. Null and infinite values count as missing.

        Raises
        ------
        TypeError
            For a column that is not of real numbers.

        Examples
        --------
        >>> import pandas as pd, dask_gpuscan
        >>> pd.Series([1.0, None, 2.0]).gpuscan.expanding().sum().tolist()
        [1.0, 1.0, 3.0]
        """
        return self._sums("sum", numeric_only, reproducible)

    def mean(self, numeric_only: bool = False, *, reproducible: bool = False) -> Obj:
        """Return the mean of the values in each window; parameters and nulls as for `sum`.

        Means of times are times, and those of decimals are decimals.

        Examples
        --------
        >>> import pandas as pd, dask_gpuscan
        >>> pd.Series([1.0, 2.0, 6.0]).gpuscan.expanding().mean().tolist()
        [1.0, 1.5, 3.0]
        """
        return self._sums("mean", numeric_only, reproducible)

    def _sums(self, name: str, numeric_only: bool, reproducible: bool) -> Obj:
        check_flags(reproducible=reproducible)
        options = {"reproducible": True} if reproducible else {}
        return self._statistic(name, numeric_only, **options)

    @family(EXAMPLE)
    def _spread(self, ddof: SupportsIndex = 1, numeric_only: bool = False) -> Obj:
        """Return how far the values in each window are spread."""
        return self._statistic("_spread", numeric_only, ddof=check_ddof(ddof))

    var = _spread(
        """Return the variance in each window; parameters and nulls as for `sum`.

        Parameters
        ----------
        ddof : int, default 1
            The divisor is the number of values minus this; null if that is not positive.
        numeric_only : bool, default False
        """,
        "[nan, nan, 1.0, 12.917, 11.333]",
    )
    std = _spread(
        "Return the standard deviation in each window; parameters as for `var`.",
        "[nan, nan, 1.0, 3.594, 3.367]",
    )
    sem = _spread(
        "Return the standard error of the mean in each window; parameters as for `var`.",
        "[nan, nan, 0.577, 1.797, 1.683]",
    )

    @family(EXAMPLE)
    def _value(self, numeric_only: bool = False) -> Obj:
        """Return one value of each window; parameters as for `sum`."""
        return self._statistic("_value", numeric_only)

    min = _value(
        "Return the smallest value in each window; integers, times and decimals stay so, with nulls as for `sum`.",
        "[nan, nan, 1.0, 1.0, 2.0]",
    )
    max = _value(
        "Return the largest value in each window; integers, times and decimals stay so, with nulls as for `sum`.",
        "[nan, nan, 3.0, 9.0, 9.0]",
    )
    count = _value(
        "Return the number of values in each window that are not null, of any dtype; infinite ones count.",
        "[nan, nan, 3.0, 4.0, 4.0]",
    )
    first = _value(
        "Return the first value in each window; integers, times and decimals stay so, with nulls as for `sum`.",
        "[nan, nan, 1.0, 1.0, 3.0]",
    )
    last = _value(
        "Return the last value in each window; integers, times and decimals stay so, with nulls as for `sum`.",
        "[nan, nan, 2.0, 9.0, 2.0]",
    )
    skew = _value(
        "Return the unbiased skewness in each window: null for fewer than 3 values, or if all are equal.",
        "[nan, nan, 0.0, 1.696, 1.887]",
    )
    kurt = _value(
        "Return the unbiased excess kurtosis in each window: null for fewer than 4 values, or if all are equal.",
        "[nan, nan, nan, 3.014, 3.576]",
    )
    nunique = _value(
        "Return the number of distinct values in each window; parameters and nulls as for `sum`.",
        "[nan, nan, 3.0, 4.0, 3.0]",
    )

    @overload
    def _of_two(
        self,
        other: FrameT,
        pairwise: bool | None = None,
        ddof: SupportsIndex = 1,
        numeric_only: bool = False,
    ) -> FrameT: ...
    @overload
    def _of_two(
        self,
        other: SeriesT | None = None,
        pairwise: bool | None = None,
        ddof: SupportsIndex = 1,
        numeric_only: bool = False,
    ) -> Obj: ...
    def _of_two(
        self,
        other: Any = None,
        pairwise: bool | None = None,
        ddof: SupportsIndex = 1,
        numeric_only: bool = False,
    ) -> Any:
        """Return a statistic of two columns in each window; parameters as for `cov`."""
        name, least = "_of_two", check_ddof(ddof)
        options = {} if name == "corr" else {"ddof": least}  # by which both deviations are divided
        return self._pairs(name, other, pairwise, numeric_only, **options)

    _two = family(
        """
        >>> import pandas as pd, dask_gpuscan
        >>> x, y = pd.Series([1.0, 2.0, 3.0]), pd.Series([1.0, 4.0, 5.0])
        >>> x.gpuscan.expanding().{name}(y).round(3).tolist()
        {0}
        >>> pd.DataFrame({{"x": x, "y": y}}).gpuscan.rolling(2).{name}().tail(2)
               x    y
        2 x  {1}  {1}
          y  {1}  {1}
        """
    )(_of_two)
    cov = _two(
        """Return the covariance of two columns in each window, of the rows in which both have values.

        Parameters
        ----------
        other : Series or DataFrame, optional
            With the index of the frame; of a Dask collection, with its partitions. A Series goes with every
            column, a DataFrame column by column. By default the frame itself.
        pairwise : bool, optional
            Whether each column of a DataFrame goes with each of another one; by default if there is no `other`.
        ddof : int, default 1
        numeric_only : bool, default False

        Returns
        -------
        Series or DataFrame
            As `sum`; for all pairs of columns, with a row for each row and each column of `other`, in levels of the
            index.

        Raises
        ------
        ValueError
            If the rows or the columns of `other` do not match; for all pairs, if an index has several levels.
        """,
        "[nan, 1.5, 2.0]",
        0.5,
    )
    corr = _two(
        """Return the correlation of two columns in each window, null where one is constant; parameters as for `cov`.

        It is the covariance divided by both deviations, the same for any `ddof`.
        """,
        "[nan, 1.0, 0.961]",
        1.0,
    )

    def median(self, numeric_only: bool = False) -> Obj:
        """Return the median of the values in each window; parameters and nulls as for `sum`.

        Returns
        -------
        Series or DataFrame
            As `sum`; of times, times.

        See Also
        --------
        quantile : Any other share of the values.

        Notes
        -----
        The values of windows of at most 512 rows, on GPUs 32, are kept in order: from row to row one leaves and one
        enters. In longer windows a median is looked up in a wavelet matrix of the rows (Claude, Navarro and Ordonez
        2015), by two look-ups for each bit of the number of rows, however long the window is; on GPUs up to 2,560
        rows, of some thousand rows at a time in shared memory. See `kernels.order_statistics`.

        In expanding windows, every earlier value may be the median later, so partitions hand on all their
        values: in groups with their keys, with clustered keys those of the last group. For p partitions of n
        rows, n * p**2 / 2 rows are computed, and n * p kept.

        Examples
        --------
        >>> import pandas as pd, dask_gpuscan
        >>> pd.Series([1.0, 5.0, 2.0]).gpuscan.expanding().median().tolist()
        [1.0, 3.0, 2.0]
        """
        return self._statistic("median", numeric_only)

    def quantile(
        self, q: float, interpolation: Interpolation = "linear", numeric_only: bool = False
    ) -> Obj:
        """Return a quantile of the values in each window; nulls and cost as of `median`.

        Parameters
        ----------
        q : float
            From 0 to 1.
        interpolation : {"linear", "lower", "higher", "midpoint", "nearest"}, default "linear"
            The answer between two values.
        numeric_only : bool, default False

        See Also
        --------
        median : The value in the middle.
        rank : The place of a value, rather than the value at a place.

        Examples
        --------
        >>> import pandas as pd, dask_gpuscan
        >>> pd.Series([1.0, 5.0, 2.0]).gpuscan.expanding().quantile(0.25).tolist()
        [1.0, 2.0, 1.5]
        """
        check_choice("interpolation", interpolation, INTERPOLATIONS)
        options = {"q": check_quantile(q), "interpolation": interpolation}
        return self._statistic("quantile", numeric_only, **options)

    def rank(
        self,
        method: Literal["average", "min", "max"] = "average",
        ascending: bool = True,
        pct: bool = False,
        numeric_only: bool = False,
    ) -> Obj:
        """Return the place of the value of each window's last row in the order of its values; cost as of `median`.

        The last row is the row itself, unless windows are centred or closed on the left, as in pandas.

        Parameters
        ----------
        method : {"average", "min", "max"}, default "average"
            The rank of equal values.
        ascending : bool, default True
        pct : bool, default False
            Divide by the number of values.
        numeric_only : bool, default False

        Returns
        -------
        Series or DataFrame
            As `sum`; null where the last row has no value.

        See Also
        --------
        quantile : The value at a place.

        Examples
        --------
        >>> import pandas as pd, dask_gpuscan
        >>> pd.Series([1.0, 5.0, 2.0]).gpuscan.expanding().rank().tolist()
        [1.0, 2.0, 2.0]
        """
        check_choice("method", method, tuple(RANKS))
        check_flags(ascending=ascending, pct=pct)
        options = {"method": method, "ascending": bool(ascending), "pct": bool(pct)}
        return self._statistic("rank", numeric_only, **options)
