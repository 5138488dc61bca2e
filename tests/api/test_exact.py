"""Integers and bool that may be null: exact in pandas' dtypes, or an error; compared as Python's integers."""

import dask
import dask.dataframe as dd
import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

import dask_gpuscan
from helpers.strategies import partitioned

BIG = 2**53 + 1

KEYS = {
    "int64": lambda codes: pd.array(codes, "Int64").to_numpy("int64", na_value=9),
    "float64": lambda codes: np.array([np.nan if c is None else c for c in codes], "float64"),
    "object": lambda codes: np.array([None if c is None else "abc"[c] for c in codes], object),
    "str": lambda codes: pd.array([None if c is None else "abc"[c] for c in codes], "string"),
    "Int64": lambda codes: pd.array(codes, "Int64"),
    "times": lambda codes: np.array(
        ["NaT" if c is None else f"2026-01-0{c + 1}" for c in codes], "M8[ns]"
    ),
    "category": lambda codes: pd.Categorical(
        [None if c is None else "abc"[c] for c in codes], list("abc")
    ),
}
"""Keys of several dtypes, of codes of which some are None: of NumPy's integers these are one more key."""

METHODS = {
    "cumsum": lambda before, x: sum(before) + x,
    "cummax": lambda before, x: max([*before, x]),
    "cummin": lambda before, x: min([*before, x]),
    "ffill": lambda before, x: x,
    "shift": lambda before, x: before[-1] if before else None,
    "cumcount": lambda before, x: len(before),
}


def python_values(answer):
    """Return the answers of a series as Python's integers and bool, and None for nulls."""
    if hasattr(answer, "to_arrow"):
        return answer.to_arrow().to_pylist()
    values = [None if pd.isna(x) else x for x in answer.astype(object)]
    return [int(x) if isinstance(x, float) and x.is_integer() else x for x in values]


def computed(answer):
    """Compute an answer, if it is lazy, and check that partitions have the dtypes of its meta."""
    if not isinstance(answer, (dd.Series, dd.DataFrame)):
        return answer
    meta = answer._meta
    answer = answer.compute()
    if meta.ndim == 1:
        assert answer.dtype == meta.dtype
    else:
        assert list(answer.dtypes) == list(meta.dtypes)
    return answer


def by_group(codes, values, method):
    """Answer row by row, in Python."""
    rows, answers = {}, []
    for code, value in zip(codes, values, strict=True):
        before = rows.setdefault(code, [])
        answers.append(None if code is None else METHODS[method](before, value))
        before.append(value)
    return answers


@pytest.mark.sampled(4)
@pytest.mark.parametrize("nulls", [False, True])
@pytest.mark.parametrize("kind", KEYS)
def test_scans_of_groups_are_exact(backend, kind, nulls):
    codes = [0, 1, None, 0, 1, 2, None, 0, 2, 1, 0]
    if not nulls:
        codes = [2 if c is None else c for c in codes]
    known = [9 if c is None and kind == "int64" else c for c in codes]
    columns = {
        "i": [2**52 + 1, -(2**51) - 1, 3, 2, 2**52 - 1, 2**51 + 1, 5, -(2**52), 7, 1, 11],
        "u": [2**52 + 1, 3, 2**51 + 1, 5, 2**51, 2, 1, 2**50 + 5, 4, 9, 2],
        "b": [True, False, True, True, True, False, False, False, True, False, True],
        "n": [BIG, -(2**60) - 1, 3, 2, 2**60 + 3, BIG + 2, 5, -BIG, 7, 1, 2**59 + 1],
    }
    dtypes = {"i": "int64", "u": "uint64", "b": "bool", "n": "Int64"}
    frame = pd.DataFrame({"k": KEYS[kind](codes)}).assign(
        **{name: pd.array(columns[name], dtypes[name]) for name in columns}
    )
    with dask.config.set({"dataframe.convert-string": False}):
        frame = backend.frame(frame)
        cuts = [frame, *(partitioned(frame, [i / n for i in range(1, n)]) for n in (1, 3, 11))]
    for obj in cuts:
        for method in METHODS:
            groups = obj.gpuscan.groupby("k")
            if method == "cumcount":
                found = {"i": computed(groups.cumcount())}
            else:
                answer = computed(getattr(groups[list(columns)], method)())
                found = {name: answer[name] for name in columns}
            for name, series in found.items():
                expected = by_group(known, columns[name], method)
                assert python_values(series) == expected, (method, name)
                if None in expected and backend.name == "cpu":
                    is_bool = name == "b" and method not in ("cumsum", "cumcount")
                    wanted = object if is_bool else "Int64" if name == "n" else "float64"
                    assert series.dtype == wanted


