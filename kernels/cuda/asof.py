"""As-of matches of CuPy arrays, with or without groups.

Without groups, each row of the left side is searched for in the right side. With groups, both sides are merged, and a
scan within groups carries the position of the last row of the right side to each row of the left. If there are more
groups than the scan takes, the right side is sorted by group, and rows are found by binary search.
"""

from functools import partial
from typing import Any

import cupy
import numpy as np

from ..operators.built_in import BUILT_IN
from ..options import AsOfOptions, ScanOptions, SortKey, Unsorted
from .codes.by_code import by_code, max_groups
from .columns.compact import compact
from .core.device_arrays import readable
from .sort.sort import are_sorted, merge_sorted, searchsorted_sorted, sort


def asof(left: Any, right: Any, codes: Any, groups: int, options: AsOfOptions) -> Any:
    """Return the row of the right side for each of the left; see `kernels.asof`."""
    left, right = readable(left), readable(right)
    both = len(left) + len(right)
    few = codes is not None and groups <= max_groups(both) and both < 1 << 31
    unsorted = cupy.zeros(1, np.bool_)
    if not len(left) or not len(right):
        unsorted[:] = not are_sorted([left, right])
    way = _in_groups if few else _one_way
    rows, *other = [
        way(left, right, codes, groups, options.exact, forward, unsorted)
        for forward in options.ways
    ]
    if unsorted[0]:  # the number of rows may then be wrong
        raise Unsorted("left and right must not decrease")
    if other:
        rows = _nearer(left, right, rows, other[0])
    limit = options.limit(left.dtype)
    if limit is not None and len(right):
        found = right[rows]
        apart = cupy.where(found > left, _distance(found, left), _distance(left, found))
        rows = cupy.where(apart > limit, -1, rows)
    return rows


def _in_groups(
    left: Any, right: Any, codes: Any, groups: int, exact: bool, forward: bool, unsorted: Any
) -> Any:
    """Return the nearest row of the right side in the group of each row of the left, -1 where none is."""
    if not len(left) or not len(right):
        return cupy.full(len(left), -1, np.int32)
    none = len(right) if forward else -1
    narrow = tuple([readable(code.astype(np.int32, copy=False)) for code in codes])
    merged_codes, rows, is_left = merge_sorted(
        left, right, narrow, right=exact != forward, number=none, backward=forward,
        unsorted=unsorted,
    )  # fmt: skip
    op = BUILT_IN["minimum" if forward else "maximum"]
    last, *_ = by_code(
        op, merged_codes, (rows,), groups, ScanOptions(), None, None, write=True, check=False
    )
    (found,), _ = compact([last], is_left, False, False, False)
    if not forward:
        return found
    found = found[::-1]
    return cupy.where(found == none, np.int32(-1), found)


def _one_way(
    left: Any, right: Any, codes: Any, groups: int, exact: bool, forward: bool, unsorted: Any
) -> Any:
    """Return the nearest row of the right side on one side of each row of the left, -1 where none is."""
    count = len(right)
    # searches forward return the first row from the match on, searches backward the last one up to it
    place = partial(searchsorted_sorted, left, right, right=exact != forward, unsorted=unsorted)
    if codes is None:
        return place(beyond=count) if forward else place(shift=-1)
    if not count:
        return cupy.full(len(left), -1, np.int64)
    places = place()
    of_left, of_right = (code.astype(np.int64) for code in codes)
    (order,) = sort([SortKey(readable(codes[1]))], [], None, positions=True)
    known = of_right[order] * (count + 1) + order  # sorted, as the sort is stable
    at = cupy.searchsorted(known, of_left * (count + 1) + places) - (not forward)
    nearest = cupy.clip(at, 0, count - 1)
    matches = (at == nearest) & (of_right[order][nearest] == of_left)
    return cupy.where(matches, order[nearest], -1)


def _nearer(left: Any, right: Any, before: Any, behind: Any) -> Any:
    """Return the nearer of two rows, the one before if both are equally near."""
    if not len(right):
        return before
    values, others = right[before], right[behind]
    farther = _distance(left, values) > _distance(others, left)
    moves = (behind >= 0) & (before < 0) | ((behind >= 0) & (values != left) & farther)
    return cupy.where(moves, behind, before)


def _distance(high: Any, low: Any) -> Any:
    """Return the distance between values; that of integers is unsigned, so that it always fits."""
    if high.dtype.kind == "f":
        return high - low
    return high.astype(np.uint64) - low.astype(np.uint64)
