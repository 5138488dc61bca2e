"""The microseconds of calls of few rows, for a frame and for a Dask partition, compared with other checkouts.

    python benchmarks/small_calls.py                        # this checkout
    git worktree add /tmp/before COMMIT
    python benchmarks/small_calls.py /tmp/before            # both, in turns

The figure of a frame of 1,000 rows is the least time of many calls in all rounds. Other figures are processor time.
That of a partition is the least time of several computations of 50 partitions of 1,000 rows in one thread, over 50; "as
it is" is a partition that is passed on unchanged.
"""

import json
import os
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parent.parent
ROUNDS, PARTITIONS = 8, 50

CALLS: dict[str, Callable[[Any], Any]] = {
    "cumsum": lambda f: f.gpuscan.cumsum(),
    "shift": lambda f: f.gpuscan.shift(1),
    "ewm.mean": lambda f: f.gpuscan.ewm(span=5).mean(),
    "rolling.sum": lambda f: f.gpuscan.rolling(100).sum(),
    "groupby.sum": lambda f: f.gpuscan.groupby("k").sum(),
    "groupby.cumsum": lambda f: f.gpuscan.groupby("k").cumsum(),
    "filter": lambda f: f.gpuscan.filter("x > 0.5"),
    "rle": lambda f: f["k"].gpuscan.rle(),
    "sort_values": lambda f: f.gpuscan.sort_values("x"),
}
OF_FRAMES: dict[str, Callable[[Any], Any]] = {  # of a frame that has times, too
    "rolling of 60 s": lambda f: f.gpuscan.rolling("60s", on="t")["x"].mean(),
    "resample": lambda f: f.gpuscan.resample("1h", on="t")["x"].sum(),
    "merge_asof": lambda f: sys.modules["dask_gpuscan"].merge_asof(f, f, on="t"),
    "groupby.std": lambda f: f.gpuscan.groupby("k")["x"].std(),
    "groupby.median": lambda f: f.gpuscan.groupby("k")["x"].median(),
    "groupby.nunique": lambda f: f.gpuscan.groupby("k")["x"].nunique(),
    "groupby.head": lambda f: f.gpuscan.groupby("k").head(2),
    "groupby.transform": lambda f: f.gpuscan.groupby("k")["x"].transform("sum"),
    "groupby.sum of texts": lambda f: f.gpuscan.groupby("s")["x"].sum(),
    "sort_values of a series": lambda f: f["x"].gpuscan.sort_values(),
    "sort_values of texts": lambda f: f.gpuscan.sort_values("s"),
    "value_counts": lambda f: f["n"].gpuscan.value_counts(),
    "drop_duplicates": lambda f: f["n"].gpuscan.drop_duplicates(),
}
OF_TABLES = "cumsum", "groupby.cumsum", "rolling.sum"


def least(call: Callable[[], Any], often: int, clock: Callable[[], float]) -> float:
    """Return the least microseconds of a call, after two calls that fill caches."""
    times = []
    for _ in range(often + 2):
        start = clock()
        call()
        times.append(clock() - start)
    return round(1e6 * min(times[2:]), 1)


def measure() -> None:
    """Print the figures of the checkout that is imported."""
    import dask
    import dask.dataframe as dd
    import numpy as np
    import pandas as pd
    import polars as pl

    import dask_gpuscan

    assert Path(os.environ["CHECKOUT"]) in Path(dask_gpuscan.__file__).parents
    rng = np.random.default_rng(7)

    def frame(rows: int) -> pd.DataFrame:
        return pd.DataFrame({"k": rng.integers(0, 9, rows), "x": rng.random(rows)})

    found, few, many = {}, frame(1_000), frame(1_000_000)
    table = pl.DataFrame({name: few[name].to_numpy() for name in few})
    ddf = dd.from_pandas(frame(1_000 * PARTITIONS), npartitions=PARTITIONS)
    ddf = ddf.persist(scheduler="synchronous")
    for name, call in CALLS.items():
        found[f"pandas, {name}"] = least(lambda call=call: call(few), 300, time.perf_counter)
    wide = few.assign(
        t=pd.Timestamp("2024") + pd.to_timedelta(np.cumsum(rng.integers(1, 2_000, len(few))), "ms"),
        n=rng.integers(0, 10**6, len(few)),
        s=pd.Series([f"customer {i:07d}" for i in rng.integers(0, 1_000, len(few))], dtype="str"),
    )
    for name, call in OF_FRAMES.items():
        found[f"pandas, {name}"] = least(lambda call=call: call(wide), 300, time.perf_counter)
    for name in OF_TABLES:
        call = CALLS[name]
        found[f"polars, {name}"] = least(lambda call=call: call(table), 200, time.perf_counter)
    with dask.config.set(scheduler="synchronous"):
        handed = {"as it is": lambda ddf: ddf.map_partitions(_same, meta=ddf)}
        for name, call in {**handed, **CALLS}.items():
            took = least(lambda call=call: dask.compute(call(ddf)), 8, time.process_time)
            found[f"a partition, {name}"] = round(took / PARTITIONS, 1)
    for name, call in CALLS.items():
        found[f"10^6 rows, {name}"] = least(lambda call=call: call(many), 12, time.process_time)
    print(json.dumps(found))


def _same(partition: Any) -> Any:
    return partition


def main() -> None:
    """Measure checkouts in turns, and print the least of each figure."""
    trees = [ROOT, *(Path(tree).resolve() for tree in sys.argv[1:])]
    best: list[dict[str, float]] = [{} for _ in trees]
    for _ in range(ROUNDS):
        for tree, known in zip(trees, best, strict=True):
            environment = {**os.environ, "PYTHONPATH": str(tree), "CHECKOUT": str(tree)}
            command = [sys.executable, __file__, "--measure"]
            out = subprocess.run(
                command, env=environment, cwd=tree, check=True, capture_output=True
            ).stdout
            for name, took in json.loads(out.splitlines()[-1]).items():
                known[name] = min(took, known.get(name, took))
    for name in best[0]:
        took = [known[name] for known in best]
        print(f"{name:30}", *(f"{one:10.1f}" for one in took), f"{took[-1] / took[0]:8.2f}")


if __name__ == "__main__":
    measure() if "--measure" in sys.argv else main()
