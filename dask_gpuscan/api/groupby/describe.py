"""Where the extremes of groups are, and all their usual statistics at once."""

from __future__ import annotations

from collections.abc import Hashable, Mapping, Sequence
from typing import Any

import numpy as np
import pandas as pd

from ...engines.run import engine_of, meta_of
from ...frames.messages import column_title
from ...frames.registry import columns_of, library_of, names_of
from ...kernels.messages import shown
from ...ops.core.columnwise import labelled_columns
from ...ops.core.operation import Part
from ...ops.groupby.sorted_values import Quantiles, checked_quantiles
from ...ops.groupby.top_rows import Top
from ...ops.statistics.groups import FLOAT64
from ..arguments import check_flags
from ..types import FrameT, Obj, SeriesT
from .transform import GroupByTransform


class GroupByDescribe(GroupByTransform[Obj, SeriesT, FrameT]):
    """The part of `GroupBy` that finds extremes and describes."""

    def idxmax(self, numeric_only: bool = False) -> Obj:
        """Return the label of the first row with the largest value of each group.

        Parameters
        ----------
        numeric_only : bool, default False
            Leave out columns that are not numbers or bool.

        Returns
        -------
        Series or DataFrame
            In one partition.

        Raises
        ------
        TypeError
            For columns that hold neither numbers nor times.
        ValueError
            For an index of several levels, and where a group has no values; over partitions at compute time.

        See Also
        --------
        nlargest : The rows themselves.

        Examples
        --------
        >>> import pandas as pd, dask_gpuscan
        >>> df = pd.DataFrame({"k": [1, 1, 2], "x": [6, 9, 5]}, index=list("abc"))
        >>> df.gpuscan.groupby("k")["x"].idxmax().to_dict()
        {1: 'b', 2: 'c'}
        """
        return self._labels("idxmax", numeric_only)

    def idxmin(self, numeric_only: bool = False) -> Obj:
        """Return the label of the first row with the smallest value of each group; see `idxmax`.

        Examples
        --------
        >>> import pandas as pd, dask_gpuscan
        >>> df = pd.DataFrame({"k": [1, 1, 2], "x": [6, 9, 5]}, index=list("abc"))
        >>> df.gpuscan.groupby("k")["x"].idxmin().to_dict()
        {1: 'a', 2: 'c'}
        """
        return self._labels("idxmin", numeric_only)

    def _labels(self, method: str, numeric_only: bool) -> Any:
        check_flags(numeric_only=numeric_only)
        rows = meta_of(self._grouping.rows)
        if len(library_of(rows).index_names(rows)) > 1:
            raise ValueError(f"{method} needs an index of one level; use reset_index() first")
        if self._options.sort is False:
            raise ValueError(
                f"{method} has groups in the order of their keys; leave out sort=False"
            )
        names = self._reduced(method, bool(numeric_only))
        if not names:
            return self._no_columns()
        top = Top(1, method == "idxmax", called=method)
        found = [
            engine_of(rows_of_one).map_partitions(rows_of_one, _last_level, method)
            for rows_of_one in (self._top_values(top, name) for name in names)
        ]
        out = found[0]
        if not self._as_series:
            first = engine_of(out).map_partitions(out, _as_frame)
            out = engine_of(out).align_columns(first, found[1:], names, "answers", False)
            like = library_of(rows).no_rows(rows)
            out = engine_of(out).map_partitions(out, labelled_columns, names, like)
        return self._answer(out)

    def describe(self, percentiles: Sequence[float] | None = None) -> FrameT:
        """Return count, mean, standard deviation, extremes and quantiles of each group, of columns of numbers.

        Parameters
        ----------
        percentiles : sequence of float, optional
            Which quantiles, as for `pandas.DataFrame.describe`; by default the quartiles.

        Returns
        -------
        DataFrame
            A column for each statistic; for several columns, labels have two levels. Columns that are not numbers, and
            those of bool, are left out.

        Raises
        ------
        TypeError
            If no column is of numbers, and for percentiles that are not a list of numbers.
        ValueError
            For percentiles that are not between 0 and 1.

        See Also
        --------
        agg : Statistics of your choice.

        Notes
        -----
        Quantiles are exact: over partitions, rows in any order are brought together by key, as for `quantile`.

        Examples
        --------
        >>> import pandas as pd, dask_gpuscan
        >>> df = pd.DataFrame({"k": [1, 1, 2], "x": [6, 3, 5]})
        >>> df.gpuscan.groupby("k")["x"].describe()[["count", "min", "50%", "max"]]
           count  min  50%  max
        k
        1    2.0  3.0  4.5  6.0
        2    1.0  5.0  5.0  5.0
        """
        if percentiles is None:
            percentiles = (0.25, 0.5, 0.75)
        if isinstance(percentiles, (str, Mapping)) or np.ndim(percentiles) != 1:
            raise TypeError(
                f"percentiles must be a list of numbers between 0 and 1, found {shown(percentiles)}"
            )
        parts, dtypes = [], []
        names = self._columns()
        for name in names:
            dtype = self._described_as(name)
            if dtype is None:
                continue
            for label, operation in self._described(name, list(percentiles)):
                parts.append(Part(label if self._as_series else (name, label), (name,), operation))
                dtypes.append(dtype)
        if not parts:
            found = [f"{column_title(c)} of dtype {c.dtype}" for c in map(self._column, names)]
            raise TypeError(
                f"describe needs a column of numbers, found {', '.join(found) or 'none'}; cast one, or use agg"
            )
        out = self._reduce_groups(parts, False, named=True)
        out = engine_of(out).map_partitions(out, _cast, dtypes)
        if not self._as_series:
            pairs: list[Any] = [part.name for part in parts]
            out.columns = library_of(self._meta).pair_names(self._meta, pairs)
        return self._answer(out)

    def _described_as(self, name: Hashable) -> Any:
        """Return the dtype of the statistics of a column, its kind of 64-bit floats; None if it has no statistics."""
        dtype = self._column(name).dtype
        library = library_of(self._meta)
        layout = library.layout(dtype)
        if layout is None or layout.storage(dtype).kind not in "iuf":
            return None
        return layout.result(FLOAT64, dtype) if library.is_numeric(dtype) else None

    def _described(self, name: Hashable, percentiles: list[float]) -> list[tuple[str, Any]]:
        """Return the labels of statistics of a column, and their reductions."""
        qs = sorted(set(checked_quantiles(percentiles, "percentiles")[0])) if percentiles else []
        labels = list(pd.Series([0.0]).describe(percentiles=percentiles).index)[4:-1]
        if len(labels) > len(qs):  # pandas 2 always has the median
            qs = sorted({*qs, 0.5})
        ends = {end: self._operation(end, name) for end in ("count", "mean", "std", "min", "max")}
        last = ends.pop("max")
        return [
            *ends.items(),
            *((label, Quantiles((q,))) for label, q in zip(labels, qs, strict=True)),
            ("max", last),
        ]


def _last_level(rows: Any, method: str) -> Any:
    """Return the labels of rows, which are the last level of an index, under the others."""
    library = library_of(rows)
    missing = library.missing(rows)
    if missing is not None and bool(missing.any()):
        raise ValueError(
            f"{method} of column {shown(rows.name)}: a group has no values; leave out rows that are null first"
        )
    *names, _ = library.index_names(rows)
    arrays: list[Any] = [library.array(library.index_level(rows, i)) for i in range(len(names) + 1)]
    *keys, labels = arrays
    # an index cannot be written to, and answers can
    return library.series(labels.copy(), library.key_index(keys, names), rows.name)


def _as_frame(series: Any) -> Any:
    library = library_of(series)
    return library.frame([library.array(series)], [series.name], library.index(series))


def _cast(frame: Any, dtypes: Sequence[Any]) -> Any:
    library = library_of(frame)
    arrays = [
        library.cast(library.array(column), dtype)
        for column, dtype in zip(columns_of(frame), dtypes, strict=True)
    ]
    return library.frame(arrays, names_of(frame), library.index(frame), frame)
