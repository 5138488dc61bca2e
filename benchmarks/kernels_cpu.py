"""One column or array in one process: ours against pandas, polars, pyarrow and NumPy."""

from __future__ import annotations

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.compute as pc
from timing import Bench, same

import dask_gpuscan
from dask_gpuscan import kernels

TARGETS = {"pandas": "ratio >= 4", "polars": "ratio >= 2", "pyarrow": "ratio >= 2"}
RNG = np.random.default_rng(20130101)


def run(bench: Bench) -> None:
    n = bench.scale(50_000_000, 2_000_000)
    sums(bench, n)
    reproducible(bench, n)
    missing(bench, n)
    extension_dtypes(bench, n)
    operators(bench, n)
    fused(bench, n)
    two_dimensions(bench, n)
    compaction(bench, n)
    by_key(bench, n)
    sorting(bench, bench.scale(20_000_000, 2_000_000))


def column(n: int, dtype: str, nan: float = 0.0) -> np.ndarray:
    """Return random values around zero, a share of them missing."""
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
        # One peer at a time: with four allocators in turns, pages would be cold.
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


def reproducible(bench: Bench, n: int) -> None:
    """Reproducible sums, against plain ones."""
    exact, plain = dask_gpuscan.add_reproducible, dask_gpuscan.add
    for dtype in ["float64", "float32"]:
        values = column(n, dtype)

        def check(ours, theirs, values=values) -> None:
            near = 1e-4 if values.dtype == np.float32 else 1e-9
            np.testing.assert_allclose(ours, theirs, atol=near * n**0.5)

        bench.compare(
            "scan_sum_reproducible",
            lambda values=values: kernels.scan(exact, values, dtype=values.dtype)[0],
            {"ours, plain": lambda values=values: kernels.scan(plain, values)[0]},
            dtype=dtype,
            n=n,
            check=check,
            targets={"ours, plain": "ratio >= 0.5"},
        )
        bench.compare(
            "reduce_sum_reproducible",
            lambda values=values: exact.lower(kernels.reduce(exact, values)),
            {"ours, plain": lambda values=values: kernels.reduce(plain, values)},
            dtype=dtype,
            n=n,
            check=check,
            targets={"ours, plain": "ratio >= 0.667"},
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


def fused(bench: Bench, n: int) -> None:
    """Two scans of one column in one pass, against one of them, which moves 2/3 of the bytes, and against pandas."""
    frame = pd.DataFrame({"x": column(n, "float64")})
    scans = {"total": (dask_gpuscan.add, "x"), "peak": (dask_gpuscan.maximum, "x")}

    def check(both: pd.DataFrame, theirs: pd.DataFrame | pd.Series) -> None:
        alone = theirs if theirs.ndim == 1 else theirs["total"]
        same(both["total"].rename(alone.name), alone)
        same(both["peak"].rename("x"), frame["x"].cummax())

    # one peer at a time, as for sums: after pandas ours would wait for cleared pages, and the scan after it would not
    for peer, theirs in {
        "one scan": lambda: frame["x"].gpuscan.scan(dask_gpuscan.add),
        "pandas": lambda: pd.DataFrame({"total": frame["x"].cumsum(), "peak": frame["x"].cummax()}),
    }.items():
        bench.compare(
            "fused_scan_2",
            lambda: frame.gpuscan.scan(scans),
            {peer: theirs},
            dtype="float64",
            n=n,
            check=check,
            targets={"pandas": TARGETS["pandas"]},
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


def each(name: str):
    """Return a check of answers of several columns, and a peer's answers with as many."""

    def check(ours, theirs) -> None:
        assert len(ours) == len(theirs), f"{name}: {len(ours)} columns are not {len(theirs)}"
        for one, other in zip(ours, theirs, strict=True):
            same(one, other)

    return check


def clustered(n: int, mean: int) -> np.ndarray:
    """Return keys in ascending order, in runs of random lengths."""
    return np.cumsum(RNG.random(n, dtype=np.float32) < 1 / mean)


def compaction(bench: Bench, n: int) -> None:
    """Rows that are kept, the first row of each run, and run lengths."""
    if not any(bench.wanted(name) for name in ("select", "unique", "run_length_encode")):
        return
    values = column(n, "float64")
    series, polar = pd.Series(values), pl.Series(values)
    for share in (0.5, 0.01):
        keep = RNG.random(n, dtype=np.float32) < share
        flags, polar_flags = pd.Series(keep), pl.Series(keep)
        peers = {
            "pandas": lambda flags=flags: [series[flags]],
            "polars": lambda polar_flags=polar_flags: [polar.filter(polar_flags)],
        }
        for peer, theirs in peers.items():
            bench.compare(
                "select",
                lambda keep=keep: kernels.select([values], keep),
                {peer: theirs},
                dtype="float64",
                n=n,
                share=share,
                check=each("select"),
                targets={peer: "ratio >= 1"} if share == 0.5 else None,
            )
    positive = kernels.Predicate(lambda x: x > 0.0, [values])
    bench.compare(
        "select, predicate x > 0",
        lambda: kernels.select([values], positive),
        {"polars": lambda: [polar.filter(polar > 0)]},
        dtype="float64",
        n=n,
        check=each("select"),
    )
    for mean in (500, 2):
        key = clustered(n, mean)
        frame, polar_key = pd.Series(key), pl.Series(key)
        bench.compare(
            "unique",
            lambda key=key: kernels.unique([key], [key])[1],
            {"pandas": lambda frame=frame: [frame[frame != frame.shift()]]},
            dtype="int64",
            n=n,
            mean_run=mean,
            check=each("unique"),
        )
        bench.compare(
            "run_length_encode",
            lambda key=key: kernels.run_length_encode([key])[1:],
            {"polars": lambda polar_key=polar_key: [polar_key.rle().struct.field("len")]},
            dtype="int64",
            n=n,
            mean_run=mean,
            check=each("run_length_encode"),
            targets={"polars": "ratio >= 1"} if mean == 500 else None,
        )


def by_key(bench: Bench, n: int) -> None:
    """Sums and running sums of runs of equal keys."""
    if not any(bench.wanted(name) for name in ("reduce_by_key", "scan_by_key")):
        return
    add = kernels.BUILT_IN["add"]
    values, key = column(n, "float64"), clustered(n, 500)
    frame = pd.DataFrame({"key": key, "value": values})
    polar = pl.DataFrame({"key": key, "value": values}).with_columns(pl.col("key").set_sorted())
    total = pl.col("value").sum()
    peers = {
        "pandas": lambda: [frame.groupby("key", sort=False)["value"].sum()],
        "polars": lambda: [polar.group_by("key", maintain_order=True).agg(total)["value"]],
    }
    for peer, theirs in peers.items():
        bench.compare(
            "reduce_by_key",
            lambda: [kernels.reduce_by_key(add, [key], values)[1]],
            {peer: theirs},
            dtype="float64",
            n=n,
            mean_run=500,
            check=each("reduce_by_key"),
            targets={peer: "ratio >= 4"},
        )
    bench.compare(
        "scan_by_key",
        lambda: [kernels.scan_by_key(add, [key], values)[0]],
        {"pandas": lambda: [frame.groupby("key", sort=False)["value"].cumsum()]},
        dtype="float64",
        n=n,
        mean_run=500,
        check=each("scan_by_key"),
    )


def anything(n: int, dtype: str) -> np.ndarray:
    """Return random values from the whole range of an integer type, or normal ones."""
    if dtype.startswith("float"):
        return column(n, dtype)
    ends = np.iinfo(dtype)
    return RNG.integers(ends.min, ends.max, n, dtype, endpoint=True)


def sorting(bench: Bench, n: int) -> None:
    """The order of a column, a sorted column, and a column in the order of another."""
    if not any(bench.wanted(name) for name in ("argsort", "sort_keys", "sort_pairs")):
        return
    for dtype in ("int32", "int64", "float64"):
        values = anything(n, dtype)
        polar = pl.Series(values)

        def same_order(ours, theirs, values=values) -> None:
            same(values[ours], values[np.asarray(theirs)])  # polars may exchange equal rows

        bench.compare(
            "argsort",
            lambda values=values: kernels.argsort(values),
            {"polars": lambda polar=polar: polar.arg_sort()},
            dtype=dtype,
            n=n,
            check=same_order,
            targets={"polars": "ratio >= 3"} if dtype == "int32" else None,
        )
        for peer, theirs in {
            "numpy": lambda values=values: np.sort(values),
            "polars": lambda polar=polar: polar.sort(),
        }.items():
            bench.compare(
                "sort_keys",
                lambda values=values: kernels.sort(values),
                {peer: theirs},
                dtype=dtype,
                n=n,
                check=same,
                targets={peer: "ratio >= 1"},
            )
    key, value = anything(n, "int32"), anything(n, "float32")
    frame = pl.DataFrame({"key": key, "value": value})
    bench.compare(
        "sort_pairs",
        lambda: [a for arrays in kernels.sort_pairs(key, value) for a in arrays],
        {"polars": lambda: frame.sort("key", maintain_order=True).get_columns()},
        dtype="int32, float32",
        n=n,
        check=each("sort_pairs"),
        targets={"polars": "ratio >= 2"},
    )
