"""The dtypes of pandas' answers if they must be known before the data: those that can hold all possible values."""

from typing import Any

import numpy as np
import pandas as pd

REDUCTIONS = (
    *("sum", "prod", "min", "max", "any", "all", "count", "mean", "var", "std", "sem"),
    *("first", "last"),
)
"""The reductions of groups that pandas computes in one pass."""
SUMS = ("sum", "prod", "cumsum", "cumprod")
MEANS = ("mean", "var", "std", "sem")
_WIDE = {"i": "int64", "u": "uint64"}


def widened(expected: Any, method: str) -> Any:
    """Return pandas' answer to a method of groups in dtypes that do not depend on its values."""
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
    """Return whether this dtype can hold a null."""
    return not (isinstance(dtype, np.dtype) and dtype.kind in "biu")


def nullable(dtype: Any) -> Any:
    """Return the dtype of answers of a dtype if some may be null."""
    if can_be_null(dtype):
        return dtype
    return np.dtype(object if dtype.kind == "b" else "float64")


def as_nullable(expected: Any, own: Any) -> Any:
    """Return pandas' answer in dtypes that can hold nulls, whether it has any or not.

    `own` is an answer, or its source, with the dtypes of answers without nulls.
    """
    if expected.ndim == 2:
        return expected.assign(**{n: as_nullable(expected[n], own[n]) for n in expected})
    return expected if can_be_null(own.dtype) else expected.astype(nullable(own.dtype))


PICKS = ("min", "max", "first", "last")
"""The statistics of windows that answer with one of the values."""


def picked(expected: Any, own: Any, method: str) -> Any:
    """Return pandas' floats in the nullable dtypes of `own`, if a statistic of windows picks values."""
    if method not in PICKS:
        return expected
    if expected.ndim == 2:
        return expected.assign(**{n: picked(expected[n], own[n], method) for n in expected})
    if own.dtype.kind not in "biu" or not can_be_null(own.dtype):
        return expected
    kind = bool if own.dtype.kind == "b" else int
    values = [None if pd.isna(x) else kind(x) for x in expected]
    return pd.Series(pd.array(values, own.dtype), index=expected.index, name=expected.name)
