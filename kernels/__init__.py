"""What runs inside one partition: scans and reductions of arrays by any operator, on any backend.

The functions here are the whole interface. Data stays where it lives: the type of the arrays chooses the
backend. This package knows arrays, null masks and operators; it must never know frames, columns or graphs.
"""

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from . import cpu, int128
from .arrays import is_array
from .backends import backend_of
from .built_in import BUILT_IN
from .by_key import reduce_by_code, reduce_by_key, scan_by_code, scan_by_key
from .compaction import (
    flags,
    heads,
    partition,
    run_length_decode,
    run_length_encode,
    select,
    unique,
)
from .cpu import Endless, Signature
from .int128 import INT128
from .marks import Predicate
from .nulls import NAT, InBand, Mask, Nulls, bitmap, byte_mask
from .operators import Operator, check_associative, operator, segmented
from .product import carried, carrier, seed

__all__ = [
    "BUILT_IN",
    "INT128",
    "NAT",
    "Endless",
    "InBand",
    "Mask",
    "Nulls",
    "Operator",
    "Predicate",
    "Signature",
    "aggregate",
    "aggregating",
    "bitmap",
    "byte_mask",
    "carried",
    "carrier",
    "check_associative",
    "flags",
    "fold",
    "heads",
    "is_array",
    "operator",
    "partition",
    "reduce",
    "reduce_by_code",
    "reduce_by_key",
    "run_length_decode",
    "run_length_encode",
    "scan",
    "scan_by_code",
    "scan_by_key",
    "seed",
    "segmented",
    "select",
    "signature",
    "state",
    "unique",
]


def _inputs(op: Operator, values: Any, axis: int) -> tuple[Any, tuple[Any, ...], int]:
    if not isinstance(op, Operator):
        raise TypeError(f"op must be a dask_gpuscan.Operator, found {op!r}")
    arrays = values if isinstance(values, tuple) else (values,)
    backend = backend_of(arrays)
    if len(arrays) != op.inputs:
        raise TypeError(f"{op.name} takes {op.inputs} input arrays, found {len(arrays)}")
    shape, *others = [a.shape for a in arrays]
    if any(other != shape for other in others):
        raise ValueError(f"values must have one shape, found {sorted({shape, *others})}")
    ndim = len(shape)
    if not -ndim <= axis < ndim:
        raise ValueError(
            f"axis must be from {-ndim} to {ndim - 1} for {ndim}-d values, found {axis}"
        )
    return backend, arrays, axis % ndim


