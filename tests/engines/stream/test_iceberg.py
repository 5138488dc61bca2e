"""Iceberg: rows and states in one transaction, and data files in the order of commits."""

import datetime
import os
import threading
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import dask_gpuscan
from dask_gpuscan.engines.stream.sinks.iceberg_sink import IcebergTarget
from dask_gpuscan.engines.stream.sources.iceberg import iceberg_files, is_iceberg
from helpers.kills import KilledError, before, behind

pytest.importorskip("pyiceberg")
sql = pytest.importorskip("pyiceberg.catalog.sql")

ROWS = 600
FRAME = pd.DataFrame(
    {"i": range(ROWS), "k": np.random.default_rng(3).integers(0, 9, ROWS), "x": np.random.default_rng(4).random(ROWS)}
)  # fmt: skip


def totals(count: int = ROWS, ends: bool = True) -> Any:
    parts = [FRAME[i : i + 100] for i in range(0, count, 100)]
    rows = dask_gpuscan.stream(parts, ends=ends)
    return rows.assign(total=rows.gpuscan.groupby("k")["x"].cumsum())


EXPECTED = totals().compute()
SCHEMA = pa.Table.from_pandas(EXPECTED, preserve_index=False).schema.remove_metadata()


class Place:
    """A catalog with a table."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.catalog().create_namespace("shop")
        self.catalog().create_table("shop.totals", SCHEMA)

    def catalog(self) -> Any:
        """Return the catalog, as another process opens it."""
        place = {"uri": f"sqlite:///{self.folder}/catalog.db", "warehouse": f"file://{self.folder}"}
        return sql.SqlCatalog("catalog", **place)

    def table(self) -> Any:
        return self.catalog().load_table("shop.totals")

    def rows(self) -> pd.DataFrame:
        """Return the rows in the order of files."""
        found = iceberg_files(self.table())
        files = [pq.read_table(found.filesystem.open_input_file(one.path)) for one in found.files]
        return pa.concat_tables([SCHEMA.empty_table(), *files]).to_pandas()

    def states(self) -> list[str]:
        return os.listdir(self.folder / "shop" / "totals" / "_gpuscan" / "dask_gpuscan")


@pytest.fixture
def place(tmp_path: Path) -> Place:
    return Place(tmp_path)


# --- writing -----------------------------------------------------------------------------------------


def test_a_table_goes_on(place: Place) -> None:
    counts = []
    for count in (100, 100, 300, 300, ROWS):
        table = place.table()
        totals(count, ends=False).to_iceberg(table, rows_per_commit=200)
        counts.append(len(table.snapshots()))
    assert counts == [1, 1, 2, 2, 4]  # a run without new rows writes nothing
    assert place.rows().equals(EXPECTED)
    assert len(place.states()) == 2
    assert list(place.table().properties) == ["dask_gpuscan.dask_gpuscan"]
    found = place.table().scan().to_arrow().sort_by("i")
    assert found["total"].to_pylist() == EXPECTED["total"].to_list()


def test_rows_that_are_left_out_are_not_read_again(place: Place) -> None:
    for count in (200, 400):
        totals(count, ends=False).gpuscan.filter("i > 10_000").to_iceberg(place.table())
    assert not iceberg_files(place.table()).files
    newest, _ = place.table().properties["dask_gpuscan.dask_gpuscan"].split()
    folder = place.folder / "shop" / "totals" / "_gpuscan" / "dask_gpuscan"
    assert dask_gpuscan.load_state(folder / f"{newest}.arrow").rows == 400


def test_without_a_state(place: Place) -> None:
    for _ in range(2):
        totals().to_iceberg(place.table(), state=False)
    assert len(place.table().snapshots()) == 2
    assert not place.table().properties
    assert place.rows().equals(pd.concat([EXPECTED] * 2, ignore_index=True))


def test_begin_anew(place: Place) -> None:
    totals(500, ends=False).to_iceberg(place.table())
    totals(300, ends=False).to_iceberg(place.table(), begin_anew=True, rows_per_commit=100)
    assert place.rows().equals(EXPECTED[:300])
    totals().to_iceberg(place.table())
    assert place.rows().equals(EXPECTED)


def test_times_and_texts(place: Place) -> None:
    frame = pd.DataFrame(
        {
            "t": pd.date_range("2026-11-01", periods=3, freq="h").as_unit("ns"),
            "z": pd.date_range("2026-11-01", periods=3, freq="h", tz="Europe/Paris"),
            "c": pd.Categorical(["a", None, "b"]),
        }
    )
    times = [("t", pa.timestamp("us")), ("z", pa.timestamp("us", "UTC")), ("c", pa.string())]
    table = place.catalog().create_table("shop.times", pa.schema(times))
    for count in (1, 2, 3):
        parts = [frame[i : i + 1] for i in range(count)]
        dask_gpuscan.stream(parts, ends=False).to_iceberg(table)
    found = table.scan().to_arrow().sort_by("t").to_pandas()
    assert found["t"].tolist() == frame["t"].tolist()
    assert found["z"].tolist() == frame["z"].tolist()
    assert found["c"].fillna("").tolist() == ["a", "", "b"]


def test_what_does_not_match_is_refused(place: Place) -> None:
    totals(300).to_iceberg(place.table())
    with pytest.raises(ValueError, match="state is of the operations"):
        dask_gpuscan.stream([FRAME]).gpuscan.cumsum().to_iceberg(place.table())
    with pytest.raises(ValueError, match="has the columns i, k, x, total, and the stream i, k, x"):
        dask_gpuscan.stream([FRAME]).to_iceberg(place.table(), name="other")
    other = dask_gpuscan.stream([EXPECTED.assign(k=EXPECTED["k"].astype(str))])
    with pytest.raises(ValueError, match="Mismatch in fields"):
        other.to_iceberg(place.table(), name="other")
    with pytest.raises(TypeError, match=r"table must be one of pyiceberg, .* found PosixPath"):
        totals().to_iceberg(place.folder)
    (name,) = place.states()
    (place.folder / "shop" / "totals" / "_gpuscan" / "dask_gpuscan" / name).unlink()
    with pytest.raises(ValueError, match="begin_anew=True"):
        totals().to_iceberg(place.table())
    assert len(place.table().snapshots()) == 1


# --- kills, and other writers ------------------------------------------------------------------------


@pytest.mark.parametrize("at", [0, 2])
@pytest.mark.parametrize("kill", [before, behind])
@pytest.mark.parametrize("step", ["_put", "_add", "_commit", "_transact"])
def test_kills(
    place: Place, monkeypatch: pytest.MonkeyPatch, step: str, kill: Any, at: int
) -> None:
    """A run that is killed at each step of a transaction, and then again, loses and repeats nothing."""
    for _ in range(2):
        with monkeypatch.context() as patch:
            patch.setattr(IcebergTarget, step, kill(getattr(IcebergTarget, step), at))
            with pytest.raises(KilledError):
                totals(ends=False).to_iceberg(place.table(), rows_per_commit=100)
        known = place.rows()
        assert known.equals(EXPECTED[: len(known)])
    totals().to_iceberg(place.table(), rows_per_commit=100)
    assert place.rows().equals(EXPECTED)


def test_a_commit_that_only_seems_to_fail(place: Place, monkeypatch: pytest.MonkeyPatch) -> None:
    commit = IcebergTarget._commit

    def failing(self: Any, transaction: Any) -> None:
        commit(self, transaction)
        raise OSError("no answer")

    monkeypatch.setattr(IcebergTarget, "_commit", failing)
    totals().to_iceberg(place.table(), rows_per_commit=300)
    assert place.rows().equals(EXPECTED)


@pytest.mark.parametrize("begun", [0, 100])
@pytest.mark.parametrize("step", ["_put", "_add"])
def test_two_writers_one_after_the_other(
    place: Place, monkeypatch: pytest.MonkeyPatch, begun: int, step: str
) -> None:
    """Between the state and the commit of one writer, another one runs to its end."""
    if begun:
        totals(begun, ends=False).to_iceberg(place.table())
    call, left = getattr(IcebergTarget, step), [1]

    def other_first(self: Any, *args: Any) -> Any:
        found = call(self, *args)
        left[0] -= 1
        if left[0] == 0:
            totals(500, ends=False).to_iceberg(place.table(), rows_per_commit=100)
        return found

    monkeypatch.setattr(IcebergTarget, step, other_first)
    with pytest.raises(RuntimeError, match="another writer called 'dask_gpuscan' has written to"):
        totals(ends=False).to_iceberg(place.table(), rows_per_commit=100)
    assert place.rows().equals(EXPECTED[:500])
    totals().to_iceberg(place.table())
    assert place.rows().equals(EXPECTED)


@pytest.mark.parametrize("names", ["aaa", "abc"])
def test_writers_at_once(place: Place, names: str) -> None:
    gate, errors = threading.Barrier(3), list[BaseException]()

    def run(name: str) -> None:
        table = place.table()
        gate.wait()
        try:
            totals().to_iceberg(table, name=name, rows_per_commit=200)
        except BaseException as error:
            errors.append(error)

    threads = [threading.Thread(target=run, args=[name]) for name in names]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    if names == "abc":
        assert not errors
        assert sorted(place.rows()["i"]) == sorted([*range(ROWS)] * 3)
        return
    assert all(isinstance(one, RuntimeError) for one in errors), errors
    totals().to_iceberg(place.table(), name="a")
    assert place.rows().equals(EXPECTED)


# --- reading -----------------------------------------------------------------------------------------


def test_files_are_in_the_order_of_commits(place: Place) -> None:
    table = place.catalog().create_table("shop.parts", pa.schema([("i", pa.int64())]))
    assert not iceberg_files(table).files
    for part in range(12):
        table.append(pa.table({"i": [part]}))
    table.delete("i == 3")
    found = iceberg_files(table)
    assert [one.version for one in found.files] == [1, 2, 3, *range(5, 13)]
    assert [one.rows for one in found.files] == [1] * 11
    assert found.schema.names == ["i"]
    assert (found.version, found.id) == (13, str(table.metadata.table_uuid))
    for one in found.files:
        assert found.filesystem.get_file_info(one.path).size == one.size


def test_a_table_is_a_source(place: Place) -> None:
    totals().to_iceberg(place.table(), rows_per_commit=200)
    found = dask_gpuscan.stream(place.table()).compute().to_pandas()
    assert found.equals(EXPECTED)
    state = None
    table = place.catalog().create_table("shop.parts", pa.schema([("i", pa.int64())]))
    for part, expected in enumerate([[0], [1], [3]]):
        table.append(pa.table({"i": [part]}))
        rows = dask_gpuscan.stream(table, state=state, ends=False).gpuscan.cumsum()
        assert rows.compute()["i"].to_pylist() == expected
        state = rows.state


def test_values_of_partitions(place: Place) -> None:
    rows = pa.table({"i": [0, 1], "p": ["a b", None], "day": pa.array([7, 8], pa.date32())})
    table = place.catalog().create_table("shop.parts", rows.schema)
    with table.update_spec() as spec:
        spec.add_identity("p").add_identity("day")
    table.append(rows)
    found = sorted((str(one.values["p"]), one.values["day"]) for one in iceberg_files(table).files)
    days = [datetime.date(1970, 1, 8), datetime.date(1970, 1, 9)]
    assert found == sorted(zip(["a b", "None"], map(str, days), strict=True))


def test_tables_that_would_be_read_wrongly(place: Place) -> None:
    schema = pa.schema([("i", pa.int64()), ("j", pa.int64())])
    table = place.catalog().create_table("shop.parts", schema)
    table.append(pa.table({"i": [1], "j": [2]}))
    with table.update_schema() as update:
        update.rename_column("j", "k")
    with pytest.raises(ValueError, match="column 'j' is another one"):
        iceberg_files(table)
    old = place.catalog().create_table("shop.old", schema, properties={"format-version": "1"})
    with pytest.raises(ValueError, match="is of version 1 of the format"):
        iceberg_files(old)


def test_what_is_a_table(place: Place) -> None:
    assert is_iceberg(place.table())
    assert not is_iceberg(FRAME)
    with pytest.raises(TypeError, match="table must be one of pyiceberg"):
        iceberg_files(FRAME)
