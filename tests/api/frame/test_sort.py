"""sort_values and sort_index: pandas' stable sorts of the whole data, whatever the cuts, dtypes and moves of rows."""

import datetime
import decimal
from collections import Counter

import dask
import dask.dataframe as dd
import numpy as np
import pandas as pd
import pyarrow as pa
import pytest
from dask.task_spec import Task
from dask.utils import key_split
from hypothesis import assume, given
from hypothesis import strategies as st

import dask_gpuscan
from helpers.asked import computed
from helpers.backends import same
from helpers.strategies import FLOATS, INTEGERS, OTHERS, TIMES, cuts, frames, partitioned
from helpers.versions import older

moves_columns = pytest.mark.usefixtures("columns_moved")

EVERY = (*INTEGERS, *FLOATS, *TIMES, *OTHERS)
WAYS = (None, "tasks", "disk")


@st.composite
def directions(draw, count):
    """One flag, or one a key."""
    one = st.booleans()
    return draw(one | st.lists(one, min_size=count, max_size=count))


@moves_columns
@given(data=st.data(), df=frames(EVERY), at=cuts(), way=st.sampled_from(WAYS))
def test_frames_by_columns(backend, data, df, at, way):
    by = data.draw(st.lists(st.sampled_from(list(df)), min_size=1, unique=True))
    options = {
        "ascending": data.draw(directions(len(by))),
        "na_position": data.draw(st.sampled_from(["first", "last"])),
        "ignore_index": data.draw(st.booleans()),
    }
    # pandas before 3.1 has no index of half floats, and makes one to sort by
    assume(not older("pandas", "3.1") or len(by) == 1 or "float16" not in map(str, df[by].dtypes))
    expected = df.sort_values(by, kind="stable", **options)
    frame = backend.frame(df)
    same(backend.to_pandas(frame.gpuscan.sort_values(by, **options)), expected)
    with dask.config.set({"dataframe.shuffle.method": way}):
        lazy = partitioned(frame, at).gpuscan.sort_values(by, **options)
        same(backend.to_pandas(lazy.compute()), expected)
    assert lazy.npartitions == len(at) + 1


@pytest.mark.parametrize("ascending", [True, False])
def test_nulls_that_are_first_stand_before_infinity(backend, ascending):
    ends = [np.inf, -np.inf]
    df = pd.DataFrame({"a": [*ends, np.nan, *ends, np.nan], "b": [1, 1, 1, 0, 0, 0]})
    options = {"ascending": ascending, "na_position": "first"}
    # by both at once, pandas takes NaN for an infinity
    expected = df.sort_values("b", **options).sort_values("a", kind="stable", **options)
    for each in (backend.frame(df), partitioned(backend.frame(df), [0.3, 0.6])):
        same(backend.to_pandas(computed(each.gpuscan.sort_values(["a", "b"], **options))), expected)


@moves_columns
@given(data=st.data(), df=frames(EVERY, max_columns=1), at=cuts())
def test_series(backend, data, df, at):
    x = df["c0"]
    options = {
        "ascending": data.draw(st.booleans()),
        "na_position": data.draw(st.sampled_from(["first", "last"])),
        "ignore_index": data.draw(st.booleans()),
    }
    # of a Series itself pandas makes strings out of objects
    expected = df.sort_values("c0", kind="stable", **options)["c0"]
    series = backend.frame(x)
    same(backend.to_pandas(series.gpuscan.sort_values(**options)), expected)
    lazy = partitioned(series, at).gpuscan.sort_values(**options)
    same(backend.to_pandas(lazy.compute()), expected)


# pandas has no such labels, and makes strings of objects when it joins partitions
LABELS = tuple(dtype for dtype in EVERY if dtype not in ("float16", "object"))


