"""Batches that differ in what dtypes of pandas do not say, or are of another kind; and answers of their kind."""

import re
from decimal import Decimal
from pathlib import Path
from typing import Any

import dask.dataframe as dd
import pandas as pd
import pyarrow as pa
import pytest

import dask_gpuscan
from dask_gpuscan import stream

pl = pytest.importorskip("polars")

BATCH = pa.record_batch({"s": pa.array(["a", "b"]).dictionary_encode(), "x": [1, 2]})
WITH_NULL = pa.record_batch({"s": pa.DictionaryArray.from_arrays([0, 1], ["a", None]), "x": [3, 4]})
ENUM = pl.DataFrame({"s": pl.Series(["v", "u"], dtype=pl.Enum(["u", "v"])), "x": [1, 2]})
SOME, NONE = (pd.DataFrame({"s": pd.Categorical(s), "x": [1, 2]}) for s in (["a", "b"], [None] * 2))
SOURCES = {
    "empty at the end": ([BATCH, BATCH[:0]], [1, 2]),
    "empty at the start": ([BATCH[:0], BATCH], [1, 2]),
    "a null among categories": ([BATCH, WITH_NULL], [1, 2, 4, None]),
    "Enum": ([ENUM[:1], ENUM[1:], ENUM[:0], ENUM], [1, 2, 2, 4]),
    "nulls alone": ([SOME, NONE, SOME], [1, 2, None, None, 2, 4]),
    "nulls first": ([NONE, SOME], [None, None, 1, 2]),
}


@pytest.mark.parametrize("name", SOURCES)
def test_categories_of_batches_are_joined(name: str) -> None:
    batches, expected = SOURCES[name]
    sums = stream(batches).gpuscan.groupby("s")["x"].cumsum().compute()
    assert pd.Series(pd.array(list(pa.array(sums).to_pylist()), "Int64")).tolist() == [
        pd.NA if x is None else x for x in expected
    ]
    filled = stream(batches).gpuscan.ffill().compute()
    assert len(filled) == len(expected)


def test_ordered_categories_of_row_groups_keep_their_order(tmp_path: Path) -> None:
    levels = pd.Categorical(["lo", "hi", "lo"], ["lo", "hi"], ordered=True)
    pd.DataFrame({"s": levels}).to_parquet(tmp_path / "c.parquet", row_group_size=1)
    found = stream(tmp_path / "c.parquet").gpuscan.shift().compute()
    assert found.column("s").to_pylist() == [None, "lo", "hi"]


def test_categories_that_dask_does_not_know() -> None:
    rows = dd.from_pandas(pd.DataFrame({"s": list("abca")}), npartitions=2)
    rows["s"] = rows["s"].astype("category")
    assert stream(rows).gpuscan.shift(-1).compute()["s"].astype(object)[:3].tolist() == [
        "b",
        "c",
        "a",
    ]


def test_more_categories_than_the_first_batch_has_room_for(tmp_path: Path) -> None:
    many = pd.DataFrame({"s": pd.Categorical([f"k{i}" for i in range(200)])})
    rows = stream([SOME[["s"]], many])
    assert pa.table(rows).num_rows == rows.to_polars().collect().height == 202
    rows.to_parquet(tmp_path / "c.parquet")
    assert pd.read_parquet(tmp_path / "c.parquet")["s"].nunique() == 202


def objects(*batches: list[Any]) -> Any:
    return stream([pd.DataFrame({"s": pd.Series(batch, dtype=object)}) for batch in batches])


def test_objects_without_a_value_are_texts(tmp_path: Path) -> None:
    rows, expected = objects([None], ["a", None], []), [None, "a", None]
    assert pa.table(rows).column("s").to_pylist() == expected
    assert rows.to_polars().collect()["s"].to_list() == expected
    rows.to_parquet(tmp_path / "days", state=tmp_path / "state")
    assert pa.parquet.read_table(tmp_path / "days").column("s").to_pylist() == expected


@pytest.mark.parametrize(
    "batches",
    [
        ([{"a": 1}], [{"b": 2}]),
        ([[{"a": 1}]], [[{"a": 1, "b": 2}]]),
        ([[1]], [[1.5]]),
        ([Decimal("1.5")], [Decimal("123.45")]),
        ([None], [3]),
        (["a"], [3]),
    ],
)
def test_objects_whose_types_differ_are_refused(batches: Any, tmp_path: Path) -> None:
    message = "column 's' is of .* as far as is known, and a batch has .*; cast it with astype"
    with pytest.raises(ValueError, match=message):
        pa.table(objects(*batches))
    with pytest.raises(ValueError, match=message):
        objects(*batches).to_parquet(tmp_path / "x.parquet")
    assert not list(tmp_path.iterdir())


def test_fields_that_a_batch_lacks_are_null() -> None:
    rows = pa.table(objects([{"a": 1, "b": 2}], [{"a": 3}], [None]))
    assert rows.column("s").to_pylist() == [{"a": 1, "b": 2}, {"a": 3, "b": None}, None]


def test_an_index_that_has_a_name_in_some_batches() -> None:
    frame = SOME[["x"]]
    with pytest.raises(ValueError, match="named levels of the index, are x as far as"):
        pa.table(stream([frame, frame.rename_axis("i")]))


# --- polars ------------------------------------------------------------------------------------------


def test_rows_are_counted_before_they_are_chosen() -> None:
    lazy = (
        stream([pl.DataFrame({"x": [1, 2]}), pl.DataFrame({"x": [3]})]).gpuscan.cumsum().to_polars()
    )
    assert lazy.head(2).filter(pl.col("x") > 1).collect()["x"].to_list() == [3]
    assert lazy.filter(pl.col("x") > 1).head(2).collect()["x"].to_list() == [3, 6]
    joined = dask_gpuscan.merge_asof(
        pl.LazyFrame({"t": [1, 2, 3]}), pl.DataFrame({"t": [1], "v": [5]}), on="t"
    )
    assert joined.head(1).filter(pl.col("t") > 1).collect().height == 0


