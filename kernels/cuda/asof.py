"""As-of matches of CuPy arrays, by binary search: with codes, in the right side's rows in the order of these."""

from typing import Any

import cupy
import numpy as np

from ..options import AsOfOptions, SortKey, Unsorted
from .core.device_arrays import readable
from .sort.sort import are_sorted, searchsorted_sorted, sort


def asof(left: Any, right: Any, codes: Any, groups: int, options: AsOfOptions) -> Any:
    """Return the row of the right side for each of the left; see `kernels.asof`."""
    left, right = readable(left), readable(right)
    if not are_sorted([left, right]):
        raise Unsorted("left and right must not decrease")
    rows, *other = [_one_way(left, right, codes, options.exact, w) for w in options.ways]
    if other:
        rows = _nearer(left, right, rows, other[0])
    limit = options.limit(left.dtype)
    if limit is not None and len(right):
        found = right[rows]
        apart = cupy.where(found > left, _distance(found, left), _distance(left, found))
        rows = cupy.where(apart > limit, -1, rows)
    return rows


def _one_way(left: Any, right: Any, codes: Any, exact: bool, forward: bool) -> Any:
    """Return the nearest row of the right side on one side of each row of the left, -1 where none is."""
    count = len(right)
    # how many rows of the right side lie wholly before the match, or up to it
    places = searchsorted_sorted(left, right, right=exact != forward)
    if codes is None:
        return cupy.where(places < count, places, -1) if forward else places - 1
    if not count:
        return cupy.full(len(left), -1, np.int64)
    of_left, of_right = (code.astype(np.int64) for code in codes)
    (order,) = sort([SortKey(readable(codes[1]))], [], None, positions=True)
    known = of_right[order] * (count + 1) + order  # in order, as the sort is stable
    at = cupy.searchsorted(known, of_left * (count + 1) + places) - (not forward)
    nearest = cupy.clip(at, 0, count - 1)
    matches = (at == nearest) & (of_right[order][nearest] == of_left)
    return cupy.where(matches, order[nearest], -1)


def _nearer(left: Any, right: Any, before: Any, behind: Any) -> Any:
    """Return the nearer of two rows, the one before if both are as near."""
    if not len(right):
        return before
    values, others = right[before], right[behind]
    farther = _distance(left, values) > _distance(others, left)
    moves = (behind >= 0) & (before < 0) | ((behind >= 0) & (values != left) & farther)
    return cupy.where(moves, behind, before)


def _distance(high: Any, low: Any) -> Any:
    """Return how far values are apart; of integers as one without a sign, so that it always fits."""
    if high.dtype.kind == "f":
        return high - low
    return high.astype(np.uint64) - low.astype(np.uint64)
