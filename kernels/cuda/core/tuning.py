"""The sizes that passes of several primitives share; each primitive has its own in its folder's `tuning`.

The tile of a scan fixes the association of an operator's combinations, so its size depends on types alone, never on
the device: the same input has the same bits on every GPU. What may differ between devices is how many stages of
shared memory the pipelined schedule keeps. The tile of columns may differ in size as well.

The measurements behind these numbers are in benchmarks/results/tuning-notes.md.
"""

from ...late_dataclass import dataclass

PIPELINED_FROM = (9, 0)
"""The compute capability from which on there is the pipelined schedule."""

LARGE_SHARED = ((9, 0), (10, 0), (10, 3), (11, 0))
"""Compute capabilities with up to 227 KiB of shared memory for a block; others from sm_90 on have 99 KiB."""


@dataclass(frozen=True)
class Limits:
    """What the blocks of one kind of tile take of a multiprocessor."""

    shared: int
    """Bytes of shared memory of a block of the pipelined schedule, on GPUs with LARGE_SHARED."""

    shared_elsewhere: int
    """The same on others."""

    stages: int
    """Stages of such a block at most."""

    blocks: int
    """Blocks a multiprocessor in a launch of another schedule, at most."""

    def shared_on(self, capability: tuple[int, int]) -> int:
        """Return the bytes of shared memory of a block of the pipelined schedule."""
        return self.shared if capability in LARGE_SHARED else self.shared_elsewhere


STAGES_AT_LEAST = 2
"""Stages without which tiles would not load while others wait."""

RELIEFS = 4
"""How often a kernel is compiled at most, until no registers are spilled. Each step leaves more of them to a thread:
fewer blocks on a multiprocessor, fewer descriptors asked for at once. The results have the same bits."""

WINDOW, WIDE_BATCH = 8, 2
"""Blocks of 32 tiles that a look-back warp asks for before it is its turn to fold them; and those at once, for large
states."""

PLAIN_THREADS, PLAIN_ITEMS = 512, 8
"""Threads of a block of a `PlainPass`, and rows that a thread asks for at once."""
