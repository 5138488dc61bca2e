"""From CuPy arrays to kernels: shapes to lines and tiles, carries to bytes and back, one launch a call.

Work goes to the current stream, memory comes from the current allocator, and nothing waits for the device
but a carry-out that the caller wants. This module must never know what an operator computes.
"""

import ctypes
import os
import threading
from collections.abc import Callable
from functools import lru_cache
from math import prod
from typing import Any

import cupy
import numpy as np
from cuda.bindings import driver

from ..cpu.types import Signature
from ..int128 import Int128, as_state, halves, signature, whole
from ..nulls import Mask, Nulls
from ..operators import Operator
from .devices import Kernel, check, device, kernel, padded
from .in_order import Substitute, substitute
from .source import kind_of_nulls, state_dtype
from .tuning import Tile, tile_for

SCHEDULE = os.environ.get("DASK_GPUSCAN_SCHEDULE", "")
"""Force "classic" or "pipelined" for long lines; by default the device and the number of tiles choose."""

SHORT_LINE = 512
"""Items up to which a line is always walked by one warp."""

PINNED_BYTES = 4096
"""Carries up to this size are written by the kernel into memory of the host, which spares a copy of 10 us."""


def run(op: Operator, arrays: tuple[Any, ...], **options: Any) -> tuple[Any, Any]:
    """Scan (or, without `write`, reduce) CuPy arrays; see `kernels.scan` for the parameters.

    Waits for the carry-out, which is returned on the host.
    """
    out, carry = _launch(op, arrays, waits=True, **options)
    return out, carry()


def start(op: Operator, arrays: tuple[Any, ...], **options: Any) -> tuple[Any, None]:
    """Scan like `run`, without waiting for the device and without a carry-out."""
    return _launch(op, arrays, waits=False, **options)[0], None


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
    waits: bool = True,
) -> tuple[Any, Any]:
    """Launch a scan; return the output and a function that waits for the carry-out."""
    types_ = signature(op, tuple(a.dtype for a in arrays), dtype)
    if mark_nulls:
        _check_markers(types_)
    given = None if carry_in is None else _on_host(carry_in, types_)
    instead = substitute(op, types_) if op.in_order else None
    if instead is not None:
        op, types_ = instead.op, instead.types
        given = None if given is None else instead.enter(given)
    masked = isinstance(nulls, Mask)
    ndim = arrays[0].ndim
    # a mask counts positions in C order, so with one the memory must be in that order as well
    flipped = ndim > 1 and not masked and all(a.flags.f_contiguous for a in arrays)
    if flipped:
        arrays, axis = tuple(a.T for a in arrays), ndim - 1 - axis
    shape = arrays[0].shape
    length, inner = shape[axis], prod(shape[axis + 1 :])
    lines = prod(shape[:axis]) * inner
    lines_shape = shape[:axis] + shape[axis + 1 :]
    reading: Callable[[], np.ndarray] | None = None
    try:
        arrays = tuple([_readable(a, d) for a, d in zip(arrays, types_.inputs, strict=True)])
        outs = tuple([cupy.empty(shape, d) for d in types_.outputs]) if write else ()
        seed, carries = _carries(types_, given, lines_shape, flipped)
        if lines * length:
            reading = _enqueue(
                op, types_, arrays, outs, nulls, (exclusive, reverse, mark_nulls, dtype),
                (lines, length, inner), seed, carries, waits,
            )  # fmt: skip
    except MemoryError as error:
        error.add_note(_advice(shape, types_, write))
        raise

    def carry() -> Any:
        if reading is not None:
            host = reading()
        elif carries is not None:
            host = carries
        else:
            state = _host_state(types_)
            host = np.full(lines, np.frombuffer(seed, np.uint8, state.itemsize).view(state)[0])
        return _state(host, types_, lines_shape, flipped, instead)

    out = None
    if write:
        views = [o.T if flipped else o for o in outs]
        out = views[0] if types_.scalar_output else tuple(views)
    return out, carry


