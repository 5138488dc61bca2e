"""The numbers that decide how large a tile is and how many are in flight, and what they were measured with.

A tile's size fixes the association of an operator's combinations, so it depends on types alone, never on
the device: the same input has the same bits on every GPU. What may differ between devices is how many
stages of shared memory the pipelined schedule keeps.
"""

from dataclasses import dataclass
from functools import lru_cache

import numpy as np

Form = tuple[np.dtype, ...]

SMALL, LARGE = (8, 48), (4, 104)
"""Warps of a squad, and four-byte words of states that a thread keeps in registers while it scans (its items, and one
a row): for states of up to four words, and of more. The pipelined schedule's block of 20 warps has 96 registers a
thread, that of 12 warps 168; with more words than these the compiler spills."""

PIPELINED_WARPS = 4
"""Warps of a block of the pipelined schedule beside its two squads; see pipelined.cuh."""

ROWS_AT_MOST = 8

SHARED_BYTES = {90: 200 << 10, 100: 200 << 10, 103: 200 << 10, 110: 200 << 10}
"""Shared memory for the stages of a block, by compute capability; else 88 KiB."""

STAGES_AT_MOST = 12
"""Measured with a prototype on an H200, 2^28 int32: 5 stages of 32 KiB reach 98 % of memcpy, 6 reach 100 %."""


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

    Milliseconds of the pipelined scan on an H200, by (vector, rows, warps): add of 2^28 float32 (4, 8, 8) 0.564,
    (8, 4, 8) 0.561, (4, 4, 8) 0.763, (4, 8, 4) 0.747; add of 2^27 float64 (2, 8, 8) 0.575, (4, 4, 8) 0.584,
    (2, 8, 4) 0.803; affine of 2^27 float64 (4, 2, 8) 0.999, (2, 4, 8) 0.997 but with spills in some variants,
    (8, 1, 8) 1.130; welford of 2^27 float64 (16, 1, 4) 2.53, (8, 2, 4) 2.87, (8, 1, 4) 3.50, (4, 1, 8) 3.46.
    """
    largest = max(d.itemsize for d in (*inputs, *outputs))
    words = -(-sum(max(d.itemsize, 4) for d in state) // 4)
    warps, most = SMALL if words <= 4 else LARGE
    vector = max(1, (16 if words <= 2 else 32 if words <= 4 else 128) // largest)
    while vector > 1 and (vector + 1) * words > most:
        vector //= 2
    rows = 1
    while rows < ROWS_AT_MOST and 2 * rows * (vector + 1) * words <= most:
        rows *= 2
    return Tile(vector, rows, warps)


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
