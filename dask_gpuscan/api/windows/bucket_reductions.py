"""Reductions of buckets of time that sort values; one quantile at a time, as an answer has one row a bucket."""

from __future__ import annotations

from typing import Any

from ...ops.core.operation import GroupReduction, Part
from ...ops.groupby.sorted_values import SortedReduction
from ..arguments import check_flags, hints
from ..groupby.sorted_values import GroupBySorted
from ..types import FrameT, Obj, SeriesT


class BucketReductions(GroupBySorted[Obj, SeriesT, FrameT]):
    """The part of `Resampler`, and of that of groups, that sorts the values of buckets."""

    def _reduce_sorted(
        self, operation: SortedReduction, numeric_only: bool, qs: tuple[float, ...] = ()
    ) -> Any:
        check_flags(numeric_only=numeric_only)
        if qs:
            raise TypeError(f"q must be one number between 0 and 1, found {list(qs)}")
        names = self._columns(bool(numeric_only))
        if not names:
            raise ValueError(f"{operation.name} needs at least one column besides the times")
        parts: list[Part[GroupReduction]] = [Part(name, (name,), operation) for name in names]
        with hints(self._as_series, numeric_only):
            return self._answer(self._reduce_groups(parts, self._as_series))
