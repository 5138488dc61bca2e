"""interpolate against pandas on the whole: any cuts, dtypes, limits and indexes."""

import dask.dataframe as dd
import numpy as np
import pandas as pd
import pyarrow as pa
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from helpers.backends import same
from helpers.strategies import (
    FAMILIES,
    FLOATS,
    INTEGERS,
    OTHERS,
    columns,
    cuts,
    frames,
    partitioned,
)

NUMBERS = tuple(d for d in (*INTEGERS, *FLOATS) if d != "boolean")
SOME_TIMES = ("datetime64[us, Europe/Berlin]", "timedelta64[ns]", "period[D]")
CHANGES = ("Int64", "Int16", "UInt8", "int64[pyarrow]")
limits = st.none() | st.integers(1, 5)
directions = st.sampled_from([None, "forward", "backward", "both"])
areas = st.sampled_from([None, "inside", "outside"])


def options(limit, direction, area):
    return {"limit": limit, "limit_direction": direction, "limit_area": area}


def agrees(backend, data, at, rtol=1e-9, **asked):
    """Compare with pandas, at once and over partitions."""
    expected = data.interpolate(**asked)
    if not len(data):  # pandas looks at dtypes of rows only
        expected = expected.astype(data.iloc[:0].gpuscan.interpolate(**asked).dtype)
    frame = backend.frame(data)
    lazy = partitioned(frame, at).gpuscan.interpolate(**asked)
    computed = lazy.compute()
    assert lazy.dtype == computed.dtype
    if backend.name == "cpu":
        same(computed, expected, rtol)
        same(frame.gpuscan.interpolate(**asked), expected, rtol)
        return
    for found in (computed, frame.gpuscan.interpolate(**asked)):
        numbers = backend.to_pandas(found).to_numpy(dtype=float, na_value=np.nan)
        np.testing.assert_allclose(
            numbers, expected.to_numpy(dtype=float, na_value=np.nan), rtol=1e-6
        )


@given(x=columns(NUMBERS), at=cuts(), limit=limits, direction=directions, area=areas)
def test_series_as_pandas(backend, x, at, limit, direction, area):
    assume(backend.name == "cpu" or x.dtype != bool)  # which may be null in cuDF, and have no line
    agrees(backend, x, at, **options(limit, direction, area))


@given(df=frames(FLOATS[:2]), at=cuts(), limit=limits, direction=directions)
def test_frames_as_pandas(backend, df, at, limit, direction):
    asked = options(limit, direction, None)
    lazy = partitioned(backend.frame(df), at).gpuscan.interpolate(**asked)
    expected = df.interpolate(**asked)
    found = backend.to_pandas(lazy.compute())
    same(found, expected, 1e-6)
    one = partitioned(backend.frame(df), at).gpuscan.interpolate(**asked)["c0"]
    same(backend.to_pandas(one.compute()), expected["c0"], 1e-6)


@given(
    x=columns(("float64", "float32", "Int64", "double[pyarrow]")),
    at=cuts(),
    limit=limits,
    direction=directions,
    area=areas,
    steps=st.lists(st.integers(0, 3), min_size=24, max_size=24),
    kind=st.sampled_from(["int", "float", "time", "zone", "timedelta"]),
)
def test_index_as_pandas(backend, x, at, limit, direction, area, steps, kind):
    """With ties too: of rows with equal index values the last value counts."""
    values = np.cumsum(steps)[: len(x)]
    hours = pd.to_timedelta(values, unit="h")
    x.index = {
        "int": pd.Index(values),
        "float": pd.Index(values / 4, name="at"),
        "time": pd.Timestamp("2026-03-28") + hours,
        "zone": (pd.Timestamp("2026-03-28", tz="UTC") + hours).tz_convert("Europe/Berlin"),
        "timedelta": pd.TimedeltaIndex(hours),
    }[kind]
    asked = options(limit, direction, area)
    agrees(backend, x, at, method="index", **asked)
    if kind in ("time", "zone", "timedelta"):
        agrees(backend, x, at, method="time", **asked)


