"""Summed-area tables, sums of boxes and means of boxes, of NumPy, CuPy and Dask arrays."""

import math
from fractions import Fraction

import dask.array as da
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

import dask_gpuscan
from dask_gpuscan import box_filter, summed_area_table, window_sum

ndimage = pytest.importorskip("scipy.ndimage")

MODES = ("reflect", "mirror", "nearest", "wrap", "constant")
shapes = hnp.array_shapes(min_dims=1, max_dims=3, min_side=0, max_side=9)
integers = hnp.arrays(
    st.sampled_from([np.int64, np.uint8, np.bool_]), shapes, elements=st.integers(0, 1)
).flatmap(lambda x: st.sampled_from([x, x * np.array(99, x.dtype)]))


def blocks(array, chunks):
    """The array as a Dask array whose blocks are of its own kind."""
    return da.from_array(array, chunks=chunks, asarray=False)


def chosen_axes(draw, ndim):
    return tuple(
        draw(st.lists(st.integers(-ndim, ndim - 1), min_size=1, unique_by=lambda a: a % ndim))
    )


def table_of(x, axes):
    for axis in axes:
        x = np.cumsum(x, axis)
    return x


@given(data=st.data(), x=integers, chunks=st.integers(1, 4), layout=st.sampled_from("CFS"))
def test_tables_are_running_sums_along_each_axis(backend, data, x, chunks, layout):
    axes = chosen_axes(data.draw, x.ndim)
    expected = table_of(x, axes)
    array = backend.array(x[..., ::-1] if layout == "S" else np.asarray(x, order=layout))
    array = array[..., ::-1] if layout == "S" else array
    for out in (summed_area_table(array, axes), dask_gpuscan.cumsum(array, axis=axes)):
        assert type(out) is type(array)
        assert out.dtype == expected.dtype
        np.testing.assert_array_equal(backend.to_numpy(out), expected)
    lazy = summed_area_table(blocks(array, chunks), axes)
    assert lazy.dtype == expected.dtype
    assert type(lazy._meta) is type(array)
    np.testing.assert_array_equal(backend.to_numpy(lazy.compute()), expected)


def test_nan_is_a_number(backend):
    x = np.ones((5, 6))
    x[1, 2], x[3, 0] = np.nan, np.inf
    for axes in (None, (0, 1), (1,), (0,)):
        expected = table_of(x, (0, 1) if axes is None else axes)
        for chunks in (1, 2, 6, (5, 2), ((0, 3, 2), (2, 0, 4))):
            lazy = summed_area_table(blocks(backend.array(x), chunks), axes)
            np.testing.assert_array_equal(backend.to_numpy(lazy.compute()), expected)


@pytest.mark.sampled(2)
@pytest.mark.parametrize(
    ("dtype", "asked", "answer"),
    [
        ("f4", None, "f8"),
        ("f2", None, "f8"),
        ("f8", "f4", "f4"),
        ("c8", None, "c16"),
        ("u2", None, "u8"),
        ("?", "i4", "i4"),
        ("i1", "f4", "f4"),
    ],
)
def test_dtypes_of_tables(backend, dtype, asked, answer):
    rng = np.random.default_rng(0)
    x = (rng.random((3, 30, 1500)) * 3).astype(dtype)
    if np.dtype(dtype).kind == "c":
        x = x + 1j * rng.random(x.shape).astype("f4")
        x = x.astype(dtype)
    wide = np.dtype(answer).kind + ("16" if np.dtype(answer).kind == "c" else "8")
    exact = table_of(x.astype(wide), (1, 2)).astype(answer)
    for array in (backend.array(x), blocks(backend.array(x), (2, 20, 600))):
        (out,) = da.compute(summed_area_table(array, (1, 2), dtype=asked))
        assert out.dtype == answer
        rtol = 3e-7 if out.dtype.itemsize == np.dtype(wide).itemsize // 2 else 1e-14
        np.testing.assert_allclose(backend.to_numpy(out), exact, rtol=rtol)


@pytest.mark.parametrize("shape", [(1, 5), (300, 2), (5, 64, 257), (97, 6001), (4, 200, 1500)])
def test_tables_of_all_sizes(backend, shape):
    x = np.random.default_rng(1).integers(-99, 99, shape, dtype=np.int32)
    out = summed_area_table(backend.array(x), (-2, -1))
    np.testing.assert_array_equal(backend.to_numpy(out), table_of(x, (-2, -1)))


