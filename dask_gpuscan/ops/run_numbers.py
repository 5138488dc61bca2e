"""The run of equal keys that each row is in: its number, and its rows before or behind the row."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from .. import kernels
from ..frames.keys import By, boundary_key, key_arrays
from ..frames.registry import library_of
from ..frames.types import Frame
from ..kernels.late_dataclass import dataclass
from .core.carry import DataFrameCarry
from .core.columnwise import one_table
from .core.groups import INT64
from .runs import Open, OpenRuns, RunCount


@dataclass(frozen=True)
class RunNumbers(DataFrameCarry):
    """The number of the run that each row is in, over all partitions, from 0."""

    by: By
    name: str | None = None
    label = "run-number"
    keeps_index = True

    def check(self, frame: Frame) -> None:
        self.by.check(frame)

    def meta(self, frame: Frame) -> Any:
        return self.apply(library_of(frame).no_rows(frame), None)

    def aggregate(self, partition: Frame) -> RunCount:
        if not len(partition):
            return RunCount(0)
        library = library_of(partition)
        series = self.by.series(library, partition)
        with library.acquire(partition):
            runs = int(library.xp.count_nonzero(key_arrays(library, series).head_flags()))
        ends = [boundary_key(library, series, row) for row in (0, len(partition) - 1)]
        return RunCount(runs, *ends)

    def combine(self, aggregates: Sequence[RunCount]) -> RunCount:
        return RunCount.of_parts(aggregates)

    def apply(self, partition: Frame, prefix: RunCount | None) -> Any:
        library, before = library_of(partition), -1
        series = self.by.series(library, partition)
        if prefix is not None and len(partition):
            own = RunCount(1, boundary_key(library, series, 0))
            before += prefix.runs - prefix.joins(own)
        with library.acquire(partition):
            numbers = library.xp.cumsum(key_arrays(library, series).head_flags(), dtype=INT64)
            numbers += before
        return library.series(library.from_integers(numbers), library.index(partition), self.name)

    def last(self, frame: Frame, seen: RunCount) -> Any:
        library = library_of(frame)
        number = library.from_integers(library.xp.asarray([seen.runs - 1], INT64))
        return one_table(library, [self.name], [number])


@dataclass(frozen=True)
class RunRows(OpenRuns):
    """The rows of each row's run up to it, or in reverse from it on; both count the row itself."""

    by: By
    reverse: bool = False
    label = "run-length"
    keeps_index = True

    def meta(self, frame: Frame) -> Any:
        return self.apply(library_of(frame).no_rows(frame), None)

    def apply(self, partition: Frame, prefix: Open | None) -> Any:
        library, count = library_of(partition), len(partition)
        series = self.by.series(library, partition)
        with library.acquire(partition):
            keys = key_arrays(library, series)
            starts, lengths = kernels.run_length_encode(keys.arrays, nulls=keys.nulls)
            (edges,) = kernels.run_length_decode(
                lengths, [starts + lengths if self.reverse else starts - 1]
            )
            rows = library.xp.arange(count, dtype=INT64)
            found = edges - rows if self.reverse else rows - edges
            if prefix is not None and prefix.border is not None and count:
                edge = count - 1 if self.reverse else 0
                if prefix.border.values == boundary_key(library, series, edge).values:
                    own = slice(starts[-1], None) if self.reverse else slice(None, lengths[0])
                    found[own] += prefix.rows - prefix.start
        name = "run_length"
        return library.series(library.from_integers(found), library.index(partition), name)
