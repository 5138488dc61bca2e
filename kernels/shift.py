"""Shifted rows of an array, and differences from them."""

from typing import Any

import numpy as np

from .arrays import Array, check_columns, check_integer, is_array
from .backends import backend_of
from .messages import shown
from .options import Shifted

NUMBERS = "iufc"
"""The kinds of dtypes that are subtracted."""


def shift(
    array: Array, periods: int, fill: np.generic, *, subtract: bool = False, exact: bool = False
) -> Any:
    """Return for each row the value `periods` rows before it, or the difference from it; negative `periods` look ahead.

    Parameters
    ----------
    array : array
        1-d, of any fixed-width dtype; of numbers to `subtract`.
    periods : int
    fill : NumPy scalar
        The value if there is no such row. The answer has its dtype.
    subtract : bool, default False
        Return each row's value minus that of the other row: in the array's own dtype, in which integers wrap around,
        unless answers must be exact.
    exact : bool, default False
        Whether answers for NumPy's integers must be exact in the dtype of `fill`: float64, or float32 for differences
        of integers of at most 16 bits.

    Returns
    -------
    array
        None if it is not `exact` but must be.

    Raises
    ------
    TypeError, ValueError
        For other arguments.

    See Also
    --------
    take : Rows by position.

    Examples
    --------
    >>> shift(np.array([7, 8, 9]), 1, np.float64("nan"))
    array([nan,  7.,  8.])
    >>> shift(np.array([7.0, 9.0, 8.0]), 1, np.float64("nan"), subtract=True)
    array([nan,  2., -1.])
    """
    if subtract and is_array(array) and array.dtype.kind not in NUMBERS:
        raise TypeError(f"rows must be numbers to be subtracted, found dtype {array.dtype}")
    check_columns("rows", [array])
    check_integer("periods", periods)
    if not isinstance(fill, np.generic):
        raise TypeError(f"fill must be a NumPy scalar, found {shown(fill)}")
    if exact and not (array.dtype.kind in "iu" and _holds(fill.dtype, array.dtype, subtract)):
        raise TypeError(
            f"exact answers are of integers in float64, found {array.dtype} and {fill.dtype}"
        )
    shifted = Shifted(len(array), int(periods))
    return backend_of([array]).shift(array, shifted, fill, subtracts=subtract, exact=exact)


def _holds(floats: np.dtype, integers: np.dtype, subtracts: bool) -> bool:
    """Return whether a dtype of floats can have exact answers for integers."""
    return floats == np.float64 or (subtracts and floats == np.float32 and integers.itemsize <= 2)


def subtract(now: Array, earlier: Array, out: Array) -> bool:
    """Write the exact differences of two arrays of integers.

    Parameters
    ----------
    now, earlier : array
        1-d, of equal length and of one dtype of integers.
    out : array of int64 or float64, or of float32 where integers have at most 16 bits
        Of that length; written to.

    Returns
    -------
    bool
        Whether its dtype holds every difference exactly; differences beyond int64 count as not held.

    Raises
    ------
    TypeError, ValueError
        For other arguments, also CuPy's arrays.

    See Also
    --------
    kernels.shift : Differences of rows of one array, in its own dtype.
    are_floats : The same for the numbers themselves.

    Examples
    --------
    >>> out = np.empty(2, np.int64)
    >>> subtract(np.array([1, 255], np.uint8), np.array([2, 0], np.uint8), out), out.tolist()
    (True, [-1, 255])
    """
    check_columns("rows", [now, earlier, out])
    fits = out.dtype in (np.int64, np.float64) or (
        out.dtype == np.float32 and now.dtype.itemsize <= 2
    )
    if now.dtype != earlier.dtype or now.dtype.kind not in "iu" or not fits:
        raise TypeError(
            f"integers of one dtype are subtracted into int64 or float64, "
            f"found {now.dtype}, {earlier.dtype} and {out.dtype}"
        )
    return backend_of([now, earlier, out]).subtract(now, earlier, out)


def are_floats(integers: Array) -> bool:
    """Return whether float64 holds integers exactly.

    Parameters
    ----------
    integers : array
        1-d, of integers.

    Returns
    -------
    bool

    Raises
    ------
    TypeError, ValueError
        For other arguments, also CuPy's arrays.

    See Also
    --------
    subtract : The same for their differences.

    Examples
    --------
    >>> are_floats(np.array([2**60, 7])), are_floats(np.array([2**60 + 1, 7]))
    (True, False)
    """
    check_columns("rows", [integers])
    if integers.dtype.kind not in "iu":
        raise TypeError(f"rows must be integers, found dtype {integers.dtype}")
    return backend_of([integers]).are_floats(integers)
