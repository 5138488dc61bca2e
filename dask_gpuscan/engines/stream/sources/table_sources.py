"""Tables of Delta Lake and Iceberg as sources of files: their logs say which these are, and what was put elsewhere."""

from __future__ import annotations

import os
from collections.abc import Sequence
from glob import has_magic
from typing import Any

import pyarrow.fs as pafs

from ....kernels.late_dataclass import dataclass
from ..filesystems import filesystem_of, is_url
from .datasets import NamedFiles
from .delta import LOG, delta_files, is_delta
from .files import Files, files
from .fragments import LOGGED, Fragment
from .iceberg import iceberg_files, is_iceberg
from .listing import SUFFIXES, sort
from .table_files import DataFile, TableFiles, behind_rewrites


@dataclass(frozen=True)
class TableListing(NamedFiles):
    """The files of a table at one version."""

    table: TableFiles | None = None

    @property
    def root(self) -> str:
        """The identity of the table."""
        return self.table.id if self.table else ""

    def compared(
        self, known: Sequence[Fragment], in_midst: bool
    ) -> tuple[Sequence[Fragment], list[Fragment]]:
        """Return files that were seen as they are called now, and files to compare them with."""
        assert self.table is not None
        names, found = behind_rewrites(self.table, [one.path for one in known], in_midst)
        there = sort(map(_fragment, found), self.order)
        by_path = {one.path: one for one in [*there, *known]}
        gone = Fragment("", 0, 0, LOGGED)  # written by a rewrite, and removed behind it
        return [by_path.get(name, gone._replace(path=name)) for name in names], there


def _fragment(file: DataFile) -> Fragment:
    return Fragment(file.path, file.size, file.modified, LOGGED, file.rows, place=file.path)


def files_of_table(source: Any, order: Any, **options: Any) -> Files | None:
    """Return the files of a table of Delta Lake or Iceberg, at the version that it has; None for anything else."""
    if is_delta(source) or _is_url_of_delta(source):
        table = delta_files(source)
    elif is_iceberg(source):
        table = iceberg_files(source)
    else:
        return None
    known = tuple(map(_fragment, table.files))
    gone = [file for one in table.rewrites for file in one.old]
    values = {file.path: file.values for file in [*gone, *table.files]}
    if options.get("schema") is None:
        options["schema"] = table.schema
    listing = TableListing((), True, order, known=known, where=table.filesystem, table=table)
    return files(listing, values_of=values.__getitem__, **options)


def _is_url_of_delta(source: Any) -> bool:
    if not is_url(source) or has_magic(source) or source.lower().endswith(SUFFIXES):
        return False
    filesystem, path = filesystem_of(source)
    found = filesystem.get_file_info(os.path.join(path, LOG))
    return bool(found.type == pafs.FileType.Directory)
