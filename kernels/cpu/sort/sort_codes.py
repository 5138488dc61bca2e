"""Keys as unsigned integers of the same order, packed into as few bits as their ranges need.

Floats and negative numbers by their bits, after Knuth, *The Art of Computer Programming 3*, 5.2.5, and Terdiman,
*Radix sort revisited* (2000); NaN and nulls are one number more each; in descending order all bits are inverted.
"""

# Numba reads these functions; annotations would say less than its own types do.
# mypy: disable-error-code="no-untyped-def"

from collections.abc import Sequence
from functools import lru_cache
from typing import Any, NamedTuple

import numpy as np

from ...arrays import is_int128
from ...compiler import argument_types as types
from ...compiler.functions import cached_njit, njit
from ...nulls import InBand, Mask
from ...options import SortKey
from ..core.elements import is_null
from ..core.engine import TICKET
from ..core.launch import CONTROL, Kernel, array_type, empty, entry, nulls_type, run_kernel
from ..core.memory import borrow, take_ticket

PART = 1 << 14
"""Rows that a thread takes at once."""

WORK = 2
"""The work of a row in elements of a scan, which decides how many rows are worth a thread."""

WORD_BITS = 64
ALL = (1 << WORD_BITS) - 1


class Form(NamedTuple):
    """How the bits of an element become an unsigned integer of its order, and which are NaN or NaT.

    Elements with the bit `sign` are changed by the exclusive or with `negative`, others by `positive`; where `zeros`
    is 1, -0.0 becomes 0.0. An element is missing if, changed by `tilt` and cut to `magnitude`, it is above `most`.
    """

    sign: int
    positive: int
    negative: int
    zeros: int
    tilt: int
    magnitude: int
    most: int
    inverted: int


class CodePiece(NamedTuple):
    """A part of a code: ``((code - base) >> shift) + first``, or the numbers for NaN and for nulls.

    Its bits from `drop` on that `mask` keeps are put at `place`. `keep` is 0 if the code only separates missing values
    from others.
    """

    base: int
    shift: int
    keep: int
    first: int
    nan: int
    null: int
    drop: int
    mask: int
    place: int


class Field(NamedTuple):
    """A code of each row with a number of bits: its values, and the piece that is all of it."""

    values: np.ndarray
    nulls: Any
    form: Form
    piece: CodePiece
    width: int


STATISTICS = ("least", "most", "differing", "values", "nan", "null")
LEAST, MOST, DIFFERING, VALUES, NAN, NULL = range(len(STATISTICS))
"""Statistics of the codes of a key: the extremes, the bits that differ anywhere, and the number of each kind."""


def fields_of(key: SortKey) -> list[Field]:
    """Return the codes of a key, the most significant first; none if all rows are equal."""
    values, mask = key.values, key.nulls if isinstance(key.nulls, Mask) else None
    if is_int128(values.dtype):
        return [
            *_fields(
                key, _bare(values["high"]), form_of("i", 8, key.descending), mask, levels=True
            ),
            *_fields(
                key, _bare(values["low"]), form_of("u", 8, key.descending), mask, levels=False
            ),
        ]
    kind, width = values.dtype.kind, values.dtype.itemsize
    if isinstance(key.nulls, InBand) and values.dtype == np.int64:
        kind = "M"
    return _fields(key, _bare(values), form_of(kind, width, key.descending), mask, levels=True)


def _bare(values: Any) -> np.ndarray:
    """Return contiguous unsigned integers of the same bits, extended to at least 32 bits, so that few kernels do."""
    found: np.ndarray = np.require(values, requirements=["C", "A"])
    width = found.dtype.itemsize
    return found.view(f"u{width}").astype(f"u{max(width, 4)}", copy=False)


@lru_cache(maxsize=64)
def form_of(kind: str, width: int, descending: bool) -> Form:
    """Return the form of a kind of dtypes with `width` bytes."""
    every = (1 << 8 * width) - 1
    sign, inverted = 1 << 8 * width - 1, every if descending else 0
    if kind == "f":
        most = int(np.array(np.inf, f"f{width}").view(f"u{width}"))
        return Form(sign, sign, every, 1, 0, every ^ sign, most, inverted)
    flip = 0 if kind in "bu" else sign
    tilt, magnitude = (every ^ sign, every) if kind in "mM" else (0, 0)
    return Form(sign, flip, flip, 0, tilt, magnitude, every - 1, inverted)


