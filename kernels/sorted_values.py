"""Sorted values: their ranks and quantiles, a search for sorted needles, and whether values are sorted.

Needles are merged with the values rather than searched one by one.
"""

from typing import Any

import numpy as np

from .arrays import Array, brief, check_columns, check_one_length
from .backends import backend_of
from .messages import shown
from .options import RANKS
from .scalars import is_number


def tied_ranks(keys: Array, method: str, groups: Array | None = None) -> Any:
    """Return the rank of each of sorted keys, from 1 on.

    Parameters
    ----------
    keys : array
        1-d, of integers, bool, or floats, in ascending or descending order, which is not checked. Ranks of NaN are
        undefined.
    method : {"average", "min", "max"}
        The rank of equal keys: the average, the least or the greatest of their places.
    groups : array of integers, optional
        The group of each key, in order, which is not checked: keys are sorted and ranked within groups. By default
        there is one group.

    Returns
    -------
    array of float64

    Raises
    ------
    TypeError, ValueError
        For other arrays and methods.

    See Also
    --------
    kernels.run_length_encode : Runs of equal keys.

    Examples
    --------
    >>> tied_ranks(np.array([3, 5, 5, 5, 8]), "average")
    array([1., 3., 3., 3., 5.])
    >>> tied_ranks(np.array([3, 5, 5, 1, 2]), "min", groups=np.array([0, 0, 0, 1, 1]))
    array([1., 2., 2., 1., 2.])
    """
    check_columns("keys", [keys])
    if not takes_ranks(keys.dtype):
        raise TypeError(f"keys must be integers, bool or floats, found {brief(keys)}")
    if method not in RANKS:
        raise ValueError(f"method must be one of {', '.join(map(repr, RANKS))}, found {method!r}")
    arrays = [keys]
    if groups is not None:
        arrays.append(groups)
        check_columns("groups", [groups])
        if groups.dtype.kind not in "iu":
            raise TypeError(f"groups must be integers, found {brief(groups)}")
        check_one_length("keys and groups", arrays)
    return backend_of(arrays).tied_ranks(keys, method, groups)


def takes_ranks(dtype: np.dtype) -> bool:
    """Return whether `tied_ranks` takes keys of a dtype."""
    return dtype.kind in "iub" or (dtype.kind == "f" and 4 <= dtype.itemsize <= 8)


def sorted_quantiles(
    values: Array, starts: Array, counts: Array, q: float, *, midpoint: bool = False
) -> Any:
    """Return a quantile of each segment of an array with its values in order.

    Parameters
    ----------
    values : array
        1-d, of integers, bool, or floats.
    starts, counts : array of int64
        The start of each segment, and the number of its first values that count; not checked.
    q : float
        From 0 to 1.
    midpoint : bool, default False
        Whether a quantile between two values is their mean; otherwise it is interpolated linearly.

    Returns
    -------
    array of float64
        NaN for segments without values; 0.0 for zeros of two signs.

    Raises
    ------
    TypeError, ValueError
        For other arrays, and other quantiles.

    See Also
    --------
    kernels.sort_pairs : Values in order within segments.

    Examples
    --------
    >>> values = np.array([1, 2, 4, 7, 9])
    >>> sorted_quantiles(values, np.array([0, 3]), np.array([3, 2]), 0.5)
    array([2., 8.])
    """
    check_columns("values", [values])
    if values.dtype.kind not in "iubf":
        raise TypeError(f"values must be integers, bool or floats, found {brief(values)}")
    for name, array in (("starts", starts), ("counts", counts)):
        check_columns(name, [array])
        if array.dtype != np.int64:
            raise TypeError(f"{name} must be int64, found {brief(array)}")
    check_one_length("starts and counts", [starts, counts])
    if not (is_number(q) and 0 <= q <= 1):
        raise ValueError(f"q must be a number from 0 to 1, found {shown(q)}")
    backend = backend_of([values, starts, counts])
    return backend.sorted_quantiles(values, starts, counts, float(q), midpoint=midpoint)


def is_sorted(values: Array, heads: Array | None = None) -> bool:
    """Return whether the elements of an array never decrease; False with NaN among them.

    Parameters
    ----------
    values : array
        1-d, of integers, or floats of 16 to 64 bits.
    heads : array of bool, optional
        Elements that may be less than the one before, such as the first ones of groups.

    Raises
    ------
    TypeError, ValueError
        For other arrays.

    See Also
    --------
    kernels.argsort : Positions of rows in order.

    Examples
    --------
    >>> is_sorted(np.array([1, 2, 2])), is_sorted(np.array([1.0, np.nan]))
    (True, False)
    >>> is_sorted(np.array([1, 2, 1]), heads=np.array([True, False, True]))
    True
    """
    check_columns("values", [values])
    if values.dtype.kind not in "iuf" or values.dtype.itemsize > 8:
        raise TypeError(
            f"values must be integers or floats of at most 64 bits, found {brief(values)}"
        )
    if values.dtype == np.float16:
        values = values.astype(np.dtype(np.float32))
    arrays = [values]
    if heads is not None:
        arrays.append(heads)
        check_columns("heads", [heads])
        if heads.dtype != bool:
            raise TypeError(f"heads must be bool, found {brief(heads)}")
        check_one_length("values and heads", arrays)
    return bool(backend_of(arrays).is_sorted(values, heads))


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
        Before the first value that is equal to the needle, or after the last one.

    Returns
    -------
    array of int64
        For each needle, the number of values of `haystack` that are less or, on the right, not greater.

    Raises
    ------
    TypeError
        For other arrays.
    ValueError
        For another `side`, and arrays that are not 1-d.

    See Also
    --------
    kernels.asof : The row that matches, also in groups.
    kernels.interval_move : The values between pairs of such positions.

    Notes
    -----
    Both arrays are read once, so that `numpy.searchsorted` is faster for few needles. All threads merge parts of the
    same length. Algorithm: Green, McColl, Bader, *GPU Merge Path*, ICS 2012.

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
