"""Histories of a folder, and of a directory that goes on with it: no row is lost or doubled, whatever happens.

Files come, go and change; runs have any options, are killed, or find a full disk; parts and states are damaged. A model
(`seen_files`) says what each run must find and answer, and what it must refuse.
"""

import warnings
from contextlib import ExitStack
from dataclasses import dataclass
from typing import Any
from unittest.mock import patch

from hypothesis import strategies as st

from dask_gpuscan.engines.stream.sinks import directory_sink, stores
from dask_gpuscan.engines.stream.sources import files, listing

from .damages import DamagedHistory
from .drawn import one_of
from .file_places import READERS, STYLES, Room
from .history_steps import NO_HARM, Change, Damage, Go, Setting, Step
from .plain_answers import QUERIES
from .seen_files import Rules
from .store_harm import Harm


@dataclass(frozen=True)
class FilesCase:
    """A history."""

    setting: Setting
    steps: list[Step]

    def check(self) -> str:
        """Run it, and say what happened."""
        with ExitStack() as stack:
            stack.enter_context(warnings.catch_warnings())
            warnings.simplefilter("ignore", UserWarning)
            room = stack.enter_context(Room())
            joined = self.setting.joined
            for module, name, value in (
                (directory_sink, "COMMIT_SHARE", self.setting.share),
                (directory_sink, "FEWEST_ROWS", joined // 2),
                (files, "JOINED_ROWS", joined),
                (files, "FEW_ROWS", joined // 2),
            ):
                stack.enter_context(patch.object(module, name, value))
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
        return ", ".join(sorted(history.met)) or "undisturbed"


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


def _pick(*values: Any) -> st.SearchStrategy[Any]:
    return st.sampled_from(values)


SETTINGS = st.builds(
    Setting,
    _pick(*(query.name for query in QUERIES)),
    style=_pick(*STYLES),
    formats=_pick(("parquet",), ("parquet",), ("arrow",), ("parquet", "arrow")),
    source=_pick("local", "local", "local", "memory"),
    target=_pick(*("local", "local", "local", "memory") * 3, "table"),
    by=_pick("folder", "folder", "pattern", "list"),
    order=_pick(None, None, None, "modified", "last first"),
    ends=_pick(*[False] * 4, True),
    export=_pick(None, None, "local", "memory"),
    tick=_pick(1, 1, 1, 2 * 10**9),
    share=_pick(0, directory_sink.COMMIT_SHARE),
    start=st.integers(8, 12),
    schema=_pick(*[False] * 5, True),
    joined=_pick(1 << 16, 8, 0),
).filter(lambda one: one.order != "last first" or one.style in ("numbers", "days", "dates"))

SIZES = {"count": st.integers(0, 7), "seed": st.integers(0, 99)}
ADDS = st.builds(Change, st.just("add"), **SIZES)
CHANGES = st.builds(
    Change,
    _pick(
        *("add", "add", "add", "add late", "append", "other values", "other rows", "remove"),
        *("touch", "same bytes", "other values, same times", "rename", "cut off"),
        "other columns",
    ),
    st.integers(0, 11),
    **SIZES,
)
DAMAGES = st.builds(
    Damage,
    _pick(
        *("another query", "part", "state", "manifest", "exported state", "file of others"), "copy"
    ),
    st.integers(0, 96),
    _pick("gone", "cut off", "other bit"),
    st.booleans(),
)


def _harms(most: int, *calls: str) -> st.SearchStrategy[Harm]:
    kinds = ("killed", "killed", "power cut", "full once", "full", "meanwhile", "meanwhile")
    return st.builds(
        Harm,
        _pick(*kinds, "read-only", "SIGKILL"),
        st.integers(1, most),
        _pick(*calls),
        _pick("before", "half", "after"),
        _pick(0, 1, 2, 3, 100),
        st.integers(0, 2),
    )


CALLS = _harms(5, "move", "move", "put", "sync_folder", "remove", "write", "export")
RUNS = st.builds(
    Go,
    st.just(Rules())
    | st.builds(
        Rules, _pick("error", "redo", "redo", "keep"), _pick(None, "keep"), _pick(None, "append")
    ),
    _pick(None, None, "source"),
    st.integers(1, 7),
    _pick(1 << 20, 0, 5000),
    _pick(*["as ever"] * 8, "none", "local"),
    _pick(False, False, True),
    _pick(*["pyarrow"] * 5, *READERS),
    one_of(*[st.just(NO_HARM)] * 6, _harms(60, "any"), CALLS, CALLS),
    _pick("read", "run", "run in a thread", "add", "other rows"),
)
STEPS = one_of(*[RUNS] * 5, *[CHANGES] * 4, DAMAGES)


@st.composite
def _cases(draw: Any) -> FilesCase:
    first = draw(st.lists(ADDS, min_size=1, max_size=3))
    return FilesCase(draw(SETTINGS), [*first, *draw(st.lists(STEPS, min_size=1, max_size=9))])


FILES = _cases()
"""Histories."""
