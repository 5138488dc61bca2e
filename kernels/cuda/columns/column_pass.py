"""The pass that selects rows of columns: one kernel, and the columns in its shared memory.

The columns of a tile in shared memory are keys (or the inputs of a predicate), values of an operator, masks of both,
and gathered arrays.
"""

from collections.abc import Sequence
from dataclasses import fields, replace
from functools import cached_property

import numpy as np

from ...late_dataclass import dataclass
from ...operators.operator import Operator
from ...options import Exclusive
from ..core.closure_constants import numbers_size
from ..core.plan import (
    NOWHERE,
    Capability,
    Extent,
    Form,
    Geometry,
    KernelPass,
    Nullness,
    Tickets,
    TypedOperator,
    in_words,
    state_dtype,
    state_words,
)
from ..core.tuning import LARGE_SHARED, PIPELINED_FROM, STAGES_AT_LEAST
from ..core.visitors import VisitorSpec
from .tuning import (
    CLASSIC_BYTES,
    COLUMN_LIMITS,
    DEPTH,
    DEPTH_AT_LEAST,
    LESSER_BYTES,
    LISTED_ROWS,
    MOST_ROWS,
    SMALL_BYTES,
    WIDE_ROW,
    WIDE_STATE,
    WIDE_WARPS,
)

COUNTS: dict[str, np.dtype] = {"pipelined": np.dtype(np.uint32), "classic": np.dtype(np.int64)}
"""The type of counts in the state of a tile. The pipelined schedule adds up 1024 tiles at most before it adds them to a
prefix of 8 bytes; the classic one publishes prefixes as well."""


