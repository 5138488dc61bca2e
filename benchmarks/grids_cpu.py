"""Images of NumPy arrays: summed-area tables against NumPy, means of boxes against SciPy."""

from __future__ import annotations

import numpy as np
from grids_data import RADIUS, close
from scipy import ndimage
from timing import Bench

import dask_gpuscan


def run(bench: Bench) -> None:
    if not any(map(bench.wanted, ("summed_area_table", "box_filter"))):
        return
    side = bench.scale(8192, 2048)
    x = np.random.default_rng(0).random((side, side), dtype=np.float32)
    n = x.size
    for dtype, told in ((np.float32, "float32"), (np.float64, "float32, float64")):
        bench.compare(
            "summed_area_table",
            lambda d=dtype: dask_gpuscan.summed_area_table(x, dtype=d),
            {"numpy": lambda d=dtype: np.cumsum(np.cumsum(x, 1, dtype=d), 0, dtype=d)},
            dtype=told,
            n=n,
            check=close,
            targets={"numpy": "ratio >= 1.5"},
        )
    bench.compare(
        "box_filter",
        lambda: dask_gpuscan.box_filter(x, RADIUS),
        {"scipy": lambda: ndimage.uniform_filter(x, 2 * RADIUS + 1)},
        dtype="float32",
        n=n,
        check=close,
        targets={"scipy": "ratio >= 2"},
    )
