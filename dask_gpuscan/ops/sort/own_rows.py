"""Rows in another order, whose answers go back to the rows' own places."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ... import kernels
from ...frames.registry import library_of, names_of, stored_numbers
from ...frames.types import Frame
from ...kernels.late_dataclass import dataclass
from ..core.groups import INT64
from ..groupby.hashed import put_back
from .pieces import PartitionSlices, pieces_of
from .sort import Order


class RowsInOrder:
    """The rows of one frame in an order."""

    def __init__(self, obj: Any, order: Order) -> None:
        library = library_of(obj)
        order.check(obj)
        with library.acquire(obj):
            places = order.argsort(library, order.columns(library, obj))
            is_sorted = bool((places[1:] > places[:-1]).all())
        self._obj, self._places = obj, None if is_sorted else places

    def rows(self, columns: Any = None) -> Any:
        """Return the rows in order; of the given columns, if they are named."""
        found = self._obj if columns is None else self._obj[columns]
        library = library_of(found)
        if self._places is None:
            return found
        with library.acquire(found):
            return library.rows(found, self._places)

    def answer(self, found: Any) -> Any:
        """Return the answers of rows in order with the index and the order of the rows."""
        if self._places is None:
            return found
        return _with_index(found, self._places, library_of(found).index(self._obj))


def _with_index(found: Any, places: Any, index: Any) -> Any:
    """Return the rows of a frame, each put to its place."""
    library = library_of(found)
    with library.acquire(found):
        columns = [found] if found.ndim == 1 else library.columns(found)
        arrays = [put_back(library, library.array(column), places) for column in columns]
        if found.ndim == 1:
            return library.series(arrays[0], index, found.name)
        return library.rebuild(found, arrays, index)


# --- of partitions ------------------------------------------------------------------------------------


def placed(frame: Frame, partition: int, names: Sequence[str]) -> Any:
    """Return rows with two more columns: the number of their partition, and their number in it."""
    library = library_of(frame)
    with library.acquire(frame):
        rows = library.xp.arange(len(frame), dtype=INT64)
        for name, numbers in zip(names, (rows * 0 + partition, rows), strict=True):
            series = library.series(library.from_integers(numbers), library.index(frame), name)
            frame = library.append(frame, series, name)
    return frame


@dataclass(frozen=True)
class ByPlace:
    """Rows go to the partition whose number is in the last column but one."""

    label = "by-place"

    def pieces(self, frame: Frame, count: int) -> PartitionSlices:
        library = library_of(frame)
        with library.acquire(frame):
            targets = stored_numbers(library.columns(frame)[-2])
            return pieces_of(frame, kernels.argsort(targets), targets, count)


def back(answers: Frame, like: Any) -> Any:
    """Return answers in the order of the last column, without their places; as a series if `like` is one."""
    library = library_of(answers)
    with library.acquire(answers):
        places = stored_numbers(library.columns(answers)[-1])
        rows = library.xp.arange(len(places), dtype=INT64)
        index = library.take_index(library.index(answers), kernels.put(rows, places, check=False))
        kept = library.select(answers, [True] * (len(names_of(answers)) - 2) + [False] * 2)
    found = _with_index(kept, places, index)
    if like.ndim == 2:
        return found
    return library.series(library.array(library.columns(found)[0]), index, like.name)
