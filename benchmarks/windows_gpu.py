"""Windows of cuDF frames on one GPU, against cuDF in the same run, or against a copy if it has no such method.

    python benchmarks/windows_gpu.py [--quick] [--only NAME]

Needs RAPIDS (cuDF). Windows over partitions are in dask_gpu.py, which frames_gpu.py runs. See README.md here.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import cudf
import cupy as cp
from frames_gpu import values
from timing_gpu import CALLS, GpuBench, arguments, finish, start

from dask_gpuscan import kernels

MEDIAN = "rolling_median"

ROLLING = {
    "rolling_sum_10": "ratio >= 1.5",
    "rolling_sum_100": "ratio >= 4",
    "rolling_sum_1000": "ratio >= 40",
    "rolling_max_10": "ratio >= 5",
    "rolling_max_100": "ratio >= 7",
    "rolling_max_1000": "ratio >= 40",
    "rolling_std_100": "ratio >= 8",
}


def series(bench: GpuBench) -> None:
    """One column of float64: shifted rows, and windows of a number of rows."""
    n = bench.scale(1 << 27, 1 << 20)
    s = cudf.Series(values(n, "float64"))
    options: Any = {"dtype": "float64", "n": n, "moved": 16 * n, "rounds": bench.scale(7, 3)}
    options["calls"] = CALLS
    for name, target in (("shift", "ratio >= 2"), ("diff", "ratio >= 4.5")):
        bench.compare(
            f"series_{name}",
            lambda name=name: getattr(s.gpuscan, name)(),
            {"cudf": lambda name=name: getattr(s, name)()},
            check=near,
            targets={"cudf": target},
            **options,
        )
    for name, target in ROLLING.items():
        _, method, window = name.split("_")
        bench.compare(
            name,
            lambda m=method, w=int(window): getattr(s.gpuscan.rolling(w), m)(),
            {"cudf": lambda m=method, w=int(window): getattr(s.rolling(w), m)()},
            check=near,
            targets={"cudf": target},
            **options,
        )
    for window in (3, 10, 31, 100, 255, 1000):
        against_limit(
            bench,
            f"{MEDIAN}_{window}",
            lambda w=window: s.gpuscan.rolling(w).median(),
            s.values,
            "float64",
            n,
            None,
        )
    for name, method in (  # at least half as fast as a copy
        ("ewm_mean", lambda: s.gpuscan.ewm(span=10).mean()),
        ("expanding_mean", lambda: s.gpuscan.expanding().mean()),
        ("expanding_std", lambda: s.gpuscan.expanding().std()),
    ):
        against_limit(bench, name, method, s.values, "float64", n, "ratio >= 0.5")


def by_time(bench: GpuBench) -> None:
    """Windows of about 100 rows. All times differ: windows of cuDF also have later rows of the same time."""
    n = bench.scale(1 << 27, 1 << 20)
    steps = cp.random.default_rng(1).integers(1, 2000, n)
    times = cudf.Series(cp.cumsum(steps)).astype("datetime64[ms]")
    s = cudf.Series(values(n, "float64"), index=cudf.DatetimeIndex(times))
    del steps, times
    bench.compare(
        "rolling_time_sum",
        lambda: s.gpuscan.rolling("100s").sum(),
        {"cudf": lambda: s.rolling("100s").sum()},
        dtype="float64",
        n=n,
        check=near,
        moved=24 * n,
        rounds=bench.scale(7, 3),
        calls=CALLS,
        targets={"cudf": "ratio >= 4"},
    )


def by_group(bench: GpuBench) -> None:
    """Windows of 10 rows of each of 1,000 keys, clustered and in any order."""
    n = bench.scale(1 << 26, 1 << 20)
    keys = cp.random.default_rng(2).integers(0, 1000, n, dtype=cp.int32)
    x = values(n, "float64")
    for clustered, target in ((True, "ratio >= 20"), (False, "ratio >= 6")):
        k = cp.sort(keys) if clustered else keys
        df = cudf.DataFrame({"k": k, "x": x})

        def check(
            ours: Any, theirs: Any, k: Any = k
        ) -> None:  # cuDF's answers are in the order of groups
            order = kernels.argsort(k)
            near(cudf.Series(ours.values[order]), cudf.Series(theirs.values))

        bench.compare(
            "groupby_rolling_sum_10",
            lambda df=df, c=clustered: df.gpuscan.groupby("k", clustered=c)["x"].rolling(10).sum(),
            {"cudf": lambda df=df: df.groupby("k", sort=True)["x"].rolling(10).sum()},
            dtype="int32,float64",
            n=n,
            check=check,
            moved=20 * n,
            rounds=bench.scale(3, 3),
            calls=CALLS,
            targets={"cudf": target},
            clustered=clustered,
        )


def against_limit(
    bench: GpuBench,
    name: str,
    ours: Callable[[], Any],
    data: Any,
    dtype: str,
    n: int,
    target: str | None = "ratio >= 0.6",
) -> None:
    """Compare with a copy of the data into existing memory, as no peer has the method."""
    if bench.wanted(name):
        room = cp.empty_like(data)
        bench.compare(
            name,
            ours,
            {"limit": lambda: cp.copyto(room, data)},
            dtype=dtype,
            n=n,
            moved=2 * data.nbytes,
            rounds=bench.scale(7, 3),
            calls=1 if name.startswith(MEDIAN) else CALLS,
            targets={} if target is None else {"limit": target},
        )


def near(ours: Any, theirs: Any) -> None:
    """Check for the same nulls, and the same values up to the order in which numbers are added."""
    assert bool((ours.isnull() == theirs.isnull()).all()), "nulls differ"
    left, right = ours.fillna(0).values, theirs.fillna(0).values
    assert bool(cp.allclose(left, right, rtol=1e-6, atol=1e-6)), "values differ"


def main() -> None:
    options = arguments(__doc__).parse_args()
    bench = start(options)
    series(bench)
    if bench.wanted("rolling_time_sum"):
        by_time(bench)
    if bench.wanted("groupby_rolling_sum_10"):
        by_group(bench)
    finish(bench)


if __name__ == "__main__":
    main()
