"""``reproducible=True``: one result for every cut, schedule and backend, which is near plain sums; clear errors."""

import hashlib
from functools import partial

import dask
import dask.array as da
import dask.dataframe as dd
import numpy as np
import pandas as pd
import pyarrow as pa
import pytest
from distributed import Client
from hypothesis import given, settings
from hypothesis import strategies as st

import dask_gpuscan
from dask_gpuscan import add, add_reproducible
from helpers.backends import has_cuda, same
from helpers.strategies import partitioned

MANY = settings.default.max_examples > 100


def numbers(n):
    """Numbers of many sizes, some of them null."""
    rng = np.random.default_rng(5)
    x = rng.standard_normal(n) * np.exp(rng.standard_normal(n) * 5)
    x[rng.random(n) < 0.05] = np.nan
    return x


def frame(n=600):
    rng = np.random.default_rng(1)
    return pd.DataFrame(
        {"k": rng.integers(0, 4, n), "x": numbers(n), "n": rng.integers(-9, 9, n)},
        index=rng.permutation(n),
    )


def digest(frame):
    """A digest of the bits of all columns; those of every NaN are the same."""
    found = hashlib.sha256()
    for column in [frame] if frame.ndim == 1 else [frame[name] for name in frame]:
        values = column.to_numpy()
        if values.dtype.kind == "f":
            values = np.where(np.isnan(values), values.dtype.type(np.nan), values)
        found.update(values.tobytes())
    return found.hexdigest()


SUMS = {
    "cumsum": lambda df, **r: df.gpuscan.cumsum(**r),
    "cumsum of float32": lambda df, **r: df.x.astype("float32").gpuscan.cumsum(**r),
    "cumsum from the end": lambda df, **r: df.gpuscan.cumsum(
        reverse=True, exclusive=True, initial=7, **r
    ),
    "cumsum to the first null": lambda df, **r: df.x.gpuscan.cumsum(skipna=False, **r),
    "expanding sum": lambda df, **r: df.gpuscan.expanding().sum(**r),
    "expanding mean": lambda df, **r: df.gpuscan.expanding(5).mean(**r),
    "rolling sum": lambda df, **r: df.gpuscan.rolling(40, min_periods=1).sum(**r),
    "rolling mean": lambda df, **r: df.gpuscan.rolling(7, center=True).mean(**r),
    "cumsum of groups": lambda df, **r: df.gpuscan.groupby("k").cumsum(**r),
    "sum of groups": lambda df, **r: df.gpuscan.groupby("k").sum(**r),
    "mean of groups": lambda df, **r: df.gpuscan.groupby("k").mean(**r),
    "expanding mean of groups": lambda df, **r: df.gpuscan.groupby("k").expanding().mean(**r),
    "rolling sum of groups": lambda df, **r: df.gpuscan.groupby("k").rolling(9, 1).sum(**r),
}

OPERATORS = {
    "scan": lambda df, op: df.gpuscan.scan(op),
    "scans together": lambda df, op: df.gpuscan.scan(
        {"a": (op, "x * n", "exclusive"), "b": (op, "n")}, where="n > -5"
    ),
    "reduce of groups": lambda df, op: df.gpuscan.groupby("k").reduce(op),
    "rolling scan": lambda df, op: df.gpuscan.rolling(5, min_periods=0).scan(op),
}

CALLS = {name: (partial(call, reproducible=True), call) for name, call in SUMS.items()}
CALLS |= {
    name: (partial(call, op=add_reproducible), partial(call, op=add))
    for name, call in OPERATORS.items()
}

FEW = (
    "cumsum",
    "cumsum of float32",
    "expanding mean",
    "rolling sum",
    "cumsum of groups",
    "mean of groups",
    "scans together",
)


@pytest.mark.sampled(2)
@pytest.mark.parametrize("name", CALLS if MANY or has_cuda() else FEW)
def test_neither_partitions_nor_backends_change_bits(backend, name):
    call, plain = CALLS[name]
    df = frame()
    expected = call(df)
    found = backend.to_pandas(call(backend.frame(df)))
    assert digest(found) == digest(expected)
    near = plain(df)
    pd.testing.assert_frame_equal(
        pd.DataFrame(expected), pd.DataFrame(near), rtol=1e-5, atol=1e-9 * np.nanmax(abs(df.x))
    )
    for at in ([300], [0, 1, 2, 2, 599, 600]):
        cut = call(partitioned(backend.frame(df), at)).compute()
        assert digest(backend.to_pandas(cut)) == digest(expected)


