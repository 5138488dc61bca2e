"""The primitives on the GPU, one row each, with their device sources and what the engine must know about them.

A visitor defines what a tile does with its items once the engine has loaded it and knows its prefix. A new primitive
is a row here and a `.cuh` in its folder.
"""

from typing import Any

from ...late_dataclass import dataclass
from ..columns.tuning import REDUCTION_SHAPES, TILE_BYTES, TILE_SHAPES, WIDE_TILE_BYTES

LONG_LINES = ("classic", "pipelined")

STRIDED = {**{f"strided_{lanes}": lanes for lanes in (1, 2, 4, 8, 16)}, "strided": 32}
"""Lanes for a row of lines side by side, by the name of the schedule. If lines are few, a warp has several rows."""


@dataclass(frozen=True)
class VisitorSpec:
    """A primitive.

    Parameters
    ----------
    name : str
    source : str
        The device source that defines what a tile does.
    engine : str
        The kind of tiles: "scan" for lines of an operator's inputs, "columns" for rows of keys, values and masks,
        "sort" for rows of one key that is sorted by its digits, "codes" for rows of few groups, "windows" for rows of
        rolling windows, "starts" for rows of one value that does not decrease, "intervals" for intervals and their
        items, "grids" for images; these six have no tiles to visit, and their source is the whole kernel.
    schedules : tuple of str
        How tiles may be handed out; `<engine>_<schedule>.cuh` has the kernel. A part after an underscore is a size.
    looks_back : bool
        Whether a tile waits for what comes before it.
    reduces : bool
        Whether an operator's results are written for each run rather than for each item.
    lists : bool
        Whether warps list the places of selected items in shared memory.
    counts : int
        Counts in the state of a tile: the number of selected items and, if 2, of items since the last of them.
    tile_bytes, wide_tile_bytes : int
        The most bytes of a tile's columns, and the most if many arrays are gathered.
    shapes : tuple
        Warps of a tile of columns and rows of each warp, the largest first.
    """

    name: str
    source: str
    engine: str = "columns"
    schedules: tuple[str, ...] = LONG_LINES
    looks_back: bool = True
    reduces: bool = False
    lists: bool = False
    counts: int = 1
    tile_bytes: int = 0
    wide_tile_bytes: int = 0
    shapes: tuple[tuple[int, int], ...] = TILE_SHAPES


def _on_columns(name: str, source: str, **options: Any) -> VisitorSpec:
    size = TILE_BYTES[name]
    wide = WIDE_TILE_BYTES.get(name, size)
    return VisitorSpec(name, source, tile_bytes=size, wide_tile_bytes=wide, **options)


SCAN = VisitorSpec("scan", "scan_tile", "scan", (*LONG_LINES, *STRIDED, "rows"))
SELECT = _on_columns("select", "compact", lists=True)
UNIQUE = _on_columns("unique", "compact", lists=True)
RUN_LENGTHS = _on_columns("run_lengths", "run_lengths", lists=True, counts=2)
REDUCE_BY_KEY = _on_columns("reduce_by_key", "by_key", reduces=True, shapes=REDUCTION_SHAPES)
SCAN_BY_KEY = _on_columns("scan_by_key", "by_key")
HEAD_FLAGS = _on_columns("head_flags", "head_flags", looks_back=False, schedules=("classic",))
COUNT_DIGITS = VisitorSpec("count_digits", "count_digits", "sort", ("classic",), looks_back=False)
SORT_DIGIT = VisitorSpec("sort_digit", "sort_digit", "sort", ("classic",))
SORT_FEW = VisitorSpec("sort_few", "sort_few", "sort", ("classic",), looks_back=False)
MARK_TIES = VisitorSpec("mark_ties", "mark_ties", "sort", ("classic",), looks_back=False)
PLACE_ROWS = VisitorSpec("place_rows", "place_rows", "sort", ("classic",), looks_back=False)
TIED_RANKS = VisitorSpec("tied_ranks", "tied_ranks", "sort", ("classic",), looks_back=False)
SORTED_SEARCH = VisitorSpec(
    "sorted_search", "sorted_search", "sort", ("classic",), looks_back=False
)
BY_CODE = VisitorSpec("by_code", "by_code", "codes", ("classic",), looks_back=False)
ROLLING = VisitorSpec("rolling", "rolling", "windows", ("classic",), looks_back=False)
WINDOW_STARTS = VisitorSpec(
    "window_starts", "window_starts", "starts", ("classic",), looks_back=False
)
INTERVAL_SUMS = VisitorSpec(
    "interval_sums", "interval_sums", "intervals", ("classic",), looks_back=False
)
INTERVALS = VisitorSpec("intervals", "intervals", "intervals", ("classic",), looks_back=False)
AREA_TABLE = VisitorSpec("area_table", "area_table", "grids", ("classic",))
BOX_IMAGE = VisitorSpec("box_image", "box_image", "grids", ("classic",), looks_back=False)
BOX_LINE = VisitorSpec("box_line", "box_line", "grids", ("classic",), looks_back=False)
MOVE_ROWS = VisitorSpec("move_rows", "move_rows", "sort", ("classic",), looks_back=False)
PACK_ROWS = VisitorSpec("pack_rows", "pack_rows", "sort", ("classic",), looks_back=False)

VISITORS = (
    SCAN,
    SELECT,
    UNIQUE,
    RUN_LENGTHS,
    REDUCE_BY_KEY,
    SCAN_BY_KEY,
    HEAD_FLAGS,
    COUNT_DIGITS,
    SORT_DIGIT,
    SORT_FEW,
    MARK_TIES,
    TIED_RANKS,
    MOVE_ROWS,
    PACK_ROWS,
    PLACE_ROWS,
    SORTED_SEARCH,
    BY_CODE,
    ROLLING,
    WINDOW_STARTS,
    INTERVAL_SUMS,
    INTERVALS,
    AREA_TABLE,
    BOX_IMAGE,
    BOX_LINE,
)
