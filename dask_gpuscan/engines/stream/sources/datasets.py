"""Datasets of Arrow as sources of files."""

from __future__ import annotations

from typing import Any

import pyarrow.fs as pafs

from ....forks import importing
from ....kernels.late_dataclass import dataclass
from .files import Files, files
from .fragments import Fragment
from .listing import Listing, Values, now, sort


@dataclass(frozen=True)
class NamedFiles(Listing):
    """Files that something else has listed."""

    known: tuple[Fragment, ...] = ()
    where: pafs.FileSystem | None = None

    @property
    def filesystem(self) -> pafs.FileSystem | None:
        return self.where

    def fragments(self) -> list[Fragment]:
        return sort(self.known, self.order)


def files_of_dataset(source: Any, order: Any, **options: Any) -> Files | None:
    """Return the files of a dataset of Parquet or Arrow IPC, in its order; None for others, and for a filtered one."""
    if type(source).__name__ != "FileSystemDataset" or source._scan_options:
        return None
    if source.format.default_extname not in ("parquet", "ipc", "arrow", "feather"):
        return None
    with importing:
        import pyarrow.dataset as ds

    local = isinstance(source.filesystem, pafs.LocalFileSystem)
    where = None if local else source.filesystem
    found, values = list[Fragment](), dict[str, Values]()
    for one in source.get_fragments():
        there = now(Fragment(one.path, 0, 0, place=one.path), where)
        if there is None:
            raise FileNotFoundError(f"no file is called {one.path}")
        found.append(there)
        keys = ds.get_partition_keys(one.partition_expression)
        values[one.path] = {key: _text(value) for key, value in keys.items()}
    if not found:
        return None
    listing = NamedFiles((), True, order, known=tuple(found), where=where)
    if options.get("schema") is None:
        options["schema"] = source.schema
    return files(listing, values_of=values.__getitem__, **options)


def _text(value: Any) -> str | None:
    return None if value is None else str(value)
