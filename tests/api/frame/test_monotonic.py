"""Whether values are in order, and whether equal keys are adjacent, over all partitions."""

import dask
import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from helpers.asked import KEYS, computed
from helpers.backends import same
from helpers.strategies import columns, cuts, partitioned

DTYPES = ("int64", "float64", "int8", "Int64", "str", "datetime64[ns]", "category")


@given(x=columns(DTYPES), at=cuts(), ordered=st.booleans(), back=st.booleans())
def test_monotonic(backend, x, at, ordered, back):
    if ordered:
        x = x.sort_values(ascending=not back)
    for method in ("is_monotonic_increasing", "is_monotonic_decreasing"):
        expected = getattr(x, method)
        whole = backend.frame(x)
        for each in (whole, partitioned(whole, at)):
            found = computed(getattr(each.gpuscan, method))
            assert type(found) is bool
            assert found == expected


@given(x=columns(("int64", "float64", "str")), at=cuts(), ordered=st.booleans())
def test_monotonic_index(backend, x, at, ordered):
    frame = pd.DataFrame({"y": range(len(x))}, index=pd.Index(x, name="row"))
    if ordered:
        frame = frame.sort_index()
    whole = backend.frame(frame)
    for each in (whole, partitioned(whole, at)):
        for method in ("is_monotonic_increasing", "is_monotonic_decreasing"):
            assert computed(getattr(each.index.gpuscan, method)) == getattr(frame.index, method)


def test_a_frame_is_not_monotonic():
    frame = pd.DataFrame({"x": [1]})
    for each in (frame, partitioned(frame, [])):
        with pytest.raises(TypeError, match="choose a column first"):
            _ = each.gpuscan.is_monotonic_increasing
    assert repr(frame.index.gpuscan) == "<gpuscan of an Index>"


# --- clustered="check" --------------------------------------------------------------------------------


@given(keys=columns(KEYS, max_size=8), at=cuts(), clustered=st.booleans(), dropna=st.booleans())
def test_keys_that_come_back(backend, keys, at, clustered, dropna):
    frame = pd.DataFrame({"k": keys, "x": range(len(keys))})
    codes = frame.groupby("k", sort=False, dropna=False, observed=True).ngroup()
    if clustered:
        frame, codes = frame.iloc[np.argsort(codes.to_numpy(), kind="stable")], codes.sort_values()
    runs = frame.k[codes.to_numpy() != codes.shift(fill_value=-1).to_numpy()]
    comes_back = bool((runs.dropna() if dropna else runs).duplicated().any())
    whole = backend.frame(frame)
    for each in (whole, partitioned(whole, at)):
        ask = lambda it: it.gpuscan.groupby("k", clustered="check", dropna=dropna)["x"].cumsum()  # noqa: E731
        if comes_back:
            with pytest.raises(ValueError, match="of 'k' comes back after another key"):
                computed(ask(each))
        else:
            expected = each.gpuscan.groupby("k", clustered=True, dropna=dropna)["x"].cumsum()
            same(backend.to_pandas(computed(ask(each))), backend.to_pandas(computed(expected)))


def test_the_key_that_comes_back_is_named():
    frame = pd.DataFrame({"k": ["a", "b", "a"], "j": [1, 1, 1], "x": [1, 2, 3]})
    lazy = partitioned(frame, [0.4]).gpuscan.groupby(["k", "j"], clustered="check").sum()
    with pytest.raises(ValueError, match=r"key \('a', 1\) of 'k', 'j' comes back"):
        lazy.compute()


def test_the_check_reads_only_the_columns_that_are_asked_for():
    frame = pd.DataFrame({"k": [1, 1, 2], "x": [1, 2, 3], "y": [1, 2, 3]})
    lazy = dask.dataframe.from_pandas(frame, npartitions=2)
    found = lazy.gpuscan.groupby("k", clustered="check")["x"].sum()
    assert found.compute().to_dict() == {1: 3, 2: 3}
    (read,) = found.simplify().find_operations(type(lazy.expr))
    assert list(read.columns) == ["k", "x"]


@pytest.mark.parametrize("clustered", ["no", 1, [], "True"])
def test_clustered_is_a_flag_or_check(clustered):
    with pytest.raises(ValueError, match="clustered must be True or False, 'check' or None"):
        pd.DataFrame({"k": [1]}).gpuscan.groupby("k", clustered=clustered)
