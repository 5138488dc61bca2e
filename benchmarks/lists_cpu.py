"""Columns of Arrow's lists: ours against pandas' idiom and polars."""

from __future__ import annotations

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
from timing import Bench

import dask_gpuscan  # noqa: F401 (registers .gpuscan)

MEAN = 10
"""The mean number of items of a list."""


def run(bench: Bench) -> None:
    n = bench.scale(20_000_000, 2_000_000)
    if not any(map(bench.wanted, ("list_cumsum", "explode"))):
        return
    rng = np.random.default_rng(20261122)
    cuts = np.sort(rng.integers(0, n + 1, n // MEAN - 1, dtype=np.int32))
    offsets = np.concatenate([[0], cuts, [n]]).astype(np.int32)
    array = pa.ListArray.from_arrays(pa.array(offsets), pa.array(rng.standard_normal(n)))
    series = pd.Series(pd.arrays.ArrowExtensionArray(pa.chunked_array([array])))
    polar = pl.Series("x", pl.from_arrow(array))
    frame = pd.DataFrame({"x": series, "n": np.arange(len(series))})
    polars_frame = pl.DataFrame({"x": polar, "n": frame["n"].to_numpy()})

    def idiom() -> pd.Series:
        items = series.explode()
        return items.groupby(level=0).cumsum()

    bench.compare(
        "list_cumsum",
        lambda: series.gpuscan.list.cumsum(),
        {"pandas": idiom, "polars": lambda: polar.list.eval(pl.element().cum_sum())},
        dtype="float64",
        n=n,
        check=same_items,
        targets={"pandas": "ratio >= 10", "polars": "ratio >= 2"},
        mean_list=MEAN,
    )
    bench.compare(
        "explode",
        lambda: frame.gpuscan.explode("x"),
        {"pandas": lambda: frame.explode("x"), "polars": lambda: polars_frame.explode("x")},
        dtype="float64, int64",
        n=n,
        check=lambda ours, theirs: same_items(ours["x"], theirs["x"]),
        mean_list=MEAN,
    )


def same_items(ours: pd.Series, theirs: pd.Series | pl.Series) -> None:
    """Raise unless both hold the same items; polars has no row for an empty list, so zeros and nulls are left out."""
    left, right = (np.nan_to_num(items(each)) for each in (ours, theirs))
    left, right = left[left != 0], right[right != 0]
    assert left.shape == right.shape, f"{len(left)} items are not {len(right)}"
    assert np.allclose(left, right, rtol=1e-9, atol=1e-9), "values differ"


def items(series: pd.Series | pl.Series) -> np.ndarray:
    """Return a column, or the items of its lists."""
    arrow = series.to_arrow() if isinstance(series, pl.Series) else pa.array(series)
    if isinstance(arrow, pa.ChunkedArray):
        arrow = arrow.combine_chunks()
    if isinstance(arrow, pa.ListArray | pa.LargeListArray):
        arrow = arrow.flatten()
    return arrow.cast(pa.float64()).to_numpy(zero_copy_only=False)
