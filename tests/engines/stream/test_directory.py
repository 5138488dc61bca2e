"""Directories that go on: what happens if files come, go or change, if runs meet, and if something is damaged."""

import itertools
import os
import shutil
import subprocess
import time
import warnings
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from pathlib import Path
from typing import Any

import dask.dataframe as dd
import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import dask_gpuscan
from dask_gpuscan import ChangedSourceError
from dask_gpuscan.engines.stream.sinks import directory_sink, stores
from fuzz.files import FilesCase
from fuzz.histories import History
from fuzz.history_steps import Change, Damage, Go, Setting
from fuzz.seen_files import Rules
from fuzz.store_harm import Harm

pl = pytest.importorskip("polars")


def day(number: int, rows: int = 4, seed: int = 0) -> pd.DataFrame:
    rng = np.random.default_rng([number, seed])
    return pd.DataFrame(
        {"day": number, "k": rng.integers(0, 3, rows), "x": rng.integers(-99, 99, rows)}
    )


class Days:
    """A folder of files, one a day, and the directory of their totals."""

    def __init__(self, folder: Path) -> None:
        self.days, self.out = folder / "days", folder / "totals"
        self.days.mkdir()
        self.frames: dict[str, pd.DataFrame] = {}

    def put(self, name: Any, frame: pd.DataFrame) -> None:
        self.frames[str(name)] = frame
        frame.to_parquet(self.days / f"{name}.parquet", row_group_size=3)

    def remove(self, name: Any) -> None:
        del self.frames[str(name)]
        (self.days / f"{name}.parquet").unlink()

    def stream(self, **options: Any) -> Any:
        rows = dask_gpuscan.stream(self.days, ends=False, **options)
        return rows.assign(
            total=rows.gpuscan.groupby("k")["x"].cumsum(), row=rows.gpuscan.row_number()
        )

    def run(
        self, files: Any = None, dry_run: bool = False, state: Any = True, **options: Any
    ) -> Any:
        rows = self.stream(**options)
        return rows.to_parquet(self.out, state=state, files=files, rows_per_file=5, dry_run=dry_run)

    def expected(self, names: Any) -> pd.DataFrame:
        whole = pd.concat([self.frames[str(name)] for name in names], ignore_index=True)
        return whole.assign(total=whole.groupby("k")["x"].cumsum(), row=range(len(whole)))

    def check(self, *names: Any) -> None:
        """Compare the directory, by three readers, with all days at once."""
        expected = self.expected(names)
        assert pd.read_parquet(self.out).equals(expected)
        assert pl.read_parquet(self.out).to_pandas().equals(expected)
        assert pl.read_parquet(f"{self.out}/*.parquet").to_pandas().equals(expected)
        assert not [name for name in os.listdir(self.out.parent) if name.startswith(".")]

    def everything(self) -> dict[str, bytes]:
        return {str(path): path.read_bytes() for path in self.out.rglob("*") if path.is_file()}


@pytest.fixture
def days(tmp_path: Path, monkeypatch: Any) -> Days:
    monkeypatch.setattr(directory_sink, "COMMIT_SHARE", 0)  # commits, and keeps states, when it can
    monkeypatch.setattr(directory_sink, "KEEP_SHARE", 0)
    found = Days(tmp_path)
    for number in (1, 2, 9):
        found.put(number, day(number))
    return found


@pytest.fixture
def untouched(days: Days) -> Iterator[None]:
    """A run, and what its directory holds, which must be there behind the test."""
    days.run()
    before = days.everything()
    yield
    assert days.everything() == before


@pytest.mark.parametrize("files", [None, "source"])
def test_added(days: Days, files: Any) -> None:
    days.run(files)
    days.put(10, day(10))
    found = days.run(files, dry_run=True)
    assert (found.seen, found.new) == (["1.parquet", "2.parquet", "9.parquet"], ["10.parquet"])
    days.run(files)
    days.put(11, day(11, rows=0))
    days.run(files)
    days.run(files)
    days.check(1, 2, 9, 10, 11)
    balances = dask_gpuscan.load_state(days.out).to_pandas()["groupby-cumsum"]
    last = days.expected([1, 2, 9, 10, 11]).groupby("k")["total"].last()
    assert balances.set_index("k")["x"].to_dict() == last.to_dict()
    if files:
        names = ["00000000-1", "00000001-2", "00000002-9", "00000003-10", "00000004-11"]
        assert sorted(path.name for path in days.out.glob("*")) == ["_gpuscan"] + [
            f"part-{name}.parquet" for name in names
        ]
        assert pd.read_parquet(days.out / "part-00000002-9.parquet")["day"].unique() == [9]


