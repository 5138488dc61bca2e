"""Sources without row groups or batches, with types that pyarrow makes of no values, and before they are read."""

import datetime
import pickle
from decimal import Decimal
from pathlib import Path
from typing import Any

import dask.dataframe as dd
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import dask_gpuscan
from dask_gpuscan import stream

pl = pytest.importorskip("polars")

FRAME = pd.DataFrame({"x": [1, 2, 3, 4, 5], "k": [1, 1, 2, 2, 2]})
NO_ROWS = pa.schema({"x": pa.int64(), "k": pa.string()}).empty_table()


def no_batch(path: Path) -> Path:
    """Write a file of Arrow IPC without a batch."""
    with pa.OSFile(str(path), "wb") as file, pa.ipc.new_file(file, NO_ROWS.schema):
        return path


def no_row_group(path: Path) -> Path:
    """Write a file of Parquet without a row group, as polars and DuckDB do."""
    pq.ParquetWriter(path, NO_ROWS.schema).close()
    assert pq.ParquetFile(path).num_row_groups == 0
    return path


EMPTY = {
    "ipc": lambda folder: no_batch(folder / "e.arrow"),
    "parquet": lambda folder: no_row_group(folder / "e.parquet"),
    "polars": lambda folder: pl.scan_ipc(no_batch(folder / "e.arrow")),
    "reader": lambda _: pa.RecordBatchReader.from_batches(NO_ROWS.schema, []),
    "collection": lambda _: dd.from_pandas(NO_ROWS.to_pandas(), npartitions=1),
}


@pytest.mark.parametrize("name", EMPTY)
def test_reductions_of_no_rows(name: str, tmp_path: Path) -> None:
    source: Any = EMPTY[name](tmp_path)

    def rows() -> Any:
        return stream(EMPTY["reader"](tmp_path) if name == "reader" else source)

    for statistic in ("sum", "min", "mean", "var", "first", "count", "size"):
        assert len(getattr(rows().gpuscan.groupby("k"), statistic)()) == 0
    assert len(rows()["x"].gpuscan.value_counts()) == len(rows().gpuscan.nlargest(2, "x")) == 0
    assert rows()["x"].gpuscan.is_monotonic_increasing
    assert len(rows().gpuscan.groupby("k").cumsum().compute()) == 0


def test_reductions_of_rows_that_were_all_seen(tmp_path: Path) -> None:
    FRAME.to_parquet(tmp_path / "f.parquet")

    def rows(state: Any = None) -> Any:
        return stream(tmp_path / "f.parquet", state=state)

    whole, column = rows(), rows()["x"]
    assert len(whole.compute()) == len(column.compute()) == 5
    assert len(rows(whole.state).gpuscan.nlargest(1, "x")) == 0
    assert rows(column.state)["x"].gpuscan.is_monotonic_increasing
    assert len(rows(column.state)["x"].gpuscan.value_counts()) == 0


VALUES: dict[str, pa.Array] = {
    "views": pa.array(["b", "a"], pa.string_view()),
    "large_string": pa.array(["b", "a"], pa.large_string()),
    "binary_view": pa.array([b"b", b"a"], pa.binary_view()),
    "date32": pa.array([datetime.date(2024, 2, 29), datetime.date(1, 1, 1)]),
    "timestamp": pa.array([1, -1], pa.timestamp("ns", "America/Santiago")),
    "time64": pa.array([1, 2], pa.time64("ns")),
    "duration": pa.array([1, 2], pa.duration("ns")),
    "decimal128": pa.array([Decimal("1.10"), Decimal("-2.25")]),
    "decimal256": pa.array([Decimal(10) ** 40, Decimal(0)], pa.decimal256(50, 2)),
    "float16": pa.array([1.5, -2.0]).cast(pa.float16()),
    "list": pa.array([[1], [2, None]]),
}


