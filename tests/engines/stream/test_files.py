"""Files as sources: which ones, in which order, with which columns; and states that know which of them were seen."""

import os
import time
from collections import namedtuple
from datetime import date
from pathlib import Path
from typing import Any

import dask.dataframe as dd
import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.dataset as ds
import pyarrow.parquet as pq
import pytest

import dask_gpuscan
from dask_gpuscan import ChangedSourceError
from dask_gpuscan.engines.stream.sources import files
from dask_gpuscan.engines.stream.sources.fragments import (
    Fragment,
    columns_of_fragments,
    fragments_of_columns,
)
from dask_gpuscan.engines.stream.sources.listing import natural

pl = pytest.importorskip("polars")


def put(path: Path, *values: int, **columns: Any) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    table = pa.table({"x": pa.array(list(values), pa.int64()), **columns})
    pq.write_table(table, path, row_group_size=2)


def read(source: Any, **options: Any) -> Any:
    return dask_gpuscan.stream(source, **options).compute().to_pydict()


# --- which, and in which order -----------------------------------------------------------------------


def test_numbers_in_names_count_as_numbers() -> None:
    expected = "1 2 9 10 2026-11-01 day day-2 day-10 part.9.a part.10.a".split()
    assert sorted([*expected[5:], *expected[:5]], key=natural) == expected
    assert sorted(["b/1", "a/10", "a/9", "a-2/1", "007", "7"], key=natural) == [
        "007", "7", "a/9", "a/10", "a-2/1", "b/1",
    ]  # fmt: skip
    assert natural("9" * 5000) > natural("8" * 5000)


@pytest.mark.parametrize("given", ["{}", "{}/*.parquet", "{}/", "{}/**/*.parquet"])
def test_folders_and_patterns(tmp_path: Path, given: str) -> None:
    for number in (2, 10, 1):
        put(tmp_path / "d" / f"{number}.parquet", number)
    rows = dask_gpuscan.stream(given.format(tmp_path / "d"))
    assert rows.compute().to_pydict() == {"x": [1, 2, 10]}
    rows = rows.gpuscan.cumsum()
    rows.compute()
    assert [one.path for one in rows.state.fragments] == ["1.parquet", "2.parquet", "10.parquet"]


def test_what_others_write_to_a_folder_is_passed_over(tmp_path: Path) -> None:
    frame = pd.DataFrame({"x": range(30)})
    dd.from_pandas(frame, npartitions=12).to_parquet(tmp_path / "dask", write_metadata_file=True)
    assert read(tmp_path / "dask")["x"] == list(range(30))
    spark = tmp_path / "spark"
    put(spark / "part-00001-aa.snappy.parquet", 3)
    put(spark / "part-00000-bb.snappy.parquet", 1, 2)
    put(spark / "_temporary" / "0" / "part-00000.parquet", 9)
    put(spark / ".hidden" / "x.parquet", 9)
    for name in ("_SUCCESS", ".part-00000-bb.snappy.parquet.crc", "README.txt"):
        (spark / name).write_bytes(b"")
    assert read(spark) == {"x": [1, 2, 3]}
    for name in ("nothing", "nothing/*.parquet"):
        with pytest.raises(FileNotFoundError, match="no file is called"):
            read(tmp_path / name)
    (tmp_path / "empty").mkdir()
    with pytest.raises(FileNotFoundError, match="has no files of Parquet or Arrow IPC"):
        read(tmp_path / "empty")
    assert read(tmp_path / "empty", schema={"x": pa.int64()}) == {"x": []}
    with pytest.raises(FileNotFoundError, match="no file is called"):
        read(tmp_path / "nothing", schema={"x": pa.int64()})


def test_working_directory(tmp_path: Path, monkeypatch: Any) -> None:
    put(tmp_path / "2.parquet", 2)
    put(tmp_path / "10.parquet", 10)
    monkeypatch.chdir(tmp_path)
    for given in (".", "*.parquet", "./*.parquet", ["2.parquet", "./10.parquet"]):
        assert read(given) == {"x": [2, 10]}
    state = dask_gpuscan.stream("*.parquet").gpuscan.cumsum()
    state.compute()
    assert [one.path for one in state.state.fragments] == ["2.parquet", "10.parquet"]


