"""The passes of rolling windows, and their CUDA source; see rolling.cuh."""

from bisect import bisect_right
from dataclasses import dataclass
from functools import cached_property, partial
from typing import ClassVar

import numpy as np

from .captured_numbers import numbers_size
from .plan import Capability, Extent, Geometry, OfOperator, TypedOperator, state_words
from .source import constants_source, include, numbers_source, operator_source, words_of
from .tuning import (
    LARGE_SHARED,
    LEVEL_FAN,
    LEVEL_GROUP,
    SPAN_ITEMS,
    SPAN_RESIDENT,
    SPAN_SHARED,
    WINDOW_BATCH,
    WINDOW_BLOCKS,
    WINDOW_ITEMS,
    WINDOW_RESIDENT,
    WINDOW_SHARED,
    WINDOW_THREADS,
    WINDOW_WORDS,
)
from .visitors import ROLLING, VisitorSpec

STEPS = ("tiles", "spans", "reduce rows", "scan level", "answer")
NULLS = ("none", "in band", "bits", "bytes")

MOST_SPAN_ROWS, SPAN_STEP = 1 << 16, 64
"""Rows that a span never has, as 16 bits say where a window starts in it; and what its rows are a multiple of."""


@dataclass(frozen=True)
class WindowPass(OfOperator):
    """One of the steps of rolling windows.

    Parameters
    ----------
    operator : TypedOperator
    step : str
        One of STEPS: "tiles" answers windows of one width, "spans" those that lie in few rows, the others any.
    nulls : str
        One of NULLS.
    width : int, default 0
        Rows of a window of a tile, or somewhat more; rows of a span at most.
    items : int, default 1
        Neighbouring answers of a thread in a tile, or in one with a span.
    """

    operator: TypedOperator
    step: str
    nulls: str
    width: int = 0
    items: int = 1
    visitor: ClassVar[VisitorSpec] = ROLLING
    carry: ClassVar[np.dtype] = np.dtype(np.uint64)

    @cached_property
    def parameters(self) -> str:
        """As rolling.cuh declares them."""
        of = self.operator
        pointers = len(of.inputs) + len(of.outputs) + 7
        return f"={pointers}Q10q0s{numbers_size(of.op, of.inputs)}s"

    def sized(self, capability: Capability) -> "WindowPass":
        """Return the pass: its tiles have one size on every GPU."""
        return self

    def schedule(self, extent: Extent, capability: Capability, blocks: int, forced: str) -> str:
        """Return the one way in which tiles are handed out."""
        return "classic"

    @cached_property
    def shared(self) -> int:
        """Bytes of shared memory of a block."""
        answers = WINDOW_THREADS * self.items
        if self.step == "tiles":
            rows, states = answers + self.width, 2 * (WINDOW_THREADS + self.width // self.items)
            bounds = 0
        elif self.step == "spans":
            rows, chunks = self.width, self.width // self.chunk
            states, bounds = (
                self._padded(rows) + chunks + chunks // LEVEL_FAN,
                self._padded(answers),
            )
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
        items = self.items if self.step in ("tiles", "spans") else 1
        return Geometry(
            threads=WINDOW_THREADS, shared=self.shared, items=WINDOW_THREADS * items, lines=1,
            blocks=WINDOW_BLOCKS, descriptor=0, described_from=1, tickets=False,
        )  # fmt: skip


def tiles_pass(
    of: TypedOperator, nulls: str, width: int, capability: Capability
) -> WindowPass | None:
    """Return the pass that answers windows of one width; None if they are empty or too wide for shared memory."""
    if width < 1:
        return None
    most = min(WINDOW_ITEMS, WINDOW_WORDS // state_words(of.state), width)
    items = 1 << max(most.bit_length() - 1, 0)
    found = WindowPass(of, "tiles", nulls, max(64, 1 << (width - 1).bit_length()), items)
    return found if found.shared <= WINDOW_SHARED[capability in LARGE_SHARED] else None


def spans_pass(of: TypedOperator, nulls: str, capability: Capability) -> WindowPass | None:
    """Return the pass that answers windows between bounds where they lie in few rows; None if states are too large."""
    items, limit = SPAN_ITEMS, SPAN_SHARED[capability in LARGE_SHARED]
    while items:
        spans, answers = (
            partial(WindowPass, of, "spans", nulls, items=items),
            WINDOW_THREADS * items,
        )
        widths = range(answers + answers // 8, MOST_SPAN_ROWS, SPAN_STEP)
        fitting = bisect_right(widths, limit, key=lambda width: spans(width=width).shared)
        if fitting:
            return spans(width=widths[fitting - 1])
        items //= 2
    return None


def level_passes(of: TypedOperator, nulls: str, span: WindowPass | None) -> list[WindowPass]:
    """Return the passes that answer what is left by a pass over spans, if there is one, or else everything."""
    width, items = (span.width, span.items) if span else (0, 1)
    return [WindowPass(of, step, nulls, width, items) for step in STEPS[2:]]


def window_source(each: WindowPass, schedule: str, capability: Capability, relief: int = 0) -> str:
    """Return the CUDA source of a step. Each step of `relief` leaves more registers to a thread."""
    of = each.operator
    constants = {
        "INPUTS": len(of.inputs),
        "OUTPUTS": len(of.outputs),
        "STEP": STEPS.index(each.step),
        "THREADS": WINDOW_THREADS,
        "ITEMS": each.items,
        "HELD": each.width,
        "BATCH": max(1, WINDOW_BATCH >> relief),
        "RESIDENT": max(1, (SPAN_RESIDENT if each.step == "spans" else WINDOW_RESIDENT) >> relief),
        "GROUP": LEVEL_GROUP,
        "FAN": LEVEL_FAN,
        "NULLS": NULLS.index(each.nulls),
    }
    lines = include("words", "int128") + constants_source(constants)
    lines += numbers_source(of) + operator_source(of)
    lines += words_of([(f"s.f{i}", dtype) for i, dtype in enumerate(of.state)])
    return "\n".join([*lines, *include("states", each.visitor.source), ""])
