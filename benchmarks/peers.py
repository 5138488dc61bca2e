"""The map: one usual call of each method over sizes and cores, against pandas, polars and DuckDB, or on a GPU cuDF.

    python benchmarks/peers.py                       # on all cores of this process; about ten minutes on two
    python benchmarks/peers.py --cores 1             # on fewer
    python benchmarks/peers.py --gpu                 # cuDF frames
    python benchmarks/peers.py --rows 1000 --only "group sum"
    python benchmarks/peers.py --page                # write docs/map.md from the results

A cell is the least ratio of the peers: the time of the fastest of them over ours. pandas and DuckDB, if it is
installed, are measured up to a million rows. Answers are compared, and calls take turns. The floor, which is no peer,
is the time that pandas needs to make the answer from finished arrays.
"""

from __future__ import annotations

import argparse
import gc
import json
import os
import sys
import time
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import duckdb_calls
import numpy as np
import pandas as pd
import pyarrow as pa
from timing import ROOT, Bench, calls_of_round, commit, versions

import dask_gpuscan

RESULTS = ROOT / "benchmarks" / "results"
PAGE = ROOT / "docs" / "map.md"
ROWS = (10**3, 10**4, 10**5, 10**6, 2 * 10**7)
GPU_ROWS = (10**3, 1 << 16, 1 << 20, 1 << 24, 1 << 27)
FOR_PANDAS = 10**6
FOR_DUCKDB = 10**6
KEYS = {"10": 10, "10^3": 10**3, "10^6": 10**6}
TEXTS = ("10^3", "10^6")

Call = Callable[[Any], Any]
Calls = tuple[Call, Call | None, Callable[[Any, Any], Any] | None]
"""Our call of a frame, the same call of pandas or cuDF, and that of a polars frame, which also takes `polars`."""


