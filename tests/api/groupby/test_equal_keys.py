"""Keys that are the same though their bytes differ: every method answers alike, however rows are cut."""

import re
from datetime import UTC, date, datetime, timedelta
from decimal import Decimal
from fractions import Fraction

import dask
import dask.dataframe as dd
import numpy as np
import pandas as pd
import pyarrow as pa
import pytest

import dask_gpuscan
from helpers.asked import computed
from helpers.keys import key_of_row, key_of_value
from helpers.versions import older

NAN = float("nan")
DAY = pd.Timestamp("2026-01-01")
WORLD = pd.Timestamp("2026-01-01", tz="UTC")


TURNS = (0, 0, 1, 2, 3, 1, 0, 2, 2)


def rows_of(*same, nulls=()):
    """Return values of nine rows and their numbers: those of one list are the same key, and lists take turns."""
    kinds = [*enumerate(same), *([(-1, nulls)] if nulls else [])]
    taken = [kinds[turn % len(kinds)] for turn in TURNS]
    values = [
        each[taken[:i].count((number, each)) % len(each)] for i, (number, each) in enumerate(taken)
    ]
    return values, [number for number, _ in taken]


def made(make, *same, nulls=()):
    values, numbers = rows_of(*same, nulls=nulls)
    return make(values), numbers


def objects(*same, nulls=()):
    return made(of_objects, *same, nulls=nulls)


def of_objects(values):
    return pd.Series(np.fromiter(values, object, len(values)), dtype=object)


def of_arrow(array):
    return pd.Series(pd.arrays.ArrowExtensionArray(pa.chunked_array([array])))


def of_bits(bits):
    numbers = np.array([b or 0 for b in bits], np.uint64).view(np.float64)
    return of_arrow(pa.array(numbers, mask=np.array([b is None for b in bits]), from_pandas=False))


def of_codes(values):
    return lambda codes: of_arrow(
        pa.DictionaryArray.from_arrays(pa.array(codes, pa.int8()), pa.array(values))
    )


CATEGORIES = [(1, np.float64("nan")), (1, NAN), (2, 0)]
KINDS = {
    "numbers": objects(  # those that are shown have an order
        [1, 1.0, True, Decimal(1)], [2, Fraction(2)], [3, np.int8(3), np.float32(3)]
    ),
    "decimals": objects(*([Decimal(n), Decimal(n + ".00"), Decimal(n + ".0")] for n in "123")),
    "floats": objects(
        [0.0, -0.0], [1.5, np.float32(1.5)], nulls=[None, NAN, pd.NA, np.float64("nan")]
    ),
    "zeros of Arrow": made(lambda x: of_arrow(pa.array(x)), [0.0, -0.0], [1.0], nulls=[None]),
    "NaN of Arrow": made(
        of_bits,
        [0x7FF8 << 48, 0x7FF8_0000_0000_0001, 0xFFF8 << 48, 0x7FF9 << 48],
        [1 << 62],
        nulls=[None],
    ),
    "complex": made(
        pd.Series,
        [complex(0.0, -0.0), complex(-0.0), -0j],
        [1 + 0j, 1 - 0j],
        nulls=[complex(NAN, 1), complex(1, NAN), complex(NAN, NAN)],
    ),
    "dictionary": made(of_codes(["a", "a", None, "b", "b"]), [0, 1], [3, 4], nulls=[2, None]),
    "dictionary without nulls": made(
        of_codes(["a", "a", None, "b", "b"]), [0, 1], [3, 4], nulls=[2]
    ),
    "dictionary of floats": made(of_codes([0.0, -0.0, 2.0]), [0, 1], [2]),
    "instants": objects(
        [DAY, np.datetime64("2026-01-01"), datetime(2026, 1, 1)],
        [np.datetime64("2026-01-02", "ns"), datetime(2026, 1, 2)],
        nulls=[pd.NaT, np.datetime64("NaT")],
    ),
    "instants of zones": objects(
        [WORLD, WORLD.tz_convert("Asia/Tokyo"), datetime(2026, 1, 1, tzinfo=UTC)],
        [WORLD + timedelta(1), datetime(2026, 1, 2, tzinfo=UTC)],
        nulls=[None],
    ),
    "durations": objects(
        [pd.Timedelta(1, "s"), timedelta(seconds=1), np.timedelta64(10**9, "ns")],
        [np.timedelta64(2000, "ms"), pd.Timedelta(2, "s")],
        nulls=[pd.NaT],
    ),
    "tuples": objects(
        [(1, NAN), (1.0, float("nan")), (np.int64(1), np.float64("nan"))],
        [(2, pd.NA), (np.float32(2), pd.NA)],
        [(2, 5), (2.0, np.int8(5))],
    ),
    "intervals": made(
        lambda x: pd.Series(pd.arrays.IntervalArray.from_tuples(x)),
        [(-0.0, 1), (0.0, 1)],
        [(1, 2)],
        nulls=[NAN],
    ),
    "categories": made(
        lambda x: pd.Series(pd.Categorical.from_codes(x, CATEGORIES)), [0, 1], [2], nulls=[-1]
    ),
    "longdouble": made(
        lambda x: pd.Series(np.array(x, np.longdouble)), [1], [2], [-0.0, 0.0], nulls=[NAN]
    ),
}
"""Keys of each kind, and numbers of those that are the same, -1 for nulls."""


