"""rank: pandas' answers on the whole data, of series, frames and groups, on whatever partitions."""

import dask
import numpy as np
import pandas as pd
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from backends import Backend, same
from strategies import FLOATS, INTEGERS, OTHERS, TIMES, columns, cuts, frames, partitioned

KEYS = ("int64", "float64", "str", "Int64", "category")
OPTIONS = st.fixed_dictionaries(
    {
        "method": st.sampled_from(["average", "min", "max", "first", "dense"]),
        "pct": st.booleans(),
        "ascending": st.booleans(),
        "na_option": st.sampled_from(["keep", "top", "bottom"]),
    }
)


def check(backend, frame, at, ask, expected):
    """Ask the whole frame and its partitions, on a backend."""
    whole = backend.frame(frame)
    for each in (whole, partitioned(whole, at)):
        (found,) = dask.compute(ask(each.gpuscan))
        same(backend.to_pandas(found), expected)


def told(backend, frame, ask):
    """What pandas says; examples that it or the partitions' own library refuses are left out."""
    expected = Backend().answer(frame, ask)
    assume(expected is not None and backend.answer(frame, ask) is not None)
    return expected


@given(x=columns((*INTEGERS, *FLOATS, *TIMES, *OTHERS)), at=cuts(), options=OPTIONS)
def test_series(backend, x, at, options):
    x.index = pd.Index(np.arange(len(x)) // 2, name="row")
    expected = told(backend, x, lambda it: it.rank(**options))
    check(backend, x, at, lambda it: it.rank(**options), expected)


@given(
    df=frames(("int64", "float64", "Int64", "str")), at=cuts(), options=OPTIONS, some=st.booleans()
)
def test_frames(backend, df, at, options, some):
    expected = told(backend, df, lambda it: it.rank(**options, numeric_only=some))
    check(backend, df, at, lambda it: it.rank(**options, numeric_only=some), expected)


@pytest.mark.parametrize("clustered", [True, False])
@given(data=st.data(), at=cuts(), options=OPTIONS, dropna=st.booleans())
def test_groups(backend, clustered, data, at, options, dropna):
    k = data.draw(columns(KEYS))
    x = data.draw(columns(("int64", "int8", "float64", "Int64", "str", "datetime64[ns]")))
    count = min(len(k), len(x))
    df = pd.DataFrame({"k": k.iloc[:count], "x": x.iloc[:count]})
    df.index = pd.Index(np.arange(count) // 2, name="row")
    if clustered:
        groups = df.groupby("k", sort=False, dropna=False, observed=True).ngroup()
        df = df.iloc[np.argsort(groups.to_numpy(), kind="stable")]
    ask = lambda it: it.groupby("k", dropna=dropna, observed=True)["x"].rank(**options)  # noqa: E731
    expected = told(backend, df, ask)
    groups = lambda it: it.groupby("k", clustered=clustered, dropna=dropna)  # noqa: E731
    check(backend, df, at, lambda it: groups(it)["x"].rank(**options), expected)
    check(backend, df, at, lambda it: groups(it).rank(**options), expected.to_frame())
