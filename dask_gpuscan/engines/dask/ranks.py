"""Ranks of Dask collections: rows are cut at splitters and ranked in buckets, and the ranks go back to their rows.

Each partition is cut once, and each bucket is ranked when its pieces have come. Only one small task waits for all
buckets: it collects their ends.
"""

from __future__ import annotations

import functools
from operator import attrgetter
from typing import Any, ClassVar

from dask.sizeof import sizeof
from dask.task_spec import List, Task

from ...frames.registry import library_of
from ...ops.run_numbers import RunNumbers
from ...ops.sort.rank import Ranking
from ...ops.sort.rank_partitions import (
    Bucket,
    Completion,
    JoinRanks,
    RankBucket,
    complete,
    cut,
    no_ranks,
    order_of,
    rank_rows,
)
from ...ops.sort.sort import Order, Splitters
from .compat import (
    Blockwise,
    CumulativeAggregations,
    Expr,
    Projection,
    new_collection,
    plain_column_projection,
)
from .expressions import Aside, ExprMixin, Inlined, collected, input_of, partition_of
from .lookback import look_back
from .packed import Packed, packed_rows
from .shuffle import ChooseSplitters, Sampled, SplitPieces, brought_together


class Ranked(ExprMixin, CumulativeAggregations):  # type: ignore[misc]
    """The ranks of a frame or series, with its rows and index; `AlignedLookBack` explains the base class."""

    _parameters = ("frame", "ranking")
    _label = "rank"
    _defaults: ClassVar[dict[str, Any]] = {}

    @functools.cached_property
    def _meta(self) -> Any:
        return self.operand("ranking").apply(library_of(self.frame._meta).no_rows(self.frame._meta))

    def _simplify_up(self, parent: Any, dependents: Any) -> Any:
        by_column = self.operand("ranking").by is None and self.frame.ndim == 2
        if not isinstance(parent, Projection) or not by_column:
            return None
        if parent.ndim == 1:
            # ranks of nullable integers have another dtype for a series than for a frame
            alone = type(self)(parent.substitute(self, self.frame), self.operand("ranking"))
            if alone._meta.dtype != parent._meta.dtype:
                return None
        return plain_column_projection(self, parent, dependents)

    def _lower(self) -> Any:
        frame, ranking = self.frame, self.operand("ranking")
        if frame.npartitions == 1:
            return RankedPartitions(frame, ranking)
        groups = None
        if ranking.clustered:
            groups = look_back(new_collection(frame), RunNumbers(ranking.by)).expr
        of_columns = [
            _of_column(frame, groups, ranking, number)
            for number in range(len(ranking.columns(frame._meta)))
        ]
        operands = [Aside(operand) for each in of_columns for operand in each]
        return CompletedRanks(frame, ranking, self._meta, *operands)


class RankedPartitions(ExprMixin, Blockwise):  # type: ignore[misc]
    """The ranks within each partition."""

    _parameters = ("frame", "ranking")
    _label = "rank-partitions"

    @staticmethod
    def operation(frame: Any, ranking: Ranking) -> Any:
        return ranking.apply(frame)


class RankRows(Inlined):
    """The rows of one column to sort."""

    _parameters = ("frame", "groups", "ranking", "column")
    _label = "rank-rows"

    @functools.cached_property
    def _meta(self) -> Any:
        groups = self.operand("groups")
        numbers = None if groups is None else groups._meta
        return rank_rows(self.frame._meta, numbers, self.operand("ranking"), self.operand("column"))

    def _divisions(self) -> Any:
        return (None,) * (self.frame.npartitions + 1)

    def made(self, number: int) -> Task:
        groups = self.operand("groups")
        numbers = None if groups is None else partition_of(groups, number)
        ranking, column = self.operand("ranking"), self.operand("column")
        return Task(None, rank_rows, input_of(self.frame, number), numbers, ranking, column)


