"""Every method over partitions that do not match: refused in the same words, or the answer of all rows together."""

import importlib
import re
import sys
from functools import cache
from pathlib import Path

import dask
import dask.dataframe as dd
import pandas as pd
import pyarrow as pa
import pytest

from dask_gpuscan import stream
from helpers.samples import share
from helpers.strategies import of_partitions

sys.path.insert(0, str(Path(__file__).parents[2] / "docs" / "tools"))
calls = importlib.import_module("support_calls")
matrix = importlib.import_module("support_matrix")

WHOLE = calls.frame()
CUTS = [slice(0, 2), slice(2, 5), slice(5, 7)]
REFUSED = re.compile("((partition|batch) [0-9]+: )?partitions do not match: ")


def decimals(digits):
    return pd.ArrowDtype(pa.decimal128(38, digits))


def as_dtypes(dtypes):
    return lambda part: part.astype(dtypes)


def nulls(name):
    def change(part):
        column = pd.Series(pa.nulls(len(part)), part.index, pd.ArrowDtype(pa.null()))
        return part.assign(**{name: column})

    return change


KINDS = {
    "float keys": ({}, as_dtypes({"k": "float64"})),
    "Arrow keys": ({}, as_dtypes({"k": "int64[pyarrow]"})),
    "object keys": ({}, as_dtypes({"k": object})),
    "categories of keys": (
        {"k": pd.CategoricalDtype([1, 2, 3])},
        lambda part: part.assign(k=part["k"].cat.reorder_categories([3, 2, 1])),
    ),
    "decimals as keys": ({"k": decimals(1)}, as_dtypes({"k": decimals(3)})),
    "null keys": ({"k": "int64[pyarrow]"}, nulls("k")),
    "integers": ({}, lambda part: part.fillna({"x": 0}).astype({"x": "int64"})),
    "floats": ({}, as_dtypes({"n": "float64"})),
    "Arrow": ({}, as_dtypes({"x": "double[pyarrow]"})),
    "null": ({}, nulls("x")),
    "milliseconds": ({}, as_dtypes({"t": "datetime64[ms]"})),
    "flags": ({}, as_dtypes({"late": object})),
    "order": ({}, lambda part: part[part.columns[::-1]]),
}


class Asked:
    """A frame that remembers which of its columns a call asks for."""

    def __init__(self, frame):
        self.frame, self.columns = frame, set()

    def __getitem__(self, names):
        self.columns |= {names} if isinstance(names, str) else set(names)
        return self.frame[names]

    def __getattr__(self, name):
        self.columns |= set(self.frame.columns)
        return getattr(self.frame, name)


@cache
def asked_for(name):
    """Return the columns that a call asks for: all, if it asks the frame itself."""
    asked = Asked(WHOLE)
    calls.CALLS[name](asked)
    return asked.columns


def changed(part, other):
    """Return the columns whose dtypes differ, categories in another order included; all, if columns are."""
    if list(part) != list(other):
        return set(part)
    return {name for name in part if repr(part[name].dtype) != repr(other[name].dtype)}


def answer(call, frame):
    """Return an answer, or the error."""
    try:
        return matrix.plain(call(frame))
    except Exception as error:
        return error


@pytest.fixture(autouse=True)
def sync():
    with dask.config.set(scheduler="sync"):
        yield


@pytest.mark.sampled(5)
@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("kind", KINDS)
def test_every_method_refuses_or_answers_for_all_rows(kind):
    dtypes, change = KINDS[kind]
    frame, wrong = WHOLE.astype(dtypes), []
    parts = [frame[CUTS[0]], change(frame[CUTS[1]]), frame[CUTS[2]]]
    differ = changed(frame, parts[1])
    assert differ
    whole = pd.concat([part[frame.columns] for part in parts])
    lazy = of_partitions(parts, frame.iloc[:0])
    asked = [
        name for name in calls.CALLS if differ & asked_for(name)
    ]  # others are given what matches
    for name in share(asked, 16, list(KINDS).index(kind)):
        call = calls.CALLS[name]
        found = answer(call, lazy)
        if isinstance(found, ValueError) and REFUSED.match(str(found)):
            assert kind != "order", found
            continue
        expected = answer(call, whole)
        if isinstance(found, Exception) or isinstance(expected, Exception):
            if type(found) is not type(expected):
                wrong.append(f"{name}: {found!r} for {expected!r}")
            continue
        try:
            matrix.compare(found, expected)
        except AssertionError as error:
            wrong.append(f"{name}: {error}")
    assert not wrong, "\n".join(wrong)


TOGETHER = {
    "median": lambda f: f.gpuscan.groupby("k").x.median(),
    "sum": lambda f: f.gpuscan.groupby("k").x.sum(),
    "cumsum": lambda f: f.gpuscan.groupby("k").x.cumsum(),
    "sort": lambda f: f.gpuscan.sort_values("k"),
    "rank": lambda f: f.gpuscan.groupby("k").rank(),
    "drop_duplicates": lambda f: f.gpuscan.drop_duplicates("k"),
    "nlargest": lambda f: f.gpuscan.nlargest(2, "k"),
    "head": lambda f: f.gpuscan.groupby("k").head(1),
}


@pytest.mark.parametrize("way", ["shared", "tasks", "disk"])
@pytest.mark.parametrize("name", TOGETHER)
@pytest.mark.parametrize("rows", [3, 0])
def test_rows_that_meet_are_refused_however_they_are_moved(name, way, rows):
    one = pd.DataFrame({"k": [3, 1, 2], "x": [1.0, 2.0, 4.0]})
    lazy = of_partitions([one, one.astype({"k": "float64"})[:rows]], one[:0])
    message = "partitions do not match: column 'k' is int64 in one and float64 in another"
    with (
        dask.config.set({"dataframe.shuffle.method": way}),
        pytest.raises(ValueError, match=message),
    ):
        TOGETHER[name](lazy).compute()


