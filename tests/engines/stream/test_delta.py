"""Delta Lake: rows and states in one transaction, and data files in the order of commits."""

import json
import shutil
import string
import struct
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import dask_gpuscan
from dask_gpuscan.engines.stream.sinks.delta_sink import DeltaTarget
from dask_gpuscan.engines.stream.sources.delta import delta_files, is_delta
from dask_gpuscan.engines.stream.sources.table_files import behind_rewrites
from helpers.kills import KilledError

pl = pytest.importorskip("polars")
deltalake = pytest.importorskip("deltalake")
DeltaTable, write_deltalake = deltalake.DeltaTable, deltalake.write_deltalake
VERSION = tuple(map(int, deltalake.__version__.split(".")[:3]))

ROWS = 1_000
FRAME = pd.DataFrame(
    {"i": range(ROWS), "k": np.random.default_rng(3).integers(0, 9, ROWS), "x": np.random.default_rng(4).random(ROWS)}
)  # fmt: skip


Z85 = f"{string.digits}{string.ascii_lowercase}{string.ascii_uppercase}.-:+=^!/*?&<>()[]{{}}@%$#"


def totals(count: int = ROWS, ends: bool = True) -> Any:
    parts = [FRAME[i : i + 100] for i in range(0, count, 100)]
    rows = dask_gpuscan.stream(parts, ends=ends)
    return rows.assign(total=rows.gpuscan.groupby("k")["x"].cumsum())


EXPECTED = totals().compute()


def arrow(frame: pd.DataFrame) -> pa.Table:
    return pa.Table.from_pandas(frame, preserve_index=False)


def rows_of(path: Path) -> pd.DataFrame:
    """Return the rows of a table in the order of its files."""
    table = delta_files(path)
    found = [pq.read_table(table.filesystem.open_input_file(one.path)) for one in table.files]
    return pa.concat_tables(found).to_pandas()


# --- writing -----------------------------------------------------------------------------------------


def test_many_rows_keep_their_order(tmp_path: Path) -> None:
    parts = [pd.DataFrame({"i": range(i, i + 7_001)}) for i in range(0, 350_050, 7_001)]
    options = {"rows_per_commit": 150_000, "target_file_size": 200_000}
    dask_gpuscan.stream(parts).to_delta(tmp_path, **options)
    assert rows_of(tmp_path)["i"].tolist() == [*range(350_050)]
    assert len(DeltaTable(tmp_path).file_uris()) > 3


def test_what_is_no_table_and_no_option(tmp_path: Path) -> None:
    with pytest.raises(TypeError, match="to_delta has no option mode"):
        totals().to_delta(tmp_path, mode="overwrite")
    with pytest.raises(TypeError, match="table must be a DeltaTable or the path of one, found int"):
        totals().to_delta(3)


def test_others_read_it(tmp_path: Path) -> None:
    totals().to_delta(tmp_path / "table", rows_per_commit=300)
    read = pl.read_delta(str(tmp_path / "table")).sort("i")
    assert read["total"].to_list() == EXPECTED["total"].to_list()
    duckdb = pytest.importorskip("duckdb")
    found = DeltaTable(tmp_path / "table").to_pyarrow_dataset()  # noqa: F841 which DuckDB finds by its name
    answer = duckdb.sql("select count(*), sum(i), max(total) from found").fetchall()
    assert answer == [(ROWS, FRAME["i"].sum(), EXPECTED["total"].max())]


def test_a_table_of_others_is_appended_to(tmp_path: Path) -> None:
    path = tmp_path / "table"
    write_deltalake(path, arrow(EXPECTED[["total", "x", "k", "i"]][:50]))
    totals(300, ends=False).to_delta(DeltaTable(path))
    write_deltalake(path, arrow(EXPECTED[:50]), mode="append")
    totals().to_delta(path)
    found = rows_of(path)
    assert len(found) == ROWS + 100
    assert found["total"][50:350].tolist() == EXPECTED["total"][:300].tolist()
    assert found["total"][400:].tolist() == EXPECTED["total"][300:].tolist()


