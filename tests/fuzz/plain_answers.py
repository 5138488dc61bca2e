"""Queries on the files of a folder, and their answers by plain Python: the fuzzer `files` has them written and read."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import accumulate
from typing import Any

Row = dict[str, Any]
Columns = dict[str, list[Any]]


@dataclass(frozen=True)
class Query:
    """What is computed of a stream, and what the answer is."""

    name: str
    stream: Callable[[Any], Any]
    answer: Callable[[Sequence[Row], bool], Columns]
    """Of all rows so far, and whether no more follow."""
    has_end: bool = False
    """Whether rows wait for later ones, so that the end of the rows answers some."""


def _columns(rows: Sequence[Row], names: Sequence[str] = ()) -> Columns:
    names = names or list(rows[0] if rows else ())
    return {name: [row[name] for row in rows] for name in names}


def _sums(values: Sequence[int]) -> list[int]:
    return list(accumulate(values))


def _totals(rows: Sequence[Row], ended: bool) -> Columns:
    sums, found = dict[int, int](), []
    for row in rows:
        sums[row["k"]] = sums.get(row["k"], 0) + row["x"]
        found.append(sums[row["k"]])
    return {**_columns(rows), "total": found, "row": list(range(len(rows)))}


def _runs(rows: Sequence[Row], ended: bool) -> Columns:
    starts = [i for i, row in enumerate(rows) if i == 0 or rows[i - 1]["k"] != row["k"]]
    stops = [*starts[1:], len(rows)][: len(starts)]
    lengths = [stop - start for start, stop in zip(starts, stops, strict=True)]
    closed = len(starts) if ended else max(len(starts) - 1, 0)
    keys = [rows[start]["k"] for start in starts]
    return {
        "k": keys[:closed],
        "run_start": starts[:closed],
        "run_length": lengths[:closed],
    }


def _next(rows: Sequence[Row], ended: bool) -> Columns:
    later = [row["x"] for row in rows[1:]] + [None] * (ended and bool(rows))
    return {**_columns(rows[: len(later)]), "next": later}


def _filled(rows: Sequence[Row], ended: bool) -> Columns:
    found, last = [], None
    for row in rows:
        last = last if row["v"] is None else row["v"]
        found.append(last)
    return {"v": found}


def _windows(rows: Sequence[Row], ended: bool) -> Columns:
    x = [row["x"] for row in rows]
    return {"x": [None if i < 2 else sum(x[i - 2 : i + 1]) for i in range(len(x))]}


QUERIES = (
    Query(
        "cumsum",
        lambda r: r["x"].gpuscan.cumsum(),
        lambda rows, _: {"x": _sums([row["x"] for row in rows])},
    ),
    Query(
        "totals",
        lambda r: r.assign(total=r.gpuscan.groupby("k")["x"].cumsum(), row=r.gpuscan.row_number()),
        _totals,
    ),
    Query(
        "filter",
        lambda r: r.gpuscan.filter(r["x"] > 0)[["x"]].gpuscan.cumsum(),
        lambda rows, _: {"x": _sums([row["x"] for row in rows if row["x"] > 0])},
    ),
    Query(
        "shift",
        lambda r: r["x"].gpuscan.shift(1),
        lambda rows, _: {"x": [None, *(row["x"] for row in rows)][: len(rows)]},
    ),
    Query("next", lambda r: r.assign(next=r["x"].gpuscan.shift(-1)), _next, has_end=True),
    Query("rle", lambda r: r["k"].gpuscan.rle(), _runs, has_end=True),
    Query("rolling", lambda r: r["x"].gpuscan.rolling(3).sum(), _windows),
    Query("ffill", lambda r: r["v"].gpuscan.ffill(), _filled),
)
