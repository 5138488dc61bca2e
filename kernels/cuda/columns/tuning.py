"""The sizes of passes over columns.

Measurements: benchmarks/results/tuning-notes.md, "Columns".
"""

from ..core.tuning import WIDE_BATCH, WINDOW, Limits

COLUMN_LIMITS = Limits(shared=222 << 10, shared_elsewhere=96 << 10, stages=8, blocks=4)
"""The limits of passes over columns: `shared` is all shared memory of a block."""

SMALL_BYTES = 36 << 10
"""The most bytes of a tile's columns on GPUs without LARGE_SHARED, and of tiles that write head flags."""

TILE_BYTES = {
    "select": SMALL_BYTES,
    "unique": SMALL_BYTES,
    "run_lengths": 68 << 10,
    "reduce_by_key": 104 << 10,
    "scan_by_key": 52 << 10,
    "head_flags": SMALL_BYTES,
}
"""The most bytes of a tile's columns on GPUs with LARGE_SHARED, by visitor. A warp takes about as long for a small tile
as for a larger one, so visitors that write little have large tiles. Where a tile stays in its stage until it is
written, more stages are better."""

WIDE_TILE_BYTES, WIDE_ROW = {"select": 52 << 10}, 4
"""The same where WIDE_ROW or more arrays are gathered."""

LESSER_BYTES = (84 << 10, 68 << 10, 52 << 10, SMALL_BYTES, SMALL_BYTES // 2)
"""The bytes of wide tiles: the first with which enough stages fit into shared memory."""

TILE_SHAPES = ((16, 8), (16, 6), (16, 4), (16, 2), (16, 1), (8, 1), (4, 1), (2, 1))
"""Warps of a tile, and rows of 128 items of each warp: the first pair that fits."""

REDUCTION_SHAPES = ((16, 4), (16, 3), (16, 2), (16, 1), (8, 1), (4, 1), (2, 1))
"""The same where only the runs that end in a tile are written."""

WIDE_STATE, WIDE_WARPS, MOST_ROWS = 8, 8, 8
"""Bytes of an operator's state above which a tile has at most WIDE_WARPS warps, with more rows each, so that a thread
has more registers; and the most rows of a warp: a lane has four bits for each in one word."""

LISTED_ROWS = 4
"""Rows of selected items that a warp lists at the same time, of 256 bytes each."""

DEPTH, DEPTH_AT_LEAST = 6, 2
"""The most tiles of a block that may wait for their prefix, and the fewest if stages need the memory."""

CLASSIC_BYTES = 60 << 10
"""Shared memory that a block of the classic schedule may take on every GPU."""

COLUMN_BLOCKS = {True: 1, False: 2}
"""Blocks of the classic schedule that should fit on a multiprocessor at the same time, with an operator or without."""


def batch_for(words: int) -> int:
    """Return how many blocks of 32 tiles a look-back warp of columns requests at once, for states of `words` words."""
    return WINDOW if words <= 2 else WINDOW // 2 if words <= 4 else WIDE_BATCH
