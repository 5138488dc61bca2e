"""A small call for each family of kernels, whose answer is compared with the CPU's.

Inputs are a few tiles long: longer ones show nothing else, and racecheck takes minutes for them.
"""

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from dask_gpuscan import kernels
from dask_gpuscan.kernels import BUILT_IN, BoundWindows, RowWindows
from dask_gpuscan.kernels.factorize import flags_at
from dask_gpuscan.kernels.grids import box_filter, summed_area_table
from dask_gpuscan.kernels.keys import factorize_words
from dask_gpuscan.kernels.operators.compensated import SUM, UNCOUNTED_SUM
from dask_gpuscan.kernels.options import RANKS, Distinct, Quantile, Rank
from dask_gpuscan.kernels.rolling import window_starts
from dask_gpuscan.kernels.sorted_values import searchsorted_sorted, tied_ranks

ROWS = 20_002

Family = Callable[[Any], Iterator[Any]]
"""Yields answers, and takes what brings an array to where it is computed."""


def _values() -> np.ndarray:
    return np.random.default_rng(0).integers(-9, 9, ROWS).astype("f8")


def _runs() -> np.ndarray:
    return np.sort(np.random.default_rng(1).integers(0, 3000, ROWS)).astype("i4")


def _scan(on: Any) -> Iterator[Any]:
    x = on(_values())
    for reverse in (False, True):
        yield kernels.scan(BUILT_IN["add"], x, reverse=reverse)[0]
    for name in ("welford", "add_reproducible"):
        yield kernels.scan(BUILT_IN[name], x)[0]
    for dtype in ("f4", "f8"):  # the last also with zeros
        yield kernels.scan(BUILT_IN["multiply"], on((1 + _values() / 1000).astype(dtype)))[0]
    yield kernels.scan(BUILT_IN["multiply"], x)[0]
    yield kernels.scan(BUILT_IN["add"], on(_values().view("i1")), dtype="i1")[0]
    yield kernels.reduce(BUILT_IN["add"], x[1:-1])
    for axis in (0, 1):
        yield kernels.scan(BUILT_IN["add"], x.reshape(-1, 2), axis=axis)[0]
    yield kernels.scan(BUILT_IN["add"], x.reshape(-1, 2), axis=0, nulls=kernels.InBand())[0]
    for width in (7, 30, 70):
        rows = x[: len(x) // width * width].reshape(-1, width)
        yield kernels.scan(BUILT_IN["add"], rows, axis=0)[0]
        yield kernels.scan(BUILT_IN["add"], rows, axis=1)[0]


def _sorts(on: Any) -> Iterator[Any]:
    x, few = on(_values()), on(_runs()[::-1].copy())
    yield kernels.sort(x)
    yield kernels.argsort(x)
    yield kernels.sort(x[:3000])
    yield kernels.sort(few)
    _, first = factorize_words(few.view("u4"))
    yield flags_at(first, len(few))


def _by_code(on: Any) -> Iterator[Any]:
    codes = np.random.default_rng(2).integers(0, 500, ROWS).astype("i4")
    yield from kernels.scan_by_code(BUILT_IN["add"], on(codes), on(_values()), 500)
    yield from kernels.reduce_by_code(
        BUILT_IN["add"], on(codes), on(_values()), 900, occurring=True
    )


def _searches(on: Any) -> Iterator[Any]:
    left, right = _runs(), _runs()[::7]
    yield searchsorted_sorted(on(left), on(right))
    yield kernels.asof(on(left), on(right))
    codes = on((left % 3).astype("i4")), on((right % 3).astype("i4"))
    yield kernels.asof(on(left), on(right), codes, 3, direction="nearest")


def _rolling(on: Any) -> Iterator[Any]:
    x, add = on(_values()), BUILT_IN["add"]
    for before in (2, 99, 2999, 6000):
        yield kernels.rolling(add, x, RowWindows(before))
        yield kernels.rolling(UNCOUNTED_SUM, x, RowWindows(before))
    stops = np.arange(1, ROWS + 1)
    for length in (10, 3000):
        bounds = BoundWindows(on(np.maximum(stops - length, 0)), on(stops))
        yield kernels.rolling(add, x, bounds)


def _order(on: Any) -> Iterator[Any]:
    median = Quantile(0.5, "linear")
    for before in (2, 6, 9, 30, 40, 99, 199, 299, 999, 2999):  # all shapes
        for asked in (median, Rank(), Distinct()):
            yield kernels.order_statistics(asked, on(_values()), RowWindows(before), least=1)


def _moves(on: Any) -> Iterator[Any]:
    rng = np.random.default_rng(3)
    rows, x = rng.permutation(ROWS), on(_values())
    yield kernels.take(x, on(rows))
    yield kernels.put(x, on(rows))
    wide = rng.integers(-(1 << 60), 1 << 60, ROWS)
    wide[::3] &= -(1 << 40)
    keys, moved = kernels.sort_pairs(on(wide), x)
    yield from (*keys, *moved)
    keys, moved = kernels.sort_pairs([on(_runs()), on(wide)], [x], positions=True)
    yield from (*keys, *moved)


def _packs(on: Any) -> Iterator[Any]:
    x, runs = on(_values()), on(_runs())
    columns = [x, runs, x > 0, runs.astype("i2"), -x, x[::-1].copy()]
    keys, moved = kernels.sort_pairs(runs[::-1].copy(), columns, positions=True)
    yield from (*keys, *moved)


def _intervals(on: Any) -> Iterator[Any]:
    rng = np.random.default_rng(4)
    counts = rng.integers(0, 7, ROWS // 4)
    offsets, total = counts.cumsum() - counts, int(counts.sum())
    x = on(_values())
    yield from kernels.run_length_decode(on(counts), [x[: len(counts)]])
    yield kernels.interval_move(on(counts), x, gather=on(offsets))
    out = on(np.zeros(total))
    kernels.interval_move(on(counts), x[:total], scatter=on(offsets), out=out)
    yield out


def _boxes(on: Any) -> Iterator[Any]:
    image = on(_values()[:20_000].reshape(100, 200))
    yield box_filter(image, 3)
    yield box_filter(image, 60)
    yield box_filter(image, 3, axes=0)
    yield box_filter(on(_values()), 60)


def _selections(on: Any) -> Iterator[Any]:
    yield from kernels.select([on(_values())], on(_runs() % 3 == 0))
    narrow = _values().view("i2")
    few = np.random.default_rng(5).random(len(narrow)) < 0.03  # some warps hold their tile for it
    yield from kernels.select([on(narrow)], on(few))


def _by_key(on: Any) -> Iterator[Any]:
    x, keys = on(_values()), on(_runs())
    yield from kernels.reduce_by_key(BUILT_IN["add"], keys, x)[:2]
    for each in (keys, on(_runs() // 100)):  # some warps meet many runs, others few
        yield kernels.reduce_by_key(SUM, each, x, lower=True)[1]


def _ranks(on: Any) -> Iterator[Any]:
    keys = on(_runs())
    for how in RANKS:
        yield tied_ranks(keys, how)
        yield tied_ranks(keys, how, groups=keys // 3)


FAMILIES: dict[str, Family] = {
    "scan": _scan,
    "select": _selections,
    "unique": lambda on: iter(kernels.unique(on(_runs()))),
    "run_lengths": lambda on: iter(kernels.run_length_encode(on(_runs()))),
    "reduce_by_key": _by_key,
    "scan_by_key": lambda on: iter(
        kernels.scan_by_key(op, on(_runs()), on(_values()))[0] for op in (BUILT_IN["add"], SUM)
    ),
    "head_flags": lambda on: iter([kernels.head_flags(on(_runs()))]),
    "count_digits": _sorts,
    "sort_digit": _sorts,
    "sort_few": _sorts,
    "mark_ties": _moves,
    "place_rows": _moves,
    "move_rows": _moves,
    "pack_rows": _packs,
    "tied_ranks": _ranks,
    "sorted_search": _searches,
    "by_code": _by_code,
    "rolling": _rolling,
    "window_starts": lambda on: iter(
        [window_starts(on(_runs().astype("i8")), r) for r in (0, 9, 2000)]
    ),
    "interval_sums": _intervals,
    "intervals": _intervals,
    "area_table": lambda on: iter([summed_area_table(on(_values()[:20_000].reshape(2, 100, 100)))]),
    "box_image": _boxes,
    "box_line": _boxes,
    "wavelet": _order,
}
"""By the name of the visitor; the wavelet matrix is launched by CuPy."""
