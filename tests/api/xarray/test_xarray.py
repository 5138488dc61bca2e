"""``.gpuscan`` of xarray: the answers of xarray, or of NumPy and pandas line by line, on the whole data."""

from contextlib import nullcontext
from itertools import product

import dask
import dask.array as da
import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

import dask_gpuscan
from helpers.thresholds import sorted_groups_of_arrays

xr = pytest.importorskip("xarray")
from xarray.groupers import BinGrouper, TimeResampler, UniqueGrouper  # noqa: E402

RUNNING = {
    "cumsum": (np.nancumsum, np.cumsum),
    "cumprod": (np.nancumprod, np.cumprod),
    "cummax": (np.fmax.accumulate, np.maximum.accumulate),
    "cummin": (np.fmin.accumulate, np.minimum.accumulate),
}
"""What passes over NaN, and what keeps it."""


@st.composite
def cubes(draw, dtypes=("f8", "i8", "?")):
    """A DataArray of one to three dimensions with NaN, attributes, coordinates and a name."""
    shape = draw(st.lists(st.integers(0, 5), min_size=1, max_size=3))
    dtype, count = np.dtype(draw(st.sampled_from(dtypes))), int(np.prod(shape))
    values = np.array(draw(st.lists(st.integers(-2, 2), min_size=count, max_size=count)))
    values = values.astype(dtype)
    if dtype.kind == "f":
        values[draw(st.lists(st.booleans(), min_size=count, max_size=count))] = np.nan
    labels = st.lists(st.sampled_from("abc"), min_size=shape[0], max_size=shape[0])
    coords = {
        "time": pd.date_range("2026-01-30", periods=shape[0]),
        "station": ("time", np.array(draw(labels), "U1")),
        "height": 2.0,
    }
    dims = ("time", "y", "x")[: len(shape)]
    return xr.DataArray(values.reshape(shape), coords, dims, "x", {"units": "m"})


def of_kinds(backend, x, chunks=2):
    """The DataArray over arrays of the backend, and over Dask arrays of them."""
    array = backend.array(x.values)
    return x.copy(data=array), x.copy(data=da.from_array(array, chunks=chunks, asarray=False))


def on_host(backend, x):
    (x,) = dask.compute(x)
    return x.copy(data=backend.to_numpy(x.data))


def check(backend, found, given_, expected):
    """Assert that an answer has the kind of array that was given, and is what is expected in all else."""
    assert type(found.data) is type(given_.data)
    assert type(getattr(found.data, "_meta", 0)) is type(getattr(given_.data, "_meta", 0))
    assert found.dtype == expected.dtype
    assert found.attrs == given_.attrs
    found = on_host(backend, found)
    assert found.dtype == expected.dtype
    np.testing.assert_allclose(found.values, expected.values, rtol=1e-6)
    expected = expected.assign_attrs(given_.attrs)
    xr.testing.assert_identical(found.copy(data=expected.values), expected)


@given(x=cubes(), name=st.sampled_from(["cumsum", "cumprod"]), data=st.data())
def test_as_xarray_along_any_dimensions(backend, x, name, data):
    dim = data.draw(st.sampled_from([None, ..., "time", list(x.dims)[::-1], []]))
    skipna = data.draw(st.sampled_from([None, True, False]))
    expected = getattr(x, name)(dim, skipna=skipna)
    for each in of_kinds(backend, x):
        check(backend, getattr(each.gpuscan, name)(dim, skipna=skipna), each, expected)
        xr.testing.assert_identical(on_host(backend, each), x)  # left as it was


@given(x=cubes(), name=st.sampled_from(list(RUNNING)), data=st.data())
def test_as_numpy_both_ways(backend, x, name, data):
    axis = data.draw(st.integers(0, x.ndim - 1))
    skipna, reverse = data.draw(st.booleans()), data.draw(st.booleans())
    values = np.flip(x.values, axis) if reverse else x.values
    values = values.astype("i8") if x.dtype == bool and name in ("cumsum", "cumprod") else values
    expected = RUNNING[name][0 if skipna else 1](values, axis=axis)
    expected = x.copy(data=np.flip(expected, axis) if reverse else expected)
    for each in of_kinds(backend, x):
        found = getattr(each.gpuscan, name)(x.dims[axis], skipna=skipna, reverse=reverse)
        check(backend, found, each, expected)


