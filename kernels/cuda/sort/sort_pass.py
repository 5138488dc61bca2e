"""The passes of sorting, and their CUDA source: each pass is one kernel over rows of one key and at most one value."""

from dataclasses import replace
from itertools import accumulate
from typing import ClassVar

import numpy as np

from ...late_dataclass import dataclass
from ...options import RANKS
from ..core.plan import Capability, Geometry, PlainPass, Tickets
from ..core.source import constants_source, include
from ..core.tuning import LARGE_SHARED, PLAIN_ITEMS, PLAIN_THREADS
from ..core.visitors import (
    COUNT_DIGITS,
    MARK_TIES,
    MOVE_ROWS,
    PACK_ROWS,
    PLACE_ROWS,
    SORT_DIGIT,
    SORT_FEW,
    SORTED_SEARCH,
    TIED_RANKS,
    VisitorSpec,
)
from .tuning import (
    COUNT_SHAPES,
    DIGIT_BATCH,
    DIGIT_SHAPES,
    PACKED_BYTES,
    RESTORED_SHAPES,
    SMALL_COUNT_SHAPE,
    SMALL_DIGIT_SHAPE,
)

BINS = 256
"""Values of a digit, which has eight bits."""


@dataclass(frozen=True)
class KeyCode:
    """How keys become codes: unsigned integers of the same size and in the same order (sort_code.cuh).

    Parameters
    ----------
    size : int
        Bytes of a key.
    kind : {"unsigned", "signed", "times", "floats"}
    descending, nulls_first : bool
    """

    size: int
    kind: str = "unsigned"
    descending: bool = False
    nulls_first: bool = False

    @property
    def infinite(self) -> int:
        """The bits of infinity; those of NaN are above."""
        floats = {2: np.float16, 4: np.float32, 8: np.float64}
        if self.kind != "floats":
            return 0
        return int(np.array(np.inf, floats[self.size]).view(f"u{self.size}"))


@dataclass(frozen=True)
class CountPass(PlainPass):
    """Count all digits of all keys."""

    code: KeyCode
    shape: tuple[int, int, int, int] = SMALL_COUNT_SHAPE
    """Threads of a block, rows that a thread requests at once, copies of the counts, and blocks on a multiprocessor."""
    visitor: ClassVar[VisitorSpec] = COUNT_DIGITS
    name: ClassVar[str] = "the digits of a sort"
    parameters: ClassVar[str] = "=4Q4q0s0s"

    @property
    def carry(self) -> np.dtype:
        """The dtype of the counts."""
        return np.dtype([("digits", np.uint64, (self.code.size, BINS))])

    def sized(self, capability: Capability) -> "CountPass":
        """Return the pass with as many copies of counts as a GPU of this compute capability has room for."""
        if capability not in LARGE_SHARED:
            return self
        return replace(self, shape=COUNT_SHAPES[self.code.size])

    def geometry(self, schedule: str, capability: Capability) -> Geometry:
        """Return the size of the blocks."""
        threads, rows, copies, resident = self.shape
        shared = 4 * self.code.size * BINS * copies
        plain = super().geometry(schedule, capability)
        return replace(
            plain, threads=threads, items=threads * rows, shared=shared, blocks=resident,
            tickets=Tickets.ALWAYS,
        )  # fmt: skip


@dataclass(frozen=True)
class TiesPass(PlainPass):
    """Mark rows that have the same leading digits as a neighbour."""

    code: KeyCode
    visitor: ClassVar[VisitorSpec] = MARK_TIES
    name: ClassVar[str] = "the ties of a sort"
    parameters: ClassVar[str] = "=4Q4q0s0s"


@dataclass(frozen=True)
class RankPass(PlainPass):
    """Rank sorted keys, within groups if there are any; the numbers of groups have `group` bytes."""

    code: KeyCode
    method: str
    """The rank of equal keys, a key of `RANKS`."""
    group: int = 0
    visitor: ClassVar[VisitorSpec] = TIED_RANKS
    name: ClassVar[str] = "ranks of sorted keys"
    parameters: ClassVar[str] = "=5Q3q0s0s"


@dataclass(frozen=True)
class SearchPass(PlainPass):
    """Find where sorted needles would be inserted into sorted values, after equal ones if `right`.

    With `merges`, both sides are merged, with the codes of their groups.
    """

    code: KeyCode
    right: bool
    merges: bool = False
    visitor: ClassVar[VisitorSpec] = SORTED_SEARCH
    name: ClassVar[str] = "places among sorted values"
    parameters: ClassVar[str] = "=11Q7q0s0s"