@pytest.mark.parametrize("kind", ["file", "stream"])
@pytest.mark.parametrize("name", VALUES)
def test_dictionaries_of_arrow(name: str, kind: str, tmp_path: Path) -> None:
    values = VALUES[name]
    column = pa.DictionaryArray.from_arrays(pa.array([0, 1, None, 0], pa.int8()), values)
    table = pa.table({"k": column, "x": [1, 2, 3, 4]})
    source: Any = table
    if kind == "file":
        source = tmp_path / "d.arrow"
        with pa.OSFile(str(source), "wb") as file, pa.ipc.new_file(file, table.schema) as writer:
            writer.write_table(table)
    found = stream(source)["k"].compute()
    if pa.types.is_dictionary(found.type):
        assert found.to_pylist() == [*values.to_pylist(), None, values[0].as_py()]
    else:  # whose values of Python have no nanoseconds
        assert found.equals(values.cast(found.type).take(pa.array([0, 1, None, 0])))
    if name != "list":
        sums = stream(source).gpuscan.groupby("k", dropna=False).cumsum().compute()
        assert sums.column("x").to_pylist() == [1, 2, 3, 5]


@pytest.mark.parametrize("dtype", [pl.Categorical(), pl.Enum(["b", "a"])])
@pytest.mark.parametrize("rows", [1, 3])
def test_categories_that_polars_writes(dtype: Any, rows: int, tmp_path: Path) -> None:
    frame = pl.DataFrame({"k": pl.Series(["b", "a", "b"], dtype=dtype), "x": [1, 2, 3]})
    frame.write_ipc(tmp_path / "c.arrow", record_batch_size=rows)
    found = stream(tmp_path / "c.arrow").gpuscan.groupby("k").cumsum().compute()
    assert found.column("x").to_pylist() == [1, 2, 4]
    assert stream(tmp_path / "c.arrow").compute().column("k").to_pylist() == ["b", "a", "b"]
    assert stream(tmp_path / "c.arrow").to_polars().collect()["k"].to_list() == ["b", "a", "b"]
    stream(tmp_path / "c.arrow").to_parquet(tmp_path / "c.parquet")
    assert pl.read_parquet(tmp_path / "c.parquet")["k"].to_list() == ["b", "a", "b"]


@pytest.mark.parametrize("names", [["a.b"], ["a"], ["a", "a.b"], ["a.b", "a"]])
def test_a_struct_beside_a_column_with_a_dot(names: list[str], tmp_path: Path) -> None:
    columns = {"a": [{"b": 1}, {"b": 2}], "a.b": [10, 20]}
    pq.write_table(pa.table(columns), tmp_path / "s.parquet", row_group_size=1)
    found = stream(tmp_path / "s.parquet")[names].compute()
    assert found.to_pydict() == {name: columns[name] for name in names}


# --- before they are read ----------------------------------------------------------------------------


UNREAD = {
    "frames": lambda _: [FRAME[:2], FRAME[2:]],
    "a frame": lambda _: FRAME,
    "polars": lambda _: [pl.from_pandas(FRAME)],
    "LazyFrame": lambda _: pl.from_pandas(FRAME).lazy(),
    "a table": lambda _: pa.Table.from_pandas(FRAME),
    "batches": lambda _: pa.Table.from_pandas(FRAME).to_batches(),
    "files": lambda folder: folder / "f.parquet",
}


@pytest.mark.parametrize("name", UNREAD)
def test_streams_are_pickled_before_they_are_read(name: str, tmp_path: Path) -> None:
    FRAME.to_parquet(tmp_path / "f.parquet")
    rows = stream(UNREAD[name](tmp_path))
    rows = rows.assign(total=rows["x"].gpuscan.cumsum())
    copied = pickle.loads(pickle.dumps(rows))
    for one in (copied, rows, copied):
        assert pa.table(one.compute()).column("total").to_pylist() == [1, 3, 6, 10, 15]


