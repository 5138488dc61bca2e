"""Sorted NumPy arrays: ranks, quantiles, places of sorted needles, and whether values are sorted.

Ranks are made slice by slice; runs are followed beyond the ends of a slice. Threads merge needles and values in parts
of one length.
"""

# Numba reads these functions; annotations would say less than its own types do.
# mypy: disable-error-code="no-untyped-def"

from functools import lru_cache

import numpy as np

from ...compiler import argument_types as types
from ...compiler.functions import cached_njit, njit
from ...options import RANKS
from ..core.engine import FAILED, TICKET
from ..core.launch import CONTROL, WORD, Kernel, array_type, empty, entry, run_kernel
from ..core.memory import borrow, take_ticket
from .permute import WORK
from .segments import place_of

SLICE = 1 << 14
"""Rows that a thread takes at once."""

FLOAT64 = np.dtype(np.float64)


def tied_ranks(keys: np.ndarray, method: str, groups: np.ndarray | None) -> np.ndarray:
    """Return the ranks of sorted keys; see `kernels.sorted_values.tied_ranks`."""
    out = empty(len(keys), FLOAT64)
    kernel = _kernel(keys.dtype, None if groups is None else groups.dtype)
    run_kernel(WORK * len(keys), kernel, keys, groups, *RANKS[method], out)
    return out


def sorted_quantiles(
    values: np.ndarray, starts: np.ndarray, counts: np.ndarray, q: float, *, midpoint: bool
) -> np.ndarray:
    """Return a quantile of each segment of sorted values; see `kernels.sorted_values.sorted_quantiles`."""
    out, values = empty(len(starts), FLOAT64), _plain(values)
    kernel = _quantiles(values.dtype)
    run_kernel(WORK * len(starts), kernel, values, starts, counts, q, midpoint, out)
    return out


@cached_njit
def find_quantiles(values, starts, counts, q, midpoint, out, control):
    """Write a quantile of the first `counts` values of each segment; NaN if there are none."""
    values, starts, counts = borrow(values), borrow(starts), borrow(counts)
    out, control = borrow(out), borrow(control)
    while True:
        begin = take_ticket(control, TICKET) * SLICE
        if begin >= len(out):
            break
        for segment in range(begin, min(begin + SLICE, len(out))):
            if counts[segment] == 0:
                out[segment] = np.nan
                continue
            lower, share = place_of(counts[segment], q)
            at = starts[segment] + lower
            below = np.float64(values[at]) + 0.0
            if share > 0:
                above = np.float64(values[at + 1]) + 0.0
                below = (below + above) / 2 if midpoint else below + (above - below) * share
            out[segment] = below


@lru_cache(maxsize=16)
def _quantiles(dtype: np.dtype) -> Kernel:
    words, q = array_type(WORD, True), types.float64
    given = array_type(dtype, True), words, words, q, types.boolean
    return entry(find_quantiles, (*given, array_type(FLOAT64, layout="C"), CONTROL))


@njit
def _alike(keys, groups, row, other):
    """Return whether two rows have the same group, if there are groups, and the same key; NaN equals NaN."""
    key, another = keys[row], keys[other]
    alike = key == another or (key != key and another != another)
    if groups is not None:
        alike &= groups[row] == groups[other]
    return alike


@njit
def _run_on(keys, groups, row, step, most):
    """Return how many rows after a row, or before it with step -1, are like it, up to `most`."""
    known, reach = 0, 1
    while known + reach <= most and _alike(keys, groups, row + step * (known + reach), row):
        known += reach
        reach *= 2
    while reach:
        if known + reach <= most and _alike(keys, groups, row + step * (known + reach), row):
            known += reach
        reach //= 2
    return known


@cached_njit
def rank_rows(keys, groups, more, share, out, control):
    """Write the rank of each key in its group: the keys before its run, plus `more`, plus a share of the run."""
    keys, out, control = borrow(keys), borrow(out), borrow(control)
    borrowed = borrow(groups)
    count = len(keys)
    while True:
        begin = take_ticket(control, TICKET) * SLICE
        if begin >= count:
            break
        end = min(begin + SLICE, count)
        first = begin - _run_on(keys, borrowed, begin, -1, begin)
        base = 0 if groups is None else begin - _run_on(borrowed, None, begin, -1, begin)
        row = begin
        while row < end:
            stop = row + 1
            while stop < end and _alike(keys, borrowed, stop, row):
                stop += 1
            last = stop
            if stop == end and end < count:
                last += _run_on(keys, borrowed, end - 1, 1, count - end)
            rank = first - base + more + share * (last - first)
            for i in range(row, stop):
                out[i] = rank
            if groups is not None:
                base = stop if borrowed[min(stop, end - 1)] != borrowed[row] else base
            first = row = stop


