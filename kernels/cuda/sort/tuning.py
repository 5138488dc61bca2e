"""The sizes of the passes of sorting, and the numbers of rows that choose a method.

Measurements: benchmarks/results/tuning-notes.md, "Sorting".
"""

DIGIT_SHAPES = {
    (4, 0): (384, 26, 2), (4, 4): (384, 24, 2), (4, 8): (384, 16, 2),
    (8, 0): (384, 17, 2), (8, 4): (384, 16, 2), (8, 8): (384, 12, 2),
}  # fmt: skip
"""Threads of a block that sorts by a digit, rows of a thread, and blocks on a multiprocessor, on GPUs with
LARGE_SHARED: by the bytes of a key and of a value (0 without one), which count as four at least. As many rows as fit
without spilled registers, and with two blocks in shared memory."""

RESTORED_SHAPES = {
    (4, 4): (384, 16, 2),
    (4, 8): (384, 12, 2),
    (8, 4): (384, 12, 2),
    (8, 8): (384, 8, 2),
}
"""The same for passes that put values back, which need more registers."""

SMALL_DIGIT_SHAPE = (256, 8, 2)
"""The same on other GPUs, for all keys and values."""

DIGIT_BATCH = 4
"""Tiles that a thread requests at once as it looks back for the count of its digit."""

COUNT_SHAPES = {
    1: (512, 16, 32, 3),
    2: (512, 16, 32, 3),
    4: (1024, 16, 32, 1),
    8: (1024, 16, 16, 1),
}
"""Threads of a block that counts digits, rows that a thread requests at once, copies of the block's counts, and blocks
on a multiprocessor, on GPUs with LARGE_SHARED: by the bytes of a key; see count_digits.cuh."""

SMALL_COUNT_SHAPE = (512, 8, 4, 4)
"""The same on other GPUs, for all keys."""

FEW = 1 << 13
"""The most rows that are sorted by comparing all pairs of keys, in one pass."""

ASKED_FROM = {1: 1 << 22, 2: 1 << 22, 4: 1 << 22, 8: 1 << 20}
"""Rows from which on the host waits for the digits in which keys differ, by the bytes of a key."""

SPARED_FROM, SPARE_FROM, TIES_AT_MOST = 8, 1 << 24, 1 / 8
"""Bytes of a key, and rows, from which on keys are sorted by leading digits first; and the most other rows that a row
may be expected to tie with. Launches take as long as sorting few rows, and ties need more of them. 2^20 float64 with
positions: 0.38 ms by all digits, 1.19 by leading ones; 2^24: 2.0 both; 2^27: 14.0 and 11.6."""

PACKED_FROM, ROW_BYTES = 1 << 27, 32
"""Bytes of several columns from which on their rows are put side by side before they are taken by position, and the
most bytes of such a row. Smaller columns stay in the L2 cache; larger ones are read in pieces of 64 bytes. 2^27 rows of
two, four and six float64 on an H100: each column alone 9.8, 19.5, 29.2 ms, together 6.9, 9.8, 16.6; of eight float32
37.4 and 10.8. Rows that were in order before take 1.9, 3.9, 5.7 ms alone and 3.3, 6.8, 10.0 together."""

PACKED_BYTES = 64
"""Bytes of such rows that a thread requests at once."""

PLACED_FROM = 1 << 22
"""Rows from which on rows that are put at positions are first moved near to them. 2^27 float64 (run 18): written
directly 8.5, first moved by one digit 8.4, by two 6.8, by two and then put in order by tiles 4.0."""

PLACE_BITS, PLACE_BITS_AT_MOST = 12, 13
"""The base-2 logarithm of the rows of a tile that is put in order in shared memory, at least and at most: as few rows
as two digits leave."""

PART_BITS, PART_ROWS = 16, 1024
"""The most leading bits of codes by which rows are partitioned (two digits), and the fewest rows of a part on average:
so there are more parts than warps, and each is long enough to be read ahead."""

MOSTLY_TIED = 1 / 2
"""If a larger share of rows ties in the first of several words, all are sorted by the other words first."""
