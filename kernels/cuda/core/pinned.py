"""Pinned memory of the host: a GPU writes to it while the host does something else."""

from typing import Any, ClassVar

import cupy

from .devices import OUT_OF_MEMORY


class PinnedBuffer:
    """Pinned memory that work on a stream writes to.

    CuPy's pool reuses memory that nobody references, even if a GPU still writes to it. So the memory is referenced
    until the work is done or has been waited for, even if the buffer is not. Finalizers could not do this: the garbage
    collector runs those of memory and event before it looks for new references to them.
    """

    __slots__ = ("_entry", "ptr")

    written: ClassVar[set[tuple[Any, Any]]] = set()
    """Memory that is written to, and the events after the work; None if an event could not be recorded."""

    def __init__(self, memory: Any) -> None:
        self._entry: tuple[Any, Any] = memory, None
        self.ptr = memory.ptr

    def record(self, stream: int) -> None:
        """Record that the last work of a stream so far, and no later work, writes to the buffer."""
        memory, _ = self._entry
        unknown = memory, None
        self.written.add(unknown)
        done = cupy.cuda.Event(disable_timing=True)
        cupy.cuda.runtime.eventRecord(done.ptr, stream)
        self._entry = memory, done
        self.written.add(self._entry)
        self.written.discard(unknown)

    def wait(self) -> Any:
        """Wait for the work, not for what came after it, and return the memory."""
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
    """Release memory where the work is done."""
    for entry in list(PinnedBuffer.written):
        _, done = entry
        if done is not None and done.done:
            PinnedBuffer.written.discard(entry)
