"""Ranks of Dask collections: rows are sorted over all partitions, ranked there, and brought back."""

from __future__ import annotations

import functools
from typing import Any, ClassVar

from dask.task_spec import List, Task, TaskRef

from ...frames.registry import library_of, names_of
from ...ops.runs import RunNumbers
from ...ops.sort.rank import Ranking, RankOptions
from ...ops.sort.rank_partitions import (
    BACK,
    ByOrigin,
    Names,
    ends,
    order_of,
    outsides,
    placed,
    put_back,
    ranked_rows,
)
from .compat import (
    Blockwise,
    CumulativeAggregations,
    Expr,
    Projection,
    new_collection,
    plain_column_projection,
)
from .expressions import ExprMixin, input_of, partition_of
from .lookback import look_back
from .shuffle import Shuffled, sorted_by


class Ranked(ExprMixin, CumulativeAggregations):  # type: ignore[misc]
    """The ranks of a frame or series, with its rows and index; one of Dask's own for what `AlignedLookBack` says."""

    _parameters = ("frame", "ranking")
    _label = "rank"
    _defaults: ClassVar[dict[str, Any]] = {}

    @functools.cached_property
    def _meta(self) -> Any:
        return self.operand("ranking").apply(library_of(self.frame._meta).no_rows(self.frame._meta))

    def _simplify_up(self, parent: Any, dependents: Any) -> Any:
        by_column = self.operand("ranking").by is None and self.frame.ndim == 2
        if isinstance(parent, Projection) and by_column:
            return plain_column_projection(self, parent, dependents)
        return None

    def _lower(self) -> Any:
        frame, ranking = self.frame, self.operand("ranking")
        if frame.npartitions == 1:
            return RankedPartitions(frame, ranking)
        groups = None
        if ranking.clustered:
            groups = look_back(new_collection(frame), RunNumbers(ranking.by)).expr
        columns = range(len(ranking.columns(frame._meta)))
        moved = [_ranks(TagOrigin(frame, ranking, i, groups), ranking.rank) for i in columns]
        return RestoreOrder(frame, ranking, self._meta, *moved)


class RankedPartitions(ExprMixin, Blockwise):  # type: ignore[misc]
    """The ranks of each partition by itself."""

    _parameters = ("frame", "ranking")
    _label = "rank-partitions"

    @staticmethod
    def operation(frame: Any, ranking: Ranking) -> Any:
        return ranking.apply(frame)


class TagOrigin(ExprMixin, Expr):  # type: ignore[misc]
    """One column of all partitions as rows to be sorted."""

    _parameters = ("frame", "ranking", "column", "groups")
    _label = "tag-origin"

    @functools.cached_property
    def _meta(self) -> Any:
        groups = self.operand("groups")
        return placed(
            self.frame._meta,
            self.operand("ranking"),
            self.operand("column"),
            0,
            None if groups is None else groups._meta,
        )

    def _divisions(self) -> Any:
        return (None,) * (self.frame.npartitions + 1)

    def _layer(self) -> dict[Any, Task]:
        groups = self.operand("groups")
        graph: dict[Any, Task] = {}
        for i in range(self.frame.npartitions):
            key, frame = (self._name, i), input_of(self.frame, i)
            numbers = None if groups is None else partition_of(groups, i)
            column = self.operand("column")
            graph[key] = Task(key, placed, frame, self.operand("ranking"), column, i, numbers)
        return graph


def _ranks(rows: Expr, rank: RankOptions) -> Expr:
    """Rows with their ranks, in the partitions and the order in which they were."""
    names = Names.of(names_of(rows._meta))
    in_order = sorted_by(new_collection(rows), order_of(rank, names))
    return Shuffled(RankedRows(in_order.expr, rank, names), ByOrigin(), BACK)


class RankedRows(ExprMixin, Expr):  # type: ignore[misc]
    """The ranks of sorted rows: two tasks a partition, and one that tells each what of its ends is in others."""

    _parameters = ("frame", "rank", "names")
    _label = "rank-rows"

    @functools.cached_property
    def _meta(self) -> Any:
        return ranked_rows(self.frame._meta, self.operand("rank"), self.operand("names"), (), 0)

    def _divisions(self) -> Any:
        return (None,) * (self.frame.npartitions + 1)

    def _layer(self) -> dict[Any, Task]:
        rank, names = self.operand("rank"), self.operand("names")
        graph: dict[Any, Task] = {}
        parts = [partition_of(self.frame, i) for i in range(self.frame.npartitions)]
        found = []
        for i, part in enumerate(parts):
            key = (f"ends-{self._name}", i)
            graph[key] = Task(key, ends, part, rank, names)
            found.append(TaskRef(key))
        outside = f"outside-{self._name}"
        graph[outside] = Task(outside, outsides, List(*found))
        for i, part in enumerate(parts):
            out = (self._name, i)
            graph[out] = Task(out, ranked_rows, part, rank, names, TaskRef(outside), i)
        return graph


class RestoreOrder(ExprMixin, Expr):  # type: ignore[misc]
    """The ranks of partitions, given rows with ranks for each column."""

    _parameters = ("frame", "ranking", "like")
    _label = "restore-order"

    @functools.cached_property
    def _meta(self) -> Any:
        return self.operand("like")

    def _divisions(self) -> Any:
        return self.frame.divisions

    def _layer(self) -> dict[Any, Task]:
        graph: dict[Any, Task] = {}
        for i in range(self.frame.npartitions):
            key = (self._name, i)
            moved = List(*(partition_of(rows, i) for rows in self.operands[3:]))
            frame = input_of(self.frame, i)
            graph[key] = Task(key, put_back, self.operand("ranking"), frame, moved)
        return graph


def rank(obj: Any, ranking: Ranking) -> Any:
    """Return the ranks of the rows of a collection."""
    return new_collection(Ranked(obj.expr, ranking))
