"""Directories that are continued: the cost of commits, of one new file among many, and of a correction.

The peers are our own: the same rows without a state, the new file alone, and the whole year.
"""

from __future__ import annotations

import os
import shutil
import statistics
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
from stream import GROUP_ROWS, OPTIONS, write
from timing import Bench

import dask_gpuscan

FILES = 10_000
DAYS = 365


def totals(source: Path, **options: Any) -> Any:
    rows = dask_gpuscan.stream(source, ends=False, **options)
    return rows.assign(t=rows.gpuscan.groupby("k")["x"].cumsum())


def timed(work: Callable[[], Any]) -> float:
    os.sync()  # so that no run waits for writes of another
    start = time.perf_counter()
    work()
    return 1e3 * (time.perf_counter() - start)


def put(folder: Path, day: int, rows: int, seed: int = 0) -> None:
    rng = np.random.default_rng([day, seed])
    table = pa.table({"k": rng.integers(0, 10_000, rows), "x": rng.integers(-99, 99, rows)})
    pq.write_table(table, folder / f"{day}.parquet")


def check(out: Path, source: Path) -> None:
    """Compare a directory with pandas over the files in order."""
    paths = sorted(source.iterdir(), key=lambda path: int(path.stem))
    whole = pd.concat([pd.read_parquet(path) for path in paths], ignore_index=True)
    found = pd.read_parquet(out)
    assert found["x"].equals(whole["x"])
    assert found["t"].equals(whole.groupby("k")["x"].cumsum())


def commits(bench: Bench, folder: Path) -> None:
    """Write 200 million rows to a directory, with its states and commits, and to a file without."""
    rows = bench.scale(200_000_000, 8_000_000)
    source, out = folder / "rows.parquet", folder / "out"
    write(source, rows)

    def directory() -> None:
        totals(source).to_parquet(out, state=True, **OPTIONS)

    def file() -> None:
        totals(source).to_parquet(out, **OPTIONS)

    taken: dict[Any, list[float]] = {directory: [], file: []}
    for number in range(1 + bench.scale(5, 3)):
        for work, milliseconds in taken.items():
            milliseconds.append(timed(work))
            print(work.__name__, milliseconds[-1], flush=True)
            if number == 0 and work is directory:
                assert (
                    sum(pq.read_metadata(path).num_rows for path in out.glob("*.parquet")) == rows
                )
            shutil.rmtree(out) if out.is_dir() else out.unlink()
    ours, peer = (statistics.median(found[1:]) for found in taken.values())
    bench.record(
        "directory_commits", "int64, float64", rows, ours, "a file", peer, target="ratio >= 0.97",
        batch_rows=GROUP_ROWS,
    )  # fmt: skip


def many_files(bench: Bench, folder: Path) -> None:
    """Add one file to 10,000."""
    count, days, alone, out = (
        bench.scale(FILES, 1_000),
        folder / "days",
        folder / "one",
        folder / "out",
    )
    days.mkdir()
    alone.mkdir()
    for day in range(count):
        put(days, day, 100)
    first = timed(lambda: totals(days).to_parquet(out, state=True))
    ours, peer = list[float](), list[float]()
    for day in range(count, count + 5):
        put(days, day, 100)
        put(alone, day, 100)
        ours.append(timed(lambda: totals(days).to_parquet(out, state=True)))
        one = alone / f"{day}.parquet"
        peer.append(timed(lambda: totals(one).to_parquet(folder / "one.parquet")))  # noqa: B023
    check(out, days)
    manifest = (out / "_gpuscan" / "manifest.parquet").stat().st_size
    alone_ms = statistics.median(peer)
    bench.record(
        "directory_one_new_file", "int64", count, statistics.median(ours), "the new file alone", alone_ms,
        target=f"ours_ms <= {1.5 * alone_ms + 1000:.0f}", measured_first_run_ms=first, measured_manifest_bytes=manifest,
    )  # fmt: skip


def correction(bench: Bench, folder: Path, name: str, rows: int) -> None:
    """Write day 180 of a year again."""
    days, out = folder / "days", folder / "out"
    days.mkdir()
    for day in range(1, DAYS + 1):
        put(days, day, rows)
    whole, redo = list[float](), list[float]()
    for number in range(4):
        shutil.rmtree(out, ignore_errors=True)
        whole.append(timed(lambda: totals(days).to_parquet(out, state=True)))
        put(days, 180, rows, seed=number + 1)
        again = totals(days, changed="redo").to_parquet(out, state=True, dry_run=True).again
        redo.append(timed(lambda: totals(days, changed="redo").to_parquet(out, state=True)))
        print(whole[-1], redo[-1], len(again), flush=True)
    check(out, days)
    bench.record(
        name, "int64", DAYS * rows, statistics.median(redo[1:]), "the whole year",
        statistics.median(whole[1:]), target="ratio >= 1.818", days=DAYS, measured_days_again=len(again),
    )  # fmt: skip


def long_days(bench: Bench, folder: Path) -> None:
    correction(bench, folder, "directory_redo_day_180", bench.scale(200_000, 50_000))


def short_days(bench: Bench, folder: Path) -> None:
    correction(bench, folder, "directory_redo_short_days", bench.scale(20_000, 5_000))


def run(bench: Bench) -> None:
    for name, part in (
        ("directory_commits", commits),
        ("directory_one_new_file", many_files),
        ("directory_redo_day_180", long_days),
        ("directory_redo_short_days", short_days),
    ):
        if not bench.wanted(name):
            continue
        folder = Path(tempfile.mkdtemp(prefix="directories_"))
        try:
            part(bench, folder)
        finally:
            shutil.rmtree(folder)
