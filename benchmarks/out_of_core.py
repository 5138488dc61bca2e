"""Parquet to cumsum to Parquet over five times the memory of the one worker.

The worker must not be restarted, and the answer is verified file by file.
"""

from __future__ import annotations

import os
import shutil
import tempfile
import time
from pathlib import Path

import dask.dataframe as dd
import numpy as np
import pandas as pd
import pyarrow.parquet as pq
from dask.utils import parse_bytes
from distributed import Client, LocalCluster
from timing import Bench, same

import dask_gpuscan  # noqa: F401  (registers .gpuscan)

NAME = "out of core, Parquet to Parquet"
ROWS = 1_000_000  # a partition: 8 MB of int64


def run(bench: Bench) -> None:
    if not bench.wanted(NAME):
        return
    limit = parse_bytes("1 GiB")
    count = bench.scale(-(-5 * limit // (8 * ROWS)), 20)
    folder = Path(tempfile.mkdtemp(prefix="out_of_core_"))
    try:
        (folder / "in").mkdir()
        for number in range(count):
            write(folder / "in", number)
        with (
            LocalCluster(
                n_workers=1, threads_per_worker=2, memory_limit=limit, dashboard_address=None
            ) as cluster,
            Client(cluster) as client,
        ):
            before = client.run(os.getpid)
            column = dd.read_parquet(folder / "in").x
            start = time.perf_counter()
            column.gpuscan.cumsum().to_frame().to_parquet(folder / "out", compression="zstd")
            seconds = time.perf_counter() - start
            assert client.run(os.getpid) == before, "the nanny restarted the worker"
            peak = next(iter(client.run(peak_bytes).values()))
        verify(folder, count)
    finally:
        shutil.rmtree(folder)
    bench.record(
        NAME,
        "int64",
        count * ROWS,
        1e3 * seconds,
        target="times_memory >= 5 and restarts <= 0",
        seconds=round(seconds, 1),
        times_memory=round(count * ROWS * 8 / limit, 2),
        memory_limit_mib=limit >> 20,
        peak_mib=peak >> 20,
        restarts=0,
    )


def write(folder: Path, number: int) -> None:
    # Small integers take an eighth of their memory in a file, so that the disk need not hold it all.
    values = np.random.default_rng(number).integers(-100, 100, ROWS)
    pd.DataFrame({"x": values}).to_parquet(folder / f"part.{number}.parquet", index=False)


def peak_bytes() -> int:
    """The largest resident size of this process since it started its program (Linux)."""
    # Not getrusage: its ru_maxrss includes what the parent held when it forked.
    status = Path("/proc/self/status").read_text()
    return int(status.partition("VmHWM:")[2].split()[0]) * 1024


def verify(folder: Path, count: int) -> None:
    """Compare with NumPy, one partition after the other."""
    carry = 0
    for number in range(count):
        values = pq.read_table(folder / "in" / f"part.{number}.parquet")["x"].to_numpy()
        expected = carry + np.cumsum(values)
        same(pq.read_table(folder / "out" / f"part.{number}.parquet")["x"], expected)
        carry = expected[-1]
