"""Reductions that sort the values of each group: the methods of `GroupBy` for quantiles and distinct values."""

from __future__ import annotations

from typing import Any

from ..frames.registry import library_of
from ..graph.lookback import Collection, look_back
from ..graph.shuffle import together
from ..graph.tree_reduce import tree_reduce
from ..kernels import INTERPOLATIONS
from ..ops.groupby_clustered import ClusteredReduce
from ..ops.groupby_together import TogetherReduce
from ..ops.operation import Part
from ..ops.quantiles import QuantileLevel, Quantiles, checked_quantiles
from ..ops.sorted_groups import CountDistinct, SortedReduction
from .arguments import check_choice, check_flags
from .groupby_columns import GroupByColumns


class GroupBySorted(GroupByColumns):
    """The part of `GroupBy` that sorts the values of groups."""

    def median(self, numeric_only: bool = False) -> Any:
        """Return the median of each group, exact over partitions too; see `quantile`.

        Examples
        --------
        >>> import pandas as pd, dask_gpuscan
        >>> df = pd.DataFrame({"k": [1, 1, 2], "x": [6, 3, 5]})
        >>> df.gpuscan.groupby("k")["x"].median().to_dict()
        {1: 4.5, 2: 5.0}
        """
        operation = Quantiles((0.5,), "midpoint", "median")
        return self._reduce_sorted(operation, numeric_only)

    def quantile(
        self, q: Any = 0.5, interpolation: str = "linear", numeric_only: bool = False
    ) -> Any:
        """Return quantiles of each group, exact over partitions too; nulls are passed over.

        Parameters
        ----------
        q : float or list of float, default 0.5
            Between 0 and 1. Several are the last level of the answer's index.
        interpolation : {"linear", "lower", "higher", "midpoint", "nearest"}, default "linear"
            What is answered between two values.
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
            For columns without quantiles, and for a `q` that is no number.
        ValueError
            For quantiles outside 0 to 1, and for another `interpolation`.

        See Also
        --------
        nlargest : The largest values of each group.
        rank : The place of each value in the order of its group.

        Notes
        -----
        Over partitions, rows in any order are first brought together by key; how they are moved is told by the
        setting ``dataframe.shuffle.method`` of Dask, as for `Gpuscan.sort_values`. Clustered ones stay where they
        are: partitions hand on the values of the group that is open.

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

    def nunique(self, dropna: bool = True) -> Any:
        """Return how many distinct values each group has, of columns of any dtype.

        Parameters
        ----------
        dropna : bool, default True
            Pass over nulls; otherwise they are one value.

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
        names = self._columns(bool(numeric_only))
        if not names:
            raise ValueError(f"{operation.name} needs at least one column besides the keys")
        carry = ClusteredReduce(
            self._by,
            label=f"groupby-{operation.name}",
            parts=tuple(Part(name, (name,), operation) for name in names),
            as_series=self._as_series,
            dropna=self._dropna,
            sorts=self._is_sorted,
        )
        if qs:
            carry = QuantileLevel(**vars(carry), qs=qs)
        frame = self._needed(names)
        if self._one_pass:
            return look_back(frame, carry)
        reduction = TogetherReduce(carry)
        if isinstance(frame, Collection):
            reduction.check(library_of(self._meta).no_rows(frame._meta))
            frame = together(frame, self._by)
        return tree_reduce(frame, reduction)
