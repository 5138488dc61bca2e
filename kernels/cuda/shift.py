"""Rows of CuPy arrays moved along."""

from typing import Any

import cupy
import numpy as np

from ..options import Shifted


def shift(array: Any, shifted: Shifted, fill: np.generic, *, subtracts: bool) -> Any:
    """Return rows moved along, or what changed since; see `kernels.shift`."""
    out = cupy.empty(len(array), fill.dtype)
    out[shifted.rest] = fill
    if subtracts:
        cupy.subtract(array[shifted.to], array[shifted.of], out=out[shifted.to])
    else:
        out[shifted.to] = array[shifted.of]
    return out


def rows_before(codes: Any, groups: int, periods: int) -> Any:
    """Raise a TypeError: `most_ring_rows` says that it is not for CuPy arrays."""
    raise TypeError("rows_before takes NumPy arrays; bring rows of CuPy arrays together by key")
