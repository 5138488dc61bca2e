"""Dask's progress bars for streams: they show how many rows of the source were read."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any, NamedTuple

from ...forks import importing


class Size(NamedTuple):
    """A number of rows and of bytes."""

    rows: int = 0
    bytes: int = 0

    def plus(self, other: Size) -> Size:
        """Return the sum of two sizes."""
        return Size(self.rows + other.rows, self.bytes + other.bytes)


def size_of(batch: Any) -> Size:
    """Return the size of a frame or of a table of Arrow or polars."""
    if hasattr(batch, "memory_usage"):
        used = batch.memory_usage(index=False)
        return Size(len(batch), int(used if batch.ndim == 1 else used.sum()))
    if hasattr(batch, "estimated_size"):
        return Size(batch.height, batch.estimated_size())
    return Size(batch.num_rows, batch.nbytes)


def _bars() -> list[tuple[Any, ...]]:
    """Return the callbacks of the active progress bars; there are none if Dask's callbacks were not imported."""
    if "dask.callbacks" not in sys.modules:
        return []
    with importing:
        from dask.callbacks import Callback

    return [each for each in Callback.active if _is_bar(each)]


def _is_bar(callbacks: tuple[Any, ...]) -> bool:
    with importing:
        from dask.diagnostics.progress import ProgressBar

    return isinstance(getattr(callbacks[0], "__self__", None), ProgressBar)


@contextmanager
def shown(source: Any, done: int) -> Iterator[Callable[[Any], None]]:
    """Show the reading of a source on progress bars, as if its rows were the tasks of a graph.

    A bar that already shows another source, such as that of the stream that this one is merged with, does not change.

    Parameters
    ----------
    source : Source
    done : int
        The number of rows that are skipped at the beginning.

    Yields
    ------
    callable
        A function to call with each batch that was read.
    """
    bars = [each for each in _bars() if not getattr(each[0].__self__, "_running", False)]
    every, so_far = source.size() if bars else None, Size(done)

    def add(frame: Any) -> None:
        nonlocal so_far
        if bars:
            so_far = so_far.plus(size_of(frame))
            state = _as_tasks(so_far, every)
            for _, _, begin_task, *_ in bars:
                begin_task("rows", {}, state)

    for start, *_ in bars:
        start({})
    failed = True
    try:
        yield add
        failed = False
    finally:
        for *_, finish in bars:
            finish({}, {}, failed)


def _as_tasks(so_far: Size, every: Size | None) -> dict[str, Any]:
    """Return the state of a graph with a task for each row, and the text that our bar shows."""
    with importing:
        from dask.utils import format_bytes

    rows, done, ahead = so_far.rows, 0, 1
    said = f"{rows:,} rows, {format_bytes(so_far.bytes)}"
    if every is not None:
        done, ahead = rows, max(every.rows - rows, 0)
        if every.rows:
            read = format_bytes(every.bytes * min(rows, every.rows) // every.rows)
            said = f"{rows:,} of {every.rows:,} rows, {read} of {format_bytes(every.bytes)}"
    return {
        "finished": range(done),
        "ready": range(ahead),
        "waiting": (),
        "running": (),
        "rows": said,
    }


@contextmanager
def without_bars() -> Iterator[None]:
    """Hide Dask's computations in the block from progress bars."""
    with importing:
        from dask.callbacks import Callback

    active = Callback.active
    Callback.active = {each for each in active if not _is_bar(each)}
    try:
        yield
    finally:
        Callback.active = active
