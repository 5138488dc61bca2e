"""The sizes of scans and reductions by code.

Measurements: benchmarks/results/tuning-notes.md, "Scans by code".
"""

CODE_WARPS, CODE_BATCH, CODE_BLOCKS = (4, 2, 1), 4, 12
"""Warps of a block that walks chunks of rows, the most that fit; rows that a lane asks for at once; and blocks on a
multiprocessor at most."""

CODE_SHARED = {True: 226 << 10, False: 63 << 10}
"""Bytes of shared memory of a multiprocessor, with LARGE_SHARED or without."""

FEW_CODES = {True: 2048, False: 512}
"""Groups up to which a warp keeps a state of each in shared memory, likewise; one of at most 64 bytes."""

CHUNK_ROWS, CHUNK_GROUPS = 2048, 8
"""Rows of a chunk, and how many times as many as there are groups, at least."""

TABLE_WARPS, TABLE_COLUMNS, TABLE_BATCH = 16, 8, 8
"""Warps of a block that scans columns of the table of states, columns of a block, and rows of the table that a thread
asks for at once."""
