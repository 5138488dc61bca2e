"""What ``.gpuscan.groupby()`` returns: groups of rows with equal keys, waiting for a reduction or a scan.

The strategy is chosen here: one pass where equal keys are adjacent (`clustered`), else the library's own group-by, or
states by key.
"""

from __future__ import annotations

from collections.abc import Hashable
from typing import Any, Literal, overload

from ..frames.keys import check_by
from ..frames.messages import FLAG
from ..frames.registry import names_of
from ..graph.lookback import look_back, meta_of
from ..kernels.messages import shown
from ..ops.clustered_check import CheckClustered
from .arguments import check_choice_of_columns, check_flags, no_attribute
from .groupby_sorted import GroupBySorted
from .groupby_windows import GroupByWindows
from .object_types import FrameT, Methods, Names, Obj, SeriesT
from .rank_methods import GroupByRank


class GroupMethods(Methods[Obj, SeriesT, FrameT]):
    """The part of `Gpuscan` that makes groups."""

    def groupby(
        self, by: Names, clustered: bool | Literal["check"] | None = None, dropna: bool = True
    ) -> GroupBy[Obj, SeriesT, FrameT]:
        """Return groups of rows with equal keys, to be reduced or scanned in the rows' own order.

        Parameters
        ----------
        by : name or list of names
            Columns, or levels of the index, of any dtype whose values can be hashed.
        clustered : bool or "check", optional
            Whether equal keys are adjacent. Then a reduction is one pass and gives one row a group in order
            of appearance; groups may span partitions. This is not checked: a key that comes again is a group of
            its own. "check" is True, and checks: it raises a ValueError that names a key that comes back after
            another one, of a Dask collection when it is computed.
            By default, a Dask collection whose index is the key, with known divisions, counts as clustered.
        dropna : bool, default True
            Leave out rows with a null key; scans give null there.

        Returns
        -------
        GroupBy

        Raises
        ------
        TypeError, ValueError
            If `by` does not name columns or levels, each once, and for another `clustered` or `dropna`.

        Notes
        -----
        If keys are not clustered, answers are pandas': reductions are sorted by key and go through the
        library's own hash group-by, scans hand states on by key, so that carries grow with the number of keys. So
        does the check, to which partitions hand on the keys of all runs so far.

        Examples
        --------
        >>> import pandas as pd, dask_gpuscan
        >>> df = pd.DataFrame({"k": ["b", "b", "a", "b"], "x": [1, 2, 3, 4]})
        >>> df.gpuscan.groupby("k", clustered=True)["x"].cumsum().tolist()
        [1, 3, 3, 4]
        >>> df.gpuscan.groupby("k")["x"].cumsum().tolist()
        [1, 3, 3, 7]
        """
        check_flags(dropna=dropna)
        checks = isinstance(clustered, str) and clustered == "check"
        if not (checks or clustered is None or isinstance(clustered, FLAG)):
            raise ValueError(
                f"clustered must be True or False, 'check' or None, found {shown(clustered)}"
            )
        obj = self._obj
        if checks:
            obj = look_back(obj, CheckClustered(check_by(meta_of(obj), by), bool(dropna)))
        return GroupBy(obj, by, clustered if clustered is None else bool(clustered), dropna)


class GroupBy(
    GroupBySorted[Obj, SeriesT, FrameT],
    GroupByWindows[Obj, SeriesT, FrameT],
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

    def __init__(
        self, obj: Any, by: Any, clustered: bool | None, dropna: bool, selected: Any = None
    ) -> None:
        self._obj = obj
        self._meta = meta_of(obj)
        self._by = check_by(self._meta, by)
        self._clustered = clustered
        self._dropna = bool(dropna)
        self._selected = selected

    def __repr__(self) -> str:
        how = {True: "clustered", False: "in any order", None: "in any order"}[self._clustered]
        if self._is_sorted:
            how = "together in partitions"
        by = ", ".join(map(repr, self._by.columns))
        of = "" if self._selected is None else f" of {self._selected!r}"
        return f"<GroupBy{of} by {by}, {how}>"

    @overload
    def __getitem__(self, columns: list[Any]) -> GroupBy[FrameT, SeriesT, FrameT]: ...
    @overload
    def __getitem__(self, columns: Hashable) -> GroupBy[SeriesT, SeriesT, FrameT]: ...
    def __getitem__(self, columns: Any) -> GroupBy[Any, SeriesT, FrameT]:
        """Return the same groups of some columns: of one by its name, of several by a list of names."""
        if self._meta.ndim == 1:
            raise TypeError("a Series has no columns to choose from")
        check_choice_of_columns(columns, names_of(self._meta))
        picked = list(columns) if isinstance(columns, list) else columns
        return GroupBy(self._obj, list(self._by.columns), self._clustered, self._dropna, picked)

    def __getattr__(self, name: str) -> GroupBy[SeriesT, SeriesT, FrameT]:
        """Return the same groups of the column of this name, as pandas does."""
        if not name.startswith("_") and self._meta.ndim == 2 and name in names_of(self._meta):
            return self[name]
        raise AttributeError(no_attribute(self, "groupby", name))