@given(x=columns(("datetime64[ns]", "datetime64[us, Europe/Berlin]", "timedelta64[ns]")), at=cuts())
def test_times_as_pandas(x, at):
    for direction in ("forward", "both"):
        expected = x.interpolate(limit_direction=direction)
        lazy = partitioned(x, at).gpuscan.interpolate(limit_direction=direction)
        same(lazy.compute(), expected)


@given(x=columns((*FAMILIES, *SOME_TIMES, *OTHERS)), at=cuts(), limit=limits, area=areas)
def test_pad_is_forward_fill(backend, x, at, limit, area):
    expected = x.ffill(limit=limit, limit_area=area)
    asked = {"method": "pad", "limit": limit, "limit_area": area}
    frame = backend.frame(x)
    same(backend.to_pandas(frame.gpuscan.interpolate(**asked)), expected)
    lazy = partitioned(frame, at).gpuscan.interpolate(**asked)
    same(backend.to_pandas(lazy.compute()), expected)


def test_gap_longer_than_partitions(backend):
    x = pd.Series([0.0, *[None] * 20, 21.0])
    at = [i / 22 for i in range(1, 22)] * 2
    ddf = partitioned(backend.frame(x), sorted(at))
    for limit in (None, 1, 7, 20, 30):
        for direction in ("forward", "backward", "both"):
            asked = options(limit, direction, None)
            found = backend.to_pandas(ddf.gpuscan.interpolate(**asked).compute())
            same(found, x.interpolate(**asked))


def test_same_bits_as_pandas_for_any_cut():
    rng = np.random.default_rng(3)
    x = pd.Series(rng.normal(size=5000)).mask(rng.random(5000) < 0.6)
    x.index = pd.Timestamp("2026") + pd.to_timedelta(np.cumsum(rng.integers(1, 10**7, 5000)), "us")
    for method in ("linear", "time"):
        expected = x.interpolate(method, limit_direction="both")
        for at in ([], [0.001, 0.3, 0.3, 0.31]):
            found = partitioned(x, at).gpuscan.interpolate(method, limit_direction="both").compute()
            assert found.tolist() == expected.tolist()


def test_complex_numbers():
    x = pd.Series([1 + 2j, None, None, 4, None])
    same(partitioned(x, [0.3, 0.5]).gpuscan.interpolate().compute(), x.interpolate())


def test_nan_that_is_a_value():
    numbers = np.array([0.0, 1.0, np.nan, 0.0, 2.0])
    x = pd.Series(pd.arrays.FloatingArray(numbers, np.array([False, True, False, True, False])))
    expected = x.interpolate().array.to_numpy(dtype=float, na_value=-1.0)
    found = partitioned(x, [0.3, 0.5]).gpuscan.interpolate().compute()
    np.testing.assert_array_equal(found.array.to_numpy(dtype=float, na_value=-1.0), expected)


@pytest.mark.parametrize(
    "x",
    [
        pd.Series(["a", None]),
        pd.Series([1.0, None], dtype=object, name="x"),
        pd.Series([True, None], dtype="boolean"),
        pd.Series(["a", None], dtype="category"),
        pd.Series([pd.Period("2026", "D"), None]),
        pd.Series([1, None], dtype=pd.ArrowDtype(pa.decimal128(5, 2))),
    ],
    ids=lambda x: str(x.dtype),
)
def test_columns_that_have_no_line(x):
    for lazy in (x, dd.from_pandas(x, npartitions=2)):
        with pytest.raises(TypeError, match=r"interpolate of .*dtype .* is not a number"):
            lazy.gpuscan.interpolate()


