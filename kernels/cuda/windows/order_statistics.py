"""Order statistics of windows of CuPy arrays: long windows are answered in pieces, each with a wavelet matrix.

The matrix holds the places of values among the distinct ones: see `kernels.cpu.windows.order_statistics`.
"""

from functools import lru_cache
from typing import Any, NamedTuple

import cupy
import numpy as np

from ...options import RANKS, Distinct, OrderStatistic, Quantile, SortKey
from ...windows import BoundWindows, Windows, pieces
from ..core.device_arrays import readable
from ..sort.permute import put
from ..sort.sort import sort
from .sorted_windows import longest, sorted_windows, source
from .tuning import ORDER_PIECE

THREADS = 256
"""Threads of a block; each has one row, or one window."""


class Matrix(NamedTuple):
    """The order of values."""

    codes: Any
    """The place of each row's value among the distinct values, as uint32."""
    distinct: Any
    """The distinct values, in order."""

    def levels(self) -> tuple[Any, Any, np.uint64, np.int32]:
        """Return the arguments of kernels: words, zeros of each level, words of a level, and the number of levels."""
        rows, count = len(self.codes), max(len(self.distinct) - 1, 0).bit_length()
        stride = rows // 32 + 1
        words = cupy.empty((count, stride), np.uint64)
        zeros, counts = cupy.empty(count, np.uint64), cupy.empty(stride, np.uint32)
        codes, buffers = self.codes, [cupy.empty_like(self.codes) for _ in range(min(count, 2))]
        for level in range(count):
            asked = codes, np.uint64(rows), np.int32(count - 1 - level)
            run("count_zeros", rows + 1, *asked, counts)
            before, parted = cupy.cumsum(counts, dtype=np.uint32), buffers[level % 2]
            run("part_rows", rows + 1, *asked, before, words[level], zeros[level:], parted)
            codes = parted
        return words, zeros, np.uint64(stride), np.int32(count)


def matrix(values: Any) -> Matrix:
    """Return the order of values without NaN."""
    ordered, rows = sort([SortKey(values)], [values], None, positions=True)
    is_first = cupy.ones(len(ordered), bool)
    is_first[1:] = ordered[1:] != ordered[:-1]
    places = cupy.cumsum(is_first, dtype=np.uint32) - np.uint32(1)
    # 0.0 and -0.0 are the same value; adding 0.0 makes both 0.0
    return Matrix(put(places, rows), ordered[is_first] + 0.0)


def run(name: str, threads: int, *given: Any) -> None:
    """Launch a kernel with at least this many threads."""
    if threads > 0:
        _kernel(name)((-(-threads // THREADS),), (THREADS,), given)


@lru_cache(maxsize=8)
def _kernel(name: str) -> Any:
    # answers have the same bits as on CPUs, so products and sums are rounded separately
    return cupy.RawKernel(source("wavelet"), name, ("--fmad=false",))


def order_statistics(statistic: OrderStatistic, values: Any, windows: Windows, least: int) -> Any:
    """Return an order statistic of each window; see `kernels.order_statistics`."""
    most = longest(statistic)
    if windows.around[1] > most and isinstance(windows, BoundWindows):
        windows = windows.tightened(len(values), cupy.arange)
    if windows.around[1] <= most:
        return sorted_windows(statistic, values, windows, least)
    # bounds are clipped to the rows of their piece; checking that they never decrease would wait for the GPU
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
    if without is not None:  # windows that end with a row without a value
        out[without] = np.nan


def _distinct(values: Any, starts: Any, stops: Any, least: int) -> Any:
    """Return the number of distinct values in each window.

    A row is not counted in a window that also has the previous row with the same value. These are all windows from the
    first one with the row to the last one with the previous row.
    """
    ordered, rows = sort([SortKey(values)], [values], None, positions=True)
    windows = len(starts)
    again = cupy.zeros(windows + 1, np.int64)
    given = ordered, rows, np.uint64(len(rows)), starts, stops, np.uint64(windows), again
    run("count_again", len(rows) - 1, *given)
    found = stops - starts
    return cupy.where(found >= least, found - cupy.cumsum(again)[:windows], np.nan)
