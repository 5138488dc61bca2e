"""The passes of windows, and their CUDA source; see rolling.cuh and window_starts.cuh."""

from bisect import bisect_right
from dataclasses import replace
from functools import cached_property
from typing import ClassVar

import numpy as np

from ...late_dataclass import dataclass
from ..core.closure_constants import numbers_size
from ..core.plan import (
    Capability,
    Geometry,
    OfOperator,
    PlainPass,
    TypedOperator,
    state_words,
)
from ..core.source import (
    constants_source,
    include,
    null_kinds,
    numbers_source,
    operator_source,
    words_of,
)
from ..core.tuning import LARGE_SHARED
from ..core.visitors import ROLLING, WINDOW_STARTS, VisitorSpec
from .tuning import (
    LEVEL_FAN,
    LEVEL_GROUP,
    SPAN_BLOCKS,
    SPAN_ITEMS,
    SPAN_RESIDENT,
    SPAN_SHARED,
    STARTS_BLOCKS,
    STARTS_HALO,
    STARTS_ITEMS,
    STARTS_NEAR,
    STARTS_THREADS,
    WIDE_WORDS,
    WINDOW_BATCH,
    WINDOW_BLOCKS,
    WINDOW_ITEMS,
    WINDOW_RESIDENT,
    WINDOW_SHARED,
    WINDOW_THREADS,
    WINDOW_WORDS,
)

STEPS = ("tiles", "spans", "wide spans", "reduce rows", "scan level", "answer")
SPANS = STEPS[1:3]
TILED = STEPS[:3]

MOST_SPAN_ROWS, SPAN_STEP = 1 << 16, 64
"""A span has fewer rows than MOST_SPAN_ROWS, as the start of a window in it has 16 bits, and a multiple of
SPAN_STEP."""


