"""Scans and reductions of arrays, in one pass along an axis; and the states between pieces of a longer scan.

A scan over pieces reduces each piece to a state, folds the states of earlier pieces and starts from the result. These
are states of the scan's operator or, if they would overflow, of its carry operator (`built_in.Traits`).
"""

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from . import cpu, int128
from .arrays import Array, as_inputs, check_integer, numpy_dtype
from .backends import BACKENDS, Backend, backend_of
from .int128 import Int128
from .nulls import Mask, Nulls
from .operators.built_in import traits_of
from .operators.operator import Operator
from .operators.signature import State, signature
from .operators.trial import try_on
from .options import USUAL, Exclusive, ScanOptions


def scan(
    op: Operator,
    values: Array | tuple[Array, ...],
    *,
    nulls: Nulls = None,
    axis: int = -1,
    exclusive: Exclusive = False,
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
        Which elements are missing; they do not change the state. A mask counts positions in C order.
    axis : int, default -1
        The axis that is scanned.
    exclusive : bool or tuple of bool, default False
        Write the state before each element rather than after it; a tuple says so of each output.
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
        State after the last element, on the host: for 1-d values NumPy scalars (integers for INT128), otherwise NumPy
        arrays with an item for each line. None without `carry_out`.

    Raises
    ------
    TypeError, ValueError
        For operators that cannot be compiled for these dtypes, and arguments that do not fit.

    See Also
    --------
    reduce : The carry-out alone.
    scan_by_key : Restart at each run of equal keys.
    scan_by_code : Groups of rows in any order.
    rolling : Windows of a number of rows.

    Notes
    -----
    The association depends only on the length: the same input gives the same bits on every run and with any number of
    threads. Algorithm: Merrill and Garland, NVR-2016-002, section 4.

    Examples
    --------
    >>> import numpy as np
    >>> from dask_gpuscan.kernels import BUILT_IN
    >>> scan(BUILT_IN["add"], np.array([1, 2, 3]))
    (array([1, 3, 6]), np.int64(6))
    >>> scan(BUILT_IN["add"], np.array([1, 2, 3]), exclusive=True, carry_in=10)
    (array([10, 11, 13]), np.int64(16))
    """
    if dtype is not None and not isinstance(dtype, np.dtype):
        dtype = numpy_dtype(dtype)
    options = ScanOptions(nulls, axis, exclusive, reverse, dtype, mark_nulls)
    if (type(nulls), type(exclusive), type(reverse), type(mark_nulls)) not in USUAL:
        options.check()
    return scan_by(op, values, options, carry_in, carry_out)


def scan_by(
    op: Operator,
    values: Array | tuple[Array, ...],
    options: ScanOptions,
    carry_in: State | None = None,
    carry_out: bool = True,
) -> tuple[Any, Any]:
    """Scan arrays as `scan`, with options that have been checked."""
    backend, arrays = _begin(op, values, options.axis)
    if isinstance(options.nulls, Mask):
        options.nulls.check_length("values", arrays[0].size)
    if op.check:
        try_on(op, arrays, options)
    if carry_in is not None:
        check_carry(carry_in, arrays[0].shape, options.axis)
    out, read = backend.scan(op, arrays, options, carry_in, write=True, waits=carry_out)
    return out, read() if carry_out else None


class BoundScan:
    """A scan by an operator with checked options, for many calls.

    Parameters
    ----------
    op : Operator
    options : ScanOptions
    """

    def __init__(self, op: Operator, options: ScanOptions) -> None:
        self.op, self.options = op, options
        self._lines: dict[np.dtype, Callable[[np.ndarray], Any]] = {}
        self._is_plain = not op.check and op.inputs == 1 and not isinstance(options.nulls, Mask)

    def __call__(
        self, values: Array | tuple[Array, ...], carry_in: State | None, carry_out: bool
    ) -> tuple[Any, Any]:
        """Scan arrays; see `scan`."""
        if self._is_plain and type(values) is np.ndarray and carry_in is None and not carry_out:
            out = (self._lines.get(values.dtype) or self._line(values.dtype))(values)
            if out is not None:
                return out, None
        return scan_by(self.op, values, self.options, carry_in, carry_out)

    def _line(self, dtype: np.dtype) -> Callable[[np.ndarray], Any]:
        found = self._lines[dtype] = cpu.line_scan(self.op, dtype, self.options)
        return found

    def of_arrays(self, dtype: np.dtype) -> Callable[[np.ndarray], Any]:
        """Return a function that scans NumPy arrays of a dtype, from the first element on."""
        scan_line = self._line(dtype) if self._is_plain else None

        def answers(values: np.ndarray) -> Any:
            out = None if scan_line is None else scan_line(values)
            return self(values, None, False)[0] if out is None else out

        return answers


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

    See Also
    --------
    scan : The state at each element.
    kernels.scan.aggregating : The state that later pieces of a longer scan need.

    Examples
    --------
    >>> import numpy as np
    >>> from dask_gpuscan.kernels import BUILT_IN
    >>> reduce(BUILT_IN["maximum"], np.array([[1, 5], [7, 3]]), axis=0)
    array([7, 5])
    """
    return _reducing(op, values, nulls, axis, reverse, dtype, carry_in)()


def _reducing(
    op: Operator,
    values: Array | tuple[Array, ...],
    nulls: Nulls,
    axis: int,
    reverse: bool,
    dtype: Any,
    carry_in: State | None = None,
) -> Callable[[], Any]:
    """Start a reduction; return a function that waits for the state."""
    backend, arrays = _begin(op, values, axis)
    if dtype is not None and not isinstance(dtype, np.dtype):
        dtype = numpy_dtype(dtype)
    if isinstance(nulls, Mask):
        nulls.check_length("values", arrays[0].size)
    options = ScanOptions(nulls, axis, False, reverse, dtype)
    if (type(nulls), bool, type(reverse), bool) not in USUAL:
        options.check()
    if op.check:
        try_on(op, arrays, options)
    if carry_in is not None:
        check_carry(carry_in, arrays[0].shape, axis)
    return backend.scan(op, arrays, options, carry_in, write=False, waits=True)[1]


def check_carry(carry_in: Any, shape: tuple[int, ...], axis: int = -1) -> None:
    """Check that a carry is one state or, for arrays of several axes, has one state for each line."""
    for part in carry_in if isinstance(carry_in, tuple) else (carry_in,):
        given = np.shape(part) if isinstance(part, list) else getattr(part, "shape", ())
        if given:
            lines = tuple([n for i, n in enumerate(shape) if i != axis % len(shape)])
            pairs = zip(reversed(given), reversed(lines), strict=False)
            if len(given) > len(lines) or any(n not in (1, lines_) for n, lines_ in pairs):
                each = f", or states of the shape {lines} of lines" if lines else ""
                raise ValueError(f"carry_in must be one state{each}, found the shape {given}")


def _begin(
    op: Operator, values: Array | tuple[Array, ...], axis: int
) -> tuple[Backend, tuple[Array, ...]]:
    """Return the backend of a scan or reduction, and its arrays.

    Raises
    ------
    TypeError, ValueError
        If the arrays do not fit the operator or one another, or have no such axis.
    """
    arrays = values if isinstance(values, tuple) else (values,)
    backend = BACKENDS.get(frozenset(map(type, arrays)))
    if backend is None or not isinstance(op, Operator) or len(arrays) != op.inputs:
        arrays = as_inputs(op, values)
        backend = backend_of(arrays)
    if len(arrays) > 1 and len(shapes := {a.shape for a in arrays}) > 1:
        raise ValueError(f"values must have one shape, found {sorted(shapes)}")
    ndim = arrays[0].ndim
    if type(axis) is not int:
        check_integer("axis", axis)
    if not -ndim <= axis < ndim:
        raise np.exceptions.AxisError(
            f"axis must be from {-ndim} to {ndim - 1} for {ndim}-d values, found {axis}"
        )
    return backend, arrays


# --- pieces of a longer scan ------------------------------------------------------------------------


def aggregating(
    op: Operator,
    values: Array | tuple[Array, ...],
    *,
    nulls: Nulls = None,
    axis: int = -1,
    reverse: bool = False,
    dtype: Any = None,
) -> tuple[Operator, Callable[[], Any]]:
    """Reduce a piece of a longer scan by `op` to the state that later pieces need, without waiting for a GPU.

    Parameters
    ----------
    op, values, nulls, axis, reverse, dtype
        As for `reduce`.

    Returns
    -------
    carry_operator : Operator
        It combines such states (`fold`); it differs from `op` if plain states would overflow.
    read : callable
        Waits for the state of that operator and returns it: for `carry_in_from`, after it is combined with earlier
        states.

    Examples
    --------
    >>> from dask_gpuscan.kernels import BUILT_IN
    >>> op, read = aggregating(BUILT_IN["multiply"], np.array([4.0, 2.0]))
    >>> op.name, read()[:2]
    ('product', (np.float64(0.5), np.int64(4)))
    """
    by = op
    if not isinstance(op, Operator) or op.in_order:
        arrays = as_inputs(op, values)
        answer = signature(op, [a.dtype for a in arrays], dtype).outputs[0]
        by, values, dtype = carry_inputs(op, values, answer, dtype)
    return by, _reducing(by, values, nulls, axis, reverse, dtype)


def fold(op: Operator, states: Sequence[Any]) -> Any:
    """Combine states in order into one.

    It always runs on the CPU, as states are small values on the host.

    Raises
    ------
    ValueError
        If there is no state.

    Examples
    --------
    >>> from dask_gpuscan.kernels import BUILT_IN
    >>> fold(BUILT_IN["add"], [np.int64(1), np.int64(2), np.int64(3)])
    np.int64(6)
    """
    if not len(states):
        raise ValueError("states must not be empty")
    first = states[0][0] if isinstance(states[0], tuple) else states[0]
    return int128.fold(op, states) if isinstance(first, Int128) else cpu.fold(op, states)


def carry_operator(op: Operator, dtype: np.dtype) -> Operator:
    """Return the operator of the states between pieces of a scan by `op` with answers of `dtype`.

    Examples
    --------
    >>> from dask_gpuscan.kernels import BUILT_IN
    >>> carry_operator(BUILT_IN["multiply"], np.dtype("f8")).name
    'product'
    >>> carry_operator(BUILT_IN["add"], np.dtype("f8")).name
    'add'
    """
    if not op.in_order or dtype.kind != "f":
        return op
    made = traits_of(op).carry_operator
    return op if made is None else made(dtype)


def carry_inputs(
    op: Operator, values: Array | tuple[Array, ...], answer: np.dtype, dtype: np.dtype | None
) -> tuple[Operator, Any, np.dtype | None]:
    """Return the arguments of a reduction by the carry operator of a scan by `op`, with answers of a dtype.

    Parameters
    ----------
    op : Operator
    values : array or tuple of arrays
    answer : dtype
        The dtype of the scan's answer.
    dtype : dtype, optional
        The dtype of states of `op`.

    Returns
    -------
    carry_operator : Operator
    values : array or tuple of arrays
        In the dtype `answer`, if the carry operator differs from `op`.
    dtype : dtype, optional
    """
    by = carry_operator(op, answer)
    if by is op:
        return op, values, dtype
    return by, (values[0] if isinstance(values, tuple) else values).astype(answer, copy=False), None


def carry_in_from(op: Operator, state: Any, dtype: np.dtype, initial: Any = None) -> Any:
    """Return the carry-in of a scan by `op`, given a state of its carry operator: the state of a scan in order.

    Parameters
    ----------
    op : Operator
    state : state of ``carry_operator(op, dtype)``
        The state of all earlier elements: scalars, or arrays with an item for each line.
    dtype : dtype
        Of the scan's answer.
    initial : state of `op`, optional
        The state before `state`.

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
    if by is op:
        return state
    answer = traits_of(op).carry_answer
    return state if answer is None else answer(state, dtype)


def _with_dtypes_of(other: Any, state: Any) -> Any:
    """Return a state of Python numbers in the dtypes of another state."""
    return tuple(np.asarray(o).dtype.type(part) for part, o in zip(state, other, strict=True))


def _repeated(state: Any, lines: Any) -> Any:
    """Return one state, repeated for each line of another."""
    if isinstance(lines, tuple):
        return tuple(_repeated(part, each) for part, each in zip(state, lines, strict=True))
    return np.broadcast_to(state, np.shape(lines))
