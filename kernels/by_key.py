"""Ordered group-by: reductions and scans by an operator that restart at each run of equal keys.

Heads of runs are found in the same pass and never written. The engine's state is the number of heads and the
operator's state of the open run; an operator combines such pairs (`counted_segments`).
"""

from collections.abc import Sequence
from typing import Any

import numpy as np

from .arrays import Array, brief, numpy_dtype
from .backends import Backend
from .by_code import grouped_values
from .nulls import NULLS, Nulls
from .operators.operator import Operator
from .operators.signature import State
from .operators.trial import try_on
from .options import USUAL, Exclusive, ScanOptions
from .scan import check_carry
from .selection import RunEnds, Segments, run_ends


def reduce_by_key(
    op: Operator,
    keys: Array | Sequence[Array] | Segments,
    values: Array | tuple[Array, ...],
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
    keys : sequence of arrays, or Segments
        As for `head_flags`; or where the runs are.
    values : array or tuple of arrays
        1-d, as many as the operator has inputs, as long as the keys.
    key_nulls : sequence of InBand, Mask or None, optional
        Which elements of each key are null; a null equals a null.
    nulls : InBand, Mask or None
        Which values are missing; they do not change the state.
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

    See Also
    --------
    scan_by_key : One state for each row.
    reduce_by_code : Groups of rows in any order.

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
    found = run_ends(keys, key_nulls)
    backend, arrays = _begin_runs(op, found, values, nulls)
    if dtype is not None and not isinstance(dtype, np.dtype):
        dtype = numpy_dtype(dtype)
    options = ScanOptions(nulls, dtype=dtype)
    if type(nulls) not in NULLS:
        options.check()
    if op.check:
        try_on(op, arrays, options)
    return backend.reduce_by_key(op, found, arrays, options, starts=starts, lower=lower)


def scan_by_key(
    op: Operator,
    keys: Array | Sequence[Array] | Segments,
    values: Array | tuple[Array, ...],
    *,
    key_nulls: Sequence[Nulls] | None = None,
    nulls: Nulls = None,
    exclusive: Exclusive = False,
    reverse: bool = False,
    carry_in: State | None = None,
    continues: bool = False,
    dtype: Any = None,
    mark_nulls: bool = False,
    saw_null: Array | None = None,
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
    saw_null : array of bool, shape (1,), optional
        Set to True if a value is missing in band; otherwise not changed.

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

    See Also
    --------
    scan_by_code : Groups of rows in any order.
    reduce_by_key : One state for each run.

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
    found = run_ends(keys, key_nulls, last=reverse, continues=continues)
    backend, arrays = _begin_runs(op, found, values, nulls)
    if dtype is not None and not isinstance(dtype, np.dtype):
        dtype = numpy_dtype(dtype)
    options = ScanOptions(nulls, -1, exclusive, reverse, dtype, mark_nulls)
    if (type(nulls), type(exclusive), type(reverse), type(mark_nulls)) not in USUAL:
        options.check()
    if saw_null is not None and (saw_null.dtype != np.bool_ or saw_null.shape != (1,)):
        raise TypeError(f"saw_null must be one bool in an array, found {brief(saw_null)}")
    carry = carry_in if continues else None
    if carry is not None:
        check_carry(carry, arrays[0].shape)
    if op.check:
        try_on(op, arrays, options)
    return backend.scan_by_key(
        op, found, arrays, options, carry, saw_null=saw_null, carry_out=carry_out
    )


def _begin_runs(
    op: Operator, found: RunEnds, values: Array | tuple[Array, ...], nulls: Nulls
) -> tuple[Backend, tuple[Array, ...]]:
    """Return the backend of a call by key, and the values; raises as `grouped_values`."""
    if not isinstance(found, Segments):
        return grouped_values(op, "keys", found.keys, values, nulls)
    backend, arrays = grouped_values(op, "offsets", (), values, nulls, found.arrays)
    if len(arrays[0]) != found.length:
        raise ValueError(f"segments have {found.length} rows, found {len(arrays[0])} values")
    return backend, arrays