def _readable(array: Any, dtype: np.dtype) -> Any:
    """Return `array`, or a copy if its elements are not neighbours or not aligned as a kernel's `dtype` is."""
    if not array.flags.c_contiguous:
        return array.copy(order="C")
    if (
        array.data.ptr % dtype.alignment
    ):  # bytes are moved: CuPy's own kernels need alignment as well
        return array.reshape(-1).view(np.uint8).copy().view(dtype).reshape(array.shape)
    return array


def _check_markers(types_: Signature) -> None:
    for dtype in types_.outputs:
        if dtype.kind not in "fc" and dtype != np.int64:
            raise TypeError(f"mark_nulls: an output of {dtype} cannot hold a null")


def _advice(shape: tuple[int, ...], types_: Signature, write: bool) -> str:
    """What to add to the error of an allocator: what was asked for, and what to do."""
    size = prod(shape) * sum(d.itemsize for d in types_.outputs) if write else 0
    return (
        f"dask-gpuscan asked for {size} bytes of device memory for the output of {prod(shape)} items, "
        f"and for about a hundredth of that to work with. Free arrays "
        f"(cupy.get_default_memory_pool().free_all_blocks()), use smaller partitions, or share one "
        f"RMM pool between cuDF and CuPy (rmm.allocators.cupy.rmm_cupy_allocator)"
    )


# --- carries -------------------------------------------------------------------------------------


@lru_cache(maxsize=4096)
def _host_state(types_: Signature) -> np.dtype:
    return state_dtype(types_.state)


def _on_host(carry_in: Any, types_: Signature) -> Any:
    if isinstance(carry_in, tuple):
        return as_state(tuple(map(_host, carry_in)), types_, "carry_in")
    return as_state(_host(carry_in), types_, "carry_in")


def _host(part: Any) -> Any:
    return part.get() if isinstance(part, cupy.ndarray) else part


def _carries(
    types_: Signature, carry: Any, lines_shape: tuple[int, ...], flipped: bool
) -> tuple[bytes, np.ndarray | None]:
    """Return the state that every line starts from, or one state a line in the order of the lines."""
    if carry is None:
        return _identity_bytes(types_), None
    parts = (carry,) if types_.scalar_state else carry
    state = _host_state(types_)
    if all(np.ndim(p) == 0 for p in parts):
        return _bytes(parts, state), None
    table = np.zeros(prod(lines_shape), state)
    order = lines_shape[::-1] if flipped else lines_shape  # the caller's order
    for name, part in zip(state.names or (), parts, strict=True):
        full = np.broadcast_to(np.array(_halved(part), state[name]), order)
        table[name] = (full.T if flipped else full).reshape(-1)
    return bytes(padded(state.itemsize)), table


def _halved(part: Any) -> Any:
    return halves(part) if isinstance(part, Int128) else part


def _bytes(parts: Any, state: np.dtype) -> bytes:
    return (
        np.array([tuple(map(_halved, parts))], state).tobytes().ljust(padded(state.itemsize), b"\0")
    )


@lru_cache(maxsize=4096)
def _identity_bytes(types_: Signature) -> bytes:
    parts = (types_.identity,) if types_.scalar_state else types_.identity
    return _bytes(parts, _host_state(types_))


def _state(
    host: np.ndarray,
    types_: Signature,
    lines_shape: tuple[int, ...],
    flipped: bool,
    instead: Substitute | None,
) -> Any:
    """Return the state that a caller gets for those of all lines."""
    fields: list[Any] = []
    for name in host.dtype.names or ():
        field = np.ascontiguousarray(host[name])
        if flipped:
            fields.append(field.reshape(lines_shape).T)
        else:
            fields.append(field.reshape(lines_shape)[()])
    if types_.state[0].kind == "V" and not lines_shape:
        fields[0] = whole(fields[0])
    state = fields[0] if types_.scalar_state else tuple(fields)
    return state if instead is None else instead.leave(state)


