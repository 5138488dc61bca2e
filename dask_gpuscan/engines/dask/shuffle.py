"""Moves rows to other partitions: each partition is cut into one piece for each new partition, and pieces are joined.

Pieces stay in the memory of one process, are sent by tasks, or are shuffled by Dask as bytes; Dask's configuration
decides, or else the scheduler. A new partition has its pieces in the order of the old partitions.

To sort, one task for each partition takes a sample, and one task chooses the splitters, so that nothing is computed
when the collection is built. Samples need only the keys, which Dask reads separately if it can. Then each partition is
read, sorted and cut into pieces. Pieces are joined in the order of the old partitions and sorted again, stably: so rows
need no numbers, and the answer does not depend on timing.
"""

from __future__ import annotations

import functools
import sys
from collections.abc import Callable, Sequence
from itertools import pairwise
from math import isqrt
from typing import Any, ClassVar

import dask
import pandas as pd
from dask.sizeof import sizeof
from dask.task_spec import List, Task, TaskRef

from ...frames.keys import By
from ...frames.registry import common_schema
from ...kernels.late_dataclass import dataclass
from ...ops.scan.row_number import ResetIndex
from ...ops.sort.pieces import ByKey, Join, PartitionSlices, Splitter, are_alike, join_alike
from ...ops.sort.sort import Order, Splitters, sample, sort_rows, split, splitters
from .compat import (
    Blockwise,
    Expr,
    Projection,
    Shuffle,
    concat,
    new_collection,
    plain_column_projection,
)
from .expressions import (
    Chosen,
    ExprMixin,
    SeparateKeyRead,
    inputs_of,
    partition_of,
    read_separately,
)
from .lookback import look_back
from .packed import TARGET, Packed, Unpacked, packed_rows


class Rearranged(ExprMixin):
    """Rows of a frame in as many partitions, whose divisions are not known."""

    frame: Any

    @functools.cached_property
    def _meta(self) -> Any:
        return self.frame._meta

    def _divisions(self) -> Any:
        return (None,) * (self.frame.npartitions + 1)


class Shuffled(Rearranged, Expr):  # type: ignore[misc]
    """As many partitions, each with its pieces of all old ones, in the order of these."""

    _parameters = ("frame", "cut")
    _label = "move"

    def _lower(self) -> Any:
        operands = [self.frame, self.operand("cut")]
        return brought_together(CutPieces, PackedCutPieces, operands, JoinRows())


class CutPieces(Rearranged, Expr):  # type: ignore[misc]
    """Each partition cut into pieces, one for each new partition."""

    _parameters = ("frame", "cut")

    @property
    def _label(self) -> str:
        return f"cut-{self.operand('cut').label}"

    @staticmethod
    def _pieces(frame: Any, cut: Splitter, count: int, number: int) -> Any:
        return cut.pieces(frame, count)

    def _layer(self) -> dict[Any, Task]:
        count, cut = self.frame.npartitions, self.operand("cut")
        graph: dict[Any, Task] = {}
        for i, frame in enumerate(inputs_of(self.frame)):
            key = self._name, i
            graph[key] = Task(key, self._pieces, frame, cut, count, i)
        return graph


class PackedCutPieces(Packed, CutPieces):
    """The same pieces, as rows of a frame that Dask shuffles."""

    @property
    def _label(self) -> str:
        return f"pack-{self.operand('cut').label}"

    @staticmethod
    def _pieces(frame: Any, cut: Splitter, count: int, number: int) -> Any:
        return packed_rows(cut.pieces(frame, count).filled(), number)


def shuffle_by_key(collection: Any, by: By) -> Any:
    """Move rows with equal keys to one partition, in their order."""
    if collection.npartitions == 1:
        return collection
    return new_collection(Shuffled(collection.expr, ByKey(by)))


def brought_together(
    pieces: type[Expr],
    packed: type[Expr],
    operands: Sequence[Any],
    join: Join,
    count: int | None = None,
) -> Expr:
    """Return `count` new partitions, by default as many as old ones, each joined from its pieces.

    `pieces` and `packed` are the expressions of the pieces, as frames and as bytes.
    """
    count = operands[0].npartitions if count is None else count
    cut = pieces(*operands)
    way = _way(cut._meta)
    if way in TOGETHER:
        return TOGETHER[way](cut, join, count)
    shuffled = Shuffle(packed(*operands), TARGET, count, method=way)
    return Unpacked(shuffled, join, cut._meta)