def test_dtypes_say_whether_a_key_can_be_null():
    frame = pd.DataFrame({"k": [1, 2, 1], "s": ["a", "b", "a"], "x": [BIG, 1, 2]})
    lazy = dd.from_pandas(frame, npartitions=2)
    assert frame.gpuscan.groupby("s").x.cumsum().dtype == "int64"
    assert lazy.gpuscan.groupby("k").x.cumsum().dtype == "int64"
    assert lazy.gpuscan.groupby("s").x.cumsum().dtype == "float64"
    assert lazy.gpuscan.groupby("s", dropna=False).x.cumsum().dtype == "int64"
    assert lazy.gpuscan.groupby("s").cumcount().dtype == "float64"
    frame["s"] = ["a", None, "a"]
    assert frame.gpuscan.groupby("s").cumcount().dtype == "float64"
    sessions = frame.assign(t=pd.to_datetime([0, 1, 2], unit="s"))
    assert sessions.gpuscan.sessionize("t", gap="1s", by="s").fillna(-1).tolist() == [0, -1, 1]


def test_only_values_of_answers_must_be_floats():
    frame = pd.DataFrame({"k": [0, 0, 0], "x": [1, 2**60, BIG]})
    for obj in (frame, dd.from_pandas(frame, npartitions=3)):
        for ask in (obj.x.gpuscan, obj.gpuscan.groupby("k").x):
            assert python_values(computed(ask.shift())) == [None, 1, 2**60]
    left, right = pd.DataFrame({"t": [0, 5]}), pd.DataFrame({"t": [1, 2], "x": [BIG, 3]})
    assert python_values(dask_gpuscan.merge_asof(left, right, on="t").x) == [None, 3]


INTEGERS = {
    "int8": st.integers(-(2**7), 2**7 - 1),
    "uint8": st.integers(0, 2**8 - 1),
    "int64": st.integers(-(2**63), 2**63 - 1),
    "uint64": st.integers(0, 2**64 - 1),
    "bool": st.booleans(),
}


@pytest.mark.parametrize("dtype", INTEGERS)
@given(data=st.data())
def test_rows_moved_along_and_changes(dtype, data):
    values = data.draw(st.lists(INTEGERS[dtype], min_size=1, max_size=9))
    periods = data.draw(st.integers(-3, 3))
    column = pd.Series(np.array(values, dtype))
    rows = [i - periods for i in range(len(values))]
    earlier = [values[i] if 0 <= i < len(values) else None for i in rows]
    if dtype == "bool":
        changes = [None if e is None else v ^ e for v, e in zip(values, earlier, strict=True)]
    else:
        changes = [None if e is None else v - e for v, e in zip(values, earlier, strict=True)]
    lazy = dd.from_pandas(column, npartitions=min(3, len(values)))
    keyed = pd.DataFrame({"k": 0, "x": column})
    of_groups = [keyed, dd.from_pandas(keyed, npartitions=2)]
    for obj in [column, lazy, *(f.gpuscan.groupby("k").x for f in of_groups)]:
        obj = getattr(obj, "gpuscan", obj)
        check_floats(lambda obj=obj: obj.shift(periods), earlier, not periods)
        check_floats(lambda obj=obj: obj.diff(periods), changes)


def check_floats(ask, expected, stays=False):
    """Check an answer of NumPy's integers or bool, or that it is refused because float64 does not hold it."""
    if stays or all(x is None or int(float(x)) == x for x in expected):
        assert python_values(computed(ask())) == expected
        return
    with pytest.raises(OverflowError, match=r"does not (hold|fit int64).* astype\("):
        computed(ask())


def test_many_rows_are_moved_and_subtracted_exactly(monkeypatch):
    rows = np.random.default_rng(0).integers(-(2**62), 2**62, 100_000)
    column = pd.Series(rows)
    for dtype in ("int64", "uint64"):
        small = pd.Series((abs(rows) >> 10).astype(dtype))
        moved, changed = small.gpuscan.shift(7), small.gpuscan.diff(-7)
        assert moved.dtype == changed.dtype == "float64"
        assert moved.isna().sum() == 7
        known = small.to_numpy().astype("int64")
        np.testing.assert_array_equal(moved[7:].astype("int64"), known[:-7])
        np.testing.assert_array_equal(changed[:-7].astype("int64"), known[:-7] - known[7:])
    nullable = column.astype("Int64")
    np.testing.assert_array_equal(nullable.gpuscan.shift(7)[7:].to_numpy("int64"), rows[:-7])
    changed = nullable.gpuscan.diff(-7)[:-7].to_numpy("int64")
    np.testing.assert_array_equal(changed, rows[:-7] - rows[7:])
    for ask in (lambda: column.gpuscan.shift(), lambda: column.gpuscan.diff()):
        with pytest.raises(
            OverflowError, match=r"float64, which does not hold .* astype\('Int64'\)"
        ):
            ask()
    column.iloc[5:7] = [2**63 - 1, -2]
    for wide in (column, column.astype("Int64")):
        with pytest.raises(OverflowError, match=r"a difference does not fit .* astype"):
            wide.gpuscan.diff()


