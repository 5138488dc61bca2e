"""Medians, quantiles and distinct values of groups: pandas' answers on the whole data, exact on whatever partitions."""

import dask
import dask.dataframe as dd
import numpy as np
import pandas as pd
import pytest
from dask.dataframe.utils import clear_known_categories
from hypothesis import assume, given
from hypothesis import strategies as st

from helpers.asked import computed, keyed
from helpers.backends import Backend, same
from helpers.strategies import cuts, partitioned
from helpers.versions import older

NUMBERS = ("int64", "int8", "float64", "float32", "Int64", "Float64", "int64[pyarrow]", "bool")
TIMES = ("datetime64[ns]", "datetime64[us, Europe/Berlin]", "timedelta64[ns]")
OTHERS = ("str", "category", "string[pyarrow]")
QUANTILES = st.sampled_from([0, 0.25, 0.5, 0.75, 1, 0.3])


def check(backend, data, clustered, dtypes, at, dropna, method, *options):
    df = data.draw(keyed(clustered, dtypes))
    assume(len(df))  # of no rows libraries answer with other dtypes

    def ask(it, columns="x"):
        groups = it.groupby("k", dropna=dropna, sort=not clustered, observed=True)
        return getattr(groups[columns], method)(*options)

    expected, theirs = Backend().answer(df, ask), backend.answer(df, ask)
    assume(expected is not None and theirs is not None)
    assume(len(theirs))  # nor of no groups
    expected = expected.astype(theirs.dtype)
    nat = np.iinfo(np.int64).min  # pandas' own, for no values
    assume(expected.dtype.kind != "f" or not (expected == nat).any())
    whole = backend.frame(df)
    for each in (whole, partitioned(whole, at)):
        groups = each.gpuscan.groupby("k", clustered=clustered, dropna=dropna)
        found, frame = dask.compute(
            getattr(groups["x"], method)(*options), getattr(groups[["x"]], method)(*options)
        )
        same(backend.to_pandas(found), expected)
        same(backend.to_pandas(frame), expected.to_frame())


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
    times = () if older("pandas", "3") else TIMES  # pandas 2 takes null times for the earliest
    check(backend, data, clustered, (*NUMBERS, *times), at, dropna, "median")


@pytest.mark.parametrize("clustered", [True, False])
@given(data=st.data(), at=cuts(), dropna=st.booleans(), nulls=st.booleans())
def test_nunique(backend, clustered, data, at, dropna, nulls):
    check(backend, data, clustered, (*NUMBERS, *TIMES, *OTHERS), at, dropna, "nunique", not nulls)


@given(data=st.data(), at=cuts())
def test_two_keys(backend, data, at):
    df = data.draw(keyed(False, ("float64", "int64")))
    df["j"] = np.arange(len(df)) % 2
    assume(len(df))
    expected = df.groupby(["k", "j"], observed=True)["x"].median()
    whole = backend.frame(df)
    for each in (whole, partitioned(whole, at)):
        same(backend.to_pandas(computed(each.gpuscan.groupby(["k", "j"])["x"].median())), expected)


@pytest.mark.parametrize("dtype", ["int64[pyarrow]", "Int64", "float64"])
def test_equal_keys_meet_whatever_is_in_their_partitions(dtype):
    frame = pd.DataFrame({"k": pd.array([1, None, 0, 1, 1, 0], dtype=dtype), "x": range(6)})
    if dtype == "float64":
        frame.loc[5, "k"] = -0.0
    found = partitioned(frame, [0.4]).gpuscan.groupby("k", dropna=False)["x"].median()
    same(found.compute(), frame.groupby("k", dropna=False)["x"].median())


