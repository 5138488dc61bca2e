"""Bad input: the error names the column or argument, and comes when the expression is built."""

import dask
import numpy as np
import pandas as pd
import pyarrow as pa
import pytest

import dask_gpuscan
from dask_gpuscan import first, maximum
from helpers.strategies import partitioned

df = pd.DataFrame({"n": [1, 2], "s": ["a", "b"], "c": pd.Categorical(["a", "b"]), "o": [{}, {}]})


@pytest.fixture(params=["pandas", "dask"])
def frame(request):
    return df if request.param == "pandas" else partitioned(df, [0.5])


REFUSED = {
    "s": ("cumprod", "cumany", "cumall"),
    "c": ("cumsum", "cumprod", "cummax", "cummin", "cumany", "cumall"),
    "o": ("cumany", "cumall"),
}


@pytest.mark.parametrize(("column", "method"), [(c, m) for c in REFUSED for m in REFUSED[c]])
def test_columns_that_cannot_be_scanned(frame, column, method):
    with pytest.raises(TypeError, match=rf"{method} of column '{column}': .*astype"):
        getattr(frame[["n", column]].gpuscan, method)()


@pytest.mark.parametrize("method", ["cumsum", "cumprod", "cummax", "cummin"])
def test_objects_that_python_does_not_combine(frame, method):
    with pytest.raises(TypeError, match=rf"^{method} of column 'o': .*'dict'.*; cast it with"):
        dask.compute(getattr(frame[["n", "o"]].gpuscan, method)())


WITH_NUMERIC_ONLY = {
    "cumsum": lambda it: it.cumsum(),
    "cummax": lambda it: it.cummax(),
    "mean of groups": lambda it: it.groupby("n").mean(),
    "median of groups": lambda it: it.groupby("n").median(),
    "cumprod of groups": lambda it: it.groupby("n").cumprod(),
    "rolling": lambda it: it.rolling(2).sum(),
    "cov": lambda it: it.expanding().cov(),
    "ewm": lambda it: it.ewm(span=2).mean(),
    "resample": lambda it: it.resample("D", on="t").mean(),
}
WITHOUT = {
    "cumany": lambda it: it.cumany(),
    "scan": lambda it: it.scan(maximum),
    "agg of groups": lambda it: it.groupby("n").agg({"u": "mean"}),
    "reduce": lambda it: it.groupby("n").reduce(maximum),
    "agg": lambda it: it.rolling(2).agg({"u": "sum"}),
    "scan of windows": lambda it: it.rolling(2).scan(maximum),
    "nlargest": lambda it: it.nlargest(1, "u"),
}
ONE_COLUMN = {
    "groups": lambda it: it.groupby("n")["u"].mean(),
    "windows of groups": lambda it: it.groupby("n")["u"].rolling(2).mean(),
}


@pytest.mark.parametrize("method", [*WITH_NUMERIC_ONLY, *WITHOUT, *ONE_COLUMN])
def test_numeric_only_is_the_way_out_where_there_is_such(frame, method):
    units = frame[["n"]].assign(u=df.c if isinstance(frame, pd.DataFrame) else frame.c)
    units["t"] = pd.Timestamp("2026-01-01")
    ask = (WITH_NUMERIC_ONLY | WITHOUT | ONE_COLUMN)[method]
    with pytest.raises(TypeError, match="of column 'u'") as caught:
        ask(units.gpuscan)
    ends = "cast it with astype" if method in ONE_COLUMN else "cast it with astype, or leave it out"
    if method in WITH_NUMERIC_ONLY:
        ends += " with numeric_only=True"
    assert str(caught.value).endswith(ends)


def test_a_series_is_cast(frame):
    for ask in (lambda x: x.cumprod(), lambda x: x.rolling(2).sum(), lambda x: x.scan(first)):
        with pytest.raises(TypeError, match=r"column 's': .*dtype .*; cast it with astype$"):
            ask(frame["s"].gpuscan)


def test_every_way_out_works(frame):
    assert list(frame.gpuscan.cumsum(numeric_only=True).columns) == ["n"]
    with pytest.raises(TypeError, match="column 'c'"):
        frame.gpuscan.scan(maximum)