def test_a_fill_value_keeps_integers():
    frame = pd.DataFrame({"x": [BIG, 1]})
    for obj in (frame, dd.from_pandas(frame, npartitions=2)):
        assert computed(obj.x.gpuscan.shift(1, fill_value=BIG + 2)).tolist() == [BIG + 2, BIG]
        small = computed((obj.x - 1).gpuscan.shift(1, fill_value=None))
        assert small.fillna(-1).tolist() == [-1, BIG - 1]


PICKS = {"min": min, "max": max, "first": lambda v: v[0], "last": lambda v: v[-1]}


@pytest.mark.parametrize("dtype", ["uint64", "Int64"])
def test_values_that_windows_pick_are_exact(dtype):
    shift = -9 if dtype == "uint64" else 0  # to numbers that float64 holds
    values = [BIG + shift, 1, BIG + 2 + shift, 3, BIG + 4 + shift, 5, BIG + 6 + shift, 7]
    keys = [0, 1, 0, 0, 1, 1, 0, 1]
    column = pd.Series(values, dtype=dtype)
    if dtype == "Int64":
        values[2] = column[2] = None
    frame = pd.DataFrame({"k": keys, "x": column})
    for obj in (frame, dd.from_pandas(frame, npartitions=3)):
        for groups, codes in ((obj.x.gpuscan, [0] * 8), (obj.gpuscan.groupby("k").x, keys)):
            for windows, width in ((groups.rolling(3, min_periods=1), 3), (groups.expanding(), 99)):
                for name, pick in PICKS.items():
                    expected = []
                    for i in range(8):
                        rows = [j for j in range(i + 1) if codes[j] == codes[i]][-width:]
                        known = [values[j] for j in rows if values[j] is not None]
                        expected.append(pick(known) if known else None)
                    answer = computed(getattr(windows, name)())
                    assert python_values(answer) == expected, (name, width)
                    assert answer.dtype == ("float64" if dtype == "uint64" else "Int64")


def test_integers_of_windows_that_float64_does_not_hold():
    column = pd.Series([BIG, 1, BIG + 2, 3])
    for obj in (column, dd.from_pandas(column, npartitions=2)):
        for windows in (obj.gpuscan.rolling(2), obj.gpuscan.expanding()):
            with pytest.raises(
                OverflowError, match=r"of the series: .* does not hold 900719925474099[35]"
            ):
                computed(windows.max())


def test_windows_tell_large_integers_apart():
    column = pd.Series([2**60, 2**60 + 1, 2**60 + 2, 2**60 + 1])
    assert column.gpuscan.rolling(3).nunique().tolist()[2:] == [3.0, 2.0]
    assert column.gpuscan.expanding().rank().tolist() == [1.0, 2.0, 3.0, 2.5]


def test_buckets_without_rows():
    times = pd.to_datetime([0, 1, 200], unit="s")
    frame = pd.DataFrame({"t": times, "x": [BIG, 1, BIG + 2], "b": [True, False, True]})
    for obj in (frame, dd.from_pandas(frame, npartitions=2)):
        with pytest.raises(
            OverflowError, match=r"max of column 'x': .* does not hold 9007199254740993"
        ):
            computed(obj.gpuscan.resample("1min", on="t").x.max())
    frame = frame.astype({"x": "Int64"})
    for obj in (frame, dd.from_pandas(frame, npartitions=2)):
        buckets = obj.gpuscan.resample("1min", on="t")
        found = computed(buckets.agg({"x": ["max", "last"], "b": "first"}))
        assert python_values(found["x", "max"]) == [BIG, None, None, BIG + 2]
        assert python_values(found["x", "last"]) == [1, None, None, BIG + 2]
        assert python_values(found["b", "first"]) == [True, None, None, True]


