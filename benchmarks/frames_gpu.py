"""Series, arrays and Dask collections on GPUs, against cuDF, CuPy and dask-cudf in the same run.

    python benchmarks/frames_gpu.py [--series] [--dask] [--gpus N] [--quick] [--only NAME]

Needs RAPIDS (cuDF, dask-cudf, Dask-CUDA). Ours and the peers take their memory from the same RMM pool and take
turns on the same random data; every answer is checked before it is timed. See README.md here.
"""

from __future__ import annotations

import argparse
import cProfile
import platform
import pstats
import subprocess
import sys
import time
import traceback
from collections.abc import Callable, Mapping
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any

import cudf
import cupy as cp
import numpy as np
import rmm
from rmm.allocators.cupy import rmm_cupy_allocator
from timing import ROOT, Bench, Work, commit, merge

import dask_gpuscan

PACKAGES = [
    *("cudf-cu13", "dask-cudf-cu13", "dask-cuda", "rmm-cu13", "dask", "distributed"),
    *("cupy-cuda13x", "numba-cuda", "cuda-core", "numpy", "pandas"),
]
POOL = 32 << 30


class GpuBench(Bench):
    """Records of one run on GPUs: each knows its limit, and one that fails leaves the others alone."""

    def __init__(self, gpus: int, output: Path, **options: Any) -> None:
        context = {"machine": machine(gpus), "versions": versions(), "commit": commit()}
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
        """Compare, and record the time that the memory of all GPUs needs to move so many bytes."""
        limit = None if moved is None else round(1e3 * moved / self.copied / self.gpus, 5)
        try:
            super().compare(name, ours, peers, dtype=dtype, n=n, limit_ms=limit, **options)
        except Exception:
            self.failed.append(f"{name} ({dtype}) against {', '.join(peers)}")
            print(f"FAILED: {self.failed[-1]}\n{traceback.format_exc()}", flush=True)
        merge(self.output, self.records)  # what was measured is kept, whatever comes


def settle() -> None:
    cp.cuda.Device().synchronize()


def copy_rate() -> float:
    """Bytes read and written in a second when 1 GiB is copied on the device."""
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


def versions() -> dict[str, str]:
    found = {"python": platform.python_version()}
    for package in PACKAGES:
        try:
            found[package] = version(package)
        except PackageNotFoundError:
            continue
    return found


# --- data and checks --------------------------------------------------------------------------------------------------


def values(n: int, dtype: str) -> cp.ndarray:
    """Random numbers around zero, so that running sums stay small."""
    rng = cp.random.default_rng(20130101)
    if dtype.startswith("int"):
        return rng.integers(-100, 100, n).astype(dtype)
    return rng.standard_normal(n).astype(dtype, copy=False)


def column(n: int, dtype: str, nulls: float = 0.0) -> cudf.Series:
    series = cudf.Series(values(n, dtype))
    if nulls:
        series = series.where(cudf.Series(cp.random.default_rng(1).random(n) >= nulls))
        assert nulls / 2 < float(series.isnull().mean()) < 2 * nulls
    return series


def row_bytes(data: Any, name: str) -> int:
    """Bytes of an element and its answer; integers are summed to int64."""
    size = data.dtype.itemsize
    widened = "cumsum" in name and data.dtype.kind in "iu"
    return size + (8 if widened else size)


def same(ours: Any, theirs: Any, tolerance: float | None = None) -> None:
    """Raise unless both hold the same values and nulls, floats up to rounding of the largest."""
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


def nearly_same(ours: Any, theirs: Any) -> None:
    """Compare averages: those of cuDF 26.10 are up to 1.2e-8 away from pandas', ours 2e-15."""
    same(ours, theirs, tolerance=1e-7)


# --- one column -------------------------------------------------------------------------------------------------------


