"""The methods of ``.gpuscan`` for runs of equal rows, and the way back from runs to rows."""

from __future__ import annotations

from collections.abc import Hashable, Mapping
from typing import Any

from ...engines.run import engine_of, meta_of, methods_of, run
from ...frames.keys import By, are_factorized, check_subset
from ...frames.registry import library_of, names_of
from ...kernels.messages import name_list, shown
from ...ops.consecutive import UniqueConsecutive
from ...ops.groupby.adjacent import RunAggregates
from ...ops.run_numbers import RunNumbers, RunRows
from ...ops.runs import NumberedRuns, RunLengths, decoded
from ..arguments import check_choice, check_flags
from ..tables.tables import takes_tables
from ..types import FrameT, Keep, Methods, Names, Obj, SeriesT


class RunMethods(Methods[Obj, SeriesT, FrameT]):
    """The part of `Gpuscan` that finds runs of equal rows."""

    def unique_consecutive(self, subset: Names | None = None, keep: Keep = "first") -> Obj:
        """Return one row of each run of equal rows, over partition borders too.

        Parameters
        ----------
        subset : name or list of names, optional
            Columns that are compared; default all. NaN equals NaN, and a null equals a null.
        keep : {"first", "last"}, default "first"
            Which row of a run to keep.

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

        See Also
        --------
        Gpuscan.rle : Lengths of the runs too.
        Gpuscan.drop_duplicates : One row of equal rows, adjacent or not.

        Examples
        --------
        >>> import pandas as pd, dask_gpuscan
        >>> pd.Series(list("aabbba")).gpuscan.unique_consecutive().to_dict()
        {0: 'a', 2: 'b', 5: 'a'}
        """
        check_choice("keep", keep, ("first", "last"))
        by = check_subset(meta_of(self._obj), subset)
        return run(self._obj, UniqueConsecutive(by, keep == "last"))

    def run_number(self, subset: Names | None = None) -> SeriesT:
        """Return the number of the run of equal rows that each row is in, from 0, over partition borders too.

        Parameters
        ----------
        subset : name or list of names, optional
            Columns that are compared; default all. NaN equals NaN, and a null equals a null.

        Returns
        -------
        Series
            Of int64, named ``run_number``, without nulls.

        Raises
        ------
        TypeError
            For values that cannot be hashed.
        ValueError
            For unknown columns.

        See Also
        --------
        run_length : The rows of each run so far.
        Gpuscan.rle : One row for each run.
        Gpuscan.groupby : With ``clustered=True``, runs of keys as groups.

        Notes
        -----
        It is ``rle_id`` of polars, and ``(x != x.shift()).cumsum() - 1`` of pandas, where each null is a run.

        Examples
        --------
        >>> import pandas as pd, dask_gpuscan
        >>> state = pd.Series(["on", "on", None, None, "on"])
        >>> state.gpuscan.run_number().tolist()
        [0, 0, 1, 1, 2]
        """
        return run(self._obj, RunNumbers(check_subset(meta_of(self._obj), subset), "run_number"))

    def run_length(self, subset: Names | None = None, *, reverse: bool = False) -> SeriesT:
        """Return how many rows of each row's run there are up to it, or from it on; both count the row itself.

        Parameters
        ----------
        subset : name or list of names, optional
            Columns that are compared; default all. NaN equals NaN, and a null equals a null.
        reverse : bool, default False
            Count from the row to the end of its run, rather than from the begin to the row.

        Returns
        -------
        Series
            Of int64, named ``run_length``, without nulls. Of a whole run, both numbers together are one more than its
            length.

        Raises
        ------
        TypeError
            For values that cannot be hashed.
        ValueError
            For unknown columns.

        See Also
        --------
        run_number : The number of the run.
        Gpuscan.rle : One row for each run, with its length.

        Examples
        --------
        >>> import pandas as pd, dask_gpuscan
        >>> rain = pd.Series([0, 0, 0, 4, 0])
        >>> rain.gpuscan.run_length().tolist()
        [1, 2, 3, 1, 1]
        >>> rain.gpuscan.run_length(reverse=True).tolist()
        [3, 2, 1, 1, 1]
        """
        check_flags(reverse=reverse)
        return run(self._obj, RunRows(check_subset(meta_of(self._obj), subset), bool(reverse)))

    def rle(
        self,
        subset: Names | None = None,
        agg: Mapping[Hashable, tuple[Hashable, str] | str] | None = None,
    ) -> FrameT:
        """Return one row for each run of equal rows: its keys, ``run_start`` and ``run_length``.

        Parameters
        ----------
        subset : name or list of names, optional
            Columns that are compared, and that the result has; default all.
        agg : dict of name to (column, reduction), optional
            More columns of the result, each a reduction of a column within each run, as for the ``agg`` of `groupby`:
            ``{"begin": ("time", "first"), "end": ("time", "last")}``. Of a Series, the name of the reduction will do.

        Returns
        -------
        DataFrame
            With a default index. ``run_start`` is the number of the run's first row in the whole collection.
            The column of a Series without a name is ``value``.

        Raises
        ------
        TypeError, ValueError
            As for `unique_consecutive`; for names that the result has already, unknown columns and reductions, and
            columns that a reduction does not take.

        See Also
        --------
        dask_gpuscan.rle_decode : The inverse.
        Gpuscan.groupby : Its ``agg`` reduces groups of rows in any order, and with ``clustered=True`` runs of keys.

        Notes
        -----
        A run may span any number of partitions, and is reported in the last one. Other columns are read in the same
        task.

        Examples
        --------
        >>> import pandas as pd, dask_gpuscan
        >>> pd.Series(list("aabbba"), name="x").gpuscan.rle()
           x  run_start  run_length
        0  a          0           2
        1  b          2           3
        2  a          5           1

        Until when a machine was in each state, and how often its load was measured:

        >>> df = pd.DataFrame({"state": list("aab"), "time": [0, 5, 8], "load": [1.0, None, 3.0]})
        >>> df.gpuscan.rle("state", agg={"end": ("time", "last"), "loads": ("load", "count")})
          state  run_start  run_length  end  loads
        0     a          0           2    5      1
        1     b          2           1    8      1
        """
        meta = meta_of(self._obj)
        by = check_subset(meta, subset)
        for name in PLACES:
            if name in (by.columns or [meta.name]):
                raise ValueError(
                    f"column {name!r} cannot be among the keys of rle; rename it first"
                )
        if agg is None:
            return with_default_index(self._obj, meta, RunLengths(by))
        return _aggregated(self._obj, meta, by, agg)


