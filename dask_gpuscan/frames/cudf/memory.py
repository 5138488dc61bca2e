"""Warns once a process that frames on a GPU take their memory from no pool."""

from __future__ import annotations

import logging
from functools import lru_cache
from typing import Any

from ...forks import importing

MANY_ROWS = 1 << 20
"""The fewest rows of a frame for the warning: a pool gains little for fewer."""

UNPOOLED = ("CudaMemoryResource", "ManagedMemoryResource")
"""RMM's resources that ask the driver for every allocation. Others are pools, or have an upstream resource."""


def is_unpooled(resource: Any) -> bool:
    """Return whether an RMM resource has no pool.

    Parameters
    ----------
    resource : rmm.mr.DeviceMemoryResource
        Resources that count or log allocations have another one as ``upstream_mr``.
    """
    while type(resource).__name__.endswith("Adaptor") and hasattr(resource, "upstream_mr"):
        resource = resource.upstream_mr
    return type(resource).__name__ in UNPOOLED


@lru_cache(maxsize=1)
def warn_if_unpooled() -> None:
    """Log a warning, the first time, if the current resource has no pool."""
    with importing:
        from rmm.mr import get_current_device_resource

    if is_unpooled(get_current_device_resource()):
        logging.getLogger("dask_gpuscan").warning(
            "cuDF takes its memory from no pool, so every call waits for cudaMalloc: a cumsum of 2^27 float64 takes "
            "1.1 ms on an H200, and 0.53 ms with a pool. Call rmm.reinitialize(pool_allocator=True) before the "
            "first frame is made; on a cluster, LocalCUDACluster(**dask_gpuscan.cluster_options())"
        )
