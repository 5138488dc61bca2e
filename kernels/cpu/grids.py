"""Summed-area tables of NumPy arrays: bands of rows, each thread right behind the one of the band above.

A band is walked strip by strip of its columns, four rows at a time: each row's running sum goes on from strip to strip,
and is added to the sums of the columns above, which the band before has left. So elements are read once and written
once, sums are added in one order whatever the number of threads, and a strip of a band waits for the one above it only.
"""

# Numba reads these functions; annotations would say less than its own types do.
# mypy: disable-error-code="no-untyped-def"

from functools import lru_cache

import numba
import numpy as np
from numba.core import types

from ..jit import cached_njit
from .engine import STATUS, TICKET, wait_for
from .launch import CONTROL, Kernel, entry, run_team
from .memory import borrow, store_release, take_ticket
from .outputs import empty

BAND = 32
"""Rows of a band, of which each thread walks one."""

STRIP, STRIPS = 2048, 8
"""Columns of a strip at most, and strips of an image, if it has columns enough: of 64 at least."""


def summed_area_table(values: np.ndarray, dtype: np.dtype, state: np.dtype) -> np.ndarray:
    """Return the tables of images, which are the last two axes of three; see `kernels.summed_area_table`."""
    images, rows, columns = values.shape
    out = empty(values.size, dtype).reshape(values.shape)
    above = np.zeros((images, columns), state)
    control = np.zeros(STATUS + images * -(-rows // BAND), np.int64)
    width = min(max(columns // STRIPS, 64), STRIP)
    kernel = _table_kernel(values.dtype, dtype, state)
    run_team(values.size, control, lambda _: kernel(values, out, above, width, control))
    return out


@cached_njit
def walk_bands(values, out, above, width, control):
    """Write tables, together with any other thread that runs the same call."""
    values, out, above, control = borrow(values), borrow(out), borrow(above), borrow(control)
    images, rows, columns = values.shape
    bands, strips = (rows + BAND - 1) // BAND, (columns + width - 1) // width
    sums = np.zeros(BAND, above.dtype)
    while True:
        ticket = take_ticket(control, TICKET)
        if ticket >= images * bands:
            break
        image, band = ticket // bands, ticket % bands
        first = band * BAND
        last = min(first + BAND, rows)
        sums[:] = 0
        for strip in range(strips):
            if band and not wait_for(control, STATUS + ticket - 1, strip + 1):
                return
            begin, end = strip * width, min((strip + 1) * width, columns)
            row = first
            while row + 4 <= last:
                a, b = sums[row - first], sums[row - first + 1]
                c, d = sums[row - first + 2], sums[row - first + 3]
                for at in range(begin, end):
                    total = above[image, at]
                    a += values[image, row, at]
                    total += a
                    out[image, row, at] = total
                    b += values[image, row + 1, at]
                    total += b
                    out[image, row + 1, at] = total
                    c += values[image, row + 2, at]
                    total += c
                    out[image, row + 2, at] = total
                    d += values[image, row + 3, at]
                    total += d
                    out[image, row + 3, at] = total
                    above[image, at] = total
                sums[row - first], sums[row - first + 1] = a, b
                sums[row - first + 2], sums[row - first + 3] = c, d
                row += 4
            while row < last:
                a = sums[row - first]
                for at in range(begin, end):
                    a += values[image, row, at]
                    above[image, at] += a
                    out[image, row, at] = above[image, at]
                sums[row - first] = a
                row += 1
            store_release(control, STATUS + ticket, strip + 1)


@lru_cache(maxsize=64)
def _table_kernel(given: np.dtype, dtype: np.dtype, state: np.dtype) -> Kernel:
    values = types.Array(numba.from_dtype(given), 3, "A", readonly=True)
    out = types.Array(numba.from_dtype(dtype), 3, "C")
    above = types.Array(numba.from_dtype(state), 2, "C")
    return entry(walk_bands, (values, out, above, types.int64, CONTROL))
