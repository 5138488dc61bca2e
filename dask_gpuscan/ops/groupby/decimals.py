"""Reductions of decimals: sums and means are exact, deviations those of the nearest floats.

Sums hand on all digits, so that a sum that fits is right however rows are cut.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from ...frames.messages import column_title, first_line
from ...frames.protocol import Library
from ...frames.registry import library_of
from ...frames.types import Column, DType
from ...kernels import BUILT_IN
from ...kernels.late_dataclass import dataclass
from ..core.groups import FORWARD, INT64, ReducibleGroups, States
from ..core.operation import StateReduction
from ..runs import EndedRuns
from ..scan.host_scan import host_of
from ..scan.value_scan import HostScalar
from ..statistics.inputs import cast_to_answer
from .library_reduction import ArrayReduction

_ADD = BUILT_IN["add"]


class DecimalSum(ArrayReduction):
    """Sums of decimals."""

    def dtype(self, columns: Sequence[Column]) -> Any:
        return library_of(columns[0]).group_dtype("sum", columns[0].dtype)

    def _reduce(self, columns: Sequence[Column], groups: ReducibleGroups) -> Any:
        column = columns[0]
        host, valid = host_of(library_of(column)), library_of(column).valid(column)
        waits = [
            groups.reduce(_ADD, digits, dtype=INT64)
            for digits in (*host.limbs(library_of(column).array(column)), valid.astype(INT64))
        ]
        *limbs, counts = [np.atleast_1d(wait()[0]) for wait in waits]
        return self._array(column, host.whole(limbs), counts > 0)

    def _reduce_one(self, columns: Sequence[Column]) -> HostScalar:
        library = library_of(columns[0])
        array = self._reduce(columns, FORWARD)
        return HostScalar(library, library.host_row(library.as_column(array), 0), array.dtype)

    def _array(
        self, column: Column, sums: np.ndarray, valid: np.ndarray, dtype: DType | None = None
    ) -> Any:
        host = host_of(library_of(column))
        try:
            return host.array(sums, valid, dtype or host.state_dtype("cumsum", column.dtype))
        except OverflowError as error:
            raise OverflowError(
                f"{self.name} of {column_title(column)}: {first_line(error)}"
            ) from error

    def finalize(self, columns: Sequence[Column], states: States) -> Any:
        """Return the sums; that of no values is 0."""
        sums = host_of(library_of(columns[0])).values(states[0])
        return self._array(columns[0], sums, np.ones(len(sums), np.bool_), self.dtype(columns))

    def of_nothing(self, columns: Sequence[Column]) -> Any:
        return self._array(
            columns[0], np.zeros(1, object), np.ones(1, np.bool_), self.dtype(columns)
        )


@dataclass(frozen=True)
class DecimalMean(StateReduction):
    """Means of decimals: halves in the last digit are rounded away from zero, as Arrow does."""

    sums: DecimalSum
    counts: Any
    """The reduction of kernels that counts values."""
    name = "mean"

    def dtype(self, columns: Sequence[Column]) -> Any:
        return library_of(columns[0]).group_dtype("mean", columns[0].dtype)

    def aggregate(self, columns: Sequence[Column], groups: ReducibleGroups) -> Callable[[], States]:
        sums, counts = (each.aggregate(columns, groups) for each in (self.sums, self.counts))
        return lambda: (*sums(), *counts())

    def combine(self, states: Sequence[States]) -> States:
        sums, counts = [s[:1] for s in states], [s[1:] for s in states]
        return (*self.sums.combine(sums), *self.counts.combine(counts))

    def merge(self, library: Library, states: States, groups: ReducibleGroups) -> States:
        counts = self.counts.merge(library, states[1:], groups)
        return (*self.sums.merge(library, states[:1], groups), *counts)

    def finalize_runs(
        self, columns: Sequence[Column], states: States, runs: EndedRuns, carried: States | None
    ) -> Any:
        before = (None, None) if carried is None else (carried[:1], carried[1:])
        sums = self.sums.closed(columns, states[:1], runs, before[0])
        return self.finalize(columns, (*sums, *self.counts.closed(states[1:], runs, before[1])))

    def finalize(self, columns: Sequence[Column], states: States) -> Any:
        host = host_of(library_of(columns[0]))
        sums, counts = host.values(states[0]), states[1]
        return host.array(rounded_means(sums, counts), counts > 0, self.dtype(columns))


def rounded_means(sums: np.ndarray, counts: np.ndarray) -> np.ndarray:
    """Return means of Python's integers, halves away from zero, as Arrow does; 0 of no values."""
    counts = np.maximum(counts, 1).astype(object)
    means: Any = (2 * abs(sums) + counts) // (2 * counts)
    rounded: np.ndarray = np.where(sums < 0, -means, means)
    return rounded


@dataclass(frozen=True)
class CastReduction(StateReduction):
    """A reduction of columns that are cast to the dtype of its answer."""

    reduction: Any

    @property
    def name(self) -> str:
        return str(self.reduction.name)

    def _cast(self, columns: Sequence[Column]) -> list[Any]:
        return [cast_to_answer(self.name, column) for column in columns]

    def dtype(self, columns: Sequence[Column]) -> Any:
        return self.reduction.dtype(self._cast(columns))

    def aggregate(self, columns: Sequence[Column], groups: ReducibleGroups) -> Callable[[], States]:
        found: Callable[[], States] = self.reduction.aggregate(self._cast(columns), groups)
        return found

    def combine(self, states: Sequence[States]) -> States:
        found: States = self.reduction.combine(states)
        return found

    def merge(self, library: Library, states: States, groups: ReducibleGroups) -> States:
        found: States = self.reduction.merge(library, states, groups)
        return found

    def finalize_runs(
        self, columns: Sequence[Column], states: States, runs: EndedRuns, carried: States | None
    ) -> Any:
        return self.reduction.finalize_runs(self._cast(columns), states, runs, carried)

    def finalize(self, columns: Sequence[Column], states: States) -> Any:
        return self.reduction.finalize(self._cast(columns), states)
