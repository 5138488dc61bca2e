"""The nearer one of two rows of each edge of a bucket: the last row up to it, and the next one from it on."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from typing import Any

from ...frames.registry import column_of, library_of, names_of, stored_numbers
from ...frames.types import DType
from .time_column import TimeColumn


def append_times(frame: Any, time_column: TimeColumn, name: str) -> Any:
    """Return a frame with one more column: the times of its rows as numbers."""
    return library_of(frame).append(frame, time_column.numbers(frame), name)


def nearer_rows(
    before: Any, ahead: Any, names: Sequence[Hashable], time: Hashable, dtypes: Sequence[DType]
) -> Any:
    """Return one row for each edge; of two that are equally near, the later one.

    Parameters
    ----------
    before, ahead : frame
        The rows on either side, null where there is none; their index holds the edges.
    names : sequence
        The columns of the answer.
    time : name
        The column of the times of the rows, as numbers.
    dtypes : sequence of dtype
        Of the answer's columns: any edge has a row.
    """
    library = library_of(before)
    edges = stored_numbers(library.index_level(before, 0))
    sides = [column_of(frame, time) for frame in (before, ahead)]
    earlier, later = (stored_numbers(column) for column in sides)
    known, also = (library.valid(column) for column in sides)
    takes_earlier = known & (~also | (edges - earlier < later - edges))
    rows = library.xp.arange(len(before))
    rows = library.xp.where(takes_earlier, rows, rows + len(before))
    arrays = []
    for name, dtype in zip(names, dtypes, strict=True):
        columns = [library.array(column_of(frame, name)) for frame in (before, ahead)]
        both = library.concatenate([library.to_nullable(array) for array in columns])
        arrays.append(library.cast(library.take(both, rows), dtype))
    answer = library.select(before, [name in names for name in names_of(before)])
    return library.rebuild(answer, arrays)
