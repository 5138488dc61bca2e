"""The sizes of the passes of sorting, and the numbers of rows from which on each way is taken.

Measurements: benchmarks/results/tuning-notes.md, "Sorting".
"""

DIGIT_SHAPES = {
    (4, 0): (384, 26, 2), (4, 4): (384, 24, 2), (4, 8): (384, 16, 2),
    (8, 0): (384, 17, 2), (8, 4): (384, 16, 2), (8, 8): (384, 12, 2),
}  # fmt: skip
"""Threads of a block that sorts by a digit, rows of a thread, and blocks on a multiprocessor, on GPUs with
LARGE_SHARED: by the bytes of a key and of a value, if there is one; four are the least. As many rows as fit without
spilled registers, and with two blocks in shared memory."""

RESTORED_SHAPES = {
    (4, 4): (384, 16, 2),
    (4, 8): (384, 12, 2),
    (8, 4): (384, 12, 2),
    (8, 8): (384, 8, 2),
}
"""The same where values are put back, which takes more registers."""

SMALL_DIGIT_SHAPE = (256, 8, 2)
"""The same on others, for all keys and values."""

DIGIT_BATCH = 4
"""Tiles that a thread asks for at once as it looks back for the count of its digit."""

COUNT_SHAPES = {
    1: (512, 16, 32, 3),
    2: (512, 16, 32, 3),
    4: (1024, 16, 32, 1),
    8: (1024, 16, 16, 1),
}
"""Threads of a block that counts digits, rows that a thread asks for at once, copies of the block's counts, and blocks
on a multiprocessor, on GPUs with LARGE_SHARED: by the bytes of a key; see count_digits.cuh."""

SMALL_COUNT_SHAPE = (512, 8, 4, 4)
"""The same on others, for all keys."""

FEW = 1 << 13
"""Rows up to which all keys are compared with each other, in one pass."""

ASKED_FROM = {1: 1 << 22, 2: 1 << 22, 4: 1 << 22, 8: 1 << 20}
"""Rows from which on the host waits for the digits in which keys differ, by the bytes of a key."""

SPARED_FROM, SPARE_FROM, TIES_AT_MOST = 8, 1 << 24, 1 / 8
"""Bytes of keys, and rows, from which on keys are sorted by leading digits first; and how many others a row may be
expected to tie with. Fewer rows take as long to launch as to sort, and ties need launches of their own; 2^20 float64
with positions: 0.38 ms by all digits, 1.19 by leading ones; 2^24: 2.0 both; 2^27: 14.0 and 11.6."""

PACKED_FROM, ROW_BYTES = 1 << 27, 32
"""Bytes of several columns from which on their rows are put side by side before they are taken by position, and bytes
of such a row at most. Fewer stay in the L2 cache; beyond it, memory is read in pieces of 64 bytes. 2^27 rows of two,
four and six float64 on an H100: each column alone 9.8, 19.5, 29.2 ms, together 6.9, 9.8, 16.6; of eight float32 37.4
and 10.8. Rows that were in order before take 1.9, 3.9, 5.7 ms alone and 3.3, 6.8, 10.0 together."""

PACKED_BYTES = 64
"""Bytes of such rows that a thread asks for at once."""

PLACED_FROM = 1 << 22
"""Rows from which on those that are put at positions are first brought near to them. 2^27 float64 (run 18): written
to any place 8.5, near by one digit 8.4, by two 6.8, by two and then in order by tiles 4.0."""

PLACE_BITS, PLACE_BITS_AT_MOST = 12, 13
"""Rows of a tile that is put in order in shared memory, as a power of two: as few as two digits leave."""

PART_BITS, PART_ROWS = 16, 1024
"""Leading bits of codes by which rows are parted at most, two digits, and rows that a part has on average at least: so
there are more parts than warps, and each is long enough to be read ahead."""

MOSTLY_TIED = 1 / 2
"""The share of rows that tie in the first of several words from which on all are sorted by the others first."""