def test_integers_wrap_around(backend):
    x = backend.array(np.full((3, 4), 2**62))
    assert backend.to_numpy(summed_area_table(x))[-1, -1] == 12 * 2**62 % 2**64
    again = window_sum(summed_area_table(x), [2, 3, 3, 4])
    assert int(again) == 2**62


@pytest.mark.parametrize("dtype", ["f4", "f8"])
def test_the_far_corner_is_not_lost(backend, dtype):
    x = np.random.default_rng(2).random((300, 5000)).astype(dtype) + np.asarray(3, dtype)
    total = math.fsum(x.ravel().tolist())
    for array in (backend.array(x), blocks(backend.array(x), (200, 2256))):
        table = summed_area_table(array)
        (corner, box) = da.compute(table[-1, -1], window_sum(table, [250, 4800, 253, 4805]))
        assert abs(float(corner) - total) <= 5300 * 1.1e-16 * total
        assert abs(float(box) - math.fsum(x[250:253, 4800:4805].ravel().tolist())) <= 1e-12 * total
    (narrow,) = da.compute(summed_area_table(backend.array(x), dtype="f4")[-1, -1])
    assert abs(float(narrow) - total) <= 6e-8 * total


def test_tables_have_the_same_bits_each_time(backend):
    x = backend.array(np.random.default_rng(3).random((300, 6000)))
    first = backend.to_numpy(summed_area_table(x))
    for _ in range(3):
        np.testing.assert_array_equal(backend.to_numpy(summed_area_table(x)), first)


# --- sums of boxes --------------------------------------------------------------------------------


@given(data=st.data(), x=integers, chunks=st.integers(1, 4), form=st.integers(0, 2))
def test_sums_of_boxes(backend, data, x, chunks, form):
    axes = chosen_axes(data.draw, x.ndim)
    axes = tuple(a % x.ndim for a in axes)
    bound = st.tuples(*(st.tuples(*[st.integers(0, x.shape[a])] * 2).map(sorted) for a in axes))
    drawn = data.draw(st.lists(bound, max_size=5))
    boxes = np.array(drawn, np.int64).reshape(-1, len(axes), 2)
    lows, highs = boxes[..., 0], boxes[..., 1]
    given = [np.concatenate([lows, highs], 1), np.stack([lows, highs], 1), (lows, highs)][form]
    others = [a for a in range(x.ndim) if a not in axes]
    turned = x.transpose(*others, *axes)
    shape = (*(x.shape[a] for a in others), len(boxes))
    expected = np.zeros(shape, summed_area_table(x).dtype)
    for i, (low, high) in enumerate(zip(lows, highs, strict=True)):
        inside = turned[(..., *map(slice, low, high))]
        expected[..., i] = inside.sum(axis=tuple(range(-len(axes), 0)))
    array = backend.array(x)
    table = summed_area_table(array, axes)
    out = window_sum(table, given, axes)
    assert type(out) is type(array)
    assert out.dtype == expected.dtype
    np.testing.assert_array_equal(backend.to_numpy(out), expected)
    lazy = window_sum(summed_area_table(blocks(array, chunks), axes), given, axes)
    assert lazy.dtype == expected.dtype
    assert lazy.shape == expected.shape
    np.testing.assert_array_equal(backend.to_numpy(lazy.compute()), expected)


def test_one_box_and_none(backend):
    x = np.arange(60).reshape(3, 4, 5)
    table = summed_area_table(backend.array(x), (0, 2))
    one = window_sum(table, (1, 2, 3, 4), (0, 2))
    np.testing.assert_array_equal(backend.to_numpy(one), x[1:3, :, 2:4].sum((0, 2)))
    assert window_sum(table, [], (0, 2)).shape == (4, 0)
    swapped = window_sum(table, (2, 1, 4, 3), (2, 0))
    np.testing.assert_array_equal(backend.to_numpy(swapped), backend.to_numpy(one))


def test_boxes_that_are_empty_are_zero_whatever_rounds():
    table = summed_area_table(np.random.default_rng(0).standard_normal((40, 50)) * 1e9)
    at = np.random.default_rng(1).integers(0, 40, (100, 2, 2))
    at.sort(axis=1)
    for axis in (0, 1):
        empty = at.copy()
        empty[:, 1, axis] = empty[:, 0, axis]
        assert (window_sum(table, empty) == 0).all()


