"""Columns of lists: each list by itself, in Python, and pandas' explode, on whatever partitions they lie."""

from datetime import datetime
from decimal import Decimal
from operator import add, mul

import dask.dataframe as dd
import numpy as np
import pandas as pd
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

import dask_gpuscan
from helpers.asked import refusals
from helpers.backends import same
from helpers.strategies import cuts, partitioned
from helpers.versions import older

DAYS = [datetime(2026, 1, day) for day in range(1, 9)]
ITEMS = {
    pa.int8(): st.integers(-128, 127),
    pa.float64(): st.integers(-8, 8).map(lambda i: i / 4),  # sums of these are exact, in any order
    pa.timestamp("us"): st.sampled_from(DAYS),
    pa.string(): st.sampled_from(["a", "b", "c"]),
}
LAYOUTS = {
    "lists": lambda kind: pa.list_(kind),
    "large": lambda kind: pa.large_list(kind),
    "fixed": lambda kind: pa.list_(kind, 2),
}
LAYOUT = st.sampled_from(sorted(LAYOUTS))


def lists(kind, size=None):
    """Lists of items of a type of Arrow, some null, some of no items."""
    least, most = (0, 5) if size is None else (size, size)
    items = st.lists(ITEMS[kind] | st.none(), min_size=least, max_size=most)
    return st.lists(items | items | st.none(), max_size=12)


def column(backend, rows, kind, layout="lists", before=0):
    """A series of lists, of which so many rows are cut off before the first."""
    every = [*[[None, None]] * before, *rows]
    index = pd.Index(np.arange(len(rows)) * 2 + 10, name="row")
    if backend.name == "cpu":
        array = pa.array(every, LAYOUTS[layout](kind)).slice(before)
        extension = pd.arrays.ArrowExtensionArray(pa.chunked_array([array]))
        return pd.Series(extension, index=index, name="x")
    import cudf

    series = cudf.Series(pa.array(every, pa.list_(kind)), name="x").iloc[before:]
    series.index = cudf.Index(index)
    return series


def plain(found):
    """The values of a series as Python's."""
    if not isinstance(found, pd.Series):
        return found.to_arrow().to_pylist()
    array = pa.chunked_array(found.array.__arrow_array__())
    array.validate(full=True)
    return array.to_pylist()


def check(series, at, method, expected, *given, **options):
    """Ask a method of the lists of a series and of its partitions, which have the same dtypes."""
    found = getattr(series.gpuscan.list, method)(*given, **options)
    assert plain(found) == expected
    assert found.name == "x"
    assert found.index.equals(series.index)
    lazy = getattr(partitioned(series, at).gpuscan.list, method)(*given, **options)
    parts = lazy.compute()
    assert plain(parts) == expected
    assert lazy.dtype == parts.dtype == found.dtype
    assert parts.index.equals(series.index)


def scanned(op, items, exclusive, reverse, skipna, initial):
    """What a scan says of one list: null where nothing came before an exclusive extreme."""
    if items is None:
        return None
    items = items[::-1] if reverse else items
    out, state, gone = [], initial, False
    for item in items:
        null = item is None
        after = state if null else item if state is None else op(state, item)
        gone_after = gone or (null and not skipna)
        answer = state if exclusive else after
        is_null = (null and skipna) or (gone if exclusive else gone_after)
        out.append(None if is_null else answer)
        state, gone = after, gone_after
    return out[::-1] if reverse else out


SCANS = {
    "cumsum": (add, pa.int8(), 0),
    "cumprod": (mul, pa.float64(), 1.0),
    "cummax": (max, pa.timestamp("us"), None),
    "cummin": (min, pa.int8(), None),
}


