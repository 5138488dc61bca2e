"""Summed-area tables and means of boxes of CuPy arrays.

A table takes one pass, or two scans if columns are few. Means of boxes along the last two axes take one pass if
windows fit shared memory; each other axis takes one more pass.
"""

from functools import lru_cache
from math import prod
from typing import Any

import cupy
import numpy as np

from ...operators.built_in import BUILT_IN
from ...options import Box, ScanOptions, edges_of
from ..core import launch
from ..core.device_arrays import readable
from ..core.devices import device
from ..core.plan import Extent
from ..scan.scan import scan
from .grid_pass import AreaTablePass, BoxImagePass, BoxLinePass, ImageTile, image_tile, windows_of
from .tuning import BOX_BANDS, BOX_BLOCKS, BOX_ROWS, TABLE_BUSY


def summed_area_table(values: Any, dtype: np.dtype, state: np.dtype) -> Any:
    """Return the tables of images, along the last two of three axes; see `kernels.grids.summed_area_table`."""
    images, rows, columns = values.shape
    each = AreaTablePass(values.dtype, dtype, state)
    strip = 32 * each.shape.vector
    strips = images * -(-columns // strip)
    busy = strips >= TABLE_BUSY * device(launch.current_device()).multiprocessors
    if not values.size or columns < strip // 2 or not busy:
        return _by_scans(values, state).astype(dtype, copy=False)
    values, out = readable(values), cupy.ndarray(values.shape, dtype)
    begun = launch.Launch(launch.current_space(each.alone, Extent(columns, images * rows)), False)
    begun.run(0, (values.data.ptr, out.data.ptr), options=(rows,))
    return out


def _by_scans(values: Any, state: np.dtype) -> Any:
    for axis in (2, 1):
        options = ScanOptions(axis=axis, dtype=state)
        values, _ = scan(BUILT_IN["add"], (values,), options, None, write=True, waits=False)
    return values


def box_filter(values: Any, box: Box) -> Any:
    """Return the mean of the box around each element; see `kernels.grids.box_filter`."""
    values, radii = readable(values), {axis: radius for axis, radius in box.radii if radius}
    below, last = values.ndim - 2, values.ndim - 1
    lines = [axis for axis in radii if axis not in (below, last)]
    tile = None
    if len(lines) < len(radii) and values.ndim > 1 and values.shape[below] >= BOX_ROWS // 2:
        given = box.state if lines else values.dtype
        reach = radii.get(last, 0), radii.get(below, 0)
        capability = device(launch.current_device()).capability
        tile = image_tile(given, box.dtype, box.state, reach, values.shape[last], capability)
    if tile is None:
        lines = list(radii)
    outside = box.state.type(box.outside)
    for axis in lines:
        is_answer = tile is None and axis == lines[-1]
        values = _along(values, axis, radii[axis], box, outside, is_answer)
        outside = outside * box.state.type(2 * radii[axis] + 1)
    if tile is not None:
        return _over_images(values, tile, box, outside)
    return values.astype(box.dtype, copy=not lines)


def _over_images(values: Any, tile: ImageTile, box: Box, outside: Any) -> Any:
    """Return means along the last two axes, given sums along the others."""
    rows, columns = values.shape[-2:]
    images, out = prod(values.shape[:-2]), cupy.ndarray(values.shape, box.dtype)
    radius_x, radius_y = tile.reach
    strips = images * -(-columns // tile.each.columns)
    running = BOX_BLOCKS * device(launch.current_device()).multiprocessors
    bands = min(-(-BOX_BANDS * running // strips), max(rows // (16 * radius_y + BOX_ROWS), 1))
    return _run(
        tile.each, Extent(columns, images * rows), values, out,
        (_edges(box.mode, radius_x, columns), _edges(box.mode, radius_y, rows)),
        (rows, radius_x, radius_y, -(-rows // bands), tile.line), outside, box.count,
    )  # fmt: skip


def _along(values: Any, axis: int, radius: int, box: Box, outside: Any, is_answer: bool) -> Any:
    """Return sums along an axis, or means if it is the last axis."""
    shape, length = values.shape, values.shape[axis]
    dtype, count = (box.dtype, box.count) if is_answer else (box.state, 1)
    each = BoxLinePass(values.dtype, dtype, box.state, windows_of(radius))
    inner = prod(shape[axis + 1 :])
    items = prod(shape[:axis]) * -(-length // each.windows) * inner
    return _run(
        each, Extent(items), values, cupy.ndarray(shape, dtype),
        (_edges(box.mode, radius, length),), (length, inner, radius), outside, count,
    )  # fmt: skip


def _run(
    each: BoxImagePass | BoxLinePass,
    extent: Extent,
    values: Any,
    out: Any,
    edges: tuple[Any, ...],
    options: tuple[int, ...],
    outside: Any,
    count: int,
) -> Any:
    """Launch a pass; return its output."""
    number = each.number.type(1 / count if each.multiplies else count)
    pointers = [a.data.ptr for a in (values, out, *edges)]
    begun = launch.Launch(launch.current_space(each.alone, extent), False)
    begun.run(0, pointers, options=options, seed=outside.tobytes(), numbers=number.tobytes())
    return out


def _edges(mode: str, radius: int, length: int) -> Any:
    """Return the indices of the elements that continue a line before its first element and after its last one."""
    return _edges_on(launch.current_device(), mode, radius, length)


@lru_cache(maxsize=256)
def _edges_on(number: int, mode: str, radius: int, length: int) -> Any:
    return cupy.asarray(edges_of(mode, radius, length))
