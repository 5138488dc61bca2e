"""What is said of the memory that frames on a GPU take: that it comes from no pool, once a process."""

from __future__ import annotations

import logging
from functools import lru_cache
from typing import Any

MANY_ROWS = 1 << 20
"""Rows of a frame from which on it is said: with few, as where a graph is made, there is little to gain."""

UNPOOLED = ("CudaMemoryResource", "ManagedMemoryResource")
"""RMM's resources that ask the driver for every allocation. Others are pools, or stand before one of their upstream."""


def is_unpooled(resource: Any) -> bool:
    """Tell whether an RMM resource has no pool.

    Parameters
    ----------
    resource : rmm.mr.DeviceMemoryResource
        Those that count or log allocations have another as ``upstream_mr``.
    """
    while type(resource).__name__.endswith("Adaptor") and hasattr(resource, "upstream_mr"):
        resource = resource.upstream_mr
    return type(resource).__name__ in UNPOOLED


@lru_cache(maxsize=1)
def warn_if_unpooled() -> None:
    """Log a warning, the first time, if the current resource has no pool."""
    from rmm.mr import get_current_device_resource

    if is_unpooled(get_current_device_resource()):
        logging.getLogger("dask_gpuscan").warning(
            "cuDF takes its memory from no pool, so every call waits for cudaMalloc: a cumsum of 2^27 float64 takes "
            "1.1 ms on an H200, and 0.53 ms with a pool. Call rmm.reinitialize(pool_allocator=True) before the "
            "first frame is made; on a cluster, LocalCUDACluster(**dask_gpuscan.cluster_options())"
        )