def test_clustered_groups(backend):
    df = frame().sort_values("k", kind="stable")
    groups = [
        obj.gpuscan.groupby("k", clustered=True)
        for obj in (df, partitioned(backend.frame(df), [1, 200, 590]))
    ]
    for call in (
        lambda g: g["x"].mean(reproducible=True),
        lambda g: g["x"].cumsum(reproducible=True),
    ):
        assert digest(call(groups[0])) == digest(backend.to_pandas(call(groups[1]).compute()))


def test_a_long_column_has_one_digest(backend):
    """Cut at random, in turns on one thread, on many and on two workers."""
    rows, ways = (1_000_000, 200) if MANY else (20_000, 9)
    rng = np.random.default_rng(3)
    df = pd.DataFrame({"k": rng.integers(0, 9, rows), "x": numbers(rows)})
    whole = backend.frame(df)

    def results(obj):
        return obj.x.gpuscan.cumsum(reproducible=True), obj.gpuscan.groupby("k").x.sum(
            reproducible=True
        )

    expected = [digest(r) for r in results(df)]
    assert [digest(backend.to_pandas(r)) for r in results(whole)] == expected
    with Client(n_workers=2, threads_per_worker=2, processes=False, dashboard_address=None) as two:
        for way in range(ways):
            at = np.sort(rng.integers(0, rows + 1, rng.integers(1, 40 if MANY else 8)))
            lazy = results(partitioned(whole, at.tolist()))
            scheduler = ("synchronous", "threads", two)[way % 3]
            found = dask.compute(*lazy, scheduler=scheduler)
            assert [digest(backend.to_pandas(r)) for r in found] == expected, (way, at)


def test_groups_take_rows_in_any_order(backend):
    df = frame()
    expected = df.gpuscan.groupby("k").sum(reproducible=True)
    for seed in range(3):
        mixed = df.sample(frac=1, random_state=seed)
        found = backend.frame(mixed).gpuscan.groupby("k").sum(reproducible=True)
        assert digest(backend.to_pandas(found)) == digest(expected)


@pytest.mark.sampled(2)
@pytest.mark.parametrize("dtype", ["int8", "double[pyarrow]", "timedelta64[ns]"])
def test_dtypes_are_those_of_plain_sums(backend, dtype):
    if backend.name == "cuda" and dtype == "timedelta64[ns]":
        pytest.skip("cuDF has no cumsum of durations")
    x = backend.frame(pd.Series([1, 0, 1, 1], name="x").astype(dtype))
    df = x.to_frame().assign(k=[1, 1, 2, 2])
    same(
        backend.to_pandas(x.gpuscan.cumsum(reproducible=True)),
        backend.to_pandas(x.gpuscan.cumsum()),
    )
    groups = df.gpuscan.groupby("k", clustered=True)
    for name in ("sum", "cumsum"):
        found, plain = getattr(groups, name)(reproducible=True), getattr(groups, name)()
        same(backend.to_pandas(found), backend.to_pandas(plain))


def test_integers_wrap_around_as_ever(backend):
    x = backend.frame(pd.Series([2**62 + 1, 2**62 + 1]))
    found = backend.to_pandas(x.gpuscan.cumsum(reproducible=True))
    same(found, pd.Series([2**62 + 1, -(2**63) + 2]))
    same(backend.to_pandas(x.gpuscan.scan(add_reproducible)), found)


def test_signs_of_zeros_are_those_of_plain_sums(backend):
    x = pd.Series([-0.0, -0.0, np.nan, -0.0, 0.0, -0.0])
    for series in (backend.frame(x), partitioned(backend.frame(x), [1, 3])):
        for options in ({}, {"exclusive": True}, {"initial": -0.0}, {"reverse": True}):
            found = series.gpuscan.cumsum(reproducible=True, **options)
            plain = series.gpuscan.cumsum(**options)
            if hasattr(found, "compute"):
                found, plain = found.compute(), plain.compute()
            assert digest(backend.to_pandas(found)) == digest(backend.to_pandas(plain))