@moves_columns
@given(data=st.data(), df=frames(LABELS), at=cuts())
def test_index(backend, data, df, at):
    name = data.draw(st.sampled_from(list(df)))
    df = df.set_index(name)
    options = {
        "ascending": data.draw(st.booleans()),
        "na_position": data.draw(st.sampled_from(["first", "last"])),
        "ignore_index": data.draw(st.booleans()),
    }
    expected = df.sort_index(kind="stable", **options)
    if df.index.dtype == "category":  # pandas takes a null before other labels to be in order
        by_value = df.reset_index().sort_values(
            name, kind="stable", **{**options, "ignore_index": False}
        )
        expected = df.iloc[by_value.index]
        expected = expected.reset_index(drop=True) if options["ignore_index"] else expected
    frame = backend.frame(df)
    same(backend.to_pandas(frame.gpuscan.sort_index(**options)), expected)
    is_times = pd.api.types.is_datetime64_any_dtype(df.index.dtype)
    if backend.name == "cuda" and is_times and df.index.isna().any():
        return  # cuDF itself raises where it joins partitions of null labels: an AttributeError
    lazy = partitioned(frame, at).gpuscan.sort_index(**options)
    same(backend.to_pandas(lazy.compute()), expected)


levels = pd.MultiIndex.from_arrays(
    [[1, 1, 2, 2, 1], [3.0, np.nan, 1.0, 2.0, 3.0], list("zyxwv")], names=["p", 1, None]
)


@pytest.mark.parametrize(
    "options",
    [
        {},
        {"ascending": False},
        {"level": 1},
        {"level": 1, "ascending": False},
        {"level": [2, "p"], "ascending": [False, True]},
        {"level": [1, 0]},
        {"level": [1], "ascending": [False]},
        {"level": 1, "na_position": "first"},
        {"ascending": [True, False, True]},
        {"level": "p", "key": lambda level: -level},
        {"level": -1, "ignore_index": True},
    ],
)
def test_levels_of_an_index(backend, options):
    df = pd.DataFrame({"x": range(5)}, index=levels)
    expected = df.sort_index(kind="stable", **options)
    same(backend.to_pandas(backend.frame(df).gpuscan.sort_index(**options)), expected)


@moves_columns
def test_keys_may_be_levels_of_the_index(backend):
    df = pd.DataFrame({"x": [1, 2, 1, 2]}, index=pd.Index([3, 1, 2, 1], name="row"))
    for at in ([], [0.5], [0.3, 0.3, 0.8]):
        for by, ascending in ((["row", "x"], True), (["x", "row"], [False, True]), ("row", False)):
            expected = df.sort_values(by, ascending=ascending, kind="stable")
            frame = backend.frame(df)
            found = frame.gpuscan.sort_values(by, ascending=ascending)
            same(backend.to_pandas(found), expected)
            lazy = partitioned(frame, at).gpuscan.sort_values(by, ascending=ascending)
            same(backend.to_pandas(lazy.compute()), expected)


@moves_columns
@pytest.mark.parametrize(
    "values",
    [
        [pd.Interval(1, 2), pd.Interval(0, 3), None, pd.Interval(0, 1)],
        pd.array([5, None, 3, 4], dtype=pd.ArrowDtype(pa.decimal128(38, 2))),
        pd.array([5, None, 3, 4], dtype=pd.ArrowDtype(pa.decimal256(50, 2))),
        [decimal.Decimal("2.5"), None, decimal.Decimal(-1), decimal.Decimal("2.5")],
        [datetime.date(2026, 1, 2), datetime.date(2025, 1, 2), None, datetime.date(2026, 1, 1)],
        np.array([2 + 1j, 1 + 5j, np.nan, 2 - 1j]),
        pd.Categorical(["b", None, "c", "a"], categories=["c", "b", "a"], ordered=True),
        pd.array(["é", "e", None, "z"], dtype="string[python]"),
        pd.arrays.SparseArray([2.0, 0.0, np.nan, 1.0]),
        pd.array([b"b", None, b"a", b""], dtype=pd.ArrowDtype(pa.binary())),
        np.array([0.0, -0.0, np.inf, -np.inf]),
        np.array([True, False, True, False], dtype=object),
        np.array([2**63, 1, 2**64 - 1, 0], dtype=np.uint64),
    ],
    ids=lambda values: str(getattr(values, "dtype", type(values[0]).__name__)),
)
@pytest.mark.parametrize(("ascending", "na_position"), [(True, "first"), (False, "last")])
def test_other_dtypes(values, ascending, na_position):
    df = pd.DataFrame({"x": values, "row": range(4)})
    options = {"ascending": ascending, "na_position": na_position}
    expected = df.sort_values("x", kind="stable", **options)
    same(df.gpuscan.sort_values("x", **options), expected)
    same(partitioned(df, [0.3, 0.6]).gpuscan.sort_values("x", **options).compute(), expected)
    both = df.assign(y=[1, 1, 2, 2])
    expected = both.sort_values(["y", "x"], kind="stable", **options)
    same(both.gpuscan.sort_values(["y", "x"], **options), expected)