def test_archived(days: Days, tmp_path: Path) -> None:
    """What is kept of files that are gone is never there twice."""

    def put(day: int, name: str, *values: int) -> None:
        folder = tmp_path / "hive" / f"day={day}"
        folder.mkdir(parents=True, exist_ok=True)
        pd.DataFrame({"x": list(values)}).to_parquet(folder / f"{name}.parquet")

    def run(**options: Any) -> list[int]:
        rows = dask_gpuscan.stream(tmp_path / "hive", ends=False, **options)
        rows.assign(sum=rows["x"].gpuscan.cumsum()).to_parquet(tmp_path / "out", state=True)
        return [int(x) for x in pd.read_parquet(tmp_path / "out")["sum"]]

    for number in (1, 2, 3):
        put(number, "a", 10**number)
        found = run()
    assert found == [10, 110, 1110]
    shutil.rmtree(tmp_path / "hive" / "day=1")
    assert run(removed="keep") == [10, 110, 1110]
    (tmp_path / "hive" / "day=2" / "a.parquet").unlink()
    put(2, "b", 200)  # the day is written anew, under another name
    for late in (None, "append"):
        with pytest.raises(ChangedSourceError, match=r"removed=.keep. is for files ahead of all"):
            run(removed="keep", late=late)
    assert run(removed="keep", changed="redo") == [10, 210, 1210]
    shutil.rmtree(tmp_path / "hive" / "day=2")
    (tmp_path / "hive" / "day=3" / "a.parquet").unlink()
    put(3, "b", 3000)
    with pytest.raises(ChangedSourceError, match="in folders without new ones"):
        run(removed="keep")
    assert run(removed="keep", changed="redo") == [10, 210, 3210]


def test_an_output_within_its_source(days: Days) -> None:
    for out in (days.days / "totals", days.days):
        with pytest.raises(ValueError, match="lies in the source, whose next run would read it"):
            days.stream().to_parquet(out, state=True)
    rows = dask_gpuscan.stream(f"{days.days}/*.parquet").gpuscan.cumsum()
    for name in ("totals", "_totals"):
        rows.to_parquet(days.days / name, state=True)
    assert not [path for path in days.days.iterdir() if path.name == "_gpuscan"]


def test_a_list_in_another_order(days: Days) -> None:
    paths = [days.days / f"{name}.parquet" for name in (9, 1, 2)]
    for given in (paths[:2], paths):
        dask_gpuscan.stream(given, ends=False).gpuscan.cumsum().to_parquet(days.out, state=True)
    assert pd.read_parquet(days.out)["day"].tolist() == [9 + 9 * i for i in range(4)] + [
        36 + 1 + i for i in range(4)
    ] + [40 + 2 * (i + 1) for i in range(4)]
    with pytest.raises(ChangedSourceError, match="Give files in the order in which they were read"):
        dask_gpuscan.stream(sorted(paths), ends=False).gpuscan.cumsum().to_parquet(
            days.out, state=True
        )
    with pytest.raises(ValueError, match="must name each file once"):
        dask_gpuscan.stream([paths[0], paths[0]]).compute()


@pytest.mark.parametrize("order", ["modified", lambda path: -int(path.partition(".")[0])])
def test_orders(days: Days, order: Any) -> None:
    for number, name in enumerate((9, 2, 1)):
        os.utime(days.days / f"{name}.parquet", (number, number))
    days.run(order=order)
    days.check(9, 2, 1)
    days.put(0, day(0))
    days.run(order=order)
    days.check(9, 2, 1, 0)
    with pytest.raises(ChangedSourceError):
        days.run()


def test_two_runs_at_once(days: Days) -> None:
    first = rf"another run writes to .*: process {os.getpid()} on"

    def meanwhile(batch: Any) -> Any:
        if len(batch):
            with pytest.raises(RuntimeError, match=first):
                days.run()
        return batch["x"]

    days.stream().assign(y=meanwhile).to_parquet(days.out, state=True)
    assert len(pd.read_parquet(days.out)) == 12