def frame(keys):
    """Return rows with keys, in the order of time."""
    rows = len(keys)
    return pd.DataFrame(
        {
            "k": keys,
            "j": [1, 1, 1, 2, 2, 1, 1, 2, 1],
            "x": [3.0, np.nan, 1.0, 4.0, 1.5, 5.0, 9.0, 2.0, 8.0],
            "y": [2.0, 7.0, 1.0, np.nan, 8.0, 2.0, 8.5, 4.0, 4.5],
            "n": [5, 3, 8, 1, 9, 2, 7, 6, 4],
            "late": [True, False, False, True, False, True, True, False, False],
            "t": pd.Timestamp("2026-01-01") + pd.to_timedelta(np.arange(rows) ** 2, unit="min"),
        }
    )


def of_groups(name, *given, column="x", **options):
    """Call a method of groups: of one key without nulls, and of two."""

    def call(f):
        for by, dropna in (("k", True), (["k", "j"], False)):
            groups = f.gpuscan.groupby(by, dropna=dropna)[column]
            yield getattr(groups, name)(*given, **options)

    return call


def of_windows(kind, name, *given, **options):
    def call(f):
        for dropna in (True, False):
            groups = f.gpuscan.groupby("k", dropna=dropna)["x"]
            yield getattr(getattr(groups, kind)(*given, **options), name)()

    return call


def of_runs(name, **options):
    def call(f):
        for dropna in (True, False):
            groups = f.gpuscan.groupby("k", clustered=True, dropna=dropna)["x"]
            yield getattr(groups, name)(**options)

    return call


def merged(f):
    if f["k"].dtype == np.longdouble:  # which pandas merges none
        return
    right = f[["t", "k", "y"]].rename(columns={"y": "z"})
    yield dask_gpuscan.merge_asof(
        f[["t", "k", "x"]], right, on="t", by="k", allow_exact_matches=False
    )
    yield dask_gpuscan.merge_asof(f[["t", "k", "x"]], right, on="t", by="k", direction="forward")


METHODS = {
    **{name: of_groups(name) for name in ("sum", "median", "nunique", "first", "std")},
    "agg": of_groups("agg", ["sum", "min", "median"]),
    "quantile": of_groups("quantile", 0.25),
    "nth": of_groups("nth", 1),
    "reduce": of_groups("reduce", dask_gpuscan.add),
    "size": of_groups("size"),
    **{name: of_groups(name) for name in ("cumsum", "cummax", "cumcount", "ffill", "shift")},
    **{name: of_groups(name) for name in ("diff", "rank", "head", "tail", "row_number")},
    "bfill": of_groups("bfill"),
    "nlargest": of_groups("nlargest", 2, column="n"),
    "nsmallest": of_groups("nsmallest", 1, column="n"),
    "rolling": of_windows("rolling", "sum", 2, min_periods=1),
    "rolling median": of_windows("rolling", "median", 3, min_periods=1),
    "expanding": of_windows("expanding", "mean"),
    "ewm": of_windows("ewm", "mean", span=3),
    "sums of runs": of_runs("sum"),
    "scans of runs": of_runs("cumsum"),
    "runs changed": lambda f: [
        f.gpuscan.groupby("j")["k"].nunique_consecutive().rename("found"),
        f.gpuscan.groupby("j")["k"].nunique().rename("found"),
        f.gpuscan.groupby("j", clustered=True)["k"].nunique_consecutive().rename("found"),
    ],
    "rle": lambda f: [f.gpuscan.rle("k"), f.gpuscan.rle(["k", "j"])],
    "unique_consecutive": lambda f: [
        f.gpuscan.unique_consecutive("k"),
        f.gpuscan.unique_consecutive("k", keep="last"),
    ],
    "sessionize": lambda f: [f.gpuscan.sessionize("t", gap="30min", by="k")],
    "sessions": lambda f: [f.gpuscan.sessions("t", gap="30min", by="k")],
    "drop_duplicates": lambda f: (
        [f.gpuscan.drop_duplicates("k", keep=keep) for keep in ("first", "last", False)]
        + [f.gpuscan.drop_duplicates(["k", "j"]), f["k"].gpuscan.drop_duplicates()]
    ),
    "value_counts": lambda f: [
        f["k"].gpuscan.value_counts(dropna=False),
        f["k"].gpuscan.value_counts(),
    ],
    "merge_asof": merged,
}

