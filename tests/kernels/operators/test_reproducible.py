"""Reproducible sums: their error against exact sums, and one result for any order, cut and number of threads."""

import math
from dataclasses import replace
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from dask_gpuscan.kernels import BUILT_IN, InBand, bitmap, reduce, scan
from dask_gpuscan.kernels.cpu.scan.digit_sums import BLOCK, HIGHEST, LOWEST
from dask_gpuscan.kernels.operators.reproducible import MEAN, ORIGIN, WIDTH, bin_of
from dask_gpuscan.kernels.scan import fold

ADD = BUILT_IN["add_reproducible"]
LARGEST = np.finfo(np.float64).max


def lowered(op, state):
    with np.errstate(all="ignore"):
        return float(op.lower(state))


def total(backend, x, op=ADD):
    return lowered(op, reduce(op, backend.array(np.asarray(x))))


def exact(x):
    return sum(map(Fraction, x.tolist()), Fraction(0))


def bound(x):
    """What `add_reproducible` says: n * 2**-54 of the largest number, and the rounding of the answer."""
    return Fraction(len(x), 2**54) * Fraction(float(abs(x).max())) + abs(exact(x)) / 2**53


@st.composite
def spread_numbers(draw, most=60):
    """Numbers of many or few powers of two, near the ends of float64 too."""
    middle = draw(st.sampled_from([-1060, -1022, -30, 0, 14, 500, 990]))
    width = draw(st.sampled_from([1, 20, 60, 120]))
    rng = np.random.default_rng(draw(st.integers(0, 2**32)))
    n = draw(st.integers(1, most))
    exponents = np.clip(middle + rng.integers(-width, width + 1, n), -1080, 1010)
    return np.ldexp(rng.uniform(-2, 2, n), exponents)


