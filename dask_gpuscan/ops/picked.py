"""The smallest, largest, first or last value of all rows so far: picked among integers, else through float64."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from ..frames.protocol import Library, View
from ..frames.registry import library_of
from ..kernels import BUILT_IN, Operator
from .groups import INT64, Groups, ReducibleGroups, States, folded, merged, state_of
from .statistic_inputs import holds_integers
from .statistics import PICKS
from .windows import Window

_ADD = BUILT_IN["add"]


@dataclass(frozen=True)
class Picked:
    """A statistic whose answer is one of the values so far, in groups or not.

    The states of integers are those of the operator that picks one, then the number of values.

    Parameters
    ----------
    name : str
        A key of `PICKS`.
    floats : Window
        What is done to other columns.
    """

    name: str
    floats: Window
    reverse = False
    needs_neighbours = False

    @property
    def label(self) -> str:
        """For the names of tasks, and messages."""
        return self.floats.label

    @property
    def _op(self) -> Operator:
        return PICKS[self.name]

    def dtype(self, columns: Sequence[Any]) -> Any:
        """Return the dtype of the answer."""
        floats = self.floats.dtype(columns)  # which refuses what are no numbers
        column = columns[0]
        return library_of(column).nullable(column.dtype) if holds_integers(column) else floats

    def aggregate(self, columns: Sequence[Any], groups: ReducibleGroups) -> Callable[[], States]:
        """Begin to reduce each group."""
        if not holds_integers(columns[0]):
            return self.floats.aggregate(columns, groups)
        view = _view(columns[0])
        wait = groups.reduce(self._op, view.values, nulls=view.nulls)
        count = groups.reduce(_ADD, library_of(columns[0]).valid(columns[0]).astype(INT64))
        return lambda: (*wait(), *count())

    def combine(self, states: Sequence[States]) -> States:
        """States of neighbouring parts of one group, on the host, as one."""
        if _are_floats(states[0]):
            return self.floats.combine(states)
        return (*folded(self._op, [s[:-1] for s in states]), sum(s[-1] for s in states))

    def merge(self, library: Library, states: States, groups: ReducibleGroups) -> States:
        """Arrays of states, of which those of equal keys become one."""
        if _are_floats(states):
            return self.floats.merge(library, states, groups)
        picked = merged(self._op, states[:-1], groups)
        return (*picked, *merged(_ADD, states[-1:], groups))

    def apply(self, columns: Sequence[Any], groups: Groups, prior: States | None) -> Any:
        """Array of the answers of rows, given the states of their groups before."""
        (column,) = columns
        if not holds_integers(column):
            return self.floats.apply(columns, groups, prior)
        library, view = library_of(column), _view(column)
        state, count = (None, None) if prior is None else (state_of(prior[:-1]), prior[-1])
        values = groups.scan(self._op, view.values, nulls=view.nulls, carry_in=state)
        layout = library.layout(column.dtype)
        assert layout is not None
        array = layout.wrap(values, None, column.dtype)
        before = np.int64(count) if isinstance(count, int) else count
        counted = groups.scan(_ADD, library.valid(column).astype(INT64), carry_in=before)
        return library.set_null(array, counted < max(self.floats.min_periods, 1))


def _view(column: Any) -> View:
    library = library_of(column)
    layout = library.layout(column.dtype)
    assert layout is not None
    return layout.view(library.array(column))


def _are_floats(states: States) -> bool:
    return bool(states[0].dtype.kind == "f")
