"""Outputs of streams: Arrow streams, Parquet files, and polars."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import chain
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

from ....forks import importing
from ....frames.registry import names_of
from ..arrow_schema import cast_table, schema_for_all
from ..filesystems import is_url, shown_url
from ..passes import Pass
from ..threads import Behind
from ..whole_files import NewFile

Stream = Any
"""A `Stream`; its methods call this module."""

ROWS_PER_FILE = 1 << 22
"""The number of rows after which a file of a directory is closed."""


def table_of(frame: Any) -> pa.Table:
    """Return a frame, or a table of a library with an Arrow interface, as an Arrow table; named indices are columns."""
    if hasattr(type(frame), "to_arrow"):
        # cuDF and polars; `pa.table` would give categories of polars a type that files cannot hold
        return frame.to_arrow()
    if hasattr(frame, "iloc"):
        named = any(name is not None for name in frame.index.names)
        if not (named or frame.shape[1]):  # `from_pandas` drops the rows of a frame without columns
            return pa.table({"": pa.nulls(len(frame))}).select([])
        return pa.Table.from_pandas(frame, preserve_index=named)
    return pa.table(frame)


class TableMaker:
    """Converts the batches of a stream to tables of one schema.

    Parameters
    ----------
    stream : Stream
    schema : pyarrow.Schema, optional
        Default: the schema of the first batch that has rows.
    """

    def __init__(self, stream: Stream, schema: pa.Schema | None = None) -> None:
        self._stream, self._schema = stream, schema

    @property
    def schema(self) -> pa.Schema:
        """The schema of the tables."""
        if self._schema is None:
            self._schema = no_rows_of(self._stream).schema
        return self._schema

    def __call__(self, batch: Any) -> pa.Table | None:
        """Return a batch as a table; None if it has no rows."""
        if not len(batch):
            return None
        table = table_of(self._stream._source.format.write(_as_frame(batch)))
        self._schema = self._schema or schema_for_all(table.schema)
        same = table.schema.equals(self._schema)
        return table if same else cast_table(table, self._schema)


def tables(stream: Stream, passing: Pass, schema: pa.Schema | None = None) -> Iterator[pa.Table]:
    """Yield the batches that have rows as tables of one schema, by default that of the first one."""
    make = TableMaker(stream, schema)
    for (batch,) in passing:
        table = make(batch)
        if table is not None:
            yield table


def _as_frame(batch: Any) -> Any:
    if batch.ndim == 2:
        return batch
    return batch.to_frame("value" if batch.name is None else batch.name)


def no_rows_of(stream: Stream) -> pa.Table:
    """Return a table with the columns of a stream and no rows."""
    table = table_of(stream._source.format.write(_as_frame(stream._meta)))
    return table.cast(schema_for_all(table.schema))


def reader(stream: Stream) -> pa.RecordBatchReader:
    """Return a stream as an Arrow stream; the first batch is computed at once."""
    schema, found = begun(stream)
    batches = (batch for table in found for batch in table.to_batches())
    return pa.RecordBatchReader.from_batches(schema, batches)


def begun(stream: Stream) -> tuple[pa.Schema, Iterator[pa.Table]]:
    """Return the schema, and an iterator over the batches that have rows as tables; the first is computed at once."""
    found = tables(stream, stream.begin())
    first = next(found, None)
    if first is None:
        return no_rows_of(stream).schema, iter(())
    return first.schema, chain([first], found)


# --- Parquet -----------------------------------------------------------------------------------------


def check_writer(schema: pa.Schema, options: dict[str, Any]) -> None:
    """Raise a TypeError for options that `pyarrow.parquet.ParquetWriter` does not take."""
    try:
        pq.ParquetWriter(pa.BufferOutputStream(), schema, **options).close()
    except TypeError as error:
        if "unexpected keyword" not in str(error):
            raise
        option = str(error).rpartition(" ")[2]
        raise TypeError(
            f"to_parquet takes options of pyarrow.parquet.ParquetWriter, which has no {option}"
        ) from None


def to_file(stream: Stream, path: str, options: dict[str, Any]) -> None:
    """Write all rows to one file, which gets its name when it is complete."""
    if is_url(path):
        raise ValueError(
            f"to_parquet writes to local paths, found {shown_url(path)}; use to_delta, or write the batches"
        )
    check_writer(no_rows_of(stream).schema, options)
    schema, found = begun(stream)
    file = NewFile(path)
    try:
        with (
            pq.ParquetWriter(file.part, schema, **options) as writer,
            Behind(writer.write_table) as behind,
        ):
            for table in found:
                behind.put(table)
        file.close()
    except BaseException:
        file.abandon()
        raise


# --- polars ------------------------------------------------------------------------------------------


def to_polars(stream: Stream) -> Any:
    """Return a polars LazyFrame that reads a stream."""
    with importing:
        import polars as pl
        from polars.io.plugins import register_io_source

    empty: Any = pl.from_arrow(no_rows_of(stream))

    def batches(
        names: list[str] | None, predicate: Any, count: int | None, size: int | None
    ) -> Iterator[Any]:
        known = {str(label): label for label in names_of(stream._meta)}
        chosen = stream
        read = list(known)[:1] if names == [] else names  # one column, to count its rows
        if read is not None and stream.ndim == 2 and all(name in known for name in read):
            chosen = stream[[known[name] for name in read]]
        for table in tables(chosen, chosen.begin(), no_rows_of(chosen).schema):
            frame: Any = pl.from_arrow(table)
            if names:  # drops levels of the index; without names, polars drops all columns
                frame = frame.select(names)
            if count is not None:  # polars counts rows before the predicate
                frame = frame.head(count)
                count -= frame.height
            yield frame if predicate is None else frame.filter(predicate)
            if count == 0:
                return

    return register_io_source(batches, schema=empty.schema)
