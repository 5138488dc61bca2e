"""The largest and smallest values: pandas' answers on the whole data, over any partitions."""

import numpy as np
import pandas as pd
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from helpers.asked import check, computed
from helpers.backends import same
from helpers.strategies import TIMES, columns, cuts, frames, partitioned
from helpers.thresholds import MANY_ROWS, many_top_rows

NUMBERS = ("int64", "int8", "uint8", "float64", "float32", "Int64", "bool", "int64[pyarrow]")
WHOLE = ("int64", "int8", "bool", "uint8")
METHODS = st.sampled_from(["nlargest", "nsmallest"])
KEEP = st.sampled_from(["first", "last", "all"])


@pytest.fixture(params=[0, 1000], ids=["near rows first", "all rows"], scope="module", autouse=True)
def many(request):
    """From how many rows on those that cannot be among the answer are left out."""
    with many_top_rows(request.param):
        yield


@given(
    x=columns((*NUMBERS, *TIMES[:3])), at=cuts(), method=METHODS, keep=KEEP, n=st.integers(-1, 30)
)
def test_series(backend, x, at, method, keep, n):
    x.index = pd.Index(np.arange(len(x)) // 2, name="row")
    ask = lambda it: getattr(it, method)(n, keep=keep)  # noqa: E731
    check(backend, x, at, ask, ask(x))


@given(df=frames(WHOLE), at=cuts(), method=METHODS, keep=KEEP, n=st.integers(0, 30))
def test_frames(backend, df, at, method, keep, n):
    df["other"] = [str(i) for i in range(len(df))]
    names = [name for name in df.columns if name != "other"]
    assume(n or len(names) == 1)  # of several columns, pandas looks at the last of no rows
    names = names if len(names) > 1 else names[0]
    assume(keep != "last" or isinstance(names, str))
    ask = lambda it: getattr(it, method)(n, names, keep=keep)  # noqa: E731
    check(backend, df, at, ask, ask(df))


def test_bad_arguments():
    frame = pd.DataFrame({"x": [2, 3], "y": ["a", "b"], "z": [1, 1]})
    for each in (frame, partitioned(frame, [0.5])):
        with pytest.raises(TypeError, match="n must be an integer"):
            each.gpuscan.nlargest(1.0, "x")
        with pytest.raises(TypeError, match="columns must name the columns of the DataFrame"):
            each.gpuscan.nlargest(1)
        with pytest.raises(TypeError, match="columns is for DataFrames"):
            each.x.gpuscan.nlargest(1, "x")
        with pytest.raises(ValueError, match="keep must be one of 'first', 'last', 'all'"):
            each.x.gpuscan.nlargest(1, keep="any")
        with pytest.raises(ValueError, match="keep must be 'first' or 'all' for several columns"):
            each.gpuscan.nlargest(1, ["x", "z"], keep="last")
        with pytest.raises(TypeError, match="nlargest of column 'y': dtype"):
            each.gpuscan.nlargest(1, "y")


@pytest.mark.parametrize("method", ["nlargest", "nsmallest"])
def test_a_sample_that_has_all_large_values(method):
    """Its bound is then beyond all but few of the rows that are asked for, and the exact one is found."""
    rows = 1 << 17
    sign = 1 if method == "nlargest" else -1
    x = np.random.default_rng(3).standard_normal(rows)
    x[:: rows >> 14] += 100 * sign
    x[5:900:7] = np.nan
    frame = pd.DataFrame({"x": x, "row": range(rows)})
    for column in (frame["x"], frame["x"].astype("Float64"), frame["x"].round()):
        given = frame.assign(x=column)
        expected = getattr(given, method)(150, "x")
        pd.testing.assert_frame_equal(getattr(given.gpuscan, method)(150, "x"), expected)


@pytest.mark.parametrize("method", ["nlargest", "nsmallest"])
def test_as_many_equal_values_as_all_cores_move(method):
    x = pd.Series(np.zeros(MANY_ROWS), name="x")
    for each in (x, partitioned(x, [0.0, 0.5])):
        same(computed(getattr(each.gpuscan, method)(3)), getattr(x, method)(3))