def _way(meta: Any) -> str:
    """Return the way to move pieces: that of Dask's configuration, or else one that suits the scheduler."""
    told = dask.config.get("dataframe.shuffle.method", None)
    if told is not None:
        return str(told)
    default_client = getattr(sys.modules.get("distributed"), "default_client", None)
    if default_client is None:  # distributed is not imported, so that there is no client
        return "shared"
    try:
        client = default_client()
    except ValueError:
        return "shared"
    if isinstance(meta, (pd.DataFrame, pd.Series)):
        return "p2p"
    # p2p would send frames of GPUs through the host
    return "tasks" if len(client.scheduler_info()["workers"]) > 1 else "shared"


@sizeof.register(PartitionSlices)  # type: ignore[untyped-decorator]
def _size(pieces: PartitionSlices) -> int:
    return int(sizeof(pieces.rows))


@dataclass(frozen=True)
class JoinRows:
    """Joins pieces to one partition: sorted if an order is given, or else in the order of the old partitions."""

    order: Order | None = None

    def __call__(
        self, parts: Sequence[PartitionSlices], number: int, origins: Sequence[int]
    ) -> Any:
        """Return the new partition of a number."""
        schema = common_schema([part.schema for part in parts])
        # the first new partition has the categories of all old partitions, in their order
        dtypes = (*schema.dtypes, *(dtype for _, dtype in schema.levels))
        has_all = number == 0 and "category" in map(str, dtypes)
        filled = [part for part in parts if has_all or part.has_rows(number)]
        if len(filled) < 2:
            return [*filled, parts[0]][0][number]
        if are_alike(filled):
            rows = join_alike(filled, number)
        else:
            rows = _joined([part[number] for part in filled])
        return rows if self.order is None else sort_rows(rows, self.order)


def _joined(parts: list[Any]) -> Any:
    """Join rows; cuDF cannot join a series of categories with empty ones, but it can join frames of them.

    It cannot join frames without rows that have times as their index either, as it looks for a frequency.
    """
    if isinstance(parts[0], pd.Series | pd.DataFrame):
        return concat(parts)
    if parts[0].ndim == 1:
        frames = [part.to_frame("values") for part in parts]
        return _joined(frames)["values"].rename(parts[0].name)
    if any(map(len, parts)) or parts[0].index.dtype.kind != "M":
        return concat(parts)
    joined = concat(parts, ignore_index=True)
    joined.index = parts[0].index
    return joined


# --- pieces that stay in the memory of one process ---------------------------------------------------


class Together(ExprMixin, Expr):  # type: ignore[misc]
    """New partitions, each joined from its pieces."""

    _parameters = ("pieces", "join", "count")
    _label = "join"

    @functools.cached_property
    def _meta(self) -> Any:
        return self.pieces._meta

    def _divisions(self) -> Any:
        return (None,) * (self.operand("count") + 1)


class TakenTogether(Together):
    """New partitions, each made by one task from the cuts of all old partitions."""

    def _layer(self) -> dict[Any, Task]:
        given = range(self.pieces.npartitions)
        every = List(*(partition_of(self.pieces, i) for i in given))
        keys = [(self._name, j) for j in range(self.operand("count"))]
        return {key: Task(key, self.operand("join"), every, key[1], given) for key in keys}


# --- pieces that workers send each other -------------------------------------------------------------


class MovedTogether(Together):
    """New partitions with pieces that are sent by tasks: each row is sent at most once.

    Pieces for neighbouring new partitions are sent together to one task (a bundle), from which a task for each new
    partition joins its pieces. For n partitions there are between 1.4 and 2.9 sqrt(n) bundles: a power of two, so that
    2, 4 and 8 workers get equal parts.
    """

    def _layer(self) -> dict[Any, Task]:
        given, count, name = self.pieces.npartitions, self.operand("count"), self._name
        graph: dict[Any, Task] = {}
        for first, last in pairwise(_blocks(count)):
            parts = [(f"part-{name}", i, first) for i in range(given)]
            for i, part in enumerate(parts):
                graph[part] = Task(
                    part, PartitionSlices.some, partition_of(self.pieces, i), first, last
                )
            bundle = (f"bundle-{name}", first)
            graph[bundle] = Task(bundle, _bundle, List(*map(TaskRef, parts)))
            for j in range(first, last):
                key = (name, j)
                join = self.operand("join")
                graph[key] = Task(key, join, TaskRef(bundle), j - first, range(given))
        return graph