def test_another_query(days: Days, untouched: None) -> None:
    with pytest.raises(ValueError, match="state is of the operations"):
        dask_gpuscan.stream(days.days).gpuscan.cumsum().to_parquet(days.out, state=True)
    rows = days.stream(changed="redo")
    days.put(1, day(1, seed=3))
    with pytest.raises(ValueError, match="state is of the operations"):
        rows.gpuscan.cumsum().to_parquet(days.out, state=True)
    with pytest.raises(TypeError, match="has no 'colour'"):
        days.stream().to_parquet(days.out, state=True, colour="red")


def test_another_state(days: Days, tmp_path: Path) -> None:
    path = tmp_path / "state.arrow"
    days.run(state=path)
    days.put(10, day(10))
    days.run(state=path)
    days.check(1, 2, 9, 10)
    before, state = days.everything(), path.read_bytes()
    other = dask_gpuscan.stream(days.days).gpuscan.cumsum()
    other.compute()
    other.state.save(path)
    with pytest.raises(ValueError, match=r"state\.arrow is not the state that .* was written with"):
        days.run(state=path)
    fresh = tmp_path / "fresh"
    for held in ([], ["part-00000000.parquet"]):
        for name in held:
            fresh.mkdir()
            day(1).to_parquet(fresh / name)
        with pytest.raises(
            ValueError, match=r"is not the directory that was written .* load_state"
        ):
            days.stream().to_parquet(fresh, state=path)
        assert fresh.exists() == bool(held)
        assert [one.name for one in fresh.glob("*")] == held
    assert days.everything() == before
    path.write_bytes(state)
    days.run(state=path)
    path.unlink()
    days.run(state=path)
    assert dask_gpuscan.load_state(path).rows == 16


def test_places_of_states(days: Days) -> None:
    for place, message in (
        (days.out / "part-00000000.parquet", "lies in the directory"),
        (days.out / "_gpuscan" / "manifest.parquet", "lies in the directory"),
        (days.days / "state.arrow", "lies in the source"),
        (days.days, "path of a file in a folder that is there"),
        (days.days.parent / "nothing" / "state", "path of a file in a folder that is there"),
    ):
        days.out.mkdir(exist_ok=True)
        with pytest.raises(ValueError, match=message):
            days.run(state=place)
    assert not list(days.out.iterdir())


def test_options_that_change_names_and_types(days: Days, tmp_path: Path) -> None:
    for number in (1, 2):
        times = pd.to_datetime([number], unit="us")
        pd.DataFrame({"a b": [number], "t": times}).to_parquet(tmp_path / f"{number}.parquet")
        rows = dask_gpuscan.stream(sorted(tmp_path.glob("*.parquet")), ends=False)
        rows.assign(total=rows["a b"].gpuscan.cumsum()).to_parquet(
            tmp_path / "out",
            state=True,
            flavor="spark",
            coerce_timestamps="ms",
            allow_truncated_timestamps=True,
        )
    assert pd.read_parquet(tmp_path / "out")["a_b"].tolist() == [1, 2]


def test_a_state_of_files_of_the_same_names(days: Days, tmp_path: Path) -> None:
    """Files of another folder are others, though they have the same names and bytes."""
    january, february = tmp_path / "january", tmp_path / "february"
    for folder in (january, february):
        folder.mkdir()
        day(1).to_parquet(folder / "1.parquet")
    day(2).to_parquet(february / "2.parquet")
    first = dask_gpuscan.stream(january, ends=False)["x"].gpuscan.cumsum()
    first.compute()
    expected = pd.concat([day(1), day(1), day(2)])["x"].cumsum().tolist()
    rows = dask_gpuscan.stream(february, state=first.state)["x"].gpuscan.cumsum()
    assert rows.compute().to_pylist() == expected[4:]
    january.rename(tmp_path / "moved")
    day(3).to_parquet(tmp_path / "moved" / "3.parquet")
    rows = dask_gpuscan.stream(tmp_path / "moved", state=first.state)["x"].gpuscan.cumsum()
    assert len(rows.compute()) == 4


def test_a_child_of_a_run_holds_no_lock(tmp_path: Path) -> None:
    def rows() -> Any:
        yield pd.DataFrame({"x": [1]})
        child = subprocess.Popen(["sleep", "60"], close_fds=False)
        children.append(child)
        process = os.fork()
        if not process:
            time.sleep(60)
            os._exit(0)
        forked.append(process)
        yield pd.DataFrame({"x": [2]})

    children, forked = list[Any](), list[int]()
    try:
        dask_gpuscan.stream(rows()).gpuscan.cumsum().to_parquet(tmp_path / "out", state=True)
        again = dask_gpuscan.stream([pd.DataFrame({"x": [1, 2]})]).gpuscan.cumsum()
        again.to_parquet(tmp_path / "out", state=True)
    finally:
        children[0].kill()
        os.kill(forked[0], 9)
        os.waitpid(forked[0], 0)


