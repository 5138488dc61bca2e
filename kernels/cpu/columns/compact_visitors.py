"""Visitors that write selected rows after those of earlier tiles: the engine's state is their count.

Rows are first flagged, and their number is the aggregate of the tile; when the count of earlier tiles is known, they
are copied to their places. In place, they are copied to scratch memory before the aggregate is published: no tile
writes before all earlier ones have published, so that nothing is overwritten before it is read. After Merrill and
Garland, NVR-2016-002, sections 4.4 and 5.2.
"""

# Numba reads these functions; annotations would say less than its own types do.
# mypy: disable-error-code="no-untyped-def"

from typing import NamedTuple

import numpy as np

from ...compiler.functions import cached_njit, njit, overloaded
from ...compiler.late import numba
from ..core.elements import cast
from ..core.engine import TICKET, TILE
from ..core.memory import borrow, copy_bytes, elements, read, take_ticket, write
from ..core.packing import ADD_UP, pack_rows
from ..core.shared import call, shared_njit, zero
from ..core.visitors import Visitor, register
from .selection_visitors import (
    BUFFER,
    COUNT_ROWS,
    FLAGS,
    LIST_ROWS,
    OFFSETS,
    SPACE,
    Selected,
    count_selected,
    flag_rows,
    list_selected,
    offset,
)

COLUMN = ("source", "stride", "width", "move", "target", "others")
SOURCE, STRIDE, WIDTH, MOVE, TARGET, OTHERS = range(len(COLUMN))
"""The row of a column: its address, the bytes from element to element, the bytes of an element, the shared function
that copies rows, and the addresses for selected rows and the others."""

COLUMNS = ("table", "number", "split", "in_place")
TABLE, NUMBER, SPLIT, IN_PLACE = range(len(COLUMNS))
"""The row of all columns: the address and the number of rows of `COLUMN`, whether the other rows are written, too, and
whether rows are written over the columns."""

SPARSE = 32
"""If fewer than one row in this many is selected, rows are listed before they are copied. Measured on 4 million
float64, one thread, without AVX-512 (`packing`), nanoseconds for each row, listed and not: 1 % 0.2 and 0.5, 5 % 0.8 and
0.5, 50 % 0.8 and 0.6."""


class Compact(NamedTuple):
    """Writes selected rows of columns to one place and, if rows are split, the others to another place.

    `columns` is the address of the words `COLUMNS`; `move` and `place` are `move_rows` and `place_rows`.
    """

    selection: Selected
    columns: int
    in_place: bool
    move: int
    place: int


@njit
def _observe(work, space, before, first, size):
    flag_rows(work.selection, space, first, size)
    count = count_selected(space, size)
    if work.in_place:
        call(work.move, (work.columns, space.words, 0, count, first, size))
    return cast(count, before) + count, count


@njit
def _emit(work, space, prefix, count, first, size):
    function = work.place if work.in_place else work.move
    before = cast(count, prefix)
    call(function, (work.columns, space.words, before, count, first, size))


@shared_njit
def move_rows(kind, columns, space, prefix, count, first, size):
    """Copy the rows of a tile after those of earlier tiles; in place, to the buffer, column by column."""
    word = np.int64(0)
    known, places = elements(columns, len(COLUMNS), word), elements(space, len(SPACE), word)
    flags, offsets, in_place = places[FLAGS], places[OFFSETS], known[IN_PLACE]
    table = elements(known[TABLE], known[NUMBER] * len(COLUMN), word)
    starts = 0 if in_place else prefix, count if in_place else first - prefix
    for others in range(1 + known[SPLIT]):
        if others:
            call(places[COUNT_ROWS], (flags, size, 1))
            count = size - count
        listed = count * SPARSE < size
        if listed:
            call(places[LIST_ROWS], (flags, size, offsets))
        buffer = places[BUFFER]
        for c in range(known[NUMBER]):
            column = table[c * len(COLUMN) :]
            width = column[WIDTH]
            target = buffer if in_place else column[OTHERS if others else TARGET]
            target += (starts[1] if others else starts[0]) * width
            source = column[SOURCE] + first * column[STRIDE]
            rows = (offsets, 0) if listed else (flags, size)
            call(column[MOVE], (source, column[STRIDE], width, first) + rows + (count, target))
            buffer += size * width
    return 0


