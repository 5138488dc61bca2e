"""Variables, tests for nulls, texts and dates in predicates: the rows of ``DataFrame.query``."""

import datetime
import enum
import warnings

import dask
import dask.dataframe as dd
import numpy as np
import pandas as pd
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

import dask_gpuscan
from helpers.backends import same
from helpers.strategies import cuts, partitioned
from helpers.thresholds import predicates_not_compiled
from helpers.versions import STRING, since

frame = pd.DataFrame(
    {
        "x": [1, 5, -3, 0, 7, 2],
        "f": [0.5, np.nan, 2.0, -1.0, np.inf, 2.0],
        "s": pd.Series(["ab", "b.c", None, "abc", "", "Ab"], dtype=STRING),
        "t": pd.to_datetime(
            ["2026-01-01 05:00", "2026-02-28 00:00", None, "2024-12-31 23:59", "2026-05-05", None],
            format="mixed",
        ),
        "odd name": [3, 1, 4, 1, 5, -9],
    }
).set_axis([5, 3, 3, 1, 0, 9])

LOW = 1
names = {"ab", "abc"}


def check(backend, text, whole=frame, **variables):
    """Assert that a text chooses the rows of ``query``, of pandas at once and of Dask lazily."""
    if backend.name == "cuda" and "!=" in text:
        pytest.skip("nulls of cuDF, which NaN are too, do not differ from anything")
    expected = whole.query(text, local_dict=variables or None, engine="python")
    given_ = backend.frame(whole)
    found = given_.gpuscan.filter(text, local_dict=variables or None)
    same(backend.to_pandas(found), expected)
    lazy = partitioned(given_, [0.3, 0.3, 0.8])
    same(
        backend.to_pandas(lazy.gpuscan.filter(text, local_dict=variables or None).compute()),
        expected,
    )
    kept, rest = dask.compute(*lazy.gpuscan.partition(text, local_dict=variables or None))
    same(backend.to_pandas(kept), expected)
    assert len(rest) == len(whole) - len(expected)
    return expected


TEXTS = [
    "f.isnull()",
    "not f.isnull() and x > 0",
    "f.notna() & s.notnull()",
    "s.isna() or t.isnull()",
    pytest.param("(f + x).isnull()", marks=since("pandas", "3", "query has no methods of sums")),
    "`odd name`.notnull() and `odd name` > 1",
    "x.isnull() == False",
    "s.str.startswith('a')",
    "s.str.startswith('')",
    "s.str.endswith('c') and x < 3",
    "s.str.contains('b')",
    "s.str.contains('.', regex=False)",
    "s.str.contains('b', regex=False, na=True)",
    "not s.str.startswith('a', na=True)",
    "~s.str.endswith('b', na=False)",
    "s.str.len() >= 2",
    "s.str.lower() == 'ab'",
    "s.str.upper().str.startswith('AB')",
    pytest.param(
        "s.str.strip() != ''", marks=since("pandas", "3", "query takes nulls for other values")
    ),
    "t.dt.year == 2026",
    "t.dt.hour > 4 or t.dt.minute == 59",
    "-t.dt.month < -1",
    "t.dt.day in [1, 28]",
    "1 < t.dt.quarter <= 4",
    "t.dt.day_of_week >= 3",
    "t.dt.is_year_end or t.dt.is_month_start",
    "t.dt.days_in_month == 31 and not t.dt.is_leap_year",
]


@pytest.mark.parametrize("text", TEXTS)
def test_what_follows_a_dot(backend, text):
    assert len(check(backend, text)) not in (0, len(frame)) or "''" in text or "== False" in text


