"""The inputs of statistics: arrays of float64 from columns, observations, and how many of these are needed."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from ...frames.messages import HINT, column_title, first_line
from ...frames.registry import library_of, stored_numbers
from ...frames.types import Column, DType
from ...kernels import Operator
from ...kernels.scan import aggregating

Inputs = tuple[tuple[int, str], ...]
"""For each input of an operator, the number of a column and a key of `READ`."""


def _values(column: Column) -> Any:
    return library_of(column).floats(column)


def _validity(column: Column) -> Any:
    return library_of(column).valid(column).astype(np.float64)


def _times(column: Column) -> Any:
    if library_of(column).missing(column) is not None:
        raise ValueError("times must have no null")
    return stored_numbers(column).astype(np.float64)


def cast_to_answer(name: str, column: Column, dtype: DType | None = None) -> Any:
    """Return a column in the dtype of an answer: dates as times to be averaged, decimals as floats.

    Parameters
    ----------
    name : str
        Of the statistic.
    column : Column
    dtype : dtype, optional
        Of the answer, if it is not the one of groups.

    Raises
    ------
    OverflowError
        For a date that is out of the range of times.
    """
    library = library_of(column)
    dtype = dtype or library.group_dtype(name, column.dtype)
    if dtype == column.dtype:
        return column
    try:
        return library.as_column(library.cast(library.array(column), dtype), column.name)
    except ValueError as error:
        raise OverflowError(f"{name} of {column_title(column)}: {first_line(error)}") from error


VALUES: Inputs = ((0, "values"),)
PAIR: Inputs = ((0, "values"), (1, "values"))

NUMBERS = "biuf"
"""The kinds of NumPy's dtypes that are read as float64."""

READ: dict[str, Callable[[Any], Any]] = {
    "values": _values,  # NaN where they are null
    "validity": _validity,  # 1.0, or 0.0 where they are null
    "times": _times,  # in the unit of the column
}
"""The functions that read float64 from a column."""


def read(columns: Sequence[Column], inputs: Inputs) -> tuple[Any, ...]:
    """Return the inputs of an operator, arrays of float64."""
    return tuple([READ[what](columns[k]) for k, what in inputs])


FEW = 1 << 16
"""Rows below which NumPy looks for NaN and infinity in less time than a kernel takes to begin."""

_FINITE = Operator(lambda a, b: a + b, 0.0, lambda x: x - x, name="finite")
"""Zero if all numbers are finite, else NaN."""


def yes() -> bool:
    """Return True."""
    return True


def no() -> bool:
    """Return False."""
    return False


def all_finite(arrays: tuple[Any, ...], inputs: Inputs) -> Callable[[], bool]:
    """Begin to check that all values are finite, so that every row counts for `min_periods`; the answer waits.

    `yes` and `no` are answers that do not wait.
    """
    values = [a for a, (_, what) in zip(arrays, inputs, strict=True) if what == "values"]
    if len(arrays[0]) < FEW and isinstance(arrays[0], np.ndarray):
        return no if [a for a in values if np.count_nonzero(np.isfinite(a)) < len(a)] else yes
    reads = [aggregating(_FINITE, a)[1] for a in values]
    return lambda: sum([float(read()) for read in reads]) == 0.0


def may_have_nulls(columns: Sequence[Column]) -> bool:
    """Return whether rows may be null, without reading values."""
    for column in columns:
        library = library_of(column)
        layout = library.layout(column.dtype)
        if layout is None or layout.raw(library.array(column)).nulls is not None:
            return True
    return False


def observed(arrays: tuple[Any, ...], inputs: Inputs) -> Any:
    """Return which rows count for `min_periods`, as an array of bool: those whose values are finite.

    If no input is read as values, all rows count.
    """
    values = [a for a, (_, what) in zip(arrays, inputs, strict=True) if what == "values"]
    seen = abs(values[0]) < np.inf if values else arrays[0] == arrays[0]
    for more in values[1:]:
        seen &= abs(more) < np.inf
    return seen


def needs_none(reproducible: bool = False) -> int:
    """Return 0: any number of observations has an answer."""
    return 0


def needs_one(reproducible: bool = False) -> int:
    """Return 1: one observation has an answer."""
    return 1


def needs_more(ddof: int = 1) -> int:
    """Return how many observations have an answer: one more than `ddof`, at least one."""
    return max(ddof + 1, 1)


def check_number(label: str, column: Column) -> None:
    """Check that a column holds real numbers; raises a TypeError that names it."""
    if not library_of(column).is_real(column.dtype):
        raise TypeError(
            f"{label} of {column_title(column)}: dtype {column.dtype} is not a real number; {HINT}"
        )


def holds_integers(column: Column) -> bool:
    """Return whether a column holds integers or bool, not all of which float64 holds.

    NumPy's bool are numbers in windows, as in pandas.
    """
    library, dtype = library_of(column), column.dtype
    if dtype.kind == "b" and not library.holds_null(dtype):
        return False
    return dtype.kind in "biu" and library.is_number(dtype)


def check_columns(label: str, columns: Sequence[Column], inputs: Inputs) -> None:
    """Check that the inputs of an operator can be read from columns."""
    for k, what in inputs:
        if what == "values":
            check_number(label, columns[k])
        elif what == "times" and columns[k].dtype.kind != "M":
            raise TypeError(f"times must be dates, found dtype {columns[k].dtype}")