def _blocks(count: int) -> list[int]:
    """Return the starts of blocks of partitions of equal size, or nearly so, and the end of the last block."""
    many = min(1 << (isqrt(2 * count - 1)).bit_length(), count)
    return [count * block // many for block in range(many + 1)]


def _bundle(parts: list[list[Any]]) -> list[PartitionSlices]:
    return [PartitionSlices(*part) for part in parts]


TOGETHER: dict[str, type[Together]] = {"shared": TakenTogether, "tasks": MovedTogether}
"""The ways that move the frames themselves; in other ways, Dask shuffles them as bytes."""


# --- rows in order -------------------------------------------------------------------------------------


class Sorted(Rearranged, Expr):  # type: ignore[misc]
    """The rows of all partitions in order, in as many partitions; `keys` has the columns that the order needs."""

    _parameters = ("frame", "keys", "order")
    _label = "sort"
    _is_length_preserving = True

    def _simplify_up(self, parent: Any, dependents: Any) -> Any:
        if not isinstance(parent, Projection) or self.frame.ndim == 1:
            return None
        named = list(self.operand("order").keys.names)
        return plain_column_projection(self, parent, dependents, additional_columns=named)

    def _lower(self) -> Any:
        frame, order = self.frame, self.operand("order")
        if frame.npartitions == 1:
            return SortedPartitions(frame, order)
        keys = self.operand("keys")
        keys = keys.reading if isinstance(keys, SeparateKeyRead) else keys
        if keys.npartitions != frame.npartitions:  # Dask has joined partitions of few columns
            keys = _keys_of(frame, order)
        found = ChooseSplitters(Sampled(keys, order, frame.npartitions), order)
        return brought_together(SplitPieces, PackedPieces, [frame, found, order], JoinRows(order))


def _keys_of(frame: Any, order: Order) -> Any:
    return frame if frame.ndim == 1 else Chosen(frame, list(order.keys.names))


class SortedPartitions(ExprMixin, Blockwise):  # type: ignore[misc]
    """The partitions, each sorted by itself."""

    _parameters = ("frame", "order")
    _label = "sort-partitions"
    _preserves_partitioning_information = True
    operation = staticmethod(sort_rows)

    @functools.cached_property
    def _meta(self) -> Any:
        return self.frame._meta


class Sampled(ExprMixin, Blockwise):  # type: ignore[misc]
    """Samples of partitions; Dask fuses the reading of keys into their tasks."""

    _parameters = ("keys", "order", "count")
    _label = "sample"
    operation = staticmethod(sample)
    _meta = None


class ChooseSplitters(ExprMixin, Expr):  # type: ignore[misc]
    """One partition with the splitters, chosen from all samples."""

    _parameters = ("samples", "order")
    _label = "splitters"
    _meta = None

    def _divisions(self) -> tuple[None, None]:
        return (None, None)

    def _layer(self) -> dict[Any, Task]:
        samples = self.operand("samples")
        refs = [partition_of(samples, i) for i in range(samples.npartitions)]
        key = (self._name, 0)
        return {key: Task(key, splitters, List(*refs), self.operand("order"))}


class SplitPieces(Rearranged, Blockwise):  # type: ignore[misc]
    """Partitions cut at common splitters, into a piece for each new partition.

    Dask fuses the reading of a partition into the task, so that nothing is read before the splitters are known.
    """

    _parameters = ("frame", "splitters", "order")
    _label = "cut"
    operation: ClassVar[Callable[..., Any]] = staticmethod(split)

    def _broadcast_dep(self, dep: Any) -> bool:
        return bool(dep._name == self.operand("splitters")._name)

    def _task(self, name: Any, index: int) -> Task:
        found = partition_of(self.operand("splitters"), 0)
        frame = self._input(self.frame, index)
        return Task(name, self.operation, frame, self.operand("order"), found, index)


def _split_packed(frame: Any, order: Order, found: Splitters, partition: int) -> pd.DataFrame:
    return packed_rows(split(frame, order, found, partition).filled(), partition)


class PackedPieces(Packed, SplitPieces):
    """The same pieces, as rows of a frame that Dask shuffles."""

    operation = staticmethod(_split_packed)


def sort(obj: Any, order: Order, ignore_index: bool) -> Any:
    """Sort the rows of a collection; with `ignore_index`, they get a default index."""
    order.check(obj._meta)
    out = sorted_by(obj, order)
    return look_back(out, ResetIndex(drop=True)) if ignore_index else out


def sorted_by(obj: Any, order: Order) -> Any:
    """Sort the rows of a collection.

    If the divisions of the first key are known, rows stay in their partitions.
    """
    if obj.known_divisions and order.starts_with_index():
        return new_collection(SortedPartitions(obj.expr, order))
    return new_collection(Sorted(obj.expr, read_separately(_keys_of(obj.expr, order)), order))
