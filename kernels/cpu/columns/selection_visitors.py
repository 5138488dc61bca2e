"""Which rows of a tile are selected: by a bool array, by runs of keys, or by a predicate that is compiled in.

A selection is a named tuple; Numba resolves `flag_rows` from its class. It sets one flag a row in the scratch memory
of the thread, which `count_selected` counts and from which `list_selected` makes the rows' offsets in the tile.
Comparing keys, counting and listing rows are shared functions.
"""

# Numba reads these functions; annotations would say less than its own types do.
# mypy: disable-error-code="no-untyped-def"

from functools import reduce
from typing import Any, NamedTuple

import numpy as np

from ...compiler import argument_types as types
from ...compiler.functions import INPUTS, ROLES, STATES, intrinsic, njit
from ...compiler.late import numba
from ...compiler.tuples import kinds, parts
from ...operators.calls import lift
from ...operators.operator import Operator
from ..core.elements import is_nan, load, null
from ..core.engine import TILE
from ..core.memory import elements, read, write
from ..core.packing import GATHER_BITS
from ..core.shared import call, shared_njit, zero
from ..core.steps import Arrays, KernelNulls
from ..core.visitors import visit

OFFSET = np.uint16
"""The type of a row's offset in a tile: a tile has at most 65520 rows."""


class MaskSelection(NamedTuple):
    """Rows are selected where an array is not zero."""

    keep: np.ndarray


class RunSelection(NamedTuple):
    """The first rows of runs are selected, or the last ones.

    `flag_runs` is the address of what finds them, `flag_runs` or `flag_segments`, and `runs` that of the words `RUNS`.
    """

    flag_runs: int
    runs: int


class PredicateSelection(NamedTuple):
    """The rows that an operator lifts to true are selected."""

    op: Operator
    inputs: Any
    nulls: tuple[KernelNulls, ...]


ROLES[PredicateSelection] = {"op": types.boolean, "inputs": INPUTS}

RUNS = ("keys", "count", "length", "last", "continues")
KEYS, COUNT, LENGTH, LAST, CONTINUES = range(len(RUNS))
"""The row of runs: where `count` rows of `KEY` are, how many rows there are, whether the last row of a run is
selected rather than the first, and whether a run at the border goes on beyond it. Of segments: where `count` offsets
are."""

KEY = (
    *("compare", "address", "width", "border"),
    *("flag_nulls", "mask", "offset", "shift", "null", "null_border"),
)
COMPARE, ADDRESS, WIDTH, BORDER, FLAG_NULLS, MASK, SHIFTED, SHIFT, NULL, NULL_BORDER = range(
    len(KEY)
)
"""The row of a key: the shared function that compares it, where it is, bytes an element, where the last
elements of all tiles were copied to; and of its mask, if any, the address of `flag_nulls`, and what it is, as in
`kernels.nulls.Mask`. Borders are copies because the key may be overwritten, in place, by the time the next tile looks
at it."""

KEY_BYTES = 8 * len(KEY)

SPACE = ("flags", "valid", "offsets", "buffer", "count", "list")
FLAGS, VALID, OFFSETS, BUFFER, COUNT_ROWS, LIST_ROWS = range(len(SPACE))
"""The row of scratch memory: where rows' flags, whether keys are valid, rows' offsets and rows
lie, and the addresses of `count_rows` and `list_rows`."""


class SelectionScratch(NamedTuple):
    """Scratch memory of a thread: its memory, the address of the words `SPACE`, some of these, and arrays of states."""

    memory: np.ndarray
    words: int
    flags: int
    offsets: int
    count_rows: int
    list_rows: int
    states: Arrays | None


ROLES[SelectionScratch] = {"states": STATES}

Selected = MaskSelection | RunSelection | PredicateSelection


@intrinsic
def flag_rows(typing_context, selection, space, first, size):
    """Set the flags of the tile of `size` rows that starts at `first`."""
    by_class = {
        MaskSelection: _flag_mask,
        RunSelection: _flag_run_ends,
        PredicateSelection: _flag_predicate,
    }
    function = by_class[selection.instance_class]
    return visit(typing_context, function, selection, space, first, size)


