"""Ranks over partitions: rows are cut at splitters, ranked in the buckets between these, and ranks go back.

Only keys and values travel to a bucket, and only ranks travel back. A partition sorts its rows again when its ranks are
back, so no row needs a number. A bucket does not wait for the others: it marks ranks of the first or the last run, and
of the first or the last group, which other buckets may share. What to add to these ranks is known when all buckets have
reported their ends.
"""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from contextlib import ExitStack
from dataclasses import replace
from typing import Any

import numpy as np

from ... import kernels
from ...frames.keys import By, boundary_key
from ...frames.protocol import Library
from ...frames.registry import common_schema, library_of, names_of, stored_numbers, unused_name
from ...frames.types import Frame, Values
from ...kernels.late_dataclass import dataclass
from ..core.groups import INT64
from .pieces import PartitionSlices
from .rank import FLOAT64, METHODS, Ranking, RankOptions, SortedRuns, Ties
from .sort import Order, Splitters, sorted_rows, split


def rank_rows(frame: Frame, groups: Any, ranking: Ranking, column: int) -> Any:
    """Return one column of a partition as rows to be sorted: keys of groups, and values.

    Parameters
    ----------
    frame : DataFrame or Series
        The partition.
    groups : Series, optional
        The number of the group of each row; by default, rows of equal keys are a group.
    ranking : Ranking
    column : int
        Which of its columns.
    """
    library = library_of(frame)
    with library.acquire(frame):
        columns = [] if ranking.by is None else ranking.by.series(library, frame)
        if groups is not None:
            columns = [groups]
        columns = [*columns, ranking.columns(frame)[column]]
        arrays = [library.array(library.rank_values(c)) for c in columns]
        # errors use the users' names of columns
        names: list[str] = []
        for c in columns:
            names.append(unused_name("key" if c.name is None else str(c.name), names))
        return library.frame(arrays, names, library.range_index(0, len(frame)))


def order_of(rank: RankOptions, rows: Frame) -> Order:
    """Return the order in which `rank_rows` are ranked."""
    names = names_of(rows)
    ascending = (*(True for _ in names[:-1]), rank.ascending)
    return Order(By(tuple(names)), ascending, nulls_first=rank.nulls == "top")


def cut(rows: Frame, order: Order, found: Splitters, partition: int) -> PartitionSlices:
    """Return the pieces of a partition between splitters, each in order, without their index."""
    return split(rows, order, found, partition, new_index=True)


# --- how much of the first and last group and run of sorted rows is in other partitions ---------------


@dataclass(frozen=True)
class KeySpan:
    """Amounts of the first and of the last key, in rows in which equal keys are adjacent."""

    first: Hashable
    last: Hashable
    first_amount: int
    last_amount: int
    is_one: bool
    """Whether both are the same key."""

    @property
    def reversed(self) -> KeySpan:
        return KeySpan(self.last, self.first, self.last_amount, self.first_amount, self.is_one)


def _before(spans: Sequence[KeySpan]) -> list[int]:
    """For each span, how much of its first key is right before it."""
    found: list[int] = []
    key: Hashable = None
    amount = 0
    for span in spans:
        before = amount if found and span.first == key else 0
        found.append(before)
        key, amount = span.last, span.last_amount + (before if span.is_one else 0)
    return found


def _after(spans: Sequence[KeySpan]) -> list[int]:
    """For each span, how much of its last key is right after it."""
    return _before([span.reversed for span in reversed(spans)])[::-1]


@dataclass(frozen=True)
class RankEnds:
    """The first and last group and run of sorted rows."""

    run: KeySpan
    """Rows, by keys and value."""
    rows: KeySpan
    """Rows, by keys."""
    runs: KeySpan
    """Runs, by keys."""
    sizes: KeySpan
    """Divisors of ``pct``, by keys."""
    counts_runs: bool
    """Whether the first run, if it continues one before, was counted twice in the sizes."""


def ends_of(found: SortedRuns, method: str, keys: tuple[tuple[Hashable, ...], ...]) -> RankEnds:
    """Return the ends of sorted rows, given the keys and the value of the first and of the last row."""
    first, last = keys
    one_group, one_run = len(found.heads) == 1, len(found.starts) == 1
    run = KeySpan(first, last, int(found.lengths[0]), int(found.lengths[-1]), one_run)
    rows, runs, sizes = (
        KeySpan(first[:-1], last[:-1], int(amounts[0]), int(amounts[-1]), one_group)
        for amounts in (found.rows, found.runs, found.sizes(method))
    )
    left_out = found.is_left_out is not None and bool(found.is_left_out[0])
    first_has_rank = int(found.runs[0]) > left_out
    return RankEnds(run, rows, runs, sizes, method == "dense" and first_has_rank)


