"""Codes of groups of NumPy arrays, numbered anew, by a table of their rows."""

# Numba reads these functions; annotations would say less than its own types do.
# mypy: disable-error-code="no-untyped-def"

from functools import lru_cache

import numpy as np

from ..jit import cached_njit
from .launch import WORD, Kernel, array_type, entry
from .memory import borrow
from .outputs import empty


def number_codes(codes: np.ndarray, groups: int) -> tuple[np.ndarray, np.ndarray]:
    """Return codes without gaps, and the first row of each; see `kernels.number_codes`."""
    codes = np.require(codes, requirements=["C", "A"])
    number = np.dtype(np.int32 if len(codes) < 1 << 31 else np.int64)  # less to keep in cache
    out, rows = empty(len(codes), codes.dtype), np.full(groups, -1, number)
    count = _numbering(codes.dtype, number)(codes, rows, np.empty(groups, codes.dtype), out)
    if count < 0:
        raise ValueError(f"codes must be from 0 to {groups - 1}, found {codes[-1 - count]}")
    return (codes if count == groups else out), rows[:count].astype(WORD)


@cached_njit
def find_rows(codes, rows, numbers, out):
    """Find the first row of each code, and number those that have one; return how many there are.

    If the code of row `i` is none of a group, return ``-1 - i``.
    """
    codes, rows, numbers, out = borrow(codes), borrow(rows), borrow(numbers), borrow(out)
    for i in range(len(codes) - 1, -1, -1):
        code = codes[i]
        if code < 0 or code >= len(rows):
            return -1 - i
        rows[np.uintp(code)] = i
    count = 0
    for code in range(len(rows)):
        numbers[code] = count
        row = rows[code]
        if row >= 0:
            rows[count] = row
            count += 1
    if count < len(rows):
        for i in range(len(codes)):
            out[i] = numbers[np.uintp(codes[i])]
    return count


@lru_cache(maxsize=4)
def _numbering(dtype: np.dtype, row: np.dtype) -> Kernel:
    numbers, rows = array_type(dtype, layout="C"), array_type(row, layout="C")
    return entry(find_rows, (array_type(dtype, True, "C"), rows, numbers, numbers))
