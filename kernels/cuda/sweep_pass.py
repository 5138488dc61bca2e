"""What passes without an operator have in common: one schedule, one size of tiles, nothing that is handed on."""

from typing import ClassVar, Self

import numpy as np

from .plan import Capability, Extent, Geometry, TypedOperator
from .tuning import SWEEP_ITEMS, SWEEP_THREADS

NO_CARRY = np.dtype(np.uint64)


class SweepPass:
    """A pass without an operator, of one schedule and size and, unless it says more, without a carry."""

    operator: ClassVar[TypedOperator | None] = None
    token = ""

    @property
    def carry(self) -> np.dtype:
        """What is left after the last row: nothing that is read."""
        return NO_CARRY

    def sized(self, capability: Capability) -> Self:
        """Return the pass itself: its tiles have one size."""
        return self

    def schedule(self, extent: Extent, capability: Capability, blocks: int, forced: str) -> str:
        """Return the one way in which tiles are handed out."""
        return "classic"

    def geometry(self, schedule: str, capability: Capability) -> Geometry:
        """Return the size of the blocks."""
        return Geometry(
            threads=SWEEP_THREADS, shared=0, items=SWEEP_THREADS * SWEEP_ITEMS, lines=1, blocks=4,
            descriptor=0, described_from=1, tickets=True,
        )  # fmt: skip
