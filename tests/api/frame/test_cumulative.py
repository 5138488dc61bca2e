"""cumsum, cumprod, cummax, cummin against the partitions' own library on the whole: dtypes, nulls, partitionings."""

import dask
import dask.dataframe as dd
import numpy as np
import pandas as pd
import pyarrow as pa
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from helpers.asked import computed
from helpers.backends import same
from helpers.strategies import (
    FLOATS,
    INTEGERS,
    TIMES,
    columns,
    cuts,
    frames,
    partitioned,
    partitioned_at,
    two_thirds,
)
from helpers.versions import older, since

METHODS = ["cumsum", "cumprod", "cummax", "cummin"]
NUMBERS = (*INTEGERS, *FLOATS)
FEW = ("int64", "float64", "Int64", "double[pyarrow]")


@two_thirds
@given(
    x=columns((*NUMBERS, *TIMES)), at=cuts(), method=st.sampled_from(METHODS), skipna=st.booleans()
)
def test_series_as_pandas(backend, x, at, method, skipna):
    expected = backend.answer(x, lambda s: getattr(s, method)(skipna=skipna))
    for series in (backend.frame(x), partitioned(backend.frame(x), at)):
        if expected is None:
            with pytest.raises(TypeError, match="column 'x'"):
                getattr(series.gpuscan, method)(skipna=skipna)
            continue
        answer = getattr(series.gpuscan, method)(skipna=skipna)
        if hasattr(answer, "compute"):
            meta = answer.dtype
            answer = answer.compute()
            assert answer.dtype == meta
        same(backend.to_pandas(answer), expected)


FRAME_TIMES = () if older("pandas", "3") else ("timedelta64[ns]",)  # pandas 2 raises an IndexError


@two_thirds
@given(df=frames((*FEW, *FRAME_TIMES)), at=cuts(), method=st.sampled_from(METHODS))
def test_frames_as_pandas(backend, df, at, method):
    expected = backend.answer(df, lambda frame: getattr(frame, method)())
    if expected is None:
        with pytest.raises(TypeError, match=f"{method} of column 'c[0-2]'"):
            getattr(partitioned(backend.frame(df), at).gpuscan, method)()
        return
    lazy = getattr(partitioned(backend.frame(df), at).gpuscan, method)()
    same(backend.to_pandas(lazy.compute()), expected)
    assert lazy.columns.tolist() == df.columns.tolist()


@given(x=columns(FEW), at=cuts(), method=st.sampled_from(METHODS), skipna=st.booleans())
def test_reverse_is_pandas_on_reversed_rows(backend, x, at, method, skipna):
    expected = backend.answer(x[::-1], lambda s: getattr(s, method)(skipna=skipna))[::-1]
    lazy = getattr(partitioned(backend.frame(x), at).gpuscan, method)(skipna=skipna, reverse=True)
    same(backend.to_pandas(lazy.compute()), expected)


@given(
    x=columns(("int64", "float64", "Int64", "int64[pyarrow]", "timedelta64[ns]")),
    at=cuts(),
    reverse=st.booleans(),
    initial=st.integers(-5, 5),
)
def test_exclusive_sum_is_the_sum_less_the_row(backend, x, at, reverse, initial):
    start = pd.Timedelta(initial) if x.dtype.kind == "m" else initial
    ordered = x[::-1] if reverse else x
    total = backend.answer(ordered, lambda s: s.cumsum() + start)
    assert total is not None or backend.name == "cuda"  # cuDF does not add these to every column
    assume(total is not None or x.dtype.kind != "m")  # nor has it running sums of all durations
    options = {"reverse": reverse, "initial": start}
    ddf = partitioned(backend.frame(x), at)
    inclusive = backend.to_pandas(ddf.gpuscan.cumsum(**options).compute())
    exclusive = backend.to_pandas(ddf.gpuscan.cumsum(exclusive=True, **options).compute())
    same(exclusive + x, inclusive)
    if total is not None:
        same(inclusive, total[::-1] if reverse else total)


