"""As-of matches of NumPy arrays: each thread walks a part of both sides in their order.

With codes, a table has the last row of each code. Each part starts from the table of the rows before it: the largest
row of each code in any earlier part.
"""

# Numba reads these functions; annotations would say less than its own types do.
# mypy: disable-error-code="no-untyped-def"

from functools import lru_cache
from typing import Any

import numpy as np

from ..compiler import argument_types as types
from ..compiler.functions import cached_njit, njit, overloaded
from ..compiler.late import numba
from ..options import AsOfOptions, Unsorted
from .core.engine import FAILED, TICKET
from .core.launch import CONTROL, WORD, Kernel, array_type, empty, entry, helpers_for, run_kernel
from .core.memory import borrow, take_ticket
from .sort.sorted_values import is_sorted

WORK = 4
"""The work of a row in elements of a scan, which decides how many rows are worth a thread."""

SLICE = 1 << 14
"""Rows that a thread takes at once, if there are no codes."""

SIMILAR = 3
"""The greatest ratio of the sides' rows at which they are merged without branches.

Beyond it most comparisons are predictable. Milliseconds for 10**7 left rows on two cores, with and without branches:
for as many right rows in random order 71, 34; for a twentieth 18, 22. For 10**6 left rows: half as many 4.7, 2.7; a
quarter 3.2, 3.4.
"""

ROWS = array_type(WORD)


def asof(
    left: np.ndarray, right: np.ndarray, codes: Any, groups: int, options: AsOfOptions
) -> np.ndarray:
    """Return the row of the right side for each of the left; see `kernels.asof`."""
    if not is_sorted(right, None):
        raise Unsorted("right must not decrease")
    if not len(left):  # an empty frame needs no kernel
        return np.empty(0, WORD)
    rows, *other = [
        _one_way(left, right, codes, groups, options.exact, forward) for forward in options.ways
    ]
    limit = options.limit(left.dtype)
    if limit is not None or other:
        choosing = _choosing(left.dtype, bool(other))
        last = other[0] if other else None
        run_kernel(len(left), choosing, left, right, rows, last, limit is not None, limit or 0)
    return rows


