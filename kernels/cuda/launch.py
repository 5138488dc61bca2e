"""From CuPy arrays to kernels: shapes to lines and tiles, one launch a call.

Work goes to the current stream, memory comes from the current allocator, and nothing waits for the device
but a carry-out that the caller wants. This module must never know what an operator computes.
"""

import ctypes
import os
import threading
from collections.abc import Callable
from dataclasses import dataclass
from functools import lru_cache
from itertools import accumulate
from math import prod
from typing import Any

import cupy
import numpy as np
from cuda.bindings import driver

from ..nulls import Mask, Nulls
from ..operators import Operator
from ..options import ScanOptions
from ..signature import Signature, signature_of
from .carries import bytes_of, carries_of, on_host, state_of
from .devices import Kernel, check, device, kernel
from .in_order import Substitute, substitute
from .numbers import shared_code
from .source import kind_of_nulls, state_dtype
from .tuning import Tile, tile_for

SCHEDULE = os.environ.get("DASK_GPUSCAN_SCHEDULE", "")
"""Force "classic" or "pipelined" for long lines; by default the device and the number of tiles choose."""

SHORT_LINE = 512
"""Items up to which a line is always walked by one warp."""

PINNED_BYTES = 4096
"""Carries up to this size are written by the kernel into memory of the host, which spares a copy of 10 us."""

APART = 256
"""Bytes that the parts of a block of memory are aligned to."""

_BYTE = np.dtype(np.uint8)


def scan(
    op: Operator,
    arrays: tuple[Any, ...],
    options: ScanOptions,
    carry_in: Any,
    *,
    write: bool,
    waits: bool,
) -> tuple[Any, Callable[[], Any]]:
    """Launch a scan (or, without `write`, a reduction) of CuPy arrays; see `kernels.scan` for the parameters.

    Returns
    -------
    out : array, tuple of arrays or None
    read : callable
        Waits for the carry-out and returns it, on the host. To be called if `waits`, and only then.
    """
    first, nulls, axis = arrays[0], options.nulls, options.axis % arrays[0].ndim
    masked = isinstance(nulls, Mask)
    dtypes = tuple([a.dtype for a in arrays])
    work = _work(
        op, dtypes, options.dtype, kind_of_nulls(nulls), options.exclusive, options.reverse,
        options.mark_nulls, write,
    )  # fmt: skip
    types_ = work.types
    # a mask counts positions in C order, so with one the memory must be in that order as well
    flipped = first.ndim > 1 and not masked and all(a.flags.f_contiguous for a in arrays)
    if flipped:
        arrays, axis = tuple([a.T for a in arrays]), first.ndim - 1 - axis
        first = arrays[0]
    lines = _lines(first.shape, axis)
    seed, carries = work.seed, None
    if carry_in is not None:
        given = on_host(carry_in, work.asked)
        given = given if work.instead is None else work.instead.enter(given)
        seed, carries = carries_of(given, work.types, work.state, lines.shape, flipped)
    reading: Callable[[], np.ndarray] | None = None
    try:
        arrays = tuple([_readable(a, d) for a, d in zip(arrays, types_.inputs, strict=True)])
        if lines.count * lines.length:
            outs, reading = _enqueue(work, arrays, axis, nulls, seed, carries, waits)
        else:
            outs = [cupy.empty(first.shape, d) for d in types_.outputs] if write else []
    except MemoryError as error:
        error.add_note(_advice(first.shape, types_, write))
        raise

    def carry() -> Any:
        if reading is not None:
            host = reading()
        elif carries is not None:
            host = carries
        else:
            state = np.frombuffer(seed, np.uint8, work.state.itemsize).view(work.state)[0]
            host = np.full(lines.count, state)
        return state_of(host, types_, lines.shape, flipped, work.instead)

    out = None
    if write:
        views = [o.T for o in outs] if flipped else outs
        out = views[0] if types_.scalar_output else tuple(views)
    return out, carry


