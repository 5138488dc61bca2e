"""Narrow numbers at the edges of their range: pandas' answers by groups, in dtypes that hold them."""

import itertools
import math
from contextlib import nullcontext

import dask
import dask.dataframe as dd
import numpy as np
import pandas as pd
import pyarrow as pa
import pytest

import dask_gpuscan
from dask_gpuscan import stream
from helpers.asked import computed
from helpers.backends import same
from helpers.strategies import partitioned
from helpers.versions import older
from helpers.widened import widened

# each dtype is a kernel to compile for each operator: one for each width and each kind of nulls
METHODS = {
    "int8": ("sum", "cumprod"),
    "uint32": ("prod", "cumsum", "max", "mean"),
    "Int16": ("sum", "cumprod"),
    "int32[pyarrow]": ("prod", "cumsum"),
    "float16": ("sum", "std", "cumsum"),
}
KEYS = [1, 1, 1, 2, 2, 3, 4, 4, 4, 4, 5, 5]
CUTS = ([0.5], [0.05, 0.1, 0.3, 0.3, 0.6, 0.95])


def edges(dtype):
    """A column of the least and the greatest numbers of a dtype, and of small ones."""
    storage = np.dtype(dtype.lower().split("[")[0])
    if storage.kind == "f":
        items = [40000, 40000, 40002, 1.5, -2.5, 0.0, 2.0, 0.25, 8, -1, 65504, 65504]
    else:
        known = np.iinfo(storage)
        items = [known.max, known.max, known.max, known.min, known.min, 3]
        items += [2, 3, known.max, 5, known.min, known.max]
    return pd.Series(items, dtype=dtype)


def answers(backend, frame, ask):
    """Ask the whole and two cuts of it."""
    whole = backend.frame(frame)
    for each in (whole, *(partitioned(whole, at) for at in CUTS)):
        yield each is whole, backend.to_pandas(computed(ask(each)))


@pytest.mark.sampled(2)
@pytest.mark.parametrize("clustered", [True, None])
@pytest.mark.parametrize("dtype", METHODS)
def test_groups_of_narrow_numbers(backend, dtype, clustered):
    df = pd.DataFrame({"k": KEYS, "v": edges(dtype)})
    groups = df.groupby("k")["v"]
    for method in METHODS[dtype]:
        theirs = backend.answer(df, lambda it, m=method: getattr(it.groupby("k")["v"], m)())
        if theirs is None:  # cuDF has no half floats, for one
            assert backend.name == "cuda"
            continue
        expected = getattr(groups, method)()
        if dtype == "float16":  # pandas rounds some sums to infinity in the end
            single = df.astype({"v": "float32"})
            theirs, expected = expected, getattr(single.groupby("k")["v"], method)()
        ask = lambda it, m=method: getattr(it.gpuscan.groupby("k", clustered=clustered)["v"], m)()  # noqa: E731
        for eager, found in answers(backend, df, ask):
            if backend.name == "cuda" and found.dtype.kind in "iu":  # of 64 bits, signed or not
                assert found.dtype == widened(found, method).dtype
                same(found.astype("int64"), widened(expected, method).astype("int64"))
            elif backend.name == "cuda":
                same(found.astype("float64"), expected.astype("float64"), rtol=1e-3)
            elif eager and clustered is None and not method.startswith("cum"):
                same(found, theirs)  # pandas itself was asked
            else:
                same(found.astype("float64"), expected.astype("float64"), rtol=1e-3)
                assert found.dtype == widened(expected, method).dtype
                if found.dtype.kind in "iu":
                    same(found, widened(expected, method))


