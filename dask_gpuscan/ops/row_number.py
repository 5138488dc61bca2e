"""Row numbers, of the whole collection and within groups: what is handed on is how many rows there were.

This module must never look at values.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from .. import kernels
from ..frames.columns import counts
from ..frames.keys import Codes, Keys
from ..frames.protocol import Library
from ..frames.registry import library_of
from ..kernels import BUILT_IN
from .group_scan import scan_groups
from .reduce import merged
from .reduction_table import States
from .runs import INT64


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
        start, levels = prefix or 0, partition.index.nlevels
        out = partition.reset_index(drop=self.drop)
        for i in range(0 if self.drop else levels):  # pandas would look for strings among objects
            dtype = partition.index.get_level_values(i).dtype
            if out.dtypes.iloc[i] != dtype:
                out.isetitem(i, out.iloc[:, i].astype(dtype))
        out.index = library_of(partition).range_index(start, start + len(partition))
        return out


# --- within groups -----------------------------------------------------------------------------------


def numbered(codes: Codes, before: Any = None) -> Any:
    """Number rows in any order within their groups, from 0 or from how many rows the first groups had before."""
    ones = np.ones(len(codes.array), INT64)
    add = BUILT_IN["add"]
    options = {"exclusive": True, "carry_in": before}
    return kernels.scan_by_code(add, codes.array, ones, codes.groups, **options)[0]


@dataclass(frozen=True)
class CountGroups:
    """The number of each row within its group, from 0."""

    reverse: bool = False

    def dtype(self, columns: Sequence[Any]) -> Any:
        """Dtype of the answer."""
        return INT64

    def state(self, columns: Sequence[Any]) -> int:
        """Count the rows of one group."""
        return len(columns[0])

    def join(self, states: Sequence[int]) -> int:
        """Add counts."""
        return sum(states)

    def apply(self, columns: Sequence[Any], keys: Keys, carried: Any, continues: bool) -> Any:
        """Number the rows of a partition."""
        library = library_of(columns[0])
        ones = library.numbers.ones(len(columns[0]), INT64)
        out = scan_groups(
            BUILT_IN["add"],
            keys.arrays,
            ones,
            key_nulls=keys.nulls,
            reverse=self.reverse,
            carry_in=np.int64(carried) if continues else None,
            continues=continues,
        )
        return counts(library, out - 1)

    def runs(self, columns: Sequence[Any], keys: Keys, starts: bool) -> tuple[Any, States]:
        """Count the rows of each group."""
        first, lengths = kernels.run_length_encode(keys.arrays, nulls=keys.nulls)
        return first, (lengths,)

    def states_by_code(self, columns: Sequence[Any], codes: Codes) -> States:
        """Count the rows of each code."""
        ones = library_of(columns[0]).numbers.ones(len(columns[0]), INT64)
        return (kernels.reduce_by_code(BUILT_IN["add"], codes.array, ones, codes.groups),)

    def apply_by_code(self, columns: Sequence[Any], codes: Codes, prior: States | None) -> Any:
        """Number the rows of a partition, after as many as the first codes had."""
        before = None if prior is None else prior[0]
        return counts(library_of(columns[0]), numbered(codes, before))

    def merge(self, library: Library, states: States, keys: Keys) -> States:
        """Add the counts of equal keys."""
        return merged(BUILT_IN["add"], states, keys)

    def apply_after(
        self, columns: Sequence[Any], prior: States, order: Any, back: Any, keys: Keys
    ) -> Any:
        """Number the rows of a partition, with as many before them as groups had."""
        library = library_of(columns[0])
        ones = library.numbers.ones(len(columns[0]), INT64)
        numbers = library.numbers.concatenate([prior[0], ones])[order]
        out = scan_groups(BUILT_IN["add"], keys.arrays, numbers)
        return counts(library, out[back] - 1)