def test_columns_that_polars_names() -> None:
    frame = pd.DataFrame({0: [1], 1: [3]}, index=pd.Index([5], name="ix"))
    lazy = stream([frame]).gpuscan.cumsum().to_polars()
    for name in lazy.collect_schema().names():
        assert lazy.select(name).collect().columns == [name]
    assert lazy.select("1", "ix").collect().rows() == [(3, 5)]
    assert lazy.select("ix").filter(pl.col("ix") > 5).collect().height == 0


# --- kinds -------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "frame", [pd.DataFrame({"x": [1]}), pl.DataFrame({"x": [1]}), pa.table({"x": [1]})]
)
def test_answers_are_of_the_kind_of_the_frame_that_goes_on(frame: Any) -> None:
    accessor = dask_gpuscan.on(frame) if isinstance(frame, pa.Table) else frame.gpuscan
    assert type(accessor.resume(None).gpuscan.cumsum().compute()) is type(frame)
    assert type(stream([frame]).gpuscan.resume(None).gpuscan.cumsum().compute()) is type(frame)
    if not isinstance(frame, pa.Table):
        assert type(stream(frame).gpuscan.cumsum().compute()) is type(frame)


@pytest.mark.parametrize(
    "batches",
    [[SOME, None], [None, SOME], [SOME, BATCH], [BATCH, SOME], [ENUM, SOME], [3]],
    ids=["None", "None first", "table", "frame", "frame of pandas", "number"],
)
def test_batches_of_another_kind_are_refused(batches: Any) -> None:
    with pytest.raises(
        TypeError, match=r"batch [01] must be a frame or a table, and of the kind of the first"
    ):
        stream(batches).gpuscan.cumcount().compute()


def test_a_file_whose_name_looks_like_a_pattern(tmp_path: Path) -> None:
    SOME.to_parquet(tmp_path / "p[1].parquet")
    assert len(stream(tmp_path / "p[1].parquet").compute()) == 2


def test_options_of_parquet_that_there_are_not_leave_no_file(tmp_path: Path) -> None:
    with pytest.raises(Exception, match="nope"):
        stream([SOME]).to_parquet(tmp_path / "x.parquet", compression="nope")
    assert not list(tmp_path.iterdir())


def test_edges_of_buckets() -> None:
    times = pd.to_datetime(["2026-01-01 00:10", "2026-01-01 00:50", "2026-01-01 03:10"])
    frame = pd.DataFrame({"x": [1.0, 2.0, 3.0]}, times)
    buckets = stream([frame[:1], frame[1:]]).gpuscan.resample("1h")
    for method in ("ffill", "asfreq"):
        expected = getattr(frame.resample("1h"), method)()
        pd.testing.assert_frame_equal(
            getattr(buckets, method)().compute(), expected, check_freq=False
        )
    for method in ("bfill", "nearest"):
        with pytest.raises(NotImplementedError, match="needs rows that come later"):
            getattr(buckets, method)()
    once = stream(frame[i : i + 1] for i in range(3)).gpuscan.resample("1h").ffill()
    with pytest.raises(ValueError, match="give a list or files to read it twice"):
        once.compute()


SECONDS = pd.Series([1, 2, 3, 4, 5, 2])
TIMES = {
    "times": pd.to_datetime(SECONDS, unit="s"),
    "in a zone": pd.to_datetime(SECONDS, unit="s").dt.tz_localize("America/Santiago"),
    "of Arrow": pd.to_datetime(SECONDS, unit="s").astype(pd.ArrowDtype(pa.timestamp("ms"))),
    "durations": pd.to_timedelta(SECONDS, unit="s"),
    "integers": SECONDS,
    "floats": SECONDS + 0.25,
}
OF_TIMES = {
    "resample": lambda rows: rows.gpuscan.groupby("k").resample("2s", on="t")["x"].sum(),
    "rolling": lambda rows: rows.gpuscan.rolling("2s", on="t")["x"].sum(),
    "rolling in groups": lambda rows: rows.gpuscan.groupby("k").rolling("2s", on="t")["x"].sum(),
    "centered": lambda rows: rows.gpuscan.rolling("2s", on="t", center=True)["x"].sum(),
    "sessions": lambda rows: rows.gpuscan.sessionize("t", gap="3s"),
    "sessions of keys": lambda rows: rows.gpuscan.sessionize("t", "k", gap="3s"),
    "counted sessions": lambda rows: rows.gpuscan.sessionize("t", "k", gap=3),
}


@pytest.mark.parametrize(
    ("kind", "method"),
    [
        *(
            (kind, method)
            for kind in ("times", "in a zone", "of Arrow")
            for method in [*OF_TIMES][:-1]
        ),
        ("durations", "sessions"),
        ("integers", "counted sessions"),
        ("floats", "counted sessions"),
    ],
)
@pytest.mark.parametrize("cuts", [[2, 2, 4], [1, 3, 5], [5]])
def test_late_rows_are_told_with_their_batch(kind, method, cuts):
    frame = pd.DataFrame({"k": 1, "t": TIMES[kind], "x": range(6)})
    batches = [frame[a:b] for a, b in zip([0, *cuts], [*cuts, 6], strict=True)]
    late = re.escape(str(frame["t"].iloc[-1]))
    with pytest.raises(
        ValueError,
        match=rf"^batch {len(cuts)}( or before it)?: .*must not decrease.* {late} comes after",
    ):
        OF_TIMES[method](stream(batches)).compute()
