"""Work on a helper thread with a queue of bounded size: reading ahead of a computation, and writing behind it."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterable, Iterator
from queue import Empty, Full, Queue
from types import TracebackType
from typing import Any, Generic, TypeVar

T = TypeVar("T")

MOST = 2
"""Items that wait in a queue."""

_END = object()


def read_ahead(items: Iterable[T]) -> Iterator[T]:
    """Yield the items of an iterable, which a thread reads ahead; errors are raised where their item would be."""
    queue: Queue[Any] = Queue(MOST)
    stopped = threading.Event()

    def put(item: Any) -> None:
        while not stopped.is_set():
            try:
                return queue.put(item, timeout=0.1)
            except Full:
                continue

    def read() -> None:
        try:
            for item in items:
                put((item, None))
                if stopped.is_set():
                    return
            put((_END, None))
        except BaseException as error:
            put((_END, error))

    thread = threading.Thread(target=read, name="dask_gpuscan-read", daemon=True)
    thread.start()
    try:
        while True:
            item, error = queue.get()
            if error is not None:
                raise error
            if item is _END:
                return
            yield item
    finally:
        stopped.set()
        thread.join()


class Behind(Generic[T]):
    """Hands items to a function that a thread calls, in order; use it as a context, which waits for the last.

    Parameters
    ----------
    function : callable
    """

    def __init__(self, function: Callable[[T], None]) -> None:
        self._function = function
        self._queue: Queue[Any] = Queue(MOST)
        self._error: BaseException | None = None
        self._thread = threading.Thread(target=self._run, name="dask_gpuscan-write", daemon=True)

    def _run(self) -> None:
        while (item := self._queue.get()) is not _END:
            if self._error is None:
                try:
                    self._function(item)
                except BaseException as error:
                    self._error = error

    def put(self, item: T) -> None:
        """Hand on an item; raises the error of an earlier one."""
        if self._error is not None:
            raise self._error
        self._queue.put(item)

    def __enter__(self) -> Behind[T]:
        self._thread.start()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        if kind is not None:  # what waits is not wanted
            while True:
                try:
                    self._queue.get_nowait()
                except Empty:
                    break
        self._queue.put(_END)
        self._thread.join()
        if kind is None and self._error is not None:
            raise self._error
