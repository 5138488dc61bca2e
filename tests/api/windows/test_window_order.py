"""Medians, quantiles, ranks and distinct values of all earlier rows, in groups and not, against pandas on the whole."""

import dask
import numpy as np
import pandas as pd
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from helpers.backends import same
from helpers.strategies import cuts, frames, partitioned, partitioned_at, two_thirds
from helpers.versions import known_to_pandas

ORDER_STATISTICS = st.sampled_from(
    [
        ("median", {}),
        ("quantile", {"q": 0.3}),
        ("quantile", {"q": 1, "interpolation": "lower"}),
        ("rank", {}),
        ("rank", {"method": "max", "ascending": False, "pct": True}),
        *((name, {}) for name in known_to_pandas(["nunique"])),
    ]
)


@two_thirds
@given(
    df=frames(("float64", "int64", "Float64")),
    at=cuts(),
    asked=ORDER_STATISTICS,
    periods=st.integers(0, 4),
)
def test_statistics_of_all_earlier_values(backend, df, at, asked, periods):
    name, options = asked
    expected = getattr(df.expanding(periods), name)(**options)
    if name == "rank":  # of no values, pandas repeats the rank of the row before
        expected = expected.where(df.expanding(0).count() > 0)
    whole = backend.frame(df)
    for each in (whole, partitioned(whole, at)):
        (found,) = dask.compute(getattr(each.gpuscan.expanding(periods), name)(**options))
        same(backend.to_pandas(found), expected)


@two_thirds
@given(
    df=frames(("float64", "int64", "Float64")),
    k=st.lists(st.sampled_from([1.0, 2.0, 3.0, None]), min_size=24, max_size=24),
    at=cuts(),
    asked=ORDER_STATISTICS,
    periods=st.integers(1, 4),
    clustered=st.booleans(),
    dropna=st.booleans(),
)
def test_statistics_of_all_earlier_values_of_groups(
    backend, df, k, at, asked, periods, clustered, dropna
):
    name, options = asked
    keys = sorted(k[: len(df)], key=str) if clustered else k[: len(df)]
    df = df.assign(k=pd.Series(keys, df.index, "float64"))
    groups = df.groupby("k", dropna=dropna)
    assume(groups.ngroups)  # of none pandas may raise a ValueError
    expected = getattr(groups[["c0"]].expanding(periods), name)(**options)
    found = pd.DataFrame({"c0": np.full(len(df), np.nan)}, df.index)
    rows = np.concatenate([[], *groups.indices.values()]).astype(int)
    found.iloc[rows, 0] = expected["c0"].to_numpy()
    whole = backend.frame(df)
    for each in (whole, partitioned(whole, at)):
        windows = each.gpuscan.groupby("k", clustered=clustered, dropna=dropna)[["c0"]]
        (answer,) = dask.compute(getattr(windows.expanding(periods), name)(**options))
        same(backend.to_pandas(answer), found)


@pytest.mark.parametrize("at", [[], [1, 5], list(range(1, 11))])
@pytest.mark.parametrize("window", [3, None])
def test_zeros_have_one_sign_for_any_cut(backend, window, at):
    x = pd.Series([0.0, -0.0, 0.0, 0.0, 0.0, 0.0, -0.0, 0.0, 0.0, -0.0, -0.0])
    rows = partitioned_at(backend.frame(x), at).gpuscan
    windows = rows.expanding() if window is None else rows.rolling(window, min_periods=1)
    for answer in (windows.median(), windows.quantile(0.5, interpolation="lower")):
        assert not np.signbit(backend.to_pandas(answer.compute())).any()
