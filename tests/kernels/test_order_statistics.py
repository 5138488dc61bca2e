"""Order statistics of windows: each answer is that of a loop over its window, on each backend."""

from importlib import import_module

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from dask_gpuscan.kernels import (
    BoundWindows,
    Distinct,
    Quantile,
    Rank,
    RowWindows,
    order_statistics,
)
from dask_gpuscan.kernels.cpu.core import launch
from dask_gpuscan.kernels.options import INTERPOLATIONS, RANKS
from dask_gpuscan.kernels.windows import pieces
from helpers.versions import known_to_pandas

on_cpu = import_module("dask_gpuscan.kernels.cpu.windows.order_statistics")

ASKED = st.one_of(
    st.builds(
        Quantile, st.sampled_from([0.0, 0.25, 0.3, 0.5, 1.0]), st.sampled_from(INTERPOLATIONS)
    ),
    st.builds(Rank, st.sampled_from(list(RANKS)), st.booleans(), st.booleans()),
    st.just(Distinct()),
)
VALUES = st.sampled_from([0.0, -0.0, 1.0, 1.5, -2.0, 1e300, 7.0, np.nan, np.inf, -np.inf])


def one(statistic, window, least):
    """The answer of pandas on a window alone."""
    window = pd.Series(window).replace([np.inf, -np.inf], np.nan)
    if window.count() < least:
        return np.nan
    if isinstance(statistic, Quantile):
        return window.quantile(statistic.q, interpolation=statistic.interpolation)
    if isinstance(statistic, Distinct):
        return float(window.nunique())
    asked = {"method": statistic.method, "ascending": statistic.ascending, "pct": statistic.pct}
    ranks = window.rank(**asked)
    return ranks.iloc[-1] if len(ranks) else np.nan


def check(backend, statistic, x, windows, bounds, least=1):
    expected = [one(statistic, x[start:stop], least) for start, stop in bounds]
    found = order_statistics(statistic, backend.array(x), windows, least=least)
    assert found.dtype == np.float64
    np.testing.assert_allclose(backend.to_numpy(found), np.array(expected, float), rtol=1e-15)


@given(
    x=st.lists(VALUES | st.integers(-9, 9).map(float), max_size=70),
    before=st.integers(-3, 40) | st.integers(0, 300),
    after=st.integers(-3, 12),
    skipped=st.integers(0, 5),
    statistic=ASKED,
    least=st.integers(0, 4),
)
def test_windows_of_rows(backend, x, before, after, skipped, statistic, least):
    x, first = np.array(x, float), min(skipped, len(x))
    rows = range(first, len(x))
    bounds = [(min(max(i - before, 0), len(x)), max(i + after + 1, 0)) for i in rows]
    check(backend, statistic, x, RowWindows(before, after, first), bounds, least)


@given(data=st.data(), x=st.lists(VALUES, max_size=70), count=st.integers(0, 40), statistic=ASKED)
def test_windows_between_bounds(backend, data, x, count, statistic):
    bound = st.lists(st.integers(0, len(x)), min_size=count, max_size=count).map(sorted)
    starts, stops = (np.array(data.draw(bound), np.int64) for _ in range(2))
    windows = BoundWindows(backend.array(starts), backend.array(stops))
    pairs = zip(starts.tolist(), stops.tolist(), strict=True)
    check(backend, statistic, np.array(x, float), windows, pairs)


@given(lengths=st.lists(st.integers(1, 40), max_size=6), width=st.integers(1, 50), statistic=ASKED)
def test_windows_within_groups(backend, lengths, width, statistic):
    lengths = np.array(lengths, np.int64)
    ends = np.cumsum(lengths)
    stops, starts = np.repeat(ends, lengths), np.repeat(ends - lengths, lengths)
    x = np.arange(len(stops)) * 7.0 % 11
    bounds = [(max(i + 1 - width, s), i + 1) for i, s in enumerate(starts.tolist())]
    windows = BoundWindows(backend.array(starts), backend.array(stops), width - 1, 0)
    check(backend, statistic, x, windows, bounds)


@given(steps=st.lists(st.integers(0, 2), max_size=60), statistic=ASKED)
def test_windows_up_to_their_row(backend, steps, statistic):
    starts = np.minimum(np.cumsum(np.array(steps, np.int64)), np.arange(len(steps)))
    x, bounds = np.arange(len(steps)) * 7.0 % 11, zip(starts, range(1, len(steps) + 1), strict=True)
    windows = BoundWindows(backend.array(starts), None, after=0)
    check(backend, statistic, x, windows, bounds)


