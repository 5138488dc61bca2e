"""What dtypes pandas' answers have where they are known before the data: those that hold any values."""

from typing import Any

import numpy as np
import pandas as pd

REDUCTIONS = (
    "sum",
    "prod",
    "min",
    "max",
    "any",
    "all",
    "count",
    "mean",
    "var",
    "std",
    "sem",
    "first",
    "last",
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
    """Tell whether pandas has a null of this dtype."""
    return not (isinstance(dtype, np.dtype) and dtype.kind in "biu")


def nullable(expected: Any, method: str = "ffill") -> Any:
    """Return pandas' answer to a method of groups in the dtypes that it has if any row is in no group."""
    if expected.ndim == 2:
        return expected.assign(**{n: nullable(expected[n], method) for n in expected})
    if can_be_null(expected.dtype):
        return expected
    is_filled = expected.dtype == np.bool_ and method in ("ffill", "bfill")
    return expected.astype(object if is_filled else "float64")
