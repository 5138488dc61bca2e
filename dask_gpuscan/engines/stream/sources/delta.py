"""Delta Lake tables as sources: their data files, in the order in which commits have added rows.

The package `deltalake` lists the files of a version. Only the log says when they were added: it has a JSON file for
each commit, which may be removed after a checkpoint.
"""

from __future__ import annotations

import json
import os
import re
from collections import defaultdict
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from typing import Any
from urllib.parse import unquote

import pyarrow as pa
from pyarrow import fs

from ....forks import importing
from ....kernels.late_dataclass import dataclass
from .table_files import DataFile, Rewrite, TableFiles

OLDEST = (1, 5, 1)
"""The oldest version of `deltalake`: before 1.1 it ignores transactions of others, and before 1.5.1 it mixes rows."""

LOG = "_delta_log"

_READ = {
    *("timestampNtz", "columnMapping", "deletionVectors", "v2Checkpoint", "vacuumProtocolCheck"),
    *("typeWidening", "typeWidening-preview"),
}
"""Features of tables that are supported, or checked further."""


def deltalake() -> Any:
    """Return the package `deltalake`; raises an ImportError that says how to install it."""
    try:
        with importing:
            import deltalake as found
    except ImportError as error:
        raise ImportError(
            'tables of Delta Lake need deltalake: pip install "dask-gpuscan[delta]"'
        ) from error
    version = tuple(map(int, re.findall(r"\d+", found.__version__)[:3]))
    if version < OLDEST:
        raise ImportError(
            f"deltalake must be {'.'.join(map(str, OLDEST))} or later, found {found.__version__}: "
            'pip install "dask-gpuscan[delta]"'
        )
    return found


def is_delta(source: Any) -> bool:
    """Return whether a source is a `DeltaTable` or the local folder of one."""
    if isinstance(source, (str, os.PathLike)):
        return os.path.isdir(os.path.join(source, LOG))
    kind = type(source)
    return kind.__name__ == "DeltaTable" and kind.__module__.startswith("deltalake")


def opened(
    table: Any, storage_options: dict[str, str] | None = None
) -> tuple[str, dict[str, str] | None]:
    """Return the path of a table and the options of its store, given the table or its path."""
    if isinstance(table, (str, os.PathLike)):
        path = os.fspath(table)
        return path if "://" in path else os.path.abspath(path), storage_options
    if not is_delta(table):
        raise TypeError(
            f"table must be a DeltaTable or the path of one, found {type(table).__name__}"
        )
    return table.table_uri, storage_options or table._storage_options


def store(uri: str, storage_options: dict[str, str] | None) -> fs.FileSystem:
    """Return the file system with the folder of a table as its root."""
    if "://" not in uri:
        return fs.SubTreeFileSystem(uri, fs.LocalFileSystem())
    if uri.startswith("file:"):
        return fs.SubTreeFileSystem(fs.FileSystem.from_uri(uri)[1], fs.LocalFileSystem())
    with importing:
        from deltalake.fs import DeltaStorageHandler

    class Handler(DeltaStorageHandler):  # type: ignore[misc]
        def open_output_stream(self, path: str, metadata: Any = None) -> pa.NativeFile:
            file = _OfBytes(self._handler.open_output_stream(path, metadata))
            return pa.PythonFile(file, mode="w")

    return fs.PyFileSystem(Handler(uri, storage_options))


class _OfBytes:
    """A file of deltalake, to which pyarrow writes buffers and deltalake wants bytes."""

    def __init__(self, file: Any) -> None:
        self.file, self.closed = file, False

    def write(self, buffer: Any) -> int:
        return int(self.file.write(bytes(buffer)))

    def flush(self) -> None:
        self.file.flush()

    def close(self) -> None:
        self.file.close()
        self.closed = True


def delta_files(table: Any) -> TableFiles:
    """Return the data files of a Delta Lake table, in the order in which commits have added their rows.

    Files that a commit has rewritten without changing rows (OPTIMIZE) take the place of the first of the old files.
    Files that were added by a commit that is no longer in the log come first, in the order of their times.

    Parameters
    ----------
    table : DeltaTable or path
        A `DeltaTable` is read at its own version.

    Raises
    ------
    ImportError
        If deltalake is not installed or too old.
    ValueError
        If the table has deletion vectors, renamed columns, or files in other folders: a reader of Parquet would return
        wrong rows.
    """
    package = deltalake()
    if isinstance(table, (str, os.PathLike)):
        table = package.DeltaTable(opened(table)[0])
    _check_readable(table)
    filesystem = store(*opened(table))
    history = _History(filesystem, table.version())
    files = sorted(map(history.placed, _live(table)), key=lambda file: file.place)
    schema = pa.schema(table.schema().to_arrow())
    table_id = str(table.metadata().id)
    return TableFiles(files, schema, filesystem, table_id, table.version(), history.rewrites)