@pytest.mark.parametrize(
    ("boxes", "error", "text"),
    [
        (
            [[0, 0, 4, 4], [0, 0, 4, 6]],
            ValueError,
            r"\(4, 5\).* found \[0, 0, 4, 6\] at position 1",
        ),
        ([-1, 0, 4, 4], ValueError, "within the table"),
        ([2, 0, 1, 4], ValueError, "end where they begin or behind"),
        ([0, 0, 4], ValueError, r"shape \(boxes, 4\) or \(boxes, 2, 2\)"),
        ([[0, 0], [4, 4]], ValueError, "boxes must be of integers"),
        (([[0, 0]], [[4, 4], [4, 4]]), ValueError, "boxes must be of integers"),
        ([[0, 0, 4, 4], [0]], ValueError, "of one length each"),
        ([[0.0, 0, 4, 4]], TypeError, "float64"),
        ("all", TypeError, "boxes must be of integers"),
        (None, TypeError, "boxes must be of integers"),
        (da.zeros((1, 4), dtype=int), TypeError, "compute it first"),
    ],
)
def test_wrong_boxes(backend, boxes, error, text):
    table = summed_area_table(backend.array(np.ones((4, 5))))
    for each in (table, blocks(table, 2)):
        with pytest.raises(error, match=text):
            window_sum(each, boxes)


# --- means of boxes -------------------------------------------------------------------------------


@given(
    data=st.data(),
    x=hnp.arrays(np.float64, shapes, elements=st.integers(-99, 99)),
    mode=st.sampled_from(MODES),
    chunks=st.integers(1, 4),
)
def test_means_of_boxes_are_those_of_scipy(backend, data, x, mode, chunks):
    axes = chosen_axes(data.draw, x.ndim)
    radius = data.draw(st.lists(st.integers(0, 12), min_size=len(axes), max_size=len(axes)))
    cval = data.draw(st.integers(-3, 3)) / 2
    expected = x
    for axis, each in zip(axes, radius, strict=True):
        if x.size:
            size = 2 * each + 1
            expected = ndimage.uniform_filter1d(expected, size, axis, mode=mode, cval=cval)
    array = backend.array(x)
    for array in (backend.array(x), backend.array(np.asarray(x, order="F"))):
        out = box_filter(array, radius, axes=axes, mode=mode, cval=cval)
        assert type(out) is type(array)
        assert out.dtype == x.dtype
        np.testing.assert_allclose(backend.to_numpy(out), expected, rtol=1e-12, atol=1e-12)
    lazy = box_filter(blocks(array, chunks), radius, axes=axes, mode=mode, cval=cval)
    assert lazy.shape == x.shape
    assert lazy.chunks == blocks(array, chunks).chunks
    assert type(lazy._meta) is type(array)
    np.testing.assert_allclose(backend.to_numpy(lazy.compute()), expected, rtol=1e-12, atol=1e-12)


def exact_means(x, radius):
    """Means of boxes of a 2-d array whose edges are repeated, as fractions."""
    padded = np.pad(x, radius, mode="edge").astype(object)
    width = 2 * radius + 1
    return [
        [
            Fraction(int(padded[i : i + width, j : j + width].sum()), width**2)
            for j in range(x.shape[1])
        ]
        for i in range(x.shape[0])
    ]


@pytest.mark.sampled(3)
@pytest.mark.parametrize("dtype", ["i1", "u4", "i8", "u8"])
def test_means_of_integers_are_exact_and_lose_what_is_behind_the_point(backend, dtype):
    limits = np.iinfo(dtype)
    low, high = (
        (limits.min, limits.max) if limits.bits < 64 else (-(2**58) * (dtype == "i8"), 2**58)
    )
    x = np.random.default_rng(4).integers(low, high, (7, 9), dtype=dtype, endpoint=True)
    x[0, :4] = x.flat[-1] = high
    expected = [[math.trunc(mean) for mean in row] for row in exact_means(x, 2)]
    for array in (backend.array(x), blocks(backend.array(x), 4)):
        (out,) = da.compute(box_filter(array, 2, mode="nearest"))
        assert out.dtype == dtype
        np.testing.assert_array_equal(backend.to_numpy(out), np.array(expected, dtype))
    wide = backend.to_numpy(box_filter(backend.array(x), 2, mode="nearest", dtype=float))
    np.testing.assert_allclose(wide, np.array(exact_means(x, 2), float), rtol=1e-15)


