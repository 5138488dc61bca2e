"""Intervals and sorted searches on a GPU: sizes, alignment and streams, against plain NumPy."""

import cupy as cp
import numpy as np
import pytest

from dask_gpuscan.kernels import interval_move, run_length_decode
from dask_gpuscan.kernels.sorted_values import searchsorted_sorted

pytestmark = pytest.mark.gpu


@pytest.mark.parametrize("mean", [1, 4, 100, 40_000, "half in one", "few in many"])
@pytest.mark.parametrize("dtype", ["u1", "u2", "f4", "f8", "c16"])
def test_many_items(mean, dtype):
    rng = np.random.default_rng(0)
    if mean == "half in one":
        counts = rng.integers(0, 200, 20_000)
        counts[7777] = counts.sum()
    elif mean == "few in many":
        counts = rng.integers(0, 2, 3_000_000) * (rng.random(3_000_000) < 0.001)
    else:
        counts = rng.integers(0, 2 * mean + 1, 3_000_000 // mean)
    total = int(counts.sum())
    values, source = (rng.integers(0, 100, n).astype(dtype) for n in (len(counts), total + 11))
    of = rng.integers(0, total + 12 - counts)
    order, to = rng.permutation(len(counts)), np.empty_like(counts)
    to[order] = np.cumsum(counts[order]) - counts[order]
    ranks = np.arange(total) - np.repeat(np.cumsum(counts) - counts, counts)
    of_places, to_places = np.repeat(of, counts) + ranks, np.repeat(to, counts) + ranks
    on, reads, writes, items = (cp.asarray(a) for a in (counts, of, to, source))
    (found,) = run_length_decode(on, [cp.asarray(values)])
    np.testing.assert_array_equal(found.get(), np.repeat(values, counts))
    found = interval_move(on, items, gather=reads)
    np.testing.assert_array_equal(found.get(), source[of_places])
    expected = np.zeros(total, dtype)
    expected[to_places] = source[:total]
    found = interval_move(on, items[:total], scatter=writes, out=cp.zeros(total, dtype))
    np.testing.assert_array_equal(found.get(), expected)
    expected[to_places] = source[of_places]
    found = interval_move(on, items, gather=reads, scatter=writes, out=cp.zeros(total, dtype))
    np.testing.assert_array_equal(found.get(), expected)


def test_more_than_two_to_the_31(room):
    length = 2**31 + 1000
    room(5 * length)
    counts = cp.asarray([0, length - 107, 0, 3, 104])
    (out,) = run_length_decode(counts, [cp.arange(5, dtype="i1")])
    at = cp.asarray([0, length - 108, length - 107, length - 105, length - 104, length - 1])
    assert out[at].tolist() == [1, 1, 3, 3, 4, 4]
    out[length - 9] = 77
    starts, counts = cp.asarray([5, 0]), cp.asarray([length - 5, 5])
    found = interval_move(counts, out, gather=starts)
    at = cp.asarray([0, length - 14, length - 13, length - 6, length - 5, length - 1])
    assert found[at].tolist() == [1, 77, 4, 4, 1, 1]
    moved = interval_move(counts, found, scatter=starts, out=out)
    assert moved[cp.asarray([0, 4, length - 9, length - 8])].tolist() == [1, 1, 77, 4]


def test_slices_that_are_not_aligned():
    counts = np.arange(5000) % 7
    total, offsets = int(counts.sum()), np.cumsum(counts) - counts
    on, to = (cp.asarray(np.append(0, a))[1:] for a in (counts, offsets))
    source = cp.arange(total + 1, dtype="u1")[1:]
    np.testing.assert_array_equal(interval_move(on, source, gather=to).get(), source.get())
    out = cp.zeros(total + 3, "u1")
    interval_move(on, source, scatter=to, out=out[3:])
    np.testing.assert_array_equal(out.get(), np.append(np.zeros(3, "u1"), source.get()))


def test_on_a_stream():
    with cp.cuda.Stream(non_blocking=True):  # which does not wait for what another one fills
        counts = cp.full(100_000, 3)
        values = cp.arange(100_000)
        (found,) = run_length_decode(counts, [values])
        assert int(found.sum()) == 3 * int(values.sum())


@pytest.mark.parametrize("side", ["left", "right"])
@pytest.mark.parametrize("dtype", ["i1", "u2", "f2", "f4", "i8", "f8"])
def test_searchsorted(dtype, side):
    rng = np.random.default_rng(0)
    needles, haystack = (
        np.sort(rng.integers(-100, 100, n).astype(dtype)) for n in (50_001, 90_000)
    )
    found = searchsorted_sorted(cp.asarray(needles), cp.asarray(haystack), side)
    np.testing.assert_array_equal(found.get(), np.searchsorted(haystack, needles, side))
