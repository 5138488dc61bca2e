"""The passes of images and grids, and their CUDA source: area_table.cuh, box_image.cuh and box_line.cuh."""

from dataclasses import replace
from functools import lru_cache
from typing import ClassVar, NamedTuple, Self

import numpy as np

from ...late_dataclass import dataclass
from ..core.plan import Capability, Geometry, PlainPass, Tickets, state_words
from ..core.source import constants_source, include, words_of
from ..core.tuning import LARGE_SHARED
from ..core.visitors import AREA_TABLE, BOX_IMAGE, BOX_LINE, VisitorSpec
from .tuning import (
    BOX_BLOCKS,
    BOX_COLUMNS,
    BOX_LINE_BLOCKS,
    BOX_RESIDENT,
    BOX_ROWS,
    BOX_SHARED,
    BOX_THREADS,
    BOX_WINDOWS,
    SMALL_TABLE,
    TABLE_GROUP,
    TABLE_SHAPES,
    TableShape,
)

NUMBERS = {
    "b1": "u8", "i1": "signed char", "i2": "short", "i4": "int", "i8": "i64", "u1": "u8", "u2": "u16", "u4": "u32",
    "u8": "u64", "f4": "float", "f8": "double", "c8": "Complex<float>", "c16": "Complex<double>",
}  # fmt: skip
"""The C++ types of numbers, by dtype."""


@dataclass(frozen=True)
class GridPass(PlainPass):
    """A pass over arrays of numbers.

    Parameters
    ----------
    values, out, state : dtype
        The dtypes of the input, of the output and of sums.
    """

    values: np.dtype
    out: np.dtype
    state: np.dtype