def lines(function, values, axis):
    """What a function of Series makes of each line along an axis."""
    if not values.size:
        return values
    return np.apply_along_axis(lambda line: function(pd.Series(line)).to_numpy(), axis, values)


@given(x=cubes(), name=st.sampled_from(["ffill", "bfill"]), data=st.data())
def test_fills_as_pandas(backend, x, name, data):
    axis, limit = data.draw(st.integers(0, x.ndim - 1)), data.draw(st.sampled_from([None, 1, 3]))
    filled = lines(lambda line: getattr(line, name)(limit=limit), x.values, axis)
    expected = x.copy(data=filled.astype(x.dtype))
    for each in of_kinds(backend, x, data.draw(st.integers(1, 3))):
        check(backend, getattr(each.gpuscan, name)(x.dims[axis], limit), each, expected)


def in_groups(function, values, codes):
    """What a function of an array and an axis makes of each group of rows; rows in no group are NaN."""
    out = function(values, 0)
    if (codes < 0).any():
        out = np.full(values.shape, np.nan, np.result_type(out.dtype, np.float32))
    for code in set(codes[codes >= 0]):
        out[codes == code] = function(values[codes == code], 0)
    return out


@pytest.mark.parametrize("sorts", [False, True])
@given(x=cubes(), name=st.sampled_from(list(RUNNING)), data=st.data())
def test_groups_as_group_by_group(backend, sorts, x, name, data):
    axis, reverse = data.draw(st.integers(0, x.ndim - 1)), data.draw(st.booleans())
    x = x.transpose(x.dims[axis], ...)
    count = x.shape[0]
    labels = data.draw(
        st.lists(st.sampled_from(["a", "b", None, "c"]), min_size=count, max_size=count).filter(
            lambda each: not each or any(each)  # xarray refuses what is all in no group
        )
    )
    x = x.assign_coords(label=(x.dims[0], np.array(labels, object)))
    codes = pd.factorize(np.array(labels, object))[0]

    def scan(values, axis):
        values = (
            values.astype("i8") if x.dtype == bool and name in ("cumsum", "cumprod") else values
        )
        values = np.flip(values, axis) if reverse else values
        out = RUNNING[name][0](values, axis=axis)
        return np.flip(out, axis) if reverse else out

    expected = x.copy(data=in_groups(scan, x.values, codes))
    order = data.draw(st.permutations(x.dims))
    with sorted_groups_of_arrays() if sorts else nullcontext():
        for each in of_kinds(backend, x.transpose(*order)):
            found = getattr(each.gpuscan.groupby("label"), name)(reverse=reverse)
            check(backend, found, each, expected.transpose(*order))


@given(x=cubes(("f8",)), name=st.sampled_from(["ffill", "bfill"]), data=st.data())
def test_fills_in_groups_as_pandas(backend, x, name, data):
    limit = data.draw(st.sampled_from([None, 1]))

    def fill(values, axis):
        return lines(lambda line: getattr(line, name)(limit=limit), values, axis)

    codes = pd.factorize(x.station.values)[0]
    expected = x.copy(data=in_groups(fill, x.values, codes))
    for each in of_kinds(backend, x):
        check(backend, getattr(each.gpuscan.groupby("station"), name)(limit=limit), each, expected)


@pytest.fixture(scope="module")
def rain():
    rng = np.random.default_rng(0)
    values = rng.integers(-3, 4, (40, 3)).astype(float)
    values[rng.random(values.shape) < 0.3] = np.nan
    coords = {
        "time": pd.date_range("2026-01-15", periods=40, freq="5D"),
        "station": ("time", rng.choice(list("abc"), 40)),
        "depth": ("time", rng.random(40)),
        "x": [10, 20, 30],
    }
    return xr.DataArray(values, coords, ("time", "x"), "rain", {"units": "mm"})