STATISTICS = {
    "median": (Quantile(0.5, "midpoint"), lambda it: it.median()),
    "quantile": (Quantile(0.3), lambda it: it.quantile(0.3)),
    "rank": (Rank(), lambda it: it.rank()),
    "nunique": (Distinct(), lambda it: it.nunique()),
}


WIDTHS = [1, 3, 10, 32, 33, 192, 193, 250, 640, 641, 1000, 2560, 2561, 70_000, 10**6]


@pytest.mark.sampled(4)
@pytest.mark.parametrize("name", known_to_pandas(STATISTICS))
@pytest.mark.parametrize("width", WIDTHS)
def test_many_rows(poisoned, backend, name, width):
    rng = np.random.default_rng(3)
    x = np.round(rng.normal(size=150_001), 3)
    if (WIDTHS.index(width) + [*STATISTICS].index(name)) % 2:
        x[rng.random(len(x)) < 0.2] = np.nan
    statistic, of_pandas = STATISTICS[name]
    found = order_statistics(statistic, backend.array(x), RowWindows(width - 1))
    expected = of_pandas(pd.Series(x).rolling(width, min_periods=1))
    np.testing.assert_array_equal(backend.to_numpy(found), expected)


@pytest.mark.parametrize("name", list(STATISTICS))
def test_same_answers_in_pieces_and_with_any_number_of_threads(poisoned, monkeypatch, name):
    rng = np.random.default_rng(3)
    x, statistic = rng.normal(size=20_000), STATISTICS[name][0]
    whole = order_statistics(statistic, x, RowWindows(99))
    for piece in (100, 1 << 20):
        monkeypatch.setattr(on_cpu, "PIECE", piece)
        for helpers in (0, 3):
            monkeypatch.setattr(launch, "helpers_for", lambda _, helpers=helpers: helpers)
            found = order_statistics(statistic, x, RowWindows(99))
            np.testing.assert_array_equal(found, whole)


def test_pieces_see_little_more_than_all_rows():
    rows = 1 << 20
    for width in (10, 1000, 1 << 17, rows):
        windows = RowWindows(width - 1).within(rows)
        firsts, lasts, lows, highs = zip(*pieces(windows, rows, 1 << 16, np.arange), strict=True)
        assert (firsts[0], lasts[-1]) == (0, rows)
        assert firsts[1:] == lasts[:-1]
        assert (len(firsts) > 1) == (width < rows)
        assert list(lows) == [max(first - width + 1, 0) for first in firsts]
        assert highs == lasts
        assert sum(highs) - sum(lows) <= 1.25 * rows


def test_zeros_have_one_sign(backend):
    x = backend.array(np.array([-0.0, 0.0, 0.0, -0.0]))
    for before in (1, 100, 1000):
        for q in (0.0, 1.0):
            found = order_statistics(Quantile(q), x, RowWindows(before))
            assert not np.signbit(backend.to_numpy(found)).any()


@pytest.mark.parametrize("name", list(STATISTICS))
@pytest.mark.parametrize("width", [8, 31, 150, 200, 2000])
def test_short_windows_within_groups(poisoned, backend, name, width):
    rng = np.random.default_rng(5)
    lengths = np.concatenate([rng.integers(1, 40, 2000), rng.integers(1, 5000, 20)])
    ends = np.cumsum(lengths)
    stops, starts = np.repeat(ends, lengths), np.repeat(ends - lengths, lengths)
    x = np.round(rng.normal(size=len(stops)), 1)
    x[rng.random(len(x)) < 0.1] = np.nan
    statistic, of_pandas = STATISTICS[name]
    windows = BoundWindows(backend.array(starts), backend.array(stops), width - 1, 0)
    found = order_statistics(statistic, backend.array(x), windows)
    groups = pd.Series(x).groupby(np.repeat(np.arange(len(ends)), lengths))
    expected = of_pandas(groups.rolling(width, min_periods=1))
    np.testing.assert_array_equal(backend.to_numpy(found), expected)


def test_values_that_are_strided_and_read_only():
    x = np.arange(20.0)[::-2]
    x.flags.writeable = False
    assert order_statistics(Quantile(1.0), x, RowWindows(1)).tolist() == [19, *range(19, 2, -2)]


def test_bounds_are_cut_to_the_rows(backend):
    bounds = [backend.array(np.array(b)) for b in ([-(2**62), 0], [2, 2**62])]
    found = order_statistics(Distinct(), backend.array(np.arange(3.0)), BoundWindows(*bounds))
    assert backend.to_numpy(found).tolist() == [2.0, 3.0]
