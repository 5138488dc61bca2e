"""The arrays that kernels take, and checks that say what is wrong with other arguments."""

from collections.abc import Callable, Iterable, Sequence
from operator import attrgetter
from typing import TYPE_CHECKING, Any, Protocol

import numpy as np

from .messages import shown
from .operators.operator import Operator
from .scalars import is_integer

if TYPE_CHECKING:
    pass

FIXED_WIDTH = "biufcmM"
"""The kinds of dtypes that compaction takes: bool, numbers, datetime64, timedelta64."""


INT128 = np.dtype([("low", np.uint64), ("high", np.int64)], align=True)
"""A two's complement integer of 128 bits, its low half first."""


DTYPE: Callable[[Any], Any] = attrgetter("dtype")
"""Returns the dtype of an array or a column."""

SHAPE: Callable[[Any], Any] = attrgetter("shape")
"""Returns the shape of an array."""


class Array(Protocol):
    """The attributes of arrays that kernels use, of NumPy and of CuPy alike."""

    @property
    def dtype(self) -> np.dtype:
        """The type of the elements."""

    @property
    def shape(self) -> tuple[int, ...]:
        """The length of each axis."""

    @property
    def ndim(self) -> int:
        """The number of axes."""

    @property
    def size(self) -> int:
        """The number of elements."""

    @property
    def flags(self) -> Any:
        """How the elements lie in memory, and whether they may be written."""

    def astype(self, dtype: np.dtype, /, *, copy: bool = ...) -> Any:
        """Return the elements as another type."""

    def view(self, dtype: Any, /) -> Any:
        """Return the same memory as another type."""

    def __len__(self) -> int: ...
    def __iter__(self) -> Any: ...
    def __getitem__(self, key: Any, /) -> Any: ...


def numpy_dtype(dtype: Any) -> np.dtype:
    """Return a dtype of NumPy; raise a TypeError for anything else.

    Examples
    --------
    >>> numpy_dtype("f4")
    dtype('float32')
    """
    try:
        found: np.dtype = np.dtype(dtype)
    except (TypeError, ValueError):
        raise TypeError(f"dtype must be a dtype of NumPy, found {shown(dtype)}") from None
    return found


def is_array(obj: Any) -> bool:
    """Return whether an object is a NumPy or CuPy array."""
    return isinstance(obj, np.ndarray) or is_cupy(type(obj))


def is_cupy(kind: type) -> bool:
    """Return whether a type is CuPy's, without importing it."""
    return kind.__module__.partition(".")[0] == "cupy"


def is_int128(dtype: Any) -> bool:
    """Return whether a dtype is INT128, however its fields are aligned."""
    return bool(dtype.kind == "V" and dtype == INT128)


def brief(obj: Any) -> str:
    """Return an argument as a text for messages: the dtype and shape of an array, otherwise its repr.

    Examples
    --------
    >>> brief(np.zeros((2, 3))), brief(7)
    ('float64[2, 3]', '7')
    """
    if not is_array(obj):
        return repr(obj)
    return f"{obj.dtype}[{', '.join(map(str, obj.shape))}]"


def check_integer(name: str, found: Any) -> None:
    """Check that the argument `name` is an integer."""
    if type(found) is not int and not is_integer(found):
        raise TypeError(f"{name} must be an integer, found {shown(found)}")


def check_columns(name: str, arrays: Sequence[Array]) -> None:
    """Check that the argument `name` holds 1-d arrays of fixed width and of one length."""
    for array in arrays:
        if not is_array(array):
            raise TypeError(
                f"{name} must be arrays (numpy.ndarray, cupy.ndarray), found {type(array).__name__}"
            )
        if array.dtype.kind not in FIXED_WIDTH or not array.dtype.isnative:
            raise TypeError(
                f"{name}: the kernels do not take arrays of dtype {array.dtype}; "
                f"cast them, or take rows of them by position"
            )
    check_one_length(name, arrays)


def check_one_length(name: str, arrays: Sequence[Array]) -> None:
    """Check that arrays have one dimension and one length."""
    for array in arrays:
        if array.ndim != 1:
            raise ValueError(f"{name} must be 1-d, found {array.ndim}-d")
    lengths = set(map(len, arrays))
    if len(lengths) > 1:
        raise ValueError(f"{name} must have one length, found {sorted(lengths)}")


MOST = (1 << 63) - 1
"""The most rows that can be counted; this count stands for any larger one."""


def check_size(rows: int, bytes_a_row: int, available: float) -> None:
    """Raise if an answer does not fit the available memory, before any of it is made.

    Raises
    ------
    MemoryError
        With the rows and bytes that would be needed.

    Examples
    --------
    >>> check_size(10**12, 8, available=1e10)
    Traceback (most recent call last):
        ...
    MemoryError: the answer has 1,000,000,000,000 rows, which take 8,000 GB: more than the 10 GB that are available
    """
    size = rows * bytes_a_row
    if rows < MOST and size <= min(available, MOST):
        return
    more = "at least " * (rows >= MOST)
    there = f"the {available / 1e9:,.0f} GB that are available" if available < MOST else "there are"
    raise MemoryError(
        f"the answer has {more}{rows:,} rows, which take {more}{size / 1e9:,.0f} GB: more than {there}"
    )


SMALL = 1 << 20
"""Bytes below which the available memory is not looked up, which takes 0.1 ms on CPUs."""


def check_memory(rows: int, bytes_a_row: int, available: Callable[[], float]) -> None:
    """Raise as `check_size`, looking up the available memory only for answers that are not small."""
    if rows * max(bytes_a_row, 1) >= SMALL:
        check_size(rows, bytes_a_row, available())


def unsupported(kinds: Iterable[type]) -> str:
    """Return the message for values of these types, which are not arrays of one supported type."""
    names = ", ".join(sorted(kind.__name__ for kind in kinds))
    return (
        f"values must be arrays of one supported type (numpy.ndarray, cupy.ndarray), found {names}"
    )


def as_inputs(op: Operator, values: Array | tuple[Array, ...]) -> tuple[Array, ...]:
    """Return the arrays that an operator reads, which callers may give as one array or as a tuple.

    Raises
    ------
    TypeError
        If `op` is not an operator, or if the values are not as many arrays as it has inputs.
    """
    if not isinstance(op, Operator):
        raise TypeError(f"op must be a dask_gpuscan.Operator, found {shown(op)}")
    arrays = values if isinstance(values, tuple) else (values,)
    if not all(map(is_array, arrays)):
        raise TypeError(unsupported({type(a) for a in arrays}))
    if len(arrays) != op.inputs:
        raise TypeError(f"{op.name} takes {op.inputs} input arrays, found {len(arrays)}")
    return arrays
