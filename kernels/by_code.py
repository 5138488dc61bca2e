"""Groups of rows in any order, by the codes of their groups: scans and reductions, and how codes are checked."""

from typing import Any

import numpy as np

from .arrays import (
    SHAPE,
    SMALL,
    Array,
    as_inputs,
    brief,
    check_integer,
    check_memory,
    check_one_length,
    is_array,
    numpy_dtype,
)
from .backends import BACKENDS, Backend, backend_of
from .messages import shown
from .nulls import NULLS, Mask, Nulls
from .operators.operator import Operator
from .operators.signature import State
from .operators.trial import try_on
from .options import USUAL, Exclusive, ScanOptions

WORD = 8
"""Bytes that each group takes at least."""

CODES = (np.int32, np.int64)
"""The dtypes of codes of groups."""


def check_codes(codes: Any, name: str = "codes") -> None:
    """Check that an object is an array that can hold codes of groups."""
    if not is_array(codes) or codes.dtype not in CODES:
        raise TypeError(f"{name} must be an array of int32 or int64, found {brief(codes)}")
    if codes.ndim != 1:
        raise ValueError(f"{name} must be 1-d, found {codes.ndim}-d")


def check_range(codes: Array, groups: int, name: str = "codes", *, negative: bool = False) -> None:
    """Check that codes are below `groups` and, unless `negative` ones may be, not negative; waits for a GPU."""
    if not len(codes):
        return
    low, high = backend_of([codes]).value_range(codes)
    if high >= groups or (low < 0 and not negative):
        found = high if high >= groups else low
        raise ValueError(f"{name} must be from 0 to {groups - 1}, found {found}")


def max_groups(codes: Array) -> int | None:
    """Return how many groups `scan_by_code` takes at most for arrays as long as these codes; None if any number.

    Examples
    --------
    >>> max_groups(np.array([0, 1])) is None
    True
    """
    return BACKENDS[frozenset([type(codes)])].max_groups(len(codes))


def check_groups(groups: Any, backend: Backend, most: int | None = None) -> None:
    """Check a number of groups: at most `most`, and a word for each must fit the memory."""
    check_integer("groups", groups)
    if groups < 0:
        raise ValueError(f"groups must not be negative, found {groups}")
    check_memory(int(groups), WORD, backend.available)
    if most is not None and groups > most:
        raise ValueError(f"groups must be at most {most} of these arrays, found {groups}")


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
    check: bool = True,
) -> tuple[Any, Any]:
    """Scan within groups of rows in any order: each row goes on from the state of its group.

    Parameters
    ----------
    op, values, nulls, dtype
        As for `reduce_by_key`.
    codes : array of int32 or int64
        The group of each row, from 0 to `groups` - 1.
    groups : int
        At most `max_groups` for CuPy arrays.
    exclusive, mark_nulls : bool, default False
        As for `scan`.
    carry_in : array of states, optional
        States of groups before the first row; default the identity.
    carry_codes : array of integers, optional
        The groups of these states; default the first ones.
    check : bool, default True
        Raise for codes out of range, which waits for a GPU. If False, there must be none.

    Returns
    -------
    out : array or tuple of arrays
        In the rows' order.
    states : array or tuple of arrays
        The state of each group after its last row.

    Raises
    ------
    TypeError, ValueError
        As `reduce_by_key`; for codes out of range.

    See Also
    --------
    factorize : Codes without gaps.
    reduce_by_code : One state for each group.

    Notes
    -----
    On CPUs one pass in the rows' order by one thread, with one table of states: fast where the table stays in cache. On
    GPUs each warp has a table of states in shared memory for the rows of a chunk, after Merrill and Grimshaw,
    *Revisiting sorting for GPGPU stream architectures* (UVA CS2010-03), multi-scan. Rows of more groups are first
    brought together by the leading bits of their codes, which takes one pass or two there and as many back.

    Examples
    --------
    >>> from dask_gpuscan.kernels import BUILT_IN
    >>> code, x = np.array([0, 1, 0]), np.array([1, 2, 3])
    >>> scan_by_code(BUILT_IN["add"], code, x, 2)
    (array([1, 2, 4]), array([4, 2]))
    """
    if dtype is not None and not isinstance(dtype, np.dtype):
        dtype = numpy_dtype(dtype)
    options = ScanOptions(nulls, -1, exclusive, False, dtype, mark_nulls)
    if (type(nulls), type(exclusive), bool, type(mark_nulls)) not in USUAL:
        options.check()
    out, states, _ = _by_code(
        op, codes, values, groups, options, carry_in, carry_codes, write=True, check=check
    )
    return out, states


