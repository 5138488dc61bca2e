"""Windows of rows of the same group, for rows of groups in any order, by the codes of their groups."""

from typing import Any

from .arrays import Array, as_inputs, check_integer, check_one_length
from .backends import backend_of
from .by_code import check_codes, check_groups, options_of
from .messages import shown
from .nulls import Nulls
from .operators.operator import Operator
from .operators.trial import try_on
from .windows import RowWindows, Windows


def rows_before(codes: Array, groups: int, periods: int, *, check: bool = True) -> Any:
    """Return, for each row of groups in any order, the row `periods` before it in the same group.

    Parameters
    ----------
    codes : array of int32 or int64
        The group of each row, from 0 to `groups` - 1.
    groups : int
    periods : int
        Not 0; negative numbers look ahead.
    check : bool, default True
        Raise for codes out of range, which waits for a GPU. If False, a GPU takes any codes for groups.

    Returns
    -------
    array of int64
        -1 where there is no such row.

    Raises
    ------
    TypeError
        For other arguments.
    ValueError
        For codes out of range, and if `periods` is 0.

    See Also
    --------
    finds_rows_before : Whether this is fast.
    kernels.take : The values of such rows.

    Notes
    -----
    On a CPU this is one pass with a ring buffer of `periods` rows for each group. On a GPU the codes are sorted with
    the positions of the rows, and the answers are put in the rows' order.

    Examples
    --------
    >>> import numpy as np
    >>> rows_before(np.array([0, 1, 0, 0, 1]), 2, 1)
    array([-1, -1,  0,  2,  1])
    """
    check_codes(codes)
    backend = backend_of([codes])
    check_groups(groups, backend)
    check_integer("periods", periods)
    if not periods:
        raise ValueError("periods must not be 0")
    # beyond the number of rows, no row has one
    near = min(max(periods, -len(codes) - 1), len(codes) + 1)
    return backend.rows_before(codes, groups, near, check=check)


def finds_rows_before(codes: Array, groups: int, periods: int) -> bool:
    """Return whether `rows_before` is faster than bringing the rows of groups together.

    Parameters
    ----------
    codes, groups, periods
        As for `rows_before`.

    Returns
    -------
    bool
        False for NumPy arrays if the ring buffers of all groups are large.

    Examples
    --------
    >>> import numpy as np
    >>> finds_rows_before(np.array([0, 1]), 1000, 9)
    True
    >>> finds_rows_before(np.array([0, 1]), 10**6, 9)
    False
    """
    return backend_of([codes]).finds_rows_before(groups, periods)


def rolling_by_code(
    op: Operator,
    codes: Array,
    values: Array | tuple[Array, ...],
    groups: int,
    windows: RowWindows,
    *,
    nulls: Nulls = None,
    dtype: Any = None,
) -> Any:
    """Combine the elements of windows of rows of the same group, for rows of groups in any order.

    Parameters
    ----------
    op, values, nulls, dtype
        As for `rolling`.
    codes : array of int32 or int64
        The group of each row, from 0 to `groups` - 1.
    groups : int
    windows : RowWindows
        Rows before and after are counted within the group of each row; `after` is 0, or -1 to leave the row itself out.

    Returns
    -------
    out : array or tuple of arrays
        In the rows' order.

    Raises
    ------
    TypeError, ValueError
        As `rolling`; for codes out of range, for windows that end elsewhere, and for CuPy arrays.

    See Also
    --------
    rolls_by_code : Whether this is fast.

    Notes
    -----
    One pass in the rows' order by one thread. Each group has a ring buffer of as many states as windows have rows.

    Examples
    --------
    >>> import numpy as np
    >>> from dask_gpuscan.kernels import BUILT_IN
    >>> code, x = np.array([0, 1, 0, 0]), np.array([1, 2, 3, 4])
    >>> rolling_by_code(BUILT_IN["add"], code, x, 2, RowWindows(before=1))
    array([1, 2, 4, 7])
    """
    arrays = as_inputs(op, values)
    check_codes(codes)
    check_one_length("codes and values", [codes, *arrays])
    backend = backend_of([codes, *arrays])
    check_groups(groups, backend)
    if not isinstance(windows, RowWindows):
        raise TypeError(f"windows must be RowWindows, found {shown(windows)}")
    if windows.after not in (0, -1):
        raise ValueError(f"after must be 0 or -1, found {windows.after}")
    windows = windows.within(len(codes))
    options = options_of(nulls, dtype)
    if op.check:
        try_on(op, arrays, options)
    if windows.before + windows.after < 0:  # windows without rows are the same in any group
        return backend.rolling(op, arrays, windows, options)
    return backend.rolling_by_code(op, codes, arrays, groups, windows, options)


def rolls_by_code(codes: Array, groups: int, windows: Windows) -> bool:
    """Return whether `rolling_by_code` takes such windows, and is faster than bringing the rows of groups together.

    Examples
    --------
    >>> import numpy as np
    >>> rolls_by_code(np.array([0, 1]), 1000, RowWindows(9))
    True
    >>> rolls_by_code(np.array([0, 1]), 1000, RowWindows(9, 9))
    False
    """
    if not isinstance(windows, RowWindows) or windows.after not in (0, -1):
        return False
    rows = groups * (windows.before + windows.after + 1)
    return rows < backend_of([codes]).most_ring_rows()
