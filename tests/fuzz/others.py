"""Which methods of other libraries give one answer for all cuts of the rows: the cuts of `cuts.py`, on their methods.

    python -m fuzz.others --cases 200 --seed 1

prints what docs/reliability.md shows, and the smallest case of the worst kind of difference. A library that is not
installed is left out. Floats are drawn from a few numbers of one size, so that rounding differs and is small.
"""

import argparse
import importlib
import os
import re
import sys
import tempfile
import warnings
from collections import Counter
from collections.abc import Callable, Mapping
from itertools import pairwise
from pathlib import Path
from random import Random
from typing import Any

import dask
import dask.dataframe as dd
import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
from hypothesis import Phase, find, given, seed, settings
from hypothesis import strategies as st

import dask_gpuscan  # noqa: F401 (registers .gpuscan)
from helpers.backends import same
from helpers.strategies import partitioned_at

from . import drawn
from .cuts import TAME, held, rows
from .fuzzer import QUIETLY

TYPES = {"k": ("int64",), "x": ("float64",), "n": ("int64",), "i": ("Int64",), "s": ("str",)}
Ask = Callable[[str, pd.DataFrame, list[int]], Any]


def pieces(frame: Any, cuts: list[int]) -> list[Any]:
    """Return the rows between cuts."""
    return [frame.iloc[a:b] for a, b in pairwise([0, *cuts, len(frame)])]


def on_dask(text: str, frame: Any, cuts: list[int]) -> Any:
    """Evaluate an expression of Dask: `f` is the collection, `t` one whose index are times."""
    parts = pieces(frame, cuts)
    whole = all(map(len, parts))
    f = _known(parts) if whole else partitioned_at(frame, cuts)
    by_time = [part.set_index("t") for part in parts if len(part)]
    t = _known(by_time) if by_time else None
    return eval(text, {"f": f, "t": t, "dd": dd}).compute()


def on_dask_cudf(text: str, frame: pd.DataFrame, cuts: list[int]) -> Any:
    """Evaluate an expression of Dask over frames of cuDF."""
    answer = on_dask(text, importlib.import_module("cudf").from_pandas(frame), cuts)
    return answer.to_pandas() if hasattr(answer, "to_pandas") else answer


def _known(parts: list[Any]) -> Any:
    """Return a collection of known divisions."""
    divisions = [*(part.index[0] for part in parts), parts[-1].index[-1]]
    return dd.from_map(_itself, parts, meta=parts[0].iloc[:0], divisions=divisions)


def _itself(part: Any) -> Any:
    return part


def on_pandas(text: str, frame: pd.DataFrame, cuts: list[int]) -> Any:
    """Evaluate an expression of pandas on each chunk `f`, which has the last few rows of those before: `before`."""
    given, _, before = text.partition(" # before: ")
    found, start = [], 0
    for part in pieces(frame, cuts):
        chunk = frame.iloc[max(start - int(before), 0) : start + len(part)]
        found.append(eval(given, {"f": chunk}).iloc[len(chunk) - len(part) :])
        start += len(part)
    return pd.concat(found)


def on_polars(text: str, frame: pd.DataFrame, cuts: list[int]) -> Any:
    """Evaluate an expression of polars: `f` is a lazy frame of chunks, which the streaming engine runs."""
    pl = importlib.import_module("polars")
    chunks = [pl.from_pandas(part) for part in pieces(frame, cuts)]
    f = pl.concat(chunks, rechunk=False).lazy()
    return eval(text, {"f": f, "pl": pl}).collect(engine="streaming").to_pandas()


def on_duckdb(text: str, frame: pd.DataFrame, cuts: list[int]) -> Any:
    """Run a query of DuckDB: `f` are files of Parquet, one for each piece that has rows."""
    duckdb = importlib.import_module("duckdb")
    with tempfile.TemporaryDirectory() as folder, duckdb.connect() as connection:
        for number, part in enumerate(pieces(frame, cuts)):
            if len(part):
                table = pa.Table.from_pandas(part.reset_index(names="row"), preserve_index=False)
                pq.write_table(table, Path(folder, f"{number:03}.parquet"))
        if not os.listdir(folder):
            return None
        connection.execute(f"CREATE VIEW f AS FROM '{folder}/*.parquet'")
        return connection.execute(text).df()