def test_bins_are_those_of_a_division():
    exponents = np.arange(2047)
    np.testing.assert_array_equal(bin_of(exponents), (exponents + ORIGIN) // WIDTH)


@given(x=spread_numbers())
def test_sums_are_as_near_as_the_bound_says(backend, x):
    found = total(backend, x)
    assert abs(Fraction(found) - exact(x)) <= bound(x)


@given(x=spread_numbers(), data=st.data())
def test_neither_order_nor_cuts_change_bits(backend, x, data):
    expected = reduce(ADD, backend.array(x))
    mixed = data.draw(st.permutations(range(len(x))))
    cuts = sorted(data.draw(st.lists(st.integers(0, len(x)), max_size=4)))
    states = [reduce(ADD, backend.array(piece)) for piece in np.split(x[list(mixed)], cuts)]
    assert fold(ADD, states) == expected
    assert fold(ADD, states[::-1]) == expected


@given(x=spread_numbers())
def test_each_answer_is_the_sum_so_far(backend, x):
    out, state = scan(ADD, backend.array(x))
    expected = [total(backend, x[: i + 1]) for i in range(len(x))]
    np.testing.assert_array_equal(backend.to_numpy(out), expected)
    assert state == reduce(ADD, backend.array(x))
    before, _ = scan(ADD, backend.array(x), exclusive=True)
    np.testing.assert_array_equal(backend.to_numpy(before), [0.0, *expected[:-1]])


def test_cancellation_loses_nothing(backend):
    x = np.array([1e16, 1.0, -1e16, 3.0])
    assert total(backend, x) == 4.0
    assert total(backend, [LARGEST, LARGEST, -LARGEST]) == LARGEST  # on the way it would overflow


@pytest.mark.parametrize(
    ("x", "expected"),
    [
        ([], 0.0),
        ([-0.0, -0.0], 0.0),  # as sums that begin with 0.0
        ([2.0, -2.0], 0.0),
        ([LARGEST, LARGEST], np.inf),
        ([-LARGEST, -LARGEST], -np.inf),
        ([np.inf, 1.0], np.inf),
        ([1.0, -np.inf, -np.inf], -np.inf),
        ([np.inf, -np.inf], np.nan),
        ([np.nan, np.inf], np.nan),
        ([5e-324, 5e-324], 1e-323),
        ([2.0**-1022, -5e-324], 2.0**-1022 - 5e-324),
        ([LARGEST, 5e-324], LARGEST),
    ],
)
def test_ends_of_the_type(backend, x, expected):
    found = total(backend, np.array(x, np.float64))
    np.testing.assert_array_equal(found, expected)
    assert math.isnan(expected) or math.copysign(1, found) == math.copysign(1, expected)


def long_column(n, dtype="f8"):
    """Numbers of some bins, with rises on the way: blocks of both kinds, and the ends of the type."""
    rng = np.random.default_rng(7)
    x = rng.standard_normal(n)
    x[n // 3 :] *= 1e6
    if dtype == "f8":
        x[n // 2 : n // 2 + 40] = np.ldexp(x[n // 2 : n // 2 + 40], rng.integers(-1070, 60, 40))
    return x.astype(dtype)


@pytest.mark.sampled(3)
@pytest.mark.parametrize("dtype", ["f8", "f4"])
@pytest.mark.parametrize("nulls", ["none", "in band", "bits"])
def test_blocks_are_as_one_by_one(backend, dtype, nulls):
    n = 5 * BLOCK + 77
    x = long_column(n, dtype)
    valid = np.ones(n, bool)
    given_nulls = None
    if nulls != "none":
        valid[::7] = valid[n // 2] = False
    if nulls == "in band":
        x[~valid], given_nulls = np.nan, InBand()
    elif nulls == "bits":
        given_nulls = bitmap(backend.array(np.packbits(valid, bitorder="little")))
    for reverse in (False, True):
        out, state = scan(ADD, backend.array(x), nulls=given_nulls, reverse=reverse, dtype=dtype)
        walk = range(n)[:: -1 if reverse else 1]
        states, seen = [], None
        for i in walk:
            if valid[i]:
                lifted = ADD.lift(x[i])
                seen = lifted if seen is None else ADD.combine(seen, lifted)
            states.append(seen)
        expected = np.empty(n, dtype)
        for i, one in zip(walk, states, strict=True):
            expected[i] = 0.0 if one is None else lowered(ADD, one)
        np.testing.assert_array_equal(backend.to_numpy(out), expected)
        assert tuple(map(int, state)) == tuple(map(int, states[-1]))


@pytest.mark.parametrize("dtype", ["f8", "f4"])
@pytest.mark.parametrize("exclusive", [False, True])
def test_blocks_are_as_an_operator_that_nothing_is_known_of(backend, dtype, exclusive):
    """Where sums are far larger than their numbers, where the largest so far rises by bins, and after infinite ones."""
    other, n = replace(ADD, name="other"), 300_000
    rng = np.random.default_rng(5)
    powers = np.linspace(*((-120, 120) if dtype == "f4" else (-900, 900)), n).astype(int)
    few = np.where(rng.random(n) < 1e-5, np.inf, rng.standard_normal(n))
    many = np.where(rng.random(n) < 0.99, 0.0, rng.standard_normal(n))
    for x in (rng.uniform(8192, 16384, n), np.ldexp(rng.standard_normal(n), powers), few, many):
        x = backend.array(x.astype(dtype))
        options = {"exclusive": exclusive, "dtype": np.dtype(dtype)}
        (found, state), (expected, last) = (scan(op, x, **options) for op in (ADD, other))
        np.testing.assert_array_equal(backend.to_numpy(found), backend.to_numpy(expected))
        assert tuple(map(int, state)) == tuple(map(int, last)) == tuple(map(int, reduce(ADD, x)))


def test_bins_near_the_ends_are_walked_one_by_one(backend):
    for place in (LOWEST - 1, LOWEST, HIGHEST, HIGHEST + 1):
        x = np.ldexp(np.arange(1.0, 2 * BLOCK), min(WIDTH * place - 1022 - ORIGIN, 1010))
        out, _ = scan(ADD, backend.array(x))
        with np.errstate(over="ignore"):
            np.testing.assert_array_equal(backend.to_numpy(out), np.cumsum(x))  # which are exact


def test_one_result_for_any_number_of_threads(monkeypatch):
    from dask_gpuscan.kernels.cpu.core import launch

    x = long_column(600_000)
    found = []
    for helpers in (0, 1, 3):
        monkeypatch.setattr(launch, "helpers_for", lambda _, helpers=helpers: helpers)
        out, state = scan(ADD, x)
        found.append((out.tobytes(), state))
    assert found[0] == found[1] == found[2]


def test_lines_along_either_axis(backend):
    x = long_column(12 * 700).reshape(12, 700)
    for axis in (0, 1):
        out, _ = scan(ADD, backend.array(x), axis=axis)
        ends = backend.to_numpy(out).take(-1, axis=axis)
        lines = np.moveaxis(x, axis, -1)
        np.testing.assert_array_equal(ends, [total(backend, line) for line in lines])


@example(x=np.array([2e-311, 3e-308, 2e-308]))  # the sum is normal, and the mean is not
@given(x=spread_numbers())
def test_means(backend, x):
    found = total(backend, x, MEAN)
    assert found == total(backend, x) / len(x)
