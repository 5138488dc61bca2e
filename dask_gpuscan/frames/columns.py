"""Facts about dtypes of a library, and arrays of numbers as columns of it."""

from __future__ import annotations

from typing import Any

import numpy as np

from .protocol import Layout, Library


def layout_of(library: Library, dtype: Any) -> Layout | None:
    """Return the layout of a dtype; None if its columns hold no fixed-width numbers."""
    return next((layout for layout in library.layouts if layout.matches(dtype)), None)


def moved_layout(library: Library, dtype: Any) -> Layout | None:
    """Return the layout of a dtype whose numbers kernels compare and move; 128-bit decimals have none."""
    layout = layout_of(library, dtype)
    return None if layout is None or layout.storage(dtype).kind == "V" else layout


def is_number(library: Library, dtype: Any) -> bool:
    """Tell whether columns of this dtype hold numbers or bool that can be scanned, and not times."""
    return layout_of(library, dtype) is not None and dtype.kind in "biufc"


SUMS = ("sum", "prod", "cumsum", "cumprod")
"""Reductions and scans whose answers need more bits than their elements."""


def wide_integers(library: Library, method: str, dtype: Any, answer: Any) -> Any:
    """Return the dtype of an answer for a column of `dtype`, of 64 bits if it is a sum of integers."""
    layout, found = layout_of(library, dtype), layout_of(library, answer)
    if method not in SUMS or layout is None or found is None or answer.kind not in "iu":
        return answer
    is_narrow = found.storage(answer).itemsize < 8
    return layout.result(np.dtype(f"{answer.kind}8"), dtype) if is_narrow else answer


def prepended(library: Library, number: Any, values: Any) -> Any:
    """Return numbers as a layout shows them, with one of the host before them."""
    numbers = library.numbers
    return numbers.concatenate([numbers.asarray([number], dtype=values.dtype), values])


def counts(library: Library, numbers: Any) -> Any:
    """Return numbers of int64 as an array of the library's."""
    layout = layout_of(library, numbers.dtype)
    assert layout is not None
    return layout.wrap(numbers, None, numbers.dtype)
