"""cumsum(lower=, upper=) against a walk over the rows: dtypes, nulls, partitions, groups, streams."""

from decimal import Decimal

import dask
import dask.dataframe as dd
import numpy as np
import pandas as pd
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

import dask_gpuscan
from helpers.backends import same
from helpers.strategies import FAMILIES, columns, cuts, partitioned, two_thirds

BOUNDS = st.sampled_from([(0, None), (None, 3), (-2, 5), (1, 1), (2, 4), (-9, -3), (0, 2**31)])
OPTIONS = st.fixed_dictionaries(
    {},
    optional={
        "exclusive": st.booleans(),
        "initial": st.integers(0, 9),
        "reverse": st.booleans(),
        "skipna": st.booleans(),
    },
)


def walked(x, dtype, lower, upper, exclusive=False, initial=None, reverse=False, skipna=True):
    """Return what a walk over the rows answers, a bound that is None being that of a dtype."""
    ends = np.iinfo(dtype) if dtype.kind in "iu" else None
    low = lower if lower is not None else -np.inf if ends is None else int(ends.min)
    high = upper if upper is not None else np.inf if ends is None else int(ends.max)
    found, total, ended = [], initial or 0, False
    for value in (x[::-1] if reverse else x).tolist():
        before, null = (total, ended), pd.isna(value)
        ended |= null
        if not null:
            total = min(high, max(low, total + value))
        after = before if exclusive else (total, ended)
        found.append(None if (null if skipna else after[1]) else after[0])
    return pd.Series(found[::-1] if reverse else found, x.index, object, name=x.name)


def storage(dtype):
    numpy = getattr(dtype, "numpy_dtype", dtype)
    return np.dtype("i8") if numpy.kind == "b" else numpy


def fits(bounds, dtype):
    return dtype.kind == "f" or all(
        b is None or np.iinfo(dtype).min <= b <= np.iinfo(dtype).max for b in bounds
    )


def as_expected(found, expected):
    assert found.index.equals(expected.index)
    assert [None if pd.isna(v) else v for v in found.tolist()] == expected.tolist()


@two_thirds
@given(x=columns((*FAMILIES, "int32", "uint8")), at=cuts(), bounds=BOUNDS)
def test_all_dtypes(backend, x, at, bounds):
    dtype = backend.answer(x, lambda s: s.cumsum()).dtype
    lower, upper = bounds
    for series in (backend.frame(x), partitioned(backend.frame(x), at)):
        if not fits(bounds, storage(dtype)):
            with pytest.raises(TypeError, match=r"column 'x': (lower|upper) must be a number of"):
                series.gpuscan.cumsum(lower=lower, upper=upper)
            continue
        answer = series.gpuscan.cumsum(lower=lower, upper=upper)
        (found,) = dask.compute(answer)
        assert found.dtype == answer.dtype
        found = backend.to_pandas(found)
        assert found.dtype == dtype
        as_expected(found, walked(x, storage(dtype), lower, upper))


@two_thirds
@given(x=columns(("Int64", "float64")), at=cuts(), bounds=BOUNDS, options=OPTIONS)
def test_options(backend, x, at, bounds, options):
    expected = walked(x, storage(x.dtype), *bounds, **options)
    lower, upper = bounds
    for series in (backend.frame(x), partitioned(backend.frame(x), at)):
        (found,) = dask.compute(series.gpuscan.cumsum(lower=lower, upper=upper, **options))
        as_expected(backend.to_pandas(found), expected)


@two_thirds
@given(
    x=columns(("Int64", "float64", "int64[pyarrow]")),
    keys=st.lists(st.sampled_from([1, 2, None]), min_size=24, max_size=24),
    at=cuts(),
    bounds=BOUNDS,
    options=OPTIONS,
    clustered=st.booleans(),
)
def test_groups(backend, x, keys, at, bounds, options, clustered):
    frame = pd.DataFrame({"k": pd.array(keys[: len(x)], "Int64"), "x": x})
    if clustered:
        frame = frame.sort_values("k", kind="stable", ignore_index=True)
    dtype = backend.answer(x, lambda s: s.cumsum()).dtype
    lower, upper = bounds
    expected = pd.Series([None] * len(frame), frame.index, object)
    for _, rows in frame.groupby("k"):
        expected[rows.index] = walked(rows.x, storage(dtype), lower, upper, **options)
    for d in (backend.frame(frame), partitioned(backend.frame(frame), at)):
        groups = d.gpuscan.groupby("k", clustered=clustered)
        (found,) = dask.compute(groups["x"].cumsum(lower=lower, upper=upper, **options))
        as_expected(backend.to_pandas(found), expected)