def test_dictionaries_of_arrow_are_in_the_order_of_their_values():
    words = pa.array(["b", None, "a", "b"]).dictionary_encode()
    df = pd.DataFrame({"x": pd.arrays.ArrowExtensionArray(words), "row": range(4)})
    assert df.gpuscan.sort_values("x").row.tolist() == [2, 0, 3, 1]


@pytest.mark.parametrize(
    "entries",
    [["small", "medium", "large"], [3, 1, 2], [0.5, -1.0, 2.5], [b"c", b"a", b"b"],
     [datetime.date(2026, 1, 2), datetime.date(2024, 1, 1), datetime.date(2025, 1, 1)]],
    ids=lambda entries: type(entries[0]).__name__,
)  # fmt: skip
@pytest.mark.parametrize("ascending", [True, False])
def test_ordered_dictionaries_of_arrow_are_in_the_order_of_their_entries(entries, ascending):
    rows = [2, 0, None, 1, 2]
    words = pa.DictionaryArray.from_arrays(pa.array(rows, pa.int8()), entries, ordered=True)
    sign = 1 if ascending else -1
    places = [i for i in range(5) if rows[i] is not None]
    expected = [*sorted(places, key=lambda i: sign * rows[i]), 2]
    table = pa.table({"x": words, "row": range(5)})
    found = dask_gpuscan.on(table).sort_values("x", ascending=ascending)
    assert found["row"].to_pylist() == expected
    assert found["x"].to_pylist() == [
        None if rows[i] is None else entries[rows[i]] for i in expected
    ]
    df = table.to_pandas(types_mapper=pd.ArrowDtype)
    for at in (None, [0.3, 0.6], [0.2, 0.4, 0.6, 0.8]):
        d = df if at is None else partitioned(df, at)
        (found,) = dask.compute(d.gpuscan.sort_values("x", ascending=ascending))
        assert found["row"].tolist() == expected
        assert found["x"].dtype == df["x"].dtype
        ordered = d[d["row"].isin([0, 4] if ascending else [0, 1])]["x"].gpuscan
        assert dask.compute(ordered.is_monotonic_increasing)[0] == ascending
        assert dask.compute(ordered.is_monotonic_decreasing)[0]
    found = df.set_index("x").gpuscan.sort_index(ascending=ascending)
    assert found["row"].tolist() == expected


def test_ordered_dictionaries_of_arrow_that_differ():
    def rows(entries, codes):
        words = pa.DictionaryArray.from_arrays(pa.array(codes, pa.int8()), entries, ordered=True)
        return pd.DataFrame({"x": pd.arrays.ArrowExtensionArray(words)})

    parts = [rows(["low", "high"], [1, 0]), rows(["low", "mid", "high"], [1, 2, None, 0])]
    expected = ["low", "low", "mid", "high", "high", None]
    for pieces in (parts, parts[::-1]):
        whole = pd.concat(pieces, ignore_index=True)
        lazy = dd.from_map(lambda part: part, pieces, meta=parts[0][:0])
        for d in (whole, lazy):
            (found,) = dask.compute(d.gpuscan.sort_values("x"))
            assert [None if x is pd.NA else x for x in found["x"].tolist()] == expected
    other = rows(["mid", "low"], [0, 1])
    for d in (
        pd.concat([*parts, other]),
        dd.from_map(lambda part: part, [*parts, other], meta=other[:0]),
    ):
        with pytest.raises(ValueError, match="ordered dictionaries have different orders"):
            dask.compute(d.gpuscan.sort_values("x"))