@pytest.mark.parametrize("clustered", [True, None])
def test_narrow_numbers_in_several_reductions_and_in_sessions(backend, clustered):
    big = np.array([2_000_000_000] * 2 + [3, 2_000_000_000], "int32")
    df = pd.DataFrame({"k": [1, 1, 1, 2], "t": [0, 1, 2, 3], "v": big})

    def ask(it):
        return it.gpuscan.groupby("k", clustered=clustered).agg(v=("v", "sum"), n=("v", "size"))

    for _, found in answers(backend, df, ask):
        assert found["v"].tolist() == [4_000_000_003, 2_000_000_000]
    ask = lambda it: it.gpuscan.sessions("t", by="k", gap=5, clustered=clustered, z=("v", "sum"))  # noqa: E731
    for _, found in answers(backend, df, ask):
        assert found["z"].tolist() == [4_000_000_003, 2_000_000_000]


def test_sums_of_unsorted_rows_are_as_wide():
    v = np.array([2_000_000_000] * 2 + [3, 2_000_000_000], "int32")
    df = pd.DataFrame({"k": [1, 1, 2, 1], "v": v})
    for at in CUTS:
        assert partitioned(df, at).gpuscan.groupby("k")["v"].sum().compute().tolist() == [
            6 * 10**9,
            3,
        ]
    running = df.gpuscan.groupby("k")["v"].cumsum()
    assert running.tolist() == [2 * 10**9, 4 * 10**9, 3, 6 * 10**9]
    assert df.gpuscan.groupby("k").agg(v=("v", "min")).dtypes.tolist() == [np.dtype("int32")]


@pytest.mark.parametrize("method", ["mean", "var", "std"])
@pytest.mark.parametrize("clustered", [True, None])
def test_moments_of_the_largest_single_precision_numbers(backend, method, clustered):
    df = pd.DataFrame({"k": 1, "v": np.array([3e38] * 3, "float32")})
    expected = {"mean": float(np.float32(3e38)), "var": 0.0, "std": 0.0}[method]
    ask = lambda it: getattr(it.gpuscan.groupby("k", clustered=clustered)["v"], method)()  # noqa: E731
    for eager, found in answers(backend, df, ask):
        if eager and clustered is None:
            continue  # the library itself was asked
        assert found.tolist() == [expected]
        assert found.dtype == np.float64 or backend.name == "cuda"


def test_deviations_of_large_integers(backend):
    df = pd.DataFrame({"k": [1, 2, 1, 2], "v": np.array([2**31 - 1, 5, -(2**31), 9], "int32")})
    for _, found in answers(backend, df, lambda it: it.gpuscan.groupby("k")["v"].std()):
        same(found, df.groupby("k")["v"].std())


DURATIONS = ("timedelta64[ns]", "duration[ns][pyarrow]")


@pytest.mark.parametrize("clustered", [True, None])
@pytest.mark.parametrize("dtype", DURATIONS)
def test_sums_of_durations_do_not_wrap_around(dtype, clustered):
    def of(*counts):
        v = pd.array([pd.NaT if c is None else c for c in counts], dtype="timedelta64[ns]")
        return pd.DataFrame({"k": 1, "v": pd.Series(v).astype(dtype)})

    for counts in ([2**62] * 3, [2**62, None, 2**62], [-(2**62)] * 2):
        for at in CUTS:
            groups = partitioned(of(*counts), at).gpuscan.groupby("k", clustered=clustered)
            with pytest.raises(ValueError, match=r"overflow.*: sum of column 'v' does not fit"):
                groups["v"].sum().compute()
    # what comes back into the range is right, as in pandas
    for counts in ([2**62, 2**62, -(2**62)], [-(2**62), -(2**62), 5], [None, None], [7, 8]):
        df = of(*counts)
        for at in CUTS:
            groups = partitioned(df, at).gpuscan.groupby("k", clustered=clustered)
            same(groups["v"].sum().compute(), df.groupby("k")["v"].sum())


