"""The numbers that decide how large a tile is and how many are in flight, and what they were measured with.

A tile's size fixes the association of an operator's combinations, so it depends on types alone, never on
the device: the same input has the same bits on every GPU. What may differ between devices is how many
stages of shared memory the pipelined schedule keeps.

Milliseconds are of 2^28 items of 4 bytes or 2^27 of 8 on an H200, on which memcpy takes 0.507; the sweeps they are from
are in benchmarks/results/tuning_h200.json (of scans: runs 1, 2 and 9 to 11).
"""

from dataclasses import dataclass
from functools import lru_cache

import numpy as np

Form = tuple[np.dtype, ...]

SMALL, LARGE = (8, 48), (4, 64)
"""Warps of a squad, and four-byte words of states that a thread has for a row (its items, and one more): for
states of up to five words, and of more. Products of float64, whose states have five, with 4 warps: 2.281, 8: 1.864, of
which 4 reduced tiles."""

LANE_BYTES, WIDE_LANE_BYTES, LARGE_LANE_BYTES = 16, 32, 128
"""Bytes that a lane has of a row: as many as one access moves, which meets no bank conflicts; more where states are
larger than items or have three words, so that fewer states are shuffled; and where they have more than five words.
Sums of 2^28 int8 with 16: 0.213, 32: 0.184; of int16 0.311 and 0.277; `last` of int32, a tenth null, 0.765 and 0.666.
Lanes read at least 4 bytes: sums of 2^28 int8 in int64 with 2: 0.719, 4: 0.680."""

TILE_BYTES = 32 << 10
"""Bytes of inputs a tile. Smaller tiles need more look-backs, of larger ones fewer fit into shared memory."""

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

WINDOW, WIDE_BATCH = 8, 2
"""Blocks of 32 tiles that a look-back warp asks for before it is its turn to fold them (132 multiprocessors: about
five have to be known); and at once, for large states. Sums of int32 and float64 with 4 at once: 0.526 and 0.550, 8:
0.521 and 0.528; affine with 2: 0.973, 4: 0.918, but with registers spilled."""

RESIDENT_WARPS = 32
"""Warps of the classic schedule that should fit on a multiprocessor at the same time: it hides latencies by their
number. Sums of int32 and float64 with 16: 0.741 and 0.759; 24: 0.737 and 0.762; 32: 0.738 and 0.730. Results that leave
past the caches: 0.712 and 0.723, where they do not 0.746 and 0.732. Tiles kept in registers instead of read twice, with
16 warps: 0.900 and 0.898; warps that ask for four blocks at once, with 24: 0.821 and 0.875; the next tile fetched into
the L2 cache meanwhile: 1.104 and 0.956."""

SHARED_BYTES = {90: 200 << 10, 100: 200 << 10, 103: 200 << 10, 110: 200 << 10}
"""Shared memory for the stages of a block, by compute capability; else 88 KiB."""

STAGES_AT_MOST = 12
"""Sums of float32 with 5 stages of 32 KiB: 0.529, 6: 0.522; 12 of 16 KiB, which need two look-back warps: 0.544."""


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

    Small states are combined in many rows. Large ones, whose combinations and shuffles cost more than bank conflicts: a
    lane has more items and there are fewer rows.
    """
    largest = max(d.itemsize for d in (*inputs, *outputs))
    smallest = min(d.itemsize for d in inputs)
    words = -(-sum(max(d.itemsize, 4) for d in state) // 4)
    warps, most = SMALL if words <= 5 else LARGE
    lane = LANE_BYTES if words <= 2 and 4 * words <= largest else WIDE_LANE_BYTES
    vector = max(1, (lane if words <= 5 else LARGE_LANE_BYTES) // largest, 4 // smallest)
    while vector > 1 and (vector + 1) * words > most:
        vector //= 2
    row = 32 * vector * warps * sum(d.itemsize for d in inputs)
    rows = 1
    while (
        2 * rows <= ROWS_AT_MOST and 2 * rows * row <= TILE_BYTES and 2 * rows * words <= ROW_WORDS
    ):
        rows *= 2
    return Tile(vector, rows, warps)


RELIEFS = 4
"""How often a kernel is compiled at most, until no registers are spilled; see source.py."""

AGGREGATORS = {2: 4}
"""Warps that reduce tiles before they are scanned, by words of a state; else as many as scan them. Sums of int64,
float64, int32, float32 with 8: 0.530, 0.534, 0.524, 0.526; 4: 0.523, 0.528, 0.527, 0.526; 2: 0.593, 0.614, 0.557,
0.554; `last` of int32, a tenth null, with 8: 0.670, 4: 0.634; affine of two float64 with 8: 0.866, 4: 0.916. Operators
that take long need all."""

BANKS_FROM = 2
"""Inputs from which on lanes take the pieces of their items in different orders (banks.cuh), which needs selections.
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


def aggregators_for(tile: Tile, words: int) -> int:
    """Return how many warps of the pipelined schedule reduce a tile that is scanned, for states of so many words."""
    return min(tile.warps, AGGREGATORS.get(words, tile.warps))


def panel_for(inputs: Form, words: int) -> Panel:
    """Return how lines that lie side by side are cut, for states of so many words."""
    smallest = min(d.itemsize for d in inputs)
    vector = max(1, min(PANEL_BYTES // smallest, 4))
    while vector > 1 and vector * words > PANEL_WORDS // 16:
        vector //= 2
    depth = max(1, 1 << (PANEL_WORDS // (vector * words)).bit_length() - 1)
    return Panel(vector, min(depth, 32), PANEL_WARPS)


def stages_for(inputs: Form, nulls: str, tile: Tile, capability: int) -> int:
    """Return how many stages of a tile's inputs the pipelined schedule keeps."""
    stage = sum(-(-(tile.items * d.itemsize + 16) // 128) * 128 for d in inputs)
    stage += stage_of_mask(nulls, tile)
    room = SHARED_BYTES.get(capability, 88 << 10)
    return max(2, min(STAGES_AT_MOST, room // stage))


def stage_of_mask(nulls: str, tile: Tile) -> int:
    """Bytes of a stage that hold a tile's mask."""
    if nulls == "bits":
        return -(-(tile.items // 8 + 32) // 128) * 128
    if nulls == "bytes":
        return -(-(tile.items + 16) // 128) * 128
    return 0


def stage_bytes(inputs: Form, nulls: str, tile: Tile) -> int:
    """Bytes of one stage, as pipelined.cuh lays it out."""
    stage = sum(-(-(tile.items * d.itemsize + 16) // 128) * 128 for d in inputs)
    return stage + stage_of_mask(nulls, tile)
