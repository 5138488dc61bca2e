"""Pinned host memory: a GPU writes to it while the host does something else."""

from typing import Any, ClassVar

import cupy

from .devices import OUT_OF_MEMORY


class PinnedBuffer:
    """Pinned memory that work on a stream writes to.

    CuPy's pool reuses memory that is not referenced, even if a GPU still writes to it. So the memory is referenced
    until the work is done or has been waited for, even if the buffer is not. A finalizer could not do this: the garbage
    collector finalizes the memory and the event before it looks for new references to them.
    """

    __slots__ = ("_entry", "ptr")

    written: ClassVar[set[tuple[Any, Any]]] = set()
    """Memory that is written to, each with the event after the work, or None if no event was recorded."""

    def __init__(self, memory: Any) -> None:
        self._entry: tuple[Any, Any] = memory, None
        self.ptr = memory.ptr

    def record(self, stream: int) -> None:
        """Record that work on a stream up to now, and no later work, writes to the buffer."""
        memory, _ = self._entry
        unknown = memory, None
        self.written.add(unknown)
        done = cupy.cuda.Event(disable_timing=True)
        cupy.cuda.runtime.eventRecord(done.ptr, stream)
        self._entry = memory, done
        self.written.add(self._entry)
        self.written.discard(unknown)

    def wait(self) -> Any:
        """Wait for the work, but not for work after it, and return the memory."""
        memory, done = self._entry
        done.synchronize()
        self.written.discard(self._entry)
        return memory


def pinned_buffer(size: int) -> PinnedBuffer | None:
    """Return a buffer of `size` bytes, or None if there is no pinned memory left."""
    if PinnedBuffer.written:
        _let_go()
    try:
        return PinnedBuffer(cupy.cuda.alloc_pinned_memory(size))
    except cupy.cuda.runtime.CUDARuntimeError as error:
        if error.status != OUT_OF_MEMORY:
            raise
        return None


def _let_go() -> None:
    """Release memory if its work is done."""
    for entry in list(PinnedBuffer.written):
        _, done = entry
        if done is not None and done.done:
            PinnedBuffer.written.discard(entry)
