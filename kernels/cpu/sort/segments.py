"""Sorts segments of NumPy arrays, or selects some of their values.

Selection partitions without a branch on values: after Hoare, *Algorithm 65: find* (CACM 1961), with the median of three
as pivot, and Lomuto's partition; in long segments between two elements of a sample, after Floyd and Rivest, *Expected
time bounds for selection* (CACM 1975). Short segments are ranked: each element counts those before it. NumPy sorts
segments with the vector instructions of each CPU.
"""

# Numba reads these functions; annotations would say less than its own types do.
# mypy: disable-error-code="no-untyped-def"

from functools import lru_cache
from itertools import pairwise
from typing import Any

import numpy as np

from ...compiler import argument_types as types
from ...compiler.functions import cached_njit, njit
from ...nulls import InBand
from ...options import Kth, SortKey
from ..core.engine import STATUS, TICKET
from ..core.launch import (
    CONTROL,
    WORD,
    Kernel,
    array_type,
    empty,
    entry,
    helpers_for,
    run_kernel,
    run_team,
)
from ..core.memory import borrow, take_ticket
from ..core.shares import segments_at_once

SEGMENT = 64, 256
"""The average rows of segments from which on NumPy sorts each segment, instead of one radix sort of all: on one thread,
and on several, which wait for each other between short segments."""

WORK = 8
"""The work of a row in elements of a scan, which decides how many rows are worth a thread."""

LONG = 1 << 13
"""Rows from which on the radix sort is faster again.

Measured for two million float64 on two cores, milliseconds, NumPy and the radix sort: segments of 256 rows 17 and 37,
of 4,000 rows 23 and 32, of 16,000 rows 31 and 25, of 64,000 rows 40 and 27."""

RANKED = 32
"""The most rows of a segment that is ranked.

Nanoseconds for a row of segments of 2, 10, 24, 32 and 48 random rows, by insertion 13, 17, 20, 19, 16, ranked 4, 7, 10,
11, 13."""

PARTED = 24
"""The fewest rows of the rest of a segment that is partitioned, and not sorted by insertion."""

BRACKETED = 1 << 11
"""The fewest rows of a part that is bracketed by a sample. Medians of 20,000 rows: 3.4 ns a row without, 2.1 with."""

SAMPLE, GAP = 64, 5
"""The elements of a sample, and the distance of the two bracketing elements from the wanted rank."""

MIX = np.uint64(0x9E3779B97F4A7C15)
"""An odd multiplier with well mixed products (Knuth, *The Art of Computer Programming*, 6.4)."""


def are_times(key: SortKey) -> bool:
    """Return whether the least integer of a key is null."""
    dtype = key.values.dtype
    return dtype.kind in "mM" or (isinstance(key.nulls, InBand) and dtype == np.int64)


def takes_segments(key: SortKey, starts: np.ndarray, selects: bool) -> bool:
    """Return whether `sorted_segments` takes a key, for a sort or a selection."""
    if key.descending or key.nulls_first or are_times(key):
        return False
    if selects:
        return key.values.dtype != np.float16
    least = SEGMENT[helpers_for(len(key.values)) > 0]
    return least * len(starts) <= len(key.values) < LONG * len(starts)


def sorted_segments(key: SortKey, starts: np.ndarray, kth: Kth | None = None) -> np.ndarray:
    """Return such a key in order within each segment; with `kth`, only some places are."""
    values: Any = key.values
    out, ends = empty(len(values), values.dtype), np.append(starts, len(values))
    if kth is not None:
        values = np.require(values, requirements=["C", "A"])
        values = values.view(np.uint8) if values.dtype == np.bool_ else values
        target = out.view(values.dtype)
        share = segments_at_once(len(starts), len(values))
        counts, qs = np.ascontiguousarray(kth[0]), np.sort(np.asarray(kth[1], np.float64))
        given = values, ends, counts, qs, share, target
        run_kernel(WORK * len(values), _selecting(values.dtype), *given)
        return out
    sort_between(list(pairwise(ends.tolist())), values, out, WORK * len(values))
    return out


def sort_between(
    bounds: list[tuple[int, int]], values: np.ndarray, out: np.ndarray, elements: int
) -> None:
    """Sort the values between bounds by NumPy, on as many threads as `elements` are worth; `out` may be the values."""
    waiting = iter(bounds)

    def sort_parts(_: bool) -> None:
        for start, end in waiting:  # of all threads: each takes the next
            part = out[start:end]
            if out is not values:
                part[...] = values[start:end]
            part.sort()

    run_team(elements, np.zeros(STATUS, np.int64), sort_parts)


