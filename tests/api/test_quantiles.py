"""Medians, quantiles and distinct values of groups: pandas' answers on the whole data, exact on whatever partitions."""

import dask
import numpy as np
import pandas as pd
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from backends import Backend, same
from strategies import columns, cuts, partitioned

KEYS = ("int64", "float64", "Int64", "str", "category")
NUMBERS = ("int64", "int8", "float64", "float32", "Int64", "Float64", "int64[pyarrow]", "bool")
TIMES = ("datetime64[ns]", "datetime64[us, Europe/Berlin]", "timedelta64[ns]")
OTHERS = ("str", "category", "string[pyarrow]")
QUANTILES = st.sampled_from([0, 0.25, 0.5, 0.75, 1, 0.3])


@st.composite
def keyed(draw, clustered, dtypes):
    """A frame with a key ``k`` and a column ``x``; perhaps with equal keys adjacent."""
    k, x = draw(columns(KEYS)), draw(columns(dtypes))
    count = min(len(k), len(x))
    frame = pd.DataFrame({"k": k.iloc[:count], "x": x.iloc[:count]})
    frame.index = pd.Index(np.arange(count) // 2, name="row")
    if clustered:
        groups = frame.groupby("k", sort=False, dropna=False, observed=True).ngroup()
        frame = frame.iloc[np.argsort(groups.to_numpy(), kind="stable")]
    return frame


def check(backend, data, clustered, dtypes, at, dropna, method, *options):
    df = data.draw(keyed(clustered, dtypes))

    def ask(it, columns="x"):
        groups = it.groupby("k", dropna=dropna, sort=not clustered, observed=True)
        return getattr(groups[columns], method)(*options)

    expected = Backend().answer(df, ask)
    assume(expected is not None and backend.answer(df, ask) is not None)
    assume(len(df))  # of no rows pandas answers with other dtypes
    whole = backend.frame(df)
    for each in (whole, partitioned(whole, at)):
        groups = each.gpuscan.groupby("k", clustered=clustered, dropna=dropna)
        found, frame = dask.compute(
            getattr(groups["x"], method)(*options), getattr(groups[["x"]], method)(*options)
        )
        same(backend.to_pandas(found), expected)
        same(backend.to_pandas(frame), ask(df, ["x"]))


@pytest.mark.parametrize("clustered", [True, False])
@given(
    data=st.data(),
    at=cuts(),
    q=QUANTILES | st.lists(QUANTILES, min_size=1, max_size=3, unique=True),
    how=st.sampled_from(["linear", "lower", "higher", "midpoint", "nearest"]),
    dropna=st.booleans(),
)
def test_quantile(backend, clustered, data, at, q, how, dropna):
    check(backend, data, clustered, (*NUMBERS, *TIMES), at, dropna, "quantile", q, how)


@pytest.mark.parametrize("clustered", [True, False])
@given(data=st.data(), at=cuts(), dropna=st.booleans())
def test_median(backend, clustered, data, at, dropna):
    check(backend, data, clustered, (*NUMBERS, *TIMES), at, dropna, "median")


@pytest.mark.parametrize("clustered", [True, False])
@given(data=st.data(), at=cuts(), dropna=st.booleans(), nulls=st.booleans())
def test_nunique(backend, clustered, data, at, dropna, nulls):
    check(backend, data, clustered, (*NUMBERS, *TIMES, *OTHERS), at, dropna, "nunique", not nulls)