FIRST_RUN, FIRST_GROUP, MIDDLE, LAST_GROUP, LAST_RUN = PARTS = range(5)
"""Parts of a bucket. The first run does not count to the first group, nor the last run to the last group.

If the first and the last group are the same, it is the first group; likewise for runs.
"""

FIRST, LAST = slice(FIRST_RUN, MIDDLE), slice(LAST_GROUP, None)
EVERY = slice(None)


@dataclass(frozen=True)
class Completion:
    """How to complete the ranks of buckets: a row each bucket and a column each part, on the host."""

    added: Values
    sizes: Values
    """The divisor of ``pct``, applied after that; in the middle, ranks are divided already."""

    @staticmethod
    def of(ends: Sequence[RankEnds | None], method: str) -> Completion:
        """Return it, given the ends of all buckets, None for those without rows."""
        shape = len(ends), len(PARTS)
        start, length, number = ties = np.zeros((3, *shape), INT64)
        sizes = np.ones(shape, INT64)
        buckets = [bucket for bucket, e in enumerate(ends) if e is not None]
        filled = [e for e in ends if e is not None]
        rows = _before([e.rows for e in filled])
        before, after = _before([e.run for e in filled]), _after([e.run for e in filled])
        shared = [amount > 0 for amount in before]
        pairs = list(zip(filled, shared, strict=True))
        runs = _before([_less(e.runs, one) for e, one in pairs])
        own = [_less(e.sizes, e.counts_runs and one) for e, one in pairs]
        earlier, later = _before(own), _after(own)
        for i, (bucket, e) in enumerate(zip(buckets, filled, strict=True)):
            group = EVERY if e.rows.is_one else FIRST
            start[bucket, group] = rows[i]
            number[bucket, group] = runs[i] - shared[i]
            if method != "first":  # for "first", rows count on from those before
                start[bucket, FIRST_RUN] -= before[i]
            length[bucket, FIRST_RUN] = before[i] + (after[i] if e.run.is_one else 0)
            length[bucket, LAST_RUN] = after[i]
            sizes[bucket, LAST] = own[i].last_amount + later[i]
            sizes[bucket, group] = own[i].first_amount + earlier[i]
            if e.rows.is_one:
                sizes[bucket] += later[i]
        of_run = METHODS[method]
        added = of_run(Ties(*ties)) - of_run(Ties(*np.zeros_like(ties)))
        return Completion(added.astype(FLOAT64), np.maximum(sizes, 1))


def _less(span: KeySpan, one: bool) -> KeySpan:
    """Amounts without a run that was counted before."""
    last = span.last_amount - (one and span.is_one)
    return replace(span, first_amount=span.first_amount - one, last_amount=last)


# --- buckets -----------------------------------------------------------------------------------------

RANK, PART = "rank", "part"
"""The columns of rows on their way back."""

HALVES_OF_FLOAT32 = 1 << 23
"""Up to this number, float32 holds all halves of integers."""


@dataclass(frozen=True)
class Bucket:
    """The ranks of the rows between two splitters, counted within the bucket."""

    pieces: PartitionSlices
    """Ranks and parts, for each partition in the order in which its rows came."""
    ends: RankEnds | None
    """None if there are no rows."""


@dataclass(frozen=True)
class RankBucket:
    """Joins pieces of all partitions to a bucket."""

    rank: RankOptions
    order: Order
    partitions: int

    def __call__(
        self, parts: Sequence[PartitionSlices], number: int, origins: Sequence[int]
    ) -> Bucket:
        """Return the bucket of a number."""
        common_schema([part.schema for part in parts])
        lengths = np.zeros(self.partitions, INT64)
        lengths[list(origins)] = [np.diff(part.bounds[number])[0] for part in parts]
        stops = lengths.cumsum()
        filled = [part for part in parts if part.has_rows(number)]
        like = parts[0].rows
        library, names = library_of(like), names_of(like)
        with ExitStack() as stack:
            for part in filled:
                stack.enter_context(library.acquire(part.rows))
            if filled:
                by_column = zip(*(library.columns(part[number]) for part in filled), strict=True)
                arrays = [library.concatenate(list(map(library.array, each))) for each in by_column]
                index = library.range_index(0, int(stops[-1]))
                ends, found = self._ranked(library, library.frame(arrays, names, index))
            else:
                ends, found = None, no_ranks(library)
        return Bucket(PartitionSlices(found, np.stack([stops - lengths, stops], axis=1)), ends)

    def _ranked(self, library: Library, given: Frame) -> tuple[RankEnds, Any]:
        """Return the ends of a bucket, and the ranks of its rows in their own order."""
        method = self.rank.method
        rows, positions = sorted_rows(
            library, given, self.order, self.order.columns(library, given), new_index=True
        )
        *groups, values = columns = library.columns(rows)
        codes = None
        if groups:
            codes = library.dense_group_ids([library.array(column) for column in groups]).array
        found = self.rank.runs_of_sorted(library, values, codes)
        keys = tuple(boundary_key(library, columns, row).values for row in (0, len(rows) - 1))
        sizes = None
        if self.rank.pct:
            sizes = found.sizes(method).copy()
            sizes[0] = sizes[-1] = 1
        has_halves = sizes is None and found.count <= HALVES_OF_FLOAT32
        dtype = np.float32 if has_halves else np.float64
        ranks = found.ranks(method, sizes).astype(dtype, copy=False)
        both = [kernels.put(array, positions, check=False) for array in (ranks, parts_of(found))]
        return ends_of(found, method, keys), ranked_frame(library, *both)


