"""Ranks of sorted NumPy arrays, slice by slice: runs that reach over the ends of a slice are followed there."""

# Numba reads these functions; annotations would say less than its own types do.
# mypy: disable-error-code="no-untyped-def"

from functools import lru_cache

import numba
import numpy as np

from ..jit import OPTIONS, cached_njit
from ..options import RANKS
from .engine import TICKET
from .launch import CONTROL, Kernel, array_type, entry, run_kernel
from .memory import borrow, take_ticket
from .outputs import empty

SLICE = 1 << 16
"""Rows that a thread takes at once."""

FLOAT64 = np.dtype(np.float64)


def tied_ranks(keys: np.ndarray, method: str) -> np.ndarray:
    """Return the ranks of sorted keys; see `kernels.tied_ranks`."""
    out = empty(len(keys), FLOAT64)
    run_kernel(len(keys), _kernel(keys.dtype), keys, *RANKS[method], out)
    return out


@numba.njit(**OPTIONS)
def _run_on(keys, row, step, most):
    """Return how many rows after one, or before it with step -1, have its key, at most so many."""
    known, reach = 0, 1
    while known + reach <= most and keys[row + step * (known + reach)] == keys[row]:
        known += reach
        reach *= 2
    while reach:
        if known + reach <= most and keys[row + step * (known + reach)] == keys[row]:
            known += reach
        reach //= 2
    return known


@cached_njit
def rank_rows(keys, more, share, out, control):
    """Write the rank of each key: how many come before its run, and `more`, and a share of the run."""
    keys, out, control = borrow(keys), borrow(out), borrow(control)
    count = len(keys)
    while True:
        begin = take_ticket(control, TICKET) * SLICE
        if begin >= count:
            break
        end = min(begin + SLICE, count)
        first = begin - _run_on(keys, begin, -1, begin)
        row = begin
        while row < end:
            stop = row + 1
            while stop < end and keys[stop] == keys[row]:
                stop += 1
            last = stop
            if stop == end and end < count:
                last += _run_on(keys, end - 1, 1, count - end)
            rank = first + more + share * (last - first)
            for i in range(row, stop):
                out[i] = rank
            first = row = stop


@lru_cache(maxsize=16)
def _kernel(dtype: np.dtype) -> Kernel:
    number = numba.float64
    return entry(rank_rows, (array_type(dtype, True), number, number, array_type(FLOAT64), CONTROL))
