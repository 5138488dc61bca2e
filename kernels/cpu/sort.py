"""Sorting of NumPy arrays: the order of rows by a radix sort of codes, and arrays brought into that order."""

# Numba reads these functions; annotations would say less than its own types do.
# mypy: disable-error-code="no-untyped-def"

from collections.abc import Sequence
from functools import lru_cache
from typing import Any

import numba
import numpy as np
from numba.core import types

from ..jit import OPTIONS, cached_njit
from ..sort_key import Positions, SortKey
from .engine import FAILED, TICKET
from .launch import CONTROL, Kernel, array_type, entry, run_kernel
from .memory import borrow, take_ticket
from .outputs import empty
from .radix_sort import LEAF, NO_CODES, order
from .sort_codes import WORD_BITS, chunks_of, fields_of, tells_values, unpack
from .sort_values import is_sorted_by_value, sorted_values

SLICE = 1 << 16
"""Rows that a thread takes at once."""


def sort(
    keys: Sequence[SortKey], arrays: Sequence[Any], starts: Any, *, positions: Positions
) -> list[Any]:
    """Return arrays in the order of keys; see `kernels.sort_pairs`."""
    alone = starts is None and not positions and len(keys) == len(arrays) == 1
    if alone and arrays[0] is keys[0].values and is_sorted_by_value(keys[0]):
        return [sorted_values(keys[0])]
    count = len(keys[0].values)
    fields = [fields_of(key) for key in keys]
    most = WORD_BITS - max(count - 1, 1).bit_length()
    chunks = chunks_of([field for each in fields for field in each], most)
    if starts is not None or count <= LEAF or len(chunks) != 1:  # keys are few, or told in pieces
        rows = order(chunks, count, starts)
        return [take(a, rows) for a in arrays] + [rows] * bool(positions)
    told, place = [], chunks[0].width
    for key, each in zip(keys, fields, strict=True):
        place -= sum(field.width for field in each)
        if tells_values(key, each) and any(a is key.values for a in arrays):
            told.append((key.values, each[0], place))
    codes = empty(count, np.uint64) if told else NO_CODES
    rows = order(chunks, count, codes=codes)

    def moved(array: Any) -> np.ndarray:
        for values, field, at in told:
            if array is values:
                return unpack(field, codes, at, array.dtype)
        return take(array, rows)

    return [moved(a) for a in arrays] + [rows] * bool(positions)


def is_sorted(values: np.ndarray, heads: np.ndarray | None) -> bool:
    """Tell whether values never decrease; see `kernels.is_sorted`."""
    if not len(values):
        return True
    kernel = _comparing(values.dtype, heads is not None)
    return not run_kernel(len(values), kernel, values, heads)[FAILED]


def take(array: np.ndarray, rows: np.ndarray, fill: Any = None) -> np.ndarray:
    """Return the elements of an array at these rows, all of them there, or with `fill` that at negative ones."""
    out, number = empty(len(rows), array.dtype), _NUMBERS[array.itemsize]
    values = np.require(array, requirements=["A"]).view(number)
    rows = np.require(rows, requirements=["C", "A"])
    other = None if fill is None else np.array([fill], array.dtype).view(number)[0].item()
    kernel = _taking(number, fill is not None)
    run_kernel(len(rows), kernel, values, rows, other, out.view(number))
    return out


def put(rows: np.ndarray, positions: np.ndarray) -> np.ndarray:
    """Return rows at their positions; see `kernels.put`."""
    out = empty(len(rows), rows.dtype)
    out[positions] = rows
    return out


_NUMBERS = {1: "u1", 2: "u2", 4: "u4", 8: "u8", 16: "c16"}
"""Numbers that are as wide as an element."""


@cached_njit
def compare(values, heads, control):
    """Note in the control array if an element that is no head is less than the one before, or is NaN."""
    values, control = borrow(values), borrow(control)
    while control[FAILED] == 0:
        start = take_ticket(control, TICKET) * SLICE
        if start >= len(values):
            break
        stop = min(len(values), start + SLICE)
        ordered = values[start] >= values[max(start - 1, 0)]
        if heads is not None:
            ordered |= heads[start]
            for i in range(start + 1, stop):
                ordered &= (values[i] >= values[i - 1]) | heads[i]
        else:
            for i in range(start + 1, stop):
                ordered &= values[i] >= values[i - 1]
        if not ordered:
            control[FAILED] = 1


@numba.njit(**OPTIONS)
def _element(values, row, fill):
    """Return the element at a row; if there is something to fill with, that where the row is negative."""
    if fill is not None:
        return values[np.uintp(row)] if row >= 0 else fill
    return values[np.uintp(row)]


@cached_njit
def take_rows(values, rows, fill, out, control):
    """Copy the elements at these rows."""
    values, rows, out, control = borrow(values), borrow(rows), borrow(out), borrow(control)
    while True:
        start = take_ticket(control, TICKET) * SLICE
        if start >= len(rows):
            break
        for i in range(start, min(len(rows), start + SLICE)):
            out[i] = _element(values, rows[i], fill)


@lru_cache(maxsize=16)
def _comparing(dtype: np.dtype, has_heads: bool) -> Kernel:
    heads = array_type(np.dtype(np.bool_), True) if has_heads else types.none
    return entry(compare, (array_type(dtype, True), heads, CONTROL))


@lru_cache(maxsize=16)
def _taking(number: str, fills: bool) -> Kernel:
    dtype = np.dtype(number)
    rows, out = array_type(np.dtype(np.int64), True, "C"), array_type(dtype, layout="C")
    fill = numba.from_dtype(dtype) if fills else types.none
    return entry(take_rows, (array_type(dtype, True), rows, fill, out, CONTROL))
