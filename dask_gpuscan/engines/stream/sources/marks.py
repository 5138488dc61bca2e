"""Rows of sources without files: rows that were read are skipped, after a check of the last ones."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from functools import partial
from hashlib import blake2b
from typing import Any

import pyarrow as pa

from ....frames.registry import library_of
from .fragments import ChangedSourceError

Mark = tuple[int, str]
NO_MARK: Mark = (0, "")
"""The mark of a source that cannot be checked."""

MARKED = 16
"""The largest number of last rows that are checked."""


def mark_of(frames: Sequence[Any], count: int = MARKED) -> Mark:
    """Return a number of last rows of some frames, and their digest."""
    rows = list[Any]()
    try:
        for frame in reversed(frames):
            last: Any = library_of(frame).rows(
                frame, slice(max(0, len(frame) - count + len(rows)), None)
            )
            last = last.to_frame("value") if last.ndim == 1 else last
            to_arrow = getattr(last, "to_arrow", partial(pa.Table.from_pandas, last))
            rows = [*to_arrow(preserve_index=False).to_pylist(), *rows]
            if len(rows) >= count:
                break
    # objects, duplicate names, or times that Python does not have
    except (pa.ArrowException, TypeError, ValueError, OverflowError):
        return NO_MARK
    plain = [[None if x != x else x for x in row.values()] for row in rows]
    return len(rows), blake2b(repr(plain).encode(), digest_size=8).hexdigest()


def rows_behind(frames: Iterable[Any], count: int, mark: Mark = NO_MARK) -> Iterator[Any]:
    """Skip a number of rows, and yield the frames after them.

    Raises
    ------
    ChangedSourceError
        If the skipped rows do not fit the mark.
    ValueError
        If there are fewer rows.
    """
    ahead, rest = list[Any](), count
    for frame in frames:
        dropped = min(rest, len(frame))
        if not dropped:
            yield frame
            continue
        rest -= dropped
        if dropped >= mark[0]:
            ahead.clear()
        ahead = [*ahead[-MARKED:], library_of(frame).rows(frame, slice(0, dropped))]
        if not rest:
            _check_mark(ahead, mark, count)
        if dropped < len(frame):
            yield library_of(frame).rows(frame, slice(dropped, None))
    if rest:
        raise ValueError(f"state is of more rows than the source has: {rest} more")


def _check_mark(frames: Sequence[Any], mark: Mark, count: int) -> None:
    if mark[0] and mark_of(frames, mark[0]) != mark:
        raise ChangedSourceError(
            f"the rows of the source ahead of row {count} are not those that were read. Give the source from its "
            f"beginning, with the rows that it had, in their order"
        )
