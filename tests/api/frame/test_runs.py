"""unique_consecutive, run_number, run_length and rle: runs of equal rows, on whatever partitions they lie."""

from decimal import Decimal

import dask
import dask.dataframe as dd
import numpy as np
import pandas as pd
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from dask_gpuscan import rle_decode
from helpers.asked import computed
from helpers.backends import same
from helpers.strategies import (
    FLOATS,
    INTEGERS,
    OTHERS,
    TIMES,
    columns,
    cuts,
    frames,
    partitioned,
    two_thirds,
)
from helpers.versions import STRING, older

EVERY = (*INTEGERS, *FLOATS, *TIMES, *OTHERS)


def heads(frame):
    """Where a row differs from the one before: pandas' idiom, with nulls equal to nulls."""
    frame = frame.to_frame("x") if frame.ndim == 1 else frame
    codes = pd.DataFrame(
        {i: pd.factorize(c.array)[0] for i, (_, c) in enumerate(frame.items())}, index=frame.index
    )
    different = (codes != codes.shift()).any(axis=1)
    different.iloc[:1] = True
    return different.to_numpy(bool)


def lengths(frame):
    starts = np.flatnonzero(heads(frame))
    return starts, np.diff([*starts, len(frame)])


@two_thirds
@given(df=frames(EVERY), at=cuts(), keep=st.sampled_from(["first", "last"]), data=st.data())
def test_unique_consecutive(backend, df, at, keep, data):
    subset = data.draw(
        st.none() | st.lists(st.sampled_from(list(df.columns)), min_size=1, unique=True)
    )
    first = heads(df if subset is None else df[subset])
    mask = first if keep == "first" else np.append(first[1:], True)[: len(df)]
    expected = df[mask]
    frame = backend.frame(df)
    same(backend.to_pandas(frame.gpuscan.unique_consecutive(subset, keep)), expected)
    found = partitioned(frame, at).gpuscan.unique_consecutive(subset, keep=keep)
    same(backend.to_pandas(found.compute()), expected)
    again = found.gpuscan.unique_consecutive(subset, keep)
    if subset is None:
        same(backend.to_pandas(again.compute()), expected)


@two_thirds
@given(df=frames(EVERY), at=cuts(), data=st.data())
def test_run_numbers_and_lengths(backend, df, at, data):
    subset = data.draw(
        st.none() | st.lists(st.sampled_from(list(df.columns)), min_size=1, unique=True)
    )
    starts, counts = lengths(df if subset is None else df[subset])
    numbers, so_far = np.repeat(np.arange(len(starts)), counts), np.arange(len(df))
    so_far = so_far - np.repeat(starts, counts) + 1
    rest = np.repeat(counts, counts) - so_far + 1
    calls = {
        "run_number": (lambda it: it.run_number(subset), numbers),
        "run_length": (lambda it: it.run_length(subset), so_far),
        "run_length to the end": (lambda it: it.run_length(subset, reverse=True), rest),
    }
    frame = backend.frame(df)
    for name, (call, expected) in calls.items():
        expected = pd.Series(expected, df.index, np.int64, name.split()[0])
        same(backend.to_pandas(call(frame.gpuscan)), expected)
        same(backend.to_pandas(call(partitioned(frame, at).gpuscan).compute()), expected)


@given(x=columns(EVERY), at=cuts())
def test_series(backend, x, at):
    numbers = np.cumsum(heads(x)) - 1
    found = backend.frame(x).gpuscan.run_number()
    same(backend.to_pandas(found), pd.Series(numbers, x.index, np.int64, "run_number"))
    starts, counts = lengths(x)
    series = backend.frame(x)
    same(backend.to_pandas(series.gpuscan.unique_consecutive()), x.iloc[starts])
    expected = x.iloc[starts].reset_index(drop=True).to_frame()
    expected = expected.assign(run_start=starts, run_length=counts)
    same(backend.to_pandas(series.gpuscan.rle()), expected)
    same(backend.to_pandas(partitioned(series, at).gpuscan.rle().compute()), expected)