def _fields(
    key: SortKey, values: np.ndarray, form: Form, mask: Mask | None, *, levels: bool
) -> list[Field]:
    nulls = None if mask is None else mask.args
    least, most, differing, count, nan, null = _statistics(values, nulls, form)
    if not count:
        least = most = differing = 0
    shift = (differing & -differing).bit_length() - 1 if differing else 0
    span = (most - least) >> shift
    has_nan, has_null = int(nan > 0 and levels), int(null > 0 and levels)
    above = has_nan + has_null
    if span + above > ALL:  # what is missing is a code of its own
        level = 0, 0, 0, *_levels(0, has_nan, has_null, key.nulls_first)
        value = least, shift, ALL, 0, 0, 0
        return [
            Field(values, nulls, form, CodePiece(*one, 0, ALL, 0), width)
            for one, width in ((level, above.bit_length()), (value, span.bit_length()))
        ]
    piece = least, shift, ALL, *_levels(span, has_nan, has_null, key.nulls_first)
    width = (span + above).bit_length()
    return [Field(values, nulls, form, CodePiece(*piece, 0, ALL, 0), width)] if width else []


def _levels(span: int, has_nan: int, has_null: int, nulls_first: bool) -> tuple[int, int, int]:
    """Return the first code of values, the code of NaN, which no value has, and the code of nulls."""
    if nulls_first:
        return has_null + has_nan, has_null if has_nan else ALL, 0
    return 0, span + has_nan if has_nan else ALL, span + has_nan + has_null


