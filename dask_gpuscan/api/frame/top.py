"""The methods of ``.gpuscan`` for the largest and smallest values: nlargest and nsmallest."""

from __future__ import annotations

from typing import Any, SupportsIndex

from ...engines.run import meta_of, run
from ...frames.keys import By, check_subset
from ...ops.groupby.top_rows import KEEP, Top, TopOfAll
from ..arguments import check_choice, check_count
from ..family import family
from ..types import FrameT, Methods, Names, Obj, SeriesT, TopKeep


class TopMethods(Methods[Obj, SeriesT, FrameT]):
    """The part of `Gpuscan` that finds the largest and smallest values."""

    @family(
        """
        >>> import pandas as pd, dask_gpuscan
        >>> pd.Series([3, 9, 4, 9]).gpuscan.{name}(3).to_dict()
        {0}
        >>> df = pd.DataFrame({{"k": list("abc"), "x": [1, 2, 2], "y": [5, 6, 7]}})
        >>> df.gpuscan.{name}(2, ["x", "y"])["k"].tolist()
        {1}
        """
    )
    def _extremes(
        self, n: SupportsIndex = 5, columns: Names | None = None, keep: TopKeep = "first"
    ) -> Obj:
        """Return the rows with the largest or smallest values; parameters as for `nlargest`."""
        return self._top("_extremes", n, columns, keep)

    nlargest = _extremes(
        """Return the rows with the largest values, the largest first, over any number of partitions.

        Parameters
        ----------
        n : int, default 5
            How many.
        columns : name or list of names
            For a DataFrame: whose values are compared. Later columns decide between rows that are equal in
            earlier ones.
        keep : {"first", "last", "all"}, default "first"
            Which rows to keep of those equal to the last one; with "all", there may be more than `n`. "last" is
            for one column only.

        Returns
        -------
        Series or DataFrame
            As from `pandas.Series.nlargest` and `pandas.DataFrame.nlargest`, in one partition. Nulls come last.

        Raises
        ------
        TypeError
            For columns that hold neither numbers nor times, and for an `n` that is not an integer.
        ValueError
            For unknown columns, and for another `keep`.

        See Also
        --------
        sort_values : All rows in order.

        Notes
        -----
        Partitions hand on the rows that may be among the answer.
        """,
        {1: 9, 3: 9, 2: 4},
        ["c", "b"],
    )
    nsmallest = _extremes(
        "Return the rows with the smallest values, the smallest first; parameters as for `nlargest`.",
        {0: 3, 2: 4, 1: 9},
        ["a", "b"],
    )

    def _top(self, name: str, n: SupportsIndex, columns: Any, keep: str) -> Any:
        count, meta = max(check_count("n", n), 0), meta_of(self._obj)
        check_choice("keep", keep, KEEP)
        if meta.ndim == 2 and columns is None:
            raise TypeError("columns must name the columns of the DataFrame to compare")
        by: By = check_subset(meta, columns, "columns")
        if keep == "last" and len(by.columns) > 1:
            raise ValueError("keep must be 'first' or 'all' for several columns, found 'last'")
        return run(self._obj, TopOfAll(by, Top(count, name == "nlargest", keep)))
