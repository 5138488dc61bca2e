"""Reductions: the state of an operator after all elements of arrays along an axis."""

from collections.abc import Callable
from typing import Any

from .arrays import Array, as_inputs
from .backends import backend_of
from .nulls import Nulls
from .operators import Operator
from .options import ScanOptions
from .signature import State


def reduce(
    op: Operator,
    values: Array | tuple[Array, ...],
    *,
    nulls: Nulls = None,
    axis: int = -1,
    reverse: bool = False,
    carry_in: State | None = None,
    dtype: Any = None,
) -> Any:
    """Reduce arrays along an axis to a state; equals the carry-out of `scan` with the same arguments.

    Examples
    --------
    >>> import numpy as np
    >>> from dask_gpuscan.kernels import BUILT_IN
    >>> reduce(BUILT_IN["maximum"], np.array([[1, 5], [7, 3]]), axis=0)
    array([7, 5])
    """
    options = ScanOptions(nulls, axis, reverse=reverse, dtype=dtype)
    return reducing(op, values, options, carry_in)()


def reducing(
    op: Operator,
    values: Array | tuple[Array, ...],
    options: ScanOptions,
    carry_in: State | None = None,
) -> Callable[[], Any]:
    """Begin to reduce; return a function that waits for the state."""
    arrays = scan_inputs(op, values, options.axis)
    return backend_of(arrays).scan(op, arrays, options, carry_in, write=False, waits=True)[1]


def scan_inputs(op: Operator, values: Array | tuple[Array, ...], axis: int) -> tuple[Array, ...]:
    """Return the arrays of a scan or reduction.

    Raises
    ------
    TypeError, ValueError
        If the arrays do not fit the operator or one another, or have no such axis.
    """
    arrays = as_inputs(op, values)
    shape, *others = [a.shape for a in arrays]
    if any(other != shape for other in others):
        raise ValueError(f"values must have one shape, found {sorted({shape, *others})}")
    ndim = len(shape)
    if not -ndim <= axis < ndim:
        raise ValueError(
            f"axis must be from {-ndim} to {ndim - 1} for {ndim}-d values, found {axis}"
        )
    return arrays
