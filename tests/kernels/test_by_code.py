"""Scans and reductions of rows in any order by codes: pandas' answers, and codes that are checked."""

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from dask_gpuscan import operator
from dask_gpuscan.kernels import (
    BUILT_IN,
    InBand,
    byte_mask,
    factorize,
    reduce_by_code,
    scan_by_code,
)
from dask_gpuscan.kernels.by_code import max_groups
from dask_gpuscan.kernels.factorize import first_met

ADD, MAXIMUM = BUILT_IN["add"], BUILT_IN["maximum"]


@given(
    rows=st.lists(st.tuples(st.integers(0, 4), st.integers(-9, 9), st.booleans()), max_size=40),
    exclusive=st.booleans(),
    dtype=st.sampled_from(["int32", "int64"]),
)
def test_sums_of_rows_in_any_order(rows, exclusive, dtype):
    codes = np.array([r[0] for r in rows], dtype)
    values = np.array([r[1] for r in rows], np.int32)
    missing = np.array([r[2] for r in rows], np.bool_)
    before = np.array([100, 200])
    out, states = scan_by_code(
        ADD, codes, values, 5, nulls=byte_mask(missing), exclusive=exclusive, carry_in=before
    )
    state = [100, 200, 0, 0, 0]
    for i, code in enumerate(codes):
        after = state[code] + (0 if missing[i] else int(values[i]))
        assert out[i] == (state[code] if exclusive else after)
        state[code] = after
    assert states.tolist() == state
    reduced = reduce_by_code(ADD, codes, values, 5, nulls=byte_mask(missing))
    assert (reduced + np.array([100, 200, 0, 0, 0])).tolist() == state


def test_states_of_groups_that_are_named():
    codes, values = np.array([3, 9, 0, 9, 3], np.int32)[::-2], np.array([1.0, 2.0, np.nan])
    before, which = np.array([100.0, 200.0]), np.array([3, 1])
    out, states = scan_by_code(
        ADD, codes, values, 4, nulls=InBand(), carry_in=before, carry_codes=which, mark_nulls=True
    )
    np.testing.assert_array_equal(out, [101.0, 2.0, np.nan])
    assert states.tolist() == [2.0, 200.0, 0.0, 101.0]


def test_many_rows_in_any_order():
    rng = np.random.default_rng(7)
    codes, values = rng.integers(0, 1000, 100_000), rng.normal(size=100_000)
    values[rng.random(100_000) < 0.1] = np.nan
    out, _ = scan_by_code(MAXIMUM, codes, values, 1000, nulls=InBand())
    expected = pd.Series(values).groupby(codes).cummax()
    np.testing.assert_array_equal(np.where(np.isnan(values), np.nan, out), expected)


def test_states_of_several_fields():
    affine = operator(
        lambda a, b: (a[0] * b[0], b[0] * a[1] + b[1]),
        identity=(1, 0),
        lift=lambda x: (3, x),
        lower=lambda s: s[1],
    )
    codes, values = np.array([0, 1, 0, 0]), np.array([1, 5, 2, 4])
    out, (slopes, offsets) = scan_by_code(affine, codes, values, 3)
    assert out.tolist() == [1, 5, 5, 19]
    assert slopes.tolist() == [27, 3, 1]
    assert offsets.tolist() == [19, 5, 0]


@pytest.mark.parametrize("rows", [0, 1, 5_000])
@pytest.mark.parametrize("groups", [1, 40, 3_000])
def test_a_reduction_goes_on_from_states(backend, groups, rows):
    most = max_groups(backend.array(np.zeros(rows, int)))
    groups = groups if most is None else min(groups, most)
    rng = np.random.default_rng(groups + rows)
    codes, values = rng.integers(0, groups, rows), rng.normal(size=rows)
    before = rng.normal(size=groups)
    given = [backend.array(a) for a in (codes, values, before)]
    found = reduce_by_code(MAXIMUM, *given[:2], groups, carry_in=given[2])
    np.maximum.at(before, codes, values)
    assert backend.to_numpy(found).tolist() == before.tolist()