def parts_of(found: SortedRuns) -> Values:
    """Return the part of each row of a sorted bucket."""
    parts = found.xp.full(found.count, MIDDLE, np.int8)
    rows = found.rows
    parts[found.count - int(rows[-1]) :] = LAST_GROUP
    parts[: int(rows[0])] = FIRST_GROUP
    parts[found.count - int(found.lengths[-1]) :] = LAST_RUN
    parts[: int(found.lengths[0])] = FIRST_RUN
    return parts


def ranked_frame(library: Library, ranks: Values, parts: Values) -> Any:
    """Return ranks and their parts as rows."""
    arrays = [library.from_floats(ranks), library.from_integers(parts)]
    return library.frame(arrays, [RANK, PART], library.range_index(0, len(ranks)))


def no_ranks(library: Library) -> Any:
    """Return a frame of ranks without rows."""
    return ranked_frame(library, library.xp.empty(0, FLOAT64), library.xp.empty(0, np.int8))


# --- the way back ------------------------------------------------------------------------------------


@dataclass(frozen=True)
class JoinRanks:
    """Ranks of one partition from all buckets, with the numbers of their parts among those of all buckets."""

    def __call__(
        self, parts: Sequence[PartitionSlices], number: int, origins: Sequence[int]
    ) -> Any:
        """Return the pieces with a number as one frame."""
        library = library_of(parts[0].rows)
        xp = library.xp
        with ExitStack() as stack:
            for part in parts:
                stack.enter_context(library.acquire(part.rows))
            frames = [part[number] for part in parts]
            ranks = xp.concatenate([_numbers(rows, RANK) for rows in frames])
            found = xp.concatenate(
                [
                    _numbers(rows, PART).astype(INT64) + len(PARTS) * bucket
                    for bucket, rows in zip(origins, frames, strict=True)
                ]
            )
            return ranked_frame(library, ranks, found)


def complete(
    ranking: Ranking,
    frame: Frame,
    rows: Sequence[Frame],
    ranked: Sequence[Frame],
    completions: Sequence[Completion],
) -> Any:
    """Return the ranks of a partition, given the rows, the sorted ranks and the completion of each column."""
    library = library_of(frame)
    with library.acquire(frame):
        no_group = ranking.no_group(frame)
        ranks = [
            _completed(ranking.rank, *each) for each in zip(rows, ranked, completions, strict=True)
        ]
        of_columns = zip(ranks, ranking.dtypes(frame), ranking.columns(frame), strict=True)
        arrays = [
            ranking.rank.wrap(library, found, dtype, library.missing(column), no_group)
            for found, dtype, column in of_columns
        ]
        return ranking.build(frame, arrays)


def _completed(rank: RankOptions, rows: Frame, ranked: Frame, completion: Completion) -> Values:
    """Return the ranks of a column in the order of its rows."""
    library, order = library_of(rows), order_of(rank, rows)
    xp = library.xp
    with library.acquire(ranked):
        parts = _numbers(ranked, PART)
        found = _numbers(ranked, RANK) + kernels.take(
            xp.asarray(completion.added.ravel()), parts, check=False
        )
        if rank.pct:
            found /= kernels.take(xp.asarray(completion.sizes.ravel()), parts, check=False)
    return kernels.put(found, order.argsort(library, order.columns(library, rows)), check=False)


def _numbers(rows: Frame, name: str) -> Values:
    return stored_numbers(library_of(rows).column(rows, name))