COLUMN: dict[str, Calls] = {  # `x` are floats, `y` has gaps, `c` has runs, `t` are times
    "cumsum": (
        lambda d: d["x"].gpuscan.cumsum(),
        lambda d: d["x"].cumsum(),
        lambda p, pl: p.select(pl.col("x").cum_sum()),
    ),
    "cummax": (
        lambda d: d["x"].gpuscan.cummax(),
        lambda d: d["x"].cummax(),
        lambda p, pl: p.select(pl.col("x").cum_max()),
    ),
    "ffill": (
        lambda d: d["y"].gpuscan.ffill(),
        lambda d: d["y"].ffill(),
        lambda p, pl: p.select(pl.col("y").forward_fill()),
    ),
    "bfill": (
        lambda d: d["y"].gpuscan.bfill(),
        lambda d: d["y"].bfill(),
        lambda p, pl: p.select(pl.col("y").backward_fill()),
    ),
    "interpolate": (
        lambda d: d["y"].gpuscan.interpolate(),
        lambda d: d["y"].interpolate(),
        None,
    ),
    "shift": (
        lambda d: d["x"].gpuscan.shift(7),
        lambda d: d["x"].shift(7),
        lambda p, pl: p.select(pl.col("x").shift(7)).to_numpy(),
    ),
    "diff": (
        lambda d: d["x"].gpuscan.diff(),
        lambda d: d["x"].diff(),
        lambda p, pl: p.select(pl.col("x").diff()),
    ),
    "ewm.mean": (
        lambda d: d["x"].gpuscan.ewm(span=20).mean(),
        lambda d: d["x"].ewm(span=20).mean(),
        lambda p, pl: p.select(pl.col("x").ewm_mean(span=20)),
    ),
    "expanding.mean": (
        lambda d: d["x"].gpuscan.expanding().mean(),
        lambda d: d["x"].expanding().mean(),
        None,
    ),
    "rolling(100).sum": (
        lambda d: d["x"].gpuscan.rolling(100).sum(),
        lambda d: d["x"].rolling(100).sum(),
        lambda p, pl: p.select(pl.col("x").rolling_sum(100)),
    ),
    "rolling(100).std": (
        lambda d: d["x"].gpuscan.rolling(100).std(),
        lambda d: d["x"].rolling(100).std(),
        lambda p, pl: p.select(pl.col("x").rolling_std(100)),
    ),
    "rolling(100).max": (
        lambda d: d["x"].gpuscan.rolling(100).max(),
        lambda d: d["x"].rolling(100).max(),
        lambda p, pl: p.select(pl.col("x").rolling_max(100)),
    ),
    "rolling(100).median": (
        lambda d: d["x"].gpuscan.rolling(100).median(),
        lambda d: d["x"].rolling(100).median(),
        lambda p, pl: p.select(pl.col("x").rolling_median(100)),
    ),
    'rolling("60s").mean': (
        lambda d: d.gpuscan.rolling("60s", on="t")["x"].mean(),
        lambda d: d.rolling("60s", on="t")["x"].mean(),
        lambda p, pl: p.select(pl.col("x").rolling_mean_by("t", window_size="60s")),
    ),
    "filter": (
        lambda d: d.gpuscan.filter("x > 0")["x"],
        lambda d: d[d["x"] > 0]["x"],
        lambda p, pl: p.filter(pl.col("x") > 0).select("x"),
    ),
    "rle": (
        lambda d: d["c"].gpuscan.rle()["run_length"],
        None,
        lambda p, pl: p.select(pl.col("c").rle()).unnest("c").select("len"),
    ),
    "sort_values, one key": (
        lambda d: d.gpuscan.sort_values("k")["x"],
        lambda d: d.sort_values("k", kind="stable")["x"],
        lambda p, pl: p.sort("k", maintain_order=True).select("x"),
    ),
    "sort_values, two keys": (
        lambda d: d.gpuscan.sort_values(["g", "x"])["x"],
        lambda d: d.sort_values(["g", "x"], kind="stable")["x"],
        lambda p, pl: p.sort(["g", "x"], maintain_order=True).select("x"),
    ),
    "sort_values, texts": (
        lambda d: d.gpuscan.sort_values("w10^3")["x"],
        lambda d: d.sort_values("w10^3", kind="stable")["x"],
        lambda p, pl: p.sort("w10^3", maintain_order=True).select("x"),
    ),
    "sort_values of a Series": (
        lambda d: d["x"].gpuscan.sort_values(),
        lambda d: d["x"].sort_values(),
        lambda p, pl: p.select(pl.col("x").sort()),
    ),
    "rank": (
        lambda d: d["x"].gpuscan.rank(),
        lambda d: d["x"].rank(),
        lambda p, pl: p.select(pl.col("x").rank()),
    ),
    "nlargest(100)": (
        lambda d: d.gpuscan.nlargest(100, "x")["x"],
        lambda d: d.nlargest(100, "x")["x"],
        lambda p, pl: p.top_k(100, by="x").select("x"),
    ),
    "drop_duplicates": (
        lambda d: d["k"].gpuscan.drop_duplicates(),
        lambda d: d["k"].drop_duplicates(),
        lambda p, pl: p.select("k").unique(maintain_order=True),
    ),
    "value_counts": (
        lambda d: d["k"].gpuscan.value_counts(),
        lambda d: d["k"].value_counts(),
        lambda p, pl: p["k"].value_counts(sort=True).select("count"),
    ),
    "merge_asof": (
        lambda d: dask_gpuscan.merge_asof(*d, on="t")["v"],
        lambda d: _library(d[0]).merge_asof(*d, on="t")["v"],
        lambda p, pl: p[0].join_asof(p[1], on="t").select("v"),
    ),
    'resample("1h").sum': (
        lambda d: d.gpuscan.resample("1h", on="t")["x"].sum(),
        lambda d: d.resample("1h", on="t")["x"].sum(),
        None,
    ),
}


def _by(name: str, key: str, polars: Callable[[Any], Any] | None, whole: bool = True) -> Calls:
    """Return the calls of one method of groups by a key; `whole` reduces, else each row has an answer."""

    def theirs(p: Any, pl: Any) -> Any:
        assert polars is not None
        if not whole:
            return p.select(polars(pl.col("y" if name == "ffill" else "x")).over(key))
        return p.group_by(key).agg(polars(pl.col("x"))).sort(key).select("x")

    column = "y" if name == "ffill" else "x"
    clustered = {"clustered": True} if key.startswith("s") else {}
    return (
        lambda d: getattr(d.gpuscan.groupby(key, **clustered)[column], name)(),
        lambda d: getattr(d.groupby(key, sort=True)[column], name)(),
        None if polars is None else theirs,
    )


