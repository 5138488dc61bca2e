"""Order statistics of short windows of CuPy arrays.

The values of the shortest windows are kept sorted in registers, row by row. The others use the sorted rows of a tile.
"""

from functools import cache
from pathlib import Path
from typing import Any

import cupy
import numpy as np

from ...options import Distinct, OrderStatistic, as_numbers
from ...windows import Windows
from ..core.device_arrays import readable
from .tuning import KEPT_LONGEST, SORTED_SHAPES, TILE_SHAPES

NO_BOUNDS = np.uint64(0)
"""A null pointer."""

FOLLOWED = {
    "wavelet": ("order_answers", "wavelet_matrix"),
    "sorted_windows": ("order_answers", "window_rows"),
    "tile_windows": ("order_answers", "window_rows", "wavelet_matrix"),
}
"""The files that precede the file of a kernel."""


def source(name: str) -> str:
    """Return the source of kernels in the file of this name, with the files that precede it."""
    files = (f"{each}.cuh" for each in (*FOLLOWED[name], name))
    return "\n".join(Path(__file__).with_name(file).read_text() for file in files)


SIZES = {
    "sorted_windows": ("LANES", "SLOTS", "ITEMS", "THREADS"),
    "tile_windows": ("THREADS", "EACH", "RESIDENT"),
}
"""The names in a kernel's source of the numbers of its shape."""


def options(name: str, shape: tuple[int, ...]) -> tuple[str, ...]:
    """Return the options that compile a kernel for a shape."""
    # answers have the same bits as on CPUs, so products and sums are rounded separately
    sizes = zip(SIZES[name], shape, strict=True)
    return ("--fmad=false", *(f"-D{size}={number}" for size, number in sizes))


@cache
def _kernel(name: str, shape: tuple[int, ...]) -> Any:
    return cupy.RawKernel(source(name), name, options(name, shape))


def longest(statistic: OrderStatistic) -> int:
    """Return the most rows of a window."""
    return max(SORTED_SHAPES if isinstance(statistic, Distinct) else TILE_SHAPES)


def sorted_windows(statistic: OrderStatistic, values: Any, windows: Windows, least: int) -> Any:
    """Return an order statistic of each window; no window has more than `longest` rows."""
    count = windows.number
    out = cupy.empty(count, np.float64)
    if not count:
        return out
    shift, width = windows.around
    kind, first, second, *flags = as_numbers(statistic)
    starts, stops = [*map(readable, windows.bounds), NO_BOUNDS, NO_BOUNDS][:2]
    given = (
        readable(values),
        starts,
        stops,
        *map(np.int64, (len(values), count, shift)),
        np.int32(width),
        np.int32(kind),
        *map(np.float64, (first, second)),
        *map(np.int32, flags),
        np.int64(least),
        out,
    )
    is_kept = width <= KEPT_LONGEST or isinstance(statistic, Distinct)
    name, shapes = ("sorted_windows", SORTED_SHAPES) if is_kept else ("tile_windows", TILE_SHAPES)
    shape = shapes[next(most for most in shapes if width <= most)]
    if is_kept:
        lanes, _, items, threads = shape
        answered = threads // lanes * items
    else:
        threads, each, _ = shape
        answered = threads * each - width + 1
    _kernel(name, shape)((-(-count // answered),), (threads,), given)
    return out
