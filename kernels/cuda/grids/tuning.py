"""The sizes of the passes of images and grids.

Measurements: benchmarks/results/tuning-notes.md, "Images and grids".
"""

from typing import NamedTuple

TABLE_GROUP = 8
"""Strips of columns of a summed-area table that are looked back at together."""


class TableShape(NamedTuple):
    """Neighbouring columns of a lane, warps of a block, rows of each warp in a tile, and blocks on a multiprocessor."""

    vector: int
    warps: int
    rows: int
    blocks: int


TABLE_SHAPES = {
    1: TableShape(4, 12, 8, 1),
    2: TableShape(4, 12, 8, 1),
    4: TableShape(4, 12, 8, 1),
    8: TableShape(2, 12, 8, 1),
    16: TableShape(1, 8, 8, 2),
}
"""By bytes: those of a number that is read or written, or half of those of a sum if that is more."""

SMALL_TABLE = {"warps": 8, "rows": 2}
"""What is different on GPUs without LARGE_SHARED."""

TABLE_BUSY = 1 / 4
"""The fewest strips of columns for each multiprocessor with which a table is made in one pass."""

BOX_COLUMNS, BOX_ROWS, BOX_WINDOWS = (224, 128, 64), 16, 16
"""For averages of boxes: columns of a block's strip of an image, the first number that fits; rows that a block takes at
once; and the most neighbouring windows that a thread sums up."""

BOX_SHARED, BOX_BLOCKS = {True: 113 << 10, False: 48 << 10}, 2
"""The most bytes of shared memory of such a block, with LARGE_SHARED or without; and blocks on a multiprocessor."""

BOX_BANDS = 4
"""Bands of rows of strips for each resident block, if bands are many times as high as windows."""

BOX_THREADS, BOX_RESIDENT, BOX_LINE_BLOCKS = 256, 3, 64
"""For windows along one axis: threads of a block, blocks on a multiprocessor for which registers are left, and the most
blocks of a launch for each multiprocessor."""