@given(
    x=columns(("float64", "Int64", "datetime64[ns]")),
    at=cuts(),
    method=st.sampled_from(METHODS[2:]),
)
def test_exclusive_extremes_are_shifted_and_null_at_first(backend, x, at, method):
    x = x.dropna()
    lazy = getattr(partitioned(backend.frame(x), at).gpuscan, method)(exclusive=True)
    expected = backend.answer(x, lambda s: getattr(s, method)().shift(1))
    same(backend.to_pandas(lazy.compute()), expected)


@pytest.mark.parametrize("dtype", ["int64", "Int64"])
def test_integers_wrap_around(backend, dtype):
    x = pd.Series([2**63 - 1, 1, 5], dtype=dtype)
    same(
        backend.to_pandas(partitioned(backend.frame(x), [0.4]).gpuscan.cumsum().compute()),
        x.cumsum(),
    )


@pytest.mark.parametrize(
    ("items", "dtype", "method"),
    [
        ([100, 27, 1], "int8[pyarrow]", "cumsum"),
        ([2**63 - 1, -5, 6], "int64[pyarrow]", "cumsum"),
        ([2**64 - 1, 1], "uint64[pyarrow]", "cumsum"),
        ([2**62, 2], "int64[pyarrow]", "cumprod"),
        ([-(2**63), -1], "int64[pyarrow]", "cumprod"),
    ],
)
def test_arrow_integers_raise_on_overflow_as_in_pandas(items, dtype, method):
    x = pd.Series(items, dtype=dtype)
    with pytest.raises(Exception, match="overflow") as theirs:
        getattr(x, method)()
    with pytest.raises(type(theirs.value), match="overflow"):
        getattr(x.gpuscan, method)()
    with pytest.raises(type(theirs.value), match="overflow"):
        getattr(partitioned(x, [0.5]).gpuscan, method)().compute()


def test_arrow_integers_that_fit_do_not_raise():
    x = pd.Series([2**63 - 1, -5, None, 5, -(2**62)], dtype="int64[pyarrow]")
    for at in (
        [],
        [0.2],
        [0.2, 0.4, 0.9],
    ):  # the second partition alone, or both, overflow in between
        same(partitioned(x, at).gpuscan.cumsum().compute(), x.cumsum())
        same(partitioned(x, at).gpuscan.cumsum(exclusive=True).compute() + x, x.cumsum())


@given(
    items=st.lists(st.one_of(st.none(), st.integers(-70, 70), st.integers(-128, 127)), max_size=12),
    at=cuts(),
    reverse=st.booleans(),
)
def test_narrow_arrow_integers_raise_exactly_where_pandas_does(items, at, reverse):
    x = pd.Series(items, dtype="int8[pyarrow]")
    try:
        expected = x[::-1].cumsum()[::-1] if reverse else x.cumsum()
    except pa.ArrowInvalid:
        expected = None
    for series in (x, partitioned(x, at)):
        if expected is None:
            with pytest.raises(pa.ArrowInvalid, match="overflow"):
                dask.compute(series.gpuscan.cumsum(reverse=reverse))
        else:
            same(computed(series.gpuscan.cumsum(reverse=reverse)), expected)


@pytest.mark.parametrize("dtype", ["float64", "float32", "Float64", "double[pyarrow]"])
@pytest.mark.parametrize(
    "items",
    [
        [0.0, *[10.0] * 3000, 1.0],
        [1e-30, 1e20, 1e20, 1e20, 1e-30, 2.0] * 3,
        [1e30, 1e30, 1e30, 1e-30, 0.0, 1.0] * 3,
        [1e-30, 1e-30, -1e-30, 1e30, 5.0],
    ],
)
def test_products_do_not_overflow_on_the_way(items, dtype):
    x = pd.Series(items).astype(dtype)
    with np.errstate(all="ignore"):
        expected = x.cumprod()
    for at in ([], [0.5], [0.1, 0.4, 0.7]):
        same(partitioned(x, at).gpuscan.cumprod().compute(), expected, rtol=1e-4)


