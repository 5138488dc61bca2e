"""From CuPy arrays to kernels: shapes to lines and tiles, dtypes to compiled variants, one launch a call.

Work goes to the current stream, memory comes from the current allocator, and nothing waits for the device
but a carry-out that the caller wants. This module must never know what an operator computes.
"""

import ctypes
import os
import struct
import threading
from dataclasses import dataclass
from functools import lru_cache
from math import prod
from typing import Any

import cupy
import numpy as np
from cuda.bindings import driver
from cuda.core import ObjectCode

from ..cpu.types import Signature, as_state, signature
from ..nulls import Mask, Nulls
from ..operators import Operator
from .build import cubin
from .source import Variant, kind_of_nulls, state_dtype
from .tuning import PIPELINED_WARPS, Tile, stage_bytes, stages_for, tile_for

SCHEDULE = os.environ.get("DASK_GPUSCAN_SCHEDULE", "")
"""Force "classic" or "pipelined" for long lines; by default the device and the number of tiles choose."""

SHORT_LINE = 512
"""Items up to which a line is always walked by one warp."""

BLOCKS_AN_SM = 8
"""Blocks a multiprocessor that a launch of other schedules than the pipelined one has at most."""


def run(op: Operator, arrays: tuple[Any, ...], **options: Any) -> tuple[Any, Any]:
    """Scan (or, without `write`, reduce) CuPy arrays; see `kernels.scan` for the parameters.

    Waits for the carry-out, which is returned on the host.
    """
    out, carry = _launch(op, arrays, **options)
    return out, carry()


def start(op: Operator, arrays: tuple[Any, ...], **options: Any) -> tuple[Any, None]:
    """Scan like `run`, without waiting for the device and without a carry-out."""
    return _launch(op, arrays, **options)[0], None


@dataclass(frozen=True)
class _Device:
    number: int
    capability: tuple[int, int]
    multiprocessors: int


@lru_cache(maxsize=64)
def _device(number: int) -> _Device:
    found = cupy.cuda.Device(number)
    text = found.compute_capability
    capability = (int(text[:-1]), int(text[-1]))
    if capability < (7, 0):
        raise RuntimeError(
            f"the CUDA kernels need a GPU of compute capability 7.0 or later, found {text}"
        )
    return _Device(number, capability, found.attributes["MultiProcessorCount"])


def _launch(
    op: Operator,
    arrays: tuple[Any, ...],
    *,
    write: bool,
    nulls: Nulls,
    axis: int,
    exclusive: bool,
    reverse: bool,
    carry_in: Any,
    dtype: np.dtype | None,
    mark_nulls: bool,
) -> tuple[Any, Any]:
    """Launch a scan; return the output and a function that waits for the carry-out."""
    types_ = signature(op, tuple(a.dtype for a in arrays), dtype)
    if mark_nulls:
        _check_markers(types_)
    masked = isinstance(nulls, Mask)
    ndim = arrays[0].ndim
    # a mask counts positions in C order, so with one the memory must be in that order as well
    flipped = ndim > 1 and not masked and all(a.flags.f_contiguous for a in arrays)
    if flipped:
        arrays, axis = tuple(a.T for a in arrays), ndim - 1 - axis
    shape = arrays[0].shape
    groups, length, inner = prod(shape[:axis]), shape[axis], prod(shape[axis + 1 :])
    arrays = tuple(_readable(a) for a in arrays)
    lines_shape = shape[:axis] + shape[axis + 1 :]

    outs = tuple(cupy.empty(shape, d) for d in types_.outputs) if write else ()
    seed, carries = _carries(types_, carry_in, lines_shape, flipped)
    lines = groups * inner
    state = _host_state(types_)
    if lines * length:
        reading = _enqueue(
            op, types_, arrays, outs, nulls, (exclusive, reverse, mark_nulls, dtype),
            (lines, length, inner), seed, carries,
        )  # fmt: skip

    def carry() -> Any:
        if lines * length:
            host = reading()
        elif carries is not None:
            host = carries
        else:
            host = np.full(lines, np.frombuffer(seed, np.uint8, state.itemsize).view(state)[0])
        fields = []
        for name in state.names or ():
            field = np.ascontiguousarray(host[name])
            if flipped:
                fields.append(field.reshape(lines_shape).T)
            else:
                fields.append(field.reshape(lines_shape)[()])
        return fields[0] if types_.scalar_state else tuple(fields)

    out = None
    if write:
        views = [o.T if flipped else o for o in outs]
        out = views[0] if types_.scalar_output else tuple(views)
    return out, carry


