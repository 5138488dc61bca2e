"""Reductions that sort the values of each group: the methods of `GroupBy` for quantiles and distinct values."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ...kernels.options import INTERPOLATIONS
from ...ops.core.operation import Part
from ...ops.groupby.sorted_values import (
    MEDIAN,
    CountDistinct,
    Quantiles,
    QuantilesSpec,
    SortedReduction,
    checked_quantiles,
)
from ..arguments import check_choice, check_flags, hints
from ..types import FrameT, Interpolation, Obj, SeriesT
from .agg import GroupByAgg


class GroupBySorted(GroupByAgg[Obj, SeriesT, FrameT]):
    """The part of `GroupBy` that sorts the values of groups."""

    def median(self, numeric_only: bool = False) -> Obj:
        """Return the median of each group, exact over partitions too; see `quantile`.

        Examples
        --------
        >>> import pandas as pd, dask_gpuscan
        >>> df = pd.DataFrame({"k": [1, 1, 2], "x": [6, 3, 5]})
        >>> df.gpuscan.groupby("k")["x"].median().to_dict()
        {1: 4.5, 2: 5.0}
        """
        return self._reduce_sorted(MEDIAN, numeric_only)

    def quantile(
        self,
        q: float | Sequence[float] = 0.5,
        interpolation: Interpolation = "linear",
        numeric_only: bool = False,
    ) -> Obj:
        """Return quantiles of each group, exact over partitions too; nulls are passed over.

        Parameters
        ----------
        q : float or list of float, default 0.5
            Between 0 and 1. Several are the last level of the answer's index.
        interpolation : {"linear", "lower", "higher", "midpoint", "nearest"}, default "linear"
            The answer between two values.
        numeric_only : bool, default False
            Leave out columns that are not numbers.

        Returns
        -------
        Series or DataFrame
            As of `pandas.api.typing.DataFrameGroupBy.quantile`; groups are in the order of their keys or, if they
            are clustered, of appearance. Null where a group has no values.

        Raises
        ------
        TypeError
            For columns without quantiles, and for a `q` that is not a number.
        ValueError
            For quantiles outside 0 to 1, and for another `interpolation`.

        See Also
        --------
        nlargest : The largest values of each group.
        rank : The place of each value in the order of its group.

        Notes
        -----
        Over partitions, rows in any order are first brought together by key; Dask's setting
        ``dataframe.shuffle.method`` says how they are moved, as for `Gpuscan.sort_values`. Clustered rows stay where
        they are: partitions hand on the values of the group that is open.

        Examples
        --------
        >>> import pandas as pd, dask_gpuscan
        >>> df = pd.DataFrame({"k": [1, 1, 2], "x": [6.0, 3.0, 5.0]})
        >>> df.gpuscan.groupby("k")["x"].quantile([0, 1])
        k
        1  0.0    3.0
           1.0    6.0
        2  0.0    5.0
           1.0    5.0
        Name: x, dtype: float64
        """
        qs, single = checked_quantiles(q)
        check_choice("interpolation", interpolation, INTERPOLATIONS)
        operation = Quantiles(qs, interpolation)
        return self._reduce_sorted(operation, numeric_only, () if single else qs)

    def nunique(self, dropna: bool = True) -> Obj:
        """Return how many distinct values each group has, of columns of any dtype.

        Parameters
        ----------
        dropna : bool, default True
            Pass over nulls; otherwise they are one value.

        See Also
        --------
        nunique_consecutive : Runs of equal values.

        Examples
        --------
        >>> import pandas as pd, dask_gpuscan
        >>> df = pd.DataFrame({"k": [1, 1, 1, 2], "x": list("abaa")})
        >>> df.gpuscan.groupby("k")["x"].nunique().to_dict()
        {1: 2, 2: 1}
        """
        check_flags(dropna=dropna)
        return self._reduce_sorted(CountDistinct(bool(dropna)), False)

    def _reduce_sorted(
        self, operation: SortedReduction, numeric_only: bool, qs: tuple[float, ...] = ()
    ) -> Any:
        check_flags(numeric_only=numeric_only)
        names = self._reduced(operation.name, bool(numeric_only))
        if not names:
            return self._no_columns()
        spec = self._reductions([Part(name, (name,), operation) for name in names], self._as_series)
        with hints(self._as_series, numeric_only):
            return self._answer(self._run(QuantilesSpec(**vars(spec), qs=qs) if qs else spec))
