"""What a compaction kernel is for, how large its tiles are, and what of them is in shared memory.

A plan names the columns that a tile has in shared memory: keys (or what a predicate reads), values of an operator,
masks of both, and arrays that are moved. This module must never see an array or CUDA source, nor compile or launch
anything.
"""

from dataclasses import dataclass, field, fields, replace
from functools import cached_property
from typing import Any

import numpy as np

from ..operators import Operator
from .numbers import kernel_token
from .source import Form, Variant, state_dtype, state_words

TILE_BYTES = {
    "select": 36 << 10,
    "select, wide": 52 << 10,
    "scan": 52 << 10,
    "unique": 52 << 10,
    "reduce": 104 << 10,
    "run_lengths": 68 << 10,
}
"""Bytes of a tile's columns at most, on GPUs of SHARED_BYTES; on others, the fewest of them.

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
held, sums and selections took 2 to 5 times as long before), the same sizes are best (run 14).
"""

SMALL_BYTES = min(TILE_BYTES.values())

LESSER_BYTES = (84 << 10, 68 << 10, 52 << 10, SMALL_BYTES)
"""Those of tiles so wide that too few of the larger ones fit into shared memory."""

CUTS = ((16, 8), (16, 6), (16, 4), (16, 2), (16, 1), (8, 1), (4, 1), (2, 1))
"""Warps of a tile, and rows of 128 items a warp."""

REDUCTION_CUTS = ((16, 4), (16, 3), (16, 2), (16, 1), (8, 1), (4, 1), (2, 1))
"""The same where only the runs that end in a tile are written. With three rows sums of float64 by int64 take 0.55 ms
for 0.62, but scans and selections 6 to 23 % longer; with six, sums of float32 by int32 3 % less in runs of 500, and a
third more in runs of 2."""

WIDE_ROW = 4
"""Arrays that a selection moves from which on its tiles are larger."""

WIDE_STATE, WIDE_WARPS = 8, 8
"""Bytes of an operator's state from which on a tile has fewer warps, so that a thread has more registers."""

LISTED_ROWS = 4
"""Rows of marked items that a warp lists at the same time, of 256 bytes each."""

SHARED_BYTES = {90: 222 << 10, 100: 222 << 10, 103: 222 << 10, 110: 222 << 10}
"""Shared memory of a block of the pipelined schedule, by compute capability; else 96 KiB."""

STAGES_AT_MOST, STAGES_AT_LEAST = 8, 2
"""Stages of a block of the pipelined schedule."""

DEPTH, DEPTH_AT_LEAST = 6, 2
"""Tiles of a block that may wait for their prefix; fewer where that leaves too few stages."""

COUNTS: dict[str, np.dtype] = {"pipelined": np.dtype(np.uint32), "classic": np.dtype(np.int64)}
"""The type of counts in the state of a tile. The pipelined schedule folds 1024 tiles at most before it adds them to
what comes before, which has 8 bytes; the classic one publishes what comes before as well."""


def sized(plan: "Plan", capability: tuple[int, int]) -> "Plan":
    """Return the plan with tiles of the size that suits a GPU of this compute capability."""
    if 10 * capability[0] + capability[1] not in SHARED_BYTES or plan.visitor == "heads":
        return plan
    if plan.by is not None:
        kind = "reduce" if plan.reduces else "scan"
    elif plan.visitor == "compact":
        kind = "unique" if plan.marks == "runs" else "select"
        if kind == "select" and len(plan.moved) >= WIDE_ROW and not plan.split:
            kind = "select, wide"
    else:
        kind = plan.visitor
    sizes = [TILE_BYTES[kind], *(s for s in LESSER_BYTES if s < TILE_BYTES[kind])]
    plans = [replace(plan, tile_bytes=size) for size in sizes]
    return next((p for p in plans if p.stages(capability) >= STAGES_AT_LEAST), plans[-1])


@dataclass(frozen=True)
class Nullness:
    """Where missing elements of a column are told: "none", "in band", "bits" or "bytes", and by which bit."""

    kind: str = "none"
    null: int = 0

    @property
    def masked(self) -> bool:
        """Whether a mask is read."""
        return self.kind in ("bits", "bytes")


@dataclass(frozen=True)
class Moved:
    """An array that is moved: from which column, from its own memory (-1), or the rows' positions (-2)."""

    dtype: np.dtype
    column: int


