"""Images and grids: summed-area tables, sums of boxes from them, and means of boxes, of NumPy, CuPy and Dask arrays."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Literal, TypeVar, overload

import numpy as np
from numpy.typing import NDArray

from ...engines.run import array_engine_of, check_in_memory
from ...kernels.arrays import is_array
from ...kernels.grids import SUMS, check_axes, check_numbers
from ...kernels.messages import shown

X = TypeVar("X")
"""The type of an array."""

Axes = int | Sequence[int] | None
Mode = Literal["reflect", "mirror", "nearest", "wrap", "constant"]


@overload
def summed_area_table(x: NDArray[Any], axes: Axes = None, *, dtype: Any = None) -> NDArray[Any]: ...
@overload
def summed_area_table(x: X, axes: Axes = None, *, dtype: Any = None) -> X: ...
def summed_area_table(x: Any, axes: Axes = None, *, dtype: Any = None) -> Any:
    """Return the sum of all elements up to each element along some axes: the integral image.

    Parameters
    ----------
    x : array
        NumPy, CuPy or Dask, of numbers or bool, of any number of dimensions. Dask arrays may be chunked along all axes.
    axes : int or sequence of int, optional
        By default all. With ``axes=(-2, -1)`` a stack of images has one table an image.
    dtype : dtype, optional
        Of the table. By default int64 for integers and bool, uint64 for unsigned ones, float64 for floats and
        complex128 for complex numbers, also of fewer bits.

    Returns
    -------
    array
        Of the type and the shape of `x`: ``table[i, j]`` is the sum of ``x[:i + 1, :j + 1]``. Lazy for Dask arrays.

    Raises
    ------
    TypeError
        If `x` is not an array of numbers, or `dtype` cannot hold their sums.
    ValueError
        If an axis is not there, or is there twice.

    See Also
    --------
    window_sum : Sums of boxes from the table.
    box_filter : The mean of the box around each element.
    cumsum : Of one axis; with several, ``cumsum(x, axis=(0, 1))``, this function.

    Notes
    -----
    Sums of integers are exact, modulo 2^64. Those of floats are kept in float64 whatever `dtype` is:
    along axes of n and m, one is off by (n + m) 1.1e-16 times the sum of absolute values at worst, the far corner
    too. A sum of a box is a difference of sums up to its corners, and is off by as much as the largest of these: of
    4096 x 4096 random numbers between 0 and 1, by 4e-8 at most. A table of float32 is rounded once more, each value
    by 6e-8 of itself: the sum of a small box far from the first corner is lost in that.

    The last two axes take one pass over memory, each other axis one more. Algorithm: F. C. Crow, Summed-area tables for
    texture mapping, SIGGRAPH 1984.

    Examples
    --------
    >>> import numpy as np, dask_gpuscan
    >>> dask_gpuscan.summed_area_table(np.array([[1, 2], [3, 4]]))
    array([[ 1,  3],
           [ 4, 10]])
    """
    return array_engine_of(x).summed_area_table(x, axes, dtype=dtype)


@overload
def window_sum(table: NDArray[Any], boxes: Any, axes: Axes = None) -> NDArray[Any]: ...
@overload
def window_sum(table: X, boxes: Any, axes: Axes = None) -> X: ...
def window_sum(table: Any, boxes: Any, axes: Axes = None) -> Any:
    """Return the sums of many boxes at once, from a summed-area table.

    Parameters
    ----------
    table : array
        NumPy, CuPy or Dask: what `summed_area_table` returns.
    boxes : array of integers, or tuple of two
        Half-open, by position: of shape (boxes, 2 * axes) with the first element of a box along each axis and then
        the one behind its last along each (``top, left, bottom, right`` of an image), or of shape (boxes, 2, axes),
        or a tuple of both corners, each of shape (boxes, axes). Of one box, without the first axis. For Dask tables
        they are in memory.
    axes : int or sequence of int, optional
        Those of the table, as it was made. By default all.

    Returns
    -------
    array
        Of the table's type and dtype, and of shape (boxes,), after the shape of the table's other axes: a
        stack of images has one row an image. Lazy for Dask tables.

    Raises
    ------
    TypeError
        If the table is not an array of numbers, or boxes are not of integers.
    ValueError
        If a box is not within the table or ends before it begins, or boxes are of another shape.

    See Also
    --------
    summed_area_table : Makes the table, and says how exact sums are: those of integers are.
    box_filter : The mean of a box of one size around each element.

    Notes
    -----
    A sum takes two reads an axis, 4 for an image, however large its box is. A mean is the sum over the number of
    elements.

    Examples
    --------
    >>> import numpy as np, dask_gpuscan
    >>> table = dask_gpuscan.summed_area_table(np.arange(12).reshape(3, 4))
    >>> dask_gpuscan.window_sum(table, [[0, 0, 3, 4], [1, 2, 3, 4]])
    array([66, 34])
    """
    engine = array_engine_of(table)
    check_numbers(engine.meta(table), "table", SUMS)
    found = check_axes(axes, table.ndim)
    shape = tuple(table.shape[axis] for axis in found)
    lows, highs, is_one = _corners(boxes, shape, engine.positions(table))
    out = engine.window_sum(table, lows, highs, found)
    return out[..., 0] if is_one else out


def _corners(boxes: Any, shape: tuple[int, ...], like: Any) -> tuple[Any, Any, bool]:
    """Return the lower and the upper corners of boxes in a table, and whether there is one box only.

    Parameters
    ----------
    boxes : array or tuple of two
    shape : tuple of int
        Of the table, along the axes of boxes.
    like : array
        The corners become arrays of its library.
    """
    count = len(shape)
    accepted = (
        f"of integers of shape (boxes, {2 * count}) or (boxes, 2, {count}), "
        f"or a tuple of two of shape (boxes, {count})"
    )
    check_in_memory("boxes", boxes, "compute it first")
    pair = isinstance(boxes, tuple) and len(boxes) == 2 and all(np.ndim(c) for c in boxes)
    corners = [_as_array(each) for each in (boxes if pair else (boxes,))]
    if any(each.dtype.kind not in "iu" and each.size for each in corners):
        found = ", ".join(str(each.dtype) for each in corners)
        raise TypeError(f"boxes must be {accepted}, found {found}")
    if not isinstance(like, np.ndarray):
        corners = [np.asarray(each, like=like) for each in corners]
    elif not all(isinstance(each, np.ndarray) for each in corners):
        raise TypeError("boxes must be on the host, as the table is: use cupy.asnumpy")
    is_one = corners[0].ndim == 1 and corners[0].size > 0
    shapes = [each.shape for each in corners]
    inner = shapes[0] if is_one else shapes[0][1:]
    fits = inner == (count,) if pair else inner in ((2 * count,), (2, count))
    if len(set(shapes)) > 1 or not (fits or not corners[0].size):
        raise ValueError(f"boxes must be {accepted}, found shapes {', '.join(map(str, shapes))}")
    lows, highs = corners if pair else (corners[0].reshape(-1, 2, count)[:, k] for k in (0, 1))
    lows, highs = (each.reshape(-1, count).astype(np.int64) for each in (lows, highs))
    ends = np.asarray(shape, like=highs)
    wrong = ((lows < 0) | (highs < lows) | (highs > ends)).any(axis=1)
    if wrong.any():
        first = int(wrong.argmax())
        box = [*map(int, lows[first]), *map(int, highs[first])]
        raise ValueError(
            f"boxes must be within the table, whose shape along its axes is {shape}, and end where they begin or "
            f"behind; found {box} at position {first}"
        )
    return lows, highs, is_one


def _as_array(boxes: Any) -> Any:
    try:
        return boxes if is_array(boxes) else np.asarray(boxes)
    except ValueError:  # rows of different lengths
        raise ValueError(f"boxes must be of one length each, found {shown(boxes)}") from None


@overload
def box_filter(
    x: NDArray[Any],
    radius: int | Sequence[int],
    *,
    axes: Axes = None,
    mode: Mode = "reflect",
    cval: complex = 0,
    dtype: Any = None,
) -> NDArray[Any]: ...
@overload
def box_filter(
    x: X,
    radius: int | Sequence[int],
    *,
    axes: Axes = None,
    mode: Mode = "reflect",
    cval: complex = 0,
    dtype: Any = None,
) -> X: ...
def box_filter(
    x: Any,
    radius: int | Sequence[int],
    *,
    axes: Axes = None,
    mode: Mode = "reflect",
    cval: complex = 0,
    dtype: Any = None,
) -> Any:
    """Return the mean of the box around each element.

    Parameters
    ----------
    x : array
        NumPy, CuPy or Dask, of numbers or bool, of any number of dimensions. Dask arrays may be chunked along all axes,
        and chunks may be shorter than the radius.
    radius : int or sequence of int
        How many elements on either side belong to the box: it has ``2 * radius + 1`` along an axis. One for all axes,
        or one an axis.
    axes : int or sequence of int, optional
        Those that boxes extend along. By default all. With ``axes=(-2, -1)`` each image of a stack is filtered by
        itself.
    mode : {"reflect", "mirror", "nearest", "wrap", "constant"}, default "reflect"
        What lies beyond the ends of an axis, as in ``scipy.ndimage.uniform_filter``: before the ``a`` of ``a b c``,
        there is ``c b a``, ``c b``, ``a a a``, ``a b c`` or `cval`.
    cval : number, default 0
        For ``mode="constant"``.
    dtype : dtype, optional
        Of the answer. By default that of `x`, as in SciPy, and float64 for bool. Means of integers lose their
        fraction; ask for a float to keep it.

    Returns
    -------
    array
        Of the type and the shape of `x`. Lazy for Dask arrays.

    Raises
    ------
    TypeError
        If `x` is not an array of numbers, a radius or an axis is not an integer, or `dtype` cannot hold the means.
    ValueError
        If a radius is negative, or above both 1024 and the length of its axis, if there are not as many as axes, or
        for an unknown axis or mode.
    OverflowError
        For 64-bit integers whose sums may not fit, unless `dtype` is one of floats; of a Dask array when it is
        computed.

    See Also
    --------
    summed_area_table : For sums of boxes of many sizes.
    Gpuscan.rolling : Windows of frames and series.

    Notes
    -----
    A sum is made of the elements of its box alone, by no difference of larger sums: a NaN or an infinity stays in the
    boxes that hold it, and a large value leaves no error behind. Floats are added in float64: the answer is off by a
    few 1e-16 of the mean of absolute values, times the radius at most, before it is rounded to `dtype`. Integers are
    added in 64 bits, exactly, and divided once; SciPy rounds after each axis. Where they may not fit, floats are added
    if `dtype` is one of floats.

    A Dask array is computed block by block, each with the elements around it that its boxes reach.

    Algorithm: M. van Herk, Pattern Recognition Letters 13, 1992; J. Gil and M. Werman, IEEE PAMI 15, 1993.

    Examples
    --------
    >>> import numpy as np, dask_gpuscan
    >>> dask_gpuscan.box_filter(np.array([[0.0, 9.0, 0.0], [0.0, 0.0, 9.0]]), 1, mode="constant")
    array([[1., 2., 2.],
           [1., 2., 2.]])
    >>> dask_gpuscan.box_filter(np.array([0, 5, 6]), (1,), mode="nearest", dtype=float)
    array([1.66666667, 3.66666667, 5.66666667])
    """
    return array_engine_of(x).box_filter(x, radius, axes=axes, mode=mode, cval=cval, dtype=dtype)
