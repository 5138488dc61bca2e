"""Rows of groups by their place: pandas' answers on the whole data, with equal keys adjacent or anywhere."""

import dask
import numpy as np
import pandas as pd
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from helpers.asked import check, computed, keyed
from helpers.backends import Backend, same
from helpers.strategies import cuts, partitioned
from helpers.versions import older

VALUES = ("float64", "str", "Int64")
PLACES = st.integers(-3, 3) | st.builds(
    slice,
    st.none() | st.integers(-3, 3),
    st.none() | st.integers(-3, 3),
    st.none() | st.integers(1, 3),
)


@pytest.mark.parametrize("clustered", [True, False])
@given(data=st.data(), at=cuts(), n=st.integers(-3, 3), dropna=st.booleans())
def test_head_and_tail(backend, clustered, data, at, n, dropna):
    df = data.draw(keyed(clustered, VALUES))
    groups = df.groupby("k", dropna=dropna, observed=True)
    ours = lambda it: it.groupby("k", clustered=clustered, dropna=dropna)  # noqa: E731
    check(backend, df, at, lambda it: ours(it).head(n), groups.head(n))
    check(backend, df, at, lambda it: ours(it).tail(n), groups.tail(n))
    check(backend, df, at, lambda it: ours(it)["x"].head(n), groups["x"].head(n))
    check(backend, df, at, lambda it: ours(it)[["x"]].tail(n), groups[["x"]].tail(n))


@pytest.mark.parametrize("clustered", [True, False])
@given(data=st.data(), at=cuts(), n=PLACES | st.lists(PLACES, min_size=1), dropna=st.booleans())
def test_nth(backend, clustered, data, at, n, dropna):
    df = data.draw(keyed(clustered, VALUES))
    expected = df.groupby("k", dropna=dropna, observed=True).nth(n)
    ask = lambda it: it.groupby("k", clustered=clustered, dropna=dropna).nth(n)  # noqa: E731
    check(backend, df, at, ask, expected)


def test_divisions_are_kept():
    df = pd.DataFrame({"k": [1, 2, 1, 2], "x": range(4)})
    lazy = dask.dataframe.from_pandas(df, npartitions=2).gpuscan.groupby("k").head(1)
    assert lazy.known_divisions
    same(lazy.compute(), df.groupby("k").head(1))


@pytest.mark.parametrize("n", [1.5, "1", None, True, [0, "a"], slice(0.5, 2)])
def test_places_are_integers(n):
    groups = Backend().frame(pd.DataFrame({"k": [1], "x": [2]})).gpuscan.groupby("k")
    with pytest.raises(TypeError, match="n must be"):
        groups.nth(n)
    if not isinstance(n, (list, slice)):
        with pytest.raises(TypeError, match="n must be an integer"):
            groups.head(n)


def test_steps_are_positive_and_nulls_are_counted():
    groups = pd.DataFrame({"k": [1], "x": [2]}).gpuscan.groupby("k")
    with pytest.raises(ValueError, match="positive step"):
        groups.nth(slice(None, None, -1))
    with pytest.raises(ValueError, match="dropna must be None"):
        groups.nth(0, dropna="any")


# --- the largest values of groups ---------------------------------------------------------------------


@pytest.mark.parametrize("clustered", [True, False])
@given(
    data=st.data(),
    at=cuts(),
    n=st.integers(0, 4),
    keep=st.sampled_from(["first", "last", "all"]),
    largest=st.booleans(),
    dropna=st.booleans(),
)
def test_largest_values(backend, clustered, data, at, n, keep, largest, dropna):
    df = data.draw(
        keyed(clustered, ("float64", "Int64", "int64", "int8", "datetime64[ns]", "bool"))
    )
    assume(n and len(df.dropna(subset="k") if dropna else df))  # of no rows pandas has no levels
    # pandas 2 forgets categories that no row has
    assume(df.k.dtype != "category" or not older("pandas", "3"))
    method = "nlargest" if largest else "nsmallest"

    def told(it):
        groups = it.groupby("k", sort=not clustered, dropna=dropna, observed=True)
        return getattr(groups["x"], method)(n, keep=keep)

    expected = Backend().answer(df, told)
    assume(expected is not None)  # pandas joins no keys that are NA

    def ask(it):
        ours = it.groupby("k", clustered=clustered, dropna=dropna)["x"]
        return getattr(ours, method)(n, keep)

    check(backend, df, at, ask, expected)


@pytest.mark.parametrize("by", ["k", ["k", "j"]])
@pytest.mark.parametrize("count", [0, 1])
def test_levels_of_top_without_groups(by, count):
    """They are those of groups; pandas leaves some out where there are none."""
    df = pd.DataFrame({"k": [1.0, 2.0, 1.0], "j": [1, 2, 2], "x": [3.0, 1.0, 2.0]})
    expected = df.groupby(by)["x"].nlargest(1)[:0]
    for none in (df[:0], df.assign(k=np.nan)):
        for each in (none, partitioned(none, [0.5])):
            same(computed(each.gpuscan.groupby(by)["x"].nlargest(count)), expected)


@given(
    data=st.data(),
    at=cuts(),
    n=st.integers(0, 4),
    keep=st.sampled_from(["first", "last", "all"]),
    largest=st.booleans(),
    clustered=st.booleans(),
)
def test_whole_rows_with_the_largest_values(data, at, n, keep, largest, clustered):
    df = data.draw(keyed(clustered, ("float64", "Int64", "int8", "datetime64[ns]")))
    df = df.reset_index(drop=True).assign(row=range(len(df)))
    method = "nlargest" if largest else "nsmallest"
    valid = df[df["x"].notna() & df["k"].notna()]
    kept = [
        row
        for _, group in valid.groupby("k", observed=True)
        for row in getattr(group["x"], method)(n, keep=keep).index
    ]

    def ask(it):
        return getattr(it.groupby("k", clustered=clustered), method)(n, "x", keep)

    check(Backend(), df, at, ask, df.loc[sorted(kept)])


def test_bad_arguments_of_nlargest():
    frame = pd.DataFrame({"k": [1], "x": [2], "y": ["a"]})
    for each in (frame, partitioned(frame, [])):
        groups = each.gpuscan.groupby("k")
        with pytest.raises(ValueError, match="n must not be negative"):
            groups["x"].nlargest(-1)
        with pytest.raises(TypeError, match="n must be an integer"):
            groups["x"].nsmallest(1.0)
        with pytest.raises(ValueError, match=r"keep must be one of 'first', 'last', 'all'"):
            groups["x"].nlargest(1, keep="any")
        with pytest.raises(TypeError, match="one column"):
            groups.nlargest(1)
        with pytest.raises(TypeError, match="neither of numbers nor of times"):
            groups["y"].nlargest(1)
        with pytest.raises(TypeError, match="neither of numbers nor of times"):
            groups.nlargest(1, "y")
        with pytest.raises(KeyError, match="columns='z' is not a column"):
            groups.nlargest(1, "z")
        with pytest.raises(ValueError, match=r"keep must be one of .*, found 'x'"):
            groups["y"].nlargest(1, "x")
        assert len(groups["x"].nlargest(0)) == 0
