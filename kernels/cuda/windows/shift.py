"""Shifted rows of CuPy arrays."""

from functools import lru_cache
from typing import Any

import cupy
import numpy as np

from ...options import Shifted
from ..codes.factorize import check_range
from ..core.device_arrays import readable
from ..sort.permute import put
from ..sort.radix_sort import Word, radix_sort
from ..sort.sort_pass import KeyCode

AT_ONCE, APART = 4, 256
"""Rows that a thread requests before it writes the first, and the distance between them."""

DIFFERENCE = f"""
const long long first = i / {APART} * {APART * AT_ONCE} + i % {APART};
T now[{AT_ONCE}], before[{AT_ONCE}];
bool has[{AT_ONCE}];
#pragma unroll
for (int k = 0; k < {AT_ONCE}; k++) {{
    const long long row = first + k * {APART}, earlier = row - periods;
    has[k] = row < count && earlier >= 0 && earlier < count;
    if (has[k]) now[k] = rows[row], before[k] = rows[earlier];
}}
#pragma unroll
for (int k = 0; k < {AT_ONCE}; k++) {{
    const long long row = first + k * {APART};
    if (row < count) out[row] = has[k] ? now[k] - before[k] : fill;
}}
"""


@lru_cache(maxsize=1)
def _difference() -> Any:
    return cupy.ElementwiseKernel(
        "raw T rows, int64 periods, T fill, int64 count", "raw T out", DIFFERENCE, "difference"
    )


def shift(array: Any, shifted: Shifted, fill: np.generic, *, subtracts: bool, exact: bool) -> Any:
    """Return shifted rows, or differences from them; see `kernels.shift`."""
    if exact:
        raise TypeError("exact answers are of NumPy arrays")
    out, same = cupy.empty(len(array), fill.dtype), array.dtype == fill.dtype
    if subtracts and same and len(array):
        blocks = -(-len(array) // (APART * AT_ONCE))
        _difference()(array, shifted.periods, fill, len(array), out, size=blocks * APART)
        return out
    out[shifted.rest] = fill
    earlier, to = array[shifted.of], out[shifted.to]
    if not len(to):
        return out
    if subtracts:
        cupy.subtract(array[shifted.to], earlier, out=to)
    elif same and array.flags.c_contiguous:
        to.data.copy_from_device_async(earlier.data, to.nbytes)
    else:
        to[...] = earlier
    return out


@lru_cache(maxsize=1)
def _before() -> Any:
    text = """
    const long long at = i - periods;
    out[i] = at >= 0 && at < count && codes[at] == codes[i] ? (long long)rows[at] : -1;
    """
    return cupy.ElementwiseKernel(
        "raw C codes, raw R rows, int64 periods, int64 count", "raw int64 out", text, "before"
    )


def rows_before(codes: Any, groups: int, periods: int, *, check: bool) -> Any:
    """Return the row `periods` rows before each row in its group; see `kernels.windows_by_code.rows_before`."""
    count = len(codes)
    found = cupy.ndarray(count, np.int64)
    if not count:
        return found
    if check:
        check_range(codes, groups)
    word = Word(readable(codes).view(f"u{codes.itemsize}"), KeyCode(codes.itemsize))
    ordered, rows = radix_sort(word, positions=True)
    _before()(ordered, rows, periods, count, found, size=count)
    return put(found, rows)


def finds_rows_before(groups: int, periods: int) -> bool:
    """Return True: rows are sorted by their groups in any case."""
    return True
