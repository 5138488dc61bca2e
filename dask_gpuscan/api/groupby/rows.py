"""Rows of groups by their place in them: the methods of `GroupBy` that give some rows, in the rows' own order."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Sequence
from functools import cache, reduce
from operator import and_, or_
from typing import Any, SupportsIndex, overload

from ...engines.run import meta_of, run
from ...frames.registry import names_of, unused_name
from ...kernels.messages import shown
from ...ops.core.operation import Part
from ...ops.groupby.top_rows import KEEP, Top, TopRows
from ...ops.run_numbers import RunNumbers
from ...ops.scan.row_number import CountRows
from ...ops.sort.rank import RankGroups, RankOptions
from ...ops.windows.group_surroundings import GroupOverlap
from ...ops.windows.surroundings import NeighbourOperation
from ..arguments import check_choice, check_column, check_count
from ..family import family
from ..frame.running import RunningMethods
from ..frame.shift import ShiftedStatistics
from ..types import FrameT, Obj, SeriesT, TopKeep
from .columns import EVERY_COLUMN, GroupByColumns

Place = int | slice
"""A row of each group, or a range of rows, as in an index of a list."""

Numbers = Callable[[], Any]
"""Gives the number of each row in its group, as a series: from 0, null in rows that are in no group."""


class GroupByRows(
    GroupByColumns[Obj, SeriesT, FrameT],
    ShiftedStatistics[Obj, SeriesT, FrameT],
    RunningMethods[Obj, SeriesT, FrameT],
):
    """The part of `GroupBy` that numbers and chooses rows."""

    def _neighbours(self, operation: NeighbourOperation) -> Any:
        """Return the answer of an operation for each row, from the rows around it in its group."""
        parts = [Part(name, (name,), operation) for name in self._columns()]
        return self._around(operation.label, parts, self._as_series)

    def _around(
        self,
        label: str,
        parts: Sequence[Part[NeighbourOperation]],
        as_series: bool,
        named: bool = False,
    ) -> Any:
        carry = GroupOverlap(
            self._by,
            label=f"groupby-{label}",
            parts=tuple(parts),
            as_series=as_series,
            dropna=self._dropna,
            named=named,
            null_keys=self._null_keys,
            clustered=bool(self._clustered),
        )
        needed = [n for part in parts for n in part.sources]
        return self._named(run(self._needed([*needed, *carry.times]), carry))

    def head(self, n: SupportsIndex = 5) -> Obj:
        """Return the first rows of each group, in the rows' own order with their own index.

        Parameters
        ----------
        n : int, default 5
            How many of each group; if negative, all but the last ``-n``.

        Returns
        -------
        Series or DataFrame
            As of `pandas.api.typing.DataFrameGroupBy.head`; a Dask collection keeps its divisions. Rows whose
            key is null are left out, unless groups were made with ``dropna=False``.

        Raises
        ------
        TypeError
            If `n` is not an integer.

        See Also
        --------
        nth : Rows at any places.

        Examples
        --------
        >>> import pandas as pd, dask_gpuscan
        >>> df = pd.DataFrame({"k": list("abaa"), "x": [1, 2, 3, 4]})
        >>> df.gpuscan.groupby("k").head(1)
           k  x
        0  a  1
        1  b  2
        """
        return self._rows("head", [slice(None, check_count("n", n))])

    def tail(self, n: SupportsIndex = 5) -> Obj:
        """Return the last rows of each group, in the rows' own order; parameters as for `head`.

        Examples
        --------
        >>> import pandas as pd, dask_gpuscan
        >>> df = pd.DataFrame({"k": list("abaa"), "x": [1, 2, 3, 4]})
        >>> df.gpuscan.groupby("k")["x"].tail(1).to_dict()
        {1: 2, 3: 4}
        """
        n = check_count("n", n)
        return self._rows("tail", [slice(-n, None) if n else slice(0, 0)])

    def nth(
        self, n: SupportsIndex | slice | Sequence[SupportsIndex | slice], dropna: None = None
    ) -> Obj:
        """Return the rows at some places of each group, in the rows' own order with their own index.

        Parameters
        ----------
        n : int, slice, or list of int and slice
            Places in a group, from 0; negative ones count from the end. Steps of slices are positive.
        dropna : None
            Rows are counted whether they hold nulls or not.

        Returns
        -------
        Series or DataFrame
            As from `pandas.api.typing.DataFrameGroupBy.nth`.

        Raises
        ------
        TypeError
            If `n` holds anything else.
        ValueError
            For a step that is not positive, and for any `dropna` but None.

        See Also
        --------
        head : The first rows.
        tail : The last rows.

        Notes
        -----
        Rows are numbered within their groups by a scan, over any number of partitions, and filtered.

        Examples
        --------
        >>> import pandas as pd, dask_gpuscan
        >>> df = pd.DataFrame({"k": list("abaab"), "x": [1, 2, 3, 4, 5]})
        >>> df.gpuscan.groupby("k")["x"].nth([0, -1]).tolist()
        [1, 2, 4, 5]
        """
        if dropna is not None:
            raise ValueError(
                f"dropna must be None, found {shown(dropna)}; drop nulls from the frame first"
            )
        places = list(n) if isinstance(n, (list, tuple)) else [n]
        return self._rows("nth", [_place(place) for place in places])

    @overload
    def _extremes(self, n: SupportsIndex = 5, *, keep: TopKeep = "first") -> SeriesT: ...
    @overload
    def _extremes(
        self, n: SupportsIndex, columns: Hashable | TopKeep, keep: TopKeep = "first"
    ) -> Any: ...
    def _extremes(self, n: SupportsIndex = 5, columns: Any = None, keep: TopKeep = "first") -> Any:
        """Return the rows of each group with the largest or smallest values; parameters as for `nlargest`."""
        return self._top("_extremes", n, columns, keep)

    _extreme = family(
        """
        >>> import pandas as pd, dask_gpuscan
        >>> df = pd.DataFrame({{"k": list("abaa"), "x": [1, 2, 3, 4]}})
        >>> df.gpuscan.groupby("k")["x"].{name}(2).to_dict()
        {0}
        >>> df.gpuscan.groupby("k").{name}(2, "x")
        {1}
        """
    )(_extremes)
    nlargest = _extreme(
        """Return the rows of each group with the largest values of one column.

        Parameters
        ----------
        n : int, default 5
            How many of each group, not negative.
        columns : name, optional
            The column of the values, which gives whole rows. If groups are of one column already, the second
            argument is `keep`, as in pandas.
        keep : {"first", "last", "all"}, default "first"
            Which rows to keep of those equal to the last one; with "all", there may be more than `n`.

        Returns
        -------
        Series
            If groups are of one column, as from `pandas.api.typing.SeriesGroupBy.nlargest`: by group and in the
            order of values, nulls last.
            Keys are the first levels of the index, and labels of rows the others, also if there are no groups;
            pandas leaves levels out then. In one partition.
        DataFrame
            With `columns`, whole rows in the rows' own order with their own index, as from `head`. Rows whose value
            is null are left out, and so are those whose key is null.

        Raises
        ------
        TypeError
            For several columns, for one that holds neither numbers nor times, and for an `n` that is not an
            integer.
        KeyError
            If there is no such column.
        ValueError
            For a negative `n`, and for another `keep`.

        See Also
        --------
        head : The first rows of each group, where rows are sorted already.
        """,
        {("a", 3): 4, ("a", 2): 3, ("b", 1): 2},
        "   k  x\n1  b  2\n2  a  3\n3  a  4",
    )
    nsmallest = _extreme(
        "Return the rows of each group with the smallest values of one column; parameters as for `nlargest`.",
        {("a", 0): 1, ("a", 2): 3, ("b", 1): 2},
        "   k  x\n0  a  1\n1  b  2\n2  a  3",
    )

    def _top(self, name: str, n: SupportsIndex, columns: Any, keep: Any) -> Any:
        if self._as_series and columns is not None:
            columns, keep = None, columns
        count = check_count("n", n)
        if count < 0:
            raise ValueError(f"n must not be negative, found {shown(n)}")
        check_choice("keep", keep, KEEP)
        if not self._as_series:
            if columns is None:
                raise TypeError("nlargest and nsmallest are of one column; choose it by its name")
            check_column("columns", columns, names_of(self._meta))
            return self._top_rows(Top(count, name == "nlargest", keep), columns)
        top = Top(count, name == "nlargest", keep)
        if self._options.sort is False or not self._options.as_index:
            raise ValueError(
                f"{top.method} of one column has groups in the order of their keys, which are in its index; leave out "
                f"sort=False and as_index=False"
            )
        return self._answer(self._top_values(top, *self._columns()))

    def _top_values(self, top: Top, name: Hashable) -> Any:
        """The largest or smallest values of a column, by group, with keys and labels of rows as index."""
        frame, column, group = self._needed([name]), name, None
        if self._clustered:
            if frame.ndim == 1:  # its column has a name in a frame even if the series has none
                frame = frame.to_frame()
                (column,) = names_of(meta_of(frame))
            group = unused_name("run", names_of(meta_of(frame)))
            frame = self._engine.with_column(frame, run(frame, RunNumbers(self._by)), group)
            group = names_of(meta_of(frame))[-1]  # a tuple among columns of several levels
        return run(frame, TopRows(self._by, column, name, top, self._dropna, group))

    def _top_rows(self, top: Top, name: Hashable) -> Any:
        """The rows whose values have the first places in their groups."""
        top.check(self._column(name))

        def places(method: str) -> Any:
            rank = RankOptions(method, not top.largest, in_groups=True)
            options = True, bool(self._clustered), self._dropna, f"groupby-{top.method}"
            return run(self._needed([name]), RankGroups(self._by, (name,), rank, *options))

        if top.keep == "last":  # number equal values from the last one
            place = places("min") + places("max") - places("first")
        else:
            place = places("min" if top.keep == "all" else "first")
        return self._engine.filter(self._frame(), place <= top.n)

    def _frame(self) -> Any:
        """The rows that are grouped, with the columns that are chosen."""
        rows = self._grouping.rows
        whole = self._selected is EVERY_COLUMN or meta_of(rows).ndim == 1
        return rows if whole else rows[self._selected]

    def _rows(self, method: str, places: list[Place]) -> Any:
        """The rows at these places of each group; messages name the method."""
        first = cache(self.cumcount)
        from_last = [Part(None, (), CountRows(True))]
        last = cache(lambda: self._scan(method, from_last, True))
        keep = _chosen(places or [slice(0, 0)], first, last)
        return self._engine.filter(self._frame(), keep)


def _place(place: Any) -> Place:
    """A place as an int, or a slice of ints."""
    if not isinstance(place, slice):
        return check_count("n", place, "integers, slices or a list of them")
    bounds = (place.start, place.stop, place.step)
    start, stop, step = (
        None if bound is None else check_count("n", bound, "slices of integers") for bound in bounds
    )
    if step is not None and step < 1:
        raise ValueError(f"n must have slices with a positive step, found {step}")
    return slice(start, stop, step)


def _chosen(places: Sequence[Place], first: Numbers, last: Numbers) -> Any:
    """Return which rows are at one of these places, as a series of bool; null or False in rows that are in no group.

    Parameters
    ----------
    places : sequence of int and slice
        At least one; steps of slices are positive.
    first, last : callable
        Number rows from the first row of their group, and from the last.
    """
    return reduce(or_, [_flags(place, first, last) for place in places])


def _flags(place: Place, first: Numbers, last: Numbers) -> Any:
    if isinstance(place, int):
        return first() == place if place >= 0 else last() == -1 - place
    start, stop, step = place.start or 0, place.stop, place.step or 1
    flags = []
    if start < 0:
        flags.append(last() < -start)
    elif start or stop is None:
        flags.append(first() >= start)
    if stop is not None:
        flags.append(first() < stop if stop >= 0 else last() >= -stop)
    if step > 1:
        begin: Any = start
        if start < 0:  # the first row, of a group that has fewer
            begin = first() + last() + 1 + start
            begin = begin.where(begin > 0, 0)
        flags.append((first() - begin) % step == 0)
    return reduce(and_, flags)
