"""The sizes of the passes of intervals.

Measurements: benchmarks/results/tuning-notes.md, "Intervals".
"""

INTERVAL_THREADS, INTERVAL_ROWS = 256, 4
"""Threads of a block that walks intervals, and intervals of a chunk that each of them lists."""

INTERVAL_PART = 1 << 14
"""Intervals and items that a block takes at once."""

INTERVAL_RESIDENT, INTERVAL_BLOCKS = 4, 64
"""Blocks that registers are left for, and blocks a multiprocessor in a launch at most."""

INTERVAL_VECTOR, INTERVAL_BATCH = {True: 16, False: 8}, {True: 1, False: 8}
"""Bytes that a thread writes at once, and how often before it waits for what it has read: where intervals are repeated,
and where they are gathered or scattered."""
