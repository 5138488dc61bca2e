"""Windows of frames in one process, against pandas and polars, and of partitions, against the floor of their tasks."""

from __future__ import annotations

import dask.dataframe as dd
import numpy as np
import pandas as pd
import polars as pl
from dask_cpu import add_nothing, threads
from timing import Bench, Work, same

import dask_gpuscan  # noqa: F401  (registers .gpuscan)

KEYS = 1000


def run(bench: Bench) -> None:
    n = bench.scale(20_000_000, 1_000_000)
    one_column(bench, n)
    by_time(bench, n)
    by_group(bench, n)
    tiny(bench)
    partitions(bench)


def one_column(bench: Bench, n: int) -> None:
    """Random float64 without nulls."""
    values = np.random.default_rng(0).random(n)
    series, polar = pd.Series(values), pl.Series(values)

    def versus(name: str, ours: Work, peers: dict[str, Work], targets: dict[str, str]) -> None:
        bench.compare(name, ours, peers, dtype="float64", n=n, check=same, targets=targets)

    scan = series.gpuscan
    for method, windows, least in (
        ("sum", (10, 1000), 2),
        ("max", (10, 1000), 3),
        ("std", (10, 1000), 2),
    ):
        for window in windows:
            versus(
                f"rolling_{method}_{window}",
                lambda w=window, m=method: getattr(scan.rolling(w), m)(),
                {
                    "pandas": lambda w=window, m=method: getattr(series.rolling(w), m)(),
                    "polars": lambda w=window, m=method: getattr(polar, f"rolling_{m}")(w),
                },
                {"polars": f"ratio >= {least}"},
            )
    for window in (10, 1000):
        versus(
            f"rolling_median_{window}",
            lambda w=window: scan.rolling(w).median(),
            {
                "pandas": lambda w=window: series.rolling(w).median(),
                "polars": lambda w=window: polar.rolling_median(w),
            },
            {},
        )
    for method in ("rank", "nunique"):
        versus(
            f"rolling_{method}_100",
            lambda m=method: getattr(scan.rolling(100), m)(),
            {"pandas": lambda m=method: getattr(series.rolling(100), m)()},
            {},
        )
    versus(
        "ewm_mean",
        lambda: scan.ewm(span=10).mean(),
        {
            "pandas": lambda: series.ewm(span=10).mean(),
            "polars": lambda: polar.ewm_mean(span=10),
        },
        {"polars": "ratio >= 2.5"},
    )
    for method in ("mean", "std"):
        versus(
            f"expanding_{method}",
            lambda m=method: getattr(scan.expanding(), m)(),
            {"pandas": lambda m=method: getattr(series.expanding(), m)()},
            {},
        )
    versus("series_shift", lambda: scan.shift(), {"pandas": series.shift}, {"pandas": "ratio >= 1"})
    versus("series_diff", lambda: scan.diff(), {"pandas": series.diff}, {"pandas": "ratio >= 1"})


def by_time(bench: Bench, n: int) -> None:
    """Windows of about 100 rows."""
    if not bench.wanted("rolling_time_sum"):
        return
    rng = np.random.default_rng(1)
    times = pd.to_datetime(np.cumsum(rng.integers(0, 2001, n)), unit="ms")
    frame = pd.DataFrame({"t": times, "x": rng.random(n)})
    polar = pl.from_pandas(frame)
    bench.compare(
        "rolling_time_sum",
        lambda: frame.gpuscan.rolling("100s", on="t").sum()["x"],
        {
            "pandas": lambda: frame.rolling("100s", on="t")["x"].sum(),
            "polars": lambda: polar.select(pl.col("x").rolling_sum_by("t", "100s"))["x"],
        },
        dtype="float64",
        n=n,
        check=same,
        rounds=bench.scale(5, 3),
    )


def by_group(bench: Bench, n: int) -> None:
    """Windows of 10 rows of each of 1,000 keys, and shifts by one row, in any order and clustered."""
    if not any(map(bench.wanted, ("groupby_rolling_sum_10", "groupby_shift"))):
        return
    rng = np.random.default_rng(2)
    mixed = pd.DataFrame({"k": rng.integers(0, KEYS, n).astype(np.int32), "x": rng.random(n)})
    adjacent = mixed.sort_values("k", kind="stable", ignore_index=True)
    for frame, clustered in ((mixed, False), (adjacent, True)):
        column = frame.gpuscan.groupby("k", clustered=clustered)["x"]
        polar = pl.from_pandas(frame)
        for name, ours, peers, targets in (
            (
                "groupby_rolling_sum_10",
                lambda c=column: c.rolling(10).sum(),
                {"polars": lambda p=polar: p.select(pl.col("x").rolling_sum(10).over("k"))["x"]},
                {"polars": "ratio >= 3"},
            ),
            (
                "groupby_shift",
                lambda c=column: c.shift(),
                {"pandas": lambda f=frame: f.groupby("k")["x"].shift()},
                {"pandas": "ratio >= 1"},
            ),
        ):
            bench.compare(
                name,
                ours,
                peers,
                dtype="int32,float64",
                n=n,
                check=same,
                rounds=bench.scale(5, 3),
                targets=targets,
                clustered=clustered,
            )


def tiny(bench: Bench) -> None:
    """A thousand rows, where the time outside the kernel counts."""
    series = pd.Series(np.random.default_rng(3).random(1000))
    bench.compare(
        "rolling_sum_10 of 1,000 rows",
        lambda: series.gpuscan.rolling(10).sum(),
        {"pandas": lambda: series.rolling(10).sum()},
        dtype="float64",
        n=1000,
        check=same,
        calls=100,
    )


def partitions(bench: Bench) -> None:
    """64 partitions, and 4,096 that are shorter than the window; the floor is one task for each partition."""
    name = "dask_rolling_sum_1000"
    if not bench.wanted(name):
        return
    for count, rows in ((64, bench.scale(1 << 20, 1 << 14)), (bench.scale(4096, 256), 300)):
        whole = np.random.default_rng(4).random(count * rows)
        parts = [pd.Series(whole[i * rows : (i + 1) * rows]) for i in range(count)]
        column = dd.from_map(_itself, parts, meta=parts[0].iloc[:0]).persist()
        expected = pd.Series(whole).rolling(1000).sum()
        with threads() as materialise:
            windows = column.gpuscan.rolling(1000).sum()
            same(pd.concat(materialise(windows)), expected)
            bench.compare(
                name,
                lambda w=windows, run=materialise: run(w),
                {"floor": lambda c=column, run=materialise: run(c.map_partitions(add_nothing))},
                dtype="float64",
                n=count * rows,
                rounds=bench.scale(5, 3),
                targets={"floor": "times_floor <= 2.2"},
                partitions=count,
            )


def _itself(part: pd.Series) -> pd.Series:
    return part
