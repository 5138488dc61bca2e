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

from .calls import OPTIONS, cached_njit
from .marking import list_marked, list_others, mark, offset
from .memory import copy_bytes, elements, read, write
from .shared import call, zero
from .visitors import Visitor, register

COLUMN = ("source", "stride", "width", "gather", "target", "others")
SOURCE, STRIDE, WIDTH, GATHER, TARGET, OTHERS = range(len(COLUMN))
"""What is known of a column: where it is, bytes from element to element, bytes an element, the shared function that
gathers rows, and where marked rows and the others go."""


class Compact(NamedTuple):
    """Marked rows of columns go to one place and, if `split`, the others to another."""

    marks: Any
    columns: Any
    split: Any
    in_place: Any


@numba.njit(**OPTIONS)
def _observe(work, space, seed, first, size):
    mark(work.marks, space, first, size)
    count = list_marked(space, size)
    if work.split:
        list_others(space, size)
    if work.in_place:
        columns, buffer = work.columns, space.buffer
        for c in range(len(columns)):
            width = columns[c, WIDTH]
            _gather(columns[c], first, space.marked, count, buffer)
            if work.split:
                _gather(columns[c], first, space.others, size - count, buffer + count * width)
            buffer += size * width
    return seed + count, count


@numba.njit(**OPTIONS)
def _emit(work, space, prefix, count, first, size):
    columns = work.columns
    buffer = space.buffer
    for c in range(len(columns)):
        width = columns[c, WIDTH]
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
    source = column[SOURCE] + first * column[STRIDE]
    call(
        column[GATHER],
        (source, column[STRIDE], column[WIDTH], first, offsets, count, target),
    )


@cached_njit
def gather(kind, source, stride, width, first, offsets, count, target):
    """Copy elements as wide as a kind of numbers."""
    for k in range(count):
        write(target + k * width, read(source + offset(offsets, k) * stride, zero(kind)))
    return 0


@cached_njit
def gather_positions(kind, source, stride, width, first, offsets, count, target):
    """Write where the rows are."""
    for k in range(count):
        write(target + k * width, first + offset(offsets, k))
    return 0


register(Compact, Visitor(_observe, _emit))


class Heads(NamedTuple):
    """Marks themselves are written."""

    marks: Any
    out: Any


@numba.njit(**OPTIONS)
def _observe_heads(work, space, seed, first, size):
    mark(work.marks, space, first, size)
    work.out[first : first + size] = elements(space.flags, size, np.uint8(0))
    return seed, 0


register(Heads, Visitor(_observe_heads))


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
    latest = first + offset(space.marked, count - 1) if count > 0 else seed[1]
    return (seed[0] + count, latest), count


@numba.njit(**OPTIONS)
def _emit_lengths(work, space, prefix, count, first, size):
    if count == 0:
        return
    starts, lengths, marked = work.starts, work.lengths, space.marked
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
