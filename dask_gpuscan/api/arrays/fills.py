"""Fills of arrays: NumPy, CuPy and Dask; frames and tables are passed on to their accessor."""

from __future__ import annotations

from typing import Any, SupportsIndex, TypeVar

from ...kernels import BUILT_IN
from ..arguments import check_limit
from ..on import on
from ..tables.tables import is_table
from .axis import check_arrays, check_axis, fill_along
from .scans import frame_or_array

X = TypeVar("X")
"""The type of an array or a frame."""


def ffill(x: X, axis: int | None = None, *, limit: SupportsIndex | None = None) -> X:
    """Fill NaN and NaT of an array with the last value before them along an axis, over the borders of chunks too.

    Parameters
    ----------
    x : array
        NumPy, CuPy and Dask arrays of any number of dimensions. Frames, tables and whatever else `on` takes are filled
        as by `Gpuscan.ffill`.
    axis : int, optional
        May be left out of an array of one dimension.
    limit : int, optional
        Fill at most this many elements in a row.

    Returns
    -------
    array
        A copy of the type, shape and dtype of `x`; lazy for Dask arrays. Integers, bools and strings have nothing
        to fill.

    Raises
    ------
    TypeError
        For arrays of objects, and for anything that is not an array.
    ValueError
        For an `axis` that is not there, and a `limit` that is not a positive integer.

    See Also
    --------
    bfill : The next value instead.
    Gpuscan.ffill : Of a Series or a DataFrame.
    scan : By any operator.

    Notes
    -----
    One scan by the operator `last`, whose state is the last value and, with a limit, the number of elements
    since. The algorithm is that of `dask_gpuscan.kernels.scan`.

    Examples
    --------
    >>> import numpy as np, dask_gpuscan
    >>> x = np.array([[1.0, np.nan, np.nan], [np.nan, 5.0, np.nan]])
    >>> dask_gpuscan.ffill(x, axis=1)
    array([[ 1.,  1.,  1.],
           [nan,  5.,  5.]])
    >>> dask_gpuscan.ffill(x, axis=1, limit=1)
    array([[ 1.,  1., nan],
           [nan,  5.,  5.]])
    """
    return _fill("ffill", x, axis, limit)


def bfill(x: X, axis: int | None = None, *, limit: SupportsIndex | None = None) -> X:
    """Fill NaN and NaT of an array with the next value after them along an axis; see `ffill` for the parameters.

    Examples
    --------
    >>> import numpy as np, dask_gpuscan
    >>> dask_gpuscan.bfill(np.array(["NaT", "2026-01-02", "NaT"], "datetime64[D]"))
    array(['2026-01-02', '2026-01-02',        'NaT'], dtype='datetime64[D]')
    """
    return _fill("bfill", x, axis, limit)


def _fill(name: str, x: Any, axis: int | None, limit: Any) -> Any:
    x, is_frame = frame_or_array(x)
    if is_frame or is_table(x):
        check_axis(axis, 1)
        return getattr(on(x), name)(limit=limit)
    (array,) = check_arrays(BUILT_IN["last"], x)
    return fill_along(name, array, check_axis(axis, array.ndim), check_limit(limit))
