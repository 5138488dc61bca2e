"""The array functions on NumPy, CuPy, Dask and Arrow data."""

import dask
import dask.array as da
import numpy as np
import pandas as pd
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp
from numpy.exceptions import AxisError

import dask_gpuscan
from dask_gpuscan import affine, maximum, operator, segmented
from helpers.asked import computed

FUNCTIONS = {"cumsum": np.add, "cumprod": np.multiply, "cummax": np.maximum, "cummin": np.minimum}
arrays = hnp.arrays(
    st.sampled_from([np.int64, np.int8, np.bool_]),
    hnp.array_shapes(min_dims=1, max_dims=3, min_side=0, max_side=7),
    elements=st.integers(0, 1),
)


@given(
    x=arrays,
    name=st.sampled_from(list(FUNCTIONS)),
    axis=st.integers(-3, 2),
    chunks=st.integers(1, 4),
)
def test_as_numpy_on_any_axis(backend, x, name, axis, chunks):
    ufunc, function = FUNCTIONS[name], getattr(dask_gpuscan, name)
    axis = axis % x.ndim
    expected = ufunc.accumulate(x, axis=axis)
    if name == "cumprod" and x.dtype == bool:
        expected = np.cumprod(x, axis=axis)  # np.multiply.accumulate keeps bool
    if name == "cumsum" and x.dtype == bool:
        expected = np.cumsum(x, axis=axis)
    for options in ({}, {"reverse": True}):
        order = -1 if options else 1
        there = np.flip(x, axis) if options else x
        answer = ufunc.accumulate(there, axis=axis)
        if x.dtype == bool and name in ("cumsum", "cumprod"):
            answer = getattr(np, name)(there, axis=axis)
        answer = np.flip(answer, axis) if order < 0 else answer
        array = backend.array(x)
        out = function(array, axis=axis, **options)
        assert type(out) is type(array)
        assert out.dtype == expected.dtype
        np.testing.assert_array_equal(backend.to_numpy(out), answer)
        lazy = function(blocks(array, chunks), axis=axis, **options)
        assert lazy.dtype == expected.dtype
        assert lazy.shape == x.shape
        assert type(lazy._meta) is type(array)
        computed = lazy.compute(scheduler="sync")
        np.testing.assert_array_equal(backend.to_numpy(computed), answer)


def blocks(array, chunks):
    """The array as a Dask array whose blocks are of its own kind."""
    return da.from_array(array, chunks=chunks, asarray=False)


@given(x=arrays)
def test_axis_none_flattens(backend, x):
    array = backend.array(x)
    np.testing.assert_array_equal(backend.to_numpy(dask_gpuscan.cumsum(array)), np.cumsum(x))
    if not x.size:
        return  # Dask cannot ravel it
    lazy = dask_gpuscan.cumsum(blocks(array, 2))
    out = backend.to_numpy(lazy.compute(scheduler="sync"))
    np.testing.assert_array_equal(out, np.cumsum(x))


def test_initial_and_exclusive_over_blocks(backend):
    x = np.arange(24).reshape(4, 6)
    array = backend.array(x)
    for axis in (0, 1):
        expected = np.cumsum(x, axis) - x + 7
        for y in (array, blocks(array, (2, 4))):
            (out,) = dask.compute(dask_gpuscan.cumsum(y, axis=axis, exclusive=True, initial=7))
            np.testing.assert_array_equal(backend.to_numpy(out), expected)


def test_operators_of_several_arrays(backend):
    a, b = backend.array(np.full(9, 0.5)), backend.array(np.arange(9.0))
    out = backend.to_numpy(dask_gpuscan.scan((a, b), affine))
    y, plain = 0.0, []
    for offset in range(9):
        y = 0.5 * y + offset
        plain.append(y)
    np.testing.assert_allclose(out, plain)
    lazy = dask_gpuscan.scan((blocks(a, 2), blocks(b, 3)), affine, axis=0)
    np.testing.assert_allclose(backend.to_numpy(lazy.compute()), plain)
    started = dask_gpuscan.scan((blocks(a, 2), blocks(b, 2)), affine, initial=(1.0, 4.0))
    np.testing.assert_allclose(backend.to_numpy(started.compute())[0], 2.0)