@dataclass(frozen=True)
class AreaTablePass(GridPass):
    """Sum up images along rows and columns.

    Parameters
    ----------
    large : bool, default True
        Whether the GPU has LARGE_SHARED.
    """

    large: bool = True
    visitor: ClassVar[VisitorSpec] = AREA_TABLE
    name: ClassVar[str] = "summed-area tables"
    parameters: ClassVar[str] = "=4Q4q0s0s"
    fields: ClassVar[str] = "u64* scratch; u8* carry; i64 columns, lines, tiles, rows;"
    headers: ClassVar[tuple[str, ...]] = ("states", "lookback", "copy_async")

    @property
    def shape(self) -> TableShape:
        """How strips of columns and tiles are cut."""
        size = max(self.values.itemsize, self.out.itemsize, self.state.itemsize // 2)
        return TABLE_SHAPES[size] if self.large else TABLE_SHAPES[size]._replace(**SMALL_TABLE)

    def sized(self, capability: Capability) -> Self:
        """Return the pass with tiles of the size that suits a GPU of this compute capability."""
        return replace(self, large=capability in LARGE_SHARED)

    def constants(self, relief: int) -> dict[str, int]:
        """Return the constants of its source. Each step of `relief` leaves more registers to a row."""
        return {
            "VECTOR": self.shape.vector,
            "WARPS": self.shape.warps,
            "ROWS": max(self.shape.rows >> relief, 32 // TABLE_GROUP),
            "GROUP": TABLE_GROUP,
            "RESIDENT": self.shape.blocks,
            "WRITE": True,
        }

    def geometry(self, schedule: str, capability: Capability) -> Geometry:
        """Return the size of the blocks."""
        vector, warps, rows, blocks = self.shape
        column = 32 * warps * vector
        sums, read = 2 * self.state.itemsize, 2 * rows * self.values.itemsize
        return Geometry(
            threads=32 * warps, shared=column * (sums + read), items=32 * vector, blocks=blocks,
            descriptor=8 * state_words((self.state,)), tickets=Tickets.ALWAYS,
        )  # fmt: skip


def windows_of(radius: int) -> int:
    """Return how many neighbouring windows a thread sums up: few enough that they share an element."""
    return min(BOX_WINDOWS, 1 << (2 * radius + 1).bit_length() - 1)


class BoxPass(GridPass):
    """The base of the passes of boxes."""

    @property
    def multiplies(self) -> bool:
        """Whether sums are multiplied by a reciprocal: the result is the same once it is rounded to a smaller type."""
        return self.out.kind in "fc" and self.out.itemsize < self.state.itemsize

    @property
    def number(self) -> np.dtype:
        """The dtype of the divisors of sums."""
        return self.state if self.out.kind in "iu" and self.state.kind in "iu" else np.dtype(float)

    @property
    def parameters(self) -> str:
        """The format of the parameters of a launch; the first state is the value outside the image."""
        return self.integers + f"{self.state.itemsize}s8s"

    integers: ClassVar[str]


@dataclass(frozen=True)
class BoxImagePass(BoxPass):
    """Average boxes of images.

    Parameters
    ----------
    columns : int
        Columns of a block's strip.
    windows : tuple of int
        Neighbouring windows that a thread sums up, along a row and along a column.
    shared : int
        Bytes of shared memory that a block takes.
    """

    columns: int
    windows: tuple[int, int]
    shared: int
    visitor: ClassVar[VisitorSpec] = BOX_IMAGE
    name: ClassVar[str] = "means of boxes"
    integers: ClassVar[str] = "=6Q8q"
    fields: ClassVar[str] = (
        "const i64 *edges_x, *edges_y; u8* scratch; u8* carry; "
        "i64 columns, lines, tiles, rows, radius_x, radius_y, band, line; Sum outside; Number number;"
    )
    headers: ClassVar[tuple[str, ...]] = ("copy_async", "box_windows")

    def constants(self, relief: int) -> dict[str, int]:
        """Return the constants of its source."""
        return {
            "COLUMNS": self.columns,
            "ROWS": BOX_ROWS,
            "WINDOWS_X": self.windows[0],
            "WINDOWS_Y": self.windows[1],
            "MULTIPLIES": self.multiplies,
            "RESIDENT": BOX_BLOCKS,
        }

    def geometry(self, schedule: str, capability: Capability) -> Geometry:
        """Return the size of the blocks."""
        return Geometry(
            threads=self.columns, shared=self.shared, items=self.columns, blocks=BOX_BLOCKS
        )


class ImageTile(NamedTuple):
    """The pass of images for boxes of one size.

    `reach` holds the radii along rows and columns, and `line` is the number of places that a row takes in shared
    memory.
    """

    each: BoxImagePass
    reach: tuple[int, int]
    line: int


@lru_cache(maxsize=1024)
def image_tile(
    values: np.dtype,
    out: np.dtype,
    state: np.dtype,
    reach: tuple[int, int],
    columns: int,
    capability: Capability,
) -> ImageTile | None:
    """Return the pass of images of `columns` columns, with the widest strips that fit; None if none do."""
    windows = windows_of(reach[0]), windows_of(reach[1])
    fitting = None
    for strip in BOX_COLUMNS:
        places, span = (_padded(n, windows[0]) for n in (strip, strip + 2 * reach[0]))
        line = span + (places - span) % 32  # a row begins at the same bank as a row of the ring
        ring = (2 * reach[1] + BOX_ROWS) * places * state.itemsize
        shared = ring + BOX_ROWS * line * values.itemsize
        narrower = fitting is None or columns <= strip
        if narrower and shared <= BOX_SHARED[capability in LARGE_SHARED]:
            each = BoxImagePass(values, out, state, strip, windows, shared)
            fitting = ImageTile(each, reach, line)
    return fitting


def _padded(columns: int, windows: int) -> int:
    """Return the places of shared memory that `columns` columns take."""
    return columns + columns // windows if windows > 1 else columns


@dataclass(frozen=True)
class BoxLinePass(BoxPass):
    """Sum up or average windows along an axis.

    Parameters
    ----------
    windows : int
        Neighbouring windows that a thread sums up.
    """

    windows: int
    visitor: ClassVar[VisitorSpec] = BOX_LINE
    name: ClassVar[str] = "sums along boxes"
    integers: ClassVar[str] = "=5Q6q"
    fields: ClassVar[str] = (
        "const i64* edges; u8* scratch; u8* carry; i64 items, lines, tiles, length, inner, radius; "
        "Sum outside; Number number;"
    )
    headers: ClassVar[tuple[str, ...]] = ("box_windows",)

    def constants(self, relief: int) -> dict[str, int]:
        """Return the constants of its source."""
        return {
            "THREADS": BOX_THREADS,
            "WINDOWS": self.windows,
            "MULTIPLIES": self.multiplies,
            "RESIDENT": max(BOX_RESIDENT - relief, 1),
        }

    def geometry(self, schedule: str, capability: Capability) -> Geometry:
        """Return the size of the blocks."""
        return Geometry(threads=BOX_THREADS, items=BOX_THREADS, blocks=BOX_LINE_BLOCKS)


def grid_source(
    each: AreaTablePass | BoxImagePass | BoxLinePass,
    schedule: str,
    capability: Capability,
    relief: int = 0,
) -> str:
    """Return the CUDA source of a pass."""
    types = {"In": each.values, "Out": each.out, "Sum": each.state}
    if isinstance(each, BoxPass):
        types["Number"] = each.number
    lines = [
        *include("words", "numbers"),
        *constants_source(each.constants(relief)),
        *(f"using {name} = {NUMBERS[f'{d.kind}{d.itemsize}']};" for name, d in types.items()),
        "struct State { Sum sum; };",
        *words_of([("s.sum", each.state)]),
        "__device__ __forceinline__ State identity() { return {Sum{}}; }",
        "__device__ __forceinline__ State combine(State a, State b) { return {a.sum + b.sum}; }",
        f"struct Params {{ const In* values; Out* out; {each.fields} }};",
        *include(*each.headers, each.visitor.source),
    ]
    return "\n".join([*lines, ""])
