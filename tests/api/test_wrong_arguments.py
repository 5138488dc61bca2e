"""Arguments of every wrong kind: the error is of this package, in one short line, whatever method is called."""

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest

import dask_gpuscan
from helpers.strategies import partitioned

df = pd.DataFrame(
    {"k": [1, 1, 2, 2], "x": [1.0, 2.0, 3.0, 4.0], "s": list("abcd")},
    index=pd.date_range("2026-01-01", periods=4, freq="h"),
)
lazy = partitioned(df, [0.5])


@pytest.fixture(params=["pandas", "dask"])
def frame(request):
    return df if request.param == "pandas" else lazy


CALLS = {
    "groupby": lambda it, wrong: it.groupby(wrong),
    "column of groups": lambda it, wrong: it.groupby("k")[wrong],
    "subset": lambda it, wrong: it.unique_consecutive(wrong),
    "keep": lambda it, wrong: it.unique_consecutive(keep=wrong),
    "duplicates": lambda it, wrong: it.drop_duplicates(keep=wrong),
    "by": lambda it, wrong: it.sort_values(wrong),
    "na_position": lambda it, wrong: it.sort_values("k", na_position=wrong),
    "ascending": lambda it, wrong: it.sort_values("k", ascending=wrong),
    "level": lambda it, wrong: it.sort_index(level=wrong),
    "columns": lambda it, wrong: it.nlargest(2, wrong),
    "n": lambda it, wrong: it.nlargest(wrong, "x"),
    "axis": lambda it, wrong: it.cumsum(axis=wrong),
    "exclusive": lambda it, wrong: it.cumsum(numeric_only=True, exclusive=wrong),
    "numeric_only": lambda it, wrong: it.cumsum(numeric_only=wrong),
    "dtype": lambda it, wrong: it.cumsum(numeric_only=True, dtype=wrong),
    "limit": lambda it, wrong: it.ffill(limit=wrong),
    "periods": lambda it, wrong: it.shift(wrong),
    "fill_value": lambda it, wrong: it.shift(fill_value=wrong),
    "predicate": lambda it, wrong: it.filter(wrong),
    "time": lambda it, wrong: it.sessionize(wrong, gap=1),
    "gap": lambda it, wrong: it.sessionize("x", gap=wrong),
    "window": lambda it, wrong: it.rolling(wrong),
    "on": lambda it, wrong: it.rolling("1h", on=wrong),
    "closed": lambda it, wrong: it.rolling(2, closed=wrong),
    "center": lambda it, wrong: it.rolling(2, center=wrong),
    "span": lambda it, wrong: it.ewm(span=wrong),
    "min_periods": lambda it, wrong: it.expanding(wrong),
    "rule": lambda it, wrong: it.resample(wrong),
    "origin": lambda it, wrong: it.resample("D", origin=wrong),
    "on of resample": lambda it, wrong: it.resample("D", on=wrong),
    "column of buckets": lambda it, wrong: it.resample("D")[wrong],
    "method": lambda it, wrong: it.rank(method=wrong),
    "op": lambda it, wrong: it.scan(wrong),
    "entry": lambda it, wrong: it.scan({"s": wrong}),
    "where": lambda it, wrong: it.scan({"s": (dask_gpuscan.add, "x")}, where=wrong),
    "agg of runs": lambda it, wrong: it.rle("k", agg=wrong),
    "q": lambda it, wrong: it.groupby("k")["x"].quantile(wrong),
    "ddof": lambda it, wrong: it.groupby("k")["x"].var(wrong),
    "agg": lambda it, wrong: it.groupby("k").agg(wrong),
    "nth": lambda it, wrong: it.groupby("k").nth(wrong),
    "agg of windows": lambda it, wrong: it.rolling(2).agg(wrong),
    "level of groups": lambda it, wrong: it.groupby(level=wrong),
    "transform": lambda it, wrong: it.groupby("k").transform(wrong),
    "percentiles": lambda it, wrong: it.groupby("k").describe(wrong),
    "numeric_only of labels": lambda it, wrong: it.expanding().idxmax(wrong),
    "numeric_only of scans in groups": lambda it, wrong: it.groupby("k").cumsum(wrong),
    "initial": lambda it, wrong: it.groupby("k")["x"].cumsum(initial=wrong, dtype=float),
}
WRONG = {
    "object": object(),
    "frame": df,
    "series": df.x,
    "lazy series": lazy.x,
    "lazy frame": lazy,
    "index": df.index,
    "array": np.zeros((2, 2)),
    "arrow": pa.array([[1]]),
    "dictionary": {"no": {"no": 1}},
    "class": pd.DataFrame,
    "class of integers": int,
    "null": pd.NA,
    "bytes": b"x",
    "complex": 1j,
}
TAKEN = {  # as pandas takes them
    ("dtype", "series"),
    ("dtype", "array"),
    ("fill_value", "bytes"),
    ("fill_value", "complex"),
    ("groupby", "series"),
    ("groupby", "lazy series"),
    ("groupby", "index"),
    ("groupby", "class"),  # a function of labels, which raises errors of its own
    ("groupby", "class of integers"),
    ("dtype", "class of integers"),
    ("fill_value", "null"),
}


