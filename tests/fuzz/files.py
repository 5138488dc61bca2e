"""Histories of a folder, and of a directory that goes on with it: no row is lost or doubled, whatever happens.

Files come, go and change; runs have any options, are killed, or find a full disk; parts and states are damaged. A model
(`seen_files`) says what each run must find and answer, and what it must refuse.
"""

import warnings
from contextlib import ExitStack
from dataclasses import dataclass, replace
from importlib.util import find_spec
from typing import Any
from unittest.mock import patch

from dask_gpuscan.engines.stream.sinks import directory_sink, stores
from dask_gpuscan.engines.stream.sources import files, listing

from .choices import Choices
from .damages import DamagedHistory
from .file_places import STYLES, Room
from .fuzzer import Fuzzer
from .history_steps import Change, Damage, Go, Setting, Step
from .plain_answers import QUERIES
from .seen_files import Rules
from .store_harm import Harm

OUTCOMES = (
    *("power cut", "SIGKILL", "killed", "full once", "full", "read-only"),
    *("meanwhile run", "meanwhile run in a thread", "meanwhile read", "meanwhile add"),
    "meanwhile other rows",
)


@dataclass(frozen=True)
class FilesCase:
    """A history."""

    setting: Setting
    steps: list[Step]
    label: str = "history"

    def check(self) -> str:
        """Run it, and say what was the worst that happened."""
        with ExitStack() as stack:
            stack.enter_context(warnings.catch_warnings())
            warnings.simplefilter("ignore", UserWarning)
            room = stack.enter_context(Room())
            stack.enter_context(patch.object(directory_sink, "COMMIT_SHARE", self.setting.share))
            stack.enter_context(
                patch.object(directory_sink, "FEWEST_ROWS", self.setting.joined // 2)
            )
            stack.enter_context(patch.object(files, "JOINED_ROWS", self.setting.joined))
            stack.enter_context(patch.object(files, "FEW_ROWS", self.setting.joined // 2))
            if self.setting.tick > 1:
                _coarsen(stack, self.setting.tick)
            history = DamagedHistory(self.setting, room)
            last = Go(rules=Rules(changed="redo"), looks=True)
            for step in [*self.steps, last]:
                if isinstance(step, Change):
                    history.change(step)
                elif isinstance(step, Damage):
                    history.damage(step)
                else:
                    history.go(step)
        for outcome in OUTCOMES:
            if outcome in history.met:
                return outcome
        damaged = sorted(one for one in history.met if one.startswith("damaged"))
        return damaged[0] if damaged else ", ".join(sorted(history.met)) or "undisturbed"


def _coarsen(stack: ExitStack, tick: int) -> None:
    """Let times be those of a file system that knows few."""
    exact, facts, remote = listing.stat_local, stores.LocalStore.facts, listing._modified

    def coarse(path: str) -> Any:
        found = exact(path)
        return found and (found[0], found[1] // tick * tick, found[2] // tick * tick)

    def of_store(store: Any, path: str) -> Any:
        found = facts(store, path)
        return found and (found[0], found[1] // tick * tick)

    def of_url(*given: Any) -> int:
        return remote(*given) // tick * tick

    stack.enter_context(patch.object(listing, "stat_local", coarse))
    stack.enter_context(patch.object(listing, "_modified", of_url))
    stack.enter_context(patch.object(stores.LocalStore, "facts", of_store))


CHANGES = (
    *("add", "add", "add", "add late", "append", "other values", "other rows", "remove", "touch"),
    *("same bytes", "other values, same times", "rename", "cut off", "other columns"),
)
DAMAGES = ("another query", "part", "state", "manifest", "exported state", "file of others", "copy")
KINDS = (
    *("killed", "killed", "power cut", "full once", "full", "meanwhile", "meanwhile"),
    *("read-only", "SIGKILL"),
)
CALLS = ("any", "any", "any", "move", "move", "put", "sync_folder", "remove", "write", "export")
READERS = ("pyarrow",) * 6 + ("pandas", "polars", "a pattern of polars", "DuckDB")


def draw(choices: Choices) -> FilesCase:
    """Draw a history."""
    setting = _draw_setting(choices)
    steps: list[Step] = [_draw_add(choices) for _ in range(choices.between(1, 3))]
    for _ in range(choices.between(1, 9)):
        kind = choices.below(10)
        if kind < 5:
            steps.append(_draw_go(choices, setting))
        elif kind < 9:
            steps.append(_draw_change(choices))
        else:
            hows = ("gone", "cut off", "other bit")
            steps.append(
                Damage(
                    choices.pick(DAMAGES),
                    choices.below(97),
                    choices.pick(hows),
                    choices.flag(),
                )
            )
    return FilesCase(setting, steps)


def deltalake() -> Any:
    """Return the package that writes tables of Delta Lake; None if it is not installed."""
    return find_spec("deltalake")


def _draw_setting(choices: Choices) -> Setting:
    query = choices.pick(QUERIES)
    style = choices.pick(tuple(STYLES))
    formats = choices.pick((("parquet",), ("parquet",), ("arrow",), ("parquet", "arrow")))
    orders = [None, None, "modified"]
    if style in ("numbers", "days", "dates"):
        orders.append("last first")
    return Setting(
        query.name,
        style,
        formats,
        choices.pick(("local", "local", "local", "memory")),
        choices.pick(("local", "local", "local", "memory") * 3 + ("table",) * bool(deltalake())),
        choices.pick(("folder", "folder", "pattern", "list")),
        choices.pick(orders),
        choices.one_in(5),
        choices.pick((None, None, "local", "memory")),
        choices.pick((1, 1, 1, 2 * 10**9)),
        choices.pick((0, directory_sink.COMMIT_SHARE)),
        choices.between(8, 12),
        choices.one_in(6),
        choices.pick((1 << 16, 8, 0)),
    )


def _draw_add(choices: Choices) -> Change:
    return Change("add", 0, choices.below(8), choices.below(100))


def _draw_change(choices: Choices) -> Change:
    kind = choices.pick(CHANGES)
    return Change(kind, choices.below(12), choices.below(8), choices.below(100))


def _draw_rules(choices: Choices) -> Rules:
    if choices.flag():
        return Rules()
    return Rules(
        choices.pick(("error", "redo", "redo", "keep")),
        choices.pick((None, "keep")),
        choices.pick((None, "append")),
    )


def _draw_go(choices: Choices, setting: Setting) -> Go:
    harm, meanwhile = Harm(), "read"
    if choices.one_in(3):
        kind, call = choices.pick(KINDS), choices.pick(CALLS)
        harm = Harm(
            kind,
            choices.between(1, 60 if call == "any" else 5),
            call,
            choices.pick(("before", "half", "after")),
            choices.pick((0, 1, 2, 3, 100)),
            choices.below(3),
        )
        in_memory = "memory" in (setting.target, setting.export) or setting.target == "table"
        if harm.kind in ("SIGKILL", "power cut") and in_memory:
            harm = replace(harm, kind="killed")
        meanwhile = choices.pick(("read", "run", "run in a thread", "add", "other rows"))
    export = choices.pick(("as ever",) * 8 + ("none", "local"))
    return Go(
        _draw_rules(choices),
        choices.pick((None, None, "source")),
        choices.between(1, 7),
        choices.pick((1 << 20, 0, 5000)),
        export,
        choices.one_in(3),
        choices.pick(READERS) if setting.target == "local" else "pyarrow",
        harm,
        meanwhile,
    )


FILES = Fuzzer("files", draw)
