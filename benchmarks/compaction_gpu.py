"""Compaction and ordered group-by of CuPy arrays on one GPU, against CUB in the same run.

    python benchmarks/compaction_gpu.py [--output compaction.json]

Needs nvcc for CUB's side (cub_compaction.cu). Times are the device's from the start of a call's work to the end of
its kernel, medians of 15: the wait for the count of rows, which CUB's callers have as well, is in neither.
"""

import argparse
import json
import os
import subprocess
import tempfile
from pathlib import Path

import cupy as cp
import numpy as np
from dask_gpuscan.kernels import (
    BUILT_IN,
    Predicate,
    partition,
    reduce_by_key,
    run_length_encode,
    scan_by_key,
    select,
    unique,
)
from dask_gpuscan.kernels.cuda import visits

HERE = Path(__file__).parent


def cub(log2_n, earlier):
    if earlier:
        return {row["name"]: row for row in map(json.loads, open(earlier))}
    with tempfile.TemporaryDirectory() as folder:
        program = os.path.join(folder, "cub_compaction")
        source = str(HERE / "cub_compaction.cu")
        subprocess.run(
            ["nvcc", "-arch=native", "-O3", "-std=c++17", source, "-o", program], check=True
        )
        lines = subprocess.run([program, str(log2_n)], check=True, capture_output=True, text=True)
    return {row["name"]: row for row in map(json.loads, lines.stdout.splitlines())}


class Clock:
    """Times a call on the device from its first work to the end of its kernel."""

    def __init__(self):
        self.busy = cp.ones((8192, 8192), "f4")
        self.start, self.stop = cp.cuda.Event(), cp.cuda.Event()
        read = visits.Visit.read

        def timed(visit):
            self.stop.record()
            return read(visit)

        visits.Visit.read = timed

    def ms(self, call, repeats=15):
        call()
        times = []
        for _ in range(repeats):
            for _ in range(8):  # the device is busy while the host prepares the launch
                self.busy += 1
            self.start.record()
            call()
            self.stop.synchronize()
            times.append(cp.cuda.get_elapsed_time(self.start, self.stop))
        return float(np.median(times))


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--output", default="compaction.json")
    parser.add_argument("--log2", type=int, default=28)
    parser.add_argument("--cub", help="what cub_compaction printed in an earlier run")
    arguments = parser.parse_args()
    n = 1 << arguments.log2
    theirs = cub(arguments.log2, arguments.cub)
    clock = Clock()
    x = cp.random.default_rng(0).integers(0, 1000, n, dtype=np.int32)
    values = cp.random.default_rng(1).integers(0, 1000, n, dtype=np.int32).astype("f4")
    less = [Predicate(lambda x, c: x < c, [x, c]) for c in (500, 10)]
    calls = {
        "select_50": lambda: select([x], less[0]),
        "select_1": lambda: select([x], less[1]),
        "partition_50": lambda: partition([x], less[0]),
    }
    rows = []

    def measure(name, call):
        ms, peer = clock.ms(call), theirs[name]
        rows.append({**peer, "ms": round(ms, 5), "cub_ms": peer["ms"], "ratio": peer["ms"] / ms})
        rate = peer["bytes"] / ms / 1e9
        print(
            f"{name:28} {ms:.4f} ms, CUB {peer['ms']:.4f}: {peer['ms'] / ms:.2f} x, {rate:.2f} TB/s"
        )

    for name, call in calls.items():
        measure(name, call)
    add = BUILT_IN["add"]
    for run in (2, 500, 1_000_000):
        keys = [(cp.arange(n) // run * 7).astype("i4")]
        for name, call in (
            ("run_length_encode", lambda keys=keys: run_length_encode(keys)),
            ("unique", lambda keys=keys: unique(keys, keys)),
            ("reduce_by_key", lambda keys=keys: reduce_by_key(add, keys, values, dtype="f4")),
            ("scan_by_key", lambda keys=keys: scan_by_key(add, keys, values, dtype="f4")),
        ):
            measure(f"{name}_{run}", call)
    Path(arguments.output).write_text(json.dumps(rows, indent=1) + "\n")


if __name__ == "__main__":
    main()
