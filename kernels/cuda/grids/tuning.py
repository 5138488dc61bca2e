"""The sizes of the passes of images and grids.

Measurements: benchmarks/results/tuning-notes.md, "Images and grids".
"""

from typing import NamedTuple

TABLE_GROUP = 8
"""Strips of columns of a summed-area table for which sums are requested at once."""


class TableShape(NamedTuple):
    """Neighbouring columns of a lane, warps of a block, rows of each in a tile, and blocks on a multiprocessor."""

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
"""By the bytes of a number that is read or written or, if they are more, half of those of a sum."""

SMALL_TABLE = {"warps": 8, "rows": 2}
"""What differs on GPUs without LARGE_SHARED."""

TABLE_BUSY = 1 / 4
"""Strips of columns a multiprocessor from which on a table is made in one pass."""

BOX_COLUMNS, BOX_ROWS, BOX_WINDOWS = (224, 128, 64), 16, 16
"""Columns of a block's strip of an image for averages of boxes: the most that fit are taken; rows that it takes at
once; and neighbouring windows that a thread sums up at most."""

BOX_SHARED, BOX_BLOCKS = {True: 113 << 10, False: 48 << 10}, 2
"""Bytes of shared memory of such a block at most, with LARGE_SHARED or without; and blocks on a multiprocessor."""

BOX_BANDS = 4
"""Bands of rows of strips for each block that runs at a time, if bands are many times as high as windows."""

BOX_THREADS, BOX_RESIDENT, BOX_LINE_BLOCKS = 256, 3, 64
"""Of windows along one axis: threads of a block, blocks that registers are left for, and blocks a multiprocessor in a
launch at most."""
