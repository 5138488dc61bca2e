"""The methods of ``.gpuscan`` that scan columns: running sums and their kin."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from ...engines.run import engine_of, meta_of, run
from ...frames.messages import HINT
from ...frames.registry import names_of
from ...kernels.messages import name_list
from ...ops.core.columnwise import ColumnCarry, numeric_columns
from ...ops.core.plans import made_once
from ..arguments import (
    check_choice,
    cumulative,
    hints,
    raise_with_hint,
    sum_of,
    with_initial,
)
from ..family import family
from ..types import Axis, FrameT, Obj, Reset, SeriesT
from .fold import restarted
from .operator_scans import OperatorScans
from .running import RunningMethods

ALONG_ROWS = (1, "columns")

AXES = {1: (0, "index", "rows"), 2: (0, "index", "rows", *ALONG_ROWS)}
"""The values that `axis` may have, by the number of dimensions."""


class ScanMethods(OperatorScans[Obj, SeriesT, FrameT], RunningMethods[Obj, SeriesT, FrameT]):
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
        reproducible: bool = False,
        lower: float | None = None,
        upper: float | None = None,
        reset: Reset[SeriesT] = None,
        restart_at: float | None = None,
        restart_above: float | None = None,
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
        reproducible : bool, default False
            Give floating-point sums bits that depend on the values alone: not on how rows are cut into partitions, on
            threads, workers or the kind of processor; see `add_reproducible`. Other sums have such bits anyway.
        lower, upper : number, optional
            Clamp the sum after each row: what would be below `lower` is `lower`, what would be above `upper` is
            `upper`, and the next row is added to that. An integer sum with one bound stops at the other end of its
            dtype, rather than wrapping around.
        reset : name, str, function or Series of bool, optional
            Start anew after each row where this is true: a column of bool, or what `filter` takes, with variables of
            the caller. A null is not true. Rows up to and with a true one are a group, so `initial` is what each
            group starts from, `reverse` runs from its last row to its first, and dtypes are those of groups.
        restart_at, restart_above : number, optional
            Of a Series: start anew after the row where the sum has reached `restart_at`, or at the row that would take
            it above `restart_above`. With no other argument; rows are summed one after the other, as by `fold`.

        Returns
        -------
        Series or DataFrame
            Of the same kind, length and index.

        Raises
        ------
        TypeError
            For a column that has no sum, or no reproducible or clamped one, naming it; for an `initial`, `dtype` or
            bound that does not fit.
        ValueError
            For an unknown `axis`, and for arguments that do not go with ``axis=1``; for a `lower` greater than
            `upper`, and for NaN.
        MemoryError
            For strings whose answers, each as long as all before it, would not fit into memory.

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
        >>> pd.Series([1e17, 1.0, -1e17]).gpuscan.cumsum(reproducible=True).tolist()
        [1e+17, 1e+17, 1.0]

        A tank that holds 10, and cannot be emptier than empty:

        >>> pd.Series([6, 7, -3, -9, 2]).gpuscan.cumsum(lower=0, upper=10).tolist()
        [6, 10, 7, 0, 2]

        Kilometres since the last service:

        >>> df = pd.DataFrame({"km": [5, 3, 4, 1], "service": [False, True, False, False]})
        >>> df.gpuscan.cumsum(reset="service")["km"].tolist()
        [5, 8, 4, 5]

        Bars of at least 10 units:

        >>> pd.Series([6, 5, 3, 9, 2]).gpuscan.cumsum(restart_at=10).tolist()
        [6, 11, 3, 12, 2]
        """
        given = exclusive, reverse, initial, skipna, dtype, reproducible, lower, upper
        if restart_at is not None or restart_above is not None:
            return restarted(self, self._obj.ndim == 1, restart_at, restart_above, (*given, reset))
        return self._accumulate("cumsum", reset, numeric_only, *given, axis=axis)

    @family(
        """
        >>> import pandas as pd, dask_gpuscan
        >>> x = pd.Series([2, 3, 1, 4])
        >>> x.gpuscan.{name}().tolist(), x.gpuscan.{name}(reverse=True).tolist()
        ({0}, {1})
        """
    )
    def _running(
        self,
        axis: Axis = 0,
        skipna: bool = True,
        numeric_only: bool = False,
        *,
        exclusive: bool = False,
        initial: Any = None,
        reverse: bool = False,
        dtype: Any = None,
        reset: Reset[SeriesT] = None,
    ) -> Obj:
        """Return the running product or extreme; parameters as for `cumsum`."""
        given = exclusive, reverse, initial, skipna, dtype
        return self._accumulate("_running", reset, numeric_only, *given, axis=axis)

    cumprod = _running(
        "Return the running product; parameters as for `Gpuscan.cumsum`.",
        *([2, 6, 6, 24], [24, 12, 4, 4]),
    )
    cummax = _running(
        """Return the running maximum, of times, strings and ordered categories too; parameters as for `Gpuscan.cumsum`.

        With ``exclusive=True``, the first row is null if the dtype has a null, otherwise the smallest value of
        the dtype.

        See Also
        --------
        Gpuscan.rolling : The maximum of a number of rows, or of a duration.
        """,
        *([2, 3, 3, 4], [4, 4, 4, 4]),
    )
    cummin = _running(
        """Return the running minimum, of times, strings and ordered categories too; parameters as for `Gpuscan.cumsum`.

        With ``exclusive=True``, the first row is null if the dtype has a null, otherwise the largest value of
        the dtype.

        See Also
        --------
        Gpuscan.rolling : The minimum of a number of rows, or of a duration.
        """,
        *([2, 2, 1, 1], [1, 1, 1, 4]),
    )

    def _accumulate(
        self, label: str, reset: Any, numeric_only: bool | None, *given: Any, axis: Any = 0
    ) -> Any:
        carry = made_once(_cumulative, label, numeric_only, *given)
        scan: Any = carry.operation
        options = scan.options
        if type(axis) is not int or axis != 0:
            check_choice("axis", axis, AXES[self._obj.ndim])
        if axis in ALONG_ROWS:
            given = options.initial, options.dtype, scan.bounds, reset
            plain = all(one is None for one in given) and scan.op.name != sum_of(True)
            if not plain or options.exclusive or options.reverse:
                raise ValueError(
                    f"axis=1: {scan.label} along rows takes skipna and numeric_only only"
                )
            along = (scan.label, options.skipna, bool(numeric_only))
            with hints(False, numeric_only):
                # pandas has other dtypes where there are no rows
                return engine_of(self._obj).map_partitions(
                    self._obj, _along_rows, *along, typed_by_rows=True
                )
        if reset is not None:
            grouped = replace(scan, in_groups=True)
            return self._in_segments(
                reset, lambda groups: groups._cumulate(grouped, bool(numeric_only))
            )
        if options.initial is not None:
            scan = with_initial(scan, lambda: names_of(meta_of(self._obj)))
            carry = ColumnCarry(scan, bool(numeric_only))
        try:
            return run(self._obj, carry)
        except TypeError as error:
            raise_with_hint(error, self._obj.ndim == 1, numeric_only)
            raise


def _cumulative(label: str, numeric_only: bool | None, *given: Any) -> ColumnCarry:
    """Return the scan of each column; arguments as for `cumulative`."""
    return ColumnCarry(cumulative(label, False, numeric_only, *given), bool(numeric_only))


def _along_rows(frame: Any, label: str, skipna: bool, numeric_only: bool) -> Any:
    """Scan each row of a partition: no row looks at another, so its library does it."""
    numbers = numeric_columns(frame) if numeric_only else frame
    try:
        return getattr(numbers, label)(axis=1, skipna=skipna)
    except (TypeError, ValueError, NotImplementedError) as error:
        raise TypeError(
            f"{label} with axis=1 takes columns of numbers, found dtypes "
            f"{name_list(dict.fromkeys(map(str, numbers.dtypes)))}; {HINT}"
        ) from error
