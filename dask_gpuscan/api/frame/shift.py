"""The methods of ``.gpuscan`` that compare a row with one at a distance: shift, diff and pct_change."""

from __future__ import annotations

from datetime import timedelta
from typing import Any, SupportsIndex

import numpy as np
import pandas as pd
from pandas.tseries.frequencies import to_offset

from ...engines.run import run
from ...kernels.messages import shown
from ...ops.core.plans import made_once
from ...ops.time.shift_labels import ShiftLabels
from ...ops.windows.shift import Difference, Shift
from ...ops.windows.surroundings import ColumnOverlap, NeighbourOperation
from ..arguments import check_count
from ..types import Duration, FrameT, Obj, SeriesT
from .counters import CounterMethods

NO_FILL = object()
"""Means that no `fill_value` is given, as None is a null."""


class ShiftedStatistics(CounterMethods[Obj, SeriesT, FrameT]):
    """The three methods, of rows that are one group or are in groups."""

    def _neighbours(self, operation: NeighbourOperation) -> Any:
        raise NotImplementedError

    def shift(self, periods: SupportsIndex = 1, *, fill_value: Any = NO_FILL) -> Obj:
        """Return the value `periods` rows before each row of its group; parameters as for `Gpuscan.shift`.

        Examples
        --------
        >>> import pandas as pd, dask_gpuscan
        >>> df = pd.DataFrame({"k": ["a", "b", "a"], "x": [1, 2, 3]})
        >>> df.gpuscan.groupby("k")["x"].shift(-1).tolist()
        [3.0, nan, nan]
        """
        count, filled = check_count("periods", periods), fill_value is not NO_FILL
        return self._neighbours(Shift(count, (fill_value,)) if filled else made_once(Shift, count))

    def diff(self, periods: SupportsIndex = 1) -> Obj:
        """Return each row's value minus the value `periods` rows before; parameters as for `shift`.

        Returns
        -------
        Series or DataFrame
            With the dtypes of `pandas.DataFrame.diff`. Differences of integers are exact; those of NumPy's unsigned
            ones may be negative, where pandas' wrap around.

        Raises
        ------
        TypeError
            If `periods` is not an integer, and for columns that have no difference, such as strings.
        OverflowError
            At compute time, for a difference of NumPy's integers that float64 does not hold, and for one of other
            integers that does not fit their dtype.

        See Also
        --------
        shift : The values before.
        pct_change : What changed, as a fraction.

        Examples
        --------
        >>> import pandas as pd, dask_gpuscan
        >>> pd.Series([1, 4, 9]).gpuscan.diff().tolist()
        [nan, 3.0, 5.0]
        """
        return self._neighbours(made_once(Difference, check_count("periods", periods)))

    def pct_change(
        self, periods: SupportsIndex = 1, fill_method: None = None, freq: None = None
    ) -> Obj:
        """Return the change of each row's value from the value `periods` rows before, as a fraction of the latter.

        Nulls are not filled first, as in pandas 3.

        Parameters
        ----------
        periods : int, default 1
        fill_method, freq : None
            Arguments of pandas: nothing but None is taken.

        Returns
        -------
        Series or DataFrame

        Raises
        ------
        TypeError
            If `periods` is not an integer, and for columns that cannot be divided.
        ValueError
            For another `fill_method` or `freq`, saying what to write instead.

        See Also
        --------
        diff : What changed, as a difference.

        Examples
        --------
        >>> import pandas as pd, dask_gpuscan
        >>> pd.Series([4.0, 5.0, 10.0]).gpuscan.pct_change().tolist()
        [nan, 0.25, 1.0]
        """
        for name, given, instead in (
            ("fill_method", fill_method, "fill nulls first, with ffill() or bfill()"),
            ("freq", freq, "rows are compared, not labels; divide by shift(freq=...)"),
        ):
            if given is not None:
                raise ValueError(f"{name} must be None, found {shown(given)}: {instead}")
        return self._neighbours(made_once(Difference, check_count("periods", periods), True))


class ShiftMethods(ShiftedStatistics[Obj, SeriesT, FrameT]):
    """The part of `Gpuscan` that compares a row with one at a distance."""

    def shift(
        self,
        periods: SupportsIndex = 1,
        *,
        fill_value: Any = NO_FILL,
        freq: Duration | None = None,
    ) -> Obj:
        """Return the value `periods` rows before each row, over partition borders too; or rows with other labels.

        Parameters
        ----------
        periods : int, default 1
            How many rows before; negative numbers mean rows after.
        fill_value : scalar, optional
            The value where there is no such row; by default null.
        freq : duration or rule of a calendar, optional
            Leave values where they are and move the labels of the index, which are datetimes or timedeltas, `periods`
            times so far. Known divisions move, too; by a rule of a calendar they become unknown, as several
            labels may become one.

        Returns
        -------
        Series or DataFrame
            With the rows and the index of the frame, and the dtypes of `pandas.DataFrame.shift`: NumPy's integers
            become float64 and its bool objects, unless there is a `fill_value`. Columns may be of any dtype.
            With `freq`, all values and dtypes stay.

        Raises
        ------
        TypeError
            If `periods` is not an integer, for a `fill_value` that a column cannot hold, and if labels are not times.
        ValueError
            If `freq` is neither a duration nor a rule, and for a `fill_value` with it.
        OverflowError
            At compute time, for an integer of NumPy that float64 does not hold, such as most beyond 2**53; a column of
            ``Int64`` holds it.

        See Also
        --------
        diff : What changed since.

        Notes
        -----
        A partition hands on its last `periods` rows (of each group), and only rows near a border see them.

        Examples
        --------
        >>> import pandas as pd, dask_gpuscan
        >>> x = pd.Series([1, 2, 3], index=pd.to_datetime(["2026-01-01", "2026-01-02", "2026-01-05"]))
        >>> x.gpuscan.shift(1, fill_value=0).tolist()
        [0, 1, 2]
        >>> x.gpuscan.shift(2, freq="D")
        2026-01-03    1
        2026-01-04    2
        2026-01-07    3
        dtype: int64
        """
        if freq is None:
            return super().shift(periods, fill_value=fill_value)
        if fill_value is not NO_FILL:
            raise ValueError(
                "fill_value must not be given with freq, which leaves no row without a value"
            )
        move = ShiftLabels(check_count("periods", periods), _offset(freq))
        found: Obj = run(self._obj, move) if move.periods else super().shift(0)
        return found

    def _neighbours(self, operation: NeighbourOperation) -> Any:
        return run(self._obj, ColumnOverlap(operation))


def _offset(freq: Any) -> Any:
    """Return a duration or a rule as an offset of pandas; raises a ValueError for anything else."""
    if isinstance(freq, (timedelta, np.timedelta64)):
        return pd.Timedelta(freq)
    try:
        found = None if freq == "infer" else to_offset(freq)
    except (TypeError, ValueError):
        found = None
    if found is None:
        inferred = "; give index.inferred_freq" if isinstance(freq, str) and freq == "infer" else ""
        raise ValueError(
            f"freq must be a duration or a rule of pandas such as '15min', 'D' or 'ME', found {shown(freq)}{inferred}"
        )
    return found