def _statistics(values: np.ndarray, nulls: Any, form: Form) -> list[int]:
    """Return `STATISTICS` of an array."""
    parts = max(-(-len(values) // PART), 1)
    found = np.zeros((parts, len(STATISTICS)), np.uint64)
    kernel, _ = _kernels(values.itemsize, nulls is not None, False)
    run_kernel(WORK * len(values), kernel, values, nulls, form, found)
    first = found[:, LEAST][found[:, VALUES] > 0]
    differing = np.bitwise_or.reduce(found[:, DIFFERING])
    if len(first):
        differing |= np.bitwise_or.reduce(first ^ first[0])
    return [
        int(first.min(initial=ALL)),
        int(found[:, MOST].max()),
        int(differing),
        *(int(n) for n in found[:, VALUES:].sum(axis=0)),
    ]


# --- chunks ------------------------------------------------------------------------------------------


class Chunk(NamedTuple):
    """Pieces of fields next to each other, `width` bits together."""

    fields: list[Field]
    width: int


def chunks_of(fields: Sequence[Field], most: int) -> list[Chunk]:
    """Cut the joined fields into chunks of at most `most` bits, the most significant first."""
    every: list[Chunk] = []
    left = 0
    for field in fields:
        drop = field.width
        while drop:
            if not left:
                every.append(Chunk([], 0))
                left = most
            width = min(drop, left)
            drop, left = drop - width, left - width
            part = field._replace(
                piece=field.piece._replace(drop=drop, mask=(1 << width) - 1), width=width
            )
            every[-1] = Chunk([*every[-1].fields, part], every[-1].width + width)
    return every


def pack(chunk: Chunk, rows: np.ndarray | None, low: int, out: np.ndarray) -> None:
    """Write the codes of rows, by default of all, with the numbers of rows in the lowest `low` bits."""
    place = low + chunk.width
    for i, (values, nulls, form, piece, width) in enumerate(chunk.fields):
        place -= width
        _, kernel = _kernels(values.itemsize, nulls is not None, rows is not None)
        run_kernel(
            WORK * len(out),
            kernel,
            values,
            nulls,
            form,
            piece._replace(place=place),
            rows,
            out,
            i == 0,
        )


def tells_values(key: SortKey, fields: Sequence[Field]) -> bool:
    """Return whether the codes of a key come from its values alone, and hold all their bits."""
    dtype = key.values.dtype
    plain = dtype.kind in "iumM" and dtype.itemsize in (4, 8)
    return plain and not isinstance(key.nulls, Mask) and len(fields) == 1


def unpack(field: Field, codes: np.ndarray, place: int, dtype: np.dtype) -> np.ndarray:
    """Return the values of such a key, with its field at bit `place` of codes."""
    out, number = empty(len(codes), dtype), f"u{dtype.itemsize}"
    every = (1 << field.width) - 1
    piece = field.piece._replace(place=place, mask=every)
    run_kernel(WORK * len(out), _unpacking(number), codes, field.form, piece, out.view(number))
    return out


@njit
def _is_missing(form, x):
    return ((x ^ form.tilt) & form.magnitude) > form.most


@njit
def _code(form, x):
    code = x ^ (form.negative if x & form.sign else form.positive)
    return (code + (form.zeros & np.uint64(x == form.sign))) ^ form.inverted


@njit
def _row(rows, i):
    if rows is None:
        return i
    return rows[i]


@cached_njit
def find_statistics(values, nulls, form, found, control):
    """Find the statistics of codes, separately for each part of the rows."""
    values, nulls, found, control = borrow(values), borrow(nulls), borrow(found), borrow(control)
    while True:
        part = take_ticket(control, TICKET)
        if part >= len(found):
            break
        start, end = part * PART, min(len(values), part * PART + PART)
        least, most, nan, null = np.uint64(ALL), np.uint64(0), 0, 0
        union, common = np.uint64(0), np.uint64(ALL)
        for i in range(start, end):
            x = np.uint64(values[i])
            code = _code(form, x)
            is_nan, is_masked = _is_missing(form, x), is_null(nulls, x, i)
            null += is_masked
            nan += is_nan & (not is_masked)
            missing = is_nan | is_masked
            low, high = (np.uint64(ALL), np.uint64(0)) if missing else (code, code)
            least = low if low < least else least  # `min` is a function of its own to compile
            most = high if high > most else most
            union |= high
            common &= low
        found[part, LEAST], found[part, MOST] = least, most
        found[part, DIFFERING] = union ^ common
        found[part, VALUES] = end - start - nan - null
        found[part, NAN], found[part, NULL] = nan, null


@cached_njit
def pack_codes(values, nulls, form, piece, rows, out, new, control):
    """Write a piece of the code of each row next to its number or, unless `new`, next to the bits in `out`."""
    values, nulls, control = borrow(values), borrow(nulls), borrow(control)
    rows, out = borrow(rows), borrow(out)
    while True:
        part = take_ticket(control, TICKET)
        if part * PART >= len(out):
            break
        for i in range(part * PART, min(len(out), part * PART + PART)):
            row = _row(rows, i)
            x = np.uint64(values[row])
            code = (((_code(form, x) - piece.base) >> piece.shift) & piece.keep) + piece.first
            code = piece.nan if _is_missing(form, x) else code
            code = piece.null if is_null(nulls, x, row) else code
            bits = ((code >> piece.drop) & piece.mask) << piece.place
            out[i] = bits | (np.uint64(row) if new else out[i])


@cached_njit
def unpack_codes(codes, form, piece, out, control):
    """Write the value of each code: the inverse of `pack_codes`."""
    codes, out, control = borrow(codes), borrow(out), borrow(control)
    while True:
        part = take_ticket(control, TICKET)
        if part * PART >= len(out):
            break
        for i in range(part * PART, min(len(out), part * PART + PART)):
            code = (codes[i] >> piece.place) & piece.mask
            x = ((code - piece.first) << piece.shift) + piece.base
            out[i] = form.sign if code == piece.nan else x ^ form.inverted ^ form.positive


@lru_cache(maxsize=4)
def _unpacking(number: str) -> Kernel:
    codes, out = (array_type(np.dtype(d), layout="C") for d in ("u8", number))
    return entry(unpack_codes, (codes, *_RECORDS, out, CONTROL))


_RECORDS = tuple(
    types.record_type(kind, **dict.fromkeys(kind._fields, types.uint64))
    for kind in (Form, CodePiece)
)


@lru_cache(maxsize=32)
def _kernels(width: int, masked: bool, by_row: bool) -> tuple[Kernel, Kernel]:
    """Return the kernels that find statistics of elements of `width` bytes, and that pack them."""
    values = array_type(np.dtype(f"u{width}"), True, "C")
    nulls = nulls_type(Mask if masked else type(None))
    form, piece = _RECORDS
    found = types.Array(types.uint64, 2, "C")
    rows = array_type(np.dtype(np.int64), True, "C") if by_row else types.none
    out = array_type(np.dtype(np.uint64), layout="C")
    return (
        entry(find_statistics, (values, nulls, form, found, CONTROL)),
        entry(pack_codes, (values, nulls, form, piece, rows, out, types.boolean, CONTROL)),
    )
