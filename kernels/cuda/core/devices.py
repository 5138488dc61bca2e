"""GPUs that the kernels run on, and error messages for CUDA, with advice."""

from collections.abc import Callable
from functools import lru_cache
from typing import Any

import cupy
from cuda.bindings import driver

from ...late_dataclass import dataclass

DRIVER = 13000
"""The oldest CUDA version that a driver must offer, in CUDA's own form: the kernels are built for it."""

OUT_OF_MEMORY = driver.CUresult.CUDA_ERROR_OUT_OF_MEMORY
"""This error has the same number in the driver and in the runtime."""

ADVICE = (
    "Free arrays (cupy.get_default_memory_pool().free_all_blocks()), use smaller partitions, or share one "
    "RMM pool between cuDF and CuPy (rmm.allocators.cupy.rmm_cupy_allocator)"
)
"""Advice for when the memory of a GPU runs out."""

frees_kept: list[Callable[[], None]] = [lambda: cupy.get_default_memory_pool().free_all_blocks()]
"""Functions that free unused memory of CuPy's pools."""


@dataclass(frozen=True)
class Device:
    """A GPU."""

    number: int
    capability: tuple[int, int]
    multiprocessors: int


@lru_cache(maxsize=64)
def device(number: int) -> Device:
    """Return a GPU that the kernels run on.

    Raises
    ------
    RuntimeError
        If its driver or the GPU itself is too old.
    """
    version = cupy.cuda.runtime.driverGetVersion()
    if version < DRIVER:
        raise RuntimeError(
            f"the CUDA kernels need a driver for CUDA {DRIVER // 1000}.{DRIVER % 1000 // 10} or later "
            f"(580 or later on Linux), found one for CUDA {version // 1000}.{version % 1000 // 10}: "
            f"update the NVIDIA driver, or compute on the CPU (cupy.asnumpy, to_pandas)"
        )
    found = cupy.cuda.Device(number)
    text = found.compute_capability
    capability = (int(text[:-1]), int(text[-1]))
    if capability < (7, 0):
        raise RuntimeError(
            f"the CUDA kernels need a GPU of compute capability 7.0 or later, GPU {number} has "
            f"{capability[0]}.{capability[1]}: compute on the CPU (cupy.asnumpy, to_pandas)"
        )
    return Device(number, capability, found.attributes["MultiProcessorCount"])


def free_kept() -> None:
    """Free unused memory of pools: the driver cannot take memory from them to load a kernel."""
    for free in frees_kept:
        free()


def check(status: Any, action: str) -> None:
    """Raise a MemoryError or RuntimeError with the action that failed and the reason, unless CUDA succeeded."""
    if status != driver.CUresult.CUDA_SUCCESS:
        _, text = driver.cuGetErrorString(status)
        found = f"{action}: {bytes(text or b'').decode()} ({status.name})"
        raise MemoryError(f"{found}. {ADVICE}") if status == OUT_OF_MEMORY else RuntimeError(found)
