"""Rolling windows: any operator combines the elements of each window, at a cost that does not grow with the window.

`window_starts` finds the bounds of windows of time.
"""

from typing import Any

import numpy as np

from .arrays import (
    Array,
    as_inputs,
    brief,
    check_integer,
    check_one_length,
    is_array,
    numpy_dtype,
)
from .backends import BACKENDS, backend_of
from .messages import shown
from .nulls import NULLS, Nulls
from .operators.operator import Operator
from .operators.trial import try_on
from .options import ScanOptions
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
        Which elements are missing; they do not change the state.
    dtype : dtype, optional
        As for `scan`.

    Returns
    -------
    out : array or tuple of arrays
        The lowered state of each window; for a window without elements, the lowered identity.

    Raises
    ------
    TypeError, ValueError
        For operators that cannot be compiled for these dtypes, arrays that do not fit, and bounds of NumPy arrays that
        decrease or name rows that do not exist. Bounds of CuPy arrays are not checked, as this would wait for the GPU:
        windows are clipped to the rows that exist, and where bounds decrease, have no rows before those of neighbours.

    See Also
    --------
    scan : Combine all elements so far.

    Notes
    -----
    About three combinations for each row, for any window: the suffix of one block of rows joins the prefix of the next.
    Nothing is subtracted, so that elements that have left a window have no effect on it. The association depends only
    on lengths and windows: the same input gives the same bits with any number of threads. Algorithms: for windows of
    one length, van Herk, *A fast algorithm for local minimum and maximum filters on rectangular and octagonal kernels*
    (Pattern Recognition Letters 13, 1992), and Gil and Werman, *Computing 2-D min, median, and max filters* (IEEE PAMI
    15, 1993); for others, a queue of two stacks (Tangwongsan, Hirzel and Schneider, *Low-Latency Sliding-Window
    Aggregation in Worst-Case Constant Time*, DEBS 2017, section 3). On a GPU, others are combined from suffixes of
    short blocks, whole blocks, and single rows, and windows of many rows from a tree of these, with two combinations
    for each level. States of parts of a window are combined, so that a product of floating-point numbers may overflow
    although a product in order would not.

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
        backend = BACKENDS[frozenset(map(type, arrays))]
        windows = windows.within(len(arrays[0]))
    elif isinstance(windows, BoundWindows):
        backend = BACKENDS[frozenset(map(type, [*arrays, *windows.bounds]))]
    else:
        raise TypeError(f"windows must be RowWindows or BoundWindows, found {shown(windows)}")
    if dtype is not None and not isinstance(dtype, np.dtype):
        dtype = numpy_dtype(dtype)
    options = ScanOptions(nulls, dtype=dtype)
    if type(nulls) not in NULLS:
        options.check()
    if op.check:
        try_on(op, arrays, options)
    return backend.rolling(op, arrays, windows, options)


def window_starts(values: Array, reach: int, *, starts: Array | None = None) -> Any:
    """Return, for each row, the first row whose value is at most `reach` less.

    Parameters
    ----------
    values : array of int64
        1-d; they do not decrease (within a group), which is not checked.
    reach : int
        Not negative.
    starts : array of int64, optional
        The first row of the group of each row, not after the row itself: not checked. By default there is one group.

    Returns
    -------
    array of int64
        Not after the row itself.

    Raises
    ------
    TypeError
        For other arrays.
    ValueError
        For a negative `reach`, and arrays that are not of one length.

    See Also
    --------
    kernels.rolling : Combine the elements of windows.

    Examples
    --------
    >>> window_starts(np.array([1, 2, 5, 6, 9]), 3)
    array([0, 0, 1, 2, 3])
    """
    arrays = [values] if starts is None else [values, starts]
    for array in arrays:
        if not is_array(array) or array.dtype != np.int64 or array.ndim != 1:
            found = brief(array) if is_array(array) else type(array).__name__
            raise TypeError(f"values and starts must be 1-d arrays of int64, found {found}")
    check_one_length("values and starts", arrays)
    check_integer("reach", reach)
    if reach < 0:
        raise ValueError(f"reach must not be negative, found {reach}")
    return backend_of(arrays).window_starts(values, min(int(reach), 2**64 - 1), starts)
