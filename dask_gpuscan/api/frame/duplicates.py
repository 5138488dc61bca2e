"""The methods of ``.gpuscan`` that find equal rows wherever they are."""

from __future__ import annotations

from collections.abc import Hashable
from functools import reduce
from operator import and_
from typing import Any, Literal

from ...engines.run import engine_of, meta_of, methods_of, run
from ...frames.keys import By, check_by, check_subset, is_one_name
from ...frames.messages import FLAG
from ...frames.registry import names_of
from ...kernels.messages import shown
from ...ops.core.operation import Part
from ...ops.core.plans import made_once
from ...ops.groupby.hashed_scan import HashedScan
from ...ops.groupby.spec import GroupBySpec
from ...ops.groupby.value_counts import ValueCounts
from ...ops.scan.row_number import FirstMet, ResetIndex
from ..arguments import check_choice, check_column, check_flags
from ..types import FrameT, Methods, Names, Obj, SeriesT


class DuplicateMethods(Methods[Obj, SeriesT, FrameT]):
    """The part of `Gpuscan` that finds equal rows."""

    def drop_duplicates(
        self,
        subset: Names | None = None,
        keep: Literal["first", "last", False] = "first",
        ignore_index: bool = False,
    ) -> Obj:
        """Return one row of those that are equal, in the rows' own order, over any number of partitions.

        Parameters
        ----------
        subset : name or list of names, optional
            Columns that are compared; default all. NaN equals NaN, and a null equals a null.
        keep : {"first", "last", False}, default "first"
            Which of equal rows to keep; with False, none of them.
        ignore_index : bool, default False
            Give the answer a default index.

        Returns
        -------
        Series or DataFrame
            As from `pandas.DataFrame.drop_duplicates`; a Dask collection keeps its divisions, unless
            `ignore_index`.

        Raises
        ------
        TypeError
            For values that cannot be hashed.
        ValueError
            For unknown columns, and for another `keep`.

        See Also
        --------
        unique_consecutive : Where equal rows are adjacent, without a table of those met so far.

        Notes
        -----
        Partitions hand on the distinct rows so far.

        Examples
        --------
        >>> import pandas as pd, dask_gpuscan
        >>> df = pd.DataFrame({"k": list("abab"), "x": [1, 2, 1, 4]})
        >>> df.gpuscan.drop_duplicates("k", keep="last").index.tolist()
        [2, 3]
        """
        check_choice("keep", keep, ("first", "last", False))
        check_flags(ignore_index=ignore_index)
        by = check_subset(meta_of(self._obj), subset)
        out = engine_of(self._obj).filter(self._obj, self._kept(by, keep, "drop-duplicates"))
        return run(out, ResetIndex(drop=True)) if ignore_index else out

    def duplicated(
        self, subset: Names | None = None, keep: Literal["first", "last", False] = "first"
    ) -> SeriesT:
        """Return where an equal row comes before, or after, over any number of partitions.

        Parameters
        ----------
        subset : name or list of names, optional
            Columns that are compared; default all. NaN equals NaN, and a null equals a null.
        keep : {"first", "last", False}, default "first"
            Which of equal rows is False; with False, none of them.

        Returns
        -------
        Series
            Of bool, as from pandas: with the name of a Series, and without a name of a DataFrame.

        Raises
        ------
        TypeError
            For values that cannot be hashed.
        ValueError
            For unknown columns, and for another `keep`.

        See Also
        --------
        drop_duplicates : The rows where it is False.

        Notes
        -----
        With ``~`` before it, this is polars' ``is_first_distinct``, with ``keep="last"`` its ``is_last_distinct``, and
        with ``keep=False`` its ``is_unique``.

        Examples
        --------
        >>> import pandas as pd, dask_gpuscan
        >>> x = pd.Series([7, 8, 7, 9])
        >>> x.gpuscan.duplicated().tolist()
        [False, False, True, False]
        >>> (~x.gpuscan.duplicated(keep=False)).tolist()
        [False, True, False, True]
        """
        check_choice("keep", keep, ("first", "last", False))
        meta = meta_of(self._obj)
        by = check_subset(meta, subset)
        return ~self._kept(by, keep, "duplicated", meta.name if meta.ndim == 1 else None)

    def latest(self, keys: Names, by: Hashable) -> Obj:
        """Return the newest row of each key, in the order in which these rows come.

        Parameters
        ----------
        keys : name or list of names
            Columns of the keys. Rows with null keys are left out.
        by : name
            The column that says how new a row is: numbers or times. Of equal ones the last row counts; null is
            never the newest.

        Returns
        -------
        DataFrame
            One row for each key, with its index; a Dask collection keeps its divisions.

        Raises
        ------
        TypeError, ValueError
            As for `groupby` and `cummax`.

        See Also
        --------
        drop_duplicates : The last row of each key.
        merge_asof : The newest row at each of many times.

        Examples
        --------
        >>> import pandas as pd, dask_gpuscan
        >>> df = pd.DataFrame({"id": list("aba"), "changed": [5, 2, 3], "x": [1, 2, 3]})
        >>> df.gpuscan.latest("id", by="changed")
          id  changed  x
        0  a        5  1
        1  b        2  2
        """
        if meta_of(self._obj).ndim == 1:
            raise TypeError("latest needs a DataFrame, found a Series")
        check_by(meta_of(self._obj), keys, "keys")
        check_column("by", by, names_of(meta_of(self._obj)))
        newest = methods_of(self._obj).groupby(keys)[by].cummax()
        records = methods_of(self._obj).filter(self._obj[by] == newest)
        return methods_of(records).drop_duplicates(keys, keep="last")

    def value_counts(
        self,
        normalize: bool = False,
        sort: bool = True,
        ascending: bool = False,
        dropna: bool = True,
        *,
        subset: Names | None = None,
    ) -> SeriesT:
        """Return how often each value of a Series, or each row of a DataFrame, occurs; most frequent first.

        Parameters
        ----------
        normalize : bool, default False
            Return shares of all that are counted rather than counts.
        sort : bool, default True
            Sort by count; values with equal counts are in the order in which they are met. If False, all are.
        ascending : bool, default False
            Least frequent first.
        dropna : bool, default True
            Leave out nulls, and rows with any.
        subset : name or list of names, optional
            The columns of a DataFrame whose rows are counted; default all.

        Returns
        -------
        Series
            As of `pandas.Series.value_counts` and `pandas.DataFrame.value_counts`, named ``count`` or ``proportion``,
            in one partition. Of a Series of pandas' categoricals all categories are counted, in their own order.

        Raises
        ------
        TypeError
            For values that cannot be hashed, and for several columns of a pandas frame if one is categorical.
        ValueError
            For unknown columns, and for other arguments.

        See Also
        --------
        drop_duplicates : The values or rows themselves.

        Examples
        --------
        >>> import pandas as pd, dask_gpuscan
        >>> pd.Series(list("babac")).gpuscan.value_counts().to_dict()
        {'b': 2, 'a': 2, 'c': 1}
        >>> df = pd.DataFrame({"k": list("aab"), "x": [1, 1, 2]})
        >>> df.gpuscan.value_counts().to_dict()
        {('a', 1): 2, ('b', 2): 1}
        """
        meta = meta_of(self._obj)
        if meta.ndim == 2 and not isinstance(normalize, FLAG):  # pandas' frames take columns first
            raise TypeError(
                f"value_counts of a DataFrame takes columns as subset=, found {shown(normalize)}"
            )
        check_flags(normalize=normalize, sort=sort, ascending=ascending, dropna=dropna)
        by = check_subset(meta, subset)
        rows = engine_of(self._obj).choose(self._obj, by.columns)
        flags = map(bool, (normalize, sort, ascending, dropna))
        levels = meta.ndim == 2 and not is_one_name(meta, subset)
        return run(rows, ValueCounts(by, levels, *flags))

    def _kept(
        self, by: By, keep: Literal["first", "last", False], label: str, name: Hashable = None
    ) -> Any:
        """Return which of equal rows are kept, as a series of this name."""
        rows = engine_of(self._obj).narrow(self._obj, by.columns)
        ways = (False, True) if keep is False else (keep == "last",)
        each = (run(rows, made_once(_first_met, way, label, name, *by.columns)) for way in ways)
        return reduce(and_, each)


def _first_met(from_last: bool, label: str, name: Hashable, *columns: Hashable) -> HashedScan:
    """Return the scan that tells whether no equal row was met before each row."""
    part = Part(name, (), FirstMet(from_last))
    return HashedScan(GroupBySpec(By(columns), label, (part,), as_series=True, dropna=False))
