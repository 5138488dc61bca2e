"""Answers of groups at each of their rows, and numbers of groups: ``transform``, ``ngroup``, ``ngroups``, ``pipe``."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any, Concatenate, ParamSpec, TypeVar

from ...engines.run import meta_of, run
from ...frames.keys import By, is_name
from ...frames.registry import library_of, names_of, unused_name
from ...kernels.messages import not_among, shown
from ...ops.groupby.broadcast import broadcast, group_numbers
from ...ops.run_numbers import RunNumbers
from ...ops.statistics.table import REDUCTIONS
from ..arguments import check_flags, method_name
from ..types import FrameT, Obj, SeriesT
from .sorted_values import GroupBySorted
from .windows import GroupByWindows

P = ParamSpec("P")
T = TypeVar("T")

BY_GROUP = (*REDUCTIONS, "median", "nunique", "quantile")
"""Reductions that `transform` takes by name."""

BY_ROW = (
    *("cumsum", "cumprod", "cummax", "cummin", "cumcount", "ngroup", "rank"),
    *("ffill", "bfill", "shift", "diff", "pct_change"),
)
"""Methods that answer each row, which `transform` takes by name, too."""


class GroupByTransform(GroupBySorted[Obj, SeriesT, FrameT], GroupByWindows[Obj, SeriesT, FrameT]):
    """The part of `GroupBy` that brings answers of groups to their rows."""

    def transform(self, func: str | Callable[..., Any], *args: Any, **kwargs: Any) -> Any:
        """Return for each row what a reduction answers for its group.

        Parameters
        ----------
        func : str or callable
            Name of a reduction, or of a method that answers each row, which is then called. Functions that have
            such a method stand for it: ``len``, ``max``, ``numpy.sum``, ``pandas.Series.mean``.
        *args, **kwargs
            Its arguments.

        Returns
        -------
        Series or DataFrame
            With the rows, the order and the index of the frame; null in rows whose key is null, unless groups were
            made with ``dropna=False``.

        Raises
        ------
        TypeError
            For any other function.
        ValueError
            For other names.

        See Also
        --------
        agg : One row a group.
        scan : Running answers of any operator.

        Notes
        -----
        Over partitions, all rows are reduced to one table of groups first, which then meets each partition.

        Examples
        --------
        >>> import pandas as pd, dask_gpuscan
        >>> df = pd.DataFrame({"k": [1, 2, 1], "x": [6, 3, 5]})
        >>> df.gpuscan.groupby("k")["x"].transform("max").tolist()
        [6, 3, 6]
        """
        func = method_name("transform", func)
        if is_name(func) and func in BY_ROW:
            return getattr(self, func)(*args, **kwargs)
        if not is_name(func) or func not in BY_GROUP:
            raise ValueError(
                f"transform: {not_among(func, (*BY_GROUP, *BY_ROW), 'a method', 'methods')}"
            )

        def reduced(groups: Any) -> Any:
            found = getattr(groups, func)(*args, **kwargs)
            names = library_of(meta_of(found)).index_names(meta_of(found))
            if len(names) > len(groups._by.columns):
                raise ValueError("transform takes one quantile, a number")
            return found

        return self._broadcast("transform", reduced, True, broadcast)

    def ngroup(self, ascending: bool = True) -> SeriesT:
        """Return the number of the group of each row, counted in the order of the groups of reductions.

        Parameters
        ----------
        ascending : bool, default True
            Count from the first group; else from the last.

        Returns
        -------
        Series
            From 0; null where the key is null, unless groups were made with ``dropna=False``.

        See Also
        --------
        cumcount : The number of each row within its group.

        Examples
        --------
        >>> import pandas as pd, dask_gpuscan
        >>> df = pd.DataFrame({"k": ["b", "a", "b"], "x": [6, 3, 5]})
        >>> df.gpuscan.groupby("k").ngroup().tolist()
        [1, 0, 1]
        """
        check_flags(ascending=ascending)
        in_order = self._options.sort is not False
        found: SeriesT = self._broadcast(
            "ngroup", lambda groups: groups.size(), in_order, group_numbers, bool(ascending)
        )
        return found

    @property
    def ngroups(self) -> Any:
        """The number of groups: an int, or a lazy scalar of Dask's.

        Examples
        --------
        >>> import pandas as pd, dask_gpuscan
        >>> df = pd.DataFrame({"k": ["b", "a", "b"], "x": [6, 3, 5]})
        >>> df.gpuscan.groupby("k").ngroups
        2
        """
        return replace_options(self, as_index=True).size().size

    def pipe(
        self,
        func: Callable[Concatenate[Any, P], T] | tuple[Callable[..., T], str],
        *args: P.args,
        **kwargs: P.kwargs,
    ) -> T:
        """Return what a function returns for these groups.

        Parameters
        ----------
        func : callable or (callable, str)
            It is called with the groups as its first argument; with a text, as the argument of that name.
        *args, **kwargs
            Its other arguments.

        Examples
        --------
        >>> import pandas as pd, dask_gpuscan
        >>> df = pd.DataFrame({"k": [1, 2, 1], "x": [6, 3, 5]})
        >>> df.gpuscan.groupby("k")["x"].pipe(lambda g: g.max() - g.min()).to_dict()
        {1: 1, 2: 0}
        """
        if not isinstance(func, tuple):
            return func(self, *args, **kwargs)
        function, name = func
        if name in kwargs:
            raise ValueError(
                f"pipe: {shown(name)} is the argument for the groups, and must not be given"
            )
        return function(*args, **kwargs, **{name: self})

    def _broadcast(
        self,
        label: str,
        reduced: Callable[[Any], Any],
        in_order: bool,
        function: Callable[..., Any],
        *given: Any,
    ) -> Any:
        """Return what a function returns for rows and a table of their groups, in the order of keys or appearance."""
        groups = self._runs_as_groups() if self._clustered else self
        groups = replace_options(groups, sort=in_order, as_index=True)
        rows = groups._needed([])
        return self._named(
            self._engine.broadcast(
                label, rows, lambda: reduced(groups), function, groups._by, self._null_keys, *given
            )
        )

    def _runs_as_groups(self) -> Any:
        """The same groups by the number of their run and their keys, which may be anywhere."""
        frame = self._obj.to_frame() if self._meta.ndim == 1 else self._obj
        title = unused_name("run", names_of(meta_of(frame)))
        frame = self._engine.with_column(frame, run(self._obj, RunNumbers(self._by)), title)
        run_name = names_of(meta_of(frame))[-1]  # a tuple among columns of several levels
        by = By((run_name, *self._by.columns), self._by.levels)
        grouping = replace(
            self._grouping,
            obj=frame,
            by=by,
            titles=(run_name, *self._grouping.titles),
            signature=None,
        )
        options = replace(self._options, clustered=None)
        selected = self._selected
        if self._meta.ndim == 1:
            selected = names_of(meta_of(frame))[0]
        made: Any = type(self)
        return made(grouping, options, selected)


def replace_options(groups: Any, **options: Any) -> Any:
    """Return the same groups with other options."""
    return type(groups)(groups._grouping, replace(groups._options, **options), groups._selected)
