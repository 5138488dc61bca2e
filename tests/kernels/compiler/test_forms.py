"""Kernels of an engine that is compiled once a form, and of an operator's functions that are linked into it."""

import itertools

import numpy as np
import pytest

import dask_gpuscan
from dask_gpuscan.kernels import InBand, operator, scan
from dask_gpuscan.kernels.compiler import cache as kernel_cache

X = np.random.default_rng(5).integers(-9, 9, 40_000).astype(np.float32)
LEAST = np.float32(-99)


@pytest.fixture
def engines(tmp_path, monkeypatch):
    """How many engines were made since it was asked last; the folder has what was made within the test."""
    monkeypatch.setenv("DASK_GPUSCAN_CACHE", str(tmp_path))
    known = set()

    def new():
        found = set(tmp_path.glob("*.engine")) - known
        known.update(found)
        return len(found)

    return new


def scanned(combine, identity=LEAST, plain=max, **functions):
    """Compare a scan with Python's."""
    op = operator(combine, identity=identity, check=False, **functions)
    lift, lower = (functions.get(name, lambda x: x) for name in ("lift", "lower"))
    states = itertools.accumulate(map(lift, X), plain)
    np.testing.assert_array_equal(dask_gpuscan.scan(X, op), [lower(s) for s in states])


def test_operators_of_a_form_share_an_engine(engines):
    scanned(lambda a, b: a if a > b else b)
    assert engines() == 1
    scanned(lambda a, b: a if a < b else b, np.float32(99), min)
    assert engines() == 0


def test_numbers_that_functions_capture_are_arguments_of_the_engine(engines):
    def above(limit):
        return lambda x: x if x > limit else LEAST

    for limit in (np.float32(2), np.float32(7)):
        scanned(lambda a, b: b if b >= a else a, lift=above(limit))
    assert engines() == 1


def test_inputs_of_any_numbers_share_an_engine(engines):
    op = operator(lambda a, b: a + b, identity=0, lift=lambda x, y: int(x) + int(y), check=False)
    for first, second in (("i1", "u2"), ("?", "i8"), ("f4", "f8"), ("u4", "i2")):
        x, y = X.astype(first), X[::-1].astype(second)
        expected = np.cumsum(x.astype("i8") + y.astype("i8"))
        np.testing.assert_array_equal(dask_gpuscan.scan((x, y), op), expected)
    assert engines() == 1


def test_nulls_of_any_numbers_share_an_engine(engines):
    made = []
    for dtype in ("f8", "f4"):
        x = np.where(X > 4, np.nan, X).astype(dtype)
        op = operator(lambda a, b: a + b, identity=0.0, lift=lambda x: np.float64(x), check=False)
        found, _ = scan(op, x, nulls=InBand())
        np.testing.assert_array_equal(found, np.cumsum(np.where(X > 4, 0, X), dtype="f8"))
        made.append(engines())
    assert made == [1, 0]


def test_states_of_other_numbers_have_engines_of_their_own(engines):
    def two(a, b):
        return max(a[0], b[0]), a[1] + b[1]

    def three(a, b):
        return max(a[0], b[0]), a[1] + b[1], max(a[2], b[2])

    zero = np.float32(0)
    scanned(two, (LEAST, 0), two, lift=lambda x: (x, 1), lower=lambda s: s[0])
    assert engines() == 1
    scanned(three, (LEAST, 0, LEAST), three, lift=lambda x: (x, 1, zero), lower=lambda s: s[0])
    assert engines() == 1


def test_functions_that_answer_with_other_types(engines):
    def larger(a, b):
        return b if a < b else a

    scanned(larger, lower=lambda s: s > 3)
    scanned(larger, lower=lambda s: s * np.float32(2))
    scanned(larger, lower=lambda s, k=2: s > k)


def test_an_error_is_raised_through_the_engine(engines):
    beside = operator(
        lambda a, b: (a[0], b[1]), lift=lambda x: (x, x), lower=lambda s: s[int(s[0] * 0) + 5],
        identity=(LEAST, LEAST), check=False,
    )  # fmt: skip
    with pytest.raises(IndexError, match="outside"):
        dask_gpuscan.scan(X, beside)
    assert engines() == 1


def test_a_damaged_engine_is_not_used(engines, tmp_path):
    scanned(lambda a, b: a if b < a else b)
    (engine,) = tmp_path.glob("*.engine")
    kernel_cache.write(engine.name, b"no pickle")
    scanned(lambda a, b: a if b <= a else b)
    engine.write_bytes(b"damaged")
    scanned(lambda a, b: b if b > a else a)
    assert engine.read_bytes() != b"damaged"


def test_functions_that_make_arrays_are_linked(engines):
    def both(a, b):
        two = np.empty(2, np.float32)
        two[0], two[1] = a, b
        return two.max()

    scanned(both)
    assert engines() == 1
