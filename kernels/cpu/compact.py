"""From selected rows of NumPy arrays to compacted arrays.

Where it is not known how many rows are selected, outputs are made for all of them and cut to their number.
"""

from functools import lru_cache, partial
from typing import Any

import numpy as np
from numba.core import types

from ..arrays import MOST, check_size
from ..built_in import BUILT_IN
from ..counted_segments import LATEST
from ..operators import Operator
from ..options import ScanOptions
from ..selection import Predicate, Runs, Selection
from ..signature import StateForm
from . import compact_visitors as compiled
from . import outputs
from .engine import TILE
from .launch import WORD, Kernel, array_type, tiles_kernel, walk
from .memory import address_of
from .outputs import empty, shrink
from .scan import scan
from .selection import SPACE, kernel_selection, space_for
from .selection_visitors import count_rows, list_rows
from .shared import address
from .visitors import record_type

COUNT = StateForm((WORD,), True)
PAIR = StateForm((WORD, WORD), False)


def compact(
    arrays: list[np.ndarray], selection: Selection, split: bool, positions: bool, in_place: bool
) -> tuple[list[np.ndarray], list[np.ndarray] | None]:
    """Return the selected rows of arrays and, if `split`, the other ones; see `kernels.partition`."""
    selected = kernel_selection(selection)
    length = selected.length
    if in_place:
        _check_in_place(arrays, selection)
    numbers = [np.broadcast_to(np.int64(0), length)] * positions
    # flags are counted faster than memory that is not needed is given back
    known = int(np.count_nonzero(selection)) if isinstance(selection, np.ndarray) else None
    most, others = (length, length) if known is None else (known, length - known)
    kept = list(arrays) if in_place else [empty(most, a.dtype) for a in arrays]
    kept += [empty(most, n.dtype) for n in numbers]
    rest = [empty(others, a.dtype) for a in [*arrays, *numbers]] if split else None
    table = _table(arrays, kept, rest, positions)
    columns = address_of(table)
    words = columns + table.strides[0], len(table) - 1, split, in_place
    table[0, : len(words)] = words
    bytes_a_row = sum(a.itemsize for a in [*arrays, *numbers]) * in_place
    work = compiled.Compact(
        selected.args,
        columns,
        in_place,
        address(compiled.move_rows),
        address(compiled.place_rows) if in_place else 0,
    )
    kernel = _compact_kernel(selected.kind)
    make_space = partial(space_for, uses=(count_rows, list_rows), bytes_a_row=bytes_a_row)
    count = _walk_counting(kernel, work, length, make_space=make_space)
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
    selected = kernel_selection(selection)
    out = empty(selected.length, np.bool_) if out is None else out
    work = compiled.HeadFlags(selected.args, out.view(np.uint8))
    _walk_counting(_flags_kernel(selected.kind), work, selected.length, make_space=space_for)
    return out


def run_lengths(runs: Runs) -> tuple[np.ndarray, np.ndarray]:
    """Return where runs start and how long they are; see `kernels.run_length_encode`."""
    selected = kernel_selection(runs)
    length = selected.length
    starts, lengths = empty(length, WORD), empty(length, WORD)
    carries = (np.zeros(1, WORD), np.zeros(1, WORD))
    work = compiled.Lengths(selected.args, starts, lengths, length)
    kernel = _lengths_kernel(selected.kind)
    make_space = partial(space_for, uses=(list_rows,))
    walk(kernel, LATEST, work, PAIR, (0, 0), carries, length, make_space=make_space)
    count = int(carries[0][0])
    return shrink(starts, count), shrink(lengths, count)


def repeat(lengths: np.ndarray, arrays: list[np.ndarray], beside: int) -> list[np.ndarray]:
    """Repeat entries of arrays; see `kernels.run_length_decode`."""
    _, read = scan(_TOTAL, (lengths,), ScanOptions(), None, write=False, waits=True)
    total, lowest = map(int, read())
    if lowest < 0:
        raise ValueError(f"lengths must not be negative, found {lowest}")
    check_size(total, beside + sum(a.itemsize for a in arrays), outputs.available())
    outs = [empty(total, a.dtype) for a in arrays]
    work = compiled.Repeat(lengths, _table(arrays, outs, None, False)[1:])
    entries = max(1, min(TILE, TILE * len(lengths) // max(total, 1)))
    _walk_counting(_repeat_kernel(), work, len(lengths), tile=entries, elements=total)
    return outs


def _sums(a, b):  # type: ignore[no-untyped-def]
    # compilers take for granted that integers do not wrap around
    return (a[0] + b[0] if a[0] <= MOST - b[0] else MOST, min(a[1], b[1]))


_TOTAL = Operator(_sums, (0, 0), lambda n: (max(n, 0), min(n, 0)), name="total")
"""State: (sum of what is not negative, or MOST if that is less; least number)."""


def _walk_counting(kernel: Kernel, work: Any, length: int, **options: Any) -> int:
    """Let a visitor walk whose state is a count; return the last one."""
    carries = np.zeros(1, WORD)
    walk(kernel, BUILT_IN["add"], work, COUNT, 0, carries, length, **options)
    return int(carries[0])


def _table(
    arrays: list[np.ndarray],
    kept: list[np.ndarray],
    rest: list[np.ndarray] | None,
    positions: bool,
) -> np.ndarray:
    """One row a column: where it is and where its rows go; the first row is left for `COLUMNS`."""
    table = np.zeros((1 + len(arrays) + positions, len(compiled.COLUMN)), np.int64)
    for i, array in enumerate(arrays, 1):
        move = address(compiled.move, _KINDS[array.itemsize])
        table[i, : compiled.TARGET] = address_of(array), array.strides[0], array.itemsize, move
    if positions:
        table[-1, : compiled.TARGET] = 0, 0, 8, address(compiled.move_positions)
    table[1:, compiled.TARGET] = [address_of(a) for a in kept]
    if rest is not None:
        table[1:, compiled.OTHERS] = [address_of(a) for a in rest]
    return table


_KINDS = {1: "uint8", 2: "uint16", 4: "uint32", 8: "uint64", 16: "complex128"}
"""Numbers that are as wide as an element."""


def _check_in_place(arrays: list[np.ndarray], selection: Any) -> None:
    """Refuse to write over arrays where that would spoil what is yet to be read."""
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
def _compact_kernel(selection: types.Type) -> Kernel:
    words = dict.fromkeys(compiled.Compact._fields, types.int64)
    work = record_type(compiled.Compact, **{**words, "selection": selection})
    return tiles_kernel(BUILT_IN["add"], COUNT, work, SPACE)


@lru_cache(maxsize=4096)
def _flags_kernel(selection: types.Type) -> Kernel:
    out = array_type(np.dtype(np.uint8), layout="C")
    work = record_type(compiled.HeadFlags, selection=selection, out=out)
    return tiles_kernel(BUILT_IN["add"], COUNT, work, SPACE)


@lru_cache(maxsize=4096)
def _lengths_kernel(selection: types.Type) -> Kernel:
    to, word = array_type(WORD, layout="C"), types.int64
    work = record_type(compiled.Lengths, selection=selection, starts=to, lengths=to, length=word)
    return tiles_kernel(LATEST, PAIR, work, SPACE)


@lru_cache(maxsize=1)
def _repeat_kernel() -> Kernel:
    columns = types.Array(types.int64, 2, "C")
    work = record_type(compiled.Repeat, lengths=array_type(WORD, True), columns=columns)
    return tiles_kernel(BUILT_IN["add"], COUNT, work)
