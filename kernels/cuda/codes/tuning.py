"""The sizes of scans and reductions by code.

Measurements: benchmarks/results/tuning-notes.md, "Scans by code".
"""

CODE_WARPS, CODE_BATCH, CODE_BLOCKS = (4, 2, 1), 4, 12
"""Warps of a block that walks chunks of rows: the first number that fits; rows that a lane requests at once; and the
most blocks on a multiprocessor."""

CODE_SHARED = {True: 226 << 10, False: 63 << 10}
"""Bytes of shared memory of a multiprocessor, with LARGE_SHARED or without."""

FEW_CODES = {True: 2048, False: 512}
"""The most groups for which a warp keeps states of up to 64 bytes in shared memory, with LARGE_SHARED or without."""

CHUNKS = 4096
"""The number of chunks that rows are cut into, unless chunks would have too few or too many rows."""

LEAST_ROWS, MOST_ROWS = (1024, 1), (2048, 8)
"""The least and the most rows of a chunk: the larger of a constant and a number for each group. The table has a row for
each chunk, so many chunks are slow where there are many rows; few chunks leave warps idle where there are few rows.
2^20 float64, H100, ms: 1,000 groups 0.098 with chunks of 8,000 rows, 0.026 with 1,024; 10 groups 0.031 with 2,048,
0.023 with 1,024."""

TABLE_WARPS, TABLE_COLUMNS, TABLE_BATCH, SMALL_STATE = 32, 8, 8, 8
"""Warps of a block that scans columns of the table of states, columns of a block, rows of the table that a thread
requests at once, and bytes of a state above which a block has half as many warps. Milliseconds for 4,096 rows of 1,000
float64, by warps and columns: 16 and 16 0.189, 16 and 8 0.201, 16 and 4 0.136, 32 and 8 0.117."""

PART_TABLE = {True: 36 << 10, False: 9 << 10}
"""Bytes that a warp may keep for the groups of a part. If parts by one digit need no more, there is no second digit."""

PARTED_FROM, LONG_PART = 1 << 22, 1 << 14
"""Rows from which on many groups are partitioned, and rows of a part above which it is cut: one warp walks a part, and
the others must not wait for it."""
