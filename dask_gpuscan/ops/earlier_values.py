"""Statistics of all rows so far that need every earlier value: medians, quantiles, ranks, distinct values.

What a partition hands on are its values, so that carries grow with the data; each is computed by the library itself.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from ..frames.protocol import Library
from ..frames.registry import library_of
from .groups import INT64, Groups, ReducibleGroups, States
from .statistic_inputs import VALUES, check_columns, read


@dataclass(frozen=True)
class EarlierValues:
    """A method of the library's expanding windows, over the earlier values and those of a partition.

    Parameters
    ----------
    label : str
        For the names of tasks, and messages.
    method : str
        Its name.
    options : tuple of (str, value)
        Its arguments.
    min_periods : int
    """

    label: str
    method: str
    options: tuple[tuple[str, Any], ...]
    min_periods: int
    reverse = False
    needs_neighbours = False

    def _answers(self, library: Library, values: Any) -> Any:
        count, options = len(values), dict(self.options)
        starts = library.xp.zeros(count, INT64)
        stops = library.xp.arange(1, count + 1, dtype=INT64)
        return library.rolling(self.method, values, starts, stops, self.min_periods, **options)

    def dtype(self, columns: Sequence[Any]) -> Any:
        check_columns(self.label, columns, VALUES)
        library = library_of(columns[0])
        return self._answers(library, library.xp.zeros(0)).dtype

    def aggregate(self, columns: Sequence[Any], groups: ReducibleGroups) -> Callable[[], States]:
        (values,) = read(columns, VALUES)
        return lambda: (values[abs(values) < np.inf],)

    def combine(self, states: Sequence[States]) -> States:
        return (np.concatenate([values for (values,) in states]),)

    def merge(self, library: Library, states: States, groups: ReducibleGroups) -> States:
        raise self._not_by_group()

    def apply(self, columns: Sequence[Any], groups: Groups, prior: States | None) -> Any:
        if not groups.is_one:
            raise self._not_by_group()
        library = library_of(columns[0])
        (values,) = read(columns, VALUES)
        count = len(values)
        if prior is not None:
            values = library.xp.concatenate([prior[0], values])
        return library.from_floats(self._answers(library, values)[len(values) - count :])

    def _not_by_group(self) -> NotImplementedError:
        return NotImplementedError(
            f"{self.label} is not there by group; bring each group into one partition and use the groupby of "
            f"its library"
        )
