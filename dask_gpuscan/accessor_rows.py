"""The methods of ``.gpuscan`` that choose rows or bring them together: filters, runs, groups and sessions.

A method checks its arguments and hands the work on. This module must never compute anything itself.
"""

from __future__ import annotations

from typing import Any

from .accessor_scans import Accessor
from .arguments import check_flags
from .filters import run_filter, run_partition
from .groups import GroupBy
from .runs import run_lengths, run_unique
from .sessions import sessionize, sessions


class RowMethods(Accessor):
    """The part of `Gpuscan` whose answers have other rows."""

    def filter(self, predicate: Any, rebalance: bool = False) -> Any:
        """Return the rows that a predicate keeps, in their order, with index and dtypes.

        Parameters
        ----------
        predicate : Series of bool, str or function
            A boolean Series, whose nulls are not kept; an expression of comparisons, arithmetic, boolean
            operators, literals and names of columns (odd ones in backquotes); or a Python function whose
            parameters are named like columns of numbers or bool, which is compiled and fused into the pass:
            it may compute, but neither read files nor print nor use objects. It sees NaN, but no other nulls.
        rebalance : bool, default False
            Spread the rows that are left evenly over the partitions of a Dask collection. Counts them now, as
            all lengths tell which partitions a new one is made of, and so makes them known.

        Returns
        -------
        Series or DataFrame
            As of ``frame[predicate]``; a Dask collection keeps its divisions, unless it is rebalanced.

        Raises
        ------
        TypeError
            For a predicate that is not boolean.
        ValueError
            For one that names unknown columns, holds anything else, or whose rows are not the frame's.

        Notes
        -----
        One pass over the columns of fixed width; strings and others are gathered. Algorithm: Merrill and
        Garland, NVR-2016-002, section 5.2.

        Examples
        --------
        >>> import pandas as pd, dask_gpuscan
        >>> df = pd.DataFrame({"delay": [40.0, None, 5.0, 90.0], "carrier": ["UA", "UA", "AA", "AA"]})
        >>> df.gpuscan.filter("delay > 30 and carrier == 'UA'")
           delay carrier
        0   40.0      UA
        >>> df.gpuscan.filter(lambda delay: delay < 50).index.tolist()
        [0, 2]
        """
        check_flags(rebalance=rebalance)
        return run_filter(self._obj, predicate, rebalance)

    def partition(self, predicate: Any) -> tuple[Any, Any]:
        """Return the rows that a predicate keeps, and the rest: both in their order, from one pass.

        Parameters
        ----------
        predicate : Series of bool, str or function
            As for `filter`. Rows for which it is null are in the rest.

        Returns
        -------
        kept, rest : Series or DataFrame
            Compute those of a Dask collection together (``dask.compute(kept, rest)``), for one pass.

        Examples
        --------
        >>> import pandas as pd, dask_gpuscan
        >>> odd, even = pd.Series([1, 2, 3, 4], name="x").gpuscan.partition("x % 2 == 1")
        >>> odd.tolist(), even.tolist()
        ([1, 3], [2, 4])
        """
        return run_partition(self._obj, predicate)

    # --- runs -------------------------------------------------------------------------------------

    def unique_consecutive(self, subset: Any = None, keep: str = "first") -> Any:
        """Return one row of each run of equal rows, over partition borders too.

        Parameters
        ----------
        subset : name or list of names, optional
            Columns that tell rows apart; default all. NaN equals NaN, and a null equals a null.
        keep : {"first", "last"}, default "first"
            Which row of a run.

        Returns
        -------
        Series or DataFrame
            With the index and dtypes of the rows that are kept; a Dask collection keeps its divisions.

        Raises
        ------
        TypeError
            For values that cannot be hashed.
        ValueError
            For unknown columns, and for another `keep`.

        Examples
        --------
        >>> import pandas as pd, dask_gpuscan
        >>> pd.Series(list("aabbba")).gpuscan.unique_consecutive().to_dict()
        {0: 'a', 2: 'b', 5: 'a'}
        """
        return run_unique(self._obj, subset, keep)

    def rle(self, subset: Any = None) -> Any:
        """Return one row for each run of equal rows: its keys, ``run_start`` and ``run_length``.

        Parameters
        ----------
        subset : name or list of names, optional
            Columns whose rows are compared, and which the result has; default all.

        Returns
        -------
        DataFrame
            With a default index. ``run_start`` is the number of the run's first row in the whole collection.
            The column of a Series without a name is ``value``.

        Raises
        ------
        TypeError, ValueError
            As for `unique_consecutive`.

        See Also
        --------
        dask_gpuscan.rle_decode : The inverse.

        Notes
        -----
        A run may span any number of partitions: it is a row of the partition in which it ends.

        Examples
        --------
        >>> import pandas as pd, dask_gpuscan
        >>> pd.Series(list("aabbba"), name="x").gpuscan.rle()
           x  run_start  run_length
        0  a          0           2
        1  b          2           3
        2  a          5           1
        """
        return run_lengths(self._obj, subset)

    # --- groups -----------------------------------------------------------------------------------

    def groupby(self, by: Any, clustered: bool | None = None, dropna: bool = True) -> GroupBy:
        """Return groups of rows with equal keys, to be reduced or scanned in the rows' own order.

        Parameters
        ----------
        by : name or list of names
            Columns, or levels of the index, of any dtype whose values can be hashed.
        clustered : bool, optional
            Whether equal keys are adjacent. Then a reduction is one pass and gives one row a group in order
            of appearance; groups may span partitions. A key that comes again is a group of its own.
            By default, a Dask collection whose index is the key, with known divisions, counts as clustered.
        dropna : bool, default True
            Leave out rows with a null key; scans give null there.

        Returns
        -------
        GroupBy

        Raises
        ------
        TypeError, ValueError
            If `by` does not name columns or levels, each once.

        Notes
        -----
        If keys are not clustered, answers are pandas': reductions are sorted by key and go through the
        library's own hash group-by, scans hand states on by key, so that carries grow with the number of keys.

        Examples
        --------
        >>> import pandas as pd, dask_gpuscan
        >>> df = pd.DataFrame({"k": ["b", "b", "a", "b"], "x": [1, 2, 3, 4]})
        >>> df.gpuscan.groupby("k", clustered=True)["x"].cumsum().tolist()
        [1, 3, 3, 4]
        >>> df.gpuscan.groupby("k")["x"].cumsum().tolist()
        [1, 3, 3, 7]
        """
        return GroupBy(self._obj, by, clustered, dropna)

    # --- sessions ---------------------------------------------------------------------------------

    def sessionize(
        self, time: Any, by: Any = None, *, gap: Any, clustered: bool | None = None
    ) -> Any:
        """Return the number of the session that each event belongs to, over all partitions.

        Parameters
        ----------
        time : name
            Column of times or numbers, which must not decrease (within each key of `by`).
        by : name or list of names, optional
            Columns whose events have sessions of their own.
        gap : duration or number
            A session ends where the next event comes later than this; for times anything that
            `pandas.Timedelta` takes, else a number.
        clustered : bool, optional
            Whether rows with equal keys are adjacent, as for `groupby`.

        Returns
        -------
        Series
            ``session``, from 0 within each key, with the frame's index; null where a key is.

        Raises
        ------
        TypeError
            If the column is neither of times nor of numbers.
        ValueError
            For unknown columns and a negative gap; when it is computed, for null or unsorted times.

        Examples
        --------
        >>> import pandas as pd, dask_gpuscan
        >>> df = pd.DataFrame({"user": list("abab"), "t": [0, 10, 20, 90]})
        >>> df.gpuscan.sessionize("t", by="user", gap=30).tolist()
        [0, 0, 0, 1]
        """
        return sessionize(self._obj, time, by, gap, clustered)

    def sessions(
        self, time: Any, by: Any = None, *, gap: Any, clustered: bool | None = None, **named: Any
    ) -> Any:
        """Return one row for each session: its keys, number, start, end and count, and aggregates.

        Parameters
        ----------
        time, by, gap, clustered
            As for `sessionize`.
        **named : (column, name)
            More columns, as for the ``agg`` of `groupby`.

        Returns
        -------
        DataFrame
            With columns for `by`, ``session``, ``start``, ``end`` and ``count``, and a default index.

        Raises
        ------
        TypeError, ValueError
            As for `sessionize` and `groupby`.

        Examples
        --------
        >>> import pandas as pd, dask_gpuscan
        >>> df = pd.DataFrame({"user": list("abab"), "t": [0, 10, 20, 90], "x": [1, 2, 3, 4]})
        >>> df.gpuscan.sessions("t", by="user", gap=30, total=("x", "sum"))
          user  session  start  end  count  total
        0    a        0      0   20      2      4
        1    b        0     10   10      1      2
        2    b        1     90   90      1      4
        """
        return sessions(self._obj, time, by, gap, clustered, named)
