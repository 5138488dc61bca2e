"""Rolling windows: the elements of each combined by any operator, at a cost that does not grow with the windows."""

from typing import Any

import numpy as np

from .arrays import Array, as_inputs, check_one_length
from .backends import backend_of
from .nulls import Nulls
from .operators import Operator
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
        they are cut to the rows that there are.

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
    Aggregation in Worst-Case Constant Time*, DEBS 2017, section 3). On a GPU, others and windows of many thousand rows
    are combined from a tree of the rows, at two combinations a level.

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
        backend = backend_of([*arrays, windows.starts, windows.stops])
    else:
        raise TypeError(f"windows must be RowWindows or BoundWindows, found {windows!r}")
    dtype = None if dtype is None else np.dtype(dtype)
    return backend.rolling(op, arrays, windows, ScanOptions(nulls, dtype=dtype))
