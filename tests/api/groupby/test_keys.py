"""Keys that are no names: columns of the frame itself, buckets of time and functions, on every receiver."""

from itertools import pairwise

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest

import dask_gpuscan
from helpers.asked import computed
from helpers.backends import same
from helpers.strategies import partitioned_at

FRAME = pd.DataFrame(
    {
        "t": pd.date_range("2026-01-01", periods=5, freq="12h"),
        "k": [2, 1, 1, 2, 1],
        "x": [1.0, 2.0, 4.0, 8.0, 16.0],
    },
    index=pd.Index(range(5), name="row"),
)
ROWS = FRAME[["k", "x"]]
SUMS = pd.DataFrame({"x": [22.0, 9.0]}, pd.Index([1, 2], name="k"))
CUTS = {"whole": [], "in three": [2, 3], "row by row": [0, 1, 2, 3, 4, 5]}


def given(kind, frame):
    """Return a frame as a receiver has it; streams and partitions have empty parts, too."""
    receiver, cut = kind
    if receiver == "pandas":
        return frame
    if receiver == "dask":
        return partitioned_at(frame, CUTS[cut])
    at = [0, *CUTS[cut], len(frame)]
    return dask_gpuscan.stream([frame.iloc[i:j] for i, j in pairwise(at)])


KINDS = [("pandas", ""), *((each, cut) for each in ("dask", "stream") for cut in CUTS)]
OWN = {
    "its own": lambda f: (f, f["k"]),
    "of the frame before": lambda f: (f.assign(x=f["x"] * 1), f["k"]),
    "of the frame after": lambda f: (f, f.assign(z=f["x"])["k"]),
    "of some columns": lambda f: (f, f[["k"]]["k"]),
}


@pytest.mark.parametrize("of", OWN)
@pytest.mark.parametrize("kind", KINDS)
def test_a_column_of_the_frame_is_a_key_and_no_column_of_answers(kind, of):
    frame, key = OWN[of](given(kind, ROWS))
    expected = frame.groupby(key).sum() if kind[0] == "pandas" else SUMS
    same(computed(frame.gpuscan.groupby(key).sum()), expected)
    same(computed(frame.gpuscan.groupby([key]).sum()), expected)
    running = computed(frame.gpuscan.groupby(key).cumsum())
    assert running["x"].tolist() == [1.0, 2.0, 6.0, 9.0, 22.0]
    assert list(running.columns) == list(expected.columns)


@pytest.mark.parametrize("kind", KINDS)
def test_a_key_that_is_equal_to_a_column_is_another_one(kind):
    rows = given(kind, ROWS)
    expected = ROWS.groupby(ROWS["k"] + 0).sum()
    assert list(expected.columns) == ["k", "x"]
    same(computed(rows.gpuscan.groupby(rows["k"] + 0).sum()), expected)
    running = computed(rows.gpuscan.groupby([rows["k"] + 0, "x"]).cummax())
    assert running["k"].tolist() == ROWS["k"].tolist()


@pytest.mark.parametrize("dtype", ["float64", "Int64", "str", "category", "int64[pyarrow]"])
@pytest.mark.parametrize("column", [["k"], ["k", "x"]])
def test_which_series_are_a_column_of_a_frame_is_what_pandas_says(dtype, column):
    frame = ROWS.astype({"k": dtype})
    for key in (
        *(frame["k"], frame.loc[:, "k"], frame[column]["k"], frame.iloc[:, 0]),
        *(frame["k"].copy(), frame["k"].copy(deep=False), frame["k"].rename("z")),
        pd.Series(frame["k"].tolist(), frame.index, dtype=dtype, name="k"),
    ):
        expected = frame.groupby(key, observed=True).count()
        assert list(frame.gpuscan.groupby(key).count().columns) == list(expected.columns)


@pytest.mark.parametrize("kind", KINDS)
def test_a_column_that_was_changed_is_summed_too(kind):
    rows = given(kind, ROWS)
    same(
        computed(rows.gpuscan.groupby(rows.assign(k=rows["k"] + 1)["k"]).sum()),
        ROWS.groupby(ROWS["k"] + 1).sum(),
    )
    halved = rows.assign(k=rows["x"])
    assert list(computed(halved.gpuscan.groupby(rows["k"]).sum()).columns) == ["k", "x"]


