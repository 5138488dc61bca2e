"""Ordered group-by: reductions and scans by an operator that restart at each run of equal keys.

Heads of runs are found in the same pass and never written. The engine's state is the number of heads and the
operator's state of the open run, which is again an operator (`counted`). This module must never know where the
arrays live.
"""

from collections.abc import Sequence
from typing import Any

import numpy as np

from .arrays import is_array, one_length
from .backends import primitive
from .marks import runs
from .nulls import Nulls
from .operators import Operator


def reduce_by_key(
    op: Operator,
    keys: Any,
    values: Any,
    *,
    key_nulls: Sequence[Nulls] | None = None,
    nulls: Nulls = None,
    dtype: Any = None,
    starts: bool = True,
    lower: bool = False,
) -> tuple[Any, Any]:
    """Reduce each run of equal keys to one state.

    Parameters
    ----------
    op : Operator
    keys : sequence of arrays
        As for `heads`.
    values : array or tuple of arrays
        1-d, as many as the operator has inputs, as long as the keys.
    key_nulls : sequence of InBand, Mask or None, optional
        Which elements of each key are null; a null equals a null.
    nulls : InBand, Mask or None
        Which values are missing; they leave the state as it is.
    dtype : dtype, optional
        As for `scan`.
    starts : bool, default True
        Return where the runs start.
    lower : bool, default False
        Return the operator's answers rather than its states.

    Returns
    -------
    starts : array of int64
        The position of the first row of each run. None without `starts`.
    states : array or tuple of arrays
        The state of each run, the identity where all its values are missing; with `lower`, the answer.

    Raises
    ------
    TypeError, ValueError
        For operators that cannot be compiled for these dtypes, and arrays that do not fit.

    Notes
    -----
    The association within a run depends on where its rows lie in tiles, never on the number of threads:
    the same input gives the same bits. One pass, after Merrill and Garland, NVR-2016-002, section 5.2.

    Examples
    --------
    >>> from dask_gpuscan.kernels import BUILT_IN
    >>> key, x = np.array([7, 7, 8, 7]), np.array([1, 2, 3, 4])
    >>> reduce_by_key(BUILT_IN["add"], [key], x)
    (array([0, 2, 3]), array([3, 3, 4]))
    >>> reduce_by_key(BUILT_IN["first"], [key], x, starts=False)
    (None, (array([1, 3, 4]), array([ True,  True,  True])))
    """
    arrays = _values(op, values)
    found = runs(keys, key_nulls)
    every = [*found.arrays, *arrays]
    one_length("keys and values", every)
    run = primitive("reduce_by_key", every)
    wanted = None if dtype is None else np.dtype(dtype)
    first, states = run(op, found, arrays, nulls=nulls, dtype=wanted, starts=starts, lower=lower)
    return first, states


def scan_by_key(
    op: Operator,
    keys: Any,
    values: Any,
    *,
    key_nulls: Sequence[Nulls] | None = None,
    nulls: Nulls = None,
    exclusive: bool = False,
    reverse: bool = False,
    carry_in: Any = None,
    continues: bool = False,
    dtype: Any = None,
    mark_nulls: bool = False,
    met: Any = None,
    carry_out: bool = True,
) -> tuple[Any, Any]:
    """Scan arrays, restarting at each run of equal keys.

    Parameters
    ----------
    op, keys, values, key_nulls, nulls
        As for `reduce_by_key`.
    exclusive, reverse, dtype, mark_nulls, carry_out
        As for `scan`. In reverse, a run starts with its last row.
    carry_in : state, optional
        State of the run that is open before the first row; default the identity.
    continues : bool, default False
        Whether the first run (in reverse, the last one) goes on with that open run. If it does not,
        `carry_in` is not used.
    met : array of bool, shape (1,), optional
        Set to True if one of the values is missing in band; else left as it is.

    Returns
    -------
    out : array or tuple of arrays
    carry_out : state
        State of the run that is open after the last row (in reverse, the first one), on the host. None
        without `carry_out`.

    Raises
    ------
    TypeError, ValueError
        As `reduce_by_key`.

    Notes
    -----
    The segmented scan of Blelloch, *Prefix sums and their applications* (CMU-CS-90-190), 1.5.

    Examples
    --------
    >>> from dask_gpuscan.kernels import BUILT_IN
    >>> key, x = np.array([7, 7, 8, 7]), np.array([1, 2, 3, 4])
    >>> scan_by_key(BUILT_IN["add"], [key], x)
    (array([1, 3, 3, 4]), np.int64(4))
    >>> scan_by_key(BUILT_IN["add"], [key], x, carry_in=10, continues=True)
    (array([11, 13,  3,  4]), np.int64(4))
    """
    arrays = _values(op, values)
    found = runs(keys, key_nulls, last=reverse, continues=continues)
    every = [*found.arrays, *arrays]
    one_length("keys and values", every)
    out, carry = primitive("scan_by_key", every)(
        op,
        found,
        arrays,
        nulls=nulls,
        exclusive=exclusive,
        carry_in=carry_in if continues else None,
        dtype=None if dtype is None else np.dtype(dtype),
        mark_nulls=mark_nulls,
        met=met,
        carry_out=carry_out,
    )
    return out, carry if carry_out else None


