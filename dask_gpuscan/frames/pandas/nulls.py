"""Dtypes for NumPy's integers and bool that may be null, in answers and on the way to them."""

from __future__ import annotations

import numpy as np
import pandas as pd

from ... import kernels
from ...kernels.shift import are_floats
from ..types import DType, Values
from .layouts import MASKED, NUMPY, PandasArray, bare, holds_null, masked_parts

FLOAT64, OBJECT = np.dtype(np.float64), np.dtype(object)


def nullable(dtype: DType) -> DType:
    """Return the dtype of answers of a dtype that may be null: itself, if it has a null.

    NumPy's integers become float64 and its bool objects, as in pandas: with NaN for null, a comparison is True or
    False in every row, and a mask leaves out no row that it does not name.
    """
    if holds_null(dtype):
        return dtype
    if isinstance(dtype, pd.IntervalDtype):
        floats: DType = pd.IntervalDtype(np.float64, dtype.closed)
        return floats
    return OBJECT if dtype.kind == "b" else FLOAT64


def with_nulls(values: Values, missing: Values | None = None) -> Values:
    """Return NumPy's integers or bool in the dtype that `nullable` says, with NaN where `missing`.

    Raises
    ------
    OverflowError
        For an integer that float64 does not hold.
    """
    values = NUMPY.view(values).values  # in the machine's byte order
    if values.dtype.kind == "b":
        found = values.astype(object)
    else:
        fill = FLOAT64.type(0)
        found = kernels.shift(values, 0, fill, exact=True)  # converts on all cores
        if found is None:
            check_floats(values if missing is None else values[~missing])
            found = kernels.shift(values, 0, fill)
    if missing is not None:
        found[missing] = np.nan
    return found


def check_floats(values: Values) -> None:
    """Raise an OverflowError that names the first integer that float64 does not hold, if there is one."""
    if are_floats(values):
        return
    wrong = next(value for value in values.tolist() if int(float(value)) != value)
    raise OverflowError(
        f"integers that may be null are answered in float64, which does not hold {wrong}; "
        f"cast the column with astype({str(masked(values.dtype))!r}) first"
    )


def masked(dtype: DType) -> DType:
    """Return a dtype that holds all values of a dtype, and nulls: of NumPy's integers and bool a nullable one."""
    if isinstance(dtype, np.dtype) and dtype.kind in "biu":
        found: DType = MASKED.result(NUMPY.storage(dtype), dtype)
        return found
    return nullable(dtype)


def to_masked(array: PandasArray) -> PandasArray:
    """Return an array in the dtype that `masked` returns: itself, if that is its own."""
    array = bare(array)
    if masked(array.dtype) == array.dtype:
        return array
    if isinstance(array, np.ndarray):
        return MASKED.wrap(NUMPY.view(array).values, None, masked(array.dtype))
    return to_nullable(array)


def from_masked(array: PandasArray, dtype: DType) -> PandasArray:
    """Return an array that `to_masked` made, of a column of `dtype`, in the dtype of `to_nullable`."""
    is_own = dtype == array.dtype or not MASKED.matches(array.dtype)
    return array if is_own else with_nulls(*masked_parts(array))


def to_nullable(array: PandasArray) -> PandasArray:
    """Return an array in the dtype that `nullable` returns: itself, if that is its own.

    Raises
    ------
    OverflowError
        For integers, or intervals between such, that float64 does not hold.
    """
    array = bare(array)
    dtype = nullable(array.dtype)
    if dtype == array.dtype:
        return array
    if not isinstance(dtype, pd.IntervalDtype):
        return with_nulls(array)
    found = array.astype(dtype)
    if not all(
        np.array_equal(end.to_numpy().astype(object), given.to_numpy().astype(object))
        for end, given in ((found.left, array.left), (found.right, array.right))
    ):
        raise OverflowError(
            f"intervals of {array.dtype.subtype} that may be null are kept as {dtype}, which does not hold all of "
            f"these; scan their left and right ends as columns"
        )
    return found
