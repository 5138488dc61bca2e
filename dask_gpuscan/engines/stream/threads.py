"""Work on another thread, a few items at most: reading ahead of a computation, and writing behind it."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from types import TracebackType
from typing import Generic, TypeVar

T = TypeVar("T")

MOST = 3
"""Items that are read or written, or wait."""

_END = object()


def read_ahead(items: Iterable[T]) -> Iterator[T]:
    """Yield the items of an iterable, which a thread reads ahead; errors are raised where their item would be."""
    pool = ThreadPoolExecutor(1, "dask_gpuscan-read")
    found = (item for item in items)  # which ends with an error
    waiting = deque([pool.submit(next, found, _END) for _ in range(MOST)])
    try:
        while (item := waiting.popleft().result()) is not _END:
            waiting.append(pool.submit(next, found, _END))
            yield item  # type: ignore[misc]
    finally:
        pool.shutdown(cancel_futures=True)


class Behind(Generic[T]):
    """Hands items to a function that a thread calls, in order; use it as a context, which waits for the last.

    Parameters
    ----------
    function : callable
        It is not called again once it has raised an error.
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
        """Hand on an item; raises the error of an earlier one."""
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
        finally:  # after an error or an interrupt what waits is not wanted, and what is written is waited for
            self._pool.shutdown(cancel_futures=True)
