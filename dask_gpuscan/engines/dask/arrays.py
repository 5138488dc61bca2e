"""The engine of Dask arrays: it implements `..run.ArrayEngine` with `blocks`."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import Any

import numpy as np
from dask.array import Array, from_array

from ...kernels import BUILT_IN, grids
from ...kernels.grids import (
    added_as,
    box_ends,
    check_axes,
    check_radii,
    check_reach,
)
from ...kernels.options import edges_of
from ...ops.arrays.grids import BoxEnds, BoxFilter
from ...ops.arrays.groups import GroupedArrayScan
from ...ops.arrays.scan import ArrayScan
from ...ops.scan.kernel_scan import ScanArguments
from .blocks import at_places, over_blocks, with_halos


def kind(obj: Any) -> type | None:
    """Return the class of Dask arrays; None for anything else."""
    return Array if isinstance(obj, Array) else None


def meta(array: Array) -> Any:
    """Return an empty NumPy or CuPy array with the dtype and the number of dimensions of the blocks."""
    return array._meta


def positions(array: Array) -> np.ndarray:
    """Return a NumPy array: positions select blocks when the graph is built."""
    return np.empty(0, np.int64)


def scan(
    arrays: Sequence[Array], carry: ArrayScan | GroupedArrayScan, codes: np.ndarray | None = None
) -> Array:
    """Apply a carry to the blocks of arrays along its axis."""
    answer = _empty(arrays[0], arrays[0].ndim, carry.answer(arrays))
    if codes is not None:
        codes = from_array(codes, chunks=(arrays[0].chunks[carry.axis],))
    return over_blocks(arrays, carry, carry.axis, answer, codes)


def summed_area_table(x: Array, axes: Any = None, *, dtype: Any = None) -> Array:
    """Return the sum of all elements up to each one along some axes: a scan along each axis that has several chunks."""
    answer = grids.summed_area_table(x._meta, axes, dtype=dtype)
    state = grids.summed_area_table(answer).dtype
    found = check_axes(axes, x.ndim)
    table, options = x.astype(added_as(x.dtype, state)), ScanArguments(dtype=state, skipna=False)
    inside = tuple(axis for axis in found if table.numblocks[axis] == 1)
    if inside:
        table = table.map_blocks(
            grids.summed_area_table, inside, dtype=state, meta=answer.astype(state)
        )
    for axis in set(found).difference(inside):
        carry = ArrayScan("summed-area-table", BUILT_IN["add"], axis, options)
        table = over_blocks([table], carry, axis, answer.astype(state))
    return table.astype(answer.dtype)


def window_sum(table: Array, lows: np.ndarray, highs: np.ndarray, axes: tuple[int, ...]) -> Array:
    """Return the sums of boxes from a table; each block is read at the corners of boxes in it."""
    _check_known("table", table, axes)
    places = np.stack([each.reshape(-1) for each in np.broadcast_arrays(*box_ends(lows, highs))])
    of = BoxEnds(axes, len(lows))
    answer = _empty(table, table.ndim - len(axes) + 1, table.dtype)
    return at_places(table, axes, places, of.pick, of.sums, len(lows), "window-sum", answer)


def box_filter(
    x: Array,
    radius: Any,
    *,
    axes: Any = None,
    mode: str = "reflect",
    cval: Any = 0,
    dtype: Any = None,
) -> Array:
    """Return the mean of the box around each element; each block is joined with the elements around it."""
    options = {"mode": mode, "cval": cval, "dtype": dtype}
    answer = grids.box_filter(x._meta, radius, axes=axes, **options)
    found = check_axes(axes, x.ndim)
    radii = dict(zip(found, check_radii(radius, len(found)), strict=True))
    halos = {axis: each for axis, each in radii.items() if each and x.numblocks[axis] > 1}
    _check_known("x", x, tuple(halos))
    if not x.size:
        return x.astype(answer.dtype)
    check_reach(radii, x.shape)
    by = BoxFilter(radii, options, halos)
    return with_halos(x, halos, partial(edges_of, mode), cval, by.apply, "box-filter", answer)


def _empty(array: Array, ndim: int, dtype: np.dtype) -> Any:
    """Return an empty array of the library of the blocks."""
    return np.empty_like(array._meta, dtype, shape=(0,) * ndim)


def _check_known(name: str, x: Array, axes: tuple[int, ...]) -> None:
    """Raise a ValueError unless the shape of an array is known along axes."""
    if any(np.isnan(x.shape[axis]) for axis in axes):
        raise ValueError(
            f"{name} must have chunks of known sizes: call compute_chunk_sizes() first"
        )