def with_default_index(obj: Any, meta: Any, carry: RunLengths | RunAggregates) -> Any:
    """Return the rows of a carry over runs, numbered over all partitions."""
    library = library_of(meta)
    if not are_factorized(library, carry.by.series(library, meta)):
        return run(obj, NumberedRuns(carry))
    # where keys have codes, counting the rows of the answer takes less time than counting runs ahead
    return engine_of(obj).renumber(run(obj, carry))


PLACES = ("run_start", "run_length")
"""Columns that tell where runs are."""


def check_agg(agg: Any) -> Mapping[Hashable, Any]:
    """Return names with columns and reductions; raises a TypeError for anything else."""
    if not isinstance(agg, Mapping) or not agg:
        raise TypeError(f"agg must be a dict of names to (column, reduction), found {shown(agg)}")
    return agg


def _aggregated(obj: Any, meta: Any, by: By, agg: Any) -> Any:
    """Return one row for each run, with reductions of columns."""
    agg = check_agg(agg)
    if meta.ndim == 1:
        name = "value" if meta.name is None else meta.name
        obj, by = obj.to_frame(name=name), By((name,))
        agg = {n: (name, asked) if isinstance(asked, str) else asked for n, asked in agg.items()}
    for name in agg:
        if name in PLACES or name in by.columns:
            raise ValueError(
                f"agg: {shown(name)} is the name of a column of the result; choose another"
            )
    groups = methods_of(obj).groupby(list(by.columns), clustered=True, dropna=False)
    return groups._runs(agg)


@takes_tables
def rle_decode(frame: FrameT) -> FrameT:
    """Return the rows that runs stand for: the inverse of ``.gpuscan.rle()``.

    Parameters
    ----------
    frame : DataFrame
        With a column ``run_length`` of integers; the others, except ``run_start``, are repeated.

    Returns
    -------
    DataFrame
        With a default index, which does not restart in each partition.

    Raises
    ------
    TypeError, ValueError
        If there is no such column, or it holds nulls or negative numbers.
    MemoryError
        If the rows of a partition would not fit into memory; it says how many they are.

    See Also
    --------
    Gpuscan.rle : Makes the runs.

    Examples
    --------
    >>> import pandas as pd, dask_gpuscan
    >>> runs = pd.Series(["a", "a", "b"], name="x").gpuscan.rle()
    >>> dask_gpuscan.rle_decode(runs)["x"].tolist()
    ['a', 'a', 'b']
    """
    meta = meta_of(frame)
    if getattr(meta, "ndim", 0) != 2 or not hasattr(type(frame), "gpuscan"):
        raise TypeError(f"frame must be a DataFrame made by rle, found {type(frame).__name__}")
    if names_of(meta).count("run_length") != 1:
        raise ValueError(
            f"frame must have one column 'run_length', found {name_list(names_of(meta))}"
        )
    if meta["run_length"].dtype.kind not in "iu":
        dtype = meta["run_length"].dtype
        raise TypeError(f"column 'run_length' must hold integers, found dtype {dtype}")
    engine = engine_of(frame)
    return engine.renumber(engine.map_partitions(frame, decoded, keeps_divisions=False))
