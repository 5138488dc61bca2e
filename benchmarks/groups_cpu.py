"""Filters, runs and ordered group-by of frames in one process, and of partitions: against pandas, polars and Dask."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import dask.dataframe as dd
import numpy as np
import pandas as pd
import polars as pl
from dask_cpu import threads
from kernels_cpu import clustered, column
from timing import Bench, same

import dask_gpuscan  # noqa: F401  (registers .gpuscan)

MEAN_RUN = 500


def run(bench: Bench) -> None:
    n = bench.scale(50_000_000, 2_000_000)
    filters(bench, n)
    groups(bench, n)
    unsorted(bench, bench.scale(20_000_000, 2_000_000))
    ranks(bench, bench.scale(20_000_000, 1_000_000))
    partitions(bench)


def alike(ours: pd.DataFrame | pd.Series, theirs: Any) -> None:
    """Raise unless both hold the same columns in the same order, and pandas' the same index."""
    if isinstance(theirs, pd.DataFrame | pd.Series):
        same(ours.index, theirs.index)
    if ours.ndim == 1:
        return same(ours, theirs)
    assert list(ours.columns) == list(theirs.columns), f"{ours.columns} is not {theirs.columns}"
    for name in ours.columns:
        same(ours[name], theirs[name])


def filters(bench: Bench, n: int) -> None:
    """Half of the rows of a column, by text and by a function."""
    if not bench.wanted("frame filter"):
        return
    frame = pd.DataFrame({"x": column(n, "float64")})
    polar = pl.DataFrame({"x": frame["x"].to_numpy()})
    peers = {
        "pandas": lambda: frame[frame["x"] > 0],
        "polars": lambda: polar.filter(pl.col("x") > 0),
    }
    for kind, predicate in {"text": "x > 0", "function": lambda x: x > 0}.items():
        for peer, theirs in peers.items():
            bench.compare(
                "frame filter",
                lambda predicate=predicate: frame.gpuscan.filter(predicate),
                {peer: theirs},
                dtype="float64",
                n=n,
                check=alike,
                targets={peer: "ratio >= 1"},
                share=0.5,
                predicate=kind,
            )


def groups(bench: Bench, n: int) -> None:
    """Runs of equal keys: reduced, scanned and encoded."""
    names = ("frame groupby sum", "frame groupby cumsum", "frame rle", "frame unique_consecutive")
    if not any(map(bench.wanted, names)):
        return
    frame = pd.DataFrame({"key": clustered(n, MEAN_RUN), "value": column(n, "float64")})
    keys = frame["key"]
    polar = pl.DataFrame({name: frame[name].to_numpy() for name in frame}).with_columns(
        pl.col("key").set_sorted()
    )

    def versus(
        name: str,
        ours: Callable[[], Any],
        peers: dict[str, Callable[[], Any]],
        dtype: str,
        check: Callable[[Any, Any], None] = alike,
        target: str | None = None,
    ) -> None:
        for peer, theirs in peers.items():
            bench.compare(
                name,
                ours,
                {peer: theirs},
                dtype=dtype,
                n=n,
                check=check,
                targets={peer: target} if target else None,
                mean_run=MEAN_RUN,
            )

    def pandas_rle() -> pd.DataFrame:
        starts = np.flatnonzero((keys != keys.shift(fill_value=-1)).to_numpy())
        lengths = np.diff(starts, append=n)
        columns = {"key": keys.to_numpy()[starts], "run_start": starts, "run_length": lengths}
        return pd.DataFrame(columns)

    def polars_rle() -> pl.DataFrame:
        return polar["key"].rle().struct.unnest()

    def alike_rle(ours: pd.DataFrame, theirs: Any) -> None:
        if isinstance(theirs, pl.DataFrame):  # polars does not return where runs start
            theirs = theirs.rename({"value": "key", "len": "run_length"})
            ours = ours[["run_length", "key"]].reset_index(drop=True)
        alike(ours, theirs)

    def sums(ours: pd.DataFrame, theirs: Any) -> None:
        alike(ours.reset_index() if isinstance(theirs, pl.DataFrame) else ours, theirs)

    versus(
        "frame groupby sum",
        lambda: frame.gpuscan.groupby("key", clustered=True).sum(),
        {
            "pandas": lambda: frame.groupby("key", sort=False).sum(),
            "polars": lambda: polar.group_by("key", maintain_order=True).agg(pl.col("value").sum()),
        },
        "int64, float64",
        sums,
        "ratio >= 4",
    )
    versus(
        "frame groupby cumsum",
        lambda: frame.gpuscan.groupby("key", clustered=True).cumsum(),
        {
            "pandas": lambda: frame.groupby("key", sort=False).cumsum(),
            "polars": lambda: polar.select(pl.col("value").cum_sum().over("key")),
        },
        "int64, float64",
    )
    versus(
        "frame rle",
        lambda: keys.gpuscan.rle(),
        {"pandas": pandas_rle, "polars": polars_rle},
        "int64",
        alike_rle,
        "ratio >= 1",
    )
    versus(
        "frame unique_consecutive",
        lambda: keys.gpuscan.unique_consecutive(),
        {"pandas": lambda: keys[keys != keys.shift(fill_value=-1)]},
        "int64",
    )


