"""Counting sorts that bring rows of NumPy arrays together by the codes of their groups.

Few groups take one sort, many groups one for each digit of their codes, the least significant first. Each chunk of rows
counts its codes and moves its values to its own places: the rows of a group keep their order, and no two threads write
to the same place.
"""

# Numba reads these functions; annotations would say less than its own types do.
# mypy: disable-error-code="no-untyped-def"

from collections.abc import Sequence
from functools import lru_cache
from typing import Any

import numpy as np

from ...compiler import argument_types as types
from ...compiler.functions import cached_njit
from ...options import SortKey
from ..core.engine import TICKET
from ..core.launch import CONTROL, Kernel, array_type, empty, entry, helpers_for, run_kernel
from ..core.memory import borrow, take_ticket
from ..sort.sort import sort

CHUNKS = 4
"""Chunks for each thread, so that no thread waits long for another."""

ROWS = 1 << 14
"""Rows of a chunk at least."""

ROOM = 16
"""Rows of a chunk at least for each group, as the counts of all chunks are added up by one thread."""

WORK = 4
"""The work of a row in elements of a scan, which decides how many rows are worth a thread."""

TEAM = 4
"""Helpers from which on rows are sorted by a radix sort and gathered. Medians of a million and of 20 million rows by
10^6 keys took 27 and 228 ms in this way on 16 cores, and 33 and 283 by counting sorts; on two cores the latter take two
thirds of the time."""

FEW = 1 << 12
"""Rows up to which NumPy brings them together: 1,000 take 20 microseconds, and kernels 62."""

MOST = np.iinfo(np.int32).max

DIGIT = 12
"""The most bits of a digit: the places of its codes stay in a core's L1 cache."""


def arrange(
    codes: np.ndarray, groups: int, arrays: Sequence[np.ndarray]
) -> tuple[np.ndarray, list[np.ndarray]]:
    """Bring the rows of each group together; see `kernels.factorize.arrange_by_code`."""
    return _arranged(codes, 0, groups, arrays)


def sort_by_code(
    codes: np.ndarray, groups: int, arrays: Sequence[np.ndarray]
) -> tuple[np.ndarray, np.ndarray, list[np.ndarray]]:
    """Return sorted codes, the old positions of rows, and arrays; see `kernels.factorize.sort_by_code`."""
    length = len(codes)
    if helpers_for(length) >= TEAM:
        codes, *found, rows = sort([SortKey(codes)], [codes, *arrays], None, positions=True)
        return codes, rows, found
    bits = max(groups - 1, 1).bit_length()
    steps = -(-bits // DIGIT)
    digit = -(-bits // steps)
    rows = np.arange(length, dtype=np.int32 if length <= MOST else np.int64)
    moved = [codes, rows, *arrays]
    for shift in range(0, bits, digit):
        _, moved = _arranged(moved[0], shift, 1 << min(digit, bits - shift), moved)
    return moved[0], moved[1], moved[2:]


def _arranged(
    codes: np.ndarray, shift: int, groups: int, arrays: Sequence[np.ndarray]
) -> tuple[np.ndarray, list[np.ndarray]]:
    """Return the starts of groups, and arrays with the rows of each group together, by codes from a bit on."""
    codes = np.require(codes, requirements=["C", "A"])
    length, mask = len(codes), max(1 << max(groups - 1, 0).bit_length(), 1) - 1
    if length <= FEW:
        digits = ((codes >> shift) & mask).astype(np.uint16)
        rows, counts = np.argsort(digits, kind="stable"), np.bincount(digits, minlength=groups)
        return np.cumsum(counts) - counts, [array.take(rows) for array in arrays]
    most = CHUNKS * (helpers_for(WORK * length) + 1)
    size = max(ROWS, ROOM * groups, -(-length // most))
    counts = np.zeros((max(1, -(-length // size)), groups), np.int64)
    run_kernel(WORK * length, _counting(codes.dtype), codes, shift, mask, size, counts)
    sums = counts.sum(axis=0)
    starts = np.cumsum(sums) - sums
    before = np.cumsum(counts, axis=0) - counts + starts
    out = []
    for array in arrays:
        words = np.require(array, requirements=["C", "A"]).view(f"u{array.itemsize}")
        moved = empty(length, words.dtype)
        kernel = _moving(codes.dtype, words.dtype)
        run_kernel(WORK * length, kernel, codes, shift, mask, words, size, before.copy(), moved)
        out.append(moved.view(array.dtype))
    return starts, out


@cached_njit
def count_codes(codes, shift, mask, size, counts, control):
    """Count some bits of the codes of each chunk of `size` rows."""
    codes, counts, control = borrow(codes), borrow(counts), borrow(control)
    while True:
        chunk = take_ticket(control, TICKET)
        if chunk >= len(counts):
            break
        first = chunk * size
        for at in range(first, min(len(codes), first + size)):
            counts[chunk, np.uintp((codes[np.uintp(at)] >> shift) & mask)] += 1


@cached_njit
def move_values(codes, shift, mask, values, size, places, out, control):
    """Move each value of a chunk to the next place of some bits of its code."""
    codes, values, out = borrow(codes), borrow(values), borrow(out)
    places, control = borrow(places), borrow(control)
    while True:
        chunk = take_ticket(control, TICKET)
        if chunk >= len(places):
            break
        first = chunk * size
        for at in range(first, min(len(codes), first + size)):
            code = np.uintp((codes[np.uintp(at)] >> shift) & mask)
            place = places[chunk, code]
            out[np.uintp(place)] = values[np.uintp(at)]
            places[chunk, code] = place + 1


_TABLE: Any = types.Array(types.int64, 2, "C")


@lru_cache(maxsize=2)
def _counting(code: np.dtype) -> Kernel:
    bits = types.int64, types.int64
    return entry(count_codes, (array_type(code, True, "C"), *bits, types.int64, _TABLE, CONTROL))


@lru_cache(maxsize=8)
def _moving(code: np.dtype, word: np.dtype) -> Kernel:
    given = (
        array_type(code, True, "C"),
        types.int64,
        types.int64,
        array_type(word, True, "C"),
        types.int64,
    )
    return entry(move_values, (*given, _TABLE, array_type(word, layout="C"), CONTROL))
