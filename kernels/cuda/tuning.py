"""All tuning numbers: how large a tile is, how many are in flight, and what each number was measured with.

The tile of a scan fixes the association of an operator's combinations, so its size depends on types alone, never on
the device: the same input has the same bits on every GPU. What may differ between devices is how many stages of
shared memory the pipelined schedule keeps. The tile of columns may differ in size as well.

Milliseconds are of 2^28 items of 4 bytes or 2^27 of 8 on an H200, on which memcpy takes 0.507; the sweeps they are from
are in benchmarks/results/tuning_h200.json (of scans: runs 1, 2 and 9 to 11; of columns: 12 to 14).
"""

from dataclasses import dataclass
from functools import lru_cache
from typing import NamedTuple

import numpy as np

Form = tuple[np.dtype, ...]

# --- both kinds of tiles --------------------------------------------------------------------------

PIPELINED_FROM = (9, 0)
"""The compute capability from which on there is the pipelined schedule."""

LARGE_SHARED = ((9, 0), (10, 0), (10, 3), (11, 0))
"""Compute capabilities whose blocks may have 227 KiB of shared memory; of the others from sm_90 on, 99 KiB."""


@dataclass(frozen=True)
class Limits:
    """What the blocks of one kind of tile take of a multiprocessor."""

    shared: int
    """Bytes of shared memory of a block of the pipelined schedule, on GPUs with LARGE_SHARED."""

    shared_elsewhere: int
    """The same on others."""

    stages: int
    """Stages of such a block at most."""

    blocks: int
    """Blocks a multiprocessor in a launch of another schedule, at most."""

    def shared_on(self, capability: tuple[int, int]) -> int:
        """Return the bytes of shared memory of a block of the pipelined schedule."""
        return self.shared if capability in LARGE_SHARED else self.shared_elsewhere


SCAN_LIMITS = Limits(shared=200 << 10, shared_elsewhere=88 << 10, stages=12, blocks=8)
"""Of scans: the bytes are for stages alone. Sums of float32 with 5 stages of 32 KiB: 0.529, 6: 0.522; 12 of 16 KiB,
which need two look-back warps: 0.544."""

COLUMN_LIMITS = Limits(shared=222 << 10, shared_elsewhere=96 << 10, stages=8, blocks=4)
"""Of columns: the bytes are for everything that a block has in shared memory."""

STAGES_AT_LEAST = 2
"""Stages without which tiles would not load while others wait."""

RELIEFS = 4
"""How often a kernel is compiled at most, until no registers are spilled. Each step leaves more of them to a thread:
fewer blocks on a multiprocessor, fewer descriptors asked for at once. The results have the same bits."""

WINDOW, WIDE_BATCH = 8, 2
"""Blocks of 32 tiles that a look-back warp asks for before it is its turn to fold them (132 multiprocessors: about
five have to be known); and at once, for large states. Sums of int32 and float64 with 4 at once: 0.526 and 0.550, 8:
0.521 and 0.528; affine with 2: 0.973, 4: 0.918, but with registers spilled. States that are raked are asked for by
blocks and superblocks instead: exponentially weighted means so 1.17, with windows of tiles 1.45 (run 19)."""

SHORT_LINE = 512
"""Items up to which a line is always walked by one warp."""

# --- scans ----------------------------------------------------------------------------------------

WARPS_OF_SCAN, ITEM_WORDS = 8, 48
"""Warps of a squad, and four-byte words of states that a thread has for a row (its items, and one more). Products of
float64, whose states have five, with 4 warps: 2.281, 8: 1.864, of which 4 reduced tiles."""

LANE_BYTES, WIDE_LANE_BYTES, RAKED_LANE_BYTES = 16, 32, 128
"""Bytes that a lane has of a row: as many as one access moves, which meets no bank conflicts; more where states are
larger than items or have three words, so that fewer states are shuffled; and of an array where states are raked.
Sums of 2^28 int8 with 16: 0.213, 32: 0.184; of int16 0.311 and 0.277; `last` of int32, a tenth null, 0.765 and 0.666.
Lanes read at least 4 bytes: sums of 2^28 int8 in int64 with 2: 0.719, 4: 0.680."""