@pytest.mark.parametrize(
    ("options", "error", "message"),
    [
        ({"initial": "a"}, TypeError, "initial must be int64, found 'a'"),
        ({"initial": 0.5}, TypeError, "initial must be int64, found 0.5"),
        ({"initial": (1, 2)}, TypeError, "initial must be int64"),
        ({"initial": {"z": 1}}, ValueError, "initial: 'z' is not a column"),
        ({"dtype": "banana"}, TypeError, "dtype must be a dtype, found 'banana'"),
        ({"dtype": "str"}, TypeError, "dtype must be a numeric dtype"),
        ({"axis": 2}, ValueError, "axis must be one of 0, 'index', 'rows', 1, 'columns', found 2"),
        ({"axis": True}, ValueError, "axis must be one of .*, found True"),
        ({"axis": 1, "reverse": True}, ValueError, "axis=1"),
        ({"axis": 1, "initial": 3}, ValueError, "axis=1"),
        ({"axis": 1, "lower": 0}, ValueError, "axis=1"),
        ({"axis": 1, "reset": "n"}, ValueError, "axis=1"),
        ({"skipna": "yes"}, ValueError, "skipna must be True or False, found 'yes'"),
        ({"reverse": 1}, ValueError, "reverse must be True or False, found 1"),
        ({"exclusive": None}, ValueError, "exclusive must be True or False"),
        ({"bananas": 1}, TypeError, "bananas"),
    ],
)
def test_bad_options(frame, options, error, message):
    with pytest.raises(error, match=message):
        frame[["n"]].gpuscan.cumsum(**options)


@pytest.mark.parametrize(
    ("dtype", "initial"),
    [
        ("datetime64[ns]", 3),
        ("datetime64[ns]", 2**70),
        ("timedelta64[ns]", "tomorrow"),
        ("datetime64[ns]", pd.NaT),
    ],
)
def test_initial_for_times(dtype, initial):
    x = pd.Series([1, 2]).astype(dtype)
    with pytest.raises(TypeError, match="initial must be"):
        x.gpuscan.cummax(initial=initial)


def test_times_take_what_pandas_takes():
    x = pd.Series(pd.to_datetime(["2026-01-02", "2026-01-01"]))
    out = x.gpuscan.cummax(initial=pd.Timestamp("2026-01-03"))
    assert out.tolist() == [pd.Timestamp("2026-01-03")] * 2
    with pytest.raises(TypeError, match="cumsum"):
        x.gpuscan.cumsum()
    with pytest.raises(TypeError, match="dtype=int64 cannot be asked for"):
        x.gpuscan.cummax(dtype="int64")


@pytest.mark.parametrize(
    ("parts", "message"),
    [
        (
            [df[["n"]], df[["n"]].astype("float64")],
            "column 'n' is int64 in one and float64 in another",
        ),
        ([df[["n"]], df[["n"]].rename(columns={"n": "m"})], r"columns \(n\) and \(m\)"),
        ([df[["n"]], df[["n", "n"]]], "partitions do not match"),
    ],
)
def test_partitions_that_do_not_match(parts, message):
    import dask.dataframe as dd

    ddf = dd.from_map(lambda p: p, parts, meta=df[["n"]].iloc[:0], enforce_metadata=False)
    with pytest.raises(ValueError, match=message):
        ddf.gpuscan.cumsum().compute()


ACROSS = {
    "scan of groups": lambda g: g.groupby("k").n.cumsum(),
    "clustered scan": lambda g: g.groupby("k", clustered=True).n.cumsum(),
    "reduction": lambda g: g.groupby("k").n.sum(),
    "clustered reduction": lambda g: g.groupby("k", clustered=True).n.sum(),
    "fill of groups": lambda g: g.groupby("k").n.ffill(),
    "rle": lambda g: g.rle(),
    "unique_consecutive": lambda g: g.unique_consecutive(),
    "sessionize": lambda g: g.sessionize("n", gap=1),
    "sessions": lambda g: g.sessions("n", by="k", gap=1),
    "ewm": lambda g: g.ewm(span=3).mean(),
    "ffill": lambda g: g.ffill(),
}


@pytest.mark.sampled(2)
@pytest.mark.parametrize("method", ACROSS)
def test_partitions_that_do_not_match_are_refused_by_all(method):
    import dask.dataframe as dd

    one = pd.DataFrame({"k": [1, 1], "n": [1, 2]})
    for parts in (
        [one, one.astype({"n": "float64"})],
        [one.astype({"n": "float64"}).iloc[:0], one],
    ):
        ddf = dd.from_map(lambda p: p, parts, meta=one.iloc[:0], enforce_metadata=False)
        with pytest.raises(ValueError, match="partitions do not match: column 'n' is "):
            ACROSS[method](ddf.gpuscan).compute()


def test_no_overflow_warnings_reach_the_user(recwarn):
    x = pd.Series([np.inf, -np.inf, 1e308, 1e308])
    partitioned(x, [0.5]).gpuscan.cumsum(initial=1e308).compute()
    pd.Series([2**63 - 1, 1]).gpuscan.cumsum()
    assert not [w for w in recwarn if issubclass(w.category, RuntimeWarning)]


