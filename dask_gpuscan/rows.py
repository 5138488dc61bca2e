"""Global row numbers: the aggregate of a partition is how many rows it has.

This module must never look at values.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from .columns import counts, library_of


@dataclass(frozen=True)
class _Rows:
    """What both carries share: row counts, added."""

    reverse = False

    def check(self, frame: Any) -> None:
        """Any frame has rows."""

    def aggregate(self, partition: Any) -> int:
        return len(partition)

    def combine(self, aggregates: Sequence[int]) -> int:
        return sum(aggregates)


@dataclass(frozen=True)
class RowNumber(_Rows):
    """Number the rows of all partitions from 0."""

    label = "row-number"
    columnwise = False
    keeps_index = True

    def meta(self, frame: Any) -> Any:
        return self.apply(frame.iloc[:0], None)

    def apply(self, partition: Any, prefix: int | None) -> Any:
        start = prefix or 0
        library = library_of(partition)
        with library.reading(partition):
            numbers = library.numbers.arange(start, start + len(partition), dtype=np.int64)
        return library.series(counts(library, numbers), partition.index, "row_number")


@dataclass(frozen=True)
class ResetIndex(_Rows):
    """Give all partitions one default index that runs on from one to the next."""

    drop: bool = False
    label = "reset-index"
    keeps_index = False

    @property
    def columnwise(self) -> bool:
        return self.drop  # else one column is the index

    def meta(self, frame: Any) -> Any:
        return self.apply(frame.iloc[:0], None)

    def apply(self, partition: Any, prefix: int | None) -> Any:
        start = prefix or 0
        out = partition.reset_index(drop=self.drop)
        out.index = library_of(partition).range_index(start, start + len(partition))
        return out
