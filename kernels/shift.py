"""Rows moved along an array, and what changed since."""

from typing import Any

import numpy as np

from .arrays import Array, check_columns
from .backends import backend_of
from .options import Shifted


def shift(array: Array, periods: int, fill: np.generic) -> Any:
    """Return each row's value so many rows before; for a negative number, behind.

    Parameters
    ----------
    array : array
        1-d, of any fixed-width dtype.
    periods : int
    fill : NumPy scalar
        What stands where there is no such row. The answer is of its dtype.

    Returns
    -------
    array

    Raises
    ------
    TypeError, ValueError
        For arrays that are no such arrays.

    See Also
    --------
    difference : What changed since.
    take : Rows by position.

    Examples
    --------
    >>> shift(np.array([7, 8, 9]), 1, np.float64("nan"))
    array([nan,  7.,  8.])
    """
    check_columns("rows", [array])
    return backend_of([array]).shift(array, Shifted(len(array), periods), fill, subtracts=False)


def difference(array: Array, periods: int, fill: np.generic) -> Any:
    """Return each row's value less that of so many rows before; parameters as for `shift`.

    Values are subtracted in the array's own dtype: integers wrap around.

    Examples
    --------
    >>> difference(np.array([7.0, 9.0, 8.0]), 1, np.float64("nan"))
    array([nan,  2., -1.])
    """
    check_columns("rows", [array])
    return backend_of([array]).shift(array, Shifted(len(array), periods), fill, subtracts=True)
