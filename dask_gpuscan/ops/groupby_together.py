"""Reductions of groups in any order that need all rows of a group at once.

Over partitions, rows with equal keys are brought to one partition first (`graph.shuffle`). There they are brought
together, and groups are reduced as adjacent ones are; what partitions answer is put in the order of the keys.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from .. import kernels
from ..frames.keys import named_keys
from ..frames.protocol import Library
from ..frames.registry import Schema, common_schema, library_of, schema_of, stored_numbers
from .groupby_clustered import ClusteredReduce
from .groups import INT64


@dataclass(frozen=True)
class Answers:
    """Keys and answers of whole groups."""

    library: Library
    keys: list[Any]
    arrays: list[Any]
    schema: Schema


@dataclass(frozen=True)
class TogetherReduce:
    """A reduction of groups all of whose rows are in one partition, in the order of the keys."""

    carry: ClusteredReduce

    @property
    def label(self) -> str:
        """Name of the reduction."""
        return self.carry.label

    def check(self, frame: Any) -> None:
        """Raise the errors that a user should see early."""
        self.carry.check(frame)

    def meta(self, frame: Any) -> Any:
        """Empty output for an empty input."""
        none = library_of(frame).no_rows(frame)
        return self.finish([self.table(none)], none)

    def table(self, partition: Any) -> Answers:
        """Return the answers of the groups of a partition."""
        library = library_of(partition)
        with library.reading(partition):
            series = self.carry.by.series(partition)
            with named_keys(series):
                codes, _ = library.dense_codes([library.array(c) for c in series])
            rows = library.rows(partition, kernels.argsort(codes))
            keys, arrays = self.carry.final.closed(rows, None)
        return Answers(library, keys, arrays, schema_of(partition))

    def merge(self, tables: Sequence[Answers]) -> Answers:
        """Return the answers of several partitions."""
        schema, library = common_schema([t.schema for t in tables]), tables[0].library
        # a partition that Dask's shuffle leaves empty may not know the categories of keys
        tables = [t for t in tables if len(t.keys[0])] or tables[:1]
        if len(tables) == 1:
            return tables[0]
        keys = [library.concatenate(list(k)) for k in zip(*(t.keys for t in tables), strict=True)]
        pairs = zip(*(t.arrays for t in tables), strict=True)
        return Answers(library, keys, [library.concatenate(list(a)) for a in pairs], schema)

    def finish(self, tables: Sequence[Answers], frame: Any) -> Any:
        """Return the answers of all groups."""
        carry, found = self.carry, self.merge(tables)
        library = found.library
        order = sorted_rows(library, library.key_index(found.keys, carry.by.columns))
        keys = [library.take(a, order) for a in found.keys]
        arrays = [carry.take_groups(library, a, order) for a in found.arrays]
        return carry.by_key(frame, keys, arrays)


def sorted_rows(library: Library, index: Any) -> Any:
    """Return the positions of an index' rows in its order, nulls last."""
    rows = library.from_integers(library.xp.arange(len(index), dtype=INT64))
    ordered: Any = library.sort_by_index(library.series(rows, index))
    return stored_numbers(ordered)