@pytest.mark.parametrize("rows", [0, 1, 5_000])
@pytest.mark.parametrize("groups", [1, 40, 2_000, 100_000])
@pytest.mark.parametrize("name", ["add", "welford"])
def test_states_of_groups_that_have_rows(backend, groups, rows, name):
    most = max_groups(backend.array(np.zeros(rows, int)))
    groups = groups if most is None else min(groups, most)
    rng = np.random.default_rng(groups + rows)
    codes, values = rng.integers(0, groups, rows), rng.integers(-9, 9, rows)
    codes = codes // 3 * 3
    given = [backend.array(a) for a in (codes, values)]
    missing = byte_mask(backend.array(rng.random(rows) < 0.5))  # a group of nulls has rows
    every = reduce_by_code(BUILT_IN[name], *given, groups, nulls=missing)
    found, which = reduce_by_code(BUILT_IN[name], *given, groups, nulls=missing, occurring=True)
    which = backend.to_numpy(which)
    assert which.tolist() == np.unique(codes).tolist()
    pairs = zip(*(x if isinstance(x, tuple) else (x,) for x in (found, every)), strict=True)
    for some, all_ in pairs:
        assert backend.to_numpy(some).tolist() == backend.to_numpy(all_)[which].tolist()


@pytest.mark.parametrize(
    ("carry_in", "carry_codes", "error", "message"),
    [
        ([1], [0.5], TypeError, "carry_codes must be a 1-d array of integers"),
        ([1], [2], ValueError, "carry_codes must be from 0 to 1, found 2"),
        ([1], [-1], ValueError, "carry_codes must be from 0 to 1, found -1"),
        ([1, 2], [1], ValueError, "carry_in must have one state for each of 1 carry_codes"),
        ([1, 2, 3], None, ValueError, "carry_in must have at most one state a group, 2"),
    ],
)
def test_states_of_no_group(backend, carry_in, carry_codes, error, message):
    codes, before = backend.array(np.array([0, 1])), backend.array(np.array(carry_in))
    which = None if carry_codes is None else backend.array(np.array(carry_codes))
    with pytest.raises(error, match=message):
        scan_by_code(ADD, codes, codes, 2, carry_in=before, carry_codes=which)


@pytest.mark.parametrize("dtype", ["int32", "int64"])
@pytest.mark.parametrize(("count", "groups"), [(0, 0), (0, 3), (1, 1), (4097, 9), (100_000, 1500)])
def test_first_rows(backend, count, groups, dtype):
    codes = np.random.default_rng(count).integers(0, max(1, groups), count).astype(dtype)
    codes[codes == 7] = 0  # a number without rows
    _, first, numbers = np.unique(codes, return_index=True, return_inverse=True)
    for ours in (backend.array(codes), backend.array(codes[::-1].copy())[::-1]):
        for check in (True, False):
            found, rows = factorize(ours, groups, check=check)
            assert (found.dtype, rows.dtype) == (codes.dtype, np.int64)
            assert backend.to_numpy(found).tolist() == numbers.tolist()
            assert backend.to_numpy(rows).tolist() == first.tolist()
    flags = backend.to_numpy(first_met(ours, groups))
    assert np.flatnonzero(flags).tolist() == sorted(first.tolist())


def test_more_groups_than_there_is_room_for_are_told(backend):
    codes, x = backend.array(np.array([0, 1])), backend.array(np.array([1.0, 2.0]))
    for groups in (2**45, 2**62, 2**70):
        for ask in (
            lambda groups: scan_by_code(BUILT_IN["add"], codes, x, groups),
            lambda groups: reduce_by_code(BUILT_IN["add"], codes, x, groups),
            lambda groups: factorize(codes, groups),
        ):
            with pytest.raises((MemoryError, ValueError), match=r"rows, which take|groups must be"):
                ask(groups)
