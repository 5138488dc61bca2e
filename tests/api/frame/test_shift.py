"""shift, diff and pct_change: pandas' answers on the whole data, in groups and not, on whatever partitions."""

import datetime
import decimal

import dask
import dask.dataframe as dd
import numpy as np
import pandas as pd
import pyarrow as pa
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

import dask_gpuscan
from helpers.asked import check, computed, keyed
from helpers.backends import same
from helpers.strategies import FLOATS, INTEGERS, OTHERS, TIMES, columns, cuts, frames, partitioned
from helpers.thresholds import MANY_ROWS
from helpers.versions import STRING
from helpers.widened import as_nullable

pytestmark = pytest.mark.usefixtures("near_rows_apart")
PERIODS = st.integers(-4, 4) | st.sampled_from([30, -30])
METHODS = st.sampled_from(["shift", "diff", "pct_change"])
WIDE = ("int64", "int8", "uint8", "bool", "Int64", "float32", "double[pyarrow]", "str", "category")


def told(backend, frame, ask):
    """What the library of the partitions says; examples that it refuses are left out."""
    expected = backend.answer(frame, ask)
    assume(expected is not None)
    return expected


def held(backend, expected, x, method, periods):
    """What is told of rows of `x`, in dtypes that hold nulls, though groups may have none in pandas."""
    if backend.name != "cpu" or method == "pct_change" or (method == "shift" and not periods):
        return expected
    if method == "diff" and x.ndim == 1 and x.dtype.kind in "iu":
        narrow = x.dtype in ("int8", "int16")
        return expected.astype("float32") if narrow else as_nullable(expected, x)
    return as_nullable(expected, x)


def unfilled(method):
    """What has pandas 2 answer as pandas 3 does, which fills no nulls before."""
    return {"fill_method": None} if method == "pct_change" else {}