def shared_among(warps: int, shape: tuple[int, int]) -> tuple[int, int]:
    """Return the shape of a tile with at most this many warps, of the same size as far as possible.

    Examples
    --------
    >>> shared_among(8, (16, 3)), shared_among(8, (16, 8)), shared_among(8, (4, 1))
    ((8, 6), (8, 8), (4, 1))
    """
    of, rows = shape
    return min(of, warps), min(rows * max(1, of // warps), MOST_ROWS)


@dataclass(frozen=True)
class Gathered:
    """An array that is gathered: from a column, from its own memory (-1), or the rows' positions (-2)."""

    dtype: np.dtype
    column: int


@dataclass(frozen=True)
class ColumnPass(KernelPass):
    """A pass that selects rows.

    Parameters
    ----------
    visitor : VisitorSpec
    selection : str
        What selects a row: "flags", "predicate", "runs" of keys, or "bits", one mask.
    keys, key_nulls
        The columns that decide on it, and their masks; for bits, the mask alone.
    scalars, predicate, order
        A predicate, and its parameters: ("row", which of the keys) or ("scalar", which of the scalars).
    last : bool
        Whether the last row of a run is selected rather than the first.
    gathered, gathered_columns, split, in_place
        The arrays from which selected rows are written; the dtypes of those that tiles hold; whether the other rows are
        written as well; whether the output overwrites the input.
    operator, value_nulls, exclusive, mark_nulls, starts
        The operator that combines the rows' values within runs, and its answers.
    tile_bytes : int
        Bytes of a tile's columns at most.
    """

    visitor: VisitorSpec
    selection: str
    keys: Form
    key_nulls: tuple[Nullness, ...]
    scalars: Form = ()
    predicate: Operator | None = None
    order: tuple[tuple[str, int], ...] = ()
    last: bool = False
    gathered: tuple[Gathered, ...] = ()
    gathered_columns: Form = ()
    split: bool = False
    in_place: bool = False
    operator: TypedOperator | None = None
    value_nulls: Nullness = NOWHERE
    exclusive: Exclusive = False
    mark_nulls: bool = False
    starts: bool = False
    tile_bytes: int = SMALL_BYTES

    @cached_property
    def _hash(self) -> int:
        return hash(tuple(getattr(self, f.name) for f in fields(self)))

    def __hash__(self) -> int:
        return self._hash

    @property
    def name(self) -> str:
        """The visitor's name, and the operator's."""
        return f"{self.visitor.name} {self.operator.op.name if self.operator else ''}".rstrip()

    @cached_property
    def token(self) -> str:
        """Identifies the functions: an operator's, and a predicate's with what it reads."""
        operator = self.operator.token if self.operator else None
        if self.predicate is None:
            return repr(operator)
        in_band = [n.kind == "in band" for n in self.key_nulls]
        read = self.predicate.token, self.keys, in_band, self.scalars, self.order
        return repr((operator, read))

    @cached_property
    def parameters(self) -> str:
        """The format of the parameters, as columns_tile.cuh declares them."""
        of, size = self.operator, self.scalars_dtype.itemsize
        if of is not None:
            size = numbers_size(of.op, of.inputs)
        pointers, integers = self.columns + 3 * self.outputs + 2, self.columns + 4
        return f"={pointers}Q{integers}q{in_words(self.carry.itemsize)}s{size}s"

    @cached_property
    def carry(self) -> np.dtype:
        """The dtype of the C++ struct `Prefix`."""
        return self._state_dtype(np.dtype(np.int64))

    @cached_property
    def scalars_dtype(self) -> np.dtype:
        """The dtype of the C++ struct `Scalars` of a predicate."""
        fields_ = [(f"f{i}", dtype) for i, dtype in enumerate(self.scalars)]
        return np.dtype(fields_ or [("none", np.dtype(np.int64))], align=True)

    def _state_dtype(self, count: np.dtype) -> np.dtype:
        names = ("selected", "open")[: self.visitor.counts]
        form = [(name, count) for name in names]
        if self.operator is not None:
            form.append(("open", state_dtype(self.operator.state)))
        return np.dtype(form, align=True)

    def words(self, schedule: str) -> int:
        """Return the four-byte words of a tile's published state."""
        words = self.visitor.counts * COUNTS[schedule].itemsize // 4
        return words + (state_words(self.operator.state) if self.operator else 0)

    @property
    def values(self) -> Form:
        """The dtypes of an operator's inputs."""
        return self.operator.inputs if self.operator else ()

    @property
    def masks(self) -> list[Nullness]:
        """The masks that are read: those of keys, then that of the values."""
        return [n for n in (*self.key_nulls, self.value_nulls) if n.masked]

    @cached_property
    def columns(self) -> int:
        """Columns in shared memory: keys, values, masks, gathered arrays."""
        return len(self.keys) + len(self.values) + len(self.masks) + len(self.gathered_columns)

    @cached_property
    def outputs(self) -> int:
        """Arrays that are written, at least one."""
        return max(1, len(self.operator.outputs) if self.operator else len(self.gathered))

    @property
    def reverse(self) -> bool:
        """Whether items are taken from the last to the first."""
        return self.operator is not None and self.last

    @cached_property
    def shape(self) -> tuple[int, int]:
        """Warps of a tile, and rows a warp."""
        sizes = [d.itemsize for d in (*self.keys, *self.values, *self.gathered_columns)]
        width = sum(sizes) + sum(1 if n.kind == "bytes" else 1 / 8 for n in self.masks)
        state = self.operator.state if self.operator else ()
        shapes = self.visitor.shapes
        if sum(d.itemsize for d in state) > WIDE_STATE:
            shapes = tuple([shared_among(WIDE_WARPS, shape) for shape in shapes])
        fit = [c for c in shapes if 128 * c[0] * c[1] * width <= self.tile_bytes]
        return fit[0] if fit else shapes[-1]

    @property
    def tile(self) -> int:
        """Items a tile."""
        return 128 * self.shape[0] * self.shape[1]

    @cached_property
    def stage(self) -> int:
        """Bytes of a tile in shared memory, as columns_tile.cuh lays it out."""
        forms = (*self.keys, *self.values, *self.gathered_columns)
        data = [(self.tile + 1) * d.itemsize for d in forms]
        data += [(self.tile // 8 + 2) if n.kind == "bits" else self.tile + 1 for n in self.masks]
        return sum(-(-(size + 32) // 128) * 128 for size in data)

    @property
    def listed_rows(self) -> int:
        """Rows of a segment that are listed at the same time."""
        return min(LISTED_ROWS, self.shape[1])

    @property
    def lists(self) -> int:
        """Bytes of the lists of selected items."""
        return 256 * self.listed_rows * self.shape[0] if self.visitor.lists else 0

    @property
    def kept(self) -> int:
        """Bytes that warps keep of a waiting tile: the C++ structs `Kept`."""
        form = [("selection", np.dtype(np.uint32))]
        form += [(f"f{i}", g.dtype) for i, g in enumerate(self.gathered) if g.column >= 0]
        if self.operator:
            form.append(("open", state_dtype(self.operator.state)))
        return 32 * self.shape[0] * np.dtype(form, align=True).itemsize

    def depth(self, capability: Capability) -> int:
        """Return how many tiles of a block may wait for their prefix."""
        depths = range(DEPTH, DEPTH_AT_LEAST, -1)
        fit = (d for d in depths if self._stages(d, capability) >= STAGES_AT_LEAST)
        return next(fit, DEPTH_AT_LEAST)

    def stages(self, capability: Capability) -> int:
        """Return how many stages the pipelined schedule has; fewer than STAGES_AT_LEAST are too few."""
        return self._stages(self.depth(capability), capability)

    def _stages(self, depth: int, capability: Capability) -> int:
        slot = 108 + 4 * self.columns + self.carry.itemsize
        slot += 2 * self.shape[0] * self._state_dtype(COUNTS["pipelined"]).itemsize
        left = COLUMN_LIMITS.shared_on(capability) - self.lists
        left -= depth * self.kept + (depth + 1) * slot
        return min(COLUMN_LIMITS.stages, left // (self.stage + slot))

    def shared(self, schedule: str, capability: Capability) -> int:
        """Return the bytes of dynamic shared memory of a block."""
        pipelined = schedule == "pipelined"
        stages, depth = (self.stages(capability), self.depth(capability)) if pipelined else (1, 1)
        return stages * self.stage + depth * self.kept + self.lists

    def fits(self, schedule: str, capability: Capability) -> bool:
        """Return whether tiles of a size that suits the GPU fit into its shared memory."""
        if schedule == "pipelined":
            return self.stages(capability) >= STAGES_AT_LEAST
        return self.shared(schedule, capability) <= CLASSIC_BYTES or self.tile_bytes > SMALL_BYTES

    def sized(self, capability: Capability) -> "ColumnPass":
        """Return the pass with tiles of the size that suits a GPU of this compute capability."""
        wide = len(self.gathered) >= WIDE_ROW and not self.split
        most = self.visitor.wide_tile_bytes if wide else self.visitor.tile_bytes
        if capability not in LARGE_SHARED:
            most = SMALL_BYTES
        sizes = (most, *(size for size in LESSER_BYTES if size < most))
        passes = [replace(self, tile_bytes=size) for size in sizes]
        return next((p for p in passes if p.stages(capability) >= STAGES_AT_LEAST), passes[-1])

    def schedule(self, extent: Extent, capability: Capability, blocks: int, forced: str) -> str:
        """Return how tiles are handed out: by the GPU, where the visitor leaves a choice."""
        wanted = forced or ("pipelined" if capability >= PIPELINED_FROM else "classic")
        return wanted if wanted in self.visitor.schedules else "classic"

    def geometry(self, schedule: str, capability: Capability) -> Geometry:
        """Return the size of the blocks of a schedule."""
        pipelined, words = schedule == "pipelined", self.words(schedule)
        return Geometry(
            threads=32 * (self.shape[0] + 3 * pipelined),
            shared=self.shared(schedule, capability), items=self.tile,
            blocks=1 if pipelined else COLUMN_LIMITS.blocks,
            descriptor=8 * (words + words % 2), tickets=Tickets.ALWAYS,
        )  # fmt: skip


def forms_of(order: Sequence[tuple[str, int]], rows: Form, scalars: Form) -> Form:
    """Return the dtypes of a predicate's parameters."""
    forms = {"row": rows, "scalar": scalars}
    return tuple(forms[kind][i] for kind, i in order)
