"""The methods of ``.gpuscan`` for runs of equal rows, and the way back from runs to rows."""

from __future__ import annotations

from ..frames.keys import check_subset
from ..frames.registry import names_of
from ..graph.lookback import Collection, look_back, meta_of
from ..kernels.messages import name_list
from ..ops.row_number import ResetIndex
from ..ops.runs import RunLengths, UniqueConsecutive, decoded
from .arguments import check_choice
from .object_types import FrameT, Keep, Methods, Names, Obj, SeriesT
from .tables import takes_tables


class RunMethods(Methods[Obj, SeriesT, FrameT]):
    """The part of `Gpuscan` that finds runs of equal rows."""

    def unique_consecutive(self, subset: Names | None = None, keep: Keep = "first") -> Obj:
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
        check_choice("keep", keep, ("first", "last"))
        by = check_subset(meta_of(self._obj), subset)
        return look_back(self._obj, UniqueConsecutive(by, keep == "last"))

    def rle(self, subset: Names | None = None) -> FrameT:
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
        by = check_subset(meta_of(self._obj), subset)
        for name in ("run_start", "run_length"):
            if name in by.columns:
                raise ValueError(
                    f"column {name!r} cannot be among the keys of rle; rename it first"
                )
        found = look_back(self._obj, RunLengths(by))
        return (
            look_back(found, ResetIndex(drop=True)) if isinstance(self._obj, Collection) else found
        )


@takes_tables
def rle_decode(frame: FrameT) -> FrameT:
    """Return the rows of which `rle` made runs: the inverse of ``.gpuscan.rle()``.

    Parameters
    ----------
    frame : DataFrame
        With a column ``run_length`` of integers; the others, but ``run_start``, are repeated.

    Returns
    -------
    DataFrame
        With a default index that runs on over the partitions.

    Raises
    ------
    TypeError, ValueError
        If there is no such column, or it holds nulls or negative numbers.
    MemoryError
        If the rows of a partition would not fit the memory there is; it says how many they are.

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
    if isinstance(frame, Collection):
        out = frame.map_partitions(decoded, meta=decoded(meta), clear_divisions=True)
        return out.gpuscan.reset_index(drop=True)
    return decoded(frame)
