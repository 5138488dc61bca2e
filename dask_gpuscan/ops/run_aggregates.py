"""Runs as their keys, the number of their first row, their lengths, and reductions of other columns in each."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from ..frames.registry import library_of
from .groupby_clustered import ClusteredReduce
from .groups import INT64
from .runs import Open, places


@dataclass(frozen=True)
class RunAggregates(ClusteredReduce):
    """One row a run, in order of appearance; a null equals a null."""

    def apply(self, partition: Any, prefix: Open | None) -> Any:
        library = library_of(partition)
        with library.reading(partition):
            runs, starts, answers = self.ended(partition, prefix)
            ends = library.xp.append(starts[1:], library.xp.asarray([len(partition)], INT64))
            lengths = ends[: len(starts)] - starts
            before = prefix or Open(0, None, 0)
            numbers = map(library.from_integers, places(library, runs, lengths, before))
            names = [*self.by.columns, "run_start", "run_length", *(p.name for p in self.parts)]
            arrays = [*runs.keys(), *numbers, *answers]
            return library.frame(arrays, names, library.range_index(0, runs.count))