def test_variables_are_those_of_the_caller(backend):
    whole = backend.frame(frame)
    low, wanted = 2, [5, 7]

    def rows(found):
        return backend.to_pandas(found)["x"].tolist()

    assert rows(whole.gpuscan.filter("x > @low")) == [5, 7]
    assert rows(whole.gpuscan.filter("x > @LOW")) == [5, 7, 2]
    assert rows(whole.gpuscan.filter("s in @names")) == [1, 0]
    assert rows(whole.gpuscan.filter("x in @wanted or x == @low")) == [5, 7, 2]
    assert rows(whole.gpuscan.filter("x in [@low, -3, @LOW]")) == [1, -3, 2]
    assert rows(whole.gpuscan.filter("x in [@low + 3, -@LOW - 2]")) == [5, -3]
    assert [rows(whole.gpuscan.filter("x == @i + @low")) for i in (0, 3, 5)] == [[2], [5], [7]]
    assert rows(whole.gpuscan.partition("x > @low")[0]) == [5, 7]
    assert rows(whole.gpuscan.filter("x > @limit", local_dict={"limit": 4, "low": 9})) == [5, 7]

    def inner():
        low = 6  # noqa: F841 (the text names it)
        return whole.gpuscan.filter("x > @low")

    assert (rows(inner()), low, wanted) == ([7], 2, [5, 7])


def test_values_are_taken_when_the_graph_is_built():
    lazy = partitioned(frame, [0.5])
    low, some = 2, [5]
    above, among = lazy.gpuscan.filter("x > @low"), lazy.gpuscan.filter("x in @some")
    low = 100  # noqa: F841 (the text names it)
    some.append(7)
    assert above.compute()["x"].tolist() == [5, 7]
    assert among.compute()["x"].tolist() == [5]
    assert lazy.gpuscan.filter("x > @low").compute().empty
    assert lazy.gpuscan.filter("x in @some").compute()["x"].tolist() == [5, 7]


class Level(enum.IntEnum):
    HIGH = 5


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("x >= @v", Level.HIGH),
        ("x == @v", np.int64(5)),
        ("f < @v", np.float32(1.5)),
        ("f > @v", float("nan")),
        ("f != @v", float("inf")),
        ("(x > 1) == @v", True),
        ("@v and x > 1", np.bool_(True)),
        ("s == @v", "b.c"),
        ("s.str.startswith(@v)", "b."),
        ("t > @v", pd.Timestamp("2026-01-15")),
        ("t > @v", np.datetime64("2026-01-15")),
        ("t > @v", datetime.datetime(2026, 1, 15)),
        ("x in @v", range(3)),
        ("x not in @v", (5, 7)),
        ("x in @v", np.array([5, 7])),
        ("x in @v", frozenset([2])),
        ("s in @v", pd.Index(["ab", "b.c"])),
        ("t in @v", np.array(["2026-05-05", "2026-01-01T05:00"], "M8[s]")),
        ("t in @v", [pd.Timestamp("2026-05-05")]),
        ("x in @v", []),
    ],
)
def test_values_of_variables(backend, text, value):
    check(backend, text, v=value)


def test_lists_with_nulls():
    numbers, words = pd.array([5, None], dtype="Int64"), pd.Series(["ab", None])  # noqa: F841
    for text in ("x in @numbers", "s in @words", "s not in @words", "f in [@LOW, 2.0]"):
        same(frame.gpuscan.filter(text), frame.query(text, engine="python"))


def test_values_that_query_does_not_take(backend):
    whole, day = backend.frame(frame), pd.Timedelta(1, "D")
    mark, two_days = "!", datetime.timedelta(2)  # noqa: F841 (the texts name them)
    for text, expected in (
        ("s + @mark == 'ab!'", frame["s"] == "ab"),
        ("t - @day > '2026-02-26'", frame["t"] - day > "2026-02-26"),
        ("t + @two_days > '2026-03-01'", frame["t"] + two_days > "2026-03-01"),
    ):
        same(backend.to_pandas(whole.gpuscan.filter(text)), frame[expected])
        assert 0 < expected.sum() < len(frame)


