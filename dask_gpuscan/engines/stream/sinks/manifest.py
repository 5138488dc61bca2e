"""The manifest of a directory: its parts, the state after their rows, and the files of the source that were read.

Only the manifest says what a directory holds: it is replaced in one step when all files that it names are on disk.
Parts get their final names after that; a run that finds parts without them moves them first (`Directory.finish`).

Our own files lie in a folder that most readers of Parquet skip. Polars does not: so each is a Parquet file without
rows, in the schema of the parts, and our bytes lie between its first bytes and its footer.
"""

from __future__ import annotations

import hashlib
import json
from base64 import b64decode, b64encode
from collections.abc import Sequence
from dataclasses import field
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

from ....kernels.late_dataclass import dataclass
from ..sources.fragments import Fragment, columns_of_fragments, fragments_of_columns

FOLDER = "_gpuscan"
"""The folder of our own files in a directory."""

NAME = "manifest.parquet"

VERSION = 1

MAGIC = b"PAR1"


@dataclass(frozen=True)
class Part:
    """A Parquet file with rows."""

    name: str
    rows: int
    size: int
    modified: int
    digest: str
    staged: str = ""
    """Its name before it is moved to its place; it may have been moved already."""


@dataclass(frozen=True)
class Kept:
    """A state in a file of its own."""

    name: str
    size: int
    fragments: int
    """The number of files that were read to their ends."""
    rows: int
    """The number of rows that were written before it."""


@dataclass(frozen=True)
class Exported:
    """The state that was written to a path of the user."""

    digest: str
    before: str | None = None
    """The digest of the previous state, which may still be there."""


@dataclass(frozen=True)
class Manifest:
    """The contents of a directory."""

    state: Kept
    parts: tuple[Part, ...] = ()
    leaving: tuple[Part, ...] = ()
    """Parts that were replaced, and may still be there."""
    checkpoints: tuple[Kept, ...] = ()
    """States after some of the files that were read, oldest first."""
    fragments: tuple[Fragment, ...] = ()
    part: int = -1
    """As `State.part`."""
    root: str = ""
    exported: Exported | None = None
    base: str | None = None
    """The digest of the state that the source began with."""
    schema: pa.Schema = field(default=pa.schema([]), compare=False)
    """The schema of the tables that are written to parts; `ParquetWriter` may store another one."""

    @property
    def rows(self) -> int:
        """The number of rows of all parts."""
        return sum(one.rows for one in self.parts)

    def content(self) -> bytes:
        """Return the manifest as bytes."""
        shape = {
            "version": VERSION,
            "state": _values(self.state),
            "parts": _columns(self.parts, Part),
            "leaving": _columns(self.leaving, Part),
            "checkpoints": _columns(self.checkpoints, Kept),
            "fragments": columns_of_fragments(self.fragments),
            "part": self.part,
            "root": self.root,
            "exported": None if self.exported is None else _values(self.exported),
            "base": self.base,
            "schema": b64encode(self.schema.serialize().to_pybytes()).decode(),
        }
        written = json.dumps(shape).encode()
        return hashlib.sha256(written).hexdigest().encode() + written


def manifest_of(content: bytes, path: str) -> Manifest:
    """Return the manifest of the bytes of `Manifest.content`; `path` is for messages.

    Raises
    ------
    ValueError
        For other bytes.
    """
    digest, written = content[:64], content[64:]
    if hashlib.sha256(written).hexdigest().encode() != digest:
        raise ValueError(f"{path} was changed after it was written: its digest is another")
    try:
        shape = json.loads(written)
        if shape["version"] != VERSION:
            raise ValueError(f"it is of version {shape['version']!r}, and {VERSION} is read")
        return Manifest(
            Kept(*_checked(shape["state"], Kept)),
            _rows(shape["parts"], Part),
            _rows(shape["leaving"], Part),
            _rows(shape["checkpoints"], Kept),
            fragments_of_columns(shape["fragments"]),
            int(shape["part"]),
            str(shape["root"]),
            None if shape["exported"] is None else Exported(*shape["exported"]),
            shape["base"],
            pa.ipc.read_schema(pa.py_buffer(b64decode(shape["schema"]))),
        )
    except (LookupError, TypeError, ValueError, RecursionError) as error:
        raise ValueError(f"{path} is no manifest that is understood: {error}") from error


def _values(one: Any) -> list[Any]:
    return list(vars(one).values())


def _columns(rows: Sequence[Any], kind: Any) -> list[list[Any]]:
    return [[getattr(one, name) for one in rows] for name in kind.__annotations__]


def _rows(columns: Sequence[Sequence[Any]], kind: Any) -> tuple[Any, ...]:
    return tuple([kind(*_checked(row, kind)) for row in zip(*columns, strict=True)])


def _checked(row: Sequence[Any], kind: Any) -> Sequence[Any]:
    """Return values that have the annotated types of a class; raises a ValueError for a path in another folder."""
    kinds = list(kind.__annotations__.values())
    if [type(one).__name__ for one in row] != kinds:
        raise ValueError(f"a {kind.__name__} of it has other values")
    for one in row:
        if isinstance(one, str) and ("/" in one or "\\" in one or one in (".", "..")):
            raise ValueError(f"it names the file {one!r}, which is not in the directory")
    return row


# --- files without rows ------------------------------------------------------------------------------


def without_rows(content: bytes, schema: pa.Schema, options: dict[str, Any]) -> bytes:
    """Return a Parquet file without rows that holds bytes that readers do not see."""
    sink = pa.BufferOutputStream()
    pq.ParquetWriter(sink, schema, **options).close()
    footer: bytes = sink.getvalue().to_pybytes()[len(MAGIC) :]
    return MAGIC + _digest(footer) + content + footer


def held(found: bytes, path: str) -> bytes:
    """Return the bytes in a file of `without_rows`; raises a ValueError for any other file."""
    length = int.from_bytes(found[-8:-4], "little") + 8
    if found[:4] != MAGIC or found[-4:] != MAGIC or length + 20 > len(found):
        raise ValueError(f"{path} was cut off, or is no file of a directory that goes on")
    digest, content, footer = found[4:20], found[20:-length], found[-length:]
    if _digest(footer) != digest:
        raise ValueError(f"{path} was changed after it was written: its digest is another")
    return content


def _digest(footer: bytes) -> bytes:
    """Return a digest of a footer in 16 bytes; the held bytes have their own digest."""
    return hashlib.blake2b(footer, digest_size=8).hexdigest().encode()
