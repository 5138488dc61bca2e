"""Scans of columns whose values no kernel holds, such as strings: what partitions hand on, and the effect of nulls.

The states are a value of the column, or an array with one row a group, and, without `skipna`, whether there was a null.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from ...frames.protocol import Library
from ...frames.registry import library_of
from ...frames.types import Column, DType, HostRow, Values
from ...kernels.late_dataclass import dataclass
from ..core.groups import ANY, FORWARD, Groups, ReducibleGroups, States, merged
from .kernel_scan import ScanBase
from .operator_traits import traits_of


@dataclass(frozen=True)
class HostScalar:
    """A row of a column on the host, in a form from which its library makes a column again."""

    library: Library
    row: HostRow | None
    """None where there is no value."""
    dtype: DType

    @property
    def fits(self) -> bool:
        """Whether it is one row, as it may not be in a file."""
        return self.row is None or len(self.row) == 1

    @property
    def array(self) -> Any:
        """The value as an array of one row, or of none."""
        if self.row is None:
            return self.library.empty(self.dtype)
        return self.library.repeat(self.row, 1, self.dtype)

    def moved(self, to: Library) -> HostScalar:
        """Return the row as another library keeps it."""
        array = to.from_pandas(self.library.to_pandas(self.array))
        row = None if self.row is None else to.host_row(to.as_column(array), 0)
        return HostScalar(to, row, array.dtype)


@dataclass(frozen=True)
class Start:
    """What groups start from: arrays of the column's dtype."""

    initial: Any
    """The initial value of each group, in one row or none."""
    before: Any
    """The value that each group had before, null where it had none."""
    of_one: bool
    """Whether there is one group alone: `before` then has one row, or none without a value."""


@dataclass(frozen=True)
class ValueScan(ScanBase):
    """A scan of one column by its values; a subclass combines them."""

    @property
    def method(self) -> str:
        """The library's method that does the same."""
        found = traits_of(self.op).library_method
        assert found is not None
        return found

    def reduced(self, library: Library, column: Column, groups: ReducibleGroups) -> Any:
        """Return an array of one row a group, null if it has no value; no row for one group without a value."""
        raise NotImplementedError

    def scanned(
        self, column: Column, valid: Values, shown: Values, groups: Groups, start: Start
    ) -> Any:
        """Return the array of answers, null where not `shown`; `valid` says which rows have a value."""
        raise NotImplementedError

    def answer(self, library: Library, dtype: DType) -> Any:
        """Return the dtype of the answer; raises a TypeError for a dtype that has none."""
        raise NotImplementedError

    def dtype(self, columns: Sequence[Column]) -> Any:
        (column,) = columns
        library = library_of(column)
        found = self.answer(library, column.dtype)
        self._check_dtype(library, column.dtype)
        self._initial(library, column)
        return found

    def _check_dtype(self, library: Library, dtype: DType) -> None:
        """Raise a TypeError if the requested dtype does not go with a column of `dtype`."""
        if self.options.dtype is not None:
            raise TypeError(f"dtype={self.options.dtype} cannot be asked for a column of {dtype}")

    def _start_dtype(self, library: Library, dtype: DType) -> Any:
        """Return the dtype of the initial value of a scan of a column of `dtype`."""
        return dtype

    def _initial(self, library: Library, column: Column) -> Any:
        """The initial value of the scan, as an array of one row, or of none."""
        value = self.options.initial_of(column.name)
        dtype = self._start_dtype(library, column.dtype)
        return library.empty(dtype) if value is None else library.one(value, dtype)

    # --- what groups hand on ----------------------------------------------------------------------

    def aggregate(self, columns: Sequence[Column], groups: ReducibleGroups) -> Callable[[], States]:
        (column,) = columns
        library = library_of(column)
        found = self._state(library, column, groups)
        if not self.options.skipna:
            missing = ~library.valid(column)
            some = (
                (np.bool_(bool(missing.any())),) if groups.is_one else groups.reduce(ANY, missing)()
            )
            found = (*found, *some)
        return lambda: found

    def combine(self, states: Sequence[States]) -> States:
        if len(states) == 1:
            return states[0]
        library = states[0][0].library
        values = library.concatenate([s[0].array for s in states])
        found = self._state(library, library.as_column(values), FORWARD)
        return (*found, *(np.bool_(any(s[1] for s in states)) for _ in states[0][1:]))

    def merge(self, library: Library, states: States, groups: ReducibleGroups) -> States:
        found = self._state(library, library.as_column(states[0]), groups)
        return (*found, *(merged(ANY, (flags,), groups)[0] for flags in states[1:]))

    def _state(self, library: Library, column: Column, groups: ReducibleGroups) -> States:
        array = self.reduced(library, column, groups)
        if not groups.is_one:
            return (array,)
        row = library.host_row(library.as_column(array), 0) if len(array) else None
        return (HostScalar(library, row, array.dtype),)

    def last(self, columns: Sequence[Column], states: States) -> Any:
        """Array of the answer after all rows of each group, given arrays of states, or a value."""
        value = states[0]
        if not isinstance(value, HostScalar):
            return value
        nothing = value.library.xp.full(1, -1, np.int64)
        array = value.array
        return array if len(array) else value.library.take(array, nothing, nulls=True)

    # --- the scan itself --------------------------------------------------------------------------

    def apply(self, columns: Sequence[Column], groups: Groups, prior: States | None) -> Any:
        (column,) = columns
        library = library_of(column)
        value, null = (None, None) if prior is None else (prior[0], *prior[1:], None)[:2]
        of_one = isinstance(value, HostScalar)
        if value is None:
            value = library.empty(column.dtype)
        elif of_one:
            value = value.array
        valid = shown = library.valid(column)
        if not self.options.skipna:
            after = groups.any_so_far(~valid, exclusive=self.options.exclusive, carry_in=null)
            shown = valid if after is None else ~after
        start = Start(self._initial(library, column), value, of_one)
        return self.scanned(column, valid, shown, groups, start)