@two_thirds
@given(df=frames(EVERY, 2), at=cuts())
def test_rle_and_back(backend, df, at):
    starts, counts = lengths(df)
    expected = df.iloc[starts].reset_index(drop=True)
    expected = expected.assign(run_start=starts, run_length=counts)
    frame = backend.frame(df)
    runs = frame.gpuscan.rle()
    same(backend.to_pandas(runs), expected)
    lazy = partitioned(frame, at).gpuscan.rle()
    same(backend.to_pandas(lazy.compute()), expected)
    whole = df.reset_index(drop=True)
    same(backend.to_pandas(rle_decode(runs)), whole)
    same(backend.to_pandas(rle_decode(lazy).compute()), whole)
    assert int(runs["run_length"].sum()) == len(df)


AGG = {
    "begin": ("t", "first"),
    "end": ("t", "last"),
    "rows": ("x", "size"),
    "values": ("x", "count"),
    "total": ("x", "sum"),
    "low": ("x", "min"),
    "least": ("s", "min"),
    "kinds": ("s", "nunique"),
    "changes": ("s", "nunique_consecutive"),
}


def changes(values):
    """How many runs of equal values there are, nulls passed over."""
    values = values.dropna().to_numpy()
    return int((values[1:] != values[:-1]).sum()) + bool(len(values))


@two_thirds
@given(
    key=columns(("float64", "Int64", "str", "category"), 20),
    x=st.lists(st.integers(-4, 4).map(float) | st.none(), min_size=20, max_size=20),
    s=st.lists(st.sampled_from("ab") | st.none(), min_size=20, max_size=20),
    at=cuts(),
)
def test_aggregates_of_runs(backend, key, x, s, at):
    df = pd.DataFrame({"x": pd.Series(x, dtype="float64"), "s": pd.Series(s, dtype=STRING)})
    df = df.iloc[: len(key)].assign(k=key, t=pd.date_range("2026-01-01", periods=len(key)))
    runs = df.groupby(heads(df[["k"]]).cumsum())
    pandas = {
        n: (c, changes if how == "nunique_consecutive" else how) for n, (c, how) in AGG.items()
    }
    expected = runs.agg(**pandas).reset_index(drop=True)
    if backend.name == "cuda":  # cuDF's sum of no values is null
        expected["total"] = expected["total"].where(expected["low"].notna())
    frame = backend.frame(df)
    places = backend.to_pandas(frame.gpuscan.rle("k"))
    for obj in (frame, partitioned(frame, at)):
        found = obj.gpuscan.rle("k", agg=AGG)
        found = backend.to_pandas(computed(found))
        same(found[list(places)], places)
        if len(df):  # of none, pandas has other dtypes
            same(found[list(AGG)].astype(expected.dtypes), expected)


def test_aggregates_of_the_runs_of_a_series(backend):
    x = backend.frame(pd.Series([1.0, 1.0, np.nan, 2.0]))
    found = backend.to_pandas(x.gpuscan.rle(agg={"n": "count", "m": ("value", "max")}))
    assert found.n.tolist() == [2, 0, 1]
    assert found.m.fillna(-1).tolist() == [1.0, -1, 2.0]
    same(
        backend.to_pandas(rle_decode(x.gpuscan.rle(agg={"n": "count"}))[["value"]]),
        backend.to_pandas(x.to_frame("value")),
    )


@pytest.mark.parametrize("count", [1, 2, 20])
def test_a_run_may_span_any_number_of_partitions(backend, count):
    parts = [backend.frame(pd.DataFrame({"k": [7] * 3}))] * count
    ddf = dd.from_map(lambda p: p, parts, meta=parts[0].iloc[:0])
    expected = pd.DataFrame({"k": [7], "run_start": [0], "run_length": [3 * count]})
    same(backend.to_pandas(ddf.gpuscan.rle().compute()), expected)
    for keep in ("first", "last"):
        found = ddf.gpuscan.unique_consecutive(keep=keep).compute()
        assert backend.to_pandas(found).k.tolist() == [7]


def test_long_runs_are_found_from_the_end(backend):
    x = backend.frame(pd.Series([1] * 5000 + [2] * 3000 + [3], name="x"))
    for cut in ([0.2, 0.5, 0.9], [0.0, 0.7, 0.7, 1.0]):
        found = backend.to_pandas(partitioned(x, cut).gpuscan.rle().compute())
        assert found.run_length.tolist() == [5000, 3000, 1]