@dataclass(frozen=True)
class WindowPass(OfOperator):
    """One of the steps of rolling windows.

    Parameters
    ----------
    operator : TypedOperator
    step : str
        One of STEPS: "tiles" answers windows of one width; "spans" answers neighbouring windows that lie in few rows,
        "wide spans" those in more rows; the others answer any windows.
    nulls : str
        One of NULL_KINDS.
    width : int, default 0
        At least the rows of a window of a tile; the most rows of a span.
    items : int, default 1
        Neighbouring answers of a thread in a tile, with or without a span.
    spared : int, default -1
        Earlier passes have answered spans of up to this many rows.
    """

    operator: TypedOperator
    step: str
    nulls: str
    width: int = 0
    items: int = 1
    spared: int = -1
    visitor: ClassVar[VisitorSpec] = ROLLING
    carry: ClassVar[np.dtype] = np.dtype(np.uint64)

    @cached_property
    def parameters(self) -> str:
        """The format of the parameters, as rolling.cuh declares them."""
        of = self.operator
        pointers = len(of.inputs) + len(of.outputs) + 7
        return f"={pointers}Q10q0s{numbers_size(of.op, of.inputs)}s"

    @cached_property
    def shared(self) -> int:
        """Bytes of shared memory of a block."""
        answers = WINDOW_THREADS * self.items
        if self.step == "tiles":
            rows, states = answers + self.width, 2 * (WINDOW_THREADS + self.width // self.items)
            bounds = 0
        elif self.step in SPANS:
            rows, chunks, bounds = self.width, self.width // self.chunk, self._padded(answers)
            states = chunks + chunks // LEVEL_FAN + (self.step == "spans") * self._padded(rows)
        else:
            return 0
        of, rows = self.operator, self._padded(rows)
        read = [*[d.itemsize for d in of.inputs], *[1] * (self.nulls in ("bits", "bytes"))]
        held = sum(-(-rows * size // 16) * 16 for size in read)
        written = max(d.itemsize for d in of.outputs) * self._padded(answers)
        return max(held + 4 * (state_words(of.state) * states + bounds), written)

    @property
    def chunk(self) -> int:
        """Rows of a chunk of a span."""
        return max(self.items, 4)

    def _padded(self, items: int) -> int:
        return items + items // self.items if self.items > 1 else items

    def geometry(self, schedule: str, capability: Capability) -> Geometry:
        """Return the size of the blocks."""
        items = self.items if self.step in TILED else 1
        return Geometry(
            threads=WINDOW_THREADS, shared=self.shared, items=WINDOW_THREADS * items,
            blocks=SPAN_BLOCKS if self.step in SPANS else WINDOW_BLOCKS,
        )  # fmt: skip


def tile_passes(
    of: TypedOperator, nulls: str, width: int, capability: Capability
) -> list[WindowPass]:
    """Return the pass that answers windows of one width, or none if they are empty or too wide for shared memory."""
    if width < 1:
        return []
    most = min(WINDOW_ITEMS, WINDOW_WORDS // state_words(of.state), width)
    items = 1 << max(most.bit_length() - 1, 0)
    found = WindowPass(of, "tiles", nulls, max(64, 1 << (width - 1).bit_length()), items)
    return [found] if found.shared <= WINDOW_SHARED[capability in LARGE_SHARED] else []


def span_passes(of: TypedOperator, nulls: str, capability: Capability) -> list[WindowPass]:
    """Return the passes that answer windows between bounds by spans, or none if states are too large.

    The first takes spans with a few more rows than a tile has answers, the second the longer spans that fit.
    """
    items = SPAN_ITEMS
    while items:
        least = WINDOW_THREADS * items * 9 // 8
        first = _fitting(WindowPass(of, SPANS[0], nulls, least, items), capability)
        if first:
            wide = WindowPass(of, SPANS[1], nulls, first.width + SPAN_STEP, items, first.width)
            return [each for each in (first, _fitting(wide, capability)) if each]
        items //= 2
    return []


def _fitting(least: WindowPass, capability: Capability) -> WindowPass | None:
    """Return the pass `least` with as many rows as fit shared memory; None if its own rows do not fit."""
    widths = range(least.width, MOST_SPAN_ROWS, SPAN_STEP)
    limit = SPAN_SHARED[capability in LARGE_SHARED]
    fitting = bisect_right(widths, limit, key=lambda width: replace(least, width=width).shared)
    return replace(least, width=widths[fitting - 1]) if fitting else None


def level_passes(of: TypedOperator, nulls: str, before: list[WindowPass]) -> list[WindowPass]:
    """Return the passes that answer the windows that passes over spans leave, or all windows if there are none."""
    items, spared = (before[-1].items, before[-1].width) if before else (1, -1)
    return [WindowPass(of, step, nulls, 0, items, spared) for step in STEPS[3:]]


def window_source(each: WindowPass, schedule: str, capability: Capability, relief: int = 0) -> str:
    """Return the CUDA source of a step. Each step of `relief` leaves more registers to a thread."""
    of = each.operator
    resident = WINDOW_RESIDENT[state_words(of.state) >= WIDE_WORDS]
    resident = SPAN_RESIDENT if each.step in SPANS else resident
    constants = {
        "INPUTS": len(of.inputs),
        "OUTPUTS": len(of.outputs),
        "STEP": STEPS.index(each.step),
        "THREADS": WINDOW_THREADS,
        "ITEMS": each.items,
        "HELD": each.width,
        "SPARED": each.spared,
        "BATCH": WINDOW_BATCH,
        "RESIDENT": max(1, resident - relief),
        "GROUP": LEVEL_GROUP,
        "FAN": LEVEL_FAN,
        **null_kinds(each.nulls),
    }
    lines = include("words", "int128") + constants_source(constants)
    lines += numbers_source(of) + operator_source(of)
    lines += words_of([(f"s.f{i}", dtype) for i, dtype in enumerate(of.state)])
    return "\n".join([*lines, *include("states", each.visitor.source), ""])


@dataclass(frozen=True)
class WindowStartsPass(PlainPass):
    """Find the first row within reach of each row of int64."""

    visitor: ClassVar[VisitorSpec] = WINDOW_STARTS
    name: ClassVar[str] = "first rows within reach"
    parameters: ClassVar[str] = "=5Q3qQ0s0s"

    def geometry(self, schedule: str, capability: Capability) -> Geometry:
        """Return the size of the blocks."""
        tile = STARTS_THREADS * STARTS_ITEMS
        held = STARTS_HALO + 2 * tile  # values, and rows
        return Geometry(
            threads=STARTS_THREADS, shared=8 * (held + held // STARTS_ITEMS), items=tile,
            blocks=STARTS_BLOCKS,
        )  # fmt: skip


def window_starts_source(
    each: WindowStartsPass, schedule: str, capability: Capability, relief: int = 0
) -> str:
    """Return the CUDA source of the pass."""
    constants = {
        "THREADS": STARTS_THREADS,
        "ITEMS": STARTS_ITEMS,
        "HALO": STARTS_HALO,
        "NEAR": STARTS_NEAR,
    }
    lines = include("words") + constants_source(constants) + include(each.visitor.source)
    return "\n".join([*lines, ""])
