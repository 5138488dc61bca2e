"""What ``.gpuscan.resample()`` returns: rows in buckets of time, waiting for a reduction."""

from __future__ import annotations

import warnings
from collections.abc import Hashable, Sequence
from dataclasses import replace
from typing import Any, Literal, SupportsIndex, overload

import pandas as pd
from pandas.tseries.frequencies import to_offset

from ...engines.run import meta_of, run
from ...frames.keys import By
from ...frames.protocol import Library
from ...frames.registry import library_of, names_of, of_levels, unused_name
from ...frames.types import DType
from ...kernels.bounded_cache import BoundedCache
from ...kernels.late_dataclass import dataclass
from ...kernels.messages import name_list, shown
from ...kernels.scalars import is_number
from ...ops.core.operation import GroupReduction, Part
from ...ops.groupby.spec import GroupBySpec
from ...ops.time.buckets import Buckets, fixed_width
from ...ops.time.edges import InsertEdges, append_times
from ...ops.time.resample import NumberBuckets, ResampleReduce
from ...ops.time.time_column import TimeColumn
from ..absent import attribute
from ..arguments import (
    check_choice,
    check_column,
    check_duration,
)
from ..frame.asof import merge_asof
from ..frame.interpolate import checked_fill
from ..groupby.columns import EVERY_COLUMN, Grouping, GroupOptions
from ..types import Duration, FrameT, Methods, Obj, SeriesT, Side
from .arguments import is_usual
from .edges import EdgeRows, Edges, Way

OHLC = {"open": "first", "high": "max", "low": "min", "close": "last"}

ORIGINS = ("start_day", "start", "epoch")

SIDES = ("left", "right", None)

BUCKETS: BoundedCache[Any, Buckets] = BoundedCache()
"""Buckets from the start of the first day, by the library and dtype of the times and the arguments of `resample`."""


class ResampleMethods(Methods[Obj, SeriesT, FrameT]):
    """The part of `Gpuscan` that makes buckets of time."""

    def resample(
        self,
        rule: Duration,
        closed: Side | None = None,
        label: Side | None = None,
        *,
        on: Hashable = None,
        origin: Any = "start_day",
        offset: Duration | None = None,
    ) -> Resampler[Obj, SeriesT, FrameT]:
        """Return rows in buckets of time, to be reduced to one row a bucket; empty buckets have a row, too.

        Parameters
        ----------
        rule : str, timedelta or pandas.DateOffset
            How wide buckets are: a duration such as ``"15min"``, or a rule of a calendar such as ``"ME"`` or ``"W"``.
        closed, label : {"left", "right"}, optional
            Which end belongs to a bucket, and which one names it. By default as for pandas: the right one for
            ends of months, quarters, years and weeks, otherwise the left one.
        on : name, optional
            The column of the times. By default, the index.
        origin : {"start_day", "start", "epoch"} or timestamp, default "start_day"
            From when on durations are counted: midnight of the first day, the first time, 1970-01-01, or the
            given time.
        offset : duration, optional
            Added to the origin.

        Returns
        -------
        Resampler

        Raises
        ------
        TypeError
            If there are no datetimes in the index, or in `on`.
        ValueError
            For any other argument. At compute time, for times that are null or that decrease, naming the
            partition.

        See Also
        --------
        groupby : Groups of rows with equal keys.
        sessionize : Events that follow each other within a gap.

        Notes
        -----
        Answers are those of `pandas.DataFrame.resample` on the whole data. Times must be in order, so that each
        bucket is a group whose rows are adjacent: partitions are reduced in one pass, and hand on the last
        bucket. Over partitions, ``min``, ``max``, ``first`` and ``last`` of NumPy's integers are float64,
        and of its bool objects, as a bucket may be empty.

        Examples
        --------
        >>> import pandas as pd, dask.dataframe as dd, dask_gpuscan
        >>> times = pd.to_datetime(["2026-01-01 09:10", "2026-01-01 09:50", "2026-01-01 11:05"])
        >>> df = pd.DataFrame({"x": [1, 2, 5]}, index=times)
        >>> dd.from_pandas(df, npartitions=3).gpuscan.resample("1h").sum().compute()
                             x
        2026-01-01 09:00:00  3
        2026-01-01 10:00:00  0
        2026-01-01 11:00:00  5
        """
        found = checked_buckets(meta_of(self._obj), rule, closed, label, on, origin, offset)
        return Resampler(self._obj, *found)


@dataclass(frozen=True, kw_only=True)
class BucketEdges(Edges):
    """The edges of buckets of all rows."""

    buckets: Buckets
    """Their labels are the edges."""
    grid: Any
    """A frame with the edges as its index."""
    on: Hashable
    """The column of the times; None if they are the index."""

    def match(self, way: Way, **options: Any) -> Any:
        """Return for each edge the row that an as-of merge finds, as a frame."""
        where: dict[str, Any] = {"right_index": True} if self.on is None else {"right_on": self.on}
        return merge_asof(self.grid, self.rows, left_index=True, direction=way, **where, **options)


