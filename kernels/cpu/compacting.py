"""Visitors that write marked rows where the rows marked before them end: the engine's state is their count.

Rows are first listed, which makes the tile's aggregate; once the count of the tiles before it is known, they are
gathered to their place. In place, they are gathered to scratch memory before the aggregate is published: no
tile writes before all earlier ones have published, so nothing is overwritten that has not been read. Merrill
and Garland, NVR-2016-002, sections 4.4 and 5.2. This module must never know what marks rows.
"""

# Numba reads these functions; annotations would say less than its own types do.
# mypy: disable-error-code="no-untyped-def"

from typing import Any, NamedTuple

import numba
import numpy as np

from .calls import OPTIONS
from .marking import list_marked, list_others, mark, space_for
from .memory import copy_bytes, elements, read, write
from .visitors import Visitor, register

SOURCE, STRIDE, WIDTH, TARGET, OTHERS = range(5)
"""What is known of a column: where it is, bytes from element to element, bytes an element, and where marked rows
and the others go. A column of width 0 is the rows' own positions."""


class Compact(NamedTuple):
    """Marked rows of columns go to one place and, if `split`, the others to another."""

    marks: Any
    columns: Any
    bytes_a_row: Any
    split: Any
    in_place: Any


@numba.njit(**OPTIONS)
def _prepare(work, tile):
    return space_for(tile, work.bytes_a_row if work.in_place else 0, None)


@numba.njit(**OPTIONS)
def _observe(work, space, seed, first, size):
    mark(work.marks, space, first, size)
    count = list_marked(space, size)
    if work.split:
        list_others(space, size)
    if work.in_place:
        columns, buffer = work.columns, np.int64(space.buffer.ctypes.data)
        for c in range(len(columns)):
            width = max(columns[c, WIDTH], 8 * (columns[c, WIDTH] == 0))
            _gather(columns[c], first, space.marked, count, buffer)
            if work.split:
                _gather(columns[c], first, space.others, size - count, buffer + count * width)
            buffer += size * width
    return seed + count, count


@numba.njit(**OPTIONS)
def _emit(work, space, prefix, count, first, size):
    columns = work.columns
    buffer = np.int64(space.buffer.ctypes.data)
    for c in range(len(columns)):
        width = max(columns[c, WIDTH], 8 * (columns[c, WIDTH] == 0))
        target = columns[c, TARGET] + prefix * width
        others = columns[c, OTHERS] + (first - prefix) * width
        if work.in_place:
            copy_bytes(target, buffer, count * width)
            if work.split:
                copy_bytes(others, buffer + count * width, (size - count) * width)
            buffer += size * width
        else:
            _gather(columns[c], first, space.marked, count, target)
            if work.split:
                _gather(columns[c], first, space.others, size - count, others)


@numba.njit(**OPTIONS)
def _gather(column, first, offsets, count, target):
    """Copy the rows of a tile at `offsets` to one after the other."""
    width, stride = column[WIDTH], column[STRIDE]
    source = column[SOURCE] + first * stride
    if width == 0:
        for k in range(count):
            write(target + 8 * k, first + np.int64(offsets[k]))
    elif width == 1:
        _gather_as(source, stride, offsets, count, target, 1, np.uint8(0))
    elif width == 2:
        _gather_as(source, stride, offsets, count, target, 2, np.uint16(0))
    elif width == 4:
        _gather_as(source, stride, offsets, count, target, 4, np.uint32(0))
    elif width == 8:
        _gather_as(source, stride, offsets, count, target, 8, np.uint64(0))
    else:
        _gather_as(source, stride, offsets, count, target, 16, np.uint64(0))
        _gather_as(source + 8, stride, offsets, count, target + 8, 16, np.uint64(0))


@numba.njit(**OPTIONS)
def _gather_as(source, stride, offsets, count, target, step, like):
    for k in range(count):
        write(target + k * step, read(source + np.int64(offsets[k]) * stride, like))


register(Compact, Visitor(_observe, _emit, _prepare))


class Heads(NamedTuple):
    """Marks themselves are written."""

    marks: Any
    out: Any


@numba.njit(**OPTIONS)
def _prepare_marks(work, tile):
    return space_for(tile, 0, None)


@numba.njit(**OPTIONS)
def _observe_heads(work, space, seed, first, size):
    mark(work.marks, space, first, size)
    work.out[first : first + size] = space.flags[:size]
    return seed, 0


@numba.njit(**OPTIONS)
def _emit_nothing(work, space, prefix, memo, first, size):
    return None


@numba.njit(**OPTIONS)
def _no(work):
    return False


register(Heads, Visitor(_observe_heads, _emit_nothing, _prepare_marks, _no))


class Lengths(NamedTuple):
    """Marked rows' positions are written, and how far it is from each to the next; the state is `LATEST`'s."""

    marks: Any
    starts: Any
    lengths: Any
    length: Any


@numba.njit(**OPTIONS)
def _observe_lengths(work, space, seed, first, size):
    mark(work.marks, space, first, size)
    count = list_marked(space, size)
    latest = first + np.int64(space.marked[count - 1]) if count > 0 else seed[1]
    return (seed[0] + count, latest), count


@numba.njit(**OPTIONS)
def _emit_lengths(work, space, prefix, count, first, size):
    if count == 0:
        return
    starts, lengths, marked = work.starts, work.lengths, space.marked
    runs, latest = prefix
    if runs > 0:
        lengths[runs - 1] = first + np.int64(marked[0]) - latest
    for k in range(count):
        starts[runs + k] = first + np.int64(marked[k])
    for k in range(count - 1):
        lengths[runs + k] = np.int64(marked[k + 1]) - np.int64(marked[k])


@numba.njit(**OPTIONS)
def _finish_lengths(work, prefix):
    runs, latest = prefix
    if runs > 0:
        work.lengths[runs - 1] = work.length - latest


register(Lengths, Visitor(_observe_lengths, _emit_lengths, _prepare_marks, finish=_finish_lengths))


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