def _readable(array: Any) -> Any:
    """Return `array`, or a copy if its elements are not neighbours or not aligned."""
    if not array.flags.c_contiguous or array.data.ptr % array.dtype.alignment:
        return array.copy(order="C")
    return array


def _check_markers(types_: Signature) -> None:
    for dtype in types_.outputs:
        if dtype.kind not in "fc" and dtype != np.int64:
            raise TypeError(f"mark_nulls: an output of {dtype} cannot hold a null")


@lru_cache(maxsize=4096)
def _host_state(types_: Signature) -> np.dtype:
    return state_dtype(types_.state)


def _carries(
    types_: Signature, carry_in: Any, lines_shape: tuple[int, ...], flipped: bool
) -> tuple[bytes, np.ndarray | None]:
    """Return the state that every line starts from, or one state a line in the order of the lines."""
    if carry_in is None:
        return _identity_bytes(types_), None
    host = tuple(map(cupy.asnumpy, carry_in)) if isinstance(carry_in, tuple) else carry_in
    if isinstance(host, cupy.ndarray):
        host = host.get()
    carry = as_state(host, types_.state, types_.scalar_state, "carry_in")
    parts = (carry,) if types_.scalar_state else carry
    state = _host_state(types_)
    if all(np.ndim(p) == 0 for p in parts):
        return _bytes(parts, state), None
    table = np.zeros(prod(lines_shape), state)
    order = lines_shape[::-1] if flipped else lines_shape  # the caller's order
    for name, part in zip(state.names or (), parts, strict=True):
        full = np.broadcast_to(part, order)
        table[name] = (full.T if flipped else full).reshape(-1)
    return bytes(_padded(state.itemsize)), table