ORDERED = {
    "sort_values": lambda f: [
        f.gpuscan.sort_values("k"),
        f.gpuscan.sort_values(["k", "n"], ascending=[False, True]),
    ],
    "ranks": lambda f: [f["k"].gpuscan.rank(method=m) for m in ("average", "dense", "first")],
}
"""Methods for keys that have an order."""

OF_GROUPS = ("sum", "median", "nunique", "first", "std", "agg", "quantile", "reduce", "size")
"""Methods that answer a row a group, in the order of the keys if these have one."""


@pytest.fixture(autouse=True)
def objects_stay():
    with dask.config.set({"dataframe.convert-string": False}):
        yield


def columns(answer):
    """Return the columns of an answer by name, those of its index among them; a row a label of several."""
    table = answer.to_frame() if answer.ndim == 1 else answer
    index = [table.index.get_level_values(i) for i in range(table.index.nlevels)]
    found = [(level.name, pd.Series(level.array, dtype=level.dtype)) for level in index]
    return found + [(name, column.reset_index(drop=True)) for name, column in table.items()]


def plain(value):
    if value is None or pd.isna(value) is True:
        return None
    if isinstance(value, (datetime, timedelta, np.datetime64, np.timedelta64)):
        return key_of_value(value)  # indexes of pandas make these alike
    return round(float(value), 9) if isinstance(value, (float, np.floating)) else value


def rows(answer):
    """Return the rows of an answer as texts, dtypes of numbers apart."""
    values = [map(plain, column.tolist()) for _, column in columns(answer)]
    texts = [repr(row) for row in zip(*values, strict=True)]
    return [text.replace(".0,", ",").replace(".0)", ")") for text in texts]


@pytest.mark.sampled(10)
@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("method", [*METHODS, *ORDERED])
def test_cuts(kind, method):
    f, ask = frame(KINDS[kind][0]), {**METHODS, **ORDERED}[method]
    step = list(KINDS).index(kind) + [*METHODS, *ORDERED].index(method)
    refused = TypeError if method in (*ORDERED, "rank") else ()
    try:
        expected = [rows(each) for each in ask(f)]
        lazy = list(ask(dd.from_pandas(f, npartitions=1 + step % 6, sort=False)))
        found = [rows(each) for each in dask.compute(*lazy, scheduler="sync")]
        if kind == "tuples" and method in OF_GROUPS:  # which have no order
            found, expected = [list(map(sorted, each)) for each in (found, expected)]
        assert found == expected
    except refused as error:  # keys without an order have no ranks among groups
        if not re.search("without an order|pandas has no rank", str(error)):
            raise


def numbers_of(keys, numbers):
    """Return the number of each key."""
    return {key_of_row(keys, i): n for i, n in enumerate(numbers)}


def numbered(answer, number_of):
    """Return the rows of an answer in the order of their texts, with numbers in the place of keys."""
    found = []
    if "session" in answer:  # in the order of the keys
        answer = answer.set_index("k")
    for name, column in columns(answer):
        values = map(plain, column.tolist())
        if name == "k":
            values = [number_of[key_of_row(column, i)] for i in range(len(column))]
        found.append(values)
    return sorted(repr(row).replace(".0", "") for row in zip(*found, strict=True))


@pytest.mark.sampled(4)
@pytest.mark.parametrize("kind", KINDS)
def test_whole(kind):
    """Answers are those for plain numbers in the place of keys."""
    keys, numbers = KINDS[kind]
    f, codes = frame(keys), pd.Series(numbers, dtype="Int64").mask(np.array(numbers) < 0)
    for method, ask in METHODS.items():
        if (kind, method) == ("longdouble", "merge_asof"):
            continue
        found = [numbered(each, numbers_of(keys, numbers)) for each in ask(f)]
        of_codes = ask(f.assign(k=codes))
        assert found == [numbered(each, numbers_of(codes, numbers)) for each in of_codes], method


