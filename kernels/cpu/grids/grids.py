"""Summed-area tables of NumPy arrays, and means of boxes.

A table is made in bands of rows, each by a thread that follows the thread of the band above. A band is walked in strips
of columns, four rows at a time: each row's running sum goes on from strip to strip, and is added to the column sums of
the band above. So elements are read once and written once, sums are added in the same order for any number of threads,
and a strip of a band waits only for the strip above it.

Means of boxes are sums along one axis after another, of lanes side by side, without subtraction. Rows of a panel of
lanes are cut into blocks as long as a window. A window is the end of one block and the beginning of the next one: a
backward walk over the first block keeps its suffix sums, and the running sum of the second is added. After van Herk
(Pattern Recognition Letters 13, 1992) and Gil and Werman (IEEE PAMI 15, 1993).
"""

# Numba reads these functions; annotations would say less than its own types do.
# mypy: disable-error-code="no-untyped-def"

from functools import lru_cache, partial
from math import prod
from typing import Any, NamedTuple

import numpy as np

from ...compiler import argument_types as types
from ...compiler.functions import ALLOCATING, cached_njit, overloaded
from ...compiler.late import numba
from ...options import Box, edges_of
from ..core.engine import STATUS, TICKET, wait_for
from ..core.launch import CONTROL, WORD, Kernel, array_type, empty, entry, run_kernel, run_team
from ..core.memory import borrow, store_release, take_ticket

BAND = 32
"""Rows of a band; each thread walks one band."""

STRIP, STRIPS = 2048, 8
"""The most columns of a strip, and the strips of an image, if these have at least 64 columns."""