def test_integers_wrap_around_where_a_row_may_be_in_no_group_too():
    v = [2**62, 3, 1, 2**62, 0]  # of which all sums and products are numbers of float64
    df = pd.DataFrame(
        {"k": ["a", "b", None, "a", "a"], "v": v, "b": [True, False, True, True, False]}
    )
    for method in ("cumsum", "cumprod", "cummax"):
        held = df.astype({"v": "Int64", "b": "boolean"})
        expected = getattr(held.groupby("k")[["v", "b"]], method)()
        for frame in (df, *(partitioned(df, at) for at in CUTS)):
            (found,) = dask.compute(getattr(frame.gpuscan.groupby("k")[["v", "b"]], method)())
            assert found["v"].dtype == "float64"
            found = found.astype(expected.dtypes)
            if not older("pandas", "3.1"):  # in which they are floats
                same(found, expected)
            kept = getattr(frame.gpuscan.groupby("k", dropna=False)["v"], method)()
            same(computed(kept), getattr(df.groupby("k", dropna=False)["v"], method)())


@pytest.mark.parametrize("clustered", [True, None])
def test_nulls_of_objects_and_of_keys_are_those_of_pandas(clustered):
    keys = pd.Series(["a", "a", "b", None, None], dtype=object)
    df = pd.DataFrame({"k": keys, "o": pd.Series([None, "x", np.nan, None, 3], dtype=object)})
    for method in ("first", "last"):
        expected = getattr(df.groupby("k", dropna=False)["o"], method)()
        expected.index = expected.index.astype(object)
        for at in ([], *CUTS):
            groups = partitioned(df, at).gpuscan.groupby("k", dropna=False, clustered=clustered)
            found = getattr(groups["o"], method)().compute()
            assert [repr(v) for v in found] == [repr(v) for v in expected]
            assert [repr(v) for v in found.index] == [repr(v) for v in expected.index]


def test_intervals_are_filled_where_a_row_is_in_no_group():
    spans = pd.arrays.IntervalArray.from_tuples([(0, 1), (5, 6), (2, 3), (4, 5)])
    df = pd.DataFrame({"k": ["a", "b", None, "a"], "v": spans})
    expected = df.groupby("k")["v"].ffill()
    for frame in (df, *(partitioned(df, at) for at in CUTS)):
        same(computed(frame.gpuscan.groupby("k")["v"].ffill()), expected)


@pytest.mark.parametrize(
    "values", [[1.0, np.inf], [np.inf, 1.0], [0.25, -np.inf, 0.25], [1.0, 2.0]]
)
def test_deviations_from_infinity_do_not_depend_on_partitions(backend, values):
    df = pd.DataFrame({"k": 1, "v": values})
    expected = df.groupby("k")["v"].var()
    for clustered in (True, None):
        for count in (1, 2, 3):
            at = [i / count for i in range(1, count)]
            groups = partitioned(backend.frame(df), at).gpuscan.groupby("k", clustered=clustered)
            same(backend.to_pandas(groups["v"].var().compute()), expected)


@pytest.mark.parametrize("method", ["sum", "prod", "var", "cumsum"])
def test_dates_are_not_added(method):
    dates = pd.Series(pd.to_datetime(["2026-01-01", "2026-01-02"])).astype("date32[day][pyarrow]")
    df = pd.DataFrame({"k": [1, 1], "v": dates})
    for frame in (df, partitioned(df, [0.5])):
        for clustered in (True, None):
            with pytest.raises(TypeError, match=f"{method} of column 'v': pandas has no {method}"):
                getattr(frame.gpuscan.groupby("k", clustered=clustered)["v"], method)()


@pytest.mark.parametrize(
    ("dtype", "method"), [("int8", "cumsum"), ("int8", "cumprod"), ("float32", "cumsum")]
)
@pytest.mark.parametrize("groups", [1, 60, 9_000])
def test_scans_of_groups_in_narrow_dtypes_wrap_around_in_every_partition(dtype, method, groups):
    rng = np.random.default_rng(groups)
    x = rng.integers(1, 3 if dtype == "float32" else 100, 12_000)
    frame = pd.DataFrame({"k": rng.integers(0, groups, 12_000) * 10**13, "x": x})
    parts = [frame[:5_000], frame[5_000:5_001], frame[5_001:9_000], frame[9_000:]]

    def answer(rows):
        return getattr(rows.gpuscan.groupby("k")["x"], method)(dtype=dtype)

    expected = answer(frame)
    for rows in (dd.from_map(lambda part: part, parts, meta=frame[:0]), stream(parts)):
        found = answer(rows).compute()
        assert found.dtype == expected.dtype == dtype
        if dtype == "float32":
            np.testing.assert_allclose(found, expected, rtol=1e-5)
        else:
            assert found.tolist() == expected.tolist()


