"""Reductions of the sorted values of groups: what they have in common, and the number of distinct values.

The values of groups, whose rows are adjacent, are sorted within each group in one segmented sort.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from .. import kernels
from ..frames.keys import key_arrays
from ..frames.protocol import Library, Values
from ..frames.registry import library_of
from .gathered_groups import GatheredReduction
from .groups import INT64


@dataclass(frozen=True)
class SortedValues:
    """The values of groups, in order within each."""

    library: Library
    values: Values
    starts: Values
    """Where each group starts."""
    counts: Values
    """Values of each group that are not null; these come first."""


class SortedReduction(GatheredReduction):
    """A reduction of the sorted values of each group."""

    def numbers(self, column: Any) -> Values:
        """Return the array whose elements are sorted; what stands for nulls does not matter."""
        raise NotImplementedError

    def answer(self, found: SortedValues, dtype: Any) -> tuple[Values, Values | None]:
        """Return the answers of groups, and where they are null."""
        raise NotImplementedError

    def _answers(self, column: Any, array: Any, starts: Values) -> Any:
        library, dtype = library_of(column), self.dtype([column])
        layout = library.layout(dtype)
        assert layout is not None
        values, missing = self.answer(self._sorted(library, array, starts), dtype)
        if missing is not None and not bool(missing.any()):
            missing = None
        return layout.wrap(values.astype(layout.storage(dtype)), missing, dtype)

    def _sorted(self, library: Library, array: Any, starts: Values) -> SortedValues:
        xp, column = library.xp, library.as_column(array)
        missing, values = library.missing(column), self.numbers(column)
        offsets = xp.append(starts, xp.asarray([len(values)], INT64))
        counts = offsets[1:] - offsets[:-1]
        nulls = None
        if missing is not None:
            nulls = kernels.byte_mask(missing)
            before = xp.append(xp.zeros(1, INT64), xp.cumsum(missing, dtype=INT64))[offsets]
            counts = counts - (before[1:] - before[:-1])
        if len(starts):
            (values,), _ = kernels.segmented_sort(values, offsets=offsets, nulls=[nulls])
        return SortedValues(library, values, starts, counts)


@dataclass(frozen=True)
class CountDistinct(SortedReduction):
    """How many distinct values a group has; with `dropna` a null is none."""

    dropna: bool = True
    name = "nunique"

    def _dtype(self, library: Library, dtype: Any) -> Any:
        return library.group_dtype("nunique", dtype)

    def numbers(self, column: Any) -> Values:
        values = key_arrays([column]).arrays[0]
        if values.dtype.kind == "c":  # which have no order
            library = library_of(column)
            return library.group_codes([library.array(column)])
        return values

    def answer(self, found: SortedValues, dtype: Any) -> tuple[Values, Values | None]:
        xp, starts, counts = found.library.xp, found.starts, found.counts
        ends = xp.append(starts[1:], xp.asarray([len(found.values)], INT64))[: len(starts)]
        heads = kernels.head_flags(found.values)
        heads[starts] = True
        before = xp.append(xp.zeros(1, INT64), xp.cumsum(heads, dtype=INT64))
        distinct = before[starts + counts] - before[starts]
        if not self.dropna:
            distinct = distinct + (starts + counts < ends)
        return distinct, None
