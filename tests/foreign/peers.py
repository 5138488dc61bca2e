"""Random tables beside polars and DuckDB: each answers a question in its own words, and so do we, on rows that are cut.

    python -m foreign peers --seed 7

draws tables of a seed. A question is a method of a column x, or of its groups by a key k that may be null; rows are in
the order of r. What polars or DuckDB means otherwise (docs/guide/polars.md and duckdb.md) is asked of the other one.
"""

import importlib.util
import math
import random
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from datetime import datetime, timedelta
from itertools import pairwise
from typing import Any

import dask
import dask.dataframe as dd
import pandas as pd
import pyarrow as pa

import dask_gpuscan

PEERS = "peers"
CASES = 400
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
    "sum": "sum(x)", "mean": "avg(x)", "min": "min(x)", "max": "max(x)", "median": "median(x)", "var": "var_samp(x)",
    "count": "count(x)", "nunique": "count(DISTINCT x)",
}  # fmt: skip
"""Reductions of groups, and what SQL calls them."""


def table(rng: random.Random, kind: str) -> pa.Table:
    """Draw a table: no rows, one, or some, of few values and some nulls."""
    draw: dict[str, Callable[[], Any]] = {
        "int": lambda: rng.choice([rng.randint(-5, 5), rng.randint(-(2**40), 2**40)]),
        "float": lambda: rng.choice([rng.randint(-5, 5), rng.random(), 0.5]) * 1.0,
        "text": lambda: rng.choice(["", "a", "b", "é", "long text"]),
        "time": lambda: datetime(2026, 1, 1) + timedelta(hours=rng.randint(0, 50)),
        "bool": lambda: rng.random() < 0.5,
    }
    types = {"int": pa.int64(), "float": pa.float64(), "text": pa.string(), "bool": pa.bool_()}
    rows, nulls = rng.choice([0, 1, 2, 7, 30]), rng.choice([0.0, 0.3])

    def drawn(make: Callable[[], Any]) -> list[Any]:
        return [None if rng.random() < nulls else make() for _ in range(rows)]

    return pa.table(
        {
            "r": pa.array(range(rows), pa.int64()),
            "k": pa.array(drawn(lambda: rng.randint(0, 3)), pa.int64()),
            "x": pa.array(drawn(draw[kind]), types.get(kind, pa.timestamp("us"))),
        }
    )


def engines(rows: pa.Table, rng: random.Random) -> Iterator[tuple[str, Any]]:
    """Yield the table as each kind of frame; over partitions and in batches in single rows, or in three pieces."""
    import polars as pl

    count = len(rows)
    three = [0, *sorted(rng.randint(0, count) for _ in range(2)), count]
    edges = rng.choice([[*range(count + 1)], three]) if count else [0, 0]
    pieces = [rows.slice(a, b - a) for a, b in pairwise(edges)]
    frames = [piece.to_pandas(types_mapper=pd.ArrowDtype) for piece in pieces]
    yield "polars", pl.from_arrow(rows)
    yield "pandas", rows.to_pandas(types_mapper=pd.ArrowDtype)
    yield "Dask", dd.from_map(lambda piece: piece, frames, meta=frames[0][:0])
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


def case(rng: random.Random) -> Iterator[str]:
    """Ask one question, and yield what differs."""
    import duckdb
    import polars as pl

    reduces = rng.random() < 0.3
    kind = rng.choice(["int", "float"] if reduces else ["int", "float", "text", "time", "bool"])
    rows = table(rng, kind)
    parameters = {"n": rng.choice([1, 2, -1]), "w": (w := rng.randint(1, 5)), "before": w - 1}
    grouped = reduces or rng.random() < 0.5
    expected: dict[str, list[Any]] = {}
    if reduces:
        name = rng.choice(list(OF_GROUPS))
        call = f"{name}()"
        sql = f"SELECT {OF_GROUPS[name]} FROM rows GROUP BY k ORDER BY k NULLS LAST"
    else:
        asked = rng.choice([q for q in QUESTIONS if kind in q.kinds])
        call = asked.ours.format(**parameters)
        what, _, frame = asked.sql.format(**parameters).partition("|")
        over = f"OVER ({'PARTITION BY k ' if grouped else ''}ORDER BY r {frame})"
        sql = what and f"SELECT {what} {over} FROM rows ORDER BY r"
        if asked.polars:
            expression = eval(f"x.{asked.polars.format(**parameters)}", {"x": pl.col("x")})
            of = pl.from_arrow(rows).select(expression.over("k") if grouped else expression)
            expected["polars"] = values(of.to_series())
    if sql:
        expected["DuckDB"] = [row[0] for row in duckdb.sql(sql).fetchall()]
    at = range(len(rows))
    if reduces:
        at = range(len(next(iter(expected.values()))))
        if name == "sum":  # which is 0 of nulls alone
            expected["DuckDB"] = [x or 0 for x in expected["DuckDB"]]
    elif not call.startswith(AT_NULLS):
        at = [i for i in at if rows["x"][i].is_valid]
    for engine, frame in engines(rows, rng):
        of = frame.gpuscan.groupby("k", dropna=False)["x"] if grouped else frame["x"].gpuscan
        told = f"{'g' if grouped else 'x'}.{call} of {rows.to_pydict()} on {engine}"
        try:
            found = values(eval(f"of.{call}", {"of": of}))
        except NotImplementedError:  # a stream sees each row once
            continue
        except Exception as error:
            yield f"{told}: {type(error).__name__}: {error}"
            continue
        for peer, answer in expected.items():
            wrong = len(found) != len(answer) or any(not equal(found[i], answer[i]) for i in at)
            if wrong:
                yield f"{told}: {found}, and {answer} of {peer}"


def missing() -> str:
    """Return why no peer can be asked; nothing if both can."""
    absent = [name for name in ("polars", "duckdb") if importlib.util.find_spec(name) is None]
    return f"not run, {' and '.join(absent)} cannot be imported" if absent else ""


def differences(seed: int, cases: int = CASES) -> Iterator[str]:
    """Yield what differs among so many cases of a seed."""
    with dask.config.set({"scheduler": "synchronous", "dataframe.convert-string": False}):
        for number in range(cases):
            for found in case(random.Random(f"{seed}/{number}")):
                yield f"seed {seed}, case {number}: {found}"