def test_categories_of_partitions():
    """Categories of partitions may be the same keys, too."""
    values = [1, 2, 1, 1.0, 2.0, Decimal(2), Decimal(1)]
    f = pd.DataFrame({"k": of_objects(values), "x": [1.0, 2.0, 3.0, 4.0, 5.0, 7.0, 9.0]})
    parts = [f.iloc[start:stop] for start, stop in ((0, 3), (3, 7))]
    parts = [
        part.assign(k=pd.Categorical(part["k"], pd.Index(part["k"].unique(), dtype=object)))
        for part in parts
    ]
    ddf = dd.from_map(lambda i: parts[i], [0, 1], meta=parts[0].iloc[:0])
    for ask in (
        lambda f: f.gpuscan.groupby("k")["x"].sum(),
        lambda f: f.gpuscan.groupby("k")["x"].median(),
        lambda f: f.gpuscan.groupby("k")["x"].cumsum(),
        lambda f: f.gpuscan.rle("k")[["run_start", "run_length"]],
        lambda f: f.gpuscan.drop_duplicates("k")["x"],
    ):
        (found,) = dask.compute(ask(ddf), scheduler="sync")
        assert rows(found) == rows(ask(f))


OF_OBJECTS = {
    "sum": lambda g: g.sum(),
    "median": lambda g: g.median(),
    "quantiles": lambda g: g.quantile([0.25, 0.5]),
    "idxmax": lambda g: g.idxmax(),
    "nlargest": lambda g: g.nlargest(1),
    "describe": lambda g: g.describe(),
    "value_counts": lambda g: g.value_counts(),
}


@pytest.mark.parametrize("keys", [[1, 2, 1], [1, 2.5, 1], [True, False, True], ["a", "b", "a"]])
@pytest.mark.parametrize("name", OF_OBJECTS)
def test_keys_that_are_objects_have_the_dtype_of_their_values(name, keys):
    frame = pd.DataFrame({"k": pd.Series(keys, dtype=object), "x": [1, 1, 2]})
    expected = OF_OBJECTS[name](frame.groupby("k")["x"])
    found = OF_OBJECTS[name](frame.gpuscan.groupby("k")["x"])
    pd.testing.assert_index_equal(found.index, expected.index)
    with dask.config.set({"dataframe.convert-string": False}):  # dtypes are known before values
        lazy = OF_OBJECTS[name](dd.from_pandas(frame, npartitions=2).gpuscan.groupby("k")["x"])
        for each in (lazy._meta, lazy.compute()):
            assert each.index.get_level_values(0).dtype == object


@pytest.mark.skipif(older("pandas", "3"), reason="pandas 2 numbers no dictionaries with nulls")
def test_dictionaries_whose_codes_are_unsigned():
    """Polars makes its categories so; pandas has no number for a null among them."""
    codes = pa.DictionaryArray.from_arrays(
        pa.array([0, None, 1, 0], pa.uint8()), pa.array(["x", "y"])
    )
    frame = pd.DataFrame({"c": of_arrow(codes), "v": [1, 2, 3, 4]})
    text = frame.assign(c=["x", None, "y", "x"])
    asks = {
        "rle": lambda it: it.rle("c")["run_length"],
        "unique_consecutive": lambda it: it.unique_consecutive("c")["v"],
        "sum": lambda it: it.groupby("c")["v"].sum(),
        "nunique": lambda it: it.groupby("v")["c"].nunique(),
    }
    for name, ask in asks.items():
        expected = ask(text.gpuscan)
        for each in (frame, dd.from_pandas(frame, npartitions=2)):
            assert computed(ask(each.gpuscan)).tolist() == expected.tolist(), name
    assert dask_gpuscan.run_end_encode(codes).run_ends.to_pylist() == [1, 2, 3, 4]


@pytest.mark.parametrize("objects", [[None, None], [True, None], [date(2026, 1, 2), None]])
def test_sums_by_objects_that_look_the_same_have_the_dtype_of_pandas(objects):
    df = pd.DataFrame({"k": [0, 0], "j": pd.Series(objects, dtype=object)})
    df["x"] = pd.Series([1, 2], dtype="int8")
    found = df.gpuscan.groupby(["k", "j"], dropna=False)["x"].sum()
    assert found.dtype == df.groupby(["k", "j"], dropna=False)["x"].sum().dtype == np.int8
