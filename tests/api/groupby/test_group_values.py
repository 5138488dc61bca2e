"""Counts of values and lines between values of groups, as pandas has them of each group."""

import dask
import dask.dataframe as dd
import numpy as np
import pandas as pd
import pyarrow as pa
import pytest

import dask_gpuscan
from helpers.asked import computed, null_keys
from helpers.backends import same
from helpers.strategies import partitioned_at

RANDOM = np.random.default_rng(3)
COUNT = 40
FRAME = pd.DataFrame(
    {
        "k": RANDOM.integers(0, 4, COUNT),
        "j": RANDOM.integers(7, 9, COUNT),
        "x": np.where(RANDOM.random(COUNT) < 0.5, np.nan, RANDOM.normal(size=COUNT)),
        "n": RANDOM.integers(0, 3, COUNT),
    },
    index=pd.Index(RANDOM.permutation(COUNT), name="row"),
)
FRAME.loc[FRAME["k"] == 3, "x"] = np.nan
PARTITIONS = ([], [0, 1, 1, 25, 40], [12, 14, 14, 36])
"""Where rows are cut: partitions may have one row or none."""


def wholes(backend, frame):
    """Return a frame as it is, and cut in all ways."""
    whole = backend.frame(frame)
    return [whole, *(partitioned_at(whole, list(rows)) for rows in PARTITIONS)]


def alike(found, expected, keys=1, in_order=True):
    """Assert that counts are equal, and in one order but for ties, which pandas sorts by a sort that is not stable."""
    if expected.ndim == 2:
        names = list(expected.columns[:-1])
        assert found.columns.equals(expected.columns)
        found, expected = (each.set_index(names)[each.columns[-1]] for each in (found, expected))
    pairs = [each.reset_index().iloc[:, [*range(keys), -1]] for each in (found, expected)]
    if in_order:
        pd.testing.assert_frame_equal(*pairs)
    same(found.sort_index(), expected.sort_index())


COUNTED = [
    {},
    {"sort": False},
    {"ascending": True, "dropna": False},
    {"normalize": True},
    {"normalize": True, "dropna": False, "sort": False},
]


@pytest.mark.sampled(2)
@pytest.mark.parametrize("options", COUNTED, ids=str)
@pytest.mark.parametrize("made", [{}, {"sort": False}, {"as_index": False}], ids=str)
def test_value_counts(backend, made, options):
    frame = FRAME.round(0)

    def ask(frame, by, columns):
        return frame.groupby(by, **made)[columns].value_counts(**options)

    for by, columns in (("k", "x"), (["k", "j"], "n"), ("k", ["n", "x"])):
        expected = ask(frame, by, columns)
        for each in wholes(backend, frame):
            (found,) = dask.compute(ask(each.gpuscan, by, columns))
            keys = 0 if made.get("sort") is False else 1 + isinstance(by, list)
            alike(backend.to_pandas(found), expected, keys, options.get("sort", True))


@pytest.mark.parametrize("normalize", [False, True])
@pytest.mark.parametrize("dtype", ["int64", "Int64", "int64[pyarrow]"])
def test_counts_of_one_column_have_the_dtype_that_it_says(dtype, normalize):
    frame = pd.DataFrame({"k": [1, 1, 2], "x": pd.Series([5, 5, 6], dtype=dtype), "y": 0})
    for columns in ("x", ["x"], ["x", "y"]):
        expected = frame.groupby("k")[columns].value_counts(normalize=normalize)
        for each in (frame, partitioned_at(frame, [1])):
            lazy = each.gpuscan.groupby("k")[columns].value_counts(normalize=normalize)
            pd.testing.assert_series_equal(computed(lazy), expected)
            assert lazy.dtype == expected.dtype


