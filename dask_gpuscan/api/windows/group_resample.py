"""What ``.gpuscan.groupby().resample()`` returns: buckets of time of each group, waiting for a reduction."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from dataclasses import replace
from typing import Any, overload

from ...engines.run import meta_of, methods_of, run
from ...frames.keys import By
from ...frames.registry import library_of, names_of, unused_name
from ...kernels.late_dataclass import dataclass
from ...kernels.messages import shown
from ...ops.core.operation import GroupReduction, Part
from ...ops.groupby.spec import GroupBySpec
from ...ops.groupby.strategy import KeyOrder, strategy
from ...ops.time.buckets import Buckets
from ...ops.time.edges import append_times
from ...ops.time.group_buckets import FillBuckets, append_labels, seen_times
from ...ops.time.group_edges import keyed_edges, keyed_rows, with_levels
from ...ops.time.time_column import TimeColumn
from ..absent import attribute
from ..frame.asof import merge_asof
from ..groupby.columns import EVERY_COLUMN, Grouping, GroupOptions
from ..groupby.sorted_values import GroupBySorted
from ..types import Duration, FrameT, Obj, SeriesT, Side
from .edges import EdgeRows, Edges, Way
from .resample import checked_buckets


class GroupByResample(GroupBySorted[Obj, SeriesT, FrameT]):
    """The part of `GroupBy` that makes buckets of time."""

    def resample(
        self,
        rule: Duration,
        closed: Side | None = None,
        label: Side | None = None,
        *,
        on: Hashable = None,
        origin: Any = "start_day",
        offset: Duration | None = None,
    ) -> GroupResampler[Obj, SeriesT, FrameT]:
        """Return the rows of each group in buckets of time, to be reduced to one row a bucket.

        Parameters
        ----------
        rule, closed, label, on, origin, offset
            As for `Gpuscan.resample`; buckets of each group are counted from its own first time.

        Returns
        -------
        GroupResampler

        Raises
        ------
        TypeError
            If there are no datetimes in the index, or in `on`.
        ValueError
            For units of a calendar closed on the right that are not ends, such as ``"MS"`` and days of a time
            zone, and as for `Gpuscan.resample`. At compute time, for times that are null, or that decrease within a
            group.

        See Also
        --------
        Gpuscan.resample : Without groups.

        Notes
        -----
        Answers are those of `pandas.api.typing.DataFrameGroupBy.resample`, with keys as the first levels of the index
        and times as the last: a group has buckets from its first to its last time, those without rows too. The
        label of a bucket is one more key, so groups may be in any order, or clustered. With ``as_index=False`` the
        index has times alone.

        Examples
        --------
        >>> import pandas as pd, dask_gpuscan
        >>> times = pd.to_datetime(["2026-01-01 09:10", "2026-01-01 09:50", "2026-01-01 11:05"])
        >>> df = pd.DataFrame({"k": list("aba"), "x": [1, 2, 5]}, index=times)
        >>> df.gpuscan.groupby("k").resample("1h")["x"].sum()
        k
        a  2026-01-01 09:00:00    1
           2026-01-01 10:00:00    0
           2026-01-01 11:00:00    5
        b  2026-01-01 09:00:00    2
        Name: x, dtype: int64
        """
        time_column, buckets = checked_buckets(self._meta, rule, closed, label, on, origin, offset)
        if buckets.begins_empty:
            raise ValueError(
                f"rule must be closed as by default in groups, found {shown(rule)} closed on the {buckets.closed}; "
                f"resample the rows of one group"
            )
        grouping, selected = self._grouping, self._selected
        if self._meta.ndim == 1:
            selected = "value" if self._meta.name is None else self._meta.name
            grouping = replace(grouping, obj=self._obj.to_frame(name=selected), signature=None)
        elif isinstance(
            selected, list
        ):  # pandas wants the times among the columns, and leaves them out of answers
            selected = [name for name in selected if name != time_column.on] or selected
        return GroupResampler(grouping, self._options, selected, time_column, buckets)


@dataclass(frozen=True, kw_only=True)
class GroupEdges(Edges):
    """The edges of buckets of each group, and rows, which an as-of merge by keys matches in the order of times."""

    engine: Any
    grid: Any
    """A frame of keys and edges, in the order of edges."""
    keys: Sequence[Hashable]
    edge: Hashable
    row: Hashable
    """The row of an edge in the answer."""
    labels: dict[Hashable, Hashable]
    """The columns that are levels of the answer's index, and their names there."""

    def match(self, way: Way, **options: Any) -> Any:
        """Return for each edge the row of its group that an as-of merge finds, in the order of the answer."""
        found = merge_asof(
            self.grid,
            self.rows,
            left_on=self.edge,
            right_on=self.time,
            by=list(self.keys),
            direction=way,
            **options,
        )
        names = [*self.names, self.time, *self.groups]
        return self.engine.map_partitions(
            methods_of(found).sort_values(self.row),
            with_levels,
            list(self.labels),
            list(self.labels.values()),
            names,
            keeps_divisions=False,
        )


