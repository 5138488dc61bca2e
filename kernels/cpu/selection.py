"""From descriptions of selected rows to what kernels read of them: tables of keys, inputs of a predicate."""

from functools import lru_cache
from typing import Any

import numba
import numpy as np
from numba.core import types

from ..nulls import Mask, Nulls
from ..operator_calls import operator_type
from ..selection import Predicate, Runs, Selection
from ..signature import Form, lifted
from . import selection_visitors as compiled
from .engine import TILE
from .launch import array_type, form, null_arguments, nulls_type
from .memory import address_of
from .shared import address
from .visitors import work_type


def space_for(tile: int, bytes_a_row: int = 0, states: Any = None) -> compiled.Space:
    """Allocate the scratch memory of a thread for tiles of `tile` rows, and so many bytes a row besides."""
    rows = (tile + 23) // 8 * 8
    memory = np.empty(4 * rows + tile * bytes_a_row, np.uint8)
    at = address_of(memory)
    places = (at, at + rows, at + 2 * rows, at + 4 * rows)
    shared = address(compiled.count_rows), address(compiled.list_rows)
    return compiled.Space(memory, *places, *shared, states)


@lru_cache(maxsize=1024)
def space_type(states: Any = types.none) -> Any:
    """Return the type of the scratch memory with states of a type."""
    word = types.int64
    return work_type(
        compiled.Space, memory=array_type(np.dtype(np.uint8), layout="C"), flags=word, valid=word,
        offsets=word, buffer=word, counts=word, lists=word, states=states,
    )  # fmt: skip


SPACE = space_type()


def kernel_selection(selection: Selection) -> tuple[Any, Any, int, list[Any]]:
    """Return a selection as a kernel reads it, its type, how many rows there are, and arrays to keep alive."""
    if isinstance(selection, Runs):
        return _runs(selection)
    if isinstance(selection, Predicate):
        return _predicate(selection)
    keep = selection.view(np.uint8)
    layout = "C" if keep.flags.c_contiguous else "A"
    return compiled.Mask(keep), _mask_type(layout), len(keep), [keep]


@lru_cache(maxsize=2)
def _mask_type(layout: str) -> Any:
    return work_type(compiled.Mask, keep=types.Array(types.uint8, 1, layout, readonly=True))


# --- predicates ---------------------------------------------------------------------------------------


def _predicate(predicate: Predicate) -> tuple[Any, Any, int, list[Any]]:
    arrays = predicate.arrays
    layout = "C" if all(a.flags.c_contiguous for a in arrays) else "A"
    inputs = tuple(x if isinstance(x, np.ndarray) else np.asarray(x)[()] for x in predicate.inputs)
    dtypes = tuple(x.dtype for x in inputs)
    nulls = predicate.nulls or ()
    scalars = tuple(not isinstance(x, np.ndarray) for x in inputs)
    kind = _predicate_type(
        predicate.counter, dtypes, scalars, tuple(type(n) for n in nulls), layout
    )
    values = tuple(x.item() if isinstance(x, np.generic) else x for x in inputs)
    kernel_args = compiled.Predicate(
        predicate.counter,
        values if len(values) > 1 else values[0],
        tuple(null_arguments(n) for n in nulls),
    )
    return kernel_args, kind, len(arrays[0]), [inputs]


@lru_cache(maxsize=4096)
def _predicate_type(
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
        compiled.Predicate,
        op=operator_type(counter),
        inputs=form(inputs, len(inputs) == 1),
        nulls=types.Tuple([nulls_type(n) for n in nulls]),
    )


# --- runs ---------------------------------------------------------------------------------------------


_RUNS = work_type(compiled.Runs, **dict.fromkeys(compiled.Runs._fields, types.int64))


def _runs(runs: Runs) -> tuple[Any, Any, int, list[Any]]:
    numbers: list[tuple[np.ndarray, Nulls]] = []
    keys: tuple[Any, ...] = runs.keys
    for key, nulls in zip(keys, runs.nulls, strict=True):
        parts = (key.real, key.imag) if key.dtype.kind == "c" else (key,)
        numbers += [(part, nulls) for part in parts]
    table = np.zeros((len(numbers), len(compiled.KEY)), np.int64)
    keepalive: list[Any] = []
    for row, (key, nulls) in zip(table, numbers, strict=True):
        _describe(row, key, nulls, keepalive)
    length = len(runs.keys[0])
    keepalive.append(table)
    kernel_args = compiled.Runs(
        address(compiled.flag_runs),
        address_of(table),
        len(table),
        length,
        runs.last,
        runs.continues,
    )
    return kernel_args, _RUNS, length, keepalive


def _describe(row: np.ndarray, key: np.ndarray, nulls: Nulls, keepalive: list[Any]) -> None:
    """Fill the row of a key in the table of keys."""
    if key.dtype == np.float16:  # the processor has no comparison of these
        key = key.astype(np.float32)
    kind = key.dtype.name if key.dtype.kind == "f" else f"uint{8 * key.itemsize}"
    key = np.require(key, requirements=["C", "A"])
    border = np.ascontiguousarray(key[TILE - 1 :: TILE])
    keepalive += [key, border]
    row[compiled.COMPARE], row[compiled.WIDTH] = address(compiled.flag_key, kind), key.itemsize
    row[compiled.ADDRESS], row[compiled.BORDER] = address_of(key), address_of(border)
    if isinstance(nulls, Mask):
        buffer = np.ascontiguousarray(nulls.buffer)
        at = nulls.offset + np.arange(TILE - 1, len(key), TILE)
        bits_there = buffer[at >> nulls.shift] >> (at & ((1 << nulls.shift) - 1)).astype(np.uint8)
        missing = np.ascontiguousarray((bits_there & 1) == nulls.null).view(np.uint8)
        keepalive += [buffer, missing]
        row[compiled.MASK], row[compiled.NULL_BORDER] = address_of(buffer), address_of(missing)
        row[compiled.SHIFTED], row[compiled.SHIFT] = nulls.offset, nulls.shift
        row[compiled.NULL] = nulls.null
