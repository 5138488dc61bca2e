"""Intervals and sorted searches of arrays against NumPy."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from dask_gpuscan.kernels import INT128, arrays, cpu, interval_move, run_length_decode
from dask_gpuscan.kernels.cpu.intervals import CHUNK, PART
from dask_gpuscan.kernels.sorted_values import searchsorted_sorted

DTYPES = ["?", "i1", "u2", "f2", "i4", "f8", "c8", "c16", "M8[ns]"]

CASES = {
    "none": np.zeros(0, np.int64),
    "one": np.array([5]),
    "empty": np.zeros(3 * CHUNK, np.int64),
    "short": np.arange(5 * CHUNK + 7) % 5,
    "few in many": np.where(np.arange(9 * CHUNK) % 1000, 0, 7),
    "long": np.array([0, 3 * PART + 1, 2, 0, PART]),
    "half in one": np.where(np.arange(2 * CHUNK) == CHUNK - 1, 2 * PART, 64),
    "all in the first": np.append(2 * PART, np.zeros(2 * CHUNK, np.int64)),
    "all in the last": np.append(np.zeros(2 * CHUNK, np.int64), 2 * PART),
}


def expected_places(offsets, counts):
    """The place of each item, in the order of the intervals."""
    starts = np.cumsum(counts) - counts
    return np.repeat(offsets - starts, counts) + np.arange(counts.sum())


def items(n, dtype, seed=0):
    return np.random.default_rng(seed).integers(0, 2 if dtype == "?" else 100, n).astype(dtype)


def side_by_side(counts, seed=1):
    """Offsets of intervals that lie in another order, without gaps."""
    order = np.random.default_rng(seed).permutation(len(counts))
    offsets = np.empty_like(counts)
    offsets[order] = np.cumsum(counts[order]) - counts[order]
    return offsets


def equal(found, expected, backend):
    found = backend.to_numpy(found)
    assert found.dtype == expected.dtype
    np.testing.assert_array_equal(found, expected)


def check(counts, dtype, backend):
    """Compare all functions on intervals with these counts."""
    total, array = int(counts.sum()), backend.array
    values, source = items(len(counts), dtype), items(total + 9, dtype)
    to, on = side_by_side(counts), array(counts)
    of = np.random.default_rng(2).integers(0, np.maximum(total + 10 - counts, 1))
    equal(run_length_decode(on, [array(values)])[0], np.repeat(values, counts), backend)
    of_places, to_places = expected_places(of, counts), expected_places(to, counts)
    equal(interval_move(on, array(source), gather=array(of)), source[of_places], backend)
    before = items(total + 5, dtype, 3)
    for offsets, read in ((None, np.arange(total)), (of, of_places)):
        expected, out = before.copy(), array(before.copy())
        expected[to_places] = source[read]
        if offsets is None:
            found = interval_move(on, array(source[:total]), scatter=array(to), out=out)
        else:
            found = interval_move(
                on, array(source), gather=array(offsets), scatter=array(to), out=out
            )
        assert found is out
        equal(out, expected, backend)


@pytest.mark.parametrize("counts", CASES.values(), ids=CASES)
def test_lengths_of_intervals(backend, counts):
    check(counts, "f8", backend)


@pytest.mark.parametrize("dtype", DTYPES)
def test_widths_of_items(backend, dtype):
    if not backend.holds(dtype):
        pytest.skip("no such arrays")
    check(np.random.default_rng(0).integers(0, 40, CHUNK + 3), dtype, backend)


@given(
    counts=st.lists(st.integers(0, 6) | st.just(0), max_size=60),
    dtype=st.sampled_from("u1 i4 f8".split()),
)
def test_any_counts(backend, counts, dtype):
    check(np.array(counts, np.int64), dtype, backend)


def test_gather_and_scatter_are_inverse(backend):
    counts = np.random.default_rng(4).integers(0, 50, 3000)
    to, source = backend.array(side_by_side(counts)), backend.array(items(counts.sum(), "f8"))
    on = backend.array(counts)
    out = backend.array(np.zeros(counts.sum()))
    there = interval_move(on, source, scatter=to, out=out)
    equal(interval_move(on, there, gather=to), backend.to_numpy(source), backend)


def test_strided_arrays(backend):
    counts, values = np.arange(2000) % 7, items(4000, "i4")
    on, array = backend.array(np.repeat(counts, 2))[::2], backend.array(values)[::-2]
    equal(run_length_decode(on, [array])[0], np.repeat(values[::-2], counts), backend)
    offsets = backend.array(np.arange(6000)[::-1].copy())[::3]
    fitting = np.where(backend.to_numpy(offsets) + counts <= 2000, counts, 0)
    places = expected_places(backend.to_numpy(offsets), fitting)
    found = interval_move(backend.array(fitting), array, gather=offsets)
    equal(found, values[::-2][places], backend)


def test_128_bit_integers():
    values = np.zeros(3, INT128)
    values["low"], values["high"] = [1, 2, 3], [-1, 0, 7]
    (found,) = run_length_decode(np.array([2, 0, 1]), [values])
    assert found.tolist() == [(1, -1), (1, -1), (3, 7)]


def test_offsets_of_empty_intervals_are_not_looked_at(backend):
    offsets, counts, source = (backend.array(np.array(v)) for v in ([99, 0, -5], [0, 2, 0], [7, 8]))
    equal(interval_move(counts, source, gather=offsets), np.array([7, 8]), backend)
    out = backend.array(np.zeros(2, int))
    assert interval_move(counts, source, scatter=offsets, out=out)[1] == 8


def test_outputs_are_written_everywhere(backend, poisoned):
    if backend.name != "cpu":
        pytest.skip("outputs on a device are poisoned by its own tests")
    for name in ("short", "few in many", "half in one"):
        check(CASES[name], "i4", backend)


@pytest.mark.parametrize("side", ["left", "right"])
@pytest.mark.parametrize("dtype", ["?", "i4", "f2", "f8", "M8[s]", "m8[ns]"])
@pytest.mark.parametrize("sizes", [(0, 5), (5, 0), (3, 3 * PART), (5000, 7000), (2 * PART, PART)])
def test_searchsorted(backend, side, dtype, sizes):
    if not backend.holds(dtype):
        pytest.skip("no such arrays")
    highest = {"?": 2, "f2": 2000}.get(dtype, 9000)
    rng = np.random.default_rng(0)
    low = -highest if np.dtype(dtype).kind in "if" else 0
    needles, haystack = (np.sort(rng.integers(low, highest, n).astype(dtype)) for n in sizes)
    if np.dtype(dtype).kind in "fmM":
        for array in (needles, haystack):
            array[len(array) - len(array) // 9 :] = (
                "NaT" if np.dtype(dtype).kind in "mM" else np.nan
            )
    found = searchsorted_sorted(backend.array(needles), backend.array(haystack), side=side)
    equal(found, np.searchsorted(haystack, needles, side), backend)


def test_searchsorted_of_what_is_in_no_order_stays_within(backend):
    rng = np.random.default_rng(0)
    needles, haystack = backend.array(rng.random(9000)), backend.array(rng.random(70_000))
    assert searchsorted_sorted(needles, haystack).shape == (9000,)


def test_wrong_counts_and_offsets_are_found_wherever_they_are(backend):
    good = np.ones(5 * CHUNK + 3, np.int64)
    for at in (0, CHUNK - 1, CHUNK, len(good) - 1):
        counts, offsets = good.copy(), np.arange(len(good))
        counts[at] = -1
        with pytest.raises(ValueError, match="negative, found -1"):
            run_length_decode(backend.array(counts), [backend.array(good)])
        offsets[at] = len(good)
        with pytest.raises(ValueError, match=f"interval {at} has 1 items from {len(good)} on"):
            interval_move(backend.array(good), backend.array(good), gather=backend.array(offsets))


@pytest.mark.parametrize("counts", [[10**12, 3], [2**60, 3], [2**62] * 4, [2**62] * 5000])
def test_more_items_than_memory_are_refused_before_any_is_made(backend, counts):
    total = sum(counts)
    told = f"{total:,} rows" if total < 2**63 else "at least 9,223,372,036,854,775,807 rows"
    counts = backend.array(np.array(counts))
    with pytest.raises(MemoryError, match=told):
        run_length_decode(counts, [counts])


def test_the_memory_that_is_needed_is_told(monkeypatch):
    monkeypatch.setattr(cpu, "available", lambda: 1000.0)
    monkeypatch.setattr(arrays, "SMALL", 0)
    counts, source = np.array([60, 60]), np.zeros(60)
    assert len(run_length_decode(counts, [counts.astype("i4")])[0]) == 120
    with pytest.raises(MemoryError, match="200 rows, which take"):
        run_length_decode(np.array([150, 50]), [counts])
    with pytest.raises(MemoryError, match="180 rows"):
        interval_move(np.array([60] * 3), source, gather=np.zeros(3, int))
    with pytest.raises(MemoryError, match="120 rows"):
        run_length_decode(counts, [counts], beside=1)
