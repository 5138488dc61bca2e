"""Streams: where their batches come from, what they answer, and what they refuse."""

import weakref
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import dask.dataframe as dd
import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from pyarrow.dataset import dataset

import dask_gpuscan

pl = pytest.importorskip("polars")

FRAME = pd.DataFrame({"k": list("abacba"), "x": [4, 2, 5, 1, 3, 3]})
PARTS = [FRAME[:2], FRAME[2:2], FRAME[2:5], FRAME[5:]]
TABLE = pa.Table.from_pandas(FRAME, preserve_index=False)
TOTALS = [4, 6, 11, 12, 15, 18]


class Speaker:
    """Speaks Arrow, as a relation of DuckDB does."""

    def __arrow_c_stream__(self, requested_schema: Any = None) -> Any:
        return TABLE.__arrow_c_stream__(requested_schema)


def files(folder: Path) -> Path:
    for number, part in enumerate((TABLE[:2], TABLE[2:2], TABLE[2:])):
        pq.write_table(part, folder / f"{number}.parquet", row_group_size=2)
    return folder


SOURCES: dict[str, Callable[[Path], Any]] = {
    "frames": lambda _: PARTS,
    "generator": lambda _: (part for part in PARTS),
    "frame": lambda _: FRAME,
    "polars": lambda _: [pl.from_pandas(part) for part in PARTS],
    "record batches": lambda _: TABLE.to_batches(max_chunksize=2),
    "tables": lambda _: [TABLE[:4], TABLE[4:]],
    "table": lambda _: TABLE,
    "reader": lambda _: TABLE.to_reader(max_chunksize=2),
    "speaker": lambda _: Speaker(),
    "parquet": lambda folder: str(files(folder) / "*.parquet"),
    "dataset": lambda folder: dataset(sorted(files(folder).iterdir())),
    "LazyFrame": lambda _: pl.from_pandas(FRAME).lazy().filter(pl.col("x") > 0),
    "Dask": lambda _: dd.from_map(lambda part: part, PARTS, meta=FRAME[:0]),
    "paths": lambda folder: sorted(files(folder).iterdir()),
}


def listed(values: Any) -> list[Any]:
    return values.to_pylist() if hasattr(values, "to_pylist") else list(values)


@pytest.mark.parametrize("name", SOURCES)
def test_sources(name: str, tmp_path: Path) -> None:
    rows = dask_gpuscan.stream(SOURCES[name](tmp_path))
    totals = rows.assign(total=rows["x"].gpuscan.cumsum())
    batches = list(totals)
    assert [x for batch in batches for x in listed(batch["total"])] == TOTALS
    assert name in ("reader", "generator") or type(batches[0]) is type(totals.compute())
    assert list(getattr(batches[0], "column_names", batches[0].columns)) == ["k", "x", "total"]


def test_the_order_of_a_lazy_frame_is_kept() -> None:
    numbers = pl.LazyFrame({"x": range(300_000)}).filter(pl.col("x") % 3 == 0)
    rows = dask_gpuscan.stream(numbers)
    assert rows["x"].gpuscan.is_monotonic_increasing
    assert sum(len(batch) for batch in rows) == 100_000


def test_columns_that_are_not_asked_for_are_not_read(tmp_path: Path) -> None:
    path = tmp_path / "x.parquet"
    wide = pa.table({"x": [4, 2, 5], "y": ["a" * 9] * 3, "z": [1.0, 2.0, 3.0]})
    pq.write_table(wide, path, use_dictionary=False, compression="none")
    path.write_bytes(path.read_bytes().replace(b"a" * 9, b"\xff" * 9))  # no text
    rows = dask_gpuscan.stream(path)
    both = rows[["x", "z"]].assign(total=rows["x"].gpuscan.cumsum())
    assert both.compute().to_pydict() == {"x": [4, 2, 5], "z": [1.0, 2.0, 3.0], "total": [4, 6, 11]}
    assert rows.gpuscan.row_number().compute().to_pylist() == [0, 1, 2]


