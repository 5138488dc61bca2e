"""Row numbers, of the whole collection and within groups: the number of rows so far is handed on."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from ...frames.keys import is_first_of_group
from ...frames.protocol import Library
from ...frames.registry import library_of
from ...frames.types import ArrayModule, Column, Frame, Values
from ...kernels import BUILT_IN
from ...kernels.late_dataclass import dataclass
from ..core.carry import DataFrameCarry
from ..core.columnwise import one_table
from ..core.groups import (
    ANY,
    INT64,
    Groups,
    NumberedGroups,
    ReducibleGroups,
    States,
    merged,
    ones,
)
from ..core.operation import Needs
from ..core.plans import Planned

_ADD = BUILT_IN["add"]


@dataclass(frozen=True)
class CountRows(Planned):
    """The number of each row within its group, from 0."""

    reverse: bool = False
    label = "row-number"
    needs = Needs.STATES

    def dtype(self, columns: Sequence[Column]) -> Any:
        return INT64

    def aggregate(self, columns: Sequence[Column], groups: ReducibleGroups) -> Callable[[], States]:
        count = len(columns[0])
        if groups.is_one:
            return lambda: (count,)
        return groups.reduce(_ADD, ones(library_of(columns[0]).xp, count))

    def combine(self, states: Sequence[States]) -> States:
        return (sum(count for (count,) in states),)

    def merge(self, library: Library, states: States, groups: ReducibleGroups) -> States:
        return merged(_ADD, states, groups)

    def apply(self, columns: Sequence[Column], groups: Groups, prior: States | None) -> Any:
        library = library_of(columns[0])
        before = None if prior is None else prior[0]
        return library.from_integers(places(library.xp, groups, len(columns[0]), before))

    def last(self, columns: Sequence[Column], states: States) -> Any:
        """Array of the number of the last row of each group, given arrays of states."""
        library = library_of(columns[0])
        counts = library.xp.asarray(states[0], INT64).reshape(-1)  # of one group it is a number
        return library.from_integers(counts - 1)


@dataclass(frozen=True)
class FirstMet:
    """Whether no row of the same group was met before each row."""

    reverse: bool = False
    label = "first-met"
    needs = Needs.NUMBERS

    def dtype(self, columns: Sequence[Column]) -> Any:
        return np.dtype(np.bool_)

    def aggregate(self, columns: Sequence[Column], groups: ReducibleGroups) -> Callable[[], States]:
        return groups.reduce(ANY, self._rows(columns))

    def combine(self, states: Sequence[States]) -> States:
        return states[-1]

    def merge(self, library: Library, states: States, groups: ReducibleGroups) -> States:
        return merged(ANY, states, groups)

    def apply(self, columns: Sequence[Column], groups: Groups, prior: States | None) -> Any:
        if prior is None and isinstance(groups, NumberedGroups):
            return library_of(columns[0]).from_integers(is_first_of_group(groups.codes))
        before = None if prior is None else prior[0]
        met = groups.any_so_far(self._rows(columns), exclusive=True, carry_in=before)
        return library_of(columns[0]).from_integers(~met)

    @staticmethod
    def _rows(columns: Sequence[Column]) -> Any:
        return ones(library_of(columns[0]).xp, len(columns[0]), np.bool_)


def places(xp: ArrayModule, groups: Groups, count: int, before: Values | None = None) -> Any:
    """Number rows within their groups, from 0 or from how many rows the groups had before."""
    if groups.is_one:
        return _places_of_one(xp, int(before or 0), count, groups.reverse)
    if isinstance(before, int):
        before = np.int64(before)
    return groups.scan(_ADD, ones(xp, count), exclusive=True, carry_in=before)


def _places_of_one(xp: ArrayModule, start: int, count: int, reverse: bool) -> Any:
    if reverse:
        return xp.arange(start + count - 1, start - 1, -1, dtype=INT64)
    return xp.arange(start, start + count, dtype=INT64)


# --- of the whole collection -------------------------------------------------------------------------


@dataclass(frozen=True)
class _Rows(DataFrameCarry):
    """The base of both carries, which hand on the number of rows."""

    def check(self, frame: Frame) -> None:
        """Any frame has rows."""

    def aggregate(self, partition: Frame) -> int:
        return len(partition)

    def combine(self, aggregates: Sequence[int]) -> int:
        return sum(aggregates)


@dataclass(frozen=True)
class RowNumber(_Rows):
    """Number the rows of all partitions from 0, from the first or from the last one."""

    name: str | None = "row_number"
    reverse: bool = False
    label = "row-number"
    keeps_index = True

    def meta(self, frame: Frame) -> Any:
        return self.apply(library_of(frame).no_rows(frame), None)

    def apply(self, partition: Frame, prefix: int | None) -> Any:
        library = library_of(partition)
        with library.acquire(partition):
            numbers = _places_of_one(library.xp, prefix or 0, len(partition), self.reverse)
        return library.series(library.from_integers(numbers), library.index(partition), self.name)

    def last(self, frame: Frame, seen: int) -> Any:
        library = library_of(frame)
        number = library.from_integers(library.xp.asarray([seen - 1], INT64))
        return one_table(library, [self.name], [number])


@dataclass(frozen=True)
class ResetIndex(_Rows):
    """Give all partitions one default index that continues from one to the next."""

    drop: bool = False
    label = "reset-index"

    @property
    def columnwise(self) -> bool:
        return self.drop  # else one column is the index

    def meta(self, frame: Frame) -> Any:
        return self.apply(library_of(frame).no_rows(frame), None)

    def apply(self, partition: Frame, prefix: int | None) -> Any:
        return library_of(partition).reset_index(partition, prefix or 0, self.drop)