def test_nulls_and_nan_are_equal_to_themselves(backend):
    x = backend.frame(pd.Series([np.nan, np.nan, 0.0, -0.0, 1.0], name="x"))
    lengths = partitioned(x, [0.3, 0.5]).gpuscan.rle().run_length.compute()
    assert backend.to_pandas(lengths).tolist() == [2, 2, 1]
    y = backend.frame(pd.Series([None, None, "a"], dtype="str", name="y"))
    lengths = partitioned(y, [0.4]).gpuscan.rle().run_length.compute()
    assert backend.to_pandas(lengths).tolist() == [2, 1]


def test_none_and_nan_are_one_null_among_objects():
    y = pd.Series([None, np.nan, "a"], dtype=object, name="y")
    assert partitioned(y, [0.4]).gpuscan.rle().run_length.compute().tolist() == [2, 1]


@pytest.mark.parametrize("name", [0, "", False])
def test_names_that_are_false(name):
    x = pd.Series([1, 1, 2], name=name)
    for each in (x, partitioned(x, [0.5])):
        assert computed(each.gpuscan.rle()).columns.tolist() == [name, "run_start", "run_length"]


def test_a_label_that_is_none():
    frame = pd.DataFrame([[1, 3], [1, 3]], columns=pd.Index([None, "a"], dtype=object))
    runs = frame.gpuscan.rle()
    assert runs.columns.tolist() == [None, "a", "run_start", "run_length"]
    same(rle_decode(runs), frame)


def test_categories_may_differ_by_partition(backend):
    hosts = [pd.Series(["a", "b"], dtype="category"), pd.Series(["b", "c"], dtype="category")]
    parts = [backend.frame(host) for host in hosts]
    ddf = dd.from_map(lambda p: p, parts, meta=parts[0].iloc[:0])
    parts = dask.compute(*ddf.gpuscan.rle().to_delayed())  # cuDF cannot join them
    found = pd.concat([backend.to_pandas(part).astype({"value": "str"}) for part in parts])
    assert found["value"].tolist() == ["a", "b", "c"]
    assert found.run_length.tolist() == [1, 2, 1]


def test_decimals(backend):
    items = [Decimal("1.50"), Decimal("1.50"), None, None, Decimal("2.25")]
    x = pd.Series(items, dtype=pd.ArrowDtype(pa.decimal128(30, 2)), name="x")
    for at in ([], [0.3, 0.7]):
        series = partitioned(backend.frame(x), at)
        runs = series.gpuscan.rle()
        assert backend.to_pandas(runs.run_length.compute()).tolist() == [2, 2, 1]
        unique = backend.to_pandas(series.gpuscan.unique_consecutive().compute())
        assert unique.index.tolist() == [0, 2, 4]
        assert unique.dropna().tolist() == [items[0], items[4]]
        assert len(rle_decode(runs).compute()) == 5


def test_divisions(backend):
    df = pd.DataFrame({"k": [1, 1, 2, 2, 3, 3]})
    ddf = dd.from_pandas(backend.frame(df), npartitions=3)
    unique = ddf.gpuscan.unique_consecutive()
    assert unique.divisions == ddf.divisions
    same(backend.to_pandas(unique.loc[2:4].compute()), df.loc[[2, 4]])
    assert not ddf.gpuscan.rle().known_divisions
    assert unique._name.startswith("unique-consecutive-")
    assert unique._name == ddf.gpuscan.unique_consecutive()._name
    assert unique._name != ddf.gpuscan.unique_consecutive(keep="last")._name


