"""Order statistics of windows of CuPy arrays: in pieces, each with a wavelet matrix of the rows that it sees."""

from typing import Any

import cupy
import numpy as np

from ..options import RANKS, Distinct, OrderStatistic, Quantile
from ..sort_key import SortKey
from ..windows import Windows, pieces
from .device_arrays import readable
from .sort import sort
from .tuning import ORDER_PIECE
from .wavelet import matrix, run


def order_statistics(statistic: OrderStatistic, values: Any, windows: Windows, least: int) -> Any:
    """Return an order statistic of each window; see `kernels.order_statistics`."""
    # bounds are cut to the rows of their piece: that they never decrease is not checked, which would wait for the GPU
    found = pieces(windows, len(values), ORDER_PIECE, cupy.arange)
    out = cupy.empty(found[-1][1] if found else 0, np.float64)
    for first, last, low, high in found:
        starts, stops = windows.limits(cupy.arange(first, last), len(values))
        seen = values[low:high]
        starts, stops = ((bounds - low).clip(0, len(seen)) for bounds in (starts, stops))
        _answer(statistic, seen, starts, stops, least, out[first:last])
    return out


def _answer(
    statistic: OrderStatistic, values: Any, starts: Any, stops: Any, least: int, out: Any
) -> None:
    """Write the answers of the windows of a piece."""
    present, without = cupy.isfinite(values), None
    if not bool(present.all()):
        before = cupy.zeros(len(values) + 1, np.int64)
        before[1:] = cupy.cumsum(present, dtype=np.int64)
        without = before[stops] == before[cupy.maximum(stops - 1, 0)]
        values, starts, stops = values[present], before[starts], before[stops]
    if not len(values):
        out[...] = 0.0 if isinstance(statistic, Distinct) and least < 1 else np.nan
        return
    values = readable(values)
    if isinstance(statistic, Distinct):
        out[...] = _distinct(values, starts, stops, least)
        return
    order, count = matrix(values), len(out)
    bounds, ends = (starts, stops, np.uint64(count)), (np.int64(least), out)
    if isinstance(statistic, Quantile):
        asked = np.float64(statistic.q), np.int32(statistic.way)
        run("quantiles", count, *order.levels(), order.distinct, *bounds, *asked, *ends)
        return
    added, share = map(np.float64, RANKS[statistic.method])
    flags = np.int32(statistic.ascending), np.int32(statistic.pct)
    run("ranks", count, *order.levels(), order.codes, *bounds, added, share, *flags, *ends)
    if without is not None:  # windows end with a row without value
        out[without] = np.nan


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