@since("pyarrow", "26", "cummax starts from the least positive float")
def test_arrow_extremes_pass_over_nan():
    import pyarrow as pa

    values = pa.array([np.nan, 1.0, np.nan, None, 3.0, 2.0])
    x = pd.Series(pd.arrays.ArrowExtensionArray(pa.chunked_array([values])))
    for method in METHODS[2:]:
        for at in ([], [0.2, 0.4], [0.5]):
            out = getattr(partitioned(x, at).gpuscan, method)().compute()
            expected = getattr(x, method)()
            assert repr(pa.array(out).to_pylist()) == repr(pa.array(expected).to_pylist())


@pytest.mark.parametrize("unit", ["ns", "s"])
@pytest.mark.parametrize(
    ("items", "options"),
    [
        ([2**62, 2**62, 5], {}),
        ([-(2**62), -(2**62)], {}),
        ([1, -(2**62), -(2**62)], {"reverse": True}),
        ([-(2**62), -(2**62), 1], {"exclusive": True}),
        ([0, -(2**62)], {"initial": -(2**62)}),
        ([2**62, 2**62, -1], {}),
        ([-(2**62), None, -(2**62)], {}),
    ],
)
def test_timedeltas_that_land_on_nat_raise(unit, items, options):
    nat = np.iinfo(np.int64).min
    x = np.array([nat if i is None else i for i in items], np.int64)
    x = pd.Series(x.view(f"timedelta64[{unit}]"))
    if "initial" in options:
        if unit == "s" and older("pandas", "3"):
            pytest.skip("pandas 2 makes columns of those durations only that nanoseconds can hold")
        options = {"initial": pd.Timedelta(np.timedelta64(options["initial"], unit))}
    elif "exclusive" not in options and not older("pandas", "3.1"):  # it has none, and wraps around
        with pytest.raises(pd.errors.OutOfBoundsTimedelta):
            x[::-1].cumsum() if options else x.cumsum()
    for at in (None, [0.4], [0.4, 0.7]):
        series = x if at is None else partitioned(x, at)
        with pytest.raises(pd.errors.OutOfBoundsTimedelta, match="overflow"):
            dask.compute(series.gpuscan.cumsum(**options))


@pytest.mark.parametrize("options", [{}, {"reverse": True}])
def test_timedeltas_down_to_the_least_do_not_raise(options):
    x = pd.Series([-(2**62), 1 - 2**62, 2**62, -(2**62)], dtype="timedelta64[ns]")
    x = x[::-1] if options else x
    expected = x[::-1].cumsum()[::-1] if options else x.cumsum()
    for series in (x, partitioned(x, [0.3, 0.6])):
        same(dask.compute(series.gpuscan.cumsum(**options))[0], expected)


@pytest.mark.parametrize("dtype", ["uint64[pyarrow]", "int64[pyarrow]", "timedelta64[ns]"])
@pytest.mark.parametrize("reverse", [False, True])
def test_overflow_of_an_exclusive_scan_is_met_however_rows_are_cut(dtype, reverse):
    """Also where that row is the last of its partition, which has no answer for what comes behind it."""
    x = pd.Series([2**62, 2**62, 2**62, 2**62, 1], dtype="int64").astype(dtype)
    x = x[::-1] if reverse else x
    fine = x.iloc[-3:] if reverse else x.iloc[:3]
    fine = fine if dtype.startswith("u") else fine.iloc[1:2]
    for rows, raises in ((x, True), (fine, False)):
        for at in (None, [1], [2], [4], [1, 2, 3, 4]):
            cut = rows if at is None else partitioned_at(rows, [n for n in at if n < len(rows)])
            ask = lambda cut=cut: dask.compute(cut.gpuscan.cumsum(exclusive=True, reverse=reverse))  # noqa: E731
            if raises:
                with pytest.raises((pa.ArrowInvalid, pd.errors.OutOfBoundsTimedelta)):
                    ask()
            else:
                (found,) = ask()
                assert found.iloc[-1 if not reverse else 0] == rows.iloc[0] * (len(rows) - 1)


def test_arrow_overflow_behind_a_null_is_null():
    x = pd.Series([1, None, 2**62, 2**62, 2**62], dtype="int64[pyarrow]")
    same(x.gpuscan.cumsum(skipna=False), x.cumsum(skipna=False))