def _one_way(
    left: np.ndarray, right: np.ndarray, codes: Any, groups: int, exact: bool, forward: bool
) -> np.ndarray:
    """Return the nearest right row before (or after) each left row; -1 if there is none."""
    rows = empty(len(left), WORD)
    step = -1 if forward else 1
    sides = [a[::step] for a in (left, right, *(codes or ()))]
    length, tables = SLICE, None
    if codes is not None:
        parts = min(helpers_for(WORK * len(left)) + 1, max(len(left) // max(groups, 1), 1))
        length = -(-len(left) // parts) or 1
        tables = np.full((parts, groups), -1, np.int64)
        if parts > 1:
            filling = _filling(left.dtype, codes[0].dtype, codes[1].dtype)
            run_kernel(
                WORK * len(left), filling, *sides[:2], sides[3], tables, length, exact, forward
            )
            np.maximum.accumulate(tables, axis=0, out=tables)
    kernel = _walking(left.dtype, *(c.dtype for c in codes or ()))
    given = sides if codes is not None else [*sides, None, None]
    given += [tables, rows[::step], length, exact, forward]
    if run_kernel(WORK * len(left), kernel, *given)[FAILED]:
        raise Unsorted("left must not decrease")
    return rows


@njit
def _comes(row, of, exact, forward):
    """Return whether a right row comes before a left row, in the order of the walk."""
    if forward:
        return row >= of if exact else row > of
    return row <= of if exact else row < of


@njit
def _before(right, of, exact, forward):
    """Return how many rows of the right side come before a row of the left."""
    low, high = 0, len(right)
    while low < high:
        middle = (low + high) // 2
        if _comes(right[middle], of, exact, forward):
            low = middle + 1
        else:
            high = middle
    return low


@cached_njit
def fill_tables(left, right, codes, tables, length, exact, forward, control):
    """Write the last row of each code in a part to the table of the next part."""
    left, right, codes = borrow(left), borrow(right), borrow(codes)
    tables, control = borrow(tables), borrow(control)
    while True:
        part = take_ticket(control, TICKET)
        if (part + 1) * length >= len(left):
            break
        first = 0 if part == 0 else _before(right, left[part * length], exact, forward)
        for j in range(first, _before(right, left[(part + 1) * length], exact, forward)):
            tables[part + 1, np.uintp(codes[j])] = j


@njit
def _is_ordered(left, start, end, forward):
    """Return whether rows of the left side are in order, with the one before them."""
    before, wrong = left[max(start - 1, 0)], 0
    if not _comes(before, left[start], True, forward):  # false for NaN, even alone
        return False
    if forward:  # two loops, for vector instructions
        for i in range(start + 1, end):
            wrong += not left[np.uintp(i - 1)] >= left[np.uintp(i)]
    else:
        for i in range(start + 1, end):
            wrong += not left[np.uintp(i - 1)] <= left[np.uintp(i)]
    return wrong == 0


@njit
def _merge_part(left, right, rows, start, end, exact, forward):
    """Write the last row of the right side that comes before each row of a part of the left.

    Both sides are merged from both ends at once, so that neither chain of comparisons waits for the other.
    """
    first, last = start, end
    low, high = (
        _before(right, left[start], exact, forward),
        _before(right, left[end - 1], exact, forward),
    )
    both = min(last - first, high - low) // 2
    while 2 * both * SIMILAR > max(last - first, high - low):
        for _ in range(both):  # no branch, as comparisons cannot be predicted
            comes = np.intp(_comes(right[np.uintp(low)], left[np.uintp(first)], exact, forward))
            rows[np.uintp(first)] = (
                low - 1
            )  # until the last row that comes before it has been passed
            low, first = low + comes, first + 1 - comes
            comes = np.intp(
                _comes(right[np.uintp(high - 1)], left[np.uintp(last - 1)], exact, forward)
            )
            rows[np.uintp(last - 1)] = high - 1
            high, last = high - 1 + comes, last - comes
        both = min(last - first, high - low) // 2
    for i in range(first, last):
        while low < high and _comes(right[low], left[i], exact, forward):
            low += 1
        rows[i] = low - 1


@njit
def _walk_part(left, right, codes, right_codes, table, rows, start, end, exact, forward):
    """Write the last row of the right side of its code that comes before each row of a part of the left."""
    j = _before(right, left[start], exact, forward)
    if start == 0:
        for i in range(j):
            table[np.uintp(right_codes[i])] = i
    for i in range(start, end):
        while j < len(right) and _comes(right[j], left[i], exact, forward):
            table[np.uintp(right_codes[j])] = j
            j += 1
        rows[i] = table[np.uintp(codes[i])]


@njit
def _answer_part(left, right, codes, right_codes, tables, rows, part, start, end, exact, forward):
    """Write a part, with codes or without."""
    if codes is None:
        _merge_part(left, right, rows, start, end, exact, forward)
    else:
        _walk_part(left, right, codes, right_codes, tables[part], rows, start, end, exact, forward)


@cached_njit
def walk(left, right, left_codes, right_codes, tables, rows, length, exact, forward, control):
    """Write the last row of the right side that comes before each row of the left, of its code if there are codes.

    The control array says if the left side is not in order.
    """
    left, right, rows, control = borrow(left), borrow(right), borrow(rows), borrow(control)
    left_codes, right_codes, tables = borrow(left_codes), borrow(right_codes), borrow(tables)
    count = len(right)
    while True:
        part = take_ticket(control, TICKET)
        start = part * length
        if start >= len(left):
            break
        end = min(start + length, len(left))
        if not _is_ordered(left, start, end, forward):
            control[FAILED] = 1
            continue
        _answer_part(
            left, right, left_codes, right_codes, tables, rows, part, start, end, exact, forward
        )
        if forward:
            for i in range(start, end):
                rows[i] = count - 1 - rows[i] if rows[i] >= 0 else rows[i]


def _distance(high, low):
    """Return the distance of two values; for integers unsigned, so that it always fits."""
    raise NotImplementedError  # Numba would unify the types of two branches, and round integers


@overloaded(_distance)
def _distance_of(high, low):
    if isinstance(high, numba.types.Float):
        return lambda high, low: high - low
    return lambda high, low: np.uint64(high) - np.uint64(low)


@njit
def _nearer(of, right, row, others, i):
    """Return the nearer of a row before and a row after, if both are wanted; the former if they are equally near."""
    if others is None:
        return row
    other = others[i]
    if row < 0:
        return other
    if other < 0 or right[row] == of:
        return row
    return other if _distance(of, right[row]) > _distance(right[other], of) else row


@cached_njit
def choose(left, right, rows, others, limited, limit, control):
    """Choose the nearer of two rows, the first if they are equally near; -1 if it is farther away than the limit."""
    left, right, rows, control = borrow(left), borrow(right), borrow(rows), borrow(control)
    others = borrow(others)
    while True:
        start = take_ticket(control, TICKET) * SLICE
        if start >= len(left):
            break
        for i in range(start, min(start + SLICE, len(left))):
            of = left[i]
            row = _nearer(of, right, rows[i], others, i)
            if limited and row >= 0:
                value = right[row]
                apart = _distance(value, of) if value > of else _distance(of, value)
                row = -1 if apart > limit else row
            rows[i] = row


def _values(dtype: np.dtype) -> types.Type:
    return array_type(dtype, True)


@lru_cache(maxsize=32)
def _walking(dtype: np.dtype, *codes_of: np.dtype) -> Kernel:
    codes = [_values(d) for d in codes_of] or [types.none, types.none]
    tables = types.Array(types.int64, 2, "C") if codes_of else types.none
    flags = types.boolean, types.boolean
    sides = _values(dtype), _values(dtype)
    return entry(walk, (*sides, *codes, tables, ROWS, types.int64, *flags, CONTROL))


@lru_cache(maxsize=32)
def _filling(dtype: np.dtype, left: np.dtype, right: np.dtype) -> Kernel:
    sides = _values(dtype), _values(dtype), _values(right)
    tables = types.Array(types.int64, 2, "C")
    flags = types.boolean, types.boolean
    return entry(fill_tables, (*sides, tables, types.int64, *flags, CONTROL))


@lru_cache(maxsize=32)
def _choosing(dtype: np.dtype, two: bool) -> Kernel:
    sides = _values(dtype), _values(dtype)
    other = ROWS if two else types.none
    limit = types.Number(dtype) if dtype.kind == "f" else types.uint64
    return entry(choose, (*sides, ROWS, other, types.boolean, limit, CONTROL))
