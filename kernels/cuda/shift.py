"""Rows of CuPy arrays moved along."""

from functools import lru_cache
from typing import Any

import cupy
import numpy as np

from ..options import Shifted

AT_ONCE, APART = 4, 256
"""Rows that a thread asks for before it writes the first, and how far apart they are."""

DIFFERENCE = f"""
const long long first = i / {APART} * {APART * AT_ONCE} + i % {APART};
T now[{AT_ONCE}], before[{AT_ONCE}];
#pragma unroll
for (int k = 0; k < {AT_ONCE}; k++) {{
    const long long row = first + k * {APART};
    if (row < count) now[k] = rows[row], before[k] = earlier[row];
}}
#pragma unroll
for (int k = 0; k < {AT_ONCE}; k++) {{
    const long long row = first + k * {APART};
    if (row < count) out[row] = now[k] - before[k];
}}
"""


@lru_cache(maxsize=1)
def _difference() -> Any:
    return cupy.ElementwiseKernel(
        "raw T rows, raw T earlier, int64 count", "raw T out", DIFFERENCE, "difference"
    )


def shift(array: Any, shifted: Shifted, fill: np.generic, *, subtracts: bool) -> Any:
    """Return rows moved along, or what changed since; see `kernels.shift`."""
    out = cupy.empty(len(array), fill.dtype)
    out[shifted.rest] = fill
    rows, earlier, to = array[shifted.to], array[shifted.of], out[shifted.to]
    same = array.dtype == out.dtype
    if not len(to):
        return out
    if subtracts and same:
        blocks = -(-len(to) // (APART * AT_ONCE))
        _difference()(rows, earlier, len(to), to, size=blocks * APART)
    elif subtracts:
        cupy.subtract(rows, earlier, out=to)
    elif same and array.flags.c_contiguous:
        to.data.copy_from_device_async(earlier.data, to.nbytes)
    else:
        to[...] = earlier
    return out


def rows_before(codes: Any, groups: int, periods: int) -> Any:
    """Raise a TypeError: `most_ring_rows` says that it is not for CuPy arrays."""
    raise TypeError("rows_before takes NumPy arrays; bring rows of CuPy arrays together by key")
