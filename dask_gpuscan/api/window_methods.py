"""What ``.gpuscan.ewm()`` and ``.gpuscan.expanding()`` return: windows that grow, waiting for a statistic.

Arguments are checked here as pandas checks them; the arithmetic is in `windows`.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from numbers import Real
from typing import Any

import pandas as pd

from ..graph.lookback import look_back
from ..kernels import Operator
from ..ops.columnwise import ColumnCarry
from ..ops.windows import COUNT, EWM, MAX, MEAN, MIN, SUM, Window, variance
from .arguments import check_ddof


class WindowMethods:
    """The part of `Gpuscan` that makes windows."""

    _obj: Any

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
        options = (com, span, halflife, alpha, min_periods, adjust, ignore_na)
        return Ewm(self._look_back, *options)

    def expanding(self, min_periods: int = 1) -> Expanding:
        """Return windows of all rows so far; arguments as for `pandas.DataFrame.expanding`.

        Examples
        --------
        >>> import pandas as pd, dask_gpuscan
        >>> pd.Series([1.0, 2.0, 6.0]).gpuscan.expanding().mean().tolist()
        [1.0, 1.5, 3.0]
        """
        return Expanding(self._look_back, min_periods)

    def _look_back(self, window: Window) -> Any:
        return look_back(self._obj, ColumnCarry(window))


class Expanding:
    """All rows so far, for each row; see `Gpuscan.expanding`."""

    def __init__(self, run: Callable[[Window], Any], min_periods: int | None) -> None:
        pd.Series([], dtype=float).expanding(min_periods)  # pandas says what is wrong with it
        self._run = run
        self._min_periods = int(min_periods or 0)

    def __repr__(self) -> str:
        return f"<Expanding min_periods={self._min_periods}>"

    def _statistic(self, name: str, op: Operator, every_row: bool = False) -> Any:
        return self._run(Window(f"expanding-{name}", op, self._min_periods, every_row=every_row))

    def sum(self) -> Any:
        """Return the running sum as float64, null before there are `min_periods` values."""
        return self._statistic("sum", SUM)

    def mean(self) -> Any:
        """Return the running mean."""
        return self._statistic("mean", MEAN)

    def var(self, ddof: int = 1) -> Any:
        """Return the running variance, divided by the number of values less `ddof`."""
        return self._statistic("var", variance(check_ddof(ddof), root=False))

    def std(self, ddof: int = 1) -> Any:
        """Return the running standard deviation."""
        return self._statistic("std", variance(check_ddof(ddof), root=True))

    def min(self) -> Any:
        """Return the running minimum."""
        return self._statistic("min", MIN)

    def max(self) -> Any:
        """Return the running maximum."""
        return self._statistic("max", MAX)

    def count(self) -> Any:
        """Return the running number of values that are not null, as float64."""
        return self._statistic("count", COUNT, every_row=True)


class Ewm:
    """Exponentially weighted rows so far, for each row; see `Gpuscan.ewm`."""

    def __init__(
        self,
        run: Callable[[Window], Any],
        com: float | None,
        span: float | None,
        halflife: float | None,
        alpha: float | None,
        min_periods: int | None,
        adjust: bool,
        ignore_na: bool,
    ) -> None:
        if halflife is not None and not isinstance(halflife, Real):
            raise ValueError(f"halflife must be a number of rows, found {halflife!r}")
        given = {"com": com, "span": span, "halflife": halflife, "alpha": alpha}
        rest = {"min_periods": min_periods, "adjust": adjust, "ignore_na": ignore_na}
        pd.Series([], dtype=float).ewm(**given, **rest)  # pandas says what is wrong with them
        if com is not None:
            alpha = 1.0 / (1.0 + com)
        elif span is not None:
            alpha = 2.0 / (span + 1.0)
        elif halflife is not None:
            alpha = 1.0 - math.exp(-math.log(2.0) / halflife)
        assert alpha is not None
        self._run = run
        self._decay = 1.0 - alpha
        self._min_periods = max(int(min_periods or 0), 1)
        self._op = EWM[bool(adjust), bool(ignore_na)]
        self._options = {"alpha": alpha, **rest}

    def __repr__(self) -> str:
        return f"<Ewm {' '.join(f'{name}={value}' for name, value in self._options.items())}>"

    def mean(self) -> Any:
        """Return the exponentially weighted moving average.

        Examples
        --------
        >>> import pandas as pd, dask_gpuscan
        >>> pd.Series([1.0, None, 3.0]).gpuscan.ewm(alpha=0.5).mean().tolist()
        [1.0, 1.0, 2.6]
        """
        return self._run(Window("ewm-mean", self._op, self._min_periods, self._decay))