class GroupResampler(EdgeRows[Obj, SeriesT, FrameT]):
    """Rows of groups in buckets of time; see `GroupBy.resample`.

    Its reductions are those of groups; `asfreq` and its kin give rows at the edges of buckets.

    Examples
    --------
    >>> import pandas as pd, dask_gpuscan
    >>> times = pd.to_datetime(["2026-01-01", "2026-01-30", "2026-03-02"])
    >>> df = pd.DataFrame({"k": 1, "x": [1, 2, 5]}, index=times)
    >>> df.gpuscan.groupby("k").resample("MS")["x"].agg(["sum", "size"])
                  sum  size
    k
    1 2026-01-01    3     2
      2026-02-01    0     0
      2026-03-01    5     1
    """

    _may_ask = False
    _infers_keys = False  # edges of groups meet rows by their keys

    def __init__(
        self,
        grouping: Grouping,
        options: GroupOptions,
        selected: Any,
        time_column: TimeColumn,
        buckets: Buckets,
    ) -> None:
        super().__init__(grouping, options, selected)
        self._time_column = time_column
        self._buckets = buckets

    def __repr__(self) -> str:
        by = ", ".join(map(repr, self._grouping.titles))
        of = "" if self._selected is EVERY_COLUMN else f" of {self._selected!r}"
        return f"<GroupResampler{of} by {by} and {self._buckets.freq.freqstr} of {self._time_column.title}>"

    @overload
    def __getitem__(self, columns: list[Any]) -> GroupResampler[FrameT, SeriesT, FrameT]: ...
    @overload
    def __getitem__(self, columns: Hashable) -> GroupResampler[SeriesT, SeriesT, FrameT]: ...
    def __getitem__(self, columns: Any) -> GroupResampler[Any, SeriesT, FrameT]:
        """Return the same buckets of one column, by its name, or of several, by a list of names."""
        picked = self._chosen(columns)
        return GroupResampler(
            self._grouping, self._options, picked, self._time_column, self._buckets
        )

    def __getattr__(self, name: str) -> GroupResampler[SeriesT, SeriesT, FrameT]:
        """Return the same buckets of the column of this name, as pandas does."""
        column: GroupResampler[SeriesT, SeriesT, FrameT]
        column = attribute(self, "groupby.resample", name, self._names)
        return column

    def _answer(self, out: Any) -> Any:
        """Return an answer of buckets, with the times in its index, and the keys too if `as_index`."""
        return super()._answer(out) if self._options.as_index else self._named(out)

    def _sizes(self, found: Any) -> Any:
        return self._answer(found)

    def _columns(self, numeric_only: bool = False) -> list[Hashable]:
        names = super()._columns(numeric_only)
        return [n for n in names if self._selected is not EVERY_COLUMN or n != self._time_column.on]

    def _in_kernels(self, name: str, numeric_only: bool | None, options: dict[str, Any]) -> None:
        """Return None: these groups are not those of the keys alone."""

    def _reduce_groups(
        self, parts: Sequence[Part[GroupReduction]], as_series: bool, named: bool = False
    ) -> Any:
        """Reduce the buckets of groups to one row each."""
        sources = [name for part in parts for name in part.sources]
        on, engine = self._time_column.on, self._engine
        rows = self._needed(sources if on is None else [*sources, on])
        rows, label, order = self._with_labels(rows)
        spec = GroupBySpec(
            By((*order, *self._by.columns, label), self._by.levels),
            f"resample-{parts[0].operation.name if len(parts) == 1 else 'agg'}",
            tuple(parts),
            as_series,
            self._dropna,
            named,
        )
        way = KeyOrder.ADJACENT if self._clustered else KeyOrder.ANYWHERE
        like = library_of(self._meta).no_rows(meta_of(rows))
        dropped = len(order) + (0 if self._options.as_index else len(self._by.columns))
        fill = FillBuckets(spec, like, self._time_column, self._buckets, engine.IN_PARTS, dropped)
        return run(run(rows, strategy(spec, way)), fill)

    def _edges(self, timed: bool = False) -> GroupEdges:
        names, engine, by = self._columns(), self._engine, self._by
        known = list(map(str, names))
        keys, groups = (
            [unused_name(f"{title} {i}", known) for i in range(len(by.columns))]
            for title in ("key", "group")
        )
        edge, time, row = (unused_name(title, known) for title in ("edge", "time", "row"))
        on = self._time_column.on
        rows = engine.map_partitions(
            self._needed(names if on is None else [*names, on]), keyed_rows, by, self._time_column,
            [keys, groups], time, names, keeps_divisions=False,
        )  # fmt: skip
        rows = methods_of(rows).sort_values(time)  # a stream refuses this, before it is read
        buckets = replace(self._buckets, label=self._buckets.closed)
        owner: Any = type(self)
        options = replace(self._options, as_index=True)
        sizes = owner(self._grouping, options, self._selected, self._time_column, buckets).size()
        levels: list[Hashable] = [*keys, edge]
        labels = zip(levels, library_of(meta_of(sizes)).index_names(meta_of(sizes)), strict=True)
        kept = dict(list(labels)[0 if self._options.as_index else len(keys) :])
        grid = engine.map_partitions(sizes, keyed_edges, keys, edge, keeps_divisions=False)
        grid = engine.with_column(grid, methods_of(grid).cumcount(), row)
        return GroupEdges(
            engine=engine,
            grid=methods_of(grid).sort_values(edge),
            rows=rows,
            names=names,
            time=time,
            groups=tuple(groups),
            keys=keys,
            edge=edge,
            row=row,
            labels=kept,
        )

    def _with_labels(self, rows: Any) -> tuple[Any, Hashable, list[Hashable]]:
        """Return rows with the label of their bucket as one more column, its name, and that of the order of groups.

        Groups in order of appearance have the number of their first row as a key before all others.
        """
        engine = self._engine
        known = [str(name) for name in names_of(meta_of(rows))]
        timed = engine.map_partitions(
            rows, append_times, self._time_column, unused_name("time", known)
        )
        time = names_of(meta_of(timed))[-1]
        times = seen_times(time, self._buckets)
        seen = self._of(timed)._scan("resample-times", times, as_series=False)
        label = unused_name("bucket", known)
        rows = engine.map_partitions(
            timed, append_labels, seen, self._time_column, self._buckets, label
        )
        label = names_of(meta_of(rows))[-1]
        if self._options.sort is not False or self._clustered:
            return rows, label, []
        rows = engine.with_column(rows, methods_of(rows).cumcount(), unused_name("row", known))
        number = names_of(meta_of(rows))[-1]
        firsts = self._of(rows)[number].cummin()
        rows = engine.with_column(rows, firsts, unused_name("group", known))
        return rows, label, [names_of(meta_of(rows))[-1]]
