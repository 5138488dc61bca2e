"""What ranks over partitions are made of: rows that are sorted, the ranks of sorted rows, and the way back.

Sorted rows know the place from which they came.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from .. import kernels
from ..frames.keys import By, boundary_key
from ..frames.protocol import Values
from ..frames.registry import library_of, stored_numbers, unused_name
from .groups import INT64
from .pieces import Pieces, pieces_of
from .rank import Rank, Ranking
from .rank_runs import FLOAT64, Ends, Outside, SortedRuns, ends_of
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
        The number of the group of each row; by default groups are told by their keys.
    """
    library, count = library_of(frame), len(frame)
    xp = library.xp
    with library.reading(frame):
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


def order_of(rank: Rank, names: Names) -> Order:
    """Return the order in which rows are ranked."""
    ascending = (*(True for _ in names.groups), rank.ascending)
    return Order(By((*names.groups, names.value)), ascending, nulls_first=rank.nulls == "top")


BACK = Order(By((PLACE,)), (True,))
"""The order in which rows of a partition were."""


# --- sorted rows -------------------------------------------------------------------------------------


def _runs(rows: Any, rank: Rank, names: Names) -> SortedRuns:
    library = library_of(rows)
    codes = None
    if names.groups:
        groups = [library.array(library.column(rows, name)) for name in names.groups]
        codes, _ = library.dense_codes(groups)
    return rank.runs_of_sorted(library, library.column(rows, names.value), codes)


def ends(rows: Any, rank: Rank, names: Names) -> Ends | None:
    """Return what other partitions need to know of a partition of sorted rows; None if it has no rows."""
    if not len(rows):
        return None
    library = library_of(rows)
    with library.reading(rows):
        columns = [library.column(rows, name) for name in (*names.groups, names.value)]
        keys = tuple(boundary_key(columns, row).values for row in (0, len(rows) - 1))
        return ends_of(_runs(rows, rank, names), rank.method, keys)


def ranked_rows(
    rows: Any, rank: Rank, names: Names, outside: Sequence[Outside], number: int
) -> Any:
    """Return the ranks of a partition of sorted rows, and where rows were, given what is outside of each."""
    library = library_of(rows)
    with library.reading(rows):
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

    def pieces(self, frame: Any, count: int) -> Pieces:
        with library_of(frame).reading(frame):
            origins = _numbers(frame, ORIGIN)
            order = kernels.argsort([origins, _numbers(frame, PLACE)])
            return pieces_of(frame, order, origins, count)


def put_back(ranking: Ranking, frame: Any, ranked: list[Any]) -> Any:
    """Return ranks as the result of a partition, given them for each column in the order of its rows."""
    library = library_of(frame)
    with library.reading(frame):
        no_group = ranking.no_group(frame)
        triples = zip(ranking.columns(frame), ranking.dtypes(frame), ranked, strict=True)
        arrays = [
            ranking.rank.wrap(
                library, _numbers(rows, RANK), dtype, library.missing(column), no_group
            )
            for column, dtype, rows in triples
        ]
        return ranking.build(frame, arrays)


def _numbers(rows: Any, name: str) -> Values:
    return stored_numbers(library_of(rows).column(rows, name))