@pytest.mark.parametrize("how", ["lower", "higher", "nearest"])
def test_values_that_are_selected_of_uint64_are_exact(how):
    frame = pd.DataFrame({"k": [1, 1, 2, 2], "x": np.array([2**63, 2**64 - 1, 5, 2**63], "uint64")})
    expected = {"lower": [2**63, 5], "higher": [2**64 - 1, 2**63], "nearest": [2**64 - 1, 2**63]}
    for each in (frame, partitioned(frame, [0.3])):
        lazy = each.gpuscan.groupby("k").x.quantile(0.75, interpolation=how)
        (found,) = dask.compute(lazy)
        assert found.tolist() == expected[how]
        assert found.dtype == lazy.dtype == "uint64"


@pytest.mark.parametrize(
    ("dtype", "keys"),
    [("float64", 3), ("float64", 40), ("float32", 3), ("Float64", 40), ("int16", 3), ("Int64", 40)],
)
def test_long_groups(backend, dtype, keys):
    """Values of long groups are selected rather than sorted; a group may have none."""
    random = np.random.default_rng(keys)
    x = pd.Series(random.integers(0, 99, 30_000)).astype("float64")
    k = pd.Series(random.integers(0, keys, len(x)))
    if dtype not in ("int16", "uint32"):
        x = x.mask((random.random(len(x)) < 0.2) | (k == 1))
    frame = pd.DataFrame({"k": k, "x": x.astype(dtype)})
    groups = backend.frame(frame).gpuscan.groupby("k")["x"]
    expected = frame.astype({"x": "float64"}).groupby("k")["x"]
    for q in (0.0, 0.37, 1.0, [0.9, 0.1]):
        found = backend.to_pandas(groups.quantile(q)).astype("float64")
        pd.testing.assert_series_equal(found, expected.quantile(q), check_names=False)
    found = backend.to_pandas(groups.median()).astype("float64")
    pd.testing.assert_series_equal(found, expected.median(), check_names=False)


def test_bad_arguments():
    frame = pd.DataFrame({"k": [1], "x": [2.0], "w": ["a"]})
    for each in (frame, partitioned(frame, [0.5])):
        groups = each.gpuscan.groupby("k")
        for q in (-0.1, 1.5, float("nan"), [0.5, 2]):
            with pytest.raises(ValueError, match="q must be between 0 and 1"):
                groups["x"].quantile(q)
        with pytest.raises(ValueError, match="q must hold at least one quantile"):
            groups["x"].quantile([])
        for q in ("half", None, ["a"], True):
            with pytest.raises(TypeError, match="q must be a number between 0 and 1"):
                groups["x"].quantile(q)
        with pytest.raises(ValueError, match="interpolation must be one of 'linear', 'lower'"):
            groups["x"].quantile(0.5, "cubic")
        with pytest.raises(TypeError, match="quantile of column 'w'"):
            groups.quantile()
        assert list(groups.median(numeric_only=True).columns) == ["x"]
        with pytest.raises(ValueError, match="dropna must be True or False"):
            groups.nunique(dropna="no")


@pytest.mark.parametrize("method", ["median", "nunique", "rank", "head"])
def test_odd_names_of_columns(method):
    levels = pd.DataFrame({("k", ""): [1, 2, 1, 2], ("a", "x"): [1.0, 2.0, 3.0, 3.0]})
    numbers = pd.DataFrame({0: [1, 2, 1, 2], "key": [1.0, 2.0, 3.0, 3.0]})
    for frame, key in ((levels, ("k", "")), (numbers, 0)):
        expected = getattr(frame.groupby([key]), method)()
        for each in (frame, partitioned(frame, [0.4])):
            same(computed(getattr(each.gpuscan.groupby([key]), method)()), expected)


@pytest.mark.parametrize("clustered", [None, True])
def test_a_series_without_a_name(clustered):
    x = pd.Series([3.0, 1.0, 2.0, 5.0, 4.0], pd.Index([0, 0, 1, 1, 2], name="level"))
    expected = x.groupby(level="level")
    for each in (x, partitioned(x, [0.5])):
        groups = each.gpuscan.groupby("level", clustered=clustered)
        for found, wanted in (
            (groups.median(), expected.median()),
            (groups.nlargest(1), expected.nlargest(1)),
            (groups.rank(), expected.rank()),
        ):
            same(dask.compute(found)[0], wanted)