@pytest.mark.parametrize(
    ("text", "error", "message"),
    [
        ("x > @v", TypeError, "@v must be a number, .* found dict"),
        ("x > @some", TypeError, "@some is a list, where the predicate takes one value"),
        ("x in @low", TypeError, "@low is a int, where the predicate takes a list"),
        ("x in @frames", TypeError, "@frames must be a list of scalars, found DataFrame in it"),
        ("x in @square", TypeError, "found ndarray"),
        ("x > @lazy", TypeError, "found Scalar, to be computed first"),
        ("x > @nothing", ValueError, "names @nothing, which is not in local_dict"),
        ("x > @v.low", ValueError, r"holds .low of @v at 6; give it a name of its own"),
        ("x > @some[0]", ValueError, "Subscript"),
        ("x > @int(3)", ValueError, "Call"),
        ("x > @ low", ValueError, "without the name of a variable"),
        ("x > @", ValueError, "without the name of a variable"),
        ("x > @`low`", ValueError, "without the name of a variable"),
        ("@low > 1", ValueError, "names no column"),
        ("x > @low + 'a'", ValueError, "unsupported operand"),
        ("s == @word * 1000000000", ValueError, "write its value"),
        ("x > @low ** 100000", ValueError, "write its value"),
        ("s == " + " + ".join(["@long"] * 300), ValueError, "write its value|nested deeper"),
        ("x in [@low, x]", ValueError, "list of literals"),
        ("x in @some + @some", ValueError, "list of literals"),
        ("x in [@some]", TypeError, "@some is a list, where the predicate takes one value"),
        ("x in @some in @some", ValueError, "after the list of 'in'"),
        ("s.str.startswith(@low)", ValueError, "takes a text, found int"),
        ("s.str.startswith()", ValueError, "takes one text, found 0"),
        ("s.str.startswith('a', 'b')", ValueError, "takes one text, found 2"),
        ("s.str.startswith(s)", ValueError, "between parentheses, which take literals"),
        ("s.str.startswith('a', na=1)", ValueError, "takes na=True or False, found 1"),
        ("s.str.startswith('a', na=@low)", ValueError, "takes na=True or False, found 2"),
        ("s.str.startswith('a', na=x)", ValueError, "which take literals"),
        ("s.str.startswith('a', **x)", ValueError, "Call"),
        ("s.str.startswith('a', pat='b')", ValueError, "takes no argument 'pat'"),
        ("s.str.contains('a', na=True, na=True)", ValueError, "which gives na twice"),
        (
            "s.str.contains('a', case=False, na=True, case=True)",
            ValueError,
            "which gives case twice",
        ),
        ("s.str.startswith('a'", ValueError, "'\\(' was never closed"),
        ("s.str.startswith", ValueError, "without its parentheses"),
        ("s.str.contains('(a+)+$')", ValueError, "write regex=False"),
        ("s.str.contains('a', regex=True)", ValueError, "takes regex=False, found True"),
        ("s.str.match('a')", ValueError, r"'s.str.match' \(Attribute\) at 0, accepted after a dot"),
        ("s.str", ValueError, r"'s.str' \(Attribute\)"),
        ("s.dt.", ValueError, "no expression: found its end at 5"),
        ("x.__class__", ValueError, "Attribute"),
        ("x.to_csv('a')", ValueError, "Attribute"),
        ("x.isnull", ValueError, "without its parentheses"),
        ("x.isnull(1)", ValueError, "takes nothing, found 1"),
        ("t.dt.year()", ValueError, "Call"),
        ("'a'.isnull() or x > 1", ValueError, "has no attribute"),
        ("x" + ".isnull()" * 200, ValueError, "nested deeper"),
        ("x.str.startswith('a')", TypeError, "string values"),
        ("x.dt.year == 1", TypeError, "dt accessor"),
        ("t.dt.days == 1", TypeError, "predicate"),
        ("s.str.len()", TypeError, "must be boolean"),
    ],
)
def test_refused(text, error, message):
    known = {"low": 2, "some": [1], "v": {"low": 1}, "word": "a", "long": "a" * 10_000, "int": 3}
    known["lazy"] = partitioned(frame, [0.5])["x"].max()
    known |= {"frames": [frame], "square": np.ones((2, 2))}
    for whole in (frame, partitioned(frame, [0.5])):
        with pytest.raises(error, match=message) as refusal:
            whole.gpuscan.filter(text, local_dict=known)
        assert len(str(refusal.value)) < 500


