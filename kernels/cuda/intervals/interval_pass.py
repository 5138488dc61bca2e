"""The passes of intervals, and their CUDA source; see interval_sums.cuh and intervals.cuh."""

from typing import ClassVar

from ...late_dataclass import dataclass
from ..core.plan import Capability, Geometry, PlainPass
from ..core.source import constants_source, include
from ..core.visitors import INTERVAL_SUMS, INTERVALS, VisitorSpec
from .tuning import (
    INTERVAL_BATCH,
    INTERVAL_BLOCKS,
    INTERVAL_PART,
    INTERVAL_RESIDENT,
    INTERVAL_ROWS,
    INTERVAL_THREADS,
    INTERVAL_VECTOR,
)

CHUNK = INTERVAL_THREADS * INTERVAL_ROWS
"""Intervals of a chunk; their counts are added up to one number."""


@dataclass(frozen=True)
class IntervalSumsPass(PlainPass):
    """Add up the counts of chunks of intervals, and check them and their offsets."""

    visitor: ClassVar[VisitorSpec] = INTERVAL_SUMS
    name: ClassVar[str] = "counts of intervals"
    parameters: ClassVar[str] = "=6Q5q0s0s"

    def geometry(self, schedule: str, capability: Capability) -> Geometry:
        """Return the size of the blocks."""
        return _geometry(CHUNK)


@dataclass(frozen=True)
class IntervalPass(PlainPass):
    """Copy the items of intervals.

    Parameters
    ----------
    size : int
        Bytes of an item.
    repeats : bool
        Whether the source has one item for each interval.
    gathers, scatters : bool
        Whether intervals begin at offsets in the source, and in the output.
    """

    size: int
    repeats: bool = False
    gathers: bool = False
    scatters: bool = False
    visitor: ClassVar[VisitorSpec] = INTERVALS
    name: ClassVar[str] = "items of intervals"
    parameters: ClassVar[str] = "=8Q5q0s0s"

    def geometry(self, schedule: str, capability: Capability) -> Geometry:
        """Return the size of the blocks."""
        return _geometry(INTERVAL_PART)


def _geometry(items: int) -> Geometry:
    return Geometry(threads=INTERVAL_THREADS, items=items, blocks=INTERVAL_BLOCKS)


def interval_source(
    each: IntervalSumsPass | IntervalPass, schedule: str, capability: Capability, relief: int = 0
) -> str:
    """Return the CUDA source of a pass. Each step of `relief` leaves more registers to a thread."""
    constants = {"THREADS": INTERVAL_THREADS, "ROWS": INTERVAL_ROWS}
    types, headers = [], ["words"]
    if isinstance(each, IntervalPass):
        types = [f"using Key = {'c128' if each.size == 16 else f'u{8 * each.size}'};"]
        headers.append("merge_path")
        constants |= {
            "PART": INTERVAL_PART,
            "BATCH": INTERVAL_BATCH[each.repeats],
            "RESIDENT": max(1, INTERVAL_RESIDENT - relief),
            "VECTOR_BYTES": INTERVAL_VECTOR[each.repeats],
            "REPEATS": each.repeats,
            "GATHERS": each.gathers,
            "SCATTERS": each.scatters,
        }
    lines = include(*headers) + constants_source(constants) + types
    return "\n".join([*lines, *include(each.visitor.source), ""])
