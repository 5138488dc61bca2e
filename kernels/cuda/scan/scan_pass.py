"""The pass of scans and reductions: one kernel over lines of an operator's inputs, its tiles, and its source.

The source is generated from types and options; the engine follows it.
"""

from functools import cached_property
from typing import ClassVar

import numpy as np

from ...late_dataclass import dataclass
from ...operators.built_in import BUILT_IN, has_moments, traits_of
from ...operators.reproducible import HIGHEST, LOWEST, NOTHING, ORIGIN, WIDTH
from ...options import Exclusive
from ..core.closure_constants import numbers_size
from ..core.plan import (
    Capability,
    Extent,
    Geometry,
    OfOperator,
    Tickets,
    TypedOperator,
    in_words,
    state_dtype,
    state_words,
)
from ..core.source import (
    constants_source,
    exclusive_bits,
    include,
    null_kinds,
    numbers_source,
    operator_source,
    words_of,
)
from ..core.tuning import PIPELINED_FROM, STAGES_AT_LEAST, WIDE_BATCH, WINDOW
from ..core.visitors import SCAN, STRIDED, VisitorSpec
from .sequential_product import log_limits
from .tuning import (
    GROUP_WORDS,
    PANEL_BLOCKS,
    RAKE_CHAINS,
    RELIEVED_FROM,
    RESIDENT_WARPS,
    SCAN_LIMITS,
    SHORT_LINE,
    SWIZZLE_FROM,
    WIDE_GROUP_WORDS,
    Panel,
    Tile,
    aggregators_for,
    lookbacks_for,
    panel_for,
    rakes,
    row_vector_for,
    strided_for,
    tile_for,
)

