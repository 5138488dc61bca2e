"""The arguments of groupby that say where keys are, and in which order and where groups have them: as in pandas."""

import dask
import numpy as np
import pandas as pd
import pytest

from helpers.backends import same
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
PARTITIONS = ([], [7], [3], [0, 1, 1, 5], [2, 4, 4, 6], [0, 0])
"""Where rows are cut: partitions may have one row or none."""


def pieces(backend, frame):
    """A frame on a backend, whole and in partitions."""
    whole = backend.frame(frame)
    return [whole, *(partitioned_at(whole, list(rows)) for rows in PARTITIONS)]


def agree(backend, frame, ask, expected=None):
    """Assert that frames and partitions answer what pandas does."""
    expected = ask(frame) if expected is None else expected
    for each in pieces(backend, frame):
        (found,) = dask.compute(ask(each.gpuscan))
        same(backend.to_pandas(found), expected)


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
        agree_cpu(frame, lambda f, d=dropna: f.groupby("k", sort=False, dropna=d)[["x", "y"]].sum())


def agree_cpu(frame, ask):
    expected = ask(frame)
    for at in PARTITIONS:
        same(ask(partitioned_at(frame, list(at)).gpuscan).compute(), expected)


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
