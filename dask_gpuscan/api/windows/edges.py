"""The methods of buckets of time that give one row for each of their edges, rather than reduce the rows in them."""

from __future__ import annotations

from collections.abc import Hashable
from typing import Any, Literal, SupportsIndex

import pandas as pd

from ...engines.run import meta_of, methods_of
from ...frames.registry import column_of, library_of, names_of, unused_name
from ...kernels.late_dataclass import dataclass
from ...ops.core.columnwise import labelled_columns, without_name
from ...ops.core.operation import GroupReduction, Part
from ...ops.groupby.sorted_values import SortedReduction
from ...ops.time.edges import (
    FillEdges,
    append_inexact,
    fill_edges,
    near_enough,
    nearer_rows,
)
from ..arguments import check_flags, check_limit, hints
from ..groupby.sorted_values import GroupBySorted
from ..types import FrameT, Obj, SeriesT

Way = Literal["backward", "forward"]


@dataclass(frozen=True, kw_only=True)
class Edges:
    """The edges of buckets, and the rows that they are matched with."""

    rows: Any
    names: list[Hashable]
    """The columns of answers."""
    time: Hashable = None
    """A column of the times of rows, where these are asked for."""
    groups: tuple[Hashable, ...] = ()
    """Columns that distinguish rows of one time, if rows of several groups are matched."""

    def match(self, way: Way, **options: Any) -> Any:
        """Return for each edge the row that an as-of merge finds, as a frame whose last level has the edges."""
        raise NotImplementedError


