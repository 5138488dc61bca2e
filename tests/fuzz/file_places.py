"""Places of the fuzzer `files`, on disk or in memory: the folder of a source, and the directory that follows it."""

import json
import os
import secrets
import shutil
from collections.abc import Iterator, Sequence
from contextlib import suppress
from importlib.util import find_spec
from random import Random
from typing import Any

import fsspec
import pandas as pd
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


READERS = {"polars": "polars", "a pattern of polars": "polars", "DuckDB": "duckdb"}
"""The packages of readers that may not be installed."""


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
        self.put(number, _content(table, self.name(number)), keep_time)
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

    def put(self, number: int, content: bytes, keep_time: bool = False) -> None:
        """Write the bytes of a file, in the place of one that is there."""
        path = self.path(number)
        if self.in_memory:
            MEMORY.pipe_file(path, content)
            return
        before = os.stat(path).st_mtime_ns if keep_time else None
        os.makedirs(os.path.dirname(path), exist_ok=True)
        with open(path, "wb") as file:
            file.write(content)
        if before is not None:
            os.utime(path, ns=(before, before))

    def content(self, number: int) -> bytes:
        """Return the bytes of a file."""
        if self.in_memory:
            found: bytes = MEMORY.cat_file(self.path(number))
            return found
        with open(self.path(number), "rb") as file:
            return file.read()

    def remove(self, number: int) -> None:
        """Remove a file."""
        del self.numbers[number]
        if self.in_memory:
            MEMORY.rm_file(self.path(number))
            return
        os.unlink(self.path(number))
        with suppress(OSError):  # others are in it
            if os.path.dirname(self.path(number)) != self.place:
                os.rmdir(os.path.dirname(self.path(number)))

    def rename(self, number: int, to: int) -> None:
        """Give a file another number."""
        before, content = self.numbers[number], self.content(number)
        if self.name(number).rpartition(".")[2] != self.name(to).rpartition(".")[2]:
            return
        if self.in_memory:
            self.put(to, content)
        else:
            os.makedirs(os.path.dirname(self.path(to)), exist_ok=True)
            os.rename(self.path(number), self.path(to))
        pairs = [(to if n == number else n, one) for n, one in self.numbers.items()]
        self.numbers = dict(pairs)
        if self.in_memory:
            MEMORY.rm_file(self.path(number))
        assert self.numbers[to] == before

    def touch(self, number: int, seconds: int) -> None:
        """Set the time at which a file was written."""
        if self.in_memory:
            self.put(number, self.content(number))
        else:
            os.utime(self.path(number), (seconds, seconds))

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
    return [-int(one) for one in _numbers(name.rpartition("/")[2])]


def _numbers(text: str) -> Iterator[str]:
    word = ""
    for c in f"{text} ":
        if c.isdigit():
            word += c
        elif word:
            yield word
            word = ""


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


