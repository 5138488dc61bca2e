"""Selected rows: their descriptions for kernels (tables of keys, inputs of a predicate), and a visitor's walk."""

from array import array as words_of
from collections.abc import Callable
from functools import lru_cache
from struct import Struct
from typing import Any, NamedTuple

import numpy as np
import pyarrow as pa

from ...bounded_cache import BoundedCache
from ...compiler import argument_types as types
from ...late_dataclass import dataclass
from ...nulls import Mask, Nulls
from ...operators.calls import operator_type
from ...operators.inference import Form, lifted
from ...operators.operator import Operator
from ...operators.signature import State
from ...selection import Predicate, Runs, Segments, Selection
from ..core.engine import STATUS, TILE, States, Tiles
from ..core.launch import (
    PARALLEL,
    Kernel,
    array_type,
    empty,
    joined_type,
    nulls_type,
    outside,
    run_team,
)
from ..core.shared import address
from . import selection_visitors as compiled


@dataclass(frozen=True, eq=False)
class SelectionKind:
    """The Numba type of a selection; each type has one object, so that caches need not compare types."""

    type: types.Type


class KernelSelection(NamedTuple):
    """A selection for a kernel: its value and type, the number of rows, and the arrays that it points to."""

    args: compiled.Selected
    kind: SelectionKind
    length: int
    keepalive: list[Any]


def kernel_selection(selection: Selection | Segments) -> KernelSelection:
    """Return a selection for a kernel; the arrays that it points to live as long as the answer."""
    if isinstance(selection, Runs):
        return _runs(selection)
    if isinstance(selection, Segments):
        return _segments(selection)
    if isinstance(selection, Predicate):
        return _predicate(selection)
    flags = selection.view(np.uint8)
    kind = _FLAGS["C" if flags.flags.c_contiguous else "A"]
    return KernelSelection(compiled.MaskSelection(flags), kind, len(flags), [])


_FLAGS = {
    layout: SelectionKind(
        types.record_type(compiled.MaskSelection, keep=array_type(np.dtype(np.uint8), True, layout))
    )
    for layout in "CA"
}
"""The types of arrays of bool, by their layout."""


def address_of(array: np.ndarray) -> int:
    """Return the address of the first element of an array."""
    if array.size and array.flags.c_contiguous and array.dtype.kind in "biuf":
        return pa.py_buffer(array).address  # type: ignore[no-any-return]  # in a fourth of the time
    return array.__array_interface__["data"][0]  # type: ignore[no-any-return]


# --- predicates ---------------------------------------------------------------------------------------


def _predicate(predicate: Predicate) -> KernelSelection:
    counter, nulls = predicate.counter, predicate.nulls or ()
    layout = "C" if all(a.flags.c_contiguous for a in predicate.arrays) else "A"
    inputs = [x if isinstance(x, np.ndarray) else np.asarray(x)[()] for x in predicate.inputs]
    dtypes = tuple([x.dtype for x in inputs])
    scalars = tuple([not isinstance(x, np.ndarray) for x in inputs])
    key = counter.token, dtypes, scalars, tuple(map(type, nulls)), layout
    kind = _KINDS.get(key) or _KINDS.store(key, _predicate_kind(counter, *key[1:]))
    values = tuple([x.item() if isinstance(x, np.generic) else x for x in inputs])
    args = compiled.PredicateSelection(
        counter,
        values if len(values) > 1 else values[0],
        tuple([None if n is None else n.args for n in nulls]),
    )
    return KernelSelection(args, kind, len(predicate.arrays[0]), [])


_KINDS: BoundedCache[Any, SelectionKind] = BoundedCache()