def test_texts_of_others_see_no_variables():
    low = 2  # noqa: F841
    with pytest.raises(ValueError, match="names @low, which is not in local_dict"):
        frame.gpuscan.filter("x > @low", local_dict={})
    with pytest.raises(ValueError, match="names @high, which is not a variable of the caller"):
        frame.gpuscan.filter("x > @high")
    with pytest.raises(TypeError, match="local_dict must be a mapping"):
        frame.gpuscan.filter("x > @low", local_dict=[2])


STRINGS = (
    "str",
    "object",
    "string[python]",
    "string[pyarrow]",
    pd.ArrowDtype(pa.string()),
    "category",
)


@pytest.mark.parametrize("dtype", STRINGS, ids=str)
def test_texts_of_every_dtype(dtype):
    whole = pd.DataFrame({"s": pd.Series(["ab", "b", None, "a.b", "b"], dtype=dtype)})
    lazy = partitioned(whole, [0.5])
    for text in (
        "s.str.startswith('a', na=False)",
        "s.str.endswith('b', na=True)",
        "s.str.contains('.', regex=False, na=False)",
        "s.str.len() == 2",
        "s.isnull() or s.str.upper() == 'B'",
    ):
        expected = whole.query(text, engine="python").index.tolist()
        assert whole.gpuscan.filter(text).index.tolist() == expected
        assert lazy.gpuscan.filter(text).compute().index.tolist() == expected


TIMES = (
    "datetime64[ns]",
    "datetime64[s]",
    "datetime64[us, Europe/Berlin]",
    pd.ArrowDtype(pa.timestamp("ms")),
    pd.ArrowDtype(pa.timestamp("us", "UTC")),
    pd.ArrowDtype(pa.date32()),
)


@pytest.mark.parametrize("dtype", TIMES, ids=str)
def test_parts_of_every_dtype(dtype):
    days = pd.Series(pd.to_datetime(["2026-01-01", None, "2024-02-29", "2026-03-31"]))
    if isinstance(dtype, str) and "Berlin" in dtype:
        days = days.dt.tz_localize("Europe/Berlin")
    whole = pd.DataFrame({"t": days.astype(dtype)})
    for text in (
        "t.dt.year == 2026 and t.dt.month > 1",
        "t.dt.is_month_end",
        "t.dt.day_of_week == 3 or t.isnull()",
        "t.dt.is_leap_year",
    ):
        try:
            expected = whole.query(text, engine="python").index.tolist()
        except AttributeError:  # pandas has no such part of this dtype
            continue
        assert whole.gpuscan.filter(text).index.tolist() == expected
        assert partitioned(whole, [0.5]).gpuscan.filter(text).compute().index.tolist() == expected


def test_parts_of_durations(backend):
    whole = pd.DataFrame({"w": pd.to_timedelta([1, 90_000, None, 200_000], unit="s")})
    for text in ("w.dt.days >= 1", "w.dt.seconds == 1", "w.dt.total_seconds() > 90000"):
        if backend.name == "cpu" or "total" not in text:
            check(backend, text, whole)


def test_old_and_new_names_of_a_part():
    parts = {
        "day_of_week": ["dayofweek", "weekday"],
        "day_of_year": ["dayofyear"],
        "days_in_month": ["daysinmonth"],
    }
    with warnings.catch_warnings(action="error"):
        for part, others in parts.items():
            expected = frame[getattr(frame["t"].dt, part) > 3]
            assert 0 < len(expected) < len(frame)
            for name in (part, *others):
                same(frame.gpuscan.filter(f"t.dt.{name} > 3"), expected)


