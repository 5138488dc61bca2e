"""The arguments of groupby that say where keys are, and in which order and where groups have them: as in pandas."""

import dask
import dask.dataframe as dd
import numpy as np
import pandas as pd
import pyarrow as pa
import pytest

import dask_gpuscan
from helpers.asked import computed
from helpers.backends import Backend, same
from helpers.strategies import partitioned_at

FRAME = pd.DataFrame(
    {
        "k": [2, 1, 2, 3, 1, 1, 3],
        "j": [7, 7, 8, 7, 7, 8, 7],
        "x": [1.0, 2.5, 3.0, 9.0, np.nan, 0.5, -1.0],
        "y": [1, 2, 3, 4, 5, 6, 7],
    },
    index=pd.Index([20, 10, 20, 30, 10, 10, 40], name="row"),
)
PARTITIONS = ([], [0, 0, 1, 5, 7], [2, 4, 4, 6])
"""Where rows are cut: partitions may have one row or none."""


def pieces(backend, frame):
    """A frame on a backend, whole and in partitions."""
    whole = backend.frame(frame)
    return [whole, *(partitioned_at(whole, list(rows)) for rows in PARTITIONS)]


def agree(backend, frame, ask, expected=None):
    """Assert that frames and partitions answer what pandas does."""
    expected = ask(frame) if expected is None else expected
    for each in pieces(backend, frame):
        same(backend.to_pandas(computed(ask(each.gpuscan))), expected)


@pytest.mark.sampled(2)
@pytest.mark.parametrize("as_index", [True, False])
@pytest.mark.parametrize("sort", [True, False])
@pytest.mark.parametrize("by", ["k", ["j", "k"], ["row", "j"]])
def test_order_and_place_of_keys(backend, by, sort, as_index):
    def groups(frame):
        return frame.groupby(by, as_index=as_index, sort=sort)

    columns = ["x", "y"]
    agree(backend, FRAME, lambda f: groups(f)[columns].sum())
    agree(backend, FRAME, lambda f: groups(f)[columns].first())
    agree(backend, FRAME, lambda f: groups(f)["x"].mean())
    agree(backend, FRAME, lambda f: groups(f)["x"].size())
    agree(backend, FRAME, lambda f: groups(f).size())
    agree(backend, FRAME, lambda f: groups(f)[columns].agg(["max", "count"]))
    agree(backend, FRAME, lambda f: groups(f)["x"].agg(low="min", rows="size"))


@pytest.mark.parametrize("as_index", [True, False])
def test_sorted_values_with_keys_as_columns(backend, as_index):
    agree(backend, FRAME, lambda f: f.groupby("k", as_index=as_index)[["x", "y"]].median())
    agree(backend, FRAME, lambda f: f.groupby("k", as_index=as_index)["x"].nunique())


def test_quantiles_with_keys_as_columns():
    found = FRAME.gpuscan.groupby("k", as_index=False)["x"].quantile([0.2, 0.7])
    same(found, FRAME.groupby("k", as_index=False)["x"].quantile([0.2, 0.7]))


def test_clustered_groups_with_keys_as_columns(backend):
    frame = FRAME.sort_values("k", ascending=False, kind="stable")
    expected = frame.groupby("k", sort=False, as_index=False)[["x", "y"]].sum()
    for sort in (None, False):
        agree(
            backend,
            frame,
            lambda f, sort=sort: f.groupby("k", clustered=True, sort=sort, as_index=False)[
                ["x", "y"]
            ].sum(),
            expected,
        )


def test_null_keys_in_order_of_appearance():
    frame = FRAME.assign(k=[None, "b", "a", None, "b", "c", "a"])
    for dropna in (True, False):
        agree(
            Backend(),
            frame,
            lambda f, d=dropna: f.groupby("k", sort=False, dropna=d)[["x", "y"]].sum(),
        )


LEVELS = FRAME.set_index("j", append=True)


