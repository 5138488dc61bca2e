"""What ``.gpuscan.rolling()`` returns: windows of a number of rows or of a duration, waiting for a statistic."""

from __future__ import annotations

from collections.abc import Callable, Hashable
from typing import Any, SupportsIndex, overload

import pandas as pd

from ...engines.run import meta_of
from ...frames.registry import library_of, names_of
from ...kernels import Operator
from ...kernels.messages import shown
from ...kernels.scalars import is_integer
from ...ops.core.operation import Part
from ...ops.core.plans import PLAIN, made_once, shared_plans, signature_of
from ...ops.statistics.table import ORDER_STATISTICS, WINDOWS
from ...ops.time.time_column import TimeColumn
from ...ops.windows.order_statistics import RollingOrder
from ...ops.windows.rolling import RollingOperator, RollingStatistic, RowShape, Shape, TimeShape
from ..arguments import (
    check_choice,
    check_column,
    check_duration,
    check_flags,
    check_inputs,
    check_operator,
)
from ..types import Closed, Duration, FrameT, Methods, Obj, SeriesT
from .arguments import MOST_ROWS, check_periods, is_usual
from .statistics import WindowStatistics
from .windows import FrameNeighbours, Rows

CLOSED = ("right", "left", "both", "neither")


class RollingMethods(Methods[Obj, SeriesT, FrameT]):
    """The part of `Gpuscan` and `GroupBy` that makes rolling windows."""

    _IN_GROUPS = False
    """Whether windows are of the rows of groups, rather than of a frame."""
    _NEIGHBOURS: Callable[..., Rows] = FrameNeighbours

    def rolling(
        self,
        window: SupportsIndex | Duration,
        min_periods: SupportsIndex | None = None,
        center: bool = False,
        on: Hashable = None,
        closed: Closed | None = None,
    ) -> Rolling[Obj, SeriesT, FrameT]:
        """Return windows around each row, of groups of rows of its group, of a number of rows or of a duration.

        Parameters
        ----------
        window : int or duration
            A number of rows; or a duration, as a string such as "30min", a timedelta or a fixed offset. The
            times of windows of a duration are in the index, or in the column `on`: dates or timedeltas that do
            not decrease.
        min_periods : int, optional
            Windows with fewer values are null; by default `window`, and 1 for a duration.
        center : bool, default False
            Whether rows are in the middle of their windows, rather than at the end.
        on : name, optional
            The column of times, which stays as it is.
        closed : {"right", "left", "both", "neither"}, optional
            Which ends belong to a window; by default the right one.

        Returns
        -------
        Rolling
            Its windows reach over partition borders. Answers, of groups too, have the rows, the order and the index of
            the frame, so they can be columns of it; those of pandas are ordered by group.

        Raises
        ------
        TypeError
            For flags that are not bool, and for windows of a duration if there are no times.
        ValueError
            For a window that is not positive, and for other wrong arguments; at compute time, for times that
            are null or decrease, naming the partition.

        See Also
        --------
        expanding : Windows of all rows so far.

        Notes
        -----
        A partition hands on its last rows, as many as a window reaches (the *halo*). Two neighbours join theirs
        and cut them to as many again, so windows may be longer than partitions. Inside a partition a statistic
        costs about
        three combinations a row, whatever the window; nothing is ever subtracted (see `kernels.rolling`).

        Examples
        --------
        >>> import pandas as pd, dask_gpuscan
        >>> x = pd.Series([1.0, 2.0, 4.0, 8.0])
        >>> x.gpuscan.rolling(2).sum().tolist()
        [nan, 3.0, 6.0, 12.0]
        >>> x.gpuscan.rolling(3, min_periods=1, center=True).max().tolist()
        [2.0, 4.0, 8.0, 8.0]
        >>> df = pd.DataFrame({"k": list("abaa"), "x": [1.0, 2.0, 3.0, 5.0]})
        >>> df.gpuscan.groupby("k")["x"].rolling(2).sum().tolist()
        [nan, nan, 4.0, 8.0]
        """
        if on is None and isinstance(window, int):  # which asks nothing of the frame
            found = made_once(window_shape, None, window, min_periods, center, None, closed)
        else:
            found = _shape_once(meta_of(self._obj), window, min_periods, center, on, closed)
        rows = self._NEIGHBOURS(self if self._IN_GROUPS else self._obj, on)
        return Rolling(rows, *found)


def _shape_once(meta: Any, window: Any, *given: Any) -> tuple[Shape, int]:
    """Return what `window_shape` does, found once for usual durations and frames of the same labels and dtypes."""
    dtypes = library_of(meta).index_dtypes(meta)
    is_key = is_usual(window) and PLAIN.issuperset(map(type, given))
    if not is_key or [dtype for dtype in dtypes if hasattr(dtype, "categories")]:
        return window_shape(meta, window, *given)
    plans, key = shared_plans(signature_of(meta), (), "windows", *dtypes), (window, repr(given))
    found: tuple[Shape, int] | None = plans.get(key)
    return plans.store(key, window_shape(meta, window, *given)) if found is None else found


