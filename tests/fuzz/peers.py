"""Random tables beside polars and DuckDB: each answers a question in its own words, and so do we, on rows that are cut.

A question is a method of a column x, or of its groups by a key k that may be null; rows are in the order of r. What
polars or DuckDB means otherwise (docs/guide/polars.md and duckdb.md) is asked of the other one.
"""

import math
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime, timedelta
from itertools import pairwise
from typing import Any

import duckdb
import pandas as pd
import polars as pl
import pyarrow as pa
from hypothesis import strategies as st

import dask_gpuscan
from helpers.strategies import of_partitions

from .drawn import Shown, cuts, lists

WINDOW = "ROWS BETWEEN {before} PRECEDING AND CURRENT ROW"
SO_FAR = "ROWS UNBOUNDED PRECEDING"


@dataclass(frozen=True)
class Question:
    """What is asked, as a text of each language; none where the answer is meant to be another one."""

    ours: str
    polars: str = ""
    sql: str = ""
    """What stands before OVER (PARTITION BY ... ORDER BY r ...), and the frame behind it after a bar."""
    kinds: str = "int float text time bool"
    """The columns that it is asked of."""


NUMBERS = "int float"
ORDERED = "int float time"
BEHIND = "ROWS BETWEEN CURRENT ROW AND UNBOUNDED FOLLOWING"
OF_WINDOWS = {
    "sum": ("", "sum"), "mean": ("mean", "avg"), "max": ("max", "max"), "min": ("min", "min"),
    "median": ("median", "median"), "var": ("var", "var_samp"),
}  # fmt: skip
"""Statistics of windows, and what polars and SQL call them."""

QUESTIONS = [
    Question("cumsum()", "cum_sum()", f"sum(x)|{SO_FAR}", NUMBERS),
    Question("cummax()", "cum_max()", f"max(x)|{SO_FAR}", ORDERED),
    Question("cummin()", "cum_min()", f"min(x)|{SO_FAR}", ORDERED),
    Question("ffill()", "forward_fill()", f"last_value(x IGNORE NULLS)|{SO_FAR}"),
    Question("bfill()", "backward_fill()", f"first_value(x IGNORE NULLS)|{BEHIND}"),
    Question("ffill(limit=2)", "forward_fill(limit=2)"),
    Question("shift({n})", "shift({n})", "lag(x, {n})|"),
    Question("diff({n})", "diff({n})", "x - lag(x, {n})|", ORDERED),
    Question(
        "ewm(alpha=0.5, ignore_na=True, min_periods=1).mean()",
        "ewm_mean(alpha=0.5, ignore_nulls=True)",
        kinds=NUMBERS,
    ),
]
for _way in ("average", "min", "max", "dense"):
    QUESTIONS.append(Question(f'rank(method="{_way}")', f'rank("{_way}")', kinds=ORDERED))
for _ours, (_polars, _sql) in OF_WINDOWS.items():
    _theirs = _polars and f"rolling_{_polars}({{w}}, min_samples=1)"
    _window = f"rolling({{w}}, min_periods=1).{_ours}()"
    QUESTIONS.append(Question(_window, _theirs, f"{_sql}(x)|{WINDOW}", NUMBERS))
    QUESTIONS.append(Question(f"expanding().{_ours}()", "", f"{_sql}(x)|{SO_FAR}", NUMBERS))
"""Answers with a row for each row; at nulls of x those of `AT_NULLS` alone are compared."""

AT_NULLS = ("ffill", "bfill", "shift", "diff")

OF_GROUPS = {
    "sum()": "coalesce(sum(x), 0)", "mean()": "avg(x)", "min()": "min(x)", "max()": "max(x)",
    "median()": "median(x)", "var()": "var_samp(x)", "count()": "count(x)",
    "nunique()": "count(DISTINCT x)",
}  # fmt: skip
"""Reductions of groups, and what SQL calls them."""


VALUES: dict[str, tuple[pa.DataType, st.SearchStrategy[Any]]] = {
    "int": (pa.int64(), st.integers(-5, 5) | st.integers(-(2**40), 2**40)),
    "float": (pa.float64(), st.integers(-5, 5).map(float) | st.integers(0, 999).map(math.sqrt)),
    "text": (pa.string(), st.sampled_from(["", "a", "b", "é", "long text"])),
    "time": (
        pa.timestamp("us"),
        st.integers(0, 50).map(lambda hours: datetime(2026, 1, 1) + timedelta(hours=hours)),
    ),
    "bool": (pa.bool_(), st.booleans()),
}
"""The types of x."""


