"""Rows of frames for each item of their lists: rows are repeated as often as their lists have items."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from dataclasses import dataclass
from typing import Any

from .. import kernels
from ..frames.lists import Lists
from ..frames.messages import column_title
from ..frames.protocol import Array, Column, Library, Values
from ..frames.registry import column_of, each, library_of, names_of
from .groups import INT64
from .lists import item_dtype


@dataclass(frozen=True)
class Explode:
    """One row an item of lists; a list that is null, or has no items, has one row too, and its item is null."""

    columns: tuple[Hashable, ...]
    """Names of the columns of lists; the name of a series."""
    ignore_index: bool = False
    label = "explode"

    def _lists(self, frame: Any) -> list[Column]:
        return [column_of(frame, name) for name in self.columns]

    def check(self, frame: Any) -> None:
        """Raise the errors that a user should see early."""
        for column in self._lists(frame):
            item_dtype(self.label, column)

    def apply(self, frame: Any) -> Any:
        """Return the rows of a partition for each item."""
        library = library_of(frame)
        with library.reading(frame):
            columns = self._lists(frame)
            found = [library.lists(library.array(c)) for c in columns]
            counts = [_counts(lists) for lists in found]
            _check_counts(columns, counts)
            repeats = library.xp.maximum(counts[0], 1)
            numbers = library.xp.arange(len(frame), dtype=INT64)
            (rows,) = kernels.run_length_decode(repeats, [numbers])
            starts = library.xp.cumsum(repeats) - repeats
            items = {
                name: _items(library, lists, count, rows, starts)
                for name, lists, count in zip(self.columns, found, counts, strict=True)
            }
            arrays = [
                items[name] if name in items else library.take(library.array(column), rows)
                for name, column in zip(names_of(frame), each(frame), strict=True)
            ]
            if self.ignore_index:
                index = library.range_index(0, len(rows))
            else:
                index = library.take_index(library.index(frame), rows)
            return library.rebuild(frame, arrays, index)


def _counts(lists: Lists) -> Values:
    counts = lists.lengths.astype(INT64, copy=False)
    if lists.missing is not None:
        counts[lists.missing] = 0  # whatever items they have in memory
    return counts


def _check_counts(columns: Sequence[Column], counts: Sequence[Values]) -> None:
    """Raise a ValueError for lists of a row that have not as many items, or one row each for none and null."""
    for column, other in zip(columns[1:], counts[1:], strict=True):
        differ = other.clip(1) != counts[0].clip(1)
        if bool(differ.any()):
            row = int(differ.argmax())
            one, two = (max(int(c[row]), 1) for c in (counts[0], other))
            raise ValueError(
                f"explode: lists of a row must have as many items each, found {one} in {column_title(columns[0])} and "
                f"{two} in {column_title(column)}"
            )


def _items(library: Library, lists: Lists, counts: Values, rows: Values, starts: Values) -> Array:
    """Return the item of each row, given the list of each, and the row that each list's items start in."""
    if bool((counts > 0).all()):  # of null lists too
        return library.copy(lists.items)
    xp = library.xp
    places = xp.arange(len(rows), dtype=INT64)
    places += kernels.take(lists.offsets[:-1] - starts, rows)
    places[kernels.take(counts, rows) == 0] = -1
    return library.take(lists.items, places, nulls=True)
