"""Running answers of values that kernels do not hold: strings, objects, ordered categoricals, complex numbers."""

import datetime
from decimal import Decimal
from fractions import Fraction

import dask
import dask.dataframe as dd
import numpy as np
import pandas as pd
import pyarrow as pa
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from dask_gpuscan import add, maximum
from helpers.backends import same
from helpers.strategies import cuts, partitioned
from helpers.versions import since

pytestmark = since("pandas", "3", "has no running answers of strings")

ORDERED = pd.CategoricalDtype(["c", "a", "", "b", "zz"], ordered=True)
STRINGS = (
    "str",
    "string[python]",
    "string[pyarrow]",
    pd.StringDtype("python", na_value=np.nan),
    pd.ArrowDtype(pa.string()),
    pd.ArrowDtype(pa.large_string()),
)
TEXTS = st.sampled_from(["", "a", "b", "c", "zz", "é", "日本"])


@st.composite
def strings(draw, dtypes=STRINGS):
    """A series of strings, with nulls."""
    dtype = draw(st.sampled_from(dtypes))
    items = draw(st.lists(TEXTS | st.none(), max_size=12))
    return pd.Series(items, dtype=dtype, name="x", index=pd.Index(range(len(items), 0, -1)))


@st.composite
def extremes(draw):
    """A series of any dtype whose values have an order, but are no numbers, with nulls."""
    if draw(st.booleans()):
        return draw(strings())
    items = draw(st.lists(st.sampled_from([*ORDERED.categories, None]), max_size=12))
    return pd.Series(items, dtype=ORDERED, name="x")


@st.composite
def objects(draw):
    """A series of Python's objects, with nulls where pandas takes them."""
    numbers = st.integers(-3, 3) | st.booleans()
    kinds = (
        numbers | st.just(np.nan) | st.none(),
        st.integers(-(2**70), 2**70),
        TEXTS,
        st.integers(-3, 3).map(Fraction),
        st.integers(-3, 3).map(Decimal),
    )
    items = draw(st.lists(draw(st.sampled_from(kinds)), max_size=12))
    return pd.Series(items, dtype=object, name="x")


def check(backend, x, at, method, skipna):
    expected = backend.answer(x, lambda s: getattr(s, method)(skipna=skipna))
    for series in (backend.frame(x), partitioned(backend.frame(x), at)):
        if expected is None:  # cuDF has none of categories
            with pytest.raises(TypeError, match=f"{method} of column 'x'"):
                getattr(series.gpuscan, method)()
            continue
        answer = getattr(series.gpuscan, method)(skipna=skipna)
        meta = answer.dtype
        if hasattr(answer, "compute"):
            answer = answer.compute()
        assert answer.dtype == meta
        same(backend.to_pandas(answer), expected)


@given(x=extremes(), at=cuts(), method=st.sampled_from(["cummax", "cummin"]), skipna=st.booleans())
def test_extremes_as_pandas(backend, x, at, method, skipna):
    check(backend, x, at, method, skipna)


@given(x=strings(), at=cuts(), skipna=st.booleans())
def test_joined_strings_as_pandas(x, at, skipna):
    expected = x.cumsum(skipna=skipna)
    same(x.gpuscan.cumsum(skipna=skipna), expected)
    same(partitioned(x, at).gpuscan.cumsum(skipna=skipna).compute(), expected)


@given(x=objects(), at=cuts(), method=st.sampled_from(["cumsum", "cumprod", "cummax", "cummin"]))
def test_objects_as_pandas(x, at, method):
    try:
        expected = getattr(x, method)()
    except TypeError:
        with pytest.raises(TypeError, match=f"{method} of column 'x'"):
            getattr(x.gpuscan, method)()
        return
    same(getattr(x.gpuscan, method)(), expected)
    same(getattr(partitioned(x, at).gpuscan, method)().compute(), expected)


def reference(x, method, *, exclusive=False, initial=None, reverse=False, skipna=True):
    """The answer value by value, in plain Python."""
    join = {"cumsum": lambda a, b: a + b, "cummax": max, "cummin": min}[method]
    order = list(x.cat.categories) if isinstance(x.dtype, pd.CategoricalDtype) else None
    state, null, out = initial, False, []
    if order is not None and state is not None:
        state = order.index(state)
    if state is None and exclusive and method == "cumsum":
        state = ""
    for value in reversed(list(x)) if reverse else list(x):
        is_null, before = pd.isna(value), state
        if not is_null:
            number = value if order is None else order.index(value)
            state = number if state is None else join(state, number)
        shown = (
            None
            if (null if exclusive else null or is_null) and not skipna
            else (before if exclusive else state)
        )
        null |= is_null
        out.append(
            None
            if shown is None or (skipna and is_null)
            else shown
            if order is None
            else order[shown]
        )
    return pd.Series(out[::-1] if reverse else out, dtype=x.dtype, index=x.index, name=x.name)