@moves_columns
def test_what_is_beside_the_columns_is_kept(backend):
    df = pd.DataFrame([[2, 1, 9.0], [1, 2, 8.0]], columns=["a", "b", "c"])
    df.columns.name = "names"
    df.attrs["unit"] = "m"
    found = backend.frame(df).gpuscan.sort_values("a")
    same(backend.to_pandas(found), df.sort_values("a", kind="stable"))
    assert found.columns.name == "names"
    if backend.name == "cpu":
        assert found.attrs == {"unit": "m"}
        assert df["a"].rename("n").gpuscan.sort_values().name == "n"
        doubled = df.set_axis(["a", "b", "b"], axis=1)
        same(doubled.gpuscan.sort_values("a"), doubled.sort_values("a", kind="stable"))


def test_a_function_of_keys():
    df = pd.DataFrame({"s": list("bACa"), "t": [1, 2, 3, 4]})

    def folded(key):
        return key.str.lower() if key.dtype != np.int64 else -key

    expected = df.sort_values(["s", "t"], key=folded, kind="stable")
    same(df.gpuscan.sort_values(["s", "t"], key=folded), expected)
    lazy = partitioned(df, [0.4]).gpuscan.sort_values(["s", "t"], key=folded)
    same(lazy.compute(), expected)
    labelled = df.set_index("s")
    expected = labelled.sort_index(key=lambda index: index.str.lower(), kind="stable")
    same(labelled.gpuscan.sort_index(key=lambda index: index.str.lower()), expected)
    same(df.t.gpuscan.sort_values(key=np.negative), df.t.sort_values(ascending=False))

    def destructive(key):
        key.iloc[:] = 0
        return key

    before = df.copy()
    df.gpuscan.sort_values("t", key=destructive)
    same(df, before)
    with pytest.raises(ValueError, match="key must return one value a row, found 1 for 4"):
        df.gpuscan.sort_values("t", key=lambda key: key[:1])


# --- partitions --------------------------------------------------------------------------------------


def lengths(lazy):
    return lazy.map_partitions(len, meta=("n", int)).compute().tolist()


KEYS = {
    "random": lambda rng, n: rng.integers(0, 2**40, n),
    "90 % one key": lambda rng, n: np.where(rng.random(n) < 0.9, 7, rng.integers(0, 15, n)),
    "all equal": lambda rng, n: np.zeros(n, np.int64),
    "sorted": lambda rng, n: np.arange(n),
    "reversed": lambda rng, n: np.arange(n)[::-1],
    "all null": lambda rng, n: np.full(n, np.nan),
    "words": lambda rng, n: pd.array(rng.integers(0, 50, n).astype(str), dtype="str"),
}


@moves_columns
@pytest.mark.parametrize("kind", list(KEYS))
@pytest.mark.parametrize("ascending", [True, False])
def test_partitions_are_even_and_in_order(backend, kind, ascending):
    rng = np.random.default_rng(0)
    rows = 20_000
    whole = pd.DataFrame({"k": KEYS[kind](rng, rows), "x": np.arange(rows)})
    df = backend.frame(whole)
    # one long partition, some short ones, an empty one
    ddf = partitioned(df, [0.5, 0.5, 0.55, 0.6, 0.61, 0.7, 0.9])
    lazy = ddf.gpuscan.sort_values("k", ascending=ascending)
    expected = whole.sort_values("k", ascending=ascending, kind="stable")
    same(backend.to_pandas(lazy.compute()), expected)
    assert lazy.npartitions == ddf.npartitions == 8
    assert all(abs(n - rows / 8) <= 0.1 * rows / 8 for n in lengths(lazy))


