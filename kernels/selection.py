"""Descriptions of selected rows: where a bool array or a fused predicate is true, or where runs start or end.

A backend finds the selected rows of a tile while it works on the tile, and writes no array of flags.
"""

from collections.abc import Callable, Sequence
from dataclasses import field
from types import FunctionType
from typing import Any

import numpy as np

from .arrays import (
    FIXED_WIDTH,
    SHAPE,
    Array,
    brief,
    check_columns,
    check_integer,
    check_one_length,
    is_array,
)
from .late_dataclass import dataclass
from .messages import shown
from .nulls import Mask, Nulls
from .operators.operator import Operator

SCALARS = (int, float, complex, np.generic)
"""Types that are not arrays, which are checked before the modules of types."""


@dataclass(frozen=True, eq=False)
class Predicate:
    """A function of rows that says which are kept, compiled and fused into the pass that keeps them.

    Parameters
    ----------
    function : callable or Operator
        ``function(x, ...) -> bool``, a Python function of scalars with one parameter for each input. It may use what an
        operator's functions may use (see `Operator`), and is frozen like them. Or the `counter` of another predicate,
        to evaluate the same function often.
    inputs : sequence of arrays and scalars
        Its arguments: 1-d arrays of bool or numbers, of one length. Each call gets the same scalars.
    nulls : sequence of InBand, Mask or None, optional
        Which elements of each input are missing; a row with a missing one is not kept.

    Raises
    ------
    TypeError
        If the function is not a Python function with a parameter for each input, or no input is an array.
    ValueError
        If the inputs are not of one length.

    Notes
    -----
    `token` is equal for equal functions with any inputs.

    Examples
    --------
    >>> from dask_gpuscan.kernels import select
    >>> late = Predicate(lambda delay, limit: delay > limit, [np.array([5, 45, 31]), 30])
    >>> select([np.array([10, 11, 12])], late)
    [array([11, 12])]
    """

    function: Callable[..., Any] | Operator
    inputs: Sequence[Any]
    nulls: Sequence[Nulls] | None = None
    counter: Operator = field(init=False, repr=False)
    """The operator that counts the kept rows; its lift says whether a row is kept."""
    arrays: list[Array] = field(init=False, repr=False)
    """The inputs that are arrays."""

    def __post_init__(self) -> None:
        counter = self.function
        if not isinstance(counter, Operator):
            counter = counter_of(counter)
        inputs = tuple(self.inputs)
        if counter.inputs != len(inputs):
            raise TypeError(
                f"the predicate has {counter.inputs} parameters, found {len(inputs)} inputs"
            )
        nulls = (None,) * len(inputs) if self.nulls is None else tuple(self.nulls)
        if len(nulls) != len(inputs):
            raise ValueError(f"nulls must have one entry an input, found {len(nulls)}")
        object.__setattr__(self, "function", counter.lift)
        object.__setattr__(self, "inputs", inputs)
        object.__setattr__(self, "nulls", nulls)
        object.__setattr__(self, "counter", counter)
        arrays = [
            x
            for x in inputs
            if isinstance(x, np.ndarray) or (not isinstance(x, SCALARS) and is_array(x))
        ]
        if not arrays:
            raise TypeError("a predicate must read at least one array")
        if len({*map(SHAPE, arrays)}) > 1 or arrays[0].ndim != 1:
            check_one_length("inputs of a predicate", arrays)
        for null in nulls:
            if isinstance(null, Mask):
                null.check_length("an input of a predicate", len(arrays[0]))
        object.__setattr__(self, "arrays", arrays)

    def __reduce__(self) -> Any:
        return Predicate, (self.counter, self.inputs, self.nulls)

    def __repr__(self) -> str:
        inputs = ", ".join(map(brief, self.inputs))
        return f"Predicate({getattr(self.function, '__name__', '')}, inputs=({inputs}))"

    @property
    def token(self) -> str:
        """An identifier of the function."""
        return self.counter.token


def counter_of(function: Callable[..., Any], name: str = "predicate") -> Operator:
    """Return the operator that counts the rows for which a function is true."""
    if not isinstance(getattr(function, "py_func", function), FunctionType):
        raise TypeError(
            f"a predicate must be a function written in Python (def or lambda), found {shown(function)}"
        )
    return Operator(_add, 0, function, name=name)


def _add(a: Any, b: Any) -> Any:
    return a + b


@dataclass(frozen=True, eq=False)
class Runs:
    """The first rows of runs of equal keys, or the last ones.

    Parameters
    ----------
    keys : tuple of arrays
    nulls : tuple of Nulls
        Those of each key.
    last : bool, default False
        Select the last row of each run rather than the first.
    continues : bool, default False
        The first row (with `last`, the last row) goes on with a run that is not in these arrays.
    """

    keys: tuple[Array, ...]
    nulls: tuple[Nulls, ...]
    last: bool = False
    continues: bool = False

    def __repr__(self) -> str:
        keys = ", ".join(map(brief, self.keys))
        return f"Runs(keys=({keys}), last={self.last}, continues={self.continues})"

    @property
    def arrays(self) -> tuple[Array, ...]:
        """The arrays, which choose the backend."""
        return self.keys

    @property
    def length(self) -> int:
        """Rows."""
        return len(self.keys[0])

    @property
    def most(self) -> int:
        """Runs, at most."""
        return self.length


