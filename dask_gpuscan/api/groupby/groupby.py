"""What ``.gpuscan.groupby()`` returns: groups of rows with equal keys, waiting for a reduction or a scan."""

from __future__ import annotations

from collections.abc import Hashable
from dataclasses import replace
from typing import Any, Literal, overload

import pandas as pd

from ...engines.run import meta_of, methods_of, run
from ...frames.registry import library_of, names_of
from ...ops.groupby.adjacent import CheckAdjacent
from ..absent import attribute
from ..arguments import check_clustered, check_flags
from ..frame.rank import GroupByRank
from ..types import FrameT, Keys, Methods, Names, Obj, SeriesT
from ..windows.group_resample import GroupByResample
from .columns import EVERY_COLUMN, Grouping, GroupOptions
from .describe import GroupByDescribe
from .grouping import grouping_of
from .values import GroupByValues


class GroupMethods(Methods[Obj, SeriesT, FrameT]):
    """The part of `Gpuscan` that makes groups."""

    def groupby(
        self,
        by: Keys | None = None,
        *,
        level: Names | None = None,
        as_index: bool = True,
        sort: bool | None = None,
        observed: bool = True,
        dropna: bool = True,
        clustered: bool | Literal["check"] | None = None,
        order_by: Names | None = None,
    ) -> GroupBy[Obj, SeriesT, FrameT]:
        """Return groups of rows with equal keys, to be reduced or scanned in the rows' own order.

        Parameters
        ----------
        by : name, Series, array, function, pandas.Grouper, or list of them, optional
            Names are of columns, or of levels of the index, of any dtype whose values can be hashed. A Series has
            the rows and the labels of the frame, and for a Dask collection its partitions; an array is for frames in
            memory; a function is called with each label of the index. A `pandas.Grouper` names a column or a level.
            With a ``freq``, which must divide a day, it must be one of several keys; `resample` makes buckets of time.
        level : int, name or list of them, optional
            Levels of the index, by number or name, instead of `by`.
        as_index : bool, default True
            Whether keys are the index of reductions; else they are columns.
        sort : bool, optional
            Whether reductions have groups in the order of their keys, as in pandas, or else in order of appearance.
            True by default, unless groups are clustered. Exact quantiles, ``nunique`` and ``nlargest`` have no
            other order.
        observed : bool, default True
            Whether categories without rows are left out; others are refused.
        dropna : bool, default True
            Leave out rows with a null key; scans give null there.
        clustered : bool or "check", optional
            Whether equal keys are adjacent. If so, a reduction is one pass, and groups are in order of
            appearance; they may span partitions. This is not checked: a key that comes back after another one
            is a group of its own. "check" means True, and raises a ValueError that names such a key;
            for a Dask collection, at compute time.
            By default, a Dask collection whose index is the key, with known divisions, counts as clustered.
        order_by : name or list of names, optional
            Columns in whose order methods with an answer for each row see the rows, as in SQL's ``over (partition by k
            order by t)``; see `Gpuscan.order_by`, which this is short for.

        Returns
        -------
        GroupBy

        Raises
        ------
        TypeError, ValueError
            If `by` is not a key, or names one twice, and for wrong values of the other arguments; for
            ``observed=False`` with categorical keys, ``sort=True`` with clustered ones, and ``as_index=False`` of a
            Series.

        See Also
        --------
        Gpuscan.rle : Runs of equal rows and their lengths.
        Gpuscan.sessions : Groups of events that follow each other within a gap.
        Gpuscan.resample : Buckets of time.
        Gpuscan.sort_values : Makes equal keys adjacent.

        Notes
        -----
        If keys are not clustered, reductions are sorted by key, as in pandas, and partitions hand on a state
        for each key so far, which grows with the number of keys. With "check", they hand on the keys of all
        runs so far.

        Examples
        --------
        >>> import pandas as pd, dask_gpuscan
        >>> df = pd.DataFrame({"k": ["b", "b", "a", "b"], "x": [1, 2, 3, 4]})
        >>> df.gpuscan.groupby("k", clustered=True)["x"].cumsum().tolist()
        [1, 3, 3, 4]
        >>> df.gpuscan.groupby("k")["x"].cumsum().tolist()
        [1, 3, 3, 7]
        >>> df.gpuscan.groupby(df["x"] % 2)["x"].sum().to_dict()
        {0: 6, 1: 4}
        """
        if order_by is not None:
            given = {"level": level, "as_index": as_index, "sort": sort, "observed": observed}
            ordered: Any = methods_of(self._obj).order_by(order_by)
            return ordered.groupby(by, **given, dropna=dropna, clustered=clustered)
        if isinstance(by, pd.Grouper):  # it has a `sort` of its own, as in pandas
            sort, dropna = by.sort, by.dropna
        check_flags(as_index=as_index, observed=observed, dropna=dropna)
        if sort is not None:
            check_flags(sort=sort)
        check_clustered(clustered)
        checks = isinstance(clustered, str)
        if clustered and sort:
            raise ValueError(
                "sort=True: clustered groups are in the order of appearance; leave out clustered, or sort the answer "
                "by sort_index()"
            )
        names = by if isinstance(by, list) else [by]
        if level is None and {str}.issuperset(map(type, names)):
            grouping = Grouping.by_names(self._obj, by)
        else:
            grouping = grouping_of(self._obj, by, level)
        if not as_index and meta_of(self._obj).ndim == 1:
            raise TypeError("as_index=False is for DataFrames, found a Series")
        if not observed:
            _check_no_categories(grouping)
        if checks:
            checked = run(grouping.obj, CheckAdjacent(grouping.by, bool(dropna)))
            same = grouping.rows is grouping.obj
            grouping = replace(grouping, obj=checked, rows=checked if same else grouping.rows)
        options = GroupOptions(
            clustered if clustered is None else bool(clustered),
            bool(dropna),
            sort if sort is None else bool(sort),
            bool(as_index),
        )
        selected = names_of(meta_of(grouping.obj))[0] if grouping.of_series else EVERY_COLUMN
        return GroupBy(grouping, options, selected)