@shared_njit
def place_rows(kind, columns, space, prefix, count, first, size):
    """Copy the rows of a tile from the buffer after those of earlier tiles."""
    word = np.int64(0)
    known, places = elements(columns, len(COLUMNS), word), elements(space, len(SPACE), word)
    table = elements(known[TABLE], known[NUMBER] * len(COLUMN), word)
    buffer = places[BUFFER]
    for c in range(known[NUMBER]):
        column = table[c * len(COLUMN) :]
        width = column[WIDTH]
        copy_bytes(column[TARGET] + prefix * width, buffer, count * width)
        if known[SPLIT]:
            others = column[OTHERS] + (first - prefix) * width
            copy_bytes(others, buffer + count * width, (size - count) * width)
        buffer += size * width
    return 0


@shared_njit
def move(kind, source, stride, width, first, rows, size, count, target):
    """Copy selected elements, as wide as a kind of numbers; see `_move_as`."""
    _move_as(source, stride, width, rows, size, count, target, zero(kind))
    return 0


@shared_njit
def move_positions(kind, source, stride, width, first, rows, size, count, target):
    """Write the positions of selected rows; see `_move_as`."""
    _move_as(first, 0, width, rows, size, count, target, None)
    return 0


@njit
def _move_as(source, stride, width, rows, size, count, target, like):
    """Copy `count` selected rows; `rows` are their flags or, with `size` 0, their offsets.

    By flags, every row is copied to the next free place, and only a selected row keeps it, so that there is no branch.
    The last eight rows with a selected one are copied differently, as another tile's places follow.
    """
    if size == 0:
        for k in range(count):
            _put(source, stride, offset(rows, k), target + k * width, like)
        return
    begin, packed = pack_rows(source, stride, width, rows, count, target, like)
    if packed == count:
        return
    target += packed * width
    last = (size - 1) & -8
    while read(rows + last, np.uint64(0)) == 0:
        last -= 8
    for row in range(begin, last, 8):
        # byte `i` says how many of the rows up to `i` are selected
        selected = np.int64(read(rows + row, np.uint64(0)) * ADD_UP)
        _put(source, stride, row, target, like)
        for i in range(1, 8):
            _put(source, stride, row + i, target + width * (selected >> 8 * i - 8 & 255), like)
        target += width * (selected >> 56 & 255)
    for row in range(last, min(last + 8, size)):
        if read(rows + row, np.uint8(0)) != 0:
            _put(source, stride, row, target, like)
            target += width


def _put(source, stride, i, target, like):
    """Write element `i` of a column of the type of `like`; for None, the number `source` + `i`."""


@overloaded(_put)
def _put_element_or_number(source, stride, i, target, like):
    if isinstance(like, numba.types.NoneType):
        return lambda source, stride, i, target, like: write(target, source + i)
    return lambda source, stride, i, target, like: write(target, read(source + i * stride, like))


register(Compact, Visitor(_observe, _emit))


@cached_njit
def write_flags(selection, space, out, control):
    """Write which rows are selected."""
    selection, space, out, control = (
        borrow(selection),
        borrow(space),
        borrow(out),
        borrow(control),
    )
    while True:
        first = take_ticket(control, TICKET) * TILE
        if first >= len(out):
            break
        size = len(out) - first
        size = size if size < TILE else TILE
        flag_rows(selection, space, first, size)
        flags = elements(space.flags, size, np.uint8(0))
        for i in range(size):  # slices take 2 s to compile
            out[np.uintp(first + i)] = flags[i]


class Lengths(NamedTuple):
    """Writes the positions of selected rows, and the distance from each to the next; its state is that of `LATEST`."""

    selection: Selected
    starts: np.ndarray
    lengths: np.ndarray
    length: int


@njit
def _observe_lengths(work, space, before, first, size):
    flag_rows(work.selection, space, first, size)
    count = list_selected(space, size)
    latest = first + offset(space.offsets, count - 1) if count > 0 else cast(first, before[1])
    return (cast(count, before[0]) + count, latest), count


@njit
def _emit_lengths(work, space, prefix, count, first, size):
    if count == 0:
        return
    starts, lengths, offsets = work.starts, work.lengths, space.offsets
    runs, latest = cast(np.int64(0), prefix[0]), cast(np.int64(0), prefix[1])
    if runs > 0:
        lengths[runs - 1] = first + offset(offsets, 0) - latest
    for k in range(count):
        starts[runs + k] = first + offset(offsets, k)
    for k in range(count - 1):
        lengths[runs + k] = offset(offsets, k + 1) - offset(offsets, k)


@njit
def _finish_lengths(work, prefix):
    runs, latest = cast(np.int64(0), prefix[0]), cast(np.int64(0), prefix[1])
    if runs > 0:
        work.lengths[runs - 1] = work.length - latest


register(Lengths, Visitor(_observe_lengths, _emit_lengths, finish=_finish_lengths))
