"""Order statistics of short windows of CuPy arrays: their values are kept in order in registers, row by row."""

from functools import cache
from pathlib import Path
from typing import Any

import cupy
import numpy as np

from ...options import RANKS, Distinct, OrderStatistic, Quantile
from ...windows import Windows
from ..core.device_arrays import readable
from .tuning import SORTED_ITEMS, SORTED_RUN, SORTED_THREADS

OF_THREAD, OF_WARP = (4, 8, 16, 32), (2, 4, 8)
"""Values that a thread keeps of its own windows, and that each lane of a warp keeps of a window of all."""

LONGEST = 32 * OF_WARP[-1]
"""Rows of a window at most."""

NO_BOUNDS = np.uint64(0)
"""A pointer to nothing."""

SOURCES = tuple(
    Path(__file__).with_name(name) for name in ("order_answers.cuh", "sorted_windows.cuh")
)


def source() -> str:
    """Return the source of the kernels."""
    return "\n".join(path.read_text() for path in SOURCES)


def options(slots: int, by_thread: bool) -> tuple[str, ...]:
    """Return how a kernel is compiled."""
    sizes = {"SLOTS": slots, "THREADS": SORTED_THREADS}
    if by_thread:
        sizes["ITEMS"] = SORTED_ITEMS
    # the answers are those of CPUs bit by bit, so products and sums are rounded one by one
    return ("--fmad=false", *(f"-D{name}={size}" for name, size in sizes.items()))


def name_of(by_thread: bool) -> str:
    """Return the name of a kernel."""
    return "windows_of_threads" if by_thread else "windows_of_warps"


@cache
def _kernel(slots: int, by_thread: bool) -> Any:
    return cupy.RawKernel(source(), name_of(by_thread), options(slots, by_thread))


def sorted_windows(statistic: OrderStatistic, values: Any, windows: Windows, least: int) -> Any:
    """Return an order statistic of each window, of which none has more than `LONGEST` rows."""
    count = windows.number
    out = cupy.empty(count, np.float64)
    if not count:
        return out
    shift, width = windows.around
    by_thread = width <= OF_THREAD[-1]
    kept = OF_THREAD if by_thread else OF_WARP
    slots = next(each for each in kept if width <= each * (1 if by_thread else 32))
    run = SORTED_ITEMS if by_thread else min(max(count // SORTED_RUN[1], width), SORTED_RUN[0])
    threads = -(-count // run) * (1 if by_thread else 32)
    values, bounds = readable(values), [readable(each) for each in windows.bounds]
    starts, stops = [*bounds, NO_BOUNDS, NO_BOUNDS][:2]
    given = (
        values,
        starts,
        stops,
        *map(np.int64, (len(values), count, shift)),
        *map(np.int32, (width, run)),
        *_asked(statistic),
        np.int64(least),
        out,
    )
    grid = (-(-threads // SORTED_THREADS),)
    _kernel(slots, by_thread)(grid, (SORTED_THREADS,), given)
    return out


def _asked(statistic: OrderStatistic) -> tuple[Any, ...]:
    """Return what kernels know of a statistic."""
    kind, first, second, way, ascending, pct = 2, 0.0, 0.0, 0, False, False
    if isinstance(statistic, Quantile):
        kind, first, way = 0, statistic.q, statistic.way
    elif not isinstance(statistic, Distinct):
        kind, (first, second) = 1, RANKS[statistic.method]
        ascending, pct = statistic.ascending, statistic.pct
    return (
        np.int32(kind),
        *map(np.float64, (first, second)),
        *map(np.int32, (way, ascending, pct)),
    )
