"""Rolling windows: the elements of each combined by any operator, at a cost that does not grow with the windows."""

from typing import Any

import numpy as np

from .arrays import Array, as_inputs, check_one_length
from .backends import backend_of
from .codes import check_codes, check_groups
from .messages import shown
from .nulls import Nulls
from .operators import Operator
from .options import ScanOptions
from .trial import try_on
from .windows import BoundWindows, RowWindows, Windows


def rolling(
    op: Operator,
    values: Array | tuple[Array, ...],
    windows: Windows,
    *,
    nulls: Nulls = None,
    dtype: Any = None,
) -> Any:
    """Combine the elements of each window.

    Parameters
    ----------
    op : Operator
        Combines the elements of a window in the order of rows.
    values : array or tuple of arrays
        1-d, as many as the operator has inputs, of one length.
    windows : RowWindows or BoundWindows
        Which rows are in each window. Bounds live where the values live.
    nulls : InBand, Mask or None
        Which elements are missing; they leave the state as it is.
    dtype : dtype, optional
        As for `scan`.

    Returns
    -------
    out : array or tuple of arrays
        One answer a window: the lowered state, for a window without elements that of the identity.

    Raises
    ------
    TypeError, ValueError
        For operators that cannot be compiled for these dtypes, arrays that do not fit, and bounds of NumPy arrays that
        decrease or name rows that there are not. Those of CuPy arrays are not checked, which would wait for the GPU:
        windows are cut to rows that there are, and where bounds decrease have no rows before those of neighbours.

    See Also
    --------
    scan : Combine all elements so far.

    Notes
    -----
    About three combinations a row, whatever the window: the suffix of one block of rows joins the prefix of the next.
    Nothing is ever subtracted, so what has left a window leaves no trace in it. The association depends on lengths and
    windows alone: the same input gives the same bits with any number of threads. Algorithms: for windows of one length,
    van Herk, *A fast algorithm for local minimum and maximum filters on rectangular and octagonal kernels* (Pattern
    Recognition Letters 13, 1992), and Gil and Werman, *Computing 2-D min, median, and max filters* (IEEE PAMI 15,
    1993); for others, a queue of two stacks (Tangwongsan, Hirzel and Schneider, *Low-Latency Sliding-Window
    Aggregation in Worst-Case Constant Time*, DEBS 2017, section 3). On a GPU, others are combined from suffixes of
    short blocks, whole blocks, and single rows, and windows of many rows from a tree of them, at two combinations a
    level. States of parts of a window are combined, so a product of floating-point numbers may overflow where one in
    order would not.

    Examples
    --------
    >>> from dask_gpuscan.kernels import BUILT_IN
    >>> x = np.array([3, 1, 4, 1, 5])
    >>> rolling(BUILT_IN["add"], x, RowWindows(before=2))
    array([ 3,  4,  8,  6, 10])
    >>> rolling(BUILT_IN["maximum"], x, RowWindows(before=1, after=1, first=1, count=3))
    array([4, 4, 5])
    >>> rolling(BUILT_IN["add"], x, BoundWindows(np.array([0, 0, 2]), np.array([1, 4, 5])))
    array([ 3,  9, 10])
    """
    arrays = as_inputs(op, values)
    check_one_length("values", arrays)
    if isinstance(windows, RowWindows):
        backend = backend_of(arrays)
        windows = windows.within(len(arrays[0]))
    elif isinstance(windows, BoundWindows):
        backend = backend_of([*arrays, *windows.bounds])
    else:
        raise TypeError(f"windows must be RowWindows or BoundWindows, found {shown(windows)}")
    dtype = None if dtype is None else np.dtype(dtype)
    options = ScanOptions(nulls, dtype=dtype)
    if op.check:
        try_on(op, arrays, options)
    return backend.rolling(op, arrays, windows, options)


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
        Rows before and behind are counted within the group of each row; `after` is 0, or -1 to leave the row itself
        out.

    Returns
    -------
    out : array or tuple of arrays
        In the rows' order.

    Raises
    ------
    TypeError, ValueError
        As `rolling`; for codes of no group, for windows that end elsewhere, and for CuPy arrays.

    See Also
    --------
    rolls_by_code : Whether this is fast.

    Notes
    -----
    One pass in the rows' order by one thread. For each group there is a ring of as many states as a window has rows.

    Examples
    --------
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
    dtype = None if dtype is None else np.dtype(dtype)
    options = ScanOptions(nulls, dtype=dtype)
    if op.check:
        try_on(op, arrays, options)
    if windows.before + windows.after < 0:  # windows without rows are the same in any group
        return backend.rolling(op, arrays, windows, options)
    return backend.rolling_by_code(op, codes, arrays, groups, windows, options)


def rolls_by_code(codes: Array, groups: int, windows: Windows) -> bool:
    """Tell whether `rolling_by_code` takes such windows, and is faster than to bring the rows of groups together.

    See Also
    --------
    rows_before : Rows of the same group, as fast for windows of as many rows.

    Examples
    --------
    >>> rolls_by_code(np.array([0, 1]), 1000, RowWindows(9))
    True
    >>> rolls_by_code(np.array([0, 1]), 1000, RowWindows(9, 9))
    False
    """
    if not isinstance(windows, RowWindows) or windows.after not in (0, -1):
        return False
    rows = groups * (windows.before + windows.after + 1)
    return rows < backend_of([codes]).most_ring_rows()