@given(method=st.sampled_from(sorted(SCANS)), layout=LAYOUT, at=cuts(), data=st.data())
def test_scans(backend, method, layout, at, data):
    op, kind, initial = SCANS[method]
    rows = data.draw(lists(kind, 2 if layout == "fixed" else None))
    names = "exclusive", "reverse", "skipna"
    options = {name: data.draw(st.booleans(), name) for name in names}
    series = column(backend, rows, kind, layout, data.draw(st.integers(0, 2)))
    expected = [scanned(op, items, **options, initial=initial) for items in rows]
    check(series, at, method, expected, **options)
    found = getattr(series.gpuscan.list, method)()
    wide = pa.int64() if method == "cumsum" else kind
    if backend.name == "cpu":
        assert found.dtype == pd.ArrowDtype(LAYOUTS[layout](wide))


def values(items):
    return [i for i in items if i is not None]


def mean(items):
    return sum(items) / len(items)


REDUCTIONS = {
    "sum": (sum, (pa.int8(), pa.float64())),
    "min": (min, (pa.int8(), pa.string())),
    "max": (max, (pa.float64(), pa.timestamp("us"))),
    "mean": (mean, (pa.int8(), pa.float64())),
    "first": (lambda items: items[0], tuple(ITEMS)),
    "last": (lambda items: items[-1], tuple(ITEMS)),
}


@given(method=st.sampled_from(sorted(REDUCTIONS)), layout=LAYOUT, at=cuts(), data=st.data())
def test_reductions(backend, method, layout, at, data):
    reduce, kinds = REDUCTIONS[method]
    kind = data.draw(st.sampled_from(kinds))
    rows = data.draw(lists(kind, 2 if layout == "fixed" else None))
    series = column(backend, rows, kind, layout, data.draw(st.integers(0, 2)))
    expected = [
        None if items is None or not (values(items) or method == "sum") else reduce(values(items))
        for items in rows
    ]
    check(series, at, method, expected)
    check(series, at, "len", [None if items is None else len(items) for items in rows])


@given(
    kind=st.sampled_from(list(ITEMS)),
    layout=LAYOUT,
    ascending=st.booleans(),
    na_position=st.sampled_from(["first", "last"]),
    at=cuts(),
    data=st.data(),
)
def test_sort(backend, kind, layout, ascending, na_position, at, data):
    rows = data.draw(lists(kind, 2 if layout == "fixed" else None))
    series = column(backend, rows, kind, layout, data.draw(st.integers(0, 2)))

    def in_order(items):
        found, nulls = values(items), [None] * items.count(None)
        found.sort(reverse=not ascending)
        return nulls + found if na_position == "first" else found + nulls

    expected = [None if items is None else in_order(items) for items in rows]
    check(series, at, "sort", expected, ascending, na_position)


def test_scan_by_any_operator(backend):
    decayed = dask_gpuscan.operator(
        lambda a, b: (a[0] * b[0], a[1] * b[0] + b[1]),
        identity=(1.0, 0.0),
        lift=lambda x: (0.5, x),
        lower=lambda s: s[1],
    )
    rows = [[1.0, 2.0, None, 4.0], None, [], [8.0]]
    series = column(backend, rows, pa.float64())
    expected = [[1.0, 2.5, None, 5.25], None, [], [8.0]]
    check(series, [0.5], "scan", expected, decayed)
    check(series, [0.5], "cumsum", [[11.0, 13.0, None, 17.0], None, [], [18.0]], initial=10)
    check(series, [0.5], "cumsum", [[1, 3, None, 7], None, [], [8]], dtype="int64")


def test_a_null_list_may_have_items_in_memory():
    valid = pa.py_buffer(np.packbits([1, 0, 1], bitorder="little"))
    offsets = pa.array([0, 2, 4, 5], pa.int32()).buffers()[1]
    array = pa.ListArray.from_buffers(
        pa.list_(pa.int64()), 3, [valid, offsets], children=[pa.array([1, 2, 3, 4, 5])]
    )
    series = pd.Series(array, dtype=pd.ArrowDtype(array.type), name="x")
    check(series, [0.3, 0.6], "cumsum", [[1, 3], None, [5]])
    check(series, [0.3, 0.6], "sum", [3, None, 5])
    check(series, [0.3, 0.6], "max", [2, None, 5])
    check(series, [0.3, 0.6], "len", [2, None, 1])
    assert plain(series.gpuscan.explode()) == [1, 2, None, 5]