@pytest.mark.parametrize("level", [0, "row", -1, "j", [1, 0], ["row"], ["j", 0]])
def test_levels(backend, level):
    agree(backend, LEVELS, lambda f: f.groupby(level=level)[["x", "y"]].sum())
    agree(backend, LEVELS, lambda f: f.groupby(level=level, as_index=False)[["x", "y"]].max())
    agree(backend, LEVELS, lambda f: f.groupby(level=level)["y"].cumsum())
    agree(backend, LEVELS["x"], lambda f: f.groupby(level=level).max())


@pytest.mark.parametrize("name", ["x", None])
def test_levels_without_names(backend, name):
    frame = LEVELS.rename_axis([None, "j"])
    agree(backend, frame, lambda f: f.groupby(level=[0, 1])[["x", "y"]].sum())
    agree(backend, frame, lambda f: f.groupby(level=0)[["x", "y"]].sum())
    agree(backend, frame, lambda f: f.groupby(level=0, as_index=False)["x"].min())
    agree(backend, frame, lambda f: f.groupby(level=0).head(1))
    alone = FRAME["y"].rename_axis(None).rename(name)
    agree(backend, alone, lambda f: f.groupby(level=0).sum())
    agree(backend, alone, lambda f: f.groupby(level=0).size())
    agree(backend, alone, lambda f: f.groupby(level=0).agg(["sum", "max"]))
    agree(backend, alone, lambda f: f.groupby(level=0).cummax())
    agree(backend, alone, lambda f: f.groupby(level=0).rank())
    agree(backend, alone, lambda f: f.groupby(level=0).tail(1))
    agree(backend, alone, lambda f: f.groupby(level=0).quantile([0.25, 0.5]))


def test_a_level_with_the_name_of_a_column():
    frame = FRAME.rename_axis("k")
    same(frame.gpuscan.groupby(level="k").y.sum(), frame.groupby(level="k").y.sum())


@pytest.mark.parametrize(
    ("ask", "error", "message"),
    [
        (lambda f: f.groupby(), TypeError, "either by, the keys, or level"),
        (lambda f: f.groupby("k", level=0), TypeError, "either by, the keys, or level"),
        (lambda f: f.groupby(level=1), ValueError, "level must be below 1, .* found 1"),
        (lambda f: f.groupby(level="k"), KeyError, "level must be one of 'row' or a number"),
        (lambda f: f.groupby(level=[0, "row"]), ValueError, "each once"),
        (lambda f: f.groupby("k", sort="no"), ValueError, "sort must be True or False"),
        (lambda f: f.groupby("k", as_index=2), ValueError, "as_index must be True or False"),
        (lambda f: f.groupby("k", clustered=True, sort=True), ValueError, "order of appearance"),
        (lambda f: f.groupby("k", sort=False)["x"].median(), ValueError, "leave out sort=False"),
        (lambda f: f.groupby("k", sort=False)["x"].nlargest(), ValueError, "leave out sort=False"),
        (lambda f: f.groupby("c", observed=False), ValueError, "observed=False: key 'c'"),
    ],
)
def test_wrong_arguments(ask, error, message):
    frame = FRAME.assign(c=pd.Categorical(FRAME["k"]))
    for each in (frame, partitioned_at(frame, [3])):
        with pytest.raises(error, match=message):
            ask(each.gpuscan)


def test_a_series_has_no_columns_for_keys():
    with pytest.raises(TypeError, match="as_index=False is for DataFrames"):
        FRAME["x"].gpuscan.groupby("row", as_index=False)


def test_observed_of_keys_without_categories():
    same(
        FRAME.gpuscan.groupby("k", observed=False)["x"].sum(),
        FRAME.groupby("k", observed=False)["x"].sum(),
    )


# --- keys that are no names --------------------------------------------------------------------------

