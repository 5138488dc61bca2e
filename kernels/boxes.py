"""Means of the box around each element of an array."""

from collections.abc import Sequence
from math import prod
from numbers import Number
from typing import Any

import numpy as np

from .arrays import Array
from .backends import backend_of
from .grids import STATES, check_axes, check_number_dtype, check_numbers, is_listed
from .messages import hint, shown
from .options import EDGES, Box

FLOAT64_BITS = 53
"""Bits of the integers that float64 holds exactly."""


def box_filter(
    values: Array,
    radius: int | Sequence[int],
    *,
    axes: int | Sequence[int] | None = None,
    mode: str = "reflect",
    cval: complex = 0,
    dtype: Any = None,
) -> Any:
    """Return the mean of the box around each element.

    Parameters
    ----------
    values : array
        Of numbers or bool, of at least one dimension.
    radius : int or sequence of int
        Elements on either side along all axes, or along each.
    axes : int or sequence of int, optional
        Those that a box extends along. By default all.
    mode : {"reflect", "mirror", "nearest", "wrap", "constant"}
        Which elements stand beyond the ends, as in SciPy.
    cval : number
        What stands there if the mode is "constant".
    dtype : dtype, optional
        Of the answer. By default that of the values; of bool float64.

    Returns
    -------
    array
        Of the shape of the values.

    Raises
    ------
    TypeError, ValueError
        For other arguments.

    See Also
    --------
    rolling : Windows of one axis, by any operator.
    summed_area_table : What sums of boxes of many sizes are read from.

    Notes
    -----
    Nothing is subtracted, so no window holds anything of what is outside it. The cost does not grow with the radius on
    CPUs. Algorithm: van Herk, Pattern Recognition Letters 13, 1992; Gil and Werman, IEEE PAMI 15, 1993.

    Examples
    --------
    >>> box_filter(np.array([1.0, 2.0, 6.0]), 1)
    array([1.33333333, 3.        , 4.66666667])
    """
    check_numbers(values)
    axes = check_axes(axes, values.ndim)
    radii = check_radii(radius, len(axes))
    if not isinstance(mode, str) or mode not in EDGES:
        listed = ", ".join(map(repr, EDGES))
        raise ValueError(f"mode must be one of {listed}, found {shown(mode)}{hint(mode, EDGES)}")
    mean = np.dtype(float) if values.dtype.kind == "b" else values.dtype
    answer = mean if dtype is None else check_number_dtype(dtype)
    if not np.can_cast(mean, answer, "same_kind"):
        raise TypeError(f"dtype must hold means of {values.dtype}, found {answer}")
    outside = _outside(cval, values.dtype) if mode == "constant" else 0
    state = _state(values.dtype, prod(2 * each + 1 for each in radii))
    box = Box(tuple(zip(axes, radii, strict=True)), mode, outside, _not_half(answer), state)
    if not values.size:
        return values.astype(answer)
    given = values.astype(_not_half(values.dtype), copy=False)
    return backend_of([given]).box_filter(given, box).astype(answer, copy=False)


def check_radii(radius: Any, count: int) -> tuple[int, ...]:
    """Return one radius an axis.

    Raises
    ------
    TypeError
        If they are no integers.
    ValueError
        If they are negative, or not as many as there are axes.
    """
    given = list(radius) if is_listed(radius) else [radius] * count
    for each in given:
        if not isinstance(each, (int, np.integer)) or isinstance(each, bool):
            raise TypeError(f"radius must be an integer, or one an axis, found {shown(each)}")
        if not 0 <= each < 2**31:
            raise ValueError(f"radius must be from 0 to {2**31 - 1}, found {each}")
    if len(given) != count:
        raise ValueError(
            f"radius must be one integer, or one for each of {count} axes, found {len(given)}"
        )
    return tuple(map(int, given))


def _state(dtype: np.dtype, count: int) -> np.dtype:
    """Return what sums of so many values are kept in: of integers in float64, which is faster, where it is exact."""
    exact = dtype.kind in "biu" and 8 * dtype.itemsize + count.bit_length() <= FLOAT64_BITS
    return np.dtype(float if exact else STATES[dtype.kind])


def _not_half(dtype: np.dtype) -> np.dtype:
    """Return the dtype that kernels take for another: they take no float16."""
    return np.dtype(np.float32) if dtype == np.float16 else dtype


def _outside(cval: Any, dtype: np.dtype) -> Any:
    """Return a constant as one of the values, which integers and bool must hold as it is."""
    if not isinstance(cval, Number):
        raise TypeError(f"cval must be a number, found {shown(cval)}")
    try:
        held = dtype.type(cval)
        if dtype.kind in "fc" or held == cval:
            return held
    except (TypeError, ValueError, OverflowError):
        pass
    raise ValueError(f"cval must be one of {dtype}, as x is, found {shown(cval)}")
