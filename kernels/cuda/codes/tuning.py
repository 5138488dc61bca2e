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

CHUNKS = 4096
"""Chunks that rows are cut into, as far as these suit the limits of their rows."""

LEAST_ROWS, MOST_ROWS = (1024, 1), (2048, 8)
"""The least and the most rows of a chunk: of any groups, and for each of them. The table has as many rows as there are
chunks, so that more are slower where rows are many; fewer leave warps idle where rows are few. 2^20 float64, H100, ms:
1,000 groups 0.098 with chunks of 8,000 rows, 0.026 with 1,024; 10 groups 0.031 with 2,048, 0.023 with 1,024."""

TABLE_WARPS, TABLE_COLUMNS, TABLE_BATCH = 16, 8, 8
"""Warps of a block that scans columns of the table of states, columns of a block, and rows of the table that a thread
asks for at once."""

PARTED_FROM, LONG_PART = 1 << 22, 1 << 14
"""Rows from which on those of many groups are brought together in parts, and rows of a part from which on it is cut: a
warp walks a part alone, and the others must not wait for it."""