def test_a_stream_of_an_iterator_is_not_pickled() -> None:
    with pytest.raises(TypeError, match=r"stream of an iterator cannot be pickled.*give a list"):
        pickle.dumps(stream(iter([FRAME])))


@pytest.mark.parametrize("source", [pd.Index([1, 2]), [pd.MultiIndex.from_product([[1], [2]])]])
def test_an_index_is_no_source(source: Any) -> None:
    with pytest.raises(
        TypeError, match=r"batch 0 must be a frame or a table.*found a pandas \w*Index"
    ):
        stream(source)


@pytest.mark.parametrize("kind", ["csv", "json"])
def test_chunks_that_pandas_reads(kind: str, tmp_path: Path) -> None:
    path = tmp_path / f"rows.{kind}"
    if kind == "csv":
        FRAME.to_csv(path, index=False)
        chunks: Any = pd.read_csv(path, chunksize=2)
    else:
        FRAME.to_json(path, orient="records", lines=True)
        chunks = pd.read_json(path, lines=True, chunksize=2)
    assert stream(chunks).gpuscan.groupby("k").cumsum().compute()["x"].tolist() == [1, 3, 3, 7, 12]


# --- batches and functions of them -------------------------------------------------------------------


def test_a_function_that_leaves_rows_out_says_so() -> None:
    rows = stream([FRAME])
    for other in (lambda batch: batch[batch.x > 2], lambda batch: pd.concat([batch, batch])):
        with pytest.raises(
            ValueError, match=r"as many rows as a batch has, 5, found \d+; with keeps_"
        ):
            rows.map_batches(other).compute()
        assert len(rows.map_batches(other, keeps_rows=False).compute()) in (3, 10)
    with pytest.raises(TypeError, match="must return a frame or a series, found 0"):
        rows.map_batches(lambda batch: int(batch.x.sum()))


def test_a_frame_and_a_series_do_not_meet() -> None:
    rows = stream([FRAME])
    for one, other in ((rows[["x"]], rows["x"]), (rows["x"], rows[["x"]])):
        with pytest.raises(TypeError, match="add of a stream: a frame and a series have no rows"):
            one + other
        with pytest.raises(TypeError, match="eq of a stream: a frame and a series have no rows"):
            _ = one == other
    assert (rows[["x"]] + rows["x"].to_frame()).compute()["x"].tolist() == [2, 4, 6, 8, 10]


@pytest.mark.parametrize("method", ["ewm", "rolling", "expanding"])
def test_windows_that_answer_nothing(method: str) -> None:
    given = {"ewm": {"alpha": 0.5}, "rolling": {"window": 2}, "expanding": {}}[method]
    for rows in (stream([FRAME[:1], FRAME[1:]]).gpuscan, stream([FRAME]).gpuscan.groupby("k")):
        assert getattr(rows, method)(**given).agg({}).compute().shape == (5, 0)


def test_answers_are_not_the_frames_of_the_user() -> None:
    for source in (FRAME.copy(), FRAME["x"].copy()):
        for rows in (stream(source), stream([source]), dask_gpuscan.on(source).resume(None)):
            for answer in (rows.compute(), next(iter(rows)), dask_gpuscan.compute(rows)[0]):
                answer.iloc[0] = 77
                assert source.equals(FRAME if source.ndim == 2 else FRAME["x"])


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("x", r"a stream has no x; take a column by rows\['x'\]"),
        ("cumsum", "a stream has no cumsum; use rows.gpuscan.cumsum"),
        ("head", "a stream has no head; give map_batches a function .* or call it on compute"),
        ("dtype", "a stream has no dtype$"),
        ("hurry", "a stream has no hurry$"),
    ],
)
def test_what_frames_have_and_streams_have_not(name: str, message: str) -> None:
    rows = stream([FRAME])
    assert not hasattr(rows, name)
    with pytest.raises(AttributeError, match=message):
        getattr(rows, name)