def test_tuple_outputs(backend):
    extremes = operator(
        lambda a, b: (min(a[0], b[0]), max(a[1], b[1])),
        identity=(np.inf, -np.inf),
        lift=lambda x: (x, x),
    )
    low, high = dask_gpuscan.scan(backend.array(np.array([2.0, 1.0, 3.0])), extremes)
    np.testing.assert_array_equal(backend.to_numpy(low), [2, 1, 1])
    np.testing.assert_array_equal(backend.to_numpy(high), [2, 2, 3])
    with pytest.raises(TypeError, match="no lower"):
        dask_gpuscan.scan(da.ones(3), extremes)


@pytest.mark.parametrize("method", ["cumsum", "cumprod", "cummax"])
def test_half_floats_stay_half_floats(backend, method):
    x = np.array([[2048, 1, 1, 0.5], [2, 1, -3, 4]], np.float16)
    whole = {"cumsum": np.cumsum, "cumprod": np.cumprod, "cummax": np.maximum.accumulate}[method]
    expected = whole(x.astype(np.float32), 1).astype(np.float16)  # 2048 + 1 is none
    for array in (backend.array(x), blocks(backend.array(x), (1, 2))):
        out = getattr(dask_gpuscan, method)(array, axis=1)
        assert out.dtype == np.float16
        np.testing.assert_array_equal(backend.to_numpy(computed(out)), expected)
        wide = getattr(dask_gpuscan, method)(array, axis=1, dtype="float64", initial=1)
        assert wide.dtype == np.float64
    half = dask_gpuscan.cumsum(backend.array(np.arange(5)), dtype=np.float16)
    np.testing.assert_array_equal(backend.to_numpy(half), np.array([0, 1, 3, 6, 10], np.float16))
    assert half.dtype == np.float16


@pytest.mark.parametrize("dtype", ["M8[ns]", "m8[s]"])
def test_times_in_the_order_of_bytes_of_other_machines_are_refused(dtype):
    swapped = np.array([1, 256], dtype).astype(np.dtype(dtype).newbyteorder("S"))
    for name in ("cummax", "ffill"):
        for array in (swapped, da.from_array(swapped, chunks=1)):
            with pytest.raises(
                TypeError, match=r"the kernels do not take arrays of dtype .*astype"
            ):
                getattr(dask_gpuscan, name)(array)


def test_complex_numbers(backend):
    x = (np.arange(1, 13) + 1j * np.arange(12)).reshape(2, 6) / 8
    for axis in (0, 1):
        for array in (backend.array(x), blocks(backend.array(x), (1, 4))):
            for method, whole in (("cumsum", np.cumsum), ("cumprod", np.cumprod)):
                out = getattr(dask_gpuscan, method)(array, axis=axis)
                assert out.dtype == x.dtype
                (out,) = dask.compute(out)
                np.testing.assert_allclose(backend.to_numpy(out), whole(x, axis), rtol=1e-5)


def test_arrow_strings():
    texts = pa.array(["b", None, "a", "c"])
    assert dask_gpuscan.cumsum(texts).equals(pa.array(["b", None, "ba", "bac"]))
    assert dask_gpuscan.cummin(texts[1:]).equals(pa.array([None, "a", "a"]))
    chunked = pa.chunked_array([texts, texts[:0]]).cast(pa.large_string())
    assert dask_gpuscan.cummax(chunked).to_pylist() == ["b", None, "b", "c"]
    assert dask_gpuscan.cummax(chunked).type == pa.large_string()
    for method in ("cumsum", "cummax"):
        assert getattr(dask_gpuscan, method)(texts[:0]).equals(texts[:0])


def test_graph_of_dask_arrays():
    x = da.ones((40, 40), chunks=10)
    out = dask_gpuscan.cumsum(x, axis=0)
    assert out.chunks == x.chunks
    assert out.name == dask_gpuscan.cumsum(x, axis=0).name
    assert out.name != dask_gpuscan.cumsum(x, axis=1).name
    assert len(out.__dask_graph__()) <= 16 + 2 * 16 + 4 + 2
    np.testing.assert_array_equal(out[:, 15:17].compute(), np.cumsum(np.ones((40, 2)), 0))