RAKED_FROM = 4
"""Four-byte words of a state from which on states are raked, for each output and unless an item has as many. States of
several scans are small ones side by side, and lanes that are raked write outputs beside the first far apart: sum and
maximum of 2^27 float64 take 2.0 ms raked, 1.04 if results leave from shared memory by copies, and 0.88 in rows; with
the minimum as well -, 1.83 and 1.14 (run 25). Of one output, before and raked (run 19): means with what rounding lost
(6 words) 1.87 and 0.95, welford 2.87 and 1.24, exponentially weighted means (10 words) 2.58 and 1.04,
products (5 words) 1.51 and 1.30; of 128-bit extremes (4 words) 2.46 and 1.39,
of products of float32 1.08 and 1.02. With lanes of 64 bytes: 1.12, 2.01, 1.50, 1.84, -, 1.23; with 16 warps of such
lanes: 0.92, 1.38, 1.26, 1.20, -, 0.95. What bounds them now is the number of instructions, about a hundred an item:
with divisions by `numerics.quotient` and without selects in which threads part, 0.78, 0.89 and 0.97 (run 21). Products
whose states neither branch nor are needed for answers, which follow from one another: float64 0.79, float32 0.56 (run
22), where the unit of comparisons and selects is busy 70 % of the time. States as large as items cost little: affine of
two float64 raked 1.06, in rows 0.867; sums of 128-bit integers 1.28 and 1.18, but their extremes 1.29 and 1.53, since
they are compared without branches (run 28)."""

RAKE_CHAINS = 2
"""Parts that a lane reduces at the same time: a combination waits for the one before it, and few warps reduce. Welford
with 1: 0.854, 2: 0.822, 4: 0.814; exponentially weighted means 0.969, 0.986, 0.992; products of float64 0.803, 0.807,
0.808 (run 22)."""

SCAN_TILE_BYTES = 32 << 10
"""Bytes of inputs a tile of a scan. Smaller tiles need more look-backs, of larger ones fewer fit into shared memory."""

ROWS_AT_MOST, ROW_WORDS = 16, 48
"""Rows a warp, and four-byte words of the states that a thread keeps while it reduces them, one a row."""

GROUP_WORDS, WIDE_GROUP_WORDS = 16, 32
"""Four-byte words of states that a thread scans at the same time, if a row has no more: for states of up to two words,
and of more in the pipelined schedule. It does so before it knows what comes before them, so more of them shorten the
way from the prefix to the store, and fewer leave the look-back warp more of the multiprocessor. Sums of int32 and
float64 with 8: 0.525 and 0.530; 16: 0.521 and 0.528; 32: 0.522 and 0.567; `last` of float64 with 16: 0.640, 32:
0.620."""

LOOKBACKS, WIDE_LOOKBACKS = 1, 2
"""Look-back warps of a block, likewise. One that keeps up is better than two: with two, all blocks' tiles learn
of their prefixes at the same moments and then read and write memory at the same moments: sums of int32 and float64
with 1: 0.521 and 0.528; 2: 0.573 and 0.553; 3: 0.605 and 0.592. A second is for large states, with which one does not
keep up: affine of two float64 with 1: 1.271, 2: 0.918; `last` of float64 with 1: 0.686, 2: 0.620."""

RESIDENT_WARPS = 32
"""Warps of the classic schedule that should fit on a multiprocessor at the same time: it hides latencies by their
number. Sums of int32 and float64 with 16: 0.741 and 0.759; 24: 0.737 and 0.762; 32: 0.738 and 0.730. Results that leave
past the caches: 0.712 and 0.723, where they do not 0.746 and 0.732. Tiles kept in registers instead of read twice, with
16 warps: 0.900 and 0.898; warps that ask for four blocks at once, with 24: 0.821 and 0.875; the next tile fetched into
the L2 cache meanwhile: 1.104 and 0.956."""


@dataclass(frozen=True)
class Tile:
    """How a tile is cut: `warps` segments of `rows` rows of 32 lanes of `vector` items."""

    vector: int
    rows: int
    warps: int

    @property
    def items(self) -> int:
        """Items a tile."""
        return 32 * self.vector * self.rows * self.warps


