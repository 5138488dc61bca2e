"""Scans: the state of an operator after, or before, each element of arrays, in one pass along an axis."""

from typing import Any

from .arrays import Array
from .backends import backend_of
from .nulls import Nulls
from .operators import Operator
from .options import ScanOptions
from .reduce import scan_inputs
from .signature import State


def scan(
    op: Operator,
    values: Array | tuple[Array, ...],
    *,
    nulls: Nulls = None,
    axis: int = -1,
    exclusive: bool = False,
    reverse: bool = False,
    carry_in: State | None = None,
    dtype: Any = None,
    mark_nulls: bool = False,
    carry_out: bool = True,
) -> tuple[Any, Any]:
    """Scan arrays in one pass, from a carry-in to a carry-out.

    Parameters
    ----------
    op : Operator
    values : array or tuple of arrays
        As many as the operator has inputs, of one shape (..., n, ...). CuPy arrays of INT128 are taken by
        add, minimum, maximum, first and last.
    nulls : InBand, Mask or None
        Which elements are missing; they leave the state as it is. A mask counts positions in C order.
    axis : int, default -1
        The axis that is scanned.
    exclusive : bool, default False
        Write the state before each element rather than after it.
    reverse : bool, default False
        Walk from the last element to the first.
    carry_in : state, optional
        State before the first element (of each line along the axis); default the identity.
    dtype : dtype, optional
        Of the answer, and of the state where the element itself is the state. Default: as Numba infers
        it from the operator, which is NumPy's rule for sums.
    mark_nulls : bool, default False
        Write a null (NaN, NaT) at missing elements rather than the state.
    carry_out : bool, default True
        Return the carry-out. On a GPU this waits for the scan; without it the call returns at once.

    Returns
    -------
    out : array or tuple of arrays
        Of the shape of the values.
    carry_out : state
        State after the last element, on the host: for 1-d values NumPy scalars (integers for INT128), else
        NumPy arrays with one item a line. None without `carry_out`.

    Raises
    ------
    TypeError, ValueError
        For operators that cannot be compiled for these dtypes, and arguments that do not fit.

    Notes
    -----
    The association depends on the length alone: the same input gives the same bits on every run and
    with any number of threads. Algorithm: Merrill and Garland, NVR-2016-002, section 4.

    Examples
    --------
    >>> import numpy as np
    >>> from dask_gpuscan.kernels import BUILT_IN
    >>> scan(BUILT_IN["add"], np.array([1, 2, 3]))
    (array([1, 3, 6]), np.int64(6))
    >>> scan(BUILT_IN["add"], np.array([1, 2, 3]), exclusive=True, carry_in=10)
    (array([10, 11, 13]), np.int64(16))
    """
    arrays = scan_inputs(op, values, axis)
    options = ScanOptions(nulls, axis, exclusive, reverse, dtype, mark_nulls)
    out, read = backend_of(arrays).scan(op, arrays, options, carry_in, write=True, waits=carry_out)
    return out, read() if carry_out else None
