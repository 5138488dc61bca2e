"""The first row within reach of each row of a NumPy array: a pointer that only moves on."""

# Numba reads these functions; annotations would say less than its own types do.
# mypy: disable-error-code="no-untyped-def"

from functools import lru_cache

import numpy as np
from numba.core import types

from ..jit import cached_njit
from .engine import TICKET
from .launch import CONTROL, WORD, Kernel, array_type, entry, run_kernel
from .memory import borrow, take_ticket
from .outputs import empty

SLICE = 1 << 16
"""Rows that a thread takes at once."""

ROWS = array_type(WORD, readonly=True)


def first_within(values: np.ndarray, reach: int, starts: np.ndarray | None) -> np.ndarray:
    """Return the first row within reach of each row; see `kernels.first_within`."""
    out = empty(len(values), WORD)
    kernel = _kernel(starts is not None)
    run_kernel(len(values), kernel, values, np.uint64(reach), starts, out)
    return out


@cached_njit
def find_first(values, reach, starts, out, control):
    """Write the first row of the group of each row whose value is at most `reach` less."""
    values, out, control = borrow(values), borrow(out), borrow(control)
    while True:
        begin = take_ticket(control, TICKET) * SLICE
        if begin >= len(values):
            break
        # where a slice begins, by binary search
        low, high = 0 if starts is None else starts[begin], begin
        while low < high:
            middle = (low + high) // 2
            if np.uint64(values[begin] - values[middle]) > reach:
                low = middle + 1
            else:
                high = middle
        first = low
        for i in range(begin, min(begin + SLICE, len(values))):
            if starts is not None:
                first = max(first, starts[i])
            while first < i and np.uint64(values[i] - values[first]) > reach:
                first += 1
            out[i] = first


@lru_cache(maxsize=2)
def _kernel(grouped: bool) -> Kernel:
    starts = ROWS if grouped else types.none
    return entry(find_first, (ROWS, types.uint64, starts, array_type(WORD), CONTROL))
