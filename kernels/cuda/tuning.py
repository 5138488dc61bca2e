"""The numbers that decide how large a tile is and how many are in flight, and what they were measured with.

A tile's size fixes the association of an operator's combinations, so it depends on types alone, never on
the device: the same input has the same bits on every GPU. What may differ between devices is how many
stages of shared memory the pipelined schedule keeps.

Milliseconds are of 2^28 items of 4 bytes or 2^27 of 8 on an H200, on which memcpy takes 0.507; the sweeps they are from
are in benchmarks/results/tuning_h200.json.
"""

from dataclasses import dataclass
from functools import lru_cache

import numpy as np

Form = tuple[np.dtype, ...]

SMALL, LARGE = (8, 48), (4, 64)
"""Warps of a squad, and four-byte words of states that a thread has for a row (its items, and one more): for
states of up to four words, and of more."""

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
0.521 and 0.528; affine with 2: 0.973, 4: 0.918,
but with registers spilled."""

RESIDENT_WARPS = 32
"""Warps of the classic schedule that should fit on a multiprocessor at the same time: it hides latencies by their
number. Sums of int32 and float64 with 16: 0.741 and 0.759; 24: 0.737 and 0.762; 32: 0.738 and 0.730."""

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

    Small states: items are moved 16 bytes at a time, which meets no bank conflicts, and combined in many rows. Large
    states, whose combinations and shuffles cost more than conflicts: a lane has more items and there are fewer rows.
    """
    largest = max(d.itemsize for d in (*inputs, *outputs))
    words = -(-sum(max(d.itemsize, 4) for d in state) // 4)
    warps, most = SMALL if words <= 4 else LARGE
    vector = max(1, (16 if words <= 2 else 32 if words <= 4 else 128) // largest)
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

DEPTH_WORDS = 32
"""Four-byte words of states that a thread keeps of a line, where lines lie side by side. Sums of 16384 x 16384 float32
along axis 0 with 32 and 4, 3, 2 blocks of 8 warps on a multiprocessor: 0.600, 0.663, 0.645; with 16 and 6 blocks:
0.595; two or four panels of 32 lines a block: 0.646 at best."""


def lookbacks_for(words: int) -> int:
    """Return how many look-back warps a block of the pipelined schedule has, for states of so many words."""
    return LOOKBACKS if words <= 2 else WIDE_LOOKBACKS


def depth_for(words: int) -> int:
    """Return how many items of a line a thread keeps, where lines lie side by side, for states of so many words."""
    return max(1, 1 << (DEPTH_WORDS // words).bit_length() - 1)


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
