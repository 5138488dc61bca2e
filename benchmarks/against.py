"""Compare this checkout with another: calls of the map, in turns in two processes.

    git worktree add /tmp/before COMMIT
    python benchmarks/against.py /tmp/before                      # 1,000 and a million rows of pandas
    python benchmarks/against.py /tmp/before --gpu --rows 1000    # of cuDF

Both run the calls in this checkout's `peers.py`; a call that one of them does not have is left out. The ratio is the
time of this checkout over that of the other.
"""

from __future__ import annotations

import argparse
import gc
import json
import os
import statistics
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parent.parent


def serve(tree: Path, rows: int, gpu: bool) -> None:
    """Time calls on the code of a checkout; lines of standard input have their names and how often to call them."""
    sys.path.insert(0, str(tree))
    import peers

    import dask_gpuscan

    assert tree in Path(dask_gpuscan.__file__).parents, dask_gpuscan.__file__
    frame, settle = peers.make(rows), _nothing
    if gpu:
        import cudf
        import timing_gpu

        timing_gpu.use_pool()
        frame, settle = cudf.DataFrame(frame), timing_gpu.settle
    gc.collect()
    gc.freeze()
    calls = peers.calls()
    for line in sys.stdin:
        name, often = json.loads(line)
        try:
            settle()
            began = time.perf_counter()
            for _ in range(often):
                calls[name][0](frame)
                settle()
            answer: Any = (time.perf_counter() - began) / often * 1e3
        except Exception as error:
            answer = f"{type(error).__name__}: {error}"[:120]
        print(json.dumps(answer), flush=True)


def _nothing() -> None:
    """Do nothing: calls on a CPU are finished when they return."""


class Checkout:
    """A process that runs the code of a checkout."""

    def __init__(self, tree: Path, rows: int, gpu: bool) -> None:
        command = [sys.executable, __file__, str(tree), "--serve", "--rows", str(rows)]
        self.process = subprocess.Popen(
            command + ["--gpu"] * gpu, stdin=-1, stdout=-1, text=True, cwd=tree
        )

    def ask(self, name: str, often: int) -> float | str:
        """Return the milliseconds of a call, or the error."""
        assert self.process.stdin is not None
        assert self.process.stdout is not None
        self.process.stdin.write(json.dumps([name, often]) + "\n")
        self.process.stdin.flush()
        found: float | str = json.loads(self.process.stdout.readline())
        return found


def compare(before: Path, rows: int, gpu: bool, only: str, rounds: int) -> list[dict[str, Any]]:
    """Print and return the medians of both checkouts for each call."""
    import peers
    from timing import calls_of_round

    both = [Checkout(tree, rows, gpu) for tree in (before, ROOT)]
    records: list[dict[str, Any]] = []
    for name in peers.calls():
        if only not in name:
            continue
        warm = [each.ask(name, often) for often in (1, 2) for each in both][2:]
        refused = [answer for answer in warm if isinstance(answer, str)]
        if refused:
            print(f"{name}: {refused[0]}", flush=True)
            continue
        often = calls_of_round(max(map(float, warm)) / 1e3)
        turns = [[float(each.ask(name, often)) for each in both] for _ in range(rounds)]
        one, other = (statistics.median(times) for times in zip(*turns, strict=True))
        ratio = round(other / one, 3)
        told = f"before {one:9.3f} ms  now {other:9.3f} ms  x {ratio}"
        print(f"{name:32s} {rows:11,} rows  {told}", flush=True)
        record = {"before_ms": round(one, 5), "now_ms": round(other, 5), "ratio": ratio}
        records.append({"name": name, "n": rows, **record})
    return records


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("before", type=Path)
    parser.add_argument("--rows", type=int, nargs="+", default=[1000, 10**6])
    parser.add_argument("--only", default="")
    parser.add_argument("--rounds", type=int, default=9)
    parser.add_argument("--gpu", action="store_true")
    parser.add_argument("--output", type=Path)
    parser.add_argument("--serve", action="store_true", help=argparse.SUPPRESS)
    given = parser.parse_args()
    before = given.before.resolve()
    if given.serve:
        serve(before, given.rows[0], given.gpu)
        return
    os.environ["PYTHONWARNINGS"] = "ignore"
    records = [
        record
        for rows in given.rows
        for record in compare(before, rows, given.gpu, given.only, given.rounds)
    ]
    ratios = [record["ratio"] for record in records]
    print(f"\n{len(ratios)} calls; median of the ratios {statistics.median(ratios):.3f}")
    if given.output:
        from timing import commit, machine, versions

        if given.gpu:
            import timing_gpu

            context = {
                "machine": timing_gpu.machine(1),
                "versions": versions(timing_gpu.PACKAGES),
            }
        else:
            context = {"machine": machine(), "versions": versions()}
        context |= {"commit": commit(), "before": os.environ.get("BEFORE", str(before))}
        given.output.write_text(json.dumps([r | context for r in records], indent=1) + "\n")


if __name__ == "__main__":
    main()
