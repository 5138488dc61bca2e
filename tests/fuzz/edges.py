"""Kernels at the edges of their index types: lengths around tiles, distances and counts of any size, very long arrays.

Answers are NumPy's, or a refusal; arrays of more than 2**31 elements have one element in memory.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from inspect import signature
from typing import Any

import numpy as np
from hypothesis import strategies as st

from dask_gpuscan import kernels
from dask_gpuscan.kernels.grids import box_filter, summed_area_table
from dask_gpuscan.kernels.rolling import window_starts
from dask_gpuscan.kernels.sorted_values import is_sorted, searchsorted_sorted
from helpers.backends import Backend

from .drawn import one_in, options
from .operators import backends

ADD, LARGEST = kernels.BUILT_IN["add"], kernels.BUILT_IN["maximum"]
LENGTHS = (
    *(0, 1, 2, 3, 31, 32, 33, 127, 128, 129, 1023, 1025, 4097, 16_383, 16_384, 16_385, 32_769),
    *(65_537, 131_073),
)
"""Around the lengths of warps, blocks and tiles."""
DTYPES = ("int64", "int32", "int8", "float64", "uint16")
SIZES = (
    *(0, 1, 2, 7, -1, -3, 127, 128, 255, 256, 2**15, 2**16, 2**31 - 1, 2**31, -(2**31)),
    *(-(2**31) - 1, 2**32, 2**40, 2**62, 2**63 - 1, -(2**63)),
)
"""Distances, counts and positions at the ends of integers of each width."""
FEW = (1, 2, 5, 40, 1000)
REFUSED = (ValueError, TypeError, MemoryError)


class Data:
    """Arrays of a backend and of NumPy."""

    def __init__(self, backend: Backend, seed: int) -> None:
        self.backend = backend
        self.rng = np.random.default_rng(seed)

    def numbers(self, count: int, dtype: str, few: int = 40) -> np.ndarray:
        """Return few different numbers, so many of them."""
        return self.rng.integers(0, few, count).astype(dtype)

    def put(self, array: Any) -> Any:
        """Return an array where the backend has it."""
        return self.backend.array(array)

    def same(self, found: Any, expected: Any) -> None:
        """Assert that an array of the backend is one of NumPy, in dtype too."""
        host = self.backend.to_numpy(found)
        assert host.dtype == np.asarray(expected).dtype, (
            f"{host.dtype}, and {np.asarray(expected).dtype} by NumPy"
        )
        np.testing.assert_array_equal(host, expected)


def refused(ask: Callable[[], Any], words: str = "") -> None:
    """Assert that something is refused in short."""
    told = None
    try:
        ask()
    except REFUSED as error:
        told = str(error)
    assert told is not None, "is not refused"
    assert words in told, f"says {told}"
    assert len(told) < 400, "a long message"


# --- what is asked -----------------------------------------------------------------------------------


def _scan(data: Data, count: int, dtype: str, reverse: bool) -> None:
    x = data.numbers(count, dtype)
    out, last = kernels.scan(ADD, data.put(x), reverse=reverse)
    ordered = x[::-1] if reverse else x
    expected = np.cumsum(ordered)
    data.same(out, expected[::-1] if reverse else expected)
    assert last == ordered.sum()


def _select(data: Data, count: int, dtype: str, few: int) -> None:
    x = data.numbers(count, dtype)
    keep = data.rng.random(count) < few / 40
    kept, positions = kernels.select([data.put(x)], data.put(keep), positions=True)
    data.same(kept, x[keep])
    data.same(positions, np.flatnonzero(keep))
    (one,), (other,) = kernels.partition([data.put(x)], data.put(keep))
    data.same(one, x[keep])
    data.same(other, x[~keep])


def _runs(data: Data, count: int, dtype: str, few: int) -> None:
    x = np.sort(data.numbers(count, dtype, few)) if count % 2 else data.numbers(count, dtype, few)
    starts = np.flatnonzero(np.append(True, x[1:] != x[:-1])) if count else np.zeros(0, np.int64)
    lengths = np.diff(np.append(starts, count))
    found = kernels.run_length_encode([data.put(x)])
    data.same(found[0], starts)
    data.same(found[1], lengths)
    data.same(kernels.run_length_decode(found[1], [data.put(x[starts])])[0], x)
    sums = np.add.reduceat(x.astype(np.int64), starts) if count else starts
    data.same(kernels.reduce_by_key(ADD, [data.put(x)], data.put(x.astype(np.int64)))[1], sums)


def _sort(data: Data, count: int, dtype: str, few: int, reverse: bool) -> None:
    x = data.numbers(count, dtype, few)
    order = np.argsort(-x.astype(np.int64) if reverse else x, kind="stable")
    data.same(kernels.argsort(data.put(x), descending=reverse), order)
    data.same(kernels.sort(data.put(x), descending=reverse), x[order])
    assert is_sorted(data.put(np.sort(x)))


def _ends(data: Data, count: int, low: int, high: int) -> None:
    """Sort integers at the ends of their range."""
    ends = np.array([low, high, 0, 2**63 - 1, -(2**63)], np.int64)
    x = ends[data.rng.integers(0, len(ends), count)]
    data.same(kernels.sort(data.put(x)), np.sort(x))
    data.same(kernels.argsort(data.put(x)), np.argsort(x, kind="stable"))
    needles = np.sort(ends)
    for side in ("left", "right"):
        found = searchsorted_sorted(data.put(needles), data.put(np.sort(x)), side)
        data.same(found, np.searchsorted(np.sort(x), needles, side))


def _shift(data: Data, count: int, dtype: str, by: int) -> None:
    x = data.numbers(count, dtype)
    moved = np.full(count, 7, dtype)
    if 0 <= by < count:
        moved[by:] = x[: count - by]
    elif -count < by < 0:
        moved[:by] = x[-by:]
    data.same(kernels.shift(data.put(x), by, np.dtype(dtype).type(7)), moved)


def _rolling(data: Data, count: int, before: int, after: int) -> None:
    x = data.numbers(count, "int64")
    sums = np.append(0, np.cumsum(x))
    rows = range(count)
    lows = np.array([min(max(i - before, 0), count) for i in rows], np.int64)
    highs = np.array([min(max(i + after + 1, 0), count) for i in rows], np.int64)
    expected = np.where(highs > lows, sums[highs] - sums[lows], 0)
    data.same(kernels.rolling(ADD, data.put(x), kernels.RowWindows(before, after)), expected)


def _bounds(data: Data, count: int, low: int, high: int) -> None:
    x = data.numbers(count, "int64")
    starts, stops = np.array([0, low], np.int64), np.array([count, high], np.int64)
    is_right = 0 <= low <= count and 0 <= high <= count and high >= count
    windows = kernels.BoundWindows(data.put(starts), data.put(stops))
    ask = lambda: kernels.rolling(ADD, data.put(x), windows)  # noqa: E731
    if is_right:
        data.same(ask(), np.array([x.sum(), x[low:high].sum()], np.int64))
    elif data.backend.name == "cpu":  # those of CuPy are cut, without a check
        refused(ask, "starts and stops")


def _codes(data: Data, count: int, dtype: str, few: int, code: int) -> None:
    x, codes = data.numbers(count, "int64"), data.numbers(count, "int64", few)
    narrow = codes.astype("int32" if dtype == "int32" else "int64")
    sums = np.bincount(codes, x, few).astype(np.int64)
    data.same(kernels.reduce_by_code(ADD, data.put(narrow), data.put(x), few), sums)
    if count and not 0 <= code < few:
        codes[count // 2] = code
        refused(lambda: kernels.reduce_by_code(ADD, data.put(codes), data.put(x), few), "codes")
    if not 0 <= code < 2**40:  # so many may have room
        refused(lambda: kernels.reduce_by_code(ADD, data.put(narrow), data.put(x), code))


def _expand(data: Data, count: int, dtype: str, few: int, items: int) -> None:
    counts = np.where(data.rng.random(count) < 0.3, data.rng.integers(0, few, count), 0)
    counts = counts // max(int(counts.sum()) // 200_000, 1)
    x = data.numbers(count, dtype)
    (repeated,) = kernels.run_length_decode(data.put(counts), [data.put(x)])
    data.same(repeated, np.repeat(x, counts))
    if count and not 0 <= items < 2**40:
        counts[count // 2] = items
        words = "negative" if items < 0 else "rows"
        refused(lambda: kernels.run_length_decode(data.put(counts), [data.put(x)]), words)


def _gather(data: Data, count: int, dtype: str, few: int, offset: int, items: int) -> None:
    x = data.numbers(count, dtype)
    offsets = data.rng.integers(0, max(count, 1), few)
    counts = np.minimum(data.rng.integers(0, 50, few), count - offsets) if count else offsets * 0
    parts = [x[o : o + c] for o, c in zip(offsets, counts, strict=True)]
    moved = kernels.interval_move(data.put(counts), data.put(x), gather=data.put(offsets))
    data.same(moved, np.concatenate(parts))
    offsets[-1], counts[-1] = offset, items
    if items < 0 or (items and not 0 <= offset <= count - items):
        ask = lambda: kernels.interval_move(data.put(counts), data.put(x), gather=data.put(offsets))  # noqa: E731
        refused(ask)


def _within(data: Data, count: int, reach: int, high: int) -> None:
    some = data.rng.integers(-(2**63), 2**63 - 1, count)
    at_reach = min(max(high - abs(reach), -(2**63)), 2**63 - 1)
    values = np.sort(np.append(some, [high, at_reach, max(at_reach - 1, -(2**63))]))
    ask = lambda: window_starts(data.put(values), reach)  # noqa: E731
    if reach < 0:
        refused(ask, "reach")
        return
    ends = [max(int(v) - reach, -(2**63)) for v in values]
    data.same(ask(), np.searchsorted(values, np.array(ends, np.int64)))


def _masks(data: Data, count: int, few: int, offset: int) -> None:
    x = data.numbers(count, "int64")
    before, valid = few % 17, data.rng.random(count) < 0.6
    bits = np.packbits(np.append(np.zeros(before, bool), valid), bitorder="little")
    nulls = kernels.bitmap(data.put(bits), before)
    data.same(kernels.scan(ADD, data.put(x), nulls=nulls)[0], np.cumsum(np.where(valid, x, 0)))
    if not 0 <= offset <= len(bits) * 8 - count:
        ask = lambda: kernels.scan(ADD, data.put(x), nulls=kernels.bitmap(data.put(bits), offset))  # noqa: E731
        refused(ask)


def _tables(data: Data, count: int, few: int, radius: int) -> None:
    width = min(few, 40)
    x = data.numbers(count // width * width, "int64").reshape(-1, width)
    table = np.cumsum(np.cumsum(x, 0), 1)
    data.same(summed_area_table(data.put(x)), table)
    if not 0 <= radius < 2**31:
        refused(lambda: box_filter(data.put(x), radius), "radius")


def _very_long(data: Data, length: int, operator: str) -> None:
    x = np.broadcast_to(np.int8(1), (length,))
    op = kernels.BUILT_IN[operator]
    assert (
        kernels.reduce(op, x) == {"add": length, "maximum": 1, "bitwise_xor": length % 2}[operator]
    )
    assert [len(a) for a in kernels.unique([x])[:1]] == [1]


BOTH = (False, True)
VALUES: dict[str, Sequence[Any]] = {
    "count": LENGTHS,
    "dtype": DTYPES,
    "few": FEW,
    "reverse": BOTH,
    "length": (2**31 - 1, 2**31, 2**31 + 5, 2**32 + 3),
    "operator": ("add", "maximum", "bitwise_xor"),
}
"""What arguments of these names may be; others are of any size."""

EDGES: dict[str, Callable[..., None]] = {
    edge.__name__.strip("_"): edge
    for edge in (
        *(_scan, _select, _runs, _sort, _ends, _shift, _rolling, _bounds, _codes, _expand),
        *(_gather, _within, _masks, _tables, _very_long),
    )
}
"""By name."""
SELDOM = 2_000
"""Once in so many cases an array is very long, as each takes seconds: it has one element in memory on a CPU."""


@dataclass(frozen=True)
class EdgeCase:
    """A kernel, its arguments, and the seed of its data."""

    name: str
    backend: Backend
    given: dict[str, Any]
    seed: int

    def check(self) -> str:
        """Compare with NumPy."""
        with np.errstate(all="ignore"):
            EDGES[self.name](Data(self.backend, self.seed), **self.given)
        return self.name


@st.composite
def _cases(draw: Any) -> EdgeCase:
    is_long = draw(one_in(SELDOM))
    names = [name for name in EDGES if (name == "very_long") is is_long]
    name, on = draw(st.sampled_from(names)), [Backend()] if is_long else backends()
    parameters = [*signature(EDGES[name]).parameters][1:]
    given = draw(options({}, {each: VALUES.get(each, SIZES) for each in parameters}))
    return EdgeCase(name, draw(st.sampled_from(on)), given, draw(st.integers(0, 99)))


EDGES_OF_KERNELS = _cases()
"""A kernel and its arguments."""
