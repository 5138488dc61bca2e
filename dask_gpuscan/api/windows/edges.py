"""The methods of buckets of time that give one row for each of their edges, rather than reduce the rows in them."""

from __future__ import annotations

from collections.abc import Callable, Hashable
from dataclasses import replace
from functools import partial
from typing import Any, Literal

import pandas as pd

from ...engines.run import meta_of
from ...frames.registry import column_of, names_of, unused_name
from ...ops.time.buckets import Buckets
from ...ops.time.edges import append_times, nearer_rows
from ...ops.time.time_column import TimeColumn
from ..frame.asof import merge_asof
from ..frame.resets import without_name
from ..groupby.sorted_values import GroupBySorted
from ..types import FrameT, Obj, SeriesT


class EdgeRows(GroupBySorted[Obj, SeriesT, FrameT]):
    """The part of `Resampler` that gives rows at the edges of buckets."""

    _time_column: TimeColumn
    _buckets: Buckets

    def asfreq(self) -> Obj:
        """Return the rows at the edges of buckets, and null rows at edges where there are none.

        Returns
        -------
        Series or DataFrame
            With a row for each left edge, or for each right one if buckets are closed on the right, whatever `label`
            says, as in pandas. NumPy's integers and bool are nullable where an edge may have no row.

        Raises
        ------
        ValueError
            At compute time, for times that are null or that decrease, naming the partition.

        See Also
        --------
        ffill : The last row up to each edge instead.
        Gpuscan.interpolate : Fills the nulls.

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
        return self._at_edges("backward", tolerance=pd.Timedelta(0))

    def ffill(self) -> Obj:
        """Return for each edge of a bucket the last row up to it; edges are those of `asfreq`.

        See Also
        --------
        asfreq : Only rows at the edges.
        dask_gpuscan.merge_asof : The same for any times.

        Examples
        --------
        >>> import pandas as pd, dask_gpuscan
        >>> times = pd.to_datetime(["2026-01-01 09:00", "2026-01-01 09:50", "2026-01-01 11:00"])
        >>> x = pd.Series([1.0, 2.0, 5.0], index=times)
        >>> x.gpuscan.resample("1h").ffill().tolist()
        [1.0, 2.0, 5.0]
        """
        return self._at_edges("backward")

    def bfill(self) -> Obj:
        """Return for each edge of a bucket the next row from it on; edges are those of `asfreq`.

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
        return self._at_edges("forward")

    def nearest(self) -> Obj:
        """Return for each edge of a bucket the nearest row, of two equally near ones the later; edges as for `asfreq`.

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
        names, rows, match = self._edges()
        known = [str(name) for name in names_of(meta_of(rows))]
        time = unused_name("time", known)
        rows = self._engine.map_partitions(rows, append_times, self._time_column, time)
        time = names_of(meta_of(rows))[-1]
        before, ahead = (match(rows, direction=way) for way in ("backward", "forward"))
        dtypes = [column_of(meta_of(rows), name).dtype for name in names]
        return self._as_asked(
            self._engine.map_partitions(before, nearer_rows, ahead, names, time, dtypes), names
        )

    def _at_edges(self, direction: Literal["backward", "forward"], **options: Any) -> Any:
        """Return for each edge of a bucket the row that an as-of merge finds."""
        names, rows, match = self._edges()
        return self._as_asked(match(rows, direction=direction, **options)[names], names)

    def _edges(self) -> tuple[list[Hashable], Any, Callable[..., Any]]:
        """Return the names of the columns, their rows as a frame, and what merges the edges of buckets with rows."""
        on, names = self._time_column.on, self._columns()
        rows = self._obj
        if self._meta.ndim == 1:
            names = ["value" if self._meta.name is None else self._meta.name]
            rows = rows.to_frame(name=names[0])
        rows = self._engine.narrow(rows, [*names, *(() if on is None else (on,))])
        edges = replace(self._buckets, label=self._buckets.closed)
        name = unused_name("edge", [str(name) for name in names_of(meta_of(rows))])
        owner: Any = type(self)
        grid: Any = owner(self._obj, self._time_column, edges).size().to_frame(name=name)
        where: dict[str, Any] = {"right_index": True} if on is None else {"right_on": on}
        return names, rows, partial(merge_asof, grid, left_index=True, **where)

    def _as_asked(self, found: Any, names: list[Hashable]) -> Any:
        """Return a frame of answers, as a series if one column was asked about."""
        if not self._as_series:
            return found
        series = found[names[0]]
        if self._meta.ndim == 1 and self._meta.name is None:
            return self._engine.map_partitions(series, without_name)
        return series
