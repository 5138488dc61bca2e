"""Rows of NumPy arrays by position: `take` gathers them, and `put` scatters them."""

# Numba reads these functions; annotations would say less than its own types do.
# mypy: disable-error-code="no-untyped-def"

from collections.abc import Sequence
from functools import lru_cache, partial
from typing import Any

import numpy as np

from ...compiler import argument_types as types
from ...compiler.functions import cached_njit, njit
from ..core.engine import FAILED, STATUS, TICKET
from ..core.launch import CONTROL, Kernel, array_type, empty, entry, run_kernel, run_team
from ..core.memory import borrow, take_ticket

SLICE = 1 << 14
"""Rows that a thread takes at once."""

WORK = 4
"""The work of a row in elements of a scan, which decides how many rows are worth a thread."""


def take(array: np.ndarray, rows: np.ndarray, fill: Any = None) -> np.ndarray:
    """Return the elements of an array at rows, which must be in range; with `fill`, negative rows get this value."""
    return take_all([array], rows, fill)[0]


def take_all(arrays: Sequence[np.ndarray], rows: np.ndarray, fill: Any = None) -> list[np.ndarray]:
    """Return the elements of arrays at these rows; threads go on to the next array without waiting for each other."""
    found, jobs = [], []
    rows = np.require(rows, requirements=["C", "A"])
    for array in arrays:
        out, number = empty(len(rows), array.dtype), _NUMBERS[array.itemsize]
        values = np.require(array, requirements=["A"]).view(number)
        other = None if fill is None else np.array([fill], array.dtype).view(number)[0].item()
        tickets = np.zeros(STATUS, np.int64)
        given = values, rows, other, out.view(number), tickets
        jobs.append(partial(_taking(number, fill is not None), *given))
        found.append(out)
    control = np.zeros(STATUS, np.int64)

    def work(_: bool) -> None:
        for job in jobs:
            if not control[FAILED]:
                job()

    run_team(WORK * len(rows) * len(jobs), control, work)
    return found


def put(rows: np.ndarray, positions: np.ndarray) -> np.ndarray:
    """Return rows at their positions; see `kernels.put`."""
    out, number = empty(len(rows), rows.dtype), _NUMBERS[rows.itemsize]
    rows = np.require(rows, requirements=["C", "A"]).view(number)
    positions = np.require(positions, requirements=["C", "A"])
    run_kernel(WORK * len(rows), _putting(number), rows, positions, out.view(number))
    return out


_NUMBERS = {1: "u1", 2: "u2", 4: "u4", 8: "u8", 16: "c16"}
"""Numbers that are as wide as an element."""


@njit
def _element(values, row, fill):
    """Return the element at a row; `fill`, if there is one, if the row is negative."""
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


@cached_njit
def put_rows(values, positions, out, control):
    """Copy elements to their positions."""
    values, positions, out = borrow(values), borrow(positions), borrow(out)
    control = borrow(control)
    while True:
        start = take_ticket(control, TICKET) * SLICE
        if start >= len(values):
            break
        for i in range(start, min(len(values), start + SLICE)):
            out[np.uintp(positions[i])] = values[i]


@lru_cache(maxsize=8)
def _putting(number: str) -> Kernel:
    dtype = np.dtype(number)
    given = array_type(dtype, True, "C"), array_type(np.dtype(np.int64), True, "C")
    return entry(put_rows, (*given, array_type(dtype, layout="C"), CONTROL))


@lru_cache(maxsize=16)
def _taking(number: str, fills: bool) -> Kernel:
    dtype = np.dtype(number)
    rows, out = array_type(np.dtype(np.int64), True, "C"), array_type(dtype, layout="C")
    fill = types.Number(dtype) if fills else types.none
    return entry(take_rows, (array_type(dtype, True), rows, fill, out, CONTROL))
