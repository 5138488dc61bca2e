"""The sizes of scans and reductions: tiles of long lines, panels of lines side by side, and the warps of a block.

Measurements: benchmarks/results/tuning-notes.md, "Scans".
"""

from functools import lru_cache

from ...late_dataclass import dataclass
from ..core.plan import Form
from ..core.tuning import Limits
from ..core.visitors import STRIDED

SCAN_LIMITS = Limits(shared=200 << 10, shared_elsewhere=88 << 10, stages=12, blocks=8)
"""The limits of scans: `shared` is the memory of stages alone."""

SHORT_LINE = 512
"""The most items of a line that is always scanned by one warp."""

ROW_STATE_WORDS = 8
"""Four-byte words of states for a lane's items in a short line."""

WARPS_OF_SCAN, ITEM_WORDS = 8, 48
"""Warps of a squad, and four-byte words of states that a thread has for a row (its items, and one more). Products of
float64 have states of five words: with 4 warps 2.281, with 8 warps, 4 of them to reduce tiles, 1.864."""

LANE_BYTES, WIDE_LANE_BYTES, RAKED_LANE_BYTES = 16, 32, 128
"""Bytes of a row for each lane: as many as one access moves, which has no bank conflicts; more if states are larger
than items or have three words, so that fewer states are shuffled; and for each array if states are raked. Lanes read at
least 4 bytes."""

RAKED_FROM = 4
"""Four-byte words of a state, for each output, from which on states are raked, unless items are as large. Raked lanes
write all outputs but the first far apart, and states as large as items cost little."""

RAKED_ITEMS = 32
"""The most items of a lane with raked states: bits of one word say which are missing."""

RAKE_CHAINS = 2
"""Parts that a lane reduces at the same time: each combination waits for the previous one, and few warps reduce."""

SCAN_TILE_BYTES = 32 << 10
"""Bytes of the inputs in a tile. Smaller tiles need more look-backs; fewer larger ones fit into shared memory."""

ROWS_AT_MOST, ROW_WORDS = 16, 48
"""The most rows of a warp, and four-byte words of the states, one for each row, that a thread keeps in a reduction."""

GROUP_WORDS, WIDE_GROUP_WORDS = 16, 32
"""Four-byte words of states that a thread scans at the same time, at least one row: for states of up to two words, and
for larger ones in the pipelined schedule. More words shorten the time from the prefix to the store; fewer leave the
look-back warp more of the multiprocessor."""

LOOKBACKS, WIDE_LOOKBACKS = 1, 2
"""Look-back warps of a block, for states of up to two words and for larger ones. With two, all blocks get their
prefixes and use memory at the same moments, so only large states, for which one is too slow, have two."""

RESIDENT_WARPS = 32
"""Warps of the classic schedule that should fit on a multiprocessor at the same time, to hide latencies."""

RELIEVED_FROM = 6
"""Four-byte words of a state from which on scans of the classic schedule begin with half of these warps, as products
do. With all of them, each of 19 kinds of such scans spilled registers on sm_75, sm_80, sm_90 and sm_120, and had to be
compiled again."""


@dataclass(frozen=True)
class Tile:
    """How a tile is cut: `warps` segments of `rows` rows of 32 lanes of `vector` items."""

    vector: int
    rows: int
    warps: int

    @property
    def items(self) -> int:
        """Items of a tile."""
        return 32 * self.vector * self.rows * self.warps


