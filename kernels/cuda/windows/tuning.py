"""The sizes of the passes of windows.

Measurements: benchmarks/results/tuning-notes.md, "Rolling windows".
"""

WINDOW_THREADS, WINDOW_BATCH = 256, 8
"""Threads of a block, and rows that a thread asks for at once."""

WINDOW_WORDS, WINDOW_ITEMS = 64, 16
"""Four-byte words of states that a thread keeps of its neighbouring rows at most, and such rows at most."""

WINDOW_SHARED = {True: 112 << 10, False: 63 << 10}
"""Bytes of shared memory of a block at most, with LARGE_SHARED or without: wider windows are combined by levels."""

WINDOW_BLOCKS, WINDOW_RESIDENT = 8, {False: 4, True: 3}
"""Blocks on a multiprocessor at most, and those that registers are left for, by whether states are wide."""

WIDE_WORDS = 4
"""Four-byte words of a state from which on it is wide."""

SPAN_ITEMS, SPAN_RESIDENT, SPAN_BLOCKS = 8, 4, 64
"""Neighbouring windows between bounds that a thread answers at most, blocks that registers are left for, and blocks a
multiprocessor in a launch at most; the last of these may be fewer than fit."""

SPAN_SHARED = {True: 56 << 10, False: 56 << 10}
"""Bytes of shared memory of a block that answers windows between bounds at most, with LARGE_SHARED or without."""

LEVEL_GROUP, LEVEL_FAN = 8, 16
"""Rows that make a state of the first level, and states that make one of the next."""

STARTS_THREADS, STARTS_ITEMS, STARTS_BLOCKS = 256, 8, 64
"""Of the search for the first row within reach: threads of a block, neighbouring rows of a thread, and blocks a
multiprocessor in a launch at most."""

STARTS_HALO, STARTS_NEAR = 512, 8
"""Rows before those of a block that it reads as well, and rows from one answer on that are looked at one by one."""

ORDER_PIECE = 1 << 22
"""Windows of a piece for order statistics, at least: the wavelet matrix of their rows takes 23 MB, and stays in the
cache of an H100."""

KEPT_LONGEST = 32
"""Rows of windows up to which values are kept in order row by row; for distinct values, all of `SORTED_SHAPES`."""

SORTED_SHAPES: dict[int, tuple[int, ...]] = {
    4: (1, 4, 15, 128), 8: (1, 8, 15, 128), 16: (1, 16, 15, 128), 32: (1, 32, 23, 128),
    64: (2, 32, 45, 128), 128: (4, 32, 91, 128), 256: (8, 32, 129, 128),
}  # fmt: skip
"""By the rows of windows at most: lanes that keep a window, values of each, neighbouring windows that they answer, an
odd number, so that threads read different banks, and threads of a block."""

TILE_SHAPES: dict[int, tuple[int, ...]] = {
    192: (64, 13, 16), 640: (128, 15, 7), 2560: (256, 13, 4),
}  # fmt: skip
"""Of blocks that put a tile of rows in order, by the rows of windows at most: threads, rows of each, an odd number as
above, and the blocks that registers are left for."""