def test_lists_in_several_chunks():
    chunks = pa.chunked_array(
        [pa.array([[1, 2], None]), pa.array([[3]]), pa.array([], pa.list_(pa.int64()))]
    )
    series = pd.Series(pd.arrays.ArrowExtensionArray(chunks), name="x")
    check(series, [0.5], "cumsum", [[1, 3], None, [3]])
    check(series, [0.5], "sum", [3, None, 3])


# --- explode -----------------------------------------------------------------------------------------


@given(
    kinds=st.lists(st.sampled_from(list(ITEMS)), min_size=1, max_size=2),
    layout=st.sampled_from(["lists", "large"]),
    ignore_index=st.booleans(),
    at=cuts(),
    data=st.data(),
)
def test_explode(backend, kinds, layout, ignore_index, at, data):
    shapes = data.draw(st.lists(st.integers(-1, 4), max_size=10))
    frame = {"n": range(len(shapes)), "s": [f"row {i}" for i in range(len(shapes))]}
    names = [f"x{i}" for i in range(len(kinds))]
    wanted = dict(frame)
    out = backend.frame(pd.DataFrame(frame, index=np.arange(len(shapes)) * 2 + 10).convert_dtypes())
    for name, kind in zip(names, kinds, strict=True):
        rows = [
            None if n < 0 else data.draw(st.lists(ITEMS[kind] | st.none(), min_size=n, max_size=n))
            for n in shapes
        ]
        made = column(backend, rows, kind, layout, data.draw(st.integers(0, 2)))
        made.index = out.index
        out[name] = made
        wanted[name] = [item for items in rows for item in (items or [None])]
    repeats = np.maximum(shapes, 1) if shapes else []
    chosen = names if len(names) > 1 else names[0]
    for name in frame:
        wanted[name] = np.repeat(np.array(list(frame[name]), object), repeats).tolist()
    labels = (
        list(range(int(np.sum(repeats))))
        if ignore_index
        else np.repeat(np.arange(len(shapes)) * 2 + 10, repeats).tolist()
    )
    found = out.gpuscan.explode(chosen, ignore_index)
    lazy = partitioned(out, at).gpuscan.explode(chosen, ignore_index=ignore_index)
    parts = lazy.compute()
    for one in (found, parts):
        assert list(one.columns) == [*frame, *names]
        host = backend.to_pandas(one)
        assert host.index.tolist() == labels
        for name in one.columns:
            listed = [None if pd.isna(v) else v for v in host[name]]
            assert listed == [
                pd.Timestamp(v) if isinstance(v, datetime) else v for v in wanted[name]
            ]
    if backend.name == "cpu":
        if layout == "lists" or not older("pandas", "3"):  # which left large lists as they are
            same(found, out.explode(chosen, ignore_index))
        assert dict(lazy.dtypes) == dict(parts.dtypes) == dict(found.dtypes)


def test_explode_of_a_series(backend):
    series = column(backend, [[1, None], None, [], [2]], pa.int8())
    for found in (series, partitioned(series, [0.3, 0.3, 0.7])):
        exploded = found.gpuscan.explode()
        computed = (
            exploded.compute()
            if exploded is not found and hasattr(exploded, "compute")
            else exploded
        )
        assert plain(computed) == [1, None, None, None, 2]
        assert backend.to_pandas(computed).index.tolist() == [10, 10, 12, 14, 16]


def test_explode_one_level_of_several(backend):
    kind = pa.list_(pa.int64())
    array = pa.array([[[1, 2], []], [[3]]], pa.list_(kind))
    series = pd.Series(array, dtype=pd.ArrowDtype(array.type), name="x")
    if backend.name != "cpu":
        import cudf

        series = cudf.Series(array, name="x")
    once = series.gpuscan.explode(ignore_index=True)
    assert plain(once) == [[1, 2], [], [3]]
    assert plain(once.gpuscan.list.sum()) == [3, 0, 3]
    assert plain(series.gpuscan.list.len()) == [2, 1]