def window_shape(
    meta: Any, window: Any, min_periods: Any, center: Any, on: Hashable, closed: Any
) -> tuple[Shape, int]:
    """Return which rows windows have, and how many observations they need; raises for wrong arguments."""
    check_flags(center=center)
    check_choice("closed", closed, (*CLOSED, None))
    if on is not None:
        if meta.ndim == 1:
            raise TypeError(f"on is for DataFrames, found {shown(on)} for a Series")
        check_column("on", on, names_of(meta))
    least = None if min_periods is None else check_periods(min_periods)
    left, right = closed in ("left", "both"), closed in ("right", "both", None)
    if is_integer(window) and window > 0:
        if least is not None and least > window:
            raise ValueError(f"min_periods must be at most the window, {window}, found {least}")
        rows = min(int(window), MOST_ROWS)
        ahead = (rows - 1) // 2 if center else 0
        shape = RowShape(rows - 1 - ahead + left, ahead - (not right))
        return shape, rows if least is None else least
    accepted = "a positive number of rows, or a positive duration such as '30min'"
    length = check_duration("window", window, accepted, pd.Timedelta(1, "ns"))
    time_column = TimeColumn(on)
    time_column.check(meta)
    unit = time_column.unit(meta) * (2 if center else 1)
    most, less = length // unit, -(-length // unit) - 1
    back = most if left else less
    if center:
        return TimeShape(time_column, back, most if right else less), 1 if least is None else least
    return TimeShape(time_column, back, itself=right), 1 if least is None else least


class Rolling(WindowStatistics[Obj, SeriesT, FrameT]):
    """Windows around each row; see `Gpuscan.rolling`."""

    _label = "rolling"

    def __init__(self, rows: Rows, shape: Shape, min_periods: int) -> None:
        self._rows, self._shape, self._min_periods = rows, shape, min_periods

    def __repr__(self) -> str:
        return f"<Rolling {self._shape} min_periods={self._min_periods}>"

    @overload
    def __getitem__(self, columns: list[Any]) -> Rolling[FrameT, SeriesT, FrameT]: ...
    @overload
    def __getitem__(self, columns: Hashable) -> Rolling[SeriesT, SeriesT, FrameT]: ...
    def __getitem__(self, columns: Any) -> Rolling[Any, SeriesT, FrameT]:
        """Return the same windows of one column, by its name, or of several, by a list of names."""
        return self._of(columns)

    def _operation(self, name: str, **options: Any) -> RollingStatistic | RollingOrder:
        shape, least = self._shape, self._min_periods
        if name in WINDOWS:
            given = tuple(options.items())
            key = name, least, given
            found: RollingStatistic | None = shape.plans.get(key)
            return found or shape.plans.store(key, RollingStatistic(name, shape, least, given))
        statistic = ORDER_STATISTICS[name](**options)
        return RollingOrder(f"{self._label}-{name}", statistic, shape, least)

    def apply(self, func: Operator) -> Obj | SeriesT:
        """Return the elements of each window, combined by an operator: `scan`, by the name that pandas has.

        Parameters
        ----------
        func : Operator
            Make one of what is done to two elements or states, with `dask_gpuscan.operator`. A function of whole
            windows, as pandas takes it, is refused: it would be called for each row and see other partitions.

        Returns
        -------
        Series or DataFrame
            As from `scan`.

        Raises
        ------
        TypeError
            If `func` is not an operator, or does not take the columns.

        See Also
        --------
        scan : The same, with more about windows.
        operator : Make an operator.

        Examples
        --------
        The spread of the last three values, whose state is the smallest and the largest one:

        >>> import pandas as pd, dask_gpuscan
        >>> spread = dask_gpuscan.operator(
        ...     lambda a, b: (min(a[0], b[0]), max(a[1], b[1])),
        ...     identity=(float("inf"), -float("inf")),
        ...     lift=lambda x: (x, x),
        ...     lower=lambda s: s[1] - s[0],
        ... )
        >>> pd.Series([3.0, 1.0, 2.0, 9.0]).gpuscan.rolling(3).apply(spread).tolist()
        [nan, nan, 2.0, 8.0]
        """
        if not isinstance(func, Operator):
            raise TypeError(
                f"func must be an operator made by dask_gpuscan.operator, found {shown(func)}; write what it does to "
                f"two states as combine, or use a method such as mean, quantile or rank"
            )
        return self.scan(func)

    def scan(self, op: Operator) -> Obj | SeriesT:
        """Return the elements of each window, combined by an operator.

        Parameters
        ----------
        op : Operator
            One made by `dask_gpuscan.operator`, or a built-in one. With several inputs, it takes all columns.

        Returns
        -------
        Series or DataFrame
            As from `Gpuscan.scan`; null where a window has fewer than `min_periods` values, so dtypes have a
            null unless `min_periods` is 0. Nulls are left out of windows.

        Raises
        ------
        TypeError
            If `op` is not an operator, or does not take the columns.

        See Also
        --------
        operator : Make an operator.
        Gpuscan.scan : Combine all rows so far.

        Notes
        -----
        About three combinations a row, whatever the window; the elements of a window are combined in their order.

        Examples
        --------
        >>> import pandas as pd, dask_gpuscan
        >>> pd.Series([3, 1, 2, 5]).gpuscan.rolling(2, min_periods=0).scan(dask_gpuscan.bitwise_or).tolist()
        [3, 3, 3, 7]
        """
        check_operator(op)
        operation, rows = RollingOperator(op, self._shape, self._min_periods), self._rows
        if op.inputs == 1:
            return rows.each(operation, False)
        names = rows.names()
        check_inputs(op, len(names))
        return rows.parts(operation.label, [Part(None, tuple(names), operation)], True)