def of_groups_and_windows(rows, op):
    """Answers of an operator over groups, adjacent ones, buckets, windows, and windows of groups."""
    one = [rows.gpuscan.groupby("k", clustered=c)["x"].reduce(op) for c in (True, None)]
    windows = rows.gpuscan.groupby("k")["x"].rolling(2, min_periods=1).scan(op)
    buckets = rows[["t", "x"]].gpuscan.resample("2s", on="t")["x"].reduce(op)
    return [*one, windows, rows["x"].gpuscan.rolling(2, min_periods=1).scan(op), buckets]


OWN = dask_gpuscan.operator(lambda a, b: a + b, identity=0, name="total")


@pytest.mark.sampled(2)
@pytest.mark.parametrize(
    ("op", "dtype"),
    [(dask_gpuscan.add, "int8"), (dask_gpuscan.multiply, "uint16"), (OWN, "int8"), (OWN, "uint32")],
    ids=lambda each: getattr(each, "name", each),
)
def test_operators_over_groups_and_windows_of_narrow_integers(op, dtype):
    most = np.iinfo(dtype).max
    values, keys = [most, most, 1, most, 0, most], [1, 1, 1, 2, 2, 2]
    combine = math.prod if op is dask_gpuscan.multiply else sum
    groups = [values[:3], values[3:]]
    windows = [values[max(i - 1, 0) : i + 1] for i in range(6)]
    of_groups = [g[max(i - 1, 0) : i + 1] for g in groups for i in range(3)]
    buckets = [values[i : i + 2] for i in (0, 2, 4)]
    expected = [[*map(combine, p)] for p in (groups, groups, of_groups, windows, buckets)]
    wide = ("uint64" if dtype.startswith("u") else "int64") + "[pyarrow]"
    times = pd.date_range("2026", periods=6, freq="s")
    frame = pd.DataFrame({"k": keys, "t": times, "x": pd.Series(values, dtype=f"{dtype}[pyarrow]")})
    for rows in (frame, *(partitioned(frame, at) for at in CUTS), stream([frame[:1], frame[1:]])):
        for found, wanted in zip(of_groups_and_windows(rows, op), expected, strict=True):
            found = found if isinstance(found, pd.Series) else found.compute()
            assert (found.dtype, found.tolist()) == (wide, wanted)
    table = pa.Table.from_pandas(frame, preserve_index=False)
    groups = dask_gpuscan.on(table).groupby("k")["x"].reduce(op)["x"]
    windows = dask_gpuscan.on(table["x"]).rolling(2, min_periods=1).scan(op)
    assert (groups.to_pylist(), windows.to_pylist()) == (expected[0], expected[3])
    assert groups.type == windows.type == wide[:-9]
    pl = pytest.importorskip("polars")
    rows = pl.from_arrow(table)
    groups = rows.gpuscan.groupby("k")["x"].reduce(op)["x"]
    windows = rows["x"].gpuscan.rolling(2, min_periods=1).scan(op)
    assert (groups.to_list(), windows.to_list()) == (expected[0], expected[3])
    assert groups.dtype == windows.dtype == (pl.UInt64 if dtype.startswith("u") else pl.Int64)


