"""Codes of keys by their range, without hashing: of columns that cuDF keeps as integers, bool, dates, categories."""

from __future__ import annotations

from collections.abc import Sequence

import cudf
import cupy as cp
import numpy as np
from cudf.core.column import ColumnBase

from ... import kernels
from ...kernels import BUILT_IN
from ..mixed_codes import mixed_codes
from ..protocol import Values
from .layouts import layout_of, view_of

ROOM = 8
"""Numbers below which codes are, for each row, so that codes have few digits."""

FEW = 1 << 16
"""Numbers below which codes may always be."""


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
    reads = [
        kernels.aggregating(BUILT_IN[name], values, nulls=view.nulls)
        for name in ("minimum", "maximum")
    ]
    low, high = (int(read()) for _, read in reads)
    if low > high:  # there is no value
        low = high = 0
    span = high - low + 1
    if span >= most:
        return None
    if values.dtype == np.int32 and view.nulls is None and low >= 0 and high < most:
        return values, high + 1
    # a difference of unsigned numbers is right whatever their signs are
    unsigned = np.dtype(f"u{values.itemsize}")
    codes = values.view(unsigned) - np.array(low, values.dtype).view(unsigned)[()]
    codes = codes.view(np.int32) if values.itemsize == 4 else codes.astype(np.int32)
    if view.nulls is None:
        return codes, span
    return cp.where(view.missing(), np.int32(span), codes), span + 1
