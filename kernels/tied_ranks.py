"""Ranks of sorted keys."""

from typing import Any

import numpy as np

from .arrays import Array, brief, check_columns
from .backends import backend_of
from .options import RANKS


def tied_ranks(keys: Array, method: str) -> Any:
    """Return the rank of each of sorted keys, from 1 on.

    Parameters
    ----------
    keys : array
        1-d, of integers, bool, or floats without NaN, in order or in descending order, which is not checked.
    method : {"average", "min", "max"}
        Which of their places equal keys share.

    Returns
    -------
    array of float64

    Raises
    ------
    TypeError, ValueError
        For other arrays and methods.

    See Also
    --------
    run_length_encode : Runs of equal keys.

    Examples
    --------
    >>> tied_ranks(np.array([3, 5, 5, 5, 8]), "average")
    array([1., 3., 3., 3., 5.])
    """
    check_columns("keys", [keys])
    if not takes_ranks(keys.dtype):
        raise TypeError(f"keys must be integers, bool or floats, found {brief(keys)}")
    if method not in RANKS:
        raise ValueError(f"method must be one of {', '.join(map(repr, RANKS))}, found {method!r}")
    return backend_of([keys]).tied_ranks(keys, method)


def takes_ranks(dtype: np.dtype) -> bool:
    """Tell whether `tied_ranks` takes keys of a dtype."""
    return dtype.kind in "iub" or dtype.name in ("float32", "float64")
