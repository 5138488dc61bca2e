"""As-of matches of NumPy arrays: each thread merges a part of both sides.

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
from .sort.sorted_values import is_ordered, is_sorted

WORK = 4
"""The work of a row in elements of a scan, which decides how many rows are worth a thread."""

SLICE = 1 << 14
"""Rows that a thread takes at once, if there are no codes."""

SHORT = 16
"""Steps of a merge for which it is not worth going on in four places at once."""

ROWS = array_type(WORD)


def asof(
    left: np.ndarray, right: np.ndarray, codes: Any, groups: int, options: AsOfOptions
) -> np.ndarray:
    """Return the row of the right side for each of the left; see `kernels.asof`."""
    left, right = np.ascontiguousarray(left), np.ascontiguousarray(right)
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
    if codes is None:
        kernel, given = _merging(left.dtype), (left, right, rows, exact == forward, forward)
    else:
        step = -1 if forward else 1
        sides = [a[::step] for a in (left, right, *codes)]
        parts = min(helpers_for(WORK * len(left)) + 1, max(len(left) // max(groups, 1), 1))
        length = -(-len(left) // parts) or 1
        tables = np.full((parts, groups), -1, np.int64)
        if parts > 1:
            filling = _filling(left.dtype, codes[0].dtype, codes[1].dtype)
            run_kernel(
                WORK * len(left), filling, *sides[:2], sides[3], tables, length, exact, forward
            )
            np.maximum.accumulate(tables, axis=0, out=tables)
        kernel = _walking(left.dtype, *(c.dtype for c in codes))
        given = *sides, tables, rows[::step], length, exact, forward
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
def _step(left, right, rows, i, j, exact, back):
    """Compare a row of each side, and return the next ones; no branch, as comparisons cannot be predicted."""
    comes = np.intp(_comes(right[np.uintp(j)], left[np.uintp(i)], exact, False))
    rows[np.uintp(i)] = j - back  # until the last row that comes before it has been passed
    return i + 1 - comes, j + comes


@njit
def _merge_part(left, right, rows, start, end, exact, back, last):
    """Write how many right rows come before each row of a part of the left, less `back`; `last` if all of them come.

    The part is merged in four places at once, so that their chains of comparisons do not wait for each other.
    """
    count = len(right)
    while end > start and (count == 0 or _comes(right[count - 1], left[end - 1], exact, False)):
        end -= 1
        rows[end] = last
    quarter = (end - start) // 4
    starts = start, start + quarter, start + 2 * quarter, start + 3 * quarter
    a, b, c, d = starts
    w, x = _before(right, left[a], exact, False), _before(right, left[b], exact, False)
    y, z = _before(right, left[c], exact, False), _before(right, left[d], exact, False)
    steps = quarter
    while steps > SHORT:
        for _ in range(steps):
            a, w = _step(left, right, rows, a, w, exact, back)
            b, x = _step(left, right, rows, b, x, exact, back)
            c, y = _step(left, right, rows, c, y, exact, back)
            d, z = _step(left, right, rows, d, z, exact, back)
        steps = min(starts[1] - a, starts[2] - b, starts[3] - c, end - d)
    for i, j, stop in ((a, w, starts[1]), (b, x, starts[2]), (c, y, starts[3]), (d, z, end)):
        while i < stop:
            while _comes(right[j], left[i], exact, False):
                j += 1
            rows[i] = j - back
            i += 1


@cached_njit
def merge(left, right, rows, strict, forward, control):
    """Write the last row of the right side before each row of the left, or the first one after it.

    The control array says if the left side is not in order.
    """
    left, right = borrow(left), borrow(right)
    rows, control = borrow(rows), borrow(control)
    back, last = (0, -1) if forward else (1, len(right) - 1)
    while True:
        start = take_ticket(control, TICKET) * SLICE
        if start >= len(left):
            break
        end = min(start + SLICE, len(left))
        if is_ordered(left, start, end, False):
            _merge_part(left, right, rows, start, end, not strict, back, last)
        else:
            control[FAILED] = 1


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


@cached_njit
def walk(left, right, left_codes, right_codes, tables, rows, length, exact, forward, control):
    """Write the last row of the right side that comes before each row of the left, of its code.

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
        if not is_ordered(left, start, end, forward):
            control[FAILED] = 1
            continue
        _walk_part(
            left, right, left_codes, right_codes, tables[part], rows, start, end, exact, forward
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
def _merging(dtype: np.dtype) -> Kernel:
    side = array_type(dtype, True, "C")
    rows = array_type(WORD, layout="C")
    return entry(merge, (side, side, rows, types.boolean, types.boolean, CONTROL))


@lru_cache(maxsize=32)
def _walking(dtype: np.dtype, *codes_of: np.dtype) -> Kernel:
    codes = [_values(d) for d in codes_of]
    tables = types.Array(types.int64, 2, "C")
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