PLAIN = FRAME.assign(
    t=pd.to_datetime("2026-01-01")
    + pd.to_timedelta([610, 490, 650, 1440, 1440, 615, 9], unit="min")
)
COLUMNS = ["x", "y"]
GIVEN = {
    "a series": lambda f: f["k"] % 2,
    "a series with a name of its own": lambda f: (f["k"] % 2).rename("odd"),
    "a column": lambda f: f["k"],
    "a list": lambda f: [f["k"] % 2, "j"],
    "a list with a level": lambda f: ["row", f["j"]],
    "a function": lambda f: lambda label: label // 20,
    "functions and names": lambda f: ["j", lambda label: label // 20],
    "a grouper of a level": lambda f: [pd.Grouper(level="row"), "k"],
    "a grouper of times": lambda f: ["j", pd.Grouper(key="t", freq="1h")],
    "days": lambda f: [pd.Grouper(key="t", freq="D"), f["k"] % 2],
}


@pytest.mark.sampled(2)
@pytest.mark.parametrize("given", GIVEN)
def test_keys_without_names(backend, given):
    key = GIVEN[given]

    def both(ask):
        expected = ask(PLAIN, key(PLAIN))
        for each in pieces(backend, PLAIN):
            found = backend.to_pandas(computed(ask(each.gpuscan, key(each))))
            if found.ndim == 1:  # times can be null, beside which integers stay integers
                found = found.astype(expected.dtype)
            same(found, expected)

    both(lambda f, k: f.groupby(k)[COLUMNS].sum())
    both(lambda f, k: f.groupby(k, as_index=False, sort=False)["x"].max())
    both(lambda f, k: f.groupby(k)["y"].cumsum())
    both(lambda f, k: f.groupby(k)["y"].transform("max"))
    both(lambda f, k: f.groupby(k)[COLUMNS].median())
    both(lambda f, k: f.groupby(k).head(1))
    both(lambda f, k: f.groupby(k).ngroup())
    both(lambda f, k: f.groupby(k).size())


@pytest.mark.parametrize("dtype", ["str", "object", "category"])
def test_functions_of_texts_meet_no_null_that_is_not_there(dtype):
    frame = PLAIN.set_axis(
        pd.Index(list("aabbbcc"), dtype=dtype).map({"a": "a", "b": "bb", "c": "c"})
    )
    expected = frame.groupby(len)[COLUMNS].sum()
    for each in (frame, *(partitioned_at(frame, list(rows)) for rows in PARTITIONS)):
        (found,) = dask.compute(each.gpuscan.groupby(len)[COLUMNS].sum())
        pd.testing.assert_frame_equal(found, expected, check_index_type=False)


def test_functions_that_return_tuples():
    def parity(label):
        return label % 2, "even" if label % 2 == 0 else "odd"

    frame = PLAIN.set_axis(range(len(PLAIN)))
    agree(Backend(), frame, lambda f: f.groupby(parity)[COLUMNS].sum())


@pytest.mark.parametrize("name", ["y", None])
def test_series_by_keys_without_names(backend, name):
    series = PLAIN["y"].rename(name)
    for ask in (
        lambda s, rows: s.groupby(rows > 3).sum(),
        lambda s, rows: s.groupby([rows % 2, lambda label: label // 20]).agg(["sum", "size"]),
        lambda s, rows: s.groupby(rows > 3).shift(),
        lambda s, rows: s.groupby(rows % 3).tail(1),
    ):
        expected = ask(series, series)
        for each in pieces(backend, series):
            found = backend.to_pandas(computed(ask(each.gpuscan, each)))
            same(found.astype(expected.dtype) if found.ndim == 1 else found, expected)


@pytest.mark.parametrize(
    "values", [np.array([1, 2, 1, 1, 2, 3, 1]), pd.Index(list("abaabca"), name="q")]
)
def test_arrays(values):
    same(PLAIN.gpuscan.groupby(values)[COLUMNS].sum(), PLAIN.groupby(values)[COLUMNS].sum())
    same(PLAIN.gpuscan.groupby([values, "k"]).x.max(), PLAIN.groupby([values, "k"]).x.max())
    same(PLAIN.y.gpuscan.groupby(values).cumsum(), PLAIN.y.groupby(values).cumsum())


@pytest.mark.parametrize("sort", [True, False])
def test_the_grouper_says_whether_groups_are_sorted(sort):
    grouper = pd.Grouper(key="k", sort=sort)
    agree(Backend(), PLAIN, lambda f: f.groupby(grouper)[COLUMNS].sum())


def test_selections_know_the_callers_columns():
    groups = PLAIN.gpuscan.groupby(PLAIN["k"] % 2)
    assert repr(groups["x"]) == "<GroupBy of 'x' by 'k', in any order>"
    with pytest.raises(KeyError, match=r"columns are 'k', 'j', 'x', 'y', 't'"):
        groups["key"]
    with pytest.raises(TypeError, match="a Series has no columns"):
        PLAIN.x.gpuscan.groupby(PLAIN["k"])["x"]


def test_wrong_keys():
    lazy = partitioned_at(PLAIN, [3])
    for it, key, error, message in (
        (PLAIN, pd.Series(range(7)), ValueError, "must have the index of its frame"),
        (PLAIN, pd.Series([1]), ValueError, "as many rows as its frame, 7, found 1"),
        (PLAIN, np.arange(3), ValueError, "as many rows as its frame, 7, found 3"),
        (PLAIN, lazy["k"], TypeError, "must be of the library of its frame"),
        (lazy, PLAIN["k"], TypeError, "must be of a Dask collection"),
        (lazy, np.arange(7), TypeError, "must be of a Dask collection"),
        (lazy, partitioned_at(PLAIN, [2, 4])["k"], ValueError, "the 2 partitions of its frame"),
        (PLAIN, pd.Grouper(key="t", freq="1h"), ValueError, "use resample"),
        (PLAIN, ["k", pd.Grouper(key="t", freq="7h")], ValueError, "durations that divide a day"),
        (PLAIN, ["k", pd.Grouper(key="t", freq="ME")], ValueError, "durations that divide a day"),
        (PLAIN, [pd.Grouper(freq="1h"), "k"], ValueError, "must have a key"),
        (PLAIN, PLAIN, TypeError, "found a pandas DataFrame"),
    ):
        with pytest.raises(error, match=message):
            it.gpuscan.groupby(key)


NAMED_AS_KEYS = {
    "one": lambda f, rows: f.groupby("k", as_index=False)["k"].sum(),
    "several": lambda f, rows: f.groupby("k", as_index=False)[["y", "k"]].max(),
    "one of two keys": lambda f, rows: f.groupby(["y", "k"], as_index=False)["y"].median(),
    "agg": lambda f, rows: f.groupby("k", as_index=False).agg({"y": "max", "k": "sum"}),
    "agg by names": lambda f, rows: f.groupby("k", as_index=False).agg(k=("y", "sum")),
    "keys without names": lambda f, rows: f.groupby(rows["y"] > 1, as_index=False)[["y"]].sum(),
}


@pytest.mark.parametrize("name", NAMED_AS_KEYS)
def test_columns_of_answers_stand_in_the_place_of_keys_of_their_name(name):
    ask = NAMED_AS_KEYS[name]
    frame = pd.DataFrame({"k": [1, 1, 2], "y": [1, 2, 3]})
    for rows in (frame, partitioned_at(frame, [2])):
        pd.testing.assert_frame_equal(computed(ask(rows.gpuscan, rows)), ask(frame, frame))


@pytest.mark.parametrize("method", ["sum", "median", "cumsum"])
@pytest.mark.parametrize(
    "labels",
    [
        pd.Index(["k", "x"], name="C"),
        pd.RangeIndex(2),
        pd.MultiIndex.from_tuples([("a", "k"), ("a", "x")], names=["A", "B"]),
    ],
    ids=["named", "numbers", "levels"],
)
def test_keys_that_are_no_columns_leave_the_labels_of_columns_as_they_are(labels, method):
    frame = pd.DataFrame([[1, 2.0], [2, 3.0], [1, 5.0]]).set_axis(labels, axis=1)
    key = pd.Series([1, 2, 1])
    for by in (key, lambda label: label % 2):
        expected = getattr(frame.groupby(by), method)()
        found = getattr(frame.gpuscan.groupby(by), method)()
        pd.testing.assert_index_equal(found.columns, expected.columns, exact=True)
        assert found.to_numpy().tolist() == expected.to_numpy().tolist()
    if labels.nlevels == 1:
        lazy = dd.from_pandas(frame, npartitions=2)
        answer = getattr(lazy.gpuscan.groupby(lazy[labels[0]] % 2), method)()
        for each in (answer._meta, answer.compute()):
            pd.testing.assert_index_equal(each.columns, labels, exact="equiv")


@pytest.mark.parametrize(
    "keys",
    [[1.5, 2.5, 1.5], ["a", "b", "a"], [True, False, True]],
    ids=["floats", "texts", "flags"],
)
def test_keys_whose_names_are_numbers_of_levels(backend, keys):
    frame = pd.DataFrame({"k": keys, 0: [1, 2, 1], "v": [9, 8, 7]})
    expected = (
        frame.groupby(["k", 0]).sum().reset_index()
    )  # pandas mixes them up itself with as_index=False
    agree(backend, frame, lambda g: g.groupby(["k", 0], as_index=False).sum(), expected)
    same(expected.set_index(["k", 0]).gpuscan.reset_index(), expected)


TEXTS = pd.DataFrame({"k": [2, 1, 2], "s": ["a", "b", "c"]})


@pytest.mark.parametrize("as_index", [True, False])
@pytest.mark.parametrize("method", ["sum", "mean", "std", "first", "median", "quantile", "idxmax"])
def test_no_column_is_left(backend, method, as_index):
    def ask(groups):
        return getattr(groups.groupby("k", as_index=as_index), method)(numeric_only=True)

    expected = TEXTS[["k"]].groupby("k", as_index=as_index).sum()
    agree(backend, TEXTS, ask, expected)


@pytest.mark.parametrize("method", ["sum", "max", "mean", "first", "median", "idxmin"])
def test_a_chosen_column_that_is_not_numeric(backend, method):
    whole = backend.frame(TEXTS)
    for each in (whole, partitioned_at(whole, [1])):
        groups = each.gpuscan.groupby("k")["s"]
        with pytest.raises(TypeError, match=f"^{method} of column 's': dtype .* is not numeric"):
            getattr(groups, method)(numeric_only=True)


def test_numeric_only_of_a_chosen_column_that_is_scanned():
    times = pd.DataFrame({"k": [1, 1], "t": pd.to_datetime(["2026", "2025"])})
    found = times.gpuscan.groupby("k")["t"].cummax(numeric_only=True)
    same(found, times.groupby("k")["t"].cummax(numeric_only=True))
    with pytest.raises(TypeError, match="column 't'"):
        times.gpuscan.groupby("k")["t"].rolling(2).sum(numeric_only=True)


@pytest.mark.parametrize("method", ["sum", "max", "prod"])
@pytest.mark.parametrize("value", [{"a": 1}, [1]], ids=["structs", "lists"])
def test_what_pandas_does_not_reduce_is_refused_before_there_are_rows(method, value):
    dtype = pd.ArrowDtype(pa.scalar(value).type)
    frame = pd.DataFrame({"k": [1, 1], "s": pd.Series([value, value], dtype=dtype)})
    for rows in (frame, dd.from_pandas(frame, npartitions=1), dask_gpuscan.stream([frame])):
        for clustered in (None, True):
            groups = rows.gpuscan.groupby("k", clustered=clustered)["s"]
            with pytest.raises(TypeError, match=f"^{method} of column 's': pandas has no {method}"):
                getattr(groups, method)()
