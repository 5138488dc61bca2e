"""The CUDA backend: scans, reductions, compaction and what is done by key, in one pass over CuPy arrays.

The engine is CUDA C++ (*.cuh), an operator's functions are Python; `build` compiles and links them, `devices`
loads them, `launch` runs them. Importing this package imports CuPy and Numba-CUDA; nothing but a CuPy array
may do so. It must never import Dask, pandas or cuDF.

Combinations are associated as a tree over lanes, warps and tiles that depends on types and lengths alone, so
the same input gives the same bits on every run. It is not the order of the CPU backend: floating-point sums
differ in rounding. How a run of keys is reduced depends on the device as well, which may have no room for
large tiles. Products overflow and underflow where a walk in order does all the same (`in_order`).
"""

from typing import TYPE_CHECKING

from .requirements import require

require()

from .compaction import (  # noqa: E402
    compact,
    head_flags,
    reduce_by_key,
    repeat,
    run_lengths,
    scan_by_key,
)
from .launch import scan  # noqa: E402

if TYPE_CHECKING:
    from ..backends import ByCode

__all__ = [
    "by_code",
    "compact",
    "head_flags",
    "reduce_by_key",
    "repeat",
    "run_lengths",
    "scan",
    "scan_by_key",
]

by_code: "ByCode | None" = None
"""A scan of rows in any order would take one table of states for all threads."""
