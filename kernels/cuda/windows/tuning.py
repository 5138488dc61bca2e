"""The sizes of the passes of windows.

Measurements: benchmarks/results/tuning-notes.md, "Rolling windows".
"""

WINDOW_THREADS, WINDOW_BATCH = 256, 8
"""Threads of a block, and rows that a thread requests at once."""

WINDOW_WORDS, WINDOW_ITEMS = 64, 16
"""The most four-byte words of states that a thread keeps for its neighbouring rows, and the most such rows."""

WINDOW_SHARED = {True: 112 << 10, False: 63 << 10}
"""The most bytes of shared memory of a block, with LARGE_SHARED or without; wider windows are combined by levels."""

WINDOW_BLOCKS, WINDOW_RESIDENT = 8, {False: 4, True: 3}
"""The most blocks on a multiprocessor, and the number for which registers are left, by whether states are wide."""

WIDE_WORDS = 4
"""Four-byte words of a state from which on it is wide."""

SPAN_ITEMS, SPAN_RESIDENT, SPAN_BLOCKS = 8, 4, 64
"""For windows between bounds: the most neighbouring windows that a thread answers, blocks on a multiprocessor for which
registers are left, and the most blocks of a launch for each multiprocessor."""

SPAN_SHARED = {True: 56 << 10, False: 56 << 10}
"""The most bytes of shared memory of a block that answers windows between bounds, with LARGE_SHARED or without."""

LEVEL_GROUP, LEVEL_FAN = 8, 16
"""Rows of a state of the first level, and states of one level that make a state of the next."""

STARTS_THREADS, STARTS_ITEMS, STARTS_BLOCKS = 256, 8, 64
"""For the search for the first row within reach: threads of a block, neighbouring rows of a thread, and the most blocks
of a launch for each multiprocessor."""

STARTS_HALO, STARTS_NEAR = 512, 8
"""Rows before its own that a block reads as well, and rows after an answer that are examined one by one."""

ORDER_PIECE = 1 << 22
"""The fewest windows of a piece for order statistics: the wavelet matrix of their rows takes 23 MB, and stays in the
cache of an H100."""

KEPT_LONGEST = 32
"""The most rows of a window that is kept sorted row by row; for distinct values, the most rows in `SORTED_SHAPES`."""

SORTED_SHAPES: dict[int, tuple[int, ...]] = {
    4: (1, 4, 15, 128), 8: (1, 8, 15, 128), 16: (1, 16, 15, 128), 32: (1, 32, 23, 128),
    64: (2, 32, 45, 128), 128: (4, 32, 91, 128), 256: (8, 32, 129, 128),
}  # fmt: skip
"""By the most rows of a window: lanes that keep a window, values of each, neighbouring windows that they answer (an odd
number, so that threads read different banks), and threads of a block."""

TILE_SHAPES: dict[int, tuple[int, ...]] = {
    192: (64, 13, 16), 640: (128, 15, 7), 2560: (256, 13, 4),
}  # fmt: skip
"""For blocks that sort a tile of rows, by the most rows of a window: threads, rows of each (an odd number, as above),
and blocks on a multiprocessor for which registers are left."""
