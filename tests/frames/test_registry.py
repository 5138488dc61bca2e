"""A third library of frames: a row in the registry, and an object that answers what is asked of a library."""

import pickle
import sys
from functools import partial
from types import SimpleNamespace

import numpy as np
import pandas as pd
import pytest

from dask_gpuscan import Gpuscan
from dask_gpuscan.frames import registry
from dask_gpuscan.frames.keys import key_arrays
from dask_gpuscan.frames.pandas.library import PANDAS
from dask_gpuscan.frames.registry import LibrarySource, library_of
from helpers import oldest
from helpers.backends import has_cuda, same


class Tiny:
    """A frame or series with nothing but what operations may take for granted."""

    __module__ = "tiny.frames"

    def __init__(self, inner):
        self._inner = inner

    def __len__(self):
        return len(self._inner)

    ndim = property(lambda self: self._inner.ndim)
    name = property(lambda self: self._inner.name)
    dtype = property(lambda self: self._inner.dtype)


def wrapped(found):
    if isinstance(found, list):
        return [wrapped(one) for one in found]
    return Tiny(found) if isinstance(found, (pd.DataFrame, pd.Series)) else found


def bare(found):
    return found._inner if isinstance(found, Tiny) else found


def call(method, *args, **options):
    return wrapped(method(*map(bare, args), **{name: bare(o) for name, o in options.items()}))


class TinyLibrary:
    """What pandas answers, of frames that are no frames of pandas."""

    def __getattr__(self, name):
        found = getattr(PANDAS, name)
        return partial(call, found) if callable(found) else found


TINY = TinyLibrary()


@pytest.fixture
def tiny(monkeypatch):
    monkeypatch.setitem(sys.modules, "tiny", SimpleNamespace(TINY=TINY))
    monkeypatch.setitem(registry.LIBRARIES, "tiny", LibrarySource("tiny", "TINY", "frames of tiny"))
    return lambda frame: Gpuscan(Tiny(frame))


DF = pd.DataFrame(
    {"k": [1, 1, 2, 2, 2, 1], "x": [1.0, np.nan, 3, 4, 5, 6], "n": range(6)}, index=list("abcdef")
)

METHODS = {
    "cumsum": lambda g: g.cumsum(),
    "cummax reverse": lambda g: g.cummax(reverse=True),
    "ffill": lambda g: g.ffill(),
    "filter": lambda g: g.filter("x > 3 and n < 5"),
    "partition": lambda g: g.partition("x > 3")[1],
    "rle": lambda g: g.rle(subset="k"),
    "drop": lambda g: g.unique_consecutive(subset="k"),
    "reset_index": lambda g: g.reset_index(),
    "sum": lambda g: g.groupby("k").sum(),
    "clustered": lambda g: g.groupby("k", clustered=True).agg(a=("x", "min"), b=("n", "last")),
    "by group": lambda g: g.groupby("k").cumsum(),
    "bfill by group": lambda g: g.groupby("k").bfill(),
    "expanding": lambda g: g.expanding(2).mean(),
}


@pytest.mark.parametrize("method", METHODS)
def test_a_third_library(tiny, method):
    found = METHODS[method](tiny(DF))
    assert type(found) is Tiny
    assert library_of(found) is TINY
    same(found._inner, METHODS[method](DF.gpuscan))


def test_types_of_no_library():
    with pytest.raises(TypeError, match="frame or series of pandas or cudf, found list"):
        library_of([1, 2])


def test_types_that_derive_from_those_of_a_library():
    class Mine(pd.DataFrame):
        pass

    assert library_of(Mine({"x": [1]})) is PANDAS


def test_a_library_that_cannot_be_imported_says_what_it_needs(monkeypatch):
    monkeypatch.setitem(
        registry.LIBRARIES, "tiny", LibrarySource("no_such_module", "TINY", "get tiny 2")
    )
    monkeypatch.setattr(registry, "LIBRARY_OF", {})
    with pytest.raises(ImportError, match="get tiny 2: No module named 'no_such_module'"):
        library_of(Tiny(DF))


def test_a_process_has_one_object_a_library():
    assert pickle.loads(pickle.dumps(PANDAS)) is PANDAS


def test_what_is_shown_of_objects():
    layout = PANDAS.layout(np.dtype(np.float64))
    assert repr(layout) == "NumPyLayout()"
    assert repr(layout.view(np.zeros(3))) == "<View of 3 float64, nulls: InBand>"
    assert repr(key_arrays(PANDAS, [DF["k"], DF["n"]])) == "<Keys of 6 rows: int64, int64>"


@pytest.mark.skipif(has_cuda(), reason="cuDF may be here")
def test_frames_of_a_cudf_that_is_not_there():
    series = type("Series", (), {"__module__": "cudf.core.series"})()
    with pytest.raises(ImportError, match=r"need cuDF 26.10 or later .*dask-gpuscan\[cuda13\]"):
        library_of(series)


def test_an_import_that_fails_names_the_oldest_version(monkeypatch):
    class Frame:
        __module__ = "pandas.other"

    monkeypatch.setitem(sys.modules, registry.LIBRARIES["pandas"].module, None)
    pins = dict(pin.split("==") for pin in oldest.oldest(oldest.PROJECT["dependencies"]))
    with pytest.raises(ImportError, match=f"need pandas {pins['pandas']} or later: import of"):
        library_of(Frame())


@pytest.mark.parametrize(
    "labels", [list("abcd"), list("abab"), [1, None, np.nan, ("a", 1)]], ids=str
)
@pytest.mark.parametrize("places", [[0, 1, 2, 3], [2, 1], [3], []], ids=str)
def test_columns_are_chosen_as_by_pandas(labels, places):
    frame = pd.DataFrame([[1, 2.0, "x", True]] * 2)
    frame.columns = pd.Index(labels, dtype=object, tupleize_cols=False)
    names = [labels[place] for place in places]
    found = registry.choose_columns(frame, names)
    pd.testing.assert_frame_equal(found, frame[names])
    assert found is not frame


def test_columns_that_are_not_there_are_told_by_pandas():
    with pytest.raises(KeyError, match="'z'"):
        registry.choose_columns(pd.DataFrame({"a": [1]}), ["a", "z"])