def test_groups_together_in_partitions():
    frame = pd.DataFrame({"x": [3.0, 1.0, 2.0, 5.0]}, pd.Index([0, 0, 1, 2], name="k"))
    groups = dask.dataframe.from_pandas(frame, npartitions=2).gpuscan.groupby("k")
    assert "together in partitions" in repr(groups)
    same(groups["x"].quantile([0.2, 0.7]).compute(), frame.groupby("k")["x"].quantile([0.2, 0.7]))
    same(groups.rank().compute(), frame.groupby("k").rank())


def test_partitions_may_have_other_categories_and_keys_be_tuples():
    parts = [
        pd.DataFrame(
            {"k": pd.Categorical(["a", "b", "a"]), "t": [(1,), (2,), (1,)], "x": [1, 2, 3]}
        ),
        pd.DataFrame({"k": pd.Categorical(["c", "b"]), "t": [(1,), (2,)], "x": [4, 5]}),
    ]
    lazy = dask.dataframe.from_map(lambda part: part, parts, meta=parts[0].iloc[:0])
    found = lazy.gpuscan.groupby("k")["x"].median().compute()
    assert found.to_dict() == {"a": 2.0, "b": 3.5, "c": 4.0}
    assert lazy.gpuscan.groupby("t")["x"].median().compute().to_dict() == {(1,): 3.0, (2,): 3.5}


@pytest.mark.parametrize("ordered", [False, True])
@pytest.mark.parametrize("way", ["disk", "tasks"])
def test_groups_of_unknown_categories(ordered, way):
    keys = pd.Categorical([30, 10, 30], categories=[30, 20, 10], ordered=ordered)
    df = pd.DataFrame({"k": keys, "j": keys, "x": [1.0, 2.0, 4.0]})
    lazy = partitioned(df, [0.4, 0.7]).assign(
        k=lambda d: d["k"].cat.as_unknown(), j=lambda d: d["j"].cat.as_unknown()
    )
    with dask.config.set({"dataframe.shuffle.method": way}):
        for by in ("k", ["k", "j"]):
            found = lazy.gpuscan.groupby(by)["x"].median().compute()
            same(found, df.groupby(by, observed=True)["x"].median())


@pytest.mark.parametrize("clustered", [True, None])
def test_columns_of_any_strides(clustered):
    table = np.random.default_rng(0).normal(size=(1000, 3))
    whole = pd.DataFrame(table, columns=list("abc"), copy=False)
    whole["k"] = np.repeat(np.arange(10), 100)
    for frame in (whole, whole.iloc[::-1], whole.iloc[::2], whole.astype({"b": "int64"})):
        ours, theirs = frame.gpuscan.groupby("k", clustered=clustered), frame.groupby("k")
        for method in ("median", "nunique"):
            found = getattr(ours, method)().sort_index()
            pd.testing.assert_frame_equal(found, getattr(theirs, method)())


@pytest.mark.parametrize("way", ["shared", "tasks", "disk"])
def test_categories_that_dask_does_not_know_are_in_the_order_of_partitions(way):
    texts = ("zb", "ab", "yc", "q", "bq")
    parts = [pd.DataFrame({"s": pd.Categorical(list(t)), "v": range(len(t))}) for t in texts]
    meta = clear_known_categories(parts[0].iloc[:0], ["s"])
    lazy = dd.from_map(lambda part: part, parts, meta=meta)
    with dask.config.set({"dataframe.shuffle.method": way}):
        expected = lazy.compute().groupby("s", observed=True)["v"]
        for method in ("median", "nunique", "describe"):
            found = getattr(lazy.gpuscan.groupby("s")["v"], method)().compute()
            same(found, getattr(expected, method)())
            by_level = lazy.map_partitions(
                lambda part: part.set_index("s"), meta=meta.set_index("s")
            )
            again = getattr(by_level.gpuscan.groupby(level="s")["v"], method)().compute()
            assert again.index.tolist() == found.index.tolist()