def reduce_by_code(
    op: Operator,
    codes: Array,
    values: Array | tuple[Array, ...],
    groups: int,
    *,
    nulls: Nulls = None,
    carry_in: State | None = None,
    dtype: Any = None,
    check: bool = True,
    occurring: bool = False,
) -> Any:
    """Reduce groups of rows in any order: the states that `scan_by_code` returns.

    Parameters
    ----------
    op, codes, values, groups, nulls, carry_in, dtype, check
        As for `scan_by_code`.
    occurring : bool, default False
        Return only groups that have rows; on GPUs this takes no further pass over the rows.

    Returns
    -------
    states : array or tuple of arrays
        The state of each group.
    codes : array of int64
        With `occurring`, the codes of these groups.

    See Also
    --------
    scan_by_code : One state for each row.

    Examples
    --------
    >>> from dask_gpuscan.kernels import BUILT_IN
    >>> reduce_by_code(BUILT_IN["maximum"], np.array([0, 1, 0]), np.array([4, 2, 3]), 2)
    array([4, 2])
    >>> reduce_by_code(BUILT_IN["add"], np.array([2, 0, 2]), np.array([4, 2, 3]), 3, occurring=True)
    (array([2, 7]), array([0, 2]))
    """
    options = options_of(nulls, dtype)
    _, states, codes_met = _by_code(
        op, codes, values, groups, options, carry_in, None,
        write=False, check=check, occurring=occurring,
    )  # fmt: skip
    return (states, codes_met) if occurring else states


def options_of(nulls: Nulls, dtype: Any) -> ScanOptions:
    """Return the checked options of a reduction."""
    if dtype is not None and not isinstance(dtype, np.dtype):
        dtype = numpy_dtype(dtype)
    options = ScanOptions(nulls, dtype=dtype)
    if type(nulls) not in NULLS:
        options.check()
    return options


def _by_code(
    op: Operator,
    codes: Array,
    values: Array | tuple[Array, ...],
    groups: int,
    options: ScanOptions,
    carry_in: State | None,
    carry_codes: Array | None,
    write: bool,
    check: bool,
    occurring: bool = False,
) -> tuple[Any, Any, Any]:
    if not isinstance(codes, np.ndarray) or codes.dtype not in CODES:
        check_codes(codes)
    backend, arrays = grouped_values(op, "codes", (codes,), values, options.nulls)
    most = backend.max_groups(len(codes))
    if most is not None or type(groups) is not int or not 0 <= groups < SMALL // WORD:
        check_groups(groups, backend, most)
    if op.check:
        try_on(op, arrays, options)
    if carry_in is not None and (check or carry_codes is not None):
        _check_carries(carry_in, carry_codes, groups, check)
    return backend.by_code(
        op, codes, arrays, groups, options, carry_in, carry_codes,
        write=write, check=check, occurring=occurring,
    )  # fmt: skip


def _check_carries(carry_in: Any, carry_codes: Any, groups: int, check: bool) -> None:
    """Check that carries have one state for each of their groups; with `check`, that these groups exist."""
    fields = carry_in if isinstance(carry_in, tuple) else (carry_in,)
    lengths = {np.shape(field) for field in fields}
    if carry_codes is None:
        if len(lengths) > 1 or any(len(shape) != 1 or shape[0] > groups for shape in lengths):
            raise ValueError(f"carry_in must have at most one state a group, {groups}")
        return
    if not is_array(carry_codes) or carry_codes.dtype.kind not in "iu" or carry_codes.ndim != 1:
        raise TypeError(f"carry_codes must be a 1-d array of integers, found {shown(carry_codes)}")
    if lengths != {carry_codes.shape}:
        raise ValueError(f"carry_in must have one state for each of {len(carry_codes)} carry_codes")
    if check:
        check_range(carry_codes, groups, "carry_codes")


def grouped_values(
    op: Operator,
    name: str,
    by: tuple[Array, ...],
    values: Array | tuple[Array, ...],
    nulls: Nulls,
    others: tuple[Array, ...] = (),
) -> tuple[Backend, tuple[Array, ...]]:
    """Return the backend of values and of the codes or keys that they are grouped by, and the values as a tuple.

    Raises
    ------
    TypeError, ValueError
        If the values do not fit the operator or the codes or keys, or their mask is too short.
    """
    arrays = values if isinstance(values, tuple) else (values,)
    every = *by, *arrays
    backend = BACKENDS.get(frozenset(map(type, (*every, *others))))
    if backend is None or not isinstance(op, Operator) or len(arrays) != op.inputs:
        arrays = as_inputs(op, values)
        backend = backend_of((*every, *others))
    if every[0].ndim != 1 or len(set(map(SHAPE, every))) > 1:
        check_one_length(f"{name} and values", every)
    if isinstance(nulls, Mask):
        nulls.check_length("values", len(every[0]))
    return backend, arrays
