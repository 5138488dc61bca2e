"""The methods of windows of all rows so far that say where their largest and smallest values are."""

from __future__ import annotations

from typing import Any

from ...engines.run import engine_of, meta_of
from ...frames.registry import library_of
from ...kernels.messages import shown
from ...ops.windows.records import labels_of_records, masked_columns, null_below
from ..arguments import check_flags
from ..types import FrameT, Obj, SeriesT
from .windows import Statistics


class Records(Statistics[Obj, SeriesT, FrameT]):
    """The part of `Expanding` that gives labels."""

    _min_periods: int

    def idxmax(self, numeric_only: bool = False) -> Obj:
        """Return the label of the largest value so far; of equally large ones, of the first.

        Parameters
        ----------
        numeric_only : bool, default False
            Leave out columns that are not numbers or bool.

        Returns
        -------
        Series or DataFrame
            Of the dtype of the index, or float64 if labels are integers of NumPy, which have no null. Null as
            long as there are fewer values than `min_periods`, and at least until the first one.

        Raises
        ------
        TypeError
            For an index of several levels, and for columns whose values have no order.
        ValueError
            For columns with the same name.

        See Also
        --------
        max : The value itself.
        Gpuscan.row_number : Set these as the index to find positions.

        Notes
        -----
        pandas has it for all rows only: the last answer is that of `pandas.Series.idxmax`. A running maximum finds the
        rows that exceed all before them, and their labels are filled forward.

        Examples
        --------
        >>> import pandas as pd, dask_gpuscan
        >>> x = pd.Series([3.0, None, 5.0, 4.0, 5.0], index=list("abcde"))
        >>> x.gpuscan.expanding().idxmax().tolist()
        ['a', 'a', 'c', 'c', 'c']
        """
        return self._labels("cummax", numeric_only)

    def idxmin(self, numeric_only: bool = False) -> Obj:
        """Return the label of the smallest value so far; parameters as for `idxmax`.

        Examples
        --------
        >>> import pandas as pd, dask_gpuscan
        >>> df = pd.DataFrame({"k": list("abab"), "x": [3, 5, 2, 7]}, index=[10, 20, 30, 40])
        >>> df.gpuscan.groupby("k")["x"].expanding().idxmin().tolist()
        [10.0, 20.0, 30.0, 20.0]
        """
        return self._labels("cummin", numeric_only)

    def _labels(self, extreme: str, numeric_only: bool) -> Any:
        check_flags(numeric_only=numeric_only)
        names = self._rows.names(numeric_only)
        obj, engine = self._rows.obj, engine_of(self._rows.obj)
        meta = meta_of(obj)
        if len(library_of(meta).index_names(meta)) > 1:
            raise TypeError(
                "labels of rows need an index of one level, found several; reset_index() first"
            )
        for name in names:
            if names.count(name) > 1:
                raise ValueError(f"column {shown(name)} is there twice; rename one of them first")
        values = engine.map_partitions(obj, masked_columns, names)
        before = getattr(self._rows.scans_of(values, names), extreme)(exclusive=True)
        marks = engine.map_partitions(values, labels_of_records, before, extreme == "cummax")
        labels = self._rows.scans_of(marks, names).ffill()
        if self._min_periods < 2:
            return labels
        counts = self._statistic("count", numeric_only)
        return engine.map_partitions(labels, null_below, counts, self._min_periods)
