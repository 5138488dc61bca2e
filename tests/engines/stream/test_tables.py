"""Tables of Delta Lake and Iceberg: rows and states in one transaction, whoever writes and whatever is killed."""

import datetime
import threading
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import dask_gpuscan
from dask_gpuscan.engines.stream.sinks.delta_sink import DeltaTarget
from dask_gpuscan.engines.stream.sinks.iceberg_sink import IcebergTarget
from dask_gpuscan.engines.stream.sources.delta import delta_files, is_delta
from dask_gpuscan.engines.stream.sources.iceberg import iceberg_files, is_iceberg
from helpers.kills import KilledError, before, behind

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


class Delta:
    """The path of a table, which may not be there yet."""

    target, commit, mismatch = (
        DeltaTarget,
        "_write",
        r"column 'k' of table .* is of int64, and that",
    )

    def __init__(self, folder: Path) -> None:
        self.library = pytest.importorskip("deltalake")
        self.folder = folder / "table"

    def write(self, rows: Any, **options: Any) -> None:
        rows.to_delta(self.folder, **options)

    def files(self) -> Any:
        return delta_files(self.folder)

    def commits(self) -> int:
        return int(self.library.DeltaTable(self.folder).version()) + 1

    def rows(self) -> pd.DataFrame:
        """Return the rows in the order of files."""
        files = self.files().files if is_delta(self.folder) else []
        found = [pq.read_table(self.files().filesystem.open_input_file(one.path)) for one in files]
        return pa.concat_tables([SCHEMA.empty_table(), *found]).to_pandas()

    def states(self) -> list[Path]:
        return sorted((self.folder / "_gpuscan" / "dask_gpuscan").iterdir())


class Iceberg(Delta):
    """A catalog with a table."""

    target, commit, mismatch = IcebergTarget, "_commit", "Mismatch in fields"

    def __init__(self, folder: Path) -> None:
        self.sql = pytest.importorskip("pyiceberg.catalog.sql")
        self.catalog_folder, self.folder = folder, folder / "shop" / "totals"
        self.catalog().create_namespace("shop")
        self.catalog().create_table("shop.totals", SCHEMA)

    def catalog(self) -> Any:
        """Return the catalog, as another process opens it."""
        where = self.catalog_folder
        place = {"uri": f"sqlite:///{where}/catalog.db", "warehouse": f"file://{where}"}
        return self.sql.SqlCatalog("catalog", **place)

    def table(self) -> Any:
        return self.catalog().load_table("shop.totals")

    def write(self, rows: Any, **options: Any) -> None:
        rows.to_iceberg(self.table(), **options)

    def files(self) -> Any:
        return iceberg_files(self.table())

    def commits(self) -> int:
        return len(self.table().snapshots())

    def rows(self) -> pd.DataFrame:
        found = self.files()
        files = [pq.read_table(found.filesystem.open_input_file(one.path)) for one in found.files]
        return pa.concat_tables([SCHEMA.empty_table(), *files]).to_pandas()


@pytest.fixture(params=[Delta, Iceberg])
def place(request: pytest.FixtureRequest, tmp_path: Path) -> Delta:
    made: Delta = request.param(tmp_path)
    return made


@pytest.fixture
def iceberg(tmp_path: Path) -> Iceberg:
    return Iceberg(tmp_path)


# --- writing -----------------------------------------------------------------------------------------


def test_a_table_goes_on(place: Delta) -> None:
    counts = []
    for count in (100, 100, 300, 300, ROWS):
        place.write(totals(count, ends=False), rows_per_commit=200)
        counts.append(place.commits())
    assert counts == [1, 1, 2, 2, 4]  # a run without new rows writes nothing
    assert place.rows().equals(EXPECTED)
    assert len(place.states()) == 2


def test_rows_that_are_left_out_are_not_read_again(place: Delta) -> None:
    for count in (200, 400):
        place.write(totals(count, ends=False).gpuscan.filter("i > 10_000"))
    assert not place.files().files
    assert place.files().schema.names == SCHEMA.names
    assert max(dask_gpuscan.load_state(path).rows for path in place.states()) == 400


def test_without_a_state(place: Delta) -> None:
    for _ in range(2):
        place.write(totals(), state=False)
    assert place.commits() == 2
    assert not (place.folder / "_gpuscan").exists()
    assert place.rows().equals(pd.concat([EXPECTED] * 2, ignore_index=True))


def test_begin_anew(place: Delta) -> None:
    place.write(totals(500, ends=False))
    place.write(totals(300, ends=False), begin_anew=True, rows_per_commit=100)
    assert place.rows().equals(EXPECTED[:300])
    place.write(totals())
    assert place.rows().equals(EXPECTED)
    place.write(totals(), state=False, begin_anew=True)
    assert place.rows().equals(EXPECTED)


