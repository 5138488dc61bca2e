"""What dtypes pandas' answers have where they are known before the data: those that hold any values."""

from typing import Any

import numpy as np
import pandas as pd

REDUCTIONS = (
    *("sum", "prod", "min", "max", "any", "all", "count", "mean", "var", "std", "sem"),
    *("first", "last"),
)
"""The reductions of groups that pandas has in one pass."""
SUMS = ("sum", "prod", "cumsum", "cumprod")
MEANS = ("mean", "var", "std", "sem")
_WIDE = {"i": "int64", "u": "uint64"}


def widened(expected: Any, method: str) -> Any:
    """Return pandas' answer to a method of groups in the dtypes that its values do not choose."""
    if expected.ndim == 2:
        return expected.assign(**{n: widened(expected[n], method) for n in expected})
    return expected.astype(_widened(expected.dtype, method))


def _widened(dtype: Any, method: str) -> Any:
    if method in SUMS:
        if dtype == np.float16:
            return "float32"
        if dtype.kind in _WIDE and not isinstance(dtype, pd.PeriodDtype):
            wide = _WIDE[dtype.kind]
            if isinstance(dtype, pd.ArrowDtype):
                return f"{wide}[pyarrow]"
            if isinstance(dtype, np.dtype):
                return wide
            return wide.replace("i", "I", 1).replace("u", "U")
    if method in MEANS and isinstance(dtype, np.dtype) and dtype.kind == "f":
        return "float64"
    return dtype


def can_be_null(dtype: Any) -> bool:
    """Return whether pandas has a null of this dtype."""
    return not (isinstance(dtype, np.dtype) and dtype.kind in "biu")


def nullable(dtype: Any) -> Any:
    """Return the dtype of answers of a dtype some of which may be null."""
    if can_be_null(dtype):
        return dtype
    return np.dtype(object if dtype.kind == "b" else "float64")


def as_nullable(expected: Any, own: Any) -> Any:
    """Return pandas' answer in dtypes that hold nulls, whether it has any or not.

    `own` is an answer, or what it is made of, that has the dtypes which answers without nulls have.
    """
    if expected.ndim == 2:
        return expected.assign(**{n: as_nullable(expected[n], own[n]) for n in expected})
    return expected if can_be_null(own.dtype) else expected.astype(nullable(own.dtype))


PICKS = ("min", "max", "first", "last")
"""The statistics of windows whose answer is one of the values."""


def picked(expected: Any, own: Any, method: str) -> Any:
    """Return pandas' floats as a statistic of windows of `own` answers: of columns that have a null, values stay."""
    if method not in PICKS:
        return expected
    if expected.ndim == 2:
        return expected.assign(**{n: picked(expected[n], own[n], method) for n in expected})
    if own.dtype.kind not in "biu" or not can_be_null(own.dtype):
        return expected
    kind = bool if own.dtype.kind == "b" else int
    values = [None if pd.isna(x) else kind(x) for x in expected]
    return pd.Series(pd.array(values, own.dtype), index=expected.index, name=expected.name)