def test_empty_frames(backend):
    x = backend.frame(pd.DataFrame({"k": np.array([], "i8"), "x": np.array([], "f8")}))
    assert len(x.gpuscan.cumsum(reproducible=True)) == 0
    assert len(x.gpuscan.groupby("k").sum(reproducible=True)) == 0


@given(chunks=st.integers(1, 400), axis=st.sampled_from([None, 0, 1]))
def test_arrays(backend, chunks, axis):
    x = np.nan_to_num(numbers(600)).reshape(20, 30)
    found = dask_gpuscan.cumsum(backend.array(x), axis=axis, reproducible=True)
    expected = dask_gpuscan.cumsum(x, axis=axis, reproducible=True)
    assert backend.to_numpy(found).tobytes() == np.ascontiguousarray(expected).tobytes()
    np.testing.assert_allclose(expected, np.cumsum(x, axis=axis), atol=1e-9 * abs(x).max())
    lazy = da.from_array(backend.array(x), chunks=(max(chunks // 30, 1), min(chunks, 30)))
    cut = dask_gpuscan.cumsum(lazy, axis=axis, reproducible=True).compute()
    assert np.ascontiguousarray(backend.to_numpy(cut)).tobytes() == expected.tobytes()


@pytest.mark.parametrize("dtype", ["f4", "i4", "m8[s]"])
def test_dtypes_of_arrays(dtype):
    x = np.array([1, 0, 1]).astype(dtype)
    found, plain = dask_gpuscan.cumsum(x, reproducible=True), dask_gpuscan.cumsum(x)
    assert found.dtype == plain.dtype
    np.testing.assert_array_equal(found, plain)


def test_arrow_keeps_its_nulls():
    found = dask_gpuscan.cumsum(pa.array([1e17, None, 1.0, -1e17]), reproducible=True)
    assert found.to_pylist() == [1e17, None, 1e17, 1.0]


@pytest.mark.parametrize(
    ("call", "error", "message"),
    [
        (lambda df: df.gpuscan.cumsum(reproducible="yes"), ValueError, "reproducible must be True"),
        (lambda df: df.gpuscan.groupby("k").sum(reproducible=1), ValueError, "reproducible must"),
        (lambda df: df.gpuscan.rolling(2).mean(reproducible=None), ValueError, "reproducible must"),
        (lambda df: dask_gpuscan.cumsum(df.x.to_numpy(), reproducible=2), ValueError, "must be"),
        (lambda df: df.gpuscan.cumsum(axis=1, reproducible=True), ValueError, "axis=1"),
        (
            lambda df: dask_gpuscan.cummax(df.x, reproducible=True),
            TypeError,
            "found 'reproducible'",
        ),
        (lambda df: df.gpuscan.ewm(span=2).mean(reproducible=True), TypeError, "reproducible"),
    ],
)
@pytest.mark.parametrize("lazy", [False, True])
def test_wrong_arguments(call, error, message, lazy):
    df = frame(9)
    if lazy and message == "must be":
        return
    with pytest.raises(error, match=message):
        call(dd.from_pandas(df, npartitions=2, sort=False) if lazy else df)


@pytest.mark.parametrize("dtype", ["complex128", "object", "longdouble"])
def test_columns_without_reproducible_sums_are_named(dtype):
    df = pd.DataFrame({"k": [1, 1], "z": pd.Series([1, 2]).astype(dtype)})
    for obj in (df, dd.from_pandas(df, npartitions=2)):
        with pytest.raises(TypeError, match="column 'z'"):
            obj.gpuscan.cumsum(reproducible=True)
        with pytest.raises(TypeError, match="column 'z'"):
            obj.gpuscan.groupby("k").sum(reproducible=True)


def test_strings_are_joined_as_ever():
    x = pd.Series(["a", "b"])
    assert x.gpuscan.cumsum(reproducible=True).tolist() == ["a", "ab"]
