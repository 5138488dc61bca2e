"""What a stream that goes on must do with the files that it finds: a model, written from the words of `stream`.

It knows files by all of their bytes, and answers by all of their rows.
"""

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from itertools import takewhile
from typing import Any

from .plain_answers import Row


@dataclass(frozen=True)
class File:
    """A file of a folder: as it is, or as it was when it was read."""

    name: str
    content: bytes = field(repr=False)
    rows: tuple[Row, ...] = ()
    written: int = field(default=0, compare=False)
    """Nanoseconds, by which files may be sorted."""
    fault: str = ""
    """Why it cannot be read; empty if it can."""


Order = Callable[[File], Any]


def by_name(file: File) -> Any:
    """Return what names are sorted by, in which numbers count as numbers."""
    parts = file.name.split("/")
    parts[-1] = parts[-1].rpartition(".")[0]
    pieces = [re.findall(r"\d+|\D+", part) for part in parts]
    return [
        [(1, int(one), "") if one.isdigit() else (2, 0, one) for one in part] for part in pieces
    ]


def by_time(file: File) -> Any:
    """Return what files are sorted by of which the oldest is first."""
    return file.written, by_name(file)


@dataclass(frozen=True)
class Rules:
    """What a user says of files that differ."""

    changed: str = "error"
    removed: str | None = None
    late: str | None = None

    def given(self) -> dict[str, Any]:
        """Return the arguments of `stream`, without those that are as they are by default."""
        return {k: v for k, v in vars(self).items() if v not in (None, "error")}


@dataclass(frozen=True)
class Foretold:
    """What a run must find, and do."""

    seen: list[str]
    new: list[str]
    changed: list[str]
    removed: list[str]
    late: list[str]
    does: str
    """"go on", "refuse" or "redo"."""
    first: int
    """How many of the files that were seen are not touched by what differs."""
    archived: list[str]
    """Files that are gone, ahead of all that are there, and whose folders have no new ones."""
    after: list[File]
    """The files whose rows are answered, in order, if it goes on."""
    rest: list[File]
    """Those of them that are read now."""

    def lists(self) -> dict[str, list[str]]:
        """Return what `dry_run` must say."""
        return {k: getattr(self, k) for k in ("seen", "new", "changed", "removed", "late")}

    def agrees(self, found: Any) -> bool:
        """Return whether a dry run says the same."""
        return all(getattr(found, name) == paths for name, paths in self.lists().items())


def foretold(known: Sequence[File], there: Sequence[File], rules: Rules) -> Foretold:
    """Return what a run must do that has seen some files, and finds others, both in order."""
    now = {file.name: file for file in there}
    names = [file.name for file in known]
    removed = [name for name in names if name not in now]
    changed = [f.name for f in known if f.name in now and now[f.name].content != f.content]
    new = [file for file in there if file.name not in names]
    places = [i for i, file in enumerate(there) if file.name in names]
    late = [f.name for f in there[: places[-1] if places else 0] if f.name not in names]
    still = [name for name in names if name in now]
    order = still + [f.name for f in new] if rules.late else [f.name for f in there]

    folders = {file.name.rpartition("/")[0] for file in new} - {""}
    ahead = takewhile(lambda name: name not in now, names)
    archived = [name for name in ahead if name.rpartition("/")[0] not in folders]
    first, place = len(known), 0
    for i, name in enumerate(names):
        if name in removed:
            if rules.removed == "keep" and name in archived:
                continue
        elif order[place] == name and (name not in changed or rules.changed == "keep"):
            place += 1
            continue
        first = i
        break
    rest = [now[name] for name in order[len(still) :]]
    kept = [_as_seen(file, now.get(file.name)) for file in known]
    does = "go on" if first == len(known) else "redo" if rules.changed == "redo" else "refuse"
    return Foretold(
        [name for name in names if name not in removed and name not in changed],
        [file.name for file in new],
        changed,
        removed,
        late,
        does,
        first,
        archived,
        kept + rest,
        rest,
    )


def _as_seen(known: File, now: File | None) -> File:
    """Return a file that was read, by what it is known from now on: its rows stay those that were read."""
    return known if now is None else File(known.name, now.content, known.rows, now.written)


def redone(known: Sequence[File], there: Sequence[File], rules: Rules, kept: int) -> list[File]:
    """Return the files whose rows are answered after all behind so many were read again."""
    return foretold(known[:kept], there, rules).after


def rows_of(files: Sequence[File]) -> list[Row]:
    """Return the rows of files, in order."""
    return [row for file in files for row in file.rows]