def _check_readable(table: Any) -> None:
    uri, features = table.table_uri, set(table.protocol().reader_features or [])
    mapping = table.metadata().configuration.get("delta.columnMapping.mode", "none")
    if mapping != "none":
        raise ValueError(f"table {uri} has column mapping ({mapping}), which is not read")
    if features - _READ:
        raise ValueError(
            f"table {uri} has {', '.join(sorted(features - _READ))}, which is not read"
        )
    if "deletionVectors" in features and _has_deletions(table):
        raise ValueError(
            f"table {uri} has deletion vectors, which are not read: write its files anew, such as with REORG TABLE "
            f"... APPLY (PURGE)"
        )


def _has_deletions(table: Any) -> bool:
    if not hasattr(table, "deletion_vectors"):
        return True
    return any(len(batch) for batch in pa.RecordBatchReader.from_stream(table.deletion_vectors()))


def _live(table: Any) -> Iterator[DataFile]:
    """Yield the files of a version, without their positions."""
    actions = pa.table(table.get_add_actions(flatten=False))
    columns = ["path", "size_bytes", "modification_time", "num_records"]
    rows = actions.select(columns).to_pylist()
    values = [dict[str, str | None]() for _ in rows]
    if "partition" in actions.column_names:
        flat = actions.select(["partition"]).flatten()
        for name, column in zip(flat.column_names, flat.columns, strict=True):
            for each, text in zip(values, column.cast(pa.string()).to_pylist(), strict=True):
                each[name.removeprefix("partition.")] = text
    for row, each in zip(rows, values, strict=True):
        path, size, time, count = (row[name] for name in columns)
        yield _file(path, size, time, count, each)


def _file(path: str, size: int | None, time: int | None, rows: int | None, values: Any) -> DataFile:
    if "://" in path or path.startswith("/"):
        raise ValueError(f"table has a file elsewhere, {path}, as copies that share files have")
    count = -1 if rows is None else rows
    return DataFile(unquote(path), size or 0, (time or 0) * 10**6, count, values or {})


# --- the log -----------------------------------------------------------------------------------------


@dataclass(frozen=True)
class _Commit:
    version: int
    added: list[dict[str, Any]]
    removed: list[dict[str, Any]]

    @property
    def is_rewrite(self) -> bool:
        actions = self.added + self.removed
        return bool(self.added and self.removed) and not any(one["dataChange"] for one in actions)


class _History:
    """The commits that have added files, as far as they are in the log."""

    def __init__(self, filesystem: fs.FileSystem, version: int) -> None:
        self.added: dict[str, DataFile] = {}
        self.rewrites = list[Rewrite]()
        for commit in _commits(filesystem, version):
            for number, action in enumerate(commit.added):
                file = _file_of(action)
                placed = replace(file, version=commit.version, place=(commit.version, number))
                if self.added.setdefault(file.path, placed) is not placed:  # restored in its place
                    self.rewrites = [one for one in self.rewrites if not one.has(file.path)]
            if commit.is_rewrite:
                self._rewrite(commit)

    def _rewrite(self, commit: _Commit) -> None:
        parts: dict[str, tuple[list[DataFile], list[str]]] = defaultdict(lambda: ([], []))
        for action in commit.removed:
            parts[_part(action)][0].append(self.placed(_file_of(action)))
        for action in commit.added:
            parts[_part(action)][1].append(_file_of(action).path)
        for old, new in parts.values():
            old.sort(key=lambda file: file.place)
            for path in new if old else ():
                place = old[0].place + self.added[path].place
                self.added[path] = replace(self.added[path], place=place)
            self.rewrites.append(Rewrite(tuple(old), tuple(new)))

    def placed(self, file: DataFile) -> DataFile:
        """Return a file with its position: before all others if its commit is no longer in the log."""
        known = self.added.get(file.path)
        if known is None:
            return replace(file, place=(-1, file.modified))
        return (
            known if file.modified == 0 else replace(file, version=known.version, place=known.place)
        )


def _part(action: dict[str, Any]) -> str:
    return json.dumps(action.get("partitionValues") or {}, sort_keys=True)


def _file_of(action: dict[str, Any]) -> DataFile:
    rows = json.loads(action.get("stats") or "{}").get("numRecords")
    time, values = action.get("modificationTime"), action.get("partitionValues")
    return _file(action["path"], action.get("size"), time, rows, values)


def _commits(filesystem: fs.FileSystem, version: int) -> Iterator[_Commit]:
    """Yield the commits that the log still has, up to a version."""
    found = filesystem.get_file_info(fs.FileSelector(LOG))
    names = sorted(one.path.rpartition("/")[2] for one in found)
    commits = [name for name in names if re.fullmatch(r"\d{20}\.json", name)]

    def read(name: str) -> _Commit:
        with filesystem.open_input_file(f"{LOG}/{name}") as file:
            actions = [json.loads(line) for line in file.read().splitlines() if line.strip()]
        kinds = [[one[kind] for one in actions if kind in one] for kind in ("add", "remove")]
        return _Commit(int(name[:20]), *kinds)

    with ThreadPoolExecutor(8) as pool:
        yield from pool.map(read, [name for name in commits if int(name[:20]) <= version])
