"""Order statistics of windows of CuPy arrays: one wavelet matrix of all rows, which each window is followed down."""

from typing import Any

import cupy
import numpy as np

from ..options import RANKS, Distinct, OrderStatistic, Quantile, Rank
from ..sort_key import SortKey
from ..windows import BoundWindows, Windows
from .device_arrays import readable
from .sort import sort
from .wavelet import Matrix, matrix, run

CHUNK = 1 << 24
"""Windows whose bounds are in memory together."""


def order_statistics(statistic: OrderStatistic, values: Any, windows: Windows, least: int) -> Any:
    """Return an order statistic of each window; see `kernels.order_statistics`."""
    count: Any = len(windows.starts) if isinstance(windows, BoundWindows) else windows.count
    rows, present = len(values), cupy.isfinite(values)
    before = None  # how many values there are before each row, if any is missing
    if not bool(present.all()):
        before = cupy.zeros(rows + 1, np.int64)
        before[1:] = cupy.cumsum(present, dtype=np.int64)
        values = values[present]
    if not count or not len(values):
        return cupy.full(count, 0.0 if isinstance(statistic, Distinct) and least < 1 else np.nan)
    values = readable(values)
    if isinstance(statistic, Distinct):
        starts, stops = windows.bounds(cupy.arange(count), rows)
        if before is not None:
            starts, stops = before[starts], before[stops]
        return _distinct(values, starts, stops, least)
    order, out = matrix(values), cupy.empty(count, np.float64)
    levels = order.levels()
    for first in range(0, count, CHUNK):
        answers = out[first : first + CHUNK]
        starts, stops = windows.bounds(cupy.arange(first, first + len(answers)), rows)
        without = None
        if before is not None:
            without = before[stops] == before[cupy.maximum(stops - 1, 0)]
            starts, stops = before[starts], before[stops]
        _ask(statistic, order, levels, starts, stops, least, answers)
        if isinstance(statistic, Rank) and without is not None:
            answers[without] = np.nan
    return out


def _ask(
    statistic: Quantile | Rank,
    order: Matrix,
    levels: tuple[Any, ...],
    starts: Any,
    stops: Any,
    least: int,
    out: Any,
) -> None:
    """Write the answers of some windows."""
    count = len(out)
    bounds, ends = (starts, stops, np.uint64(count)), (np.int64(least), out)
    if isinstance(statistic, Quantile):
        asked = np.float64(statistic.q), np.int32(statistic.way)
        run("quantiles", count, *levels, order.distinct, *bounds, *asked, *ends)
    else:
        added, share = map(np.float64, RANKS[statistic.method])
        flags = np.int32(statistic.ascending), np.int32(statistic.pct)
        run("ranks", count, *levels, order.codes, *bounds, added, share, *flags, *ends)


def _distinct(values: Any, starts: Any, stops: Any, least: int) -> Any:
    """Return how many values differ in each window.

    Rows that have the value of an earlier one are not counted: in each window that has a row and the next row of the
    same value, the latter. These are all windows from the first that has the latter to the last that has the former.
    """
    ordered, rows = sort([SortKey(values)], [values], None, positions=True)
    windows = len(starts)
    again = cupy.zeros(windows + 1, np.int64)
    given = ordered, rows, np.uint64(len(rows)), starts, stops, np.uint64(windows), again
    run("count_again", len(rows) - 1, *given)
    found = stops - starts
    return cupy.where(found >= least, found - cupy.cumsum(again)[:windows], np.nan)
