"""Operations on a library that counts NaN lazily, as cuDF does: answers, and how often somebody looks for NaN."""

import sys
from types import SimpleNamespace

import numpy as np
import pandas as pd
import pytest

import dask_gpuscan  # noqa: F401  (registers .gpuscan)
from dask_gpuscan.frames import registry
from dask_gpuscan.frames.cudf import nan
from dask_gpuscan.frames.pandas.layouts import NumPyLayout, PandasColumn
from dask_gpuscan.frames.pandas.library import Pandas
from dask_gpuscan.frames.registry import LibrarySource
from dask_gpuscan.frames.types import View
from dask_gpuscan.kernels.bounded_cache import BoundedCache
from dask_gpuscan.ops.core import plans
from dask_gpuscan.ops.groupby import hashed
from helpers.backends import same

known: dict[int, np.ndarray] = {}  # they are kept, so that no other array gets their id
looks: list[int] = []


class Unchecked:
    def __init__(self, array, view):
        self.array, self.view = array, view

    def resolve_nulls(self):
        looks.append(id(self.array))
        return self.view

    def in_band(self):
        return self.view

    def mark_no_nan(self):
        assert not np.isnan(self.array).any()
        known[id(self.array)] = self.array


class LazyLayout(NumPyLayout):
    def view(self, array):
        view = super().view(array)
        if array.dtype.kind != "f":
            return view
        none = np.zeros(len(array), np.bool_)
        unchecked = None if id(array) in known else Unchecked(array, view)
        return View(view.values, None, lambda: none, unchecked_nan=unchecked)


class LazyLibrary(Pandas):
    def layout(self, dtype):
        return LAYOUT if LAYOUT.matches(dtype) else super().layout(dtype)

    moved_layout = layout

    def array(self, column):
        return np.asarray(column.array)

    resolved = staticmethod(nan.resolved)
    in_band = staticmethod(nan.in_band)
    assume_no_nan = staticmethod(nan.assume_no_nan)


LAYOUT = LazyLayout()
LAZY = LazyLibrary()


@pytest.fixture(autouse=True)
def lazy(monkeypatch):
    known.clear()
    looks.clear()
    monkeypatch.setitem(sys.modules, "lazy", SimpleNamespace(LAZY=LAZY))
    monkeypatch.setattr(hashed, "max_groups", lambda codes: 0)  # rows are sorted, as on a GPU
    monkeypatch.setitem(registry.LIBRARIES, "pandas", LibrarySource("lazy", "LAZY", ""))
    monkeypatch.setattr(registry, "LIBRARY_OF", {PandasColumn: LAZY})
    monkeypatch.setattr(plans, "MADE", BoundedCache())  # what is planned holds the library


METHODS = {
    "cumsum": lambda g: g[["x"]].gpuscan.cumsum(),
    "cummax": lambda g: g[["x"]].gpuscan.cummax(reverse=True),
    "not skipna": lambda g: g[["x"]].gpuscan.cumsum(skipna=False),
    "exclusive": lambda g: g[["x"]].gpuscan.cummin(exclusive=True),
    "clustered cumsum": lambda g: g.gpuscan.groupby("k", clustered=True).cumsum(),
    "clustered sum": lambda g: g.gpuscan.groupby("k", clustered=True).sum(),
    "clustered max": lambda g: g.gpuscan.groupby("k", clustered=True).max(),
    "clustered mean": lambda g: g.gpuscan.groupby("k", clustered=True).mean(),
    "initial by name": lambda g: g.gpuscan.groupby("k").cumsum(initial={"x": 5}),
    "ffill": lambda g: g[["x"]].gpuscan.ffill(),
}
EXPECTED = {
    "cumsum": lambda df: df[["x"]].cumsum(),
    "cummax": lambda df: df[["x"]][::-1].cummax()[::-1],
    "not skipna": lambda df: df[["x"]].cumsum(skipna=False),
    "exclusive": lambda df: df[["x"]].cummin().ffill().shift().where(df[["x"]].notna()),
    "clustered cumsum": lambda df: df.groupby("k").cumsum(),
    "clustered sum": lambda df: df.groupby("k").sum(),
    "clustered max": lambda df: df.groupby("k").max(),
    "clustered mean": lambda df: df.groupby("k").mean(),
    "initial by name": lambda df: df.groupby("k").cumsum() + 5,
    "ffill": lambda df: df[["x"]].ffill(),
}


@pytest.mark.sampled(3)
@pytest.mark.parametrize("dirty", [False, True])
@pytest.mark.parametrize("partitions", [1, 3])
@pytest.mark.parametrize("method", METHODS)
def test_answers(method, partitions, dirty):
    import dask.dataframe as dd

    df = pd.DataFrame({"k": np.repeat([1, 2, 3], 4), "x": np.arange(12.0)})
    if dirty:
        df.loc[[2, 5], "x"] = np.nan
    found = METHODS[method](df if partitions == 1 else dd.from_pandas(df, npartitions=partitions))
    found = found.compute() if partitions > 1 else found
    same(found, EXPECTED[method](df))
    if not dirty and method in (
        "cumsum",
        "cummax",
        "clustered cumsum",
        "clustered sum",
        "clustered max",
    ):
        assert not looks
