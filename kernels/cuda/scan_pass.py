"""The pass of scans and reductions: one kernel over lines of an operator's inputs, and the size of its tiles."""

from dataclasses import dataclass
from functools import cached_property
from typing import ClassVar

import numpy as np

from ..built_in import facts_of
from ..options import Exclusive
from .captured_numbers import numbers_size
from .plan import (
    Capability,
    Extent,
    Geometry,
    OfOperator,
    TypedOperator,
    in_words,
    state_dtype,
    state_words,
)
from .tuning import (
    PIPELINED_FROM,
    SCAN_LIMITS,
    SHORT_LINE,
    STAGES_AT_LEAST,
    Panel,
    Tile,
    aggregators_for,
    lookbacks_for,
    panel_for,
    rakes,
    tile_for,
)
from .visitors import SCAN, VisitorSpec


@dataclass(frozen=True)
class ScanPass(OfOperator):
    """A scan of lines, or without `write` a reduction. `nulls` is "none", "in band", "bits" or "bytes"."""

    operator: TypedOperator
    nulls: str
    exclusive: Exclusive
    reverse: bool
    mark_nulls: bool
    write: bool
    visitor: ClassVar[VisitorSpec] = SCAN

    @cached_property
    def parameters(self) -> str:
        """As scan_tile.cuh declares them."""
        of = self.operator
        pointers = len(of.inputs) + len(of.outputs) + 4
        return f"={pointers}Q6q{in_words(self.carry.itemsize)}s{numbers_size(of.op, of.inputs)}s"

    @cached_property
    def carry(self) -> np.dtype:
        """The operator's state."""
        return state_dtype(self.operator.state)

    @cached_property
    def words(self) -> int:
        """Four-byte words of a state."""
        return state_words(self.operator.state)

    @cached_property
    def tile(self) -> Tile:
        """How a tile of the classic and the pipelined schedule is cut."""
        return tile_for(self.operator.inputs, self.operator.state, self.operator.outputs)

    @cached_property
    def panel(self) -> Panel:
        """How lines that lie side by side are cut."""
        return panel_for(self.operator.inputs, self.words)

    @cached_property
    def rakes(self) -> bool:
        """Whether states are so large that lanes reduce their items before states among lanes are scanned."""
        return rakes(self.operator.inputs, self.words, len(self.operator.outputs))

    @cached_property
    def adds_digits(self) -> bool:
        """Whether states are sums of digits, which lanes add without a state for each item (digit_sums.cuh)."""
        of = self.operator
        floats = all(d.kind == "f" and d.itemsize >= 4 for d in of.inputs + of.outputs)
        return self.rakes and floats and facts_of(of.op).adds_digits

    @property
    def aggregators(self) -> int:
        """How many warps of the pipelined schedule reduce tiles that are scanned."""
        return aggregators_for(self.tile, self.words, self.nulls != "none")

    def keeps_lanes(self, schedule: str) -> bool:
        """Return whether what lanes get is left in shared memory."""
        return self.rakes and self.write and schedule == "pipelined"

    @property
    def stage(self) -> int:
        """Bytes of a tile in shared memory, as scan_pipelined.cuh lays it out."""
        items = self.tile.items
        data = [items * d.itemsize + 16 for d in self.operator.inputs]
        data += [items // 8 + 32] * (self.nulls == "bits") + [items + 16] * (self.nulls == "bytes")
        lanes = 128 * self.words * self.tile.warps if self.keeps_lanes("pipelined") else 0
        return sum(-(-size // 128) * 128 for size in data) + lanes

    def stages(self, capability: Capability) -> int:
        """Return how many stages the pipelined schedule has."""
        fit = SCAN_LIMITS.shared_on(capability) // self.stage
        return max(STAGES_AT_LEAST, min(SCAN_LIMITS.stages, fit))

    def sized(self, capability: Capability) -> "ScanPass":
        """Return the pass: its tiles have one size on every GPU."""
        return self

    def schedule(self, extent: Extent, capability: Capability, blocks: int, forced: str) -> str:
        """Return how tiles are handed out: by the shape of the lines, then by the GPU and the number of tiles."""
        items = self.tile.items
        if extent.inner > 1:
            return "strided"
        if extent.lines > 1:
            short = 2 * extent.length < items and extent.lines >= 2048
            if short or extent.length <= SHORT_LINE:
                return "rows"
        fits = capability >= PIPELINED_FROM and extent.lines * -(-extent.length // items) > blocks
        return forced or ("pipelined" if fits else "classic")

    def geometry(self, schedule: str, capability: Capability) -> Geometry:
        """Return the size of the blocks of a schedule."""
        tile, words, shared, lines, most = self.tile, self.words, 0, 1, SCAN_LIMITS.blocks
        items, warps = tile.items, tile.warps
        if schedule == "pipelined":
            shared, most = self.stages(capability) * self.stage, 1
            warps += self.aggregators if self.write else tile.warps
            warps += 2 + lookbacks_for(words)
        elif schedule == "strided":
            items, warps, lines = self.panel.items, self.panel.warps, 32
        elif schedule == "rows":
            items, lines = 0, warps
        return Geometry(
            threads=32 * warps, shared=shared, items=items, lines=lines, blocks=most,
            descriptor=8 if words == 1 else 8 * (words + words % 2), described_from=2,
            tickets=schedule == "strided",
        )  # fmt: skip
