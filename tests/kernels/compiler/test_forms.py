"""Kernels of an engine that is compiled once a form, and of an operator's functions that are linked into it."""

import itertools
import logging

import numpy as np
import pytest

import dask_gpuscan
from dask_gpuscan import operator
from dask_gpuscan.kernels import (
    InBand,
    RowWindows,
    reduce,
    reduce_by_code,
    reduce_by_key,
    rolling,
    scan,
    scan_by_code,
    scan_by_key,
)
from dask_gpuscan.kernels.compiler import cache as kernel_cache
from dask_gpuscan.kernels.compiler import forms, symbols
from dask_gpuscan.kernels.nulls import NAT

X = np.random.default_rng(5).integers(-9, 9, 40_000).astype(np.float32)
LEAST = np.float32(-99)


@pytest.fixture
def engines(tmp_path, monkeypatch, caplog):
    """How many engines were made since it was asked last, and that none failed; the folder is empty before a test."""
    monkeypatch.setenv("DASK_GPUSCAN_CACHE", str(tmp_path))
    caplog.set_level(logging.INFO, "dask_gpuscan.kernels.compiler.jit")
    known = set()

    def new():
        assert "as a whole" not in caplog.text
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


NUMBERS = ("f8", "i4", "i1", "u8", "?", "c8")
WHOLE = abs(X).astype("i8")


def latest(values):
    """Return for each number the latest one that is not zero."""
    return list(itertools.accumulate(values, lambda a, b: b if b != 0 else a))


def last_of(dtype, **functions):
    zero = np.dtype(dtype).type(0)
    return operator(lambda a, b: b if b != 0 else a, identity=zero, check=False, **functions)


@pytest.mark.parametrize("shape", [(40_000,), (100, 400)], ids=["tiles", "lines"])
@pytest.mark.parametrize("write", [True, False], ids=["scan", "reduce"])
def test_states_of_any_numbers_share_an_engine(engines, shape, write):
    for dtype in NUMBERS:
        x = WHOLE.astype(dtype).reshape(shape)
        expected = np.array([latest(line) for line in x.reshape(-1, shape[-1])]).reshape(shape)
        if write:
            found, _ = scan(last_of(dtype), x)
        else:
            found, expected = reduce(last_of(dtype), x), expected[..., -1]
        assert found.dtype == dtype
        np.testing.assert_array_equal(found, expected)
    assert engines() == 1


@pytest.mark.parametrize("write", [True, False], ids=["scan", "reduce"])
def test_states_of_groups_of_any_numbers_share_an_engine(engines, write):
    codes = np.random.default_rng(1).integers(0, 9, len(X))
    for dtype in NUMBERS:
        x = WHOLE.astype(dtype)
        groups = [latest(x[codes == code]) for code in range(9)]
        expected = np.empty_like(x)
        for code, of_group in enumerate(groups):
            expected[codes == code] = of_group
        if write:
            found, *_ = scan_by_code(last_of(dtype), codes, x, 9)
        else:
            found, expected = reduce_by_code(last_of(dtype), codes, x, 9), [g[-1] for g in groups]
        np.testing.assert_array_equal(found, expected)
    assert engines() <= 2  # one folds the tables of threads


