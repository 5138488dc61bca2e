"""Marking the rows of a tile: by a bool array, by runs of keys, or by a predicate that is compiled in.

What marks rows is a named tuple; `mark` is resolved by Numba from its class and sets one flag a row in the
scratch memory of the thread, from which `list_marked` makes the rows' offsets in the tile. This module must
never know what is done with marked rows.
"""

# Numba reads these functions; annotations would say less than its own types do.
# mypy: disable-error-code="no-untyped-def"

from typing import Any, NamedTuple

import numba
import numpy as np
from numba.core import types
from numba.extending import overload

from .calls import OPTIONS, is_nan, is_null, lift, load
from .engine import TILE
from .memory import elements, read

OFFSET = np.uint16
"""The type of a row's offset in a tile: a tile has at most 65528 rows."""


class Given(NamedTuple):
    """Marks are the elements of an array."""

    keep: Any


class Runs(NamedTuple):
    """Marks are the first rows of runs of equal keys, or the last ones; `keys` has one row of `KEY` a key."""

    keys: Any
    length: Any
    last: Any
    continues: Any


class Where(NamedTuple):
    """Marks are the rows that an operator lifts to true."""

    op: Any
    inputs: Any
    nulls: Any


KEY = ("kind", "address", "border", "mask", "offset", "shift", "null", "null_border")
KIND, ADDRESS, BORDER, MASK, SHIFTED, SHIFT, NULL, NULL_BORDER = range(len(KEY))
"""What is known of a key: how it is compared (`KINDS`), where it is, where the last elements of all tiles were
copied to, and its mask, if any, as in `kernels.nulls.Mask`. Borders are copies because the key may be
overwritten, in place, by the time the next tile looks at it."""

KINDS = {
    key: code
    for code, key in enumerate(("u1", "u2", "u4", "u8", "f4", "f8", "c8", "c16"))
}  # fmt: skip


class Space(NamedTuple):
    """Scratch memory of a thread: a flag a row, also as words of eight; nulls; offsets of the rows."""

    flags: Any
    words: Any
    nulls: Any
    marked: Any
    others: Any
    buffer: Any
    states: Any