@cached_njit
def select_segments(values, ends, counts, qs, share, out, control):
    """Copy segments, and put the elements on both sides of each quantile there; the quantiles ascend."""
    values, ends, counts, qs = borrow(values), borrow(ends), borrow(counts), borrow(qs)
    out, control, count = borrow(out), borrow(control), len(ends) - 1
    while True:
        first = take_ticket(control, TICKET) * share
        if first >= count:
            break
        for segment in range(first, min(count, first + share)):
            start, end = ends[segment], ends[segment + 1]
            missing = np.int64(0)
            if end - start <= RANKED:
                for at in range(start, end):
                    value = values[np.uintp(at)]
                    missing += np.int64(value != value)
                if missing == 0:
                    _rank(values, out, start, end)
                    continue
            # NaN goes to the end, in any order
            low, high = start, end
            for at in range(start, end):
                value = values[np.uintp(at)]
                is_nan = np.intp(value != value)
                high -= is_nan
                place = high if is_nan else low
                out[np.uintp(place)] = value
                low += 1 - is_nan
            low = start
            for q in qs:
                lower, part = place_of(counts[segment], q)
                for place in range(start + lower, start + lower + (part > 0) + 1):
                    if low <= place < high:
                        _select(out, low, high, place)
                        low = place + 1


@njit
def place_of(count, q):
    """Return the place of a quantile among `count` values: a position, and the fraction of the way to the next one."""
    place = q * np.float64(max(count - 1, 0))
    lower = np.int64(place)
    return lower, place - lower


@njit
def _rank(values, out, start, end):
    """Put each element of a segment without NaN after those that are less, or equal and before it."""
    for at in range(start, end):
        value, place = values[np.uintp(at)], start
        for other in range(start, at):
            place += np.intp(values[np.uintp(other)] <= value)
        for other in range(at + 1, end):
            place += np.intp(values[np.uintp(other)] < value)
        out[np.uintp(place)] = value


@njit
def _select(values, low, high, place):
    """Put at `place` the element that a sort would put there; none before is greater, and none after is less."""
    while high - low > PARTED:
        if place == low:
            _select_least(values, low, high)
            return
        width, mixed = np.uint64(high - low), np.uint64(low + 1) * MIX + np.uint64(high)
        if high - low >= BRACKETED:
            _draw(values, low, high, mixed)
            rank = (place - low) * SAMPLE // (high - low)
            least = values[low + max(rank - GAP, 0)]
            most = values[low + min(rank + GAP + 1, SAMPLE - 1)]
            last = _part(values, low, high, most, True)
            if place >= last:
                low = last
                continue
            first = _part(values, low, last, least, False)
            if place < first:
                high = first
                continue
            if least == most:
                return
            if np.uint64(last - first) < width:
                low, high = first, last
                continue
        # at random places, as rows may be in any order
        a = values[low + np.intp((mixed >> np.uint64(33)) % width)]
        b = values[low + np.intp((mixed >> np.uint64(13)) % width)]
        c = values[low + np.intp((mixed * MIX >> np.uint64(33)) % width)]
        pivot = max(min(a, b), min(max(a, b), c))
        less = _part(values, low, high, pivot, False)
        if place < less:
            high = less
            continue
        # those that equal the pivot are next: there is one, so that each round leaves fewer
        equal = _part(values, less, high, pivot, True)
        if place < equal:
            return
        low = equal
    _insert(values, low, high)


@njit
def _part(values, low, high, pivot, equal):
    """Put elements below a pivot first, with `equal` also those that equal it; return where they end."""
    end = low
    for at in range(low, high):
        value = values[np.uintp(at)]
        values[np.uintp(at)] = values[np.uintp(end)]
        values[np.uintp(end)] = value
        end += np.intp(value <= pivot) if equal else np.intp(value < pivot)
    return end


@njit
def _select_least(values, low, high):
    """Put the least element first."""
    least, where = values[np.uintp(low)], low
    for at in range(low + 1, high):
        value = values[np.uintp(at)]
        if value < least:
            least, where = value, at
    values[np.uintp(where)] = values[np.uintp(low)]
    values[np.uintp(low)] = least


@njit
def _draw(values, low, high, mixed):
    """Put a sample of the elements first, in order."""
    for first in range(low, low + SAMPLE):
        mixed = mixed * MIX + np.uint64(1)
        at = first + np.intp((mixed >> np.uint64(33)) % np.uint64(high - first))
        value = values[np.uintp(at)]
        values[np.uintp(at)] = values[np.uintp(first)]
        values[np.uintp(first)] = value
    _insert(values, low, low + SAMPLE)


@njit
def _insert(values, low, high):
    """Sort elements by insertion."""
    for at in range(low + 1, high):
        value, before = values[np.uintp(at)], at
        while before > low and values[np.uintp(before - 1)] > value:
            values[np.uintp(before)] = values[np.uintp(before - 1)]
            before -= 1
        values[np.uintp(before)] = value


@lru_cache(maxsize=16)
def _selecting(dtype: np.dtype) -> Kernel:
    words, qs = array_type(WORD, True, "C"), array_type(np.dtype(np.float64), layout="C")
    given = array_type(dtype, True, "C"), words, words, qs, types.int64
    return entry(select_segments, (*given, array_type(dtype, layout="C"), CONTROL))
