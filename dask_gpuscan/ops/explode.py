"""Rows of frames for each item of their lists: rows are repeated as often as their lists have items."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

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
            counts = [_counts(lists) for lists in found]
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


def _items(library: Library, lists: Lists, counts: Values, repeats: Values, rows: int) -> Array:
    """Return the item of each of so many rows, null in that of a list without items."""
    empty = counts == 0
    if not bool(empty.any()):
        return library.copy(lists.items)
    xp, first = library.xp, lists.offsets[:-1].astype(INT64)
    starts = xp.cumsum(repeats) - repeats

    def move(source: Values, out: Values) -> Values:
        return kernels.interval_move(first, starts, counts, source, out)

    layout = library.moved_layout(lists.items.dtype)
    if layout is None:
        numbers = xp.arange(len(lists.items), dtype=INT64)
        return library.take(lists.items, move(numbers, xp.full(rows, -1, INT64)), nulls=True)
    view, holes = layout.raw(lists.items), starts[empty]
    values = move(view.values, xp.empty(rows, view.values.dtype))
    missing = xp.zeros(rows, np.bool_)
    if view.nulls is not None:
        move(view.missing(), missing)
    values[holes], missing[holes] = 0, True
    return layout.wrap(values, missing, lists.items.dtype)