GROUPS = [
    (("time.month",), lambda x: x.time.dt.month),
    (("station",), lambda x: x.station),
    ((["station", "season"],), lambda x: x.station.astype(object) + x.season.astype(object)),
    (({"depth": BinGrouper([0, 0.5, 1])},), lambda x: x.depth > 0.5),
    (({"time": TimeResampler("MS")},), lambda x: x.time.dt.month),
    (({"station": UniqueGrouper(labels=["a", "b", "c"])},), lambda x: x.station),
]
"""What groups are asked for by, and labels that tell the same groups."""


@pytest.mark.parametrize(
    ("by", "labels"), GROUPS, ids=["month", "name", "names", "bins", "resampled", "known"]
)
def test_groups_are_those_of_xarray(backend, rain, by, labels):
    rain = rain.assign_coords(season=rain.time.dt.season)
    codes = pd.factorize(labels(rain).values)[0]
    expected = rain.copy(data=in_groups(np.nancumsum, rain.values, codes))
    for each in of_kinds(backend, rain):  # 20 chunks: states are combined on the way
        check(backend, each.gpuscan.groupby(*by).cumsum(), each, expected)
        check(backend, each.gpuscan.groupby(*by).cumsum("time"), each, expected)
    with xr.set_options(use_flox=False):
        own = rain.groupby("station").cumsum().transpose(*rain.dims)
    xr.testing.assert_identical(
        rain.gpuscan.groupby("station").cumsum(), own.assign_attrs(rain.attrs)
    )


def test_a_group_may_be_a_dataarray_of_another_cube(rain):
    dry = (rain.isnull().sum("x") == 0).rename(None)
    expected = rain.copy(data=in_groups(np.nancumsum, rain.values, dry.values.astype(int)))
    xr.testing.assert_identical(rain.gpuscan.groupby(dry).cumsum(), expected)
    xr.testing.assert_identical(rain.gpuscan.groupby(dry.chunk(time=4)).cumsum(), expected)


def test_lazy_labels_are_computed(rain):
    lazy = rain.chunk(time=7)
    assert lazy.station.chunks
    for by in ("station", ["station", "depth"]):
        expected = rain.gpuscan.groupby(by).cumsum()
        xr.testing.assert_identical(lazy.gpuscan.groupby(by).cumsum().compute(), expected)
    ds = xr.Dataset({"rain": lazy.drop_vars("station"), "kind": lazy.station.drop_vars("station")})
    found = ds.gpuscan.groupby("kind").cumsum().rain
    xr.testing.assert_identical(
        found.compute(), rain.gpuscan.groupby("station").cumsum().drop_vars("station")
    )


def test_many_chunks_and_products(backend, rain):
    x = abs(rain) / 2 + 0.5
    expected = in_groups(np.nancumprod, x.values, pd.factorize(x.station.values)[0])
    array = da.from_array(backend.array(x.values), chunks=(1, 2), asarray=False)
    found = x.copy(data=array).gpuscan.groupby("station").cumprod()
    np.testing.assert_allclose(on_host(backend, found), expected)


def test_exclusive_and_initial(backend, rain):
    x = rain.fillna(1).astype(int)
    codes = pd.factorize(x.station.values)[0]
    for each in of_kinds(backend, x):
        found = each.gpuscan.cumsum("x", exclusive=True, initial=5)
        check(backend, found, each, x.cumsum("x") - x + 5)
        found = each.gpuscan.groupby("station").cumsum(exclusive=True, initial=5)
        sums = in_groups(np.cumsum, x.values, codes)
        check(backend, found, each, x.copy(data=sums - x.values + 5))
        found = each.gpuscan.cumsum("time", dtype="f4")
        check(backend, found, each, x.cumsum("time").astype("f4"))