def method_of(backend, x, method):
    """The method, or another where the column has none; cuDF has no method of categories."""
    is_category = x.dtype == ORDERED
    assume(not (is_category and backend.name == "cuda"))
    return "cummax" if method == "cumsum" and (is_category or backend.name == "cuda") else method


def as_held(backend, x):
    """What a backend makes of a series."""
    return backend.to_pandas(backend.frame(x))


@given(
    x=extremes(),
    at=cuts(),
    method=st.sampled_from(["cumsum", "cummax", "cummin"]),
    flags=st.fixed_dictionaries({k: st.booleans() for k in ("exclusive", "reverse", "skipna")}),
    initial=st.sampled_from([None, "b"]),
)
def test_every_option(backend, x, at, method, flags, initial):
    method = method_of(backend, x, method)
    expected = reference(x, method, initial=initial, **flags)
    lazy = getattr(partitioned(backend.frame(x), at).gpuscan, method)(initial=initial, **flags)
    same(backend.to_pandas(lazy.compute()), as_held(backend, expected))


@given(
    x=extremes(),
    keys=st.lists(st.sampled_from([1, 2, None]), min_size=12, max_size=12),
    at=cuts(),
    method=st.sampled_from(["cumsum", "cummax", "cummin"]),
    flags=st.fixed_dictionaries({k: st.booleans() for k in ("exclusive", "reverse", "skipna")}),
    clustered=st.booleans(),
)
def test_in_groups(backend, x, keys, at, method, flags, clustered):
    method = method_of(backend, x, method)
    x = x.reset_index(drop=True)
    key = pd.Series(keys[: len(x)], dtype="Int64")
    runs = key.fillna(0).diff().ne(0).fillna(True).cumsum() if clustered else key
    parts = [reference(part, method, **flags) for _, part in x.groupby(runs)]
    expected = pd.concat([x.iloc[:0], *parts]).reindex(x.index).mask(key.isna())
    frame = x.to_frame().assign(k=key)
    ddf = partitioned(backend.frame(frame), at)
    lazy = getattr(ddf.gpuscan.groupby("k", clustered=clustered)["x"], method)(**flags)
    same(backend.to_pandas(lazy.compute()), as_held(backend, expected.astype(x.dtype)))


@pytest.mark.parametrize("method", ["cumsum", "cumprod", "cummax", "cummin"])
@pytest.mark.parametrize("dtype", ["complex64", "complex128", "longdouble", "clongdouble"])
def test_numbers_that_no_kernel_compares_or_holds(method, dtype):
    x = pd.Series(np.array([1 / 3, 2, np.nan, 0, 5, -7]).astype(dtype), name="x")
    expected = getattr(x, method)()
    for at in ([], [0.2, 0.4, 0.4, 0.7]):
        answer = getattr(partitioned(x, at).gpuscan, method)().compute()
        same(answer, expected, rtol=1e-6)


@pytest.mark.parametrize("method", ["cumsum", "cumprod", "cummax", "cummin"])
def test_longdouble_within_groups(method):
    x = np.array([1e20, 3, 1, np.nan, 1, 5, 7], dtype="longdouble")
    frame = pd.DataFrame({"g": [1, 2, 1, 1, 1, 2, 1], "x": x}, index=range(7))
    expected = pd.concat([getattr(x, method)() for _, x in frame.groupby("g")["x"]]).sort_index()
    for at in ([], [0.3, 0.6], [i / 7 for i in range(1, 7)]):
        answer = getattr(partitioned(frame, at).gpuscan.groupby("g")["x"], method)().compute()
        assert answer.dtype == x.dtype
        np.testing.assert_array_equal(answer.to_numpy(), expected.to_numpy())


def test_a_sum_of_objects_goes_on_after_nulls():
    x = pd.Series(["a", None, "b", np.nan], dtype=object)  # which pandas refuses
    assert x.gpuscan.cumsum().tolist()[::2] == ["a", "ab"]
    days = pd.Series([datetime.timedelta(1), None, datetime.timedelta(2)], dtype=object)
    assert days.gpuscan.cumsum().iloc[2] == datetime.timedelta(3)
    assert pd.Series([1, None, True], dtype=object).gpuscan.cumsum().iloc[2] == 2


@pytest.mark.parametrize(
    ("x", "size"),
    [
        (pd.Series(["x" * 10**6] * 10**6, dtype=object), "500,000,500"),
        (pd.Series(["x" * 10] * 10**6, dtype=pd.ArrowDtype(pa.string())), "5,000"),
    ],
)
def test_strings_joined_beyond_memory_are_refused(x, size):
    with pytest.raises(MemoryError, match=rf"1,000,000 rows, which take {size} GB: more than"):
        x.gpuscan.cumsum()


