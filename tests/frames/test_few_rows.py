"""Frames of few rows, of which columns are read without a series each, and groups are those of pandas or our own."""

import sys

import numpy as np
import pandas as pd
import pytest

import dask_gpuscan  # noqa: F401  (registers .gpuscan)
from dask_gpuscan.frames.pandas import layouts
from dask_gpuscan.frames.pandas.layouts import LABELS, labels_in
from dask_gpuscan.frames.registry import library_of
from helpers.backends import same

REDUCTIONS = ["sum", "mean", "min", "max", "std", "var", "count", "first", "last", "prod"]


class Own(pd.DataFrame):
    @property
    def _constructor(self):
        return Own


@pytest.mark.parametrize("method", REDUCTIONS)
def test_attributes_flags_and_classes_stay(method):
    df = Own({"k": [1, 1, 2], "v": [1.0, 2.0, 3.0], "n": [1, 2, 3]})
    df.attrs["unit"] = "m"
    df = df.set_flags(allows_duplicate_labels=False)
    expected = getattr(df.groupby("k"), method)()
    found = getattr(df.gpuscan.groupby("k"), method)()
    assert type(found) is type(expected)
    assert found.attrs == expected.attrs
    assert found.flags.allows_duplicate_labels == expected.flags.allows_duplicate_labels
    same(pd.DataFrame(found), pd.DataFrame(expected))


@pytest.mark.parametrize("cores", [1, 16])
def test_classes_stay_however_many_cores_there_are(monkeypatch, cores):
    monkeypatch.setattr("dask_gpuscan.kernels.cpu.core.launch.cores", lambda: cores)
    df = Own({"v": np.arange((1 << 16) + 1)[::-1]})
    assert type(df.gpuscan.sort_values("v")) is Own
    assert type(df.gpuscan.filter("v > 5")) is Own


@pytest.mark.parametrize("method", REDUCTIONS)
@pytest.mark.parametrize("span", [1, 5, 16 * 40, 16 * 40 + 1, 10**12])
@pytest.mark.parametrize("dtype", ["int64", "float64", "uint64"])
def test_groups_of_any_range(method, span, dtype):
    rng = np.random.default_rng(span)
    keys = np.append(rng.integers(0, span, 38), [0, span - 1])
    values = rng.integers(0, 3, 40) if method == "prod" else rng.integers(0, 2**40, 40)
    df = pd.DataFrame({"k": keys, "v": values.astype(dtype)})
    expected = getattr(df.groupby("k"), method)()
    same(getattr(df.gpuscan.groupby("k"), method)(), expected)


def test_labels_that_change():
    df = pd.DataFrame({"k": [1, 1, 2], "v": [1, 2, 3]})
    for name in ("w", "x"):
        df = df.rename(columns={df.columns[1]: name})
        assert df.gpuscan.groupby("k").max().columns.tolist() == [name]
    df.columns = ["v", "k"]
    assert df.gpuscan.groupby("k").max().columns.tolist() == ["v"]
    df.insert(0, "z", 0)
    assert df.gpuscan.groupby("k").max().columns.tolist() == ["z", "v"]


def test_labels_are_forgotten_with_their_index():
    labels = pd.Index(["a", "b"])
    frame = pd.DataFrame([[1, 2]], columns=labels)
    library_of(frame).names(frame).append("c")
    assert library_of(frame).names(frame) == ["a", "b"]
    (place,) = {id(frame.columns), id(frame.columns.array)} & set(LABELS)
    del labels, frame
    assert place not in LABELS


def test_labels_may_outlive_the_module_that_knows_them(monkeypatch):
    raised = []
    monkeypatch.setattr(sys, "unraisablehook", raised.append)
    labels = pd.Index(["c", "d"])
    labels_in(labels)
    monkeypatch.setattr(layouts, "LABELS", None)  # as at the end of a process
    del labels
    assert not raised


PLACES = {
    "texts": pd.Index(["a", "b"]),
    "twice": pd.Index(["a", "b", "a"]),
    "objects": pd.Index([1, "b", None, "a", 1.0], dtype=object),
    "levels": pd.MultiIndex.from_tuples([("a", "x"), ("b", "x"), ("a", "y")]),
    "categories": pd.CategoricalIndex(["b", "a"]),
}


@pytest.mark.parametrize("labels", PLACES)
def test_places_are_those_of_the_index(labels):
    index = PLACES[labels]
    frame = pd.DataFrame([range(len(index))], columns=index)
    for name in ("a", "b", *index):
        found, wanted = library_of(frame).column(frame, name), frame[name]
        values = found.array if wanted.ndim == 1 else found.to_numpy()
        np.testing.assert_equal(np.asarray(values), wanted.to_numpy())
    with pytest.raises(KeyError):
        library_of(frame).column(frame, "c")


@pytest.mark.parametrize("duplicates", [True, False])
@pytest.mark.parametrize("name", ["v", "w"])
def test_an_appended_column_replaces_that_of_its_name(name, duplicates):
    frame = pd.DataFrame({"v": [1, 2], "k": [3, 4]}).set_flags(allows_duplicate_labels=duplicates)
    column = np.array([5.0, 6.0])
    pd.testing.assert_frame_equal(
        library_of(frame).append(frame, column, name), frame.assign(**{name: column})
    )
