"""The edges of buckets of groups and the rows that they are matched with, as frames with a default index."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from typing import Any

from ...frames.keys import By
from ...frames.registry import column_of, library_of
from ...frames.types import Frame
from .time_column import TimeColumn


def keyed_rows(
    frame: Frame,
    by: By,
    time_column: TimeColumn,
    keys: Sequence[Sequence[Hashable]],
    time: Hashable,
    names: Sequence[Hashable],
) -> Any:
    """Return a frame of the keys of rows, under several lists of names, of their times, and of these columns."""
    library = library_of(frame)
    found = [library.array(column) for column in by.series(library, frame)]
    arrays = [*found * len(keys), library.array(time_column.column(frame))]
    arrays += [library.array(column_of(frame, name)) for name in names]
    titles = [*(title for each in keys for title in each), time, *names]
    return library.frame(arrays, titles, library.range_index(0, len(arrays[0])))


def keyed_edges(sizes: Frame, keys: Sequence[Hashable], edge: Hashable) -> Any:
    """Return a frame of the levels of the index of the sizes of buckets: keys, and the edge of each bucket."""
    library, titles = library_of(sizes), [*keys, edge]
    arrays = [library.array(library.index_level(sizes, i)) for i in range(len(titles))]
    return library.frame(arrays, titles, library.range_index(0, len(arrays[0])))


def with_levels(
    frame: Frame, levels: Sequence[Hashable], labels: Sequence[Hashable], names: Sequence[Hashable]
) -> Any:
    """Return these columns of a frame, with others as the levels of its index, under names that are `labels`."""
    library = library_of(frame)
    index = library.key_index(
        [library.array(column_of(frame, level)) for level in levels], list(labels)
    )
    arrays = [library.array(column_of(frame, name)) for name in names]
    return library.frame(arrays, list(names), index)
