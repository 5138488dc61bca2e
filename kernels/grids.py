"""Summed-area tables of arrays, sums of boxes from them, and means of the box around each element."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from math import prod
from numbers import Number
from typing import Any

import numpy as np

from .arrays import Array, brief, is_array, numpy_dtype
from .backends import backend_of
from .messages import hint, shown
from .operators.built_in import BUILT_IN
from .options import EDGES, Box
from .scalars import is_integer
from .scan import scan

NUMBERS = "biufc"
"""The kinds of dtypes that are summed."""

SUMS = "iufc"
"""The kinds of dtypes of sums."""

STATES = {"b": np.int64, "i": np.int64, "u": np.uint64, "f": np.float64, "c": np.complex128}
"""The dtypes that sums are kept in, by the kind of a dtype."""


def summed_area_table(
    values: Array, axes: int | Sequence[int] | None = None, *, dtype: Any = None
) -> Any:
    """Return, for each element, the sum of all elements up to it along some axes.

    Parameters
    ----------
    values : array
        Of numbers or bool, of at least one dimension.
    axes : int or sequence of int, optional
        By default all.
    dtype : dtype, optional
        Of the answer. By default int64, uint64, float64 or complex128, by the values' kind. Sums are always kept in
        these, those of integers in float64 if `dtype` is a float.

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
    window_sum : Sums of boxes from the table.
    kernels.scan : Along one axis, by any operator.

    Notes
    -----
    The table of the last two axes takes one pass, each other axis one more. Algorithm: Crow, SIGGRAPH 1984.

    Examples
    --------
    >>> summed_area_table(np.array([[1, 2], [3, 4]]))
    array([[ 1,  3],
           [ 4, 10]])
    """
    check_numbers(values)
    axes = check_axes(axes, values.ndim)
    dtype = _table_dtype(values.dtype, dtype)
    state = np.dtype(STATES[dtype.kind])
    given: Any = values.astype(added_as(values.dtype, state), copy=False)
    if given.flags.f_contiguous and not given.flags.c_contiguous:
        turned = {given.ndim - 1 - axis for axis in axes}
        return _table(given.transpose(), turned, dtype, state).transpose()
    return _table(given, set(axes), dtype, state)


def _table(values: Any, axes: set[int], dtype: np.dtype, state: np.dtype) -> Any:
    """Return the table; elements along the last two axes are neighbours in memory."""
    shape, last = values.shape, {values.ndim - 2, values.ndim - 1}
    if last <= axes:
        axes = axes - last
        images = values.reshape(prod(shape[:-2]), *shape[-2:])
        kept = state if axes or dtype == np.float16 else dtype
        values = backend_of([values]).summed_area_table(images, kept, state).reshape(shape)
    for axis in sorted(axes):
        values, _ = scan(BUILT_IN["add"], values, axis=axis, dtype=state, carry_out=False)
    return values.astype(dtype, copy=False)


def window_sum(
    table: Array, lows: Array, highs: Array, axes: int | Sequence[int] | None = None
) -> Any:
    """Return the sums of boxes from a summed-area table.

    Parameters
    ----------
    table : array
        The answer of `summed_area_table`.
    lows, highs : array of integers
        Of shape (boxes, axes) and of the table's own library: along each axis, the first element of each box and the
        one after its last. They must be within the table, which is not checked.
    axes : int or sequence of int, optional
        Those of the table, in the order of the columns. By default all.

    Returns
    -------
    array
        Of the shape of the other axes, and the boxes last; of the table's dtype.

    Raises
    ------
    TypeError, ValueError
        For other arguments.

    See Also
    --------
    summed_area_table : Makes the table.

    Examples
    --------
    >>> table = summed_area_table(np.array([[1, 2], [3, 4]]))
    >>> window_sum(table, np.array([[0, 0], [0, 1]]), np.array([[2, 2], [2, 2]]))
    array([10,  6])
    """
    check_numbers(table, "table", SUMS)
    axes = check_axes(axes, table.ndim)
    backend_of([table, lows, highs])
    for name, ends in (("lows", lows), ("highs", highs)):
        if ends.dtype.kind not in "iu" or ends.ndim != 2 or ends.shape[1] != len(axes):
            raise TypeError(
                f"{name} must be integers of {len(axes)} columns, one an axis, found {brief(ends)}"
            )
    if lows.shape != highs.shape:
        raise ValueError(
            f"lows and highs must have one shape, found {lows.shape} and {highs.shape}"
        )
    others = [axis for axis in range(table.ndim) if axis not in axes]
    turned: Any = table
    if not all(table.shape[axis] for axis in axes):  # all boxes are empty
        return np.zeros_like(turned, shape=(*(table.shape[a] for a in others), len(lows)))
    at = box_ends(lows, highs)
    found, outside = turned.transpose(*others, *axes)[(..., *at)], at[0] < 0
    for each in at[1:]:
        outside = outside | (each < 0)
    found[..., outside] = 0
    return corner_differences(found, len(axes))


def box_ends(lows: Any, highs: Any) -> list[Any]:
    """Return for each axis the positions of the sums before the ends of boxes, with an axis of two for each axis."""
    before: Any = np.stack([lows, highs], axis=-1).astype(np.int64) - 1
    axes = range(lows.shape[1])
    return [before[:, k].reshape(-1, *(2 if k == i else 1 for i in axes)) for k in axes]


def corner_differences(found: Any, count: int) -> Any:
    """Return differences of the ends of boxes along the last `count` axes; an empty box is 0, however that rounds."""
    for _ in range(count):
        found = found[..., 1] - found[..., 0]
    return found


def added_as(given: np.dtype, state: np.dtype) -> np.dtype:
    """Return the dtype in which values are added to sums: their own if the sums keep their dtype with it."""
    keeps = given != np.float16 and np.result_type(given, state) == state
    return given if keeps else state


def _table_dtype(given: np.dtype, dtype: Any) -> np.dtype:
    """Return the dtype of a table."""
    if dtype is None:
        return np.dtype(STATES[given.kind])
    found = check_number_dtype(dtype)
    if not np.can_cast(given, STATES[found.kind], "same_kind"):
        raise TypeError(f"dtype must hold sums of {given}, found {found}")
    return found


# --- checks ---------------------------------------------------------------------------------------


def check_numbers(values: Any, name: str = "x", kinds: str = NUMBERS) -> None:
    """Check that an argument is an array of numbers of some kinds."""
    if not is_array(values):
        raise TypeError(
            f"{name} must be an array (NumPy, CuPy, Dask), found {type(values).__name__}"
        )
    if isinstance(values, np.ma.MaskedArray):
        raise TypeError(f"{name} must not be a masked array: fill it")
    if values.dtype.kind not in kinds or values.dtype.itemsize > _widest(values.dtype):
        accepted = "numbers or bool" if "b" in kinds else "numbers"
        raise TypeError(f"{name} must be of {accepted}, of at most 64 bits, found {values.dtype}")
    if not values.dtype.isnative:
        raise TypeError(f"{name} must be in the byte order of this machine, found {values.dtype}")
    if not values.ndim:
        raise ValueError(f"{name} must have at least one dimension, found a 0-d array")


def _widest(dtype: np.dtype) -> int:
    return np.dtype(STATES[dtype.kind]).itemsize


def check_number_dtype(dtype: Any) -> np.dtype:
    """Return the dtype of an answer; raise a TypeError for a dtype that is not of numbers."""
    found = numpy_dtype(dtype)
    if found.kind not in SUMS or found.itemsize > _widest(found):
        raise TypeError(f"dtype must be one of numbers of at most 64 bits, found {found}")
    native: np.dtype = found.newbyteorder("=")
    return native


def is_listed(given: Any) -> bool:
    """Return whether an argument is an ordered collection, rather than one value."""
    is_array = isinstance(given, np.ndarray) and given.ndim > 0
    return is_array or (isinstance(given, Sequence) and not isinstance(given, str))


def check_axes(axes: Any, ndim: int) -> tuple[int, ...]:
    """Return axes, each counted from the first; None stands for all.

    Raises
    ------
    TypeError
        If they are not integers.
    ValueError
        If the array does not have an axis, or an axis is named twice, or none is named.

    Examples
    --------
    >>> check_axes(-1, 3), check_axes(None, 2)
    ((2,), (0, 1))
    """
    if axes is None:
        return tuple(range(ndim))
    given = list(axes) if is_listed(axes) else [axes]
    for axis in given:
        if not is_integer(axis):
            raise TypeError(f"axes must be integers, found {shown(axis)}")
        if not -ndim <= axis < ndim:
            text = f"axes must be from {-ndim} to {ndim - 1}, found {axis}"
            raise np.exceptions.AxisError(text)
    found = tuple(int(axis) % ndim for axis in given)
    if len(set(found)) < len(found) or not found:
        raise ValueError(f"axes must name each axis once, and at least one, found {shown(axes)}")
    return found


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
        Elements on either side along all axes, or along each: no more than the axis has, or `NEAR`.
    axes : int or sequence of int, optional
        The axes along which a box extends. By default all.
    mode : {"reflect", "mirror", "nearest", "wrap", "constant"}
        Which elements continue lines beyond their ends, as in SciPy.
    cval : number
        The value there if the mode is "constant".
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
    OverflowError
        For integers whose sums may not fit 64 bits, unless `dtype` is one of floats.

    See Also
    --------
    kernels.rolling : Windows of one axis, by any operator.
    summed_area_table : The table from which sums of boxes of many sizes are read.

    Notes
    -----
    Nothing is subtracted, so elements outside a window leave no trace in it. The cost does not grow with the radius on
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
    check_reach(dict(box.radii), values.shape)
    given = values.astype(_not_half(values.dtype), copy=False)
    if state.kind in "iu" and not _fits(values, outside, box.count, state):
        if answer.kind not in "fc":
            raise OverflowError(
                f"sums of {box.count} values of {values.dtype} may not fit 64 bits; ask for dtype=float, which rounds"
            )
        given = values.astype(np.dtype(float))
        box = replace(box, outside=float(outside), state=np.dtype(float))
    return backend_of([given]).box_filter(given, box).astype(answer, copy=False)


def check_radii(radius: Any, count: int) -> tuple[int, ...]:
    """Return one radius for each axis.

    Raises
    ------
    TypeError
        If they are not integers.
    ValueError
        If they are negative, or not one for each axis.
    """
    given = list(radius) if is_listed(radius) else [radius] * count
    for each in given:
        if not is_integer(each):
            raise TypeError(f"radius must be an integer, or one an axis, found {shown(each)}")
        if not 0 <= each < 2**31:
            raise ValueError(f"radius must be from 0 to {2**31 - 1}, found {each}")
    if len(given) != count:
        raise ValueError(
            f"radius must be one integer, or one for each of {count} axes, found {len(given)}"
        )
    return tuple(map(int, given))


NEAR = 1024
"""The radius that is accepted along any axis, even if the axis is shorter."""


def check_reach(radii: Mapping[int, int], shape: Sequence[int]) -> None:
    """Raise a ValueError for a radius beyond the length of its axis: time and memory would grow with it."""
    for axis, radius in radii.items():
        if radius > max(shape[axis], NEAR):
            raise ValueError(
                f"radius must be at most {max(shape[axis], NEAR)} along axis {axis}, which has {shape[axis]} elements, "
                f"found {radius}"
            )


def _state(dtype: np.dtype, count: int) -> np.dtype:
    """Return the dtype of sums of `count` values: for integers float64, which is faster, if it is exact."""
    exact = dtype.kind in "biu" and 8 * dtype.itemsize + count.bit_length() <= FLOAT64_BITS
    return np.dtype(float if exact else STATES[dtype.kind])


def _fits(values: Any, outside: Any, count: int, state: np.dtype) -> bool:
    """Return whether sums of `count` values fit integers; for CuPy arrays, this waits for the device."""
    if 8 * values.dtype.itemsize + count.bit_length() < 8 * state.itemsize:
        return True
    ends = int(values.min()), int(values.max()), int(outside)
    limits = np.iinfo(state)
    return limits.min <= count * min(ends) and count * max(ends) <= limits.max


def _not_half(dtype: np.dtype) -> np.dtype:
    """Return the dtype that kernels use for a dtype: they do not take float16."""
    return np.dtype(np.float32) if dtype == np.float16 else dtype


def _outside(cval: Any, dtype: np.dtype) -> Any:
    """Return a constant in the dtype of the values, which must hold it exactly if it is one of integers or bool."""
    if not isinstance(cval, Number):
        raise TypeError(f"cval must be a number, found {shown(cval)}")
    try:
        held = dtype.type(cval)
        if dtype.kind in "fc" or held == cval:
            return held
    except (TypeError, ValueError, OverflowError):
        pass
    raise ValueError(f"cval must be one of {dtype}, as x is, found {shown(cval)}")