@pytest.mark.parametrize("call", CALLS)
def test_wrong_arguments_are_refused_in_short(frame, call):
    for kind, wrong in WRONG.items():
        if (call, kind) in TAKEN:
            continue
        with pytest.raises((TypeError, ValueError)) as caught:
            CALLS[call](frame.gpuscan, wrong)
        text = str(caught.value)
        assert len(text) < 500, (kind, text)
        assert "\n" not in text, (kind, text)
        assert "ambiguous" not in text, (
            kind,
            text,
        )  # of pandas and Dask, for comparisons of frames
        assert "dask_gpuscan" in str(caught.traceback[-1].path) or "kernels" in str(
            caught.traceback[-1].path
        ), (kind, text)


def test_numbers_of_any_size_are_taken_or_refused():
    assert df.gpuscan.ffill(limit=10**30).equals(df)
    assert df.gpuscan.groupby("k").head(10**30).equals(df)
    with pytest.raises(ValueError, match="ddof must be an integer of at most 32 bits"):
        df.gpuscan.groupby("k")["x"].var(ddof=10**30)


def test_rows_are_scanned_along_numbers():
    for frame in (df, lazy):
        with pytest.raises(TypeError, match=r"cummax with axis=1 takes columns of numbers, .*only"):
            frame.gpuscan.cummax(axis=1)
        with pytest.raises(ValueError, match=r"axis must be one of .*, found True"):
            frame.gpuscan.cummax(axis=True)


ARRAYS = [
    (
        lambda: dask_gpuscan.cumsum(np.arange(3), dtype=df),
        "dtype must be a dtype of NumPy, found a",
    ),
    (lambda: dask_gpuscan.cumsum(np.arange(3), numeric_only=df), "numeric_only must be True or"),
    (lambda: dask_gpuscan.precompile([["f"]]), "methods must be names of methods"),
    (lambda: dask_gpuscan.precompile("cumsum", dtypes=[["f"]]), "dtypes must be dtypes"),
    (lambda: dask_gpuscan.run_end_encode(3), "array must be what pyarrow makes an array of"),
    (lambda: dask_gpuscan.run_end_encode(lazy.x), "array is a Dask collection"),
    (lambda: dask_gpuscan.check_associative(dask_gpuscan.add, ["a"]), "samples must be numbers"),
    (lambda: dask_gpuscan.operator(lambda a, b: a + b, identity=0, name=df), "name must be a str"),
    (lambda: dask_gpuscan.check_associative(dask_gpuscan.add, pa.array(["a"])), "must be numbers"),
    (lambda: dask_gpuscan.check_associative(dask_gpuscan.add, 3), "samples must be a list"),
    (lambda: dask_gpuscan.check_associative(dask_gpuscan.add, [1], rtol="x"), "rtol must be a"),
]


@pytest.mark.parametrize(("call", "message"), ARRAYS)
def test_wrong_arguments_of_functions(call, message):
    with pytest.raises((TypeError, ValueError), match=message):
        call()
