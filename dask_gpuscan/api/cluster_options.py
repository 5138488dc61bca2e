"""Options for clusters of GPU workers: a pool of memory on each GPU, for cuDF and CuPy, and spilling."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ..kernels.messages import shown
from ..kernels.scalars import is_integer
from .arguments import check_flags

MOST = 1024
"""GPUs, and parts of GPUs, that one machine has at most."""


def cluster_options(
    gpus: int | Sequence[int] | None = None, *, pool: float | str = 0.8, spill: bool = True
) -> dict[str, Any]:
    """Return arguments of ``dask_cuda.LocalCUDACluster`` under which every call takes its memory from a pool.

    Without a pool every call waits for ``cudaMalloc``, which takes as long as a scan of 2^27 numbers. CuPy takes its
    memory from the same pool, so neither keeps what the other needs.

    Parameters
    ----------
    gpus : int or list of int, optional
        How many GPUs work, or which; by default all that are visible. Each has one worker of one thread.
    pool : float or str
        How much of each GPU's memory its pool takes when the worker starts: a part of all, or bytes such as ``"20GB"``.
        What is left is for CUDA itself and for kernels.
    spill : bool
        Whether cuDF moves columns to the host when the pool is full. Columns that are scanned come back.

    Returns
    -------
    dict
        The arguments. It may be changed, or joined with others.

    Raises
    ------
    ValueError
        If `gpus` is neither a number nor a list of GPUs, or `pool` neither a part between 0 and 1 nor a text.

    See Also
    --------
    precompile_plugin : compiles kernels ahead on the workers.

    Examples
    --------
    >>> import dask_gpuscan
    >>> options = dask_gpuscan.cluster_options(gpus=2)
    >>> options["CUDA_VISIBLE_DEVICES"], options["rmm_pool_size"]
    ([0, 1], 0.8)
    >>> from dask_cuda import LocalCUDACluster  # doctest: +SKIP
    >>> cluster = LocalCUDACluster(**options)  # doctest: +SKIP
    """
    check_flags(spill=spill)
    if isinstance(pool, bool) or not (isinstance(pool, str) or _is_part(pool)):
        raise ValueError(
            f"pool must be a part of the memory such as 0.8, or bytes such as '20GB', found {shown(pool)}"
        )
    options: dict[str, Any] = {
        "rmm_pool_size": pool,
        "rmm_allocator_external_lib_list": ["cupy"],
        "enable_cudf_spill": bool(spill),
        "pre_import": "cudf,dask_gpuscan",
    }
    return options if gpus is None else {"CUDA_VISIBLE_DEVICES": _numbers(gpus), **options}


def _is_part(pool: Any) -> bool:
    return isinstance(pool, float) and 0 < pool < 1


def _numbers(gpus: Any) -> list[int]:
    found = range(min(gpus, MOST + 1)) if is_integer(gpus) else gpus
    listed = list(found) if isinstance(found, (range, list, tuple)) else []
    if not 0 < len(listed) <= MOST or not all(is_integer(one) and one >= 0 for one in listed):
        raise ValueError(
            f"gpus must be a number of GPUs, at most {MOST}, or a list of their numbers, found {shown(gpus)}"
        )
    return [int(one) for one in listed]