def test_orders(tmp_path: Path) -> None:
    for number, when in ((1, 30), (2, 10), (3, 20)):
        put(tmp_path / f"{number}.parquet", number)
        os.utime(tmp_path / f"{number}.parquet", (when, when))
    assert read(tmp_path, order="modified") == {"x": [2, 3, 1]}
    assert read(tmp_path, order=lambda path: -int(path[0])) == {"x": [3, 2, 1]}
    given = [tmp_path / f"{number}.parquet" for number in (3, 1, 2)]
    assert read(given) == {"x": [3, 1, 2]}
    assert read(given, order="name") == {"x": [1, 2, 3]}
    for wrong in ("size", 3, True):
        with pytest.raises((ValueError, TypeError), match="order must be a function"):
            read(tmp_path, order=wrong)
    with pytest.raises(ValueError, match="are for sources of files"):
        dask_gpuscan.stream([pd.DataFrame({"x": [1]})], order="name")
    with pytest.raises(ValueError, match="changed"):
        dask_gpuscan.stream(tmp_path, changed="ignore")


# --- columns -----------------------------------------------------------------------------------------


def test_partitions_are_columns(tmp_path: Path) -> None:
    for day, shop, value in (
        ("2026-11-02", "b%20c", 2),
        ("2026-11-01", "a", 1),
        ("2026-11-10", "a", 10),
    ):
        put(tmp_path / f"day={day}" / f"shop={shop}" / "part-0.parquet", value, value)
    rows = dask_gpuscan.stream(tmp_path)
    found = rows.compute()
    assert found.schema.types == [pa.int64(), pa.date32(), pa.string()]
    assert found["x"].to_pylist() == [1, 1, 2, 2, 10, 10]
    assert found["day"].to_pylist()[::2] == [date(2026, 11, day) for day in (1, 2, 10)]
    assert found["shop"].to_pylist()[::2] == ["a", "b c", "a"]
    assert rows[["day"]].compute().schema.names == ["day"]
    assert rows.gpuscan.groupby("shop")["x"].cumsum().compute().to_pylist() == [1, 2, 2, 4, 12, 22]
    expected = pl.read_parquet(tmp_path, hive_partitioning=True, try_parse_hive_dates=True)
    assert sorted(expected.rows()) == sorted(pl.from_arrow(found).rows())  # type: ignore[union-attr]


def test_kinds_of_partitions(tmp_path: Path) -> None:
    for key in ("1", "20", "__HIVE_DEFAULT_PARTITION__"):
        put(tmp_path / "a" / f"k={key}" / "f.parquet", 1)
    assert read(tmp_path / "a")["k"] == [1, 20, None]
    for key in ("01", "2"):
        put(tmp_path / "b" / f"k={key}" / "f.parquet", 1)
    assert read(tmp_path / "b")["k"] == [1, 2]
    assert read(tmp_path / "b", schema={"k": pa.string()})["k"] == ["01", "2"]
    schema = {"k": pa.int16(), "x": pa.int64()}
    assert read(tmp_path / "b", schema=schema) == {"k": [1, 2], "x": [1, 1]}
    put(tmp_path / "b" / "z" / "f.parquet", 1)
    with pytest.raises(ValueError, match="folders of the source must all name the same keys"):
        read(tmp_path / "b")


