"""Parquet to Parquet in the memory of a few batches: streams against polars, DuckDB and a copy by pyarrow.

Each run is a separate process, so that its peak memory is known; ours and the peers take turns.
"""

from __future__ import annotations

import importlib.util
import os
import shutil
import statistics
import subprocess
import sys
import tempfile
from collections.abc import Callable
from itertools import groupby
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq
from timing import Bench

GROUP_ROWS = 1 << 20
KEYS = 1_000_000
OPTIONS = {"compression": "none", "use_dictionary": False}


KINDS = {
    "int64": lambda keys: pa.array(keys),
    "wide int64": lambda keys: pa.array(keys * 1_000_003),
    "text": lambda keys: pc.binary_join_element_wise("key", pa.array(keys).cast("string"), "-"),
}


def write(path: Path, rows: int, kind: str = "int64") -> None:
    """Write keys in any order, and floats."""
    keys_of = KINDS[kind]
    schema = pa.schema({"k": keys_of(np.arange(1)).type, "x": pa.float64()})
    rng = np.random.default_rng(0)
    with pq.ParquetWriter(path, schema, **OPTIONS) as writer:
        for start in range(0, rows, GROUP_ROWS):
            count = min(GROUP_ROWS, rows - start)
            keys, values = rng.integers(0, KEYS, count), rng.normal(size=count)
            writer.write_table(pa.table({"k": keys_of(keys), "x": values}, schema))


# --- the program of a process ------------------------------------------------------------------------


def ours(method: Callable[..., object]) -> Callable[[str, str], None]:
    def run(source: str, target: str) -> None:
        import dask_gpuscan

        rows: object = method(dask_gpuscan.stream(source))
        rows.to_parquet(target, **OPTIONS)  # type: ignore[attr-defined]

    return run


def copy(source: str, target: str) -> None:
    with (
        pq.ParquetFile(source) as file,
        pq.ParquetWriter(target, file.schema_arrow, **OPTIONS) as writer,
    ):
        for batch in file.iter_batches(GROUP_ROWS):
            writer.write_batch(batch)


def polars(source: str, target: str) -> None:
    import polars as pl

    total = pl.col("x").cum_sum().over("k")
    pl.scan_parquet(source).with_columns(t=total).sink_parquet(target, compression="uncompressed")


def duckdb(source: str, target: str) -> None:
    import duckdb

    total = "sum(x) OVER (PARTITION BY k ORDER BY file_row_number) AS t"
    rows = f"SELECT k, x, {total} FROM read_parquet('{source}', file_row_number = true)"
    duckdb.sql(f"COPY ({rows}) TO '{target}' (FORMAT parquet, COMPRESSION uncompressed)")


by_keys = ours(lambda d: d.assign(t=d.gpuscan.groupby("k")["x"].cumsum()))

RUNS: dict[str, Callable[[str, str], None]] = {
    "stream_groupby_cumsum": by_keys,
    "stream_groupby_cumsum_wide": by_keys,
    "stream_groupby_cumsum_text": by_keys,
    "stream_groupby_cumsum_500m": by_keys,
    "stream_cumsum": ours(lambda d: d.gpuscan.cumsum()),
    "stream_ffill": ours(lambda d: d.gpuscan.ffill()),
    "stream_ewm": ours(lambda d: d.gpuscan.ewm(alpha=0.1).mean()),
    "copy": copy,
    "polars": polars,
    "duckdb": duckdb,
}
PEERS = {
    "stream_groupby_cumsum": ("polars", "duckdb"),
    "stream_cumsum": ("copy",),
    "stream_ffill": ("copy",),
    "stream_ewm": ("copy",),
    "stream_groupby_cumsum_wide": ("polars", "duckdb"),
    "stream_groupby_cumsum_text": ("polars", "duckdb"),
    "stream_groupby_cumsum_500m": ("duckdb", "polars"),
}

