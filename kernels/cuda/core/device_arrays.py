"""CuPy arrays for kernels: contiguous and aligned arrays, masks, and results cut to the rows that were written."""

from typing import Any

import cupy
import numpy as np

from ...messages import shown
from ...nulls import InBand, Mask, Nulls

SHRINK_FROM = 8
"""How many times as large as a result its memory may be; from larger memory, the result is copied."""

_BYTE = np.dtype(np.uint8)


def readable(array: Any, dtype: np.dtype | None = None) -> Any:
    """Return `array`, or a copy if it is not contiguous or not aligned as the `dtype` of a kernel needs."""
    dtype = array.dtype if dtype is None else dtype
    if not array.flags.c_contiguous:
        return array.copy(order="C")
    if array.data.ptr % dtype.alignment:  # copied as bytes: CuPy's kernels need alignment as well
        return array.reshape(-1).view(np.uint8).copy().view(dtype).reshape(array.shape)
    return array


def kind_of_nulls(nulls: Nulls) -> str:
    """Return the name under which kernels for these nulls are compiled."""
    if isinstance(nulls, Mask):
        return "bits" if nulls.shift == 3 else "bytes"
    return "in band" if isinstance(nulls, InBand) else "none"


def mask_buffer(mask: Mask) -> Any:
    """Return the bytes of a mask for a kernel."""
    if not isinstance(mask.buffer, cupy.ndarray):
        raise TypeError(f"the mask of CuPy values must be a CuPy array, found {shown(mask.buffer)}")
    return readable(mask.buffer, _BYTE)


def valid_elements(mask: Mask, count: int) -> Any:
    """Return an array of bool: whether each element is not marked missing."""
    buffer = mask_buffer(mask)
    if mask.shift == 0:
        return buffer[mask.offset : mask.offset + count] != mask.null
    first = mask.offset // 8
    bits = cupy.unpackbits(buffer[first : (mask.offset + count + 7) // 8], bitorder="little")
    return bits[mask.offset % 8 :][:count] != mask.null


def shrink(array: Any, count: int) -> Any:
    """Return the first rows of an array, copied if the memory after them is large."""
    if count * SHRINK_FROM >= len(array):
        return array[:count]
    head = cupy.ndarray(count, array.dtype)
    kind, stream = cupy.cuda.runtime.memcpyDeviceToDevice, cupy.cuda.get_current_stream().ptr
    cupy.cuda.runtime.memcpyAsync(head.data.ptr, array.data.ptr, head.nbytes, kind, stream)
    return head
