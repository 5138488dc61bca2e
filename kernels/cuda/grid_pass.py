"""The passes of images and grids, and their CUDA source; see area_table.cuh and box_means.cuh."""

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from .plan import Capability, Geometry, state_words
from .sort_pass import SweepPass
from .source import constants_source, include, words_of
from .tuning import TABLE_GROUP, TABLE_SHAPES, TABLE_VECTOR
from .visitors import AREA_TABLE, VisitorSpec

STRIP = 32 * TABLE_VECTOR
"""Columns of a block's strip of a summed-area table."""

NUMBERS = {
    "b1": "u8", "i1": "signed char", "i2": "short", "i4": "int", "i8": "i64", "u1": "u8", "u2": "u16", "u4": "u32",
    "u8": "u64", "f4": "float", "f8": "double", "c8": "Complex<float>", "c16": "Complex<double>",
}  # fmt: skip
"""The C++ type of numbers of a dtype."""


@dataclass(frozen=True)
class AreaTablePass(SweepPass):
    """Sum up images along rows and columns.

    Parameters
    ----------
    values, out, state : dtype
        Of the images, of the tables and of sums.
    """

    values: np.dtype
    out: np.dtype
    state: np.dtype
    visitor: ClassVar[VisitorSpec] = AREA_TABLE
    name: ClassVar[str] = "summed-area tables"
    parameters: ClassVar[str] = "=4Q4q0s0s"

    @property
    def shape(self) -> tuple[int, int]:
        """Warps of a block, and rows of each in a tile."""
        return TABLE_SHAPES[max(self.values.itemsize, self.state.itemsize // 2)]

    def geometry(self, schedule: str, capability: Capability) -> Geometry:
        """Return the size of the blocks."""
        return Geometry(
            threads=32 * self.shape[0], shared=0, items=STRIP, lines=1, blocks=1,
            descriptor=8 * state_words((self.state,)), described_from=1, tickets=True,
        )  # fmt: skip


def grid_source(each: AreaTablePass, schedule: str, capability: Capability, relief: int = 0) -> str:
    """Return the CUDA source of a pass."""
    warps, rows = each.shape
    constants = {
        "WARPS": warps,
        "ROWS": rows,
        "VECTOR": TABLE_VECTOR,
        "GROUP": TABLE_GROUP,
        "RESIDENT": 1,
        "WRITE": True,
    }
    lines = [
        *include("words", "numbers"),
        *constants_source(constants),
        *(
            f"using {name} = {NUMBERS[f'{dtype.kind}{dtype.itemsize}']};"
            for name, dtype in (("In", each.values), ("Out", each.out), ("Sum", each.state))
        ),
        "struct State { Sum sum; };",
        *words_of([("s.sum", each.state)]),
        "__device__ __forceinline__ State identity() { return {Sum{}}; }",
        "__device__ __forceinline__ State combine(State a, State b) { return {a.sum + b.sum}; }",
        "struct Params { const In* values; Out* out; u64* scratch; u8* carry; i64 columns, lines, tiles, rows; };",
        *include("states", "lookback", each.visitor.source),
    ]
    return "\n".join([*lines, ""])
