"""Summed-area tables of CuPy arrays: in one pass, or by two scans where columns are few."""

from typing import Any

import cupy
import numpy as np

from ..built_in import BUILT_IN
from ..options import ScanOptions
from . import launch
from .device_arrays import readable
from .devices import device
from .grid_pass import AreaTablePass
from .plan import Extent, Plan
from .scan import scan
from .tuning import TABLE_BUSY


def summed_area_table(values: Any, dtype: np.dtype, state: np.dtype) -> Any:
    """Return the tables of images, which are the last two axes of three; see `kernels.summed_area_table`."""
    images, rows, columns = values.shape
    each = AreaTablePass(values.dtype, dtype, state)
    strip = 32 * each.shape.vector
    strips = images * -(-columns // strip)
    busy = strips >= TABLE_BUSY * device(launch.current_device()).multiprocessors
    if not values.size or columns < strip // 2 or not busy:
        return _by_scans(values, state).astype(dtype, copy=False)
    values, out = readable(values), cupy.ndarray(values.shape, dtype)
    begun = launch.Launch(
        launch.current_space(Plan((each,)), Extent(columns, images * rows)), False
    )
    begun.run(0, (values.data.ptr, out.data.ptr), (), (), (rows,), b"", b"")
    return out


def _by_scans(values: Any, state: np.dtype) -> Any:
    for axis in (2, 1):
        options = ScanOptions(axis=axis, dtype=state)
        values, _ = scan(BUILT_IN["add"], (values,), options, None, write=True, waits=False)
    return values
