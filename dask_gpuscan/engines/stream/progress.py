"""Progress of streams: Dask's progress bars show how many rows of a source were read, and of how many."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from types import TracebackType
from typing import Any, NamedTuple

from dask.callbacks import Callback
from dask.diagnostics.progress import ProgressBar
from dask.utils import format_bytes


class Size(NamedTuple):
    """Rows, and the bytes that they take."""

    rows: int = 0
    bytes: int = 0

    def plus(self, other: Size) -> Size:
        """Return both together."""
        return Size(self.rows + other.rows, self.bytes + other.bytes)


def size_of(batch: Any) -> Size:
    """Return the size of a frame, or of a table of Arrow or polars."""
    if hasattr(batch, "memory_usage"):
        used = batch.memory_usage(index=False)
        return Size(len(batch), int(used if batch.ndim == 1 else used.sum()))
    if hasattr(batch, "estimated_size"):
        return Size(batch.height, batch.estimated_size())
    return Size(batch.num_rows, batch.nbytes)


def _bars() -> list[tuple[Any, ...]]:
    """Return the callbacks of the progress bars that are on."""
    return [each for each in Callback.active if _is_bar(each)]


def _is_bar(callbacks: tuple[Any, ...]) -> bool:
    return isinstance(getattr(callbacks[0], "__self__", None), ProgressBar)


class Shown:
    """Shows on progress bars what is read, as if rows were the tasks of a graph; use it as a context.

    Bars that show something else already, such as the stream that this one is merged with, go on with that.

    Parameters
    ----------
    source : Source
    done : int
        Rows that are left out at the beginning.
    """

    def __init__(self, source: Any, done: int) -> None:
        found = [each for each in _bars() if not getattr(each[0].__self__, "_running", False)]
        self._bars = found
        self._all: Size | None = source.size() if found else None
        self._done = Size(done)

    def add(self, frame: Any) -> None:
        """Show that a batch was read."""
        if not self._bars:
            return
        found, every = size_of(frame), self._all
        self._done = self._done.plus(found)
        rows, said = self._done.rows, f"{self._done.rows:,} rows, {format_bytes(self._done.bytes)}"
        if every is not None and every.rows:
            read = format_bytes(every.bytes * min(rows, every.rows) // every.rows)
            said = f"{rows:,} of {every.rows:,} rows, {read} of {format_bytes(every.bytes)}"
        ahead = 1 if every is None else max(every.rows - rows, 0)
        done = rows if every is not None else 0
        tasks: dict[str, Any] = dict.fromkeys(("waiting", "running"), ())
        state = {**tasks, "finished": range(done), "ready": range(ahead), "rows": said}
        for _, _, begin_task, *_ in self._bars:
            begin_task("rows", {}, state)

    def __enter__(self) -> Shown:
        for start, *_ in self._bars:
            start({})
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        for *_, finish in self._bars:
            finish({}, {}, error is not None)


@contextmanager
def without_bars() -> Iterator[None]:
    """Let no progress bar show what Dask computes meanwhile."""
    active = Callback.active
    Callback.active = {each for each in active if not _is_bar(each)}
    try:
        yield
    finally:
        Callback.active = active
