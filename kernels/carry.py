"""What a piece of a scan hands on to later pieces: states of the scan's operator, or of its `carry_operator`.

A scan over pieces reduces each to a state, folds the states of earlier pieces and starts from the result. Which
operator these states belong to is one of an operator's facts (`built_in.Facts`).
"""

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from . import cpu, int128
from .arrays import Array, as_inputs
from .built_in import facts_of
from .nulls import Nulls
from .operators import Operator
from .options import ScanOptions
from .reduce import reducing
from .signature import signature


def aggregate(
    op: Operator, values: Array | tuple[Array, ...], **options: Any
) -> tuple[Operator, Any]:
    """Reduce a piece of a longer scan by `op` to what later pieces need to know of it.

    Parameters
    ----------
    op, values, **options
        As for `aggregating`.

    Returns
    -------
    carry_operator : Operator
        Which combines such states (`fold`); another than `op` where plain states would overflow.
    state : state of the carry operator
        For `carry_in_from`, once it is combined with the earlier ones.

    Examples
    --------
    >>> from dask_gpuscan.kernels import BUILT_IN
    >>> op, state = aggregate(BUILT_IN["multiply"], np.array([4.0, 2.0]))
    >>> op.name, state[:2]
    ('product', (np.float64(0.5), np.int64(4)))
    """
    by, read = aggregating(op, values, **options)
    return by, read()


def aggregating(
    op: Operator,
    values: Array | tuple[Array, ...],
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
    carry_operator : Operator
    read : callable
        Waits for the state and returns it.
    """
    arrays = as_inputs(op, values)
    answer = signature(op, [a.dtype for a in arrays], dtype).outputs[0]
    by, values, dtype = carry_inputs(op, values, answer, dtype)
    return by, reducing(by, values, ScanOptions(nulls, axis, reverse=reverse, dtype=dtype))


def fold(op: Operator, states: Sequence[Any]) -> Any:
    """Combine states in order into one.

    States are small host values wherever the data lives, so this always runs on the CPU.

    Examples
    --------
    >>> from dask_gpuscan.kernels import BUILT_IN
    >>> fold(BUILT_IN["add"], [np.int64(1), np.int64(2), np.int64(3)])
    np.int64(6)
    """
    return int128.fold(op, states) if int128.holds(states[0]) else cpu.fold(op, states)


def carry_operator(op: Operator, dtype: np.dtype) -> Operator:
    """Return the operator whose states are handed from piece to piece of a scan by `op` with answers of `dtype`.

    Examples
    --------
    >>> from dask_gpuscan.kernels import BUILT_IN
    >>> carry_operator(BUILT_IN["multiply"], np.dtype("f8")).name
    'product'
    >>> carry_operator(BUILT_IN["add"], np.dtype("f8")).name
    'add'
    """
    made = facts_of(op).carry_operator
    return op if made is None or dtype.kind != "f" else made(dtype)


def carry_inputs(
    op: Operator, values: Array | tuple[Array, ...], answer: np.dtype, dtype: np.dtype | None
) -> tuple[Operator, Any, np.dtype | None]:
    """Return what reduces values to states of the carry operator of a scan by `op` with answers of a dtype.

    Parameters
    ----------
    op : Operator
    values : array or tuple of arrays
    answer : dtype
        Of the scan's answer.
    dtype : dtype, optional
        Of the states, if they are those of `op`.

    Returns
    -------
    carry_operator : Operator
    values : array or tuple of arrays
        In `answer`, if the carry operator is another than `op`.
    dtype : dtype, optional
    """
    by = carry_operator(op, answer)
    if by is op:
        return op, values, dtype
    return by, (values[0] if isinstance(values, tuple) else values).astype(answer, copy=False), None


def carry_in_from(op: Operator, state: Any, dtype: np.dtype, initial: Any = None) -> Any:
    """Return the carry-in of a scan by `op` for a state of its carry operator: what a walk in order would come to.

    Parameters
    ----------
    op : Operator
    state : state of ``carry_operator(op, dtype)``
        All that comes before; scalars, or arrays of one item a line.
    dtype : dtype
        Of the scan's answer.
    initial : state of `op`, optional
        What comes before `state`.

    Examples
    --------
    >>> from dask_gpuscan.kernels import BUILT_IN
    >>> multiply, float64 = BUILT_IN["multiply"], np.dtype("f8")
    >>> state = carry_operator(multiply, float64).lift(8.0)
    >>> float(carry_in_from(multiply, state, float64, initial=2.0))
    16.0
    """
    by = carry_operator(op, dtype)
    if initial is not None:
        before = initial
        if by is not op and by.lift is not None:
            before = _with_dtypes_of(state, by.lift(initial))
        state = fold(by, [_repeated(before, state), state])
    answer = facts_of(op).carry_answer
    return state if by is op or answer is None else answer(state, dtype)


def _with_dtypes_of(other: Any, state: Any) -> Any:
    """Return a state of Python's numbers in the dtypes of another."""
    return tuple(np.asarray(o).dtype.type(part) for part, o in zip(state, other, strict=True))


def _repeated(state: Any, lines: Any) -> Any:
    """Return one state repeated to as many lines as another has."""
    if isinstance(lines, tuple):
        return tuple(_repeated(part, each) for part, each in zip(state, lines, strict=True))
    return np.broadcast_to(state, np.shape(lines))
