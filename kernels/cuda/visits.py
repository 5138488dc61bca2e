"""Launching plans: compiled once a device, columns and results to parameters, one kernel on the current stream.

Work goes to the current stream and memory comes from the current allocator. Nothing here waits but `Visit.read`.
This module must never know what is marked, moved or reduced.
"""

import ctypes
import hashlib
import os
import struct
import threading
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import cupy
import numpy as np
from cuda.bindings import driver
from cuda.core import ObjectCode

from .. import kernel_cache
from ..nulls import Mask
from .build import _environment, _link
from .devices import Device, check
from .devices import device as device_of
from .functions import lto_functions, lto_predicate
from .launch import APART, _memory, _readable, _ready
from .plan import (
    SMALL_BYTES,
    STAGES_AT_LEAST,
    Plan,
    prefix_dtype_of,
    scalars_dtype_of,
    sized,
    state_words_of,
)
from .plan_source import plan_source

PIPELINED = (9, 0)
"""The compute capability from which on columns take the pipelined schedule."""

SCHEDULE = os.environ.get("DASK_GPUSCAN_SCHEDULE", "")
"""Force "classic" or "pipelined"; by default the device chooses."""

CLASSIC_BYTES = 60 << 10
"""Shared memory that a block of the classic schedule may take on every GPU."""

BLOCKS_AN_SM = 4
"""Blocks a multiprocessor that a launch of the classic schedule has at most."""


def readable(array: Any) -> Any:
    """Return `array`, or a copy if its elements are not neighbours or not aligned."""
    return _readable(array, array.dtype)


@dataclass(frozen=True)
class Visit:
    """A launched kernel, and its state after the last row."""

    prefix: np.dtype
    scratch: Any
    carry_out: Any
    """Memory of the host that the kernel writes its state to; None if nobody waits for it."""
    stream: int

    def read(self) -> np.void:
        """Wait for the kernel; return the state."""
        cupy.cuda.runtime.streamSynchronize(self.stream)
        found: np.void = np.frombuffer(self.carry_out, self.prefix, 1).copy()[0]
        return found


