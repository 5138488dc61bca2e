"""rank: pandas' answers on the whole data, of series, frames and groups, on whatever partitions."""

from decimal import Decimal

import dask
import numpy as np
import pandas as pd
import pyarrow as pa
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

import dask_gpuscan
from helpers.asked import check, computed, keyed
from helpers.backends import Backend, same
from helpers.strategies import FLOATS, INTEGERS, OTHERS, TIMES, columns, cuts, frames, partitioned
from helpers.versions import older

OPTIONS = st.fixed_dictionaries(
    {
        "method": st.sampled_from(["average", "min", "max", "first", "dense"]),
        "pct": st.booleans(),
        "ascending": st.booleans(),
        "na_option": st.sampled_from(["keep", "top", "bottom"]),
    }
)


def told(backend, frame, ask):
    """What pandas says, in the dtypes of the partitions' own library; examples that either refuses are left out."""
    expected, theirs = Backend().answer(frame, ask), backend.answer(frame, ask)
    assume(expected is not None and theirs is not None)
    if not len(frame):
        return theirs
    return expected.astype(theirs.dtypes.to_dict() if theirs.ndim == 2 else theirs.dtype)


@given(x=columns((*INTEGERS, *FLOATS, *TIMES, *OTHERS)), at=cuts(), options=OPTIONS)
def test_series(backend, x, at, options):
    x.index = pd.Index(np.arange(len(x)) // 2, name="row")
    # pandas 2 gives ranks to nulls of its integers, against `na_option`
    assume(x.dtype.kind not in "iub" or x.notna().all() or not older("pandas", "3"))
    expected = told(backend, x, lambda it: it.rank(**options))
    check(backend, x, at, lambda it: it.rank(**options), expected)


@pytest.mark.parametrize("ordered", [False, True])
@pytest.mark.parametrize("categories", [[3, 1, 2], [True, False], [2.5, 1.5], ["b", "a"]], ids=str)
@pytest.mark.parametrize("na_option", ["keep", "top", "bottom"])
def test_categories_beside_nulls(categories, ordered, na_option):
    dtype = pd.CategoricalDtype(categories, ordered)
    x = pd.Series([categories[0], None, categories[1], *categories, None], dtype=dtype, name="x")
    df = pd.DataFrame({"k": [1, 2, 1, 1, 2, 1, 1, 2][: len(x)], "x": x})
    for each in (df, partitioned(df, [0.2, 0.4])):
        same(computed(each["x"].gpuscan.rank(na_option=na_option)), x.rank(na_option=na_option))
        if ordered:  # pandas has no others in groups
            (found,) = dask.compute(each.gpuscan.groupby("k")["x"].rank(na_option=na_option))
            same(found, df.groupby("k")["x"].rank(na_option=na_option))


@given(
    df=frames(("int64", "float64", "Int64", "str")), at=cuts(), options=OPTIONS, some=st.booleans()
)
def test_frames(backend, df, at, options, some):
    # of no rows, cuDF's ranks are float64 with numeric_only, whatever they are of rows; ours are as without it
    assume(len(df) or not some or backend.name == "cpu")
    expected = told(backend, df, lambda it: it.rank(**options, numeric_only=some))
    check(backend, df, at, lambda it: it.rank(**options, numeric_only=some), expected)


@pytest.mark.parametrize("clustered", [True, False])
@given(data=st.data(), at=cuts(), options=OPTIONS, dropna=st.booleans())
def test_groups(backend, clustered, data, at, options, dropna):
    df = data.draw(keyed(clustered, ("int64", "int8", "float64", "Int64", "str", "datetime64[ns]")))
    ask = lambda it: it.groupby("k", dropna=dropna, observed=True)["x"].rank(**options)  # noqa: E731
    expected = told(backend, df, ask)
    if dropna and (df["x"].dtype.kind == "M" or older("pandas", "3")):
        # Beside null keys, pandas 3.0 gives ranks to null dates, against `na_option`, and pandas 2
        # ranks them: keys go first.
        has_key = df["k"].notna().to_numpy()
        ranks = told(backend, df[has_key], ask).set_axis(np.flatnonzero(has_key))
        expected = ranks.reindex(range(len(df))).set_axis(df.index)
    groups = lambda it: it.groupby("k", clustered=clustered, dropna=dropna)  # noqa: E731
    check(backend, df, at, lambda it: groups(it)["x"].rank(**options), expected)
    check(backend, df, at, lambda it: groups(it).rank(**options), expected.to_frame())


def test_bad_arguments_of_rank():
    frame = pd.DataFrame({"k": [1], "x": [2.0], "z": [1j], "c": pd.Categorical(["a"])})
    for each in (frame, partitioned(frame, [0.5])):
        for it in (each[["x"]].gpuscan, each.x.gpuscan, each.gpuscan.groupby("k")["x"]):
            with pytest.raises(ValueError, match="method must be one of 'average', 'min', 'max'"):
                it.rank(method="mean")
            with pytest.raises(
                ValueError, match="na_option must be one of 'keep', 'top', 'bottom'"
            ):
                it.rank(na_option="first")
            for flag in ("pct", "ascending", "numeric_only"):
                with pytest.raises(ValueError, match=f"{flag} must be True or False"):
                    it.rank(**{flag: "yes"})
        with pytest.raises(TypeError, match="rank of column 'z'"):
            each.gpuscan.rank()
        with pytest.raises(TypeError, match="rank of column 'c'"):
            each.gpuscan.groupby("k")["c"].rank()
        with pytest.raises(TypeError, match="numeric_only=True leaves nothing to rank"):
            each.x.astype("str").gpuscan.rank(numeric_only=True)
        same(dask.compute(each.x.gpuscan.rank(numeric_only=True))[0], frame.x.rank())


def test_what_pandas_takes_by_position():
    frame = pd.DataFrame({"k": [1, 1, 2, 1], "x": [2.0, np.nan, 3.0, 5.0]})
    for each in (frame, partitioned(frame, [0.5])):
        for it in (each[["x"]].gpuscan, each.x.gpuscan):
            with pytest.raises(TypeError, match="positional argument"):
                it.rank(0)
        found = each.gpuscan.groupby("k")["x"].rank("min", False, "top", True)
        same(dask.compute(found)[0], frame.groupby("k")["x"].rank("min", False, "top", True))


def test_values_without_an_order_are_named():
    mixed = pd.Series(["a", 1, 1], dtype=object, name="x")
    for each in (mixed, partitioned(mixed, [0.7])):
        with pytest.raises(
            TypeError, match=r"column 'x' of dtype object has values without an order"
        ):
            dask.compute(each.gpuscan.rank())


def test_equal_nan_among_values_of_arrow():
    """Arrow tells NaN from null; all NaN are one value, as for polars and pandas."""
    values = pa.chunked_array([pa.array([np.nan, np.nan, 1.0, np.nan])])
    arrow = pd.Series(pd.arrays.ArrowExtensionArray(values))
    numpy = pd.Series([np.nan, np.nan, 1.0, np.nan])
    for options in ({}, {"method": "min"}, {"method": "max"}, {"pct": True}, {"ascending": False}):
        expected = arrow.rank(**options)
        assert expected.tolist() == numpy.rank(na_option="bottom", **options).tolist()
        for each in (arrow, partitioned(arrow, [0.5])):
            assert computed(each.gpuscan.rank(**options)).tolist() == expected.tolist()
    groups = pd.DataFrame({"k": [1, 1, 1, 2], "x": arrow})
    assert groups.gpuscan.groupby("k")["x"].rank().tolist() == [2.5, 2.5, 1.0, 1.0]


ORDERED = (
    *(pa.date32(), pa.date64(), pa.time32("ms"), pa.time64("ns"), pa.duration("s")),
    *(pa.timestamp("ns", "UTC"), pa.decimal128(38, 3), pa.decimal256(76, 3), pa.string(), pa.binary()),
)  # fmt: skip
"""Dtypes of which pandas ranks most among all rows only."""

RECEIVERS = {
    "pandas": lambda frame: frame,
    "in one": lambda frame: partitioned(frame, []),
    "row by row": lambda frame: partitioned(frame, np.arange(len(frame)) / len(frame)),
    "polars": lambda frame: pytest.importorskip("polars").from_pandas(frame),
    "arrow": lambda frame: pa.Table.from_pandas(frame),
}


def in_order(numbers, dtype):
    """Return values of a dtype that have the order of small numbers."""
    if pa.types.is_string(dtype) or pa.types.is_binary(dtype):
        values = [None if n is None else chr(ord("a") + n) for n in numbers]
        return pa.array(values, pa.string()).cast(dtype)
    if pa.types.is_decimal(dtype):
        return pa.array([None if n is None else Decimal(n) / 8 for n in numbers], dtype)
    day = 86_400_000 if dtype == pa.date64() else 1
    width = pa.int32() if dtype.bit_width == 32 else pa.int64()
    return pa.array([None if n is None else day * n for n in numbers], width).view(dtype)


@pytest.mark.parametrize("dtype", ORDERED, ids=str)
@pytest.mark.parametrize("receiver", RECEIVERS)
@pytest.mark.parametrize(
    "options", [{}, {"method": "dense", "pct": True, "ascending": False, "na_option": "top"}]
)
def test_all_that_has_an_order_is_ranked_in_groups(dtype, receiver, options):
    if receiver == "polars" and dtype == pa.decimal256(76, 3):
        pytest.skip("polars has no such decimals")
    numbers = [3, None, 1, 3, 2, None, 1, 0]
    frame = pd.DataFrame({"k": [1, 1, 2, 1, 1, 1, 2, 1]})
    expected = frame.assign(v=pd.array(numbers, "Float64")).groupby("k")["v"].rank(**options)
    frame["v"] = pd.arrays.ArrowExtensionArray(in_order(numbers, dtype))
    groups = dask_gpuscan.on(RECEIVERS[receiver](frame)).groupby("k")
    (found,) = dask.compute(groups.rank(**options)["v"])
    found = found.to_pandas() if hasattr(found, "to_pandas") else found
    same(found.astype("Float64"), expected.astype("Float64").rename("v"))