@numba.njit(**OPTIONS)
def space_for(tile, bytes_a_row, states):
    """Allocate the scratch memory for tiles of `tile` rows."""
    words = np.empty((tile + 15) // 8, np.uint64)
    return Space(
        words.view(np.uint8),
        words,
        np.empty(tile, np.uint8),
        np.empty(tile + 8, OFFSET),
        np.empty(tile + 8, OFFSET),
        np.empty(tile * bytes_a_row, np.uint8),
        states,
    )


def mark(marks, space, first, size):
    """Set the flags of the tile of `size` rows that starts at `first`."""


@overload(mark)
def _mark(marks, space, first, size):
    function = {Given: _mark_given, Runs: _mark_runs, Where: _mark_where}[marks.instance_class]
    return lambda marks, space, first, size: function(marks, space, first, size)


@numba.njit(**OPTIONS)
def list_marked(space, size):
    """List the offsets of the marked rows of a tile; return how many there are."""
    flags, words, marked = space.flags, space.words, space.marked
    flags[size : size + 8] = 0
    count = 0
    for word in range((size + 7) // 8):
        if words[word] != 0:
            for i in range(8 * word, 8 * word + 8):  # no branch: marks may come in no order
                marked[count] = i
                count += np.int64(flags[i])
    return count


@numba.njit(**OPTIONS)
def list_others(space, size):
    """List the offsets of the rows of a tile that are not marked."""
    flags, others = space.flags, space.others
    count = 0
    for i in range(size):
        others[count] = i
        count += 1 - np.int64(flags[i])


# --- a bool array, a predicate ----------------------------------------------------------------------


@numba.njit(**OPTIONS)
def _mark_given(marks, space, first, size):
    keep, flags = marks.keep, space.flags
    for i in range(size):
        flags[i] = keep[np.uintp(first + i)] != 0


@numba.njit(**OPTIONS)
def _mark_where(marks, space, first, size):
    op, inputs, nulls, flags = marks.op, marks.inputs, marks.nulls, space.flags
    for i in range(size):
        row = load(inputs, first + i)
        flags[i] = lift(op, row) & (not any_null(nulls, row, first + i))


def any_null(nulls, row, i):
    """Tell whether any part of row `i` is missing, by the nulls of each."""


@overload(any_null)
def _any_null(nulls, row, i):
    if not isinstance(row, types.BaseTuple):
        return lambda nulls, row, i: is_null(nulls[0], row, i)
    if len(row) == 1:
        return lambda nulls, row, i: is_null(nulls[0], row[0], i)
    return lambda nulls, row, i: is_null(nulls[0], row[0], i) | any_null(nulls[1:], row[1:], i)


# --- runs of keys -----------------------------------------------------------------------------------


@numba.njit(**OPTIONS)
def _mark_runs(marks, space, first, size):
    keys, flags = marks.keys, space.flags
    flags[:size] = 0
    for k in range(len(keys)):
        kind = keys[k, KIND]
        # each kind has its own loop; numbers are compared as they are, all else bit by bit
        if kind == 0:
            _mark_key(marks, keys[k], space, first, size, np.uint8(0))
        elif kind == 1:
            _mark_key(marks, keys[k], space, first, size, np.uint16(0))
        elif kind == 2:
            _mark_key(marks, keys[k], space, first, size, np.uint32(0))
        elif kind == 3:
            _mark_key(marks, keys[k], space, first, size, np.uint64(0))
        elif kind == 4:
            _mark_key(marks, keys[k], space, first, size, np.float32(0))
        elif kind == 5:
            _mark_key(marks, keys[k], space, first, size, np.float64(0))
        elif kind == 6:
            _mark_key(marks, keys[k], space, first, size, np.complex64(0))
        else:
            _mark_key(marks, keys[k], space, first, size, np.complex128(0))
    if marks.last and first + size == marks.length:
        flags[size - 1] = not marks.continues
    elif first == 0 and not marks.last:
        flags[0] = not marks.continues


@numba.njit(**OPTIONS)
def _mark_key(marks, key, space, first, size, like):
    """Mark the rows of a tile that differ in one key from the row before (`last`: after) them."""
    x = elements(key[ADDRESS], marks.length, like)
    flags, nulls = space.flags, space.nulls
    to = 0 if marks.last else 1
    masked = key[MASK] != 0
    if masked:
        for i in range(size):
            nulls[i] = _is_masked(key, first + i)
        for i in range(size - 1):
            one_null = nulls[i] != nulls[i + 1]
            different = _differ(x[first + i], x[first + i + 1])
            flags[to + i] |= one_null | (different & (nulls[i] == 0))
    else:
        for i in range(size - 1):
            flags[to + i] |= _differ(x[first + i], x[first + i + 1])
    width = x.itemsize
    if marks.last and first + size < marks.length:
        here, there = x[first + size - 1], x[first + size]
        null = masked and nulls[size - 1] != 0
        null_there = masked and _is_masked(key, first + size)
        flags[size - 1] |= (null != null_there) | ((not null) & _differ(here, there))
    elif first > 0 and not marks.last:
        border = first // TILE - 1
        here, there = x[first], read(key[BORDER] + border * width, like)
        null = masked and nulls[0] != 0
        null_there = masked and read(key[NULL_BORDER] + border, np.uint8(0)) != 0
        flags[0] |= (null != null_there) | ((not null) & _differ(here, there))


@numba.njit(**OPTIONS)
def _is_masked(key, i):
    at = key[SHIFTED] + i
    low = (1 << key[SHIFT]) - 1
    byte = np.int64(read(key[MASK] + (at >> key[SHIFT]), np.uint8(0)))
    return ((byte >> (at & low)) & 1) == key[NULL]


@numba.njit(**OPTIONS)
def _differ(a, b):
    return (a != b) & (not (is_nan(a) & is_nan(b)))
