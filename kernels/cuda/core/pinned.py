"""Pinned memory of the host: a GPU writes to it while the host does something else."""

from contextlib import suppress
from typing import Any, ClassVar

import cupy

from .devices import OUT_OF_MEMORY


class PinnedBuffer:
    """Pinned memory that work on a stream writes to.

    CuPy's pool hands out again what nobody holds, whatever a GPU still does to it. So the memory of a buffer that is
    dropped before it was waited for is held until the work is done.
    """

    __slots__ = ("_done", "_is_unread", "_memory", "ptr")

    dropped: ClassVar[list[tuple[Any, Any]]] = []
    """Events, None if one could not be recorded, and the memory that is written to before them."""

    def __init__(self, memory: Any) -> None:
        self._memory, self.ptr = memory, memory.ptr
        self._done: Any = None
        self._is_unread = False

    def record(self, stream: int) -> None:
        """Take note that the last work of a stream so far, and no later work, writes to the buffer."""
        self._is_unread, self._done = True, None
        done = cupy.cuda.Event(disable_timing=True)
        cupy.cuda.runtime.eventRecord(done.ptr, stream)
        self._done = done

    def wait(self) -> Any:
        """Wait for the work, not for what came after it, and return the memory."""
        self._done.synchronize()
        self._is_unread = False
        return self._memory

    def __del__(self) -> None:
        if self._is_unread:
            self.dropped.append((self._done, self._memory))


def pinned_buffer(size: int) -> PinnedBuffer | None:
    """Return a buffer of so many bytes, or None if there is no pinned memory left."""
    if PinnedBuffer.dropped:
        _let_go()
    try:
        return PinnedBuffer(cupy.cuda.alloc_pinned_memory(size))
    except cupy.cuda.runtime.CUDARuntimeError as error:
        if error.status != OUT_OF_MEMORY:
            raise
        return None


def _let_go() -> None:
    """Give memory of buffers that were dropped back to CuPy's pool, where the work is done."""
    for entry in PinnedBuffer.dropped[:]:
        if entry[0] is not None and entry[0].done:
            with suppress(ValueError):  # another thread has removed it
                PinnedBuffer.dropped.remove(entry)
