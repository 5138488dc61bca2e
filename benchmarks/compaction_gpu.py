"""Compaction and ordered group-by of CuPy arrays on one GPU, against CUB and memcpy in the same run.

    python benchmarks/compaction_gpu.py [--output benchmarks/results/h200/records.json]

Needs nvcc for CUB's side (cub_compaction.cu). Every result is checked before it is timed. Times are medians of 15, on
the device's clock, from the start of a call's work to the end of its kernel. Both leave out the wait for the count of
rows, which CUB's callers need as well. Ours writes where runs start (8 bytes for each run), CUB copies their keys (4).
"""

import argparse
from pathlib import Path

import cupy as cp
import numpy as np
from gpu import HERE, Records, cub
from timing import merge

from dask_gpuscan.kernels import (
    BUILT_IN,
    Predicate,
    partition,
    reduce_by_key,
    run_length_encode,
    scan_by_key,
    select,
    unique,
)
from dask_gpuscan.kernels.cuda.core.launch import Launch

RUNS = (2, 25, 500, 1_000_000)
"""Mean lengths of runs. With runs of 25, or 4 % of rows, only some tiles have so many marked rows that they hold their
stage."""


class Clock:
    """Times a call on the device from its first work to the end of its kernel."""

    def __init__(self):
        self.busy = cp.ones((8192, 8192), "f4")
        self.start, self.stop = cp.cuda.Event(), cp.cuda.Event()
        read = Launch.read

        def timed(launch):
            self.stop.record()
            return read(launch)

        Launch.read = timed

    def ms(self, call, repeats=15):
        times = []
        for _ in range(repeats):
            for _ in range(8):  # keep the device busy while the host prepares the launch
                self.busy += 1
            self.start.record()
            call()
            self.stop.synchronize()
            times.append(cp.cuda.get_elapsed_time(self.start, self.stop))
        return float(np.median(times))


def equal(found, expected):
    assert len(found) == len(expected), f"{len(found)} rows, not {len(expected)}"
    assert bool((found == expected).all()), "values differ"


def close(found, expected):
    assert len(found) == len(expected), f"{len(found)} rows, not {len(expected)}"
    assert bool(cp.allclose(found, expected, rtol=1e-4, atol=1)), "values differ"


def compactions(records, clock, n):
    x = cp.random.default_rng(0).integers(0, 1000, n, dtype=np.int32)
    for share, bound in ((50, 500), (4, 40), (1, 10)):
        less = Predicate(lambda x, c: x < c, [x, bound])
        equal(select([x], less)[0], x[x < bound])
        ms = clock.ms(lambda less=less: select([x], less))
        size = 4 * n * (100 + share) // 100
        name = f"select_{share}"
        records.add(name, "int32", n, ms, size, name, writes=share > 10)
    flags = x < 20
    equal(select([x], flags)[0], x[flags])
    ms = clock.ms(lambda: select([x], flags))
    sectors = n // 8 * (1 - 0.98**8)  # of 32 bytes, with a row that is kept
    size = int(n + 32 * sectors + 4 * n / 50)
    records.add("select_by_flags_2", "int32", n, ms, size, writes=False)
    less = Predicate(lambda x, c: x < c, [x, 500])
    (kept,), (rest,) = partition([x], less)
    equal(kept, x[x < 500])
    equal(rest, x[x >= 500])
    del kept, rest
    ms = clock.ms(lambda: partition([x], less))
    records.add("partition_50", "int32", n, ms, 8 * n, "partition_50")


def runs(records, clock, n, mean):
    """Operations by key, with runs of random lengths."""
    random = cp.random.default_rng(mean)
    heads = random.integers(0, mean, n, dtype=np.int32) == 0
    heads[0] = True
    starts = cp.flatnonzero(heads)
    keys = [cp.cumsum(heads, dtype="i4")]
    values = random.integers(0, 1000, n, dtype=np.int32).astype("f4")
    totals = cp.cumsum(values, dtype="f8")
    before = totals[starts] - values[starts]
    count = len(starts)
    add = BUILT_IN["add"]

    def measure(name, dtype, call, size, writes=mean < 10):
        name = f"{name}_{mean}"
        records.add(name, dtype, n, clock.ms(call), size, name, writes=writes)

    found, lengths = run_length_encode(keys)
    equal(found, starts)
    equal(lengths, cp.diff(starts, append=cp.asarray([n])))
    found, lengths = run_length_encode(keys, dtype="i4")  # as many bytes as CUB writes
    equal(found, starts.astype("i4"))
    equal(lengths, cp.diff(starts, append=cp.asarray([n])).astype("i4"))
    measure(
        "run_length_encode",
        "int32",
        lambda: run_length_encode(keys, dtype="i4"),
        4 * n + 8 * count,
    )
    found, (firsts,) = unique(keys, keys)
    equal(found, starts)
    equal(firsts, keys[0][starts])
    found, (firsts,) = unique(keys, keys, positions=False)
    equal(firsts, keys[0][starts])
    measure("unique", "int32", lambda: unique(keys, keys, positions=False), 4 * n + 4 * count)
    found, sums = reduce_by_key(add, keys, values, dtype="f4")
    equal(found, starts)
    close(sums, cp.diff(before, append=totals[-1:]))
    del found, lengths, firsts, sums
    by_key = "int32,float32"
    size = 8 * n + 12 * count
    measure("reduce_by_key", by_key, lambda: reduce_by_key(add, keys, values, dtype="f4"), size)
    out, _ = scan_by_key(add, keys, values, dtype="f4")
    at = random.integers(0, n, 1_000_000)
    close(out[at], totals[at] - before[keys[0][at] - 1])
    del out, totals
    measure("scan_by_key", by_key, lambda: scan_by_key(add, keys, values, dtype="f4"), 12 * n, True)


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--output", default=str(HERE / "results" / "h200" / "records.json"))
    parser.add_argument("--log2-n", type=int, default=28)
    parser.add_argument(
        "--quick", dest="log2_n", action="store_const", const=24, help="of fewer rows"
    )
    arguments = parser.parse_args()
    n = 1 << arguments.log2_n
    records = Records(cub(arguments.log2_n, "cub_compaction"), arguments.log2_n)
    clock = Clock()
    compactions(records, clock, n)
    for mean in RUNS:
        runs(records, clock, n, mean)
    merge(Path(arguments.output), records.rows)


if __name__ == "__main__":
    main()