def test_objects_that_are_no_texts_do_not_match():
    objects = pd.DataFrame({"s": pd.Series(["ab", None, "b", np.nan, None], dtype=object)})
    for text, rows in {
        "s.str.startswith('a')": [0],
        "not s.str.startswith('a')": [1, 2, 3, 4],
        "s.str.contains('b') or s.isnull()": [0, 1, 2, 3, 4],
        "s.str.endswith('b', na=True)": [0, 1, 2, 3, 4],
    }.items():
        assert objects.gpuscan.filter(text).index.tolist() == rows
        lazy = dd.from_pandas(objects, npartitions=2).gpuscan.filter(text)
        assert lazy.compute().index.tolist() == rows


@given(
    columns=st.lists(
        st.tuples(
            st.none() | st.integers(-3, 3),
            st.none() | st.text("ab.", max_size=3),
            st.none() | st.integers(0, 800),
        ),
        max_size=12,
    ),
    low=st.integers(-3, 3),
    some=st.lists(st.integers(-3, 3), max_size=3),
    text=st.text("ab.", max_size=2),
    parts=st.lists(st.integers(0, 8), min_size=1, max_size=3),
    joins=st.lists(st.sampled_from([" and ", " or ", " & ", " | "]), min_size=3, max_size=3),
    negated=st.booleans(),
    at=cuts(),
    family=st.sampled_from(["numpy", "arrow"]),
)
def test_any_rows(columns, low, some, text, parts, joins, negated, at, family):
    f, s, t = (list(c) for c in zip(*columns, strict=True)) if columns else ([], [], [])
    days = [
        None if day is None else pd.Timestamp("2025-06-01") + pd.Timedelta(day, "D") for day in t
    ]
    whole = pd.DataFrame(
        {
            "f": pd.Series(f, dtype="float64"),
            "s": pd.Series(s, dtype=STRING),
            "t": pd.Series(days, dtype="datetime64[ns]"),
        }
    )
    if family == "arrow":
        arrow = {"f": pa.float64(), "s": pa.string(), "t": pa.timestamp("ns")}
        whole = whole.astype({name: pd.ArrowDtype(kind) for name, kind in arrow.items()})
    terms = [
        "f > @low",
        "f in @some",
        "f.isnull()",
        "s.str.startswith(@text)",
        "s.str.contains(@text, regex=False)",
        "s.notnull()",
        "s in [@text, 'b']",
        "t.dt.month == 6",
        "t.dt.year > 2025 - @low",
    ]
    chosen = "".join(x for i, join in zip(parts, joins, strict=False) for x in (terms[i], join))
    chosen = chosen.removesuffix(joins[len(parts) - 1])
    chosen = f"not ({chosen})" if negated else chosen
    expected = whole.query(chosen, engine="python")
    with predicates_not_compiled():
        same(whole.gpuscan.filter(chosen), expected)
        same(partitioned(whole, at).gpuscan.filter(chosen).compute(), expected)


def test_variables_that_no_text_names():
    frame = pd.DataFrame({"x": [1.0, 2.0, 3.0]})
    given, low = {"low": 1.5}, 2.5
    for ask in (
        lambda it: it.filter(frame["x"] > low, local_dict=given),
        lambda it: it.partition(lambda x: x > 1, local_dict=given),
        lambda it: it.scan(dask_gpuscan.add, local_dict=given),
        lambda it: it.scan(dask_gpuscan.add, reset=frame["x"] > low, local_dict=given),
    ):
        with pytest.raises(TypeError, match="local_dict goes with a text"):
            ask(frame.gpuscan)
    with pytest.raises(TypeError, match=r"local_dict must be a mapping of names .*, found 7"):
        frame.gpuscan.scan(dask_gpuscan.add, reset="x > @low", local_dict=7)
    found = frame.gpuscan.scan(dask_gpuscan.add, reset="x > @low", local_dict=given)
    assert found["x"].tolist() == [1.0, 3.0, 3.0]
