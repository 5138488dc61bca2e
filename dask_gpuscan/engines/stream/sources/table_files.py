"""The data files of Delta Lake and Iceberg tables, in the order in which a stream reads them."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

import pyarrow as pa

from ....kernels.late_dataclass import dataclass


@dataclass(frozen=True)
class DataFile:
    """A data file of a table, as the table's log describes it.

    Parameters
    ----------
    path : str
        The path relative to the root of the file system of its `TableFiles`.
    size : int
        The size in bytes.
    modified : int
        The time of writing in nanoseconds since 1970.
    rows : int
        The number of rows; -1 if the log does not say.
    values : dict of str to str or None
        The values of the partition columns, which are not in the file itself, as texts.
    version : int
        The version of the commit that added the file; -1 if the log does not say.
    place : tuple of int
        The sort key of the file.
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
    """A commit that has moved rows to other files without changing them."""

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
        The files in the order in which commits have added their rows.
    schema : Schema
        The schema of the table, with the partition columns.
    filesystem : FileSystem
    id : str
        The identity of the table: a table that replaces it has another one.
    version : int
    rewrites : sequence of Rewrite
        The rewrites that the log still has, in order.
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
    """Return the present names of files that were read, and the files of a table to compare them with.

    If all old files of a rewrite were read, its new files count as read. If only some of them were read, the old files
    are listed instead of the new ones: they are in the store until the table is vacuumed.

    Parameters
    ----------
    table : TableFiles
    seen : sequence of str
        The paths of the files that were read, in order.
    in_midst : bool
        Whether the last one was read in part.

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
    """Replace old names by new ones, in the place of the first old name."""
    found = list[str]()
    for name in names:
        if name not in old:
            found.append(name)
        elif new:
            found += new
            new = ()
    return found
