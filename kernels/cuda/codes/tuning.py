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

TABLE_WARPS, TABLE_COLUMNS, TABLE_BATCH, SMALL_STATE = 32, 8, 8, 8
"""Warps of a block that scans columns of the table of states, columns of a block, rows of the table that a thread asks
for at once, and bytes of a state above which warps are half as many. Milliseconds of 4,096 rows of 1,000 float64, by
warps and columns: 16 and 16 0.189, 16 and 8 0.201, 16 and 4 0.136, 32 and 8 0.117."""

PART_TABLE = {True: 36 << 10, False: 9 << 10}
"""Bytes that a warp keeps of the groups of a part, up to which rows are brought together by one digit, not by two."""

PARTED_FROM, LONG_PART = 1 << 22, 1 << 14
"""Rows from which on those of many groups are brought together in parts, and rows of a part from which on it is cut: a
warp walks a part alone, and the others must not wait for it."""
