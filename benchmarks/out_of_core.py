"""A cumsum and a sort from Parquet to Parquet, of more than five times the memory of a worker.

No worker may be restarted, and the answer is verified file by file.
"""

from __future__ import annotations

import os
import shutil
import tempfile
import time
from pathlib import Path

import dask
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

SORT = "out of core, sort_values"
SORTED_ROWS = 1_000_000  # a partition: 24 MB of int64 and float64


def run(bench: Bench) -> None:
    cumsum(bench)
    sort(bench)


def cumsum(bench: Bench) -> None:
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
    # In a file, small integers take an eighth of their memory, which saves disk space.
    values = np.random.default_rng(number).integers(-100, 100, ROWS)
    pd.DataFrame({"x": values}).to_parquet(folder / f"part.{number}.parquet", index=False)


def peak_bytes() -> int:
    """Return the peak resident size of this process since it started its program (Linux)."""
    # Not getrusage: its ru_maxrss includes the parent's size at the fork.
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


# --- sorted ----------------------------------------------------------------------------------------------------------


def sort(bench: Bench) -> None:
    """Three columns by one of them; Dask's P2P shuffle moves the rows between two workers, through their disks."""
    if not bench.wanted(SORT):
        return
    limit = parse_bytes("1 GiB")
    count = bench.scale(-(-5 * limit // (24 * SORTED_ROWS)), 20)
    folder = Path(tempfile.mkdtemp(prefix="out_of_core_"))
    try:
        (folder / "in").mkdir()
        for number in range(count):
            unsorted(number).to_parquet(folder / "in" / f"part.{number}.parquet", index=False)
        with (
            dask.config.set({"distributed.p2p.comm.buffer": limit // 16}),  # 1 GiB by default
            LocalCluster(
                n_workers=2,
                threads_per_worker=1,
                memory_limit=limit,
                dashboard_address=None,
                local_directory=str(folder),
            ) as cluster,
            Client(cluster) as client,
        ):
            before = client.run(os.getpid)
            frame = dd.read_parquet(folder / "in")
            start = time.perf_counter()
            frame.gpuscan.sort_values("key").to_parquet(folder / "out", write_index=False)
            seconds = time.perf_counter() - start
            assert client.run(os.getpid) == before, "the nanny restarted a worker"
            peak = max(client.run(peak_bytes).values())
        balance = verify_sorted(folder, count)
    finally:
        shutil.rmtree(folder)
    bench.record(
        SORT,
        "int64, int64, float64",
        count * SORTED_ROWS,
        1e3 * seconds,
        target="times_memory >= 5 and restarts <= 0 and measured_longest <= 1.1",
        seconds=round(seconds, 1),
        times_memory=round(count * SORTED_ROWS * 24 / limit, 2),
        memory_limit_mib=limit >> 20,
        peak_mib=peak >> 20,
        restarts=0,
        measured_longest=balance,
    )


def unsorted(number: int) -> pd.DataFrame:
    """Return a partition: one key in ten is 7, rows are numbered, and one column is a fraction of the numbers."""
    rng = np.random.default_rng(number)
    keys = np.where(rng.random(SORTED_ROWS) < 0.1, 7, rng.integers(0, 1 << 40, SORTED_ROWS))
    rows = np.arange(number * SORTED_ROWS, (number + 1) * SORTED_ROWS)
    return pd.DataFrame({"key": keys, "row": rows, "value": rows / 8})


def verify_sorted(folder: Path, count: int) -> float:
    """Check that rows are those of the input in stable order; return the longest partition over the mean."""
    last: tuple[int, int] = (-1, -1)
    total, longest = 0, 0
    seen = np.zeros(count * SORTED_ROWS, np.bool_)
    for number in range(count):
        part = pd.read_parquet(folder / "out" / f"part.{number}.parquet")
        key, row = part["key"].to_numpy(), part["row"].to_numpy()
        same(part["value"], row / 8)
        assert (last[0], last[1]) < (key[0], row[0]), "partitions are not in order"
        rises = (key[1:] > key[:-1]) | ((key[1:] == key[:-1]) & (row[1:] > row[:-1]))
        assert rises.all(), "rows are not in stable order"
        seen[row] = True
        last, total, longest = (
            (int(key[-1]), int(row[-1])),
            total + len(part),
            max(longest, len(part)),
        )
    assert total == len(seen), "there are not as many rows as in the input"
    assert seen.all(), "rows are not those of the input"
    return round(longest / SORTED_ROWS, 4)
