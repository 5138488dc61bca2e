"""Quantiles, ranks and numbers of distinct values of windows, at a cost that hardly grows with the windows."""

from typing import Any

import numpy as np

from .arrays import Array, brief, check_integer, is_array
from .backends import backend_of
from .messages import shown
from .options import Distinct, OrderStatistic, Quantile, Rank
from .windows import BoundWindows, RowWindows, Windows

MOST = (1 << 32) - 1
"""Rows that can be counted in 32 bits."""


def order_statistics(
    statistic: OrderStatistic, values: Array, windows: Windows, *, least: int = 1
) -> Any:
    """Return an order statistic of each window.

    Parameters
    ----------
    statistic : Quantile, Rank or Distinct
        A median is ``Quantile(0.5, "midpoint")``.
    values : array of float64
        1-d; NaN and infinite ones count as missing.
    windows : RowWindows or BoundWindows
        Which rows are in each window. Bounds live where the values live.
    least : int, default 1
        The number of values that a window needs.

    Returns
    -------
    array of float64
        An answer for each window, NaN if it has fewer than `least` values. For windows without values, ``Distinct()``
        is 0 and all others are NaN.

    Raises
    ------
    TypeError
        For other arguments.
    ValueError
        For values that are not 1-d or have 2**32 rows or more, and for bounds of NumPy arrays that decrease. Bounds
        are clipped to the rows of the array.

    See Also
    --------
    rolling : Combine the elements of windows by an operator.

    Notes
    -----
    The values of windows of at most 512 rows, on GPUs 32, are kept in order: at each row one value leaves and one
    enters, in a pass without branches. For distinct values GPUs keep up to 256 rows in order.

    For longer windows each value is replaced by its place among the distinct values, and the bits of the places make a
    *wavelet matrix*: for each bit, from the highest on, it has one bit for each row, and the number of rows with a 0
    before each word; then rows are partitioned by that bit for the next one. A range of rows is followed down the bits
    to its k-th smallest value, or to the number of values that are less than one: this takes two look-ups for each bit,
    and 2 bits of memory for each row and bit. On GPUs, windows of at most 2,560 rows use the matrix of a tile of rows
    in shared memory. After Claude, Navarro and Ordonez, *The wavelet matrix: an efficient wavelet tree for large
    alphabets* (Information Systems 47, 2015). Windows are answered in pieces of neighbouring windows: the matrix of a
    piece fits a cache, and on CPUs each thread takes one piece at a time. Distinct values are counted as rows enter and
    leave windows.

    Examples
    --------
    >>> x = np.array([3.0, 1.0, 4.0, 1.0, 5.0])
    >>> order_statistics(Quantile(0.5), x, RowWindows(before=2)).tolist()
    [3.0, 2.0, 3.0, 1.0, 4.0]
    >>> order_statistics(Rank("min"), x, RowWindows(before=2)).tolist()
    [1.0, 1.0, 3.0, 1.0, 3.0]
    >>> order_statistics(Distinct(), x, RowWindows(before=2), least=3).tolist()
    [nan, nan, 3.0, 2.0, 3.0]
    """
    if not isinstance(statistic, Quantile | Rank | Distinct):
        raise TypeError(f"statistic must be a Quantile, Rank or Distinct, found {shown(statistic)}")
    if not is_array(values) or values.dtype != np.float64:
        raise TypeError(f"values must be an array of float64, found {brief(values)}")
    if values.ndim != 1 or len(values) > MOST:
        raise ValueError(f"values must be 1-d and of at most {MOST} rows, found {brief(values)}")
    check_integer("least", least)
    if not 0 <= least < 2**63:
        raise ValueError(f"least must be from 0 to 2**63 - 1, found {least}")
    arrays = [values]
    if isinstance(windows, RowWindows):
        windows = windows.within(len(values))
    elif isinstance(windows, BoundWindows):
        arrays += windows.bounds
    else:
        raise TypeError(f"windows must be RowWindows or BoundWindows, found {shown(windows)}")
    return backend_of(arrays).order_statistics(statistic, values, windows, int(least))
