"""``rank``, of frames and series and of groups."""

from __future__ import annotations

from typing import Any, Literal, TypeAlias

from ...engines.run import run
from ...ops.sort.rank import METHODS, NULLS, RankColumns, RankGroups, RankOptions
from ..arguments import check_choice, check_flags, hints
from ..groupby.columns import GroupByColumns
from ..types import FrameT, Methods, Obj, SeriesT

Method: TypeAlias = Literal["average", "min", "max", "first", "dense"]


def _rank(
    method: Any, pct: Any, ascending: Any, na_option: Any, numeric_only: Any, in_groups: bool
) -> RankOptions:
    """Return how values are ranked; raises an error for wrong arguments."""
    check_choice("method", method, tuple(METHODS))
    check_choice("na_option", na_option, NULLS)
    check_flags(pct=pct, ascending=ascending, numeric_only=numeric_only)
    return RankOptions(method, bool(ascending), na_option, bool(pct), in_groups)


class RankMethods(Methods[Obj, SeriesT, FrameT]):
    """The part of `Gpuscan` that ranks."""

    def rank(
        self,
        *,
        method: Method = "average",
        pct: bool = False,
        ascending: bool = True,
        na_option: Literal["keep", "top", "bottom"] = "keep",
        numeric_only: bool = False,
    ) -> Obj:
        """Return the place of each value in order, from 1, over all partitions; of a frame by column.

        Arguments must be given by name: in pandas the first one is ``axis``, which this method does not have.

        Parameters
        ----------
        method : {"average", "min", "max", "first", "dense"}, default "average"
            The rank of equal values: the mean of their places, the first, the last, each its own in the rows'
            order ("first"), or one rank without gaps after it ("dense").
        pct : bool, default False
            Divide by the number of values; for "dense", of distinct values.
        ascending : bool, default True
        na_option : {"keep", "top", "bottom"}, default "keep"
            Whether nulls have no rank, or come before or after all values; all nulls are equal.
        numeric_only : bool, default False
            Leave out columns that are not numbers.

        Returns
        -------
        Series or DataFrame
            As from `pandas.DataFrame.rank`: float64, or the dtype of the library.

        Raises
        ------
        TypeError
            For values that have no order.
        ValueError
            For other arguments.

        See Also
        --------
        sort_values : The rows in order.

        Notes
        -----
        One sort, one pass over the sorted values, and one write in the rows' own order. Over partitions, values are
        moved as by a sort and only ranks come back.

        Examples
        --------
        >>> import pandas as pd, dask_gpuscan
        >>> x = pd.Series([30, 10, 30, 20])
        >>> x.gpuscan.rank().tolist(), x.gpuscan.rank(method="dense").tolist()
        ([3.5, 1.0, 3.5, 2.0], [3.0, 1.0, 3.0, 2.0])
        """
        rank = _rank(method, pct, ascending, na_option, numeric_only, False)
        with hints(self._obj.ndim == 1, numeric_only):
            return run(self._obj, RankColumns(rank, bool(numeric_only)))


class GroupByRank(GroupByColumns[Obj, SeriesT, FrameT]):
    """The part of `GroupBy` that ranks."""

    def rank(
        self,
        method: Method = "average",
        ascending: bool = True,
        na_option: Literal["keep", "top", "bottom"] = "keep",
        pct: bool = False,
        *,
        numeric_only: bool = False,
    ) -> Obj:
        """Return the place of each value in the order of its group, from 1.

        Parameters
        ----------
        method, ascending, na_option, pct, numeric_only
            As for `Gpuscan.rank`.

        Returns
        -------
        Series or DataFrame
            With the rows, the order and the index of the frame; null in rows whose key is null.

        See Also
        --------
        Gpuscan.rank : Among all rows; says what the arguments mean.

        Examples
        --------
        >>> import pandas as pd, dask_gpuscan
        >>> df = pd.DataFrame({"k": [1, 2, 1], "x": [6, 3, 5]})
        >>> df.gpuscan.groupby("k")["x"].rank().tolist()
        [2.0, 1.0, 1.0]
        """
        rank = _rank(method, pct, ascending, na_option, numeric_only, True)
        names = self._columns(bool(numeric_only))
        ranking = RankGroups(
            self._by, tuple(names), rank, self._as_series, bool(self._clustered), self._dropna
        )
        with hints(self._as_series, numeric_only):
            return self._named(run(self._needed(names), ranking))