class Target:
    """A directory that goes on, with all that belongs to it.

    Parameters
    ----------
    above : str
        The folder that it is in, or a URL of ``memory://``.
    name : str
    """

    def __init__(self, above: str, name: str = "out") -> None:
        self.above, self.name, self.place = above, name, f"{above}/{name}"
        self.in_memory = above.startswith("memory:")
        self.of_others: dict[str, bytes] = {}
        """Files that somebody else has put into it."""

    def files(self) -> dict[str, bytes]:
        """Return all files in it, and those beside it that are ours, but locks and names of owners."""
        found = {}
        for top in (self.name, f".{self.name}_gpuscan"):
            for path, content in _all_files(f"{self.above}/{top}"):
                name = path.rpartition("/")[2]
                if name != "lock" and not name.startswith("owner-"):
                    found[f"{top}/{path}"] = content
        return found

    def parts(self) -> list[str]:
        """Return the names of the files that readers see, but those of others."""
        names = [path for path, _ in _all_files(self.place) if "/" not in path]
        return sorted(n for n in names if n.endswith(".parquet") and n not in self.of_others)

    def read(self, reader: str = "pyarrow") -> Columns:
        """Return what a reader sees."""
        parts = self.parts()
        if not parts:
            return {}
        if self.of_others:  # whose rows readers read, too
            files = [pa.BufferReader(self.get(name)) for name in parts]
            return dict(pa.concat_tables(map(pq.read_table, files)).to_pydict())
        if self.in_memory:
            path = self.place.removeprefix("memory:/")
            return dict(pq.read_table(path, filesystem=MEMORY).to_pydict())
        everything = f"{self.place}/*.parquet"
        if reader not in ("pandas", "pyarrow") and find_spec(READERS[reader]) is None:
            reader = "pyarrow"
        if reader == "polars":
            import polars as pl

            return pl.read_parquet(self.place).to_dict(as_series=False)
        if reader == "a pattern of polars":
            import polars as pl

            return pl.read_parquet(everything).to_dict(as_series=False)
        if reader == "DuckDB":
            import duckdb

            found = duckdb.execute("select * from read_parquet(?)", [everything])
            return dict(found.to_arrow_table().to_pydict())
        if reader == "pandas":
            return dict(pa.table(pd.read_parquet(self.place, dtype_backend="pyarrow")).to_pydict())
        return dict(pq.read_table(self.place).to_pydict())

    def get(self, path: str) -> bytes:
        """Return the content of one of its files."""
        if self.in_memory:
            found: bytes = MEMORY.cat_file(f"{self.place}/{path}")
            return found
        with open(f"{self.place}/{path}", "rb") as file:
            return file.read()

    def put(self, path: str, content: bytes | None) -> None:
        """Write one of its files at a later time than any; None removes it."""
        place = f"{self.place}/{path}"
        if content is None:
            MEMORY.rm_file(place) if self.in_memory else os.unlink(place)
        elif self.in_memory:
            MEMORY.pipe_file(place, content)
        else:
            with open(place, "wb") as file:
                file.write(content)
            later = os.stat(place).st_mtime_ns + 10**10
            os.utime(place, ns=(later, later))

    def exists(self) -> bool:
        """Return whether anything is in it."""
        return bool(self.files())

    def copy(self, name: str) -> "Target":
        """Return a copy of it under another name; times are not copied."""
        found = Target(self.above, name)
        for path, content in list(_all_files(self.place)):
            if self.in_memory:
                MEMORY.pipe_file(f"{found.place}/{path}", content)
            else:
                to = f"{found.place}/{path}"
                os.makedirs(os.path.dirname(to), exist_ok=True)
                with open(to, "wb") as file:
                    file.write(content)
        found.of_others = dict(self.of_others)
        return found


class Table(Target):
    """A table of Delta Lake, whose log says which files it has, in the order of transactions."""

    def parts(self) -> list[str]:
        """Return the paths of its files, in order."""
        found = list[str]()
        logs = sorted(name for name in self.files() if "/_delta_log/" in name)
        for name in [name for name in logs if name.endswith(".json")]:
            actions = [json.loads(line) for line in self.files()[name].splitlines()]
            gone = {one["remove"]["path"] for one in actions if "remove" in one}
            found = [path for path in found if path not in gone]
            found += [one["add"]["path"] for one in actions if "add" in one]
        return found

    def read(self, reader: str = "pyarrow") -> Columns:
        """Return the rows, in the order of transactions."""
        files = [pa.BufferReader(self.get(path)) for path in self.parts()]
        return dict(pa.concat_tables(map(pq.read_table, files)).to_pydict()) if files else {}

    def copy(self, name: str) -> "Target":
        """Return a copy of it under another name."""
        super().copy(name)
        return Table(self.above, name)


def _all_files(place: str) -> Iterator[tuple[str, bytes]]:
    """Yield the paths below a place, and the content, of all files."""
    if place.startswith("memory:"):
        root = place.removeprefix("memory:/")
        for path in [path for path in MEMORY.store if path.startswith(f"{root}/")]:
            yield path[len(root) + 1 :], MEMORY.cat_file(path)
        return
    for folder, _, names in os.walk(place):
        for name in names:
            path = os.path.join(folder, name)
            with open(path, "rb") as file:
                yield os.path.relpath(path, place), file.read()


def read_file(path: str) -> bytes | None:
    """Return the content of a file on disk or in memory; None if there is none."""
    if path.startswith("memory:"):
        return MEMORY.cat_file(path) if MEMORY.exists(path) else None
    if not os.path.exists(path):
        return None
    with open(path, "rb") as file:
        return file.read()


def write_file(path: str, content: bytes | None) -> None:
    """Write a file on disk or in memory; None removes it."""
    if content is None:
        MEMORY.rm_file(path) if path.startswith("memory:") else os.unlink(path)
    elif path.startswith("memory:"):
        MEMORY.pipe_file(path, content)
    else:
        with open(path, "wb") as file:
            file.write(content)


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
