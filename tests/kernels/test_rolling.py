"""Rolling windows: each answer is that of a loop over its window, for any operator, windows and nulls."""

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from dask_gpuscan import operator
from dask_gpuscan.kernels import (
    BUILT_IN,
    BoundWindows,
    InBand,
    RowWindows,
    bitmap,
    byte_mask,
    reduce,
    rolling,
)
from dask_gpuscan.kernels.cpu.core import launch
from dask_gpuscan.kernels.windows_by_code import rolling_by_code, rolls_by_code

ADD, MAXIMUM = BUILT_IN["add"], BUILT_IN["maximum"]

AFFINE = operator(
    lambda a, b: (a[0] * b[0], b[0] * a[1] + b[1]),
    identity=(1, 0),
    lift=lambda x: (3, x),
    lower=lambda s: s[1],
    name="affine by three",
)
"""Not commutative: each element after the first multiplies what came before it. Wraps."""

ENDS = operator(
    lambda a, b: (
        a[0] + b[0],
        b[1] if a[0] == 0 else a[1],
        a[2] if b[0] == 0 else b[2],
    ),
    identity=(0, 0.0, 0.0),
    lift=lambda x, y: (1, x, y),
    name="ends",
)
"""Of two inputs: answers with how many elements there are, the first of one and the last of the other."""


def expected(op, arrays, bounds, missing=None):
    """Reduce the elements of each window that are not missing, from the first to the last."""
    answers = []
    for start, stop in bounds:
        kept = [i for i in range(start, stop) if missing is None or not missing[i]]
        state = reduce(op, tuple(a[kept] for a in arrays))
        answers.append(state if op.lower is None else op.lower(state))
    return answers


def bounds_of(windows, rows):
    count = rows - windows.first if windows.count is None else windows.count
    centres = range(windows.first, windows.first + count)
    return [(max(i - windows.before, 0), max(min(i + windows.after + 1, rows), 0)) for i in centres]


@st.composite
def row_windows(draw, rows):
    first = draw(st.integers(0, rows))
    count = draw(st.none() | st.integers(0, rows - first))
    around = st.integers(-3, 12)
    return RowWindows(draw(around), draw(around), first, count)


lengths = st.integers(0, 40)


@given(data=st.data(), rows=lengths, nulls=st.sampled_from(["none", "bits", "bytes"]))
def test_integers_in_order_of_rows(data, rows, nulls):
    x = np.arange(1, rows + 1) * 5 - 40
    missing = np.array(data.draw(st.lists(st.booleans(), min_size=rows, max_size=rows)), np.bool_)
    masks = {
        "none": None,
        "bits": bitmap(np.packbits(np.append([True], ~missing), bitorder="little"), 1),
        "bytes": byte_mask(missing),
    }
    windows = data.draw(row_windows(rows))
    found = rolling(AFFINE, x, windows, nulls=masks[nulls])
    wanted = expected(AFFINE, (x,), bounds_of(windows, rows), None if nulls == "none" else missing)
    assert found.dtype == np.int64
    assert found.tolist() == wanted


@given(data=st.data(), rows=lengths)
def test_states_of_several_fields_and_inputs(data, rows):
    x, y = np.arange(rows) * 0.5, np.arange(rows, dtype=np.int32)
    windows = data.draw(row_windows(rows))
    counts, firsts, lasts = rolling(ENDS, (x, y), windows)
    wanted = expected(ENDS, (x, y), bounds_of(windows, rows))
    assert list(zip(counts, firsts, lasts, strict=True)) == wanted


@given(data=st.data(), rows=lengths, after=st.sampled_from(["stops", None]) | st.integers(-4, 30))
def test_windows_between_bounds(data, rows, after):
    count = data.draw(st.integers(0, 2 * rows))
    bound = st.lists(st.integers(0, rows), min_size=count, max_size=count).map(sorted)
    starts, stops = (np.array(data.draw(bound), np.int64) for _ in range(2))
    x = np.arange(1, rows + 1) * 5 - 40
    if after == "stops":
        windows = BoundWindows(starts, stops)
    else:
        windows = BoundWindows(starts, None, after=after)
        stops = [rows if after is None else min(j + after + 1, rows) for j in range(count)]
    found = rolling(AFFINE, x, windows)
    assert found.tolist() == expected(AFFINE, (x,), zip(starts, stops, strict=True))