@pytest.mark.parametrize("kind", ["pandas", "dask"])
def test_bad_input(kind):
    df = pd.DataFrame({"n": [1, 2], "o": [{}, []]})
    frame = df if kind == "pandas" else partitioned(df, [0.5])
    for method in ("rle", "unique_consecutive"):
        with pytest.raises(ValueError, match="subset='z' is not a column; columns are 'n', 'o'"):
            getattr(frame.gpuscan, method)("z")
        with pytest.raises(TypeError, match="subset must be the name"):
            getattr(frame.gpuscan, method)({2.5})
        with pytest.raises(ValueError, match="subset must name at least one column"):
            getattr(frame.gpuscan, method)([])
        with pytest.raises(TypeError, match="subset is for DataFrames"):
            getattr(frame.n.gpuscan, method)("n")
        with pytest.raises(TypeError, match="unhashable"):
            dask.compute(getattr(frame.gpuscan, method)("o"))
    with pytest.raises(ValueError, match="keep must be one of 'first', 'last', found False"):
        frame.gpuscan.unique_consecutive(keep=False)
    with pytest.raises(ValueError, match="'run_start' cannot be among the keys"):
        frame.rename(columns={"n": "run_start"}).gpuscan.rle("run_start")
    for message, agg in {
        "must be a dict of names": {},
        "'run_start' is the name of a column": {"run_start": ("n", "sum")},
        "'n' is the name of a column": {"n": ("o", "count")},
        "'z' is not a column": {"a": ("z", "sum")},
        "'total' is not a reduction": {"a": ("n", "total")},
        r"a must be \(column, reduction\)": {"a": "sum"},
    }.items():
        with pytest.raises((TypeError, ValueError), match=message):
            frame.gpuscan.rle("n", agg=agg)
    with pytest.raises(ValueError, match="one column 'run_length', found 'n', 'o'"):
        rle_decode(frame)
    with pytest.raises(TypeError, match="must hold integers, found dtype float64"):
        rle_decode(frame[["n"]].rename(columns={"n": "run_length"}).astype(float))
    with pytest.raises(ValueError, match="nothing below zero"):
        dask.compute(rle_decode(-frame[["n"]].rename(columns={"n": "run_length"})))
    with pytest.raises(TypeError, match="frame must be a DataFrame made by rle, found Series"):
        rle_decode(df.n)


def test_of_equal_keys_the_first_is_shown(backend):
    """0.0 equals -0.0, and 1 equals True."""
    keys = [pd.Series([-0.0, 0.0, 0.0, 1.0]), pd.Series([1.0, 1.0, 0.0, -0.0])]
    if backend.name == "cpu":
        keys += [
            pd.Series([True, 1, 1.0, 2], dtype=object),
            pd.Series([complex(1, 0.0), complex(1, -0.0), complex(1, 0.0), 2 + 0j]),
            pd.Series(pd.arrays.IntervalArray.from_tuples([(-0.0, 1), (0.0, 1), (0.0, 1), (1, 2)])),
        ]
    for key in keys:
        frame = backend.frame(pd.DataFrame({"k": key, "x": [1, 2, 3, 4]}))
        for at in ([0.25], [0.25, 0.5, 0.75]):
            lazy = partitioned(frame, at)
            for ours in (
                lambda f: f[["k"]].gpuscan.rle(),
                lambda f: f.gpuscan.groupby("k", clustered=True).sum().reset_index(),
            ):
                expected, (found,) = ours(frame), dask.compute(ours(lazy))
                shown = [repr(v) for v in backend.to_pandas(found).k.tolist()]
                assert shown == [repr(v) for v in backend.to_pandas(expected).k.tolist()]


def test_runs_too_long_for_memory_are_refused_when_they_are_seen():
    frame = pd.DataFrame({"x": ["a", "b"], "run_length": [1, 10**12]})
    with pytest.raises(MemoryError, match="1,000,000,000,001 rows, which take"):
        rle_decode(frame)
    lazy = rle_decode(partitioned(frame, [0.5]))
    with pytest.raises(MemoryError, match="1,000,000,000,000 rows"):
        lazy.compute()
    if not older("dask", "2025.4"):  # which computes all partitions
        assert lazy.partitions[0].compute()["x"].tolist() == ["a"]


@pytest.mark.parametrize("name", ["run_start", "run_length"])
def test_series_with_the_name_of_a_place(name):
    values = pd.Series([1, 2, 2], name=name)
    for each in (values, values.to_frame(), partitioned(values, [0.5])):
        with pytest.raises(ValueError, match=f"column '{name}' cannot be among the keys of rle"):
            each.gpuscan.rle()
