"""ffill and bfill against pandas on the whole, for every dtype that pandas fills."""

import dask
import numpy as np
import pandas as pd
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

import dask_gpuscan
from helpers.asked import computed
from helpers.backends import same
from helpers.strategies import FLOATS, INTEGERS, OTHERS, TIMES, columns, cuts, frames, partitioned

EVERY = tuple(
    d for d in (*INTEGERS, *FLOATS, *TIMES, *OTHERS) if d != "float16"
)  # which pandas does not fill
limits = st.none() | st.integers(1, 5)


@given(x=columns(EVERY), at=cuts(), method=st.sampled_from(["ffill", "bfill"]), limit=limits)
def test_series_as_pandas(backend, x, at, method, limit):
    expected = getattr(x, method)(limit=limit)
    lazy = getattr(partitioned(backend.frame(x), at).gpuscan, method)(limit=limit)
    computed = lazy.compute()
    assert lazy.dtype == computed.dtype
    same(backend.to_pandas(computed), expected)
    same(backend.to_pandas(getattr(backend.frame(x).gpuscan, method)(limit)), expected)


@given(df=frames(EVERY), at=cuts(), limit=limits)
def test_frames_as_pandas(backend, df, at, limit):
    lazy = partitioned(backend.frame(df), at).gpuscan.ffill(limit)
    same(backend.to_pandas(lazy.compute()), df.ffill(limit=limit))


@pytest.mark.parametrize("method", ["ffill", "bfill"])
def test_nan_that_is_a_value_is_carried_on(method):
    numbers = np.array([0, 1, 0, np.nan, 0, 2, 0])
    null = np.array([True, False] * 3 + [True])
    for x in (
        pd.Series(pd.arrays.FloatingArray(numbers, null)),
        pd.Series(pd.arrays.ArrowExtensionArray(pa.array(numbers, mask=null))),
    ):
        expected = getattr(x, method)()
        same(getattr(x.gpuscan, method)(), expected)
        lazy = getattr(partitioned(x, [0.5]).gpuscan, method)()
        same(lazy.compute(), expected)


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


@pytest.mark.parametrize(
    "x",
    [
        pd.Series([None, (1, 2), None, None, [3], None], dtype=object),
        pd.Series(pd.to_datetime([None, "2020", None, None, "2021", None], utc=True)),
        pd.Series(pd.to_datetime([None, "2020", None, None, "2021", None])).dt.tz_localize(
            "Asia/Tokyo"
        ),
        pd.Series(pd.arrays.IntervalArray.from_breaks([0, 1, 2, 3])).reindex([9, 0, 9, 9, 1, 9]),
        pd.Series([None, [1], None, None, [2, 3], None], dtype=pd.ArrowDtype(pa.list_(pa.int64()))),
        pd.Series([np.nan, 1.0, np.nan, np.nan, 2.0, np.nan], dtype="Sparse[float64]"),
        pd.Series([None, 1.5, None, None, 2.0, None], dtype=pd.ArrowDtype(pa.float16())),
    ],
    ids=lambda x: str(x.dtype),
)
@pytest.mark.parametrize("method", ["ffill", "bfill"])
def test_dtypes_of_every_kind_over_borders(x, method):
    for at in ([], [0.5], [0.2, 0.4, 0.6, 0.8]):
        same(getattr(partitioned(x, at).gpuscan, method)().compute(), getattr(x, method)())


def test_categories_that_differ_by_partition():
    import dask.dataframe as dd

    parts = [pd.Series(pd.Categorical(["a"])), pd.Series(pd.Categorical([None, "b"]))]
    ddf = dd.from_map(lambda p: p, parts, meta=parts[0].iloc[:0].cat.set_categories([]))
    assert ddf.gpuscan.ffill().compute().astype(object).tolist() == ["a", "a", "b"]


@pytest.mark.parametrize("limit", [0, -1, 1.5, "a", True])
def test_bad_limit(limit):
    with pytest.raises(ValueError, match="limit must be a positive integer"):
        pd.Series([1.0]).gpuscan.ffill(limit)


def test_half_floats_are_filled_although_pandas_does_not():
    x = pd.Series([1.0, None, None, 4.0, None], dtype="float16")
    for limit in (None, 1):
        expected = x.astype("float32").ffill(limit=limit).astype("float16")
        for series in (x, partitioned(x, [0.3, 0.5])):
            same(computed(series.gpuscan.ffill(limit=limit)), expected)


@pytest.mark.parametrize("method", ["ffill", "bfill"])
def test_complex_numbers_up_to_a_limit(method):
    values = np.array([1 + 1j, np.nan, np.nan, np.nan, 2 - 1j, np.nan])
    expected = getattr(dask_gpuscan, method)(values, limit=2)
    series = pd.Series(values)
    for each in (series, partitioned(series, [0.5]), partitioned(series, [0.2, 0.4])):
        (found,) = dask.compute(getattr(each.gpuscan, method)(limit=2))
        np.testing.assert_array_equal(found.to_numpy(), expected)