DASK = {
    "running sum of integers": "f['n'].cumsum()",
    "running sum of floats": "f['x'].cumsum()",
    "running product of floats": "f['x'].cumprod()",
    "running maximum": "f['x'].cummax()",
    "forward fill": "f['x'].ffill()",
    "forward fill, limit=1": "f['x'].ffill(limit=1)",
    "backward fill": "f['x'].bfill()",
    "shift": "f['x'].shift(1)",
    "shift by 3": "f['x'].shift(3)",
    "difference": "f['x'].diff()",
    "rolling sum": "f['x'].rolling(3).sum()",
    "rolling mean": "f['x'].rolling(3).mean()",
    "rolling variance": "f['x'].rolling(3).var()",
    "rolling maximum": "f['x'].rolling(3).max()",
    "rolling median": "f['x'].rolling(3).median()",
    "rolling sum by time": "t['x'].rolling('3h').sum()",
    "rolling maximum by time": "t['x'].rolling('3h').max()",
    "buckets of time, sum": "t['x'].resample('4h').sum()",
    "buckets of time, last": "t['x'].resample('4h').last()",
    "sum of groups, integers": "f.groupby('k')['n'].sum()",
    "sum of groups, floats": "f.groupby('k')['x'].sum()",
    "mean of groups": "f.groupby('k')['x'].mean()",
    "variance of groups": "f.groupby('k')['x'].var()",
    "maximum of groups": "f.groupby('k')['x'].max()",
    "first of groups": "f.groupby('k')['x'].first()",
    "last of groups": "f.groupby('k')['x'].last()",
    "median of groups": "f.groupby('k')['x'].median()",
    "distinct values of groups": "f.groupby('k')['x'].nunique()",
    "running sum of groups, integers": "f.groupby('k')['n'].cumsum()",
    "running sum of groups, floats": "f.groupby('k')['x'].cumsum()",
    "row number in groups": "f.groupby('k').cumcount()",
    "forward fill of groups": "f.groupby('k')['x'].ffill()",
    "shift of groups": "f.groupby('k')['x'].shift(1)",
    "sum": "f[['x']].sum()",
    "variance": "f[['x']].var()",
    "quantile": "f[['x']].quantile(0.5)",
    "duplicates, first kept": "f.drop_duplicates('k', keep='first')",
    "counts of values": "f['k'].value_counts()",
    "the 3 largest": "f.nlargest(3, 'n')",
    "sort by a column with ties": "f.sort_values('n')",
    "as-of join": "dd.merge_asof(t[['x']], t[['n']], left_index=True, right_index=True)",
}
"""Expressions of Dask, by what they compute."""

OURS = {
    "running sum of floats": "f['x'].gpuscan.cumsum()",
    "running sum of floats, reproducible": "f['x'].gpuscan.cumsum(reproducible=True)",
    "rolling sum, reproducible": "f['x'].gpuscan.rolling(3).sum(reproducible=True)",
    "rolling sum by time": "f[['t', 'x']].gpuscan.rolling('3h', on='t').sum()",
    "rolling maximum by time": "f[['t', 'x']].gpuscan.rolling('3h', on='t').max()",
    "buckets of time, sum": "f[['t', 'x']].gpuscan.resample('4h', on='t').sum()",
    "buckets of time, last": "f[['t', 'x']].gpuscan.resample('4h', on='t').last()",
    "sum of groups, floats, reproducible": "f.gpuscan.groupby('k')['x'].sum(reproducible=True)",
    "mean of groups, reproducible": "f.gpuscan.groupby('k')['x'].mean(reproducible=True)",
    "running sum of groups, floats, reproducible": "f.gpuscan.groupby('k')['x'].cumsum(reproducible=True)",
    "quantile": "f.assign(one=1).gpuscan.groupby('one')['x'].quantile(0.5)",
    "weighted mean so far": "f['x'].gpuscan.ewm(alpha=0.3).mean()",
    "as-of join": "__import__('dask_gpuscan').merge_asof(f[['t', 'x']], f[['t', 'n']], on='t')",
}


