"""From descriptions of marked rows to what kernels read of them: tables of keys, inputs of a predicate.

This module must never loop over elements, nor know what is done with marked rows.
"""

from functools import lru_cache
from typing import Any

import numba
import numpy as np
from numba.core import types

from ..marks import Predicate, Runs
from ..nulls import Mask, Nulls
from . import marking
from .calls import operator_type
from .engine import TILE
from .launch import array_type, form, null_arguments, nulls_type
from .memory import address_of
from .shared import address
from .types import Form, lifted
from .visitors import work_type


def space_for(tile: int, bytes_a_row: int = 0, states: Any = None) -> marking.Space:
    """Allocate the scratch memory of a thread for tiles of `tile` rows, and so many bytes a row besides."""
    rows = (tile + 23) // 8 * 8
    memory = np.empty(4 * rows + tile * bytes_a_row, np.uint8)
    at = address_of(memory)
    places = (at, at + rows, at + 2 * rows, at + 4 * rows)
    shared = address(marking.count_rows), address(marking.list_rows)
    return marking.Space(memory, *places, *shared, states)


@lru_cache(maxsize=1024)
def space_type(states: Any = types.none) -> Any:
    """Return the type of the scratch memory with states of a type."""
    word = types.int64
    return work_type(
        marking.Space, memory=array_type(np.dtype(np.uint8), layout="C"), flags=word, valid=word,
        marked=word, buffer=word, counts=word, lists=word, states=states,
    )  # fmt: skip


SPACE = space_type()


def marks_of(marks: Any) -> tuple[Any, Any, int, list[Any]]:
    """Return what a kernel is told of marks, its type, how many rows there are, and arrays to keep alive."""
    if isinstance(marks, Runs):
        return _runs(marks)
    if isinstance(marks, Predicate):
        return _where(marks)
    keep = marks.view(np.uint8)
    layout = "C" if keep.flags.c_contiguous else "A"
    return marking.Given(keep), _given_type(layout), len(keep), [keep]


@lru_cache(maxsize=2)
def _given_type(layout: str) -> Any:
    return work_type(marking.Given, keep=types.Array(types.uint8, 1, layout, readonly=True))


# --- predicates ---------------------------------------------------------------------------------------


def _where(predicate: Predicate) -> tuple[Any, Any, int, list[Any]]:
    arrays = predicate.arrays
    layout = "C" if all(a.flags.c_contiguous for a in arrays) else "A"
    inputs = tuple(x if isinstance(x, np.ndarray) else np.asarray(x)[()] for x in predicate.inputs)
    dtypes = tuple(x.dtype for x in inputs)
    nulls = predicate.nulls or ()
    scalars = tuple(not isinstance(x, np.ndarray) for x in inputs)
    kind = _where_type(predicate.counter, dtypes, scalars, tuple(type(n) for n in nulls), layout)
    values = tuple(x.item() if isinstance(x, np.generic) else x for x in inputs)
    told = marking.Where(
        predicate.counter,
        values if len(values) > 1 else values[0],
        tuple(null_arguments(n) for n in nulls),
    )
    return told, kind, len(arrays[0]), [inputs]


@lru_cache(maxsize=4096)
def _where_type(
    counter: Any, dtypes: Form, scalars: tuple[bool, ...], nulls: tuple[type, ...], layout: str
) -> Any:
    found = lifted(counter, dtypes)
    if found != types.boolean:
        raise TypeError(f"a predicate must return bool, found {found}")
    inputs = [
        numba.from_dtype(d) if scalar else array_type(d, True, layout)
        for d, scalar in zip(dtypes, scalars, strict=True)
    ]
    return work_type(
        marking.Where,
        op=operator_type(counter),
        inputs=form(inputs, len(inputs) == 1),
        nulls=types.Tuple([nulls_type(n) for n in nulls]),
    )


# --- runs ---------------------------------------------------------------------------------------------


_RUNS = work_type(marking.Runs, **dict.fromkeys(marking.Runs._fields, types.int64))


def _runs(marks: Runs) -> tuple[Any, Any, int, list[Any]]:
    numbers: list[tuple[np.ndarray, Nulls]] = []
    for key, nulls in zip(marks.keys, marks.nulls, strict=True):
        parts = (key.real, key.imag) if key.dtype.kind == "c" else (key,)
        numbers += [(part, nulls) for part in parts]
    table = np.zeros((len(numbers), len(marking.KEY)), np.int64)
    alive: list[Any] = []
    for row, (key, nulls) in zip(table, numbers, strict=True):
        _describe(row, key, nulls, alive)
    length = len(marks.keys[0])
    alive.append(table)
    told = marking.Runs(
        address(marking.mark_runs),
        address_of(table),
        len(table),
        length,
        marks.last,
        marks.continues,
    )
    return told, _RUNS, length, alive


def _describe(row: np.ndarray, key: np.ndarray, nulls: Nulls, alive: list[Any]) -> None:
    """Fill the row of a key in the table of keys."""
    if key.dtype == np.float16:  # the processor has no comparison of these
        key = key.astype(np.float32)
    kind = key.dtype.name if key.dtype.kind == "f" else f"uint{8 * key.itemsize}"
    key = np.require(key, requirements=["C", "A"])
    border = np.ascontiguousarray(key[TILE - 1 :: TILE])
    alive += [key, border]
    row[marking.COMPARE], row[marking.WIDTH] = address(marking.mark_key, kind), key.itemsize
    row[marking.ADDRESS], row[marking.BORDER] = address_of(key), address_of(border)
    if isinstance(nulls, Mask):
        buffer = np.ascontiguousarray(nulls.buffer)
        at = nulls.offset + np.arange(TILE - 1, len(key), TILE)
        bits_there = buffer[at >> nulls.shift] >> (at & ((1 << nulls.shift) - 1)).astype(np.uint8)
        missing = np.ascontiguousarray((bits_there & 1) == nulls.null).view(np.uint8)
        alive += [buffer, missing]
        row[marking.MASK], row[marking.NULL_BORDER] = address_of(buffer), address_of(missing)
        row[marking.SHIFTED], row[marking.SHIFT] = nulls.offset, nulls.shift
        row[marking.NULL] = nulls.null
