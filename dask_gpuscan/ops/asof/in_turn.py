"""As-of merges of two sides that come in batches: the right side is read as far as the left one has come."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

from ...frames.registry import library_of
from ...frames.types import Frame, Scalar
from ...kernels.late_dataclass import dataclass
from ..windows.halo import joined_rows
from .asof import AsOf, in_order, numbers
from .columns import AsOfSide

Reached = tuple[int, int, bool, list[tuple[str, str, Any]], list[Any], int]


@dataclass(frozen=True, eq=False)
class RightRows:
    """The right rows that were read with the left rows so far."""

    waiting: Frame
    """Rows behind the last left one."""
    before: Frame | None = None
    """Of the rows ahead of those, what later left rows may match: the nearest of each key. None if there are none."""
    count: int = 0
    """How many rows were read."""
    left_end: Scalar | None = None
    """The number of the last left row."""
    right_end: Scalar | None = None
    """The number of the last row that was read."""
    source: Reached | None = None
    """How many rows of its source were read, how many of these the left side of the same source has not reached, and
    whether the source has ended; the name, the options and the state of each step that computes the right side; the
    files that were read, and how many rows of the last one."""


def merged_in_turn(
    question: AsOf, left: Frame, seen: RightRows, read: Callable[[], Any]
) -> tuple[Any, RightRows]:
    """Return the rows of a left batch, each with its match, and the right rows that were read.

    Parameters
    ----------
    question : AsOf
        One that looks backwards.
    left : DataFrame
    seen : RightRows
    read : callable
        Returns the next batch of the right side, None behind the last one.

    Raises
    ------
    ValueError
        If a side is not in order, or holds a null.
    """
    library = library_of(left)
    if not len(left):
        return question.merged(left, library.no_rows(seen.waiting)), seen
    end = end_of(question.left, left, seen.left_end)
    rows, count, right_end = _read(question, seen, read, end)
    with library.acquire(rows):
        values = numbers(question.right.on_column(rows))
        met = int(library.xp.searchsorted(values, library.xp.asarray(end, values.dtype), "right"))
    own, waiting = (library.rows(rows, part) for part in (slice(met), slice(met, None)))
    known = [part for part in (seen.before, own) if part is not None and len(part)]
    ahead = joined_rows(known) if known else own
    answer = question.merged(left, ahead)
    before = question.outside(False).aggregate(ahead) if known else None
    return answer, RightRows(waiting, before, count, end, right_end, seen.source)


def read_on(question: AsOf, seen: RightRows, read: Callable[[], Any]) -> RightRows:
    """Return the right rows, read to the end: later left rows may match those that no left row has reached."""
    rows, count, right_end = _read(question, seen, read, None)
    return replace(seen, waiting=rows, count=count, right_end=right_end)


def _read(
    question: AsOf, seen: RightRows, read: Callable[[], Any], end: Scalar
) -> tuple[Any, int, Any]:
    """Read the right side up to a row behind a number, or to the end.

    Returns
    -------
    rows : DataFrame
        Those that wait, and those that were read.
    count : int
        How many were read so far.
    right_end : number
        That of the last one.
    """
    parts, count, right_end = [seen.waiting], seen.count, seen.right_end
    while end is None or right_end is None or right_end <= end:
        batch = read()
        if batch is None:
            break
        parts.append(batch)
        count += len(batch)
        right_end = end_of(question.right, batch, right_end)
    found = [part for part in parts if len(part)] or parts[:1]
    return seen.waiting if found[-1] is seen.waiting else joined_rows(found), count, right_end


def end_of(side: AsOfSide, frame: Frame, before: Scalar) -> Scalar:
    """Return the last number of a batch that is in order, and behind the last number so far."""
    library = library_of(frame)
    with library.acquire(frame):
        values = in_order(side.on_column(frame), side.name)
        if not len(values):
            return before
        first, last = values[0].item(), values[-1].item()
    if before is not None and first < before:
        raise ValueError(
            f"{side.name} keys must be sorted: a batch begins before the one ahead of it ends; sort the {side.name} "
            f"side by them first"
        )
    return last