@dataclass(frozen=True, eq=False)
class _Work:
    """What all scans by one operator of arrays of these types, with these options, have in common.

    `asked` are the types of the operator that was asked for, in which carries are given and returned; `op` and `types`
    may be those of `instead`.
    """

    op: Operator
    types: Signature
    asked: Signature
    instead: Substitute | None
    state: np.dtype
    seed: bytes
    numbers: bytes  # of `op`
    tile: Tile
    options: tuple[str, bool, bool, bool, np.dtype | None, bool]  # of devices.kernel
    write: bool


@lru_cache(maxsize=4096)
def _work(
    op: Operator,
    inputs: tuple[np.dtype, ...],
    dtype: np.dtype | None,
    nulls: str,
    exclusive: bool,
    reverse: bool,
    mark_nulls: bool,
    write: bool,
) -> _Work:
    asked = types_ = signature_of(op, inputs, dtype)
    if mark_nulls:
        _check_markers(types_)
    instead = substitute(op, types_) if op.in_order else None
    if instead is not None:
        op, types_ = instead.op, instead.types
    identity = (types_.identity,) if types_.scalar_state else types_.identity
    state = state_dtype(types_.state)
    tile = tile_for(types_.inputs, types_.state, types_.outputs)
    options = (nulls, exclusive, reverse, mark_nulls, dtype, write)
    seed = bytes_of(identity, state)
    op, numbers = shared_code(op, types_.inputs)
    return _Work(op, types_, asked, instead, state, seed, numbers, tile, options, write)


@dataclass(frozen=True, eq=False)
class _Lines:
    """The lines along an axis: how many there are, their length, and how many lie side by side."""

    count: int
    length: int
    inner: int
    shape: tuple[int, ...]


@lru_cache(maxsize=4096)
def _lines(shape: tuple[int, ...], axis: int) -> _Lines:
    inner = prod(shape[axis + 1 :])
    others = shape[:axis] + shape[axis + 1 :]
    return _Lines(prod(shape[:axis]) * inner, shape[axis], inner, others)


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


# --- launching -----------------------------------------------------------------------------------


@dataclass(frozen=True, eq=False)
class _Launch:
    """What launches of one size have in common: the kernel, its grid, and the block of memory that one takes.

    The block holds the outputs, the scratch space and the carries-out, so a call allocates once.
    """

    kernel: Kernel
    blocks: int
    numbers: tuple[int, int, int, int]  # length, lines, units of a line, inner
    outputs: tuple[int, ...]  # where each begins in the block
    scratch: int
    scratch_bytes: int
    carries: int
    bytes: int