# --- lists of the values of groups -------------------------------------------------------------------


@given(
    keys=st.lists(st.sampled_from([1, 2, None]), max_size=20),
    clustered=st.sampled_from([True, None]),
    at=cuts(),
    data=st.data(),
)
def test_lists_of_groups(backend, keys, clustered, at, data):
    count = len(keys)
    xs = data.draw(st.lists(ITEMS[pa.float64()] | st.none(), min_size=count, max_size=count))
    names = data.draw(st.lists(ITEMS[pa.string()], min_size=count, max_size=count))
    df = pd.DataFrame(
        {
            "k": pd.array(keys, "Int64"),
            "x": pd.array(xs, "double[pyarrow]"),
            "s": pd.array(names, "string"),
        }
    )
    if clustered:
        df["k"] = df["k"].sort_values(ignore_index=True)
    groups = dict(iter(df.groupby("k", sort=True)))
    expected = {
        name: [pa.array(part[name]).to_pylist() for part in groups.values()] for name in ("x", "s")
    }
    frame = backend.frame(df)
    for each in (frame, partitioned(frame, at)):
        found = each.gpuscan.groupby("k", clustered=clustered).agg(
            x=("x", "list"), s=("s", "list"), rows=("x", "size")
        )
        if each is not frame:
            assert dict(found.dtypes) == dict(found.compute().dtypes)
            found = found.compute()
        assert backend.to_pandas(found.index).tolist() == list(groups)
        assert {name: plain(found[name]) for name in ("x", "s")} == expected
        assert backend.to_pandas(found["rows"]).tolist() == [len(p) for p in groups.values()]


def test_explode_and_lists_of_groups_are_inverse(backend):
    df = pd.DataFrame({"k": [1, 1, 2, 3, 3, 3], "x": [1.5, 2.5, 3.5, 4.5, 5.5, 6.5], "n": range(6)})
    for frame in (backend.frame(df), partitioned(backend.frame(df), [0.2, 0.6])):
        lists = frame.gpuscan.groupby("k", clustered=True).agg(x=("x", "list"), n=("n", "list"))
        back = lists.gpuscan.explode(["x", "n"])
        found = back.compute() if hasattr(back, "dask") else back
        host = backend.to_pandas(found).astype({"x": "float64", "n": "int64"})
        same(host, df.set_index("k"))


def test_lists_of_groups_whose_items_are_all_handed_on():
    # the partition between has no lists, and its items lie behind the end of an empty buffer
    frame = pd.DataFrame({"k": [1, 1, 2, 2, 2, 3, 3], "n": pd.array([5, 6, 7, 8, 9, 10, 11])})
    frame["n"] = frame["n"].astype("int64[pyarrow]")
    lists = (
        dd.from_pandas(frame, npartitions=3)
        .gpuscan.groupby("k", clustered=True)
        .agg(n=("n", "list"))["n"]
    )
    assert lists.gpuscan.list.sum().compute().tolist() == [11, 24, 21]


