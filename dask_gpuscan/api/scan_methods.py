"""The methods of ``.gpuscan`` that scan columns: running sums and their kin, and scans by any operator."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Mapping
from typing import Any, Literal

from dask.dataframe.utils import meta_nonempty

from ..frames.messages import WAY_OUT, ways_out
from ..frames.registry import names_of
from ..graph.lookback import Collection, look_back, meta_of
from ..kernels import BUILT_IN, Operator
from ..kernels.messages import name_list
from ..ops.column_scan import Scan
from ..ops.columnwise import ColumnCarry, JointCarry, numeric_columns
from ..ops.scan_options import ScanOptions
from .arguments import check_choice, check_flags, checked_options
from .fused_scans import check_scan, fused_scan
from .object_types import Axis, FrameT, Methods, Names, Obj, SeriesT
from .row_methods import with_row_numbers

ALONG_ROWS = (1, "columns")

AXES = {1: (0, "index", "rows"), 2: (0, "index", "rows", *ALONG_ROWS)}
"""What `axis` may be, by the number of dimensions."""


class ScanMethods(Methods[Obj, SeriesT, FrameT]):
    """The part of `Gpuscan` that scans: running sums and their kin, and scans by any operator."""

    def cumsum(
        self,
        axis: Axis = 0,
        skipna: bool = True,
        numeric_only: bool = False,
        *,
        exclusive: bool = False,
        initial: Any = None,
        reverse: bool = False,
        dtype: Any = None,
    ) -> Obj:
        """Return the running sum; of strings, all so far joined.

        Parameters
        ----------
        axis : {0, "index", 1, "columns"}, default 0
            Along the rows; or, for a DataFrame of numbers, along the columns of each row.
        skipna : bool, default True
            Nulls stay null and the sum continues after them; if False, everything from the first null on is
            null.
        numeric_only : bool, default False
            Leave out columns that are not numbers or bool.
        exclusive : bool, default False
            Sum what comes before each row, without the row itself.
        initial : scalar or dict of column to scalar, optional
            Start from this value rather than from zero, or from an empty string.
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
        MemoryError
            For strings whose answers, each as long as all before it, would not fit the memory that there is.

        See Also
        --------
        Gpuscan.scan : The same by any operator.
        Gpuscan.expanding : The mean and other statistics of all rows so far.
        Gpuscan.rolling : The sum of a number of rows, or of a duration.

        Notes
        -----
        Integers wrap around on overflow as NumPy's do; Arrow-backed ones raise, as in pandas.
        One pass over the data; see `dask_gpuscan.kernels.scan` for the algorithm. Strings and objects are combined by
        Python on the host.

        Examples
        --------
        >>> import pandas as pd, dask_gpuscan
        >>> s = pd.Series([1.0, None, 3.0])
        >>> s.gpuscan.cumsum().tolist()
        [1.0, nan, 4.0]
        >>> s.gpuscan.cumsum(reverse=True, initial=10).tolist()
        [14.0, nan, 13.0]
        >>> pd.Series(["a", "b", None, "c"]).gpuscan.cumsum().tolist()
        ['a', 'ab', nan, 'abc']
        """
        options = ScanOptions(exclusive, initial, reverse, skipna, dtype)
        return self._scan("cumsum", "add", options, axis, numeric_only)

    def cumprod(
        self,
        axis: Axis = 0,
        skipna: bool = True,
        numeric_only: bool = False,
        *,
        exclusive: bool = False,
        initial: Any = None,
        reverse: bool = False,
        dtype: Any = None,
    ) -> Obj:
        """Return the running product; parameters as for `Gpuscan.cumsum`.

        See Also
        --------
        Gpuscan.cumsum : The running sum, with all parameters.

        Examples
        --------
        >>> import pandas as pd, dask_gpuscan
        >>> pd.Series([1, 2, 3, 4]).gpuscan.cumprod().tolist()
        [1, 2, 6, 24]
        """
        options = ScanOptions(exclusive, initial, reverse, skipna, dtype)
        return self._scan("cumprod", "multiply", options, axis, numeric_only)

    def cummax(
        self,
        axis: Axis = 0,
        skipna: bool = True,
        numeric_only: bool = False,
        *,
        exclusive: bool = False,
        initial: Any = None,
        reverse: bool = False,
        dtype: Any = None,
    ) -> Obj:
        """Return the running maximum, of times, strings and ordered categories too; parameters as for `Gpuscan.cumsum`.

        With ``exclusive=True``, the first row is null if the dtype has a null, otherwise the smallest value of
        the dtype.

        See Also
        --------
        Gpuscan.cummin : The running minimum.
        Gpuscan.rolling : The maximum of a number of rows, or of a duration.

        Examples
        --------
        >>> import pandas as pd, dask_gpuscan
        >>> pd.Series([1, 3, 2]).gpuscan.cummax().tolist()
        [1, 3, 3]
        """
        options = ScanOptions(exclusive, initial, reverse, skipna, dtype)
        return self._scan("cummax", "maximum", options, axis, numeric_only)

    def cummin(
        self,
        axis: Axis = 0,
        skipna: bool = True,
        numeric_only: bool = False,
        *,
        exclusive: bool = False,
        initial: Any = None,
        reverse: bool = False,
        dtype: Any = None,
    ) -> Obj:
        """Return the running minimum, of times, strings and ordered categories too; parameters as for `Gpuscan.cumsum`.

        With ``exclusive=True``, the first row is null if the dtype has a null, otherwise the largest value of
        the dtype.

        See Also
        --------
        Gpuscan.cummax : The running maximum.
        Gpuscan.rolling : The minimum of a number of rows, or of a duration.

        Examples
        --------
        >>> import pandas as pd, dask_gpuscan
        >>> pd.Series([3, 1, 2]).gpuscan.cummin(reverse=True).tolist()
        [1, 1, 2]
        """
        options = ScanOptions(exclusive, initial, reverse, skipna, dtype)
        return self._scan("cummin", "minimum", options, axis, numeric_only)

    def cumany(self, *, exclusive: bool = False, reverse: bool = False) -> Obj:
        """Return whether any value so far is true (not zero), ignoring nulls.

        See Also
        --------
        Gpuscan.cumall : Whether all values so far are true.

        Examples
        --------
        >>> import pandas as pd, dask_gpuscan
        >>> pd.Series([0, 2, 0]).gpuscan.cumany().tolist()
        [False, True, True]
        """
        return self._scan("cumany", "logical_any", ScanOptions(exclusive, reverse=reverse))

    def cumall(self, *, exclusive: bool = False, reverse: bool = False) -> Obj:
        """Return whether all values so far are true (not zero), ignoring nulls.

        See Also
        --------
        Gpuscan.cumany : Whether any value so far is true.

        Examples
        --------
        >>> import pandas as pd, dask_gpuscan
        >>> pd.Series([1, 0, 2]).gpuscan.cumall().tolist()
        [True, False, False]
        """
        return self._scan("cumall", "logical_all", ScanOptions(exclusive, reverse=reverse))

    def scan(
        self,
        op: Operator | Mapping[Hashable, Any],
        *,
        exclusive: bool = False,
        initial: Any = None,
        reverse: bool = False,
        skipna: bool = True,
        dtype: Any = None,
        positions: bool = False,
        where: str | Callable[..., Any] | None = None,
        by: Names | None = None,
        clustered: bool | Literal["check"] | None = None,
        local_dict: Mapping[str, Any] | None = None,
    ) -> Obj | SeriesT | FrameT:
        """Scan by any operator, or by several in one pass.

        Parameters
        ----------
        op : Operator or dict
            A built-in one, or one made by `dask_gpuscan.operator`. An operator of several inputs takes the
            columns of a DataFrame in their order, and answers with one Series. Or several scans as a dict of names to
            ``(operator, of)``, where `of` is a column, a text of columns such as ``"price * volume"``, or a Python
            function of columns that is compiled, both as in `filter` but with an answer of numbers; of an operator of
            several inputs, a list of these. ``(operator, of, "exclusive")`` answers with what comes before each row,
            whatever `exclusive` says, and ``"inclusive"`` with the row as well.
        exclusive, reverse, skipna, dtype
            As for `cumsum`.
        initial : state, optional
            Start from this state of the operator; if the state is a tuple, also from an element. For a dict, also a
            dict of its names to these.
        positions : bool, default False
            Give the operator one more input, last: the number of each row in the whole collection, from 0. Not for a
            dict.
        where : str or function, optional
            For a dict: which rows are scanned, as `filter` takes it. The others are null in the answer and leave the
            state as it is, as nulls do.
        by, clustered
            For a dict: scan within groups, as `groupby` makes them.
        local_dict : mapping, optional
            As for `filter`.

        Returns
        -------
        Series or DataFrame
            For a dict a DataFrame with its names as columns.

        Raises
        ------
        TypeError, ValueError
            If `op` is not an operator, or if its functions cannot be compiled for a column or raise an error. For a
            dict, also for texts, functions and columns that cannot be scanned; the error names the entry.

        See Also
        --------
        operator : Make an operator.
        segmented : Restart an operator where a flag is true.
        Gpuscan.rolling : Its method ``scan`` combines the rows of windows.

        Notes
        -----
        The scans of a dict are one operator, whose state is theirs side by side: one read of the columns, and texts of
        ``+ - * /`` and comparisons are computed in it. Products of floating-point numbers, and sums and products of
        integers that raise on overflow, take a pass each. Columns of integers that have no null are scanned as float64
        where `where` leaves rows out. Multi-scan and visiting logic: Merrill and Grimshaw, *Revisiting sorting for
        GPGPU stream architectures* (UVA CS2010-03).

        Examples
        --------
        >>> import pandas as pd, dask_gpuscan
        >>> xor = dask_gpuscan.operator(lambda a, b: a ^ b, identity=0)
        >>> pd.Series([1, 2, 4, 1]).gpuscan.scan(xor).tolist()
        [1, 3, 7, 6]

        Where the largest value so far was:

        >>> argmax = dask_gpuscan.operator(
        ...     lambda a, b: b if b[0] > a[0] else a,
        ...     identity=(-float("inf"), -1),
        ...     lift=lambda x, i: (x, i),
        ...     lower=lambda s: s[1],
        ... )
        >>> pd.Series([3.0, 5.0, 4.0, 7.0]).gpuscan.scan(argmax, positions=True).tolist()
        [0.0, 1.0, 1.0, 3.0]

        Turnover so far, and the highest price before each row, of the rows that were traded:

        >>> df = pd.DataFrame({"price": [2.0, 3.0, 9.0, 2.5], "volume": [10, 20, 0, 40]})
        >>> df.gpuscan.scan(
        ...     {
        ...         "total": (dask_gpuscan.add, "price * volume"),
        ...         "peak": (dask_gpuscan.maximum, "price", "exclusive"),
        ...     },
        ...     where="volume > 0",
        ... )
           total  peak
        0   20.0   NaN
        1   80.0   2.0
        2    NaN   NaN
        3  180.0   3.0
        """
        options = ScanOptions(exclusive, initial, reverse, skipna, dtype)
        check_scan(op, positions, where=where, by=by, clustered=clustered)
        if isinstance(op, Mapping):
            if by is not None:
                groups = self._obj.gpuscan.groupby(by, clustered=clustered)
                return groups.scan(op, **vars(options), where=where, local_dict=local_dict)
            return fused_scan(self._obj, op, options, where, local_dict)
        if positions:
            numbered, _ = with_row_numbers(self._obj)
            return numbered.gpuscan.scan(op, **vars(options))
        column = Scan(f"scan-{op.name}", op, self._checked(options))
        if op.inputs == 1:
            with ways_out(self._obj.ndim == 1, None):
                return look_back(self._obj, ColumnCarry(column))
        columns = 1 if self._obj.ndim == 1 else len(self._obj.columns)
        if columns != op.inputs:
            raise TypeError(
                f"{op.name} takes {op.inputs} input columns, found {columns}; choose them in order"
            )
        return look_back(self._obj, JointCarry(column))

    def _scan(
        self,
        label: str,
        op: str,
        options: ScanOptions,
        axis: Any = 0,
        numeric_only: bool | None = None,
    ) -> Any:
        """Scan each column; `numeric_only` is None where a method has none."""
        if numeric_only is not None:
            check_flags(numeric_only=numeric_only)
        check_choice("axis", axis, AXES[self._obj.ndim])
        if axis in ALONG_ROWS:
            told = options.initial is not None or options.dtype is not None
            if told or options.exclusive or options.reverse:
                raise ValueError(f"axis=1: {label} along rows takes skipna and numeric_only only")
            along = (label, options.skipna, bool(numeric_only))
            with ways_out(False, numeric_only):
                if not isinstance(self._obj, Collection):
                    return _along_rows(self._obj, *along)
                meta = _part_along_rows(self._obj._meta, *along)
            return self._obj.map_partitions(_part_along_rows, *along, meta=meta)
        column = Scan(label, BUILT_IN[op], self._checked(options))
        with ways_out(self._obj.ndim == 1, numeric_only):
            return look_back(self._obj, ColumnCarry(column, bool(numeric_only)))

    def _checked(self, options: ScanOptions) -> ScanOptions:
        """Return options with a dtype of pandas, and initial values of columns that are there."""
        if options.initial is None and options.dtype is None:
            return options
        return checked_options(options, names_of(meta_of(self._obj)))


def _part_along_rows(part: Any, label: str, skipna: bool, numeric_only: bool) -> Any:
    """Scan each row of a partition; one without rows has the dtypes of others, which pandas does not see to."""
    if len(part):
        return _along_rows(part, label, skipna, numeric_only)
    return _along_rows(meta_nonempty(part), label, skipna, numeric_only).iloc[:0]


def _along_rows(frame: Any, label: str, skipna: bool, numeric_only: bool) -> Any:
    """Scan each row of a partition: no row looks at another, so its library does it."""
    numbers = numeric_columns(frame) if numeric_only else frame
    try:
        return getattr(numbers, label)(axis=1, skipna=skipna)
    except (TypeError, ValueError, NotImplementedError) as error:
        raise TypeError(
            f"{label} with axis=1 takes columns of numbers, found dtypes "
            f"{name_list(dict.fromkeys(map(str, numbers.dtypes)))}; {WAY_OUT}"
        ) from error
