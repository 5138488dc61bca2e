"""As-of matches: the nearest row of an ordered side, before or after each row of another ordered side."""

from typing import Any

import numpy as np

from .arrays import Array, brief, is_array
from .backends import backend_of
from .by_code import check_codes, check_groups, check_range
from .messages import shown
from .options import WAYS, AsOfOptions


def asof(
    left: Array,
    right: Array,
    codes: tuple[Array, Array] | None = None,
    groups: int = 0,
    *,
    direction: str = "backward",
    exact: bool = True,
    tolerance: float | None = None,
    check: bool = True,
) -> Any:
    """Return which row of the right side matches each row of the left.

    Parameters
    ----------
    left, right : array
        1-d, of one dtype: integers, or floats of 32 or 64 bits. Neither may decrease, or hold NaN.
    codes : pair of arrays of int32 or int64, optional
        The groups of the rows of both sides, from 0 to `groups` - 1: rows match only within their group.
    groups : int, default 0
        Needed with `codes`.
    direction : {"backward", "forward", "nearest"}, default "backward"
        Match the last row that is not greater, the first row that is not less, or the nearer of both; the former if
        both are equally near.
    exact : bool, default True
        Whether equal values match.
    tolerance : number, optional
        How far away a match may be.
    check : bool, default True
        As for `scan_by_code`.

    Returns
    -------
    array of int64, or of int32 on GPUs with `codes` of at most `max_groups` groups
        Positions in `right`, -1 where no row matches.

    Raises
    ------
    TypeError
        For other arrays.
    ValueError
        For another direction, a negative tolerance, codes out of range, and arrays that are not 1-d; `Unsorted`, a
        ValueError, for arrays that decrease.

    See Also
    --------
    scan_by_code : Scans within such groups.

    Notes
    -----
    On CPUs both sides are walked once, in parts by several threads, with a table of the last row of each group. On
    GPUs both sides are merged, and scanned within groups.

    Examples
    --------
    >>> left, right = np.array([1, 5, 10]), np.array([1, 2, 3, 6, 7])
    >>> asof(left, right)
    array([0, 2, 4])
    >>> asof(left, right, direction="forward", exact=False)
    array([ 1,  3, -1])
    """
    if direction not in WAYS:
        raise ValueError(
            f"direction must be one of {', '.join(map(repr, WAYS))}, found {shown(direction)}"
        )
    if tolerance is not None and not tolerance >= 0:
        raise ValueError(f"tolerance must not be negative, found {shown(tolerance)}")
    for side in (left, right):
        if not is_array(side) or side.dtype.kind not in "iuf" or side.dtype == np.float16:
            raise TypeError(
                f"left and right must be arrays of integers, or floats of 32 or 64 bits, found {brief(side)}"
            )
        if side.ndim != 1:
            raise ValueError(f"left and right must be 1-d, found {side.ndim}-d")
    if left.dtype != right.dtype:
        raise TypeError(f"left and right must have one dtype, found {left.dtype} and {right.dtype}")
    for side, code in zip((left, right), codes or (), strict=False):
        check_codes(code)
        if code.shape != side.shape:
            raise ValueError(f"codes must have a row each, found {len(code)} for {len(side)} rows")
    backend = backend_of([left, right, *(codes or ())])
    if codes is not None:
        check_groups(groups, backend)
        for code in codes if check else ():
            check_range(code, groups)
    options = AsOfOptions(direction, exact, tolerance)
    return backend.asof(left, right, codes, groups, options)
