"""CPU milliseconds of ``import dask_gpuscan`` and of the first ``.gpuscan``, on this checkout and another in turns.

    git worktree add /tmp/before COMMIT
    python benchmarks/imports.py /tmp/before

Each round runs a new process for each checkout, which imports another library first; byte code is compiled before. The
record has the least time of all rounds, as other work on the machine only adds to it, and the number of modules loaded.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

from timing import commit, machine, versions

ROOT = Path(__file__).resolve().parent.parent
RESULTS = Path(__file__).with_name("results") / "cpu" / "imports.json"

OVER = {
    "nothing": ("pass", ""),
    "pandas": ("import pandas as pd; s = pd.Series([1.0])", "s.gpuscan"),
    "dask.dataframe": (
        "import pandas as pd, dask.dataframe as dd; s = dd.from_pandas(pd.Series([1.0]), 1)",
        "s.gpuscan.cumsum()",
    ),
    "polars": ("import polars as pl; s = pl.Series([1.0])", "s.gpuscan"),
}
"""What is imported before the package, and what is used first after it."""

CODE = """
import json, sys, time
exec(sys.argv[1])
times, modules = [time.process_time()], [len(sys.modules)]
for step in ("import dask_gpuscan", sys.argv[2]):
    exec(step)
    times.append(time.process_time())
    modules.append(len(sys.modules))
print(json.dumps([times, modules]))
"""


def measure(tree: Path, over: str, cache: str) -> tuple[list[float], list[int]]:
    """Return milliseconds and numbers of modules of the imports before, of the package, and of the first use."""
    plain = {name: v for name, v in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"}
    done = subprocess.run(
        [sys.executable, "-c", CODE, *OVER[over]],
        env=plain | {"PYTHONPATH": str(tree), "PYTHONPYCACHEPREFIX": cache},
        cwd=cache,
        check=True,
        capture_output=True,
        text=True,
    )
    times, modules = json.loads(done.stdout)
    spent = [times[0], times[1] - times[0], times[2] - times[1]]
    return [1e3 * s for s in spent], [modules[0], modules[1] - modules[0], modules[2] - modules[1]]


def compare(before: Path, over: str, rounds: int, cache: str) -> dict[str, Any]:
    """Print and return the least milliseconds of both checkouts."""
    least: dict[str, list[float]] = {}
    counted: dict[str, list[int]] = {}
    trees = {"before": before, "now": ROOT}
    for turn in range(rounds + 1):
        for name, tree in trees.items():
            spent, counted[name] = measure(tree, over, cache)
            if turn:  # the first round compiles byte code
                least[name] = list(map(min, least.get(name, spent), spent))
    record: dict[str, Any] = {"name": f"import over {over}", "rounds": rounds}
    for name in trees:
        library, imported, used = (round(ms, 1) for ms in least[name])
        _, more, further = counted[name]
        record |= {f"{name}_import_ms": imported, f"{name}_import_modules": more}
        record |= {f"{name}_first_use_ms": used, f"{name}_first_use_modules": further}
        record |= {f"{name}_library_ms": library}
        told = (
            f"{imported:7.1f} ms ({more:4} modules), first use {used:7.1f} ms ({further:4} modules)"
        )
        print(f"over {over:15} {library:7.1f} ms  {name:7} {told}", flush=True)
    return record


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("before", type=Path)
    parser.add_argument("--rounds", type=int, default=9)
    parser.add_argument("--only", default="")
    parser.add_argument("--output", type=Path, default=RESULTS)
    given = parser.parse_args()
    head = subprocess.run(
        ["git", "rev-parse", "HEAD"], cwd=given.before, check=True, capture_output=True, text=True
    ).stdout.strip()
    context = {"machine": machine(), "versions": versions(), "commit": commit(), "before": head}
    with tempfile.TemporaryDirectory() as cache:
        records = [
            compare(given.before.resolve(), over, given.rounds, cache) | context
            for over in OVER
            if given.only in over
        ]
    given.output.write_text(json.dumps(records, indent=1) + "\n")


if __name__ == "__main__":
    main()
