"""What ``.gpuscan.groupby()`` returns: groups of rows with equal keys, waiting for a reduction or a scan."""

from __future__ import annotations

from collections.abc import Hashable
from typing import Any, Literal, overload

from ...engines.run import meta_of, run
from ...frames.keys import check_by
from ...frames.messages import FLAG
from ...frames.registry import names_of
from ...kernels.messages import shown
from ...ops.groupby.adjacent import CheckAdjacent
from ..absent import no_attribute
from ..arguments import check_choice_of_columns, check_flags
from ..frame.rank import GroupByRank
from ..types import FrameT, Methods, Names, Obj, SeriesT
from .sorted_values import GroupBySorted
from .windows import GroupByWindows


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
            Whether equal keys are adjacent. If so, a reduction is one pass, and groups are in order of
            appearance; they may span partitions. This is not checked: a key that comes back after another one
            is a group of its own. "check" is True with a check: it raises a ValueError that names such a key;
            for a Dask collection, at compute time.
            By default, a Dask collection whose index is the key, with known divisions, counts as clustered.
        dropna : bool, default True
            Leave out rows with a null key; scans give null there.

        Returns
        -------
        GroupBy

        Raises
        ------
        TypeError, ValueError
            If `by` does not name columns or levels, each once; for any other `clustered` or `dropna`.

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
        """
        check_flags(dropna=dropna)
        checks = isinstance(clustered, str) and clustered == "check"
        if not (checks or clustered is None or isinstance(clustered, FLAG)):
            raise ValueError(
                f"clustered must be True or False, 'check' or None, found {shown(clustered)}"
            )
        obj = self._obj
        if checks:
            obj = run(obj, CheckAdjacent(check_by(meta_of(obj), by), bool(dropna)))
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
        by = ", ".join(map(repr, self._by.columns))
        of = "" if self._selected is None else f" of {self._selected!r}"
        return f"<GroupBy{of} by {by}, {self._key_order.value}>"

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
        if name.startswith("_"):
            raise AttributeError(name)
        columns = names_of(self._meta) if self._meta.ndim == 2 else []
        if name in columns:
            return self[name]
        raise no_attribute(self, "groupby", name, columns)