@dataclass(frozen=True)
class MovePass(PlainPass):
    """Take rows of `size` bytes from positions, or put them there."""

    size: int
    position: int
    """Bytes of a position."""
    puts: bool
    visitor: ClassVar[VisitorSpec] = MOVE_ROWS
    name: ClassVar[str] = "rows by position"
    parameters: ClassVar[str] = "=5Q3q0s0s"


@dataclass(frozen=True)
class PackPass(PlainPass):
    """Put rows of columns side by side, or take such rows by position and put them back into columns.

    Parameters
    ----------
    sizes : tuple of int
        Bytes of a row of each column, from the largest to the smallest.
    row : int
        Bytes of such a row, with padding: 8, 16 or 32.
    position : int
        Bytes of a position; 0 if rows are put side by side.
    """

    sizes: tuple[int, ...]
    row: int
    position: int = 0
    visitor: ClassVar[VisitorSpec] = PACK_ROWS
    name: ClassVar[str] = "rows of several columns"

    @property
    def parameters(self) -> str:
        """The format of the parameters, as pack_rows.cuh declares them."""
        return f"={len(self.sizes) + 4}Q3q0s0s"

    def geometry(self, schedule: str, capability: Capability) -> Geometry:
        """Return the size of the blocks."""
        plain = super().geometry(schedule, capability)
        return replace(plain, items=plain.threads * (PACKED_BYTES // self.row))


@dataclass(frozen=True)
class PlacePass(PlainPass):
    """Put rows of `size` bytes at positions that are in the order of their leading bits, tile by tile."""

    size: int
    position: int
    """Bytes of a position."""
    tile: int
    visitor: ClassVar[VisitorSpec] = PLACE_ROWS
    name: ClassVar[str] = "rows near their positions"
    parameters: ClassVar[str] = "=5Q3q0s0s"

    def geometry(self, schedule: str, capability: Capability) -> Geometry:
        """Return the size of the blocks."""
        plain = super().geometry(schedule, capability)
        return replace(plain, items=self.tile, shared=self.tile * self.size)


@dataclass(frozen=True)
class DigitPass(PlainPass):
    """Sort rows by one digit of their keys.

    Parameters
    ----------
    code : KeyCode
    value : int
        Bytes of the value of a row, 0 without one.
    positions : bool
        Whether values are the positions of rows, which are not read.
    writes_keys : bool
    widens : bool
        Whether values, which are positions, are written as int64.
    wide : bool
        Whether counts of rows need more than 30 bits.
    restores : bool
        Whether values that a pass over the same keys moved are put back.
    shape : tuple of int
        Threads of a block, rows of a thread, and blocks that should fit on a multiprocessor.
    """

    code: KeyCode
    value: int = 0
    positions: bool = False
    writes_keys: bool = True
    widens: bool = False
    wide: bool = False
    restores: bool = False
    shape: tuple[int, int, int] = SMALL_DIGIT_SHAPE
    visitor: ClassVar[VisitorSpec] = SORT_DIGIT
    name: ClassVar[str] = "a digit of a sort"
    parameters: ClassVar[str] = "=7Q4q0s0s"

    def sized(self, capability: Capability) -> "DigitPass":
        """Return the pass with tiles of the size that suits a GPU of this compute capability."""
        if capability not in LARGE_SHARED:
            return self
        shapes = RESTORED_SHAPES if self.restores else DIGIT_SHAPES
        shape = shapes[max(self.code.size, 4), max(self.value, 4) if self.value else 0]
        return replace(self, shape=shape)

    def geometry(self, schedule: str, capability: Capability) -> Geometry:
        """Return the size of the blocks."""
        threads, rows, resident = self.shape
        tile = threads * rows
        return Geometry(
            threads=threads, shared=tile * max(self.code.size, self.value) + threads // 32 * 3 * 4 * BINS,
            items=tile, blocks=resident, descriptor=BINS * (8 if self.wide else 4),
            tickets=Tickets.ALWAYS,
        )  # fmt: skip


@dataclass(frozen=True)
class FewPass(PlainPass):
    """Sort few rows by all of their keys; the other parameters are those of `DigitPass`."""

    code: KeyCode
    value: int = 0
    positions: bool = False
    writes_keys: bool = True
    widens: bool = False
    visitor: ClassVar[VisitorSpec] = SORT_FEW
    name: ClassVar[str] = "a sort of few rows"
    parameters: ClassVar[str] = "=6Q3q0s0s"

    def geometry(self, schedule: str, capability: Capability) -> Geometry:
        """Return the size of the blocks: each lane has a row."""
        return replace(super().geometry(schedule, capability), items=32)


SortPass = (
    CountPass
    | TiesPass
    | RankPass
    | SearchPass
    | MovePass
    | PackPass
    | PlacePass
    | DigitPass
    | FewPass
)


def sort_source(each: SortPass, schedule: str, capability: Capability, relief: int = 0) -> str:
    """Return the CUDA source of a pass. Each step of `relief` leaves more registers to a thread."""
    threads, rows = PLAIN_THREADS, PLAIN_ITEMS
    constants: dict[str, int]
    if isinstance(each, PackPass):
        return _pack_source(each)
    if isinstance(each, MovePass | PlacePass):
        types = [f"using Key = {_word(each.size)};", f"using Position = {_word(each.position)};"]
        constants = {"PUTS": each.puts} if isinstance(each, MovePass) else {}
    else:
        types = [f"using Key = {_word(each.code.size)};"]
        constants = _code_constants(each.code)
    if isinstance(each, RankPass):
        types.append(f"using Group = {_word(each.group or 1)};")
        constants |= {"METHOD": tuple(RANKS).index(each.method), "GROUPED": each.group > 0}
    if isinstance(each, SearchPass):
        constants |= {"RIGHT": each.right, "MERGES": each.merges}
    if isinstance(each, CountPass):
        threads, rows, copies, resident = each.shape
        constants |= {"DIGITS": each.code.size, "COPIES": copies, "RESIDENT": resident}
    if isinstance(each, DigitPass | FewPass):
        types += [
            f"using Value = {_word(each.value or 1)};",
            f"using Written = {_word(8 if each.widens else each.value or 1)};",
        ]
        constants |= {
            "VALUES": each.value > 0,
            "POSITIONS": each.positions,
            "WRITES_KEYS": each.writes_keys,
        }
    if isinstance(each, DigitPass):
        threads, rows, resident = each.shape
        types.append(f"using Count = {'u64' if each.wide else 'u32'};")
        constants |= {
            "RESTORES": each.restores,
            "BATCH": DIGIT_BATCH,
            "RESIDENT": max(1, resident - relief),
        }
    if isinstance(each, PlacePass):
        rows = each.tile // threads
    constants |= {"THREADS": threads, "ITEMS": rows, "TILE": threads * rows}
    lines = include("words") + constants_source(constants) + types
    if not isinstance(each, MovePass | PlacePass):
        size = each.code.size
        lines.append(
            f"constexpr {_word(size)} INFINITE = {each.code.infinite}u{'ll' * (size == 8)};"
        )
        lines += include("sort_code", *["merge_path"] * isinstance(each, SearchPass))
    return "\n".join([*lines, *include(each.visitor.source), ""])


def _pack_source(each: PackPass) -> str:
    rows, columns = PACKED_BYTES // each.row, len(each.sizes)
    constants = {
        "THREADS": PLAIN_THREADS, "ITEMS": rows, "TILE": PLAIN_THREADS * rows,
        "PACKS": not each.position, "COLUMNS": columns, "ROW_BYTES": each.row,
    }  # fmt: skip
    offsets = [0, *accumulate(each.sizes)][:columns]
    lines = [*include("words"), *constants_source(constants)]
    for name, numbers in (("SIZES", each.sizes), ("OFFSETS", offsets)):
        lines.append(f"constexpr int {name}[] = {{{', '.join(map(str, numbers))}}};")
    lines.append(f"using Position = {_word(each.position or 4)};")
    return "\n".join([*lines, *include(each.visitor.source), ""])


def _code_constants(code: KeyCode) -> dict[str, int]:
    kinds = {"SIGNED": "signed", "TIMES": "times", "FLOATS": "floats"}
    return {name: int(code.kind == kind) for name, kind in kinds.items()} | {
        "DESCENDING": code.descending,
        "NULLS_FIRST": code.nulls_first,
    }


def _word(size: int) -> str:
    return "c128" if size == 16 else f"u{8 * size}"
