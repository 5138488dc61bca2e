"""Codes of groups: which arrays hold them, how many a backend takes, and numbering them so that each has a row."""

from typing import Any

import numpy as np

from .arrays import Array, brief, check_integer, check_memory, is_array
from .backends import Backend, backend_of

WORD = 8
"""Bytes that each group takes at least."""

CODES = (np.int32, np.int64)
"""The dtypes of codes of groups."""


def check_codes(codes: Any) -> None:
    """Check that an object is an array that can hold codes of groups."""
    if not is_array(codes) or codes.dtype not in CODES:
        raise TypeError(f"codes must be an array of int32 or int64, found {brief(codes)}")


def most_codes(codes: Array) -> int | None:
    """Return how many groups `scan_by_code` takes at most for arrays like these codes; None if any number.

    Examples
    --------
    >>> most_codes(np.array([0, 1])) is None
    True
    """
    return backend_of([codes]).most_codes()


def check_groups(groups: Any, backend: Backend, most: int | None = None) -> None:
    """Check a number of groups, of which a backend may take at most so many, and has room for a word of each."""
    check_integer("groups", groups)
    if groups < 0:
        raise ValueError(f"groups must not be negative, found {groups}")
    check_memory(int(groups), WORD, backend.available)
    if most is not None and groups > most:
        raise ValueError(f"groups must be at most {most} of these arrays, found {groups}")


def number_codes(codes: Array, groups: int) -> tuple[Any, Any]:
    """Return codes of which each has a row, in the order of those given, and the first row of each.

    Parameters
    ----------
    codes : array of int32 or int64
        The group of each row, from 0 to `groups` - 1.
    groups : int
        CuPy arrays may be in `most_codes` groups.

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
        For codes of no group.

    See Also
    --------
    scan_by_code : Scan within such groups.

    Examples
    --------
    >>> number_codes(np.array([7, 3, 7, 4]), 8)
    (array([2, 0, 2, 1]), array([1, 3, 0]))
    """
    check_codes(codes)
    backend = backend_of([codes])
    check_groups(groups, backend, backend.most_codes())
    if codes.ndim != 1:
        raise ValueError(f"codes must be 1-d, found {codes.ndim}-d")
    return backend.number_codes(codes, groups)