# --- launching -----------------------------------------------------------------------------------


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
    waits: bool,
) -> Callable[[], np.ndarray]:
    """Launch one kernel on the current stream; return a function that reads the carry-out."""
    lines, length, inner = geometry
    runtime = cupy.cuda.runtime
    number = runtime.getDevice()
    _ready(number)
    tile = tile_for(types_.inputs, types_.state, types_.outputs)
    state = _host_state(types_)
    schedule = _schedule(number, tile, lines, length, inner)
    chosen = kernel(op, types_, kind_of_nulls(nulls), *options, bool(outs), schedule, number)
    stream = cupy.cuda.get_current_stream().ptr

    blocks, units, size = _space(chosen, schedule, tile, lines, length, inner)
    scratch = None
    if size:
        scratch = cupy.cuda.alloc(size)
        runtime.memsetAsync(scratch.ptr, 0, size, stream)
    given = None if carries is None else cupy.asarray(carries.view(np.uint8))
    wanted = lines * state.itemsize
    pinned = waits and wanted <= PINNED_BYTES
    carry_out = cupy.cuda.alloc_pinned_memory(wanted) if pinned else cupy.cuda.alloc(wanted)

    mask, offset, null = 0, 0, 0
    if isinstance(nulls, Mask):
        if not isinstance(nulls.buffer, cupy.ndarray):
            raise TypeError(f"the mask of CuPy values must be a CuPy array, found {nulls.buffer!r}")
        mask, offset, null = (
            _readable(nulls.buffer, np.dtype("u1")).data.ptr,
            nulls.offset,
            nulls.null,
        )
    memory = _memory(chosen.parameters.size)
    chosen.parameters.pack_into(
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
        chosen.function,
        blocks,
        1,
        1,
        chosen.threads,
        1,
        1,
        chosen.shared,
        stream,
        memory.address,
        0,
    )
    check(status, f"{op.name} could not be launched on GPU {number}")

    def read() -> np.ndarray:
        if runtime.getDevice() != number:
            with cupy.cuda.Device(number):
                return read()
        if pinned:
            runtime.streamSynchronize(stream)
            return np.frombuffer(carry_out, state, lines).copy()
        host = np.empty(lines, state)
        kind = runtime.memcpyDeviceToHost
        runtime.memcpyAsync(host.ctypes.data, carry_out.ptr, host.nbytes, kind, stream)
        runtime.streamSynchronize(stream)
        return host

    return read


def _space(
    chosen: Kernel, schedule: str, tile: Tile, lines: int, length: int, inner: int
) -> tuple[int, int, int]:
    """Return how many blocks a launch has, how many units a line, and the bytes of scratch space, if any."""
    units = -(-length // chosen.unit) if chosen.unit else 1
    if schedule == "strided":
        total = lines // inner * -(-inner // 32) * units
        descriptors = lines * units
    else:
        total = -(-lines // tile.warps) if schedule == "rows" else lines * units
        groups = -(-units // 32)
        descriptors = lines * (units + groups + -(-groups // 32))
    blocks = min(total, chosen.most_blocks)
    if schedule == "strided" or (chosen.unit and (units > 1 or total > blocks)):
        return blocks, units, 16 + chosen.descriptor * (descriptors if units > 1 else 0)
    return blocks, units, 0


def _schedule(number: int, tile: Tile, lines: int, length: int, inner: int) -> str:
    on = device(number)
    if inner > 1:
        return "strided"
    if lines > 1 and (length <= SHORT_LINE or (2 * length < tile.items and lines >= 2048)):
        return "rows"
    tiles = lines * -(-length // tile.items)
    if SCHEDULE:
        return SCHEDULE
    fits = on.capability >= (9, 0) and tiles > on.multiprocessors
    return "pipelined" if fits else "classic"


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
