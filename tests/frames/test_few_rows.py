"""Frames of few rows, of which columns are read without a series each, and groups are those of pandas or our own."""

import sys

import numpy as np
import pandas as pd
import pytest

import dask_gpuscan  # noqa: F401  (registers .gpuscan)
from dask_gpuscan.frames.pandas import layouts
from dask_gpuscan.frames.pandas.layouts import LABELS, labels_in
from dask_gpuscan.frames.registry import choose_columns, library_of
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


@pytest.mark.parametrize("names", [["b", "a"], ["t"], ["s", "c", "b"], []])
def test_chosen_columns_are_those_of_pandas_and_are_not_written_through(names):
    df = Own({"a": [1, 2], "b": [3, 4], "x": [0.5, 1.5], "s": ["x", "y"]})
    df["t"] = pd.to_datetime(["2024-01-01", None]).tz_localize("UTC")
    df["c"] = pd.Categorical(["u", None])
    df.attrs["unit"] = "m"
    before = df.copy(deep=True)
    found = choose_columns(df, names)
    assert type(found) is Own
    assert found.attrs == df.attrs
    same(pd.DataFrame(found), pd.DataFrame(df[names]))
    for name in names:
        found.loc[0, name] = found[name].iloc[1]
    same(pd.DataFrame(df), pd.DataFrame(before))


@pytest.mark.parametrize("rows", [0, 1, 1_000, 5_000])
@pytest.mark.parametrize("nulls", [False, True])
def test_texts_are_in_their_order(rows, nulls):
    pl = pytest.importorskip("polars")
    rng = np.random.default_rng(rows)
    known = ["", "a", "a\0", "a\0\0", "ab", "b" * 8, "b" * 9, "é", "customer 1", "customer 2"]
    texts = pd.Series(rng.choice(known, rows), dtype=pd.StringDtype("pyarrow", np.nan))
    if nulls:
        texts[rng.random(rows) < 0.2] = None
    df = pd.DataFrame({"k": texts, "v": np.arange(rows)})
    same(df.gpuscan.sort_values("k"), df.sort_values("k", kind="stable"))
    same(df.gpuscan.groupby("k").sum(), df.groupby("k").sum())
    expected = pl.from_pandas(df).sort("k", maintain_order=True, nulls_last=True)["v"].to_list()
    assert df.gpuscan.sort_values("k")["v"].tolist() == expected


@pytest.mark.parametrize("dtype", ["int64", "uint64", "int32", "float64", "bool"])
def test_rows_and_runs_up_to_those_that_kernels_take(dtype):
    pl = pytest.importorskip("polars")
    for rows in (0, 1, 2, 127, 128, 4_095, 4_096, 4_097):
        rng = np.random.default_rng(rows)
        values = pd.Series(np.sort(rng.integers(0, 70, rows)).astype(dtype), name="v")
        runs = values.gpuscan.rle()
        lengths = values.groupby((values != values.shift()).cumsum()).size().tolist()
        assert runs["run_length"].tolist() == lengths
        assert runs["v"].tolist() == values[~values.duplicated()].tolist()
        mixed = values.sample(frac=1, random_state=1, ignore_index=True)
        same(mixed.gpuscan.drop_duplicates(), mixed.drop_duplicates())
        same(mixed.gpuscan.sort_values(), mixed.sort_values(kind="stable"))
        assert mixed.gpuscan.value_counts().to_dict() == mixed.value_counts().to_dict()
        expected = pl.from_pandas(mixed).unique(maintain_order=True).to_list()
        assert mixed.gpuscan.drop_duplicates().tolist() == expected


@pytest.mark.parametrize("span", [10, (1 << 16) - 1, 1 << 16, 1 << 62])
@pytest.mark.parametrize("descending", [False, True])
def test_integers_of_a_small_range_are_sorted_by_digits(span, descending):
    values = np.random.default_rng(span).integers(-span // 2, span - span // 2, 1_000)
    df = pd.DataFrame({"k": np.append(values, [-(span // 2), span - span // 2]), "v": range(1_002)})
    expected = df.sort_values("k", ascending=not descending, kind="stable")
    same(df.gpuscan.sort_values("k", ascending=not descending), expected)


@pytest.mark.parametrize("method", ["median", "nunique"])
@pytest.mark.parametrize("rows", [1, 4_096, 4_097])
def test_few_groups_are_brought_together(method, rows):
    pl = pytest.importorskip("polars")
    rng = np.random.default_rng(rows)
    df = pd.DataFrame({"k": rng.integers(0, 9, rows), "v": rng.integers(0, 50, rows) / 4})
    same(getattr(df.gpuscan.groupby("k"), method)(), getattr(df.groupby("k"), method)())
    column = getattr(pl.col("v"), {"nunique": "n_unique"}.get(method, method))()
    expected = pl.from_pandas(df).group_by("k").agg(column).sort("k")["v"].to_list()
    assert getattr(df.gpuscan.groupby("k"), method)()["v"].tolist() == expected
