"""The time of a small batch after many keys in a stream, for each method of groups, compared with other checkouts.

    python benchmarks/small_batches.py                       # this checkout
    git worktree add /tmp/before COMMIT
    python benchmarks/small_batches.py /tmp/before           # both, in turns

A figure is the least processor time of all threads for one of six batches of 2,000 rows with random keys, after a batch
with each of 3,000,000 or 2,000 keys, and three batches that compile.
"""

import gc
import json
import os
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parent.parent
MANY, ROWS, BATCHES, TOGETHER = 3_000_000, 2_000, 9, 7

METHODS: dict[str, Callable[[Any, Any], Any]] = {
    "cumsum": lambda r, g: g["x"].cumsum(),
    "cumprod": lambda r, g: g["x"].cumprod(),
    "cummax": lambda r, g: g["x"].cummax(),
    "cumsum, reset": lambda r, g: g["x"].cumsum(reset=r["x"] > 2),
    "cumall": lambda r, g: g["x"].cumall(),
    "ffill": lambda r, g: g["x"].ffill(),
    "ffill, limit": lambda r, g: g["x"].ffill(limit=2),
    "row_number": lambda r, g: g.row_number(),
    "head": lambda r, g: g.head(2),
    "drop_duplicates": lambda r, g: r.gpuscan.drop_duplicates(subset=["k"]),
    "ewm.mean": lambda r, g: g["x"].ewm(alpha=0.1).mean(),
    "ewm.var": lambda r, g: g["x"].ewm(alpha=0.1).var(),
    "expanding.sum": lambda r, g: g["x"].expanding().sum(),
    "expanding.var": lambda r, g: g["x"].expanding().var(),
    "shift": lambda r, g: g["x"].shift(),
    "diff": lambda r, g: g["x"].diff(),
    "pct_change": lambda r, g: g["x"].pct_change(),
    "rolling(5).sum": lambda r, g: g["x"].rolling(5).sum(),
    "rolling(5).median": lambda r, g: g["x"].rolling(5).median(),
    "rolling('1h').sum": lambda r, g: g.rolling("1h", on="t")["x"].sum(),
    "sessionize": lambda r, g: r.gpuscan.sessionize("t", by="k", gap="10min"),
}


def measure(names: list[str]) -> None:
    """Print the figures of the checkout that is imported."""
    import numpy as np
    import pandas as pd

    import dask_gpuscan

    assert Path(os.environ["CHECKOUT"]) in Path(dask_gpuscan.__file__).parents
    rng, hour = np.random.default_rng(7), 3600

    def frame(keys: Any, number: int) -> Any:
        count = len(keys)
        seconds = np.sort(rng.integers(0, hour, count)) + number * hour
        times = pd.Timestamp("2026-01-01") + pd.to_timedelta(seconds, unit="s")
        return pd.DataFrame({"k": keys * 1_000_003, "x": rng.normal(size=count), "t": times})

    found = {}
    for keys in (MANY, ROWS):
        later = [frame(rng.integers(0, keys, ROWS), i + 1) for i in range(BATCHES)]
        batches = [frame(rng.permutation(keys), 0), *later]
        for name in names:
            rows = dask_gpuscan.stream(batches)
            answers, times = iter(METHODS[name](rows, rows.gpuscan.groupby("k"))), []
            for _ in batches:
                start = time.process_time()
                next(answers)
                times.append(time.process_time() - start)
            found[f"{name} {keys}"] = round(1e3 * min(times[3:]), 2)  # without those that compile
            del rows, answers
            gc.collect()
    print(json.dumps(found))


def main() -> None:
    checkouts = {"after": ROOT, **{Path(path).name: Path(path) for path in sys.argv[1:]}}
    found: dict[str, dict[str, float]] = {name: {} for name in checkouts}
    names = list(METHODS)
    for at in range(0, len(names), TOGETHER):
        for name, checkout in checkouts.items():
            environment = {
                **os.environ, "PYTHONPATH": str(checkout), "CHECKOUT": str(checkout.resolve()),
            }  # fmt: skip
            command = [sys.executable, __file__, "--measure", *names[at : at + TOGETHER]]
            done = subprocess.run(
                command, env=environment, check=True, stdout=subprocess.PIPE, text=True
            )
            found[name] |= json.loads(done.stdout.splitlines()[-1])
    print(f"{'':20}" + "".join(f"{name + ', many':>18}{name + ', few':>18}" for name in found))
    for method in names:
        line = [
            f"{one[f'{method} {keys}']:18.2f}" for one in found.values() for keys in (MANY, ROWS)
        ]
        print(f"{method:20}" + "".join(line))


if __name__ == "__main__":
    if sys.argv[1:2] == ["--measure"]:
        measure(sys.argv[2:])
    else:
        main()