GROUPS: dict[str, tuple[Callable[[Any], Any] | None, bool]] = {
    "sum": (lambda c: c.sum(), True),
    "mean": (lambda c: c.mean(), True),
    "std": (lambda c: c.std(), True),
    "max": (lambda c: c.max(), True),
    "median": (lambda c: c.median(), True),
    "nunique": (lambda c: c.n_unique(), True),
    "cumsum": (lambda c: c.cum_sum(), False),
    "ffill": (lambda c: c.forward_fill(), False),
    "shift": (lambda c: c.shift(), False),
    "rank": (lambda c: c.rank(), False),
}

OF_TEXTS = ("sum", "cumsum")
"""The methods of groups that are also measured with strings as keys."""


def calls() -> dict[str, Calls]:
    """All calls, by name."""
    found = dict(COLUMN)
    for method, (polars, whole) in GROUPS.items():
        for title in KEYS:
            found[f"group {method}, {title} keys"] = _by(method, f"k{title}", polars, whole)
        for title in TEXTS if method in OF_TEXTS else ():
            found[f"group {method}, {title} texts"] = _by(method, f"w{title}", polars, whole)
        found[f"clustered {method}, 10^3 keys"] = _by(method, "s10^3", polars, whole)
    return found


def _library(frame: Any) -> Any:
    return sys.modules[type(frame).__module__.partition(".")[0]]


def sides(frame: Any) -> tuple[Any, Any]:
    """Return both sides of an as-of join: times and a column, and every third row with another column, `v`."""
    if hasattr(frame, "gather_every"):
        return frame.select("t", "x"), frame.select("t", v="y").gather_every(3)
    third = frame[["t", "y"]].iloc[::3].rename(columns={"y": "v"}).reset_index(drop=True)
    return frame[["t", "x"]], third


