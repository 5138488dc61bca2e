"""Codes of groups, numbered anew so that each number has a row."""

from typing import Any

import numpy as np

from .arrays import Array, brief, is_array
from .backends import backend_of

CODES = (np.int32, np.int64)
"""The dtypes of codes of groups."""


def check_codes(codes: Any) -> None:
    """Check that an object is an array that can hold codes of groups."""
    if not is_array(codes) or codes.dtype not in CODES:
        raise TypeError(f"codes must be an array of int32 or int64, found {brief(codes)}")


def number_codes(codes: Array, groups: int) -> tuple[Any, Any]:
    """Return codes of which each has a row, in the order of those given, and the first row of each.

    Parameters
    ----------
    codes : array of int32 or int64
        The group of each row, from 0 to `groups` - 1, as for `scan_by_code`.
    groups : int

    Returns
    -------
    codes : array
        Of the same dtype; the array itself if each number has a row.
    first_rows : array of int64

    Raises
    ------
    TypeError
        For other arrays.
    ValueError
        For codes of no group, in NumPy arrays.

    See Also
    --------
    scan_by_code : Scan within such groups.

    Examples
    --------
    >>> number_codes(np.array([7, 3, 7, 4]), 8)
    (array([2, 0, 2, 1]), array([1, 3, 0]))
    """
    check_codes(codes)
    if codes.ndim != 1:
        raise ValueError(f"codes must be 1-d, found {codes.ndim}-d")
    return backend_of([codes]).number_codes(codes, groups)
