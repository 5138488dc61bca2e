"""Compaction of NumPy arrays.

If the number of selected rows is not known, outputs are allocated for all rows, and cut.
"""

from functools import lru_cache, partial
from typing import Any

import numpy as np

from ...compiler import argument_types as types
from ...operators.built_in import BUILT_IN
from ...operators.segments import LATEST
from ...operators.signature import StateForm
from ...selection import Predicate, Runs, Selection
from ..core.engine import STATUS, TILE
from ..core.launch import (
    CONTROL,
    PARALLEL,
    WORD,
    Kernel,
    array_type,
    empty,
    entry,
    outside,
    run_team,
    tiles_kernel,
)
from ..core.shared import OF_WIDTH, address
from . import compact_visitors as compiled
from .selection import (
    RUNS,
    SPACE,
    SelectionKind,
    TileWalk,
    address_of,
    kernel_selection,
    shrink,
    space_for,
    walk,
)
from .selection_visitors import count_rows, list_rows

COUNT = StateForm((WORD,), True)
PAIR = StateForm((WORD, WORD), False)
ADD = BUILT_IN["add"]
"""The operator of counts."""

FEW = 1 << 12
"""Rows below which NumPy takes some: half of 1,000 float64 in 2 microseconds, of 4,096 in 7, and a walk in 30."""

LIST = (list_rows,)
COUNT_AND_LIST = (count_rows, list_rows)


def compact(
    arrays: list[np.ndarray], selection: Selection, split: bool, positions: bool, in_place: bool
) -> tuple[list[np.ndarray], list[np.ndarray] | None]:
    """Return the selected rows of arrays and, if `split`, the other ones; see `kernels.partition`."""
    few = FEW if arrays else PARALLEL if positions else 0
    if not in_place and _length(selection) < few:
        flags: Any = selection
        if isinstance(selection, (Predicate, Runs)):
            flags = head_flags(selection)
        if not arrays:
            return [_positions(flags)], [_positions(~flags)] if split else None
        found = _taken(arrays, flags, positions)
        return found, _taken(arrays, ~flags, positions) if split else None
    args, kind, length, _keepalive = kernel_selection(selection)
    if in_place:
        _check_in_place(arrays, selection)
    # counting flags is faster than freeing memory that is not needed
    known = int(np.count_nonzero(selection)) if isinstance(selection, np.ndarray) else None
    most, others = (length, length) if known is None else (known, length - known)
    make = np.empty if length < PARALLEL else empty
    dtypes = [a.dtype for a in arrays] + [WORD] * positions
    kept = list(arrays) if in_place else []
    kept += [make(most, d) for d in dtypes[len(kept) :]]
    rest = [make(others, d) for d in dtypes] if split else None
    table = _table(arrays, kept, rest, in_place)
    columns = address_of(table)
    bytes_a_row = sum([d.itemsize for d in dtypes]) if in_place else 0
    move, place = address(compiled.move_rows), address(compiled.place_rows) if in_place else 0
    work = compiled.Compact(args, columns, in_place, move, place)
    make_space = partial(space_for, uses=COUNT_AND_LIST, bytes_a_row=bytes_a_row)
    user = selection.counter if isinstance(selection, Predicate) else ADD
    given = user, work, (0,), length, make_space, max(len(dtypes), 1)
    (count,) = walk(_compact_walk(kind), *given)
    for i, out in enumerate(kept):
        kept[i] = out[:count] if in_place and i < len(arrays) else shrink(out, count)
    if rest is not None:
        for i, out in enumerate(rest):
            rest[i] = shrink(out, length - count)
            if in_place and i < len(arrays):
                arrays[i][count:] = rest[i]
                rest[i] = arrays[i][count:]
    return kept, rest


def head_flags(selection: Predicate | Runs, out: np.ndarray | None = None) -> np.ndarray:
    """Return which rows are selected as an array of bool; see `kernels.head_flags` and `kernels.flags`."""
    if isinstance(selection, Runs) and out is None:
        found = _heads_of_few(selection)
        if found is not None:
            return found
    args, kind, length, _keepalive = kernel_selection(selection)
    if out is None:
        out = (np.empty if length < PARALLEL else empty)(length, np.bool_)
    kernel, flags, control = _flags_kernel(kind), out.view(np.uint8), np.zeros(STATUS, np.int64)

    def run(_: bool) -> None:
        kernel(args, space_for(min(TILE, length)), flags, control)

    try:
        if length < PARALLEL:
            run(True)
        else:
            run_team(length, control, run)
    except IndexError as error:
        user = selection.counter if isinstance(selection, Predicate) else ADD
        raise outside(user, error) from error
    return out


