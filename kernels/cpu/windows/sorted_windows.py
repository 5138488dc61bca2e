"""Order statistics of short windows of NumPy arrays: their values are kept in order, row by row.

At each row one value leaves and one enters, in two passes over the values without branches, which LLVM compiles to
vector instructions. Missing values are stored as infinity, and so come last.
"""

# Numba reads these functions; annotations would say less than its own types do.
# mypy: disable-error-code="no-untyped-def"

from functools import lru_cache, partial

import numpy as np

from ...compiler import argument_types as types
from ...compiler.functions import ALLOCATING, cached_njit, njit
from ...options import DISTINCT, QUANTILE, RANK, OrderStatistic, as_numbers
from ...windows import Windows
from ..core.engine import TICKET
from ..core.launch import CONTROL, WORD, Kernel, array_type, empty, entry, run_kernel
from ..core.memory import borrow, take_ticket

LONGEST = 512
"""Rows of a window at most. One of 512 takes 161 ns on one core of an AMD EPYC, by a wavelet matrix 228; of 100 rows 58
and 279, of 3 rows 25 and 116."""

SLICE = 1 << 12
"""Windows that a thread takes at once; the values of the first are put in order one by one."""

VALUES, ROWS = array_type(np.dtype(np.float64)), array_type(WORD)


def sorted_windows(
    statistic: OrderStatistic, values: np.ndarray, windows: Windows, least: int
) -> np.ndarray:
    """Return an order statistic of each window; none has more than `LONGEST` rows."""
    out = empty(windows.number, values.dtype)
    none = np.empty(0, WORD)
    starts, stops = [*windows.bounds, none, none][:2]
    shift, width = windows.around
    asked = as_numbers(statistic)
    run_kernel(len(out), _walking(), values, starts, stops, shift, width, *asked, least, out)
    return out


@njit
def share_of(way, share, place):
    """Return the fraction of the way from the value at a place to the next for a quantile, by its interpolation."""
    if way == 0 or share == 0.0:
        return share
    if way == 1:
        return 0.0
    if way == 2:
        return 1.0
    if way == 3:
        return 0.5
    return 1.0 if share > 0.5 or (share == 0.5 and place % 2 == 1) else 0.0


@njit
def between(value, other, share, way):
    """Return the number at a fraction of the way from a value to the next."""
    return (value + other) / 2.0 if way == 3 else value + (other - value) * share


@njit
def rank_of(less, equal, found, added, share, ascending, pct):
    """Return the rank of a value among `found` values: `less` are less, and `equal`, with itself, are equal."""
    before = less if ascending else found - less - equal
    rank = before + added + share * equal
    return rank / found if pct else rank


@njit
def _kept(value):
    """Return a value to keep: zeros get one sign, so that their order does not matter."""
    return value + 0.0 if abs(value) < np.inf else np.inf


@njit
def _clip(value, least, most):
    return min(max(value, least), most)


@njit
def _replace(kept, moved, old, added):
    """Replace one value by another; infinity is no value, and one more infinity follows the last value."""
    one = np.uintp(1)
    for i in range(len(moved)):
        at = np.uintp(i)
        here, following = kept[at], kept[at + one]
        moved[at] = here if here < old else following
    kept[0] = moved[0] if moved[0] < added else added
    for i in range(1, len(moved)):
        at = np.uintp(i)
        before, here = moved[at - one], moved[at]
        low = before if before > added else added
        kept[at] = low if low < here else here


@njit
def _answer(kept, found, newest, kind, first, second, way, ascending, pct, least):
    """Return the statistic of the kept values; `newest` is the value of the window's last row."""
    if found < least or (found < 1 and kind != DISTINCT):
        return np.nan
    if kind == QUANTILE:
        at = first * (found - 1)
        place = int(at)
        share = share_of(way, at - place, place)
        value = kept[np.uintp(place + (share == 1.0))]
        if 0.0 < share < 1.0:
            value = between(value, kept[np.uintp(place + 1)], share, way)
        return value
    if kind == RANK:
        if not newest < np.inf:
            return np.nan
        less, equal = 0, 0
        for i in range(found):
            less += kept[np.uintp(i)] < newest
            equal += kept[np.uintp(i)] == newest
        return rank_of(float(less), float(equal), float(found), first, second, ascending, pct)
    different = min(found, 1)
    for i in range(1, found):
        different += kept[np.uintp(i)] != kept[np.uintp(i - 1)]
    return float(different)


@partial(cached_njit, options=ALLOCATING)
def walk(
    values,
    starts,
    stops,
    shift,
    width,
    kind,
    first,
    second,
    way,
    ascending,
    pct,
    least,
    out,
    control,
):
    """Write the statistic of each window."""
    values, out, control = borrow(values), borrow(out), borrow(control)
    starts, stops = borrow(starts), borrow(stops)
    size = (width + 7) // 8 * 8  # whole vectors
    kept, moved = np.empty(size + 1), np.empty(size)
    rows = len(values)
    while True:
        begin = take_ticket(control, TICKET) * SLICE
        if begin >= len(out):
            break
        start, stop, found = 0, 0, 0
        kept[:] = np.inf
        for j in range(begin, min(begin + SLICE, len(out))):
            lowest = _clip(starts[j], 0, rows) if len(starts) else 0
            highest = _clip(stops[j], lowest, rows) if len(stops) else rows
            next_ = _clip(j + shift, lowest, highest)
            last = _clip(j + shift + width, next_, highest)
            if next_ >= stop or j == begin:  # nothing stays
                if found:
                    kept[:] = np.inf
                start, stop, found = next_, next_, 0
            while start < next_ or stop < last:
                old = added = np.inf
                if start < next_:
                    old = _kept(values[np.uintp(start)])
                    start += 1
                if stop < last:
                    added = _kept(values[np.uintp(stop)])
                    stop += 1
                if old != added:
                    _replace(kept, moved, old, added)
                found += (added < np.inf) - (old < np.inf)
            newest = _kept(values[np.uintp(stop - 1)]) if start < stop else np.inf
            out[j] = _answer(kept, found, newest, kind, first, second, way, ascending, pct, least)


@lru_cache(maxsize=1)
def _walking() -> Kernel:
    asked = (
        types.int64, types.float64, types.float64, types.int64, types.boolean, types.boolean, types.int64,
    )  # fmt: skip
    bounds = ROWS, ROWS, types.int64, types.int64
    return entry(
        walk, (VALUES, *bounds, *asked, array_type(np.dtype(np.float64), layout="C"), CONTROL)
    )
