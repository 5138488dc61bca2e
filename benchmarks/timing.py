"""Comparisons within one run: ours and its peers take turns on the same data; every answer is checked.

Two shared cores change their speed from minute to minute, so an absolute time means little: the ratio of two medians of
interleaved rounds is what counts.
"""

from __future__ import annotations

import contextlib
import functools
import gc
import json
import os
import platform
import statistics
import subprocess
import time
from collections.abc import Callable, Mapping
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import psutil
import pyarrow as pa

ROOT = Path(__file__).resolve().parent.parent
PACKAGES = ("dask", "distributed", "duckdb", "numba", "numpy", "pandas", "polars", "pyarrow")

LOWER_BOUNDS = {
    "floor",
    "one column",
    "one scan",
}  # peers that do less work: their records say how much

# The fields of results: two records that differ only in these are of the same benchmark.
MEASURED = {"ours_ms", "peer_ms", "ratio", "limit_ms", "target", "met"}
CONTEXT = {"bandwidth", "machine", "versions", "commit"}

Record = dict[str, Any]
Work = Callable[[], Any]


class Bench:
    """Collects the records of one run, and implements ``--quick`` and ``--only``.

    Parameters
    ----------
    quick
        Whether to take the second size of ``scale(full, quick)``, and three rounds instead of seven.
    only
        Benchmarks without this text in their names are skipped.
    settle
        Waits for work that a call has only started, such as kernels of a GPU; it is timed with the calls.
    context
        Fields of every record; by default the machine, the versions and the commit.
    """

    def __init__(
        self,
        *,
        quick: bool = False,
        only: str = "",
        settle: Callable[[], None] = lambda: None,
        context: Record | None = None,
    ) -> None:
        self.quick = quick
        self.only = only
        self.settle = settle
        self.context = context
        self.records: list[Record] = []

    def scale(self, full: int, quick: int) -> int:
        return quick if self.quick else full

    def wanted(self, name: str) -> bool:
        return self.only in name

    def compare(
        self,
        name: str,
        ours: Work,
        peers: Mapping[str, Work],
        *,
        dtype: str,
        n: int,
        targets: Mapping[str, str] | None = None,
        check: Callable[[Any, Any], None] | None = None,
        rounds: int | None = None,
        calls: int = 1,
        **extra: Any,
    ) -> None:
        """Time `ours` and all `peers` in turns; record one median ratio for each peer.

        Parameters
        ----------
        targets
            What the project has promised against a peer, as a condition on the record: ``"ratio >= 4"``.
        check
            Called once with our answer and that of each peer; raises if they differ.
        calls
            How many calls are timed together, if one is too short.
        """
        if not self.wanted(name):
            return
        works = {"ours": ours, **peers}
        answer = ours()  # the warm-up, which compiles and touches pages
        for peer, work in peers.items():
            theirs = work()
            if check is not None:
                try:
                    check(answer, theirs)
                except AssertionError as error:
                    raise AssertionError(
                        f"{name} ({dtype}) differs from {peer}: {error}"
                    ) from error
            del theirs
        del answer

        seconds: dict[str, list[float]] = {key: [] for key in works}
        for _ in range(rounds or self.scale(7, 3)):
            for key, work in works.items():
                gc.collect()
                self.settle()
                start = time.perf_counter()
                for _ in range(calls):
                    result = work()
                self.settle()
                seconds[key].append((time.perf_counter() - start) / calls)
                del result
        medians = {key: 1e3 * statistics.median(taken) for key, taken in seconds.items()}
        for peer in peers:
            target = (targets or {}).get(peer)
            self.record(
                name, dtype, n, medians["ours"], peer, medians[peer], target=target, **extra
            )

    def record(
        self,
        name: str,
        dtype: str,
        n: int,
        ours_ms: float,
        peer: str | None = None,
        peer_ms: float | None = None,
        *,
        target: str | None = None,
        **extra: Any,
    ) -> None:
        """Keep one record and print it; `extra` becomes further fields."""
        entry: Record = {"name": name, "dtype": dtype, "n": n, "ours_ms": round(ours_ms, 5)}
        entry |= {"peer": peer, "peer_ms": None, "ratio": None}
        told = f"{name:<36} {dtype:<15} {n:>11,} {ours_ms:>9.4g} ms"
        if peer is not None and peer_ms is not None:
            entry |= {"peer_ms": round(peer_ms, 5), "ratio": round(peer_ms / ours_ms, 3)}
            told += f"   {peer:<10} {peer_ms:>9.4g} ms  x {entry['ratio']:<7.2f}"
            if peer in LOWER_BOUNDS:
                entry[f"times_{peer.replace(' ', '_')}"] = round(ours_ms / peer_ms, 3)
        entry |= extra
        told += "".join(f"  {key}={value}" for key, value in extra.items())
        if target is not None:
            entry |= {"target": target, "met": met(target, entry)}
            told += f"  {target}: {'met' if entry['met'] else 'MISSED'}"
        context = self.context
        if context is None:
            context = {"machine": machine(), "versions": versions(), "commit": commit()}
        self.records.append(entry | context)
        print(told, flush=True)

    def save(self, path: Path) -> None:
        """Write the records; with ``--only``, keep those of other benchmarks in the file."""
        fresh = {record["name"] for record in self.records}
        kept = json.loads(path.read_text()) if path.exists() and self.only else []
        kept = [record for record in kept if record["name"] not in fresh]
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(json.dumps(kept + self.records, indent=1) + "\n")
        print(f"\n{len(self.records)} records -> {path}")


