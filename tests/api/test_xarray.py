"""``.gpuscan`` of xarray: xarray's own answers on the whole data, whatever the chunks, and pandas' where it has none."""

import subprocess
import sys

import dask
import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

import dask_gpuscan

xr = pytest.importorskip("xarray")

from xarray.groupers import BinGrouper, TimeResampler, UniqueGrouper  # noqa: E402

RUNNING = {
    "cumsum": (np.nancumsum, np.cumsum),
    "cumprod": (np.nancumprod, np.cumprod),
    "cummax": (np.fmax.accumulate, np.maximum.accumulate),
    "cummin": (np.fmin.accumulate, np.minimum.accumulate),
}
"""What passes over NaN, and what keeps it."""

DTYPES = ("f8", "f4", "i8", "?")


@st.composite
def arrays(draw, dtypes=DTYPES):
    """A DataArray of one to three dimensions with attributes, coordinates along them, and a name."""
    shape = draw(st.lists(st.integers(0, 5), min_size=1, max_size=3))
    dtype = np.dtype(draw(st.sampled_from(dtypes)))
    count = int(np.prod(shape))
    values = np.array(draw(st.lists(st.integers(-2, 2), min_size=count, max_size=count)), dtype)
    if dtype.kind == "f":
        null = np.array(draw(st.lists(st.booleans(), min_size=count, max_size=count)), bool)
        values[null] = np.nan
    dims = ["time", "y", "x"][: len(shape)]
    coords = {
        "time": pd.date_range("2026-01-30", periods=shape[0]),
        "station": (
            "time",
            draw(st.lists(st.sampled_from("abc"), min_size=shape[0], max_size=shape[0])),
        ),
        "height": 2.0,
    }
    return xr.DataArray(values.reshape(shape), coords, dims, "x", {"units": "m"})


def on_backend(backend, x):
    return x.copy(data=backend.array(x.values))


def on_host(backend, x):
    (x,) = dask.compute(x)
    return x.copy(data=backend.to_numpy(x.data))


def both(backend, x, chunks=2):
    """The object over arrays of the backend, and over Dask arrays of them."""
    held = on_backend(backend, x)
    return held, held.chunk(dict.fromkeys(x.dims, chunks))


@given(x=arrays(), name=st.sampled_from(["cumsum", "cumprod"]), data=st.data())
def test_as_xarray_along_any_dimensions(backend, x, name, data):
    dim = data.draw(st.sampled_from([None, ..., "time", list(x.dims)[::-1], []]))
    options = {"skipna": data.draw(st.sampled_from([None, True, False]))}
    expected = getattr(x, name)(dim, **options)
    for given_ in both(backend, x):
        out = getattr(given_.gpuscan, name)(dim, **options)
        assert type(out.data) is type(given_.data)
        assert out.dtype == expected.dtype
        xr.testing.assert_allclose(on_host(backend, out), expected)
        assert out.attrs == x.attrs
        assert list(out.coords) == list(x.coords)
        assert out.dims == x.dims
        assert out.name == x.name
    xr.testing.assert_identical(on_host(backend, given_), x)  # left as it was