def test_what_is_no_source(tmp_path: Path) -> None:
    with pytest.raises(TypeError, match="source must be an iterable of frames"):
        dask_gpuscan.stream(3)
    with pytest.raises(FileNotFoundError, match=r"no file is called .*\*.parquet"):
        dask_gpuscan.stream(str(tmp_path / "*.parquet"))
    (tmp_path / "x.csv").write_text("a,b,c,d")
    with pytest.raises(ValueError, match="neither a file of Parquet nor one of Arrow"):
        dask_gpuscan.stream(tmp_path / "x.csv")
    with pytest.raises(ValueError, match="source has no batch"):
        dask_gpuscan.stream([])


def test_an_iterator_is_read_once() -> None:
    rows = dask_gpuscan.stream(iter(PARTS))["x"]
    assert rows.gpuscan.cumsum().compute().tolist() == TOTALS
    with pytest.raises(ValueError, match="source is an iterator, whose batches were read before"):
        rows.compute()


def test_batches_with_other_columns_are_named() -> None:
    rows = dask_gpuscan.stream([FRAME, FRAME.astype({"x": "float64"})])
    with pytest.raises(ValueError, match=r"batch 1: .*column 'x' is int64 in one and float64"):
        rows.compute()
    assert dask_gpuscan.stream([FRAME, FRAME[["x", "k"]]]).compute().columns.tolist() == ["k", "x"]


def test_one_pass_holds_few_batches() -> None:
    made: list[Any] = []

    def batches() -> Any:
        for _ in range(50):
            batch = pd.DataFrame({"x": np.ones(10)})
            made.append(weakref.ref(batch))
            yield batch

    rows = dask_gpuscan.stream(batches())
    out = rows.assign(total=rows["x"].gpuscan.cumsum())
    out = out.assign(mean=out["total"].gpuscan.rolling(3).mean())
    for number, batch in enumerate(out):
        assert batch["total"].iloc[-1] == 10 * (number + 1)
        assert sum(ref() is not None for ref in made) <= 8
    assert len(made) == 50


LATER: dict[str, Callable[[Any], Any]] = {
    "bfill": lambda d: d.gpuscan.bfill(),
    "cumsum": lambda d: d["x"].gpuscan.cumsum(reverse=True),
    "sort_values": lambda d: d.gpuscan.sort_values("x"),
    "interpolate": lambda d: d["x"].gpuscan.interpolate(),
    "groupby-shift": lambda d: d.gpuscan.groupby("k").shift(-1),
    "rank": lambda d: d.gpuscan.rank(),
    "drop-duplicates": lambda d: d.gpuscan.drop_duplicates(keep="last"),
    "groupby-tail": lambda d: d.gpuscan.groupby("k").tail(1),
    "groupby-nlargest": lambda d: d.gpuscan.groupby("k").nlargest(1, "x"),
    "groupby-nsmallest": lambda d: d.gpuscan.groupby("k").nsmallest(1, "x", keep="last"),
    "groupby-nth": lambda d: d.gpuscan.groupby("k").nth(-1),
    "groupby-head": lambda d: d.gpuscan.groupby("k").head(-1),
    "groupby-median": lambda d: d.gpuscan.groupby("k").median(),
}


@pytest.mark.parametrize("name", LATER)
def test_what_needs_later_rows_is_refused_at_once(name: str) -> None:
    def batches() -> Any:
        yield FRAME
        raise AssertionError("read too far")

    rows = dask_gpuscan.stream(batches())
    with pytest.raises(NotImplementedError, match=rf"{name} needs .*compute\(\) the rows first"):
        LATER[name](rows)


def test_other_rows_are_refused() -> None:
    rows = dask_gpuscan.stream(PARTS)
    kept = rows.gpuscan.filter("x > 2")
    with pytest.raises(ValueError, match="an operand has other rows than its stream"):
        rows.assign(y=kept["x"])
    with pytest.raises(ValueError, match="predicate has other rows"):
        rows.gpuscan.filter(kept["x"] > 3)
    with pytest.raises(TypeError, match="predicate of a stream must be a stream"):
        rows.gpuscan.filter(FRAME["x"] > 3)