def test_what_does_not_match_is_refused(place: Delta) -> None:
    place.write(totals(300))
    with pytest.raises(ValueError, match="state is of the operations"):
        place.write(dask_gpuscan.stream([FRAME]).gpuscan.cumsum())
    with pytest.raises(
        ValueError, match=r"has the columns i, k, x, total, and the stream i, k, x$"
    ):
        place.write(dask_gpuscan.stream([FRAME]), name="other")
    other = dask_gpuscan.stream([EXPECTED.assign(k=EXPECTED["k"].astype(str))])
    with pytest.raises(ValueError, match=place.mismatch):
        place.write(other, name="other")
    with pytest.raises(ValueError, match="rows_per_commit must be a positive integer, found 0"):
        place.write(totals(), rows_per_commit=0)
    with pytest.raises(ValueError, match="name must be of letters"):
        place.write(totals(), name="../x")
    assert place.commits() == 1


def test_states_that_are_lost_or_damaged(place: Delta) -> None:
    place.write(totals(300, ends=False))
    (state,) = place.states()
    state.write_bytes(state.read_bytes()[:-100] + bytes(100))
    with pytest.raises(ValueError, match="holds no state of a stream, or was cut off"):
        place.write(totals())
    state.unlink()
    with pytest.raises(ValueError, match="begin_anew=True"):
        place.write(totals())
    place.write(totals(), begin_anew=True)
    assert place.rows().equals(EXPECTED)


# --- kills, and other writers ------------------------------------------------------------------------

STEPS = [
    *((Delta, step) for step in ("_put", "_write", "_clean")),
    *((Iceberg, step) for step in ("_put", "_add", "_commit", "_transact")),
]


@pytest.mark.sampled(6)
@pytest.mark.parametrize("at", [0, 2])
@pytest.mark.parametrize("kill", [before, behind])
@pytest.mark.parametrize(("place", "step"), STEPS, indirect=["place"])
def test_kills(
    place: Delta, monkeypatch: pytest.MonkeyPatch, step: str, kill: Any, at: int
) -> None:
    """A run that is killed at each step of a transaction, and then again, loses and repeats nothing."""
    for _ in range(2):
        with monkeypatch.context() as patch:
            patch.setattr(place.target, step, kill(getattr(place.target, step), at))
            with pytest.raises(KilledError):
                place.write(totals(ends=False), rows_per_commit=100)
        known = place.rows()
        assert known.equals(EXPECTED[: len(known)])
    for _ in range(2):
        place.write(totals(), rows_per_commit=100)
        assert place.rows().equals(EXPECTED)
    assert len(place.states()) <= 4  # with those of transactions that were not committed


def test_a_commit_that_only_seems_to_fail(place: Delta, monkeypatch: pytest.MonkeyPatch) -> None:
    commit = getattr(place.target, place.commit)

    def failing(self: Any, *args: Any) -> None:
        commit(self, *args)
        raise OSError("no answer")

    monkeypatch.setattr(place.target, place.commit, failing)
    place.write(totals(), rows_per_commit=300)
    assert place.rows().equals(EXPECTED)


@pytest.mark.parametrize("begun", [0, 100])
@pytest.mark.parametrize(
    ("place", "step", "at"),
    [(Delta, "_put", 0), (Delta, "_put", 2), (Iceberg, "_put", 0), (Iceberg, "_add", 0)],
    indirect=["place"],
)
def test_two_writers_one_after_the_other(
    place: Delta, monkeypatch: pytest.MonkeyPatch, begun: int, step: str, at: int
) -> None:
    """Between the state and the commit of one writer, another one runs to its end."""
    if begun:
        place.write(totals(begun, ends=False))
    call, left = getattr(place.target, step), [at]

    def other_first(self: Any, *args: Any) -> Any:
        found = call(self, *args)
        left[0] -= 1
        if left[0] == -1:
            place.write(totals(500, ends=False), rows_per_commit=100)
        return found

    monkeypatch.setattr(place.target, step, other_first)
    with pytest.raises(RuntimeError, match="another writer called 'dask_gpuscan' has written to"):
        place.write(totals(ends=False), rows_per_commit=100)
    assert place.rows().equals(EXPECTED[:500])
    place.write(totals())
    assert place.rows().equals(EXPECTED)


