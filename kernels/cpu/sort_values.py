"""One array in order: NumPy's sort, which is made for the instructions of each CPU, of a piece a core, and merges.

Each thread merges its slice of the answer: after Odeh, Green, Mwassi, Shmueli and Birk, *Merge path: parallel merging
made simple* (IPDPSW 2012).
"""

# Numba reads these functions; annotations would say less than its own types do.
# mypy: disable-error-code="no-untyped-def"

from functools import lru_cache
from typing import Any

import numba
import numpy as np

from ..int128 import is_int128
from ..jit import OPTIONS, cached_njit
from ..nulls import NAT, InBand, Mask
from ..sort_key import SortKey
from .engine import STATUS, TICKET
from .launch import CONTROL, Kernel, array_type, entry, helpers_for, run_kernel, run_team
from .memory import borrow, take_ticket
from .outputs import empty

SLICE = 1 << 16
"""Elements of the answer that a thread merges at once."""

MERGED = 4
"""Bytes of the narrowest elements that are sorted in pieces: shorter ones take NumPy no longer than a merge."""

_SIGN = {width: np.iinfo(f"i{width}").min for width in (2, 4, 8)}
"""The bits of -0.0 as an integer."""


def is_sorted_by_value(key: SortKey) -> bool:
    """Tell whether equal elements of a key have the same bits, if they are not NaN, and NumPy sorts them fast."""
    values: Any = key.values
    width = values.itemsize
    if isinstance(key.nulls, Mask) or is_int128(values.dtype) or width == 1:
        return False
    if values.dtype.kind != "f":
        return True
    parts = np.array_split(values.view(f"i{width}"), len(values) // SLICE + 1)
    return not any((part == _SIGN[width]).any() for part in parts)


def sorted_values(key: SortKey) -> np.ndarray:
    """Return such a key in order."""
    values: Any = key.values
    times = values.dtype.kind in "mM" or (
        isinstance(key.nulls, InBand) and values.dtype == np.int64
    )
    if times:
        values = values.view(np.int64)
    count = helpers_for(len(values)) + 1 if values.itemsize >= MERGED else 1
    pieces = np.array_split(empty(len(values), values.dtype), count)
    waiting = iter(list(zip(np.array_split(values, count), pieces, strict=True)))

    def sort_pieces(_: bool) -> None:
        for given, piece in waiting:  # of all threads: each takes the next
            piece[...] = given
            piece.sort()

    run_team(len(values), np.zeros(STATUS, np.int64), sort_pieces)
    missing = [values[:0]]
    if times:  # NaT is the least integer
        missing = [p[: np.searchsorted(p, NAT, "right")] for p in pieces]
        pieces = [p[len(m) :] for p, m in zip(pieces, missing, strict=True)]
    elif values.dtype.kind == "f":
        missing = [p[np.searchsorted(p, np.nan) :] for p in pieces]
        pieces = [p[: len(p) - len(m)] for p, m in zip(pieces, missing, strict=True)]
    while len(pieces) > 1:
        pieces = [_merged(*pieces[i : i + 2]) for i in range(0, len(pieces), 2)]
    found = pieces[0][::-1] if key.descending else pieces[0]
    if key.descending or any(map(len, missing)):
        found = np.concatenate([*missing, found] if key.nulls_first else [found, *missing])
    return found.view(key.values.dtype)


def _merged(left: np.ndarray, right: np.ndarray | None = None) -> np.ndarray:
    if right is None:
        return left
    out = empty(len(left) + len(right), left.dtype)
    run_kernel(len(out), _merging(out.dtype), left, right, out)
    return out


@numba.njit(**OPTIONS)
def _path(left, right, count):
    """Return how many of the first `count` elements in order are from the left; equal ones are first."""
    low, high = max(0, count - len(right)), min(count, len(left))
    while low < high:
        middle = (low + high) // 2
        if left[middle] <= right[count - 1 - middle]:
            low = middle + 1
        else:
            high = middle
    return low


@cached_njit
def merge(left, right, out, control):
    """Merge two arrays in order.

    A slice is merged from both its ends at once: neither chain of comparisons waits for the other.
    """
    left, right, out, control = borrow(left), borrow(right), borrow(out), borrow(control)
    while True:
        k = take_ticket(control, TICKET) * SLICE
        if k >= len(out):
            break
        end = min(len(out), k + SLICE)
        i, last_i = _path(left, right, k), _path(left, right, end)
        j, last_j = k - i, end - last_i
        both = min(last_i - i, last_j - j) // 2
        while both > 0:
            for _ in range(both):
                x, y = left[np.uintp(i)], right[np.uintp(j)]
                later = np.intp(
                    y < x
                )  # no branch: comparisons come in no order that could be predicted
                out[k] = y if later else x
                i, j, k = i + 1 - later, j + later, k + 1
                x, y = left[np.uintp(last_i - 1)], right[np.uintp(last_j - 1)]
                later = np.intp(y < x)
                end -= 1
                out[end] = x if later else y
                last_i, last_j = last_i - later, last_j - 1 + later
            both = min(last_i - i, last_j - j) // 2
        while k < end:
            if i < last_i and (j >= last_j or left[i] <= right[j]):
                out[k], i = left[i], i + 1
            else:
                out[k], j = right[j], j + 1
            k += 1


@lru_cache(maxsize=16)
def _merging(dtype: np.dtype) -> Kernel:
    values, out = array_type(dtype, True, "C"), array_type(dtype, layout="C")
    return entry(merge, (values, values, out, CONTROL))