def test_looks() -> None:
    rows = dask_gpuscan.stream(PARTS)
    assert repr(rows) == f"<Stream of 'k': {FRAME.k.dtype}, 'x': int64>"
    assert repr(rows["x"]) == "<Stream of column 'x', dtype int64>"
    assert repr(rows.gpuscan) == "<gpuscan of a dask_gpuscan Stream>"
    with pytest.raises(KeyError, match="y"):
        rows["y"]
    with pytest.raises(TypeError, match="neither true nor false"):
        bool(rows["x"] > 2)
    found = (rows["x"] * 2 - 1).where(rows["k"] == "a", 0).compute()
    assert found.tolist() == [7, 0, 9, 0, 0, 5]
    assert rows[rows["x"] >= 4].compute().equals(FRAME[FRAME.x >= 4])
    assert rows.rename(columns={"x": "y"}).columns.tolist() == ["k", "y"]


def test_several_streams_are_computed_in_one_pass() -> None:
    read = []

    def source() -> Iterator[pd.DataFrame]:
        for start in (0, 3, 6):
            read.append(start)
            yield pd.DataFrame({"k": [0, 1, 0], "x": np.arange(3.0) + start})

    def outputs(rows: Any) -> tuple[Any, ...]:
        totals = rows.gpuscan.groupby("k")["x"].cumsum()
        return totals, rows.gpuscan.filter("x > 4"), rows["x"].gpuscan.shift(-2), rows

    whole = pd.concat(source())
    del read[:]
    streams = outputs(dask_gpuscan.stream(source(), ends=False))
    found = dask_gpuscan.compute(*streams)
    assert read == [0, 3, 6]
    expected = outputs(dask_gpuscan.stream([whole]))
    for one, other in zip(found, expected, strict=True):
        assert one.equals(other.compute()[: len(one)])
    assert [len(one) for one in found] == [9, 4, 7, 9]
    again = dask_gpuscan.batches(*outputs(dask_gpuscan.stream(source(), state=streams[0].state)))
    first = next(again)
    assert [len(each) for each in first] == [3, 0, 3, 3]
    assert first[0].tolist() == [24.0, 13.0, 26.0]


def test_what_is_not_computed_together() -> None:
    one, other = (dask_gpuscan.stream([pd.DataFrame({"x": [1]})]) for _ in range(2))
    with pytest.raises(ValueError, match="must be of one source"):
        dask_gpuscan.compute(one, other)
    with pytest.raises(TypeError, match="streams only, found 3"):
        dask_gpuscan.batches(one, 3)  # type: ignore[arg-type]
    with pytest.raises(TypeError, match="at least one stream"):
        dask_gpuscan.compute()
    empty = dask_gpuscan.stream([pd.DataFrame({"x": [1]})[:0]])
    assert not any(map(len, dask_gpuscan.compute(empty, empty["x"].gpuscan.cumsum())))


def test_a_collection_made_of_a_stream_is_not_its_state() -> None:
    monday = dask_gpuscan.stream([pd.DataFrame({"x": [4, 2]})]).gpuscan.cumsum()
    monday.compute()
    rows = dd.from_pandas(pd.DataFrame({"x": [5, 1]}), npartitions=2)
    tuesday = rows.gpuscan.resume(monday.state).gpuscan.cumsum()
    assert tuesday.to_dask().compute()["x"].tolist() == [11, 12]
    with pytest.raises(ValueError, match="stream has no state yet"):
        tuesday.state  # noqa: B018
    tuesday.compute()
    tuesday.to_dask()
    assert tuesday.state.rows == 4


def test_arguments_of_streams_are_checked() -> None:
    rows = dask_gpuscan.stream([FRAME])
    with pytest.raises(TypeError, match="function must be callable, found None"):
        rows.map_batches(None)  # type: ignore[arg-type]
    for scalar in (pd.NaT, pd.Timedelta(1)):
        with pytest.raises(TypeError, match="source must be"):
            dask_gpuscan.stream(scalar)


@pytest.mark.parametrize("asked", ["a", ["a"]])
def test_columns_beside_one_that_is_named_na(asked):
    rows = pd.DataFrame([[1, 2]])
    rows.columns = pd.Index([pd.NA, "a"], dtype=object)
    with pytest.raises(ValueError, match="a column is named <NA>"):
        dask_gpuscan.stream([rows, rows])[asked]
