"""The halo of a partition: the rows of its neighbours that its windows reach.

A partition hands on its last rows, or with `reverse` its first; two neighbours join theirs and cut them to as many
again, so that a window may be longer than any partition. Over groups, each has rows of its own.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from .. import kernels
from ..frames.keys import By
from ..frames.protocol import Array, Column, Library, Values
from ..frames.registry import each, library_of
from .groups import INT64


@dataclass(frozen=True)
class Halo:
    """The rows next to a border of partitions.

    Parameters
    ----------
    rows : int
        How many, of all rows or of each group.
    reverse : bool
        Whether they are the first rows of partitions behind, rather than the last of partitions before.
    by : By, optional
        Keys, if each group has rows of its own.
    """

    rows: int
    reverse: bool = False
    by: By | None = None

    def aggregate(self, partition: Any) -> Any:
        return self._cut(partition)

    def combine(self, aggregates: Sequence[Any]) -> Any:
        filled = [a for a in aggregates if len(a)] or list(aggregates[:1])
        if self.by is None:  # the nearest are enough
            count = 0
            for i, frame in enumerate(reversed(filled)):
                count += len(frame)
                if count >= self.rows:
                    filled = filled[len(filled) - 1 - i :]
                    break
        if len(filled) == 1:
            return filled[0]
        return self._cut(joined_rows(filled[::-1] if self.reverse else filled))

    def _cut(self, frame: Any) -> Any:
        library = library_of(frame)
        with library.reading(frame):
            # positions rather than a slice: it must not keep the partition in memory
            return library.rows(frame, self.positions(library, frame))

    def positions(self, library: Library, frame: Any) -> Values:
        """Return where these rows are in a partition."""
        if self.by is None:
            kept = min(self.rows, len(frame))
            first = 0 if self.reverse else len(frame) - kept
            return library.xp.arange(first, first + kept, dtype=INT64)
        codes, _ = library.dense_codes([library.array(c) for c in self.by.series(frame)])
        (ordered,), (order,) = kernels.sort_pairs(codes, [], positions=True)
        starts, stops = run_bounds([ordered])
        numbers = library.xp.arange(len(order), dtype=INT64)
        near = numbers - starts < self.rows if self.reverse else stops - numbers <= self.rows
        return kernels.sort(order[near])


def run_bounds(keys: Sequence[Values], nulls: Any = None) -> tuple[Values, Values]:
    """Return, a row, the first row of its run of equal keys and the row behind the last."""
    starts, lengths = kernels.run_length_encode(list(keys), nulls=nulls)
    decoded = kernels.run_length_decode(lengths, [starts, starts + lengths])
    return decoded[0], decoded[1]


def joined_columns(library: Library, columns: Sequence[Column]) -> Column:
    """Return the rows of several columns as one."""
    if len(columns) == 1:
        return columns[0]
    return library.as_column(library.concatenate([library.array(c) for c in columns]))


def joined_rows(frames: Sequence[Any]) -> Any:
    """Return the rows of frames, or of series, as one."""
    library = library_of(frames[0])
    columns = zip(*(map(library.array, each(frame)) for frame in frames), strict=True)
    names = library.index_names(frames[0])
    levels = [
        _joined(library, [library.array(library.index_level(f, i)) for f in frames])
        for i in range(len(names))
    ]
    index = library.key_index(levels, names)
    return library.rebuild(frames[0], [_joined(library, list(c)) for c in columns], index)


def _joined(library: Library, arrays: Sequence[Array]) -> Array:
    return arrays[0] if len(arrays) == 1 else library.concatenate(list(arrays))