@lru_cache(maxsize=16)
def _kernel(dtype: np.dtype, group: np.dtype | None) -> Kernel:
    groups = types.none if group is None else array_type(group, True)
    number, out = types.float64, array_type(FLOAT64)
    return entry(rank_rows, (array_type(dtype, True), groups, number, number, out, CONTROL))


def is_sorted(values: np.ndarray, heads: np.ndarray | None) -> bool:
    """Return whether values never decrease; see `kernels.sorted_values.is_sorted`."""
    if not len(values):
        return True
    values = np.ascontiguousarray(values)
    kernel = _comparing(values.dtype, heads is not None)
    return not run_kernel(len(values), kernel, values, heads)[FAILED]


@njit
def is_ordered(values, start, stop, descending):
    """Return whether values from `start` on, with the one before, never decrease, or never increase."""
    before, wrong = values[max(start - 1, 0)], 0
    if descending:  # two loops, for vector instructions
        wrong += not before >= values[start]  # NaN is in no order, even alone
        for i in range(start + 1, stop):
            wrong += not values[np.uintp(i - 1)] >= values[np.uintp(i)]
    else:
        wrong += not before <= values[start]
        for i in range(start + 1, stop):
            wrong += not values[np.uintp(i - 1)] <= values[np.uintp(i)]
    return wrong == 0


@cached_njit
def compare(values, heads, control):
    """Set a flag in the control array if an element, other than a head, is less than the one before, or is NaN."""
    values, control = borrow(values), borrow(control)
    while control[FAILED] == 0:
        start = take_ticket(control, TICKET) * SLICE
        if start >= len(values):
            break
        stop = min(len(values), start + SLICE)
        if heads is None:
            ordered = is_ordered(values, start, stop, False)
        else:
            ordered = heads[start] | (values[start] >= values[max(start - 1, 0)])
            for i in range(start + 1, stop):
                ordered &= (values[i] >= values[i - 1]) | heads[i]
        if not ordered:
            control[FAILED] = 1


@lru_cache(maxsize=16)
def _comparing(dtype: np.dtype, has_heads: bool) -> Kernel:
    heads = array_type(np.dtype(np.bool_), True) if has_heads else types.none
    return entry(compare, (array_type(dtype, True, "C"), heads, CONTROL))


PART = 1 << 14
"""Needles and values that a thread merges at once."""

AHEAD_OF_TIMES = np.uint64((1 << 63) - 1)
"""Added to the bits of times, makes them unsigned integers of their order, NaT the last."""


def searchsorted_sorted(needles: np.ndarray, haystack: np.ndarray, *, right: bool) -> np.ndarray:
    """Return where needles would be inserted; see `kernels.sorted_values.searchsorted_sorted`."""
    out = empty(len(needles), WORD)
    sides = [_ordered(side) for side in (needles, haystack)]
    run_kernel(WORK * (len(needles) + len(haystack)), _merging(sides[0].dtype), *sides, right, out)
    return out


def _ordered(array: np.ndarray) -> np.ndarray:
    """Return numbers of the same order in a dtype that Numba has."""
    return array.view(np.uint64) + AHEAD_OF_TIMES if array.dtype.kind in "mM" else _plain(array)


def _plain(array: np.ndarray) -> np.ndarray:
    """Return the same numbers, of a dtype that Numba has."""
    return array.astype(np.float32) if array.dtype == np.float16 else array


@njit
def _less(a, b):
    """Return whether a value is less than another; NaN is the largest."""
    return (a < b) | ((b != b) & (a == a))


@njit
def _comes(needle, value, right):
    """Return whether a needle comes before a value in the merge."""
    return _less(needle, value) if right else not _less(value, needle)


@njit
def _needles_before(needles, haystack, step, right):
    """Return how many of the first `step` elements of the merged sides are needles."""
    low, high = max(step - len(haystack), 0), min(step, len(needles))
    while low < high:
        middle = (low + high) // 2
        if _comes(needles[middle], haystack[step - 1 - middle], right):
            low = middle + 1
        else:
            high = middle
    return low


@cached_njit
def merge(needles, haystack, right, out, control):
    """Write how many values come before each needle, part by part of the merged sides."""
    needles, haystack = borrow(needles), borrow(haystack)
    out, control = borrow(out), borrow(control)
    length = len(needles) + len(haystack)
    while True:
        begin = take_ticket(control, TICKET) * PART
        if begin >= length:
            break
        i = _needles_before(needles, haystack, begin, right)
        stop = _needles_before(needles, haystack, min(begin + PART, length), right)
        j = begin - i
        while i < stop:
            needle = needles[i]
            while j < len(haystack) and not _comes(needle, haystack[j], right):
                j += 1
            out[i] = j
            i += 1


@lru_cache(maxsize=32)
def _merging(dtype: np.dtype) -> Kernel:
    side = array_type(dtype, True)
    return entry(merge, (side, side, types.boolean, array_type(WORD), CONTROL))
