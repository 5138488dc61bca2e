"""Files that others list: Arrow datasets, and the logs of Delta Lake and Iceberg tables."""

from __future__ import annotations

import os
from collections.abc import Sequence
from glob import has_magic
from typing import Any

import pyarrow.fs as pafs

from ....forks import importing
from ....kernels.late_dataclass import dataclass
from ..filesystems import filesystem_of, is_url
from .cudf_files import files
from .delta import LOG, delta_files, is_delta
from .files import Files
from .fragments import LOGGED, Fragment
from .iceberg import iceberg_files, is_iceberg
from .listing import SUFFIXES, Listing, Values, now, sort
from .table_files import DataFile, TableFiles, behind_rewrites


@dataclass(frozen=True)
class ListedFiles(Listing):
    """Files that a dataset, or a table at one version, has listed."""

    known: tuple[Fragment, ...] = ()
    where: pafs.FileSystem | None = None
    table: TableFiles | None = None

    @property
    def root(self) -> str:
        """The identity of the table."""
        return self.table.id if self.table else ""

    @property
    def filesystem(self) -> pafs.FileSystem | None:
        return self.where

    def fragments(self) -> list[Fragment]:
        return sort(self.known, self.order)

    def compared(
        self, known: Sequence[Fragment], in_midst: bool
    ) -> tuple[Sequence[Fragment], list[Fragment]]:
        """Return the files that were read, under their present names, and the files to compare them with."""
        if self.table is None:
            return known, self.fragments()
        names, found = behind_rewrites(self.table, [one.path for one in known], in_midst)
        there = sort(map(_fragment, found), self.order)
        by_path = {one.path: one for one in [*there, *known]}
        gone = Fragment("", 0, 0, LOGGED)  # for files that one rewrite wrote and another removed
        return [by_path.get(name, gone._replace(path=name)) for name in names], there


def _fragment(file: DataFile) -> Fragment:
    return Fragment(file.path, file.size, file.modified, LOGGED, file.rows, place=file.path)


def listed_files(source: Any, order: Any, schema: Any, rules: Any) -> Files | None:
    """Return the files of a table at its version, or of a dataset of Parquet or Arrow IPC.

    Return None for anything else, and for a filtered dataset.
    """
    if is_delta(source) or _is_url_of_delta(source):
        table = delta_files(source)
    elif is_iceberg(source):
        table = iceberg_files(source)
    else:
        return _of_dataset(source, order, schema, rules)
    gone = [file for one in table.rewrites for file in one.old]
    values = {file.path: file.values for file in [*gone, *table.files]}
    known, where = tuple(map(_fragment, table.files)), table.filesystem
    listing = ListedFiles((), True, order, known=known, where=where, table=table)
    schema = table.schema if schema is None else schema
    return files(listing, schema=schema, rules=rules, values_of=values.__getitem__)


def _is_url_of_delta(source: Any) -> bool:
    if not is_url(source) or has_magic(source) or source.lower().endswith(SUFFIXES):
        return False
    filesystem, path = filesystem_of(source)
    found = filesystem.get_file_info(os.path.join(path, LOG))
    return bool(found.type == pafs.FileType.Directory)


def _of_dataset(source: Any, order: Any, schema: Any, rules: Any) -> Files | None:
    if type(source).__name__ != "FileSystemDataset" or source._scan_options:
        return None
    if source.format.default_extname not in ("parquet", "ipc", "arrow", "feather"):
        return None
    with importing:
        import pyarrow.dataset as ds

    is_local = isinstance(source.filesystem, pafs.LocalFileSystem)
    where = None if is_local else source.filesystem
    found, values = list[Fragment](), dict[str, Values]()
    for one in source.get_fragments():
        there = now(Fragment(one.path, 0, 0, place=one.path), where)
        if there is None:
            raise FileNotFoundError(f"no file is called {one.path}")
        found.append(there)
        keys = ds.get_partition_keys(one.partition_expression).items()
        values[one.path] = {key: None if x is None else str(x) for key, x in keys}
    if not found:
        return None
    listing = ListedFiles((), True, order, known=tuple(found), where=where)
    schema = source.schema if schema is None else schema
    return files(listing, schema=schema, rules=rules, values_of=values.__getitem__)