@pytest.mark.parametrize(
    "kind", [pa.int64(), pa.int8(), pa.float64(), pa.duration("ns"), pa.date32()]
)
def test_arrow_goes_in_and_comes_out(kind):
    array = pa.array([1, None, 3, 2, None], pa.int32()).cast(pa.int64())
    array = array.cast(pa.int32()).cast(kind) if pa.types.is_date(kind) else array.cast(kind)
    expected = pd.Series(array, dtype=pd.ArrowDtype(kind)).cummax()
    for data in (array, array.slice(1), pa.chunked_array([array.slice(0, 2), array.slice(2)])):
        out = dask_gpuscan.cummax(data)
        assert type(out) is type(data)
        assert out.type == kind
        assert len(out) == len(data)
    assert dask_gpuscan.cummax(array).to_pylist() == pa.array(expected).to_pylist()
    assert dask_gpuscan.scan(array.slice(2), maximum).to_pylist() == array.slice(
        2, 1
    ).to_pylist() * 2 + [None]


def test_arrow_bitmap_at_any_offset():
    rng = np.random.default_rng(0)
    valid = rng.random(1000) < 0.7
    array = pa.array(rng.integers(0, 9, 1000), mask=~valid)
    for offset in range(20):
        piece = array.slice(offset, 500)
        expected = pd.Series(piece.to_pandas(types_mapper=pd.ArrowDtype)).cumsum()
        assert dask_gpuscan.cumsum(piece).to_pylist() == [
            None if pd.isna(v) else v for v in expected
        ]


class Exported:
    """Someone else's array, known by its Arrow protocol alone."""

    def __init__(self, array):
        self._array = array

    def __arrow_c_array__(self, requested_schema=None):
        return self._array.__arrow_c_array__(requested_schema)


def test_anything_with_an_arrow_protocol():
    out = dask_gpuscan.cumsum(Exported(pa.array([1, 2, None])))
    assert isinstance(out, pa.Array)
    assert out.to_pylist() == [1, 3, None]
    polars = pytest.importorskip("polars")
    out = dask_gpuscan.cumsum(polars.Series([1.5, None, 2.5]))
    assert isinstance(out, polars.Series)
    assert out.to_list() == [1.5, None, 4.0]


def test_frames_are_passed_on():
    frame = pd.DataFrame({"x": [1, 2, 3]})
    pd.testing.assert_frame_equal(dask_gpuscan.cumsum(frame), frame.cumsum())
    pd.testing.assert_series_equal(dask_gpuscan.cumprod(frame.x, axis=0), frame.x.cumprod())


@pytest.mark.parametrize(
    ("x", "options", "error", "message"),
    [
        ([1, 2], {}, TypeError, "x must be an array"),
        (np.ones(3), {"axis": 1}, AxisError, "axis must be from -1 to 0"),
        (np.array(["a"]), {}, TypeError, "dtype"),
        (pa.array([["a"]]), {}, TypeError, "list"),
        (pa.array([1]), {"axis": 1}, AxisError, "axis must be from -1 to 0"),
        (np.ones(3), {"reverse": "no"}, ValueError, "reverse must be True or False"),
        (np.ones(3), {"initial": np.ones(3)}, TypeError, "initial must be a scalar"),
        (np.ones(3, ">f8"), {}, TypeError, "cast them with astype"),
        (np.array(1.0), {}, ValueError, "at least one dimension"),
        (np.ma.array([1, 2], mask=[0, 1]), {}, TypeError, "masked array"),
        (da.ma.masked_array(da.ones(3), mask=[0, 1, 0]), {}, TypeError, "masked array"),
        (da.from_array(np.array([{}], object), chunks=1), {}, TypeError, "dtype"),
        (np.ones(3), {"initial": "a"}, TypeError, "initial must be float64"),
        (da.ones(3), {"initial": (1, 2)}, TypeError, "initial must be float64"),
        (da.ones(3), {"axis": "x"}, ValueError, "axis must be"),
        (da.ones((3, 3)), {"axis": -3}, AxisError, "axis must be from -2 to 1"),
        ((np.ones(3), np.ones(3)), {}, TypeError, "takes 1 arrays"),
    ],
)
def test_bad_input(x, options, error, message):
    with pytest.raises(error, match=message):
        dask_gpuscan.cumsum(x, **options)


def test_arrays_of_two_shapes():
    with pytest.raises(ValueError, match="one shape"):
        dask_gpuscan.scan((da.ones(3), da.ones(4)), affine)


