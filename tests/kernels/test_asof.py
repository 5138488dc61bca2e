"""As-of matches of arrays against a search of each row, whatever the dtypes, groups and threads."""

from importlib import import_module

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from dask_gpuscan.kernels import asof, take
from dask_gpuscan.kernels.cpu.core import launch
from dask_gpuscan.kernels.options import Unsorted
from dask_gpuscan.kernels.sorted_values import is_sorted
from helpers.strategies import two_thirds

on_cpu = import_module("dask_gpuscan.kernels.cpu.asof")

DTYPES = ("int8", "int64", "uint64", "float32")
DIRECTIONS = ("backward", "forward", "nearest")


def expected(left, right, codes, direction, exact, tolerance):
    """Look at every row of the right side for each of the left."""
    found = []
    for i, x in enumerate(left.tolist()):
        rows = range(len(right)) if codes is None else np.flatnonzero(codes[1] == codes[0][i])
        apart = [(int(j), right[j].item() - x) for j in rows]
        before = [(j, -d) for j, d in apart if d < 0 or (exact and d == 0)][-1:]
        behind = [(j, d) for j, d in apart if d > 0 or (exact and d == 0)][:1]
        sides = {"backward": before, "forward": behind, "nearest": before + behind}[direction]
        j, distance = min(sides, key=lambda match: match[1], default=(-1, 0))
        found.append(-1 if tolerance is not None and distance > tolerance else j)
    return found


@st.composite
def sides(draw):
    dtype = np.dtype(draw(st.sampled_from(DTYPES)))
    low = 0 if dtype.kind == "u" else -9
    numbers = st.integers(low, 9)
    if dtype.kind != "f":  # the ends of the range too, whose distance does not fit it
        ends = np.iinfo(dtype)
        numbers |= st.sampled_from([int(ends.min), int(ends.max)])
    left, right = (np.array(sorted(draw(st.lists(numbers, max_size=20))), dtype) for _ in range(2))
    return left, right


@pytest.fixture(params=[1, 3], ids=["one part", "several parts"], scope="module")
def parts(request):
    """Parts of few rows; those with codes are as many as threads."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(on_cpu, "SLICE", 4 if request.param > 1 else on_cpu.SLICE)
        patch.setattr(on_cpu, "helpers_for", lambda _: request.param - 1)
        yield


@two_thirds
@given(
    data=st.data(),
    pair=sides(),
    direction=st.sampled_from(DIRECTIONS),
    exact=st.booleans(),
    tolerance=st.sampled_from([None, 0, 3]),
    code=st.sampled_from([None, "int32", "int64"]),
)
def test_matches(parts, backend, data, pair, direction, exact, tolerance, code):
    left, right = pair
    codes = None
    if code is not None:
        codes = tuple(
            np.array(data.draw(st.lists(st.integers(0, 2), min_size=n, max_size=n)), code)
            for n in map(len, pair)
        )
    given_codes = None if codes is None else tuple(map(backend.array, codes))
    found = asof(
        backend.array(left),
        backend.array(right),
        given_codes,
        3,
        direction=direction,
        exact=exact,
        tolerance=tolerance,
    )
    narrow = code is not None and backend.name == "cuda"
    assert found.dtype == (np.int32 if narrow else np.int64)
    assert backend.to_numpy(found).tolist() == expected(
        left, right, codes, direction, exact, tolerance
    )


@pytest.mark.parametrize("exact", [True, False])
@pytest.mark.parametrize("counts", [(999, 333), (40, 4000), (50_000, 20), (20_000, 20_000)])
def test_many_rows(backend, counts, exact):
    rng = np.random.default_rng(0)
    left, right = (np.sort(rng.integers(0, 3000, n) ** 2) for n in counts)
    for direction in ("backward", "forward"):
        forward = direction == "forward"
        found = asof(backend.array(left), backend.array(right), direction=direction, exact=exact)
        rows = np.searchsorted(right, left, "left" if exact == forward else "right") - (not forward)
        answer = np.where(rows < len(right), rows, -1)
        np.testing.assert_array_equal(backend.to_numpy(found), answer)


def test_strides(backend):
    left, right = backend.array(np.arange(20))[::4], backend.array(np.arange(20)[::-1].copy())[::-1]
    assert backend.to_numpy(asof(left, right)).tolist() == [0, 4, 8, 12, 16]


@pytest.mark.parametrize("direction", DIRECTIONS)
@pytest.mark.parametrize("values", [[2, 1], [1.0, np.nan], [np.nan]])
def test_rows_out_of_order(backend, direction, values):
    bad = backend.array(np.array(values))
    good = backend.array(np.array([1, 2], bad.dtype))
    for pair in ((bad, good), (good, bad)):
        with pytest.raises(Unsorted, match="must not decrease"):
            asof(*pair, direction=direction)


def test_order(backend):
    rows = np.arange(3 * launch.PARALLEL)
    assert is_sorted(backend.array(rows))
    for at in (1, 1 << 16, len(rows) - 1):
        changed = rows.copy()
        changed[at] = -1
        assert not is_sorted(backend.array(changed))
    for values, answer in (([], True), ([1.0], True), ([np.nan], False), ([1, 1], True)):
        assert is_sorted(backend.array(np.array(values))) == answer


def test_order_from_heads_on(backend):
    count = 3 * launch.PARALLEL
    rows = np.arange(count) % 1000
    heads = rows == 0
    assert is_sorted(backend.array(rows), backend.array(heads))
    for at in (1, 1 << 16, count - 1):
        changed = rows.copy()
        changed[at] = -1
        assert is_sorted(backend.array(changed), backend.array(heads)) == heads[at]


@pytest.mark.parametrize("dtype", ["bool", "int8", "int64", "float32", "float64", "complex128"])
def test_rows_that_are_filled(backend, dtype):
    values, positions = np.array([0, 1, 1]).astype(dtype), np.array([2, -1, 0, -7])
    found = take(backend.array(values), backend.array(positions), 1)
    assert backend.to_numpy(found).tolist() == np.array([1, 1, 0, 1], dtype).tolist()
    assert found.dtype == values.dtype
    none = take(backend.array(values[:0]), backend.array(positions[[1]]), 1)
    assert backend.to_numpy(none).tolist() == np.array([1], dtype).tolist()


def test_half_floats_are_in_order_or_not():
    for dtype in ("float16", "float32"):
        assert is_sorted(np.array([-np.inf, -1, -0.0, 0.0, 2], dtype))
        assert not is_sorted(np.array([1, -1], dtype))
