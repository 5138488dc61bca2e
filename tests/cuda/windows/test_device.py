"""What only a GPU can get wrong of rolling windows: tiles, ends of arrays, levels, masks, the same bits each time."""

import cupy as cp
import numpy as np
import pytest

from dask_gpuscan import operator
from dask_gpuscan.kernels import (
    BUILT_IN,
    BoundWindows,
    InBand,
    RowWindows,
    bitmap,
    byte_mask,
    rolling,
)
from dask_gpuscan.kernels.rolling import window_starts

pytestmark = [pytest.mark.gpu, pytest.mark.usefixtures("poison")]

TILE = 256 * 16  # of states of eight bytes, for windows of 16 rows or more
ADD = BUILT_IN["add"]

AFFINE = operator(
    lambda a, b: (a[0] * b[0], b[0] * a[1] + b[1]),
    identity=(1, 0),
    lift=lambda x: (3, x),
    lower=lambda s: s[1],
    name="affine by three",
)


def check(op, x, windows, nulls=None, **options):
    """Compare with the CPU, to the bit for integers; values begin at an odd place."""
    device = cp.asarray(np.r_[x[:1], x])[len(x[:1]) :]
    given = options.pop("device_nulls", nulls)
    on_device = windows
    if isinstance(windows, BoundWindows):
        stops = None if windows.stops is None else cp.asarray(windows.stops)
        on_device = BoundWindows(cp.asarray(windows.starts), stops, windows.before, windows.after)
    found = rolling(op, device, on_device, nulls=given, **options)
    wanted = rolling(op, x, windows, nulls=nulls, **options)
    assert found.dtype == wanted.dtype
    if wanted.dtype.kind in "biu":
        np.testing.assert_array_equal(found.get(), wanted)
    else:
        np.testing.assert_allclose(found.get(), wanted, rtol=1e-9, atol=1e-9)
    again = rolling(op, device, on_device, nulls=given, **options)
    assert again.tobytes() == found.tobytes()


