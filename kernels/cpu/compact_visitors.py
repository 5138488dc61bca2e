"""Visitors that write marked rows where the rows marked before them end: the engine's state is their count.

Rows are first marked, and how many is the tile's aggregate; once the count of the tiles before it is known, they
are copied to their place. In place, they are copied to scratch memory before the aggregate is published: no
tile writes before all earlier ones have published, so nothing is overwritten that has not been read. Merrill
and Garland, NVR-2016-002, sections 4.4 and 5.2. This module must never know what marks rows.
"""

# Numba reads these functions; annotations would say less than its own types do.
# mypy: disable-error-code="no-untyped-def"

from typing import Any, NamedTuple

import numba
import numpy as np
from numba.core import types
from numba.extending import overload

from ..jit import OPTIONS, cached_njit
from .memory import copy_bytes, elements, read, write
from .packing import ADD_UP, pack_rows
from .selection_visitors import count_selected, flag_rows, list_selected, offset
from .shared import call, zero
from .visitors import Visitor, register

COLUMN = ("source", "stride", "width", "move", "target", "others")
SOURCE, STRIDE, WIDTH, MOVE, TARGET, OTHERS = range(len(COLUMN))
"""What is known of a column: where it is, bytes from element to element, bytes an element, the shared function that
copies rows, and where marked rows and the others go."""

SPARSE = 32
"""Where fewer rows than one in so many are marked, they are listed before they are copied. Measured on 4 million
float64, one thread, without AVX-512 (`packing`), nanoseconds a row, listed and not: 1 % 0.2 and 0.5, 5 % 0.8 and 0.5,
50 % 0.8 and 0.6."""


class Compact(NamedTuple):
    """Marked rows of columns go to one place and, if `split`, the others to another.

    `columns` is where `number` rows of `COLUMN` are; `move` and `place` are `move_rows` and `place_rows`.
    """

    selection: Any
    columns: Any
    number: Any
    split: Any
    in_place: Any
    move: Any
    place: Any


@numba.njit(**OPTIONS)
def _observe(work, space, seed, first, size):
    flag_rows(work.selection, space, first, size)
    count = count_selected(space, size)
    if work.in_place:
        _move(work, space, 0, count, first, size)
    return seed + count, count


@numba.njit(**OPTIONS)
def _emit(work, space, prefix, count, first, size):
    if work.in_place:
        known = work.columns, work.number, work.split, space.buffer
        call(work.place, known + (prefix, count, first, size))
    else:
        _move(work, space, prefix, count, first, size)


@numba.njit(**OPTIONS)
def _move(work, space, prefix, count, first, size):
    call(
        work.move,
        (work.columns, work.number, work.split, work.in_place)
        + (space.flags, space.offsets, space.buffer, space.counts, space.lists)
        + (prefix, count, first, size),
    )


@cached_njit
def move_rows(
    kind, columns, number, split, in_place, flags, marked, buffer, counts, lists,
    prefix, count, first, size,
):  # fmt: skip
    """Copy the rows of a tile behind those before them; in place, to the buffer, column by column."""
    columns = elements(columns, number * len(COLUMN), np.int64(0))
    places = 0 if in_place else prefix, count if in_place else first - prefix
    for others in range(1 + split):
        if others:
            call(counts, (flags, size, 1))
            count = size - count
        listed = count * SPARSE < size
        if listed:
            call(lists, (flags, size, marked))
        held = buffer
        for c in range(number):
            column = columns[c * len(COLUMN) :]
            width = column[WIDTH]
            target = held if in_place else column[OTHERS if others else TARGET]
            target += (places[1] if others else places[0]) * width
            source = column[SOURCE] + first * column[STRIDE]
            marks = (marked, 0) if listed else (flags, size)
            known = source, column[STRIDE], width, first
            call(column[MOVE], known + marks + (count, target))
            held += size * width
    return 0


@cached_njit
def place_rows(kind, columns, number, split, buffer, prefix, count, first, size):
    """Copy the rows of a tile from the buffer behind those before them."""
    columns = elements(columns, number * len(COLUMN), np.int64(0))
    for c in range(number):
        column = columns[c * len(COLUMN) :]
        width = column[WIDTH]
        copy_bytes(column[TARGET] + prefix * width, buffer, count * width)
        if split:
            others = column[OTHERS] + (first - prefix) * width
            copy_bytes(others, buffer + count * width, (size - count) * width)
        buffer += size * width
    return 0


@cached_njit
def move(kind, source, stride, width, first, marks, size, count, target):
    """Copy marked elements, as wide as a kind of numbers; see `_move_as`."""
    _move_as(source, stride, width, marks, size, count, target, zero(kind))
    return 0


@cached_njit
def move_positions(kind, source, stride, width, first, marks, size, count, target):
    """Write where the marked rows are; see `_move_as`."""
    _move_as(first, 0, width, marks, size, count, target, None)
    return 0