def test_datasets_as_xarray(rain):
    ds = xr.Dataset(
        {
            "rain": rain,
            "days": ("time", (rain.time.values - rain.time.values[0]).astype("m8[s]")),
            "flag": ("time", rain.depth.values > 0.5),
            "name": ("time", rain.station.values),
            "when": ("time", rain.time.values),
            "width": ("x", [1, 2, 3], {"units": "m"}),
        },
        attrs={"title": "rain"},
    )
    for each, options in product((ds, ds.chunk(time=7)), ({}, {"skipna": False})):
        found = each.gpuscan.cumsum("time", **options)
        # xarray does not leave times out
        expected = ds.drop_vars("when").cumsum("time", keep_attrs=True, **options)
        xr.testing.assert_identical(found.compute(), expected.assign_coords(ds.coords))
    summed = ds[["rain", "flag"]].map(np.nancumsum, axis=0, keep_attrs=True)
    one = ds.assign_coords(all=("time", np.zeros(40))).gpuscan.groupby("all").cumsum()
    xr.testing.assert_identical(one.rain.drop_vars("all"), summed.rain)
    xr.testing.assert_identical(one.width, ds.width)
    with pytest.raises(TypeError, match="cummax of variable 'name'"):
        ds.gpuscan.cummax("time")
    largest = ds.drop_vars("name").chunk(time=7).gpuscan.cummax("time").compute()
    np.testing.assert_array_equal(largest.when, ds.when)
    filled = ds.chunk(time=7).gpuscan.ffill("time", limit=2).compute()
    xr.testing.assert_identical(filled.drop_vars("rain"), ds.drop_vars("rain"))
    xr.testing.assert_identical(filled.rain, ds.rain.gpuscan.ffill("time", limit=2))


def test_attributes_are_kept_as_asked(rain):
    rain.encoding = {"dtype": "int16", "scale_factor": 0.1}
    ds = rain.to_dataset().assign_attrs(title="rain")
    for kept, dropped in ((rain, {}), (ds, {})):
        assert kept.gpuscan.cumsum("time").attrs == kept.attrs
        assert kept.gpuscan.cumsum("time", keep_attrs=False).attrs == dropped
        with xr.set_options(keep_attrs=False):
            assert kept.gpuscan.cummax("time").attrs == dropped
            assert kept.gpuscan.cummax("time", keep_attrs=True).attrs == kept.attrs
            assert kept.gpuscan.ffill("time").attrs == kept.attrs
    assert ds.gpuscan.cumsum("time", keep_attrs=False).rain.attrs == {}
    assert (
        rain.gpuscan.cumsum("time").encoding == {}
    )  # a sum may not fit what its terms are packed in
    assert ds.gpuscan.cumsum("time").rain.encoding == {}
    assert rain.attrs == {"units": "mm"}


def test_any_operator(backend, rain):
    largest = dask_gpuscan.operator(
        lambda a, b: a if a > b else b, identity=0.0, lift=lambda x: abs(x), name="largest"
    )
    expected = rain.copy(data=np.fmax.accumulate(abs(rain.fillna(0).values), axis=0))
    for each in of_kinds(backend, rain, 7):
        check(backend, each.gpuscan.scan(largest, "time"), each, expected)
        found = each.gpuscan.groupby("station").scan(dask_gpuscan.first)
        firsts = in_groups(
            lambda x, axis: lines(lambda line: line.ffill().where(line.ffill().isna(), line.bfill().iloc[0]), x, axis),
            rain.values,
            pd.factorize(rain.station.values)[0],
        )  # fmt: skip
        check(backend, found, each, rain.copy(data=firsts))