@given(data=st.data(), lengths=st.lists(st.integers(1, 9), max_size=8))
def test_windows_within_groups(data, lengths):
    around = st.none() | st.integers(-3, 12)
    before, after = data.draw(around), data.draw(around)
    lengths = np.array(lengths, np.int64)
    ends = np.cumsum(lengths)
    stops, starts = np.repeat(ends, lengths), np.repeat(ends - lengths, lengths)
    x = np.arange(1, len(stops) + 1) * 5 - 40
    found = rolling(AFFINE, x, BoundWindows(starts, stops, before, after))
    bounds = [
        (
            start if before is None else max(start, i - before),
            stop if after is None else min(stop, i + after + 1),
        )
        for i, (start, stop) in enumerate(zip(starts, stops, strict=True))
    ]
    assert found.tolist() == expected(AFFINE, (x,), bounds)


@pytest.mark.parametrize("width", [1, 2, 3, 8, 10, 17, 64, 1000, 4096, 4097, 70_000, 200_000])
def test_many_rows(poisoned, width):
    rows = 150_001
    x = np.random.default_rng(3).integers(-(2**62), 2**62, rows)  # sums wrap
    sums = rolling(ADD, x, RowWindows(width - 1))
    total = np.append(0, np.cumsum(x))
    at = np.arange(rows)
    starts = np.maximum(at + 1 - width, 0)
    np.testing.assert_array_equal(sums, total[at + 1] - total[starts])
    between = rolling(ADD, x, BoundWindows(starts, at + 1))
    np.testing.assert_array_equal(sums, between)
    np.testing.assert_array_equal(sums, rolling(ADD, x, BoundWindows(starts, None, after=0)))
    whole = np.zeros(rows, np.int64), np.full(rows, rows)
    np.testing.assert_array_equal(sums, rolling(ADD, x, BoundWindows(*whole, width - 1, 0)))


@pytest.mark.parametrize("width", [1, 7, 100, 1500])
@pytest.mark.parametrize("nulls", [False, True])
def test_many_rows_that_do_not_commute(poisoned, width, nulls):
    rows = 60_000
    rng = np.random.default_rng(3)
    x, missing = rng.integers(0, 1000, rows), rng.random(rows) < nulls * 0.3
    windows = RowWindows(width, -1, first=500, count=59_000)
    found = rolling(AFFINE, x, windows, nulls=byte_mask(missing) if nulls else None)
    sample = [500, 501, 2345, 7001, 33_333, 59_499]
    wanted = expected(AFFINE, (x,), [(max(i - width, 0), i) for i in sample], missing)
    assert found[np.array(sample) - 500].tolist() == wanted


def test_many_rows_of_several_inputs(poisoned):
    x, y = np.arange(50_000.0), np.arange(50_000, dtype=np.int16)
    counts, firsts, lasts = rolling(ENDS, (x, y), RowWindows(29, 20))
    at = np.arange(50_000)
    first, last = np.maximum(at - 29, 0), np.minimum(at + 20, 49_999)
    np.testing.assert_array_equal(counts, last - first + 1)
    np.testing.assert_array_equal(firsts, x[first])
    np.testing.assert_array_equal(lasts, y[last])


def test_many_rows_with_nulls():
    rng = np.random.default_rng(3)
    x = rng.normal(size=50_000)
    x[rng.random(50_000) < 0.3] = np.nan
    found = rolling(MAXIMUM, x, RowWindows(4, 5), nulls=InBand())
    filled = np.where(np.isnan(x), -np.inf, x)
    padded = np.concatenate([np.full(4, -np.inf), filled, np.full(5, -np.inf)])
    np.testing.assert_array_equal(
        found, np.lib.stride_tricks.sliding_window_view(padded, 10).max(axis=1)
    )


@pytest.mark.parametrize("width", [10, 1000, 100_000])
def test_same_bits_with_any_number_of_threads(monkeypatch, width):
    x = np.random.default_rng(3).normal(size=700_000)
    at = np.arange(len(x))
    windows = (
        RowWindows(width - 1),
        BoundWindows(np.maximum(at - width + 1, 0), at + 1),
    )
    found = {}
    for helpers in (0, 1, 3):
        monkeypatch.setattr(launch, "helpers_for", lambda _, helpers=helpers: helpers)
        for k, each in enumerate(windows):
            found[helpers, k] = rolling(BUILT_IN["welford"], x, each).tobytes()
    assert all(found[h, k] == found[0, k] for h, k in found)


