"""Order statistics of short windows of CuPy arrays: their values are kept in order in registers, row by row."""

from functools import cache
from pathlib import Path
from typing import Any

import cupy
import numpy as np

from ...options import OrderStatistic, as_numbers
from ...windows import Windows
from ..core.device_arrays import readable
from .tuning import SORTED_SHAPES, SORTED_THREADS

LONGEST = max(SORTED_SHAPES)
"""Rows of a window at most."""

NO_BOUNDS = np.uint64(0)
"""A pointer to nothing."""


def source(name: str) -> str:
    """Return the source of kernels in the file of this name, after what they answer."""
    files = (f"{each}.cuh" for each in ("order_answers", name))
    return "\n".join(Path(__file__).with_name(file).read_text() for file in files)


def options(lanes: int, slots: int, items: int) -> tuple[str, ...]:
    """Return how the kernel is compiled for windows that are kept by so many lanes."""
    sizes = {"LANES": lanes, "SLOTS": slots, "ITEMS": items, "THREADS": SORTED_THREADS}
    # the answers are those of CPUs bit by bit, so products and sums are rounded one by one
    return ("--fmad=false", *(f"-D{name}={size}" for name, size in sizes.items()))


@cache
def _kernel(lanes: int, slots: int, items: int) -> Any:
    return cupy.RawKernel(source("sorted_windows"), "sorted_windows", options(lanes, slots, items))


def sorted_windows(statistic: OrderStatistic, values: Any, windows: Windows, least: int) -> Any:
    """Return an order statistic of each window, of which none has more than `LONGEST` rows."""
    count = windows.number
    out = cupy.empty(count, np.float64)
    if not count:
        return out
    shift, width = windows.around
    lanes, slots, items = SORTED_SHAPES[next(most for most in SORTED_SHAPES if width <= most)]
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
    blocks = -(-count // (SORTED_THREADS // lanes * items))
    _kernel(lanes, slots, items)((blocks,), (SORTED_THREADS,), given)
    return out