def _check_no_categories(grouping: Grouping) -> None:
    """Raise a ValueError for keys that may have categories without rows."""
    meta = meta_of(grouping.obj)
    keys = grouping.by.series(library_of(meta), meta)
    for title, key in zip(grouping.titles, keys, strict=True):
        if str(key.dtype) == "category":
            raise ValueError(
                f"observed=False: key {title!r} is categorical, and only groups with rows are answered; "
                f"leave it out, and reindex the answer by the categories"
            )


class GroupBy(
    GroupByValues[Obj, SeriesT, FrameT],
    GroupByResample[Obj, SeriesT, FrameT],
    GroupByDescribe[Obj, SeriesT, FrameT],
    GroupByRank[Obj, SeriesT, FrameT],
):
    """Groups of rows with equal keys; see `Gpuscan.groupby`.

    Examples
    --------
    >>> import pandas as pd, dask_gpuscan
    >>> df = pd.DataFrame({"k": ["b", "b", "a"], "x": [1, 2, 3]})
    >>> df.gpuscan.groupby("k", clustered=True)["x"].sum().to_dict()
    {'b': 3, 'a': 3}
    """

    def __repr__(self) -> str:
        by = ", ".join(map(repr, self._grouping.titles))
        of = "" if self._selected is EVERY_COLUMN else f" of {self._selected!r}"
        return f"<GroupBy{of} by {by}, {self._key_order.value}>"

    @overload
    def __getitem__(self, columns: list[Any]) -> GroupBy[FrameT, SeriesT, FrameT]: ...
    @overload
    def __getitem__(self, columns: Hashable) -> GroupBy[SeriesT, SeriesT, FrameT]: ...
    def __getitem__(self, columns: Any) -> GroupBy[Any, SeriesT, FrameT]:
        """Return the same groups of one column, by its name, or of several, by a list of names."""
        return GroupBy(self._grouping, self._options, self._chosen(columns))

    def __getattr__(self, name: str) -> GroupBy[SeriesT, SeriesT, FrameT]:
        """Return the same groups of the column of this name, as pandas does."""
        column: GroupBy[SeriesT, SeriesT, FrameT] = attribute(self, "groupby", name, self._names)
        return column
