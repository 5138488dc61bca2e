"""Statistics of windows that need values in order: medians, quantiles, ranks, distinct values."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from ... import kernels
from ...frames.registry import library_of, stored_numbers
from ...frames.types import Column, DType, GroupIds, Values
from ...kernels import Distinct, Rank
from ...kernels.late_dataclass import dataclass
from ...kernels.options import OrderStatistic
from ..scan.overflow import are_exact
from ..statistics.inputs import VALUES, check_columns, holds_integers
from ..statistics.table import ORDER_STATISTICS
from .exact import ExactMean, holds_times, median_of_times
from .rolling import Shape, Windowed
from .surroundings import WindowRows

_MEDIAN = ORDER_STATISTICS["median"]()


@dataclass(frozen=True)
class RollingOrder(Windowed):
    """An order statistic of the rows in each window.

    Parameters
    ----------
    label : str
        For the names of tasks, and messages.
    statistic : OrderStatistic
    shape : Shape
    min_periods : int
        Observations that a window needs, else its answer is null.
    """

    label: str
    statistic: OrderStatistic
    shape: Shape
    min_periods: int

    def takes_group_ids(self, codes: GroupIds) -> bool:
        return False

    def dtype(self, columns: Sequence[Column]) -> DType:
        if self._is_median_of_times(columns[0]):
            return ExactMean().dtype(columns[0])
        check_columns(self.label, columns, VALUES)
        return np.dtype(np.float64)

    def _is_median_of_times(self, column: Column) -> bool:
        return self.statistic == _MEDIAN and holds_times(column)

    def apply(self, columns: Sequence[Column], rows: WindowRows) -> Any:
        (column,), windows = columns, self.shape.windows(rows)
        if self._is_median_of_times(column):
            return rows.returned(median_of_times(column, windows, self.min_periods))
        values = rows.library.floats(column)
        if isinstance(self.statistic, (Rank, Distinct)) and holds_integers(column):
            values = _apart(column, values)
        out = kernels.order_statistics(self.statistic, values, windows, least=self.min_periods)
        return rows.floats(out)


def _apart(column: Column, floats: Values) -> Values:
    """Return numbers that compare like the integers of a column, even if different ones are equal as floats.

    NaN stays where it is.
    """
    integers = stored_numbers(column)
    if integers.dtype.itemsize < 8 or are_exact(integers):
        return floats
    _, ranks = library_of(column).xp.unique(integers, return_inverse=True)
    floats[~np.isnan(floats)] = ranks[~np.isnan(floats)]
    return floats