@pytest.mark.skipif(VERSION < (1, 6, 6), reason="earlier writers mix rows")
def test_partitions_keep_the_order_of_their_rows(tmp_path: Path) -> None:
    totals().to_delta(tmp_path, partition_by="k", rows_per_commit=500, target_file_size=2000)
    table = delta_files(tmp_path)
    found: dict[str | None, list[int]] = {}
    for one in table.files:
        part = pq.read_table(table.filesystem.open_input_file(one.path))
        assert "k" not in part.column_names
        found.setdefault(one.values["k"], []).extend(part["i"].to_pylist())
    assert found == {str(k): group["i"].tolist() for k, group in FRAME.groupby("k")}


def test_times_and_texts(tmp_path: Path) -> None:
    frame = pd.DataFrame(
        {
            "t": pd.date_range("2026-11-01", periods=3, freq="h").as_unit("ns"),
            "z": pd.date_range("2026-11-01", periods=3, freq="h", tz="Europe/Paris"),
            "c": pd.Categorical(["a", None, "b"]),
            "o": [None, None, "text"],
        }
    )
    for count in (1, 2, 3):
        parts = [frame[i : i + 1] for i in range(count)]
        dask_gpuscan.stream(parts, ends=False).to_delta(tmp_path)
    found = rows_of(tmp_path)
    assert found["t"].tolist() == frame["t"].tolist()
    assert found["z"].tolist() == frame["z"].tolist()
    assert found["c"].fillna("").tolist() == ["a", "", "b"]
    assert found["o"].fillna("").tolist() == ["", "", "text"]
    exact = dask_gpuscan.stream([frame.assign(t=frame["t"] + pd.Timedelta(1, "ns"))])
    with pytest.raises(ValueError, match="would lose data"):
        exact.to_delta(tmp_path, name="other")


def test_vacuum_leaves_states_alone(tmp_path: Path) -> None:
    totals(300, ends=False).to_delta(tmp_path)
    options: dict[str, Any] = {"dry_run": False, "enforce_retention_duration": False, "full": True}
    DeltaTable(tmp_path).vacuum(0, **options)
    totals().to_delta(tmp_path)
    assert rows_of(tmp_path).equals(EXPECTED)


# --- kills, and other writers ------------------------------------------------------------------------


