"""Progress of streams: Dask's progress bars show how many rows of a source were read, and of how many."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any, NamedTuple

from ...forks import importing


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
    """Return the callbacks of the progress bars that are on; none are where nothing has imported them."""
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
    """Show on progress bars what is read in the block, as if rows were the tasks of a graph.

    Bars that show something else already, such as the stream that this one is merged with, go on with that.

    Parameters
    ----------
    source : Source
    done : int
        Rows that are left out at the beginning.

    Yields
    ------
    callable
        Takes each batch that was read.
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
    """Return the state of a graph with as many tasks as there are rows, and what our bar says of them."""
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
    """Let no progress bar show what Dask computes meanwhile."""
    with importing:
        from dask.callbacks import Callback

    active = Callback.active
    Callback.active = {each for each in active if not _is_bar(each)}
    try:
        yield
    finally:
        Callback.active = active