def series(bench: GpuBench) -> None:
    """One cuDF Series, against cuDF's own method."""
    n = bench.scale(1 << 27, 1 << 20)

    def versus(
        name: str,
        method: Callable[[Any], Any],
        dtype: str,
        *,
        nulls: float = 0.0,
        rows: int = n,
        target: str | None = None,
    ) -> None:
        if not bench.wanted(name):
            return
        s = column(rows, dtype, nulls)
        share = {"nulls": nulls} if nulls else {}
        bitmaps = 2 * rows // 8 if nulls else 0
        small = rows < 10_000
        bench.compare(
            name,
            lambda: method(s.gpuscan),
            {"cudf": lambda: method(s)},
            dtype=dtype,
            n=rows,
            check=nearly_same if name == "series_ewm" else same,
            rounds=bench.scale(15, 3),
            calls=500 if small else 4,
            moved=None if small else rows * row_bytes(s, name) + bitmaps,
            targets={"cudf": target} if target else None,
            **share,
        )

    for dtype, target in [
        ("int32", "ratio >= 3"),
        ("float32", None),
        ("int64", None),
        ("float64", "ratio >= 1.5"),
    ]:
        versus("series_cumsum", lambda s: s.cumsum(), dtype, target=target)
    versus("series_cumsum", lambda s: s.cumsum(), "float64", nulls=0.1)
    for dtype in ("int32", "float64"):
        versus("series_cummax", lambda s: s.cummax(), dtype)
    versus("series_cummax", lambda s: s.cummax(), "float64", nulls=0.1)
    versus("series_ffill", lambda s: s.ffill(), "float64", nulls=0.1, target="ratio >= 5")
    versus("series_ewm", lambda s: s.ewm(halflife=50).mean(), "float64")
    for dtype, nulls in [("float64", 0.0), ("int32", 0.0), ("float64", 0.1)]:
        target = "ratio >= 2" if dtype == "float64" and not nulls else None
        versus(
            "series_cumsum_1000",
            lambda s: s.cumsum(),
            dtype,
            nulls=nulls,
            rows=1000,
            target=target,
        )


def arrays(bench: GpuBench) -> None:
    """One CuPy array, against CuPy's own function."""
    for name, n, dtypes in [
        ("array_cumsum", bench.scale(1 << 27, 1 << 20), ("int32", "float32", "float64")),
        ("array_cumsum_1000", 1000, ("float64",)),
    ]:
        for dtype in dtypes if bench.wanted(name) else ():
            x = values(n, dtype)
            small = n < 10_000
            bench.compare(
                name,
                lambda x=x: dask_gpuscan.cumsum(x),
                {"cupy": lambda x=x: cp.cumsum(x)},
                dtype=dtype,
                n=n,
                check=same,
                rounds=bench.scale(15, 3),
                calls=500 if small else 4,
                moved=None if small else n * row_bytes(x, name),
                targets={"cupy": "ours_ms <= 0.03"} if small else None,
            )


def profile() -> None:
    """Print where the time of a call on 1,000 rows goes."""
    s, x = column(1000, "float64"), values(1000, "float64")
    calls = {"series": lambda: s.gpuscan.cumsum(), "array": lambda: dask_gpuscan.cumsum(x)}
    for title, call in calls.items():
        call()
        profiler = cProfile.Profile()
        profiler.enable()
        for _ in range(1000):
            call()
        profiler.disable()
        print(f"\n1,000 calls on 1,000 rows: {title}")
        pstats.Stats(profiler, stream=sys.stdout).sort_stats("tottime").print_stats(28)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--series", action="store_true", help="Series and arrays in one process")
    parser.add_argument("--dask", action="store_true", help="partitions on a LocalCUDACluster")
    parser.add_argument("--gpus", type=int, default=1, help="of the cluster; default 1")
    parser.add_argument("--quick", action="store_true", help="small sizes; to see that it runs")
    parser.add_argument("--only", default="", metavar="NAME", help="only names that contain this")
    parser.add_argument("--profile", action="store_true", help="also print where the time goes")
    parser.add_argument("--output", type=Path, help="default: results/h200.json")
    options = parser.parse_args()
    quick = "h200-quick.json" if options.quick else "h200.json"
    output = options.output or ROOT / "benchmarks" / "results" / quick
    both = not options.series and not options.dask

    rmm.reinitialize(pool_allocator=True, initial_pool_size=POOL)
    cp.cuda.set_allocator(rmm_cupy_allocator)
    bench = GpuBench(options.gpus, output, quick=options.quick, only=options.only)
    if options.series or both:
        series(bench)
        arrays(bench)
        if options.profile:
            profile()
    if options.dask or both:
        import dask_gpu

        dask_gpu.run(bench, profiled=options.profile)
    print(f"\n{len(bench.records)} records -> {output}")
    for record in bench.records:
        if record.get("met") is False:
            print(f"MISSED: {record['name']} ({record['dtype']}): {record['target']}")
    for failure in bench.failed:
        print(f"FAILED: {failure}")
    sys.exit(bool(bench.failed))


if __name__ == "__main__":
    main()