def test_what_lists_of_groups_hold():
    df = pd.DataFrame(
        {
            "k": [1, 1],
            "c": pd.Categorical(["b", "a"]),
            "t": pd.to_datetime(["2026-01-01", None]).tz_localize("Europe/Berlin"),
            "f": [1.0, np.nan],
            "i": pd.array([1, 2], "Int8"),
            "d": pd.array([Decimal("1.50"), None], pd.ArrowDtype(pa.decimal128(5, 2))),
        }
    )
    found = df.gpuscan.groupby("k").agg(dict.fromkeys("ctfid", "list"))
    assert {name: plain(found[name])[0] for name in "cfid"} == {
        "c": ["b", "a"],
        "f": [1.0, None],
        "i": [1, 2],
        "d": [Decimal("1.50"), None],
    }
    assert [str(t) for t in plain(found["t"])[0]] == ["2026-01-01 00:00:00+01:00", "None"]
    df.loc[0, "f"] = 9.0  # written to after the answer
    assert plain(found["f"]) == [[1.0, None]]
    times = pd.Series([1, 2, 3], pd.to_datetime(["2026-01-01", "2026-01-01", "2026-01-03"]))
    for series in (times, partitioned(times, [0.5])):
        buckets = series.gpuscan.resample("D").agg(["list"])
        computed = buckets.compute() if hasattr(buckets, "dask") else buckets
        assert plain(computed["list"]) == [[1, 2], [], [3]]


# --- tables ------------------------------------------------------------------------------------------


def test_tables():
    pl = pytest.importorskip("polars")
    series = pl.Series("x", [[1, 2], None, [3]])
    assert series.gpuscan.list.cumsum().to_list() == [[1, 3], None, [3]]
    assert series.gpuscan.list.cumsum().dtype == pl.List(pl.Int64)
    assert series.gpuscan.list.max().to_list() == [2, None, 3]
    array = pl.Series("x", [[1.0, 2.0]], dtype=pl.Array(pl.Float64, 2))
    assert array.gpuscan.list.cumsum().dtype == array.dtype
    frame = pl.DataFrame({"k": ["a", "b", "c"], "x": series})
    assert frame.gpuscan.explode("x").rows() == frame.explode("x").rows()
    found = frame.gpuscan.explode("x").gpuscan.groupby("k", clustered=True).agg(x=("x", "list"))
    assert found.rows() == [("a", [1, 2]), ("b", [None]), ("c", [3])]


@pytest.mark.parametrize("make", [pa.array, lambda rows: pa.chunked_array([rows[:1], rows[1:]])])
def test_arrow(make):
    array = make([[1.5, 2.0], None, [3.0]])
    found = dask_gpuscan.on(array).list
    assert type(found.cumsum()) is type(array)
    assert found.cumsum().to_pylist() == [[1.5, 3.5], None, [3.0]]
    assert found.cumsum().type == array.type
    assert found.sum().to_pylist() == [3.5, None, 3.0]
    table = pa.table({"x": array})
    assert dask_gpuscan.on(table).explode("x")["x"].to_pylist() == [1.5, 2.0, None, 3.0]


# --- wrong arguments ---------------------------------------------------------------------------------


def frame_of(kind, rows):
    dtype = pd.ArrowDtype(pa.list_(kind))
    return pd.DataFrame(
        {"x": pd.Series(rows, dtype=dtype), "y": pd.Series(rows, dtype=dtype)[::-1].array, "n": 1}
    )


NUMBERS = frame_of(pa.int64(), [[1, 2], [3]])
NESTED = frame_of(pa.list_(pa.int64()), [[[1]], [[2]]])
WRONG = {
    TypeError: {
        "cumsum of column 'n': dtype int64 holds no lists": [
            lambda f: f["n"].gpuscan.list.cumsum()
        ],
        "dtype object holds no lists": [lambda f: f["n"].astype(object).gpuscan.list.len()],
        "op must be an Operator": [lambda f: f["x"].gpuscan.list.scan(max)],
        "affine takes 2 inputs": [lambda f: f["x"].gpuscan.list.scan(dask_gpuscan.affine)],
        "dtype must be a dtype": [lambda f: f["x"].gpuscan.list.cumsum(dtype="x")],
        "initial must be int64, found 'x'": [lambda f: f["x"].gpuscan.list.cumsum(initial="x")],
        "explode of column 'n': dtype int64 holds no lists": [lambda f: f.gpuscan.explode("n")],
        "column is for DataFrames, found 'x' for a Series": [lambda f: f["x"].gpuscan.explode("x")],
        "list of column 'n': dtype object has no type of Arrow": [
            lambda f: f.assign(n=f["n"].astype(object)).gpuscan.groupby("n").agg(i=("n", "list"))
        ],
    },
    AttributeError: {
        "use list of one column": [lambda f: f.gpuscan.list],
        "median": [lambda f: f["x"].gpuscan.list.median],
    },
    ValueError: {
        "skipna must be True or False, found 2": [lambda f: f["x"].gpuscan.list.cumsum(skipna=2)],
        "na_position must be one of 'first', 'last'": [
            lambda f: f["x"].gpuscan.list.sort(na_position="top")
        ],
        "ascending must be True or False": [lambda f: f["x"].gpuscan.list.sort("up")],
        "column='z' is not a column; columns are 'x', 'y', 'n'": [lambda f: f.gpuscan.explode("z")],
        "column must name at least one column": [lambda f: f.gpuscan.explode([])],
        "column=None is not a column": [lambda f: f.gpuscan.explode()],
        "column must name each column once": [lambda f: f.gpuscan.explode(["x", "x"])],
        "ignore_index must be True or False, found 2": [lambda f: f.gpuscan.explode("x", 2)],
    },
}