def summed_area_table(values: np.ndarray, dtype: np.dtype, state: np.dtype) -> np.ndarray:
    """Return the tables of images, which are the last two axes of three; see `kernels.grids.summed_area_table`."""
    images, rows, columns = values.shape
    out = empty(values.size, dtype).reshape(values.shape)
    above = np.zeros((images, columns), state)
    control = np.zeros(STATUS + images * -(-rows // BAND), np.int64)
    width = min(max(columns // STRIPS, 64), STRIP)
    kernel = _table_kernel(values.dtype, dtype, state)
    run_team(values.size, control, lambda _: kernel(values, out, above, width, control))
    return out


@partial(cached_njit, options=ALLOCATING)
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
    values = types.Array(types.Number(given), 3, "A", readonly=True)
    out = types.Array(types.Number(dtype), 3, "C")
    above = types.Array(types.Number(state), 2, "C")
    return entry(walk_bands, (values, out, above, types.int64, CONTROL))


LANES = {True: 256, False: 16}
"""The most lanes of a panel: if lanes lie side by side, and if they are lines of memory."""

KEPT_BYTES = 1 << 20
"""The most bytes of sums of a block, which should stay in a core's L2 cache: wider windows have fewer lanes."""

SEGMENT, BLOCKS = 4096, 8
"""The fewest rows and blocks that a thread answers at once; one more block is walked before the first answer."""


class Panels(NamedTuple):
    """Panels of `lanes` lanes and segments of rows; a thread takes one segment of a panel at a time.

    An answer is the sum of a window divided by `divisor`, which may be 1.
    """

    lanes: int
    segment: int
    radius: int
    divisor: float


def box_filter(values: np.ndarray, box: Box) -> np.ndarray:
    """Return the mean of the box around each element; see `kernels.grids.box_filter`."""
    outside, last = box.state.type(box.outside), box.radii[-1]
    for each in box.radii:
        values = _along(values, each, box, outside, each is last)
        outside = outside * box.state.type(2 * each[1] + 1)
    return values


def _along(
    values: np.ndarray, each: tuple[int, int], box: Box, outside: np.generic, divides: bool
) -> np.ndarray:
    """Return sums along an axis or, if it `divides`, means of boxes."""
    axis, radius = each
    shape, length = values.shape, values.shape[axis]
    before, inner = prod(shape[:axis]), prod(shape[axis + 1 :])
    dtype = box.dtype if divides else box.state
    out = empty(values.size, dtype).reshape(shape)
    given, to = (np.ascontiguousarray(a).reshape(before, length, inner) for a in (values, out))
    side = inner > 1
    if not side:
        given, to = given.transpose(2, 1, 0), to.transpose(2, 1, 0)
    exact = box.state.kind in "iu" and dtype.kind in "iu"
    number = box.state if exact else np.dtype(float)
    divisor: Any = number.type(box.count if divides else 1)
    width = 2 * radius + 1
    panels = Panels(
        max(1, min(LANES[side], KEPT_BYTES // (8 * width))),
        max(-(-SEGMENT // width), BLOCKS) * width,
        radius,
        divisor,
    )
    kernel = _kernel(given.dtype, dtype, box.state, number, side)
    run_kernel(
        values.size,
        kernel,
        given,
        edges_of(box.mode, radius, length),
        np.full(1, outside),
        to,
        panels,
    )
    return out


@partial(cached_njit, options=ALLOCATING)
def walk_panels(values, edges, outside, out, panels, control):
    """Write sums of windows, together with any other thread that runs the same call."""
    values, edges, out, control = borrow(values), borrow(edges), borrow(out), borrow(control)
    groups, length, side = values.shape
    lanes, segment, radius, divisor = panels
    width = 2 * radius + 1
    across, segments = (side + lanes - 1) // lanes, (length + segment - 1) // segment
    sums = np.empty((width, lanes), outside.dtype)
    running, answers = np.empty(lanes, outside.dtype), np.empty(lanes, outside.dtype)
    while True:
        ticket = take_ticket(control, TICKET)
        if ticket >= groups * across * segments:
            break
        group, panel = ticket // (across * segments), ticket // segments % across
        first, begin = panel * lanes, ticket % segments * segment
        number, end = min(lanes, side - first), min(begin + segment, length)
        for block in range(begin - width, end, width):
            running[:] = 0
            for k in range(min(width, end - block)):
                if block >= begin:
                    for lane in range(number):
                        answers[lane] = sums[k, lane] + running[lane]
                    if divisor == 1:
                        for lane in range(number):
                            out[group, block + k, first + lane] = answers[lane]
                    else:
                        for lane in range(number):
                            out[group, block + k, first + lane] = quotient(answers[lane], divisor)
                row = block + k + width - radius
                if row < 0:
                    row = edges[radius + row]
                elif row >= length:
                    row = edges[radius + row - length] if row < length + radius else -1
                if row < 0:
                    for lane in range(number):
                        sums[k, lane] = outside[0]
                else:
                    for lane in range(number):
                        sums[k, lane] = values[group, row, first + lane]
                for lane in range(number):
                    running[lane] += sums[k, lane]
            running[:] = 0
            for k in range(width - 1, -1, -1):
                for lane in range(number):
                    running[lane] += sums[k, lane]
                    sums[k, lane] = running[lane]


def quotient(total, divisor):
    """Return a mean; for integers, it is truncated."""


@overloaded(quotient)
def _quotient(total, divisor):
    if not isinstance(divisor, numba.types.Integer):
        return lambda total, divisor: total / divisor
    if not divisor.signed:
        return lambda total, divisor: total // divisor

    def truncated(total, divisor):
        mean = total // divisor
        return mean + 1 if mean < 0 and mean * divisor != total else mean

    return truncated


@lru_cache(maxsize=64)
def _kernel(
    given: np.dtype, dtype: np.dtype, state: np.dtype, divisor: np.dtype, side: bool
) -> Kernel:
    layout, word = "C" if side else "A", types.int64
    values = types.Array(types.Number(given), 3, layout, readonly=True)
    out = types.Array(types.Number(dtype), 3, layout)
    number = types.Number(divisor)
    panels = types.record_type(Panels, lanes=word, segment=word, radius=word, divisor=number)
    return entry(walk_panels, (values, array_type(WORD), array_type(state), out, panels, CONTROL))
