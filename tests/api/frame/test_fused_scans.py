"""scan of a dict: several operators in one pass answer what a scan of each answers."""

import dask
import dask.dataframe as dd
import numpy as np
import pandas as pd
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from dask_gpuscan import add, affine, first, logical_any, maximum, minimum, multiply, operator
from helpers.asked import computed
from helpers.backends import same
from helpers.strategies import cuts, partitioned

few = settings(max_examples=max(3, settings.default.max_examples // 4))

least = 1
count = operator(lambda a, b: a + b, identity=0, lift=lambda x: 1)
half = operator(lambda a, b: a + b, identity=0.0, lift=lambda x: x / 2, lower=lambda s: s * 2.0)

VALUES = {
    "x": lambda f: f["x"],
    "n": lambda f: f["n"],
    "m": lambda f: f["m"],
    "t": lambda f: f["t"],
    "b": lambda f: f["b"],
    "x * n - 1.5": lambda f: f["x"] * f["n"] - 1.5,
    "x / n": lambda f: f["x"] / f["n"],
    "-(n + 2) * n": lambda f: -(f["n"] + 2) * f["n"],
    "m + n": lambda f: f["m"] + f["n"],
    "n // 2 == 1": lambda f: f["n"] // 2 == 1,
    "x > 0 or n == 0": lambda f: (f["x"] > 0) | (f["n"] == 0),
    "n > @least": lambda f: f["n"] > least,
    "m > 0": lambda f: (f["m"] > 0).fillna(False).astype(bool),
}


def sums(x, n):
    return x + 2 * n


def odd(n):
    return n % 2 == 1


VALUES |= {sums: lambda f: f["x"] + 2 * f["n"], odd: lambda f: f["n"] % 2 == 1}

PAIR = {"total": (add, "x"), "peak": (maximum, "x")}
MANY = {
    "total": (add, "x * n - 1.5"),
    "before": (minimum, "n", "exclusive"),
    "rows": (add, "n // 2 == 1"),
}
TWO = {"total": (add, "x * n - 1.5"), "before": (maximum, "x", "exclusive")}


@st.composite
def tables(draw):
    """Rows of every kind of column; sums of the numbers are exact in any order."""
    count = draw(st.integers(0, 20))

    def column(one, dtype):
        return pd.Series(draw(st.lists(one, min_size=count, max_size=count)), dtype=dtype)

    reals = st.integers(-6, 6).map(lambda i: i / 2)
    hours = st.integers(0, 9).map(lambda h: pd.Timestamp("2026-01-01") + pd.Timedelta(hours=h))
    frame = {
        "k": column(st.sampled_from([1, 2]), "int64"),
        "x": column(reals | st.none(), "float64"),
        "n": column(st.integers(0, 5), "int64"),
        "m": column(st.integers(-5, 5) | st.none(), "Int64"),
        "t": column(hours | st.none(), "datetime64[ns]"),
        "b": column(st.booleans(), "bool"),
    }
    return pd.DataFrame(frame).set_index(pd.Index(np.arange(count) * 3, name="row"))


def one_by_one(frame, scans, where=None, by=None, **options):
    """The same by a scan of each, of columns that the library has computed."""
    found = {}
    for name, (op, of, *which) in scans.items():
        column = VALUES[of](frame)
        if where is not None:
            if type(column) is pd.Series and column.dtype in ("int64", "bool"):
                column = column.astype("Int64")  # which holds rows that are left out
            column = column.where(VALUES[where](frame))
        each = {**options, "exclusive": which == ["exclusive"]}
        if isinstance(each.get("initial"), dict):
            each["initial"] = each["initial"].get(name)
        if by is None:
            found[name] = column.gpuscan.scan(op, **each)
        else:
            groups = frame[[by]].assign(value=column).gpuscan.groupby(by)
            found[name] = groups["value"].scan(op, **each)
        if (
            where is not None
            and found[name].dtype in ("Float64", "Int64")
            and VALUES[of](frame).dtype != "Int64"
        ):
            found[name] = found[name].astype("float64")
    names = list(found)
    answer = frame[["k"]].assign(**found)[names]
    return answer


@pytest.mark.sampled(6)
@few
@given(df=tables(), at=cuts())
@pytest.mark.parametrize(
    ("scans", "where", "options"),
    [
        (PAIR, None, {"reverse": True}),
        ({"a": (add, "m"), "b": (add, "m", "exclusive"), "c": (count, "m")}, None, {}),
        (MANY, "n > @least", {"initial": {"total": 10.0}}),
        ({"a": (add, "m"), "b": (maximum, "x / n"), "c": (minimum, "m + n", "exclusive")}, odd, {}),
        (
            {"a": (add, sums), "p": (multiply, "x"), "s": (add, "-(n + 2) * n")},
            "x > 0 or n == 0",
            {},
        ),
        ({"t": (maximum, "t"), "u": (minimum, "t", "exclusive"), "h": (half, "n")}, "m > 0", {}),
    ],
)
def test_equals_scans_of_each(backend, scans, where, options, df, at):
    frame = backend.frame(df)
    expected = backend.to_pandas(one_by_one(frame, scans, where, **options))
    found = frame.gpuscan.scan(scans, where=where, **options)
    assert type(found) is type(frame)
    same(backend.to_pandas(found), expected)
    lazy = partitioned(frame, at).gpuscan.scan(scans, where=where, **options)
    same(backend.to_pandas(lazy._meta), backend.to_pandas(found.iloc[:0]))
    same(backend.to_pandas(lazy.compute()), expected)


@few
@given(df=tables(), at=cuts())
def test_groups(backend, df, at):
    scans, where = TWO, "n > @least"
    for clustered in (None, True):
        rows = df if clustered is None else df.sort_values("k", kind="stable")
        frame = backend.frame(rows)
        expected = backend.to_pandas(one_by_one(frame, scans, where, "k"))
        found = frame.gpuscan.scan(scans, where=where, by="k", clustered=clustered)
        same(backend.to_pandas(found), expected)
        groups = partitioned(frame, at).gpuscan.groupby("k", clustered=clustered)
        same(backend.to_pandas(groups.scan(scans, where=where).compute()), expected)


@few
@given(df=tables(), at=cuts())
def test_nulls_that_end_a_scan(backend, df, at):
    scans = {"a": (add, "m"), "b": (maximum, "x"), "c": (add, "n", "exclusive")}
    frame = backend.frame(df)
    expected = backend.to_pandas(one_by_one(frame, scans, skipna=False))
    for obj in (frame, partitioned(frame, at)):
        found = computed(obj.gpuscan.scan(scans, skipna=False))
        same(backend.to_pandas(found), expected)


def test_left_out_rows_are_no_nulls():
    # of a null that ends a scan: one in a row that is left out ends none
    df = pd.DataFrame({"x": [1.0, np.nan, 2.0, np.nan, 4.0], "n": [1, 0, 1, 1, 1]})
    scans = {"s": (add, "x"), "p": (multiply, "x"), "e": (maximum, "x", "exclusive")}
    found = df.gpuscan.scan(scans, where="n == 1", skipna=False)
    nan = np.nan
    expected = pd.DataFrame(
        {"s": [1, nan, 3, nan, nan], "p": [1, nan, 2, nan, nan], "e": [nan, nan, 1, 2, nan]}
    )
    same(found, expected)


@few
@given(df=tables(), at=cuts())
@pytest.mark.parametrize("by", [None, "k"])
def test_where_as_a_column_and_as_a_series(backend, by, df, at):
    df = df.assign(kept=df["n"] % 2 == 1)
    frame = backend.frame(df)
    for obj in (frame, partitioned(frame, at)):
        wheres = ("n % 2 == 1", "kept", obj["kept"], obj["n"] % 2 == 1)
        answers = [obj.gpuscan.scan(PAIR, where=where, by=by) for where in wheres]
        if obj is not frame:
            answers = dask.compute(*answers)
        expected, *found = map(backend.to_pandas, answers)
        for each in found:
            same(each, expected)


def test_where_of_a_series_without_a_name():
    x = pd.Series([1, 2, 3], index=[5, 5, 7])
    scans = {"s": (add, None), "f": (maximum, lambda v: -v)}
    columns = {"s": [None, 2, 5], "f": [None, -2, -2]}
    expected = pd.DataFrame(columns, x.index, dtype="float64")
    nulls = pd.Series([None, True, True], index=x.index, dtype="boolean")  # as in a filter
    for where in (x > 1, (x > 1).to_numpy(), nulls):
        same(x.gpuscan.scan(scans, where=where), expected)
    lazy = dd.from_pandas(x, npartitions=2)
    same(lazy.gpuscan.scan(scans, where=lazy > 1).compute(), expected)


def test_where_of_other_partitions_is_aligned():
    df = pd.DataFrame({"where": np.arange(9.0), "x": 1.0, "unused": "s"})
    lazy = dd.from_pandas(df, npartitions=2)
    scans = {"s": (add, "where")}
    where = dd.from_pandas(df["where"] > 2, npartitions=3)
    found = lazy.gpuscan.scan(scans, where=where)
    same(found.compute(), df.gpuscan.scan(scans, where=df["where"] > 2))
    message = "where: has other partitions than the frame, and divisions are unknown"
    with pytest.raises(ValueError, match=message):
        lazy.clear_divisions().gpuscan.scan(scans, where=where)


def test_only_what_is_scanned_is_read():
    df = pd.DataFrame({"x": np.arange(9.0), "n": 1, "unused": "s"})
    lazy = dd.from_pandas(df, npartitions=2)
    for where in (None, "n > 0", lazy["n"] > 0):
        found = lazy.gpuscan.scan({"s": (add, "x")}, where=where).simplify()
        read = [set(e.columns) for e in found.expr.walk() if type(e) is type(lazy.expr)]
        assert set().union(*read) == ({"x"} if where is None else {"x", "n"})


def test_where_of_other_rows_is_refused():
    df = pd.DataFrame({"x": [1.0, 2.0, 3.0]})
    lazy, scans = dd.from_pandas(df, npartitions=2), {"s": (add, "x")}
    wrong = {
        "where: must have the index": (df, (df["x"] > 1).set_axis([2, 1, 0])),
        "where: must have as many rows": (df, np.array([True])),
        "where: must be boolean, found dtype float64": (df, df["x"]),
        "where: must be boolean": (lazy, lazy["x"]),
        "where: is a Dask collection": (df, lazy["x"] > 1),
        "where: must be a Dask Series": (lazy, df["x"] > 1),
    }
    for message, (obj, where) in wrong.items():
        for by in (None, "x"):
            with pytest.raises((TypeError, ValueError), match=message):
                obj.gpuscan.scan(scans, where=where, by=by)
    with pytest.raises(TypeError, match="where goes with a dict"):
        df.gpuscan.scan(add, where=df["x"] > 1)


def test_pandas_idiom():
    df = pd.DataFrame({"price": [2.0, 3.0, 9.0, None, 2.5], "volume": [10, 20, 0, 5, 40]})
    scans = {"total": (add, "price * volume"), "peak": (maximum, "price"), "sold": (add, "volume")}
    kept = df.where(df["volume"] > 0)
    expected = pd.DataFrame(
        {
            "total": (kept["price"] * kept["volume"]).cumsum(),
            "peak": kept["price"].cummax(),
            "sold": kept["volume"].cumsum(),
        }
    )
    same(df.gpuscan.scan(scans, where="volume > 0"), expected)


@pytest.mark.sampled(3)
@pytest.mark.parametrize("dtype", ["int64[pyarrow]", "boolean", "float32"])
def test_dtypes_are_those_of_a_scan(dtype):
    x = pd.Series([1, 0, None, 1], dtype=dtype)
    df = pd.DataFrame({"x": x, "y": [1.0, 2.0, 3.0, 4.0]})
    scans = {"s": (add, "x"), "y": (maximum, "y"), "any": (logical_any, "x")}
    expected = pd.DataFrame({n: df[of].gpuscan.scan(op) for n, (op, of) in scans.items()})
    same(df.gpuscan.scan(scans), expected)


def test_values_that_kernels_do_not_hold():
    df = pd.DataFrame({"s": ["b", None, "a", "c"], "x": [1.0, 2.0, 3.0, 4.0]})
    for obj in (df, dd.from_pandas(df, npartitions=2)):
        found = computed(obj.gpuscan.scan({"s": (maximum, "s"), "j": (add, "s"), "x": (add, "x")}))
        same(
            found,
            pd.DataFrame({"s": df["s"].cummax(), "j": df["s"].cumsum(), "x": df["x"].cumsum()}),
        )
    with pytest.raises(TypeError, match="'s': dtype str cannot be scanned with where"):
        df.gpuscan.scan({"s": (maximum, "s")}, where="x > 1")


def test_overflow_raises_as_arrows_does():
    df = pd.DataFrame({"x": pd.Series([2**62, 2**62], dtype="int64[pyarrow]")})
    with pytest.raises(pa.ArrowInvalid, match="overflow"):
        df.gpuscan.scan({"s": (add, "x"), "m": (maximum, "x")})


def test_operator_of_several_inputs():
    df = pd.DataFrame({"a": [0.5, 0.5, 0.5], "x": [1.0, 2.0, 3.0]})
    found = df.gpuscan.scan({"ema": (affine, ["a", "x * (1 - a)"]), "first": (first, "x")})
    expected = df.assign(u=df["x"] * (1 - df["a"]))[["a", "u"]].gpuscan.scan(affine)
    same(found, pd.DataFrame({"ema": expected, "first": [1.0, 1.0, 1.0]}))


def test_divisors_that_may_be_zero():
    df = pd.DataFrame({"n": [4, 3], "d": [2, 0]})
    for obj in (df, dd.from_pandas(df, npartitions=2)):
        found = computed(obj.gpuscan.scan({"q": (maximum, "n // d"), "h": (add, "n // 2")}))
        same(found, pd.DataFrame({"q": [2.0, np.inf], "h": [2, 3]}))


def test_series_and_names_that_are_no_texts():
    found = pd.Series([3, 1, 2]).gpuscan.scan({"s": (add, None), 0: (maximum, lambda v: -v)})
    same(found, pd.DataFrame({"s": [3, 4, 6], 0: [-3, -1, -1]}))
    frame = pd.DataFrame({0: [1, 2], "a b": [3.0, 4.0]})
    found = frame.gpuscan.scan({"s": (add, 0), "t": (add, "a b"), "u": (add, "`a b` * 2")})
    same(found, pd.DataFrame({"s": [1, 3], "t": [3.0, 7.0], "u": [6.0, 14.0]}))


def test_two_tasks_a_partition():
    df = pd.DataFrame({"x": np.arange(8.0), "n": 1})
    lazy = dd.from_pandas(df, npartitions=4).gpuscan.scan(MANY, where="n > 0")
    names = [key[0] if isinstance(key, tuple) else key for key in lazy.optimize().__dask_graph__()]
    assert sum(name.startswith("aggregate-") for name in names) == 3
    assert sum("fused" in name and not name.startswith("aggregate-") for name in names) == 4


WRONG = {
    "at least one entry": ({}, {}),
    "'s': an entry is": ({"s": add}, {}),
    "'s': op must be an Operator": ({"s": ("sum", "x")}, {}),
    "'s': an entry ends with 'exclusive' or 'inclusive', found 'before'": (
        {"s": (add, "x", "before")},
        {},
    ),
    r"'s': add takes one column, text or function, found \['x', 'n'\]": (
        {"s": (add, ["x", "n"])},
        {},
    ),
    "'s': affine takes a list of 2, found 'x'": ({"s": (affine, "x")}, {}),
    "'s': 'x \\+' is no expression": ({"s": (add, "x +")}, {}),
    "'s': 'x \\+ z': 'z' is not a column": ({"s": (add, "x + z")}, {}),
    "'s': .*names no column": ({"s": (add, "1")}, {}),
    "'s': .*@nobody": ({"s": (add, "x * @nobody")}, {}),
    "'s': .*of column 's': pandas has no cumprod": ({"s": (multiply, "s")}, {}),
    "'s': it must be a column, a text or a function": ({"s": (add, np.ones(2))}, {}),
    "where: .*must be boolean, found dtype float64": ({"s": (add, "x")}, {"where": "x + 1"}),
    "where: it must be a column": ({"s": (add, "x")}, {"where": [True, False]}),
    "initial": ({"s": (add, "x")}, {"initial": {"t": 1}}),
    "positions=True": ({"s": (add, "x")}, {"positions": True}),
    "'s': dtype=int64 cannot hold": ({"s": (add, "n")}, {"dtype": "int64", "where": "n > 1"}),
    "where goes with a dict": (add, {"where": "n > 1"}),
    "by goes with a dict": (add, {"by": "n"}),
}


@pytest.mark.parametrize("message", WRONG)
@pytest.mark.parametrize("lazy", [False, True])
def test_errors_name_the_entry(message, lazy):
    df = pd.DataFrame({"x": [1.0, 2.0], "n": [1, 2], "s": ["a", "b"]})
    scans, options = WRONG[message]
    obj = dd.from_pandas(df, npartitions=2) if lazy else df
    with pytest.raises((TypeError, ValueError), match=message):
        obj.gpuscan.scan(scans, **options)
