"""Codes of pandas keys by their range, against those of pandas' own groups."""

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from dask_gpuscan.frames.pandas.keys import FEW, range_group_ids
from dask_gpuscan.frames.pandas.library import PANDAS
from helpers.strategies import INTEGERS, columns

DTYPES = (*INTEGERS, "category", "date32[day][pyarrow]", "float64", "Float64", "datetime64[ns]")


@given(data=st.data(), count=st.integers(1, 3))
def test_codes_are_equal_where_keys_are(data, count):
    every = [data.draw(columns(DTYPES)) for _ in range(count)]
    rows = min(map(len, every))
    step = data.draw(st.sampled_from([1, -1, 2]))
    arrays = [column.iloc[:rows].iloc[::step].array for column in every]
    ids = PANDAS.dense_group_ids(arrays)
    codes = ids.array
    assert codes.dtype in (np.int32, np.int64)
    assert len(codes) == len(arrays[0])
    assert not len(codes) or 0 <= codes.min() <= codes.max() < ids.groups
    if ids.ordered:
        assert not any(pd.isna(array).any() for array in arrays)
        rows = list(zip(*(np.asarray(array) for array in arrays), strict=True))
        assert sorted(range(len(codes)), key=codes.__getitem__) == sorted(
            range(len(codes)), key=rows.__getitem__
        )
    keys = [pd.Series(array) for array in arrays]
    expected = keys[0].groupby(keys, sort=False, dropna=False, observed=True).ngroup()
    np.testing.assert_array_equal(pd.factorize(codes)[0], pd.factorize(expected)[0])


def test_integers_that_are_codes_are_not_copied():
    keys = np.array([3, 1, 2], np.int32)
    assert range_group_ids([keys]).array is keys


@pytest.mark.parametrize(
    "keys",
    [
        pd.Series([0, FEW]),
        pd.Series([-(2**63), 2**63 - 1]),
        pd.Series([0.0, 1.0]),
        pd.Series(["a", "b"]),
        pd.Series([0, 1], dtype="datetime64[ns]"),
    ],
)
def test_other_keys_are_hashed(keys):
    assert range_group_ids([keys.to_numpy()]) is None
    ids = PANDAS.dense_group_ids([keys.array])
    assert (ids.array.tolist(), ids.groups) == ([0, 1], 2)
