"""What the benchmarks of cuDF frames share: a memory pool, records with their limits, checks, arguments.

Needs RAPIDS (cuDF, RMM). See README.md here.
"""

from __future__ import annotations

import argparse
import platform
import subprocess
import sys
import time
import traceback
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import cudf
import cupy as cp
import numpy as np
import rmm
from rmm.allocators.cupy import rmm_cupy_allocator
from timing import ROOT, Bench, Work, commit, merge, versions

PACKAGES = (
    *("cudf-cu13", "dask-cudf-cu13", "dask-cuda", "rmm-cu13", "dask", "distributed"),
    *("cupy-cuda13x", "numba-cuda", "cuda-core", "numpy", "pandas"),
)
POOL = 32 << 30

CALLS = 20
"""Calls that are timed together if one takes few milliseconds: an idle host takes 0.3 ms to start."""


class GpuBench(Bench):
    """Records of one run on GPUs, each with its limit; others go on if one fails."""

    def __init__(self, gpus: int, output: Path, **options: Any) -> None:
        context = {"machine": machine(gpus), "versions": versions(PACKAGES), "commit": commit()}
        context["memory"] = "one RMM pool for ours and the peer"
        super().__init__(settle=settle, context=context, **options)
        self.gpus, self.output = gpus, output
        self.failed: list[str] = []
        self.copied = copy_rate()
        print(f"{context['machine']}: copies {self.copied / 1e12:.3f} TB/s", flush=True)

    def compare(
        self,
        name: str,
        ours: Work,
        peers: Mapping[str, Work],
        *,
        dtype: str,
        n: int,
        moved: int | None = None,
        **options: Any,
    ) -> None:
        """Compare, and record the time that the memory of all GPUs needs to move `moved` bytes."""
        limit = None if moved is None else round(1e3 * moved / self.copied / self.gpus, 5)
        try:
            super().compare(name, ours, peers, dtype=dtype, n=n, limit_ms=limit, **options)
        except Exception:
            self.failed.append(f"{name} ({dtype}) against {', '.join(peers)}")
            print(f"FAILED: {self.failed[-1]}\n{traceback.format_exc()}", flush=True)
        merge(self.output, self.records)  # keep what was measured, even after an error


def settle() -> None:
    cp.cuda.Device().synchronize()


def copy_rate() -> float:
    """Return the bytes per second that are read and written when 1 GiB is copied on the device."""
    source = cp.ones(1 << 27)
    target = cp.empty_like(source)
    seconds = []
    for _ in range(15):
        settle()
        start = time.perf_counter()
        for _ in range(8):
            cp.cuda.runtime.memcpyAsync(
                target.data.ptr,
                source.data.ptr,
                source.nbytes,
                cp.cuda.runtime.memcpyDeviceToDevice,
                cp.cuda.get_current_stream().ptr,
            )
        settle()
        seconds.append((time.perf_counter() - start) / 8)
    return 2 * source.nbytes / float(np.median(seconds))


def machine(gpus: int) -> str:
    name = cp.cuda.runtime.getDeviceProperties(0)["name"].decode()
    query = ["nvidia-smi", "--query-gpu=driver_version", "--format=csv,noheader", "--id=0"]
    driver = subprocess.run(query, check=True, capture_output=True, text=True).stdout.strip()
    cuda = divmod(cp.cuda.runtime.runtimeGetVersion() // 10, 100)
    count = f"{gpus} " if gpus > 1 else ""
    return f"{count}{name}, driver {driver}, CUDA {cuda[0]}.{cuda[1]}, {platform.machine()}"


def same(ours: Any, theirs: Any, tolerance: float | None = None) -> None:
    """Raise unless both hold the same values and nulls; floats may differ by the rounding of the largest."""
    assert type(ours) is type(theirs), f"{type(ours)} is not {type(theirs)}"
    assert ours.dtype == theirs.dtype, f"{ours.dtype} is not {theirs.dtype}"
    assert ours.shape == theirs.shape, f"{ours.shape} is not {theirs.shape}"
    if isinstance(ours, cudf.Series):
        assert bool((ours.isnull() == theirs.isnull()).all()), "nulls differ"
        ours, theirs = ours.fillna(0).values, theirs.fillna(0).values
    if ours.dtype.kind != "f":
        assert bool((ours == theirs).all()), "values differ"
        return
    tolerance = tolerance or (1e-10 if ours.itemsize == 8 else 1e-3)
    gap = float(cp.abs(ours - theirs).max())
    assert gap <= tolerance * max(float(cp.abs(theirs).max()), 1.0), f"values differ by {gap}"


def arguments(description: str | None) -> argparse.ArgumentParser:
    """Return a parser of the arguments that all of these scripts take."""
    parser = argparse.ArgumentParser(
        description=description, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--dask", action="store_true", help="partitions on a LocalCUDACluster")
    parser.add_argument("--gpus", type=int, default=1, help="of the cluster; default 1")
    parser.add_argument("--quick", action="store_true", help="small sizes; to see that it runs")
    parser.add_argument("--only", default="", metavar="NAME", help="only names that contain this")
    parser.add_argument("--output", type=Path, help="default: results/h200/records.json")
    return parser


def use_pool() -> None:
    """Take all memory, also CuPy's, from one pool, as Dask-CUDA workers with a pool do."""
    rmm.reinitialize(pool_allocator=True, initial_pool_size=POOL)
    cp.cuda.set_allocator(rmm_cupy_allocator)


def start(options: argparse.Namespace) -> GpuBench:
    """Take memory from one pool, and return the collector of records."""
    use_pool()
    results = ROOT / "benchmarks" / "results" / "h200"
    output = options.output or results / ("quick.json" if options.quick else "records.json")
    return GpuBench(options.gpus, output, quick=options.quick, only=options.only)


def finish(bench: GpuBench) -> None:
    """Report missed targets and failures; exit with 1 if there are any."""
    print(f"\n{len(bench.records)} records -> {bench.output}")
    for record in bench.records:
        if record.get("met") is False:
            print(f"MISSED: {record['name']} ({record['dtype']}): {record['target']}")
    for failure in bench.failed:
        print(f"FAILED: {failure}")
    sys.exit(bool(bench.failed))
