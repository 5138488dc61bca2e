"""The pass that finds the first row within reach of each row, and its CUDA source; see first_within.cuh."""

from dataclasses import dataclass
from typing import ClassVar

from .plan import Capability, Geometry
from .source import constants_source, include
from .sweep_pass import SweepPass
from .tuning import REACH_BLOCKS, REACH_HALO, REACH_ITEMS, REACH_NEAR, REACH_THREADS
from .visitors import FIRST_WITHIN, VisitorSpec


@dataclass(frozen=True)
class FirstWithinPass(SweepPass):
    """Find the first row within reach of each row of int64."""

    visitor: ClassVar[VisitorSpec] = FIRST_WITHIN
    name: ClassVar[str] = "first rows within reach"
    parameters: ClassVar[str] = "=5Q3qQ0s0s"

    def geometry(self, schedule: str, capability: Capability) -> Geometry:
        """Return the size of the blocks."""
        tile = REACH_THREADS * REACH_ITEMS
        held = REACH_HALO + 2 * tile  # of values, and of rows
        return Geometry(
            threads=REACH_THREADS, shared=8 * (held + held // REACH_ITEMS), items=tile, lines=1,
            blocks=REACH_BLOCKS, descriptor=0, described_from=1, tickets=False,
        )  # fmt: skip


def first_within_source(
    each: FirstWithinPass, schedule: str, capability: Capability, relief: int = 0
) -> str:
    """Return the CUDA source of the pass."""
    constants = {
        "THREADS": REACH_THREADS,
        "ITEMS": REACH_ITEMS,
        "HALO": REACH_HALO,
        "NEAR": REACH_NEAR,
    }
    lines = include("words") + constants_source(constants) + include(each.visitor.source)
    return "\n".join([*lines, ""])