def _heads_of_few(runs: Runs) -> np.ndarray | None:
    """Return where runs of few integers start, by NumPy; None for other keys.

    Microseconds of 10,000 integers and of 100,000: 8 and 23, by a walk 23 and 40.
    """
    (key, *others), nulls = runs.keys, runs.nulls
    if others or nulls[0] is not None or runs.last or runs.continues:
        return None
    if key.dtype.kind not in "biu" or len(key) >= PARALLEL:
        return None
    flags = np.ones(len(key), np.bool_)
    np.not_equal(key[1:], key[:-1], out=flags[1:])
    return flags


def run_lengths(runs: Runs, dtype: np.dtype) -> tuple[np.ndarray, np.ndarray]:
    """Return where runs start and how long they are; see `kernels.run_length_encode`."""
    if _length(runs) < PARALLEL:
        starts = _positions(head_flags(runs)).astype(dtype, copy=False)
        lengths = np.empty(len(starts), dtype)
        np.subtract(starts[1:], starts[:-1], out=lengths[:-1])
        lengths[-1:] = _length(runs) - starts[-1:]
        return starts, lengths
    args, _, length, _keepalive = kernel_selection(runs)
    starts, lengths = empty(length, dtype), empty(length, dtype)
    work = compiled.Lengths(args, starts, lengths, length)
    make_space = partial(space_for, uses=LIST)
    count, _ = walk(_lengths_walk(dtype), LATEST, work, (0, 0), length, make_space)
    return shrink(starts, count), shrink(lengths, count)


def _length(selection: Selection) -> int:
    """Return the number of rows."""
    if isinstance(selection, Runs):
        return len(selection.keys[0])
    return len(selection.arrays[0] if isinstance(selection, Predicate) else selection)


def _positions(flags: np.ndarray) -> np.ndarray:
    """Return the positions of few true flags: 198 microseconds for 100,000 runs of one row, and 1,077 by a walk.

    A walk needs new memory for all rows.
    """
    return flags.nonzero()[0].astype(WORD, copy=False)


def _taken(arrays: list[np.ndarray], flags: np.ndarray, positions: bool) -> list[np.ndarray]:
    """Return the rows of arrays where few flags are true, by NumPy."""
    rows = _positions(flags)
    return [*[a.take(rows) for a in arrays], *[rows] * positions]


def _table(
    arrays: list[np.ndarray],
    kept: list[np.ndarray],
    rest: list[np.ndarray] | None,
    in_place: bool,
) -> np.ndarray:
    """Return the row `COLUMNS` for all columns, then a row `COLUMN` for each column."""
    rows: list[tuple[int, ...]] = [(0, len(kept), rest is not None, in_place, 0, 0)]
    for i, out in enumerate(kept):
        if i < len(arrays):
            a, move = arrays[i], address(compiled.move, OF_WIDTH[arrays[i].itemsize])
            column = address_of(a), a.strides[0], a.itemsize, move
        else:  # of positions
            column = 0, 0, 8, address(compiled.move_positions)
        rows.append((*column, address_of(out), 0 if rest is None else address_of(rest[i])))
    table = np.array(rows, np.int64)
    table[0, compiled.TABLE] = address_of(table) + table.strides[0]
    return table


def _check_in_place(arrays: list[np.ndarray], selection: Any) -> None:
    """Refuse to write over arrays if elements would be lost before they are read."""
    for i, array in enumerate(arrays):
        if not array.flags.writeable:
            raise ValueError(f"in_place: array {i} is read-only")
        if not array.flags.c_contiguous:
            raise ValueError(f"in_place: array {i} is not contiguous")
    read = [*arrays, *(selection.arrays if hasattr(selection, "arrays") else [selection])]
    for i, array in enumerate(arrays):
        for other in read:
            same = address_of(array) == address_of(other) and array.strides == other.strides
            if not same and np.may_share_memory(array, other):
                raise ValueError(f"in_place: array {i} shares a part of another array's memory")


# --- kernels ----------------------------------------------------------------------------------------


@lru_cache(maxsize=4096)
def _compact_walk(selection: SelectionKind) -> TileWalk:
    words = dict.fromkeys(compiled.Compact._fields, types.int64)
    work = types.record_type(compiled.Compact, **{**words, "selection": selection.type})
    return TileWalk(tiles_kernel(ADD, COUNT, work, SPACE), ADD, 0, COUNT.fields)


@lru_cache(maxsize=4096)
def _flags_kernel(selection: SelectionKind) -> Kernel:
    out = array_type(np.dtype(np.uint8), layout="C")
    return entry(compiled.write_flags, (selection.type, SPACE, out, CONTROL))


@lru_cache(maxsize=2)
def _lengths_walk(dtype: np.dtype) -> TileWalk:
    to, word = array_type(dtype, layout="C"), types.int64
    work = types.record_type(
        compiled.Lengths, selection=RUNS.type, starts=to, lengths=to, length=word
    )
    return TileWalk(tiles_kernel(LATEST, PAIR, work, SPACE), LATEST, (0, 0), PAIR.fields)
