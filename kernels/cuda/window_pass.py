"""The passes of rolling windows, and their CUDA source; see rolling.cuh."""

from dataclasses import dataclass
from functools import cached_property
from typing import ClassVar

import numpy as np

from .captured_numbers import numbers_size
from .plan import Capability, Extent, Geometry, OfOperator, TypedOperator, state_words
from .source import constants_source, include, numbers_source, operator_source, words_of
from .tuning import (
    LARGE_SHARED,
    LEVEL_FAN,
    LEVEL_GROUP,
    WINDOW_BATCH,
    WINDOW_BLOCKS,
    WINDOW_ITEMS,
    WINDOW_RESIDENT,
    WINDOW_SHARED,
    WINDOW_THREADS,
    WINDOW_WORDS,
)
from .visitors import ROLLING, VisitorSpec

STEPS = ("tiles", "reduce rows", "scan level", "answer")
NULLS = ("none", "in band", "bits", "bytes")


@dataclass(frozen=True)
class WindowPass(OfOperator):
    """One of the steps of rolling windows.

    Parameters
    ----------
    operator : TypedOperator
    step : str
        One of STEPS: "tiles" answers windows of one width, the others any.
    nulls : str
        One of NULLS.
    width : int, default 0
        Rows of a window of a tile, or somewhat more.
    items : int, default 1
        Neighbouring answers of a thread in a tile.
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
        pointers = len(of.inputs) + len(of.outputs) + 6
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
        if self.step != "tiles":
            return 0
        of, answers = self.operator, WINDOW_THREADS * self.items
        rows, threads = (
            self._padded(answers + self.width),
            WINDOW_THREADS + self.width // self.items,
        )
        read = [*[d.itemsize for d in of.inputs], *[1] * (self.nulls in ("bits", "bytes"))]
        held = sum(-(-rows * size // 16) * 16 for size in read)
        states = 2 * 4 * state_words(of.state) * threads
        written = max(d.itemsize for d in of.outputs) * self._padded(answers)
        return max(held + states, written)

    def _padded(self, items: int) -> int:
        return items + items // self.items

    def geometry(self, schedule: str, capability: Capability) -> Geometry:
        """Return the size of the blocks."""
        return Geometry(
            threads=WINDOW_THREADS, shared=self.shared, items=WINDOW_THREADS * self.items, lines=1,
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


def window_source(each: WindowPass, schedule: str, capability: Capability, relief: int = 0) -> str:
    """Return the CUDA source of a step. Each step of `relief` leaves more registers to a thread."""
    of = each.operator
    constants = {
        "INPUTS": len(of.inputs),
        "OUTPUTS": len(of.outputs),
        "STEP": STEPS.index(each.step),
        "THREADS": WINDOW_THREADS,
        "ITEMS": each.items,
        "BATCH": max(1, WINDOW_BATCH >> relief),
        "RESIDENT": max(1, WINDOW_RESIDENT >> relief),
        "GROUP": LEVEL_GROUP,
        "FAN": LEVEL_FAN,
        "NULLS": NULLS.index(each.nulls),
    }
    lines = include("words", "int128") + constants_source(constants)
    lines += numbers_source(of) + operator_source(of)
    lines += words_of([(f"s.f{i}", dtype) for i, dtype in enumerate(of.state)])
    return "\n".join([*lines, *include("states", each.visitor.source), ""])
