"""Intervals of NumPy arrays against NumPy, and runs decoded against pandas and polars."""

from __future__ import annotations

import numpy as np
import pandas as pd
import polars as pl
from intervals_data import KINDS, counts_of, shuffled
from timing import Bench, same

import dask_gpuscan
from dask_gpuscan.kernels import interval_move, run_length_decode


def run(bench: Bench) -> None:
    for kind in KINDS:
        copies(bench, kind)
    for mean in (500, 2):
        decode(bench, mean)


def copies(bench: Bench, kind: str) -> None:
    """Expand, gather and move items of eight bytes; NumPy's side computes their places."""
    if not any(map(bench.wanted, ("interval_expand", "interval_gather", "interval_move"))):
        return
    n = bench.scale(50_000_000, 2_000_000)
    counts = counts_of(np, kind, n)
    total, random = int(counts.sum()), np.random.default_rng(1)
    values, source = random.random(len(counts)), random.random(total)
    of, to = shuffled(np, counts, 3), shuffled(np, counts, 4)
    out, theirs = np.empty(total), np.empty(total)

    def places(offsets: np.ndarray) -> np.ndarray:
        return np.repeat(offsets - (np.cumsum(counts) - counts), counts) + np.arange(total)

    def move() -> np.ndarray:
        theirs[places(to)] = source[places(of)]
        return theirs

    for name, ours, numpy in (
        (
            "interval_expand",
            lambda: run_length_decode(counts, [values])[0],
            lambda: np.repeat(values, counts),
        ),
        (
            "interval_gather",
            lambda: interval_move(counts, source, gather=of),
            lambda: source[places(of)],
        ),
        (
            "interval_move",
            lambda: interval_move(counts, source, gather=of, scatter=to, out=out),
            move,
        ),
    ):
        bench.compare(
            name, ours, {"numpy": numpy}, dtype="float64", n=n, check=same, intervals=kind
        )


def decode(bench: Bench, mean: int) -> None:
    """Decode runs of random lengths."""
    if not bench.wanted("rle_decode"):
        return
    n, random = bench.scale(50_000_000, 2_000_000), np.random.default_rng(mean)
    lengths = random.integers(1, 2 * mean, n // mean)
    runs = pd.DataFrame({"key": random.integers(0, 1 << 40, len(lengths)), "run_length": lengths})
    polar = pl.from_pandas(runs)
    peers = {
        "pandas": lambda: runs["key"].repeat(runs["run_length"]),
        "polars": lambda: polar.select(pl.col("key").repeat_by("run_length").explode())["key"],
    }
    for peer, theirs in peers.items():
        bench.compare(
            "rle_decode",
            lambda: dask_gpuscan.rle_decode(runs)["key"],
            {peer: theirs},
            dtype="int64",
            n=n,
            check=same,
            mean_run=mean,
        )