def test_arrow_bool_is_a_number():
    x = pd.Series([False, None, True, False], dtype="bool[pyarrow]")
    assert x.gpuscan.cumany().tolist() == [False, False, True, True]
    same(x.gpuscan.expanding().sum(), x.expanding().sum())


def test_odd_arrays_and_labels():
    big = pd.Series(np.array([1, 2, 3], ">i8"))
    assert big.gpuscan.cumsum().tolist() == [1, 3, 6]
    named = pd.DataFrame({"expr": [1, 2]})
    same(named.gpuscan.cumsum(), named.cumsum())
    labelled = pd.Series([1, 2], index=["expr", "b"])
    same(labelled.gpuscan.cumsum(), labelled.cumsum())
    told = pd.DataFrame({"x": [1]})
    told.attrs["source"] = "here"
    assert told.gpuscan.cumsum().attrs == {"source": "here"}


def test_an_integer_dtype_cannot_hold_nulls():
    with pytest.raises(TypeError, match="cannot hold the nulls"):
        pd.Series([1.0, None], name="x").gpuscan.cumsum(dtype="int64")
    assert pd.Series([1.0, None, 2.0]).gpuscan.cumsum(dtype="Int64").tolist() == [1, pd.NA, 3]
    with pytest.raises(TypeError, match="cannot hold complex"):
        pd.Series([1], dtype="Int64").gpuscan.cumsum(dtype=complex)


def test_a_real_dtype_cannot_hold_complex_numbers():
    frame = pd.DataFrame({"k": [1, 1], "z": [1j, 2.0]})
    for ask in (frame.z.gpuscan, frame.gpuscan.groupby("k")):
        with pytest.raises(TypeError, match="'z': dtype=float64 cannot hold complex numbers"):
            ask.cumsum(dtype="float64")
    assert frame.gpuscan.groupby("k").z.cumsum(dtype=complex).tolist() == [1j, 2 + 1j]


def test_columns_of_nulls_in_the_first_partitions(backend):
    df = pd.DataFrame({"x": np.arange(20.0), "y": [np.nan] * 9 + list(range(11))})
    lazy = partitioned(backend.frame(df), [0.2, 0.4, 0.6, 0.8]).gpuscan.cumsum()
    same(backend.to_pandas(lazy.compute()), df.cumsum())


def test_numeric_only_and_axis(backend):
    df = pd.DataFrame(
        {"a": [1, 2], "s": ["x", "y"], "b": [1.5, None], "t": pd.to_timedelta([1, 2])}
    )
    ddf = partitioned(backend.frame(df), [0.5])
    expected = df[["a", "b"]].cumsum()
    same(backend.to_pandas(ddf.gpuscan.cumsum(numeric_only=True).compute()), expected)
    same(backend.to_pandas(backend.frame(df).gpuscan.cumsum(numeric_only=True)), expected)
    for both in (df[["a", "s", "b"]], df[["a", "s", "b"]].fillna({"b": 0.5})):
        here = backend.frame(both)
        there = partitioned(here, [0.5])
        for method in METHODS:
            along = backend.answer(both[["a", "b"]], lambda f, m=method: getattr(f, m)(axis=1))
            if along is None:  # cuDF has some of these for columns without nulls alone
                assert backend.name == "cuda"
                continue
            for frame in (here, there):
                chosen = getattr(frame.gpuscan, method)(axis=1, numeric_only=True)
                numbers = getattr(frame[["a", "b"]].gpuscan, method)(axis=1)
                for out in dask.compute(chosen, numbers):
                    same(backend.to_pandas(out), along)


def test_duplicate_and_odd_column_names():
    df = pd.DataFrame([[1, 2, 3.0], [4, 5, 6.0]], columns=["a", "a", ("b", 1)])
    same(df.gpuscan.cumsum(), df.cumsum())


@pytest.mark.parametrize("dtype", ["float16", "complex128", "int8", "uint64"])
def test_other_dtypes(dtype):
    x = pd.Series([1, 2, 3]).astype(dtype)
    same(partitioned(x, [0.5]).gpuscan.cumsum().compute(), x.cumsum())