def test_times(rain):
    when = rain.time.values.astype("M8[s]")[::-1].copy()
    when[[0, 5, 6]] = "NaT"
    x = xr.DataArray(when, dims="time").chunk(time=4)
    waits = x - np.datetime64("2026-01-01", "s")
    host = waits.compute()
    xr.testing.assert_identical(waits.gpuscan.cumsum().compute(), host.cumsum())
    filled = pd.Series(host.values).fillna(pd.Timedelta(0)).cumsum().to_numpy()
    np.testing.assert_array_equal(waits.gpuscan.cumsum(skipna=True), filled)
    smallest = pd.Series(when).cummin().ffill().to_numpy()
    np.testing.assert_array_equal(x.gpuscan.cummin(skipna=True), smallest)
    np.testing.assert_array_equal(x.gpuscan.cummax(), np.maximum.accumulate(when))
    np.testing.assert_array_equal(x.gpuscan.ffill(limit=1), pd.Series(when).ffill(limit=1))
    groups = x.assign_coords(all=("time", np.r_[np.zeros(39), np.nan])).gpuscan.groupby("all")
    last = np.where(np.arange(40) < 39, pd.Series(when).bfill(), np.datetime64("NaT", "s"))
    np.testing.assert_array_equal(groups.bfill(), last)


def test_nothing_to_fill(rain):
    for x in (rain.station, rain.depth > 0.5, rain.x):
        found = x.gpuscan.ffill(x.dims[0])
        xr.testing.assert_identical(
            found.variable.to_base_variable(), x.variable.to_base_variable()
        )
        assert not np.shares_memory(found.values, x.values)


@pytest.mark.parametrize("dtype", [">f4", ">i2"])
def test_bytes_in_the_order_of_other_machines(rain, dtype):
    x = rain.fillna(0).astype(dtype)
    for each in (x, x.chunk(time=7).drop_vars("station")):
        expected = each.compute().cumsum("time").assign_attrs(x.attrs)
        found = each.gpuscan.cumsum("time")
        assert found.dtype == expected.dtype
        xr.testing.assert_identical(found.compute(), expected)
        xr.testing.assert_equal(each.gpuscan.ffill("time").compute(), each.compute())


def test_cubes_without_dimensions():
    x = xr.DataArray(3.0)
    xr.testing.assert_identical(x.gpuscan.cumsum(), x)
    with pytest.raises(ValueError, match="dim must be one dimension, found none"):
        x.gpuscan.ffill()


PAIR = dask_gpuscan.operator(
    lambda a, b: (a[0] + b[0], a[1] + b[1]), identity=(0.0, 0.0), lift=lambda x: (x, x), name="pair"
)