def test_a_schema_casts_what_differs(tmp_path: Path) -> None:
    put(tmp_path / "1.parquet", 1, 2)
    pq.write_table(pa.table({"y": ["b"], "x": pa.array([3], pa.int16())}), tmp_path / "2.parquet")
    pq.write_table(
        pa.table({"x": pa.array([4.0]), "z": [1], "y": pa.array(["c"]).dictionary_encode()}),
        tmp_path / "3.parquet",
    )
    with pytest.raises(
        ValueError, match=r"file '2\.parquet': .*; schema= says what all files are cast to"
    ):
        read(tmp_path)
    schema = pa.schema({"x": pa.float64(), "y": pa.string()})
    rows = dask_gpuscan.stream(tmp_path, schema=schema)
    expected = {"x": [1.0, 2.0, 3.0, 4.0], "y": [None, None, "b", "c"]}
    assert rows.compute().to_pydict() == expected
    assert rows[["y"]].compute().to_pydict() == {"y": expected["y"]}
    assert rows["x"].gpuscan.cumsum().compute().to_pylist() == [1, 3, 6, 10]
    with pytest.raises(ValueError, match=r"file '3\.parquet': column 'x' is of int64 .* double"):
        read(tmp_path, schema={"x": "int64"})
    with pytest.raises(TypeError, match=r"schema must be a pyarrow\.Schema, or a dict"):
        read(tmp_path, schema=["x"])
    with pytest.raises(ValueError, match="has nulls, and schema= says that it has none"):
        read(tmp_path, schema=pa.schema([pa.field("y", pa.string(), nullable=False)]))


def test_arrow_ipc(tmp_path: Path) -> None:
    table = pa.table({"x": [1, 2, 3], "y": ["a", "b", "c"]})
    with pa.ipc.new_file(tmp_path / "1.arrow", table.schema) as writer:
        writer.write_table(table, max_chunksize=2)
    with pa.ipc.new_file(tmp_path / "2.arrow", table.schema) as writer:
        pass
    rows = dask_gpuscan.stream(tmp_path)
    assert rows.compute().to_pydict() == table.to_pydict()
    assert rows[["y"]].compute().to_pydict() == {"y": ["a", "b", "c"]}
    assert read(tmp_path, schema={"y": "string", "x": "float64"}) == {
        "y": ["a", "b", "c"],
        "x": [1, 2, 3],
    }
    (tmp_path / "3.arrow").write_bytes(b"")
    with pytest.raises(ValueError, match="is neither a file of Parquet nor one of Arrow IPC"):
        read(tmp_path)


@pytest.mark.parametrize("batches", [0, 1, 2])
@pytest.mark.parametrize("pattern", ["x.arrow", "", "*.arrow"])
def test_the_streaming_format_is_named(tmp_path: Path, batches: int, pattern: str) -> None:
    table = pa.table({"x": [1, 2]})
    path = tmp_path / "x.arrow"
    with pa.ipc.new_stream(path, table.schema) as writer:
        for _ in range(batches):
            writer.write_table(table)
    with pytest.raises(ValueError, match=r"x\.arrow is in Arrow's streaming format.*open_stream"):
        dask_gpuscan.stream(f"{tmp_path}/{pattern}").compute()
    if batches:  # as the message says
        opened = dask_gpuscan.stream(pa.ipc.open_stream(pa.memory_map(str(path))))
        assert opened.compute().to_pydict() == {"x": [1, 2] * batches}


def test_texts_are_texts(tmp_path: Path) -> None:
    """Files of several libraries have the same texts in other types."""
    kinds = (pa.string(), pa.large_string(), pa.string_view())
    for number, kind in enumerate(kinds):
        table = pa.table({"x": pa.array(["a", None], kind), "n": [number, number]})
        pq.write_table(table, tmp_path / f"{number}.parquet")
    expected = {"x": ["a", None] * 3, "n": [0, 0, 1, 1, 2, 2]}
    assert read(tmp_path) == expected
    for kind in kinds:
        assert read(tmp_path, schema={"x": kind, "n": "int64"}) == expected


def test_short_files_are_read_together(tmp_path: Path, monkeypatch: Any) -> None:
    for number in range(20):
        put(tmp_path / f"{number}.parquet", *range(number % 3))
    put(tmp_path / "7.parquet", *range(2000))
    monkeypatch.setattr(files, "MANY_FILES", 10)
    monkeypatch.setattr(files, "FEW_ROWS", 100)
    monkeypatch.setattr(files, "JOINED_ROWS", 8)
    rows = dask_gpuscan.stream(tmp_path).gpuscan.cumsum()
    lengths = [batch.num_rows for batch in rows]
    assert len(lengths) == 1000 + 3
    assert lengths[0] == 6
    assert [one.path for one in rows.state.fragments] == [
        f"{number}.parquet" for number in range(20)
    ]
    assert [one.rows for one in rows.state.fragments][:9] == [0, 1, 2, 0, 1, 2, 0, 2000, 2]


