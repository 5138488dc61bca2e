"""Memory of RMM for CuPy, of which blocks that are not large are kept for the next call."""

from __future__ import annotations

import atexit
from functools import lru_cache

import cupy
import rmm
from rmm.allocators.cupy import rmm_cupy_allocator

KEPT = {1 << 18: 64 << 20, 1 << 24: 256 << 20}
"""Of blocks of so many bytes at most, the most bytes in use and kept for the next call; others come from RMM.

To get a block from a pool of RMM and give it back takes 14 us on an H100's host, and a call takes up to thirty; to get
one that was kept takes 1 us. Small blocks have a pool of their own, so that larger ones are not cut for them."""


@lru_cache(maxsize=len(KEPT))
def _pool(most: int) -> cupy.cuda.MemoryPool:
    """Return the pool of such blocks, which come from RMM and return to it before RMM is set up anew."""
    pool = cupy.cuda.MemoryPool(rmm_cupy_allocator)
    rmm.register_reinitialize_hook(pool.free_all_blocks)
    atexit.register(pool.free_all_blocks)
    return pool


def allocate(size: int) -> cupy.cuda.MemoryPointer:
    """Return memory of RMM for CuPy, as `rmm_cupy_allocator` does; blocks that are not large are used again.

    Where RMM has no memory left, what was kept is given back.
    """
    for most, kept in KEPT.items():
        if size <= most:
            pool = _pool(most)
            if pool.total_bytes() + size > kept:
                pool.free_all_blocks()
            if pool.total_bytes() + size <= kept:
                return pool.malloc(size)
            break
    try:
        return rmm_cupy_allocator(size)
    except MemoryError:
        for most in KEPT:
            _pool(most).free_all_blocks()
        return rmm_cupy_allocator(size)
