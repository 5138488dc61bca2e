"""Partitions of equal lengths: rows keep their order, and the number of a row decides its partition.

The lengths of the old partitions must be known, so that rows are counted when the expression is built. This module must
not look at values.
"""

from __future__ import annotations

import functools
from bisect import bisect_right
from collections.abc import Sequence
from itertools import accumulate
from typing import Any

from dask.task_spec import List, Task

from .compat import (
    IO,
    Len,
    Lengths,
    Literal,
    Projection,
    concat,
    new_collection,
    plain_column_projection,
)
from .expressions import ExprMixin, SeparateKeyRead, partition_of


def rebalance(collection: Any) -> Any:
    """Spread the rows of a collection evenly over as many partitions; counts the rows at once.

    Examples
    --------
    >>> import pandas as pd, dask.dataframe as dd
    >>> ddf = dd.from_pandas(pd.DataFrame({"x": range(8)}), npartitions=4)
    >>> even = rebalance(ddf[ddf.x < 4])
    >>> even.map_partitions(len).compute().tolist(), len(even)
    ([1, 1, 1, 1], 4)
    """
    lengths = tuple(int(n) for n in collection.map_partitions(len, meta=("n", int)).compute())
    return new_collection(Rebalanced(collection.expr, lengths))


def slices(lengths: Sequence[int], count: int) -> list[list[tuple[int, int, int]]]:
    """Return for each of `count` even partitions its parts of old ones, as (partition, start, stop).

    Examples
    --------
    >>> slices([1, 5, 0], 2)
    [[(0, 0, 1), (1, 0, 2)], [(1, 2, 5)]]
    """
    ends = list(accumulate(lengths))
    total = ends[-1]
    out = []
    for j in range(count):
        start, stop = j * total // count, (j + 1) * total // count
        parts = []
        while start < stop:
            i = bisect_right(ends, start)
            until = min(ends[i], stop)
            begin = ends[i] - lengths[i]
            parts.append((i, start - begin, until - begin))
            start = until
        out.append(parts)
    return out


class Rebalanced(ExprMixin, IO):  # type: ignore[misc]
    """Rows spread evenly, given the lengths of the old partitions.

    It inherits from `IO`, as Dask asks only such expressions for known lengths.
    """

    _parameters = ("frame", "lengths")
    _label = "rebalance"

    @property
    def frame(self) -> Any:
        """The counted rows, which Dask must not read with fewer partitions."""
        given = self.operand("frame")
        return given.reading if isinstance(given, SeparateKeyRead) else given

    def _tune_down(self) -> Any:
        given = self.operand("frame")
        return (
            None
            if isinstance(given, SeparateKeyRead)
            else Rebalanced(SeparateKeyRead(given), self.lengths)
        )

    def _lower(self) -> Any:
        given = self.operand("frame")
        return (
            Rebalanced(given.reading, self.lengths) if isinstance(given, SeparateKeyRead) else None
        )

    @functools.cached_property
    def _meta(self) -> Any:
        return self.frame._meta

    @property
    def even(self) -> tuple[int, ...]:
        """The lengths of the new partitions."""
        total, count = sum(self.lengths), len(self.lengths)
        return tuple((j + 1) * total // count - j * total // count for j in range(count))

    def _divisions(self) -> tuple[Any, ...]:
        return (None,) * (len(self.lengths) + 1)

    def _simplify_up(self, parent: Any, dependents: Any) -> Any:
        if isinstance(parent, Len):
            return Literal(sum(self.lengths))
        if isinstance(parent, Lengths):
            return Literal(self.even)
        if isinstance(parent, Projection) and self.frame.ndim == 2:
            return plain_column_projection(self, parent, dependents)
        return None

    def _layer(self) -> dict[Any, Task]:
        graph = {}
        lengths = self.lengths
        for j, parts in enumerate(slices(lengths, len(lengths))):
            key = (self._name, j)
            refs = List(*(partition_of(self.frame, i) for i, _, _ in parts or [(j, 0, 0)]))
            graph[key] = Task(key, _joined, refs, parts or [(j, 0, 0)], lengths)
        return graph


def _joined(
    partitions: list[Any], parts: list[tuple[int, int, int]], lengths: tuple[int, ...]
) -> Any:
    for partition, (i, _, _) in zip(partitions, parts, strict=True):
        if len(partition) != lengths[i]:
            raise ValueError(
                f"partition {i} had {lengths[i]} rows when they were counted and has {len(partition)} now: "
                f"the data changed; persist() it before"
            )
    pieces = [p.iloc[a:b] for p, (_, a, b) in zip(partitions, parts, strict=True)]
    return pieces[0] if len(pieces) == 1 else concat(pieces)