@lru_cache(maxsize=1024)
def tile_for(inputs: Form, state: Form, outputs: Form) -> Tile:
    """Return the tile for these types.

    Small states are combined in many rows. Large ones, whose combinations and shuffles cost more than bank conflicts,
    in one row in which a lane has more items.
    """
    largest = max(d.itemsize for d in (*inputs, *outputs))
    smallest = min(d.itemsize for d in inputs)
    words, warps = -(-sum(max(d.itemsize, 4) for d in state) // 4), WARPS_OF_SCAN
    column = 32 * warps * sum(d.itemsize for d in inputs)  # bytes of one item of each lane
    raked = rakes(inputs, words, len(outputs))
    narrow = words <= 2 and 4 * words <= largest
    lane = RAKED_LANE_BYTES if raked else LANE_BYTES if narrow else WIDE_LANE_BYTES
    vector = max(1, lane // largest, 4 // smallest)
    if raked:
        while vector > 1 and vector * column > SCAN_TILE_BYTES:
            vector //= 2
        return Tile(vector, 1, warps)
    while vector > 1 and (vector + 1) * words > ITEM_WORDS:
        vector //= 2
    rows = 1
    while (
        2 * rows <= ROWS_AT_MOST
        and 2 * rows * vector * column <= SCAN_TILE_BYTES
        and 2 * rows * words <= ROW_WORDS
    ):
        rows *= 2
    return Tile(vector, rows, warps)


def rakes(inputs: Form, words: int, outputs: int) -> bool:
    """Return whether lanes reduce their items before states among lanes are scanned, for states of so many words."""
    return words >= RAKED_FROM * outputs and 4 * words > sum(d.itemsize for d in inputs)


AGGREGATORS = {2: 4, 9: 4}
"""Warps that reduce tiles before they are scanned, by words of a state; else as many as scan them. Sums of int64,
float64, int32, float32 with 8: 0.530, 0.534, 0.524, 0.526; 4: 0.523, 0.528, 0.527, 0.526; 2: 0.593, 0.614, 0.557,
0.554; `last` of int32, a tenth null, with 8: 0.670, 4: 0.634; affine of two float64 with 8: 0.866, 4: 0.916. Operators
that take long need all, but with 9 words (reproducible means) too few registers are left for each.
Reproducible sums of float64 and float32, scanned and reduced (run 27): with a state for each item 2.96, -, 0.60, -;
with digits of a lane's items cut off at one place 0.95, 1.25, 0.34, 0.45; with items read once, by 4 warps, 0.93, 1.25,
0.26, 0.34. Clocks in the kernel then said that warps scan for 80 % of the time. With running sums of two float64, and a
warp's states added in one bin by reductions of integers (run 29): 0.70, 0.77, 0.26, 0.30; by 8 warps 0.67, 0.70, 0.27,
0.30; 6: 0.70, 0.86; 8 and one look-back warp 0.79, 0.80, three 0.70, 0.74. With integers for sums too large for two
float64, and warps in step every four numbers, so that no register is spilled: 0.66, 0.73; of such sums 0.66, 0.77. With
integers for all, in step every sixteen: 0.69, 0.92."""

FEW_AGGREGATORS, FEW_FROM, FEW_IF_NULLS = 4, 12, 7
"""So few warps reduce tiles of states of so many words or more, and of so many if items may be missing, as more leave
too few registers. With 4, exponentially weighted means took 1.18 rather than 1.04 (run 19)."""

SWIZZLE_FROM = 2
"""Inputs from which on lanes take the pieces of their items in different orders (swizzle.cuh), which needs selections.
Shared memory was what affine of two float64 waited for, the others not: without 0.997, with 0.866; `last` of float64
0.614 and 0.643, products of float64 2.281 and 2.390."""

PANEL_BYTES, PANEL_WORDS, PANEL_WARPS, PANEL_BLOCKS = 8, 64, 8, 2
"""Where lines lie side by side: bytes that a thread reads at once, four-byte words of states that it keeps, warps of a
block, and blocks on a multiprocessor. Sums of 16384 x 16384 float32 along axis 0 with 4 bytes, 32 words, 8 warps and 4
blocks: 0.600, and the multiprocessors busy with addresses; 8, 64, 8, 2: 0.526; 16, 64, 16, 1: 0.532; 8, 64, 4, 4:
0.540; 16, 64, 4, 4: 0.599. Where few lines lie side by side a chunk waits in vain for the one before it, half a
microsecond each (2^23 x 32 float32: 14.2; 2^25 x 8: 54); looking back at the aggregates of a group: 1.56; 6.0."""


@dataclass(frozen=True)
class Panel:
    """How lines that lie side by side are cut: chunks of `warps` times `depth` rows of 32 lanes of `vector` lines."""

    vector: int
    depth: int
    warps: int

    @property
    def items(self) -> int:
        """Items of a line in a chunk."""
        return self.warps * self.depth


def lookbacks_for(words: int) -> int:
    """Return how many look-back warps a block of the pipelined schedule has, for states of so many words."""
    return LOOKBACKS if words <= 2 else WIDE_LOOKBACKS


def aggregators_for(tile: Tile, words: int, nulls: bool) -> int:
    """Return how many warps of the pipelined schedule reduce a tile that is scanned.

    `words` are those of a state, and `nulls` tells whether items may be missing.
    """
    if words >= FEW_FROM or (nulls and words == FEW_IF_NULLS):
        return min(tile.warps, FEW_AGGREGATORS)
    return min(tile.warps, AGGREGATORS.get(words, tile.warps))


def panel_for(inputs: Form, words: int) -> Panel:
    """Return how lines that lie side by side are cut, for states of so many words."""
    smallest = min(d.itemsize for d in inputs)
    vector = max(1, min(PANEL_BYTES // smallest, 4))
    while vector > 1 and vector * words > PANEL_WORDS // 16:
        vector //= 2
    depth = max(1, 1 << (PANEL_WORDS // (vector * words)).bit_length() - 1)
    return Panel(vector, min(depth, 32), PANEL_WARPS)


# --- columns --------------------------------------------------------------------------------------

SMALL_BYTES = 36 << 10
"""Bytes of a tile's columns at most on GPUs without LARGE_SHARED, and of the tiles that write head flags."""

TILE_BYTES = {
    "select": SMALL_BYTES,
    "unique": SMALL_BYTES,
    "run_lengths": 68 << 10,
    "reduce_by_key": 104 << 10,
    "scan_by_key": 52 << 10,
    "head_flags": SMALL_BYTES,
}
"""Bytes of a tile's columns at most on GPUs with LARGE_SHARED, by visitor.

One warp looks back for all tiles of a block, in about 1.4 microseconds a tile, which bounds what writes little: with
larger tiles there is less of it. Where a tile stays in its stage until it is written, more stages are better. Times
as fast as CUB on an H200, 2^28 rows (benchmarks/results/tuning_h200.json), with 36, 52 and 68 KiB:

| run lengths, runs of 500 / 2 | 1.60 / 1.01 | 2.19 / 1.00 | 2.37 / 0.99 |
| first rows of runs of 500 / 2 | 1.51 / 0.78 | 1.70 / 0.67 | 1.70 / 0.58 |
| sums of runs of 500 / 2 | 1.30 / 1.03 | 1.83 / 0.94 | 1.96 / 0.80 |
| 1 % / 50 % of int32 selected | 1.35 / 1.27 | 1.45 / 1.04 | |

Milliseconds for 2^27 rows of an int32 key and float64, runs of 500 (run 12): sums 0.58 with 52 and 68 KiB, 0.42 with
104; running sums 1.02 with 36 KiB, 0.92 with 52 and 68, 1.21 with 104. A selection of 1 % of five arrays takes 0.39
with 36 KiB and 0.34 with 52, of 50 % 1.48 with both. Since tickets are taken late (run 13: where few of the tiles are
held, sums and selections took 2 to 5 times as long before), the same sizes are best (run 14). The first rows of runs of
2, 25 and 500 of 2^28 int32, without their positions: with 52 KiB 0.64, 0.54 and 0.28, with 36 KiB, of which more fit
where all are held, 0.50, 0.46 and 0.32.
"""

WIDE_TILE_BYTES, WIDE_ROW = {"select": 52 << 10}, 4
"""The same where so many arrays or more are gathered."""

LESSER_BYTES = (84 << 10, 68 << 10, 52 << 10, SMALL_BYTES)
"""Those of tiles so wide that too few of the larger ones fit into shared memory."""

TILE_SHAPES = ((16, 8), (16, 6), (16, 4), (16, 2), (16, 1), (8, 1), (4, 1), (2, 1))
"""Warps of a tile, and rows of 128 items a warp: the first that fits."""

REDUCTION_SHAPES = ((16, 4), (16, 3), (16, 2), (16, 1), (8, 1), (4, 1), (2, 1))
"""The same where only the runs that end in a tile are written. With three rows sums of float64 by int64 take 0.55 ms
for 0.62, but scans and selections 6 to 23 % longer; with six, sums of float32 by int32 3 % less in runs of 500, and a
third more in runs of 2."""

WIDE_STATE, WIDE_WARPS = 8, 8
"""Bytes of an operator's state from which on a tile has fewer warps, so that a thread has more registers."""

LISTED_ROWS = 4
"""Rows of selected items that a warp lists at the same time, of 256 bytes each."""

DEPTH, DEPTH_AT_LEAST = 6, 2
"""Tiles of a block that may wait for their prefix; fewer where that leaves too few stages."""

CLASSIC_BYTES = 60 << 10
"""Shared memory that a block of the classic schedule may take on every GPU."""

COLUMN_BLOCKS = {True: 1, False: 2}
"""Blocks of the classic schedule that should fit on a multiprocessor at a time: with an operator, and without."""


def batch_for(words: int) -> int:
    """Return how many blocks of 32 tiles a look-back warp of columns asks for at once, for states of so many words."""
    return WINDOW if words <= 2 else WINDOW // 2 if words <= 4 else WIDE_BATCH


# --- sorting --------------------------------------------------------------------------------------

DIGIT_SHAPES = {
    (4, 0): (384, 26, 2), (4, 4): (384, 24, 2), (4, 8): (384, 16, 2),
    (8, 0): (384, 17, 2), (8, 4): (384, 16, 2), (8, 8): (384, 12, 2),
}  # fmt: skip
"""Threads of a block that sorts by a digit, rows of a thread, and blocks on a multiprocessor, on GPUs with
LARGE_SHARED: by the bytes of a key and of a value, if there is one; four are the least.

As many rows as no register is spilled for and two blocks have room for in shared memory. 2^28 uint32 with 22, 24 and 26
rows: 6.00, 5.72, 5.54 (runs 15 and 16 of the sweeps; CUB 5.44); three blocks of 256 threads and 24 rows 5.26 where two
of 384 took 5.20. Lanes with equal digits find each other by masks in shared memory, in two tables in turn: 5.20; in one
table 5.51, by votes on each bit 6.8, by __match_any_sync 9.4."""

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
on a multiprocessor, on GPUs with LARGE_SHARED: by the bytes of a key; see count_digits.cuh. Milliseconds of 2^28 uint32
and of 2^27 float64 (run 21): with 8 and 4 copies, four blocks of 512 threads 0.50 and 0.51; with 16 and 8, two of 1,024
0.40 and 0.48; with 32 and 16, one of 1,024 0.42 and 0.41, and with 16 rows at once 0.40 and 0.39."""

SMALL_COUNT_SHAPE = (512, 8, 4, 4)
"""The same on others, for all keys."""

SWEEP_THREADS, SWEEP_ITEMS = 512, 8
"""Threads of a block that marks ties, ranks or moves rows, and rows that a thread asks for at once."""

SPARED_FROM, SPARE_FROM, TIES_AT_MOST = 8, 1 << 20, 1 / 8
"""Bytes of keys, and rows, from which on keys are sorted by leading digits first; and how many others a row may be
expected to tie with."""

PLACED_FROM = 1 << 22
"""Rows from which on those that are put at positions are first brought near to them. 2^27 float64 (run 18): written
to any place 8.5, near by one digit 8.4, by two 6.8, by two and then in order by tiles 4.0."""

PLACE_BITS, PLACE_BITS_AT_MOST = 12, 13
"""Rows of a tile that is put in order in shared memory, as a power of two: as few as two digits leave."""

# --- scans by code --------------------------------------------------------------------------------

CODE_WARPS, CODE_BATCH, CODE_BLOCKS = (4, 2, 1), 4, 12
"""Warps of a block that walks chunks of rows, of which the most are taken that fit; rows that a lane asks for at once;
and blocks on a multiprocessor at most. Milliseconds for sums of 2^26 float64 by 1,000 codes, of the reduction and of
the scan (run 17): with 2, 4 and 6 rows 0.61 and 0.64, 0.56 and 0.58, 0.55 and 0.57; where each row was looked at
before the next was read 0.67 and 0.73, 0.63 and 0.71, 0.66 and 0.69."""

CODE_SHARED = {True: 226 << 10, False: 63 << 10}
"""Bytes of shared memory of a multiprocessor, with LARGE_SHARED or without."""

FEW_CODES = {True: 2048, False: 512}
"""Groups up to which a warp keeps a state of each in shared memory, likewise; one of at most 64 bytes."""

CHUNK_ROWS, CHUNK_GROUPS = 2048, 8
"""Rows of a chunk, and how many times as many as there are groups, at least."""

TABLE_WARPS, TABLE_COLUMNS, TABLE_BATCH = 16, 8, 8
"""Warps of a block that scans columns of the table of states, columns of a block, and rows of the table that a thread
asks for at once."""

# --- rolling windows ------------------------------------------------------------------------------

WINDOW_THREADS, WINDOW_BATCH = 256, 4
"""Threads of a block, and rows that a thread asks for at once."""

WINDOW_WORDS, WINDOW_ITEMS = 48, 16
"""Four-byte words of states that a thread keeps of its neighbouring rows at most, and such rows at most. Milliseconds
of 2^27 float64 (run 20), of sums of 10, 100 and 1,000 rows, extremes of 1,000, deviations of 100: with 16 rows 0.62,
0.74, 0.93, 0.99, 2.27; 8: 0.63, 0.75, 0.89, 1.04, 2.26; 4: 0.78, 0.99, 1.38, 1.54, 3.14."""

WINDOW_SHARED = {True: 112 << 10, False: 63 << 10}
"""Bytes of shared memory of a block at most, with LARGE_SHARED or without: wider windows are combined by levels."""

WINDOW_BLOCKS, WINDOW_RESIDENT = 8, 4
"""Blocks on a multiprocessor at most, and those that registers are left for. The same with 8 rows, and registers for 3
blocks: 0.68, 0.83, 0.98, 1.06, 2.60; 2: 0.76, 0.95, 1.10, 1.21, 2.60; 8 blocks of 128 threads: 0.61, 0.73, 0.93, 1.16,
3.34."""

SPAN_ITEMS, SPAN_RESIDENT, SPAN_BLOCKS = 8, 4, 64
"""Neighbouring windows between bounds that a thread answers at most, blocks that registers are left for, and blocks a
multiprocessor in a launch at most, of which the last may be fewer than fit."""

SPAN_SHARED = {True: 56 << 10, False: 56 << 10}
"""Bytes of shared memory of a block that answers windows between bounds at most, with LARGE_SHARED or without. Sums of
about 10, 100 and 1,000 rows of 2^27 float64 (run 21): 1.40, 1.50, 2.43; with 75 KiB and three blocks, which hold more
of wide windows, 1.57, 1.66, 2.03, and with 4 neighbouring windows as well 1.89, 2.36, 2.91; with 113 KiB and two blocks
1.95, 2.04, 2.49."""

LEVEL_GROUP, LEVEL_FAN = 8, 16
"""Rows that make a state of the first level, and states that make one of the next."""

REACH_THREADS, REACH_ITEMS, REACH_BLOCKS = 256, 8, 64
"""Of what looks for the first row within reach: threads of a block, neighbouring rows of a thread, and blocks a
multiprocessor in a launch at most."""

REACH_HALO, REACH_NEAR = 512, 8
"""Rows before those of a block that it reads as well, and rows from one answer on that are looked at one by one. About
10, 100 and 1,000 rows back, of 2^27 rows (run 21): 0.92, 0.96, 1.48; with 256 rows before 0.90, 0.94, 1.53; 1,024:
0.96, 1.00, 1.07; blocks of 128 threads with 256 rows before 0.87, 0.91, 1.71; 512 threads 0.99, 1.04, 1.52; with 4
neighbouring rows 0.92, 1.00, 1.41, with 16: 1.13, 1.16, 2.34."""

ORDER_PIECE = 1 << 22
"""Windows of a piece for order statistics, at least: the wavelet matrix of so many rows takes 23 MB, and stays in the
cache of an H100."""

# --- intervals ------------------------------------------------------------------------------------

INTERVAL_THREADS, INTERVAL_ROWS = 256, 4
"""Threads of a block that walks intervals, and intervals of a chunk that each of them lists."""

INTERVAL_PART = 1 << 14
"""Intervals and items that a block takes at once."""

INTERVAL_RESIDENT, INTERVAL_BLOCKS = 4, 64
"""Blocks that registers are left for, and blocks a multiprocessor in a launch at most."""

INTERVAL_VECTOR, INTERVAL_BATCH = {True: 16, False: 8}, {True: 1, False: 8}
"""Bytes that a thread writes at once, and how often before it waits for what it has read: where intervals are repeated,
and where they are gathered or scattered.

Milliseconds of 2^27 items of 8 bytes in intervals of 100 and of 4 (run 23), repeated and gathered, without the sums of
counts: in parts of 2^13 0.28, 0.49, 0.56, 0.77; 2^14 0.28, 0.47, 0.56, 0.75; 2^15 0.29, 0.47, 0.57, 0.74; read 8 times
rather than 4 before it waits 0.29, 0.47, 0.56, 0.73; with 8 intervals of a chunk each 0.29, 0.56, 0.61, 0.83.

Intervals of 100 in a random order, gathered, scattered and moved (run 26), in parts of 2^14: 0.61, 0.90, 0.91; of 2^12:
0.60, 0.86, 0.88; read 16 times before it waits: 0.62, 0.87, 0.89; 4 times: 0.62, 0.92, 0.94; registers for 6 blocks:
0.61, 0.90, 0.97; blocks of 512 threads: 0.59, 0.88, 0.89. Those of 4 take 1.30, 2.9 and 3.6 in all of these ways. Parts
of 2^12 and 16 reads together are slow: moved in 1.3, those of 4 in 4.9."""

# --- images and grids -----------------------------------------------------------------------------

TABLE_GROUP = 8
"""Strips of columns of a summed-area table whose sums are asked for at once."""


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
"""By the bytes of a number that is read or written or, if they are more, half of those of a sum.

Milliseconds of 16384 x 16384 float32, with answers of float32 and of float64 (run 26): these shapes 0.81 and 1.31;
(4, 10, 8, 1) and (2, 8, 8, 2) 0.83 and 1.42; (4, 8, 8, 1) and (2, 10, 8, 1) 0.86 and 1.34; (4, 14, 8, 1) and
(2, 14, 8, 1) 0.83 and 1.30. With groups of 16 (run 25) (4, 16, 8, 1) and (2, 8, 8, 2) 0.86 and 1.34, where tiles were
read from shared memory twice 1.05 and 1.30 (run 24); (4, 12, 8, 1) and (2, 8, 8, 3) 0.82 and 2.08; with groups of 32
(4, 16, 8, 1) and (4, 8, 8, 1) 1.03 and 2.58."""

SMALL_TABLE = {"warps": 8, "rows": 2}
"""What differs on GPUs without LARGE_SHARED."""

TABLE_BUSY = 1 / 4
"""Strips of columns a multiprocessor from which on a table is made in one pass."""

BOX_COLUMNS, BOX_ROWS, BOX_WINDOWS = (224, 128, 64), 16, 16
"""Columns of a block's strip of an image whose boxes are averaged, of which the most are taken that fit; rows that it
takes at once; and neighbouring windows that a thread sums up at most."""

BOX_SHARED, BOX_BLOCKS = {True: 113 << 10, False: 48 << 10}, 2
"""Bytes of shared memory of such a block at most, with LARGE_SHARED or without; and blocks on a multiprocessor."""

BOX_BANDS = 4
"""Bands of rows of strips for each block that runs at a time, if bands are many times as high as windows."""

BOX_THREADS, BOX_RESIDENT, BOX_LINE_BLOCKS = 256, 3, 64
"""Of windows along one axis: threads of a block, blocks that registers are left for, and blocks a multiprocessor in a
launch at most."""
