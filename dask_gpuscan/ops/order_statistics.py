"""Statistics of windows that need values in order: medians, quantiles, ranks, distinct values; a table by name."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from .. import kernels
from ..frames.protocol import DType
from ..kernels import Distinct, OrderStatistic, Quantile, Rank
from .rolling import Shape, Windowed
from .statistic_inputs import VALUES, check_columns
from .surroundings import Rows

ORDER_STATISTICS: dict[str, Callable[..., OrderStatistic]] = {
    "median": lambda: Quantile(0.5, "midpoint"),
    "quantile": Quantile,
    "rank": Rank,
    "nunique": Distinct,
}
"""What makes them, given their options."""


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

    def dtype(self, columns: Sequence[Any]) -> DType:
        check_columns(self.label, columns, VALUES)
        return np.dtype(np.float64)

    def apply(self, columns: Sequence[Any], rows: Rows) -> Any:
        values, windows = rows.library.floats(columns[0]), self.shape.windows(rows)
        out = kernels.order_statistics(self.statistic, values, windows, least=self.min_periods)
        return rows.floats(out)
