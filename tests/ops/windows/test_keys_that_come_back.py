"""Windows of adjacent groups whose keys come back: each run is a group of its own, wherever rows are cut."""

from itertools import pairwise

import dask
import dask.dataframe as dd
import hypothesis.strategies as st
import numpy as np
import pandas as pd
import pytest
from hypothesis import given

import dask_gpuscan
from helpers.backends import same


def groups(frame):
    return frame.gpuscan.groupby("k", clustered=True)


ASKED = {
    "rolling": lambda d: groups(d)["y"].rolling(3, min_periods=1).sum(),
    "centred": lambda d: groups(d)["y"].rolling(3, min_periods=1, center=True).sum(),
    "by time": lambda d: groups(d).rolling("30h", on="t")["y"].sum(),
    "shift": lambda d: groups(d)["y"].shift(2),
    "shift back": lambda d: groups(d)["y"].shift(-3),
    "diff": lambda d: groups(d)["y"].diff(2),
}


@pytest.mark.parametrize("name", ASKED)
@given(
    keys=st.lists(st.integers(0, 2), min_size=1, max_size=16),
    cuts=st.lists(st.integers(0, 16), max_size=6),
    seed=st.integers(0, 99),
)
def test_rows_of_an_earlier_run_are_not_seen(name, keys, cuts, seed):
    random = np.random.default_rng(seed)
    frame = pd.DataFrame({"k": keys, "y": random.integers(0, 9, len(keys)).astype("f8")})
    runs = (frame["k"] != frame["k"].shift()).cumsum()
    hours = pd.Series(random.integers(0, 99, len(keys))).groupby(runs).transform(np.sort)
    frame["t"] = pd.Timestamp("2026") + pd.to_timedelta(hours, "h")
    edges = [0, *sorted(min(cut, len(keys)) for cut in cuts), len(keys)]
    parts = [frame[a:b] for a, b in pairwise(edges)]
    lazy = dd.from_delayed(list(map(dask.delayed, parts)), meta=frame[:0], verify_meta=False)
    expected = ASKED[name](frame)
    same(ASKED[name](lazy).compute(scheduler="sync"), expected)
    if name not in ("centred", "shift back"):  # which need later rows
        found = ASKED[name](dask_gpuscan.stream(parts)).compute()
        pd.testing.assert_series_equal(found, expected, check_dtype=False, check_index_type=False)