@pytest.mark.parametrize("kind", KINDS)
def test_buckets_among_keys(kind):
    keys = [pd.Grouper(key="t", freq="D"), "k"]
    rows = given(kind, FRAME)
    expected = FRAME.groupby(keys).sum()
    expected = expected[expected["x"] != 0]
    same(computed(rows.gpuscan.groupby(keys).sum()), expected)
    assert computed(rows.gpuscan.groupby(keys).cumsum())["x"].tolist() == [1.0, 2.0, 4.0, 8.0, 16.0]


def test_buckets_in_a_zone_are_refused():
    times = FRAME["t"].dt.tz_localize("America/Santiago")
    arrow = times.astype(pd.ArrowDtype(pa.timestamp("us", "America/Santiago")))
    for each in (times, arrow):
        with pytest.raises(ValueError, match="of datetimes without a zone"):
            FRAME.assign(t=each).gpuscan.groupby(["k", pd.Grouper(key="t", freq="D")])


def test_lists_are_no_keys():
    lists = pd.Series([[1], [1, 2], [1]], dtype=pd.ArrowDtype(pa.list_(pa.int64())))
    groups = pd.DataFrame({"k": lists, "x": [1.0, 2.0, 4.0]}).gpuscan.groupby("k")
    for call in (lambda: groups.shift(), lambda: groups.rolling(2).sum(), lambda: groups.cumsum()):
        with pytest.raises(TypeError, match=r"column 'k' of dtype list.* cannot be hashed"):
            call()


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize(
    "function",
    [lambda i: i % 2, lambda i: "ab"[i % 2], lambda i: i > 1, lambda i: (i % 2, 0)],
    ids=["integer", "text", "bool", "tuple"],
)
def test_functions_of_labels(kind, function):
    for groups in (lambda f: f.groupby(function), lambda f: f.groupby([function, "k"])):
        found = computed(groups(given(kind, ROWS).gpuscan).sum())
        expected = groups(ROWS).sum()
        same(found, expected)
        assert found.index.names == expected.index.names  # of tuples pandas has none


def test_keys_that_are_an_index_of_several_levels():
    index = pd.MultiIndex.from_tuples([(1, 2), (1, 2), (2, 1), (2, 1), (2, 1)])
    same(ROWS.gpuscan.groupby(index).sum(), ROWS.groupby(index).sum())


def test_no_groups_have_the_levels_of_some():
    found = ROWS.iloc[:0].gpuscan.groupby("k")["x"].nlargest(1)
    assert found.index.names == ["k", "row"]
    assert [level.dtype for level in found.index.levels] == [np.int64, np.int64]


@pytest.mark.parametrize("method", ["sum", "mean", "first", "max", "count", "var", "any", "size"])
@pytest.mark.parametrize("level", [0, "row"])
def test_columns_that_are_there_twice(method, level):
    frame = pd.DataFrame([[1.0, 2, 3], [4.0, 5, 6], [7.0, 8, 9]], columns=["a", "a", "b"])
    for index in (None, pd.Index([7, 7, 8], name="row")):
        rows = frame if index is None else frame.set_index(index)
        if index is None and level == "row":
            continue
        same(
            getattr(rows.gpuscan.groupby(level=level), method)(),
            getattr(rows.groupby(level=level), method)(),
        )


@pytest.mark.parametrize("clustered", [None, True])
def test_a_column_that_is_named_none_is_chosen(clustered):
    names = pd.Index([0, None, "y"], dtype=object)
    frame = pd.DataFrame([[1, 2.0, 3], [1, 3.0, 4], [2, 4.0, 5]]).set_axis(names, axis=1)
    found, expected = frame.gpuscan.groupby(0, clustered=clustered)[None], frame.groupby(0)[None]
    for method in ("sum", "first", "median", "size", "cumsum", "shift", "rank", "ffill", "head"):
        same(getattr(found, method)(), getattr(expected, method)())
    same(found.agg(["max"]), expected.agg(["max"]))
    same(found.transform("max"), expected.transform("max"))
    assert found.rolling(2).sum().tolist()[1] == 5.0
    assert repr(found).startswith("<GroupBy of None by 0")