def test_strings_joined_beyond_their_dtype_are_refused():
    x = pd.Series(["x" * 10_000] * 700, dtype=pd.ArrowDtype(pa.string()))
    with pytest.raises(OverflowError, match=r"2,453,500,000 bytes, .* holds 2,147,483,647; cast"):
        x.gpuscan.cumsum()


def test_categories_that_differ_by_partition():
    parts = [pd.Series(pd.Categorical([c], ordered=True), name="x") for c in "ab"]
    lazy = dd.from_map(lambda p: p, parts, meta=parts[0]).gpuscan.cummax()
    with pytest.raises(ValueError, match=r"other categories .* cat.set_categories"):
        lazy.compute()


@pytest.mark.parametrize(
    ("dtype", "options", "message"),
    [
        ("str", {"initial": 5}, "initial must be a value of dtype str, found 5"),
        ("str", {"initial": np.nan}, "initial must be a value of dtype str, found"),
        (ORDERED, {"initial": "x"}, "initial must be a value of dtype category, found 'x'"),
        ("str", {"dtype": "str"}, "dtype must be a numeric dtype|dtype=str cannot be asked"),
        ("str", {"dtype": "int64"}, "dtype=int64 cannot be asked for a column of str"),
        (object, {"initial": None, "dtype": "int64"}, "dtype=int64 cannot be asked for a"),
    ],
)
def test_wrong_options(dtype, options, message):
    x = pd.Series(["a", "b"], dtype=dtype, name="x")
    for series in (x, partitioned(x, [0.5])):
        with pytest.raises(TypeError, match=f"cummax of column 'x': {message}"):
            series.gpuscan.cummax(**options)


@pytest.mark.parametrize("method", ["cummax", "cummin"])
def test_categories_without_order(method):
    x = pd.Series(["a", "b"], dtype="category", name="x")
    with pytest.raises(TypeError, match=rf"{method} of column 'x': .*not ordered.*; cast it"):
        getattr(x.gpuscan, method)()


def test_options_by_column():
    frame = pd.DataFrame({"s": ["a", "b"], "n": [1, 2]})
    for each in (frame, partitioned(frame, [0.5])):
        (out,) = dask.compute(each.gpuscan.cumsum(initial={"s": ">", "n": 10}))
        assert out.to_dict("list") == {"s": [">a", ">ab"], "n": [11, 13]}
        (out,) = dask.compute(each.gpuscan.scan(maximum, reverse=True))
        assert out.to_dict("list") == {"s": ["b", "b"], "n": [2, 2]}


sparse_methods = since("pandas", "3.1", "has no running methods of sparse columns")
SPARSE = (("float64", np.nan), ("float64", 0.0), ("int64", 0), ("int64", 7), ("bool", False))


@sparse_methods
@given(data=st.data(), at=cuts(), sparse=st.sampled_from(SPARSE), skipna=st.booleans())
@pytest.mark.parametrize("method", ["cumsum", "cumprod", "cummax", "cummin"])
def test_sparse_columns(method, data, at, sparse, skipna):
    dtype, fill = sparse
    value = {"float64": st.sampled_from([0.0, 1.0, 2.0, np.nan]), "bool": st.booleans()}.get(dtype)
    items = data.draw(st.lists(value or st.sampled_from([0, 1, 7]), max_size=8))
    x = pd.Series(items, dtype=pd.SparseDtype(dtype, fill), name="x")
    expected = getattr(x, method)(skipna=skipna)
    lazy = getattr(partitioned(x, at).gpuscan, method)(skipna=skipna)
    assert lazy.dtype == expected.dtype
    for found in (getattr(x.gpuscan, method)(skipna=skipna), lazy.compute()):
        pd.testing.assert_series_equal(found, expected)
    frame = pd.DataFrame({"k": np.arange(len(x)) % 2, "x": x})
    dense = getattr(frame.groupby("k")["x"], method)()
    pd.testing.assert_series_equal(getattr(frame.gpuscan.groupby("k")["x"], method)(), dense)


@sparse_methods
def test_sparse_columns_among_others():
    x = pd.Series([0.0, 2.0, np.nan, 4.0], dtype=pd.SparseDtype("float64", 0.0))
    frame = pd.DataFrame({"x": x, "n": [1, 2, 3, 4], "s": list("abcd")})
    same(frame.gpuscan.cumsum(numeric_only=True), frame[["x", "n"]].cumsum())
    found = frame.gpuscan.scan({"total": (add, "x"), "peak": (maximum, "n")})
    same(found, pd.DataFrame({"total": x.cumsum(), "peak": frame["n"].cummax()}))
    before = x.gpuscan.scan(add, exclusive=True, initial=1.0)
    same(before, pd.Series([1.0, 1.0, np.nan, 3.0], dtype="Sparse[float64]"))