# columns of Arrow, the dtype that is asked for, the values, scans, and whether these are exclusive: a kernel each
ASKED = [
    (
        "int16",
        "int8",
        [100, 200, None, -300],
        ("add", "multiply", "maximum", "last", "total"),
        False,
    ),
    ("int16", "int8", [100, None, 27, -127], ("add", "maximum", "last"), False),
    ("int16", "int8", [100, 100, -100, None], ("add", "total"), False),
    ("int16", "int8", [100, 100, -100, None], ("add", "maximum"), True),
    ("int8", "int32", [100, 100, None, -128], ("add",), False),
    ("int64", "uint8", [5, -1, None, 3], ("add", "maximum"), False),
    ("int64", "uint64", [2**63 - 1, 2, None, 0], ("add", "multiply"), False),
    ("uint64", "int64", [1, None, 2**63, 0], ("add", "last"), False),
    ("uint64", "int64", [1, None, 2**63, 0], ("add",), True),
    ("uint64", "int32", [None, 2**31 - 1, 0, 1], ("total",), False),
]
SCANS = {
    "add": int.__add__,
    "multiply": int.__mul__,
    "maximum": max,
    "last": lambda _, b: b,
    "total": int.__add__,
}


@pytest.mark.sampled(4)
@pytest.mark.parametrize(("dtype", "asked", "values", "names", "exclusive"), ASKED)
def test_arrow_integers_that_are_asked_for_hold_all_that_they_answer(
    dtype, asked, values, names, exclusive
):
    known, options = np.iinfo(asked), {"dtype": asked, "exclusive": exclusive}
    frame = pd.DataFrame({"k": 1, "x": pd.Series(values, dtype=f"{dtype}[pyarrow]")})
    some = [v for v in values if v is not None]
    for name in names:
        combine = SCANS[name]
        op = OWN if name == "total" else getattr(dask_gpuscan, name)
        so_far = list(itertools.accumulate(some, combine))
        start = {"maximum": None, "last": None, "multiply": 1}.get(name, 0)
        answers = iter([start, *so_far] if exclusive else so_far)
        expected = [None if v is None else next(answers) for v in values]
        looked_at = [*expected, *(some if name != "last" else ())]
        fits = all(v is None or known.min <= v <= known.max for v in looked_at)
        for rows in (frame, partitioned(frame, [0.5]), stream([frame[:1], frame[1:]])):
            for scan in (rows["x"].gpuscan.scan, rows.gpuscan.groupby("k")["x"].scan):
                refused = pytest.raises(OverflowError, match=rf"'x': -?\d+ does not fit {asked}")
                with nullcontext() if fits else refused:
                    (found,) = dask.compute(scan(op, **options))
                    found = found if isinstance(found, pd.Series) else found.compute()
                    assert found.dtype == f"{asked}[pyarrow]"
                    assert [None if pd.isna(v) else v for v in found] == expected


def test_integers_of_polars_that_are_asked_for_hold_all_that_they_answer():
    pl = pytest.importorskip("polars")
    for values, asked in (([100, 200, 300], pl.Int8), ([1, 2**64 - 2], pl.Int64)):
        x = pl.Series("x", values, dtype=pl.UInt64)
        for method in ("cumsum", "cummax", "cumprod"):
            for of in (x.gpuscan, pl.DataFrame({"k": [1] * len(x), "x": x}).gpuscan.groupby("k")):
                with pytest.raises(OverflowError, match=rf"{method} of column 'x': {values[1]} do"):
                    getattr(of, method)(dtype=asked)
    x = pl.Series("x", [100, 100, -100])
    groups = pl.DataFrame({"k": [1, 1, 2], "x": x}).gpuscan.groupby("k")["x"]
    for of in (x.gpuscan, groups, pl.DataFrame({"x": x}).gpuscan):
        with pytest.raises(OverflowError, match=r"cumsum of column 'x': 200 does not fit int8"):
            of.cumsum(dtype=pl.Int8)
        with pytest.raises(OverflowError, match="cumsum of column 'x': -100 does not fit uint8"):
            of.cumsum(dtype=pl.UInt8, lower=0) if of is not x.gpuscan else of.cumsum(dtype=pl.UInt8)
    assert x[:2].gpuscan.cumsum(dtype=pl.Int8, exclusive=True).to_list() == [0, 100]