USUAL = 200_000_000, "int64"
ROWS = {
    "stream_groupby_cumsum_wide": (50_000_000, "wide int64"),
    "stream_groupby_cumsum_text": (50_000_000, "text"),
    "stream_groupby_cumsum_500m": (500_000_000, "int64"),
}
"""Unusual numbers of rows and kinds of keys; the last is larger than the memory of the machine."""

LARGE = {name for name, (rows, _) in ROWS.items() if rows > USUAL[0]}
"""Benchmarks that take 40 GB of disk and ten minutes, and run only if they are named."""

LONGEST = 10
"""A peer is stopped after this many times our time."""

MEASURE = """
import sys, time
sys.path.insert(0, sys.argv[1])
import stream
from pathlib import Path

work = stream.RUNS[sys.argv[2]]
work(sys.argv[3], sys.argv[5])  # compiles, imports
start = time.perf_counter()
work(sys.argv[4], sys.argv[5])
seconds = time.perf_counter() - start
peak = Path("/proc/self/status").read_text().partition("VmHWM:")[2].split()[0]
print(seconds, int(peak) >> 10)
"""


def measured(
    name: str, small: Path, source: Path, target: Path, most: float | None = None
) -> tuple[float, int] | None:
    """Return the seconds and the peak memory, in MiB, of a run in a separate process.

    A run is stopped after `most` seconds, and returns None.
    """
    here = str(Path(__file__).parent)
    command = [sys.executable, "-c", MEASURE, here, name, *map(str, (small, source, target))]
    path = os.pathsep.join([str(Path(here).parent), os.environ.get("PYTHONPATH", "")])
    environment = {**os.environ, "PYTHONPATH": path}
    try:
        done = subprocess.run(
            command, check=True, capture_output=True, text=True, env=environment, timeout=most
        )
    except subprocess.TimeoutExpired:
        return None
    finally:
        target.unlink(missing_ok=True)
    seconds, peak = done.stdout.splitlines()[-1].split()  # after the progress that DuckDB prints
    return float(seconds), int(peak)


def run(bench: Bench) -> None:
    wanted = [
        name for name in PEERS if bench.wanted(name) and (name == bench.only or name not in LARGE)
    ]
    if not wanted:
        return
    folder = Path(tempfile.mkdtemp(prefix="stream_"))
    try:
        small, source = folder / "small.parquet", folder / "rows.parquet"
        for (most, kind), names in groupby(wanted, key=lambda name: ROWS.get(name, USUAL)):
            rows = bench.scale(most, 4_000_000)
            write(small, 10_000, kind)
            write(source, rows, kind)
            os.sync()  # so that no run waits for these writes
            for name in names:
                compare(bench, name, kind, rows, small, source)
    finally:
        shutil.rmtree(folder)


def compare(bench: Bench, name: str, kind: str, rows: int, small: Path, source: Path) -> None:
    here = [p for p in PEERS[name] if p != "duckdb" or importlib.util.find_spec("duckdb")]
    found: dict[str, list[tuple[float, int]]] = {one: [] for one in (name, *here)}
    stopped: dict[str, float] = {}
    for _ in range(bench.scale(3, 1) if name not in LARGE else 1):
        for one, taken in found.items():
            most = LONGEST * found[name][0][0] if one != name else None
            last = measured(one, small, source, source.with_name("out.parquet"), most)
            if last is None:
                assert most is not None
                stopped[one] = most
                print(f"{one}: stopped after {most:.0f} s", flush=True)
                continue
            taken.append(last)
            print(f"{one}: {last[0]:.1f} s, {last[1]} MiB", flush=True)
    keys = {"keys": KEYS} if "groupby" in name else {}
    for peer in here:
        about: dict[str, object] = {"measured_peak_mib": max(peak for _, peak in found[name])}
        if peer in stopped:
            about["measured_stopped_after_s"] = round(stopped[peer])
        else:
            about["measured_peer_peak_mib"] = max(peak for _, peak in found[peer])
        bench.record(
            name,
            f"{kind}, float64",
            rows,
            1e3 * statistics.median(s for s, _ in found[name]),
            peer,
            None if peer in stopped else 1e3 * statistics.median(s for s, _ in found[peer]),
            **keys,
            **about,
        )