@given(x=columns((*INTEGERS, *FLOATS, *TIMES, *OTHERS)), at=cuts(), method=METHODS, periods=PERIODS)
def test_series(backend, x, at, method, periods):
    assume(not (method == "diff" and x.dtype == "period[D]"))  # its dtype depends on the values
    assume(x.dtype != "object" or method == "shift")
    assume(x.dtype != "bool" or method != "pct_change")  # pandas divides them if none is False
    x.index = pd.Index(np.arange(len(x)) // 2, name="row")
    ask = lambda it, **options: getattr(it, method)(periods, **options)  # noqa: E731
    overflows = x.dtype in ("int32", "uint8", "uint32")  # in pandas
    wraps = method == "diff" and overflows and backend.name == "cpu"
    wide = x.astype("int64") if wraps else x
    expected = told(backend, wide, lambda it: ask(it, **unfilled(method)))
    check(backend, x, at, ask, held(backend, expected, x, method, periods))


@pytest.mark.parametrize(
    "days", [["2026-01-01"], [None, None, None], ["2026-01-01", None, "2026-01-05"]]
)
def test_differences_of_periods_are_objects(days):
    x = pd.Series(days, dtype="period[D]", name="x")
    for each in (x, x.to_frame()):
        expected = each.diff().astype(object)  # pandas makes times of NaT alone
        assert not expected.notna().to_numpy().any()
        for at in ([], [0.4], [0.0, 0.3, 0.6]):
            lazy = partitioned(each, at).gpuscan.diff()
            (found,) = dask.compute(lazy)
            same(found, expected)
            same(each.gpuscan.diff(), expected)
            pd.testing.assert_series_equal(pd.Series(lazy.dtypes), pd.Series(found.dtypes))


@pytest.mark.parametrize("days", [[1, 3, 4, 8], [5]])
def test_differences_of_dates_are_objects(days):
    dates = [datetime.date(2026, 1, day) for day in days]
    frame = pd.DataFrame({"k": 1, "x": pd.Series(dates, dtype=object)})
    for cut in (None, [0.4], [0.0, 0.3, 0.6]):
        each = frame if cut is None else partitioned(frame, cut)
        for found, expected in (
            (each.x.gpuscan.diff(), frame.x.diff()),
            (each.gpuscan.groupby("k").x.diff(), frame.groupby("k").x.diff()),
        ):
            (answer,) = dask.compute(found)
            assert answer.dtype == found.dtype == object
            assert [None if x is np.nan else x for x in answer] == [
                None if pd.isna(x) else x for x in expected
            ]


@given(df=frames((*WIDE, "datetime64[ns]")), at=cuts(), periods=PERIODS)
def test_frames(backend, df, at, periods):
    assume(len(df))  # of no rows, pandas' frames keep dtypes that its series do not
    ask = lambda it: it.shift(periods)  # noqa: E731
    check(backend, df, at, ask, held(backend, told(backend, df, ask), df, "shift", periods))


@given(x=columns(("int64", "float64", "Int64", "double[pyarrow]")), at=cuts(), periods=PERIODS)
def test_fill_value(backend, x, at, periods):
    ask = lambda it: it.shift(periods, fill_value=7)  # noqa: E731
    check(backend, x, at, ask, told(backend, x, ask))


@pytest.mark.parametrize("clustered", [True, False])
@given(data=st.data(), at=cuts(), method=METHODS, periods=PERIODS, dropna=st.booleans())
def test_groups(backend, clustered, data, at, method, periods, dropna):
    df = data.draw(keyed(clustered, (*WIDE, "datetime64[ns]", "float64")))
    k, x, count = df["k"], df["x"], len(df)
    assume(count and (x.dtype != "bool" or method == "shift"))
    fill = {"fill_value": x.iloc[0]} if method == "shift" and data.draw(st.booleans()) else {}
    assume(not fill or not pd.isna(fill["fill_value"]))
    ask = lambda it, **more: getattr(it, method)(periods, **fill, **more)  # noqa: E731
    theirs = lambda it: it.groupby("k", dropna=False, observed=True)["x"]  # noqa: E731
    expected = told(backend, df, lambda it: ask(theirs(it), **unfilled(method)))
    if dropna:
        # pandas fills or keeps values of rows in no group, and cuDF makes other dtypes of theirs
        expected = backend.held(expected.where(df["k"].notna()).to_frame())["x"]
    if dropna and k.dtype != "int64" and (fill or not periods):
        # by the dtype of the keys, rows may be in no group: then answers have a null
        assume(len(df["k"].dropna()) < count or x.dtype not in ("int64", "int8", "uint8", "bool"))
    if not fill or (dropna and df["k"].isna().any()):
        moves = periods or (dropna and bool(df["k"].isna().any()))
        expected = held(backend, expected, x, method, moves)
    groups = lambda it: it.groupby("k", clustered=clustered, dropna=dropna)  # noqa: E731
    check(backend, df, at, lambda it: ask(groups(it)["x"]), expected)
    check(backend, df, at, lambda it: ask(groups(it)), expected.to_frame())


MANY = np.random.default_rng(0).integers(-(2**62), 2**62, MANY_ROWS)


@pytest.mark.parametrize("periods", [1, -3, 10**6])
@pytest.mark.parametrize(
    "dtype", ["float64", "float32", "float16", "int64", "int8", "uint8", *TIMES[:3]]
)
def test_columns_of_many_rows(dtype, periods):
    x = pd.Series(MANY % 1000).astype(dtype)
    if dtype.startswith(("float", "datetime")):
        x[::7] = None
    same(x.gpuscan.shift(periods), x.shift(periods))
    same(x.gpuscan.shift(periods, fill_value=x[1]), x.shift(periods, fill_value=x[1]))
    wide = x.astype("int64") if x.dtype.kind == "u" else x
    same(x.gpuscan.diff(periods), wide.diff(periods))
    every_other = pd.Series(x.array[::2])
    same(every_other.gpuscan.shift(periods), every_other.shift(periods))


WHOLE = pd.DataFrame({"k": [1, 2, 1, 1, 2, 1], "x": [3.0, 1.0, np.nan, 3.0, 7.0, 0.0]})


@pytest.mark.parametrize("clustered", [True, False])
def test_rows_in_no_group_are_not_divided(clustered):
    x = pd.Series([1, 2, 0, 5, 3, 0], dtype=pd.ArrowDtype(pa.decimal128(5, 2)))
    df = pd.DataFrame({"k": [1.0, 1.0, np.nan, np.nan, 2.0, 2.0], "x": x})
    expected = pd.Series([None, 1.0, None, None, None, -1.0], name="x")
    for periods in (1, 30):
        for each in (df, partitioned(df, [0.5, 0.7])):
            groups = each.gpuscan.groupby("k", clustered=clustered)["x"]
            (found,) = dask.compute(groups.pct_change(periods))
            assert isinstance(found.dtype.pyarrow_dtype, pa.Decimal128Type)
            same(found.astype("float64"), expected if periods == 1 else expected * np.nan)


@pytest.mark.parametrize("periods", [2**31, -(2**31) - 1, 10**30, -(10**30)])
@pytest.mark.parametrize("method", ["shift", "diff", "pct_change"])
def test_more_rows_than_32_bits_count(backend, method, periods):
    nothing = pd.DataFrame(np.nan, WHOLE.index, ["x"])
    whole = backend.frame(WHOLE)
    for each in (whole, partitioned(whole, [0.2, 0.2, 0.7])):
        for obj in (each[["x"]].gpuscan, each.gpuscan.groupby("k")):
            same(backend.to_pandas(computed(getattr(obj, method)(periods))), nothing)


@pytest.mark.parametrize("periods", [1, -1, 3, -3])
def test_categories_that_differ_by_partition(backend, periods):
    parts = "aabba", "ccdcd", "bdddb"
    frames = [backend.frame(pd.DataFrame({"x": pd.Categorical(list(p))})) for p in parts]
    lazy = dask.dataframe.from_map(lambda part: part, frames, meta=frames[0].iloc[:0])
    shifted = dask.compute(*lazy["x"].gpuscan.shift(periods).to_delayed())
    found = [x for part in shifted for x in backend.to_pandas(part).astype(object).fillna("-")]
    assert found == pd.Series(list("".join(parts))).shift(periods, fill_value="-").tolist()


@pytest.mark.parametrize("dtype", ["int8", "int64", "uint8", "uint64", "bool", "float64"])
def test_masks_of_shifts_and_differences_name_every_row(dtype):
    whole = pd.Series([1, 1, 0, 1, 0], dtype=dtype, name="x")
    frame = pd.DataFrame({"k": ["a", "b", "a", "b", "a"], "x": whole})
    cuts = [lambda rows, n=n: dd.from_pandas(rows, npartitions=n) for n in (3, 5)]
    cuts.append(lambda rows: dask_gpuscan.stream([rows[:2], rows[2:2], rows[2:]]))
    for cut in (lambda rows: rows, *cuts):
        before, by_group = cut(whole).gpuscan, cut(frame).gpuscan.groupby("k").x
        before, changed = computed(before.shift()), computed(before.diff())
        assert (whole != before).tolist() == [True, False, True, True, True]
        runs = whole.groupby((whole != before).cumsum()).size()
        assert runs.to_dict() == {1: 2, 2: 1, 3: 1, 4: 1}
        before = computed(by_group.shift())
        assert (whole != before).tolist() == [True, True, True, False, False]
        if dtype != "bool":
            assert whole[~(changed < 0)].index.tolist() == [0, 1, 3]
            assert np.where(changed < 0, 1, 0).tolist() == [0, 0, 1, 0, 1]
            assert whole[~(computed(by_group.diff()) < 0)].index.tolist() == [0, 1, 3, 4]


@pytest.mark.parametrize("dtype", ["UInt8", "UInt64", "Int8", "uint8[pyarrow]", "int16[pyarrow]"])
def test_differences_that_do_not_fit_are_refused(dtype):
    least = np.iinfo(dtype.lower().split("[")[0]).min
    most = np.iinfo(dtype.lower().split("[")[0]).max
    fits = pd.DataFrame({"k": 1, "x": pd.array([1, 2, None, most], dtype)})
    small = fits.assign(x=pd.array([most - 1, most, None, least], dtype))
    wrong = fits.assign(x=pd.array([most, least, None, most], dtype))
    for cut in (lambda rows: rows, lambda rows: dd.from_pandas(rows, npartitions=4)):
        for ask in (lambda rows: rows.x.gpuscan, lambda rows: rows.gpuscan.groupby("k").x):
            for rows in (fits, small):
                found = computed(ask(cut(rows)).diff())
                assert found.dtype == dtype
                assert found.fillna(0).tolist() == [0, 1, 0, 0]
            wider = "int64" if "[" in dtype else "Int64"
            with pytest.raises(OverflowError, match=f"diff of .* does not fit .*astype..{wider}"):
                computed(ask(cut(wrong)).diff())


FILLS = {
    "int8": ([7, 7.0, np.int64(-7)], [1.58, "7", 128, 2**70, True]),
    "int64": ([7, 2**53 + 1], [1.58, "7", 2**70, -(2**70), 1e300, True]),
    "uint64": ([2**64 - 1], [-1, 0.5, 2**64]),
    "float32": ([0.1, 7, np.inf], [1e300, "7", True, 10**400]),
    "float64": ([0.1, 7, -np.inf], ["7", True, 10**400]),
    "bool": ([False, np.True_], [1, 0.0, "a"]),
}
"""Values that columns hold, and others that they do not."""


@pytest.mark.parametrize("dtype", FILLS)
def test_fill_values_are_checked_alike(dtype):
    plain = pd.Series([True, False] if dtype == "bool" else [1, 2], dtype=dtype, name="x")
    names = {"bool": "boolean", "uint64": "UInt64"}
    masked = plain.astype(names.get(dtype, dtype.capitalize()))
    arrow = plain.astype(pd.ArrowDtype(pa.array(plain).type))
    columns = [plain, masked, arrow]
    held, refused = FILLS[dtype]
    for value, right in [*((v, True) for v in held), *((v, False) for v in refused)]:
        asks = [lambda c=c: c.gpuscan for c in columns]
        asks += [lambda c=c: dd.from_pandas(c, npartitions=2).gpuscan for c in columns]
        asks += [lambda c=c: c.to_frame().assign(k=1).gpuscan.groupby("k").x for c in columns]
        asks += [lambda: dask_gpuscan.on(pa.chunked_array([pa.array(plain)]))]
        asks += [lambda: dask_gpuscan.stream([plain]).gpuscan]
        for ask in asks:
            if right:
                found = computed(ask().shift(fill_value=value))
                first = found[0].as_py() if isinstance(found, pa.ChunkedArray) else found.iloc[0]
                assert first == np.dtype(dtype).type(value)
            else:
                with pytest.raises(TypeError, match="cannot hold the fill_value"):
                    computed(ask().shift(fill_value=value))


@pytest.mark.parametrize(
    ("kind", "value", "held", "refused"),
    [
        (pa.string(), "a", ["b"], [7, b"b", True]),
        (pa.timestamp("s"), pd.Timestamp(0), [pd.Timestamp("2026-01-01")], [7, pd.Timestamp(1)]),
        (pa.duration("s"), pd.Timedelta(0), [pd.Timedelta("2s")], [7, pd.Timedelta("0.5s")]),
        (pa.date32(), datetime.date(2026, 1, 1), [datetime.date(2026, 1, 2)], [7, "a"]),
        (pa.time32("s"), datetime.time(1), [datetime.time(2)], [7, "7"]),
        (pa.decimal128(5, 2), decimal.Decimal(1), [decimal.Decimal("1.5"), 7], ["7", 10**4]),
    ],
)
def test_fill_values_that_would_become_others_are_refused(kind, value, held, refused):
    column = pd.Series([value] * 3, dtype=pd.ArrowDtype(kind), name="x")
    columns = [column, column.astype("str")] if kind == pa.string() else [column]
    for each in columns:
        for rows in (each, dd.from_pandas(each, npartitions=3)):
            for fill in held:
                assert computed(rows.gpuscan.shift(-1, fill_value=fill)).iloc[-1] == fill
            for fill in refused:
                with pytest.raises(TypeError, match="cannot hold the fill_value"):
                    rows.gpuscan.shift(-1, fill_value=fill)


@pytest.mark.parametrize("periods", [1.0, 1.5, "1", None, True, [1, 2]])
@pytest.mark.parametrize("method", ["shift", "diff", "pct_change"])
def test_periods_are_integers(method, periods):
    for it in (WHOLE.gpuscan, WHOLE.gpuscan.groupby("k")):
        with pytest.raises(TypeError, match="periods must be an integer, found"):
            getattr(it, method)(periods)


@pytest.mark.parametrize("null", [pd.NA, None, np.nan])
def test_nullable_columns_are_filled_with_null(null):
    frame = pd.DataFrame({"k": [1, 1, 2], "x": pd.Series([1, 2, 3], dtype="Int64")})
    expected = frame.groupby("k")["x"].shift(1, fill_value=null)
    for each in (frame, partitioned(frame, [0.5])):
        (found,) = dask.compute(each.gpuscan.groupby("k")["x"].shift(1, fill_value=null))
        pd.testing.assert_series_equal(found, expected)
    frame.index = pd.date_range("2026-01-01", periods=3, freq="2h")
    expected = frame["x"].resample("1h").asfreq(fill_value=null)
    found = frame["x"].gpuscan.resample("1h").asfreq(fill_value=null)
    pd.testing.assert_series_equal(found, expected)


@pytest.mark.parametrize("fill", [[1], (1, 2)])
@pytest.mark.parametrize("dtype", ["object", "Int64", "int64"])
def test_items_of_lists_are_no_values_of_rows(dtype, fill):
    x = pd.Series([1, 2, 3], dtype=dtype, name="x")
    for rows in (x.gpuscan, x.gpuscan.groupby(np.array([1, 1, 2]))):
        with pytest.raises(
            TypeError, match=r"column 'x'.*cannot hold.*fill_value must be a scalar"
        ):
            rows.shift(1, fill_value=fill)


def test_columns_that_have_no_difference_are_named():
    ddf = dask.dataframe.from_pandas(
        WHOLE.assign(s=pd.Series("a", WHOLE.index, STRING)), npartitions=2
    )
    with pytest.raises(TypeError, match="diff of column 's': dtype"):
        ddf.gpuscan.diff()
    with pytest.raises(TypeError, match="pct_change of column 's': dtype"):
        ddf.gpuscan.groupby("k").pct_change()
    with pytest.raises(TypeError, match="shift of column 'c'"):
        WHOLE.assign(c=pd.Categorical(list("aabbab")))[["c"]].gpuscan.shift(fill_value="z")


@pytest.mark.parametrize(
    ("dtype", "items"), [("int64[pyarrow]", [2**63 - 1, -5]), ("uint64[pyarrow]", [5, 2])]
)
def test_differences_that_do_not_fit_name_the_column(dtype, items):
    frame = pd.DataFrame({"k": [1, 1], "x": pd.Series(items, dtype=dtype)})
    message = r"diff of column 'x': a difference does not fit .*int64\[pyarrow\]; cast the column"
    for rows in (frame, partitioned(frame, [0.5])):
        for each in (rows.gpuscan, rows.gpuscan.groupby("k")):
            with pytest.raises(OverflowError, match=message):
                dask.compute(each.diff())


@pytest.mark.parametrize("dtype", ["boolean", "bool[pyarrow]"])
def test_bool_has_no_differences_in_groups(dtype):
    frame = pd.DataFrame({"k": [1, 1], "x": pd.Series([True, False], dtype=dtype)})
    for rows in (frame, partitioned(frame, [0.5])):
        with pytest.raises(TypeError, match=r"diff of column 'x': dtype bool.* is not defined"):
            rows.gpuscan.groupby("k").diff()


LABELS = pd.DatetimeIndex(
    ["2026-01-01", "2026-01-30", "2026-01-31", "2026-03-28 12:00", "2026-03-28 12:00"], name="t"
)


@pytest.mark.parametrize(
    "freq", ["D", "3h", "ME", "B", pd.Timedelta("1min"), pd.DateOffset(months=1)]
)
@pytest.mark.parametrize("periods", [1, -2, 0])
@pytest.mark.parametrize("zone", [None, "Europe/Berlin"])
def test_labels_are_shifted_as_those_of_pandas(backend, freq, periods, zone):
    frame = pd.DataFrame({"x": range(5), "y": [None, 1.5, 2.0, None, 3.0]}, index=LABELS)
    frame = frame if zone is None else frame.tz_localize(zone)
    expected = frame.shift(periods, freq=freq)
    for d in (
        backend.frame(frame),
        *(partitioned(backend.frame(frame), at) for at in ([0.5], [0.2, 0.2, 0.7])),
    ):
        lazy = d.gpuscan.shift(periods, freq=freq)
        same(backend.to_pandas(computed(lazy)), expected)
        same(backend.to_pandas(computed(d["x"].gpuscan.shift(periods, freq=freq))), expected["x"])


@pytest.mark.parametrize(("freq", "known"), [("D", True), ("3h", True), ("ME", False)])
def test_known_divisions_are_shifted(freq, known):
    frame = pd.DataFrame({"x": range(6)}, index=pd.date_range("2026-01-01", periods=6, freq="13D"))
    d = dd.from_pandas(frame, npartitions=3)
    for collection in (d, d["x"], d.clear_divisions()):
        shifted = collection.gpuscan.shift(2, freq=freq)
        assert shifted.known_divisions == (known and collection.known_divisions)
        if shifted.known_divisions:
            ends = pd.DatetimeIndex(d.divisions).shift(2, freq)
            assert list(shifted.divisions) == list(ends)
            assert shifted.loc[ends[1] :].compute().index[0] == ends[1]
        whole = frame if collection.ndim == 2 else frame["x"]
        same(shifted.compute(), whole.shift(2, freq=freq))
    spans = frame.set_index(pd.to_timedelta(range(6), "h"))
    lazy = dd.from_pandas(spans, npartitions=2).gpuscan.shift(freq="90min")
    assert lazy.known_divisions
    same(lazy.compute(), spans.shift(freq="90min"))


def test_labels_of_streams_are_shifted():
    frame = pd.DataFrame({"x": range(5)}, index=LABELS)
    stream = dask_gpuscan.stream([frame[:2], frame[2:2], frame[2:]])
    same(stream.gpuscan.shift(freq="D").compute(), frame.shift(freq="D"))


@pytest.mark.parametrize(
    ("options", "error", "message"),
    [
        (
            {"freq": "infer"},
            ValueError,
            r"freq must be a duration or a rule of pandas .* found 'infer'; give index",
        ),
        ({"freq": "nope"}, ValueError, "freq must be a duration"),
        ({"freq": 3.5}, ValueError, "freq must be a duration"),
        ({"freq": "D", "fill_value": 3}, ValueError, "fill_value must not be given with freq"),
        ({"freq": "D", "periods": "a"}, TypeError, "periods must be an integer"),
    ],
)
def test_wrong_freq(options, error, message):
    frame = pd.DataFrame({"x": range(5)}, index=LABELS)
    for d in (frame, partitioned(frame, [0.5])):
        with pytest.raises(error, match=message):
            d.gpuscan.shift(**options)


def test_freq_needs_times_in_the_index():
    plain = pd.DataFrame({"x": [1, 2]})
    spans = plain.set_index(pd.to_timedelta([1, 2], "h"))
    for d, e in ((plain, spans), (partitioned(plain, [0.5]), partitioned(spans, [0.5]))):
        with pytest.raises(TypeError, match="found an index of dtype int64"):
            d.gpuscan.shift(freq="D")
        with pytest.raises(TypeError, match="freq must be a duration, as labels are"):
            e.gpuscan.shift(freq="ME")


def test_what_lies_below_nulls_of_arrow_does_not_overflow():
    """Arrays of NumPy's times have NaT there, the least integer."""
    times = pa.array(pd.Series(pd.to_datetime(["2020-01-01", None, "2020-01-05", "2020-01-06"])))
    column = pd.Series(pd.arrays.ArrowExtensionArray(pa.chunked_array([times])), name="t")
    expected = [None, None, None, pd.Timedelta("1D")]
    groups = pd.DataFrame({"k": 1, "t": column})
    for each in (column, partitioned(column, [0.5]), partitioned(column, [0.25, 0.75])):
        (found,) = dask.compute(each.gpuscan.diff())
        assert found.astype(object).where(found.notna(), None).tolist() == expected
    for each in (groups, partitioned(groups, [0.5])):
        (found,) = dask.compute(each.gpuscan.groupby("k")["t"].diff())
        assert found.astype(object).where(found.notna(), None).tolist() == expected
    large = pd.Series([2**63 - 1, None, -5, 2**63 - 1], dtype="int64[pyarrow]")
    with pytest.raises(OverflowError, match=r"does not fit int64\[pyarrow\]"):
        large.gpuscan.diff()


@pytest.mark.parametrize("given", [{"fill_method": "ffill"}, {"freq": "D"}])
def test_arguments_of_pct_change_that_are_none(given):
    frame = pd.DataFrame({"k": ["a", "a"], "x": [2.0, 3.0]})
    ((name, value),) = given.items()
    for d in (frame, dd.from_pandas(frame, npartitions=2), dask_gpuscan.stream([frame])):
        for ask in (d["x"].gpuscan, d.gpuscan.groupby("k")["x"]):
            with pytest.raises(ValueError, match=f"{name} must be None, found '{value}': "):
                ask.pct_change(**given)
    assert frame["x"].gpuscan.pct_change(fill_method=None, freq=None).tolist()[1] == 0.5
