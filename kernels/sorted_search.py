"""Where sorted needles belong among sorted values: both sides are merged, rather than one searched for each needle."""

from typing import Any

from .arrays import Array, check_columns
from .backends import backend_of
from .messages import shown

SIDES = ("left", "right")

KINDS = "biufmM"
"""The kinds of dtypes that have an order."""


def searchsorted_sorted(needles: Array, haystack: Array, side: str = "left") -> Any:
    """Return where sorted needles would be inserted into sorted values: `numpy.searchsorted` by a merge.

    Parameters
    ----------
    needles, haystack : array
        1-d, of one dtype that has an order. They do not decrease, which is not checked: for others the answer is
        undefined. NaN and NaT are the largest values, and equal to themselves.
    side : {"left", "right"}, default "left"
        Before the first value that is equal to the needle, or behind the last one.

    Returns
    -------
    array of int64
        As long as `needles`: how many values of `haystack` are less than each or, on the right, not greater.

    Raises
    ------
    TypeError
        For other arrays.
    ValueError
        For another `side`, and arrays that are not 1-d.

    See Also
    --------
    asof : The row that matches, in groups too.
    interval_gather : Take the values between two such places, for each pair of them.

    Notes
    -----
    The time is that of reading both arrays, so for few needles `numpy.searchsorted` is faster. All threads merge parts
    of one length. Algorithm: Green, McColl, Bader, *GPU Merge Path*, ICS 2012.

    Examples
    --------
    >>> import numpy as np
    >>> searchsorted_sorted(np.array([1, 2, 2, 9]), np.array([1, 2, 3]), side="right")
    array([1, 2, 2, 3])
    """
    if side not in SIDES:
        raise ValueError(f"side must be 'left' or 'right', found {shown(side)}")
    for name, array in (("needles", needles), ("haystack", haystack)):
        check_columns(name, [array])
        if array.dtype.kind not in KINDS or array.dtype.itemsize > 8:
            raise TypeError(f"{name}: the kernels know no order of dtype {array.dtype}")
    if needles.dtype != haystack.dtype:
        raise TypeError(
            f"needles and haystack must have one dtype, found {needles.dtype} and {haystack.dtype}"
        )
    backend = backend_of([needles, haystack])
    return backend.searchsorted_sorted(needles, haystack, right=side == "right")