@pytest.mark.parametrize("write", [True, False], ids=["scan", "reduce"])
def test_states_of_runs_of_any_numbers_share_an_engine(engines, write):
    keys = np.repeat(np.arange(len(X) // 80), 80)
    for dtype in NUMBERS:
        x = WHOLE.astype(dtype)
        expected = np.array([latest(run) for run in x.reshape(-1, 80)])
        if write:
            found, _ = scan_by_key(last_of(dtype), keys, x)
            np.testing.assert_array_equal(found, expected.reshape(-1))
        else:
            _, found = reduce_by_key(last_of(dtype), keys, x)
            np.testing.assert_array_equal(found, expected[:, -1])
    assert engines() == 1


def test_states_of_windows_of_any_numbers_share_an_engine(engines):
    rows = np.arange(len(X))
    made = []
    for dtype in NUMBERS:
        x = WHOLE.astype(dtype)
        x[5000:9000] = 0
        latest_row = np.maximum.accumulate(np.where(x != 0, rows, -1))
        found = rolling(last_of(dtype), x, RowWindows(6, 0))
        np.testing.assert_array_equal(found, np.where(latest_row > rows - 7, x[latest_row], 0))
        made.append(engines())
    assert made[0] > 0
    assert not any(made[1:])


def test_answers_of_any_numbers_share_an_engine(engines):
    for dtype in NUMBERS:
        kind = np.dtype(dtype).type
        op = last_of("i8", lower=lambda s, kind=kind: kind(s))
        found, _ = scan(op, WHOLE)
        assert found.dtype == dtype
        np.testing.assert_array_equal(found, np.array(latest(WHOLE)).astype(dtype))
    assert engines() == 1


def test_states_of_tuples_of_any_numbers_share_an_engine(engines):
    for first, second in (("f8", "f8"), ("i8", "?"), ("?", "f4"), ("c16", "u1"), ("f4", "i2")):
        one, two = np.dtype(first).type, np.dtype(second).type
        op = operator(
            lambda a, b: b if b[1] != 0 else a, identity=(one(0), two(0)),
            lift=lambda x, one=one, two=two: (one(x), two(x != 0)), lower=lambda s: s[0], check=False,
        )  # fmt: skip
        found, state = scan(op, WHOLE)
        np.testing.assert_array_equal(found, np.array(latest(WHOLE)).astype(first))
        assert [part.dtype for part in state] == [first, second]
    assert engines() == 1


def test_states_are_cast_after_each_step(engines):
    """The function adds in float64, and the state has fewer digits, or none behind the point."""
    op = operator(lambda a, b: a + b * 1.0, identity=0, check=False)
    for dtype in ("f4", "f8", "i4", "i1"):
        kind = np.dtype(dtype).type
        found, _ = scan(op, X[:100], dtype=dtype)
        expected = itertools.accumulate(X[:100], lambda a, b, k=kind: k(float(a) + float(b)))
        np.testing.assert_array_equal(found, list(expected))
    assert engines() == 1


def test_answers_before_and_after_of_any_numbers_share_an_engine(engines):
    for dtype in ("f8", "f4", "i4", "?"):
        kind = np.dtype(dtype).type
        op = last_of("i8", lower=lambda s, kind=kind: (kind(s), s))
        (before, after), _ = scan(op, WHOLE, exclusive=(True, False))
        expected = np.array(latest(WHOLE))
        np.testing.assert_array_equal(after, expected)
        np.testing.assert_array_equal(before, np.array([0, *expected[:-1]]).astype(dtype))
    assert engines() == 1


def test_nulls_of_any_numbers_are_marked_by_an_engine(engines):
    for dtype, null in (("f8", np.nan), ("f4", np.nan), ("i8", NAT)):
        x = np.where(WHOLE == 4, null, WHOLE).astype(dtype)
        op = operator(lambda a, b: max(a, b), identity=np.dtype(dtype).type(0), check=False)
        found, _ = scan(op, x, nulls=InBand(), mark_nulls=True)
        expected = np.maximum.accumulate(np.where(WHOLE == 4, 0, WHOLE))
        np.testing.assert_array_equal(found, np.where(WHOLE == 4, null, expected).astype(dtype))
    assert engines() == 1


def test_numbers_beyond_the_most_have_their_types(engines, monkeypatch):
    monkeypatch.setattr(forms, "MOST", 1)
    scanned(lambda a, b: a if a >= b else b, lift=lambda x: -x)
    assert engines() == 1


def test_elements_are_moved_one_by_one():
    whole = "  %2 = load { i1024, i1 }, ptr %1", "  store { i1024, i1 } %1, ptr %2"
    assert all(map(symbols.has_elements_in_memory, whole))
    assert not symbols.has_elements_in_memory("  %2 = call ptr @operator.store(i1024 %1, ptr %0)")


def test_states_of_other_fields_have_engines_of_their_own(engines):
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