@pytest.mark.sampled(2)
@pytest.mark.parametrize(
    ("dtype", "answer", "rtol"),
    [("?", "f8", 1e-14), ("f2", "f2", 1e-3), ("f4", "f4", 1.2e-7), ("c8", "c8", 1.2e-7)],
)
def test_dtypes_of_means(backend, dtype, answer, rtol):
    rng = np.random.default_rng(5)
    x = (rng.random((40, 50)) * 2).astype(dtype)
    if x.dtype.kind == "c":
        x = (x + 1j * rng.random(x.shape)).astype(dtype)
    parts = [x.real, x.imag] if x.dtype.kind == "c" else [x]
    expected = [ndimage.uniform_filter(part.astype(float), (7, 11)) for part in parts]
    out = box_filter(backend.array(x), (3, 5))
    assert out.dtype == answer
    found = backend.to_numpy(out)
    for part, mean in zip([found.real, found.imag], expected, strict=False):
        np.testing.assert_allclose(part, mean, rtol=rtol)


@pytest.mark.parametrize("radius", [1, 3, 7, 15, (0, 40), (70, 2)])
def test_means_of_larger_images(backend, radius):
    x = np.random.default_rng(6).random((150, 600), dtype=np.float32)
    size = tuple(2 * each + 1 for each in np.broadcast_to(radius, 2))
    for mode in ("reflect", "constant"):
        expected = ndimage.uniform_filter(x.astype(float), size, mode=mode, cval=2)
        out = box_filter(backend.array(x), radius, mode=mode, cval=2)
        np.testing.assert_allclose(backend.to_numpy(out), expected, rtol=1.2e-7)


def test_what_is_outside_a_box_leaves_nothing_behind(backend):
    x = np.ones((60, 70))
    x[20, 10], x[40, 50], x[50, 20] = np.nan, np.inf, 1e300
    out = backend.to_numpy(box_filter(backend.array(x), 3))
    assert np.isnan(out).sum() == np.isinf(out).sum() == (out > 1e290).sum() - 49 == 49
    assert (out == 1).sum() == 60 * 70 - 3 * 49


@pytest.mark.parametrize(
    ("arguments", "error", "text"),
    [
        (
            {"radius": (1, 2, 3)},
            ValueError,
            "radius must be one integer, or one for each of 2 axes, found 3",
        ),
        ({"radius": -1}, ValueError, "radius must be from 0"),
        ({"radius": 1.5}, TypeError, "radius must be an integer"),
        ({"radius": "3"}, TypeError, "radius must be an integer"),
        ({"radius": True}, TypeError, "radius must be an integer"),
        ({"radius": {1, 2}}, TypeError, "radius must be an integer"),
        ({"radius": 1, "axes": {0, 1}}, TypeError, "axes must be integers"),
        (
            {"radius": 1, "mode": "reflct"},
            ValueError,
            "mode must be one of .*did you mean 'reflect'",
        ),
        ({"radius": 1, "mode": None}, ValueError, "mode must be one of"),
        ({"radius": 1, "mode": "constant", "cval": "0"}, TypeError, "cval must be a number"),
        ({"radius": 1, "mode": "constant", "cval": 1j}, ValueError, "cval must be one of float64"),
        ({"radius": 1, "axes": 2}, ValueError, "axes must be from -2 to 1, found 2"),
        ({"radius": 1, "axes": (0, -2)}, ValueError, "axes must name each axis once"),
        ({"radius": 1, "axes": ()}, ValueError, "at least one"),
        ({"radius": 1, "axes": "x"}, TypeError, "axes must be integers"),
        ({"radius": 1, "dtype": int}, TypeError, "dtype must hold means of float64"),
        ({"radius": 1, "dtype": "words"}, TypeError, "dtype must be a dtype of NumPy"),
    ],
)
def test_wrong_filters(backend, arguments, error, text):
    x = backend.array(np.ones((4, 5)))
    for each in (x, blocks(x, 2)):
        with pytest.raises(error, match=text):
            box_filter(each, **arguments)


@pytest.mark.parametrize(
    ("x", "error", "text"),
    [
        ([[1, 2]], TypeError, "must be an array .* found list"),
        (np.array([["a"]]), TypeError, "of numbers"),
        (np.array([["2000"]], "M8[s]"), TypeError, "of numbers"),
        (np.array(3), ValueError, "at least one dimension"),
        (np.ones(3, np.longdouble), TypeError, "at most 64 bits"),
        (np.ones(3, ">f8"), TypeError, "byte order"),
        (np.ma.ones(3), TypeError, "masked array"),
    ],
)
def test_what_is_no_grid(x, error, text):
    for function in (
        summed_area_table,
        lambda x: box_filter(x, 1),
        lambda x: window_sum(x, [0, 0]),
    ):
        with pytest.raises(error, match=text):
            function(x)