class EdgeRows(GroupBySorted[Obj, SeriesT, FrameT]):
    """The part of `Resampler`, and of that of groups, that gives rows at the edges of buckets."""

    def _reduce_sorted(
        self, operation: SortedReduction, numeric_only: bool, qs: tuple[float, ...] = ()
    ) -> Any:
        """Sort the values of buckets; one quantile at a time, as an answer has one row a bucket."""
        check_flags(numeric_only=numeric_only)
        if qs:
            raise TypeError(f"q must be one number between 0 and 1, found {list(qs)}")
        names = self._columns(bool(numeric_only))
        if not names:
            raise ValueError(f"{operation.name} needs at least one column besides the times")
        parts: list[Part[GroupReduction]] = [Part(name, (name,), operation) for name in names]
        with hints(self._as_series, numeric_only):
            return self._answer(self._reduce_groups(parts, self._as_series))

    def asfreq(self, fill_value: Any = None) -> Obj:
        """Return the rows at the edges of buckets, and null rows at edges where there are none.

        Parameters
        ----------
        fill_value : scalar, optional
            The value of all columns at edges without a row, rather than null; nulls of rows stay.

        Returns
        -------
        Series or DataFrame
            With a row for each left edge, or for each right one if buckets are closed on the right, whatever `label`
            says, as in pandas. NumPy's integers become float64, and its bool objects, where an edge may have no
            row and there is no `fill_value`.

        Raises
        ------
        TypeError
            For a `fill_value` that a column cannot hold.
        ValueError
            At compute time, for times that are null or that decrease, naming the partition.

        See Also
        --------
        ffill : The last row up to each edge instead.
        interpolate : Values on lines between rows.

        Notes
        -----
        This, `ffill`, `bfill` and `nearest` are as-of merges of the edges with the rows, so a row may be any number of
        partitions away. Of several rows at one time, which pandas refuses, the last one is taken, and by `bfill` and
        `nearest` the first one.

        Examples
        --------
        >>> import pandas as pd, dask_gpuscan
        >>> times = pd.to_datetime(["2026-01-01 09:00", "2026-01-01 09:50", "2026-01-01 11:00"])
        >>> x = pd.Series([1.0, 2.0, 5.0], index=times)
        >>> x.gpuscan.resample("1h").asfreq().tolist()
        [1.0, nan, 5.0]
        """
        if pd.api.types.is_scalar(fill_value) and pd.isna(fill_value):
            fill_value = None
        edges = self._edges(timed=fill_value is not None)
        found = edges.match("backward", tolerance=pd.Timedelta(0))
        if fill_value is None:
            return self._as_asked(found, edges.names)
        fill, meta = FillEdges(1, (fill_value,)), meta_of(edges.rows)
        samples = [fill.sample(column_of(meta, name)) for name in edges.names]
        found = self._engine.map_partitions(found, fill_edges, edges.names, edges.time, samples)
        return self._as_asked(found, edges.names)

    def ffill(self, limit: SupportsIndex | None = None) -> Obj:
        """Return for each edge of a bucket the last row up to it; edges are those of `asfreq`.

        Parameters
        ----------
        limit : int, optional
            Take a row for at most this many edges after it.

        See Also
        --------
        asfreq : Only rows at the edges.
        dask_gpuscan.merge_asof : The same for any times.

        Examples
        --------
        >>> import pandas as pd, dask_gpuscan
        >>> times = pd.to_datetime(["2026-01-01 09:00", "2026-01-01 09:50", "2026-01-01 12:00"])
        >>> x = pd.Series([1.0, 2.0, 5.0], index=times)
        >>> x.gpuscan.resample("1h").ffill(limit=1).tolist()
        [1.0, 2.0, nan, 5.0]
        """
        return self._filled("backward", limit)

    def bfill(self, limit: SupportsIndex | None = None) -> Obj:
        """Return for each edge of a bucket the next row from it on; edges are those of `asfreq`.

        Parameters
        ----------
        limit : int, optional
            Take a row for at most this many edges before it.

        Examples
        --------
        >>> import pandas as pd, dask_gpuscan
        >>> times = pd.to_datetime(["2026-01-01 09:00", "2026-01-01 10:50", "2026-01-01 11:00"])
        >>> x = pd.Series([1.0, 2.0, 5.0], index=times)
        >>> x.gpuscan.resample("1h").bfill().tolist()
        [1.0, 2.0, 5.0]
        """
        return self._filled("forward", limit)

    def nearest(self, limit: SupportsIndex | None = None) -> Obj:
        """Return for each edge of a bucket the nearest row, of two equally near ones the later; edges as for `asfreq`.

        Parameters
        ----------
        limit : int, optional
            Take a row for at most this many edges before it, and as many after it.

        See Also
        --------
        ffill : The last row up to each edge.
        bfill : The next row from each edge on.

        Examples
        --------
        >>> import pandas as pd, dask_gpuscan
        >>> times = pd.to_datetime(["2026-01-01 09:00", "2026-01-01 09:50", "2026-01-01 11:00"])
        >>> pd.Series([1, 2, 5], index=times).gpuscan.resample("1h").nearest().tolist()
        [1, 2, 5]
        """
        limit = check_limit(limit)
        edges = self._edges(timed=True)
        before, ahead = (self._near(edges, way, limit) for way in ("backward", "forward"))
        meta = meta_of(edges.rows)
        dtypes = [column_of(meta, name).dtype for name in edges.names]
        if limit is not None and self._engine.IN_PARTS:
            dtypes = [library_of(meta).nullable(dtype) for dtype in dtypes]
        found = self._engine.map_partitions(
            before, nearer_rows, ahead, edges.names, edges.time, dtypes
        )
        return self._as_asked(found, edges.names)

    def _filled(self, way: Way, limit: Any) -> Any:
        """Return for each edge of a bucket the row on one side, unless it is too far."""
        limit = check_limit(limit)
        edges = self._edges(timed=limit is not None)
        return self._as_asked(self._near(edges, way, limit), edges.names)

    def _near(self, edges: Edges, way: Way, limit: int | None) -> Any:
        """Return the rows on one side of edges, null if more than `limit` edges are between, and their times."""
        found = edges.match(way)
        if limit is None:
            return found
        names = [str(name) for name in names_of(meta_of(found))]
        found = self._engine.map_partitions(
            found, append_inexact, edges.time, unused_name("inexact", names)
        )
        inexact = names_of(meta_of(found))[-1]
        keys = [*edges.groups, edges.time]
        groups = methods_of(found).groupby(keys, clustered=True, dropna=not edges.groups)[inexact]
        numbers = groups.cumsum(reverse=way == "forward")
        found = self._engine.with_column(found, numbers, unused_name("number", names))
        number = names_of(meta_of(found))[-1]
        return self._engine.map_partitions(
            found, near_enough, [*edges.names, edges.time], number, limit
        )

    def _edges(self, timed: bool = False) -> Edges:
        """Return the edges of buckets and the rows, if `timed` with a column of their times."""
        raise NotImplementedError

    def _as_asked(self, found: Any, names: list[Hashable]) -> Any:
        """Return the columns of answers, as a series if one column was chosen."""
        if not self._as_series:
            like = meta_of(self._grouping.rows)
            like = library_of(like).no_rows(like)
            return self._engine.map_partitions(found, labelled_columns, names, like)
        series = found[names[0]]
        if self._meta.ndim == 1 and self._meta.name is None:
            return self._engine.map_partitions(series, without_name)
        return series