class Resampler(EdgeRows[Obj, SeriesT, FrameT]):
    """Rows in buckets of time; see `Gpuscan.resample`.

    Its reductions are those of groups, and `ohlc`; `asfreq` and its kin give rows at the edges of buckets.

    Examples
    --------
    >>> import pandas as pd, dask_gpuscan
    >>> x = pd.Series([1, 2, 5], index=pd.to_datetime(["2026-01-01", "2026-01-30", "2026-03-02"]))
    >>> x.gpuscan.resample("MS").agg(["sum", "size"])
                sum  size
    2026-01-01    3     2
    2026-02-01    0     0
    2026-03-01    5     1
    """

    _infers_keys = False  # times are no objects

    def __init__(
        self, obj: Any, time_column: TimeColumn, buckets: Buckets, selected: Any = EVERY_COLUMN
    ) -> None:
        by = By(() if time_column.on is None else (time_column.on,))
        super().__init__(Grouping(obj, obj, by, by.columns), GroupOptions(clustered=True), selected)
        self._time_column = time_column
        self._buckets = buckets

    def __repr__(self) -> str:
        of = "" if self._selected is EVERY_COLUMN else f" of {self._selected!r}"
        rule = self._buckets
        return f"<Resampler{of} by {rule.freq.freqstr} of {self._time_column.title}, closed={rule.closed!r}>"

    @overload
    def __getitem__(self, columns: list[Any]) -> Resampler[FrameT, SeriesT, FrameT]: ...
    @overload
    def __getitem__(self, columns: Hashable) -> Resampler[SeriesT, SeriesT, FrameT]: ...
    def __getitem__(self, columns: Any) -> Resampler[Any, SeriesT, FrameT]:
        """Return the same buckets of one column, by its name, or of several, by a list of names."""
        return Resampler(self._obj, self._time_column, self._buckets, self._chosen(columns))

    def __getattr__(self, name: str) -> Resampler[SeriesT, SeriesT, FrameT]:
        """Return the same buckets of the column of this name, as pandas does."""
        column: Resampler[SeriesT, SeriesT, FrameT] = attribute(self, "resample", name, self._names)
        return column

    def interpolate(
        self,
        method: Literal["linear", "time", "index", "values", "pad"] = "linear",
        *,
        limit: SupportsIndex | None = None,
        limit_direction: Literal["forward", "backward", "both"] | None = None,
        limit_area: Literal["inside", "outside"] | None = None,
    ) -> Obj:
        """Return for each edge of a bucket the value on the line between the rows around it; edges as for `asfreq`.

        Parameters
        ----------
        method, limit, limit_direction, limit_area
            As for `Gpuscan.interpolate`. "linear" counts rows, and each edge without a row as one more, as in
            pandas; "time" takes the distances of times.

        Returns
        -------
        Series or DataFrame
            NumPy's integers become float64, and its bool objects, where an edge may have no row.

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
        Numbers are those of pandas 3; pandas 2 uses rows at edges only.

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
            in_parts=self._engine.IN_PARTS,
        )
        filled = replace(edges, rows=run(run(edges.rows, insert), fill), on=None)
        found = filled.match("backward", tolerance=pd.Timedelta(0))
        return self._as_asked(found, edges.names)

    def ohlc(self) -> FrameT:
        """Return the first, largest, smallest and last value of each bucket, as open, high, low and close.

        Examples
        --------
        >>> import pandas as pd, dask_gpuscan
        >>> x = pd.Series([3, 9, 4], index=pd.date_range("2026-01-01", periods=3, freq="h"))
        >>> x.gpuscan.resample("D").ohlc()
                    open  high  low  close
        2026-01-01     3     9    3      4
        """
        labels = [(c, price) for c in self._columns() for price in OHLC]
        parts = [Part(pair, pair[:1], self._operation(OHLC[pair[1]], pair[0])) for pair in labels]
        out = self._reduce_groups(parts, False, named=True)
        if self._as_series:
            out.columns = list(OHLC)
        else:
            out.columns = library_of(self._meta).pair_names(self._meta, labels)
        return out

    def _edges(self, timed: bool = False) -> BucketEdges:
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
        grid = grid.to_frame(name=of_levels(unused_name("edge", known), meta_of(rows)))
        if timed:
            rows = self._engine.map_partitions(
                rows, append_times, self._time_column, unused_name("time", known)
            )
            time = names_of(meta_of(rows))[-1]
        return BucketEdges(buckets=buckets, grid=grid, rows=rows, names=names, on=on, time=time)

    def _reduce_groups(
        self, parts: Sequence[Part[GroupReduction]], as_series: bool, named: bool = False
    ) -> Any:
        """Reduce buckets to one row each."""
        like = self._meta
        if self._engine.IN_PARTS:  # which would keep its rows
            like = library_of(like).no_rows(like)
        for part in parts:
            part.operation.dtype(
                [self._column(name) for name in part.sources or names_of(like)[:1]]
            )
        sources = [name for part in parts for name in part.sources]
        if self._time_column.on is not None:
            sources.append(self._time_column.on)
        names = tuple(dict.fromkeys(sources))
        number = unused_name("bucket", names)
        rows = NumberBuckets(self._time_column, self._buckets, names, number)
        spec = GroupBySpec(
            By((number,)),
            label=f"resample-{parts[0].operation.name if len(parts) == 1 else 'agg'}",
            parts=tuple(parts),
            as_series=as_series,
            named=named,
        )
        carry = ResampleReduce(
            spec,
            time_column=self._time_column,
            buckets=self._buckets,
            like=like,
            may_be_empty=self._engine.IN_PARTS,
        )
        return run(run(self._needed(list(names)), rows), carry)


def checked_buckets(
    meta: Any, rule: Any, closed: Any, label: Any, on: Any, origin: Any, offset: Any
) -> tuple[TimeColumn, Buckets]:
    """Return where the times are, and their buckets, from the arguments of `resample`; raises for wrong ones."""
    time_column, dtype = _time_column(meta, on)
    check_choice("closed", closed, SIDES)
    check_choice("label", label, SIDES)
    given = rule, closed, label, origin, offset
    key = library_of(meta), dtype, *given
    usual = isinstance(origin, str) and origin == "start_day" and offset is None
    if not usual or not is_usual(rule):
        return time_column, _buckets(library_of(meta), dtype, *given)
    return time_column, BUCKETS.get(key) or BUCKETS.store(key, _buckets(*key))


def _time_column(meta: Any, on: Any) -> tuple[TimeColumn, DType]:
    """Return where the times are, which are datetimes, and their dtype."""
    library, time_column = library_of(meta), TimeColumn(on)
    if on is not None:
        if meta.ndim == 1:
            raise TypeError(f"on names a column of a DataFrame, found {shown(on)} for a Series")
        check_column("on", on, names_of(meta))
    elif len(library.index_names(meta)) > 1:
        raise TypeError("resample takes an index of one level, found several; name a column by on")
    dtype = time_column.column(meta).dtype
    if library.layout(dtype) is not None and dtype.kind == "M" and library.time_unit(dtype) == "D":
        raise TypeError(
            f"resample needs times of a day, found dtype {dtype} in {time_column.title}; cast it to timestamps first"
        )
    if library.layout(dtype) is None or dtype.kind != "M":
        cast = "add a timestamp" if dtype.kind == "m" else "cast it with pandas.to_datetime"
        raise TypeError(
            f"resample needs datetimes, found dtype {dtype} in {time_column.title}; {cast}, "
            f"or name another column by on"
        )
    return time_column, dtype


def _buckets(
    library: Library, dtype: DType, rule: Any, closed: Any, label: Any, origin: Any, offset: Any
) -> Buckets:
    try:
        freq = to_offset(rule)
    except (TypeError, ValueError) as error:
        raise ValueError(
            f"rule must be a duration or a rule of pandas such as '15min', 'D' or 'ME', found {shown(rule)}"
        ) from error
    if freq is None or freq.n < 1:
        raise ValueError(f"rule must be longer than nothing, found {shown(rule)}")
    if isinstance(origin, str) and origin in ("end", "end_day"):
        raise ValueError(
            f"origin must be one of {name_list(ORIGINS)} or a timestamp, found {shown(origin)}, which "
            f"needs the last time before the first bucket; give that time as the timestamp"
        )
    if not (isinstance(origin, str) and origin in ORIGINS):
        try:
            found = pd.NaT if is_number(origin) else pd.Timestamp(origin)
        except (TypeError, ValueError):
            found = pd.NaT
        if found is pd.NaT:
            raise ValueError(
                f"origin must be one of {name_list(ORIGINS)} or a timestamp, found {shown(origin)}"
            )
        origin = found
    if offset is not None:
        offset = check_duration("offset", offset, "a duration")
    found = pd.Grouper(freq=freq, closed=closed, label=label)
    unit = library.time_unit(dtype)
    buckets = Buckets(freq, found.closed, found.label, origin, offset, dtype, unit)
    if buckets.is_fixed:
        if isinstance(origin, pd.Timestamp) and (origin.tz is None) != (buckets.zone is None):
            raise ValueError(
                f"origin must have a time zone if the times have one, and else none: found {shown(origin)} "
                f"for times of dtype {dtype}"
            )
        if fixed_width(freq) % pd.Timedelta(1, unit):
            raise ValueError(
                f"rule must be a multiple of the unit of the times, which is {unit!r}, found {shown(rule)}"
            )
    plain = buckets.plain()
    for name, given in (("origin", origin), ("offset", offset)):
        if given != getattr(plain, name):
            warnings.warn(
                f"resample: {name} has no effect with rule {freq.freqstr!r}, as its buckets begin where the calendar "
                f"of the times says, found {shown(given)}",
                RuntimeWarning,
                stacklevel=4,
            )
    return plain