def test_products_do_not_overflow_on_the_way(backend):
    x = np.r_[0.0, np.full(5000, 10.0), np.full(300, 0.1)].reshape(1, -1)
    array = backend.array(x)
    for y in (array, blocks(array, (1, 700))):
        (out,) = dask.compute(dask_gpuscan.cumprod(y, axis=1))
        np.testing.assert_array_equal(backend.to_numpy(out), 0 * x)
    x = np.array([1e-200, 1e200, 1e200, 1e-100])
    lazy = dask_gpuscan.cumprod(blocks(backend.array(x), ((1, 2, 1),)), initial=2.0)
    np.testing.assert_allclose(backend.to_numpy(lazy.compute()), 2 * np.cumprod(x))


def test_slopes_do_not_overflow_on_the_way(backend):
    n = 50_000
    slopes, offsets = backend.array(np.full(n, 2.0)), backend.array(np.zeros(n))
    out = dask_gpuscan.scan((slopes, offsets), affine)
    np.testing.assert_array_equal(backend.to_numpy(out), np.zeros(n))


def test_segmented_rows_of_a_matrix():
    heads = np.zeros((3, 4), bool)
    heads[:, 2] = True
    out = dask_gpuscan.scan((heads, np.ones((3, 4))), segmented(dask_gpuscan.add), axis=1)
    np.testing.assert_array_equal(out, [[1, 2, 1, 2]] * 3)


@pytest.mark.parametrize("dtype", ["f8", "c16"])
def test_zeros_keep_their_sign(backend, dtype):
    x = np.full((3, 9), -0.0, dtype)
    x[1, 4] = 0.0
    for axis in (0, 1):
        for y in (backend.array(x), blocks(backend.array(x), (2, 4))):
            (found, exclusive) = dask.compute(
                dask_gpuscan.cumsum(y, axis=axis), dask_gpuscan.cumsum(y, axis=axis, exclusive=True)
            )
            expected = np.signbit(np.cumsum(x, axis=axis).real)
            np.testing.assert_array_equal(np.signbit(backend.to_numpy(found).real), expected)
            assert not np.signbit(backend.to_numpy(exclusive).real).any()


def in_lines(name, x, axis, limit):
    """What pandas fills, line by line."""
    return np.apply_along_axis(
        lambda line: getattr(pd.Series(line), name)(limit=limit).to_numpy(), axis, x
    )


@pytest.mark.sampled(3)
@pytest.mark.parametrize(
    ("name", "dtype"), [("ffill", "f4"), ("ffill", "M8[ns]"), ("bfill", "f8"), ("bfill", "m8[s]")]
)
def test_fills_along_an_axis(backend, name, dtype):
    if not backend.holds(dtype):
        pytest.skip(f"there are no arrays of {dtype}")
    rng = np.random.default_rng(0)
    x = rng.integers(0, 9, (3, 7, 4)).astype(dtype)
    x[rng.random(x.shape) < 0.6] = np.array("NaT", dtype) if dtype[0] in "mM" else np.nan
    for axis, limit in ((0, None), (1, 1), (1, 2), (-1, None)):
        expected = in_lines(name, x, axis, limit).astype(dtype)
        for y in (backend.array(x), blocks(backend.array(x), (2, 2, 3))):
            out = getattr(dask_gpuscan, name)(y, axis, limit=limit)
            assert type(out) is type(y)
            assert out.dtype == dtype
            np.testing.assert_array_equal(backend.to_numpy(computed(out)), expected)