def test_datasets_are_files(tmp_path: Path) -> None:
    for day in (1, 2):
        put(tmp_path / f"day={day}" / "f.parquet", day, day)
    source = ds.dataset(tmp_path, partitioning="hive")
    rows = dask_gpuscan.stream(source).gpuscan.cumsum()
    assert rows.compute().to_pydict() == {"x": [1, 2, 4, 6], "day": [1, 2, 4, 6]}
    assert len(rows.state.fragments) == 2
    assert read(source.filter(ds.field("x") > 1)) == {"x": [2, 2], "day": [2, 2]}
    put(tmp_path / "day=1" / "f.parquet", 5)
    with pytest.raises(ChangedSourceError):
        dask_gpuscan.stream(
            ds.dataset(tmp_path, partitioning="hive"), state=rows.state
        ).gpuscan.cumsum().compute()


def test_urls() -> None:
    import fsspec

    memory = fsspec.filesystem("memory")
    root = f"/test-{time.time_ns()}"
    for number in (10, 9):
        with memory.open(f"{root}/d/{number}.parquet", "wb") as file:
            pq.write_table(pa.table({"x": [number]}), file)
    for given in ("", "/", "/*.parquet", "/**/*.parquet"):
        assert read(f"memory:/{root}/d{given}".replace("//d", "/d")) == {"x": [9, 10]}
    assert read(f"memory:/{root}/d/9.parquet") == {"x": [9]}
    rows = dask_gpuscan.stream(f"memory:/{root}/d").gpuscan.cumsum()
    rows.compute()
    with memory.open(f"{root}/d/11.parquet", "wb") as file:
        pq.write_table(pa.table({"x": [11]}), file)
    more = dask_gpuscan.stream(f"memory:/{root}/d", state=rows.state).gpuscan.cumsum()
    assert more.compute().to_pydict() == {"x": [30]}
    with pytest.raises(FileNotFoundError):
        read(f"memory:/{root}/nothing")
    with pytest.raises(ValueError, match="one file system"):
        read([f"memory:/{root}/d/9.parquet", "9.parquet"])


# --- states that know files --------------------------------------------------------------------------


def total(source: Any, **options: Any) -> Any:
    return dask_gpuscan.stream(source, **options).gpuscan.cumsum()


def test_a_state_reads_what_it_has_not_seen(tmp_path: Path) -> None:
    put(tmp_path / "9.parquet", 1, 2, 3)
    first = total(tmp_path)
    assert first.compute().to_pydict() == {"x": [1, 3, 6]}
    put(tmp_path / "10.parquet", 4)
    first.state.save(tmp_path / "state.arrow")
    state = dask_gpuscan.load_state(tmp_path / "state.arrow")
    again = total(tmp_path / "*.parquet", state=state)
    assert again.compute().to_pydict() == {"x": [10]}
    assert again.state.rows == 4
    assert total(tmp_path / "*.parquet", state=again.state).compute().num_rows == 0
    put(tmp_path / "next" / "9.parquet", 5)  # of another folder, though of a name that was seen
    more = total(tmp_path / "next", state=again.state)
    assert more.compute().to_pydict() == {"x": [15]}
    put(tmp_path / "9.parquet", 1, 2)
    with pytest.raises(ChangedSourceError, match=r"'9\.parquet' of the source was changed"):
        total(tmp_path / "*.parquet", state=again.state).compute()


