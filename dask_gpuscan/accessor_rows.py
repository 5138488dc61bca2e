"""The methods of ``.gpuscan`` that choose rows or bring them together: filters, runs, groups and sessions.

A method checks its arguments and hands the work on. This module must never compute anything itself.
"""

from __future__ import annotations

from typing import Any

from .accessor_scans import Accessor
from .arguments import check_flags
from .filters import run_filter, run_partition
from .runs import run_lengths, run_unique


class RowMethods(Accessor):
    """The part of `Gpuscan` whose answers have other rows."""

    def filter(self, predicate: Any, rebalance: bool = False) -> Any:
        """Return the rows that a predicate keeps, in their order, with index and dtypes.

        Parameters
        ----------
        predicate : Series of bool, str or function
            A boolean Series, whose nulls are not kept; an expression of comparisons, arithmetic, boolean
            operators, literals and names of columns (odd ones in backquotes); or a Python function whose
            parameters are named like numeric columns, which is compiled and fused into the pass.
        rebalance : bool, default False
            Spread the rows that are left evenly over the partitions of a Dask collection. Counts them now,
            and so makes the lengths of partitions known.

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
