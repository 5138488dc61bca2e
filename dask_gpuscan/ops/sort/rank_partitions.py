"""Ranks over partitions, in three steps: rows to be sorted, the ranks of sorted rows, and the way back.

Sorted rows know the place from which they came. Of other partitions they know only how much of their first and of their
last group, and run, is there.
"""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from dataclasses import dataclass, replace
from typing import Any

from ... import kernels
from ...frames.keys import By, boundary_key
from ...frames.registry import library_of, stored_numbers, unused_name
from ...frames.types import Values
from ..core.groups import INT64
from .pieces import PartitionSlices, pieces_of
from .rank import FLOAT64, Outside, Ranking, RankOptions, SortedRuns
from .sort import Order

ORIGIN, PLACE = "origin", "place"
"""The partition that a row came from, and its place there: the last columns of rows that are sorted."""

RANK = "rank"


def placed(frame: Any, ranking: Ranking, column: int, partition: int, groups: Any = None) -> Any:
    """Return one column of a partition as rows to be sorted: keys of groups, values, and where they are.

    Parameters
    ----------
    frame : DataFrame or Series
        The partition.
    ranking : Ranking
    column : int
        Which of its columns.
    partition : int
        The number of the partition.
    groups : Series, optional
        The number of the group of each row; by default, rows of equal keys are a group.
    """
    library, count = library_of(frame), len(frame)
    xp = library.xp
    with library.acquire(frame):
        columns = [] if ranking.by is None else ranking.by.series(frame)
        if groups is not None:
            columns = [groups]
        columns = [*columns, ranking.columns(frame)[column]]
        arrays = [library.array(library.rank_values(c)) for c in columns]
        # errors name columns as users know them
        names: list[str] = []
        for c in columns:
            name = "key" if c.name is None else str(c.name)
            names.append(unused_name(name, (*names, ORIGIN, PLACE)))
        origin = library.from_integers(xp.full(count, partition, INT64))
        place = library.from_integers(xp.arange(count, dtype=INT64))
        every = [*arrays, origin, place]
        return library.frame(every, [*names, ORIGIN, PLACE], library.range_index(0, count))


@dataclass(frozen=True)
class Names:
    """The columns of `placed` rows."""

    groups: tuple[str, ...]
    value: str

    @staticmethod
    def of(names: Sequence[str]) -> Names:
        *groups, value, _, _ = names
        return Names(tuple(groups), value)


def order_of(rank: RankOptions, names: Names) -> Order:
    """Return the order in which rows are ranked."""
    ascending = (*(True for _ in names.groups), rank.ascending)
    return Order(By((*names.groups, names.value)), ascending, nulls_first=rank.nulls == "top")


BACK = Order(By((PLACE,)), (True,))
"""The order in which rows of a partition were."""


# --- how much of the first and last group and run of sorted rows is in other partitions ---------------


@dataclass(frozen=True)
class KeySpan:
    """Amounts by key of rows in which equal keys are adjacent: those of the first key, and of the last."""

    first: Hashable
    last: Hashable
    first_amount: int
    last_amount: int
    is_one: bool
    """Whether they are the same."""

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
    """By keys and value: rows."""
    rows: KeySpan
    """By keys: rows."""
    runs: KeySpan
    """By keys: runs."""
    sizes: KeySpan
    """By keys: what ``pct`` divides by."""
    counts_runs: bool
    """Whether the first run, if it goes on from rows before, counts for the size once more."""


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


def outsides(ends: Sequence[RankEnds | None]) -> list[Outside]:
    """Return for each of all partitions, None for those without rows, what of its ends is in others."""
    filled = [e for e in ends if e is not None]
    run = [e.run for e in filled]
    before = _before(run)
    rows = _before([e.rows for e in filled])
    runs = _before([_less(e.runs, there > 0) for e, there in zip(filled, before, strict=True)])
    sizes = [
        _less(e.sizes, e.counts_runs and there > 0) for e, there in zip(filled, before, strict=True)
    ]
    parts = zip(
        filled, rows, runs, before, _after(run), sizes, _before(sizes), _after(sizes), strict=True
    )
    found = iter(
        Outside(
            rows=in_group,
            runs=in_runs,
            run=in_run,
            run_after=later,
            # less what `sizes` has of these rows
            first_size=earlier
            + (after if size.is_one else 0)
            + size.first_amount
            - e.sizes.first_amount,
            last_size=after,
        )
        for e, in_group, in_runs, in_run, later, size, earlier, after in parts
    )
    return [Outside() if e is None else next(found) for e in ends]


def _less(span: KeySpan, one: bool) -> KeySpan:
    """Amounts without a run that has been counted before."""
    last = span.last_amount - (one and span.is_one)
    return replace(span, first_amount=span.first_amount - one, last_amount=last)


# --- sorted rows -------------------------------------------------------------------------------------


def _runs(rows: Any, rank: RankOptions, names: Names) -> SortedRuns:
    library = library_of(rows)
    codes = None
    if names.groups:
        groups = [library.array(library.column(rows, name)) for name in names.groups]
        codes, _ = library.dense_group_ids(groups)
    return rank.runs_of_sorted(library, library.column(rows, names.value), codes)


def ends(rows: Any, rank: RankOptions, names: Names) -> RankEnds | None:
    """Return what other partitions need to know of a partition of sorted rows; None if it has no rows."""
    if not len(rows):
        return None
    library = library_of(rows)
    with library.acquire(rows):
        columns = [library.column(rows, name) for name in (*names.groups, names.value)]
        keys = tuple(boundary_key(columns, row).values for row in (0, len(rows) - 1))
        return ends_of(_runs(rows, rank, names), rank.method, keys)


def ranked_rows(
    rows: Any, rank: RankOptions, names: Names, outside: Sequence[Outside], number: int
) -> Any:
    """Return the ranks of a partition of sorted rows, and where rows were, given what is outside of each."""
    library = library_of(rows)
    with library.acquire(rows):
        found = library.xp.empty(0, FLOAT64)
        if len(rows):
            found = _runs(rows, rank, names).ranks(rank.method, rank.pct, outside[number])
        ranks = library.from_floats(found.astype(FLOAT64, copy=False))
        arrays = [library.array(library.column(rows, name)) for name in (ORIGIN, PLACE)]
        return library.frame([*arrays, ranks], [ORIGIN, PLACE, RANK], library.index(rows))


# --- the way back ------------------------------------------------------------------------------------


@dataclass(frozen=True)
class ByOrigin:
    """Rows go to the partition that they came from, in the order in which they were."""

    label = "by-origin"

    def pieces(self, frame: Any, count: int) -> PartitionSlices:
        with library_of(frame).acquire(frame):
            origins = _numbers(frame, ORIGIN)
            order = kernels.argsort([origins, _numbers(frame, PLACE)])
            return pieces_of(frame, order, origins, count)


def put_back(ranking: Ranking, frame: Any, ranked: list[Any]) -> Any:
    """Return ranks as the result of a partition, given them for each column in the order of its rows."""
    library = library_of(frame)
    with library.acquire(frame):
        no_group = ranking.no_group(frame)
        triples = zip(ranking.columns(frame), ranking.dtypes(frame), ranked, strict=True)
        arrays = [  # of copies: nulls are written into them, and the rows are another task's
            ranking.rank.wrap(
                library, _numbers(rows, RANK).copy(), dtype, library.missing(column), no_group
            )
            for column, dtype, rows in triples
        ]
        return ranking.build(frame, arrays)


def _numbers(rows: Any, name: str) -> Values:
    return stored_numbers(library_of(rows).column(rows, name))