def _padded(size: int) -> int:
    return -(-size // 8) * 8


def _bytes(parts: Any, state: np.dtype) -> bytes:
    return np.array([tuple(parts)], state).tobytes().ljust(_padded(state.itemsize), b"\0")


@lru_cache(maxsize=4096)
def _identity_bytes(types_: Signature) -> bytes:
    parts = (types_.identity,) if types_.scalar_state else types_.identity
    return _bytes(parts, _host_state(types_))


# --- launching ------------------------------------------------------------------------------------


@dataclass(frozen=True)
class _Kernel:
    """A compiled kernel on one device, and what a launch of it needs to know."""

    function: Any
    module: Any
    threads: int
    shared: int
    unit: int  # items of a line that a block takes at once; 0 where warps take whole lines
    descriptor: int  # bytes of the scratch space a unit
    most_blocks: int
    parameters: struct.Struct


def _enqueue(
    op: Operator,
    types_: Signature,
    arrays: tuple[Any, ...],
    outs: tuple[Any, ...],
    nulls: Nulls,
    options: tuple[bool, bool, bool, np.dtype | None],
    geometry: tuple[int, int, int],
    seed: bytes,
    carries: np.ndarray | None,
) -> Any:
    """Launch one kernel on the current stream; return a function that reads the carry-out."""
    lines, length, inner = geometry
    number = cupy.cuda.runtime.getDevice()
    _ready(number)
    tile = tile_for(types_.inputs, types_.state, types_.outputs)
    state = _host_state(types_)
    schedule = _schedule(number, tile, lines, length, inner)
    kernel = _kernel(op, types_, kind_of_nulls(nulls), *options, bool(outs), schedule, number)
    stream = cupy.cuda.get_current_stream().ptr
    runtime = cupy.cuda.runtime

    units = -(-length // kernel.unit) if kernel.unit else 1
    if schedule == "strided":
        total = lines // inner * -(-inner // 32) * units
        descriptors = lines * units
    else:
        total = -(-lines // tile.warps) if schedule == "rows" else lines * units
        blocks = -(-units // 32)
        descriptors = lines * (units + blocks + -(-blocks // 32))
    blocks = min(total, kernel.most_blocks)
    scratch = None
    if schedule == "strided" or (kernel.unit and (units > 1 or total > blocks)):
        size = 16 + kernel.descriptor * (descriptors if units > 1 else 0)
        scratch = cupy.cuda.alloc(size)
        runtime.memsetAsync(scratch.ptr, 0, size, stream)
    given = None
    if carries is not None:
        given = cupy.asarray(carries.view(np.uint8))
    carry_out = cupy.cuda.alloc(lines * state.itemsize)

    mask, offset, null = 0, 0, 0
    if isinstance(nulls, Mask):
        if not isinstance(nulls.buffer, cupy.ndarray):
            raise TypeError(f"the mask of CuPy values must be a CuPy array, found {nulls.buffer!r}")
        mask, offset, null = _readable(nulls.buffer).data.ptr, nulls.offset, nulls.null
    memory = _memory(kernel.parameters.size)
    kernel.parameters.pack_into(
        memory.parameters,
        0,
        *[a.data.ptr for a in arrays],
        *([o.data.ptr for o in outs] or [0] * len(types_.outputs)),
        mask,
        0 if scratch is None else scratch.ptr,
        0 if given is None else given.data.ptr,
        carry_out.ptr,
        offset,
        length,
        lines,
        units,
        inner,
        null,
        seed,
    )
    (status,) = driver.cuLaunchKernel(
        kernel.function,
        blocks,
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
    if status != driver.CUresult.CUDA_SUCCESS:
        raise RuntimeError(f"the scan could not be launched: {status!r}")

    def read() -> np.ndarray:
        host = np.empty(lines, state)
        with cupy.cuda.Device(number):
            kind = runtime.memcpyDeviceToHost
            runtime.memcpyAsync(host.ctypes.data, carry_out.ptr, host.nbytes, kind, stream)
            runtime.streamSynchronize(stream)
        return host

    return read


def _schedule(number: int, tile: Tile, lines: int, length: int, inner: int) -> str:
    if inner > 1:
        return "strided"
    device = _device(number)
    if lines > 1 and (length <= SHORT_LINE or (2 * length < tile.items and lines >= 2048)):
        return "rows"
    tiles = lines * -(-length // tile.items)
    if SCHEDULE:
        return SCHEDULE
    fits = device.capability >= (9, 0) and tiles > device.multiprocessors
    return "pipelined" if fits else "classic"


_building = threading.Lock()
_kernels: dict[Any, _Kernel] = {}


def _kernel(
    op: Operator,
    types_: Signature,
    nulls: str,
    exclusive: bool,
    reverse: bool,
    mark: bool,
    dtype: np.dtype | None,
    write: bool,
    schedule: str,
    number: int,
) -> _Kernel:
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
                found = _kernels[key] = _load(variant, types_.identity, _device(number))
    return found


def _load(variant: Variant, identity: Any, device: _Device) -> _Kernel:
    module = ObjectCode.from_cubin(cubin(variant, identity, device.capability))
    handle = module.get_kernel("scan_tiles").handle
    tile = tile_for(variant.inputs, variant.state, variant.outputs)
    pipelined = variant.schedule == "pipelined"
    shared, warps, most = 0, tile.warps, BLOCKS_AN_SM * device.multiprocessors
    if pipelined:
        capability = 10 * device.capability[0] + device.capability[1]
        stages = stages_for(variant.inputs, variant.nulls, tile, capability)
        shared = stages * stage_bytes(variant.inputs, variant.nulls, tile)
        warps = 2 * tile.warps + PIPELINED_WARPS
        most = device.multiprocessors
        attribute = driver.CUfunction_attribute.CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES
        (status,) = driver.cuKernelSetAttribute(
            attribute, shared, handle, driver.CUdevice(device.number)
        )
        if status != driver.CUresult.CUDA_SUCCESS:
            raise RuntimeError(
                f"the scan needs {shared} bytes of shared memory a block: {status!r}"
            )
    state = state_dtype(variant.state)
    words = -(-state.itemsize // 4)
    pointers = len(variant.inputs) + len(variant.outputs) + 4
    return _Kernel(
        function=driver.CUfunction(int(handle)),
        module=module,
        threads=32 * warps,
        shared=shared,
        unit=0
        if variant.schedule == "rows"
        else tile.items // (32 if variant.schedule == "strided" else 1),
        descriptor=8 if words == 1 else 8 * (words + words % 2),
        most_blocks=most,
        parameters=struct.Struct(f"={pointers}Q6q{_padded(state.itemsize)}s"),
    )


class _Thread(threading.local):
    """What a host thread keeps between launches: memory for parameters, and which devices it has used."""

    def __init__(self) -> None:
        self.parameters = ctypes.create_string_buffer(4096)
        self.pointers = (ctypes.c_void_p * 1)(ctypes.addressof(self.parameters))
        self.address = ctypes.addressof(self.pointers)
        self.devices: set[int] = set()


_thread = _Thread()


def _memory(size: int) -> _Thread:
    if size > 4096:
        raise ValueError(f"too many inputs and outputs: a launch takes 4096 bytes, not {size}")
    return _thread


def _ready(number: int) -> None:
    """Make the device's context current in this thread, which a pooled allocation may not do."""
    if number not in _thread.devices:
        cupy.cuda.runtime.setDevice(number)
        _thread.devices.add(number)