@pytest.mark.parametrize(
    ("call", "error", "message"),
    [
        (lambda x: x.gpuscan.cumsum("tim"), ValueError, "dimensions are 'time', 'x'; did you mean 'time'"),
        (lambda x: x.gpuscan.cumsum(["time", "z"]), ValueError, "dim: 'z' is not"),
        (lambda x: x.gpuscan.cumsum("station"), ValueError, "dim: 'station' is a coordinate along 'time'"),
        (lambda x: x.gpuscan.cumsum(0), ValueError, "dim: 0 is not"),
        (lambda x: x.gpuscan.ffill(), ValueError, "dim must be one dimension, found 'time', 'x'"),
        (lambda x: x.gpuscan.ffill("time", limit=0), ValueError, "limit must be"),
        (lambda x: x.gpuscan.cumsum("time", skipna="no"), ValueError, "skipna must be True or False"),
        (lambda x: x.gpuscan.cumsum("time", keep_attrs=2), ValueError, "keep_attrs must be True"),
        (lambda x: x.gpuscan.cumsum("time", initial="a"), TypeError, "variable 'rain': initial must be"),
        (lambda x: x.astype(object).gpuscan.cumsum("time"), TypeError, "variable 'rain'.*object"),
        (lambda x: x.rename(None).astype(object).gpuscan.ffill("time"), TypeError, "the DataArray.*object"),
        (lambda x: x.time.gpuscan.cumsum(), TypeError, "variable 'time': add is not defined for datetime64"),
        (lambda x: x.gpuscan.scan("sum", "time"), TypeError, "op must be an Operator"),
        (lambda x: x.gpuscan.scan(dask_gpuscan.affine, "time"), TypeError, "affine takes 2 inputs"),
        (lambda x: x.gpuscan.groupby(), TypeError, "groupby takes"),
        (lambda x: x.gpuscan.groupby(5), TypeError, "groupby takes"),
        (lambda x: x.gpuscan.groupby([]), TypeError, "groupby takes"),
        (lambda x: x.gpuscan.groupby(np.arange(40)), TypeError, "groupby takes"),
        (lambda x: x.gpuscan.scan(PAIR, "time"), TypeError, "tuple state and no lower"),
        (lambda x: x.chunk().gpuscan.scan(PAIR, "time"), TypeError, "tuple state and no lower"),
        (lambda x: x.gpuscan.groupby("station").scan(PAIR), TypeError, "tuple state and no lower"),
        (lambda x: xr.DataArray(da.ones(3)[da.ones(3) > 0]).gpuscan.cumsum(), ValueError, "known sizes"),
        (lambda x: x.gpuscan.groupby("statio"), ValueError, "group: 'statio' is not .* did you mean 'station'"),
        (lambda x: x.gpuscan.groupby("time.mont"), ValueError, "group='time.mont'"),
        (lambda x: x.gpuscan.groupby(x > 0), ValueError, "one dimension, found 'rain' along 'time', 'x'"),
        (lambda x: x.gpuscan.groupby(["station", "x"]), ValueError, "along one dimension"),
        (lambda x: x.gpuscan.groupby(x.station.rename(time="t")), ValueError, "group: 't' is not a dimension"),
        (lambda x: x.gpuscan.groupby(x.station[:9]), ValueError, "length"),
        (lambda x: x.gpuscan.groupby("station").cumsum("x"), ValueError, "dim must be 'time', .* found 'x'"),
        (lambda x: dask_gpuscan.cumsum(x, axis=0), TypeError, "dimensions with names"),
        (lambda x: dask_gpuscan.ffill(x, axis=0), TypeError, "dimensions with names"),
    ],
)  # fmt: skip
def test_wrong_arguments(rain, call, error, message):
    with pytest.raises(error, match=message):
        call(rain)


def test_what_is_shown(rain):
    assert repr(rain.gpuscan) == "<gpuscan of an xarray DataArray>"
    groups = rain.to_dataset().gpuscan.groupby("time.month")
    assert repr(groups) == "<groups of an xarray Dataset by 'time.month', along 'time'>"
    assert dask_gpuscan.on(rain) is rain.gpuscan


@pytest.mark.parametrize("options", [{}, {"skipna": True}, {"skipna": False}, {"reverse": True}])
@pytest.mark.parametrize("method", ["cummax", "cummin"])
@pytest.mark.parametrize("kind", ["M8[ns]", "m8[ns]"])
def test_no_time_is_before_the_first_of_a_group(method, options, kind):
    times = np.array([2, 1, 5, 4], "i8").view(kind)
    x = xr.DataArray(times, dims="x", coords={"k": ("x", list("aabb"))})
    expected = times[[1, 0, 3, 2]].copy()
    expected[[1, 3] if options.get("reverse") else [0, 2]] = "NaT"
    for each in (x, x.chunk(x=3)):
        found = getattr(each.gpuscan.groupby("k"), method)(exclusive=True, **options)
        np.testing.assert_array_equal(found.values, expected)


@pytest.mark.parametrize("method", ["cummax", "cummin"])
def test_no_number_is_before_the_first_of_a_group(method):
    x = xr.DataArray([2.0, 1.0, np.nan, 4.0], dims="x", coords={"k": ("x", list("aabb"))})
    for each in (x, x.chunk(x=3), x.chunk(x=1)):
        for skipna, last in ((False, np.nan), (True, 1.0 if method == "cummin" else 2.0)):
            whole = getattr(each.gpuscan, method)("x", exclusive=True, skipna=skipna)
            expected = [np.nan, 2.0, 2.0 if method == "cummax" else 1.0, last]
            np.testing.assert_array_equal(whole.values, expected)
            groups = getattr(each.gpuscan.groupby("k"), method)(exclusive=True, skipna=skipna)
            np.testing.assert_array_equal(groups.values, [np.nan, 2.0, np.nan, np.nan])