@pytest.mark.parametrize("length", [0, 1, 31, TILE - 1, TILE, TILE + 1, 3 * TILE + 5])
@pytest.mark.parametrize("width", [1, 2, 3, 10, 16, 17, 100, 1000, 4096, 4097, 50_000])
def test_tiles_and_levels(length, width):
    x = np.random.default_rng(length).integers(-100, 100, length)
    check(AFFINE, x, RowWindows(width - 1))
    check(ADD, x.astype(np.int8), RowWindows(width // 2, width - 1 - width // 2))


@pytest.mark.parametrize(
    "windows",
    [
        RowWindows(10, -1),
        RowWindows(-3, 12),
        RowWindows(-3, 2),
        RowWindows(-(10**9), 10**9 + 3),
        RowWindows(10**30, 10**30),
        RowWindows(9, 0, first=5000, count=1),
        RowWindows(9, 0, first=5000, count=0),
        RowWindows(99, 0, first=777, count=9000),
    ],
)
def test_windows_around_rows(windows):
    check(AFFINE, np.random.default_rng(3).integers(-100, 100, 10_000), windows)


@pytest.mark.parametrize("width", [10, 5000])
@pytest.mark.parametrize("kind", ["bits", "bytes", "in band"])
def test_nulls(width, kind):
    rng = np.random.default_rng(3)
    x, missing = rng.normal(size=20_000), rng.random(20_000) < 0.3
    windows = RowWindows(width - 1)
    if kind == "in band":
        return check(BUILT_IN["maximum"], np.where(missing, np.nan, x), windows, InBand())
    if kind == "bytes":
        masks = byte_mask(missing), byte_mask(cp.asarray(missing))
    else:
        bits = np.packbits(np.r_[[True] * 3, ~missing], bitorder="little")
        masks = bitmap(bits, 3), bitmap(cp.asarray(bits), 3)
    check(BUILT_IN["maximum"], x, windows, masks[0], device_nulls=masks[1])


@pytest.mark.parametrize("name", ["add", "welford", "first", "last", "logical_all"])
@pytest.mark.parametrize("dtype", ["bool", "int16", "float32", "float64"])
@pytest.mark.parametrize("width", [5, 300])
def test_operators_and_dtypes(name, dtype, width):
    x = np.random.default_rng(3).integers(0, 2, 30_000).astype(dtype)
    check(BUILT_IN[name], x, RowWindows(width - 1, 1))


def test_several_inputs_and_outputs():
    pair = operator(
        lambda a, b: (a[0] + b[0], max(a[1], b[1])),
        identity=(0, np.iinfo(np.int16).min),
        lift=lambda x, y: (x, y),
        name="pair",
    )
    x, y = np.arange(30_000), np.arange(30_000, dtype=np.int16)
    wanted = rolling(pair, (x, y), RowWindows(29))
    found = rolling(pair, (cp.asarray(x), cp.asarray(y)), RowWindows(29))
    for one, other in zip(found, wanted, strict=True):
        np.testing.assert_array_equal(one.get(), other)


SPAN_TILE = 256 * 8  # of states of eight bytes, likewise


@pytest.mark.parametrize("rows", [0, 1, 7, 8, 9, 127, 129, 2049, 5000, 100_000])
@pytest.mark.parametrize("count", [0, 1, SPAN_TILE - 1, SPAN_TILE, SPAN_TILE + 1, 5000])
def test_windows_between_bounds(rows, count):
    rng = np.random.default_rng(rows + count)
    starts, stops = np.sort(rng.integers(0, rows + 1, (2, count)))
    check(AFFINE, rng.integers(-100, 100, rows), BoundWindows(starts, stops))
    near = np.minimum(starts + rng.integers(0, 20, count), rows)
    check(AFFINE, rng.integers(-100, 100, rows), BoundWindows(starts, np.maximum.accumulate(near)))
    for after in (0, 5, None):
        check(AFFINE, rng.integers(-100, 100, rows), BoundWindows(starts, None, after=after))


@pytest.mark.parametrize("width", [1, 3, 8, 100, 250, 3000, 30_000])
@pytest.mark.parametrize("jump", [0, 40, 1500])
def test_windows_of_time(width, jump):
    rng = np.random.default_rng(width + jump)
    times = np.cumsum(rng.integers(0, 3, 40_000) + jump * (rng.random(40_000) < 0.01))
    starts, stops = np.searchsorted(times, [times - width, times + 1])
    check(AFFINE, rng.integers(-100, 100, 40_000), BoundWindows(starts, stops))
    check(BUILT_IN["welford"], rng.normal(size=40_000), BoundWindows(starts, stops))
    check(AFFINE, rng.integers(-100, 100, 40_000), BoundWindows(starts, None, after=0))


def test_few_windows_that_are_wide():
    starts = np.arange(30_000)
    stops = np.maximum.accumulate(np.where(starts == 9000, 29_000, starts + 5))
    stops = np.minimum(stops, 30_000)
    check(AFFINE, np.arange(30_000), BoundWindows(starts, stops))


@pytest.mark.parametrize(("before", "after"), [(9, 0), (9, -1), (3, 3), (None, 0), (-2, None)])
def test_windows_within_groups(before, after):
    rng = np.random.default_rng(3)
    lengths = rng.integers(1, 300, 500)
    ends = np.cumsum(lengths)
    bounds = np.repeat(ends - lengths, lengths), np.repeat(ends, lengths)
    check(AFFINE, rng.integers(-100, 100, ends[-1]), BoundWindows(*bounds, before, after))


def test_bounds_in_disorder_read_rows_that_there_are():
    starts, stops = cp.asarray([5, -(10**12), 2]), cp.asarray([2, 10**12, 14])
    found = rolling(ADD, cp.arange(10), BoundWindows(starts, stops))
    assert found.tolist() == [0, 5 + 6 + 7 + 8 + 9, 5 + 6 + 7 + 8 + 9]


def test_more_rows_than_31_bits_count(room):
    length = (1 << 31) + 7
    room(6 * length)
    x = cp.ones(length, cp.int8)
    found = rolling(ADD, x, RowWindows(9), dtype=np.int8)
    assert found[:9].tolist() == list(range(1, 10))
    assert bool((found[9:] == 10).all())
    del found
    stops = cp.asarray([length], np.int64)
    assert rolling(ADD, x, BoundWindows(stops - (1 << 31), stops)).tolist() == [1 << 31]


REACH_TILE, HALO = 256 * 8, 512


@pytest.mark.parametrize("length", [0, 1, REACH_TILE - 1, REACH_TILE, REACH_TILE + 1, 50_000])
@pytest.mark.parametrize("step", [0, 1, 10, 1000])
@pytest.mark.parametrize("groups", [1, 3, 2000])
def test_window_starts(length, step, groups):
    rng = np.random.default_rng(length + step)
    code = np.sort(rng.integers(0, groups, length))
    times = (
        np.cumsum(rng.integers(0, step + 1, length)) + rng.integers(-(2**40), 2**40, groups)[code]
    )
    starts = np.searchsorted(code, code).astype(np.int64)
    for reach in (0, 1, 50, HALO * step, 2**41, 2**64 - 1):
        found = window_starts(cp.asarray(times), reach, starts=cp.asarray(starts))
        np.testing.assert_array_equal(found.get(), window_starts(times, reach, starts=starts))
        if groups == 1:
            found = window_starts(cp.asarray(times), reach)
            np.testing.assert_array_equal(found.get(), window_starts(times, reach))
