"""The dtypes of pandas."""

from __future__ import annotations

from collections.abc import Callable, Hashable
from contextlib import suppress
from functools import lru_cache
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa

from ...kernels.messages import shown
from ..messages import HINT, first_line
from ..types import DType, Layout, Scalar, asked_once
from .decimals import is_decimal, of_sums, stored_integer
from .layouts import holds_null, is_number, is_real, layout_of, nulls_of
from .nulls import masked, nullable
from .sortable import numbered_dtype

SUMS = ("sum", "prod", "cumsum", "cumprod")
"""Methods whose answers need more bits than their elements."""

ARROW_BOOL = pd.ArrowDtype(pa.bool_())

_FLOATS = pd.ArrowDtype(pa.float64())

OF_DECIMALS: dict[str, Callable[[Any], DType]] = {
    "sum": of_sums,
    **dict.fromkeys(("mean", "min", "max"), lambda dtype: dtype),
    **dict.fromkeys(("var", "std", "sem"), lambda _: _FLOATS),
}
"""The dtypes of reductions of decimals, by those of the column."""

AVERAGES = frozenset(("mean", "median", "quantile"))
"""Methods whose answers lie between elements: for dates without a time, they are times."""

_TIMES: DType = pd.ArrowDtype(pa.timestamp("us"))

_NOT_OF_DATES = ("sum", "prod", "var", "cumsum", "cumprod")


def raises_on_overflow(dtype: DType) -> bool:
    """Return whether sums of a dtype raise, rather than wrapping around."""
    return isinstance(dtype, pd.ArrowDtype) or dtype.kind == "m"


def wide_integers(
    layout_of: Callable[[DType], Layout | None], method: str, dtype: DType, answer: DType
) -> DType:
    """Return the dtype of an answer for a column of `dtype`, of 64 bits if it is a sum of integers."""
    layout, found = layout_of(dtype), layout_of(answer)
    if method not in SUMS or layout is None or found is None or answer.kind not in "iu":
        return answer
    is_narrow = found.storage(answer).itemsize < 8
    return layout.result(np.dtype(f"{answer.kind}8"), dtype) if is_narrow else answer


def _asked_of_groups(method: str, dtype: DType, /, **options: Hashable) -> DType:
    groups = pd.Series(nulls_of(dtype)).groupby(np.array([], np.int64))
    try:
        if dtype.kind == "M" and method in _NOT_OF_DATES:
            raise TypeError("pandas answers for no rows only")
        if isinstance(dtype, pd.ArrowDtype):  # pandas refuses more of these if there is a row
            one = pd.Series(nulls_of(dtype, 1)).groupby(np.zeros(1, np.int64))
            with suppress(OverflowError):  # pandas cannot number nulls of unsigned codes; we can
                getattr(one, method)(**options)
        found: DType = getattr(groups, method)(**options).dtype
        return found
    except (TypeError, KeyError, NotImplementedError, pa.ArrowException) as error:
        raise TypeError(f"pandas has no {method} of groups for dtype {dtype}; {HINT}") from error


def is_date(dtype: DType) -> bool:
    """Return whether a dtype is of Arrow's dates without a time."""
    return isinstance(dtype, pd.ArrowDtype) and bool(pa.types.is_date(dtype.pyarrow_dtype))


def _is_time_of_day(dtype: DType) -> bool:
    return isinstance(dtype, pd.ArrowDtype) and bool(pa.types.is_time(dtype.pyarrow_dtype))