def _predicate_kind(
    counter: Operator, dtypes: Form, scalars: tuple[bool, ...], nulls: tuple[type, ...], layout: str
) -> SelectionKind:
    found = lifted(counter, dtypes)
    if found != types.boolean:
        raise TypeError(f"a predicate must return bool, found {found}")
    inputs = [
        types.Number(d) if scalar else array_type(d, True, layout)
        for d, scalar in zip(dtypes, scalars, strict=True)
    ]
    return SelectionKind(
        types.record_type(
            compiled.PredicateSelection,
            op=operator_type(counter),
            inputs=joined_type(inputs, len(inputs) == 1),
            nulls=types.Tuple(tuple([nulls_type(n) for n in nulls])),
        )
    )


# --- runs ---------------------------------------------------------------------------------------------


RUNS = SelectionKind(
    types.record_type(
        compiled.RunSelection, **dict.fromkeys(compiled.RunSelection._fields, types.int64)
    )
)
"""The type of runs of any keys."""

_AFTER = (0,) * (len(compiled.KEY) - len(compiled.RUNS))


def _runs(runs: Runs) -> KernelSelection:
    keepalive: list[Any] = []
    rows: list[int] = []
    keys: tuple[Any, ...] = runs.keys
    for key, nulls in zip(keys, runs.nulls, strict=True):
        for part in _parts(key):
            rows += _described(part, nulls, keepalive)
    length = len(runs.keys[0])
    known = 0, len(rows) // len(compiled.KEY), length, runs.last, runs.continues
    table = words_of("q", [*known, *_AFTER, *rows])
    start, _ = table.buffer_info()
    table[compiled.KEYS] = start + compiled.KEY_BYTES
    keepalive.append(table)
    return KernelSelection(
        compiled.RunSelection(address(compiled.flag_runs), start), RUNS, length, keepalive
    )


def _parts(key: np.ndarray) -> tuple[np.ndarray, ...]:
    """Return the numbers of a key; a complex key has two parts, and is NaN if a part is NaN."""
    if key.dtype.kind != "c":
        return (key,)
    missing = np.isnan(key)
    if missing.any():
        key = np.where(missing, key.dtype.type(complex("nan+nanj")), key)
    return key.real, key.imag


def _segments(segments: Segments) -> KernelSelection:
    offsets = np.require(segments.offsets, requirements=["C", "A"])
    known = words_of("q", [address_of(offsets), len(offsets), segments.length, segments.last, 0])
    flag = address(compiled.flag_segments, offsets.dtype.name)
    args = compiled.RunSelection(flag, known.buffer_info()[0])
    return KernelSelection(args, RUNS, segments.length, [offsets, known])


@lru_cache(maxsize=64)
def _comparison(dtype: np.dtype) -> int:
    """Return the address of the comparison of a dtype: floating-point numbers by value, all others by bits."""
    return address(
        compiled.flag_differing, dtype.name if dtype.kind == "f" else f"uint{8 * dtype.itemsize}"
    )


def _described(key: np.ndarray, nulls: Nulls, keepalive: list[Any]) -> tuple[int, ...]:
    """Return the row of a key in the table of keys, `selection_visitors.KEY`."""
    if key.dtype == np.float16:  # processors cannot compare float16
        key = key.astype(np.float32)
    flags = key.flags
    if not (flags.c_contiguous and flags.aligned):
        key = np.require(key, requirements=["C", "A"])
    border = np.ascontiguousarray(key[TILE - 1 :: TILE])
    keepalive += [key, border]
    row = _comparison(key.dtype), address_of(key), key.itemsize, address_of(border)
    if not isinstance(nulls, Mask):
        return (*row, 0, 0, 0, 0, 0, 0)
    buffer = np.ascontiguousarray(nulls.buffer)
    at = nulls.offset + np.arange(TILE - 1, len(key), TILE)
    bits_there = buffer[at >> nulls.shift] >> (at & ((1 << nulls.shift) - 1)).astype(np.uint8)
    missing = np.ascontiguousarray((bits_there & 1) == nulls.null).view(np.uint8)
    keepalive += [buffer, missing]
    flag_nulls = address(compiled.flag_nulls)
    mask = (
        flag_nulls,
        address_of(buffer),
        nulls.offset,
        nulls.shift,
        nulls.null,
        address_of(missing),
    )
    return row + mask


