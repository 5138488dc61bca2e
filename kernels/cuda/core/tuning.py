"""The sizes that passes of several primitives share; each primitive has its own in its folder's `tuning`.

The tile of a scan fixes the order in which states are combined, so its size depends on types alone and not on the
device: the same input gives the same bits on every GPU. The number of stages of shared memory in the pipelined schedule
may differ between devices, and so may the size of a tile of columns.

The measurements behind these numbers are in benchmarks/results/tuning-notes.md.
"""

from ...late_dataclass import dataclass

PIPELINED_FROM = (9, 0)
"""The lowest compute capability with the pipelined schedule."""

LARGE_SHARED = ((9, 0), (10, 0), (10, 3), (11, 0))
"""Compute capabilities with up to 227 KiB of shared memory for a block; others from sm_90 on have 99 KiB."""


@dataclass(frozen=True)
class Limits:
    """The resources of a multiprocessor that blocks of one kind of tile may take."""

    shared: int
    """Bytes of shared memory of a block of the pipelined schedule, on GPUs with LARGE_SHARED."""

    shared_elsewhere: int
    """The same on other GPUs."""

    stages: int
    """The most stages of such a block."""

    blocks: int
    """The most blocks for each multiprocessor in a launch of another schedule."""

    def shared_on(self, capability: tuple[int, int]) -> int:
        """Return the bytes of shared memory of a block of the pipelined schedule."""
        return self.shared if capability in LARGE_SHARED else self.shared_elsewhere


STAGES_AT_LEAST = 2
"""The fewest stages with which tiles load while others wait."""

RELIEFS = 4
"""How often a kernel is compiled at most, until no registers are spilled. Each step leaves a thread more registers, by
fewer blocks on a multiprocessor or fewer descriptors requested at once. The results have the same bits."""

WINDOW, WIDE_BATCH = 8, 2
"""Blocks of 32 tiles that a look-back warp requests before it is its turn to combine them; and how many of them it
requests at once if states are large."""

PLAIN_THREADS, PLAIN_ITEMS = 512, 8
"""Threads of a block of a `PlainPass`, and rows that a thread requests at once."""
