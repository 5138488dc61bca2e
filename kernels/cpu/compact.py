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
from . import compact_visitors as compiled
from . import outputs
from .engine import TILE
from .launch import array_type, walk
from .memory import address_of
from .outputs import empty, shrink
from .scan import scan
from .selection import SPACE, kernel_selection, space_for
from .shared import address
from .visitors import work_type

WORD = np.dtype(np.int64)
_TABLE = types.Array(types.int64, 2, "C")


def compact(
    arrays: list[np.ndarray], selection: Selection, split: bool, positions: bool, in_place: bool
) -> tuple[list[np.ndarray], list[np.ndarray] | None]:
    """Return the selected rows of arrays and, if `split`, the other ones; see `kernels.partition`."""
    kernel_args, kind, length, keepalive = kernel_selection(selection)
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
    widths = [a.itemsize for a in [*arrays, *numbers]]
    work = compiled.Compact(
        kernel_args,
        address_of(table),
        len(table),
        split,
        in_place,
        address(compiled.move_rows),
        address(compiled.place_rows),
    )
    bytes_a_row = sum(widths) * in_place
    space = partial(space_for, bytes_a_row=bytes_a_row), SPACE
    count = int(_walk_counting(work, _compact_type(kind), length, space=space)[0])
    del keepalive, table
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
    kernel_args, kind, length, keepalive = kernel_selection(selection)
    out = empty(length, np.bool_) if out is None else out
    _walk_counting(
        compiled.HeadFlags(kernel_args, out.view(np.uint8)),
        _head_flags_type(kind),
        length,
        space=(space_for, SPACE),
    )
    del keepalive
    return out


def run_lengths(runs: Runs) -> tuple[np.ndarray, np.ndarray]:
    """Return where runs start and how long they are; see `kernels.run_length_encode`."""
    kernel_args, kind, length, keepalive = kernel_selection(runs)
    starts, lengths = empty(length, WORD), empty(length, WORD)
    carries = (np.zeros(1, WORD), np.zeros(1, WORD))
    work = compiled.Lengths(kernel_args, starts, lengths, length)
    walk(
        LATEST,
        (WORD, WORD),
        False,
        work,
        _lengths_type(kind),
        (0, 0),
        carries,
        length,
        space=(space_for, SPACE),
    )
    del keepalive
    return shrink(starts, int(carries[0][0])), shrink(lengths, int(carries[0][0]))


def repeat(lengths: np.ndarray, arrays: list[np.ndarray], beside: int) -> list[np.ndarray]:
    """Repeat entries of arrays; see `kernels.run_length_decode`."""
    _, read = scan(_TOTAL, (lengths,), ScanOptions(), None, write=False, waits=True)
    total, lowest = map(int, read())
    if lowest < 0:
        raise ValueError(f"lengths must not be negative, found {lowest}")
    check_size(total, beside + sum(a.itemsize for a in arrays), outputs.available())
    outs = [empty(total, a.dtype) for a in arrays]
    work = compiled.Repeat(lengths, _table(arrays, outs, None, False))
    entries = max(1, min(TILE, TILE * len(lengths) // max(total, 1)))
    _walk_counting(work, _repeat_type(), len(lengths), tile=entries, elements=total)
    return outs


def _sums(a: Any, b: Any) -> Any:
    # compilers take for granted that integers do not wrap around
    return (a[0] + b[0] if a[0] <= MOST - b[0] else MOST, min(a[1], b[1]))


_TOTAL = Operator(_sums, (0, 0), lambda n: (max(n, 0), min(n, 0)), name="total")
"""State: (sum of what is not negative, or MOST if that is less; least number)."""


def _walk_counting(work: Any, kind: Any, length: int, **options: Any) -> np.ndarray:
    """Let a visitor walk whose state is a count; return the last one."""
    carries = np.zeros(1, WORD)
    walk(BUILT_IN["add"], (WORD,), True, work, kind, 0, carries, length, **options)
    return carries


def _table(
    arrays: list[np.ndarray],
    kept: list[np.ndarray],
    rest: list[np.ndarray] | None,
    positions: bool,
) -> np.ndarray:
    """One row a column: where it is and where its rows go."""
    table = np.zeros((len(arrays) + positions, len(compiled.COLUMN)), np.int64)
    for i, array in enumerate(arrays):
        move = address(compiled.move, _KINDS[array.itemsize])
        table[i, : compiled.TARGET] = address_of(array), array.strides[0], array.itemsize, move
    if positions:
        table[-1, : compiled.TARGET] = 0, 0, 8, address(compiled.move_positions)
    table[:, compiled.TARGET] = [address_of(a) for a in kept]
    if rest is not None:
        table[:, compiled.OTHERS] = [address_of(a) for a in rest]
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


# --- types of the visitors ---------------------------------------------------------------------------


@lru_cache(maxsize=4096)
def _compact_type(selection: Any) -> Any:
    words = dict.fromkeys(compiled.Compact._fields[1:], types.int64)
    return work_type(compiled.Compact, selection=selection, **words)


@lru_cache(maxsize=4096)
def _head_flags_type(selection: Any) -> Any:
    return work_type(
        compiled.HeadFlags, selection=selection, out=array_type(np.dtype(np.uint8), layout="C")
    )


@lru_cache(maxsize=4096)
def _lengths_type(selection: Any) -> Any:
    positions = array_type(WORD, layout="C")
    return work_type(
        compiled.Lengths,
        selection=selection,
        starts=positions,
        lengths=positions,
        length=types.int64,
    )


@lru_cache(maxsize=1)
def _repeat_type() -> Any:
    return work_type(compiled.Repeat, lengths=array_type(WORD, True), columns=_TABLE)