def test_files_of_others(days: Days) -> None:
    days.run()
    other = days.out / "part-99999999.parquet"
    day(7).to_parquet(other)
    days.put(10, day(10))
    with pytest.warns(UserWarning, match=r"part-99999999\.parquet, which no run has written"):
        days.run()
    assert pd.read_parquet(other).equals(day(7))
    other.unlink()
    days.check(1, 2, 9, 10)
    fresh = days.out.with_name("fresh")
    fresh.mkdir()
    day(7).to_parquet(fresh / "mine.parquet")
    with pytest.raises(ValueError, match=r"holds mine\.parquet, and nothing says from which rows"):
        days.stream().to_parquet(fresh, state=True)
    assert [path.name for path in fresh.iterdir()] == ["mine.parquet"]


WRITES = ("new", "put", "sync", "sync_folder", "move", "remove", "make_folder", "remove_folder")


@pytest.mark.parametrize("after", [False, True])
def test_interrupts(days: Days, monkeypatch: pytest.MonkeyPatch, after: bool) -> None:
    """A run is interrupted before, or after, each of its calls that write, in turn, and cleans up; the next goes on."""
    calls = itertools.count()

    def interrupted(call: Any) -> Any:
        def run(*given: Any, **options: Any) -> Any:
            is_last = next(calls) == number
            if is_last and not after:
                raise KeyboardInterrupt
            done = call(*given, **options)
            if is_last:
                raise KeyboardInterrupt
            return done

        return run

    days.run()
    for name in WRITES:
        monkeypatch.setattr(stores.LocalStore, name, interrupted(getattr(stores.LocalStore, name)))
    for number in itertools.count():
        days.put(2, day(2, seed=number))
        calls = itertools.count()
        try:
            days.run(changed="redo")
        except KeyboardInterrupt:
            continue
        break
    assert number > 20
    days.check(1, 2, 9)


def test_an_interrupt_leaves_no_lock(days: Days, monkeypatch: pytest.MonkeyPatch) -> None:
    def interrupt(*_: Any) -> Any:
        raise KeyboardInterrupt

    days.run()
    with monkeypatch.context() as patch:
        patch.setattr(stores.os.path, "samestat", interrupt)
        with pytest.raises(KeyboardInterrupt):
            days.run()
    days.run()
    days.check(1, 2, 9)


def test_a_file_that_grows_while_it_is_read(days: Days) -> None:
    def meanwhile(batch: Any) -> Any:
        if batch["day"].eq(2).any():
            days.put(2, day(2, rows=9))
        return batch["x"]

    days.put(2, day(2, rows=4_000))  # in more row groups than are read ahead
    rows = days.stream().assign(y=meanwhile)
    with pytest.raises(ChangedSourceError, match="written to, or removed, while it was read"):
        rows.to_parquet(days.out, state=True)
    assert not days.out.exists()


def test_checkpoints_take_few_bytes(days: Days) -> None:
    for number in range(10, 40):
        days.put(number, day(number))
        days.stream().to_parquet(days.out, state=True, checkpoints=100_000)
    kept = list((days.out / "_gpuscan").glob("state-*"))
    assert sum(path.stat().st_size for path in kept) < 110_000
    days.put(30, day(30, seed=1))
    found = days.run(changed="redo", dry_run=True)
    assert 10 <= len(found.again) < 20
    days.run(changed="redo")
    days.check(1, 2, 9, *range(10, 40))
    with pytest.raises(ValueError, match="checkpoints must be a number of bytes"):
        days.stream().to_parquet(days.out, state=True, checkpoints="many")


def test_a_directory_of_totals_is_a_source(days: Days, tmp_path: Path) -> None:
    days.run()
    rows = dask_gpuscan.stream(days.out)
    assert rows.compute().to_pandas().equals(days.expected([1, 2, 9]))