@numba.njit(**OPTIONS)
def _move_as(source, stride, width, marks, size, count, target, like):
    """Copy `count` marked rows, of which `marks` are the flags; with `size` 0, the offsets.

    By flags, every row is copied to the next free place, which it takes if it is marked: there is no branch to
    mispredict. The last eight rows that have a marked one are different: behind its place are another tile's.
    """
    if size == 0:
        for k in range(count):
            _put(source, stride, offset(marks, k), target + k * width, like)
        return
    begin, packed = pack_rows(source, stride, width, marks, count, target, like)
    if packed == count:
        return
    target += packed * width
    last = (size - 1) & -8
    while read(marks + last, np.uint64(0)) == 0:
        last -= 8
    for row in range(begin, last, 8):
        # byte `i` says how many of the rows up to `i` are marked
        marked = np.int64(read(marks + row, np.uint64(0)) * ADD_UP)
        _put(source, stride, row, target, like)
        for i in range(1, 8):
            _put(source, stride, row + i, target + width * (marked >> 8 * i - 8 & 255), like)
        target += width * (marked >> 56 & 255)
    for row in range(last, min(last + 8, size)):
        if read(marks + row, np.uint8(0)) != 0:
            _put(source, stride, row, target, like)
            target += width


def _put(source, stride, i, target, like):
    """Write element `i` of a column of the type of `like`; of None, the number `i` counted from `source`."""


@overload(_put, jit_options={"no_cfunc_wrapper": True})
def _put_element_or_number(source, stride, i, target, like):
    if isinstance(like, types.NoneType):
        return lambda source, stride, i, target, like: write(target, source + i)
    return lambda source, stride, i, target, like: write(target, read(source + i * stride, like))


register(Compact, Visitor(_observe, _emit))


class HeadFlags(NamedTuple):
    """Which rows are selected is written as flags."""

    selection: Any
    out: Any


@numba.njit(**OPTIONS)
def _observe_head_flags(work, space, seed, first, size):
    flag_rows(work.selection, space, first, size)
    work.out[first : first + size] = elements(space.flags, size, np.uint8(0))
    return seed, 0


register(HeadFlags, Visitor(_observe_head_flags))


class Lengths(NamedTuple):
    """Marked rows' positions are written, and how far it is from each to the next; the state is `LATEST`'s."""

    selection: Any
    starts: Any
    lengths: Any
    length: Any


@numba.njit(**OPTIONS)
def _observe_lengths(work, space, seed, first, size):
    flag_rows(work.selection, space, first, size)
    count = list_selected(space, size)
    latest = first + offset(space.offsets, count - 1) if count > 0 else seed[1]
    return (seed[0] + count, latest), count


@numba.njit(**OPTIONS)
def _emit_lengths(work, space, prefix, count, first, size):
    if count == 0:
        return
    starts, lengths, marked = work.starts, work.lengths, space.offsets
    runs, latest = prefix
    if runs > 0:
        lengths[runs - 1] = first + offset(marked, 0) - latest
    for k in range(count):
        starts[runs + k] = first + offset(marked, k)
    for k in range(count - 1):
        lengths[runs + k] = offset(marked, k + 1) - offset(marked, k)


@numba.njit(**OPTIONS)
def _finish_lengths(work, prefix):
    runs, latest = prefix
    if runs > 0:
        work.lengths[runs - 1] = work.length - latest


register(Lengths, Visitor(_observe_lengths, _emit_lengths, finish=_finish_lengths))


class Repeat(NamedTuple):
    """Entries of columns are written as often as `lengths` says; the state is the sum of the lengths."""

    lengths: Any
    columns: Any


@numba.njit(**OPTIONS)
def _observe_repeat(work, space, seed, first, size):
    total = 0
    for i in range(first, first + size):
        total += work.lengths[np.uintp(i)]
    return seed + total, 0


@numba.njit(**OPTIONS)
def _emit_repeat(work, space, prefix, memo, first, size):
    columns = work.columns
    for c in range(len(columns)):
        width, stride = columns[c, WIDTH], columns[c, STRIDE]
        source, target = columns[c, SOURCE], columns[c, TARGET]
        if width == 1:
            _repeat_as(work.lengths, source, stride, target, 1, prefix, first, size, np.uint8(0))
        elif width == 2:
            _repeat_as(work.lengths, source, stride, target, 2, prefix, first, size, np.uint16(0))
        elif width == 4:
            _repeat_as(work.lengths, source, stride, target, 4, prefix, first, size, np.uint32(0))
        elif width == 8:
            _repeat_as(work.lengths, source, stride, target, 8, prefix, first, size, np.uint64(0))
        else:
            _repeat_as(
                work.lengths, source, stride, target, 16, prefix, first, size, np.complex128(0)
            )


@numba.njit(**OPTIONS)
def _repeat_as(lengths, source, stride, target, width, prefix, first, size, like):
    at = target + prefix * width
    for i in range(first, first + size):
        count = lengths[np.uintp(i)]
        elements(at, count, like)[:] = read(source + i * stride, like)
        at += count * width


register(Repeat, Visitor(_observe_repeat, _emit_repeat))