FLOAT64 = np.dtype(np.float64)


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
    across: ClassVar[int] = 1
    """Items of an element: more than one where lines side by side are scanned as one."""

    @cached_property
    def parameters(self) -> str:
        """The format of the parameters, as tile_items.cuh declares them."""
        of = self.operator
        pointers = len(of.inputs) + len(of.outputs) + 4
        return f"={pointers}Q6q{in_words(self.carry.itemsize)}s{numbers_size(of.op, of.inputs)}s"

    @cached_property
    def carry(self) -> np.dtype:
        """The dtype of the operator's state."""
        return state_dtype(self.operator.state)

    @cached_property
    def words(self) -> int:
        """Four-byte words of a state."""
        return state_words(self.operator.state)

    @cached_property
    def tile(self) -> Tile:
        """How tiles of the classic and the pipelined schedule are cut."""
        return tile_for(self.operator.inputs, self.operator.state, self.operator.outputs)

    @cached_property
    def panel(self) -> Panel:
        """How lines that lie side by side are cut."""
        return panel_for(self.operator.inputs, self.words)

    @cached_property
    def row_vector(self) -> int:
        """How many neighbouring items of a short line a lane has."""
        return row_vector_for(self.operator.inputs, self.words, self.operator.outputs)

    @cached_property
    def rakes(self) -> bool:
        """Whether lanes reduce their items before states are scanned among lanes, as for large states."""
        return rakes(self.operator.inputs, self.words, len(self.operator.outputs))

    @cached_property
    def adds_digits(self) -> bool:
        """Whether states are sums of digits, which lanes add without a state for each item (digit_sums.cuh)."""
        of = self.operator
        floats = all(d.kind == "f" and d.itemsize >= 4 for d in of.inputs + of.outputs)
        return self.rakes and floats and traits_of(of.op).adds_digits

    @cached_property
    def adds_bytes(self) -> bool:
        """Whether items and states are bytes that are added, which lanes do four at a time (byte_sums.cuh)."""
        of = self.operator
        forms = of.inputs, of.state, of.outputs
        integers = all(
            [d.kind in "iu" and d.itemsize == 1 for d in form] == [True] for form in forms
        )
        return integers and of.op == BUILT_IN["add"] and self.nulls == "none"

    @cached_property
    def multiplies(self) -> bool:
        """Whether states are products of items, which lanes multiply without a state for each (lane_products.cuh)."""
        of = self.operator
        return self.rakes and of.follow is not None and of.inputs == of.outputs

    @cached_property
    def adds_moments(self) -> bool:
        """Whether states are those of `welford`, which lanes compute without combining each item (lane_moments.cuh)."""
        of = self.operator
        is_one = len(of.inputs) == len(of.outputs) == 1
        return self.rakes and is_one and of.state == (FLOAT64,) * 3 and has_moments(of.op)

    @property
    def aggregators(self) -> int:
        """How many warps of the pipelined schedule reduce tiles that are scanned."""
        return aggregators_for(self.tile, self.words, self.nulls != "none")

    def lookbacks(self, capability: Capability) -> int:
        """Return how many warps of the pipelined schedule look back."""
        return lookbacks_for(self.words)

    def keeps_lanes(self, schedule: str) -> bool:
        """Return whether the prefix of each lane is kept in shared memory."""
        return self.rakes and self.write and schedule == "pipelined"

    @property
    def stage(self) -> int:
        """Bytes of a tile in shared memory, as scan_pipelined.cuh lays it out."""
        items = self.tile.items
        data = [items * self.across * d.itemsize + 16 for d in self.operator.inputs]
        data += [items // 8 + 32] * (self.nulls == "bits") + [items + 16] * (self.nulls == "bytes")
        lanes = 128 * self.words * self.tile.warps if self.keeps_lanes("pipelined") else 0
        return sum(-(-size // 128) * 128 for size in data) + lanes

    def stages(self, capability: Capability) -> int:
        """Return how many stages the pipelined schedule has."""
        fit = SCAN_LIMITS.shared_on(capability) // self.stage
        return max(STAGES_AT_LEAST, min(SCAN_LIMITS.stages, fit))

    def schedule(self, extent: Extent, capability: Capability, blocks: int, forced: str) -> str:
        """Return how tiles are handed out: by the shape of the lines, then by the GPU and the number of tiles."""
        items = self.tile.items
        if extent.inner > 1:
            return strided_for(extent.inner, self.panel.vector)
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
            warps += 2 + self.lookbacks(capability)
        elif schedule in STRIDED:
            lines = STRIDED[schedule]
            items, warps = self.panel.items * 32 // lines, self.panel.warps
        elif schedule == "rows":
            items, lines = 0, warps
        return Geometry(
            threads=32 * warps, shared=shared, items=items, lines=lines, blocks=most,
            descriptor=8 if words == 1 else 8 * (words + words % 2), described_from=2,
            tickets=Tickets.ALWAYS if schedule in STRIDED else Tickets.WHERE_BLOCKS_ARE_FEW,
        )  # fmt: skip

    def functions_source(self) -> list[str]:
        """Declare the operator, and its state as words."""
        of = self.operator
        lines = operator_source(of)
        if traits_of(of.op).adds_digits:
            first = len(of.state) - len(NOTHING)
            lines.append(f"template <> constexpr int FIRST_DIGIT<State> = {first};")
        return lines + words_of([(f"s.f{i}", dtype) for i, dtype in enumerate(of.state)])


def scan_source(each: ScanPass, schedule: str, capability: Capability, relief: int = 0) -> str:
    """Return the CUDA source of a scan. Each step of `relief` leaves more registers to a thread."""
    of, tile, words = each.operator, each.tile, each.words
    wide, pipelined = words > 2, schedule == "pipelined"
    if schedule == "classic" and each.write and (words >= RELIEVED_FROM or each.multiplies):
        relief += 1
    limits = log_limits(of.outputs[0]) if each.multiplies else None
    constants = {
        "INPUTS": len(of.inputs),
        "OUTPUTS": len(of.outputs),
        "VN": tile.vector,
        "ROWS": tile.rows,
        "WARPS": tile.warps,
        "STAGES": each.stages(capability),
        "GROUP_WORDS": (WIDE_GROUP_WORDS if wide and pipelined else GROUP_WORDS) >> relief,
        "AGGREGATORS": each.aggregators,
        "LOOKBACKS": each.lookbacks(capability),
        "WINDOW": WINDOW,
        "BATCH": max(1, (WIDE_BATCH if wide else WINDOW) >> relief),
        "RESIDENT": max(1, RESIDENT_WARPS // tile.warps >> relief),
        "RAKES": each.rakes,
        "RAKE_CHAINS": RAKE_CHAINS,
        "KEEPS_LANES": each.keeps_lanes(schedule),
        "SWIZZLE": pipelined and (each.rakes or len(of.inputs) >= SWIZZLE_FROM),
        "STREAM": schedule == "classic",
        **null_kinds(each.nulls),
        "EXCLUSIVE": exclusive_bits(each.exclusive, len(of.outputs)),
        "REVERSE": each.reverse,
        "MARK_NULLS": each.mark_nulls,
        "WRITE": each.write,
        "FOLLOWS": of.follow is not None,
        "ADDS_BYTES": each.adds_bytes,
        "MULTIPLIES": each.multiplies,
        "MOMENTS": each.adds_moments,
        "PRODUCT_APART": int(limits.apart) if limits else 0,
        "PRODUCT_STEP": int(limits.step) if limits else 0,
        "DIGITS": each.adds_digits,
        "DIGITS_OF_FINITE": traits_of(of.op).skips_infinite,
        "DIGIT_WIDTH": WIDTH,
        "DIGIT_ORIGIN": ORIGIN,
        "LOWEST_BIN": LOWEST,
        "HIGHEST_BIN": HIGHEST,
    }
    if schedule in STRIDED:
        panel = each.panel
        constants |= {"VN": panel.vector, "WARPS": panel.warps, "DEPTH": panel.depth}
        constants["ACROSS"] = STRIDED[schedule]
        constants["RESIDENT"] = max(1, PANEL_BLOCKS >> relief)
    if schedule == "rows":  # the least number of resident blocks is not stated, or is one
        constants |= {"VN": each.row_vector, "ROWS": 1, "RESIDENT": int(relief > 0)}
    visitor = each.visitor
    lines = include("words", "int128") + constants_source(constants)
    lines += numbers_source(of) + each.functions_source()
    lines += include(
        "states", visitor.source, "lookback", f"{visitor.engine}_{schedule.partition('_')[0]}"
    )
    return "\n".join([*lines, ""])