@lru_cache(maxsize=1024)
def group_dtype(method: str, dtype: DType, /, **options: Hashable) -> DType:
    """Return the dtype of an answer of a method of group-by, whatever the values are."""
    if method == "count" and isinstance(dtype, pd.SparseDtype):  # pandas raises an AttributeError
        return np.dtype(np.int64)
    if is_decimal(dtype) and method in OF_DECIMALS:  # pandas lacks some for narrow ones
        return OF_DECIMALS[method](dtype)
    if method in AVERAGES and is_date(dtype):  # pandas leaves out the half of a day
        return _TIMES
    if method in ("cummax", "cummin") and (is_date(dtype) or _is_time_of_day(dtype)):
        return dtype  # pandas has none of these in groups
    if method == "nunique":
        dtype = numbered_dtype(dtype)
    try:
        answer = _asked_of_groups(method, dtype, **options)
    except TypeError:
        if method != "rank" or isinstance(dtype, pd.CategoricalDtype):
            raise
        return answer_dtype(method, dtype)  # pandas ranks more values among all rows than in groups
    if method in SUMS and answer == np.dtype(
        np.float16
    ):  # pandas makes its sums of single precision
        return np.dtype(np.float32)
    is_float = isinstance(answer, np.dtype) and answer.kind == "f"
    if method in ("mean", "var", "std") and is_float:
        return np.dtype(np.float64)
    return wide_integers(layout_of, method, dtype, answer)


@asked_once
def answer_dtype(method: str, dtype: DType, /, **options: Hashable) -> DType:
    """Return the dtype of an answer of a method of a series, whatever the values are."""
    if dtype == ARROW_BOOL and method in ("cumsum", "cumprod", "cummax", "cummin"):
        # as for pandas' own nullable bool
        return pd.ArrowDtype(pa.int64()) if method in SUMS else dtype
    if method == "value_counts" or (method == "rank" and is_decimal(dtype)):
        dtype = numbered_dtype(dtype)
    try:
        found: DType = getattr(pd.Series(nulls_of(dtype)), method)(**options).dtype
        return found
    except (TypeError, NotImplementedError, pa.ArrowException) as error:
        reason = first_line(error).removesuffix(".")
        raise TypeError(f"pandas has no {method} for dtype {dtype} ({reason}); {HINT}") from error


class PandasDTypes:
    """Facts about the dtypes of pandas."""

    null_sums = False
    asks_groups = True

    layout = staticmethod(layout_of)
    moved_layout = staticmethod(layout_of)
    is_number = staticmethod(is_number)
    is_real = staticmethod(is_real)
    holds_null = staticmethod(holds_null)
    nullable = staticmethod(nullable)
    masked = staticmethod(masked)
    raises_on_overflow = staticmethod(raises_on_overflow)
    group_dtype = staticmethod(group_dtype)
    answer_dtype = staticmethod(answer_dtype)

    def rounds_products(self, dtype: DType) -> bool:
        if not isinstance(dtype, pd.ArrowDtype):
            return False
        return bool(pa.types.is_decimal(dtype.pyarrow_dtype) and dtype.pyarrow_dtype.scale > 0)

    def is_numeric(self, dtype: DType) -> bool:
        if isinstance(dtype, np.dtype):
            return dtype.kind in "biufc"
        # also bool of Arrow, the only bool that pandas leaves out
        return bool(pd.api.types.is_numeric_dtype(dtype) or pd.api.types.is_bool_dtype(dtype))

    def time_unit(self, dtype: Any) -> str:
        if isinstance(dtype, pd.ArrowDtype):
            kind = dtype.pyarrow_dtype
            return "D" if kind == pa.date32() else getattr(kind, "unit", "ms")
        return str(getattr(dtype, "unit", None) or np.datetime_data(dtype)[0])

    def stored_number(self, value: Scalar, dtype: DType) -> int:
        if is_decimal(dtype):
            found = stored_integer(value, dtype)
            if found is None:
                raise TypeError(f"initial must be {dtype}, found {shown(value)}")
            return found
        try:
            array = pd.array([value], dtype=dtype)
        except (TypeError, ValueError, OverflowError):
            raise TypeError(f"initial must be {dtype}, found {shown(value)}") from None
        layout: Layout | None = layout_of(dtype)
        assert layout is not None
        view = layout.view(array)
        if view.missing()[0] or isinstance(value, (int, float, np.number)):
            raise TypeError(f"initial must be {dtype}, found {shown(value)}")
        return int(view.values[0])
