"""Intervals of CuPy arrays: counts are added up by chunk, the sums are scanned, and items are copied in one pass."""

from typing import Any

import cupy
import numpy as np

from ...arrays import MOST, check_size
from ...operators.operator import operator
from ...options import Intervals, ScanOptions
from ..core import launch
from ..core.device_arrays import readable
from ..core.plan import Extent, PlainPass
from ..scan.scan import scan
from .interval_pass import CHUNK, IntervalPass, IntervalSumsPass

ADDED = operator(
    lambda a, b: -1 if a < 0 or b < 0 else a + b if b <= MOST - a else MOST,
    identity=0,
    name="counts of intervals",
)
"""Adds sums of counts, up to MOST. A sum is -1 if one of the two is: a count or an offset is wrong."""


def intervals(counts: Any, gather: Any, scatter: Any, lengths: tuple[int, int]) -> Intervals:
    """Return intervals, checked and added up; see `backends.Backend.intervals`."""
    counts, gather, scatter = (
        None if a is None else readable(a) for a in (counts, gather, scatter)
    )
    sums = cupy.ndarray(-(-len(counts) // CHUNK), np.int64)
    if not len(counts):
        return Intervals(counts, gather, scatter, sums, 0)
    _run(IntervalSumsPass(), len(counts), [counts, gather, scatter, sums], lengths)
    options = ScanOptions(exclusive=True, dtype=sums.dtype)
    starts, read = scan(ADDED, (sums,), options, None, write=True, waits=True)
    return Intervals(counts, gather, scatter, starts, int(read()))


def copy_intervals(intervals: Intervals, source: Any, out: Any, *, repeats: bool) -> Any:
    """Copy the items of intervals; see `backends.Backend.copy_intervals`."""
    counts, gather, scatter, starts, total = intervals
    source = readable(source)
    if out is None:
        out = _new(total, source.dtype)
    elif out.data.ptr % out.dtype.alignment:
        raise ValueError("out must be aligned to its items")
    if total:
        each = IntervalPass(source.itemsize, repeats, gather is not None, scatter is not None)
        path = total + CHUNK * len(starts)
        _run(each, path, [counts, starts, source, gather, scatter, out], (len(counts), total))
    return out


def available() -> float:
    """Return infinity: only the allocator knows how much memory is available."""
    return float("inf")


def _new(count: int, dtype: np.dtype) -> Any:
    """Return a new array; if memory is short, the MemoryError says how much is needed."""
    try:
        return cupy.ndarray(count, dtype)
    except MemoryError:
        check_size(count, dtype.itemsize, cupy.cuda.runtime.memGetInfo()[0])
        raise


def _run(each: PlainPass, length: int, arrays: list[Any], options: tuple[int, int]) -> None:
    """Launch a pass over `length` steps with arrays, or None in place of some."""
    pointers = [0 if a is None else a.data.ptr for a in arrays]
    begun = launch.Launch(launch.current_space(each.alone, Extent(length)), False)
    begun.run(0, pointers, options=options)