# --- the walk over rows -------------------------------------------------------------------------------


_SPACE_WORDS = Struct(f"{len(compiled.SPACE)}q")


def space_for(
    tile: int, uses: tuple[Any, ...] = (), bytes_a_row: int = 0, states: Any = None
) -> compiled.SelectionScratch:
    """Allocate the scratch memory of a thread for tiles of `tile` rows, with `bytes_a_row` more bytes for each.

    `uses` says which of `count_rows` and `list_rows` are called: the others need not be compiled.
    """
    rows, head = (tile + 23) // 8 * 8, _SPACE_WORDS.size
    memory = np.empty(head + 4 * rows + tile * bytes_a_row, np.uint8)
    words = address_of(memory)
    flags = words + head
    offsets, buffer = flags + 2 * rows, flags + 4 * rows
    count = address(compiled.count_rows) if compiled.count_rows in uses else 0
    list_ = address(compiled.list_rows) if compiled.list_rows in uses else 0
    _SPACE_WORDS.pack_into(memory.data, 0, flags, flags + rows, offsets, buffer, count, list_)
    return compiled.SelectionScratch(memory, words, flags, offsets, count, list_, states)


@lru_cache(maxsize=1024)
def space_type(states: types.Type = types.none) -> types.Type:
    """Return the type of the scratch memory with states of a type."""
    words = dict.fromkeys(compiled.SelectionScratch._fields, types.int64)
    memory = array_type(np.dtype(np.uint8), layout="C")
    return types.record_type(
        compiled.SelectionScratch, **{**words, "memory": memory, "states": states}
    )


SPACE = space_type()


class TileWalk(NamedTuple):
    """A compiled walk over rows, and the operator that combines the states that are looked back at.

    `identity` is that operator's, a number or a tuple; `fields` are the dtypes of its state.
    """

    kernel: Kernel
    op: Operator
    identity: State
    fields: Form
    sequential: bool = False
    """Whether each tile continues the one before, so that one thread walks them all."""


def walk(
    known: TileWalk,
    user: Operator,
    visitor: Any,
    start: tuple[Any, ...],
    length: int,
    make_space: Callable[[int], Any],
    columns: int = 1,
) -> list[Any]:
    """Let a visitor walk `length` rows from a state; return the fields of the state after them.

    Parameters
    ----------
    known : TileWalk
    user : Operator
        The operator; its functions may be a user's.
    visitor : named tuple
    start : tuple
        The fields of the state before the rows.
    length : int
    make_space : callable
        Makes a thread's scratch memory for tiles of a number of rows.
    columns : int, default 1
        The number of columns that the visitor moves, which decides how many rows are worth a thread.
    """
    kernel, op, identity, fields, sequential = known
    number = max(-(-length // TILE), 1)
    carries = [np.array([part], d) for part, d in zip(start, fields, strict=True)]
    aggregates = [np.empty(number, d) for d in fields]
    single = not isinstance(identity, tuple)
    states = States(
        op,
        identity,
        carries[0] if single else tuple(carries),
        aggregates[0] if single else tuple(aggregates),
    )
    control = np.zeros(STATUS + number, np.int64)
    tiles = Tiles(0, length, TILE, sequential)

    def run(leader: bool) -> None:
        kernel(visitor, make_space(min(TILE, length)), states, tiles, control, leader)

    try:
        if sequential or length * columns < PARALLEL:
            run(True)
        else:
            run_team(length * columns, control, run)
    except IndexError as error:
        raise outside(user, error) from error
    return [field[0] for field in carries]


MUCH = 4
"""A result is copied if its memory is more than this many times as large."""


def shrink(out: np.ndarray, count: int) -> np.ndarray:
    """Return the first `count` elements, copied if the memory after them is large."""
    length = len(out)
    if count * MUCH >= length:
        return out[:count]
    if length < PARALLEL:
        return out[:count].copy()
    copy = empty(count, out.dtype)
    copy[:] = out[:count]
    return copy