@pytest.mark.parametrize(("error", "message", "ask"), refusals(WRONG))
@pytest.mark.parametrize("at", [None, [0.5]])
def test_wrong_arguments(error, message, ask, at):
    with pytest.raises(error, match=message):
        ask(NUMBERS if at is None else partitioned(NUMBERS, at))


def test_lists_of_other_lengths():
    message = "explode: lists of a row must have as many items each, found . in column 'x' and . in column 'y'"
    with pytest.raises(ValueError, match=message):
        NUMBERS.gpuscan.explode(["x", "y"])
    with pytest.raises(ValueError, match=message):
        partitioned(NUMBERS, [0.5]).gpuscan.explode(["x", "y"]).compute()


@pytest.mark.parametrize("method", ["cumsum", "sum", "min", "sort", "first"])
def test_lists_of_lists_are_refused(method):
    with pytest.raises(
        TypeError, match=f"{method} of column 'x': its items are lists themselves, of dtype list<"
    ):
        getattr(NESTED["x"].gpuscan.list, method)()


@pytest.mark.parametrize(
    ("kind", "item", "method"),
    [
        (pa.string(), "a", "cumprod"),
        (pa.string(), "a", "sum"),
        (pa.decimal128(5, 2), Decimal(1), "sum"),
        (pa.decimal128(5, 2), Decimal(1), "cumprod"),
        (pa.timestamp("us"), datetime(2026, 1, 1), "cumsum"),
        (pa.struct({"a": pa.int64()}), {"a": 1}, "sort"),
    ],
)
def test_items_that_have_no_such_answer(kind, item, method):
    series = frame_of(kind, [[item]])["x"]
    with pytest.raises(TypeError, match=f"{method} of column 'x'.*cast it with astype"):
        getattr(series.gpuscan.list, method)()


@pytest.mark.parametrize("lists", [[[], None, []], [[], []], [None], []])
def test_lists_of_no_items_each(lists):
    array = pa.array(lists, pa.list_(pa.float64(), 0))
    x = pd.Series(pd.arrays.ArrowExtensionArray(array))
    for found in (x.gpuscan.list.cumsum(), x.gpuscan.list.sort()):
        assert found.dtype == x.dtype
        assert found.array.__arrow_array__().to_pylist() == lists
    assert dask_gpuscan.on(array).list.cumsum().to_pylist() == lists


@pytest.mark.parametrize("option", ["exclusive", "reverse", "skipna"])
def test_flags_of_numpy(option):
    x = pd.Series([[1, 2, 4], [3]], dtype=pd.ArrowDtype(pa.list_(pa.int64())))
    for flag in (True, False):
        found = x.gpuscan.list.cumsum(**{option: np.bool_(flag)})
        assert found.equals(x.gpuscan.list.cumsum(**{option: flag}))
