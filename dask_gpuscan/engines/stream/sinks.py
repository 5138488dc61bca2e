"""Where answers of streams go: Arrow streams, files of Parquet, and polars."""

from __future__ import annotations

import os
from collections.abc import Iterator
from dataclasses import replace
from itertools import chain
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

from ...frames.registry import names_of
from .arrow_schema import cast_table, schema_for_all
from .passes import Pass
from .state import State, load_state
from .threads import Behind

Stream = Any
"""A `Stream`, whose methods call this module."""

ROWS_PER_FILE = 1 << 22
"""Rows after which a file of a directory is closed and committed."""


def table_of(frame: Any) -> pa.Table:
    """Return a frame, or a table of any library that speaks Arrow, as a table of Arrow; named indices are columns."""
    if hasattr(type(frame), "to_arrow"):
        return (
            frame.to_arrow()
        )  # cuDF and polars, whose categories `pa.table` reads as what no file holds
    if hasattr(frame, "iloc"):
        named = any(name is not None for name in frame.index.names)
        return pa.Table.from_pandas(frame, preserve_index=named)
    return pa.table(frame)


def tables(stream: Stream, passing: Pass, schema: pa.Schema | None = None) -> Iterator[pa.Table]:
    """Yield the batches of a stream that have rows, as tables of one schema: if none is given, that of the first."""
    write = stream._source.format.write
    for (batch,) in passing:
        if not len(batch):
            continue
        table = table_of(write(_as_frame(batch)))
        schema = schema or schema_for_all(table.schema)
        yield table if table.schema.equals(schema) else cast_table(table, schema)


def _as_frame(batch: Any) -> Any:
    if batch.ndim == 2:
        return batch
    return batch.to_frame("value" if batch.name is None else batch.name)


def _no_rows(stream: Stream) -> pa.Table:
    table = table_of(stream._source.format.write(_as_frame(stream._meta)))
    return table.cast(schema_for_all(table.schema))


def reader(stream: Stream) -> pa.RecordBatchReader:
    """Return the batches of a stream as a stream of Arrow, whose first batch is computed at once."""
    found = tables(stream, stream.begin())
    first = next(found, None)
    if first is None:
        first = _no_rows(stream)

    batches = (batch for table in chain([first], found) for batch in table.to_batches())
    return pa.RecordBatchReader.from_batches(first.schema, batches)


# --- Parquet -----------------------------------------------------------------------------------------


def _part(path: Path) -> Path:
    return path.with_name(f"{path.name}.part")


class _File:
    """A file of Parquet that has its name once it is whole."""

    def __init__(self, path: Path, schema: pa.Schema, options: dict[str, Any]) -> None:
        self.path, self.rows = path, 0
        try:
            self.writer = pq.ParquetWriter(_part(path), schema, **options)
        except BaseException as error:
            _part(path).unlink(missing_ok=True)
            if isinstance(error, TypeError) and "unexpected keyword" in str(error):
                option = str(error).rpartition(" ")[2]
                raise TypeError(
                    f"to_parquet takes options of pyarrow.parquet.ParquetWriter, which has no {option}"
                ) from None
            raise

    def write(self, table: pa.Table) -> None:
        if table.num_rows:
            self.writer.write_table(table)
        self.rows += table.num_rows

    def close(self, on_disk: bool = False) -> None:
        """Give the file its name, once it is whole, and if wanted, once it is on disk: what another file relies on."""
        self.writer.close()
        if on_disk:
            with _part(self.path).open("rb+") as file:
                os.fsync(file.fileno())
        _part(self.path).replace(self.path)

    def abandon(self) -> None:
        self.writer.close()
        _part(self.path).unlink(missing_ok=True)


def to_file(stream: Stream, path: Path, options: dict[str, Any]) -> None:
    """Write all rows to one file, which is there once it is whole."""
    found = tables(stream, stream.begin())
    first = next(found, None)
    if first is None:
        first = _no_rows(stream)
    file = _File(path, first.schema, options)
    try:
        with Behind(file.write) as behind:
            for table in chain([first], found):
                behind.put(table)
        file.close()
    except BaseException:
        file.abandon()
        raise


def to_directory(
    stream: Stream, folder: Path, path: Path, rows: int, options: dict[str, Any]
) -> None:
    """Write files to a directory, and behind each whole one the state that it ends with; go on behind those there.

    A process may end at any moment: files behind the state are written again.

    Parameters
    ----------
    stream : Stream
    folder, path : Path
        Of the files, and of the state.
    rows : int
        Rows after which a file is closed.
    options : dict
        Of the writer.
    """
    folder.mkdir(parents=True, exist_ok=True)
    begun = _begun(folder, path)
    passing, number = stream.begin(begun), 0 if begun is None else begun.files
    file: _File | None = None

    def commit(state: State) -> None:
        nonlocal file, number
        if file is not None:
            file.close(on_disk=True)
            file, number = None, number + 1
        replace(state, files=number).save(path)

    def write(item: tuple[pa.Table, State]) -> None:
        nonlocal file
        table, state = item
        file = file or _File(folder / _name(number), table.schema, options)
        file.write(table)
        if file.rows >= rows:
            commit(state)

    try:
        if begun is None:
            commit(passing.state)
        with Behind(write) as behind:
            for table in tables(stream, passing):
                behind.put((table, passing.state))
        commit(passing.state)
    except BaseException:
        if file is not None:
            file.abandon()
        raise


def _begun(folder: Path, path: Path) -> State | None:
    """Return the state behind the files of a directory; None if there are neither. Removes files behind the state."""
    files = sorted(folder.glob("part-*.parquet"))
    if not path.exists():
        if files:
            raise ValueError(f"{folder} holds files, and their state {path} is not there")
        return None
    state = load_state(path)
    for file in files:
        if file.name >= _name(state.files):
            file.unlink()
    return state


def _name(number: int) -> str:
    return f"part-{number:08}.parquet"


# --- polars ------------------------------------------------------------------------------------------


def to_polars(stream: Stream) -> Any:
    """Return a LazyFrame of polars that reads a stream."""
    import polars as pl
    from polars.io.plugins import register_io_source

    empty: Any = pl.from_arrow(_no_rows(stream))

    def read(
        names: list[str] | None, predicate: Any, count: int | None, size: int | None
    ) -> Iterator[Any]:
        known = {str(label): label for label in names_of(stream._meta)}
        chosen = stream
        if names is not None and stream.ndim == 2 and all(name in known for name in names):
            chosen = stream[[known[name] for name in names]]
        for table in tables(chosen, chosen.begin(), _no_rows(chosen).schema):
            frame: Any = pl.from_arrow(table)
            if names is not None:  # others are those of the index
                frame = frame.select(names)
            if count is not None:  # of rows before those of the predicate
                frame = frame.head(count)
                count -= frame.height
            yield frame if predicate is None else frame.filter(predicate)
            if count == 0:
                return

    return register_io_source(read, schema=empty.schema)
