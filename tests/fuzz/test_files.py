"""The fuzzer of directories that go on finds planted faults in what is seen, written, committed and locked."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from typing import Any

import pytest

from dask_gpuscan.engines.stream.sinks import directory_start, stores
from dask_gpuscan.engines.stream.sinks.directory import Directory
from dask_gpuscan.engines.stream.sources import fragments, listing
from helpers.versions import older

if older("pandas", "3") or older("pyarrow", "20"):
    pytest.skip("fuzzers know what pandas 3 answers", allow_module_level=True)

from .file_places import name_of
from .files import FilesCase
from .history_steps import Change, Damage, Go, Setting
from .seen_files import File, Rules, by_name, foretold
from .store_harm import Harm

ADDS = [Change("add", count=4, seed=seed) for seed in range(3)]


def moved_first(commit: Callable[..., None]) -> Callable[..., None]:
    def call(self: Directory, manifest: Any) -> None:
        self.finish(manifest)
        commit(self, manifest)

    return call


def forgetting(finish: Callable[..., None]) -> Callable[..., None]:
    def call(self: Directory, manifest: Any) -> None:
        in_place = tuple([replace(one, staged="") for one in manifest.parts])
        self.manifest = replace(manifest, parts=in_place)
        finish(self, manifest)

    return call


def last_first(finish: Callable[..., None]) -> Callable[..., None]:
    return lambda self, manifest: finish(self, replace(manifest, parts=manifest.parts[::-1]))


def without_part(state: Callable[..., Any]) -> Callable[..., Any]:
    def call(self: Directory, manifest: Any, kept: Any) -> Any:
        return replace(state(self, manifest, kept), fragments=manifest.fragments[: kept.fragments])

    return call


@contextmanager
def unlocked(self: Any, path: str) -> Iterator[None]:
    yield


def killed(*given: Any, rows: int = 5) -> Go:
    return Go(rows_per_file=rows, harm=Harm(*given))


OTHER = [*ADDS, Go(), Go(), Change("other values", seed=9), Go()]
FAULTS = {
    "names are sorted as texts": (
        listing, "natural", lambda _: lambda path: path, [*ADDS, Go()],
    ),
    "no file ever changes": (fragments, "is_same", lambda _: lambda *given: True, OTHER),
    "files are known by their sizes": (
        fragments, "is_same", lambda _: lambda known, found, _: known.size == found.size, OTHER,
    ),
    "a file that was read in part is forgotten": (
        Directory, "state", without_part, [*ADDS, killed("killed", 2, "move", "half", rows=1)],
    ),
    "parts are moved before they are committed": (
        Directory, "commit", moved_first, [*ADDS, killed("killed", 1, "move", "half", rows=1)],
    ),
    "parts that cannot be moved are removed": (
        Directory, "finish", forgetting, [*ADDS, killed("full once", 3, "move", rows=1), Go()],
    ),
    "states of others are taken": (
        directory_start, "_check_exported", lambda _: lambda *given: None,
        [*ADDS, Go(), Go(), Damage("exported state", how="cut off")],
    ),
    "what killed runs have left stays": (
        Directory, "_remove_staged", lambda _: lambda _: None, [*ADDS, killed("killed", 9), Go()],
    ),
}  # fmt: skip
"""What is replaced, by what, and a history that finds it."""


@pytest.mark.parametrize("fault", FAULTS)
def test_faults_are_found(fault: str, monkeypatch: Any) -> None:
    where, name, planted, steps = FAULTS[fault]
    history = FilesCase(Setting("cumsum", export="local"), steps)
    history.check()
    monkeypatch.setattr(where, name, planted(getattr(where, name)))
    with pytest.raises((AssertionError, ValueError)):
        history.check()


def test_lost_names_are_found(monkeypatch: Any) -> None:
    """A power cut leaves the state that its user has, and not the directory."""
    cut = Harm("power cut", 1, "export", "after", lost=100)
    history = FilesCase(Setting("cumsum", export="local"), [*ADDS, Go(harm=cut)])
    assert "power cut" in history.check()
    monkeypatch.setattr(Directory, "_sync_above", lambda _: None)
    with pytest.raises(AssertionError, match="is not the directory that was written with it"):
        history.check()


def replaced() -> None:
    """Kill a run that replaces all parts behind each of its moves."""
    for at in range(1, 7):
        redo = Go(Rules("redo"), rows_per_file=1, harm=Harm("killed", at, "move", "after"))
        steps = [*ADDS, Go(checkpoints=0), Change("other values", seed=9), redo]
        assert "killed" in FilesCase(Setting("cumsum"), steps).check()


def test_parts_in_another_order_are_found(monkeypatch: Any) -> None:
    replaced()
    monkeypatch.setattr(Directory, "finish", last_first(Directory.finish))
    with pytest.raises(AssertionError, match="a reader sees"):
        replaced()


def test_damage_that_is_not_seen_is_found(monkeypatch: Any) -> None:
    history = FilesCase(Setting("cumsum"), [*ADDS, Go(), Damage("part", how="other bit")])
    assert "damaged part" in history.check()
    monkeypatch.setattr(Directory, "is_changed", lambda *_: False)
    monkeypatch.setattr(Directory, "damaged", lambda *_: None)
    with pytest.raises(AssertionError):
        history.check()


def test_two_runs_without_a_lock_are_found(monkeypatch: Any) -> None:
    second = Go(rows_per_file=1, harm=Harm("meanwhile", 3, "move"), meanwhile="run")
    history = FilesCase(Setting("cumsum"), [*ADDS, second])
    assert "meanwhile run" in history.check()
    monkeypatch.setattr(stores.LocalStore, "locked", unlocked)
    with pytest.raises((AssertionError, ValueError, OSError)):
        history.check()


def test_files_that_are_lost_are_found(monkeypatch: Any) -> None:
    """The rows of a file that is gone, and to be kept, would have to be computed again."""
    redo = Go(Rules("redo", "keep"))
    steps = [*ADDS, Go(checkpoints=0), Change("remove"), Change("other values", seed=9), redo]
    history = FilesCase(Setting("cumsum"), steps)
    assert "refused" in history.check()
    monkeypatch.setattr(directory_start, "_gone", lambda _: None)
    with pytest.raises(AssertionError, match="pyarrow reads"):
        history.check()


def test_coarse_clocks_are_found_out(monkeypatch: Any) -> None:
    monkeypatch.setattr(fragments, "RACY", 10**15)  # so that no test is too slow for a tick
    changed = Change("other values", 0, seed=9)
    history = FilesCase(
        Setting("cumsum", tick=10**14), [*ADDS, Go(), Go(), changed, Go(looks=True)]
    )
    history.check()
    monkeypatch.setattr(fragments, "settled", lambda one: one)
    with pytest.raises(AssertionError, match="a dry run says"):
        history.check()


@pytest.mark.parametrize("where", ["before", "half", "after"])
@pytest.mark.parametrize("kind", ["killed", "power cut"])
def test_harm_at_the_first_calls_of_each_kind(kind: str, where: str) -> None:
    """SIGKILL and full disks at all calls are in `engines/stream/test_directory.py`."""
    for call in ("put", "write", *(("move", "sync_folder") if where != "half" else ())):
        harm = Harm(kind, 2, call, where, lost=1)
        FilesCase(Setting("totals"), [*ADDS, Go(harm=harm), *ADDS, Go(harm=harm)]).check()


def test_a_case_is_told_as_it_is_made() -> None:
    cut = Harm("killed", 2)
    history = FilesCase(Setting("cumsum"), [Change("add"), Go(Rules("redo"), harm=cut)])
    assert eval(repr(history)) == history


def test_the_model_reads_files_in_order() -> None:
    names = [name_of(number, "dates", "parquet") for number in (9, 10, 1)]
    assert names == ["2026-09-14.parquet", "2026-10-06.parquet", "2026-09-06.parquet"]
    files = sorted([File(name, b"") for name in ("10.parquet", "9.parquet")], key=by_name)
    assert foretold(files[1:], files, Rules()).does == "refuse"
    assert foretold(files[1:], files, Rules("redo")).first == 0
    assert foretold(files[1:], files, Rules(late="append")).after == files[::-1]