def test_stores_of_objects_are_refused(days: Days) -> None:
    with pytest.raises(ValueError, match="use to_delta"):
        days.stream().to_parquet("s3://bucket/totals", state=True)
    with pytest.raises(ValueError, match="to_parquet writes to local paths"):
        days.stream().to_parquet("s3://bucket/totals.parquet")


def test_no_warning_and_no_rest(days: Days) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        days.run()
        days.run(changed="redo")
    names = sorted(path.name for path in (days.out / "_gpuscan").iterdir())
    assert {name.partition("-")[0].partition(".")[0] for name in names} == {
        "lock",
        "manifest",
        "state",
    }
    assert (days.out / "_gpuscan" / "lock").read_bytes() == b""
    assert pq.read_table(days.out / "_gpuscan" / "manifest.parquet").num_rows == 0


# --- sources without files ---------------------------------------------------------------------------

PIECES = [pd.DataFrame({"x": [i, 2.5 * i, np.nan], "t": list("abc")}) for i in range(12)]
KINDS = {
    "pandas": list,
    "iterator": iter,
    "polars": lambda pieces: [pl.from_pandas(piece) for piece in pieces],
    "lazy": lambda pieces: pl.concat([pl.from_pandas(piece) for piece in pieces]).lazy(),
    "arrow": lambda pieces: [pa.Table.from_pandas(piece, preserve_index=False) for piece in pieces],
    "dask": lambda pieces: dd.concat([dd.from_pandas(piece, npartitions=1) for piece in pieces]),
    "objects": lambda pieces: [piece.assign(o=[object()] * len(piece)) for piece in pieces],
}


@pytest.mark.parametrize("kind", KINDS)
def test_rows_without_files_are_known_again(tmp_path: Path, kind: str) -> None:
    def run(pieces: Any) -> list[str]:
        rows = dask_gpuscan.stream(KINDS[kind](pieces), ends=False)[["x", "t"]]
        rows = rows.assign(total=rows["x"].gpuscan.cumsum())
        rows.to_parquet(tmp_path / "out", state=tmp_path / "state")
        found: list[str] = pd.read_parquet(tmp_path / "out")["t"].tolist()
        return found

    run(PIECES[:1])
    run(PIECES[:7])
    assert len(run(PIECES)) == len(run([pd.concat(PIECES, ignore_index=True)])) == 36
    if kind != "objects":
        for wrong in (PIECES[1:] + PIECES, PIECES[:-1] + PIECES[:1] + PIECES):
            with pytest.raises(
                ChangedSourceError, match="ahead of row 36 are not those that were read"
            ):
                run(wrong)
    with pytest.raises(ValueError, match="state is of more rows than the source has: 3 more"):
        run(PIECES[:-1])


# --- as-of merges of two sources of files ------------------------------------------------------------