def make(rows: int) -> pd.DataFrame:
    """Return random rows: floats with and without gaps, keys in any order and sorted, runs of 500, and times."""
    rng = np.random.default_rng(rows)
    x = rng.standard_normal(rows)
    steps = np.cumsum(rng.integers(1, 2000, rows))  # polars counts rows of equal times differently
    columns: dict[str, Any] = {
        "x": x,
        "y": np.where(rng.random(rows) < 0.1, np.nan, x),
        "k": rng.integers(0, 10**6, rows).astype("i4"),
        "g": rng.integers(0, 10**3, rows).astype("i4"),
        "c": np.sort(rng.integers(0, rows // 500 + 1, rows)).astype("i4"),
        "t": pd.Timestamp("2024-01-01") + pd.to_timedelta(steps, unit="ms"),
    }
    for title, count in KEYS.items():
        columns[f"k{title}"] = rng.integers(0, count, rows)
    columns["s10^3"] = np.sort(rng.integers(0, 10**3, rows))
    return pd.DataFrame(columns)


def make_texts(rows: int) -> pd.DataFrame:
    """Return random rows: floats, and keys of 16 bytes in any order."""
    rng = np.random.default_rng(rows)
    columns: dict[str, Any] = {"x": rng.standard_normal(rows)}
    for title in TEXTS:
        names = pa.array([f"customer {i:07d}" for i in range(KEYS[title])])
        texts = names.take(pa.array(rng.integers(0, KEYS[title], rows)))
        columns[f"w{title}"] = pd.Series(texts, dtype=pd.StringDtype("pyarrow", np.nan))
    return pd.DataFrame(columns)


def numbers(answer: Any) -> np.ndarray:
    """Return the values of an answer as floats; nulls are NaN."""
    if hasattr(answer, "to_pandas") and not isinstance(answer, pd.Series):
        answer = answer.to_pandas()
    if isinstance(answer, pd.DataFrame):
        answer = answer.iloc[:, 0]
    found = pd.Series(np.asarray(answer).ravel()) if isinstance(answer, np.ndarray) else answer
    return found.to_numpy(dtype=np.float64, na_value=np.nan)


def check(ours: Any, theirs: Any) -> None:
    """Raise unless two answers have the same values, up to rounding."""
    np.testing.assert_allclose(numbers(ours), numbers(theirs), rtol=1e-6, atol=1e-6)


def floor(answer: Any) -> Callable[[], Any]:
    """Return a function that makes an answer from finished arrays: the part that pandas takes."""
    if isinstance(answer, pd.Series):
        values, index, name = answer.array, answer.index, answer.name
        return lambda: pd.Series(values, index, name=name, copy=False)
    if isinstance(answer, pd.DataFrame):
        columns = {name: answer[name].array for name in answer}
        return lambda index=answer.index: pd.DataFrame(columns, index, copy=False)
    return lambda: answer


def run(bench: Bench, n: int, cores: int) -> None:
    """Time all calls on pandas frames of `n` rows."""
    import polars as pl

    frames: dict[str, Any] = {"f": make(n), "w": make_texts(n)}
    polar_frames: dict[str, Any] = {
        key: pl.from_pandas(f, nan_to_null=True) for key, f in frames.items()
    }
    tables = {key: p.to_arrow() for key, p in polar_frames.items()}
    polar_frames["sides"] = sides(polar_frames["f"])
    sql = duckdb_calls.connect(tables | {"third": polar_frames["sides"][1].to_arrow()}, cores)
    frames["sides"] = sides(frames["f"])
    for name, (ours, pandas, polars) in calls().items():
        key = "sides" if name == "merge_asof" else "w" if name.endswith("texts") else "f"
        frame, polar = frames[key], polar_frames[key]
        peers: dict[str, Any] = {}
        if pandas is not None and n <= FOR_PANDAS:
            peers["pandas"] = partial(pandas, frame)
        if polars is not None:
            peers["polars"] = partial(polars, polar, pl)
        query = duckdb_calls.query(name)
        if sql is not None and query is not None and n <= FOR_DUCKDB:
            peers["duckdb"] = sql(query)
        if peers:
            if bench.wanted(name):
                peers["floor"] = floor(ours(frame))
            _compare(bench, name, partial(ours, frame), peers, n, cores=cores)


def run_gpu(bench: Bench, n: int) -> None:
    """Time all calls on cuDF frames of `n` rows."""
    import cudf

    frames = {False: cudf.DataFrame(make(n)), True: cudf.DataFrame(make_texts(n))}
    for name, (ours, theirs, _) in calls().items():
        if theirs is not None and name not in ("interpolate", "merge_asof"):
            frame = frames[name.endswith("texts")]
            _compare(bench, name, partial(ours, frame), {"cudf": partial(theirs, frame)}, n)


def _compare(
    bench: Bench, name: str, ours: Any, peers: dict[str, Any], n: int, **extra: Any
) -> None:
    def settled(work: Any) -> Any:
        answer = work()
        bench.settle()
        return answer

    works = {peer: partial(settled, work) for peer, work in {"ours": ours, **peers}.items()}
    try:
        often = _often(works["ours"]) if bench.wanted(name) else 1
        bench.compare(
            name, works.pop("ours"), works, dtype="float64", n=n, check=check, calls=often,
            rounds=3, **extra,
        )  # fmt: skip
    except Exception as error:  # go on if a peer raises an error
        print(f"{name}, {n} rows: {type(error).__name__}: {str(error)[:200]}", flush=True)


def _often(call: Callable[[], Any]) -> int:
    """Return the number of calls of a round."""
    call()
    start = time.perf_counter()
    call()
    return calls_of_round(time.perf_counter() - start)


# --- the page ---------------------------------------------------------------------------------------

MACHINES = {
    "cpu": "Two cores",
    "cpu16": "16 cores",
    "h200": "One H200, against cuDF",
}


HEAD = """# The map: every method, every size

How many times as long as dask-gpuscan the fastest peer takes for the same call: pandas and DuckDB (up to a million
rows) and polars on CPUs, cuDF on a GPU. **Bold** is where a peer is faster; behind it, if measured, is how many times
as long our call takes as pandas needs to make the answer of finished arrays. `python benchmarks/peers.py` measures it:
calls take turns in one process, answers are compared, and a cell is a ratio of medians. A turn is 20 ms of calls, or
one that takes longer; those of 10⁶ rows on 16 cores are older, of one call a turn, which finds cold caches.
Ratios of short calls move by a tenth from run to run. Keys are integers but for `texts`, which are strings of 16 bytes.

## Where a peer is faster, and why

- **A thousand rows.** Kernels take a few microseconds of a call. The rest is Python before and behind them: arguments,
  a plan that is kept, pandas' object with the labels of the answer. `make routes` prints how many functions that are.
- **Strings.** They are Arrow's, with offsets; each comparison reads the bytes of both. polars compares the first four
  bytes without that.
- **100,000 rows on 16 cores.** NumPy sorts the words of a key on one thread. Pieces that threads sort and merge were a
  tenth faster at best (`benchmarks/results/tuning-notes.md`), as threads of Python wait for each other to begin.
- **About as many groups as rows.** Numbers of rows, states, answers and labels are arrays, each of which is written and
  read again.
"""


def page() -> str:
    """Return docs/map.md: the least ratio of the peers for each call and size, bold if it is below one."""
    parts = [HEAD]
    for machine, title in MACHINES.items():
        path = RESULTS / machine / "peers.json"
        if not path.exists():
            continue
        records = json.loads(path.read_text())
        sizes = sorted({r["n"] for r in records})
        cells: dict[str, dict[int, float]] = {}
        floors: dict[tuple[str, int], float] = {}
        for r in records:
            if r["peer"] == "floor":
                floors[r["name"], r["n"]] = r["times_floor"]
                continue
            row = cells.setdefault(r["name"], {})
            row[r["n"]] = min(r["ratio"], row.get(r["n"], np.inf))
        commits = list(dict.fromkeys(r["commit"][:7] for r in records))
        parts.append(f"## {title}\n")
        of = f"commit{'s' * (len(commits) > 1)} {', '.join(commits)}"
        parts.append(f"{records[0]['machine']}, {of}.\n")
        parts.append("| call | " + " | ".join(f"{n:,} rows" for n in sizes) + " |")
        parts.append("| --- |" + " ---: |" * len(sizes))
        for name, row in cells.items():
            shown = [_cell(row.get(n), floors.get((name, n))) for n in sizes]
            parts.append(f"| {name} | " + " | ".join(shown) + " |")
        below = sum(ratio < 1 for row in cells.values() for ratio in row.values())
        every = sum(len(row) for row in cells.values())
        parts.append(f"\n{every - below} of {every} cells are at least 1.\n")
    return "\n".join(parts)


def _cell(ratio: float | None, floor: float | None) -> str:
    if ratio is None:
        return ""
    text = f"{ratio:.2f}" if ratio < 10 else f"{ratio:.0f}"
    if ratio >= 1:
        return text
    return f"**{text}**" if floor is None else f"**{text}** ({floor:.1f})"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--cores", type=int)
    parser.add_argument("--gpu", action="store_true")
    parser.add_argument("--rows", type=int, nargs="+")
    parser.add_argument("--only", default="")
    parser.add_argument("--output", type=Path)
    parser.add_argument("--page", action="store_true")
    given = parser.parse_args()
    if given.page:
        PAGE.write_text(page(), encoding="utf-8")
        return
    gc.collect()
    gc.freeze()  # otherwise each round's collection visits what was imported
    if given.gpu:
        import timing_gpu

        timing_gpu.use_pool()
        context = {"machine": timing_gpu.machine(1), "commit": commit()}
        context["versions"] = versions(timing_gpu.PACKAGES)
        bench = Bench(only=given.only, context=context, settle=timing_gpu.settle)
        rows, work, name = GPU_ROWS, run_gpu, "h200"
    else:
        if given.cores and hasattr(os, "sched_setaffinity"):
            os.sched_setaffinity(0, sorted(os.sched_getaffinity(0))[: given.cores])
        known = (
            os.sched_getaffinity(0)
            if hasattr(os, "sched_getaffinity")
            else range(os.cpu_count() or 1)
        )
        cores = len(known)
        os.environ.setdefault("POLARS_MAX_THREADS", str(cores))
        bench = Bench(only=given.only)
        rows, work = ROWS, partial(run, cores=cores)
        name = "cpu" if cores < 16 else f"cpu{cores}"
    for n in given.rows or rows:
        work(bench, n)
        bench.save(given.output or RESULTS / name / "peers.json")


if __name__ == "__main__":
    main()