def test_a_state_within_a_file(tmp_path: Path) -> None:
    put(tmp_path / "1.parquet", 1, 2, 3, 4, 5)
    put(tmp_path / "2.parquet", 6, 7)
    rows = total(tmp_path)
    states = []
    for _ in rows:
        rows.state.save(tmp_path / f"{len(states)}.state")
        states.append(dask_gpuscan.load_state(tmp_path / f"{len(states)}.state"))
    assert [state.part for state in states] == [2, 4, -1, -1]
    assert [len(state.fragments) for state in states] == [1, 1, 1, 2]
    for state in states:
        found = total(tmp_path / "*.parquet", state=state).compute()["x"].to_pylist()
        assert found == [1, 3, 6, 10, 15, 21, 28][state.rows :]
    put(tmp_path / "1.parquet", 1, 2, 3, 4, 6)
    for changed in ("error", "keep"):
        with pytest.raises(ChangedSourceError, match=r"'1\.parquet'"):
            total(tmp_path / "*.parquet", state=states[0], changed=changed).compute()
    put(tmp_path / "other" / "1.parquet", 7)
    assert total(tmp_path / "other", state=states[0]).compute().to_pydict() == {"x": [10]}


@pytest.mark.parametrize("make", [pl.DataFrame, pa.table])
def test_labels_go_on(make: Any) -> None:
    """Rows without labels are numbered from the first row that a state has seen."""
    values = [3, 9, 1, 9, 12]
    first, rest = ([make({"x": values[part]})] for part in (slice(0, 2), slice(2, None)))
    before = dask_gpuscan.stream(first)["x"].gpuscan.expanding().idxmax()
    found = list(before.compute().to_pylist() if make is pa.table else before.compute())
    after = dask_gpuscan.stream(rest, state=before.state)["x"].gpuscan.expanding().idxmax()
    found += list(after.compute().to_pylist() if make is pa.table else after.compute())
    assert found == pd.Series(values).gpuscan.expanding().idxmax().tolist() == [0, 1, 1, 1, 4]


def test_labels_of_files_go_on(tmp_path: Path) -> None:
    put(tmp_path / "1.parquet", 3, 9)
    first = dask_gpuscan.stream(tmp_path)["x"].gpuscan.expanding().idxmax()
    assert first.compute().to_pylist() == [0, 1]
    put(tmp_path / "2.parquet", 1, 12)
    rows = dask_gpuscan.stream(tmp_path, state=first.state)["x"]
    assert rows.gpuscan.expanding().idxmax().compute().to_pylist() == [1, 3]


def test_identities_are_small() -> None:
    rng = np.random.default_rng(0)
    found = tuple(
        Fragment(f"2026/{i:05}-events.parquet", 10**6 + i, t, t + lag, i, "0123456789abcdef")
        for i, (t, lag) in enumerate(
            zip(
                1_790_000_000_000_000_000 + 10**9 * np.arange(10_000).cumsum(),
                rng.integers(0, 9, 10_000),
                strict=True,
            )
        )
    )
    found = tuple(
        [Fragment(*[int(x) if isinstance(x, np.integer) else x for x in one]) for one in found]
    )
    odd = (
        found[0]._replace(changed=0),
        found[1]._replace(changed=-1),
        found[2]._replace(modified=-5, changed=7),
    )
    for some in (found, odd, ()):
        assert fragments_of_columns(columns_of_fragments(some)) == some
    state = namedtuple("State", "columns")(columns_of_fragments(found))
    assert len(repr(state.columns)) < 10**6
    for wrong in ([[1]], [["a"], [1], [1], [1], [1], [1]], [["a"], [1], [1], [1], [1], []]):
        with pytest.raises(ValueError, match="not those of a source"):
            fragments_of_columns(wrong)


def test_memory_is_not_mapped(tmp_path: Path) -> None:
    """A file that is cut off while it is read is an error, not the end of the process."""
    table = pa.table({"x": np.arange(300_000)})
    path = tmp_path / "1.arrow"
    with pa.ipc.new_file(path, table.schema) as writer:
        writer.write_table(table, max_chunksize=1000)
    rows = dask_gpuscan.stream(path)
    batches = iter(rows)
    next(batches)
    os.truncate(path, 1000)
    with pytest.raises(ChangedSourceError, match="was written to, or removed, while it was read"):
        list(batches)
