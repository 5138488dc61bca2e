"""Memory of RMM for CuPy; blocks that are not large are kept for the next call."""

from __future__ import annotations

import atexit
from functools import cache, partial

import cupy
import rmm
from rmm.allocators.cupy import rmm_cupy_allocator

from ...kernels.cuda.core.devices import frees_kept

KEPT = {1 << 18: 64 << 20, 1 << 24: 256 << 20}
"""The largest block of each pool, in bytes, and about the most bytes that the pool has on a device, in use or free.

Getting a block from a pool of RMM and giving it back takes 14 us on an H100's host, and a call needs up to thirty
blocks; a kept one takes 1 us. Small blocks have a pool of their own, so that larger ones are not cut for them.
"""


@cache
def _pools(device: int) -> tuple[tuple[int, int, cupy.cuda.MemoryPool], ...]:
    """Return the pools of a device, each with its two numbers of KEPT; they give back all before RMM is set up anew."""
    pools = []
    for most, kept in KEPT.items():
        pool = cupy.cuda.MemoryPool(rmm_cupy_allocator)
        giving = partial(_give_back, pool, device)
        rmm.register_reinitialize_hook(giving)
        atexit.register(giving)
        frees_kept.append(giving)
        pools.append((most, kept, pool))
    return tuple(pools)


def _give_back(pool: cupy.cuda.MemoryPool, device: int) -> None:
    """Give blocks that are not in use back to RMM."""
    with cupy.cuda.Device(device):
        pool.free_all_blocks()


def allocate(size: int) -> cupy.cuda.MemoryPointer:
    """Return memory of RMM for CuPy, as `rmm_cupy_allocator` does; blocks that are not large are used again.

    If RMM has no memory left, kept blocks are given back first; requests of cuDF itself do not do so.
    """
    device = cupy.cuda.runtime.getDevice()
    try:
        return _block(size, device)
    except MemoryError:
        for _, _, pool in _pools(device):
            _give_back(pool, device)
        return rmm_cupy_allocator(size)


def _block(size: int, device: int) -> cupy.cuda.MemoryPointer:
    """Return a block of the pool for this size, if there is one and it is not full, or one of RMM."""
    for most, kept, pool in _pools(device):
        if size <= most:
            if pool.total_bytes() > kept:
                pool.free_all_blocks()
                if pool.total_bytes() > kept:
                    break
            return pool.malloc(size)
    return rmm_cupy_allocator(size)
