"""Tables of polars, pyarrow and others: the answers of pandas, in their own types, without an index."""

import itertools
from datetime import datetime, timedelta
from decimal import Decimal
from fractions import Fraction
from typing import Any

import dask.dataframe as dd
import numpy as np
import pandas as pd
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

import dask_gpuscan
from dask_gpuscan import stream
from dask_gpuscan.api.tables.tables import TableSource
from helpers.asked import computed
from helpers.versions import older, since

pl = pytest.importorskip("polars")


class Stream:
    """Someone else's table or column, known by its Arrow protocol alone."""

    def __init__(self, table):
        self._table = table

    def __arrow_c_stream__(self, requested_schema=None):
        return self._table.__arrow_c_stream__(requested_schema)


def chunked(table):
    """The same rows in chunks of two, which begin at odd offsets of their buffers."""
    return pa.concat_tables([table.slice(i, 2) for i in range(0, max(len(table), 1), 2)])


def of_polars(table):
    """The same in polars, under the same names: it gives empty ones others."""
    return pl.DataFrame({name: pl.Series(table[name]) for name in table.column_names})


KINDS = {
    "polars": (of_polars, pl.DataFrame, pl.Series),
    "table": (lambda table: table, pa.Table, pa.ChunkedArray),
    "chunks": (chunked, pa.Table, pa.ChunkedArray),
    "batch": (lambda table: table.combine_chunks().to_batches()[0], pa.RecordBatch, pa.Array),
    "stream": (Stream, pa.Table, pa.ChunkedArray),
}


@pytest.fixture(params=KINDS)
def kind(request):
    """How a table of pyarrow is made one of a kind, and the types of its tables and columns."""
    return KINDS[request.param]


def rows(answer):
    """The values of a table or a column as Python's, with nulls as None."""
    if isinstance(answer, pl.DataFrame):
        return {c.name: c.to_list() for c in answer}
    if isinstance(answer, pl.Series):
        return answer.to_list()
    return answer.to_pydict() if hasattr(answer, "to_pydict") else answer.to_pylist()


def of_pandas(answer):
    """What pandas answers, in the same form; keys are columns."""
    if answer.ndim == 1:
        return [None if pd.isna(v) else v for v in answer.tolist()]
    return {name: of_pandas(answer[name]) for name in answer.columns}


TABLE = pa.table(
    {
        "k": pa.array(["b", None, "b", "a", "a", "b"]),
        "x": pa.array([1, 2, None, 4, 5, 6]),
        "f": pa.array([0.5, None, 2.0, -1.0, 0.25, 4.0]),
        "t": pa.array([0, 1, 2, 60, 61, 3600], pa.timestamp("s", "UTC")),
        "flag": pa.array([True, False, None, True, True, False]),
        "d": pa.array([Decimal("1.50"), None, Decimal(2), Decimal(3), Decimal(4), Decimal(5)]),
        "a b'\"`": pa.array([3, 1, 2, 1, 3, 2], pa.int8()),
    }
)
FRAME = TABLE.to_pandas(types_mapper=pd.ArrowDtype)