KEYED = {
    "sum": lambda it: it.gpuscan.groupby(["j", "k"])["x"].sum(),
    "clustered": lambda it: it.gpuscan.groupby("k", clustered=True)["x"].sum(),
    "check": lambda it: it.gpuscan.groupby("k", clustered="check")["x"].cumsum(),
    "cumsum": lambda it: it.gpuscan.groupby("k")["x"].cumsum(),
    "head": lambda it: it.gpuscan.groupby("k").head(1),
    "nlargest": lambda it: it.gpuscan.groupby("k")["x"].nlargest(1),
    "rank": lambda it: it.gpuscan.groupby("k")["x"].rank(),
    "median": lambda it: it.gpuscan.groupby("k")["x"].median(),
    "drop_duplicates": lambda it: it.gpuscan.drop_duplicates(["k"]),
    "value_counts": lambda it: it.k.gpuscan.value_counts(),
}


@pytest.mark.parametrize("method", KEYED)
@pytest.mark.parametrize("dtype", [object, pd.ArrowDtype(pa.list_(pa.int64()))])
def test_keys_that_cannot_be_hashed_are_named(method, dtype):
    frame = pd.DataFrame({"j": list("aab"), "x": [1, 2, 3]})
    frame["k"] = pd.Series([[1], [2], [1]], dtype=dtype)
    for each in (frame, partitioned(frame, [0.4])):
        with pytest.raises(TypeError, match=r"column 'k' of dtype .* has values"):
            dask.compute(KEYED[method](each))


@pytest.mark.parametrize("values", ["struct", "list", "objects"])
@pytest.mark.parametrize("method", ["rle", "unique_consecutive", "drop_duplicates", "value_counts"])
def test_values_that_cannot_be_told_apart(method, values):
    one = {"struct": {"a": 1}, "list": [1], "objects": [1]}[values]
    kind = {
        "struct": pd.ArrowDtype(pa.struct([("a", pa.int64())])),
        "list": pd.ArrowDtype(pa.list_(pa.int64())),
        "objects": object,
    }[values]
    series = pd.Series([one, one], dtype=kind, name="x")
    for each in (series, partitioned(series, [0.5]), partitioned(series.to_frame(), [0.5])):
        with pytest.raises(TypeError, match=r"column 'x' of dtype .* cannot be hashed") as caught:
            dask.compute(getattr(each.gpuscan, method)())
        assert "kernel" not in str(caught.value)


@pytest.mark.parametrize("method", ["cummax", "cummin"])
def test_complex_numbers_of_arrays_have_no_order(method):
    x = pd.Series([1 + 2j, 3], name="x")  # pandas compares the real parts first
    op = {"cummax": "maximum", "cummin": "minimum"}[method]
    with pytest.raises(TypeError, match=rf"^{op} is not defined for complex128$"):
        getattr(dask_gpuscan, method)(x.to_numpy())
    with pytest.raises(TypeError, match=r"bitwise_xor is not defined for float64$"):
        dask_gpuscan.scan(np.arange(3.0), dask_gpuscan.bitwise_xor)


def test_an_index_says_what_it_has(frame):
    index = frame.set_index("n").index
    with pytest.raises(AttributeError, match=r"not 'cumsum'; .*to_series\(\)"):
        index.gpuscan.cumsum()
    for call in (dask_gpuscan.cumsum, lambda x: dask_gpuscan.scan(x, maximum), dask_gpuscan.on):
        with pytest.raises(TypeError, match=r"Index; take to_series\(\) of it"):
            call(index)


@pytest.mark.parametrize(
    ("options", "error", "message"),
    [
        ({"span": float("nan")}, ValueError, "span must be finite, found nan"),
        ({"span": "3"}, TypeError, "span must be a number, found '3'"),
        ({"span": 0.5}, ValueError, "span must be at least 1, found 0.5"),
        ({"com": -1}, ValueError, "com must be at least 0, found -1"),
        ({"halflife": 0}, ValueError, "halflife must be above 0, found 0"),
        ({"alpha": 1.5}, ValueError, "alpha must be above 0 and at most 1, found 1.5"),
        ({"alpha": 0}, ValueError, "alpha must be above 0 and at most 1, found 0"),
        ({}, ValueError, "one of com, span, halflife and alpha must be given, found none"),
        ({"com": 1, "span": 3}, ValueError, "must be given, found com and span"),
        ({"span": 3, "adjust": "yes"}, ValueError, "adjust must be True or False, found 'yes'"),
        ({"span": 3, "ignore_na": 1}, ValueError, "ignore_na must be True or False, found 1"),
    ],
)
def test_how_weights_decay(frame, options, error, message):
    with pytest.raises(error, match=message):
        frame[["n"]].gpuscan.ewm(**options)
