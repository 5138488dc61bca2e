"""First calls: the time to compile the kernels of each call in peers.py, with an empty cache of kernels.

    python benchmarks/first_calls.py                 # pandas frames; about ten minutes on two cores
    python benchmarks/first_calls.py --gpu --beside 2  # cuDF frames, on 16 cores
    python benchmarks/first_calls.py --only rank
    python benchmarks/first_calls.py --pack build/packed/linux-x86_64  # with the kernels of `make pack`

Each call has its own process and cache. Its time is that of the first call less that of the second, without imports. On
CPUs it is processor time: a compiler runs on one thread, so a user of an idle machine waits as long. Slow calls are
repeated, and the least time counts, as other work on the machine only adds to it.
"""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
import tempfile
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import numpy as np
from peers import RESULTS, Call, calls, make, make_texts
from timing import Bench, Record, commit, machine, versions

from dask_gpuscan import operator
from dask_gpuscan.kernels.compiler import pack
from dask_gpuscan.kernels.cuda.core import packed

ROWS = 10**6
LIMIT = 3000
"""The most milliseconds that a first call may take."""
REPEATS = 3

LARGER = operator(lambda a, b: a if a > b else b, identity=float("-inf"))
SMALLER = operator(lambda a, b: b if b < a else a, identity=float("inf"))
LARGER_FLOAT32 = operator(lambda a, b: a if a > b else b, identity=np.float32("-inf"))

FURTHER: dict[str, Call] = {
    "resample.ohlc": lambda d: d[["t", "x"]].gpuscan.resample("1h", on="t")["x"].ohlc(),
    "sessions": lambda d: d[["t", "x"]].gpuscan.sessions("t", gap="2s"),
    "an operator of one's own": lambda d: d["x"].gpuscan.scan(LARGER),
    "another operator of one's own": lambda d: d["x"].gpuscan.scan(SMALLER),
    "an operator of one's own of float32": lambda d: (
        d["x"].astype("f4").gpuscan.scan(LARGER_FLOAT32)
    ),
    "cumsum of int64": lambda d: d["g"].astype("i8").gpuscan.cumsum(),
    "cumsum of int32 after int64": lambda d: d["g"].gpuscan.cumsum(),
    "sessions by key": lambda d: d[["t", "x", "g"]].gpuscan.sessions("t", gap="2s", by="g"),
}
"""Calls that are not on the map."""
AFTER = {
    "another operator of one's own": "an operator of one's own",
    "an operator of one's own of float32": "an operator of one's own",
    "cumsum of int32 after int64": "cumsum of int64",
}
"""The calls that are made before a first call."""


def works() -> dict[str, Call]:
    """All calls, by name."""
    return {name: ours for name, (ours, _, _) in calls().items()} | FURTHER


def first_less_second(name: str, gpu: bool) -> float:
    """Return by how many milliseconds the first call in this process is longer than the second."""
    frame: Any = (make_texts if name.endswith("texts") else make)(ROWS)
    if gpu:
        import cudf

        frame = cudf.DataFrame(frame)
        # the start of the driver, and what cuDF loads on first use, are left out as imports are
        frame["x"].sum()
    if name in AFTER:
        works()[AFTER[name]](frame)
    clock, seconds = time.perf_counter if gpu else time.process_time, []
    for _ in range(2):
        start = clock()
        works()[name](frame)
        if gpu:
            import cupy

            cupy.cuda.Device().synchronize()
        seconds.append(clock() - start)
    return 1e3 * (seconds[0] - seconds[1])


def in_a_process(name: str, given: argparse.Namespace) -> float:
    """Return the same for a new process with an empty cache of kernels."""
    options = [*["--gpu"] * given.gpu, *(["--pack", given.pack] if given.pack else [])]
    command = [sys.executable, __file__, "--call", name, *options]
    with tempfile.TemporaryDirectory() as cache:
        environment = {**os.environ, "DASK_GPUSCAN_CACHE": cache}
        done = subprocess.run(command, check=True, stdout=subprocess.PIPE, env=environment)
    return float(done.stdout)


def least_of(name: str, given: argparse.Namespace) -> float:
    """Return the least time of several first calls, or the time of one if it is short."""
    least = in_a_process(name, given)
    for _ in range(REPEATS - 1):
        if least > LIMIT:
            least = min(least, in_a_process(name, given))
    return least


def context(gpu: bool) -> Record:
    """Return the machine and the versions that the calls ran on."""
    where = machine()
    if gpu:
        import cupy

        where = f"{cupy.cuda.runtime.getDeviceProperties(0)['name'].decode()}, {where}"
    known: Record = {"cubins": packed.folder() is not None} if gpu else {}
    return known | {"machine": where, "versions": versions(), "commit": commit()}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--gpu", action="store_true")
    parser.add_argument("--only", default="")
    parser.add_argument("--beside", type=int, default=1, help="how many calls are measured at once")
    parser.add_argument("--call", help="the one call of a process")
    parser.add_argument("--pack", type=Path, help="the folder of kernels that are compiled already")
    parser.add_argument("--output", type=Path)
    given = parser.parse_args()
    if given.pack:
        pack.FOLDER = given.pack
    if given.call:
        print(first_less_second(given.call, given.gpu))
        return
    bench = Bench(only=given.only, context=context(given.gpu))
    names = list(filter(bench.wanted, works()))
    with ThreadPoolExecutor(given.beside) as processes:
        found = processes.map(lambda name: least_of(name, given), names)
        for name, least in zip(names, found, strict=True):
            bench.record(name, "float64", ROWS, max(least, 0.0), target=f"ours_ms <= {LIMIT}")
    folder = RESULTS / ("h200" if given.gpu else "cpu")
    bench.save(given.output or folder / f"first_calls{'_pack' if given.pack else ''}.json")


if __name__ == "__main__":
    main()
