"""From marked rows of NumPy arrays to compacted arrays.

Where it is not known how many rows are marked, outputs are made for all of them and cut to what was marked. This
module must never loop over elements.
"""

from functools import lru_cache, partial
from typing import Any

import numpy as np
from numba.core import types

from ..arrays import MOST, check_size
from ..built_in import BUILT_IN
from ..counted import LATEST
from ..marks import Runs
from ..operators import Operator
from . import compacting
from .available import available
from .engine import TILE
from .launch import array_type, run, walk
from .marks import SPACE, marks_of, space_for
from .memory import address_of
from .outputs import cut, room
from .shared import address
from .visitors import work_type

WORD = np.dtype(np.int64)
_TABLE = types.Array(types.int64, 2, "C")


def compact(
    arrays: list[np.ndarray], marks: Any, split: bool, positions: bool, in_place: bool
) -> tuple[list[np.ndarray], list[np.ndarray] | None]:
    """Return the marked rows of arrays and, if `split`, the other ones; see `kernels.partition`."""
    told, kind, length, alive = marks_of(marks)
    if in_place:
        _check_in_place(arrays, marks)
    numbers = [np.broadcast_to(np.int64(0), length)] * positions
    # flags are counted faster than memory that is not needed is given back
    known = int(np.count_nonzero(marks)) if isinstance(marks, np.ndarray) else None
    most, others = (length, length) if known is None else (known, length - known)
    kept = list(arrays) if in_place else [room(most, a.dtype) for a in arrays]
    kept += [room(most, n.dtype) for n in numbers]
    rest = [room(others, a.dtype) for a in [*arrays, *numbers]] if split else None
    table = _table(arrays, kept, rest, positions)
    widths = [a.itemsize for a in [*arrays, *numbers]]
    work = compacting.Compact(
        told,
        address_of(table),
        len(table),
        split,
        in_place,
        address(compacting.move_rows),
        address(compacting.place_rows),
    )
    bytes_a_row = sum(widths) * in_place
    space = partial(space_for, bytes_a_row=bytes_a_row), SPACE
    count = int(_counted(work, _compact_type(kind), length, space=space)[0])
    del alive, table
    for i, out in enumerate(kept):
        kept[i] = out[:count] if in_place and i < len(arrays) else cut(out, count)
    if rest is not None:
        for i, out in enumerate(rest):
            rest[i] = cut(out, length - count)
            if in_place and i < len(arrays):
                arrays[i][count:] = rest[i]
                rest[i] = arrays[i][count:]
    return kept, rest


def heads(marks: Any, out: np.ndarray | None = None) -> np.ndarray:
    """Return the marks as an array of bool; see `kernels.heads` and `kernels.flags`."""
    told, kind, length, alive = marks_of(marks)
    out = room(length, np.bool_) if out is None else out
    _counted(
        compacting.Heads(told, out.view(np.uint8)),
        _heads_type(kind),
        length,
        space=(space_for, SPACE),
    )
    del alive
    return out


def run_lengths(marks: Runs) -> tuple[np.ndarray, np.ndarray]:
    """Return where runs start and how long they are; see `kernels.run_length_encode`."""
    told, kind, length, alive = marks_of(marks)
    starts, lengths = room(length, WORD), room(length, WORD)
    carries = (np.zeros(1, WORD), np.zeros(1, WORD))
    work = compacting.Lengths(told, starts, lengths, length)
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
    del alive
    return cut(starts, int(carries[0][0])), cut(lengths, int(carries[0][0]))


def repeat(lengths: np.ndarray, arrays: list[np.ndarray], beside: int) -> list[np.ndarray]:
    """Repeat entries of arrays; see `kernels.run_length_decode`."""
    total, lowest = (int(field) for field in run(
        _TOTAL, (lengths,), write=False, nulls=None, axis=0, exclusive=False, reverse=False,
        carry_in=None, dtype=None, mark_nulls=False,
    )[1])  # fmt: skip
    if lowest < 0:
        raise ValueError(f"lengths must not be negative, found {lowest}")
    check_size(total, beside + sum(a.itemsize for a in arrays), available())
    outs = [room(total, a.dtype) for a in arrays]
    work = compacting.Repeat(lengths, _table(arrays, outs, None, False))
    entries = max(1, min(TILE, TILE * len(lengths) // max(total, 1)))
    _counted(work, _repeat_type(), len(lengths), tile=entries, elements=total)
    return outs


def _sums(a: Any, b: Any) -> Any:
    # compilers take for granted that integers do not wrap around
    return (a[0] + b[0] if a[0] <= MOST - b[0] else MOST, min(a[1], b[1]))


_TOTAL = Operator(_sums, (0, 0), lambda n: (max(n, 0), min(n, 0)), name="total")
"""State: (sum of what is not negative, or MOST if that is less; least number)."""


def _counted(work: Any, kind: Any, length: int, **options: Any) -> np.ndarray:
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
    table = np.zeros((len(arrays) + positions, len(compacting.COLUMN)), np.int64)
    for i, array in enumerate(arrays):
        move = address(compacting.move, _KINDS[array.itemsize])
        table[i, : compacting.TARGET] = address_of(array), array.strides[0], array.itemsize, move
    if positions:
        table[-1, : compacting.TARGET] = 0, 0, 8, address(compacting.move_positions)
    table[:, compacting.TARGET] = [address_of(a) for a in kept]
    if rest is not None:
        table[:, compacting.OTHERS] = [address_of(a) for a in rest]
    return table


_KINDS = {1: "uint8", 2: "uint16", 4: "uint32", 8: "uint64", 16: "complex128"}
"""Numbers that are as wide as an element."""


def _check_in_place(arrays: list[np.ndarray], marks: Any) -> None:
    """Refuse to write over arrays where that would spoil what is yet to be read."""
    for i, array in enumerate(arrays):
        if not array.flags.writeable:
            raise ValueError(f"in_place: array {i} is read-only")
        if not array.flags.c_contiguous:
            raise ValueError(f"in_place: array {i} is not contiguous")
    read = [*arrays, *(marks.arrays if hasattr(marks, "arrays") else [marks])]
    for i, array in enumerate(arrays):
        for other in read:
            same = address_of(array) == address_of(other) and array.strides == other.strides
            if not same and np.may_share_memory(array, other):
                raise ValueError(f"in_place: array {i} shares a part of another array's memory")


# --- types of the visitors ---------------------------------------------------------------------------


@lru_cache(maxsize=4096)
def _compact_type(marks: Any) -> Any:
    words = dict.fromkeys(compacting.Compact._fields[1:], types.int64)
    return work_type(compacting.Compact, marks=marks, **words)


@lru_cache(maxsize=4096)
def _heads_type(marks: Any) -> Any:
    return work_type(compacting.Heads, marks=marks, out=array_type(np.dtype(np.uint8), layout="C"))


@lru_cache(maxsize=4096)
def _lengths_type(marks: Any) -> Any:
    positions = array_type(WORD, layout="C")
    return work_type(
        compacting.Lengths, marks=marks, starts=positions, lengths=positions, length=types.int64
    )


@lru_cache(maxsize=1)
def _repeat_type() -> Any:
    return work_type(compacting.Repeat, lengths=array_type(WORD, True), columns=_TABLE)
