"""One column or array in one process: ours against pandas, polars, pyarrow and NumPy."""

from __future__ import annotations

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.compute as pc
from timing import Bench, same

import dask_gpuscan

TARGETS = {"pandas": "ratio >= 4", "polars": "ratio >= 2", "pyarrow": "ratio >= 2"}
RNG = np.random.default_rng(20130101)


def run(bench: Bench) -> None:
    n = bench.scale(50_000_000, 2_000_000)
    sums(bench, n)
    missing(bench, n)
    extension_dtypes(bench, n)
    operators(bench, n)
    two_dimensions(bench, n)


def column(n: int, dtype: str, nan: float = 0.0) -> np.ndarray:
    """Random values around zero, a share of them missing."""
    if dtype.startswith("int"):
        return RNG.integers(-100, 100, n).astype(dtype)
    values = RNG.standard_normal(n, dtype=np.float32 if dtype == "float32" else np.float64)
    if nan:
        values[RNG.random(n, dtype=np.float32) < nan] = np.nan
    return values


def sums(bench: Bench, n: int) -> None:
    """Cumsum of plain numbers."""
    for dtype in ["float64", "float32", "int64", "int32"]:
        if not bench.wanted("cumsum"):
            return
        values = column(n, dtype)
        series = pd.Series(values)
        arrow = pa.array(values)
        polar = pl.Series(values)
        peers = {
            "pandas": lambda series=series: series.cumsum(),
            "polars": lambda polar=polar: polar.cum_sum(),
            "pyarrow": lambda arrow=arrow: pc.cumulative_sum(arrow),
            "numpy": lambda values=values: np.cumsum(values, dtype=values.dtype),
        }
        # One peer at a time: four allocators that take turns leave each other's pages cold.
        for peer, theirs in peers.items():
            bench.compare(
                "cumsum",
                lambda series=series: series.gpuscan.cumsum(),
                {peer: theirs},
                dtype=dtype,
                n=n,
                check=same,
                targets=TARGETS if dtype == "float64" else None,
            )
        bench.compare(
            "cumsum of an Arrow array",
            lambda arrow=arrow: dask_gpuscan.cumsum(arrow),
            {"pyarrow": lambda arrow=arrow: pc.cumulative_sum(arrow)},
            dtype=dtype,
            n=n,
            check=same,
            targets=TARGETS if dtype == "float64" else None,
        )


def missing(bench: Bench, n: int) -> None:
    """Float64 with 10 % NaN, against pandas."""
    series = pd.Series(column(n, "float64", nan=0.1))
    scan = series.gpuscan

    def versus(name: str, ours, theirs, target: str | None = None) -> None:
        targets = {"pandas": target} if target else None
        bench.compare(
            name, ours, {"pandas": theirs}, dtype="float64", n=n, check=same, targets=targets
        )

    versus("cumsum, 10 % NaN", lambda: scan.cumsum(), lambda: series.cumsum(), "ratio >= 5")
    versus("cummax, 10 % NaN", lambda: scan.cummax(), lambda: series.cummax())
    versus("ffill, 10 % NaN", lambda: scan.ffill(), lambda: series.ffill())
    versus("ffill limit=2, 10 % NaN", lambda: scan.ffill(limit=2), lambda: series.ffill(limit=2))
    versus(
        "ewm mean, 10 % NaN",
        lambda: scan.ewm(halflife=50).mean(),
        lambda: series.ewm(halflife=50).mean(),
    )
    versus(
        "expanding mean, 10 % NaN",
        lambda: scan.expanding().mean(),
        lambda: series.expanding().mean(),
    )
    versus(
        "expanding var, 10 % NaN", lambda: scan.expanding().var(), lambda: series.expanding().var()
    )


def extension_dtypes(bench: Bench, n: int) -> None:
    """Columns with a validity mask or bitmap, 10 % null, against pandas."""
    for dtype in ["Int64", "int64[pyarrow]"]:
        name = "cumsum, 10 % null"
        if not bench.wanted(name):
            return
        values = pd.array(column(n, "int64"), dtype="Int64")
        values[RNG.random(n) < 0.1] = pd.NA
        series = pd.Series(values).astype(dtype)
        bench.compare(
            name,
            lambda series=series: series.gpuscan.cumsum(),
            {"pandas": lambda series=series: series.cumsum()},
            dtype=dtype,
            n=n,
            check=same,
        )


def operators(bench: Bench, n: int) -> None:
    """Operators that are plain Python functions, against NumPy's accumulate."""
    values = column(n, "float64")
    larger = dask_gpuscan.operator(lambda a, b: a if a > b else b, identity=-np.inf)
    bench.compare(
        "scan, Python operator a if a > b",
        lambda: dask_gpuscan.scan(values, larger),
        {"numpy": lambda: np.maximum.accumulate(values)},
        dtype="float64",
        n=n,
        check=same,
    )
    positive = np.abs(values)
    hypot = dask_gpuscan.operator(lambda a, b: np.hypot(a, b), identity=0.0)
    bench.compare(
        "scan, Python operator hypot",
        lambda: dask_gpuscan.scan(positive, hypot),
        {"numpy": lambda: np.hypot.accumulate(positive)},
        dtype="float64",
        n=n,
        check=same,
    )


def two_dimensions(bench: Bench, n: int) -> None:
    """A NumPy array of two dimensions along either axis."""
    rows = n // 1000
    values = column(rows * 1000, "float64").reshape(rows, 1000)
    for axis in (0, 1):
        bench.compare(
            f"cumsum of a 2-D array, axis={axis}",
            lambda axis=axis: dask_gpuscan.cumsum(values, axis=axis),
            {"numpy": lambda axis=axis: np.cumsum(values, axis=axis)},
            dtype="float64",
            n=values.size,
            shape=values.shape,
            check=same,
        )
