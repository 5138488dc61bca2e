"""Rows by position: `take` gathers them, and `put` scatters them."""

from typing import Any

import numpy as np

from .arrays import Array, brief, check_columns, check_one_length, is_array, is_cupy, is_int128
from .backends import backend_of
from .by_code import check_range
from .messages import shown

NARROW = tuple(map(np.dtype, ("int64", "uint32", "uint64")))
"""The dtypes of positions for CuPy arrays: unsigned positions come from sorts."""


def take(array: Array, positions: Array, fill: Any = None, *, check: bool = True) -> Any:
    """Return the rows of an array at these positions.

    Parameters
    ----------
    array : array
        1-d, of any fixed-width dtype.
    positions : array of int64, or as `sort_pairs` returns them
        From 0 to ``len(array)`` - 1.
    fill : scalar, optional
        The value for negative positions; without it, there must be none.
    check : bool, default True
        Raise for positions out of range, which waits for a GPU. If False, there must be none.

    Returns
    -------
    array

    Raises
    ------
    TypeError
        For other arrays.
    ValueError
        For arrays that are not 1-d, for positions out of range, and for a fill that does not fit.

    See Also
    --------
    put : The inverse.
    argsort : Positions of rows in order.

    Examples
    --------
    >>> import numpy as np
    >>> take(np.array([7, 8, 9]), np.array([2, 0]))
    array([9, 7])
    >>> take(np.array([7.0, 8.0]), np.array([1, -1]), fill=np.nan)
    array([ 8., nan])
    """
    _check(array, positions)
    if check:
        check_range(positions, len(array), "positions", negative=fill is not None)
        if fill is not None and array.dtype.kind in "biufc":
            try:
                array.dtype.type(fill)
            except (OverflowError, TypeError, ValueError):
                message = f"fill must be a value of {array.dtype}, found {shown(fill)}"
                raise ValueError(message) from None
    return backend_of([array, positions]).take(array, positions, fill)


def put(rows: Array, positions: Array, *, check: bool = True) -> Any:
    """Return an array with each row at its position: ``put(take(x, p), p)`` is ``x`` for a permutation ``p``.

    Parameters
    ----------
    rows : array
        1-d, of any fixed-width dtype.
    positions : array of int64, or as `sort_pairs` returns them
        Each number from 0 to ``len(rows)`` - 1 once. Rows of the answer without a position are undefined.
    check : bool, default True
        As for `take`.

    Returns
    -------
    array

    Raises
    ------
    TypeError
        For other arrays.
    ValueError
        For arrays that are not 1-d, or not of one length, and for positions out of range.

    See Also
    --------
    take : The inverse.

    Notes
    -----
    On a GPU many rows are first brought near their places by one digit of a radix sort, so that neighbours are written
    together, in a third of the time.

    Examples
    --------
    >>> import numpy as np
    >>> put(np.array([9, 7, 8]), np.array([2, 0, 1]))
    array([7, 8, 9])
    """
    _check(rows, positions)
    check_one_length("rows and positions", [rows, positions])
    if check:
        check_range(positions, len(rows), "positions")
    return backend_of([rows, positions]).put(rows, positions)


def _check(array: Any, positions: Any) -> None:
    if not is_array(array) or not is_int128(array.dtype):
        check_columns("rows", [array])
    accepted = NARROW if is_cupy(type(positions)) else NARROW[:1]
    if not is_array(positions) or positions.dtype not in accepted or positions.ndim != 1:
        found = brief(positions) if is_array(positions) else type(positions).__name__
        raise TypeError(f"positions must be a 1-d array of int64, found {found}")