@pytest.mark.parametrize("dtype", ["float32", "int32", "Int32", "Float32"])
def test_requested_dtype(dtype):
    for x in (pd.Series([1, 2, 3]), pd.Series([1, 2, 3], dtype="Int64")):
        out = partitioned(x, [0.5]).gpuscan.cumsum(dtype=dtype)
        assert out.dtype == out.compute().dtype
        assert out.compute().tolist() == [1, 3, 6]
        assert out.compute().to_numpy().dtype.itemsize == 4


def test_initial_by_column(backend):
    df = pd.DataFrame({"a": [1, 2], "b": [1.0, 2.0]})
    ddf = partitioned(backend.frame(df), [0.5])
    out = ddf.gpuscan.cumsum(initial={"a": 10}).compute()
    same(backend.to_pandas(out), df.cumsum() + [10, 0])


@given(x=columns(("float64", "boolean")), at=cuts(), reverse=st.booleans())
def test_any_and_all(backend, x, at, reverse):
    ddf = partitioned(backend.frame(x), at)
    ordered = x[::-1] if reverse else x
    truth = ordered.astype("Float64").fillna(0) != 0
    known = truth | ordered.isna()
    for method, expected in (
        ("cumany", truth.astype(bool).cummax()),
        ("cumall", known.astype(bool).cummin()),
    ):
        answer = getattr(ddf.gpuscan, method)(reverse=reverse)
        got = backend.to_pandas(answer.compute())
        same(got.astype(expected.dtype), expected[::-1] if reverse else expected)


@given(x=columns(("boolean",)), at=cuts(), method=st.sampled_from(METHODS))
def test_arrow_bool_is_scanned_as_nullable_bool_is(x, at, method):
    flags = x.astype("bool[pyarrow]")
    kind = "int64[pyarrow]" if method in ("cumsum", "cumprod") else "bool[pyarrow]"
    for each in (flags, partitioned(flags, at)):
        same(computed(getattr(each.gpuscan, method)()), getattr(x, method)().astype(kind))


def test_flags_of_changes_of_strings_are_counted():
    frame = pd.DataFrame({"s": pd.array(list("aabba"), dtype="string[pyarrow]")})
    d = partitioned(frame, [0.3, 0.7])
    for changed in (d.s != d.s.shift(), d.s != d.s.gpuscan.shift()):
        found = changed.gpuscan.cumsum().compute()
        assert found.dtype == "int64[pyarrow]" or found.dtype == "Int64"
        assert found.fillna(-1).tolist() == [-1, 0, 1, 1, 2]


def signs(series):
    return [np.signbit(v) for v in series.dropna().tolist()]


@pytest.mark.parametrize("dtype", ["float64", "float32", "double[pyarrow]"])
def test_zeros_keep_their_sign(dtype):
    for items in (
        [-0.0],
        [-0.0] * 9,
        [-0.0, -0.0, 0.0, -0.0],
        [0.0, -0.0],
        [-0.0, 1.0, -1.0, -0.0],
    ):
        x = pd.Series(items, dtype=dtype)
        for at in (None, [0.5, 0.5], [0.3, 0.7]):
            series = x if at is None else partitioned(x, at)
            found, back, exclusive, from_zero = dask.compute(
                series.gpuscan.cumsum(),
                series.gpuscan.cumsum(reverse=True),
                series.gpuscan.cumsum(exclusive=True),
                series.gpuscan.cumsum(initial=0.0),
            )
            assert signs(found) == signs(x.cumsum())
            assert signs(back) == signs(x[::-1].cumsum()[::-1])
            assert not any(signs(exclusive) + signs(from_zero))


def test_expanding_zeros_keep_their_sign():
    for x in (pd.Series([-0.0] * 9), pd.Series([None, -0.0, None, -0.0])):
        for series in (x, partitioned(x, [0.3, 0.6])):
            for name in ("sum", "mean"):
                (found,) = dask.compute(getattr(series.gpuscan.expanding(), name)())
                assert signs(found) == signs(getattr(x.expanding(), name)())


