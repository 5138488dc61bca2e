"""From descriptions of selected rows to what kernels read of them: tables of keys, inputs of a predicate."""

from functools import lru_cache
from struct import Struct
from typing import Any, NamedTuple

import numba
import numpy as np
from numba.core import types

from ..inference import Form, lifted
from ..nulls import Mask, Nulls
from ..operator_calls import operator_type
from ..selection import Predicate, Runs, Selection
from . import selection_visitors as compiled
from .engine import TILE
from .launch import array_type, joined_type, null_arguments, nulls_type
from .memory import address_of
from .shared import address
from .visitors import record_type

_SPACE_WORDS = Struct(f"{len(compiled.SPACE)}q")


def space_for(
    tile: int, uses: tuple[Any, ...] = (), bytes_a_row: int = 0, states: Any = None
) -> compiled.Space:
    """Allocate the scratch memory of a thread for tiles of `tile` rows, and so many bytes a row besides.

    `uses` says which of `count_rows` and `list_rows` are called: the others need not be compiled.
    """
    rows, head = (tile + 23) // 8 * 8, _SPACE_WORDS.size
    memory = np.empty(head + 4 * rows + tile * bytes_a_row, np.uint8)
    words = address_of(memory)
    flags = words + head
    offsets, buffer = flags + 2 * rows, flags + 4 * rows
    count, list_ = (
        address(f) if f in uses else 0 for f in (compiled.count_rows, compiled.list_rows)
    )
    _SPACE_WORDS.pack_into(memory.data, 0, flags, flags + rows, offsets, buffer, count, list_)
    return compiled.Space(memory, words, flags, offsets, count, list_, states)


@lru_cache(maxsize=1024)
def space_type(states: types.Type = types.none) -> types.Type:
    """Return the type of the scratch memory with states of a type."""
    words = dict.fromkeys(compiled.Space._fields, types.int64)
    memory = array_type(np.dtype(np.uint8), layout="C")
    return record_type(compiled.Space, **{**words, "memory": memory, "states": states})


SPACE = space_type()


class KernelSelection(NamedTuple):
    """A selection as a kernel reads it: its value and type, how many rows there are, and arrays that it points to."""

    args: compiled.Selected
    kind: types.Type
    length: int
    keepalive: list[Any]


def kernel_selection(selection: Selection) -> KernelSelection:
    """Return a selection as a kernel reads it; what it points to lives as long as the answer."""
    if isinstance(selection, Runs):
        return _runs(selection)
    if isinstance(selection, Predicate):
        return _predicate(selection)
    keep = selection.view(np.uint8)
    layout = "C" if keep.flags.c_contiguous else "A"
    return KernelSelection(compiled.Mask(keep), _mask_type(layout), len(keep), [])


@lru_cache(maxsize=2)
def _mask_type(layout: str) -> types.Type:
    return record_type(compiled.Mask, keep=types.Array(types.uint8, 1, layout, readonly=True))


# --- predicates ---------------------------------------------------------------------------------------


def _predicate(predicate: Predicate) -> KernelSelection:
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
    args = compiled.Predicate(
        predicate.counter,
        values if len(values) > 1 else values[0],
        tuple(null_arguments(n) for n in nulls),
    )
    return KernelSelection(args, kind, len(arrays[0]), [])


@lru_cache(maxsize=4096)
def _predicate_type(
    counter: Any, dtypes: Form, scalars: tuple[bool, ...], nulls: tuple[type, ...], layout: str
) -> types.Type:
    found = lifted(counter, dtypes)
    if found != types.boolean:
        raise TypeError(f"a predicate must return bool, found {found}")
    inputs = [
        numba.from_dtype(d) if scalar else array_type(d, True, layout)
        for d, scalar in zip(dtypes, scalars, strict=True)
    ]
    return record_type(
        compiled.Predicate,
        op=operator_type(counter),
        inputs=joined_type(inputs, len(inputs) == 1),
        nulls=types.Tuple([nulls_type(n) for n in nulls]),
    )


# --- runs ---------------------------------------------------------------------------------------------


_RUNS = record_type(compiled.Runs, **dict.fromkeys(compiled.Runs._fields, types.int64))


def _runs(runs: Runs) -> KernelSelection:
    numbers: list[tuple[np.ndarray, Nulls]] = []
    keys: tuple[Any, ...] = runs.keys
    for key, nulls in zip(keys, runs.nulls, strict=True):
        parts = (key.real, key.imag) if key.dtype.kind == "c" else (key,)
        numbers += [(part, nulls) for part in parts]
    table = np.zeros((1 + len(numbers), len(compiled.KEY)), np.int64)  # its first row: `RUNS`
    start, length = address_of(table), len(keys[0])
    known = start + compiled.KEY_BYTES, len(numbers), length, runs.last, runs.continues
    table[0, : len(known)] = known
    keepalive: list[Any] = [table]
    for row, (key, nulls) in zip(table[1:], numbers, strict=True):
        _describe(row, key, nulls, keepalive)
    args = compiled.Runs(address(compiled.flag_runs), start)
    return KernelSelection(args, _RUNS, length, keepalive)


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
