"""Segments of rows: each ends with a row whose flag is true, and the next row begins another."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from ...frames.protocol import Library
from ...frames.registry import library_of
from ...frames.types import Column
from ...kernels import BUILT_IN
from ...kernels.late_dataclass import dataclass
from ..core.groups import INT64, Groups, ReducibleGroups, States, merged
from ..core.operation import Needs
from .fused.plan import entitled
from .inputs import Input, kept

_ADD = BUILT_IN["add"]


@dataclass(frozen=True)
class CountSegments:
    """The number of each row's segment within its group, from 0: how many rows before it have a true flag."""

    flag: Input
    """The flag, which is true in the last row of a segment; a null is not true."""

    reverse = False
    label = "segments"
    needs = Needs.STATES

    def dtype(self, columns: Sequence[Column]) -> Any:
        self._flags(columns)
        return INT64

    def _flags(self, columns: Sequence[Column]) -> Any:
        """Return 1 where the flag is true and else 0; raises a TypeError if it is not boolean."""
        with entitled("reset"):
            flags = kept(self.flag, dict(zip(self.flag.columns, columns, strict=True)))
        return flags.astype(INT64)

    def aggregate(self, columns: Sequence[Column], groups: ReducibleGroups) -> Callable[[], States]:
        return groups.reduce(_ADD, self._flags(columns))

    def combine(self, states: Sequence[States]) -> States:
        return (sum(count for (count,) in states),)

    def merge(self, library: Library, states: States, groups: ReducibleGroups) -> States:
        return merged(_ADD, states, groups)

    def last(self, columns: Sequence[Column], states: States) -> Any:
        """Array of the number of the segment that is open in each group, given arrays of states."""
        return library_of(columns[0]).from_integers(states[0])

    def apply(self, columns: Sequence[Column], groups: Groups, prior: States | None) -> Any:
        before = None if prior is None else prior[0]
        numbers = groups.scan(_ADD, self._flags(columns), exclusive=True, carry_in=before)
        return library_of(columns[0]).from_integers(numbers)
