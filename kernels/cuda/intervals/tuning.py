"""The sizes of the passes of intervals.

Measurements: benchmarks/results/tuning-notes.md, "Intervals".
"""

INTERVAL_THREADS, INTERVAL_ROWS = 256, 4
"""Threads of a block, and intervals of a chunk that each of them lists."""

INTERVAL_PART = 1 << 14
"""Intervals and items that a block takes at once."""

INTERVAL_RESIDENT, INTERVAL_BLOCKS = 4, 64
"""Blocks on a multiprocessor for which registers are left, and the most blocks of a launch for each multiprocessor."""

INTERVAL_VECTOR, INTERVAL_BATCH = {True: 16, False: 8}, {True: 1, False: 8}
"""Bytes that a thread writes at once, and how many such writes it reads for at once: if intervals are repeated (True),
and if they are gathered or scattered."""
