"""Columns of cuDF's lists on one GPU: a running sum in each list against its limit, and explode against cuDF.

    python benchmarks/lists_gpu.py [--quick] [--only NAME]

Needs RAPIDS (cuDF). See README.md here.
"""

from __future__ import annotations

from typing import Any

import cudf
import cupy as cp
import pylibcudf as plc
from groups_gpu import alike
from timing_gpu import CALLS, GpuBench, arguments, finish, start

MEAN = 10
"""The mean number of items of a list."""


def lists(items: cp.ndarray) -> tuple[cp.ndarray, cudf.Series]:
    """Return random offsets that cut items into lists, some of them empty, and a column of these lists."""
    count = len(items) // MEAN
    cuts = cp.random.default_rng(20261122).integers(0, len(items) + 1, count - 1, dtype=cp.int32)
    ends = cp.asarray([len(items)], cp.int32)
    offsets = cp.concatenate([cp.zeros(1, cp.int32), cp.sort(cuts), ends])
    children = [plc.Column.from_cuda_array_interface(each) for each in (offsets, items)]
    kind = plc.DataType(plc.TypeId.LIST)
    column = plc.Column(kind, count, None, None, 0, 0, children)
    return offsets, cudf.Series.from_pylibcudf(column)


def cumsum(bench: GpuBench, items: cp.ndarray, offsets: cp.ndarray, series: cudf.Series) -> None:
    """Running sums, which read items and offsets and write items; cuDF has no such method."""
    source = cp.empty(len(items) + len(offsets) // 4)
    target = cp.empty_like(source)

    def check(ours: Any, _: Any) -> None:
        found = ours.list.leaves.values
        before = cp.concatenate([cp.zeros(1), cp.cumsum(items)])
        rows = cp.searchsorted(offsets[1:], cp.arange(len(items)), side="right")
        expected = before[1:] - before[offsets[:-1]][rows]
        assert bool(cp.allclose(found, expected, rtol=1e-6, atol=1e-6)), "values differ"

    bench.compare(
        "list_cumsum",
        lambda: series.gpuscan.list.cumsum(),
        {"limit": lambda: cp.copyto(target, source)},
        dtype="float64",
        n=len(items),
        check=check,
        moved=16 * len(items) + 4 * len(offsets),
        rounds=bench.scale(7, 3),
        calls=CALLS,
        targets={"limit": "ratio >= 0.75"},
        mean_list=MEAN,
    )


def explode(bench: GpuBench, items: cp.ndarray, offsets: cp.ndarray, series: cudf.Series) -> None:
    """One row for each item, with the number of its list."""
    df = cudf.DataFrame({"x": series, "n": cp.arange(len(series))})
    bench.compare(
        "explode",
        lambda: df.gpuscan.explode("x"),
        {"cudf": lambda: df.explode("x")},
        dtype="float64, int64",
        n=len(items),
        check=alike,
        moved=32 * len(items) + 12 * len(offsets),
        rounds=bench.scale(7, 3),
        calls=bench.scale(5, 2),
        targets={"cudf": "ratio >= 2"},
        mean_list=MEAN,
    )


def main() -> None:
    options = arguments(__doc__).parse_args()
    bench = start(options)
    items = cp.random.default_rng(20261123).standard_normal(bench.scale(1 << 27, 1 << 20))
    offsets, series = lists(items)
    if bench.wanted("list_cumsum"):
        cumsum(bench, items, offsets, series)
    if bench.wanted("explode"):
        explode(bench, items, offsets, series)
    finish(bench)


if __name__ == "__main__":
    main()
