"""Codes of keys by their range, without hashing: of columns that cuDF keeps as integers, bool, dates, categories."""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from typing import Any

import cudf
import cupy as cp
import numpy as np
from cudf.core.column import ColumnBase

from ... import kernels
from ...kernels import BUILT_IN, Operator
from ..mixed_codes import mixed_codes
from ..protocol import Values
from .layouts import layout_of, view_of

ROOM = 8
"""Numbers below which codes are, for each row, so that codes have few digits."""

FEW = 1 << 16
"""Numbers below which codes may always be."""


_LEAST, _MOST = BUILT_IN["minimum"], BUILT_IN["maximum"]

_RANGE = Operator(
    lambda a, b: (min(a[0], b[0]), max(a[1], b[1])),
    lambda dtype: (_LEAST.identity_for(dtype), _MOST.identity_for(dtype)),
    lambda x: (x, x),
    name="range",
)
"""The least and the greatest number."""


@lru_cache(maxsize=1)
def _differences() -> Any:
    return cp.ElementwiseKernel(
        "T value, T low",
        "int32 code",
        "code = (unsigned int)value - (unsigned int)low",
        "differences",
    )


def range_codes(arrays: Sequence[ColumnBase]) -> tuple[Values, int] | None:
    """Return codes that are equal where the rows of all arrays are, and a number that is above all of them.

    None if an array holds no integers, or the ranges are too wide for so many rows.
    """
    most = min(max(ROOM * len(arrays[0]), FEW), np.iinfo(np.int32).max)
    return mixed_codes(arrays, _codes, most, np.int32)


def _codes(array: ColumnBase, most: int) -> tuple[Values, int] | None:
    """Return codes of one array; None if there would be more than `most`."""
    if isinstance(array.dtype, cudf.CategoricalDtype):
        array = array.codes
    elif layout_of(array.dtype) is None:
        return None
    view = view_of(array)
    values = view.values
    if values.dtype.kind not in "biu":
        return None
    if values.dtype.kind == "b":
        values = values.view(np.uint8)
    low, high = map(int, kernels.reduce(_RANGE, values, nulls=view.nulls))
    if low > high:  # there is no value
        low = high = 0
    span = high - low + 1
    if span >= most:
        return None
    if values.dtype == np.int32 and view.nulls is None and low >= 0 and high < most:
        return values, high + 1
    # a difference of unsigned numbers that fits is right whatever their signs are
    codes = _differences()(values, values.dtype.type(low))
    if view.nulls is None:
        return codes, span
    return cp.where(view.missing(), np.int32(span), codes), span + 1
