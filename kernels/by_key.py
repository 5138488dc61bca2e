"""Ordered group-by: reductions and scans by an operator that restart at each run of equal keys.

Heads of runs are found in the same pass and never written. The engine's state is the number of heads and the
operator's state of the open run, which is again an operator (`counted_segments`).
"""

from collections.abc import Sequence
from typing import Any

import numpy as np

from . import cpu
from .arrays import Array, as_inputs, check_one_length
from .backends import BACKENDS, Backend, backend_of
from .codes import CODES, check_codes, check_groups
from .nulls import Mask, Nulls
from .operators import Operator
from .options import Exclusive, ScanOptions
from .selection import RunEnds, Segments, run_ends
from .signature import State
from .trial import try_on


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

    See Also
    --------
    scan_by_key : One state a row.
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
    dtype = None if dtype is None else np.dtype(dtype)
    options = ScanOptions(nulls, dtype=dtype)
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

    See Also
    --------
    scan_by_code : Groups of rows in any order.
    reduce_by_key : One state a run.

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
    dtype = None if dtype is None else np.dtype(dtype)
    options = ScanOptions(nulls, -1, exclusive, reverse, dtype, mark_nulls)
    carry = carry_in if continues else None
    if op.check and backend is not cpu:
        try_on(op, arrays, options)
    return backend.scan_by_key(
        op, found, arrays, options, carry, saw_null=saw_null, carry_out=carry_out
    )


def scan_by_code(
    op: Operator,
    codes: Array,
    values: Array | tuple[Array, ...],
    groups: int,
    *,
    nulls: Nulls = None,
    exclusive: Exclusive = False,
    carry_in: State | None = None,
    carry_codes: Array | None = None,
    dtype: Any = None,
    mark_nulls: bool = False,
) -> tuple[Any, Any]:
    """Scan within groups of rows in any order: each row goes on from the state of its group.

    Parameters
    ----------
    op, values, nulls, dtype
        As for `reduce_by_key`.
    codes : array of int32 or int64
        The group of each row, from 0 to `groups` - 1.
    groups : int
        CuPy arrays may be in `most_codes` groups.
    exclusive, mark_nulls : bool, default False
        As for `scan`.
    carry_in : array of states, optional
        States of groups before the first row; default the identity.
    carry_codes : array of integers, optional
        Which groups these are of; default the first ones.

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

    See Also
    --------
    number_codes : Codes that are dense.
    reduce_by_code : One state a group.

    Notes
    -----
    On CPUs one pass in the rows' order by one thread, with one table of states: fast where the table stays in cache. On
    GPUs each warp has a table of states in shared memory for the rows of a chunk, after Merrill and Grimshaw,
    *Revisiting sorting for GPGPU stream architectures* (UVA CS2010-03), multi-scan.

    Examples
    --------
    >>> from dask_gpuscan.kernels import BUILT_IN
    >>> code, x = np.array([0, 1, 0]), np.array([1, 2, 3])
    >>> scan_by_code(BUILT_IN["add"], code, x, 2)
    (array([1, 2, 4]), array([4, 2]))
    """
    dtype = None if dtype is None else np.dtype(dtype)
    options = ScanOptions(nulls, -1, exclusive, False, dtype, mark_nulls)
    return _by_code(op, codes, values, groups, options, carry_in, carry_codes, write=True)


def reduce_by_code(
    op: Operator,
    codes: Array,
    values: Array | tuple[Array, ...],
    groups: int,
    *,
    nulls: Nulls = None,
    dtype: Any = None,
) -> Any:
    """Reduce groups of rows in any order: the states that `scan_by_code` returns.

    See Also
    --------
    scan_by_code : One state a row.

    Examples
    --------
    >>> from dask_gpuscan.kernels import BUILT_IN
    >>> reduce_by_code(BUILT_IN["maximum"], np.array([0, 1, 0]), np.array([4, 2, 3]), 2)
    array([4, 2])
    """
    dtype = None if dtype is None else np.dtype(dtype)
    options = ScanOptions(nulls, dtype=dtype)
    return _by_code(op, codes, values, groups, options, None, None, write=False)[1]


def _by_code(
    op: Operator,
    codes: Array,
    values: Array | tuple[Array, ...],
    groups: int,
    options: ScanOptions,
    carry_in: State | None,
    carry_codes: Array | None,
    write: bool,
) -> tuple[Any, Any]:
    if not isinstance(codes, np.ndarray) or codes.dtype not in CODES:
        check_codes(codes)
    backend, arrays = _begin(op, "codes", (codes,), values, options.nulls)
    check_groups(groups, backend, backend.most_codes())
    if op.check and (not write or backend is not cpu):
        try_on(op, arrays, options)
    return backend.by_code(op, codes, arrays, groups, options, carry_in, carry_codes, write=write)


def _begin_runs(
    op: Operator, found: RunEnds, values: Array | tuple[Array, ...], nulls: Nulls
) -> tuple[Backend, tuple[Array, ...]]:
    """Return the backend of what is done by key, and the values; raises as `_begin`."""
    if not isinstance(found, Segments):
        return _begin(op, "keys", found.keys, values, nulls)
    backend, arrays = _begin(op, "offsets", (), values, nulls, found.arrays)
    if len(arrays[0]) != found.length:
        raise ValueError(f"segments have {found.length} rows, found {len(arrays[0])} values")
    return backend, arrays


def _begin(
    op: Operator,
    name: str,
    beside: tuple[Array, ...],
    values: Array | tuple[Array, ...],
    nulls: Nulls,
    others: tuple[Array, ...] = (),
) -> tuple[Backend, tuple[Array, ...]]:
    """Return the backend of what is done by arrays of a name, and of others of any length, and the values.

    Raises
    ------
    TypeError, ValueError
        If the values do not fit the operator or the arrays beside them, or their mask is too short.
    """
    arrays = values if isinstance(values, tuple) else (values,)
    every = *beside, *arrays
    backend = BACKENDS.get(frozenset(map(type, (*every, *others))))
    if backend is None or not isinstance(op, Operator) or len(arrays) != op.inputs:
        arrays = as_inputs(op, values)
        backend = backend_of((*every, *others))
    shapes = {a.shape for a in every}
    if len(shapes) > 1 or every[0].ndim != 1:
        check_one_length(f"{name} and values", every)
    if isinstance(nulls, Mask):
        nulls.check_length("values", len(every[0]))
    return backend, arrays
