"""Sorting of NumPy arrays: several arrays by a radix sort of codes, and a single array by its values.

A single array is cut into a piece for each core. NumPy sorts the pieces with the vector instructions of each CPU, and
threads merge them: after Odeh, Green, Mwassi, Shmueli and Birk, *Merge path: parallel merging made simple* (IPDPSW
2012).
"""

# Numba reads these functions; annotations would say less than its own types do.
# mypy: disable-error-code="no-untyped-def"

from collections.abc import Sequence
from functools import lru_cache
from typing import Any

import numpy as np

from ...arrays import is_int128
from ...compiler.functions import cached_njit, njit
from ...nulls import NAT, InBand, Mask
from ...options import Kth, Positions, SortKey
from ..core.engine import TICKET
from ..core.launch import (
    CONTROL,
    Kernel,
    array_type,
    empty,
    entry,
    helpers_for,
    run_kernel,
)
from ..core.memory import borrow, take_ticket
from .permute import take_all
from .radix_sort import LEAF, NO_CODES, WORK, order
from .segments import are_times, sort_between, sorted_segments, takes_segments
from .sort_codes import WORD_BITS, chunks_of, fields_of, tells_values, unpack

SLICE = 1 << 14
"""Elements of the answer that a thread merges at once."""

MERGED = 4
"""Bytes of the narrowest elements that are sorted in pieces: NumPy sorts narrower ones as fast as they are merged."""

FEW = 1 << 12
"""The most rows that NumPy sorts by one key, or by several in proportion: making their codes takes longer.

Microseconds of 10, 1,000, 4,096 and 16,384 integers, codes and NumPy: 43, 1; 52, 12; 84, 52; 216, 799."""

NARROWED, NARROW = range(1 << 7, 1 << 17), np.iinfo(np.uint16).max
"""How many integers NumPy sorts by digits of 16 bits, if no two differ by more.

Microseconds of 1,000 integers below 1,000 and of 4,096: 30 and 177, narrowed 17 and 44; of 10**4 and 10**5, by codes
220 and 3,300, narrowed 86 and 2,100."""

_SIGN = {width: np.iinfo(f"i{width}").min for width in (2, 4, 8)}
"""The bits of -0.0 as an integer."""


def is_sorted_by_value(key: SortKey, selects: bool) -> bool:
    """Return whether equal elements of a key have the same bits, except NaN, and NumPy sorts them fast.

    A selection may exchange zeros of different signs.
    """
    values: Any = key.values
    width = values.itemsize
    if isinstance(key.nulls, Mask) or is_int128(values.dtype) or width == 1:
        return False
    if values.dtype.kind != "f" or selects:
        return True
    parts = np.array_split(values.view(f"i{width}"), len(values) // SLICE + 1)
    return not any((part == _SIGN[width]).any() for part in parts)


def sorted_values(key: SortKey) -> np.ndarray:
    """Return such a key in order."""
    values: Any = key.values
    times = are_times(key)
    if times:
        values = values.view(np.int64)
    count = helpers_for(WORK * len(values)) + 1 if values.itemsize >= MERGED else 1
    out, size = empty(len(values), values.dtype), -(-len(values) // count)
    bounds = [(i * size, min((i + 1) * size, len(values))) for i in range(count)]
    sort_between(bounds, values, out, WORK * len(values))
    pieces = [out[start:end] for start, end in bounds]
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


@njit
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

    A slice is merged from both ends at once, so that neither chain of comparisons waits for the other.
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
                later = np.intp(y < x)  # no branch, as comparisons cannot be predicted
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


def _by_numpy(keys: Sequence[SortKey], count: int) -> np.ndarray | None:
    """Return the positions of rows in the order of keys, by NumPy; None if it has another order, or takes longer."""
    few, narrows = count <= FEW // len(keys), len(keys) == 1 and count in NARROWED
    if not few and (not narrows or keys[0].values.dtype.kind not in "iu"):
        return None
    given: list[Any] = []
    for key in keys:
        values: Any = key.values
        kind = values.dtype.kind
        if isinstance(key.nulls, Mask) or kind in "mMV" or (kind == "f" and key.nulls_first):
            return None
        if isinstance(key.nulls, InBand) and kind == "i":  # NaT
            return None
        if key.descending:
            values = -values if kind == "f" else ~values
        given.append(values)
    found: np.ndarray
    if len(given) == 1:
        only = given[0]
        if kind in "iu" and only.itemsize > 2 and narrows:
            low = np.minimum.reduce(only)
            if int(np.maximum.reduce(only)) - int(low) <= NARROW:
                only = (only - low).astype(np.uint16)
        if not few and only.itemsize > 2:
            return None
        found = np.argsort(only, kind="stable")
    else:
        found = np.lexsort(given[::-1])
    return found


def sort(
    keys: Sequence[SortKey],
    arrays: Sequence[Any],
    starts: Any,
    *,
    positions: Positions,
    kth: Kth | None = None,
) -> list[Any]:
    """Return arrays in the order of keys; see `kernels.sort_pairs`."""
    alone = not positions and len(keys) == len(arrays) == 1 and arrays[0] is keys[0].values
    alone = alone and (starts is None or takes_segments(keys[0], starts, kth is not None))
    if alone and is_sorted_by_value(keys[0], starts is not None and kth is not None):
        if starts is None:
            return [sorted_values(keys[0])]
        return [sorted_segments(keys[0], starts, kth)]
    count = len(keys[0].values)
    found = None if starts is not None else _by_numpy(keys, count)
    if found is not None:
        return (take_all(arrays, found) if arrays else []) + [found] * bool(positions)
    fields = [fields_of(key) for key in keys]
    most = WORD_BITS - max(count - 1, 1).bit_length()
    chunks = chunks_of([field for each in fields for field in each], most)
    if (
        starts is not None or count <= LEAF or len(chunks) != 1
    ):  # rows are few, or keys take several words
        rows = order(chunks, count, starts)
        return (take_all(arrays, rows) if arrays else []) + [rows] * bool(positions)
    coded, place = [], chunks[0].width
    for key, each in zip(keys, fields, strict=True):
        place -= sum(field.width for field in each)
        if tells_values(key, each) and any(a is key.values for a in arrays):
            coded.append((key.values, each[0], place))
    codes = empty(count, np.uint64) if coded else NO_CODES
    rows = order(chunks, count, codes=codes)

    told = {id(values): (field, at) for values, field, at in coded}
    others = iter(take_all([a for a in arrays if id(a) not in told], rows))
    moved = [
        unpack(field, codes, at, a.dtype) if field else next(others)
        for a in arrays
        for field, at in [told.get(id(a), (None, 0))]
    ]
    return moved + [rows] * bool(positions)
