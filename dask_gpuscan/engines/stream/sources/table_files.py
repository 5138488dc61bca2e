"""The data files of tables that keep a log of commits: Delta Lake and Iceberg. What a stream reads of one, in order."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

import pyarrow as pa

from ....kernels.late_dataclass import dataclass


@dataclass(frozen=True)
class DataFile:
    """A data file of a table, as the log of the table has it.

    Parameters
    ----------
    path : str
        Relative to the root of the file system of its `TableFiles`.
    size : int
        In bytes.
    modified : int
        In nanoseconds since 1970.
    rows : int
        How many it has; -1 if the log does not say.
    values : dict of str to str or None
        Of the columns that are the same in all its rows and not in the file itself, as texts.
    version : int
        Of the commit that added it; -1 if the log does not say.
    place : tuple of int
        By which files are ordered.
    """

    path: str
    size: int
    modified: int
    rows: int
    values: dict[str, str | None]
    version: int = -1
    place: tuple[int, ...] = ()


@dataclass(frozen=True)
class Rewrite:
    """A commit that has put rows into other files, and changed none."""

    old: tuple[DataFile, ...]
    new: tuple[str, ...]
    """Paths."""

    def has(self, path: str) -> bool:
        """Return whether a file was rewritten."""
        return any(file.path == path for file in self.old)


@dataclass(frozen=True)
class TableFiles:
    """The data files of a table at one version.

    Parameters
    ----------
    files : sequence of DataFile
        In the order in which commits have added their rows.
    schema : Schema
        Of the table, with the columns that are not in files.
    filesystem : FileSystem
    id : str
        Of the table, by which it is known again if it is replaced.
    version : int
    rewrites : sequence of Rewrite
        Those that the log still has, in order.
    """

    files: Sequence[DataFile]
    schema: pa.Schema
    filesystem: Any
    id: str
    version: int
    rewrites: Sequence[Rewrite] = ()


def behind_rewrites(
    table: TableFiles, seen: Sequence[str], in_midst: bool = False
) -> tuple[list[str], list[DataFile]]:
    """Return what files that were seen are called now, and the files of a table to compare them with.

    Where all files that a commit has rewritten were seen, those that it wrote were. Where only some of them were, the
    files from before are listed: they are in the store until the table is vacuumed.

    Parameters
    ----------
    table : TableFiles
    seen : sequence of str
        Paths, in order.
    in_midst : bool
        Whether the last one was seen in part.

    Examples
    --------
    >>> a, b, c = [DataFile(name, 9, 0, 3, {}, place=(place,)) for place, name in enumerate("abc")]
    >>> table = TableFiles((c,), pa.schema([]), None, "", 3, (Rewrite((a, b), ("c",)),))
    >>> behind_rewrites(table, ["a", "b"]) == (["c"], [c])
    True
    >>> behind_rewrites(table, ["a"]) == (["a"], [a, b])
    True
    """
    names, mixed, undone = list(seen), set[str](), list[Rewrite]()
    for one in table.rewrites:
        old = {file.path for file in one.old}
        if old <= set(names[:-1] if in_midst else names):
            names = _replaced(names, old, one.new)
        elif not old.isdisjoint(mixed.union(names)):
            mixed.update(one.new)
            undone.append(one)
    files = {file.path: file for file in table.files}
    for one in reversed(undone):
        for path in one.new:
            files.pop(path, None)
        files.update((file.path, file) for file in one.old)
    return names, sorted(files.values(), key=lambda file: file.place)


def _replaced(names: Iterable[str], old: set[str], new: Sequence[str]) -> list[str]:
    """Return names with new ones in the place of the first of those that are replaced."""
    found = list[str]()
    for name in names:
        if name not in old:
            found.append(name)
        elif new:
            found += new
            new = ()
    return found
