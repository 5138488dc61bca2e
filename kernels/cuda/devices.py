"""GPUs, and what a kernel needs to run on one: compiled once a variant and device, loaded, described.

Everything that CUDA refuses is told here in words, with what to do about it. This module must never see an
array, nor know what an operator computes.
"""

import struct
import threading
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import cupy
from cuda.bindings import driver
from cuda.core import ObjectCode

from .. import kernel_cache
from ..operators import Operator
from ..signature import Signature
from .build import cubin
from .numbers import numbers_size
from .source import Variant, state_dtype, state_words
from .tuning import aggregators_for, lookbacks_for, panel_for, stage_bytes, stages_for, tile_for

DRIVER = 13000
"""The oldest CUDA version, in CUDA's own form, that a driver must offer: the kernels are built for it."""

BLOCKS_AN_SM = 8
"""Blocks a multiprocessor that a launch of other schedules than the pipelined one has at most."""


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


def check(status: Any, action: str) -> None:
    """Raise a RuntimeError that tells what CUDA could not do, and why."""
    if status != driver.CUresult.CUDA_SUCCESS:
        _, text = driver.cuGetErrorString(status)
        raise RuntimeError(f"{action}: {bytes(text or b'').decode()} ({status.name})")


@dataclass(frozen=True)
class Kernel:
    """A compiled kernel on one device, and what a launch of it needs to know."""

    function: Any
    module: Any
    threads: int
    shared: int
    unit: int  # items of a line that a block takes at once; 0 where warps take whole lines
    descriptor: int  # bytes of the scratch space a unit
    most_blocks: int
    parameters: struct.Struct


_building = threading.Lock()
_kernels: dict[Any, Kernel] = {}


def kernel(
    op: Operator,
    types_: Signature,
    nulls: str,
    exclusive: bool,
    reverse: bool,
    mark: bool,
    dtype: Any,
    write: bool,
    schedule: str,
    number: int,
) -> Kernel:
    """Return a variant's kernel on a device, compiled once."""
    key = (op.token, types_.inputs, dtype, nulls, exclusive, reverse, mark, write, schedule, number)
    found = _kernels.get(key)
    if found is None:
        with _building:
            found = _kernels.get(key)
            if found is None:
                variant = Variant(
                    op, types_.inputs, types_.state, types_.scalar_state, types_.outputs,
                    types_.scalar_output, dtype, nulls, exclusive, reverse, mark, write, schedule,
                )  # fmt: skip
                found = _kernels[key] = _load(variant, types_.identity, device(number))
    return found


def _load(variant: Variant, identity: Any, on: Device) -> Kernel:
    module, handle = _loaded(variant, identity, on)
    tile = tile_for(variant.inputs, variant.state, variant.outputs)
    words = state_words(variant.state)
    shared, warps, most = 0, tile.warps, BLOCKS_AN_SM * on.multiprocessors
    if variant.schedule == "pipelined":
        capability = 10 * on.capability[0] + on.capability[1]
        stages = stages_for(variant.inputs, variant.nulls, tile, capability)
        shared = stages * stage_bytes(variant.inputs, variant.nulls, tile)
        reducing = aggregators_for(tile, words) if variant.write else tile.warps
        warps = tile.warps + reducing + 2 + lookbacks_for(words)
        most = on.multiprocessors
        attribute = driver.CUfunction_attribute.CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES
        (status,) = driver.cuKernelSetAttribute(
            attribute, shared, handle, driver.CUdevice(on.number)
        )
        check(status, f"GPU {on.number} has no {shared} bytes of shared memory for a block")
    unit = 0 if variant.schedule == "rows" else tile.items
    if variant.schedule == "strided":
        panel = panel_for(variant.inputs, words)
        unit, warps = panel.items, panel.warps
    pointers = len(variant.inputs) + len(variant.outputs) + 4
    state = padded(state_dtype(variant.state).itemsize)
    return Kernel(
        function=driver.CUfunction(int(handle)),
        module=module,
        threads=32 * warps,
        shared=shared,
        unit=unit,
        descriptor=8 if words == 1 else 8 * (words + words % 2),
        most_blocks=most,
        parameters=struct.Struct(
            f"={pointers}Q6q{state}s{numbers_size(variant.op, variant.inputs)}s"
        ),
    )


def _loaded(variant: Variant, identity: Any, on: Device) -> tuple[Any, Any]:
    """Return a variant's module and kernel; what is in the cache and cannot be loaded is made anew, once."""
    for fresh in (False, True):
        code = cubin(variant, identity, on.capability, fresh)
        try:
            module = ObjectCode.from_cubin(code)
            return module, module.get_kernel("scan_tiles").handle
        except Exception as error:
            failure = error
    raise RuntimeError(
        f"GPU {on.number} (compute capability {on.capability[0]}.{on.capability[1]}) could not load the "
        f"kernel of {variant.op.name}: {failure}. Is its NVIDIA driver as new as the CUDA packages? "
        f"Kernels are kept in {kernel_cache.folder()}"
    ) from failure


def padded(size: int) -> int:
    """Return the bytes that a state takes among a kernel's parameters."""
    return -(-size // 8) * 8
