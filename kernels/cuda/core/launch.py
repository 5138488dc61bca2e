"""Launches of plans: one block of memory for all passes, and one kernel for each pass on the current stream.

Work goes to the current stream, memory comes from the current allocator, and only `Launch.read` waits for the
device. Nothing here depends on what a kernel computes.
"""

import ctypes
import os
import threading
from collections.abc import Iterable, Sequence
from functools import lru_cache
from itertools import accumulate
from typing import Any

import cupy
import numpy as np
from cuda.bindings import driver

from ...late_dataclass import dataclass
from .build import Kernel, kernel
from .devices import OUT_OF_MEMORY, check, device, free_kept
from .pinned import PinnedBuffer, pinned_buffer
from .plan import Extent, Geometry, Plan, Tickets

SCHEDULE = os.environ.get("DASK_GPUSCAN_SCHEDULE", "")
"""Force "classic" or "pipelined" for long lines; by default the device and the number of tiles choose."""

PINNED_BYTES = 4096
"""The most bytes of carries that a kernel writes to host memory itself, which saves a copy of 10 us."""

APART = 256
"""The alignment in bytes of the parts of a block of memory."""

TICKET = 16
"""Bytes of scratch space before the descriptors: the ticket."""


@dataclass(frozen=True, eq=False)
class Step:
    """What launches of one pass over one extent have in common."""

    kernel: Kernel
    blocks: int
    size: tuple[int, int, int]  # length, lines, tiles a line
    scratch: int  # its offset in the block of memory
    scratch_bytes: int
    carry: int  # likewise


@dataclass(frozen=True, eq=False)
class Space:
    """The steps of a plan over one extent, and the block of memory that it takes.

    The block holds the results, the scratch space of every pass and their carries, so a call allocates once.
    """

    steps: tuple[Step, ...]
    results: tuple[int, ...]  # the offset of each
    scratch: int  # the offset of that of all steps
    zeros: int  # bytes of scratch space, which are set to zero
    carry: np.dtype  # of the last pass
    carry_bytes: int
    lines: int
    bytes: int
    number: int  # of the device