def _ours() -> dict[str, str]:
    """Return the expressions of Dask with our methods in the place of its own."""
    same_names = {
        what: re.sub(r"^(f|f\['\w'\])\.", r"\1.gpuscan.", text)
        for what, text in DASK.items()
        if what not in {"sum", "variance", *OURS} and text.startswith("f")
    }
    return same_names | OURS


PANDAS = {
    "rolling sum": "f['x'].rolling(3).sum() # before: 2",
    "rolling mean": "f['x'].rolling(3).mean() # before: 2",
    "rolling variance": "f['x'].rolling(3).var() # before: 2",
    "rolling maximum": "f['x'].rolling(3).max() # before: 2",
    "rolling median": "f['x'].rolling(3).median() # before: 2",
    "difference": "f['x'].diff() # before: 1",
    "shift": "f['x'].shift(1) # before: 1",
}

_X = "pl.col('x')"
POLARS = {
    "running sum of integers": "f.select(pl.col('n').cum_sum())",
    "running sum of floats": f"f.select({_X}.cum_sum())",
    "running product of floats": f"f.select({_X}.cum_prod())",
    "running maximum": f"f.select({_X}.cum_max())",
    "forward fill": f"f.select({_X}.fill_nan(None).forward_fill())",
    "forward fill, limit=1": f"f.select({_X}.fill_nan(None).forward_fill(1))",
    "backward fill": f"f.select({_X}.fill_nan(None).backward_fill())",
    "shift": f"f.select({_X}.shift(1))",
    "shift by 3": f"f.select({_X}.shift(3))",
    "difference": f"f.select({_X}.diff())",
    "rolling sum": f"f.select({_X}.rolling_sum(3))",
    "rolling mean": f"f.select({_X}.rolling_mean(3))",
    "rolling variance": f"f.select({_X}.rolling_var(3))",
    "rolling maximum": f"f.select({_X}.rolling_max(3))",
    "rolling median": f"f.select({_X}.rolling_median(3))",
    "rolling sum by time": f"f.rolling('t', period='3h').agg({_X}.sum())",
    "rolling maximum by time": f"f.rolling('t', period='3h').agg({_X}.max())",
    "weighted mean so far": f"f.select({_X}.ewm_mean(alpha=0.3))",
    "buckets of time, sum": f"f.group_by_dynamic('t', every='4h').agg({_X}.sum())",
    "buckets of time, last": f"f.group_by_dynamic('t', every='4h').agg({_X}.last())",
    "sum of groups, integers": "f.group_by('k').agg(pl.col('n').sum()).sort('k')",
    "sum of groups, floats": f"f.group_by('k').agg({_X}.sum()).sort('k')",
    "mean of groups": f"f.group_by('k').agg({_X}.mean()).sort('k')",
    "variance of groups": f"f.group_by('k').agg({_X}.var()).sort('k')",
    "maximum of groups": f"f.group_by('k').agg({_X}.max()).sort('k')",
    "first of groups": f"f.group_by('k').agg({_X}.first()).sort('k')",
    "last of groups": f"f.group_by('k').agg({_X}.last()).sort('k')",
    "median of groups": f"f.group_by('k').agg({_X}.median()).sort('k')",
    "distinct values of groups": f"f.group_by('k').agg({_X}.n_unique()).sort('k')",
    "running sum of groups, integers": "f.select(pl.col('n').cum_sum().over('k'))",
    "running sum of groups, floats": f"f.select({_X}.cum_sum().over('k'))",
    "row number in groups": "f.select(pl.int_range(pl.len()).over('k'))",
    "forward fill of groups": f"f.select({_X}.fill_nan(None).forward_fill().over('k'))",
    "shift of groups": f"f.select({_X}.shift(1).over('k'))",
    "sum": f"f.select({_X}.sum())",
    "variance": f"f.select({_X}.var())",
    "quantile": f"f.select({_X}.quantile(0.5))",
    "duplicates, first kept": "f.unique('k', keep='first', maintain_order=True)",
    "counts of values": "f.group_by('k').len()",
    "the 3 largest": "f.top_k(3, by='n')",
    "sort by a column with ties": "f.sort('n', maintain_order=True)",
    "as-of join": "f.select('t', 'x').join_asof(f.select('t', 'n'), on='t')",
}