def test_half_a_state_is_never_committed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def half(self: Any, version: int, content: bytes) -> None:
        put(self, version, content[: len(content) // 2])
        raise KilledError

    put = DeltaTarget._put
    with monkeypatch.context() as patch:
        patch.setattr(DeltaTarget, "_put", half)
        with pytest.raises(KilledError):
            totals().to_delta(tmp_path)
    assert not is_delta(tmp_path)
    totals().to_delta(tmp_path)
    assert rows_of(tmp_path).equals(EXPECTED)


def test_a_writer_that_another_has_overtaken(tmp_path: Path) -> None:
    """The handle of a table moves on with each commit, also over those of others: that is no leave to write."""
    totals(100, ends=False).to_delta(tmp_path)
    one = DeltaTarget(tmp_path, "dask_gpuscan")
    totals(200, ends=False).to_delta(tmp_path)
    one.table.update_incremental()
    with pytest.raises(RuntimeError, match="another writer"):
        one.commit(arrow(EXPECTED[100:200]), b"")
    assert rows_of(tmp_path).equals(EXPECTED[:200])


# --- reading -----------------------------------------------------------------------------------------


def test_files_are_in_the_order_of_commits(tmp_path: Path) -> None:
    for part in range(12):
        write_deltalake(tmp_path, pa.table({"i": [part]}), mode="append")
    DeltaTable(tmp_path).delete("i = 3")
    table = delta_files(tmp_path)
    assert [one.version for one in table.files] == [0, 1, 2, *range(4, 12)]
    assert [one.rows for one in table.files] == [1] * 11
    assert table.schema == pa.schema([("i", pa.int64())])
    assert (table.version, table.id) == (12, DeltaTable(tmp_path).metadata().id)
    for one in table.files:
        assert table.filesystem.get_file_info(one.path).size == one.size
    assert len(delta_files(DeltaTable(tmp_path, version=2)).files) == 3
    assert len(delta_files(DeltaTable(tmp_path, version=4)).files) == 5


def test_a_log_that_was_cleaned_up(tmp_path: Path) -> None:
    for part in range(6):
        write_deltalake(tmp_path, pa.table({"i": [part]}), mode="append")
    known = [one.path for one in delta_files(tmp_path).files]
    DeltaTable(tmp_path).create_checkpoint()
    for version in range(4):
        (tmp_path / "_delta_log" / f"{version:020}.json").unlink()
    write_deltalake(tmp_path, pa.table({"i": [6]}), mode="append")
    found = delta_files(tmp_path).files
    assert [one.path for one in found][:6] == known
    assert [one.version for one in found] == [-1] * 4 + [4, 5, 6]
    assert rows_of(tmp_path)["i"].tolist() == list(range(7))


def test_values_of_partitions(tmp_path: Path) -> None:
    table = pa.table(
        {
            "i": [0, 1],
            "text": ["a b/c%", None],
            "day": pa.array([7, 8], pa.date32()),
            "time": pa.array([5, 10**6], pa.timestamp("us", "UTC")),
            "flag": [True, False],
        }
    )
    write_deltalake(tmp_path, table, partition_by=["text", "day", "time", "flag"])
    found = delta_files(tmp_path)
    for one in found.files:
        (number,) = pq.read_table(found.filesystem.open_input_file(one.path))["i"].to_pylist()
        for name, text in one.values.items():
            value = pa.array([text], pa.string()).cast(found.schema.field(name).type)[0]
            assert value == table[name][number].cast(value.type)


def test_files_behind_optimize(tmp_path: Path) -> None:
    def add(part: int) -> None:
        append(tmp_path, 2 * part, 2 * part + 1)

    for part in range(3):
        add(part)
    three = delta_files(tmp_path).files
    add(3)
    four = delta_files(tmp_path).files
    DeltaTable(tmp_path).optimize.compact()
    add(4)
    table = delta_files(tmp_path)
    assert [one.version for one in table.files] == [4, 4, 5, 5]
    names, files = behind_rewrites(table, [one.path for one in four])
    assert names == [one.path for one in files[:2]]
    assert files == table.files
    names, files = behind_rewrites(table, [one.path for one in three])
    assert names == [one.path for one in three]
    assert files[:8] == four
    assert files[8:] == table.files[2:]
    assert behind_rewrites(table, []) == ([], table.files)
    DeltaTable(tmp_path).optimize.compact()  # joins what was joined before with the newest
    table = delta_files(tmp_path)
    names, files = behind_rewrites(table, [one.path for one in three])
    assert names == [one.path for one in three]
    assert [one.path for one in files][:8] == [one.path for one in four]
    assert len(files) == 10
    DeltaTable(tmp_path).restore(3)
    table = delta_files(tmp_path)
    assert [one.path for one in table.files] == [one.path for one in four]
    assert behind_rewrites(table, [one.path for one in three])[0] == [one.path for one in three]


def tables_of_totals(source: Path, target: Path, **options: Any) -> pd.DataFrame:
    """Go on with the totals of a table in another one, and return all of these."""
    rows = dask_gpuscan.stream(source, ends=False, **options)
    rows.assign(total=rows["i"].gpuscan.cumsum()).to_delta(target, rows_per_commit=1)
    return rows_of(target)


def append(path: Path, *numbers: int) -> None:
    table = pa.table({"i": numbers, "p": [f"{i % 2}" for i in numbers]})
    write_deltalake(path, table, mode="append", partition_by="p")


def test_a_table_is_a_source(tmp_path: Path) -> None:
    source, target = tmp_path / "source", tmp_path / "target"
    append(source, 1, 2, 3)
    rows = dask_gpuscan.stream(DeltaTable(source))
    assert rows.columns.tolist() == ["i", "p"]
    found = rows.compute().to_pandas()
    assert sorted(zip(found["i"], found["p"], strict=True)) == [(1, "1"), (2, "0"), (3, "1")]
    assert rows["i"].compute().to_pylist() == found["i"].tolist()
    first = tables_of_totals(source, target)
    assert tables_of_totals(source, target).equals(first)
    append(source, 4)
    append(source, 5)
    known = tables_of_totals(source, target)
    assert known[:3].equals(first)
    assert known["total"].tolist()[3:] == [10, 15]
    DeltaTable(source).optimize.compact()  # all files were seen
    assert tables_of_totals(source, target).equals(known)
    append(source, 6)
    DeltaTable(source).optimize.compact()  # one was not
    append(source, 7)
    assert tables_of_totals(source, target)["total"].tolist()[5:] == [21, 28]
    assert DeltaTable(target).version() == 6  # one for the new names of files that were seen
    DeltaTable(source).delete("i = 2")
    for rules in ({}, {"removed": "keep", "late": "append"}):  # what is kept would be there twice
        with pytest.raises(dask_gpuscan.ChangedSourceError, match="removed by an update"):
            tables_of_totals(source, target, **rules)
    found = tables_of_totals(source, target, changed="redo")
    assert sorted(found["i"]) == [1, 3, 4, 5, 6, 7]
    assert found["total"].tolist() == found["i"].cumsum().tolist()


def test_texts_of_any_type(tmp_path: Path) -> None:
    """Updates of deltalake write views of texts."""
    write_deltalake(tmp_path, pa.table({"c": ["a", "b"], "v": [1, 2]}))
    DeltaTable(tmp_path).delete("v = 1")
    assert dask_gpuscan.stream(tmp_path).compute().to_pydict() == {"c": ["b"], "v": [2]}


def test_half_a_file_that_was_rewritten(tmp_path: Path) -> None:
    options: dict[str, Any] = {
        "writer_properties": deltalake.WriterProperties(max_row_group_size=2)
    }
    for part in range(2):
        table = pa.table({"i": range(6 * part, 6 * part + 6)})
        write_deltalake(tmp_path, table, mode="append", **options)
    totals = dask_gpuscan.stream(tmp_path, ends=False).gpuscan.cumsum()
    batches = iter(totals)
    assert [next(batches)["i"].to_pylist() for _ in range(4)][-1] == [21, 28]
    state = totals.state
    DeltaTable(tmp_path).optimize.compact()
    after = dask_gpuscan.stream(tmp_path, state=state, ends=False).gpuscan.cumsum()
    assert after.compute()["i"].to_pylist() == np.cumsum(range(12))[8:].tolist()


def test_tables_that_would_be_read_wrongly(tmp_path: Path) -> None:
    write_deltalake(tmp_path / "plain", pa.table({"i": range(40)}))

    def changed(name: str, change: Callable[[list[Any]], None]) -> Path:
        path = tmp_path / name
        shutil.copytree(tmp_path / "plain", path)
        log = path / "_delta_log" / f"{0:020}.json"
        actions = [json.loads(line) for line in log.read_text().splitlines() if line.strip()]
        change(actions)
        log.write_text("\n".join(map(json.dumps, actions)))
        return path

    def mapped(actions: list[Any]) -> None:
        (metadata,) = [one["metaData"] for one in actions if "metaData" in one]
        metadata["configuration"] = {"delta.columnMapping.mode": "name"}

    def elsewhere(actions: list[Any]) -> None:
        (added,) = [one["add"] for one in actions if "add" in one]
        added["path"] = f"file://{tmp_path}/plain/{added['path']}"

    def featured(name: str) -> Callable[[list[Any]], None]:
        def change(actions: list[Any]) -> None:
            (protocol,) = [one["protocol"] for one in actions if "protocol" in one]
            features = {"readerFeatures": [name], "writerFeatures": [name]}
            protocol.update(minReaderVersion=3, minWriterVersion=7, **features)

        return change

    def deleted(actions: list[Any]) -> None:
        featured("deletionVectors")(actions)
        (added,) = [one["add"] for one in actions if "add" in one]
        numbers = struct.pack("<IqIIIHHIHH", 1681511377, 1, 0, 12346, 1, 0, 1, 16, 3, 4)
        words = struct.unpack(">9I", numbers)  # a bitmap of the rows 3 and 4, in base 85
        vector = "".join(
            Z85[word // 85**power % 85] for word in words for power in range(4, -1, -1)
        )
        facts = {"sizeInBytes": 36, "cardinality": 2}
        added["deletionVector"] = {"storageType": "i", "pathOrInlineDv": vector, **facts}

    assert len(delta_files(changed("no vectors", featured("deletionVectors"))).files) == 1
    with pytest.raises(ValueError, match="has deletion vectors, which are not read"):
        delta_files(changed("vectors", deleted))
    with pytest.raises(ValueError, match="has variantType, which is not read"):
        delta_files(changed("variants", featured("variantType")))
    with pytest.raises(ValueError, match=r"has column mapping \(name\), which is not read"):
        delta_files(changed("mapped", mapped))
    with pytest.raises(ValueError, match="table has a file elsewhere"):
        delta_files(changed("elsewhere", elsewhere))


def test_what_is_a_table(tmp_path: Path) -> None:
    write_deltalake(tmp_path / "a table", pa.table({"i": [1]}))
    assert is_delta(tmp_path / "a table")
    assert is_delta(DeltaTable(tmp_path / "a table"))
    assert not is_delta(tmp_path)
    assert not is_delta(FRAME)
    assert len(delta_files(tmp_path / "a table").files) == 1


def test_deltalake_is_needed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(deltalake, "__version__", "1.0.2")
    with pytest.raises(ImportError, match=r"deltalake must be 1.5.1 or later, found 1.0.2"):
        totals().to_delta(tmp_path)
    monkeypatch.setitem(__import__("sys").modules, "deltalake", None)
    with pytest.raises(ImportError, match=r'pip install "dask-gpuscan\[delta\]"'):
        totals().to_delta(tmp_path)


def test_files_that_change(tmp_path: Path) -> None:
    """A table follows a folder of files; a correction writes it again."""
    days, table = tmp_path / "days", tmp_path / "table"
    days.mkdir()

    def put(name: int, *values: int) -> None:
        pd.DataFrame({"x": list(values)}).to_parquet(days / f"{name}.parquet")

    def run(**options: Any) -> Any:
        dry_run = options.pop("dry_run", False)
        rows = dask_gpuscan.stream(days, ends=False, **options).gpuscan.cumsum()
        return rows.to_delta(table, dry_run=dry_run, rows_per_commit=2)

    def found() -> list[int]:
        rows: list[int] = dask_gpuscan.stream(table).compute()["x"].to_pylist()
        return rows

    put(9, 1, 2)
    run()
    put(10, 3)
    assert run(dry_run=True).new == ["10.parquet"]
    run()
    assert found() == [1, 3, 6]
    put(9, 5, 2, 1)
    with pytest.raises(dask_gpuscan.ChangedSourceError, match=r"'9\.parquet'"):
        run()
    assert "changed" in run(dry_run=True).error
    assert run(dry_run=True, changed="redo").again == ["9.parquet", "10.parquet"]
    assert found() == [1, 3, 6]
    run(changed="redo")
    assert found() == [5, 7, 8, 11]
    put(11, 1)
    run()
    assert found() == [5, 7, 8, 11, 12]


def test_the_state_of_a_table_is_read(tmp_path: Path) -> None:
    rows = dask_gpuscan.stream([pd.DataFrame({"x": [1, 2]})], ends=False).gpuscan.cumsum()
    rows.to_delta(tmp_path / "table", name="sums")
    state = dask_gpuscan.load_state(tmp_path / "table", name="sums")
    assert state.to_pandas()["cumsum"]["x"].tolist() == [3]
    with pytest.raises(ValueError, match="has no state of a stream of that name"):
        dask_gpuscan.load_state(tmp_path / "table")
