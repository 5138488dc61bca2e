"""Places of the fuzzer `files`, on disk or in memory: the folder of a source, and the directory that follows it."""

import json
import os
import re
import secrets
import shutil
from collections.abc import Callable, Sequence
from contextlib import suppress
from pathlib import Path
from random import Random
from typing import Any

import duckdb
import fsspec
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq

from .plain_answers import Columns, Row
from .seen_files import File, Order, by_name, by_time

MEMORY = fsspec.filesystem("memory")

SCHEMA = pa.schema([("k", pa.int64()), ("x", pa.int64()), ("v", pa.float64())])

STYLES = {
    "numbers": "{n}",
    "days": "day-{n}",
    "dates": "2026-{month:02}-{day:02}",
    "folders": "{folder}/{n}",
    "keys of dates": "day=2026-{month:02}-{day:02}/part",
    "keys of numbers": "shop={folder}/part-{n}",
}
"""What files are called by their numbers."""


def schema_of(style: str) -> pa.Schema:
    """Return the columns of files, with those that the folders of a style stand for."""
    keys = {"keys of dates": [("day", pa.date32())], "keys of numbers": [("shop", pa.int64())]}
    return pa.schema([*SCHEMA, *(pa.field(*key) for key in keys.get(style, []))])


def name_of(number: int, style: str, suffix: str) -> str:
    """Return the name of a file."""
    month, day = divmod(number - 1, 9)
    parts = {"n": number, "folder": 8 + number // 4, "month": month + 9, "day": day + 6}
    return f"{STYLES[style].format(**parts)}.{suffix}"


def rows(count: int, seed: int) -> list[Row]:
    """Return rows of a file; those of another seed take as many bytes in one."""
    random = Random(seed)
    return [
        {"k": random.randrange(3), "x": random.randrange(-9, 10), "v": [None, 1.0, 2.0][i % 3]}
        for i in range(count)
    ]


class Folder:
    """The folder of a source.

    Parameters
    ----------
    place : str
        Its path, or a URL of ``memory://``.
    style : str
        Of `STYLES`.
    formats : sequence of str
        Suffixes, which say of which format files are; they take turns.
    """

    def __init__(self, place: str, style: str, formats: Sequence[str]) -> None:
        self.place, self.style, self.formats = place, style, formats
        self.in_memory = place.startswith("memory:")
        self.numbers: dict[int, tuple[list[Row], str]] = {}
        """Rows of files, and why they cannot be read, by number, in the order in which a list has them."""
        if self.in_memory:
            MEMORY.makedirs(place)
        else:
            os.makedirs(place)

    def name(self, number: int) -> str:
        """Return the name of a file."""
        return name_of(number, self.style, self.formats[number % len(self.formats)])

    def path(self, number: int) -> str:
        """Return the path of a file."""
        return f"{self.place}/{self.name(number)}"

    def write(self, number: int, found: Sequence[Row], keep_time: bool = False) -> None:
        """Write rows to a file."""
        table = pa.Table.from_pylist(list(found), SCHEMA)
        written = self.written(number) if keep_time else None
        self.put(number, _content(table, self.name(number)), written)
        self.numbers[number] = (list(found), "")

    def write_other_columns(self, number: int) -> None:
        """Write a file that has other columns."""
        self.put(number, _content(pa.table({"z": ["a"]}), self.name(number)))
        self.numbers[number] = ([], "other columns")

    def truncate(self, number: int) -> None:
        """Leave half of a file."""
        content = self.content(number)
        self.put(number, content[: len(content) // 2])
        self.numbers[number] = ([], "cut off")

    def put(self, number: int, content: bytes, written: int | None = None) -> None:
        """Write the bytes of a file, in the place of one that is there; on disk, at a time if one is given."""
        write_file(self.path(number), content)
        if written is not None and not self.in_memory:
            os.utime(self.path(number), ns=(written, written))

    def content(self, number: int) -> bytes:
        """Return the bytes of a file."""
        content = read_file(self.path(number))
        assert content is not None
        return content

    def remove(self, number: int) -> None:
        """Remove a file."""
        del self.numbers[number]
        write_file(self.path(number), None)
        above = os.path.dirname(self.path(number))
        if not self.in_memory and above != self.place:
            with suppress(OSError):  # others are in it
                os.rmdir(above)

    def rename(self, number: int, to: int) -> None:
        """Give a file another number."""
        if self.name(number).rpartition(".")[2] != self.name(to).rpartition(".")[2]:
            return
        self.put(to, self.content(number), self.written(number))
        self.numbers = {to if n == number else n: one for n, one in self.numbers.items()}
        write_file(self.path(number), None)

    def written(self, number: int) -> int:
        """Return the time at which a file was written."""
        if self.in_memory:
            return int(MEMORY.modified(self.path(number)).timestamp() * 1e9)
        return os.stat(self.path(number)).st_mtime_ns

    def files(self, order: str | None, in_list: bool, tick: int) -> list[File]:
        """Return the files that are there, in order; times are of so many nanoseconds."""
        found = []
        for number, (rows, fault) in self.numbers.items():
            name = self.name(number)
            keys = _keys(name)
            whole = tuple([{**row, **keys} for row in rows])
            written = self.written(number) // tick * tick
            shown = self.path(number) if in_list else name
            found.append(File(shown, self.content(number), whole, written, fault))
        keys_of: dict[str | None, Order] = {"modified": by_time, "last first": last_first}
        if order is None and in_list:
            return found
        return sorted(found, key=keys_of.get(order, by_name))


def last_first(file: Any) -> Any:
    """Return what files, or paths, are sorted by of which the last name is first."""
    name = file.name if isinstance(file, File) else file
    return [-int(one) for one in re.findall(r"\d+", name.rpartition("/")[2])]


def _keys(name: str) -> Row:
    """Return the columns that the folders of a name stand for."""
    pairs = [part.split("=") for part in name.split("/") if "=" in part]
    return {k: int(v) if v.isdigit() else pd.Timestamp(v).date() for k, v in pairs}


def _content(table: pa.Table, name: str) -> bytes:
    sink = pa.BufferOutputStream()
    if name.endswith(".parquet"):
        pq.write_table(table, sink, row_group_size=3, compression="none", use_dictionary=False)
    else:
        with pa.ipc.new_file(sink, table.schema) as writer:
            writer.write_table(table, max_chunksize=3)
    content: bytes = sink.getvalue().to_pybytes()
    return content


READERS: dict[str, Callable[[str], Any]] = {
    "pyarrow": pq.read_table,
    "pandas": lambda place: pa.table(pd.read_parquet(place, dtype_backend="pyarrow")),
    "polars": lambda place: pl.read_parquet(place).to_arrow(),
    "a pattern of polars": lambda place: pl.read_parquet(f"{place}/*.parquet").to_arrow(),
    "DuckDB": lambda place: duckdb.read_parquet(f"{place}/*.parquet").to_arrow_table(),
}
"""Who reads a directory."""


class Target:
    """A directory that goes on, with all that belongs to it.

    Parameters
    ----------
    above : str
        The folder that it is in, or a URL of ``memory://``.
    name : str
    """

    is_table = False

    def __init__(self, above: str, name: str = "out") -> None:
        self.above, self.name, self.place = above, name, f"{above}/{name}"
        self.in_memory = above.startswith("memory:")
        self.of_others: dict[str, bytes] = {}
        """Files that somebody else has put into it."""

    def files(self) -> dict[str, bytes]:
        """Return all files in it, and those beside it that are ours, but locks and names of owners."""
        found = {}
        for top in (self.name, f".{self.name}_gpuscan"):
            for path, content in _all_files(f"{self.above}/{top}").items():
                name = path.rpartition("/")[2]
                if name != "lock" and not name.startswith("owner-"):
                    found[f"{top}/{path}"] = content
        return found

    def parts(self) -> list[str]:
        """Return the names of the files that readers see, but those of others."""
        names = [path for path in _all_files(self.place) if "/" not in path]
        return sorted(n for n in names if n.endswith(".parquet") and n not in self.of_others)

    def read(self, reader: str = "pyarrow") -> Columns:
        """Return what a reader sees: that of parts where a directory holds rows of others, or is a table."""
        parts = self.parts()
        if not parts:
            return {}
        if self.in_memory and not self.of_others:
            path = self.place.removeprefix("memory:/")
            return dict(pq.read_table(path, filesystem=MEMORY).to_pydict())
        if self.of_others or self.is_table:
            tables = [pq.read_table(pa.BufferReader(self.get(name))) for name in parts]
            return dict(pa.concat_tables(tables).to_pydict())
        return dict(READERS[reader](self.place).to_pydict())

    def get(self, path: str) -> bytes:
        """Return the content of one of its files."""
        content = read_file(f"{self.place}/{path}")
        assert content is not None
        return content

    def put(self, path: str, content: bytes | None) -> None:
        """Write one of its files at a later time than any; None removes it."""
        place = f"{self.place}/{path}"
        write_file(place, content)
        if content is not None and not self.in_memory:
            later = os.stat(place).st_mtime_ns + 10**10
            os.utime(place, ns=(later, later))

    def copy(self, name: str) -> "Target":
        """Return a copy of it under another name; times are not copied."""
        found = type(self)(self.above, name)
        for path, content in _all_files(self.place).items():
            write_file(f"{found.place}/{path}", content)
        found.of_others = dict(self.of_others)
        return found


class Table(Target):
    """A table of Delta Lake, whose log says which files it has, in the order of transactions."""

    is_table = True

    def parts(self) -> list[str]:
        """Return the paths of its files, in order."""
        found = list[str]()
        files = self.files()
        for name in sorted(n for n in files if "/_delta_log/" in n and n.endswith(".json")):
            actions = [json.loads(line) for line in files[name].splitlines()]
            gone = {one["remove"]["path"] for one in actions if "remove" in one}
            found = [path for path in found if path not in gone]
            found += [one["add"]["path"] for one in actions if "add" in one]
        return found


def _all_files(place: str) -> dict[str, bytes]:
    """Return the content of all files below a place, by their paths there."""
    if place.startswith("memory:"):
        root = f"{place.removeprefix('memory:/')}/"
        return {p[len(root) :]: MEMORY.cat_file(p) for p in [*MEMORY.store] if p.startswith(root)}
    paths = [f"{folder}/{name}" for folder, _, names in os.walk(place) for name in names]
    return {os.path.relpath(path, place): Path(path).read_bytes() for path in paths}


def read_file(path: str) -> bytes | None:
    """Return the content of a file on disk or in memory; None if there is none."""
    if path.startswith("memory:"):
        return MEMORY.cat_file(path) if MEMORY.exists(path) else None
    return Path(path).read_bytes() if os.path.exists(path) else None


def write_file(path: str, content: bytes | None) -> None:
    """Write a file on disk or in memory; None removes it."""
    if path.startswith("memory:"):
        MEMORY.rm_file(path) if content is None else MEMORY.pipe_file(path, content)
    elif content is None:
        os.unlink(path)
    else:
        os.makedirs(os.path.dirname(path), exist_ok=True)
        Path(path).write_bytes(content)


class Room:
    """Where one history is; nothing is left of it."""

    def __init__(self) -> None:
        top = "/dev/shm" if os.path.isdir("/dev/shm") else os.environ.get("TMPDIR", "/tmp")
        token = secrets.token_hex(6)
        self.local, self.memory = f"{top}/fuzz-files-{token}", f"memory://fuzz-files-{token}"

    def __enter__(self) -> "Room":
        os.makedirs(self.local)
        with open(f"{self.local}/.history", "wb"):
            pass
        return self

    def __exit__(self, *_: object) -> None:
        shutil.rmtree(self.local, ignore_errors=True)
        top = self.memory.removeprefix("memory:/")
        for path in [path for path in MEMORY.store if path.startswith(top)]:
            del MEMORY.store[path]
        MEMORY.pseudo_dirs[:] = [one for one in MEMORY.pseudo_dirs if not one.startswith(top)]