@dataclass(frozen=True)
class Plan:
    """What one compiled kernel is for.

    `order` tells a predicate's parameters: ("row", its key) or ("scalar", which).
    `marks` is "flags", "predicate" or "runs"; `visitor` is "compact", "run_lengths", "by_key" or "heads", and `by` the
    operator of "by_key" with the identity of its states.
    """

    visitor: str
    marks: str
    keys: Form
    key_nulls: tuple[Nullness, ...]
    scalars: Form = ()
    predicate: Operator | None = None
    order: tuple[tuple[str, int], ...] = ()
    last: bool = False
    moved: tuple[Moved, ...] = ()
    staged: Form = ()
    split: bool = False
    in_place: bool = False
    by: Variant | None = None
    identity: Any = field(default=None, compare=False)
    value_nulls: Nullness = Nullness()
    reduces: bool = False
    starts: bool = False
    tile_bytes: int = SMALL_BYTES

    @cached_property
    def _hash(self) -> int:
        return hash(tuple(getattr(self, f.name) for f in fields(self) if f.compare))

    def __hash__(self) -> int:  # asked at every launch
        return self._hash

    @cached_property
    def key(self) -> str:
        """What tells the plan from others in the cache of cubins, beside its source."""
        tokens = [self.predicate.token] if self.predicate else []
        if self.by:
            tokens.append(kernel_token(self.by.op, self.by.inputs))
        band = [n.kind == "in band" for n in self.key_nulls]
        identity = None if self.by is None else repr(self.identity)
        forms = None if self.by is None else (self.by.inputs, self.by.state, self.by.outputs)
        return repr((tokens, self.keys, band, self.scalars, self.order, identity, forms))

    @property
    def values(self) -> Form:
        """The dtypes of an operator's inputs."""
        return self.by.inputs if self.by else ()

    @property
    def masks(self) -> list[Nullness]:
        """The masks that are read: those of keys, then that of the values."""
        return [n for n in (*self.key_nulls, self.value_nulls) if n.masked]

    @property
    def columns(self) -> int:
        """Columns in shared memory: keys, values, masks, moved arrays."""
        return len(self.keys) + len(self.values) + len(self.masks) + len(self.staged)

    @property
    def outputs(self) -> int:
        """Arrays that are written, at least one."""
        return max(1, len(self.by.outputs) if self.by else len(self.moved))

    @property
    def reverse(self) -> bool:
        """Whether items are taken from the last to the first."""
        return self.by is not None and self.last

    @cached_property
    def cut(self) -> tuple[int, int]:
        """Warps of a tile, and rows a warp."""
        sizes = [d.itemsize for d in (*self.keys, *self.values, *self.staged)]
        width = sum(sizes) + sum(1 if n.kind == "bytes" else 1 / 8 for n in self.masks)
        wide = self.by is not None and sum(d.itemsize for d in self.by.state) > WIDE_STATE
        every = REDUCTION_CUTS if self.reduces else CUTS
        cuts = [c for c in every if c[0] <= WIDE_WARPS or not wide]
        fit = [c for c in cuts if 128 * c[0] * c[1] * width <= self.tile_bytes]
        return fit[0] if fit else cuts[-1]

    @property
    def tile(self) -> int:
        """Items a tile."""
        return 128 * self.cut[0] * self.cut[1]

    @cached_property
    def stage(self) -> int:
        """Bytes of a tile in shared memory, as columns.cuh lays it out."""
        data = [(self.tile + 1) * d.itemsize for d in (*self.keys, *self.values, *self.staged)]
        data += [(self.tile // 8 + 2) if n.kind == "bits" else self.tile + 1 for n in self.masks]
        return sum(-(-(size + 32) // 128) * 128 for size in data)

    @property
    def listed_rows(self) -> int:
        """Rows of a segment that are listed at the same time."""
        return min(LISTED_ROWS, self.cut[1])

    @property
    def lists(self) -> int:
        """Bytes of the lists of marked items."""
        listing = self.visitor in ("compact", "run_lengths")
        return 256 * self.listed_rows * self.cut[0] if listing else 0

    @property
    def kept(self) -> int:
        """Bytes of what warps keep of a tile that waits, as `_kept` lays it out."""
        fields = [np.dtype(np.uint32)]
        fields += [m.dtype for m in self.moved if m.column >= 0]
        form = [(f"f{i}", d) for i, d in enumerate(fields)]
        if self.by:
            form.append(("open", state_dtype(self.by.state)))
        return 32 * self.cut[0] * np.dtype(form, align=True).itemsize

    def depth(self, capability: tuple[int, int]) -> int:
        """Return how many tiles of a block may wait for their prefix."""
        depths = range(DEPTH, DEPTH_AT_LEAST, -1)
        fit = (d for d in depths if self._stages(d, capability) >= STAGES_AT_LEAST)
        return next(fit, DEPTH_AT_LEAST)

    def shared(self, schedule: str, capability: tuple[int, int]) -> int:
        """Return the bytes of dynamic shared memory of a block."""
        if schedule == "classic":
            return self.stage + self.kept + self.lists
        return (
            self.stages(capability) * self.stage + self.depth(capability) * self.kept + self.lists
        )

    def stages(self, capability: tuple[int, int]) -> int:
        """Return how many stages the pipelined schedule has; less than STAGES_AT_LEAST are too few."""
        return self._stages(self.depth(capability), capability)

    def _stages(self, depth: int, capability: tuple[int, int]) -> int:
        room = SHARED_BYTES.get(10 * capability[0] + capability[1], 96 << 10)
        slot = 96 + 4 * self.columns + prefix_dtype_of(self).itemsize
        slot += 2 * self.cut[0] * state_dtype_of(self, "pipelined").itemsize
        room -= self.lists + depth * self.kept + (depth + 1) * slot
        return min(STAGES_AT_MOST, room // (self.stage + slot))


def prefix_dtype_of(plan: Plan) -> np.dtype:
    """Return the structured dtype with the memory layout of the C++ struct `Prefix`."""
    return _state_dtype(plan, np.dtype(np.int64))


def state_dtype_of(plan: Plan, schedule: str) -> np.dtype:
    """Return the structured dtype with the memory layout of the C++ struct `State`."""
    return _state_dtype(plan, COUNTS[schedule])


def _state_dtype(plan: Plan, count: np.dtype) -> np.dtype:
    fields = [("marked", count)]
    if plan.visitor == "run_lengths":
        fields.append(("open", count))
    if plan.by is not None:
        fields.append(("open", state_dtype(plan.by.state)))
    return np.dtype(fields, align=True)


def state_words_of(plan: Plan, schedule: str) -> int:
    """Return the four-byte words of a state, as they are published."""
    counts = 2 if plan.visitor == "run_lengths" else 1
    words = counts * COUNTS[schedule].itemsize // 4
    return words + (state_words(plan.by.state) if plan.by else 0)


def scalars_dtype_of(plan: Plan) -> np.dtype:
    """Return the structured dtype of a predicate's scalars."""
    fields = [(f"f{i}", dtype) for i, dtype in enumerate(plan.scalars)]
    return np.dtype(fields or [("none", np.dtype(np.int64))], align=True)
