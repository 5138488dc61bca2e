"""As-of merges of frames and streams in one process, against pandas and polars, and of partitions, against pandas."""

from __future__ import annotations

from typing import Any

import dask.dataframe as dd
import numpy as np
import pandas as pd
import polars as pl
from dask_cpu import threads
from groups_cpu import alike
from timing import Bench

from dask_gpuscan import merge_asof, stream

KEYS = 1000
TIMES = 10**9


def run(bench: Bench) -> None:
    frames(bench)
    partitions(bench)
    streams(bench)


def make(rows: int, value: str, seed: int) -> pd.DataFrame:
    """Return random times in order, keys and floats."""
    rng = np.random.default_rng(seed)
    times, keys = np.sort(rng.integers(0, TIMES, rows)), rng.integers(0, KEYS, rows)
    return pd.DataFrame({"time": times, "key": keys, value: rng.random(rows)})


def frames(bench: Bench) -> None:
    """Without keys, and with a key of 1,000 values; polars' frames are marked as sorted."""
    name = "merge_asof"
    if not bench.wanted(name):
        return
    n = bench.scale(20_000_000, 1_000_000)
    sides = make(n, "x", 0), make(n // 20, "y", 1)
    for by in ([], ["key"]):
        left, right = (side[["time", *by, value]] for side, value in zip(sides, "xy", strict=True))
        polar = [pl.from_pandas(side).set_sorted("time") for side in (left, right)]
        keys: dict[str, Any] = {"by": by[0]} if by else {}
        peers = {
            "pandas": lambda a=left, b=right, keys=keys: pd.merge_asof(a, b, on="time", **keys),
            "polars": lambda a=polar[0], b=polar[1], keys=keys: a.join_asof(
                b, on="time", check_sortedness=False, **keys
            ),
        }
        bench.compare(
            name,
            lambda a=left, b=right, keys=keys: merge_asof(a, b, on="time", **keys),
            peers,
            dtype="int64, float64",
            n=n,
            check=alike,
            rounds=bench.scale(5, 3),
            targets=dict.fromkeys(peers, "ratio >= 2"),
            keys=KEYS if by else 0,
        )


def partitions(bench: Bench) -> None:
    """64 left partitions and 16 right ones, against one call of pandas on the whole data."""
    name = "dask_merge_asof"
    if not bench.wanted(name):
        return
    n = bench.scale(20_000_000, 640_000)
    left, right = make(n, "x", 0), make(n // 20, "y", 1)
    lazy = [
        dd.from_pandas(side, npartitions=count, sort=False).persist()
        for side, count in ((left, 64), (right, 16))
    ]
    with threads() as materialise:
        bench.compare(
            name,
            lambda: materialise(merge_asof(*lazy, on="time", by="key")),
            {"pandas": lambda: pd.merge_asof(left, right, on="time", by="key")},
            dtype="int64, float64",
            n=n,
            partitions=64,
            check=lambda ours, theirs: alike(pd.concat(ours), theirs),
            rounds=3,
            keys=KEYS,
        )


def streams(bench: Bench) -> None:
    """Batches of both sides, with a quarter as many rows on the right; polars streams too, where it can."""
    name = "stream_merge_asof"
    if not bench.wanted(name):
        return
    n, size = bench.scale(20_000_000, 640_000), bench.scale(1_000_000, 64_000)
    left, right = make(n, "x", 0), make(n // 4, "y", 1)
    batches = [[side[i : i + size] for i in range(0, len(side), size)] for side in (left, right)]
    lazy = [pl.from_pandas(side).set_sorted("time").lazy() for side in (left, right)]
    peers = {
        "pandas": lambda: pd.merge_asof(left, right, on="time", by="key"),
        "polars": lambda: (
            lazy[0]
            .join_asof(lazy[1], on="time", by="key", check_sortedness=False)
            .collect(engine="streaming")
        ),
    }
    bench.compare(
        name,
        lambda: merge_asof(*map(stream, batches), on="time", by="key").compute(),
        peers,
        dtype="int64, float64",
        n=n,
        check=alike,
        rounds=bench.scale(5, 3),
        keys=KEYS,
    )