_BITS = np.arange(256)[:, None] >> np.arange(8) & 1
_PLACES = np.argsort(1 - _BITS, axis=1, kind="stable").astype(OFFSET).view(np.uint64)
"""For eight flags as bits: the places of set flags, and then those of the others; four in each word."""
_FOUR = np.uint64(0x0001000100010001)
"""Multiplied with an offset, repeats it in the four parts of a word."""
_COUNTS = _BITS.sum(axis=1)


@shared_njit
def list_rows(kind, flags, size, offsets):
    """List the offsets of the selected rows of a tile; return how many there are.

    Eight flags at a time choose a line of a table: flags may come in no order that a branch could be
    predicted by.
    """
    like = np.uint64(0)
    write(flags + size, like)
    count = 0
    for word in range((size + 7) // 8):
        bits = (read(flags + 8 * word, like) * GATHER_BITS) >> np.uint64(56)
        if bits == 0:
            continue
        places = np.uint64(8 * word) * _FOUR
        write(offsets + 2 * count, places + _PLACES[bits, 0])
        write(offsets + 2 * count + 8, places + _PLACES[bits, 1])
        count += _COUNTS[bits]
    return count


@shared_njit
def count_rows(kind, flags, size, swap):
    """Return how many rows of a tile are selected; with `swap`, select those that were not, first."""
    write(flags + size, np.uint64(0))
    flags = elements(flags, size, np.uint8(0))
    swap, count = np.uint8(swap), 0
    for i in range(size):
        flags[i] ^= swap
        count += flags[i]
    return count


@njit
def list_selected(space, size):
    """List the offsets of the selected rows of a tile; return how many there are."""
    return call(space.list_rows, (space.flags, size, space.offsets))


@njit
def count_selected(space, size):
    """Return how many rows of a tile are selected."""
    return call(space.count_rows, (space.flags, size, 0))


@njit
def offset(offsets, k):
    """Return one of the offsets that were listed at an address."""
    return np.int64(read(offsets + 2 * k, OFFSET(0)))


# --- a bool array, a predicate ----------------------------------------------------------------------


@njit
def _flag_mask(selection, space, first, size):
    keep, flags = selection.keep, elements(space.flags, size, np.uint8(0))
    for i in range(size):
        flags[i] = keep[np.uintp(first + i)] != 0


@njit
def _flag_predicate(selection, space, first, size):
    op, inputs, nulls = selection.op, selection.inputs, selection.nulls
    flags = elements(space.flags, size, np.uint8(0))
    for i in range(size):
        row = load(inputs, first + i)
        flags[i] = lift(op, row) & (not any_null(nulls, row, first + i))


@intrinsic
def any_null(typing_context, nulls, row, i):
    """Return whether any part of row `i` is missing, by the nulls of each."""

    def codegen(context, builder, signature, args):
        missing, values = parts(builder, nulls, args[0]), parts(builder, row, args[1])
        given = zip(kinds(nulls), kinds(row), strict=True)
        each = zip(given, missing, values, strict=True)
        found = [null(context, builder, kind, one, x, args[2]) for kind, one, x in each]
        return reduce(builder.or_, found)

    return numba.types.boolean(nulls, row, numba.types.int64), codegen


# --- runs of keys -----------------------------------------------------------------------------------


@njit
def _flag_run_ends(selection, space, first, size):
    call(selection.flag_runs, (selection.runs, space.words, first, size))


@shared_njit
def flag_runs(kind, runs, space, first, size):
    """Flag the rows of a tile where runs of keys start or end; `runs` and `space` are addresses of these words."""
    word = np.int64(0)
    known, places = elements(runs, len(RUNS), word), elements(space, len(SPACE), word)
    flags = elements(places[FLAGS], size, np.uint8(0))
    for i in range(size):
        flags[i] = 0
    for k in range(known[COUNT]):
        at = known[KEYS] + k * KEY_BYTES
        key = elements(at, len(KEY), word)
        compare, width, valid = key[COMPARE], key[WIDTH], 0
        if key[MASK] != 0:
            call(key[FLAG_NULLS], (at, runs, space, first, size))
            valid = places[VALID] + 1
        start, to = key[ADDRESS] + first * width, places[FLAGS]
        call(compare, (start, start + width, size - 1, to + 1 - known[LAST], valid))
        if known[LAST] and first + size < known[LENGTH]:
            end, after = size - 1, start + size * width
            call(compare, (after - width, after, 1, to + end, valid + end if valid else 0))
        elif first > 0 and not known[LAST]:
            border = key[BORDER] + (first // TILE - 1) * width
            call(compare, (start, border, 1, to, valid))
    if known[LAST] and first + size == known[LENGTH]:
        flags[size - 1] = not known[CONTINUES]
    elif first == 0 and not known[LAST]:
        flags[0] = not known[CONTINUES]
    return 0


@shared_njit
def flag_segments(kind, segments, space, first, size):
    """Flag the rows of a tile where segments start or end; as `flag_runs`, with offsets in the place of keys."""
    word = np.int64(0)
    known, places = elements(segments, len(RUNS), word), elements(space, len(SPACE), word)
    flags = elements(places[FLAGS], size, np.uint8(0))
    for i in range(size):
        flags[i] = 0
    offsets, last = elements(known[KEYS], known[COUNT], zero(kind)), known[LAST]
    # offset k is the first row of a segment, and the row before it the last of another, if these have rows
    low, high = last, known[COUNT] - 1 + last
    while low < high:
        middle = (low + high) // 2
        if offsets[middle] - last < first:
            low = middle + 1
        else:
            high = middle
    end = first + size
    for k in range(low, known[COUNT] - 1 + last):
        row = offsets[k] - last
        if row >= end:
            break
        flags[row - first] = 1
    return 0


@shared_njit
def flag_differing(kind, x, y, count, flags, valid):
    """Flag where the numbers at `x` are others than those at `y`; where not all are `valid`, only those that are.

    Each kind of numbers has its own: numbers are compared as they are, all else bit by bit.
    """
    like, byte = zero(kind), np.uint8(0)
    x, y, flags = elements(x, count, like), elements(y, count, like), elements(flags, count, byte)
    if valid == 0:
        for i in range(count):
            flags[i] |= _differ(x[i], y[i])
    else:
        of_values = elements(valid, count, byte)
        for i in range(count):
            flags[i] |= of_values[i] & _differ(x[i], y[i])
    return 0


@shared_njit
def flag_nulls(kind, key, runs, space, first, size):
    """Find which elements of a key are valid in a tile, from byte 1 on, and flag where that changes; as `flag_runs`."""
    word, byte = np.int64(0), np.uint8(0)
    key, known = elements(key, len(KEY), word), elements(runs, len(RUNS), word)
    places, last = elements(space, len(SPACE), word), known[LAST]
    first_valid = places[VALID] + 1
    flags, valid = elements(places[FLAGS], size, byte), elements(first_valid, size, byte)
    for i in range(size):
        valid[i] = not _is_masked(key, first + i)
    if last and first + size < known[LENGTH]:
        write(first_valid + size, np.uint8(not _is_masked(key, first + size)))
    elif first > 0 and not last:
        border = read(key[NULL_BORDER] + first // TILE - 1, byte)
        write(first_valid - 1, np.uint8(border == 0))
    start = first_valid + last - 1
    x, y = elements(start, size, byte), elements(start + 1, size, byte)
    for i in range(size):
        flags[i] |= x[i] ^ y[i]
    return 0


@njit
def _is_masked(key, i):
    at = key[SHIFTED] + i
    low = (1 << key[SHIFT]) - 1
    byte = np.int64(read(key[MASK] + (at >> key[SHIFT]), np.uint8(0)))
    return ((byte >> (at & low)) & 1) == key[NULL]


@njit
def _differ(a, b):
    return (a != b) & (not (is_nan(a) & is_nan(b)))