def benchmark(record: Record) -> tuple[tuple[str, str], ...]:
    """Return the identity of a record: all fields except results and the machine and versions that it ran on."""
    fixed = {
        field: value
        for field, value in record.items()
        if field not in MEASURED | CONTEXT and not field.startswith(("times_", "measured_"))
    }
    return tuple(sorted((field, str(value)) for field, value in fixed.items()))


ROUND, MOST_CALLS = 0.02, 100
"""The seconds of a round of short calls, and the most calls of one."""


def calls_of_round(seconds: float) -> int:
    """Return how many calls of this duration are timed together; the first of a round finds cold caches."""
    return max(1, min(MOST_CALLS, int(ROUND / seconds)))


def merge(path: Path, records: list[Record]) -> None:
    """Write records into a file: each replaces the one of the same benchmark, or is added at the end."""
    merged = {benchmark(r): r for r in (json.loads(path.read_text()) if path.exists() else [])}
    merged |= {benchmark(r): r for r in records}
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps(list(merged.values()), indent=1) + "\n")


def met(target: str, record: Record) -> bool:
    """Return whether a record meets a target such as ``"ratio >= 4 and ours_ms <= 3000"``."""
    for clause in target.split(" and "):
        field, relation, bound = clause.split()
        value = record[field]
        if not (value >= float(bound) if relation == ">=" else value <= float(bound)):
            return False
    return True


@functools.cache
def machine() -> str:
    """Return the CPU model, the cores and the memory."""
    model = platform.processor() or platform.machine()
    cpuinfo = Path("/proc/cpuinfo")
    if cpuinfo.exists():
        names = [
            line.split(":", 1)[1].strip()
            for line in cpuinfo.read_text().splitlines()
            if "model name" in line
        ]
        model = names[0] if names else model
    memory = psutil.virtual_memory().total / 2**30
    system = f"{platform.system()} {platform.machine()}"
    return f"{model}, {os.cpu_count()} cores, {memory:.0f} GiB, {system}"


@functools.cache
def versions(packages: tuple[str, ...] = PACKAGES) -> dict[str, str]:
    """Return the versions of installed packages, and of Python."""
    found = {"python": platform.python_version()}
    for name in packages:
        with contextlib.suppress(PackageNotFoundError):
            found[name] = version(name)
    return found


@functools.cache
def commit() -> str:
    """Return the commit that was measured, with ``-dirty`` if kernels/ or dask_gpuscan/ differ from it.

    ``$COMMIT`` names it if the sources have no history.
    """
    if os.environ.get("COMMIT"):
        return os.environ["COMMIT"]

    def git(*arguments: str) -> str:
        return subprocess.run(
            ["git", *arguments], cwd=ROOT, check=True, capture_output=True, text=True
        ).stdout.strip()

    changed = git("status", "--porcelain", "--", "kernels", "dask_gpuscan")
    return git("rev-parse", "HEAD") + ("-dirty" if changed else "")


def same(ours: Any, theirs: Any) -> None:
    """Raise unless two columns hold the same values; floats may differ by the rounding of the largest."""
    left, right = plain(ours), plain(theirs)
    assert left.shape == right.shape, f"shape {left.shape} is not {right.shape}"
    if left.dtype.kind != "f":
        assert np.array_equal(left, right), "values differ"
        return
    # Sums are added in different orders: errors are relative to the largest sum.
    tolerance = 1e-10 if min(left.itemsize, right.itemsize) == 8 else 1e-3
    scale = max(float(np.nanmax(np.abs(right))), 1.0)
    np.testing.assert_allclose(left, right, rtol=0, atol=tolerance * scale)


def plain(column: Any) -> np.ndarray:
    """Convert any column to a NumPy array; nulls become NaN."""
    if isinstance(column, pa.Array | pa.ChunkedArray):
        return np.asarray(column.to_numpy(zero_copy_only=False))
    if isinstance(column, pd.Series) and isinstance(column.dtype, pd.api.extensions.ExtensionDtype):
        return column.to_numpy(dtype="float64", na_value=np.nan)
    return np.asarray(column)
