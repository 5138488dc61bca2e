"""Series, arrays and Dask collections on GPUs, against cuDF, CuPy and dask-cudf in the same run.

    python benchmarks/frames_gpu.py [--series] [--dask] [--gpus N] [--quick] [--only NAME]

Needs RAPIDS (cuDF, dask-cudf, Dask-CUDA). Ours and the peers take their memory from the same RMM pool and take
turns on the same random data; every answer is checked before it is timed. See README.md here.
"""

from __future__ import annotations

import cProfile
import pstats
import sys
from collections.abc import Callable
from typing import Any

import cudf
import cupy as cp
from timing_gpu import CALLS, GpuBench, arguments, finish, same, start

import dask_gpuscan

# --- data and checks --------------------------------------------------------------------------------------------------


def values(n: int, dtype: str) -> cp.ndarray:
    """Return random numbers around zero, so that running sums stay small."""
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
    """Return the bytes of an element and its answer; integers are summed to int64."""
    size = data.dtype.itemsize
    widened = "cumsum" in name and data.dtype.kind in "iu"
    return size + (8 if widened else size)


def nearly_same(ours: Any, theirs: Any) -> None:
    """Compare averages: those of cuDF 26.10 differ from pandas' by up to 1.2e-8, ours by 2e-15."""
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
            rounds=bench.scale(7, 3),
            calls=500 if small else CALLS,
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
    versus("series_rank", lambda s: s.rank(), "float64", target="ratio >= 4")
    for dtype, nulls in [("float64", 0.0), ("int32", 0.0), ("float64", 0.1)]:
        versus(
            "series_cumsum_1000",
            lambda s: s.cumsum(),
            dtype,
            nulls=nulls,
            rows=1000,
            target="ratio >= 2",
        )


def fused(bench: GpuBench) -> None:
    """Two scans of one column in one pass, against one of them, which moves 2/3 of the bytes."""
    n = bench.scale(1 << 27, 1 << 20)
    if not bench.wanted("fused_scan_2"):
        return
    frame = cudf.DataFrame({"x": values(n, "float64")})
    scans = {"total": (dask_gpuscan.add, "x"), "peak": (dask_gpuscan.maximum, "x")}

    def check(both: cudf.DataFrame, total: cudf.Series) -> None:
        same(both["total"].rename("x"), total)
        same(both["peak"].rename("x"), frame["x"].cummax())

    bench.compare(
        "fused_scan_2",
        lambda: frame.gpuscan.scan(scans),
        {"one scan": lambda: frame["x"].gpuscan.scan(dask_gpuscan.add)},
        dtype="float64",
        n=n,
        check=check,
        rounds=bench.scale(7, 3),
        calls=CALLS,
        moved=3 * 8 * n,
        targets={"one scan": "times_one_scan <= 1.35"},
    )


def keys(n: int, dtype: str) -> cp.ndarray:
    """Return random numbers from the whole range of an integer dtype, or floats around zero."""
    rng = cp.random.default_rng(20130101)
    if dtype.startswith("int"):
        ends = cp.iinfo(dtype)
        return rng.integers(ends.min, ends.max, n, dtype=dtype)
    return rng.standard_normal(n).astype(dtype, copy=False)


def sorts(bench: GpuBench) -> None:
    """Rows in order: a Series by its values, a frame of three columns by one key and by two."""
    n = bench.scale(1 << 27, 1 << 20)
    options: Any = {"n": n, "rounds": bench.scale(5, 3), "calls": 5}
    targets = {"int32": "ratio >= 4", "int64": "ratio >= 2.3", "float64": "ratio >= 6"}
    for dtype, target in targets.items() if bench.wanted("series_sort_values") else ():
        s = cudf.Series(keys(n, dtype))
        bench.compare(
            "series_sort_values",
            lambda s=s: s.gpuscan.sort_values(),
            {"cudf": lambda s=s: s.sort_values()},
            dtype=dtype,
            check=same,
            moved=n * (2 * s.dtype.itemsize + 8),  # the index counts, and is written as int64
            targets={"cudf": target},
            **options,
        )
    if not bench.wanted("frame_sort_values"):
        return
    frame = cudf.DataFrame({name: keys(n, name) for name in ("int32", "float64", "int64")})

    def alike(ours: cudf.DataFrame, theirs: cudf.DataFrame, by: list[str]) -> None:
        for name in frame:  # the order of equal keys is undefined in cuDF
            if name in by:
                assert bool((ours[name].values == theirs[name].values).all()), name
        rows = cp.random.default_rng(5).integers(0, n, 100_000)
        found = ours.take(rows)
        again = frame.take(found.index)
        for name in frame:
            assert bool((found[name].values == again[name].values).all()), name

    for by, target in ((["int32"], "ratio >= 2"), (["int32", "int64"], "ratio >= 5")):
        bench.compare(
            "frame_sort_values",
            lambda by=by: frame.gpuscan.sort_values(by),
            {"cudf": lambda by=by: frame.sort_values(by)},
            dtype=",".join(by),
            check=lambda ours, theirs, by=by: alike(ours, theirs, by),
            columns=3,
            moved=n * (2 * (4 + 8 + 8) + 8),
            targets={"cudf": target},
            **options,
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
                calls=500 if small else CALLS,
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
    parser = arguments(__doc__)
    parser.add_argument("--series", action="store_true", help="Series and arrays in one process")
    parser.add_argument("--profile", action="store_true", help="also print where the time goes")
    options = parser.parse_args()
    both = not options.series and not options.dask
    bench = start(options)
    if options.series or both:
        series(bench)
        fused(bench)
        sorts(bench)
        arrays(bench)
        if options.profile:
            profile()
    if options.dask or both:
        import dask_gpu

        dask_gpu.run(bench, profiled=options.profile)
    finish(bench)


if __name__ == "__main__":
    main()
