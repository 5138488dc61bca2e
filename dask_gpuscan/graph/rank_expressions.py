"""Ranks of Dask collections: rows are sorted, numbered by look-backs over the sorted partitions, and brought back."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any, ClassVar

from dask.dataframe.dask_expr import new_collection
from dask.dataframe.dask_expr._cumulative import CumulativeAggregations
from dask.dataframe.dask_expr._expr import Blockwise, Expr, Projection, plain_column_projection
from dask.task_spec import List, Task, TaskRef

from ..frames.keys import By
from ..frames.registry import library_of, names_of
from ..kernels import BUILT_IN
from ..ops.column_scan import Scan, ScanOptions
from ..ops.groupby_clustered import ClusteredScan
from ..ops.operation import GroupScan, Part
from ..ops.rank import Rank, Ranking
from ..ops.rank_partitions import (
    BACK,
    FORMULAS,
    ORIGIN,
    PLACE,
    RANK,
    Names,
    counted,
    order_of,
    pieces_by_origin,
    placed,
    put_back,
)
from ..ops.row_number import CountRows
from ..ops.runs import RunNumbers
from .lookback import Collection, look_back
from .sort_expressions import brought_together, packed_rows, sorted_by


class Ranked(CumulativeAggregations):  # type: ignore[misc]
    """The ranks of a frame or series, with its rows and index; one of Dask's own for what `AlignedLookBack` says."""

    _parameters = ("frame", "ranking")
    _defaults: ClassVar[dict[str, Any]] = {}

    @functools.cached_property
    def _name(self) -> str:
        return f"rank-{self.deterministic_token}"

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
        moved = [_ranks(Placed(frame, ranking, i, groups), ranking.rank) for i in columns]
        return PutBack(frame, ranking, self._meta, *moved)


class RankedPartitions(Blockwise):  # type: ignore[misc]
    """The ranks of each partition by itself."""

    _parameters = ("frame", "ranking")

    @staticmethod
    def operation(frame: Any, ranking: Ranking) -> Any:
        return ranking.apply(frame)


class Placed(Expr):  # type: ignore[misc]
    """One column of all partitions as rows to be sorted."""

    _parameters = ("frame", "ranking", "column", "groups")

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
            key, frame = (self._name, i), TaskRef((self.frame._name, i))
            numbers = None if groups is None else TaskRef((groups._name, i))
            column = self.operand("column")
            graph[key] = Task(key, placed, frame, self.operand("ranking"), column, i, numbers)
        return graph


def _ranks(rows: Expr, rank: Rank) -> Expr:
    """Rows with their ranks, in the partitions and the order in which they were."""
    names = Names.of(names_of(rows._meta))
    groups = names.groups
    ranked = sorted_by(new_collection(rows), order_of(rank, names))
    needs = FORMULAS[rank.method].needs

    def numbered(frame: Any, name: str, by: tuple[str, ...], operation: GroupScan) -> Any:
        parts = (Part[GroupScan](None, (name,) if name in frame.columns else (), operation),)
        carry = ClusteredScan(
            By(by), f"rank-{name}", parts, as_series=True, dropna=False, reverse=operation.reverse
        )
        return look_back(frame, carry)

    if "in_group" in needs:
        ranked = ranked.assign(in_group=numbered(ranked, "in_group", groups, CountRows()))
    runs = (*groups, names.value)
    if "in_run" in needs:
        ranked = ranked.assign(in_run=numbered(ranked, "in_run", runs, CountRows()))
    if "after_in_run" in needs:
        after = numbered(ranked, "after_in_run", runs, CountRows(reverse=True))
        ranked = ranked.assign(after_in_run=after)
    if "runs" in needs:
        ranked = ranked.assign(runs=(ranked["in_run"] == 0).astype("int64"))
        ranked = ranked.assign(runs=numbered(ranked, "runs", groups, _sum()))
    out = FORMULAS[rank.method].rank(ranked)
    if rank.pct:
        ranked = ranked.assign(counted=counted(ranked, rank, names.value))
        before = numbered(ranked, "counted", groups, _sum())
        after = numbered(ranked, "counted", groups, _sum(reverse=True))
        out = out / (before + after - ranked["counted"])
    moved: Collection = ranked.assign(**{RANK: out})[[ORIGIN, PLACE, RANK]]
    return BackToOrigin(moved.expr)


def _sum(reverse: bool = False) -> Scan:
    options = ScanOptions(reverse=reverse)
    return Scan("cumsum", BUILT_IN["add"], options, in_groups=True)


class BackToOrigin(Expr):  # type: ignore[misc]
    """Rows in the partitions and in the order in which they were before they were sorted."""

    _parameters = ("frame",)

    @functools.cached_property
    def _meta(self) -> Any:
        return self.frame._meta

    def _divisions(self) -> Any:
        return (None,) * (self.frame.npartitions + 1)

    def _lower(self) -> Any:
        return brought_together(OriginPieces, PackedOriginPieces, [self.frame], BACK)


class OriginPieces(Expr):  # type: ignore[misc]
    """Partitions cut by where rows came from: each is a list of pieces, one for each partition."""

    _parameters = ("frame",)
    _cut: Callable[..., Any] = staticmethod(pieces_by_origin)

    @functools.cached_property
    def _meta(self) -> Any:
        return self.frame._meta

    def _divisions(self) -> Any:
        return (None,) * (self.frame.npartitions + 1)

    def _layer(self) -> dict[Any, Task]:
        count = self.frame.npartitions
        keys = [(self._name, i) for i in range(count)]
        return {
            key: Task(key, self._cut, TaskRef((self.frame._name, key[1])), key[1], count)
            for key in keys
        }


class PackedOriginPieces(OriginPieces):
    """The same as rows of a frame that Dask shuffles."""

    @functools.cached_property
    def _meta(self) -> Any:
        return packed_rows([], 0)

    @staticmethod
    def _cut(rows: Any, partition: int, count: int) -> Any:
        return packed_rows(pieces_by_origin(rows, partition, count), partition)


class PutBack(Expr):  # type: ignore[misc]
    """The ranks of partitions, given rows with ranks for each column."""

    _parameters = ("frame", "ranking", "like")

    @functools.cached_property
    def _meta(self) -> Any:
        return self.operand("like")

    def _divisions(self) -> Any:
        return self.frame.divisions

    def _layer(self) -> dict[Any, Task]:
        graph: dict[Any, Task] = {}
        for i in range(self.frame.npartitions):
            key = (self._name, i)
            moved = List(*(TaskRef((rows._name, i)) for rows in self.operands[3:]))
            frame = TaskRef((self.frame._name, i))
            graph[key] = Task(key, put_back, self.operand("ranking"), frame, moved)
        return graph


def ranked(obj: Any, ranking: Ranking) -> Any:
    """Return the ranks of a frame or series: computed at once, or lazily for a Dask collection."""
    if isinstance(obj, Collection):
        return new_collection(Ranked(obj.expr, ranking))
    return ranking.apply(obj)