def _over(what: str, window: str = "ORDER BY row") -> str:
    return f"SELECT row, {what} OVER ({window}) AS y FROM f ORDER BY row"


def _by(what: str) -> str:
    return f"SELECT k, {what} AS y FROM f GROUP BY k ORDER BY k"


_ROWS = "ORDER BY row ROWS 2 PRECEDING"
_TIMES = "ORDER BY t RANGE INTERVAL 3 HOURS PRECEDING"
DUCKDB = {
    "running sum of integers": _over("sum(n)"),
    "running sum of floats": _over("sum(x)"),
    "running product of floats": _over("product(x)"),
    "running maximum": _over("max(x)"),
    "forward fill": _over("last_value(nullif(x, 'nan') IGNORE NULLS)"),
    "shift": _over("lag(x)"),
    "shift by 3": _over("lag(x, 3)"),
    "difference": "SELECT row, x - lag(x) OVER (ORDER BY row) AS y FROM f ORDER BY row",
    "rolling sum": _over("sum(x)", _ROWS),
    "rolling mean": _over("avg(x)", _ROWS),
    "rolling variance": _over("var_samp(x)", _ROWS),
    "rolling maximum": _over("max(x)", _ROWS),
    "rolling median": _over("median(x)", _ROWS),
    "rolling sum by time": _over("sum(x)", _TIMES),
    "rolling maximum by time": _over("max(x)", _TIMES),
    "sum of groups, integers": _by("sum(n)"),
    "sum of groups, floats": _by("sum(x)"),
    "mean of groups": _by("avg(x)"),
    "variance of groups": _by("var_samp(x)"),
    "maximum of groups": _by("max(x)"),
    "first of groups": _by("first(x ORDER BY row)"),
    "last of groups": _by("last(x ORDER BY row)"),
    "median of groups": _by("median(x)"),
    "distinct values of groups": _by("count(DISTINCT x)"),
    "running sum of groups, integers": _over("sum(n)", "PARTITION BY k ORDER BY row"),
    "running sum of groups, floats": _over("sum(x)", "PARTITION BY k ORDER BY row"),
    "row number in groups": _over("row_number()", "PARTITION BY k ORDER BY row"),
    "shift of groups": _over("lag(x)", "PARTITION BY k ORDER BY row"),
    "sum": "SELECT sum(x) AS y FROM f",
    "variance": "SELECT var_samp(x) AS y FROM f",
    "quantile": "SELECT quantile_cont(x, 0.5) AS y FROM f",
    "counts of values": _by("count(*)"),
    "as-of join": "SELECT a.t, a.x, b.n FROM f a ASOF LEFT JOIN f b ON a.t >= b.t ORDER BY a.t",
}

LIBRARIES: Mapping[str, tuple[str, Ask, Mapping[str, str]]] = {
    "dask-gpuscan": ("dask_gpuscan", on_dask, _ours()),
    "Dask": ("dask", on_dask, DASK),
    "dask-cudf": ("dask_cudf", on_dask_cudf, DASK),
    "pandas, in chunks": ("pandas", on_pandas, PANDAS),
    "polars, streaming": ("polars", on_polars, POLARS),
    "DuckDB": ("duckdb", on_duckdb, DUCKDB),
}
"""Name of the module, what evaluates an expression, and expressions."""

KINDS = ("same bits", "other order", "rounding", "raises", "other answers")
"""How answers for two cuts compare, from the best to the worst; "refused" if there is none for either."""


@st.composite
def cases(draw: Any, empty: bool, times: int) -> tuple[pd.DataFrame, list[list[int]]]:
    """Draw a frame under a default index, whose times differ, and two cuts; its rows are repeated."""
    once = draw(rows(TAME, TYPES))
    frame = pd.concat([once] * times, ignore_index=True)
    hours = np.arange(len(frame)) + np.arange(len(frame)) // max(len(once), 1) * 5 * len(once)
    frame["t"] += pd.to_timedelta(hours, unit="h")
    cuts = [[c * times for c in draw(drawn.cuts(len(once)))] for _ in range(2)]
    if not empty:
        cuts = [sorted({c for c in each if 0 < c < len(frame)}) for each in cuts]
    return frame, cuts