@lru_cache(maxsize=1024)
def tile_for(inputs: Form, state: Form, outputs: Form) -> Tile:
    """Return the tile for these types.

    Small states are combined in many rows. The combinations and shuffles of large ones cost more than bank conflicts,
    so they are combined in one row in which a lane has more items.
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
        vector = min(vector, RAKED_ITEMS)
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


TABLE_WORDS, TABLE_ITEMS = 8, 32
"""For narrow tables, where each row is scanned as one element: the most four-byte words of a row's states, and items of
the table for each lane."""

TABLE_AGGREGATORS, TABLE_LOOKBACKS, WIDE_TABLE_LOOKBACKS = 4, 4, 2
"""Warps that reduce tiles of narrow tables before they are scanned, and look-back warps of a block; the widest tables
have fewer, as their threads need more registers."""


def table_tile_for(inputs: Form, outputs: Form, across: int) -> Tile:
    """Return the tile for rows of `across` items of these types, with raked states."""
    largest = across * max(d.itemsize for d in (*inputs, *outputs))
    column = 32 * WARPS_OF_SCAN * across * sum(d.itemsize for d in inputs)
    vector = 1
    while (
        2 * vector * across <= TABLE_ITEMS
        and 2 * vector * largest <= RAKED_LANE_BYTES
        and 2 * vector * column <= SCAN_TILE_BYTES
    ):
        vector *= 2
    return Tile(vector, 1, WARPS_OF_SCAN)


def row_vector_for(inputs: Form, words: int, outputs: Form) -> int:
    """Return how many neighbouring items of a short line a lane has, for states of `words` words."""
    vector = max(1, LANE_BYTES // max(d.itemsize for d in (*inputs, *outputs)))
    while vector > 1 and vector * words > ROW_STATE_WORDS:
        vector //= 2
    return vector


def rakes(inputs: Form, words: int, outputs: int) -> bool:
    """Return whether lanes reduce their items before states are scanned among lanes, for states of `words` words."""
    return words >= RAKED_FROM * outputs and 4 * words > sum(d.itemsize for d in inputs)


AGGREGATORS = {2: 4, 9: 4}
"""Warps that reduce tiles before they are scanned, by words of a state; by default as many as scan them. Slow operators
need all of them, but with 9 words (reproducible means) too few registers would be left for each."""

FEW_AGGREGATORS, FEW_FROM, FEW_IF_NULLS = 4, 12, 7
"""The warps that reduce tiles if states have FEW_FROM words or more, or FEW_IF_NULLS and items may be missing: more
warps would leave too few registers. With 4, exponentially weighted means took 1.18 rather than 1.04 (run 19)."""

SWIZZLE_FROM = 2
"""The number of inputs from which on lanes access the pieces of their items in different orders (swizzle.cuh)."""

PANEL_BYTES, PANEL_WORDS, PANEL_WARPS, PANEL_BLOCKS = 8, 64, 8, 2
"""For lines side by side: bytes that a thread reads at once, four-byte words of states that it keeps, warps of a block,
and blocks on a multiprocessor."""


def strided_for(inner: int, vector: int) -> str:
    """Return the schedule of `inner` lines side by side, where a lane has `vector` of them."""
    return next((name for name, lanes in STRIDED.items() if lanes * vector >= inner), "strided")


@dataclass(frozen=True)
class Panel:
    """How lines side by side are cut: into chunks of `warps` times `depth` rows; a lane has `vector` lines."""

    vector: int
    depth: int
    warps: int

    @property
    def items(self) -> int:
        """Items of a line in a chunk, if a warp has one row at a time."""
        return self.warps * self.depth


def lookbacks_for(words: int) -> int:
    """Return how many look-back warps a block of the pipelined schedule has, for states of `words` words."""
    return LOOKBACKS if words <= 2 else WIDE_LOOKBACKS


def aggregators_for(tile: Tile, words: int, nulls: bool) -> int:
    """Return how many warps of the pipelined schedule reduce a tile that is scanned.

    `words` is the size of a state; `nulls` says whether items may be missing.
    """
    if words >= FEW_FROM or (nulls and words == FEW_IF_NULLS):
        return min(tile.warps, FEW_AGGREGATORS)
    return min(tile.warps, AGGREGATORS.get(words, tile.warps))


def panel_for(inputs: Form, words: int) -> Panel:
    """Return how lines side by side are cut, for states of `words` words."""
    smallest = min(d.itemsize for d in inputs)
    vector = max(1, min(PANEL_BYTES // smallest, 4))
    while vector > 1 and vector * words > PANEL_WORDS // 16:
        vector //= 2
    depth = max(1, 1 << (PANEL_WORDS // (vector * words)).bit_length() - 1)
    return Panel(vector, min(depth, 32), PANEL_WARPS)