def visit(
    plan: Plan,
    length: int,
    data: Sequence[Any],
    masks: Sequence[Mask] = (),
    staged: Sequence[Any] = (),
    *,
    moved: Sequence[Any] = (),
    outs: Sequence[Any] = (),
    rests: Sequence[Any] = (),
    scalars: Sequence[Any] = (),
    numbers: bytes = b"",
    continues: bool = False,
    seed: bytes | None = None,
    waits: bool = True,
) -> Visit:
    """Launch a plan on the current stream.

    Parameters
    ----------
    plan : Plan
    length : int
        Rows, at least one.
    data, masks, staged
        The plan's columns: keys and values; masks of both; moved arrays that tiles hold.
    moved, outs, rests
        One entry an output: the array that is moved, or None; where it goes; where the rest goes, or None.
    scalars
        Of a predicate.
    numbers
        Of an operator; a plan has one or the other.
    continues
        Whether the first row goes on with a run that is open before it.
    seed
        The state before the first row; by default zeros.
    waits
        Whether the state after the last row will be read.
    """
    number = cupy.cuda.runtime.getDevice()
    _ready(number)
    kernel = _kernel(plan, number)
    stream = cupy.cuda.get_current_stream().ptr
    pointers, bits = [a.data.ptr for a in data], [0] * len(data)
    buffers = [readable(mask.buffer) for mask in masks]
    for mask, buffer in zip(masks, buffers, strict=True):
        packed = mask.shift == 3
        pointers.append(buffer.data.ptr + (0 if packed else mask.offset))
        bits.append(mask.offset if packed else 0)
    pointers += [a.data.ptr for a in staged]
    bits += [0] * len(staged)

    tiles = -(-length // kernel.tile)
    in_blocks = -(-tiles // 32)
    descriptors = tiles + in_blocks + -(-in_blocks // 32)
    size = -(-(16 + kernel.descriptor * descriptors) // APART) * APART
    scratch = cupy.cuda.alloc(size + kernel.prefix.itemsize)
    cupy.cuda.runtime.memsetAsync(scratch.ptr, 0, size, stream)
    carry_out = cupy.cuda.alloc_pinned_memory(kernel.prefix.itemsize) if waits else None

    def addresses(arrays: Sequence[Any]) -> list[int]:
        found = [0 if a is None else a.data.ptr for a in arrays]
        return found + [0] * (kernel.outputs - len(found))

    pointers += [*addresses(moved), *addresses(outs), *addresses(rests)]
    pointers += [scratch.ptr, scratch.ptr + size if carry_out is None else carry_out.ptr]
    block = struct.pack(f"={len(pointers)}Q{len(bits)}q", *pointers, *bits)
    block += struct.pack("=4q", length, 1, tiles, int(continues))
    block += (seed or b"").ljust(-(-kernel.prefix.itemsize // 8) * 8, b"\0")
    scalar_bytes = np.array([tuple(scalars)], scalars_dtype_of(plan)).tobytes() if scalars else b""
    block += scalar_bytes or numbers
    memory = _memory(len(block))
    ctypes.memmove(memory.parameters, block, len(block))
    (status,) = driver.cuLaunchKernel(
        kernel.function,
        min(tiles, kernel.most_blocks),
        1,
        1,
        kernel.threads,
        1,
        1,
        kernel.shared,
        stream,
        memory.address,
        0,
    )
    check(status, "the kernel could not be launched")
    return Visit(kernel.prefix, scratch, carry_out, stream)


def fits(plan: Plan) -> bool:
    """Tell whether a tile of the plan's columns fits into the current device's shared memory."""
    device = device_of(cupy.cuda.runtime.getDevice())
    plan = sized(plan, device.capability)
    if _schedule(plan, device) == "pipelined":
        return plan.stages(device.capability) >= STAGES_AT_LEAST
    return (
        plan.shared("classic", device.capability) <= CLASSIC_BYTES or plan.tile_bytes > SMALL_BYTES
    )


# --- compiled kernels -----------------------------------------------------------------------------


@dataclass(frozen=True)
class _Kernel:
    """A loaded kernel, and what a launch needs to know of its plan."""

    function: Any
    module: Any
    threads: int
    shared: int
    most_blocks: int
    tile: int
    prefix: np.dtype
    descriptor: int
    """Bytes of a descriptor."""
    outputs: int


_building = threading.Lock()
_kernels: dict[tuple[Plan, int, str], _Kernel] = {}


def _kernel(plan: Plan, number: int) -> _Kernel:
    """Return a plan's kernel on a device, compiled once."""
    key = (plan, number, SCHEDULE)
    found = _kernels.get(key)
    if found is None:
        device = device_of(number)
        plan = sized(plan, device.capability)
        with _building:
            found = _kernels.get(key) or _load(plan, _schedule(plan, device), device)
            _kernels[key] = found
    return found


def _schedule(plan: Plan, device: Device) -> str:
    if plan.visitor == "heads":
        return "classic"
    return SCHEDULE or ("pipelined" if device.capability >= PIPELINED else "classic")


def build_plan(plan: Plan, schedule: str, capability: tuple[int, int]) -> tuple[bytes, str]:
    """Compile and link a plan; return its cubin and what the linker says about it."""
    functions = lto_functions(plan.by, plan.identity, capability) if plan.by else []
    if plan.predicate is not None:
        forms = {"row": plan.keys, "scalar": plan.scalars}
        inputs = tuple(forms[kind][i] for kind, i in plan.order)
        told = tuple(
            kind == "row" and plan.key_nulls[i].kind == "in band" for kind, i in plan.order
        )
        functions.append(lto_predicate(plan.predicate, inputs, told, capability))
    arch = f"sm_{capability[0]}{capability[1]}"
    return _link(plan_source(plan, schedule, capability), functions, arch)


def _load(plan: Plan, schedule: str, device: Device) -> _Kernel:
    digest = hashlib.sha256(_environment().encode())
    digest.update(repr((plan.key, device.capability)).encode())
    digest.update(plan_source(plan, schedule, device.capability).encode())
    name = f"{digest.hexdigest()}.cubin"
    code = kernel_cache.read(name)
    if code is None:
        code = build_plan(plan, schedule, device.capability)[0]
        kernel_cache.write(name, code)
    module = ObjectCode.from_cubin(code)
    handle = module.get_kernel("visit_tiles").handle
    warps, most = plan.cut[0], BLOCKS_AN_SM * device.multiprocessors
    shared = plan.shared(schedule, device.capability)
    if schedule == "pipelined":
        warps += 3
        most = device.multiprocessors
    attribute = driver.CUfunction_attribute.CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES
    (status,) = driver.cuKernelSetAttribute(
        attribute, shared, handle, driver.CUdevice(device.number)
    )
    check(status, f"GPU {device.number} has no {shared} bytes of shared memory for a block")
    words = state_words_of(plan, schedule)
    return _Kernel(
        function=driver.CUfunction(int(handle)),
        module=module,
        threads=32 * warps,
        shared=shared,
        most_blocks=most,
        tile=plan.tile,
        prefix=prefix_dtype_of(plan),
        descriptor=8 * (words + words % 2),
        outputs=plan.outputs,
    )
