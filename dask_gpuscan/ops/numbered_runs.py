"""Runs under one default index over all partitions: each hands on its open run, and how many runs there were.

So the rows of the result need not be counted once more, when they are there.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

from ..frames.keys import boundary_key, key_arrays, last_head
from ..frames.registry import library_of
from .groupby_clustered import ClusteredReduce
from .runs import Open, RunCount, RunLengths, RunNumbers


@dataclass(frozen=True)
class NumberedRuns:
    """One row a run, as `carry` makes them, under one default index over all partitions."""

    carry: RunLengths | ClusteredReduce
    columnwise = keeps_index = reverse = False

    @property
    def label(self) -> str:
        return self.carry.label

    @property
    def final(self) -> NumberedRuns:
        """The carry for the partition that nothing follows."""
        return replace(self, carry=self.carry.final)

    def check(self, frame: Any) -> None:
        self.carry.check(frame)

    def meta(self, frame: Any) -> Any:
        return self.carry.meta(frame)

    def aggregate(self, partition: Any) -> tuple[Open, RunCount]:
        if not len(partition):
            return Open(0, None, 0), RunCount(0)
        library, series = library_of(partition), self.carry.by.series(partition)
        with library.reading(partition):
            heads = key_arrays(series).head_flags()
            # while a GPU counts, the last one is looked for
            count = library.xp.count_nonzero(heads)
            open_ = self.carry.open_run(partition, last_head(library, heads))
            first = boundary_key(series, 0)
        return open_, RunCount(int(count), first, open_.border)

    def combine(self, aggregates: Sequence[tuple[Open, RunCount]]) -> tuple[Open, RunCount]:
        opens, counts = zip(*aggregates, strict=True)
        return self.carry.combine(opens), RunNumbers(self.carry.by).combine(counts)

    def apply(self, partition: Any, prefix: tuple[Open, RunCount] | None) -> Any:
        open_, count = prefix or (None, RunCount(0))
        out = self.carry.apply(partition, open_)
        if count.runs < 2:  # the open run is not written yet
            return out
        return library_of(out).reset_index(out, count.runs - 1, drop=True)