@dataclass(frozen=True, repr=False)
class PeerCase(Shown):
    """A question about the rows of a table, which are cut."""

    call: str
    polars: str
    sql: str
    grouped: bool
    rows: pa.Table
    cuts: list[int]

    def __repr__(self) -> str:
        of = "g" if self.grouped else "x"
        return f"{of}.{self.call} of {self.rows.to_pydict()} cut at {self.cuts}"

    def check(self) -> str:
        """Compare the answers of each kind of frame with those of the peers."""
        expected = self._expected()
        at = range(len(next(iter(expected.values()))))
        if self.call not in OF_GROUPS and not self.call.startswith(AT_NULLS):
            at = [i for i in at if self.rows["x"][i].is_valid]
        for engine, frame in self._frames():
            of = (
                frame.gpuscan.groupby("k", dropna=False)["x"]
                if self.grouped
                else frame["x"].gpuscan
            )
            try:
                found = values(eval(f"of.{self.call}", {"of": of}))
            except NotImplementedError:
                assert engine == "a stream", f"{engine} refuses"  # which sees each row once
                continue
            for peer, answer in expected.items():
                told = f"{found} of {engine}, and {answer} of {peer}"
                assert len(found) == len(answer), told
                assert all(equal(found[i], answer[i]) for i in at), told
        return " and ".join(expected)

    def _expected(self) -> dict[str, list[Any]]:
        found, rows = {}, self.rows
        if self.polars:
            expression = eval(f"x.{self.polars}", {"x": pl.col("x")})
            of = pl.from_arrow(rows).select(expression.over("k") if self.grouped else expression)
            found["polars"] = values(of.to_series())
        if self.sql:
            found["DuckDB"] = [row[0] for row in duckdb.sql(self.sql).fetchall()]
        return found

    def _frames(self) -> Iterator[tuple[str, Any]]:
        """Yield the table as each kind of frame."""
        pieces = [self.rows.slice(a, b - a) for a, b in pairwise([0, *self.cuts, len(self.rows)])]
        frames = [piece.to_pandas(types_mapper=pd.ArrowDtype) for piece in pieces]
        yield "polars", pl.from_arrow(self.rows)
        yield "pandas", self.rows.to_pandas(types_mapper=pd.ArrowDtype)
        yield "Dask", of_partitions(frames, frames[0][:0])
        yield "a stream", dask_gpuscan.stream([pl.from_arrow(piece) for piece in pieces])


def values(answer: Any) -> list[Any]:
    """Return the values of an answer, of which no NaN is meant; of the answer of a group, in the order of keys."""
    answer = answer.compute() if hasattr(answer, "compute") else answer
    if hasattr(answer, "get_columns"):  # polars, whose keys are columns
        answer = answer.sort("k", nulls_last=True).get_columns()[-1]
    if isinstance(answer, pd.Series):
        answer = pa.array(answer, from_pandas=True)
    found = answer.to_list() if hasattr(answer, "to_list") else answer.to_pylist()
    return [None if isinstance(x, float) and math.isnan(x) else x for x in found]


def equal(ours: Any, theirs: Any) -> bool:
    """Return whether two values are, but for rounding."""
    if isinstance(ours, (int, float)) and isinstance(theirs, (int, float)):
        return math.isclose(ours, theirs, rel_tol=1e-9, abs_tol=1e-9)
    return bool(ours == theirs)


def _asked(draw: Any, kind: str) -> tuple[str, str, str, bool]:
    """Draw a question, as texts of each language, and whether it is asked of groups."""
    if kind in NUMBERS and draw(st.integers(0, 2)) == 2:
        call = draw(st.sampled_from([*OF_GROUPS]))
        return (
            call,
            "",
            f"SELECT {OF_GROUPS[call]} FROM rows GROUP BY k ORDER BY k NULLS LAST",
            True,
        )
    grouped, width = draw(st.booleans()), draw(st.integers(1, 5))
    given = {"n": draw(st.sampled_from([1, 2, -1])), "w": width, "before": width - 1}
    asked = draw(st.sampled_from([one for one in QUESTIONS if kind in one.kinds]))
    what, _, frame = asked.sql.format(**given).partition("|")
    over = f"OVER ({'PARTITION BY k ' if grouped else ''}ORDER BY r {frame})"
    sql = what and f"SELECT {what} {over} FROM rows ORDER BY r"
    return asked.ours.format(**given), asked.polars.format(**given), sql, grouped


@st.composite
def _cases(draw: Any) -> PeerCase:
    kind = draw(st.sampled_from([*VALUES]))
    count = draw(st.sampled_from([0, 1, 2, 7, 30]))
    is_null = draw(st.sampled_from([[False], [False, False, True]]))

    def drawn(one: st.SearchStrategy[Any], dtype: pa.DataType) -> pa.Array:
        nulls = draw(lists(st.sampled_from(is_null), count))
        return pa.array(
            [None if n else x for x, n in zip(draw(lists(one, count)), nulls, strict=True)], dtype
        )

    dtype, one = VALUES[kind]
    keys = drawn(st.integers(0, 3), pa.int64())
    rows = pa.table({"r": pa.array(range(count), pa.int64()), "k": keys, "x": drawn(one, dtype)})
    return PeerCase(*_asked(draw, kind), rows, draw(cuts(count)))


PEERS = _cases()
"""A question about a table."""
