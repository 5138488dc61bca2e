"""A thread that reads a few items ahead of a computation, and one that writes its answers."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from types import TracebackType
from typing import Generic, TypeVar

T = TypeVar("T")

MOST = 3
"""The largest number of items that wait or are being read or written."""

_END = object()


def read_ahead(items: Iterable[T]) -> Iterator[T]:
    """Yield the items of an iterable while a thread reads ahead; an error is raised in the place of its item."""
    pool = ThreadPoolExecutor(1, "dask_gpuscan-read")
    found = (item for item in items)  # a generator ends with its first error
    waiting = deque([pool.submit(next, found, _END) for _ in range(MOST)])
    try:
        while (item := waiting.popleft().result()) is not _END:
            waiting.append(pool.submit(next, found, _END))
            yield item  # type: ignore[misc]
    finally:
        pool.shutdown(cancel_futures=True)


class Behind(Generic[T]):
    """Calls a function with items on another thread, in order; the end of the context waits for the last one.

    Parameters
    ----------
    function : callable
        It is not called again after it has raised an error.
    """

    def __init__(self, function: Callable[[T], None]) -> None:
        self._function, self._failed = function, False
        self._pool = ThreadPoolExecutor(1, "dask_gpuscan-write")
        self._waiting = deque[Future[None]]()

    def _call(self, item: T) -> None:
        if self._failed:
            return
        try:
            self._function(item)
        except BaseException:
            self._failed = True
            raise

    def put(self, item: T) -> None:
        """Queue an item; raises the error of an earlier item."""
        while len(self._waiting) == MOST or (self._failed and self._waiting):
            self._waiting.popleft().result()
        self._waiting.append(self._pool.submit(self._call, item))

    def __enter__(self) -> Behind[T]:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        try:
            while kind is None and self._waiting:
                self._waiting.popleft().result()
        finally:  # after an error or an interrupt, waiting items are dropped, and the one being written is finished
            self._pool.shutdown(cancel_futures=True)
