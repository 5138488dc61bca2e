"""Whether equal keys are adjacent over all partitions: rows pass through, unless a key comes back after another one.

What is handed on are the keys of all runs so far, one row a run.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from .. import kernels
from ..frames.key_values import Missing
from ..frames.keys import By, any_null, boundary_key, key_arrays
from ..frames.protocol import Library
from ..frames.registry import library_of
from .groupby_table import first_rows, reducible


@dataclass(frozen=True)
class RunKeys:
    """The keys of runs, in their order."""

    library: Library
    arrays: list[Any]
    """One a key column, with one row a run."""


@dataclass(frozen=True)
class CheckClustered:
    """The rows as they are; a ValueError at the partition in which a key comes back."""

    by: By
    dropna: bool = True
    label = "check-clustered"
    reverse = False
    columnwise = keeps_index = True

    @property
    def key_columns(self) -> list[Any]:
        """The columns that are read whatever is asked for."""
        return [name for name in self.by.columns if name not in self.by.levels]

    def check(self, frame: Any) -> None:
        if not len(frame):  # of rows, `apply` tells
            key_arrays(self.by.series(frame))

    def meta(self, frame: Any) -> Any:
        return library_of(frame).no_rows(frame)

    def aggregate(self, partition: Any) -> RunKeys:
        library = library_of(partition)
        with library.reading(partition):
            series = self.by.series(partition)
            keys = key_arrays(series)
            starts, _ = kernels.run_length_encode(keys.arrays, nulls=keys.nulls)
            return RunKeys(library, [library.take(library.array(c), starts) for c in series])

    def combine(self, aggregates: Sequence[RunKeys]) -> RunKeys:
        library = aggregates[0].library
        arrays = [
            library.concatenate(list(each))
            for each in zip(*(a.arrays for a in aggregates), strict=True)
        ]
        # a run that goes on over a border is one
        starts, _ = kernels.run_length_encode(library.group_codes(arrays))
        return RunKeys(library, [library.take(a, starts) for a in arrays])

    def apply(self, partition: Any, prefix: RunKeys | None) -> Any:
        found = self.aggregate(partition)
        if prefix is not None:
            found = self.combine([prefix, found])
        library = found.library
        with library.reading(partition):
            columns = [library.as_column(a) for a in found.arrays]
            again = library.xp.ones(len(columns[0]), bool)
            again[first_rows(*reducible(library, found.arrays))] = False
            null = any_null(columns) if self.dropna else None
            if null is not None:
                again &= ~null
            if bool(again.any()):
                self._refuse(columns, int(again.argmax()))
        return partition

    def _refuse(self, columns: list[Any], run: int) -> None:
        found = boundary_key(columns, run)
        pairs = zip(found.values, found.rows, strict=True)
        values = [None if value is Missing.NULL else _plain(row[0]) for value, row in pairs]
        key = values[0] if len(values) == 1 else tuple(values)
        names = ", ".join(map(repr, self.by.columns))
        raise ValueError(
            f"clustered='check': key {key!r} of {names} comes back after another key; sort the rows by "
            f"{names}, or leave out clustered"
        )


def _plain(value: Any) -> Any:
    """A key's value as a message shows it."""
    if hasattr(value, "as_py"):
        return value.as_py()
    return value.item() if isinstance(value, np.number | np.bool_) else value
