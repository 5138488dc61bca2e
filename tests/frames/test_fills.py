"""ffill and bfill against pandas on the whole, for every dtype that pandas fills."""

import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from backends import same
from strategies import FLOATS, INTEGERS, OTHERS, TIMES, columns, cuts, frames, partitioned

EVERY = (*INTEGERS, *FLOATS, *TIMES, *OTHERS)
limits = st.none() | st.integers(1, 5)


@given(x=columns(EVERY), at=cuts(), method=st.sampled_from(["ffill", "bfill"]), limit=limits)
def test_series_as_pandas(backend, x, at, method, limit):
    expected = getattr(x, method)(limit=limit)
    lazy = getattr(partitioned(backend.frame(x), at).gpuscan, method)(limit=limit)
    assert lazy.dtype == expected.dtype
    same(backend.to_pandas(lazy.compute()), expected)
    same(backend.to_pandas(getattr(backend.frame(x).gpuscan, method)(limit)), expected)


@given(df=frames(EVERY), at=cuts(), limit=limits)
def test_frames_as_pandas(backend, df, at, limit):
    lazy = partitioned(backend.frame(df), at).gpuscan.ffill(limit)
    same(backend.to_pandas(lazy.compute()), df.ffill(limit=limit))


@given(x=columns(FLOATS), at=cuts())
def test_backward_is_forward_on_reversed_rows(backend, x, at):
    one = partitioned(backend.frame(x), at).gpuscan.bfill().compute()
    other = partitioned(backend.frame(x[::-1]), at).gpuscan.ffill().compute()
    same(backend.to_pandas(one), backend.to_pandas(other)[::-1])


def test_gap_longer_than_partitions(backend):
    x = pd.Series(["first", *[None] * 20, "last"])
    at = [i / 22 for i in range(1, 22)]
    ddf = partitioned(backend.frame(x), at)
    for limit in (None, 1, 7, 20, 30):
        same(backend.to_pandas(ddf.gpuscan.ffill(limit).compute()), x.ffill(limit=limit))
        same(backend.to_pandas(ddf.gpuscan.bfill(limit).compute()), x.bfill(limit=limit))


def test_input_is_not_written(backend):
    for dtype in ("float64", "Int64", "str", "int64"):
        x = pd.Series([None, 1, None], dtype="Int64").astype(
            "float64" if dtype == "int64" else dtype
        )
        x = x.fillna(0).astype(dtype) if dtype == "int64" else x
        before = x.copy()
        out = backend.frame(x).gpuscan.ffill()
        out.iloc[:] = out.iloc[1]
        same(x, before)


@pytest.mark.parametrize("limit", [0, -1, 1.5, "a", True])
def test_bad_limit(limit):
    with pytest.raises(ValueError, match="limit must be a positive integer or None"):
        pd.Series([1.0]).gpuscan.ffill(limit)
