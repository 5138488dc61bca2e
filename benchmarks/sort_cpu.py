"""Sorts of frames in one process, against pandas and polars, and of partitions, against Dask's own sort."""

from __future__ import annotations

from typing import Any

import dask
import dask.dataframe as dd
import numpy as np
import pandas as pd
import polars as pl
from dask_cpu import threads
from groups_cpu import alike
from timing import Bench

import dask_gpuscan  # noqa: F401  (registers .gpuscan)

COLUMNS = {"key": "int32", "value": "float64", "other": "int64"}


def run(bench: Bench) -> None:
    frames(bench)
    partitions(bench)


def make(number: int, rows: int) -> pd.DataFrame:
    """Return three columns: keys from the whole range of their dtype, random floats, integers up to a million."""
    rng = np.random.default_rng(number)
    keys = rng.integers(-(2**31), 2**31, rows, dtype=np.int32)
    columns = {"key": keys, "value": rng.random(rows), "other": rng.integers(0, 10**6, rows)}
    return pd.DataFrame(columns)


def frames(bench: Bench) -> None:
    """Sorts by one key and by two, all stable."""
    name = "frame_sort_values"
    if not bench.wanted(name):
        return
    n = bench.scale(20_000_000, 1_000_000)
    frame = make(0, n)
    few = frame.assign(key=(frame["key"] % 1000).astype(np.int32))  # ties for the second key
    for data, by in ((frame, ["key"]), (few, ["key", "other"])):
        polar = pl.DataFrame({name: data[name].to_numpy() for name in data})
        peers = {
            "pandas": lambda d=data, by=by: d.sort_values(by, kind="stable"),
            "polars": lambda p=polar, by=by: p.sort(by, maintain_order=True),
        }
        for peer, theirs in peers.items():
            bench.compare(
                name,
                lambda d=data, by=by: d.gpuscan.sort_values(by),
                {peer: theirs},
                dtype=", ".join(str(data[key].dtype) for key in by),
                n=n,
                check=alike,
                rounds=bench.scale(5, 3),
                targets={"polars": "ratio >= 2"},
                columns=len(COLUMNS),
            )


def partitions(bench: Bench) -> None:
    """64 partitions on two threads; Dask moves rows by tasks, which is faster here than by disk, its default."""
    name = "dask_sort_values"
    if not bench.wanted(name):
        return
    count, n = 64, bench.scale(20_000_000, 640_000)
    frame = dd.from_map(make, range(count), rows=n // count, meta=make(0, 1)).persist()

    def check(ours: Any, theirs: Any) -> None:  # Dask's sort is not stable
        ours, theirs = pd.concat(ours), pd.concat(theirs)
        alike(ours["key"].reset_index(drop=True), theirs["key"].reset_index(drop=True))
        assert ours["other"].sum() == theirs["other"].sum()

    def dasks(materialise: Any, way: str) -> Any:
        with dask.config.set({"dataframe.shuffle.method": way}):
            # Dask caches where it cuts a collection; the token makes a new one
            fresh = frame.map_partitions(lambda part: part, meta=frame._meta, token=next(TOKENS))
            return materialise(fresh.sort_values("key"))

    with threads() as materialise:
        for peer, way in (("dask", "disk"), ("dask, tasks", "tasks")):
            bench.compare(
                name,
                lambda: materialise(frame.gpuscan.sort_values("key")),
                {peer: lambda way=way: dasks(materialise, way)},
                dtype="int32",
                n=n,
                partitions=count,
                columns=len(COLUMNS),
                check=check,
                rounds=3,
                targets={"dask": "ratio >= 1.5"},
            )


TOKENS = (f"fresh-{number}" for number in range(1_000_000))