@dataclass(frozen=True, eq=False)
class Segments:
    """The first rows of segments, or the last ones; they replace keys if the starts of runs are known.

    Parameters
    ----------
    offsets : array of int32 or int64
        The starts of segments, from 0 on and not decreasing, and the end of the last one. A segment without rows is
        not a run.
    length : int
        The number of rows of all segments.
    last : bool, default False
        Select the last row of each segment rather than the first.
    check : bool, default True
        Raise for offsets that decrease or are out of range, which waits for a GPU. If False, there must be none.

    Raises
    ------
    TypeError
        For offsets of other types, and a length that is not an integer.
    ValueError
        For offsets that are empty, decrease, or are out of range.

    Examples
    --------
    >>> from dask_gpuscan.kernels import BUILT_IN, scan_by_key
    >>> lists = Segments(np.array([0, 2, 2, 4]), 4)
    >>> scan_by_key(BUILT_IN["add"], lists, np.array([1, 2, 3, 4]), carry_out=False)
    (array([1, 3, 3, 7]), None)
    """

    offsets: Array
    length: int
    last: bool = False
    check: bool = True
    continues = False

    def __post_init__(self) -> None:
        offsets = self.offsets
        if not is_array(offsets) or offsets.ndim != 1 or offsets.dtype.name not in OFFSETS:
            found = brief(offsets) if is_array(offsets) else type(offsets).__name__
            raise TypeError(f"offsets must be a 1-d array of int32 or int64, found {found}")
        if not self.check:
            return
        check_integer("length", self.length)
        if not len(offsets):
            raise ValueError("offsets must have at least one entry, where the last segment ends")
        first, last = int(offsets[0]), int(offsets[-1])
        if first < 0 or last > self.length or bool((offsets[1:] < offsets[:-1]).any()):
            raise ValueError(
                f"offsets must not decrease, and be from 0 to {self.length}, found {first} to {last}"
            )

    def __repr__(self) -> str:
        return f"Segments({brief(self.offsets)}, length={self.length}, last={self.last})"

    @property
    def arrays(self) -> tuple[Array, ...]:
        """The arrays, which choose the backend."""
        return (self.offsets,)

    @property
    def most(self) -> int:
        """Runs, at most."""
        return min(self.length, len(self.offsets) - 1)


OFFSETS = ("int32", "int64")
"""The dtypes of offsets."""


RunEnds = Runs | Segments
"""Rows at the ends of runs."""


def run_ends(
    keys: Array | Sequence[Array] | Segments,
    nulls: Sequence[Nulls] | None = None,
    *,
    last: bool = False,
    continues: bool = False,
) -> RunEnds:
    """Describe the runs of `keys`, which callers may give as one array, as a sequence, or as segments.

    Raises
    ------
    TypeError, ValueError
        As `runs`; also if segments should go on with an earlier run.
    """
    if not isinstance(keys, Segments):
        return runs(keys, nulls, last=last, continues=continues)
    if continues:
        raise ValueError("segments do not go on with a run that is open before them")
    return keys if keys.last == last else Segments(keys.offsets, keys.length, last, check=False)


def runs(
    keys: Array | Sequence[Array],
    nulls: Sequence[Nulls] | None = None,
    *,
    last: bool = False,
    continues: bool = False,
) -> Runs:
    """Describe the runs of `keys`, which callers may give as one array or as a sequence.

    Raises
    ------
    TypeError, ValueError
        If the keys are not 1-d arrays of one length, if there are not nulls for each key, or if a mask is too short.
    """
    single = not isinstance(keys, (list, tuple)) and is_array(keys)
    every: tuple[Any, ...] = (keys,) if single else tuple(keys)
    if not every:
        raise ValueError("keys must be at least one array")
    if not _are_columns(every):
        check_columns("keys", every)
        for key in every:
            if key.dtype.char in LONG:
                raise TypeError(f"keys: the kernels do not compare arrays of dtype {key.dtype}")
    each = (None,) * len(every) if nulls is None else tuple(nulls)
    if len(each) != len(every):
        raise ValueError(f"nulls of keys must have one entry a key, found {len(each)}")
    for null in each:
        if isinstance(null, Mask):
            null.check_length("a key", len(every[0]))
    return Runs(every, each, last, continues)


LONG = "gG"
"""Floating-point dtypes of more than 64 bits, which are moved but not compared."""


def _are_columns(arrays: Sequence[Any]) -> bool:
    """Return whether these are NumPy arrays that `check_columns` accepts; for others it raises the error."""
    lengths = set()
    for array in arrays:
        if (
            not isinstance(array, np.ndarray)
            or array.dtype.kind not in FIXED_WIDTH
            or array.dtype.char in LONG
            or not array.dtype.isnative
            or array.ndim != 1
        ):
            return False
        lengths.add(array.shape)
    return len(lengths) <= 1


Selection = Array | Predicate | Runs
"""Rows where an array of bool is true, where a predicate is, or at the ends of runs."""


def check_keep(keep: Selection, arrays: Sequence[Array]) -> list[Array]:
    """Return all arrays of a compaction, which choose the backend.

    Raises
    ------
    TypeError
        If `keep` is neither a bool array nor a Predicate, or an array is of another type.
    ValueError
        If lengths differ.
    """
    if arrays and not _are_columns(arrays):
        check_columns("arrays", arrays)
    deciding: Sequence[Array] = (keep,)  # type: ignore[assignment]
    if isinstance(keep, (Predicate, Runs)):
        deciding = keep.arrays
    elif not (isinstance(keep, np.ndarray) or is_array(keep)) or keep.dtype != np.bool_:
        found = f"an array of {keep.dtype}" if is_array(keep) else type(keep).__name__
        raise TypeError(f"keep must be an array of bool or a Predicate, found {found}")
    every = [*deciding, *arrays]
    if len({*map(SHAPE, every)}) > 1 or every[0].ndim != 1:
        check_one_length("arrays and what decides on them", every)
    return every