def unsorted(bench: Bench, n: int) -> None:
    """Groups of rows in any order: scanned, filled, numbered and summed."""
    value = pl.col("value")
    scans = {
        "cumsum": (lambda groups: groups.cumsum(), value.cum_sum()),
        "ffill": (lambda groups: groups.ffill(), value.forward_fill()),
        "cumcount": (lambda groups: groups.cumcount(), pl.int_range(pl.len()).alias("value")),
    }
    for count in (1_000, 1_000_000):
        names = [f"groupby_unsorted_{what}_{count}" for what in (*scans, "sum")]
        if not any(map(bench.wanted, names)):
            continue
        rng = np.random.default_rng(count)
        keys = rng.integers(0, count, n, np.int32)
        frame = pd.DataFrame({"key": keys, "value": column(n, "float64", nan=0.1)})
        polar = pl.from_pandas(frame)  # with nulls in place of NaN

        def compare(
            name: str,
            ours: Callable[[], Any],
            peers: dict[str, Callable[[], Any]],
            check: Callable[[Any, Any], None],
            target: str,
            count: int = count,
        ) -> None:
            for peer, theirs in peers.items():
                bench.compare(
                    name,
                    ours,
                    {peer: theirs},
                    dtype="int32, float64",
                    n=n,
                    groups=count,
                    check=check,
                    targets={peer: target},
                )

        def alike_column(ours: Any, theirs: Any) -> None:
            same(ours, theirs["value"] if isinstance(theirs, pl.DataFrame) else theirs)

        for what, (method, expression) in scans.items():
            compare(
                f"groupby_unsorted_{what}_{count}",
                lambda method=method, frame=frame: method(frame.gpuscan.groupby("key")),
                {
                    "pandas": lambda method=method, frame=frame: method(
                        frame.groupby("key", sort=False)
                    ),
                    "polars": lambda expression=expression, polar=polar: polar.select(
                        expression.over("key")
                    ),
                },
                alike_column if what == "cumcount" else alike,
                "ratio >= 1.5" if count == 1_000 else "ratio >= 2",
            )

        def alike_sums(ours: Any, theirs: Any) -> None:
            alike(ours.reset_index() if isinstance(theirs, pl.DataFrame) else ours, theirs)

        compare(
            f"groupby_unsorted_sum_{count}",
            lambda frame=frame: frame.gpuscan.groupby("key").sum(),
            {
                "pandas": lambda frame=frame: frame.groupby("key").sum(),
                "polars": lambda polar=polar: polar.group_by("key").agg(value.sum()).sort("key"),
            },
            alike_sums,
            "ratio >= 0.9",
        )


def ranks(bench: Bench, n: int) -> None:
    """A column of distinct values, and one with few distinct values."""
    name = "series_rank"
    if not bench.wanted(name):
        return
    for distinct, values in {"all": column(n, "float64"), 1000: clustered(n, n // 1000)}.items():
        series = pd.Series(np.random.default_rng(1).permutation(values))
        polar = pl.Series(series.to_numpy())
        peers = {"pandas": lambda s=series: s.rank(), "polars": lambda s=polar: s.rank()}
        for peer, theirs in peers.items():
            bench.compare(
                name,
                lambda s=series: s.gpuscan.rank(),
                {peer: theirs},
                dtype=str(series.dtype),
                n=n,
                check=alike,
                targets={peer: "ratio >= 1"},
                rounds=3,
                distinct=distinct,
            )


# --- partitions -------------------------------------------------------------------------------------------------------


def make(number: int, rows: int) -> pd.DataFrame:
    """Return keys in runs of one length, which span partitions, and random values."""
    index = pd.RangeIndex(number * rows, (number + 1) * rows)
    values = np.random.default_rng(number).standard_normal(rows)
    return pd.DataFrame({"key": index.to_numpy() // MEAN_RUN, "value": values}, index=index)


def partitions(bench: Bench) -> None:
    """64 partitions on two threads, against Dask's own methods."""
    count, rows = 64, bench.scale(500_000, 20_000)
    names = [f"frame {what}, 64 partitions" for what in ("filter", "groupby sum", "groupby cumsum")]
    if not any(map(bench.wanted, names)):
        return
    frame = dd.from_map(make, range(count), rows=rows, meta=make(0, 1)).persist()
    filtering, sums, scans = names

    def check(ours: Any, theirs: Any) -> None:
        alike(pd.concat(ours), pd.concat(theirs).sort_index())  # Dask's groups come in any order

    with threads() as materialise:
        for name, ours, theirs, dtype in [
            (
                filtering,
                lambda: materialise(frame.gpuscan.filter("value > 0")),
                lambda: materialise(frame[frame["value"] > 0]),
                "float64",
            ),
            (
                sums,
                lambda: materialise(frame.gpuscan.groupby("key", clustered=True).sum()),
                lambda: materialise(frame.groupby("key").sum()),
                "int64, float64",
            ),
            (
                scans,
                lambda: materialise(frame.gpuscan.groupby("key", clustered=True).cumsum()),
                lambda: materialise(frame.groupby("key").cumsum()),
                "int64, float64",
            ),
        ]:
            bench.compare(
                name,
                ours,
                {"dask": theirs},
                dtype=dtype,
                n=count * rows,
                partitions=count,
                check=check,
                rounds=3,
            )