def test_fills_of_what_has_no_axis(backend):
    x = backend.array(np.array([1, 2, 3]))
    for y in (x, blocks(x, 2)):
        np.testing.assert_array_equal(backend.to_numpy(computed(dask_gpuscan.ffill(y))), [1, 2, 3])
    assert dask_gpuscan.ffill(pa.array([1, None])).to_pylist() == [1, 1]
    s = pd.Series([None, "a", None])
    pd.testing.assert_series_equal(dask_gpuscan.bfill(s, limit=1), s.bfill(limit=1))
    for wrong, error, message in (
        (np.array([None]), TypeError, "object"),
        ([1.0], TypeError, "x must be"),
        (np.ones((2, 2)), ValueError, "axis must be from -2 to 1"),
        (np.ma.array([1.0]), TypeError, "masked"),
    ):
        with pytest.raises(error, match=message):
            dask_gpuscan.ffill(wrong)
    with pytest.raises(ValueError, match="limit must be"):
        dask_gpuscan.ffill(x, limit=0)


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("cumsum", [0, 2, 2, 1, 1]),
        ("cumprod", [1, 2, 2, -2, -2]),
        ("cummax", [np.nan, 2, 2, 2, 2]),
        ("cummin", [np.nan, 2, 2, -1, -1]),
    ],
)
def test_nan_is_passed_over_if_asked(backend, name, expected):
    x = np.array([np.nan, 2, np.nan, -1, np.nan])
    function = getattr(dask_gpuscan, name)
    for y in (backend.array(x), blocks(backend.array(x), 2)):
        passed, kept = dask.compute(function(y, skipna=True), function(y))
        np.testing.assert_array_equal(backend.to_numpy(passed), expected)
        np.testing.assert_array_equal(backend.to_numpy(kept), np.full(5, np.nan))
    assert dask_gpuscan.scan(pa.array([1, None, 2]), dask_gpuscan.add).to_pylist() == [1, None, 3]
    answer = dask_gpuscan.scan(pa.array([1, None, 2]), dask_gpuscan.add, skipna=False)
    assert answer.to_pylist() == [1, None, None]


def test_times_in_arrays():
    x = np.array(["NaT", 3, "NaT", 1], "m8[s]")
    for y in (x, da.from_array(x, chunks=1)):
        for options, expected in (
            ({"skipna": True}, [0, 3, 3, 4]),
            ({"skipna": True, "initial": np.timedelta64(1, "m")}, [60, 63, 63, 64]),
            ({}, ["NaT"] * 4),
        ):
            (out,) = dask.compute(dask_gpuscan.cumsum(y, **options))
            np.testing.assert_array_equal(out, np.array(expected, "m8[s]"))
        (out,) = dask.compute(dask_gpuscan.cummin(y, skipna=True))
        np.testing.assert_array_equal(out, np.array(["NaT", 3, 3, 1], "m8[s]"))
        (out,) = dask.compute(dask_gpuscan.cummax(y[1:], reverse=True))
        np.testing.assert_array_equal(out, np.array(["NaT", "NaT", 1], "m8[s]"))
    for wrong, options, message in (
        (x.view("M8[s]"), {}, "add is not defined for datetime64"),
        (x, {"dtype": "f8"}, "dtype=float64 cannot be asked for an array of timedelta64"),
        (x, {"initial": 1}, "initial must be timedelta64"),
    ):
        with pytest.raises(TypeError, match=message):
            dask_gpuscan.cumsum(wrong, **options)


def test_arrays_without_elements_in_chunks():
    x = da.zeros((0, 3), chunks=((0,), (2, 1)))
    for name in FUNCTIONS:
        found = getattr(dask_gpuscan, name)(x)
        assert found.shape == found.compute().shape == (0,)


@pytest.mark.parametrize("name", ["cummax", "cummin"])
def test_nothing_comes_before_the_first_time(name):
    times = np.array(["2020", "NaT", "2021"], "M8[D]")
    for skipna, third in ((False, "NaT"), (True, "2020-01-01")):
        expected = np.array(["NaT", "2020-01-01", third], "M8[D]")
        for each in (times, da.from_array(times, chunks=1)):
            found = getattr(dask_gpuscan, name)(each, exclusive=True, skipna=skipna)
            np.testing.assert_array_equal(np.asarray(found), expected)


@pytest.mark.sampled(2)
@pytest.mark.parametrize(
    ("name", "dtype"), [("cummax", "f2"), ("cummin", "f4"), ("cummax", "f8"), ("cummin", "f8")]
)
def test_nothing_comes_before_the_first_number(name, dtype):
    worst = -np.inf if name == "cummax" else np.inf
    numbers = np.array([worst, 2, np.nan, 1], dtype)
    for skipna, fourth in ((False, np.nan), (True, 2)):
        expected = np.array([np.nan, worst, 2, fourth], dtype)
        for each in (numbers, *(da.from_array(numbers, chunks=size) for size in (1, 3))):
            found = np.asarray(getattr(dask_gpuscan, name)(each, exclusive=True, skipna=skipna))
            assert found.dtype == dtype
            np.testing.assert_array_equal(found, expected)
        begun = getattr(dask_gpuscan, name)(numbers, exclusive=True, skipna=skipna, initial=0.5)
        assert begun[0] == 0.5