def scan(
    op: Operator,
    values: Any,
    *,
    nulls: Nulls = None,
    axis: int = -1,
    exclusive: bool = False,
    reverse: bool = False,
    carry_in: Any = None,
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
    >>> scan(BUILT_IN["add"], np.array([1, 2, 3]))
    (array([1, 3, 6]), np.int64(6))
    >>> scan(BUILT_IN["add"], np.array([1, 2, 3]), exclusive=True, carry_in=10)
    (array([10, 11, 13]), np.int64(16))
    """
    backend, arrays, axis = _inputs(op, values, axis)
    out, read = backend.begin(
        op,
        arrays,
        write=True,
        nulls=nulls,
        axis=axis,
        exclusive=exclusive,
        reverse=reverse,
        carry_in=carry_in,
        dtype=None if dtype is None else np.dtype(dtype),
        mark_nulls=mark_nulls,
        waits=carry_out,
    )
    return out, read() if carry_out else None


def reduce(
    op: Operator,
    values: Any,
    *,
    nulls: Nulls = None,
    axis: int = -1,
    reverse: bool = False,
    carry_in: Any = None,
    dtype: Any = None,
) -> Any:
    """Reduce arrays along an axis to a state; equals the carry-out of `scan` with the same arguments.

    Examples
    --------
    >>> reduce(BUILT_IN["maximum"], np.array([[1, 5], [7, 3]]), axis=0)
    array([7, 5])
    """
    return _reducing(op, values, nulls, axis, reverse, carry_in, dtype)()


def _reducing(
    op: Operator, values: Any, nulls: Nulls, axis: int, reverse: bool, carry_in: Any, dtype: Any
) -> Callable[[], Any]:
    """Begin to reduce; return a function that waits for the state."""
    backend, arrays, axis = _inputs(op, values, axis)
    _, read = backend.begin(
        op,
        arrays,
        write=False,
        nulls=nulls,
        axis=axis,
        exclusive=False,
        reverse=reverse,
        carry_in=carry_in,
        dtype=None if dtype is None else np.dtype(dtype),
        mark_nulls=False,
        waits=True,
    )
    return read  # type: ignore[no-any-return]


def aggregate(op: Operator, values: Any, **options: Any) -> tuple[Operator, Any]:
    """Reduce a piece of a longer scan by `op` to what later pieces need to know of it.

    Parameters
    ----------
    op, values, **options
        As for `aggregating`.

    Returns
    -------
    carrier : Operator
        Which combines such states (`fold`); another than `op` where plain states would overflow.
    state : state of the carrier
        For `seed`, once it is combined with the earlier ones.

    Examples
    --------
    >>> carrier, state = aggregate(BUILT_IN["multiply"], np.array([4.0, 2.0]))
    >>> carrier, state[:2]
    (Operator('product'), (np.float64(0.5), np.int64(4)))
    """
    by, read = aggregating(op, values, **options)
    return by, read()


def aggregating(
    op: Operator,
    values: Any,
    *,
    nulls: Nulls = None,
    axis: int = -1,
    reverse: bool = False,
    dtype: Any = None,
) -> tuple[Operator, Callable[[], Any]]:
    """Begin what `aggregate` does, without waiting for a GPU.

    Parameters
    ----------
    op, values, nulls, axis, reverse, dtype
        As for `reduce`.

    Returns
    -------
    carrier : Operator
    read : callable
        Waits for the state and returns it.
    """
    arrays = values if isinstance(values, tuple) else (values,)
    answer = signature(op, [a.dtype for a in arrays], dtype).outputs[0]
    by, values, dtype = carried(op, values, answer, dtype)
    return by, _reducing(by, values, nulls, axis, reverse, None, dtype)


def fold(op: Operator, states: Sequence[Any]) -> Any:
    """Combine states in order into one.

    States are small host values wherever the data lives, so this always runs on the CPU.

    Examples
    --------
    >>> fold(BUILT_IN["add"], [np.int64(1), np.int64(2), np.int64(3)])
    np.int64(6)
    """
    return int128.fold(op, states) if int128.holds(states[0]) else cpu.fold(op, states)


def signature(op: Operator, dtypes: Sequence[Any], dtype: Any = None) -> Signature:
    """Return the types of states and answers of an operator for inputs of these dtypes.

    Raises
    ------
    TypeError, ValueError
        If the operator's functions do not compile, raise, or do not fit together.

    Examples
    --------
    >>> signature(BUILT_IN["add"], [np.int32]).outputs
    (dtype('int64'),)
    """
    wanted = None if dtype is None else np.dtype(dtype)
    return int128.signature(op, tuple(np.dtype(d) for d in dtypes), wanted)


def state(op: Operator, value: Any, dtypes: Sequence[Any], dtype: Any, name: str) -> Any:
    """Return a user's `value` as a state of the operator; an element of a tuple-state one is lifted.

    Raises
    ------
    TypeError
        Naming the argument `name`, if the value does not fit.

    Examples
    --------
    >>> state(BUILT_IN["last"], 3, [np.int64], None, "initial")
    (np.int64(3), np.True_)
    """
    types_ = signature(op, dtypes, dtype)
    lifts = not types_.scalar_state and not isinstance(value, tuple) and op.inputs == 1
    if lifts and op.lift is not None and np.isscalar(value):
        value = op.lift(value)
    return int128.as_state(value, types_, name)