def test_rows_without_a_match():
    left = pd.DataFrame({"t": [1, 5, 9]})
    right = pd.DataFrame({"t": [4, 8], "x": [BIG, BIG + 2], "b": [True, False]})
    lazy = dd.from_pandas(left, npartitions=2), dd.from_pandas(right, npartitions=2)
    for one, other in ((left, right), lazy):
        with pytest.raises(
            OverflowError, match=r"merge_asof of column 'x': .* does not hold 90071"
        ):
            computed(dask_gpuscan.merge_asof(one, other, on="t"))
        other = other.astype({"x": "Int64"})
        found = computed(dask_gpuscan.merge_asof(one, other, on="t"))
        assert python_values(found.x) == [None, BIG, BIG + 2]
        assert python_values(found.b) == [None, True, False]


def test_rows_that_are_left_out_of_several_scans():
    frame = pd.DataFrame({"x": [BIG - 3, 1, 2], "k": ["a", None, "a"]})
    scans = {"sum": (dask_gpuscan.add, "x"), "max": (dask_gpuscan.maximum, "x")}
    for obj in (frame, dd.from_pandas(frame, npartitions=2)):
        found = computed(obj.gpuscan.scan(scans, where="x != 1"))
        assert python_values(found["sum"]) == [BIG - 3, None, BIG - 1]
        assert found.dtypes.tolist() == ["float64", "float64"]
        found = computed(obj.gpuscan.groupby("k").scan(scans))
        assert python_values(found["max"]) == [BIG - 3, None, BIG - 3]
        big = obj.assign(x=obj.x + 3)
        for ask in (big.gpuscan, big.gpuscan.groupby("k")):
            with pytest.raises(
                OverflowError, match=r"of column 'x': .* does not hold 9007199254740993"
            ):
                computed(ask.scan(scans, where="x != 4"))
        found = computed(big.astype({"x": "Int64"}).gpuscan.scan(scans, where="x != 4"))
        assert python_values(found["sum"]) == [BIG, None, BIG + 5]


def test_an_operator_answers_integers_for_floats():
    ids = dask_gpuscan.operator(
        lambda a, b: max(a, b), identity=0, lift=lambda x: np.int64(x) + (1 << 60), name="ids"
    )
    column = pd.Series([1.0, np.nan, 2.0])
    for obj in (column, dd.from_pandas(column, npartitions=2)):
        with pytest.raises(
            OverflowError, match=r"ids of the series: .* does not hold 11529215046068469"
        ):
            computed(obj.gpuscan.scan(ids))
        found = computed(obj.gpuscan.scan(ids, dtype="Int64"))
        assert python_values(found) == [2**60 + 1, None, 2**60 + 2]


def test_where_float64_would_round_there_is_an_error():
    nullable = pd.Series([BIG, None, 5], dtype="Int64")
    frame = pd.DataFrame({"x": [BIG, 1], "y": [1, 0], "k": ["a", None]})
    for near in (lambda f: f, lambda f: dd.from_pandas(f, npartitions=2)):
        with pytest.raises(
            OverflowError, match=r"interpolate of the series: .* below 2\*\*53 only"
        ):
            computed(near(nullable).gpuscan.interpolate())
        assert computed(near(nullable - 2).gpuscan.interpolate()).tolist()[0] == BIG - 2
        with pytest.raises(OverflowError, match=r"below 2\*\*53 only"):
            computed(near(frame).gpuscan.scan({"q": (dask_gpuscan.maximum, "x // y")}))
        edges = pd.arrays.IntervalArray.from_arrays([0, 1], [BIG, 2])
        with pytest.raises(OverflowError, match="intervals of int64 that may be null"):
            computed(near(frame.assign(i=edges)).gpuscan.groupby("k").i.ffill())
    xr = pytest.importorskip("xarray")
    array = xr.DataArray([BIG, 1, 2], dims="t", coords={"g": ("t", ["a", "a", None])})
    with pytest.raises(OverflowError, match="in groups, with elements in none"):
        array.gpuscan.groupby("g").cumsum()
    assert (array - 4).gpuscan.groupby("g").cumsum().values.tolist()[:2] == [BIG - 4, BIG - 7]
    no_columns = xr.DataArray(np.empty((3, 0), "int64"), dims=("t", "y"), coords=array.coords)
    assert no_columns.gpuscan.groupby("g").cumsum().shape == (3, 0)


def test_medians_of_durations_are_exact():
    durations = pd.Series([0, 10**18 + 1, 7, 10**18 + 4, -5, -2]).astype("m8[ns]")
    frame = pd.DataFrame({"k": [1, 1, 2, 2, 3, 3], "d": durations})
    for obj in (frame, dd.from_pandas(frame, npartitions=3)):
        found = computed(obj.gpuscan.groupby("k").d.median())
        assert found.astype("int64").tolist() == [5 * 10**17, 5 * 10**17 + 5, -3]