def test_a_table_of_bool_is_none(backend):
    for table in (backend.array(np.ones((2, 2), bool)), da.ones((2, 2), dtype=bool)):
        with pytest.raises(TypeError, match=r"table must be of numbers, .* found bool"):
            window_sum(table, [0, 0, 1, 1])


def test_wrong_tables(backend):
    x = backend.array(np.ones((4, 5)))
    for each in (x, blocks(x, 2)):
        with pytest.raises(ValueError, match="axes must be from -2 to 1"):
            summed_area_table(each, (0, 2))
        with pytest.raises(TypeError, match="dtype must hold sums of float64, found int64"):
            summed_area_table(each, dtype=int)
        with pytest.raises(TypeError, match="numbers"):
            summed_area_table(each, dtype=bool)
        with pytest.raises(
            TypeError, match="cumsum of several axes takes 'dtype', found 'reverse'"
        ):
            dask_gpuscan.cumsum(each, axis=(0, 1), reverse=True)
    unknown = da.ones(6, chunks=2)
    unknown = unknown[unknown > 0]
    with pytest.raises(ValueError, match="known sizes"):
        box_filter(unknown, 1)
    with pytest.raises(ValueError, match="known sizes"):
        window_sum(unknown, [0, 1])
    np.testing.assert_array_equal(summed_area_table(unknown).compute(), np.arange(1, 7))


@pytest.mark.parametrize("dtype", ["float32", "int16", "float64"])
def test_one_axis_in_a_tuple(backend, dtype):
    x = backend.array(np.arange(20).reshape(4, 5).astype(dtype))
    for each in (x, blocks(x, 2)):
        for axis in (0, -2, 1):
            expected = dask_gpuscan.cumsum(each, axis=axis, exclusive=True)
            found = dask_gpuscan.cumsum(each, axis=(axis,), exclusive=True)
            assert found.dtype == expected.dtype
            assert bool((found == expected).all())
        with pytest.raises(TypeError, match="axes must be integers"):
            dask_gpuscan.cumsum(each, axis=(None,))


def test_graphs():
    x = da.ones((40, 60), chunks=(10, 20))
    table = summed_area_table(x)
    assert table.chunks == x.chunks
    assert table.name == summed_area_table(x).name != summed_area_table(x, 0).name
    assert len(table.__dask_graph__()) <= 12 * 6
    filtered = box_filter(x, 3)
    assert filtered.name == box_filter(x, 3).name != box_filter(x, 2).name
    assert len(filtered.__dask_graph__()) <= 12 * 11
    assert window_sum(table, [0, 0, 3, 3]).name != window_sum(table, [0, 0, 3, 4]).name
    corner = box_filter(x, 3)[:2, :2]
    assert len(corner.__dask_graph__().cull(corner.__dask_keys__())) <= 20


@pytest.mark.parametrize("value", [np.int64(2**62), np.int64(-(2**62) - 1), np.uint64(2**63)])
def test_sums_of_boxes_that_do_not_fit_are_refused_or_floats(value):
    x = np.array([value] * 4)
    for each in (x, da.from_array(x, 2)):
        with pytest.raises(OverflowError, match=r"sums of 3 values of .* may not fit 64 bits"):
            np.asarray(dask_gpuscan.box_filter(each, 1))
        found = np.asarray(dask_gpuscan.box_filter(each, 1, dtype=float))
        np.testing.assert_allclose(found, float(value))
    assert (dask_gpuscan.box_filter(x // value.dtype.type(4), 1) == x // value.dtype.type(4)).all()


def test_a_radius_is_bound_by_the_axis():
    x = np.arange(12.0)
    for each in (x, da.from_array(x, chunks=5)):
        with pytest.raises(
            ValueError, match=r"radius must be at most 1024 along axis 0, .* 12 elements"
        ):
            box_filter(each, 10**8)
    found = np.asarray(box_filter(x, 1024, mode="nearest"))
    beyond = np.concatenate([np.zeros(1024), x, np.full(1024, 11.0)])
    expected = [math.fsum(beyond[i : i + 2049]) / 2049 for i in range(12)]
    np.testing.assert_allclose(found, expected, rtol=1e-14)
    long = np.ones(3000)
    assert box_filter(long, 3000)[0] == 1.0
    with pytest.raises(ValueError, match="radius must be at most 3000 along axis 0"):
        box_filter(long, 3001)
