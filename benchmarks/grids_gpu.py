"""Images of CuPy arrays in one GPU's memory, against CuPy in the same run: summed-area tables and means of boxes.

    python benchmarks/grids_gpu.py [--quick] [--only NAME]

Needs RAPIDS: both sides take memory from one RMM pool. See README.md here.
"""

from __future__ import annotations

from typing import Any

import cupy as cp
from cupyx.scipy import ndimage
from grids_data import RADIUS, close
from timing_gpu import CALLS, GpuBench, arguments, finish, start

import dask_gpuscan


def run(bench: GpuBench) -> None:
    side = bench.scale(16384, 2048)
    x = cp.random.default_rng(0).random((side, side), dtype=cp.float32)
    n = x.size
    options: dict[str, Any] = {"n": n, "rounds": bench.scale(7, 3), "calls": CALLS, "check": close}
    for dtype, told, moved in (
        (cp.float32, "float32", 8 * n),
        (cp.float64, "float32, float64", 12 * n),
    ):
        bench.compare(
            "summed_area_table",
            lambda d=dtype: dask_gpuscan.summed_area_table(x, dtype=d),
            {"cupy": lambda d=dtype: cp.cumsum(cp.cumsum(x, 1, dtype=d), 0, dtype=d)},
            dtype=told,
            moved=moved,
            targets={"cupy": "ratio >= 35"} if dtype == cp.float32 else None,
            **options,
        )
    bench.compare(
        "box_filter",
        lambda: dask_gpuscan.box_filter(x, RADIUS),
        {"cupy": lambda: ndimage.uniform_filter(x, 2 * RADIUS + 1)},
        dtype="float32",
        moved=8 * n,
        targets={"cupy": "ratio >= 15"},
        **options,
    )


def main() -> None:
    options = arguments(__doc__).parse_args()
    bench = start(options)
    run(bench)
    finish(bench)


if __name__ == "__main__":
    main()