@pytest.mark.sampled(2)
@pytest.mark.parametrize("begun", [0, 100])
@pytest.mark.parametrize("names", ["aaa", "abc"])
def test_writers_at_once(place: Delta, names: str, begun: int) -> None:
    if begun or names == "abc":  # tables that are made at once are of one
        place.write(totals(100, ends=False), name="a")
    gate = threading.Barrier(3)

    def run(name: str) -> BaseException | None:
        gate.wait()
        try:
            place.write(totals(), name=name, rows_per_commit=200)
        except BaseException as error:
            return error
        return None

    with ThreadPoolExecutor(3) as pool:
        errors = [error for error in pool.map(run, names) if error]
    assert all(isinstance(one, RuntimeError) for one in errors), errors
    assert not errors or names == "aaa"
    for name in {*names}:
        place.write(totals(), name=name)
    assert sorted(place.rows()["i"]) == sorted([*range(ROWS)] * len({*names}))
    assert names == "abc" or place.rows().equals(EXPECTED)


# --- Iceberg -----------------------------------------------------------------------------------------


def test_times_and_texts(iceberg: Iceberg) -> None:
    frame = pd.DataFrame(
        {
            "t": pd.date_range("2026-11-01", periods=3, freq="h").as_unit("ns"),
            "z": pd.date_range("2026-11-01", periods=3, freq="h", tz="Europe/Paris"),
            "c": pd.Categorical(["a", None, "b"]),
        }
    )
    times = [("t", pa.timestamp("us")), ("z", pa.timestamp("us", "UTC")), ("c", pa.string())]
    table = iceberg.catalog().create_table("shop.times", pa.schema(times))
    for count in (1, 2, 3):
        parts = [frame[i : i + 1] for i in range(count)]
        dask_gpuscan.stream(parts, ends=False).to_iceberg(table)
    found = table.scan().to_arrow().sort_by("t").to_pandas()
    assert found["t"].tolist() == frame["t"].tolist()
    assert found["z"].tolist() == frame["z"].tolist()
    assert found["c"].fillna("").tolist() == ["a", "", "b"]


def test_the_table_names_its_state_and_is_read_by_others(iceberg: Iceberg) -> None:
    iceberg.write(totals())
    assert list(iceberg.table().properties) == ["dask_gpuscan.dask_gpuscan"]
    found = iceberg.table().scan().to_arrow().sort_by("i")
    assert found["total"].to_pylist() == EXPECTED["total"].to_list()
    with pytest.raises(TypeError, match=r"table must be one of pyiceberg, .* found PosixPath"):
        totals().to_iceberg(iceberg.folder)


def test_files_are_in_the_order_of_commits(iceberg: Iceberg) -> None:
    table = iceberg.catalog().create_table("shop.parts", pa.schema([("i", pa.int64())]))
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


def test_a_table_is_a_source(iceberg: Iceberg) -> None:
    totals().to_iceberg(iceberg.table(), rows_per_commit=200)
    found = dask_gpuscan.stream(iceberg.table()).compute().to_pandas()
    assert found.equals(EXPECTED)
    state = None
    table = iceberg.catalog().create_table("shop.parts", pa.schema([("i", pa.int64())]))
    for part, expected in enumerate([[0], [1], [3]]):
        table.append(pa.table({"i": [part]}))
        rows = dask_gpuscan.stream(table, state=state, ends=False).gpuscan.cumsum()
        assert rows.compute()["i"].to_pylist() == expected
        state = rows.state


def test_values_of_partitions(iceberg: Iceberg) -> None:
    rows = pa.table({"i": [0, 1], "p": ["a b", None], "day": pa.array([7, 8], pa.date32())})
    table = iceberg.catalog().create_table("shop.parts", rows.schema)
    with table.update_spec() as spec:
        spec.add_identity("p").add_identity("day")
    table.append(rows)
    found = sorted((str(one.values["p"]), one.values["day"]) for one in iceberg_files(table).files)
    days = [datetime.date(1970, 1, 8), datetime.date(1970, 1, 9)]
    assert found == sorted(zip(["a b", "None"], map(str, days), strict=True))


def test_tables_that_would_be_read_wrongly(iceberg: Iceberg) -> None:
    schema = pa.schema([("i", pa.int64()), ("j", pa.int64())])
    table = iceberg.catalog().create_table("shop.parts", schema)
    table.append(pa.table({"i": [1], "j": [2]}))
    with table.update_schema() as update:
        update.rename_column("j", "k")
    with pytest.raises(ValueError, match="column 'j' is another one"):
        iceberg_files(table)
    old = iceberg.catalog().create_table("shop.old", schema, properties={"format-version": "1"})
    with pytest.raises(ValueError, match="is of version 1 of the format"):
        iceberg_files(old)


def test_what_is_a_table(iceberg: Iceberg) -> None:
    assert is_iceberg(iceberg.table())
    assert not is_iceberg(FRAME)
    with pytest.raises(TypeError, match="table must be one of pyiceberg"):
        iceberg_files(FRAME)
