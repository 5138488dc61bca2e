"""Windows of all rows so far of times and decimals: exact statistics, by integers; other columns take floats.

The states are those of the statistic, then the number of values.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from ...frames.protocol import Library
from ...frames.registry import library_of, view_of
from ...frames.types import Column
from ...kernels import BUILT_IN, byte_mask
from ...kernels.late_dataclass import dataclass
from ..core.groups import INT64, Groups, ReducibleGroups, States, folded, merged
from ..core.operation import Needs
from ..core.plans import PlannedOperation
from ..groupby.library_reduction import FirstLastReduction
from ..scan.host_scan import HostScan, host_of
from ..scan.kernel_scan import ScanArguments
from ..scan.value_scan import HostScalar, Start
from ..statistics.groups import SUM_OF_TIMES
from ..statistics.inputs import cast_to_answer
from ..statistics.table import REDUCTIONS
from .exact import DecimalWindow, decimal_answers, holds_decimals, holds_times, mean_array

_ADD = BUILT_IN["add"]

SCANS = {"sum": "add", "mean": "add", "min": "minimum", "max": "maximum"}
"""The operators by which statistics of decimals are scanned."""

EXACT = (*SCANS, "first", "last")
"""The statistics of times or decimals that are exact."""


@dataclass(frozen=True)
class ExpandingExact(PlannedOperation):
    """A sum, a mean, an extreme, or the first or last value of all rows so far, in groups or not.

    Parameters
    ----------
    name : str
        One of `EXACT`.
    floats : operation
        The operation on other columns.
    min_periods : int
    """

    name: str
    floats: Any
    min_periods: int
    reverse = False
    needs = Needs.STATES

    @property
    def label(self) -> str:
        """For the names of tasks, and messages."""
        return str(self.floats.label)

    @property
    def _decimals(self) -> Any:
        return (_Decimals if self.name in SCANS else _PickedDecimals)(self.name, self.min_periods)

    def _of_states(self, states: States) -> Any:
        first = states[0]
        if isinstance(first, HostScalar) or first.dtype.kind == "O":
            return self._decimals
        of_times = self.name == "mean" and first.dtype.kind == "i"
        return _MeansOfTimes(self.min_periods) if of_times else self.floats

    def plan(self, columns: Sequence[Column]) -> Any:
        if holds_decimals(columns[0]):
            return self._decimals
        is_mean = self.name == "mean" and holds_times(columns[0])
        return _MeansOfTimes(self.min_periods) if is_mean else self.floats.plan(columns)

    def combine(self, states: Sequence[States]) -> States:
        """States of neighbouring parts of one group, on the host, as one."""
        found: States = self._of_states(states[0]).combine(states)
        return found

    def merge(self, library: Library, states: States, groups: ReducibleGroups) -> States:
        """Arrays of states; those of equal keys become one."""
        found: States = self._of_states(states).merge(library, states, groups)
        return found


@dataclass(frozen=True)
class _MeansOfTimes:
    """The states are those of `SUM_OF_TIMES`, which count values first."""

    min_periods: int

    def dtype(self, columns: Sequence[Column]) -> Any:
        return library_of(columns[0]).group_dtype("mean", columns[0].dtype)

    def aggregate(self, columns: Sequence[Column], groups: ReducibleGroups) -> Callable[[], States]:
        view = view_of(cast_to_answer("mean", columns[0]))
        return groups.reduce(SUM_OF_TIMES, view.values, nulls=view.nulls)

    def combine(self, states: Sequence[States]) -> States:
        return folded(SUM_OF_TIMES, list(states))

    def merge(self, library: Library, states: States, groups: ReducibleGroups) -> States:
        return merged(SUM_OF_TIMES, states, groups)

    def last(self, columns: Sequence[Column], states: States) -> Any:
        return mean_array(columns[0], states, self.min_periods)

    def apply(self, columns: Sequence[Column], groups: Groups, prior: States | None) -> Any:
        view = view_of(cast_to_answer("mean", columns[0]))
        found = groups.scan(SUM_OF_TIMES, view.values, nulls=view.nulls, carry_in=prior)
        return mean_array(columns[0], found, self.min_periods)


@dataclass(frozen=True)
class _Decimals:
    """The states are a sum, with all digits, or an extreme, and the number of values."""

    name: str
    min_periods: int

    @property
    def _scan(self) -> HostScan:
        return HostScan(f"expanding-{self.name}", BUILT_IN[SCANS[self.name]], ScanArguments())

    def dtype(self, columns: Sequence[Column]) -> Any:
        return DecimalWindow(self.name).dtype(columns[0])

    def aggregate(self, columns: Sequence[Column], groups: ReducibleGroups) -> Callable[[], States]:
        wait = self._scan.aggregate(columns, groups)
        count = groups.reduce(_ADD, library_of(columns[0]).valid(columns[0]).astype(INT64))
        return lambda: (*wait(), *count())

    def combine(self, states: Sequence[States]) -> States:
        return (*self._scan.combine([s[:1] for s in states]), sum(s[1] for s in states))

    def merge(self, library: Library, states: States, groups: ReducibleGroups) -> States:
        values = self._scan.merge(library, states[:1], groups)
        return (*values, *merged(_ADD, states[1:], groups))

    def last(self, columns: Sequence[Column], states: States) -> Any:
        value, counts = states
        array = value.array if isinstance(value, HostScalar) else value
        host = host_of(library_of(columns[0]))
        values = host.values(array) if len(array) else np.zeros(1, object)
        return self._answers(columns[0], values, np.atleast_1d(counts))

    def apply(self, columns: Sequence[Column], groups: Groups, prior: States | None) -> Any:
        (column,), scan = columns, self._scan
        library, host = library_of(column), host_of(library_of(column))
        valid, wide = library.valid(column), host.state_dtype(scan.method, column.dtype)
        value, count = (None, None) if prior is None else prior
        of_one = isinstance(value, HostScalar)
        before = library.empty(wide) if value is None else value.array if of_one else value
        start = Start(library.empty(wide), before, of_one)
        column = library.as_column(library.cast(library.array(column), wide), column.name)
        found = scan.scanned(column, valid, np.ones(len(valid), np.bool_), groups, start)
        count = np.int64(count) if isinstance(count, int) else count
        counts = groups.scan(_ADD, valid.astype(INT64), carry_in=count)
        return self._answers(columns[0], host.values(found), counts)

    def _answers(self, column: Column, values: np.ndarray, counts: np.ndarray) -> Any:
        if self.name in ("sum", "mean"):
            window = DecimalWindow(self.name)
            return decimal_answers(window, column, values, counts, self.min_periods)
        some = counts >= max(self.min_periods, 1)
        return host_of(library_of(column)).array(values, some, column.dtype)


@dataclass(frozen=True)
class _PickedDecimals:
    """The states are the first or last value, null where there is none, and the number of values."""

    name: str
    min_periods: int

    @property
    def _reduction(self) -> FirstLastReduction:
        return FirstLastReduction(REDUCTIONS[self.name])

    def dtype(self, columns: Sequence[Column]) -> Any:
        return columns[0].dtype

    def aggregate(self, columns: Sequence[Column], groups: ReducibleGroups) -> Callable[[], States]:
        wait = self._reduction.aggregate(columns, groups)
        count = groups.reduce(_ADD, library_of(columns[0]).valid(columns[0]).astype(INT64))
        return lambda: (*wait(), *count())

    def combine(self, states: Sequence[States]) -> States:
        return (*self._reduction.combine([s[:1] for s in states]), sum(s[1] for s in states))

    def merge(self, library: Library, states: States, groups: ReducibleGroups) -> States:
        values = self._reduction.merge(library, states[:1], groups)
        return (*values, *merged(_ADD, states[1:], groups))

    def last(self, columns: Sequence[Column], states: States) -> Any:
        value, counts = states
        array = value.array if isinstance(value, HostScalar) else value
        few = np.atleast_1d(counts) < max(self.min_periods, 1)
        return library_of(columns[0]).set_null(array, few)

    def apply(self, columns: Sequence[Column], groups: Groups, prior: States | None) -> Any:
        (column,) = columns
        library, valid = library_of(column), library_of(column).valid(column)
        value, count = (None, None) if prior is None else prior
        array, before, carry = library.array(column), 0, None
        if value is not None:
            is_one = isinstance(value, HostScalar)
            values = value.array if is_one else value
            before, had = len(values), library.valid(library.as_column(values))
            carry = (np.int64(0), np.bool_(had[0])) if is_one else (np.arange(before), had)
            array = library.concatenate([values, array])
        rows = np.arange(before, len(array), dtype=INT64)
        nulls = None if valid.all() else byte_mask(~valid)
        at = groups.scan(BUILT_IN[self.name], rows, nulls=nulls, carry_in=carry)
        count = np.int64(count) if isinstance(count, int) else count
        counts = groups.scan(_ADD, valid.astype(INT64), carry_in=count)
        return library.take(array, np.where(counts < max(self.min_periods, 1), -1, at), nulls=True)