ANSWERS = {
    "scan": (
        lambda g: g.groupby("k")["x"].cumsum(),
        lambda f: f.groupby("k")["x"].cumsum(),
    ),
    "shift": (lambda g: g.shift(1), lambda f: f.shift(1)),
    "fill": (lambda g: g.ffill(), lambda f: f.ffill()),
    "filter": (lambda g: g.filter("x > 1 and k == 'b'"), lambda f: f.query("x > 1 and k == 'b'")),
    "sort": (
        lambda g: g.sort_values(["k", "x"], ascending=False),
        lambda f: f.sort_values(["k", "x"], ascending=False, kind="stable"),
    ),
    "odd name": (
        lambda g: g.sort_values("a b'\"`"),
        lambda f: f.sort_values("a b'\"`", kind="stable"),
    ),
    "distinct": (lambda g: g.drop_duplicates("k"), lambda f: f.drop_duplicates("k")),
    "largest": (lambda g: g.nlargest(2, "x"), lambda f: f.nlargest(2, "x")),
    "groups": (
        lambda g: g.groupby("k").agg(total=("x", "sum"), last=("d", "last"), n=("x", "size")),
        lambda f: (
            f.groupby("k")
            .agg(total=("x", "sum"), last=("d", "last"), n=("x", "size"))
            .reset_index()
        ),
    ),
    "null group": (
        lambda g: g.groupby(["k", "flag"], dropna=False)["f"].max(),
        lambda f: f.groupby(["k", "flag"], dropna=False)["f"].max().reset_index(),
    ),
    "sizes": (
        lambda g: g.groupby("k").size(),
        lambda f: f.groupby("k", as_index=False).size(),
    ),
    "heads": (lambda g: g.groupby("k").head(1), lambda f: f.groupby("k").head(1)),
    "counts": (
        lambda g: g.value_counts(subset=["k"]),
        lambda f: f.value_counts(subset=["k"]).reset_index(),
    ),
    "buckets": (
        lambda g: g.resample("1h", on="t")["x"].sum(),
        lambda f: f.assign(t=f["t"].astype("M8[s, UTC]")).resample("1h", on="t")["x"].sum().reset_index(),
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", ANSWERS)
def test_the_answer_is_that_of_pandas(kind, name):
    make, table, column = kind
    ours, pandas = ANSWERS[name]
    found, expected = ours(dask_gpuscan.on(make(TABLE))), pandas(FRAME)
    assert isinstance(found, column if expected.ndim == 1 else table)
    assert rows(found) == of_pandas(expected)


def test_windows_sessions_and_runs(kind):
    make, table, _ = kind
    g = dask_gpuscan.on(make(TABLE.select(["t", "x"])))
    assert rows(g.rolling("2s", on="t").sum())["x"] == [1, 3, 2, 4, 9, 6]
    assert rows(g.expanding().max(numeric_only=True))["x"] == [1, 2, 2, 4, 5, 6]
    means = rows(g.ewm(alpha=0.5).mean(numeric_only=True))["x"]
    assert means[:3] == [1, pytest.approx(5 / 3), None]
    g = dask_gpuscan.on(make(TABLE))
    sessions = g.sessions("t", gap="1min", total=("x", "sum"))
    assert isinstance(sessions, table)
    assert rows(sessions)["count"] == [5, 1]
    assert rows(sessions)["total"] == [12, 6]
    assert rows(g.sessionize("t", by="k", gap="1min")) == [0, None, 0, 0, 0, 1]
    runs = g.rle(["k"])
    assert rows(runs)["run_length"] == [1, 1, 1, 2, 1]
    assert isinstance(dask_gpuscan.rle_decode(runs), table)
    assert rows(dask_gpuscan.rle_decode(runs)) == {"k": TABLE["k"].to_pylist()}


GAPS = [2.0, None, 5.0, 7.0, None, None, 3.0]


def recurrence(alpha: Fraction, of_pandas: bool) -> list[float | None]:
    """Return the weighted means of GAPS that are not adjusted, exactly, at rows that have a value."""
    means, mean, gap = list[float | None](), Fraction(2), Fraction(1)
    for x in GAPS:
        gap *= 1 - alpha
        if x is None:
            means.append(None)
            continue
        share = 1 - gap if of_pandas and alpha == Fraction(1, 2) else alpha
        mean = (gap * mean + share * Fraction(x)) / (gap + share) if means else mean
        means.append(float(mean))
        gap = Fraction(1)
    return means


@pytest.mark.parametrize("size", [1, 3, 7])
@pytest.mark.parametrize("alpha", [Fraction(1, 2), Fraction(1, 4)])
def test_a_mean_after_a_gap_is_that_of_the_library(alpha: Fraction, size: int) -> None:
    def means(receiver: Any) -> list[Any]:
        found = computed(receiver.ewm(alpha=float(alpha), adjust=False).mean())
        return list(
            found["x"].to_list() if hasattr(found["x"], "to_list") else found["x"].to_pylist()
        )

    def ends(receiver: Any) -> list[Any]:
        return [y for x, y in zip(GAPS, means(receiver), strict=True) if x is not None]

    def met(of_pandas: bool) -> Any:
        return pytest.approx([y for y in recurrence(alpha, of_pandas) if y is not None], rel=1e-14)

    frame = pd.DataFrame({"k": [1] * 7, "x": GAPS})
    parts = [frame[i : i + size] for i in range(0, 7, size)]
    tables = [pl.from_pandas(part) for part in parts]
    for rows in (frame, stream(parts), dd.from_pandas(frame, npartitions=7 // size)):
        for receiver in (rows.gpuscan, rows.gpuscan.groupby("k")):
            assert ends(receiver) == met(True)
    arrow = dask_gpuscan.on(pa.Table.from_pandas(frame))
    for methods in (pl.concat(tables).gpuscan, stream(tables).gpuscan, arrow):
        for receiver in (methods, methods.groupby("k")[["x"]]):
            assert ends(receiver) == met(False)
            assert [y is None for y in means(receiver)] == [x is None for x in GAPS]
    own = pl.Series(GAPS).ewm_mean(alpha=float(alpha), adjust=False, ignore_nulls=False)
    assert [y for y in own if y is not None] == met(False)
    if not older("pandas", "3"):
        own = pd.Series(GAPS).ewm(alpha=float(alpha), adjust=False).mean()
        assert [y for x, y in zip(GAPS, own, strict=True) if x is not None] == met(True)


def test_a_half_after_a_gap() -> None:
    given = {"alpha": 0.5, "adjust": False}
    assert pd.Series([1, None, 5]).gpuscan.ewm(**given).mean().iloc[-1] == 4.0
    assert pl.Series([1, None, 5]).gpuscan.ewm(**given).mean()[-1] == pytest.approx(11 / 3)
    assert pl.Series([1, None, 5]).gpuscan.ewm(**given, ignore_na=True).mean()[-1] == 3.0


@pytest.mark.sampled(3)
@pytest.mark.parametrize("name", ["mean", "var", "std"])
def test_weighted_statistics_are_null_at_a_null_as_in_polars(name: str) -> None:
    x = pl.Series("x", [None, *GAPS, 4.0, None])
    frame = pl.DataFrame({"k": [1, 1, 2, 2, 1, 1, 2, 1, 2, 1], "x": x})
    for adjust, passes_over, least in itertools.product((False, True), (False, True), (1, 2)):
        given = {"alpha": 0.25, "adjust": adjust}
        own = getattr(pl.col("x"), f"ewm_{name}")(
            **given, ignore_nulls=passes_over, min_samples=least
        )
        expected = frame.select(whole=own, groups=own.over("k"))
        given |= {"ignore_na": passes_over, "min_periods": least}
        batches = stream([frame[:2], frame[2:6], frame[6:]])
        for rows in (frame.gpuscan, dask_gpuscan.on(frame.to_arrow()), batches.gpuscan):
            for title, receiver in (("whole", rows), ("groups", rows.groupby("k"))):
                found = computed(getattr(receiver.ewm(**given)["x"], name)())
                assert pl.Series(found).to_list() == pytest.approx(expected[title].to_list())


def test_weighted_means_over_times_are_null_at_a_null_as_in_polars() -> None:
    x, day = pl.Series("x", GAPS), timedelta(days=1)
    times = pl.Series([datetime(2026, 3, d) for d in (1, 2, 4, 5, 7, 8, 9)])
    found = x.gpuscan.ewm(halflife="1D", times=times, adjust=False).mean()
    assert found.to_list() == pytest.approx(x.ewm_mean_by(times, half_life=day).to_list())


def test_columns_of_polars_are_keys_alone_and_in_lists():
    frame = pl.DataFrame({"k": [1, 2, 1], "x": [1, 2, 4]})
    for keys in (frame["k"], [frame["k"]], (frame["k"],)):
        assert frame.gpuscan.groupby(keys).sum().to_dict(as_series=False) == {
            "k": [1, 2],
            "x": [5, 2],
        }
    found = frame.gpuscan.groupby(["k", pl.Series("odd", [True, False, False])]).sum()
    assert found.rows() == [(1, False, 4), (1, True, 1), (2, False, 2)]


def test_rows_chosen_by_a_column_or_a_function(kind):
    make, _, _ = kind
    column = TABLE["flag"] if make is not of_polars else pl.Series(TABLE["flag"])
    g = dask_gpuscan.on(make(TABLE))
    assert rows(g.filter(column))["x"] == [1, 4, 5]
    assert rows(g.filter(lambda f: f < 1))["x"] == [1, 4, 5]
    kept, rest = g.partition("x > 4")
    assert (rows(kept)["x"], rows(rest)["x"]) == ([5, 6], [1, 2, None, 4])


def found_of_arrow(left, right):
    merged = pd.merge_asof(*(side.to_pandas(types_mapper=pd.ArrowDtype) for side in (left, right)))
    return of_pandas(merged)


def test_merge_asof_takes_tables(kind):
    make, table, _ = kind
    left = TABLE.select(["t", "x"])
    right = pa.table({"t": left["t"].slice(1), "price": [1.5, 2.5, None, 4.5, 5.5]})
    found = dask_gpuscan.merge_asof(make(left), make(right), on="t")
    assert isinstance(found, table)
    assert rows(found)["price"] == [None, 1.5, 2.5, None, 4.5, 5.5]
    assert rows(dask_gpuscan.merge_asof(right=make(right), left=make(left), on="t")) == rows(found)
    reader = pa.RecordBatchReader.from_batches
    streams = [reader(side.schema, side.to_batches()) for side in (left, right)]  # are read once
    assert rows(dask_gpuscan.merge_asof(*streams, on="t")) == found_of_arrow(left, right)
    mixed = dask_gpuscan.merge_asof(
        right=pl.DataFrame({"x": [1]}), left=pa.table({"x": [2]}), on="x"
    )
    assert isinstance(mixed, pa.Table)
    with pytest.raises(TypeError, match="left must be a DataFrame"):
        dask_gpuscan.merge_asof(3, make(right), on="t")


def test_scans_of_arrays_take_tables(kind):
    make, table, _ = kind
    single = make(TABLE.select(["x"]))
    for scan in (
        dask_gpuscan.cumsum,
        lambda x, **options: dask_gpuscan.scan(x, dask_gpuscan.add, **options),
    ):
        found = scan(make(TABLE.select(["x", "f"])), reverse=True)
        assert isinstance(found, table)
        assert rows(found)["x"] == [18, 17, None, 15, 11, 6]
        out = scan(pl.Series("x", [1.5, None, 2.5]), exclusive=True)
        assert isinstance(out, pl.Series)
        assert (out.name, out.to_list()) == ("x", [0.0, None, 1.5])
    with pytest.raises(ValueError, match="axis must be"):
        dask_gpuscan.scan(single, dask_gpuscan.add, axis=1)


def test_pairs_of_columns_are_labelled():
    table = pa.table({"k": ["b", "b", "a"], "x": [1, None, 3], "column": [1.0, 2.0, 0.5]})
    found = dask_gpuscan.on(table).groupby("k").expanding().cov()
    assert found.column_names == ["column_", "x", "column"]
    assert found["column_"].to_pylist() == ["x", "column"] * 3
    assert found["column"].to_pylist() == [None, None, None, 0.5, None, None]


def test_variables_in_predicates_of_tables(kind):
    make, _, _ = kind
    low, wanted = 4, ["a"]
    g = dask_gpuscan.on(make(TABLE))
    assert rows(g.filter("x >= @low and k in @wanted"))["x"] == [4, 5]
    assert rows(g.partition("t.dt.hour >= 1 or k.str.startswith('a')")[0])["x"] == [4, 5, 6]
    assert (low, wanted) == (4, ["a"])
    for some in (pl.Series([5, None]), pa.array([5, None]), pa.chunked_array([[5], [None]])):  # noqa: B007
        assert rows(g.filter("x in @some"))["x"] == [None, 5]  # pandas finds nulls in lists


# --- polars ------------------------------------------------------------------------------------------


def test_polars_has_the_accessor():
    frame = pl.DataFrame({"k": ["b", "b", "a"], "x": [1, None, 3]})
    assert frame.gpuscan.groupby("k")["x"].cumsum().equals(pl.Series("x", [1, None, 3]))
    assert frame.gpuscan.row_number().name == "row_number"
    assert frame["x"].gpuscan.ffill().to_list() == [1, 1, 3]
    assert frame["k"].gpuscan.is_monotonic_increasing is False
    assert frame["k"].gpuscan.value_counts().rows() == [("b", 2), ("a", 1)]
    assert repr(frame.gpuscan) == "<gpuscan of a polars DataFrame>"
    assert "clustered" in repr(frame.gpuscan.groupby("k", clustered=True))


def test_the_accessor_sees_what_the_frame_is_now():
    frame = pl.DataFrame({"x": [1, 2]})
    assert frame.gpuscan.cumsum()["x"].to_list() == [1, 3]
    frame[0, "x"] = 5
    assert frame.gpuscan.cumsum()["x"].to_list() == [5, 7]


@pytest.mark.parametrize("dtype", [pl.Int64, pl.Int64(), pa.int64(), "int64"])
def test_dtypes_are_given_in_the_words_of_any(dtype):
    small = pl.Series("x", [100, None, 100], dtype=pl.Int8)
    for found in (small.gpuscan.cumsum(dtype=dtype), dask_gpuscan.cumsum(small, dtype=dtype)):
        assert found.equals(pl.Series("x", [100, None, 200]))
        assert found.dtype == pl.Int64


def test_expressions_are_no_arguments():
    frame = pl.DataFrame({"x": [1, 2]})
    for call in (frame.gpuscan.filter, frame.gpuscan.sort_values, frame.gpuscan.groupby):
        with pytest.raises(TypeError, match="a Expr of polars is not taken as an argument"):
            call(pl.col("x") > 1)
    with pytest.raises(TypeError, match=r"give right\.collect\(\)"):
        dask_gpuscan.merge_asof(frame, frame.lazy(), on="x")
    with pytest.raises(TypeError, match="dtype Int128 cannot be read as Arrow"):
        frame.gpuscan.cumsum(dtype=pl.Int128)


@pytest.mark.parametrize("direction", ["backward", "forward", "nearest"])
def test_merge_asof_of_a_lazy_frame_is_lazy(direction):
    left = pl.DataFrame({"t": range(0, 3000, 3), "k": ["a", "b"] * 500, "v": range(1000)})
    right = pl.DataFrame({"t": range(1, 2000, 7), "k": ["b"] * 286, "w": range(286)})
    right = right.with_columns(
        pl.when(pl.col("w") % 2 == 0).then(pl.lit("a")).otherwise("k").alias("k")
    )
    options = {"on": "t", "by": "k", "direction": direction}
    expected = dask_gpuscan.merge_asof(left, right, **options)
    rights = [right, right.to_arrow(), *([right.lazy()] if direction == "backward" else [])]
    for sides in ({"left": left.lazy(), "right": each} for each in rights):
        lazy = dask_gpuscan.merge_asof(**sides, **options)
        assert isinstance(lazy, pl.LazyFrame)
        assert lazy.collect_schema() == expected.schema
        assert lazy.collect().equals(expected)
        assert lazy.select("w").head(3).collect().equals(expected.select("w").head(3))
    with pytest.raises(TypeError, match=r"give right\.collect\(\)"):
        dask_gpuscan.merge_asof(left, right.lazy(), **options)
    with pytest.raises(KeyError, match="'q' is not a column"):
        dask_gpuscan.merge_asof(left.lazy(), right, on="q")


def test_lazy_frames_are_collected_by_a_word():
    lazy = pl.LazyFrame({"x": [1, 2]})
    assert lazy.gpuscan.collect().cumsum().rows() == [(1,), (3,)]
    assert "LazyFrame" in repr(dask_gpuscan.on(lazy))
    with pytest.raises(AttributeError, match="which has no rows yet"):
        dask_gpuscan.cumsum(lazy)
    with pytest.raises(AttributeError, match=r"compute it first: gpuscan\.collect\(\)"):
        lazy.gpuscan.cumsum()


@since("pyarrow", "23", "unsigned codes of categories are not read")
def test_dtypes_of_polars_come_back():
    enum = pl.Enum(["low", "mid", "high"])
    columns = {
        "e": (enum, ["high", "low", None]),
        "c": (pl.Categorical, ["z", "y", None]),
        "s": (pl.String, ["z", "y", None]),
        "b": (pl.Binary, [b"z", None, b"y"]),
        "l": (pl.List(pl.Int16), [[1, None], [], None]),
        "r": (pl.Struct({"u": pl.UInt8}), [{"u": 1}, {"u": None}, None]),
        "z": (pl.Datetime("ms", "Europe/Berlin"), [0, None, 1]),
        "o": (pl.Date, [0, None, 1]),
        "h": (pl.Time, [0, None, 1]),
        "w": (pl.Duration("us"), [0, None, 1]),
        "d": (pl.Decimal(12, 3), ["1.500", None, "2"]),
        "n": (pl.Null, [None] * 3),
    }
    frame = pl.DataFrame([pl.Series(name, v).cast(kind) for name, (kind, v) in columns.items()])
    numbered = frame.with_columns(k=pl.Series([1, 1, 2]))
    for same in (
        frame.gpuscan.filter(pl.Series([True] * 3)),
        frame.gpuscan.shift(0),
        pl.concat([numbered.gpuscan.groupby("k").head(9).drop("k")]),
    ):
        assert same.schema == frame.schema
        assert same.equals(frame)
    assert frame.gpuscan.sort_values("e")["e"].to_list() == ["low", "high", None]
    assert frame.gpuscan.sort_values("c")["c"].to_list() == ["y", "z", None]
    last = numbered.gpuscan.groupby("k").agg(e=("e", "first"), other=("c", "last"))
    assert last.schema == pl.Schema({"k": pl.Int64(), "e": enum, "other": pl.Categorical()})
    assert last.rows() == [(1, "high", "y"), (2, None, None)]
    counts = frame["e"].gpuscan.value_counts()
    assert counts.schema["e"] == enum
    assert sorted(counts.rows()) == [("high", 1), ("low", 1)]


def test_lists_of_one_length():
    for dtype, rows in (
        (pl.Array(pl.Int64, 2), [[1, 2], None, [3, 4]]),
        (pl.List(pl.Array(pl.Int64, 2)), [[[1, 2], None], None, [[3, 4]]]),
        (pl.Struct({"a": pl.Array(pl.Int64, 2)}), [{"a": [1, 2]}, None, {"a": None}]),
    ):
        column = pl.Series("x", rows, dtype)
        for periods in (1, -1, 3):
            assert column.gpuscan.shift(periods).equals(column.shift(periods))


VIEWS = since("pyarrow", "18", "views are not cast to what pandas reads")


@pytest.mark.parametrize(
    ("kind", "values", "comes_back"),
    [
        pytest.param(pa.string_view(), ["b", "a", None], True, marks=VIEWS),
        pytest.param(pa.binary_view(), [b"b", b"a", None], True, marks=VIEWS),
        (pa.dictionary(pa.int32(), pa.string()), ["b", "a", None], True),
        (pa.dictionary(pa.int8(), pa.large_string(), ordered=True), ["b", "a", None], True),
        (pa.dictionary(pa.int16(), pa.int64()), [2, 1, None], False),
        (pa.list_view(pa.int8()), [[1], [2, 3], None], False),
        (pa.run_end_encoded(pa.int32(), pa.string()), ["b", "a", None], False),
    ],
)
def test_types_of_arrow_come_back(kind, values, comes_back):
    if pa.types.is_run_end_encoded(kind):
        ends = pa.array([1, 2, 3], pa.int32())
        column = pa.RunEndEncodedArray.from_arrays(ends, pa.array(values))
    elif pa.types.is_dictionary(kind):
        column = pa.array(values).dictionary_encode().cast(kind)
    else:
        column = pa.array(values, kind)
    found = dask_gpuscan.on(pa.table({"x": column})).filter(pa.array([True, False, True]))
    assert found["x"].to_pylist() == [values[0], None]
    assert (found.schema.types == [kind]) is comes_back


@pytest.mark.parametrize(
    ("views", "offset"), [(pa.ListViewArray, pa.int32()), (pa.LargeListViewArray, pa.int64())]
)
def test_views_of_lists_that_are_sliced_or_lie_in_any_order(views, offset):
    starts, lengths = pa.array([9, 3, 0, 1], offset), pa.array([1, 2, 2, 3], offset)
    mask = pa.array([False, False, True, False])
    column = views.from_arrays(starts, lengths, pa.array(range(10)), mask=mask)
    for rows in (column, column.slice(1), column.slice(2), column.slice(1, 1), column.slice(4)):
        table = pa.table({"x": rows, "n": range(len(rows))})
        found = dask_gpuscan.on(table).sort_values("n", ascending=False)
        assert found.column("x").to_pylist() == rows.to_pylist()[::-1]


def test_empty_chunks_that_begin_behind_the_end_of_their_buffers():
    chunks = pa.chunked_array([pa.array([1], pa.int32()).slice(1), pa.array([3], pa.int32())])
    found = dask_gpuscan.on(Stream(pa.table({"x": chunks}))).shift(0)
    assert found.column("x").to_pylist() == [3]


def test_dictionaries_that_repeat_themselves_or_hold_nulls():
    twice = pa.DictionaryArray.from_arrays(pa.array([0, 1, 2]), pa.array(["a", None, "a"]))
    found = dask_gpuscan.on(pa.table({"k": twice})).groupby("k").size()
    assert found.to_pydict() == {"k": ["a"], "size": [2]}


# --- no copies, no index, and what is refused --------------------------------------------------------


@pytest.mark.parametrize("make", [pa.table, pl.DataFrame])
def test_numbers_and_times_are_not_copied(make):
    table = make({"x": pa.array(range(9)), "t": pa.array(range(9), pa.timestamp("ns"))})
    before = pa.table(table)
    for name, column in TableSource(table).frame.items():
        address = column.array.__arrow_array__().chunk(0).buffers()[1].address
        assert address == before[name].chunk(0).buffers()[1].address


def test_methods_of_an_index_say_so(kind):
    make, _, _ = kind
    g = dask_gpuscan.on(make(TABLE))
    with pytest.raises(TypeError, match=r"sort_index: a table has no index; use sort_values\(by\)"):
        g.sort_index()
    with pytest.raises(TypeError, match=r"reset_index: a table has no index; use row_number\(\)"):
        g.reset_index(drop=True)
    with pytest.raises(TypeError, match="name a column of times with on="):
        g.rolling("1s").sum()
    with pytest.raises(TypeError, match="another column by on"):
        g.resample("1s")


def test_every_method_is_there():
    methods = {name for name in dir(dask_gpuscan.Gpuscan) if not name.startswith("_")}
    assert methods <= set(dir(pl.DataFrame.gpuscan))
    assert methods <= set(dir(pl.DataFrame({"x": [1]}).gpuscan))
    assert pl.DataFrame.gpuscan.cumsum.__doc__ == dask_gpuscan.Gpuscan.cumsum.__doc__
    groups = pl.DataFrame({"k": [1]}).gpuscan.groupby("k")
    assert {"agg", "cumsum", "rolling"} <= set(dir(groups))


def test_what_is_no_table():
    for obj in ([1, 2], "x", None, {"x": [1]}, np.ones(3)):
        with pytest.raises(TypeError, match="obj must be a Series or DataFrame"):
            dask_gpuscan.on(obj)
    with pytest.raises(TypeError, match="column 'x' cannot be read as Arrow"):
        pl.DataFrame({"x": pl.Series([1]).cast(pl.Int128)}).gpuscan.cumsum()
    with pytest.raises(TypeError, match="column 'o' cannot be read as Arrow"):
        pl.DataFrame({"o": pl.Series([{1}], dtype=pl.Object)}).gpuscan.row_number()
    with pytest.raises(ValueError, match="two columns named 'k'"):
        pl.DataFrame({"k": [1], "x": [2]}).gpuscan.groupby("k").agg(k=("x", "sum"))


def test_frames_have_their_own_accessor():
    frame = pd.DataFrame({"x": [1, 2]})
    assert isinstance(dask_gpuscan.on(frame), dask_gpuscan.Gpuscan)
    lazy = dask_gpuscan.on(dd.from_pandas(frame, npartitions=2)).cumsum()
    assert lazy.compute()["x"].tolist() == [1, 3]


@pytest.mark.parametrize("count", [0, 1])
def test_few_rows(kind, count):
    make, _, _ = kind
    if make is KINDS["batch"][0] and not count:
        whole = pa.RecordBatch.from_arrays(
            [c.combine_chunks() for c in TABLE.slice(0, 0).columns], TABLE.column_names
        )
    else:
        whole = make(TABLE.slice(0, count))
    g = dask_gpuscan.on(whole)
    assert rows(g.row_number()) == list(range(count))
    assert rows(g.ffill()) == TABLE.slice(0, count).to_pydict()
    assert rows(g.groupby("k").size()) == {"k": ["b"][:count], "size": [1][:count]}
    assert rows(g.filter("x > 9"))["x"] == []


def test_a_table_without_columns():
    assert dask_gpuscan.on(pa.table({})).cumsum().num_columns == 0
    assert pl.DataFrame().gpuscan.ffill().shape == (0, 0)


def test_any_text_is_a_name(kind):
    make, _, _ = kind
    names = ["", " ", "a\0b", "class", "é", "index", "0", "column"]
    g = dask_gpuscan.on(make(pa.table([[i] for i in range(len(names))], names=names)))
    if make is not Stream:  # names end at a null character in Arrow's streams
        assert rows(g.cumsum()) == {name: [i] for i, name in enumerate(names)}
    assert rows(g.groupby("")["0"].sum()) == {"": [0], "0": [6]}


@given(
    values=st.lists(st.none() | st.integers(-9, 9), max_size=20),
    keys=st.lists(st.none() | st.sampled_from(["a", "b"]), min_size=20, max_size=20),
    floats=st.lists(
        st.none() | st.just(float("nan")) | st.integers(-8, 8), min_size=20, max_size=20
    ),
    name=st.text(min_size=1).filter(lambda name: name not in ("k", "f")),
    cut=st.integers(0, 20),
)
def test_any_rows_under_any_name(values, keys, floats, name, cut):
    count = len(values)
    table = pa.table(
        {
            name: pa.array(values, pa.int64()),
            "k": pa.array(keys[:count], pa.string()),
            "f": pa.array(floats[:count], pa.float64()),
        }
    )
    frame = table.to_pandas(types_mapper=pd.ArrowDtype)
    parts = pa.concat_tables([table.slice(0, cut), table.slice(cut)])
    for given_, read in ((parts, rows), (pl.from_arrow(parts), rows)):
        g = dask_gpuscan.on(given_)
        assert read(g.groupby("k")[name].cumsum()) == of_pandas(frame.groupby("k")[name].cumsum())
        total = frame.groupby("k")[name].sum().reset_index()
        assert read(g.groupby("k")[name].sum()) == of_pandas(total)
        by = frame.sort_values([name, "k"], kind="stable")
        assert repr(read(g.sort_values([name, "k"]))) == repr(by_arrow(by))
        assert repr(read(g.ffill())) == repr(by_arrow(frame.ffill()))


def by_arrow(frame):
    """The rows of an Arrow-backed frame, in which NaN is no null."""
    return {name: frame[name].array.__arrow_array__().to_pylist() for name in frame.columns}


def test_ways_to_the_answers_of_polars():
    """Those that docs/guide/polars.md names."""
    nan = float("nan")
    x = pl.Series("x", [2.0, nan, None, 1.0, 3.0])
    assert x.fill_nan(float("inf")).gpuscan.nlargest(2).to_list() == [float("inf"), 3.0]
    largest = x.top_k(2).to_list()
    assert largest[0] != largest[0]
    assert largest[1] == 3.0
    numbers = pl.Series("x", [None, 1, None, 2, 5])
    mean = numbers.gpuscan.ewm(alpha=0.5, min_periods=1).mean()
    expected = numbers.ewm_mean(alpha=0.5)
    assert mean.to_list() == pytest.approx(expected.to_list())
    frame = pl.DataFrame({"k": [1, 1, 2, 2], "t": [datetime(2026, 3, d) for d in (1, 2, 4, 5)]})
    frame = frame.with_columns(x=pl.Series([None, 7.0, 4.0, None]), n=pl.Series([4.0, nan, 1.0, 2]))
    sums = frame.gpuscan.rolling("1D", on="t", closed="left", min_periods=1)["x"].sum()
    assert sums.to_list() == [None, None, None, 4.0]
    assert sums.fill_null(0).to_list() == [0.0, 0.0, 0.0, 4.0]
    assert frame.gpuscan.filter(frame["n"] > 1.5).equals(frame.filter(pl.col("n") > 1.5))
    groups, own = frame.gpuscan.groupby("k"), frame.group_by("k", maintain_order=True)
    for place, name in ((0, "first"), (-1, "last")):
        expected = own.agg(getattr(pl.col("x"), name)())["x"].to_list()
        assert groups["x"].nth(place).to_list() == expected
    assert (
        groups["x"].nunique(dropna=False)["x"].to_list()
        == own.agg(pl.col("x").n_unique())["x"].to_list()
    )
    fours = pl.DataFrame({"k": [1] * 4, "x": [1, 2, 3, 4]})
    found = fours.gpuscan.groupby("k")["x"].quantile(0.5, interpolation="nearest")
    expected = fours.group_by("k").agg(pl.col("x").quantile(0.5))
    assert found["x"].to_list() == expected["x"].to_list()
    lists = pl.DataFrame({"a": [1, 2, 3], "l": [[1, 2], [], None]})
    kept = lists.filter(pl.col("l").list.len().ne_missing(0))
    assert kept.gpuscan.explode("l").rows() == [(1, 1), (1, 2), (3, None)]


@pytest.mark.parametrize("rows", [[{"a": 1}, {"a": 2}], [[1], [2]]])
def test_nested_values_have_no_order(rows):
    table = pa.table({"x": rows})
    columns = table["x"], pl.Series("x", rows), table.to_pandas(types_mapper=pd.ArrowDtype)["x"]
    for column in columns:
        for name in ("is_monotonic_increasing", "is_monotonic_decreasing"):
            with pytest.raises(TypeError, match=rf"{name} of .*: values of dtype .* have no order"):
                getattr(dask_gpuscan.on(column), name)


def test_numeric_only_keeps_bool():
    table = pa.table(
        {"k": [1, 1, 2], "b": [True, True, None], "x": [1, 2, 3], "s": ["a", "b", "c"]}
    )
    for each in (table, pl.DataFrame(table)):
        sums = pa.table(dask_gpuscan.on(each).groupby("k").sum(numeric_only=True)).to_pydict()
        assert sums == {"k": [1, 2], "b": [2, 0], "x": [3, 3]}
        running = pa.table(dask_gpuscan.on(each).cumsum(numeric_only=True)).to_pydict()
        assert running == {"k": [1, 2, 4], "b": [1, 2, None], "x": [1, 3, 6]}
        ranks = pa.table(dask_gpuscan.on(each).rank(numeric_only=True))
        assert ranks.column_names == ["k", "b", "x"]


@pytest.mark.parametrize(
    ("times", "exact", "here", "polars"),
    [
        ([4, 4, 6, 6], True, 1, 3),
        ([7, 7], True, 0, 1),
        ([5, 5], True, 1, 1),
        ([5, 6, 6], False, 1, 2),
    ],
)
def test_rows_that_are_as_near(times, exact, here, polars):
    left, right = pl.DataFrame({"t": [5]}), pl.DataFrame({"t": times, "n": range(len(times))})
    found = dask_gpuscan.merge_asof(
        left, right, on="t", direction="nearest", allow_exact_matches=exact
    )
    assert found["n"].to_list() == [here]
    peers = left.join_asof(right, on="t", strategy="nearest", allow_exact_matches=exact)
    assert peers["n"].to_list() == [polars]
