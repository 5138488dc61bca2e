"""Rows of CuPy arrays by position: taken from positions, or put there.

If many rows are put, they are first moved near to their places, by digits of their positions.
"""

from collections.abc import Sequence
from typing import Any

import cupy
import numpy as np

from ..core.device_arrays import readable
from .radix_sort import Sorting, Word, begin, move, position_dtype, rows_at
from .sort_pass import BINS, KeyCode, PackPass, PlacePass
from .tuning import PACKED_FROM, PLACE_BITS, PLACE_BITS_AT_MOST, PLACED_FROM, ROW_BYTES

CARRIED = (1, 2, 4, 8)
"""Bytes of values that are moved along with keys."""


def take(array: Any, positions: Any, fill: Any) -> Any:
    """Return rows by position; see `kernels.take`."""
    array, positions = readable(array), readable(positions)
    if fill is None:
        return rows_at(array, positions)
    if not len(array):
        return cupy.full(len(positions), fill, array.dtype)
    found = rows_at(array, cupy.maximum(positions, 0))
    found[positions < 0] = fill
    return found


def take_all(columns: Sequence[Any], positions: Any) -> list[Any]:
    """Return rows of arrays of one length at these positions, which are about as many as the rows.

    Many rows of several columns are put side by side first, so that one access to memory reads a row of all of them.
    """
    found: list[Any] = [None] * len(columns)
    for group in _side_by_side(columns):
        together = [columns[i] for i in group]
        packs = len(group) > 1 and sum(c.nbytes for c in together) >= PACKED_FROM
        rows = _packed(together, positions) if packs else [rows_at(c, positions) for c in together]
        for i, each in zip(group, rows, strict=True):
            found[i] = each
    return found


def _side_by_side(columns: Sequence[Any]) -> list[list[int]]:
    """Return groups of columns that make rows of at most ROW_BYTES, the widest column of a group first."""
    groups: list[list[int]] = []
    room = 0
    for i in sorted(range(len(columns)), key=lambda i: -columns[i].itemsize):
        size = columns[i].itemsize
        if size > room:
            groups.append([])
            room = ROW_BYTES if size in CARRIED else size
        groups[-1].append(i)
        room -= size
    return groups


def _packed(columns: Sequence[Any], positions: Any) -> list[Any]:
    """Put rows of columns side by side, and take them by position."""
    length, sizes = len(columns[0]), tuple(c.itemsize for c in columns)
    row = max(8, 1 << (sum(sizes) - 1).bit_length())
    packed = cupy.ndarray(length * row, np.uint8)
    pointers = [*(c.data.ptr for c in columns), packed.data.ptr]
    begin((PackPass(sizes, row),), length).run(0, [*pointers, 0])
    found = [cupy.ndarray(len(positions), c.dtype) for c in columns]
    if len(positions):
        pointers = [*(f.data.ptr for f in found), packed.data.ptr, positions.data.ptr]
        begin((PackPass(sizes, row, positions.itemsize),), len(positions)).run(0, pointers)
    return found


def put(rows: Any, positions: Any) -> Any:
    """Return rows at other positions; see `kernels.put`."""
    rows, positions = readable(rows), readable(positions)
    if len(rows) >= PLACED_FROM and rows.itemsize in CARRIED:
        narrow = positions.astype(position_dtype(len(rows)), copy=False)
        return _place(rows.view(f"u{rows.itemsize}"), narrow).view(rows.dtype)
    return move(rows, positions, cupy.ndarray(len(rows), rows.dtype), puts=True)


def _place(rows: Any, positions: Any) -> Any:
    """Put rows at positions, which are a permutation: near to their places by two digits, then in order by tiles.

    Rows have 1, 2, 4 or 8 bytes.
    """
    length = len(rows)
    bits = (length - 1).bit_length()
    low = max(PLACE_BITS, bits - 16)
    shifts = [low, low + 8] if bits - low > 8 else [low]
    # each number below the length occurs once, so the counts of digits are known
    starts = [_starts_of_digit(length, shift) for shift in shifts]
    word = Word(positions, KeyCode(positions.itemsize))
    places, near = Sorting(word, None, rows, False, True, False).run_shifts(shifts, starts)
    out = cupy.ndarray(length, rows.dtype)
    if low > PLACE_BITS_AT_MOST:
        return move(near, places, out, puts=True)
    each = PlacePass(rows.itemsize, positions.itemsize, 1 << low)
    pointers = [near.data.ptr, places.data.ptr, out.data.ptr]
    begin((each,), length).run(0, pointers)
    return out


def _starts_of_digit(length: int, shift: int) -> Any:
    """Return, for each value of the eight bits from `shift` on, how many numbers below a length have a lower one."""
    values = np.arange(BINS, dtype=np.uint64)
    whole, rest = divmod(length, BINS << shift)
    least = np.minimum(values << np.uint64(shift), np.uint64(rest))
    return cupy.asarray(values * np.uint64(whole << shift) + least)
