"""Reductions of groups that need all values of a group at once, and the one that gives them back as a list.

The rows of groups are adjacent. The state of a group that goes on in the next partition is its values.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from ..frames.messages import of_columns
from ..frames.protocol import Library, Values
from ..frames.registry import library_of
from ..kernels.messages import shown
from .groups import INT64, AdjacentGroups, ReducibleGroups, States
from .runs import Runs

INT32 = np.dtype(np.int32)


class GatheredReduction:
    """A reduction of all values of each group."""

    @property
    def name(self) -> str:
        """For the names of tasks, and messages."""
        raise NotImplementedError

    def dtype(self, columns: Sequence[Any]) -> Any:
        """Dtype of the answer; raises a TypeError that names the column and the way out."""
        with of_columns(self.name, columns[:1]):
            return self._dtype(library_of(columns[0]), columns[0].dtype)

    def _dtype(self, library: Library, dtype: Any) -> Any:
        raise NotImplementedError

    def _answers(self, column: Any, array: Any, starts: Values) -> Any:
        """Return the answers of groups whose values are in an array, given where each starts."""
        raise NotImplementedError

    # --- states: the values themselves ------------------------------------------------------------

    def aggregate(self, columns: Sequence[Any], groups: ReducibleGroups) -> Callable[[], States]:
        library = library_of(columns[0])
        if isinstance(groups, AdjacentGroups):
            return lambda: (groups.first_rows,)
        return lambda: (library, library.copy(library.array(columns[0])))

    def combine(self, states: Sequence[States]) -> States:
        library = states[0][0]
        return library, library.concatenate([array for _, array in states])

    def merge(self, library: Library, states: States, groups: ReducibleGroups) -> States:
        raise NotImplementedError("values of one group do not make a row of a table")

    def finalize(self, columns: Sequence[Any], states: States) -> Any:
        return self._answers(columns[0], library_of(columns[0]).array(columns[0]), states[0])

    def finalize_runs(
        self, columns: Sequence[Any], states: States, runs: Runs, carried: States | None
    ) -> Any:
        column, starts = columns[0], states[0]
        library, closed = library_of(column), len(runs.starts)
        end = int(starts[closed]) if closed < len(starts) else len(column)
        array, starts = library.slice_array(library.array(column), 0, end), starts[:closed]
        if runs.before or runs.joined:
            assert carried is not None
            earlier = carried[1]
            array = library.concatenate([earlier, array])
            later = starts[1:] if runs.joined else starts
            starts = library.prepend_number(INT64.type(0), later + len(earlier))
        return self._answers(column, array, starts)


@dataclass(frozen=True)
class ListOfValues(GatheredReduction):
    """The values of each group as a list, nulls among them, in the rows' order."""

    name = "list"

    def _dtype(self, library: Library, dtype: Any) -> Any:
        return library.list_dtype(dtype)

    def _answers(self, column: Any, array: Any, starts: Values) -> Any:
        library = library_of(column)
        if len(array) > np.iinfo(INT32).max:
            raise ValueError(
                f"list of column {shown(column.name)}: lists of a partition hold 2**31 - 1 values at most, found "
                f"{len(array)}; use more partitions"
            )
        offsets = library.xp.append(starts, library.xp.asarray([len(array)], INT64))
        values = library.copy(array)  # which users may write to
        return library.from_items(values, offsets.astype(INT32), self.dtype([column]))

    def of_nothing(self, columns: Sequence[Any]) -> Any:
        """Return a list of no values, as an array of one row."""
        library = library_of(columns[0])
        none = library.slice_array(library.array(columns[0]), 0, 0)
        return self._answers(columns[0], none, library.xp.zeros(1, INT64))