def scan_by_code(
    op: Operator,
    codes: Any,
    values: Any,
    groups: int,
    *,
    nulls: Nulls = None,
    exclusive: bool = False,
    carry_in: Any = None,
    dtype: Any = None,
) -> tuple[Any, Any]:
    """Scan within groups of rows in any order: each row goes on from the state of its group.

    Parameters
    ----------
    op, values, nulls, dtype
        As for `reduce_by_key`.
    codes : array of int64
        The group of each row, from 0 to `groups` - 1. NumPy arrays only.
    groups : int
    exclusive : bool, default False
        As for `scan`.
    carry_in : array of states, optional
        States of the first groups before the first row, at most `groups`; default the identity.

    Returns
    -------
    out : array or tuple of arrays
        In the rows' order.
    states : array or tuple of arrays
        The state of each group after its last row, one item a group.

    Raises
    ------
    TypeError, ValueError
        As `reduce_by_key`; for codes of no group.

    Notes
    -----
    One pass in the rows' order by one thread, with one table of states: fast where the table stays in cache.

    Examples
    --------
    >>> from dask_gpuscan.kernels import BUILT_IN
    >>> code, x = np.array([0, 1, 0]), np.array([1, 2, 3])
    >>> scan_by_code(BUILT_IN["add"], code, x, 2)
    (array([1, 2, 4]), array([4, 2]))
    """
    return _by_code(op, codes, values, groups, nulls, dtype, exclusive, carry_in, write=True)


def reduce_by_code(
    op: Operator, codes: Any, values: Any, groups: int, *, nulls: Nulls = None, dtype: Any = None
) -> Any:
    """Reduce groups of rows in any order: the states that `scan_by_code` returns.

    Examples
    --------
    >>> from dask_gpuscan.kernels import BUILT_IN
    >>> reduce_by_code(BUILT_IN["maximum"], np.array([0, 1, 0]), np.array([4, 2, 3]), 2)
    array([4, 2])
    """
    return _by_code(op, codes, values, groups, nulls, dtype, False, None, write=False)[1]


def _by_code(
    op: Operator,
    codes: Any,
    values: Any,
    groups: int,
    nulls: Nulls,
    dtype: Any,
    exclusive: bool,
    carry_in: Any,
    write: bool,
) -> tuple[Any, Any]:
    arrays = _values(op, values)
    if not is_array(codes) or codes.dtype != np.int64:
        raise TypeError(f"codes must be an array of int64, found {codes!r}")
    every = [codes, *arrays]
    one_length("codes and values", every)
    out, states = primitive("by_code", every)(
        op,
        codes,
        arrays,
        groups,
        nulls=nulls,
        exclusive=exclusive,
        carry_in=carry_in,
        dtype=None if dtype is None else np.dtype(dtype),
        write=write,
    )
    return out, states


def _values(op: Operator, values: Any) -> tuple[Any, ...]:
    if not isinstance(op, Operator):
        raise TypeError(f"op must be a dask_gpuscan.Operator, found {op!r}")
    arrays = values if isinstance(values, tuple) else (values,)
    if not all(is_array(a) for a in arrays):
        names = ", ".join(sorted({type(a).__name__ for a in arrays}))
        raise TypeError(f"values must be arrays (numpy.ndarray, cupy.ndarray), found {names}")
    if len(arrays) != op.inputs:
        raise TypeError(f"{op.name} takes {op.inputs} input arrays, found {len(arrays)}")
    return arrays