def test_bounds_far_apart():
    x = np.arange(300_000)
    stops = np.linspace(0, 300_000, 20).astype(np.int64)
    grown = rolling(ADD, x, BoundWindows(np.zeros(20, np.int64), stops))
    assert grown.tolist() == [n * (n - 1) // 2 for n in stops.tolist()]
    apart = rolling(ADD, x, BoundWindows(stops[:-1], stops[1:]))
    np.testing.assert_array_equal(apart, np.diff(grown))


def test_sums_of_narrow_integers_and_dtypes():
    x = np.array([100, 100, 100], np.int8)
    assert rolling(ADD, x, RowWindows(1)).dtype == np.int64
    narrow = rolling(ADD, x, RowWindows(1), dtype=np.int8)
    assert narrow.dtype == np.int8
    assert narrow.tolist() == [100, -56, -56]


def test_strided_and_read_only_values():
    x = np.arange(20)[::-2]
    x.flags.writeable = False
    assert rolling(ADD, x, RowWindows(1)).tolist() == [19, 36, 32, 28, 24, 20, 16, 12, 8, 4]


def test_bounds_in_disorder_are_never_followed():
    rng = np.random.default_rng(3)
    x = np.arange(200_000)
    for _ in range(5):
        starts, stops = rng.integers(-(10**6), 10**6, (2, 300_000))
        starts[[0, -1]] = stops[[0, -1]] = 0, 200_000
        with pytest.raises(ValueError, match="starts and stops must not decrease, found window"):
            rolling(ADD, x, BoundWindows(starts, stops))


def test_functions_that_read_outside():
    table = np.arange(3)
    looks_up = operator(lambda a, b: a + b, identity=0, lift=lambda x: table[x])
    with pytest.raises(IndexError, match="reads outside"):
        rolling(looks_up, np.array([1, 7]), RowWindows(1))


# --- by code ----------------------------------------------------------------------------------------


@given(
    rows=st.lists(st.tuples(st.integers(0, 3), st.integers(-9, 9), st.booleans()), max_size=60),
    before=st.integers(-1, 12),
    after=st.sampled_from([0, -1]),
    first=st.integers(0, 10),
    dtype=st.sampled_from(["int32", "int64"]),
)
def test_windows_of_groups_in_any_order(rows, before, after, first, dtype):
    codes = np.array([r[0] for r in rows], dtype)
    values = np.array([r[1] for r in rows], np.int64)
    missing = np.array([r[2] for r in rows], np.bool_)
    first = min(first, len(rows))
    windows = RowWindows(before, after, first)
    found = rolling_by_code(AFFINE, codes, values, 5, windows, nulls=byte_mask(missing))
    wanted = []
    for i in range(first, len(rows)):
        same = np.flatnonzero(codes[: i + 1] == codes[i])
        place = len(same) - 1
        kept = same[max(place - before, 0) : max(place + after + 1, 0)]
        kept = kept[~missing[kept]]
        wanted.append(AFFINE.lower(reduce(AFFINE, values[kept])))
    assert found.tolist() == wanted


@pytest.mark.parametrize("width", [1, 10, 500])
def test_many_rows_of_groups(poisoned, width):
    rng = np.random.default_rng(3)
    codes, x = rng.integers(0, 100, 50_000), rng.integers(-9, 9, 50_000)
    found = rolling_by_code(ADD, codes, x, 100, RowWindows(width - 1, first=7, count=49_000))
    sums = pd.Series(x).groupby(codes).rolling(width, min_periods=1).sum()
    wanted = sums.droplevel(0).sort_index().to_numpy()[7:49_007]
    np.testing.assert_array_equal(found, wanted)


def test_windows_that_roll_by_code():
    x = np.arange(3)
    assert rolls_by_code(x, 1000, RowWindows(9, -1))
    assert not rolls_by_code(x, 10**6, RowWindows(9))
    assert not rolls_by_code(x, 3, BoundWindows(x, x))