def test_nulls_change_no_sign():
    x = pd.Series([None, -0.0, None, -0.0, None, 0.0, -0.0])
    for at in ([], [0.3, 0.5], [i / 7 + 0.01 for i in range(1, 7)], [0.3, 0.3]):
        assert signs(partitioned(x, at).gpuscan.cumsum().compute()) == [True, True, False, False]
    nothing = pd.Series([None, None], dtype="float64").gpuscan.expanding(min_periods=0).sum()
    assert signs(nothing) == [False, False]


def test_sums_of_groups_begin_with_zero():
    frame = pd.DataFrame({"k": [1, 1, 2], "x": [-0.0, -0.0, None]})
    expected = frame.groupby("k").x.cumsum()
    for clustered in (True, False):
        groups = partitioned(frame, [0.5]).gpuscan.groupby("k", clustered=clustered).x
        assert signs(groups.cumsum().compute()) == signs(expected) == [False, False]
        assert not signs(groups.sum().compute())[1]


WHOLE = {
    "Float64": lambda x: pd.Series(x, dtype="Float64"),
    "float64[pyarrow]": lambda x: pd.Series(x, dtype="float64[pyarrow]"),
    "NaN below nulls": lambda x: pd.Series(
        pd.arrays.ArrowExtensionArray(
            pa.array(np.array([np.nan if v is None else v for v in x]), from_pandas=True)
        )
    ),
}


def _cut(x):
    parts = [x.iloc[:1], x.iloc[1:]]
    return x, dd.from_map(lambda part: part, parts, meta=x.iloc[:0])


@pytest.mark.parametrize("kind", WHOLE)
def test_integers_made_of_floats(kind):
    x = WHOLE[kind]([1.5, None, -2.0, 2.0**53])
    dtype = "Int64" if kind == "Float64" else "int64[pyarrow]"
    sums, largest = [1, None, -1, 2**53 - 1], [1, None, 1, 2**53]
    for each in _cut(x):
        for method, expected in (("cumsum", sums), ("cummax", largest)):
            (found,) = dask.compute(getattr(each.gpuscan, method)(dtype="int64"))
            assert found.dtype == dtype
            assert [None if pd.isna(v) else v for v in found] == expected
        (reproducible,) = dask.compute(each.gpuscan.cumsum(dtype="int64", reproducible=True))
        assert reproducible.dropna().tolist() == [1, -1, 2**53 - 1]


@pytest.mark.parametrize("worst", [np.nan, np.inf, -np.inf, 2.0**63, -(2.0**64), 1e300])
def test_floats_that_are_no_integers(worst):
    arrow = pd.Series(pd.arrays.ArrowExtensionArray(pa.array([1.0, worst])), name="x")
    for each in _cut(arrow):
        for method in ("cumsum", "cummax", "cumprod"):
            with pytest.raises(ValueError, match=r"column 'x' has .*, which int64 does not hold"):
                dask.compute(getattr(each.gpuscan, method)(dtype="int64"))
    frame = pd.DataFrame({"k": [1, 1], "x": arrow})
    with pytest.raises(ValueError, match=r"column 'x' has .*, which int64 does not hold"):
        frame.gpuscan.groupby("k").cumsum(dtype="int64")


def test_the_ends_of_integers_made_of_floats():
    ends = pd.Series([-(2.0**63)], dtype="float64[pyarrow]")
    assert ends.gpuscan.cummax(dtype="int64").tolist() == [-(2**63)]
    for value, dtype, expected in (
        (127.9, "int8", 127),
        (-128.9, "int8", -128),
        (255.5, "uint8", 255),
    ):
        x = pd.Series([value], dtype="float64[pyarrow]")
        assert x.gpuscan.cummax(dtype=dtype).tolist() == [expected]
    for value, dtype in ((128.0, "int8"), (-129.0, "int8"), (-1.0, "uint8")):
        x = pd.Series([value], dtype="float64[pyarrow]")
        with pytest.raises(ValueError, match="the series has"):
            x.gpuscan.cummax(dtype=dtype)