def test_nothing_is_computed_early_and_columns_are_read_as_needed():
    read = []

    def part(i, columns=("k", "x", "y")):
        read.append(tuple(columns))
        return pd.DataFrame({"k": [3, 1], "x": [1.0, 2.0], "y": ["a", "b"]})[list(columns)]

    meta = part(0).iloc[:0]
    read.clear()
    ddf = dd.from_map(part, range(3), meta=meta)
    lazy = ddf.gpuscan.sort_values("k")
    assert lazy.npartitions == 3
    assert not lazy.known_divisions
    assert read == []
    assert lazy["x"].compute().tolist() == [2.0, 2.0, 2.0, 1.0, 1.0, 1.0]
    assert set(read) == {("k",), ("k", "x")}
    assert len(lazy) == 6
    read.clear()
    lazy.optimize()
    assert read == []


def test_files_are_read_in_the_partitions_of_the_frame(tmp_path):
    rng = np.random.default_rng(0)
    columns = {name: rng.random(400) for name in "abcdefgh"}
    whole = pd.DataFrame({"k": rng.integers(0, 3, 400), **columns})
    dd.from_pandas(whole, npartitions=8).to_parquet(tmp_path)
    ddf = dd.read_parquet(tmp_path)
    for frame, names in ((ddf, list(whole)), (ddf[["k", "a"]], ["k", "a"])):
        lazy = frame.gpuscan.sort_values("k")
        same(lazy.compute(), whole[names].sort_values("k", kind="stable"))
        same(lazy[["a"]].compute(), whole[["a", "k"]].sort_values("k", kind="stable")[["a"]])
    kept = ddf.gpuscan.filter(ddf.b > 0.5).gpuscan.sort_values(["k", "a"])
    same(kept.compute(), whole[whole.b > 0.5].sort_values(["k", "a"], kind="stable"))
    added = ddf.assign(s=ddf.a + ddf.b).gpuscan.sort_values("s")
    same(added.compute(), whole.assign(s=whole.a + whole.b).sort_values("s", kind="stable"))


@moves_columns
def test_known_divisions_are_kept():
    df = pd.DataFrame({"x": range(8)}, index=[0, 1, 1, 3, 4, 4, 6, 7]).sample(
        frac=1, random_state=1
    )
    ddf = dd.from_pandas(df.sort_index(), npartitions=3)
    shuffled = ddf.map_partitions(lambda part: part.iloc[::-1], meta=df.iloc[:0])
    lazy = shuffled.gpuscan.sort_index()
    assert lazy.divisions == ddf.divisions
    same(lazy.compute(), shuffled.compute().sort_index(kind="stable"))
    back = shuffled.gpuscan.sort_index(ascending=False)
    assert not back.known_divisions
    same(back.compute(), shuffled.compute().sort_index(ascending=False, kind="stable"))
    known = partitioned(df, [0.3, 0.6]).gpuscan.sort_index()
    assert known.compute_current_divisions(set_divisions=True).known_divisions


def test_the_same_input_gives_the_same_partitions():
    rng = np.random.default_rng(1)
    df = pd.DataFrame({"k": rng.integers(0, 5, 1000), "x": rng.random(1000)})
    ddf = partitioned(df, [0.2, 0.4, 0.8])
    first = ddf.gpuscan.sort_values("k")
    again = ddf.gpuscan.sort_values("k")
    assert first._name == again._name
    parts = dask.compute(*first.to_delayed(), scheduler="threads", num_workers=4)
    for way in WAYS:
        with dask.config.set({"dataframe.shuffle.method": way}):
            for left, right in zip(parts, dask.compute(*again.to_delayed()), strict=True):
                same(left, right)
    same(first.persist().compute(), df.sort_values("k", kind="stable"))


def part_of(i, columns=("k", "x")):
    rng = np.random.default_rng(i)
    return pd.DataFrame({name: rng.random(10) for name in columns})