def _of_column(frame: Any, groups: Any, ranking: Ranking, number: int) -> tuple[Expr, ...]:
    """Return the rows of a column, their ranks in the buckets, and what completes the ranks."""
    rows = RankRows(frame, groups, ranking, number)
    order, partitions = order_of(ranking.rank, rows._meta), frame.npartitions
    found = ChooseSplitters(Sampled(rows, order, partitions), order)
    join = RankBucket(ranking.rank, order, partitions)
    buckets = brought_together(RowPieces, PackedRowPieces, [rows, found, order], join)
    ends = BucketEnds(buckets)
    ranked = brought_together(RankPieces, PackedRankPieces, [buckets, ends], JoinRanks())
    return rows, ranked, Completed(ends, ranking.rank.method)


class RowPieces(SplitPieces):
    """Rows cut at common splitters, without their index."""

    operation = staticmethod(cut)


def _cut_packed(rows: Any, order: Order, found: Splitters, partition: int) -> Any:
    return packed_rows(cut(rows, order, found, partition).filled(), partition)


class PackedRowPieces(Packed, RowPieces):
    """The same pieces, as rows of a frame that Dask shuffles."""

    operation = staticmethod(_cut_packed)


@sizeof.register(Bucket)  # type: ignore[untyped-decorator]
def _size(bucket: Bucket) -> int:
    return int(sizeof(bucket.pieces))


class BucketEnds(ExprMixin, Blockwise):  # type: ignore[misc]
    """The ends of buckets."""

    _parameters = ("buckets",)
    _label = "ends-of-bucket"
    _meta = None

    def _task(self, name: Any, index: int) -> Task:
        return Task(name, attrgetter("ends"), partition_of(self.buckets, index))


class RankPieces(ExprMixin, Blockwise):  # type: ignore[misc]
    """The ranks of buckets, in one piece for each partition.

    A task also takes the ends of the bucket, so that these are computed first, and the bucket is freed after it.
    """

    _parameters = ("buckets", "ends")
    _label = "ranks-of-buckets"

    @functools.cached_property
    def _meta(self) -> Any:
        return no_ranks(library_of(self.buckets._meta))

    @staticmethod
    def _pieces(bucket: Bucket, ends: Any, number: int) -> Any:
        return bucket.pieces

    def _task(self, name: Any, index: int) -> Task:
        given = (partition_of(each, index) for each in (self.buckets, self.ends))
        return Task(name, self._pieces, *given, index)


class PackedRankPieces(Packed, RankPieces):
    """The same pieces, as rows of a frame that Dask shuffles."""

    @staticmethod
    def _pieces(bucket: Bucket, ends: Any, number: int) -> Any:
        return packed_rows(bucket.pieces.filled(), number)


class Completed(ExprMixin, Expr):  # type: ignore[misc]
    """One partition that completes the ranks of all buckets."""

    _parameters = ("ends", "method")
    _label = "complete"
    _meta = None

    def _divisions(self) -> tuple[None, None]:
        return (None, None)

    def _layer(self) -> dict[Any, Task]:
        key = (self._name, 0)
        refs = [partition_of(self.ends, i) for i in range(self.ends.npartitions)]
        return {key: Task(key, Completion.of, List(*refs), self.operand("method"))}


class CompletedRanks(ExprMixin, CumulativeAggregations):  # type: ignore[misc]
    """The ranks of partitions, given the expressions of `_of_column` for each column.

    It is not blockwise, as Dask would then select partitions of its operands, and those of `Inlined` have no keys.
    `AlignedLookBack` explains the base class.
    """

    _parameters = ("frame", "ranking", "like")
    _label = "ranks"
    _defaults: ClassVar[dict[str, Any]] = {}

    @functools.cached_property
    def _meta(self) -> Any:
        return self.operand("like")

    def _divisions(self) -> Any:
        return self.frame.divisions

    def _lower(self) -> None:
        return None

    def _simplify_up(self, parent: Any, dependents: Any) -> None:
        return None

    def _task(self, name: Any, index: int) -> Task:
        given = self.operands[3:]
        rows = List(*(input_of(e, index) for e in given[::3]))
        ranked = List(*(partition_of(e, index) for e in given[1::3]))
        completions = List(*(partition_of(e, 0) for e in given[2::3]))
        frame = input_of(self.frame, index)
        return Task(name, complete, self.operand("ranking"), frame, rows, ranked, completions)


def rank(obj: Any, ranking: Ranking) -> Any:
    """Return the ranks of the rows of a collection."""
    return collected(Ranked(obj.expr, ranking))
