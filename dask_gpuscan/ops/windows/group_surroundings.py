"""Operations that look at the rows around each row in its group: groups are adjacent, or brought together and back."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from ... import kernels
from ...frames.keys import Keys, any_null, key_arrays, named_keys
from ...frames.registry import library_of, stored_numbers
from ...frames.types import Array, Frame, Values
from ...kernels.late_dataclass import dataclass
from ..core.operation import Part
from ..groupby.by_key import followed, value_of
from ..groupby.spec import GroupBySpec
from ..time.time_column import check_order
from .halo import Halo, RowArrays, RowExtent, WindowExtent, joined
from .surroundings import AdjacentRows, NeighbourCarry, NeighbourOperation, WindowRows


@dataclass(frozen=True)
class GroupOverlap(GroupBySpec, NeighbourCarry):
    """Operations on rows in groups, which all look the same distance.

    Parameters
    ----------
    clustered : bool
        Whether equal keys are adjacent; else rows are brought together by key, and back.
    """

    parts: tuple[Part[NeighbourOperation], ...] = ()
    clustered: bool = False
    keeps_index = True

    @property
    def extent(self) -> WindowExtent:
        return self.parts[0].operation.extent if self.parts else RowExtent(0)

    @property
    def grouped_by(self) -> Sequence[Hashable]:
        return self.by.columns

    def time_dtype(self, frame: Frame) -> Any:
        time_column = self.extent.time_column
        return None if time_column is None else time_column.column(frame).dtype

    @property
    def times(self) -> list[Hashable]:
        """The name of the column of times, if windows are of time and times are not in the index."""
        time_column = self.extent.time_column
        return [] if time_column is None or time_column.on is None else [time_column.on]

    def check(self, frame: Frame) -> None:
        super().check(frame)
        if self.extent.time_column is not None:
            self.extent.time_column.check(frame)

    def meta(self, frame: Frame) -> Any:
        return self.apply(library_of(frame).no_rows(frame), None, None)

    def rows_of(self, partition: Frame) -> RowArrays:
        library, time_column = library_of(partition), self.extent.time_column
        columns = [
            library.array(c) for part in self.parts for c in self.columns(library, partition, part)
        ]
        keys = [library.array(c) for c in self.by.series(library, partition)]
        times = None if time_column is None else time_column.times(partition)
        return RowArrays(library, len(partition), columns, keys, times, self.clustered)

    def names_of_rows(self, frame: Frame) -> list[Hashable]:
        library = library_of(frame)
        return [c.name for part in self.parts for c in self.columns(library, frame, part)]

    def apply(self, partition: Frame, before: RowArrays | None, after: RowArrays | None) -> Any:
        library = library_of(partition)
        with library.acquire(partition):
            around = [self.rows_of(partition)]
            first = 0
            if before is not None and before.count:
                around, first = [before, *around], before.count
            if after is not None and after.count:
                around = [*around, after]
            seen = joined(around)
            null = None
            if self.dropna:
                null = any_null(library, [library.as_column(array) for array in seen.keys or []])
            return self._answered(partition, seen, first, null)

    def _answered(self, partition: Frame, seen: RowArrays, first: int, null: Values | None) -> Any:
        """Return the answers for rows, given all that they see, the first of them, and which are in no group."""
        library = library_of(partition)
        with named_keys(self.by.series(library, partition)):
            arranged = _Arranged(self, partition, seen, null)
        if null is not None:
            null = null[first : first + len(partition)]
        arrays, moved = [], iter(seen.columns)
        for part in self.parts:
            columns = [
                arranged.column(next(moved), c.name) for c in self.columns(library, partition, part)
            ]
            operation, _ = part.operation.planned(columns)
            array = operation.apply(columns, arranged.rows)
            array = library.slice_array(array, first, first + len(partition))
            arrays.append(self.in_groups(part, columns, array, null))
        return self.build(library, partition, arrays, library.index(partition))

    def follow(self, partition: Frame, before: Any) -> tuple[Any, Any]:
        if self.clustered or self.before is None:
            return super().follow(partition, before)
        return followed(self, partition, before)

    def value(self, seen: Any) -> Any:
        return value_of(seen)

    def follow_all(self, partition: Frame, prefix: RowArrays | None) -> tuple[Any, RowArrays]:
        """Return the answer for a partition and the rows that are kept, given those of all keys before."""
        return super().follow(partition, prefix)

    def follow_part(
        self, partition: Frame, before: RowArrays, known: Values, codes: Values, groups: int
    ) -> tuple[Any, RowArrays, Values]:
        """Return the answer for a partition, the rows that are kept of its own keys, and the code of each.

        See `KeyedCarry`; codes stand for keys.
        """
        library = library_of(partition)
        with library.acquire(partition):
            own = replace(self.rows_of(partition), keys=[library.from_integers(codes)])
            seen = joined([replace(before, keys=[library.from_integers(known)]), own])
            null = any_null(library, self.by.series(library, partition)) if self.dropna else None
            if null is not None:
                of_group = np.zeros(groups, np.bool_)
                of_group[codes[null]] = True
                null = of_group[np.concatenate([known, codes])]
            answer = self._answered(partition, seen, len(known), null)
            kept = Halo(self).cut(seen).unpack()
        (places,) = kept.keys or []
        return answer, kept, stored_numbers(library.as_column(places))


class _Arranged:
    """Rows brought together by group, unless operations take codes; `ungrouped` marks rows in no group."""

    def __init__(
        self, carry: GroupOverlap, partition: Frame, seen: RowArrays, ungrouped: Values | None
    ) -> None:
        assert seen.keys is not None
        library = library_of(partition)
        order = None
        if seen.clustered:
            keys = key_arrays(library, [library.as_column(array) for array in seen.keys])
        else:
            codes = library.dense_group_ids(seen.keys)
            if all(part.operation.takes_group_ids(codes) for part in carry.parts):
                self.rows = WindowRows(
                    library, seen.count, 0, seen.count, group_ids=codes, ungrouped=ungrouped
                )
                return
            (ordered,), (order,) = kernels.sort_pairs(codes.array, [], positions="narrow")
            keys = Keys([ordered], [None])
            if ungrouped is not None:
                ungrouped = kernels.take(ungrouped, order, check=False)
        groups, times = AdjacentRows(keys), seen.times
        if carry.extent.time_column is not None and times is not None:
            times = times if order is None else kernels.take(times, order, check=False)
            check_order(carry.extent.time_column, partition, times, groups.heads)
        self.rows = WindowRows(
            library, seen.count, 0, seen.count, groups, times, order=order, ungrouped=ungrouped
        )

    def column(self, array: Array, name: Hashable) -> Any:
        """Return a column with its rows in this arrangement."""
        library, order = self.rows.library, self.rows.order
        return library.as_column(array if order is None else library.take(array, order), name)
