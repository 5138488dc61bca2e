"""Segments of rows on one thread and on several: rows brought together, some values selected, distinct ones counted."""

from itertools import pairwise

import numpy as np
import pytest

from dask_gpuscan import kernels
from dask_gpuscan.kernels.cpu.columns import arrange
from dask_gpuscan.kernels.cpu.core import launch, shares
from dask_gpuscan.kernels.cpu.sort import segments
from dask_gpuscan.kernels.factorize import arrange_by_code, sort_by_code
from dask_gpuscan.kernels.keys import count_distinct

RNG = np.random.default_rng(5)
KINDS = ("random", "few", "descending", "nan")


@pytest.fixture(params=[1, 3])
def threads(request, monkeypatch) -> int:
    """Run small inputs as large ones, on so many threads."""
    for module in (launch, arrange, segments):
        monkeypatch.setattr(module, "helpers_for", lambda _: request.param - 1)
    monkeypatch.setattr(launch, "PARALLEL", 1)
    monkeypatch.setattr(arrange, "ROWS", 64)
    monkeypatch.setattr(arrange, "ROOM", 0)
    monkeypatch.setattr(shares, "SHARE", 64)
    return request.param


def _values(kind: str, count: int, dtype: str) -> np.ndarray:
    found = RNG.standard_normal(count) * 1000
    if kind == "few":
        found = np.round(found / 500) + 0.0
    if kind == "descending":
        found = np.sort(found)[::-1]
    if kind == "nan" and dtype[0] == "f":
        found[RNG.random(count) < 0.3] = np.nan
    if dtype == "?":
        return found > 0
    return (np.abs(found) if dtype[0] == "u" else found).astype(dtype)


def _offsets(count: int, most: int) -> np.ndarray:
    return np.unique(np.append([0, count], RNG.integers(0, count + 1, most)))


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("dtype", ["f8", "i4", "u2", "?"])
@pytest.mark.parametrize(("count", "most"), [(1, 1), (50, 7), (3000, 40), (20_000, 2)])
def test_some_places_are_as_in_a_sort(threads, kind, dtype, count, most):
    values, offsets = _values(kind, count, dtype), _offsets(count, most)
    missing = np.add.reduceat(values != values, offsets[:-1], dtype=np.int64)
    counts, qs = np.diff(offsets) - missing, (1.0, 0.0, 0.5, 0.3)
    (found,), _ = kernels.sort_pairs(values, offsets=offsets, kth=(counts, qs))
    for start, end, known in zip(offsets[:-1], offsets[1:], counts, strict=True):
        expected = np.sort(values[start:end])
        np.testing.assert_array_equal(np.sort(found[start:end]), expected)
        places = {int(each(q * (known - 1))) for q in qs for each in (np.floor, np.ceil)}
        for place in [start + at for at in places if known]:
            one = expected[place - start]
            if one == one:  # NaN are behind all others, in any order
                assert found[place] == one
                assert not (found[start:place] > one).any()
                assert not (found[place:end] < one).any()


@pytest.mark.parametrize("step", [-1, 2])
def test_arrays_of_any_strides(threads, step):
    values, offsets = RNG.random(200)[::step], np.array([0, 40, 100])[:: abs(step)]
    offsets = np.append(offsets[:-1], len(values))
    counts = np.diff(offsets)
    (found,), _ = kernels.sort_pairs(values, offsets=offsets, kth=(counts, (0.0, 1.0)))
    assert (found[offsets[:-1]] == np.minimum.reduceat(values, offsets[:-1])).all()
    assert (found[offsets[1:] - 1] == np.maximum.reduceat(values, offsets[:-1])).all()
    words, ends = np.arange(10, dtype=np.uint64)[::step], np.array([0, 99, 3, 99, 10, 99])[::2]
    ends[-1] = len(words)
    assert count_distinct(words, ends).tolist() == np.diff(ends).tolist()


@pytest.mark.parametrize("dtype", ["i4", "i8"])
@pytest.mark.parametrize(("count", "groups"), [(0, 0), (0, 3), (1, 1), (5000, 7), (5000, 3000)])
def test_rows_are_brought_together(threads, count, groups, dtype):
    codes = RNG.integers(0, max(1, groups), count).astype(dtype)
    arrays = [np.arange(count)[::-1], RNG.random(count) < 0.5, RNG.random(count).astype("f4")]
    starts, found = arrange_by_code(codes, groups, arrays)
    order = np.argsort(codes, kind="stable")
    assert starts.tolist() == np.searchsorted(codes[order], np.arange(groups)).tolist()
    for one, array in zip(found, arrays, strict=True):
        assert one.dtype == array.dtype
        assert one.tolist() == array[order].tolist()


@pytest.mark.parametrize("dtype", ["i4", "i8"])
@pytest.mark.parametrize(
    ("count", "groups"),
    [(0, 0), (0, 9000), (1, 1), (5000, 1), (5000, 7), (5000, 4097), (200_000, 10**6), (100, 2**30)],
)
def test_rows_are_sorted_by_code(threads, count, groups, dtype):
    codes = RNG.integers(0, max(1, groups), count).astype(dtype)
    if count:
        codes[-1] = groups - 1
    arrays = [np.arange(count)[::-1], RNG.random(count) < 0.5, RNG.random(count).astype("f4")]
    found_codes, rows, found = sort_by_code(codes, groups, arrays)
    order = np.argsort(codes, kind="stable")
    assert found_codes.dtype == codes.dtype
    assert rows.tolist() == order.tolist()
    assert found_codes.tolist() == codes[order].tolist()
    for one, array in zip(found, arrays, strict=True):
        assert one.dtype == array.dtype
        assert one.tolist() == array[order].tolist()


def test_rows_that_are_not_brought_together():
    codes = np.zeros(3, np.int64)
    with pytest.raises(ValueError, match="groups must be at most 4096 of these arrays, found 4097"):
        arrange_by_code(codes, 4097, [])
    for array in (np.zeros(2), np.zeros(3, complex)):
        with pytest.raises(ValueError, match="arrays must be as long as the codes"):
            arrange_by_code(codes, 1, [array])


@pytest.mark.parametrize("distinct", [1, 9, 4000])
@pytest.mark.parametrize(("count", "most"), [(0, 0), (1, 1), (500, 90), (5000, 3)])
def test_distinct_words_are_counted(threads, distinct, count, most):
    words = RNG.integers(0, distinct, count).astype(np.uint64) << np.uint64(50)
    missing = RNG.random(count) < 0.4
    offsets = _offsets(count, most)
    pairs = list(pairwise(offsets))
    found = count_distinct(words, offsets)
    assert found.tolist() == [len(np.unique(words[a:b])) for a, b in pairs]
    found = count_distinct(words, offsets, missing)
    assert found.tolist() == [len(np.unique(words[a:b][~missing[a:b]])) for a, b in pairs]
    floats = np.where(words % 3 == 0, -0.0, words.astype(float))
    floats[::3], floats[1::4], floats[2::5] = np.nan, 0.0, -np.array(np.nan)
    found = count_distinct(floats, offsets)
    assert found.tolist() == [len(np.unique(floats[a:b])) for a, b in pairs]
    with pytest.raises(TypeError, match="words must be a 1-d array of uint64"):
        count_distinct(words.view(np.int64), offsets)
    with pytest.raises(TypeError, match="offsets must be a 1-d array of int64"):
        count_distinct(words, offsets.astype(np.int32))
    with pytest.raises(ValueError, match="end with the number of rows"):
        count_distinct(words, offsets + 1)
    with pytest.raises(ValueError, match="words and missing"):
        count_distinct(words, offsets, np.append(missing, True))