@pytest.mark.parametrize("dtype", ["int64", "uint64", "Int64", "int64[pyarrow]"])
def test_integers_stop_at_the_ends_of_their_type(backend, dtype):
    least, most = (int(x) for x in (np.iinfo(dtype.split("[")[0].lower()).min, 2**63 - 1))
    most = 2**64 - 1 if dtype == "uint64" else most
    x = pd.Series([most, 5, 3, most], dtype=dtype)
    if least:
        x = pd.Series([most, 5, -3, least, least, least, 2, most], dtype=dtype)
    for at in ([], [0.2, 0.5], [i / 8 for i in range(1, 8)]):
        for bounds in ((0, None), (None, most - 1), (2, most - 7)):
            lazy = partitioned(backend.frame(x), at).gpuscan.cumsum(
                lower=bounds[0], upper=bounds[1]
            )
            as_expected(
                backend.to_pandas(lazy.compute()),
                walked(x, np.dtype(dtype.split("[")[0].lower()), *bounds),
            )


@given(
    items=st.lists(st.sampled_from([0.5, 2.0, -3.0, np.inf, -np.inf, np.nan]), max_size=9),
    at=cuts(),
    bounds=st.sampled_from([(0, None), (None, 3.5), (-2, 5), (1, 1)]),
    dtype=st.sampled_from(["float64", "double[pyarrow]"]),
)
def test_infinite_numbers_are_added_as_in_a_walk(items, at, bounds, dtype):
    x = pd.Series(items, dtype="float64").astype(dtype)
    low = -np.inf if bounds[0] is None else bounds[0]
    high = np.inf if bounds[1] is None else bounds[1]
    total, expected = 0.0, []
    with np.errstate(invalid="ignore"):
        for value in x.astype("float64"):
            if value == value:
                total = total + value
                total = low if total < low else high if total > high else total
            expected.append(total if value == value else np.nan)
    for series in (x, partitioned(x, at)):
        (found,) = dask.compute(series.gpuscan.cumsum(lower=bounds[0], upper=bounds[1]))
        np.testing.assert_array_equal(found.to_numpy("float64", na_value=np.nan), expected)


def test_frames_and_streams():
    frame = pd.DataFrame({"x": [6, 7, -3, -9, 2], "y": [1.5, None, -4.0, 9.0, 0.0]})
    expected = pd.DataFrame({"x": [6, 8, 5, 0, 2], "y": [1.5, None, 0.0, 8.0, 8.0]})
    same(frame.gpuscan.cumsum(lower=0, upper=8), expected)
    parts = [frame[:1], frame[1:1], frame[1:4], frame[4:]]
    stream = dask_gpuscan.stream(parts).gpuscan.cumsum(lower=0, upper=8)
    same(stream.compute(), expected)
    mixed = frame.assign(s="a")
    same(mixed.gpuscan.cumsum(lower=0, upper=8, numeric_only=True), expected)


@pytest.mark.parametrize(
    ("options", "error", "message"),
    [
        ({"lower": 3, "upper": 1}, ValueError, "lower must not be greater than upper, found 3"),
        ({"lower": np.nan}, ValueError, "lower must be a number or None, found NaN"),
        ({"upper": "3"}, TypeError, "upper must be a number or None, found '3'"),
        ({"upper": True}, TypeError, "upper must be a number or None, found True"),
        ({"lower": pd.Timedelta(1)}, TypeError, "lower must be a number or None, found"),
        ({"lower": 0.5}, TypeError, "column 'x': lower must be a number of dtype int64"),
        ({"upper": 2**63}, TypeError, "column 'x': upper must be a number of dtype int64"),
        ({"lower": 0, "reproducible": True}, ValueError, "go with reproducible=False only"),
        ({"lower": 0, "dtype": complex}, TypeError, "answers of complex128 cannot be clamped"),
        ({"lower": 0, "initial": "a"}, TypeError, "initial must be"),
    ],
)
def test_wrong_bounds(options, error, message):
    frame = pd.DataFrame({"k": [1, 1], "x": [1, 2]})
    for d in (frame, dd.from_pandas(frame, npartitions=2)):
        for ask in (d["x"].gpuscan, d.gpuscan.groupby("k")["x"]):
            with pytest.raises(error, match=message):
                ask.cumsum(**options)


@pytest.mark.parametrize(
    "items",
    [
        ["a"],
        [1j],
        [pd.Timedelta(1)],
        pd.array([None, 1], object),
        [pd.Timestamp(0)],
        pd.array(
            [Decimal("1.50")], pd.ArrowDtype(pa.decimal128(9, 2))
        ),  # whose plain sums there are
    ],
)
def test_columns_that_are_not_of_numbers(items):
    frame = pd.DataFrame({"k": 1, "x": items})
    for ask in (frame.gpuscan, frame.gpuscan.groupby("k")):
        with pytest.raises(TypeError, match=r"of column 'x': .*cannot be clamped; cast it"):
            ask.cumsum(lower=0)


def test_infinity_is_no_bound():
    x = pd.Series([1, -5, 3])
    same(x.gpuscan.cumsum(lower=-np.inf, upper=np.inf), x.cumsum())
    assert x.gpuscan.cumsum(lower=0, upper=np.inf).tolist() == [1, 0, 3]
