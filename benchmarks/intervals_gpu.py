"""Intervals of CuPy arrays against the time to move their bytes, and decoding of runs of cuDF frames against cuDF.

    python benchmarks/intervals_gpu.py [--quick] [--only NAME]

Needs RAPIDS. Every result is checked before it is timed. The time of intervals is the device's for two parts: counts
are checked and added up, and items are copied. In between the host waits for the number of items, as a caller of CUB
does; that wait is left out. See README.md here.
"""

from __future__ import annotations

from typing import Any

import cudf
import cupy as cp
from compaction_gpu import Clock
from gpu import median_ms
from intervals_data import KINDS, counts_of, numbers, places, sectors, shuffled
from timing import merge
from timing_gpu import GpuBench, arguments, finish, same, start

import dask_gpuscan
from dask_gpuscan.kernels import cuda, interval_move, run_length_decode


def both_parts(
    clock: Clock, counts: Any, of: Any, to: Any, source: Any, out: Any, repeats: bool
) -> float:
    """Time the check and sum of counts, and then the copy of items."""
    lengths = len(source), 0 if out is None else len(out)
    found = cuda.intervals(counts, of, to, lengths)
    ms = clock.ms(lambda: cuda.intervals(counts, of, to, lengths))
    return ms + median_ms(lambda: cuda.copy_intervals(found, source, out, repeats=repeats), calls=8)


def copies(bench: GpuBench, clock: Clock, kind: str) -> None:
    """Expand, gather and move items of eight bytes."""
    n = bench.scale(1 << 27, 1 << 20)
    names = ("interval_expand", "interval_gather", "interval_move")
    if not any(map(bench.wanted, names)):
        return
    counts = counts_of(cp, kind, n)
    total = int(counts.sum())
    values = cp.random.default_rng(1).random(len(counts))
    source, out = cp.random.default_rng(2).random(total), cp.empty(total)
    of, to = shuffled(cp, counts, 3), shuffled(cp, counts, 4)
    reads, writes = places(cp, of, counts), places(cp, to, counts)
    same(run_length_decode(counts, [values])[0], values[numbers(cp, counts)])
    same(interval_move(counts, source, gather=of), source[reads])
    expected = cp.empty(total)
    expected[writes] = source[reads]
    same(interval_move(counts, source, gather=of, scatter=to, out=out), expected)
    del reads, writes, expected

    each, read, written = 8 * len(counts), sectors(of, counts), sectors(to, counts)
    for name, sides, target, given, moved in (
        ("interval_expand", (None, None), None, values, 2 * each + 8 * total),
        ("interval_gather", (of, None), None, source, 2 * each + read + 8 * total),
        ("interval_move", (of, to), out, source, 3 * each + read + written),
    ):
        if not bench.wanted(name):
            continue
        ms = both_parts(clock, counts, *sides, given, target, name == "interval_expand")
        limit = round(1e3 * moved / bench.copied, 5)
        bench.record(
            name, "float64", n, ms, "limit", limit, limit_ms=limit, intervals=kind,
            target=f"ratio >= {0.6 if name == 'interval_move' else 0.8}",
        )  # fmt: skip
    merge(bench.output, bench.records)


def decode(bench: GpuBench, mean: int) -> None:
    """Decode runs of random lengths."""
    n = bench.scale(1 << 27, 1 << 20)
    random = cp.random.default_rng(mean)
    lengths = random.integers(1, 2 * mean, n // mean).astype("int64")
    runs = cudf.DataFrame({"key": random.integers(0, 1 << 40, len(lengths)), "run_length": lengths})

    def alike(ours: Any, theirs: Any) -> None:
        same(ours["key"].values, theirs["key"].values)

    bench.compare(
        "rle_decode",
        lambda: dask_gpuscan.rle_decode(runs),
        {"cudf": lambda: runs[["key"]].repeat(runs["run_length"])},
        dtype="int64",
        n=n,
        check=alike,
        rounds=bench.scale(15, 3),
        calls=12,
        moved=16 * len(lengths) + 8 * int(lengths.sum()),
        targets={"cudf": "ratio >= 2"},
        mean_run=mean,
    )


def main() -> None:
    options = arguments(__doc__).parse_args()
    bench = start(options)
    clock = Clock()
    for kind in KINDS:
        copies(bench, clock, kind)
    for mean in (500, 2):
        decode(bench, mean)
    finish(bench)


if __name__ == "__main__":
    main()
