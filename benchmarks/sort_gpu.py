"""Sorting CuPy arrays on one GPU, against CUB's radix sort and CuPy in the same run.

    python benchmarks/sort_gpu.py [--output benchmarks/results/h200/records.json]

Needs nvcc for CUB's side (cub_sort.cu). All bits of keys are random. Every result is checked before it is timed; times
are those of the Python call, on the device's clock, as in gpu.py.
"""

import argparse
import sys
from pathlib import Path

import cupy as cp
from gpu import HERE, Records, cub, median_ms
from timing import merge

from dask_gpuscan import kernels


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--output", default=str(HERE / "results" / "h200" / "records.json"))
    parser.add_argument("--log2-n", type=int, default=28)
    arguments = parser.parse_args()
    peers = cub(arguments.log2_n, "cub_sort")
    records = Records(peers, arguments.log2_n, "float32")
    try:
        measure(records, 1 << arguments.log2_n)
    finally:  # keep what was measured, even after an error
        merge(Path(arguments.output), records.rows)


def measure(records, large):
    rng = cp.random.default_rng(0)
    keys = rng.integers(0, 1 << 32, large, dtype=cp.uint32)
    values = rng.random(large, dtype=cp.float32)
    out = kernels.sort(keys)
    assert bool((out == cp.sort(keys)).all())
    ms = median_ms(lambda: kernels.sort(keys))
    records.add("sort_keys", "uint32", large, ms, 36 * large, "sort_keys")
    (out,), (moved,) = kernels.sort_pairs(keys, values)
    order = cp.argsort(keys)
    assert bool((out == keys[order]).all() and (moved == values[order]).all())
    del out, moved, order
    ms = median_ms(lambda: kernels.sort_pairs(keys, values))
    records.add("sort_pairs", "uint32,float32", large, ms, 68 * large, "sort_pairs")
    n = large // 2
    for dtype in ("int32", "int64", "float64"):
        x = rng.standard_normal(n) if dtype == "float64" else keys[:n].view(dtype)
        if dtype == "int64":
            x = rng.integers(-(1 << 62), 1 << 62, n, dtype=cp.int64)
        assert bool((kernels.argsort(x) == cp.argsort(x, kind="stable")).all())
        ours, theirs = (
            median_ms(lambda x=x: kernels.argsort(x)),
            median_ms(lambda x=x: cp.argsort(x)),
        )
        records.versus("argsort", dtype, n, ours, "cupy", theirs)
    few = keys[:n] % 1000
    assert bool((kernels.argsort(few) == cp.argsort(few, kind="stable")).all())
    ours, theirs = median_ms(lambda: kernels.argsort(few)), median_ms(lambda: cp.argsort(few))
    records.versus("argsort_of_1000", "uint32", n, ours, "cupy", theirs)
    small = keys[: 1 << 16]
    ours, theirs = median_ms(lambda: kernels.sort(small)), median_ms(lambda: cp.sort(small))
    records.versus("sort_keys", "uint32", 1 << 16, ours, "cupy", theirs)


if __name__ == "__main__":
    sys.exit(main())