def grid(geometry: Geometry, multiprocessors: int, extent: Extent) -> tuple[int, int, int]:
    """Return the blocks of a launch, the tiles of a line, and the bytes of scratch space."""
    length, lines, inner = extent
    tiles = -(-length // geometry.items) if geometry.items else 1
    block_lines = inner if inner > 1 else lines  # the lines that may share a block
    total = lines // block_lines * -(-block_lines // geometry.lines) * tiles
    blocks = min(total, geometry.blocks * multiprocessors)
    described = geometry.descriptor and geometry.items and tiles >= geometry.described_from
    few = geometry.tickets is Tickets.WHERE_BLOCKS_ARE_FEW and geometry.items and total > blocks
    if not (geometry.tickets is Tickets.ALWAYS or described or few):
        return blocks, tiles, 0
    groups = -(-tiles // 32)
    descriptors = lines * (tiles + groups + -(-groups // 32)) if described else 0
    return blocks, tiles, TICKET + geometry.descriptor * descriptors


def _aligned(sizes: Iterable[int]) -> list[int]:
    """Return where parts of these sizes begin, and where the last one ends."""
    return list(accumulate((-(-size // APART) * APART for size in sizes), initial=0))


@lru_cache(maxsize=4096)
def space(plan: Plan, extent: Extent, results: tuple[int, ...], number: int, forced: str) -> Space:
    """Return the steps of a plan on a device, and its block of memory, with `results` of these sizes in bytes."""
    on = device(number)
    laid = []
    for each in plan.passes:
        fitted = each.sized(on.capability)
        schedule = fitted.schedule(extent, on.capability, on.multiprocessors, forced)
        found = kernel(fitted, schedule, number)
        geometry = fitted.geometry(schedule, on.capability)
        laid.append((found, *grid(geometry, on.multiprocessors, extent)))
    scratch = [bytes_ for *_, bytes_ in laid]
    carries = [each.carry.itemsize * extent.lines for each in plan.passes]
    at = _aligned([*results, *scratch, *carries])
    first, then = len(results), len(results) + len(laid)
    steps = tuple(
        Step(found, blocks, (extent.length, extent.lines, tiles), begin, bytes_, carry)
        for (found, blocks, tiles, bytes_), begin, carry in zip(
            laid, at[first:then], at[then:-1], strict=True
        )
    )
    begin, last = steps[0].scratch, steps[-1]
    return Space(
        steps, tuple(at[:first]), begin, last.scratch + last.scratch_bytes - begin,
        plan.passes[-1].carry, carries[-1], extent.lines, at[-1], number,
    )  # fmt: skip


def current_space(plan: Plan, extent: Extent) -> Space:
    """Return the steps of a plan on the current device, and the block of memory that it takes."""
    return space(plan, extent, (), current_device(), SCHEDULE)


class Launch:
    """A plan that is being run.

    Parameters
    ----------
    found : Space
        The space of the plan on the current device, over at least one item.
    waits : bool
        Whether the carry-out of the last pass will be read.
    """

    __slots__ = ("_at", "_block", "_pinned", "_space", "_stream")

    def __init__(self, found: Space, waits: bool) -> None:
        self._space = found
        self._stream = cupy.cuda.get_current_stream().ptr
        self._block: Any = None
        self._at = 0
        if found.bytes:
            self._block = cupy.cuda.alloc(found.bytes)
            self._at = self._block.ptr
        if found.zeros:
            runtime = cupy.cuda.runtime
            runtime.memsetAsync(self._at + found.scratch, 0, found.zeros, self._stream)
        self._pinned: PinnedBuffer | None = None
        if waits and found.carry_bytes <= PINNED_BYTES:
            self._pinned = pinned_buffer(found.carry_bytes)

    def result(self, which: int, shape: tuple[int, ...], dtype: np.dtype) -> Any:
        """Return one of the results as an array."""
        return cupy.ndarray(shape, dtype, self._block + self._space.results[which])

    def run(
        self,
        which: int,
        pointers: Sequence[int],
        *,
        carry_in: Sequence[int] = (),
        offsets: Sequence[int] = (),
        options: Sequence[int] = (),
        seed: bytes = b"",
        numbers: bytes = b"",
    ) -> None:
        """Launch one of the plan's kernels.

        Parameters
        ----------
        which : int
            The index of the pass.
        pointers : sequence of int
            Addresses of inputs and outputs. The kernel takes the parameters below after them, in this order.
        carry_in : sequence of int, optional
            Addresses of the carries-in.
        offsets : sequence of int, optional
            Positions of item 0.
        options : sequence of int, optional
            Other integers.
        seed : bytes, optional
            The state before the first item.
        numbers : bytes, optional
            The numbers of an operator or a predicate.
        """
        step, base = self._space.steps[which], self._at
        chosen = step.kernel
        pinned = self._pinned if step is self._space.steps[-1] else None
        carry_out = base + step.carry if pinned is None else pinned.ptr
        kernel_args = _kernel_args(chosen.parameters.size)
        scratch = base + step.scratch if step.scratch_bytes else 0
        chosen.parameters.pack_into(
            kernel_args.parameters, 0, *pointers, scratch, *carry_in, carry_out, *offsets,
            *step.size, *options, seed, numbers,
        )  # fmt: skip
        arguments = (
            chosen.function, step.blocks, 1, 1, chosen.threads, 1, 1, chosen.shared, self._stream,
            kernel_args.address, 0,
        )  # fmt: skip
        (status,) = driver.cuLaunchKernel(*arguments)
        if status == OUT_OF_MEMORY:  # the first launch loads the kernel
            free_kept()
            (status,) = driver.cuLaunchKernel(*arguments)
        check(status, f"{chosen.name} could not be launched on GPU {self._space.number}")
        if pinned is not None:
            pinned.record(self._stream)

    def read(self) -> np.ndarray:
        """Wait for the kernels; return the last one's carry-out, one item a line."""
        # does not call itself: the reference cycle would keep the block until a garbage collection
        number = self._space.number
        if cupy.cuda.runtime.getDevice() == number:
            return self._fetch()
        with cupy.cuda.Device(number):
            return self._fetch()

    def _fetch(self) -> np.ndarray:
        runtime, dtype, lines = cupy.cuda.runtime, self._space.carry, self._space.lines
        if self._pinned is not None:
            return np.frombuffer(self._pinned.wait(), dtype, lines).copy()
        host = np.empty(lines, dtype)
        carry, kind = self._at + self._space.steps[-1].carry, runtime.memcpyDeviceToHost
        runtime.memcpyAsync(host.ctypes.data, carry, host.nbytes, kind, self._stream)
        runtime.streamSynchronize(self._stream)
        return host


class _Thread(threading.local):
    """What a host thread keeps between launches: memory for parameters, and the devices that it has used."""

    def __init__(self) -> None:
        self.parameters = ctypes.create_string_buffer(4096)
        self.pointers = (ctypes.c_void_p * 1)(ctypes.addressof(self.parameters))
        self.address = ctypes.addressof(self.pointers)
        self.devices: set[int] = set()


_thread = _Thread()


def _kernel_args(size: int) -> _Thread:
    if size > 4096:
        raise ValueError(f"too many inputs and outputs: a launch takes 4096 bytes, not {size}")
    return _thread


def current_device() -> int:
    """Return the current device, and make its context current in this thread, as an allocation from a pool may not."""
    number: int = cupy.cuda.runtime.getDevice()
    if number not in _thread.devices:
        cupy.cuda.runtime.setDevice(number)
        _thread.devices.add(number)
    return number