def test_values_that_are_there_as_often_are_in_the_order_of_rows(backend):
    frame = pd.DataFrame({"k": [2, 1, 2, 1, 2, 2], "x": [9, 5, 3, 4, 7, 3]})
    for each in (backend.frame(frame), partitioned_at(backend.frame(frame), [1, 4])):
        (found,) = dask.compute(each.gpuscan.groupby("k")["x"].value_counts())
        labels = [(1, 5), (1, 4), (2, 3), (2, 9), (2, 7)]
        assert backend.to_pandas(found).index.tolist() == labels


def test_value_counts_of_all_columns_and_of_none(backend):
    for frame in (FRAME[["k", "n", "j"]], FRAME[["k", "n", "j"]][:0]):
        expected = frame.groupby("k").value_counts()
        for each in (backend.frame(frame), partitioned_at(backend.frame(frame), [len(frame) // 2])):
            alike(backend.to_pandas(computed(each.gpuscan.groupby("k").value_counts())), expected)


def test_value_counts_of_clustered_groups(backend):
    frame = FRAME.sort_values("k", ascending=False, kind="stable")
    expected = (
        frame.groupby("k")["n"]
        .value_counts()
        .sort_index(level=0, ascending=False, sort_remaining=False)
    )
    for each in wholes(backend, frame):
        (found,) = dask.compute(each.gpuscan.groupby("k", clustered=True)["n"].value_counts())
        alike(backend.to_pandas(found), expected)


@pytest.mark.parametrize("name", ["n", None])
def test_value_counts_of_series(backend, name):
    series = FRAME.set_index("k")["n"].rename(name)
    expected = series.groupby("k").value_counts()
    for each in wholes(backend, series):
        alike(backend.to_pandas(computed(each.gpuscan.groupby("k").value_counts())), expected)
    if backend.name == "cpu":
        given = FRAME["n"].rename(name)
        expected = given.groupby(FRAME["k"]).value_counts()
        alike(given.gpuscan.groupby(FRAME["k"]).value_counts(), expected)


@pytest.mark.parametrize("dropna", [True, False])
@pytest.mark.parametrize("keys", ["text", "categories", "floats", "nullable", "times"])
def test_null_keys(keys, dropna):
    frame = pd.DataFrame({"k": null_keys(keys, 4), "n": [1, 2, 2, 1], "x": [1, np.nan, 3, np.nan]})
    frame = pd.concat([frame, frame[::-1]], ignore_index=True)
    groups = frame.groupby("k", dropna=dropna, observed=True)
    counts = groups["n"].value_counts()
    lines = groups["x"].transform(lambda column: column.interpolate())
    for each in (frame, partitioned_at(frame, [1, 1, 5])):
        found = each.gpuscan.groupby("k", dropna=dropna)
        answers = dask.compute(found["n"].value_counts(), found["x"].interpolate())
        alike(answers[0], counts)
        same(answers[1], lines)


FILLED = [
    {},
    {"limit": 1},
    {"limit": 2, "limit_direction": "both"},
    {"limit_direction": "backward"},
    {"limit_area": "inside"},
    {"limit_direction": "both", "limit_area": "outside"},
]


@pytest.mark.sampled(2)
@pytest.mark.parametrize("clustered", [False, True])
@pytest.mark.parametrize("options", FILLED, ids=str)
def test_interpolate(backend, options, clustered):
    frame = FRAME.sort_values("k", kind="stable") if clustered else FRAME
    for columns in ("x", ["x", "n"]):
        expected = frame.groupby("k")[columns].transform(lambda c: c.interpolate(**options))
        if backend.name == "cuda":  # where integers are interpolated as floats
            expected = expected.astype("float64")
        for each in wholes(backend, frame):
            groups = each.gpuscan.groupby("k", clustered=clustered or None)[columns]
            lazy = groups.interpolate(**options)
            same(backend.to_pandas(computed(lazy)), expected, rtol=1e-15)


@pytest.mark.parametrize("dtype", ["Int64", "Float64", "float32", "double[pyarrow]", "M8[ns]"])
def test_interpolate_of_dtypes(dtype):
    values = FRAME["x"].abs().round(0)
    column = (
        pd.to_datetime(values, unit="D").astype(dtype)
        if dtype == "M8[ns]"
        else values.astype(dtype)
    )
    frame = FRAME.assign(x=column)
    expected = frame["x"].copy().astype("Float64" if dtype == "Int64" else dtype)
    for rows in frame.groupby("k").indices.values():
        part = frame["x"].iloc[rows]
        expected.iloc[rows] = part.gpuscan.interpolate().array
    for each in wholes_of_pandas(frame):
        same(computed(each.gpuscan.groupby("k")["x"].interpolate()), expected)


def wholes_of_pandas(frame):
    return [frame, partitioned_at(frame, [3, 3, 20])]


@pytest.mark.parametrize("name", ["x", None])
def test_interpolate_of_series_and_pad(backend, name):
    series = FRAME.set_index("k")["x"].rename(name)
    expected = series.groupby("k").transform(lambda c: c.interpolate())
    padded = series.groupby("k").ffill(limit=1)
    for each in wholes(backend, series):
        groups = each.gpuscan.groupby("k")
        found = dask.compute(groups.interpolate(), groups.interpolate("pad", limit=1))
        same(backend.to_pandas(found[0]), expected)
        same(backend.to_pandas(found[1]), padded)


def test_infinities():
    frame = pd.DataFrame({"k": 1, "x": [-np.inf, np.nan, 1, np.nan, np.inf, np.nan, np.inf]})
    expected = frame["x"].interpolate()
    same(frame.gpuscan.groupby("k")["x"].interpolate(), expected)


WRONG = [
    (lambda g: g.interpolate("time"), ValueError, "method must be 'linear' or 'pad' in groups"),
    (lambda g: g.interpolate("cubic"), ValueError, "method must be one of"),
    (lambda g: g.interpolate(limit=0), ValueError, "limit must be a positive integer"),
    (lambda g: g.interpolate("pad", limit_area="inside"), ValueError, "limit_area is for"),
    (lambda g: g["s"].interpolate(), TypeError, "interpolate of column 's'"),
    (lambda g: g.value_counts(sort=2), ValueError, "sort must be True or False"),
    (lambda g: g["c"].value_counts(), TypeError, "pairs of categories"),
]


@pytest.mark.parametrize(("ask", "error", "message"), WRONG)
def test_wrong_arguments(ask, error, message):
    frame = FRAME.assign(s="a", c=pd.Categorical(["a"] * COUNT))
    for each in wholes_of_pandas(frame):
        with pytest.raises(error, match=message):
            ask(each.gpuscan.groupby("k"))


def test_values_of_the_key_itself(backend):
    frame = pd.DataFrame({"b": [True, False, True]})
    expected = frame.groupby("b")["b"].value_counts()
    for each in (backend.frame(frame), partitioned_at(backend.frame(frame), [1])):
        found = backend.to_pandas(computed(each.gpuscan.groupby("b")["b"].value_counts()))
        assert (type(found.index), found.index.name) == (type(expected.index), "b")
        assert found.to_dict() == expected.to_dict()


def test_answers_of_labels_can_be_written():
    frame = pd.DataFrame({"k": [1, 1, 2], "x": [6.0, 9.0, 5.0]})
    for each in (frame, dd.from_pandas(frame, npartitions=2)):
        groups = each.gpuscan.groupby("k")
        for found in (groups["x"].idxmax(), groups.idxmin()):
            (answer,) = dask.compute(found)
            answer.iloc[0] = 7
            assert np.ravel(answer)[0] == 7
    assert frame.index.tolist() == [0, 1, 2]


@pytest.mark.parametrize("kind", [pa.date32(), pa.date64()], ids=str)
def test_averages_of_dates_are_times(kind):
    day, time = 86_400_000_000, pa.timestamp("us")
    days, keys = [3, 0, None, 5, 4, -3, None], [1, 1, 1, 2, 2, 1, 3]
    moments = pa.array([None if d is None else d * day for d in days], pa.int64()).view(time)
    expected = {
        "mean": [0, 9 * day // 2, None],
        "median": [0, 9 * day // 2, None],
        "quantile": [-9 * day // 4, 33 * day // 8, None],
    }
    table = pa.table({"k": keys, "x": moments.cast(kind)})
    frame = table.to_pandas(types_mapper=pd.ArrowDtype)
    frame["t"] = pd.date_range("2026-01-01", periods=7)
    collection = dd.from_pandas(frame, npartitions=3)
    for clustered in (False, None):
        for source in (frame.gpuscan, collection.gpuscan, dask_gpuscan.on(table)):
            groups = source.groupby("k", clustered=clustered)["x"]
            for name, numbers in expected.items():
                found = computed(
                    groups.quantile(0.125) if name == "quantile" else getattr(groups, name)()
                )
                found = found["x"] if isinstance(found, pa.Table) else pa.array(found)
                assert found.type == time, name
                assert found.cast(pa.int64()).to_pylist() == numbers, name
    rows = dask_gpuscan.stream([frame[:2], frame[2:]])
    for source in (frame, collection, rows):
        means = computed(source.gpuscan.groupby("k").agg(mean=("x", "mean"))["mean"])
        assert pa.array(means).cast(pa.int64()).to_pylist() == expected["mean"]
        buckets = source.gpuscan.resample("2D", on="t")["x"]
        for answer in (buckets.mean(), buckets.median()):
            answer = answer.compute() if hasattr(answer, "compute") else answer
            assert pa.array(answer).cast(pa.int64()).to_pylist() == [
                3 * day // 2,
                5 * day,
                day // 2,
                None,
            ]
    for source in (frame, collection):
        means = computed(source.gpuscan.groupby("k")["x"].transform("mean"))
        assert means.dtype == pd.ArrowDtype(time)


def test_a_mean_of_dates_beyond_the_range_of_times():
    far = pa.array([2**31 - 1], pa.int32()).view(pa.date32())
    frame = pa.table({"k": [1], "x": far}).to_pandas(types_mapper=pd.ArrowDtype)
    for name in ("mean", "median"):
        with pytest.raises(OverflowError, match=rf"{name} of column 'x': .* out of bounds"):
            getattr(frame.gpuscan.groupby("k")["x"], name)()


@pytest.mark.parametrize("kind", [pa.date32(), pa.date64(), pa.time32("s"), pa.time64("ns")])
def test_running_extremes_of_dates_and_times_of_a_day(kind):
    days = [3, 1, None, 5, 4, 2]
    day = 86_400_000 if kind == pa.date64() else 1
    stored = pa.int32() if kind.bit_width == 32 else pa.int64()
    x = pa.array([None if d is None else d * day for d in days], stored).cast(kind)
    table = pa.table({"k": [1, 1, 1, 2, None, 1], "x": x})
    dtype = pd.ArrowDtype(kind)
    frame = table.to_pandas(types_mapper=pd.ArrowDtype)
    collection, rows = (
        dd.from_pandas(frame, npartitions=3),
        dask_gpuscan.stream([frame[:1], frame[1:]]),
    )
    for method, days in (
        ("cummax", [3, 3, None, 5, None, 3]),
        ("cummin", [3, 1, None, 5, None, 1]),
    ):
        expected = [None if d is None else d * day for d in days]
        for source in (frame.gpuscan, collection.gpuscan, rows.gpuscan, dask_gpuscan.on(table)):
            found = computed(getattr(source.groupby("k")["x"], method)())
            if isinstance(found, pd.Series):
                assert found.dtype == dtype
                found = pa.chunked_array([pa.array(found)])
            assert found.type == kind
            assert found.cast(stored).to_pylist() == expected