@lru_cache(maxsize=4096)
def _sized(work: _Work, shape: tuple[int, ...], axis: int, number: int, forced: str) -> _Launch:
    lines = _lines(shape, axis)
    schedule = _schedule(number, work.tile, lines, forced)
    chosen = kernel(work.op, work.types, *work.options, schedule, number)
    blocks, units, scratch = _space(chosen, schedule, work.tile, lines)
    sizes = [prod(shape) * d.itemsize if work.write else 0 for d in work.types.outputs]
    at = list(accumulate((-(-size // APART) * APART for size in [*sizes, scratch]), initial=0))
    end = at[-1] + lines.count * work.state.itemsize
    numbers = (lines.length, lines.count, units, lines.inner)
    return _Launch(chosen, blocks, numbers, tuple(at[:-2]), at[-2], scratch, at[-1], end)


def _enqueue(
    work: _Work,
    arrays: tuple[Any, ...],
    axis: int,
    nulls: Nulls,
    seed: bytes,
    carries: np.ndarray | None,
    waits: bool,
) -> tuple[list[Any], Callable[[], np.ndarray]]:
    """Launch one kernel on the current stream; return the outputs, and a function that reads the carry-out."""
    runtime = cupy.cuda.runtime
    number = runtime.getDevice()
    _ready(number)
    shape = arrays[0].shape
    sized = _sized(work, shape, axis, number, SCHEDULE)
    chosen, lines = sized.kernel, sized.numbers[1]
    stream = cupy.cuda.get_current_stream().ptr

    block = cupy.cuda.alloc(sized.bytes)
    base = block.ptr
    if sized.scratch_bytes:
        runtime.memsetAsync(base + sized.scratch, 0, sized.scratch_bytes, stream)
    outs = []
    if work.write:
        pairs = zip(work.types.outputs, sized.outputs, strict=True)
        outs = [cupy.ndarray(shape, dtype, block + at) for dtype, at in pairs]
    given = None if carries is None else cupy.asarray(carries.view(np.uint8))
    carry_out, pinned = base + sized.carries, None
    if waits and sized.bytes - sized.carries <= PINNED_BYTES:
        pinned = cupy.cuda.alloc_pinned_memory(sized.bytes - sized.carries)
        carry_out = pinned.ptr

    mask, offset, null = 0, 0, 0
    if isinstance(nulls, Mask):
        if not isinstance(nulls.buffer, cupy.ndarray):
            raise TypeError(f"the mask of CuPy values must be a CuPy array, found {nulls.buffer!r}")
        buffer = _readable(nulls.buffer, _BYTE)
        mask, offset, null = buffer.data.ptr, nulls.offset, nulls.null
    memory = _memory(chosen.parameters.size)
    chosen.parameters.pack_into(
        memory.parameters,
        0,
        *[a.data.ptr for a in arrays],
        *[base + at if outs else 0 for at in sized.outputs],
        mask,
        base + sized.scratch if sized.scratch_bytes else 0,
        0 if given is None else given.data.ptr,
        carry_out,
        offset,
        *sized.numbers,
        null,
        seed,
        work.numbers,
    )
    (status,) = driver.cuLaunchKernel(
        chosen.function,
        sized.blocks,
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
    check(status, f"{work.op.name} could not be launched on GPU {number}")

    def fetch() -> np.ndarray:
        if pinned is not None:
            runtime.streamSynchronize(stream)
            return np.frombuffer(pinned, work.state, lines).copy()
        host = np.empty(lines, work.state)
        kind = runtime.memcpyDeviceToHost
        runtime.memcpyAsync(host.ctypes.data, block.ptr + sized.carries, host.nbytes, kind, stream)
        runtime.streamSynchronize(stream)
        return host

    def read() -> (
        np.ndarray
    ):  # never calls itself: a cycle would keep `block` until a garbage collection
        if runtime.getDevice() == number:
            return fetch()
        with cupy.cuda.Device(number):
            return fetch()

    return outs, read


def _space(chosen: Kernel, schedule: str, tile: Tile, lines: _Lines) -> tuple[int, int, int]:
    """Return how many blocks a launch has, how many units a line, and the bytes of scratch space, if any."""
    units = -(-lines.length // chosen.unit) if chosen.unit else 1
    if schedule == "strided":
        total = lines.count // lines.inner * -(-lines.inner // 32) * units
    else:
        total = -(-lines.count // tile.warps) if schedule == "rows" else lines.count * units
    groups = -(-units // 32)
    descriptors = lines.count * (units + groups + -(-groups // 32))
    blocks = min(total, chosen.most_blocks)
    if schedule == "strided" or (chosen.unit and (units > 1 or total > blocks)):
        return blocks, units, 16 + chosen.descriptor * (descriptors if units > 1 else 0)
    return blocks, units, 0


def _schedule(number: int, tile: Tile, lines: _Lines, forced: str) -> str:
    on = device(number)
    if lines.inner > 1:
        return "strided"
    if lines.count > 1:
        short = 2 * lines.length < tile.items and lines.count >= 2048
        if short or lines.length <= SHORT_LINE:
            return "rows"
    tiles = lines.count * -(-lines.length // tile.items)
    fits = on.capability >= (9, 0) and tiles > on.multiprocessors
    return forced or ("pipelined" if fits else "classic")


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
