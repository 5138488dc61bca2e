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
from .flat_frame import flat_frame
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
            counts = [_counts(library, lists) for lists in found]
            _check_counts(columns, counts)
            repeats = library.xp.maximum(counts[0], 1)
            others = self._repeated(frame, repeats)
            items = {
                name: _items(library, lists, count, repeats, len(others))
                for name, lists, count in zip(self.columns, found, counts, strict=True)
            }
            rest = iter(each(others))
            arrays = [
                items[name] if name in items else library.array(next(rest))
                for name in names_of(frame)
            ]
            return library.rebuild(frame, arrays, library.index(others))

    def _repeated(self, frame: Any, repeats: Values) -> Any:
        """Return the columns that hold no lists, and the index, with each row repeated."""
        library = library_of(frame)
        if frame.ndim == 1:
            frame = library.frame([], [], library.index(frame))
        flat = flat_frame(library.select(frame, [n not in self.columns for n in names_of(frame)]))
        return flat.repeated(repeats, new_index=self.ignore_index)


def _counts(library: Library, lists: Lists) -> Values:
    ends = lists.offsets
    counts = library.xp.subtract(ends[1:], ends[:-1], dtype=INT64)
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


def _items(library: Library, lists: Lists, counts: Values, repeats: Values, rows: int) -> Array:
    """Return the item of each of so many rows, null in that of a list without items."""
    items = lists.items
    if lists.missing is None and rows == len(items):
        return library.copy(items)
    xp, layout = library.xp, library.moved_layout(items.dtype)
    (empty,) = kernels.run_length_decode(repeats, [counts == 0])
    # a row of a list without items reads the item that comes next, and is null
    first = xp.minimum(lists.offsets[:-1], max(len(items) - 1, 0), dtype=INT64)

    def gathered(source: Values) -> Values:
        return (
            kernels.interval_gather(first, repeats, source)
            if len(source)
            else xp.zeros(rows, source.dtype)
        )

    if layout is None:
        at = xp.where(empty, -1, gathered(xp.arange(len(items), dtype=INT64)))
        return library.take(items, at, nulls=True)
    view = layout.raw(items)
    missing = empty if view.nulls is None else gathered(view.missing()) | empty
    return layout.wrap(gathered(view.values), missing, items.dtype)