@pytest.mark.parametrize(
    ("asked", "error", "message"),
    [
        ({"method": "cubic"}, ValueError, "method must be one of 'linear', 'index'"),
        ({"method": None}, ValueError, "method must be one of"),
        ({"limit": 0}, ValueError, "limit must be a positive integer or None, found 0"),
        ({"limit": -1}, ValueError, "limit must be a positive integer"),
        ({"limit": 1.5}, ValueError, "limit must be a positive integer"),
        ({"limit_direction": "up"}, ValueError, "limit_direction must be one of 'forward'"),
        ({"limit_area": "middle"}, ValueError, "limit_area must be one of None, 'inside'"),
        ({"method": "pad", "limit_direction": "both"}, ValueError, "must be 'forward' for method"),
        (
            {"method": "time"},
            ValueError,
            "method='time' needs an index of times, found dtype int64",
        ),
    ],
)
def test_bad_arguments(asked, error, message):
    x = pd.Series([1.0, None])
    for one in (x, dd.from_pandas(x, npartitions=2)):
        with pytest.raises(error, match=message):
            one.gpuscan.interpolate(**asked)


def test_bad_indexes():
    x = pd.Series([1.0, None, 3.0], index=list("abc"))
    with pytest.raises(
        TypeError, match=r"needs an index of numbers or times, found dtype (str|object)"
    ):
        x.gpuscan.interpolate("index")
    x.index = pd.MultiIndex.from_arrays([[1, 1, 1], [1, 2, 3]])
    with pytest.raises(ValueError, match="needs an index of one level, found 2 levels"):
        x.gpuscan.interpolate("index")
    assert x.gpuscan.interpolate().tolist() == [1.0, 2.0, 3.0]
    x.index = [1.0, None, 3.0]
    with pytest.raises(ValueError, match="index must have no nulls"):
        x.gpuscan.interpolate("index")
    times = pd.Series(pd.to_datetime(["2026", None]))
    with pytest.raises(TypeError, match="times are interpolated by method='linear' only"):
        times.gpuscan.interpolate("index")


@pytest.mark.parametrize(
    ("index", "number"), [([3, 1, 4, 5], 0), ([1, 2, 3, 1], 2), ([1, 2, 0, 3], 1)]
)
def test_index_that_decreases(backend, index, number):
    x = backend.frame(pd.Series([1.0, None, None, 3.0], index=index))
    lazy = partitioned(x, [0.5, 0.75]).gpuscan.interpolate("index")
    with pytest.raises(ValueError, match=f"^partition {number}: index must not decrease"):
        lazy.compute()


@pytest.mark.parametrize("kind", [pa.timestamp("ns"), pa.duration("s"), pa.date32()], ids=str)
def test_times_of_arrow_are_on_the_line_by_integers(kind):
    top = 2**20 if kind == pa.date32() else 2**60
    given = [None, top + 1, None, None, top + 7, None, -3, None, 2, None]
    array = pa.array(given, pa.int32() if kind == pa.date32() else pa.int64()).view(kind)
    frame = pd.DataFrame({"x": pd.arrays.ArrowExtensionArray(pa.chunked_array([array])), "g": 1})
    middle = (top + 4) // 2
    expected = [top + 1, top + 1, top + 3, top + 5, top + 7, middle, -3, -1, 2, 2]
    for at in ([], [0.2, 0.5], [i / 10 for i in range(1, 10)]):
        rows = partitioned(frame, at)
        for each in (rows["x"].gpuscan, rows.gpuscan.groupby("g")["x"]):
            found = each.interpolate(limit_direction="both").compute()
            assert found.dtype == frame["x"].dtype
            assert (
                pa.array(found).cast(pa.int32() if top < 2**32 else pa.int64()).to_pylist()
                == expected
            )


@pytest.mark.parametrize("kind", [pa.timestamp("ns"), pa.duration("us")], ids=str)
def test_times_farther_apart_than_64_bits(kind):
    low, high = -(2**63) + 1, 2**63 - 1
    array = pa.array([low, None, None, high, None, low], pa.int64()).view(kind)
    frame = pd.DataFrame({"x": pd.arrays.ArrowExtensionArray(pa.chunked_array([array])), "g": 1})
    up = [low + (high - low) * i // 3 for i in range(4)]
    for at in ([], [0.2, 0.5], [i / 6 for i in range(1, 6)]):
        rows = partitioned(frame, at)
        for each in (rows["x"].gpuscan, rows.gpuscan.groupby("g")["x"]):
            found = each.interpolate().compute()
            assert pa.array(found).cast(pa.int64()).to_pylist() == [*up, 0, low]