def test_a_process_takes_three_tasks_a_partition():
    ddf = dd.from_map(part_of, range(20), meta=part_of(0).iloc[:0])
    graph = ddf.gpuscan.sort_values("x").optimize().__dask_graph__()
    names = Counter(key_split(key) for key, task in graph.items() if type(task) is Task)
    assert {name: names[name] for name in ("splitters", "join")} == {"splitters": 1, "join": 20}
    assert names.total() == 20 + 1 + 2 * 20  # others read keys and sample, or read and cut


# --- bad input ---------------------------------------------------------------------------------------

plain = pd.DataFrame({"a": [1, 2], "b": [1.0, 2.0]})


@pytest.mark.parametrize("lazy", [False, True])
@pytest.mark.parametrize(
    ("by", "options", "error", "message"),
    [
        ("c", {}, ValueError, "by='c' is not a column; columns are 'a', 'b'"),
        (["a", "a"], {}, ValueError, "by names 'a', which is there twice"),
        (None, {}, TypeError, "by must be the name of a column or a list of names, found None"),
        ([], {}, ValueError, "by must name at least one column"),
        (["a", "b"], {"ascending": [True]}, ValueError, "one flag a key, found 1 for 2 keys"),
        ("a", {"ascending": "no"}, TypeError, "ascending must be True, False or a list of these"),
        ("a", {"ascending": [1]}, TypeError, "ascending must be True, False or a list of these"),
        ("a", {"na_position": "mid"}, ValueError, "na_position must be one of 'first', 'last'"),
        ("a", {"ignore_index": 1}, ValueError, "ignore_index must be True or False"),
        ("a", {"key": "lower"}, TypeError, "key must be a function or None"),
    ],
)
def test_bad_arguments(lazy, by, options, error, message):
    df = dd.from_pandas(plain, npartitions=2) if lazy else plain
    with pytest.raises(error, match=message):
        df.gpuscan.sort_values(by, **options)


def test_bad_arguments_of_series_and_indexes():
    with pytest.raises(TypeError, match="by is for DataFrames, found 'a' for a Series"):
        plain.a.gpuscan.sort_values("a")
    for level in (1, -2, "row", [True]):
        with pytest.raises(ValueError, match="level must be among the levels of the index"):
            plain.gpuscan.sort_index(level=level)
    with pytest.raises(ValueError, match="level names 0 twice"):
        plain.gpuscan.sort_index(level=[0, 0])
    with pytest.raises(ValueError, match="level must name at least one level"):
        plain.gpuscan.sort_index(level=[])


def test_keys_without_an_order():
    mixed = pd.DataFrame({"k": [1, "a", None, 2.5]})
    lists = pd.DataFrame({"k": [[1], [2], None, [0]]})
    for df in (mixed, lists):
        with pytest.raises(
            TypeError, match="column 'k' of dtype object has values without an order"
        ):
            df.gpuscan.sort_values("k")
        lazy = partitioned(df, [0.5]).gpuscan.sort_values("k")
        with pytest.raises(
            TypeError, match="column 'k' of dtype object has values without an order"
        ):
            lazy.compute()
    nested = pd.DataFrame({"k": pd.array([[1], [2]], dtype=pd.ArrowDtype(pa.list_(pa.int64())))})
    with pytest.raises(TypeError, match=r"column 'k' of dtype list.* has values without an order"):
        partitioned(nested, [0.5]).gpuscan.sort_values("k")


def test_partitions_must_agree():
    parts = [pd.DataFrame({"k": pd.Categorical(list(text))}) for text in ("ab", "bc")]
    ddf = dd.from_map(lambda part: part, parts, meta=parts[0].iloc[:0])
    with pytest.raises(ValueError, match=r"partitions do not match: column 'k' .* categories"):
        ddf.gpuscan.sort_values("k").compute()
    parts = [pd.DataFrame({"k": [1]}), pd.DataFrame({"k": [0.5]})]
    ddf = dd.from_map(lambda part: part, parts, meta=parts[0].iloc[:0])
    with pytest.raises(ValueError, match="partitions do not match: column 'k' is int64 in one"):
        ddf.gpuscan.sort_values("k").compute()