class Quotes:
    """Trades and quotes, files of each, and the directory of trades with their quotes."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    def put(self, kind: str, number: int, seed: int = 0) -> None:
        rng = np.random.default_rng([number, seed, len(kind)])
        times = np.sort(rng.integers(100 * number, 100 * number + 100, 20))
        frame = pd.DataFrame(
            {"t": times, "k": rng.integers(0, 3, 20), kind: rng.integers(0, 99, 20)}
        )
        (self.folder / kind).mkdir(exist_ok=True)
        frame.to_parquet(self.folder / kind / f"{number}.parquet", row_group_size=7)

    def run(self, **options: Any) -> None:
        left, right = (
            dask_gpuscan.stream(self.folder / kind, ends=False, **options)
            for kind in ("trade", "quote")
        )
        right = right.assign(sum=right.gpuscan.groupby("k")["quote"].cumsum())
        merged = dask_gpuscan.merge_asof(left, right, on="t", by="k")
        merged.to_parquet(self.folder / "out", state=True)

    def check(self) -> None:
        left, right = (
            pd.concat(
                [
                    pd.read_parquet(path)
                    for path in sorted(
                        (self.folder / kind).iterdir(), key=lambda path: int(path.stem)
                    )
                ]
            )
            for kind in ("trade", "quote")
        )
        right["sum"] = right.groupby("k")["quote"].cumsum()
        expected = pd.merge_asof(left, right, on="t", by="k")
        found = pd.read_parquet(self.folder / "out")
        pd.testing.assert_frame_equal(found, expected, check_dtype=False)


def test_the_other_side_of_a_merge(tmp_path: Path, monkeypatch: Any) -> None:
    monkeypatch.setattr(directory_sink, "COMMIT_SHARE", 0)
    monkeypatch.setattr(directory_sink, "KEEP_SHARE", 0)
    both = Quotes(tmp_path)
    for number in (1, 2, 9, 10):
        both.put("quote", number)
        both.put("trade", number)
        both.run()
        both.check()
    both.put("quote", 11)
    both.run()
    both.put("trade", 11)
    both.run()
    both.check()
    both.put("quote", 5)
    with pytest.raises(ChangedSourceError, match=r"'5\.parquet' of the source is new"):
        both.run()
    both.run(changed="redo")
    both.check()
    both.put("quote", 2, seed=1)
    with pytest.raises(ChangedSourceError, match=r"'2\.parquet' of the source was changed"):
        both.run()
    both.put("trade", 9, seed=1)
    both.run(changed="redo")
    both.check()


def test_a_file_without_rows_has_one_part(days: Days) -> None:
    days.put(2, day(2, rows=0))
    days.run(files="source")
    empty = pa.Table.from_pandas(day(2, rows=0)).replace_schema_metadata({"written": "again"})
    pq.write_table(empty, days.days / "2.parquet")
    days.put(9, day(9, rows=3))
    days.run(files="source", changed="redo")
    names = sorted(path.name for path in days.out.glob("*.parquet"))
    assert names == [f"part-{i:08}-{number}.parquet" for i, number in enumerate((1, 2, 9))]
    days.check(1, 2, 9)


def test_runs_that_begin_while_others_leave(days: Days, tmp_path: Path) -> None:
    days.put(1, day(1))
    (days.out).mkdir()
    (days.out / "other.parquet").write_bytes(
        b""
    )  # each run is refused, and removes what it has made

    def errors() -> Iterator[str]:
        for _ in range(40):
            with pytest.raises((RuntimeError, ValueError)) as caught:
                days.run()
            yield str(caught.value)

    with ThreadPoolExecutor(4) as pool:
        found = [one for many in pool.map(lambda _: list(errors()), range(4)) for one in many]
    assert all("another run writes" in one or "holds other.parquet" in one for one in found)
    assert os.listdir(days.out) == ["other.parquet"]


def test_parts_end_behind_files(days: Days, monkeypatch: Any) -> None:
    monkeypatch.setattr(directory_sink, "FEWEST_ROWS", 4)
    for number in range(10, 40):
        days.put(number, day(number))
    days.stream().to_parquet(days.out, state=True)
    rows = [pq.read_metadata(path).num_rows for path in sorted(days.out.glob("*.parquet"))]
    assert rows[:3] == [4, 4, 4]
    assert all(0 < 8 * count <= 32 + sum(rows[: i + 1]) for i, count in enumerate(rows[:-1]))
    days.put(20, day(20, seed=1))
    before = days.everything()
    days.stream(changed="redo").to_parquet(days.out, state=True)
    names = [name for name, content in before.items() if days.everything().get(name) == content]
    assert sum(pq.read_metadata(n).num_rows for n in names if "/part-" in n) >= 4 * 12 - 12
    days.check(1, 2, 9, *range(10, 40))


# --- what happens if ...: histories of a folder, whose runs a model foretells ------------------------

ADDS = [Change("add", count=4, seed=seed) for seed in range(3)]
REDO, KEEP = Rules("redo"), Rules("keep")
BEGUN = [*ADDS, Go(), Change("add", count=4, seed=3), Go(looks=True)]
OTHER = Change("other values", 1, seed=9)
HISTORIES = {
    "a file is added after those that were read": [
        ([*BEGUN, Change("add", count=0), Go(), Go()], []),
        ([Change("add", count=0), Change("add", count=0), Go(), *BEGUN], []),
    ],
    "a file comes late: its name sorts before one that was read": [
        ([*BEGUN, Change("add late", 2), Go(), Go(Rules(late="append"), looks=True), Change("add"), Go(),
          Go(Rules(late="append")), Go(REDO)], ["is new, and comes before '", "was read behind"]),
    ],
    "a file is removed": [
        ([*BEGUN, Change("remove", 0), Go(), Change("add"), Go(Rules(removed="keep")), Go(REDO)],
         ["'8.parquet' of the source was read before, and is not there"]),
    ],
    "a file is rewritten, or gets more rows": [
        ([*BEGUN, OTHER, Go(), Go(REDO, looks=True)], ["'9.parquet' of the source was changed"]),
        ([*BEGUN, Change("other rows", 0, count=7), Change("append", 1), Go(), Go(REDO)], ["'8.parquet' of "]),
        ([*BEGUN, OTHER, Change("add"), Go(KEEP), Go()], []),
    ],
    "a file is rewritten with the same size and times": [
        ([*BEGUN, Change("other values, same times", 1, seed=9), Go()], ["'9.parquet' of the source was changed"]),
    ],
    "a file is written again with the same content": [
        ([*BEGUN, Change("same bytes", 0), Change("touch", 1), Change("add"), Go()], []),
    ],
    "a file is renamed": [([*BEGUN, Change("rename", 3, seed=19), Go()], ["may be called '20.parquet' now"])],
    "a file cannot be read": [
        ([*BEGUN, Change("add"), Change("cut off", 4), Go(), OTHER, Go(REDO), Change("remove", 4), Go(REDO)],
         ["'12.parquet' of the source cannot be read"]),
    ],
    "a file of the directory is missing, or was changed": [
        ([*BEGUN, Damage("part", 1, how, redo)], [words])
        for how, words in (("gone", "is not there as it was"), ("other bit", "was changed after it was written"))
        for redo in (False, True)
    ],
    "a state of the directory is gone": [
        ([*BEGUN, Damage("state", number, "gone", redo), Change("other values", 0, seed=9), Go(REDO)], [""])
        for number, redo in ((0, False), (1, True))
    ],
    "the directory is moved or copied": [([*BEGUN, Damage("copy"), Change("add"), Go()], [])],
}  # fmt: skip
"""By rows of the table in docs/guide/totals.md: steps, and words of messages; without any, no run is refused."""
CASES = [
    pytest.param(*case, *where, id=f"{name} {i} {where[1]}")
    for name, some in HISTORIES.items()
    for i, case in enumerate(some)
    for where in ((None, "local"), ("source", "memory"))[: 2 - i % 2]
]


@pytest.mark.sampled(2)
@pytest.mark.parametrize(("steps", "words", "files", "target"), CASES)
def test_histories(
    steps: list[Any], words: list[str], files: Any, target: str, monkeypatch: Any
) -> None:
    said, error_of = [], History.error_of

    def heard(*given: Any) -> Any:
        said.append(str(error := error_of(*given)))
        return error

    monkeypatch.setattr(History, "error_of", heard)
    monkeypatch.setattr(directory_sink, "KEEP_SHARE", 0)
    steps = [replace(one, files=files) if isinstance(one, Go) else one for one in steps]
    FilesCase(Setting("totals", target=target), steps).check()
    assert not [each for each in words if not any(each in one for one in said)], said
    assert words or {*said} == {"None"}


@pytest.mark.parametrize(("kind", "where"), [("SIGKILL", "before"), ("full once", "half")])
def test_harm_at_each_call(kind: str, where: str) -> None:
    """A process is killed, or a disk full, at each call that writes; readers see first rows of before, or of behind."""
    for number in itertools.count(1):
        harmed = Go(REDO, rows_per_file=8, harm=Harm(kind, number, "any", where))
        steps = [*ADDS[:2], Go(rows_per_file=8), OTHER, harmed]
        met = FilesCase(Setting("cumsum"), steps).check()
        if kind not in met:
            break
    assert number > 10


ALSO = {
    "a file is removed": test_archived,
    "a file is written to while it is read": test_a_file_that_grows_while_it_is_read,
    "a list of files is in another order": test_a_list_in_another_order,
    "two runs write to the directory at once": test_two_runs_at_once,
    "a run is killed, at any moment": test_harm_at_each_call,
    "the disk is full, or a file cannot be read": test_harm_at_each_call,
    "the query, its options or the columns of the source differ": test_another_query,
    "there are other files in the directory": test_files_of_others,
    "the state at `state=path` is of another run": test_another_state,
    "there is a state at `state=path`, and no directory that was written with it": test_another_state,
}
"""Tests of rows of the guide beside histories."""


def test_each_row_of_the_guide_has_a_test() -> None:
    page = (Path(__file__).parents[3] / "docs" / "guide" / "totals.md").read_text()
    table = page.partition("### What happens if ...")[2].partition("###")[0]
    rows = [line.split("|")[1].strip() for line in table.splitlines() if line.startswith("| ")]
    assert not {*rows[2:]} - HISTORIES.keys() - ALSO.keys()
    assert not ALSO.keys() - {*rows}
