"""What ranks over partitions are made of: rows that are sorted, what is counted in sorted rows, and the way back.

Sorted rows know the place from which they came. Ranks are sums of numbers that scans of the sorted rows give: the
number of a row in its group, and in its run of equal values from either end.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

from .. import kernels
from ..frames.keys import By
from ..frames.protocol import Values
from ..frames.registry import library_of
from .groups import INT64
from .rank import Rank, Ranking
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
        if not columns:  # all rows are one group
            columns = [library.as_column(library.from_integers(xp.zeros(count, INT64)))]
        columns = [*columns, ranking.columns(frame)[column]]
        arrays = [library.array(library.rank_values(c)) for c in columns]
        # errors name columns as users know them
        names: list[str] = []
        for c in columns:
            name = "key" if c.name is None else str(c.name)
            while name in (*names, ORIGIN, PLACE, RANK, *COUNTS):
                name += "_"
            names.append(name)
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


# --- what is counted in sorted rows ------------------------------------------------------------------


@dataclass(frozen=True)
class Formula:
    """How ranks are made of the numbers of sorted rows."""

    needs: tuple[str, ...]
    """Numbers of a row from 0, ``in_group``, ``in_run`` and ``after_in_run``; ``runs`` of its group so far."""
    rank: Callable[[Any], Any]


COUNTS = ("in_group", "in_run", "after_in_run", "runs", "counted")
"""The columns of numbers that sorted rows get."""

FORMULAS = {
    "average": Formula(
        ("in_group", "in_run", "after_in_run"),
        lambda rows: rows.in_group + (rows.after_in_run - rows.in_run) / 2 + 1,
    ),
    "min": Formula(("in_group", "in_run"), lambda rows: rows.in_group - rows.in_run + 1),
    "max": Formula(
        ("in_group", "after_in_run"), lambda rows: rows.in_group + rows.after_in_run + 1
    ),
    "first": Formula(("in_group",), lambda rows: rows.in_group + 1),
    "dense": Formula(("in_run", "runs"), lambda rows: rows.runs),
}
"""By the name of the method; they answer what `rank.METHODS` do."""


def counted(rows: Any, rank: Rank, value: str) -> Any:
    """Return which sorted rows add to the size of their group by which `pct` divides, as a series of 0 and 1."""
    ones = (rows[PLACE] >= 0).astype(INT64)
    if rank.method == "dense":
        ones = (rows["in_run"] == 0).astype(INT64)
    return ones * (~rows[value].isna()).astype(INT64) if rank.nulls == "keep" else ones


# --- the way back ------------------------------------------------------------------------------------


def pieces_by_origin(rows: Any, partition: int, count: int) -> list[Any]:
    """Return the rows of a partition, `partition`, by the one that they came from, of so many, as they were there."""
    library = library_of(rows)
    with library.reading(rows):
        origins = _numbers(rows, ORIGIN)
        order = kernels.argsort([origins, _numbers(rows, PLACE)])
        bounds = library.xp.searchsorted(origins[order], library.xp.arange(count + 1)).tolist()
        ordered = library.rows(rows, order)
    return [library.rows(ordered, slice(start, stop)) for start, stop in pairwise(bounds)]


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
    library = library_of(rows)
    column = library.column(rows, name)
    layout = library.layout(column.dtype)
    assert layout is not None
    return layout.raw(library.array(column)).values
