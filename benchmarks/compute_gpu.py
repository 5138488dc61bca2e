"""Primitives of CuPy arrays on one GPU against cuda.compute, which a kernel author would take instead.

    python benchmarks/compute_gpu.py [--output benchmarks/results/h200/records.json]

Needs the package cuda-cccl, and numba-cuda-mlir for operators in Python. Every result is checked before it is timed.
Times of 2**28 items are the device's, as in gpu.py; those of 1,000 items are the host's for a warm call. Both sides
allocate their outputs in each call. First calls use an operator that was not compiled before, with an empty cache.
"""

import argparse
import os
import sys
import tempfile
import time
from importlib.metadata import version
from pathlib import Path

import cuda.compute as cc
import cupy as cp
import numpy as np
from gpu import HERE, Records, host_us, median_ms
from timing import merge

from dask_gpuscan import operator
from dask_gpuscan.kernels import BUILT_IN, Predicate, scan, select, sort

PEER = "cuda.compute"


def inclusive(op, x):
    out = cp.empty_like(x)
    cc.inclusive_scan(d_in=x, d_out=out, op=op, init_value=None, num_items=len(x))
    return out


def ordered(x):
    out = cp.empty_like(x)
    cc.radix_sort(
        d_in_keys=x, d_out_keys=out, d_in_values=None, d_out_values=None, num_items=len(x),
        order=cc.SortOrder.ASCENDING,
    )  # fmt: skip
    return out


def kept(x, cond):
    out, count = cp.empty_like(x), cp.empty(2, np.int64)
    cc.select(d_in=x, d_out=out, d_num_selected_out=count, cond=cond, num_items=len(x))
    return out[: int(count[0])]


def larger(a, b):
    return b if b > a else a


def small(x):
    return x < 500


def first_call_ms(call):
    begin = time.perf_counter()
    call()
    cp.cuda.Device().synchronize()
    return (time.perf_counter() - begin) * 1e3


def measure(records, large):
    rng = cp.random.default_rng(0)
    add, maximum = BUILT_IN["add"], operator(larger, identity=-(2**31))

    def compare(name, dtype, n, ours, theirs):
        found, expected = ours(), theirs()
        assert bool((found == expected).all()), name
        del found, expected
        records.versus(name, dtype, n, median_ms(ours), PEER, median_ms(theirs))

    def plus(x):
        return scan(add, x, dtype=x.dtype, carry_out=False)[0]

    for dtype, n in (("int32", large), ("float64", large // 2)):
        x = rng.integers(0, 1000, n, dtype=np.int32).astype(dtype)
        compare("scan_sum", dtype, n, lambda x=x: plus(x), lambda x=x: inclusive(cc.OpKind.PLUS, x))
        compare(
            "scan_python", dtype, n,
            lambda x=x: scan(maximum, x, carry_out=False)[0], lambda x=x: inclusive(larger, x),
        )  # fmt: skip
    x = rng.integers(0, 1000, large, dtype=np.int32)
    less = Predicate(lambda x, c: x < c, [x, 500])
    compare("select_50", "int32", large, lambda: select([x], less)[0], lambda: kept(x, small))
    x = rng.integers(0, 1 << 32, large, dtype=cp.uint32)
    compare("sort_keys", "uint32", large, lambda: sort(x), lambda: ordered(x))
    x = cp.ones(1000)
    ours, theirs = host_us(lambda: plus(x)), host_us(lambda: inclusive(cc.OpKind.PLUS, x))
    records.versus("host_scan", "float64", 1000, ours / 1e3, PEER, theirs / 1e3)

    def fresh(a, b):
        return a if a < b else b - 0.0

    theirs = first_call_ms(lambda: inclusive(fresh, x))
    ours = first_call_ms(lambda: scan(operator(fresh, identity=np.inf), x, carry_out=False))
    records.versus("first_scan_python", "float64", 1000, ours, PEER, theirs)


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--output", default=str(HERE / "results" / "h200" / "records.json"))
    parser.add_argument("--log2-n", type=int, default=28)
    arguments = parser.parse_args()
    cache = tempfile.TemporaryDirectory()
    os.environ["DASK_GPUSCAN_CACHE"] = cache.name
    records = Records([], arguments.log2_n)
    names = ("cuda-cccl", "numba-cuda-mlir")
    records.common["versions"] |= {name: version(name) for name in names}
    try:
        measure(records, 1 << arguments.log2_n)
    finally:  # keep what was measured, even after an error
        merge(Path(arguments.output), records.rows)


if __name__ == "__main__":
    sys.exit(main())