def kind(ask: Ask, text: str, frame: pd.DataFrame, cuts: list[list[int]]) -> str:
    """Return how the answers for two cuts compare."""
    found = []
    for each in cuts:
        with warnings.catch_warnings(), np.errstate(all="ignore"):
            warnings.simplefilter("ignore")
            try:
                found.append(ask(text, frame, each))
            except Exception as error:
                found.append(error)
    one, two = found
    if isinstance(one, Exception) or isinstance(two, Exception):
        return "refused" if isinstance(one, Exception) and isinstance(two, Exception) else "raises"
    if held(one) == held(two):
        return "same bits"
    one, two = map(_in_order, found)
    if held(one) == held(two):
        return "other order"
    try:
        same(one, two)
    except (AssertionError, AttributeError, TypeError):
        return "other answers"
    return "rounding"


def _in_order(answer: Any) -> Any:
    """Return the rows of an answer in an order of their own."""
    if getattr(answer, "ndim", 0) == 0:
        return answer
    answer = answer.sort_index(kind="stable")
    return answer if answer.ndim == 1 else answer.sort_values(list(answer.columns), kind="stable")


def measured(
    library: str, what: str, number: int, count: int, times: int
) -> tuple[Counter[str], str]:
    """Return how often which kind was found, and the smallest case of the worst."""
    _, ask, texts = LIBRARIES[library]
    found: Counter[str] = Counter()
    some = settings(QUIETLY, max_examples=max(count // 2, 1), phases=(Phase.generate,))
    for empty in (False, True):

        def measure(case: Any) -> None:
            found[kind(ask, texts[what], *case)] += 1

        seed(number)(some(given(cases(empty, times))(measure)))()
    bad = next((k for k in reversed(KINDS[1:]) if k in found), None)
    if bad is None or times > 1:
        return found, ""
    either = cases(False, 1) | cases(True, 1)
    frame, cuts = find(
        either,
        lambda case: kind(ask, texts[what], *case) == bad,
        settings=settings(QUIETLY, max_examples=10 * count),
        random=Random(number),
    )
    used = [name for name in frame if f"'{name}'" in texts[what] or f"({name}" in texts[what]]
    shown = drawn.shown(frame[used or list(frame)])
    answers = []
    for each in cuts:
        try:
            answers.append(f"{ask(texts[what], frame, each)}")
        except Exception as error:
            answers.append(f"{type(error).__name__}: {str(error)[:300]}")
    return (
        found,
        f"{bad}: f = {shown}; {texts[what]}\ncut at {cuts[0]}:\n{answers[0]}\ncut at {cuts[1]}:\n{answers[1]}",
    )


def main(arguments: list[str]) -> int:
    """Print what was measured."""
    parser = argparse.ArgumentParser(prog="python -m fuzz.others")
    parser.add_argument("libraries", nargs="*", metavar="LIBRARY", help=", ".join(LIBRARIES))
    parser.add_argument("--cases", type=int, default=200, help="of each method")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--times", type=int, default=1, help="that the rows are repeated")
    parser.add_argument("--methods", default="", help="only those whose names have this in them")
    told = parser.parse_args(arguments)
    dask.config.set({"scheduler": "synchronous", "dataframe.convert-string": False})
    for library in told.libraries or LIBRARIES:
        module, _, texts = LIBRARIES[library]
        try:
            version = importlib.import_module(module).__version__
        except ImportError:
            print(f"{library}: not installed")
            continue
        print(
            f"\n{library} {version}: --cases {told.cases} --seed {told.seed} --times {told.times}"
        )
        for what in filter(lambda name: told.methods in name, texts):
            found, smallest = measured(library, what, told.seed, told.cases, told.times)
            counts = ", ".join(f"{k} {n}" for k, n in found.most_common())
            print(f"{what}: {counts}", flush=True)
            if smallest:
                print("   " + smallest.replace("\n", "\n   "), flush=True)
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
