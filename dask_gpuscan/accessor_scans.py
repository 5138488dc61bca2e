"""The methods of ``.gpuscan`` that give one answer a row: scans, fills, growing windows and row numbers.

A method checks its arguments, names a carry and hands it to `run`. This module must never compute anything itself.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from dask.dataframe.utils import meta_nonempty

from .arguments import check_dtype, check_flags, check_limit
from .carries import ColumnCarry, JointCarry, numeric_columns, run
from .columns import names_of
from .fills import FillColumn
from .grown import Ewm, Expanding
from .kernels import BUILT_IN, Operator
from .lookback import is_lazy, meta_of
from .rows import ResetIndex, RowNumber
from .scans import ScanColumn


class Accessor:
    """What all methods share: the object that they were called on."""

    def __init__(self, obj: Any) -> None:
        self._obj = obj


class ScanMethods(Accessor):
    """The part of `Gpuscan` that answers row by row."""

    # --- scans ------------------------------------------------------------------------------------

    def cumsum(
        self,
        axis: Any = 0,
        skipna: bool = True,
        numeric_only: bool = False,
        *,
        exclusive: bool = False,
        initial: Any = None,
        reverse: bool = False,
        dtype: Any = None,
    ) -> Any:
        """Return the running sum.

        Parameters
        ----------
        axis : {0, "index", 1, "columns"}, default 0
            Along the rows; or, for a DataFrame of numbers, along the columns of each row.
        skipna : bool, default True
            Nulls stay null and the sum goes on after them; if False, all that follows a null is null.
        numeric_only : bool, default False
            Leave out columns that are not numbers or bool.
        exclusive : bool, default False
            Sum what comes before each row, without the row itself.
        initial : scalar or dict of column to scalar, optional
            Start from this value rather than from zero.
        reverse : bool, default False
            Run from the last row to the first.
        dtype : dtype, optional
            Accumulate and answer in this dtype. Default: as pandas does.

        Returns
        -------
        Series or DataFrame
            Of the same kind, length and index.

        Raises
        ------
        TypeError
            For a column that has no sum, naming it; for an `initial` or `dtype` that does not fit.
        ValueError
            For an unknown `axis`.

        Notes
        -----
        Integers wrap around on overflow as NumPy's do; Arrow-backed ones raise, as in pandas.
        One pass over the data; see `dask_gpuscan.kernels.scan` for the algorithm.

        Examples
        --------
        >>> import pandas as pd, dask_gpuscan
        >>> s = pd.Series([1.0, None, 3.0])
        >>> s.gpuscan.cumsum().tolist()
        [1.0, nan, 4.0]
        >>> s.gpuscan.cumsum(reverse=True, initial=10).tolist()
        [14.0, nan, 13.0]
        """
        options = (exclusive, initial, reverse, dtype)
        return self._scan("cumsum", "add", axis, skipna, numeric_only, *options)

    def cumprod(
        self,
        axis: Any = 0,
        skipna: bool = True,
        numeric_only: bool = False,
        *,
        exclusive: bool = False,
        initial: Any = None,
        reverse: bool = False,
        dtype: Any = None,
    ) -> Any:
        """Return the running product; parameters as for `cumsum`.

        Examples
        --------
        >>> import pandas as pd, dask_gpuscan
        >>> pd.Series([1, 2, 3, 4]).gpuscan.cumprod().tolist()
        [1, 2, 6, 24]
        """
        options = (exclusive, initial, reverse, dtype)
        return self._scan("cumprod", "multiply", axis, skipna, numeric_only, *options)

    def cummax(
        self,
        axis: Any = 0,
        skipna: bool = True,
        numeric_only: bool = False,
        *,
        exclusive: bool = False,
        initial: Any = None,
        reverse: bool = False,
        dtype: Any = None,
    ) -> Any:
        """Return the running maximum; parameters as for `cumsum`. Takes datetimes too.

        With ``exclusive=True``, rows that nothing comes before are null where the dtype has a null, else the
        smallest value of the dtype.

        Examples
        --------
        >>> import pandas as pd, dask_gpuscan
        >>> pd.Series([1, 3, 2]).gpuscan.cummax().tolist()
        [1, 3, 3]
        """
        options = (exclusive, initial, reverse, dtype)
        return self._scan("cummax", "maximum", axis, skipna, numeric_only, *options)

    def cummin(
        self,
        axis: Any = 0,
        skipna: bool = True,
        numeric_only: bool = False,
        *,
        exclusive: bool = False,
        initial: Any = None,
        reverse: bool = False,
        dtype: Any = None,
    ) -> Any:
        """Return the running minimum; parameters as for `cumsum`. Takes datetimes too.

        With ``exclusive=True``, rows that nothing comes before are null where the dtype has a null, else the
        largest value of the dtype.

        Examples
        --------
        >>> import pandas as pd, dask_gpuscan
        >>> pd.Series([3, 1, 2]).gpuscan.cummin(reverse=True).tolist()
        [1, 1, 2]
        """
        options = (exclusive, initial, reverse, dtype)
        return self._scan("cummin", "minimum", axis, skipna, numeric_only, *options)

    def cumany(self, *, exclusive: bool = False, reverse: bool = False) -> Any:
        """Return whether any value so far is true (not zero); nulls are passed over.

        Examples
        --------
        >>> import pandas as pd, dask_gpuscan
        >>> pd.Series([0, 2, 0]).gpuscan.cumany().tolist()
        [False, True, True]
        """
        return self._scan("cumany", "logical_any", 0, True, False, exclusive, None, reverse, None)

    def cumall(self, *, exclusive: bool = False, reverse: bool = False) -> Any:
        """Return whether all values so far are true (not zero); nulls are passed over.

        Examples
        --------
        >>> import pandas as pd, dask_gpuscan
        >>> pd.Series([1, 0, 2]).gpuscan.cumall().tolist()
        [True, False, False]
        """
        return self._scan("cumall", "logical_all", 0, True, False, exclusive, None, reverse, None)

    def cumcount(self, *, exclusive: bool = False, reverse: bool = False) -> Any:
        """Return the number of values so far that are not null, as int64: its last row is ``count()``.

        Examples
        --------
        >>> import pandas as pd, dask_gpuscan
        >>> pd.Series([5.0, None, 7.0]).gpuscan.cumcount().tolist()
        [1, 1, 2]
        """
        present = ScanMethods(~self._obj.isna())
        return present._scan("cumcount", "add", 0, True, False, exclusive, None, reverse, None)

    def scan(
        self,
        op: Operator,
        *,
        exclusive: bool = False,
        initial: Any = None,
        reverse: bool = False,
        skipna: bool = True,
        dtype: Any = None,
    ) -> Any:
        """Scan by any operator.

        Parameters
        ----------
        op : Operator
            A built-in one, or one made by `dask_gpuscan.operator`. An operator of several inputs takes the
            columns of a DataFrame in their order, and answers with one Series.
        exclusive, reverse, skipna, dtype
            As for `cumsum`.
        initial : state, optional
            Start from this state of the operator; for a state that is a tuple, an element will do.

        Returns
        -------
        Series or DataFrame

        Raises
        ------
        TypeError, ValueError
            If `op` is no operator, Numba cannot compile its functions for a column, or they raise.

        Examples
        --------
        >>> import pandas as pd, dask_gpuscan
        >>> xor = dask_gpuscan.operator(lambda a, b: a ^ b, identity=0)
        >>> pd.Series([1, 2, 4, 1]).gpuscan.scan(xor).tolist()
        [1, 3, 7, 6]
        """
        if not isinstance(op, Operator):
            names = ", ".join(BUILT_IN)
            raise TypeError(
                f"op must be an Operator made by dask_gpuscan.operator, or one of the built-in "
                f"dask_gpuscan.{{{names}}}; found {op!r}"
            )
        check_flags(exclusive=exclusive, reverse=reverse, skipna=skipna)
        initial, dtype = self._check_initial(initial), check_dtype(dtype)
        column = ScanColumn(f"scan-{op.name}", op, skipna, exclusive, reverse, initial, dtype)
        if op.inputs == 1:
            return run(self._obj, ColumnCarry(column))
        columns = 1 if self._obj.ndim == 1 else len(self._obj.columns)
        if columns != op.inputs:
            raise TypeError(
                f"{op.name} takes {op.inputs} input columns, found {columns}; choose them in order"
            )
        return run(self._obj, JointCarry(column))

    def _scan(
        self,
        label: str,
        op: str,
        axis: Any,
        skipna: bool,
        numeric_only: bool,
        exclusive: bool,
        initial: Any,
        reverse: bool,
        dtype: Any,
    ) -> Any:
        check_flags(skipna=skipna, numeric_only=numeric_only, exclusive=exclusive, reverse=reverse)
        if isinstance(axis, (int, str)) and axis in (1, "columns") and self._obj.ndim == 2:
            if exclusive or reverse or initial is not None or dtype is not None:
                raise ValueError(f"axis=1: {label} along rows takes skipna and numeric_only only")
            if not is_lazy(self._obj):
                return _along_rows(self._obj, label, skipna, numeric_only)
            meta = _part_along_rows(self._obj._meta, label, skipna, numeric_only)
            options = (label, skipna, numeric_only)
            return self._obj.map_partitions(_part_along_rows, *options, meta=meta)
        if not isinstance(axis, (int, str)) or axis not in (0, "index", "rows"):
            raise ValueError(f"axis must be 0 or 'index' (for a DataFrame also 1), found {axis!r}")
        initial, dtype = self._check_initial(initial), check_dtype(dtype)
        column = ScanColumn(label, BUILT_IN[op], skipna, exclusive, reverse, initial, dtype)
        return run(self._obj, ColumnCarry(column, numeric_only))

    def _check_initial(self, initial: Any) -> Any:
        """Return a plain dict for a mapping of columns, each of which must be there."""
        if not isinstance(initial, Mapping):
            return initial
        names = names_of(meta_of(self._obj))
        for name in initial:
            if name not in names:
                raise ValueError(f"initial names column {name!r}, found {names}")
        return dict(initial)

    # --- fills ------------------------------------------------------------------------------------

    def ffill(self, limit: int | None = None) -> Any:
        """Fill nulls with the last value before them, over partition borders too.

        Parameters
        ----------
        limit : int, optional
            Fill at most this many nulls in a row.

        Returns
        -------
        Series or DataFrame
            Of any dtype that pandas fills, strings and categoricals included.

        Raises
        ------
        ValueError
            If `limit` is not a positive integer.

        Examples
        --------
        >>> import pandas as pd, dask_gpuscan
        >>> pd.Series([1.0, None, None, 4.0]).gpuscan.ffill(limit=1).tolist()
        [1.0, 1.0, nan, 4.0]
        """
        return run(self._obj, ColumnCarry(FillColumn(False, check_limit(limit))))

    def bfill(self, limit: int | None = None) -> Any:
        """Fill nulls with the next value after them; parameters as for `ffill`.

        Examples
        --------
        >>> import pandas as pd, dask_gpuscan
        >>> pd.Series([None, "a", None]).gpuscan.bfill().tolist()
        ['a', 'a', nan]
        """
        return run(self._obj, ColumnCarry(FillColumn(True, check_limit(limit))))

    # --- windows that grow ------------------------------------------------------------------------

    def ewm(
        self,
        com: float | None = None,
        span: float | None = None,
        halflife: float | None = None,
        alpha: float | None = None,
        min_periods: int | None = 0,
        adjust: bool = True,
        ignore_na: bool = False,
    ) -> Ewm:
        """Return exponentially weighted windows; arguments as for `pandas.DataFrame.ewm`.

        Examples
        --------
        >>> import pandas as pd, dask_gpuscan
        >>> pd.Series([1.0, 2.0, 3.0]).gpuscan.ewm(alpha=0.5, adjust=False).mean().tolist()
        [1.0, 1.5, 2.25]
        """
        return Ewm(self._obj, com, span, halflife, alpha, min_periods, adjust, ignore_na)

    def expanding(self, min_periods: int = 1) -> Expanding:
        """Return windows of all rows so far; arguments as for `pandas.DataFrame.expanding`.

        Examples
        --------
        >>> import pandas as pd, dask_gpuscan
        >>> pd.Series([1.0, 2.0, 6.0]).gpuscan.expanding().mean().tolist()
        [1.0, 1.5, 3.0]
        """
        return Expanding(self._obj, min_periods)

    # --- rows -------------------------------------------------------------------------------------

    def row_number(self) -> Any:
        """Return the number of each row in the whole collection, from 0, as a Series of int64.

        Examples
        --------
        >>> import pandas as pd, dask.dataframe as dd, dask_gpuscan
        >>> ddf = dd.from_pandas(pd.DataFrame({"x": list("abc")}), npartitions=2)
        >>> ddf.gpuscan.row_number().compute().tolist()
        [0, 1, 2]
        """
        # rows are counted by their index: no column need be read
        counted = self._obj if self._obj.ndim == 1 else self._obj[[]]
        return run(counted, RowNumber())

    def reset_index(self, drop: bool = False) -> Any:
        """Return the collection with a default index that runs on over the partitions.

        Parameters
        ----------
        drop : bool, default False
            Drop the old index rather than keeping it as a column.

        Returns
        -------
        Series or DataFrame
            As for `pandas.DataFrame.reset_index`; a Series whose index is kept becomes a DataFrame.

        Examples
        --------
        >>> import pandas as pd, dask.dataframe as dd, dask_gpuscan
        >>> ddf = dd.from_pandas(pd.DataFrame({"x": [5, 6]}, index=[10, 20]), npartitions=2)
        >>> ddf.gpuscan.reset_index(drop=True).compute().index.tolist()
        [0, 1]
        """
        check_flags(drop=drop)
        return run(self._obj, ResetIndex(drop))


def _part_along_rows(part: Any, label: str, skipna: bool, numeric_only: bool) -> Any:
    """Scan each row of a partition; one without rows has the dtypes of others, which pandas does not see to."""
    if len(part):
        return _along_rows(part, label, skipna, numeric_only)
    return _along_rows(meta_nonempty(part), label, skipna, numeric_only).iloc[:0]


def _along_rows(frame: Any, label: str, skipna: bool, numeric_only: bool) -> Any:
    """Scan each row of a partition: no row looks at another, so its library does it."""
    numbers = numeric_columns(frame) if numeric_only else frame
    return getattr(numbers, label)(axis=1, skipna=skipna)
