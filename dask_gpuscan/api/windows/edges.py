"""The methods of buckets of time that give one row for each of their edges, rather than reduce the rows in them."""

from __future__ import annotations

from collections.abc import Hashable
from dataclasses import dataclass, replace
from typing import Any, Literal, SupportsIndex

import numpy as np
import pandas as pd

from ...engines.run import meta_of, run
from ...frames.registry import column_of, library_of, names_of, unused_name
from ...ops.time.buckets import Buckets
from ...ops.time.edges import (
    FillEdges,
    InsertEdges,
    append_inexact,
    append_times,
    fill_edges,
    near_enough,
    nearer_rows,
)
from ...ops.time.time_column import TimeColumn
from ..arguments import check_limit
from ..frame.asof import merge_asof
from ..frame.interpolate import checked_fill
from ..frame.resets import without_name
from ..types import FrameT, Obj, SeriesT
from .bucket_reductions import BucketReductions

Way = Literal["backward", "forward"]


@dataclass(frozen=True)
class Edges:
    """The edges of buckets, and the rows that they are met with."""

    buckets: Buckets
    """Whose labels are the edges."""
    grid: Any
    """A frame with the edges as its index."""
    rows: Any
    names: list[Hashable]
    """The columns of answers."""
    on: Hashable
    """The column of the times; None if they are the index."""
    time: Hashable = None
    """A column of the times as numbers, where these are asked for."""

    def match(self, way: Way, **options: Any) -> Any:
        """Return for each edge the row that an as-of merge finds, as a frame."""
        where: dict[str, Any] = {"right_index": True} if self.on is None else {"right_on": self.on}
        return merge_asof(self.grid, self.rows, left_index=True, direction=way, **where, **options)


class EdgeRows(BucketReductions[Obj, SeriesT, FrameT]):
    """The part of `Resampler` that gives rows at the edges of buckets."""

    _time_column: TimeColumn
    _buckets: Buckets

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
            says, as in pandas. NumPy's integers and bool are nullable where an edge may have no row, unless it has
            the `fill_value`.

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
        if np.isscalar(fill_value) and pd.isna(fill_value):
            fill_value = None
        edges = self._edges(timed=fill_value is not None)
        found = edges.match("backward", tolerance=pd.Timedelta(0))
        if fill_value is None:
            return self._as_asked(found[edges.names], edges.names)
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

        See Also
        --------
        asfreq : Only rows at the edges.

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

    def interpolate(
        self,
        method: Literal["linear", "time", "index", "values", "pad"] = "linear",
        *,
        limit: SupportsIndex | None = None,
        limit_direction: Literal["forward", "backward", "both"] | None = None,
        limit_area: Literal["inside", "outside"] | None = None,
    ) -> Obj:
        """Return for each edge of a bucket what is on lines between the rows; edges are those of `asfreq`.

        Parameters
        ----------
        method, limit, limit_direction, limit_area
            As for `Gpuscan.interpolate`. "linear" counts rows, of which edges without a row are each one more, as in
            pandas; "time" takes the distances of times.

        Returns
        -------
        Series or DataFrame
            NumPy's integers become float64 where an edge may have no row; "pad" gives nullable ones.

        Raises
        ------
        TypeError
            For a column that does not hold numbers or, for "linear", times; "pad" takes any dtype.
        ValueError
            As for `Gpuscan.interpolate`; at compute time, for times that are null or that decrease, naming the
            partition.

        See Also
        --------
        Gpuscan.interpolate : Fills nulls where rows are.
        nearest : A row for each edge, of any dtype.

        Notes
        -----
        Numbers are those of pandas 3. pandas 2 takes rows that are at edges, and no others.

        Examples
        --------
        >>> import pandas as pd, dask_gpuscan
        >>> times = pd.to_datetime(["2026-01-01 09:00", "2026-01-01 10:30", "2026-01-01 12:00"])
        >>> x = pd.Series([1.0, 4.0, 10.0], index=times)
        >>> x.gpuscan.resample("1h").interpolate("time").tolist()
        [1.0, 3.0, 6.0, 10.0]
        """
        fill = checked_fill(method, limit, limit_direction, limit_area)
        edges = self._edges()
        insert = InsertEdges(
            self._time_column,
            edges.buckets,
            tuple(edges.names),
            as_floats=method != "pad",
            in_parts=self._engine.IN_PARTS,
        )
        filled = replace(edges, rows=run(run(edges.rows, insert), fill), on=None)
        found = filled.match("backward", tolerance=pd.Timedelta(0))
        return self._as_asked(found[edges.names], edges.names)

    def _filled(self, way: Way, limit: Any) -> Any:
        """Return for each edge of a bucket the row on one side, unless it is too far."""
        limit = check_limit(limit)
        edges = self._edges(timed=limit is not None)
        return self._as_asked(self._near(edges, way, limit)[edges.names], edges.names)

    def _near(self, edges: Edges, way: Way, limit: int | None) -> Any:
        """Return the rows on one side of edges, null where more edges than `limit` are between, and their times."""
        found = edges.match(way)
        if limit is None:
            return found
        names = [str(name) for name in names_of(meta_of(found))]
        found = self._engine.map_partitions(
            found, append_inexact, edges.time, unused_name("inexact", names)
        )
        inexact = names_of(meta_of(found))[-1]
        groups = found.gpuscan.groupby([edges.time], clustered=True)[inexact]
        numbers = groups.cumsum(reverse=way == "forward")
        found = self._engine.with_column(found, numbers, unused_name("number", names))
        number = names_of(meta_of(found))[-1]
        return self._engine.map_partitions(
            found, near_enough, [*edges.names, edges.time], number, limit
        )

    def _edges(self, timed: bool = False) -> Edges:
        """Return the edges of buckets and the rows, if `timed` with a column of their times."""
        on, names = self._time_column.on, self._columns()
        rows, time = self._obj, None
        if self._meta.ndim == 1:
            names = ["value" if self._meta.name is None else self._meta.name]
            rows = rows.to_frame(name=names[0])
        rows = self._engine.narrow(rows, [*names, *(() if on is None else (on,))])
        known = [str(name) for name in names_of(meta_of(rows))]
        buckets = replace(self._buckets, label=self._buckets.closed)
        owner: Any = type(self)
        grid = owner(self._obj, self._time_column, buckets).size()
        grid = grid.to_frame(name=unused_name("edge", known))
        if timed:
            rows = self._engine.map_partitions(
                rows, append_times, self._time_column, unused_name("time", known)
            )
            time = names_of(meta_of(rows))[-1]
        return Edges(buckets, grid, rows, names, on, time)

    def _as_asked(self, found: Any, names: list[Hashable]) -> Any:
        """Return a frame of answers, as a series if one column was asked about."""
        if not self._as_series:
            return found
        series = found[names[0]]
        if self._meta.ndim == 1 and self._meta.name is None:
            return self._engine.map_partitions(series, without_name)
        return series
