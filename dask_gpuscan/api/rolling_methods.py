"""What ``.gpuscan.rolling()`` returns: windows of a number of rows or of a duration, waiting for a statistic."""

from __future__ import annotations

from collections.abc import Callable, Hashable
from typing import Any

import numpy as np

from ..frames.messages import name_list
from ..frames.registry import names_of
from ..graph.lookaround import look_around
from ..graph.lookback import meta_of
from ..ops.clock import Clock, duration
from ..ops.rolling import (
    RollingColumns,
    RollingLibrary,
    RollingOperator,
    RollingStatistic,
    RowShape,
    Shape,
    TimeShape,
)
from ..ops.surroundings import JointHalo, NeighbourOperation
from .arguments import check_choice, check_count, check_flags, check_operator

CLOSED = ("right", "left", "both", "neither")


class RollingMethods:
    """The part of `Gpuscan` that makes rolling windows."""

    _obj: Any

    def rolling(
        self,
        window: Any,
        min_periods: int | None = None,
        center: bool = False,
        on: Hashable = None,
        closed: str | None = None,
    ) -> Rolling:
        """Return windows around each row, over partition borders too, of a number of rows or of a duration.

        Parameters
        ----------
        window : int or duration
            How many rows, or how long: a string such as "30min", a timedelta or a fixed offset. Windows of a
            duration are measured by the index, or by the column `on`: dates or timedeltas that do not decrease.
        min_periods : int, optional
            Observations that a window needs for an answer; by default all rows of a window, and one of a duration.
        center : bool, default False
            Whether windows lie around their rows, rather than end with them.
        on : name, optional
            The column of times, which stays as it is.
        closed : {"right", "left", "both", "neither"}, optional
            Which ends belong to a window; by default the right one.

        Returns
        -------
        Rolling

        Raises
        ------
        TypeError
            For flags that are none, and for windows of a duration without times to measure them by.
        ValueError
            For a window that is not positive, and other bad arguments; when it is computed, for times that
            are null or decrease, with the number of the partition.

        See Also
        --------
        expanding : Windows of all rows so far.

        Notes
        -----
        A partition hands on its last rows, as many as a window reaches (the *halo*); two neighbours join theirs and cut
        them to as many again, so windows may be longer than partitions. Inside a partition a statistic costs about
        three combinations a row, whatever the window; nothing is ever subtracted (see `kernels.rolling`).

        Examples
        --------
        >>> import pandas as pd, dask_gpuscan
        >>> x = pd.Series([1.0, 2.0, 4.0, 8.0])
        >>> x.gpuscan.rolling(2).sum().tolist()
        [nan, 3.0, 6.0, 12.0]
        >>> x.gpuscan.rolling(3, min_periods=1, center=True).max().tolist()
        [2.0, 4.0, 8.0, 8.0]
        """
        meta = meta_of(self._obj)
        shape, least = window_shape(meta, window, min_periods, center, on, closed)

        def run(operation: NeighbourOperation, joint: bool, numeric_only: bool) -> Any:
            if joint:
                obj = self._obj
                if on is not None:
                    raise TypeError(
                        "on: an operator of several inputs takes all columns of a frame"
                    )
                return look_around(obj, JointHalo(operation))
            return look_around(self._obj, RollingColumns(operation, numeric_only, on))

        return Rolling(run, shape, least)


def window_shape(
    meta: Any, window: Any, min_periods: Any, center: Any, on: Hashable, closed: Any
) -> tuple[Shape, int]:
    """Return which rows windows have, and how many observations they need; raises what is wrong with the arguments."""
    check_flags(center=center)
    check_choice("closed", closed, (*CLOSED, None))
    if on is not None:
        if meta.ndim == 1:
            raise TypeError(f"on is for DataFrames, found {on!r} for a Series")
        if names_of(meta).count(on) != 1:
            raise ValueError(
                f"on must name one column, found {on!r} among {name_list(names_of(meta))}"
            )
    least = None if min_periods is None else check_count("min_periods", min_periods)
    if least is not None and least < 0:
        raise ValueError(f"min_periods must not be negative, found {min_periods!r}")
    left, right = closed in ("left", "both"), closed in ("right", "both", None)
    if isinstance(window, (int, np.integer)) and not isinstance(window, (bool, np.timedelta64)):
        if window < 1:
            raise ValueError(
                f"window must be a positive number of rows, or a positive duration, found {window!r}"
            )
        if least is not None and least > window:
            raise ValueError(f"min_periods must be at most the window, {window}, found {least}")
        ahead = (int(window) - 1) // 2 if center else 0
        shape = RowShape(int(window) - 1 - ahead + left, ahead - (not right))
        return shape, int(window) if least is None else least
    nanoseconds = duration("window", window)
    clock = Clock(on)
    clock.check(meta)
    unit = clock.nanoseconds(meta) * (2 if center else 1)
    most, less = nanoseconds // unit, -(-nanoseconds // unit) - 1
    back = most if left else less
    if center:
        return TimeShape(clock, back, most if right else less), 1 if least is None else least
    return TimeShape(clock, back, itself=right), 1 if least is None else least


Run = Callable[[NeighbourOperation, bool, bool], Any]


class Rolling:
    """Windows around each row; see `Gpuscan.rolling`."""

    def __init__(self, run: Run, shape: Shape, min_periods: int) -> None:
        self._run, self._shape, self._min_periods = run, shape, min_periods

    def _statistic(self, name: str, numeric_only: bool = False, **options: Any) -> Any:
        made = RollingStatistic(name, self._shape, self._min_periods, tuple(options.items()))
        return self._run(made, False, numeric_only)

    def _library(self, name: str, numeric_only: bool, **options: Any) -> Any:
        made = RollingLibrary(name, self._shape, self._min_periods, tuple(options.items()))
        return self._run(made, False, numeric_only)

    def sum(self, numeric_only: bool = False) -> Any:
        """Return the sum of each window."""
        return self._statistic("sum", numeric_only)

    def scan(self, op: Any) -> Any:
        """Return the elements of each window, combined by an operator: your own, or a built-in one."""
        check_operator(op)
        made = RollingOperator(op, self._shape, self._min_periods)
        return self._run(made, op.inputs > 1, False)