@pytest.mark.parametrize("way", ["shared", "tasks", "disk"])
@pytest.mark.parametrize("name", ["median", "sum", "cumsum", "rank"])
def test_levels_of_the_index_that_are_keys_are_refused(name, way):
    one = pd.DataFrame({"x": [1.0, 2.0, 4.0]}, pd.Index([3, 1, 2], name="k"))
    lazy = of_partitions([one, one.set_axis(one.index.astype("float64"))], one[:0])
    with (
        dask.config.set({"dataframe.shuffle.method": way}),
        pytest.raises(ValueError, match=REFUSED),
    ):
        TOGETHER[name](lazy).compute()


@pytest.mark.parametrize("name", TOGETHER)
def test_what_all_partitions_have_is_not_refused_where_dask_tells_otherwise(name):
    """As after `assign` of `dask.dataframe.to_datetime`, and after a join that finds nothing in any partition."""
    frame = pd.DataFrame({"k": [1, 2, 1, 2], "x": [1.0, 2.0, 4.0, 3.0]})
    lazy = of_partitions([frame[:2], frame[2:]], frame[:0].astype({"k": "float64", "x": "object"}))
    found = TOGETHER[name](lazy.astype({"x": "float64"})).compute()
    matrix.compare(found.sort_index(), TOGETHER[name](frame).sort_index())


@pytest.mark.parametrize("name", ["sort", "rank", "drop_duplicates", "nlargest", "head"])
def test_columns_that_are_not_there_are_refused(name):
    frame = pd.DataFrame({"k": [1, 2], "x": [1.0, 2.0], "y": [0, 0]})
    lazy = of_partitions([frame, frame.rename(columns={"y": "z"})], frame[:0])
    with pytest.raises(ValueError, match=r"partitions do not match: columns \(k, x"):
        TOGETHER[name](lazy).compute()


REPLACED = pd.DataFrame({"k": [1, 1, 2, 2, 2], "x": [4, 2, 3, 1, 5]})


def other_than_three(x):
    """Return where a series is not 3, of another collection if it is one of Dask, which then aligns both."""
    found = REPLACED.x != 3
    return dd.from_pandas(found, npartitions=3) if isinstance(x, dd.Series) else found


WAYS = {
    "where": lambda x: x.where(x != 3),
    "mask": lambda x: x.mask(x == 3),
    "a float": lambda x: x.where(x != 3, 1.5),
    "an integer": lambda x: x.where(x != 3, 0),
    "twice": lambda x: x.where(x != 3).mask(x == 1),
    "more": lambda x: x.where(x != 3) + 1,
    "of another collection": lambda x: x.where(other_than_three(x)),
}
METHODS = {
    "cumsum": lambda x: x.gpuscan.cumsum(),
    "ffill": lambda x: x.gpuscan.ffill(),
    "rank": lambda x: x.gpuscan.rank(),
    "rolling": lambda x: x.gpuscan.rolling(2).sum(),
    "sort_values": lambda x: x.gpuscan.sort_values(),
}


@pytest.mark.parametrize(("dtype", "parts"), [("int64", 5), ("uint8", 2), ("Int64", 5)])
@pytest.mark.parametrize("way", WAYS)
def test_replaced_values_widen_columns_as_in_pandas(dtype, way, parts):
    """Dask announces the dtype of values that are kept, which is that of partitions that keep all of theirs."""
    if dtype == "Int64" and way == "a float":
        return  # refused by pandas
    x = REPLACED.x.astype(dtype)
    replaced = WAYS[way](x)
    lazy = WAYS[way](dd.from_pandas(x, npartitions=parts))
    for name, method in METHODS.items():
        if name == "sort_values" and replaced.isna().sum() > 1:
            continue  # nulls may come in another order
        found, expected = method(lazy), method(replaced)
        computed = found.compute()
        pd.testing.assert_series_equal(computed, expected)
        assert found.dtype == computed.dtype
    streamed = stream(lazy).gpuscan.cumsum().compute()
    pd.testing.assert_series_equal(streamed, replaced.gpuscan.cumsum())


@pytest.mark.parametrize("parts", [5, 2])
def test_replaced_values_in_groups_and_beside_others(parts):
    lazy = dd.from_pandas(REPLACED, npartitions=parts)
    assigned, expected = (f.assign(y=f.x.where(f.x != 3)) for f in (lazy, REPLACED))
    sums = assigned.gpuscan.groupby("k")["y"].sum().compute()
    assert sums.to_dict() == {1: 6.0, 2: 6.0}
    filled = assigned.assign(z=assigned.gpuscan.groupby("k")["y"].ffill()).compute()
    assert filled.z.fillna(-1).tolist() == [4.0, 2.0, -1.0, 1.0, 5.0]
    whole = lazy.where(lazy.x != 3)
    keyed = whole.gpuscan.groupby(whole.k).sum().compute()
    assert keyed.to_dict() == {"x": {1.0: 6.0, 2.0: 6.0}}
    flags = lazy.assign(b=lazy.x > 2).b.where(lazy.x != 3).gpuscan.ffill().compute()
    assert flags.tolist() == [True, False, False, False, True]
    pd.testing.assert_frame_equal(assigned.gpuscan.ffill().compute(), expected.ffill())
