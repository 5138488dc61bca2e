"""As-of matches of CuPy arrays: places of one side among the other, and with codes a scan of both sides in order.

Both sides are merged by the places of each among the other. The last row of the right side in the group of a row is
then what a scan within groups of the positions of these rows gives. Where there are more groups than it takes, rows are
found by binary search, in the right side's rows in the order of their groups.
"""

from functools import lru_cache
from typing import Any

import cupy
import numpy as np

from ..operators.built_in import BUILT_IN
from ..options import AsOfOptions, ScanOptions, SortKey, Unsorted
from .codes.by_code import by_code, max_groups
from .core.device_arrays import readable
from .sort.sort import are_sorted, searchsorted_sorted, sort


def asof(left: Any, right: Any, codes: Any, groups: int, options: AsOfOptions) -> Any:
    """Return the row of the right side for each of the left; see `kernels.asof`."""
    left, right = readable(left), readable(right)
    if not are_sorted([left, right]):
        raise Unsorted("left and right must not decrease")
    both = len(left) + len(right)
    few = codes is not None and groups <= max_groups(both) and both < 1 << 31
    rows, *other = [
        _in_groups(left, right, codes, groups, options.exact, forward)
        if few
        else _one_way(left, right, codes, options.exact, forward)
        for forward in options.ways
    ]
    if other:
        rows = _nearer(left, right, rows, other[0])
    limit = options.limit(left.dtype)
    if limit is not None and len(right):
        found = right[rows]
        apart = cupy.where(found > left, _distance(found, left), _distance(left, found))
        rows = cupy.where(apart > limit, -1, rows)
    return rows


def _in_groups(left: Any, right: Any, codes: Any, groups: int, exact: bool, forward: bool) -> Any:
    """Return the nearest row of the right side in the group of each row of the left, -1 where none is."""
    if not len(left):
        return cupy.empty(0, np.int64)
    places = searchsorted_sorted(left, right, right=exact != forward)
    before = searchsorted_sorted(right, left, right=exact == forward)
    both, none = len(left) + len(right), len(right) if forward else -1
    merged_codes, rows = cupy.ndarray(both, np.int32), cupy.ndarray(both, np.int32)
    last = both - 1 if forward else -1  # the first row behind is the last one from the end
    _merge()(codes[0], places, np.int32(last), np.int32(none), merged_codes, rows)
    _merge()(codes[1], before, np.int32(last), np.int32(-2), merged_codes, rows)
    op = BUILT_IN["minimum" if forward else "maximum"]
    options = ScanOptions()
    found, _ = by_code(
        op, merged_codes, (rows,), groups, options, None, None, write=True, check=False
    )
    return _unmerge()(places, np.int32(last), np.int32(none), found)


@lru_cache(maxsize=1)
def _merge() -> Any:
    # what stands for a row of the right side, whose `none` is -2, is its position
    text = """
    const int at = last < 0 ? (int)(i + place) : last - (int)(i + place);
    codes[at] = code;
    rows[at] = none == -2 ? (int)i : none;
    """
    arguments = "C code, int64 place, int32 last, int32 none"
    return cupy.ElementwiseKernel(arguments, "raw int32 codes, raw int32 rows", text, "merge_sides")


@lru_cache(maxsize=1)
def _unmerge() -> Any:
    text = """
    const int at = last < 0 ? (int)(i + place) : last - (int)(i + place);
    row = found[at] == none ? -1 : found[at];
    """
    arguments = "int64 place, int32 last, int32 none, raw int32 found"
    return cupy.ElementwiseKernel(arguments, "int64 row", text, "unmerge_sides")


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
