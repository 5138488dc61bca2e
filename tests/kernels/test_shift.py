"""Rows moved along, against pandas, by slices that threads share."""

from importlib import import_module

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from dask_gpuscan.kernels import shift
from dask_gpuscan.kernels.shift import are_floats, subtract
from dask_gpuscan.kernels.windows_by_code import finds_rows_before, rows_before

on_cpu = import_module("dask_gpuscan.kernels.cpu.windows.shift")

PERIODS = st.integers(-4, 4) | st.sampled_from([30, -30, 10**30])
NAN = np.float64("nan")


@pytest.fixture(autouse=True, scope="module")
def short_slices():
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(on_cpu, "SLICE", 4)
        yield


@given(items=st.lists(st.integers(-9, 9), max_size=20), periods=PERIODS)
@pytest.mark.parametrize("dtype", ["int64", "float32"])
def test_rows_are_those_of_pandas(backend, dtype, items, periods):
    array = np.array(items, dtype)
    column, near = pd.Series(array), max(min(periods, 99), -99)
    moved = backend.to_numpy(shift(backend.array(array), periods, array.dtype.type(7)))
    np.testing.assert_array_equal(moved, column.shift(near, fill_value=7))
    assert moved.dtype == dtype
    changed = backend.to_numpy(shift(backend.array(array), periods, NAN, subtract=True))
    np.testing.assert_array_equal(changed, column.diff(near))
    assert changed.dtype == "float64"


def test_every_other_row_and_times():
    times = np.arange(10).astype("M8[s]")
    expected = pd.Series(times[::2]).shift(-2)
    np.testing.assert_array_equal(shift(times[::2], -2, np.datetime64("NaT", "s")), expected)


@given(codes=st.lists(st.integers(0, 3), max_size=20), periods=PERIODS.filter(bool))
@pytest.mark.parametrize("dtype", ["int32", "int64"])
@pytest.mark.parametrize("check", [True, False])
def test_rows_of_groups_in_any_order(backend, dtype, check, codes, periods):
    expected = pd.Series(range(len(codes)), dtype="float64").groupby(codes)
    expected = expected.shift(max(min(periods, 99), -99)).fillna(-1)
    found = rows_before(backend.array(np.array(codes, dtype)), 4, periods, check=check)
    np.testing.assert_array_equal(backend.to_numpy(found), expected)
    assert found.dtype == "int64"


@pytest.mark.parametrize("rows", [1, 9215, 9216, 9217, 100_000])
def test_rows_of_groups_of_many_rows(backend, rows):
    codes = np.random.default_rng(rows).integers(0, 900, rows)
    expected = pd.Series(range(rows), dtype="float64").groupby(codes).shift(-2).fillna(-1)
    found = rows_before(backend.array(codes), 900, -2)
    np.testing.assert_array_equal(backend.to_numpy(found), expected)


def test_a_gpu_sorts_whatever_rings_would_take(backend):
    codes = backend.array(np.array([0, 1]))
    assert finds_rows_before(codes, 9, 3)
    assert finds_rows_before(codes, 1 << 20, 9) == (backend.name != "cpu")


@pytest.mark.parametrize("dtype", ["int8", "uint32", "int64", "uint64"])
def test_exact_differences_of_arrays(dtype):
    edges = np.iinfo(dtype)
    now = np.array([edges.max, edges.min, 1], dtype)
    earlier = np.array([1, 0, edges.max - 1 if dtype != "uint64" else 2], dtype)
    out = np.full(3, 77, np.int64)
    expected = [int(a) - int(b) for a, b in zip(now, earlier, strict=True)]
    fits = all(-(2**63) <= e < 2**63 for e in expected)
    assert subtract(now, earlier, out) is fits
    if fits:
        assert out.tolist() == expected


@pytest.mark.parametrize("dtype", ["int8", "uint32", "int64", "uint64"])
def test_integers_that_are_floats(dtype):
    edges = np.iinfo(dtype)
    for number in (0, 1, 2**53, 2**53 + 1, -(2**53), -(2**53) - 1, 2**60, edges.max, edges.min):
        if edges.min <= number <= edges.max:
            exact = int(float(number)) == number
            rows = np.array([1, number, 0], dtype)
            assert are_floats(rows) is exact
            assert are_floats(np.repeat(rows, 50_000)) is exact


@pytest.mark.parametrize("dtype", ["int8", "uint32", "int64", "uint64"])
@pytest.mark.parametrize("periods", [0, 1, -1])
def test_exact_answers(dtype, periods):
    nan, edges = np.float64("nan"), np.iinfo(dtype)
    for number in (0, 2**53, 2**53 + 1, -(2**53) - 1, 2**60, edges.max, edges.min):
        if edges.min <= number <= edges.max:
            rows = np.repeat(np.array([1, number, 0], dtype), 50_000)
            for subtracts in (False, True):
                found = shift(rows, periods, nan, subtract=subtracts, exact=True)
                whole = rows.astype(object)
                moved = np.roll(whole, periods)
                right = whole - moved if subtracts else moved
                right = right[max(periods, 0) : len(rows) + min(periods, 0)]
                if any(int(float(x)) != x for x in set(right)):
                    assert found is None
                else:
                    inner = found[max(periods, 0) : len(rows) + min(periods, 0)]
                    assert (inner == right).all()
                    assert np.isnan(found).sum() == abs(periods)


def test_differences_as_floats():
    now, earlier = np.array([2**60 + 2, 7]), np.array([2**60, 9])
    out = np.empty(2)
    assert subtract(now, earlier, out)
    assert out.tolist() == [2.0, -2.0]
    assert not subtract(now, np.array([1, 9]), out)
    narrow = np.empty(2, np.float32)
    assert subtract(np.array([127, -128], "int8"), np.array([-128, 127], "int8"), narrow)
    assert narrow.tolist() == [255.0, -255.0]
