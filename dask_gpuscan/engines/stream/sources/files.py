"""Parquet and Arrow IPC files, read in order and batch by batch, after the files that were read before.

Each batch comes with its `Place`: how far the source is read with it. A file that changes while it is read is an error.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Sequence
from contextlib import contextmanager
from functools import cached_property, partial
from typing import Any, NamedTuple

import pyarrow as pa
import pyarrow.parquet as pq

from ....kernels.late_dataclass import dataclass
from ..arrow_schema import as_texts, cast_batch
from ..progress import Size
from .fragments import (
    FRESH,
    ChangedSourceError,
    Comparison,
    Fragment,
    Rules,
    compare,
    digest_of,
    settled,
)
from .listing import Listing, Values, hive_values, now, opened, partition_schema

MANY_FILES, FEW_ROWS, JOINED_ROWS = 100, 1 << 14, 1 << 16
"""If a source has more than `MANY_FILES` files, those with less than `FEW_ROWS` rows are joined to batches of
`JOINED_ROWS`, as each batch costs the time of some calls.

Running totals of groups, 2,000 files of 30 rows, two shared cores: 6.1 s with a batch for each file, 0.5 s joined."""

IPC_STREAM = b"\xff\xff\xff\xff"
"""The first bytes of each message in Arrow's streaming format."""

Pieces = Iterator[tuple[int, Callable[[], Any], bool]]
"""For each batch: its number of rows, a function that reads it, and whether it is the last one."""


class Place(NamedTuple):
    """How far a source was read."""

    fragment: Fragment
    """The last file that was read, wholly or in part."""
    rows: int
    """The number of its rows that were read."""
    is_whole: bool
    """Whether these are all of its rows."""
    before: tuple[Fragment, ...] = ()
    """The earlier files that the same batch holds, each with all its rows."""


@dataclass(frozen=True)
class Files:
    """Files that are read as Arrow record batches, in the order of a listing.

    Parameters
    ----------
    listing : Listing
        Lists the present files in order, with their file system and root.
    schema : pyarrow.Schema, optional
        The schema to which all batches are cast; by default all files must have the schema of the first one.
    rules : Rules
        What to do if files differ from those that a state has read.
    values_of : callable
        Returns the keys and values in the path of a file.
    """

    listing: Listing
    schema: pa.Schema | None = None
    rules: Rules = Rules()
    values_of: Callable[[str], Values] = hive_values

    @cached_property
    def _first(self) -> list[Fragment]:
        """The files when the source was opened."""
        return self.listing.fragments()

    @cached_property
    def _partitions(self) -> pa.Schema:
        """The columns in the paths of the files."""
        found = partition_schema([self.values_of(one.path) for one in self._first])
        if self.schema is None:
            return found
        known = [name for name in found.names if name in self.schema.names]
        return pa.schema([self.schema.field(name) for name in known])

    @property
    def no_rows(self) -> Any:
        """A batch without rows."""
        return no_rows(self._schema)

    @cached_property
    def _schema(self) -> pa.Schema:
        """The schema of the batches."""
        if self.schema is not None:
            return self.schema
        found = self._schema_of(self._first[0])
        names = self._partitions.names
        return pa.schema([f for f in found if f.name not in names] + list(self._partitions))

    def _schema_of(self, fragment: Fragment) -> pa.Schema:
        with self._named(fragment), opened(fragment, self.listing.filesystem) as file:
            if is_parquet(file, fragment.path):
                return pq.read_schema(file)
            with pa.ipc.open_file(file) as reader:
                return reader.schema

    def size(self) -> Size:
        """Return the number of rows and of bytes of all files."""
        files = self._first
        rows = sum(one.rows if one.rows >= 0 else self.rows_of(one) for one in files)
        return Size(rows, sum(one.size for one in files))

    def rows_of(self, fragment: Fragment) -> int:
        """Return the number of rows of a file."""
        with self._named(fragment), opened(fragment, self.listing.filesystem) as file:
            if is_parquet(file, fragment.path):
                return int(pq.read_metadata(file).num_rows)
            with pa.ipc.open_file(file) as reader:
                return sum(reader.get_batch(i).num_rows for i in range(reader.num_record_batches))

    def compare(
        self, known: Sequence[Fragment], in_midst: bool = False, again: Collection[str] = ()
    ) -> Comparison:
        """Return how the present files differ from those that were read; see `fragments.compare`."""

        def digest(fragment: Fragment) -> str:
            with opened(fragment, self.listing.filesystem) as file:
                return digest_of(file.read_at, fragment.size)

        known, found = self.listing.compared(known, in_midst)
        return compare(known, found, self.rules, digest, in_midst, again)

    def __iter__(self) -> Iterator[Any]:
        for batch, _ in self.batches(self.listing.fragments()):
            yield batch

    def batches(
        self,
        fragments: Sequence[Fragment],
        behind: int = 0,
        columns: Sequence[str] | None = None,
        join: bool = True,
    ) -> Iterator[tuple[Any, Place]]:
        """Yield the batches of files, each with its place.

        Parameters
        ----------
        fragments : sequence of Fragment
        behind : int
            The number of rows of the first file to skip.
        columns : sequence of str, optional
            The columns to read; by default all.
        join : bool, default True
            Whether short files are joined if there are many files.

        Raises
        ------
        ChangedSourceError
            If a file changes while it is read.
        """
        found = self._each(fragments, behind, columns)
        return _joined(found) if join and len(fragments) > MANY_FILES else found

    def _each(
        self, fragments: Sequence[Fragment], behind: int, columns: Sequence[str] | None
    ) -> Iterator[tuple[Any, Place]]:
        for fragment in fragments:
            with self._named(fragment):
                yield from self._of_file(fragment, behind, columns)
            behind = 0

    @contextmanager
    def _named(self, fragment: Fragment) -> Iterator[None]:
        """Name the file in errors, if it cannot be read or changes while it is read."""
        try:
            yield
        except (pa.ArrowException, OSError, ValueError) as error:
            there = now(fragment, self.listing.filesystem)
            if there is None or there[:3] != fragment[:3]:
                raise _moved(fragment) from error
            if not isinstance(error, (pa.ArrowException, OSError)):
                raise
            raise ValueError(
                f"file {fragment.path!r} of the source cannot be read: {error}"
            ) from error

    def _of_file(
        self, fragment: Fragment, behind: int, columns: Sequence[str] | None
    ) -> Iterator[tuple[Any, Place]]:
        filesystem = self.listing.filesystem
        before = now(fragment, filesystem)
        if before is None:
            raise _moved(fragment)
        with opened(before, filesystem) as file:
            fragment = settled(before)._replace(digest=digest_of(file.read_at, before.size))
            rows = 0
            for count, read, is_last in self._pieces(file, fragment, columns):
                rows += count
                if rows > behind or not count:
                    batch = self._behind(read(), max(0, behind - (rows - count)))
                    if is_last:
                        break
                    yield batch, Place(fragment, rows, False)
            else:
                batch = self._none(columns)
            after = now(before, filesystem)
            is_as_it_was = after and (after.size, after.modified) == (before.size, before.modified)
            if is_as_it_was and fragment.changed == FRESH:  # its times cannot show a change
                is_as_it_was = digest_of(file.read_at, before.size) == fragment.digest
            if behind > rows or not is_as_it_was:
                raise _moved(fragment)
        yield batch, Place(fragment._replace(rows=rows), rows, True)

    def _none(self, columns: Sequence[str] | None) -> Any:
        return no_rows(self._chosen(columns))

    def _chosen(self, columns: Sequence[str] | None) -> pa.Schema:
        """Return the schema of the columns, or of all."""
        if columns is None:
            return self._schema
        return pa.schema([self._schema.field(name) for name in columns])

    def _pieces(self, file: Any, fragment: Fragment, columns: Sequence[str] | None) -> Pieces:
        finish = self._finisher(fragment, columns)
        if is_parquet(file, fragment.path):
            with pq.ParquetFile(file) as parquet:
                names = self._of_names(parquet.schema_arrow.names, columns)
                count = parquet.num_row_groups
                for group in range(count):
                    rows = parquet.metadata.row_group(group).num_rows
                    read = partial(_row_group, parquet, group, names)
                    yield rows, _then(read, finish), group + 1 == count
            return
        with pa.ipc.open_file(file) as reader:
            names, count = reader.schema.names, reader.num_record_batches
            chosen = self._of_names(names, columns)
        options = pa.ipc.IpcReadOptions(included_fields=[names.index(name) for name in chosen])
        with pa.ipc.open_file(file, options=options) as reader:
            for number in range(count):
                batch = reader.get_batch(number)
                yield (
                    batch.num_rows,
                    _then(partial(batch.select, chosen), finish),
                    number + 1 == count,
                )

    def _of_names(self, names: Sequence[str], columns: Sequence[str] | None) -> list[str]:
        """Return the names of the columns of a file to read."""
        wanted = names if self.schema is None else self.schema.names
        keys = self._partitions.names
        return [
            n for n in names if n in wanted and n not in keys and (columns is None or n in columns)
        ]

    def _finisher(
        self, fragment: Fragment, columns: Sequence[str] | None
    ) -> Callable[[pa.RecordBatch], pa.RecordBatch]:
        """Return a function that casts the batches of a file to the schema of the source."""
        values, schema = self.values_of(fragment.path), self._chosen(columns)
        if self.schema is None:
            _check_partitions(fragment, values, self._partitions)
        return partial(
            _finished, schema=schema, values=values, strict=self.schema is None, path=fragment.path
        )

    def _behind(self, batch: Any, rows: int) -> Any:
        return batch.slice(rows) if rows else batch


def _then(read: Callable[[], Any], finish: Callable[[Any], Any]) -> Callable[[], Any]:
    return lambda: finish(read())


def _finished(
    batch: pa.RecordBatch, schema: pa.Schema, values: Values, strict: bool, path: str
) -> pa.RecordBatch:
    """Return a batch of a file in a schema, with the columns in its path."""
    for name, text in values.items():
        if name in schema.names:
            column = pa.array([text], pa.string())
            try:
                column = column.cast(schema.field(name).type)
            except pa.ArrowInvalid as error:
                raise ValueError(
                    f"file {path!r}: {name}={text} is no {schema.field(name).type}"
                ) from error
            repeated = column.take(pa.array([0] * batch.num_rows, pa.int32()))
            batch = batch.append_column(name, repeated)
    if strict:
        return as_texts(batch, schema)
    try:
        return cast_batch(batch, schema)
    except ValueError as error:
        raise ValueError(f"file {path!r}: {error}") from error


def _joined(found: Iterator[tuple[Any, Place]]) -> Iterator[tuple[Any, Place]]:
    """Yield batches, and join those of short files."""
    waiting, rows = list[tuple[Any, Place]](), 0
    for batch, place in found:
        is_short = _is_short(batch, place)
        if waiting and not (is_short and batch.schema.equals(waiting[-1][0].schema)):
            yield _one(waiting)
            waiting, rows = [], 0
        if not is_short:
            yield batch, place
            continue
        waiting.append((batch, place))
        rows += batch.num_rows
        if rows >= JOINED_ROWS:
            yield _one(waiting)
            waiting, rows = [], 0
    if waiting:
        yield _one(waiting)


def _is_short(batch: Any, place: Place) -> bool:
    """Return whether a batch is a whole short file and can be joined with others."""
    if not (isinstance(batch, pa.RecordBatch) and place.is_whole and batch.num_rows < FEW_ROWS):
        return False
    is_all = batch.num_rows == place.rows
    return is_all and not any(pa.types.is_dictionary(kind) for kind in batch.schema.types)


def _one(waiting: Sequence[tuple[Any, Place]]) -> tuple[Any, Place]:
    """Join batches."""
    *before, (batch, place) = waiting
    if before:
        whole = pa.Table.from_batches([one for one, _ in waiting]).combine_chunks().to_batches()
        batch = whole[0] if whole else batch
    return batch, place._replace(before=tuple([one.fragment for _, one in before]))


def _check_partitions(fragment: Fragment, values: Values, schema: pa.Schema) -> None:
    if list(values) != schema.names:
        raise ValueError(
            f"file {fragment.path!r}: its folders name the keys {', '.join(values) or '(none)'}, and those of the "
            f"first file {', '.join(schema.names) or '(none)'}"
        )


def _moved(fragment: Fragment) -> ChangedSourceError:
    return ChangedSourceError(
        f"file {fragment.path!r} of the source was written to, or removed, while it was read; run again "
        f"once it is whole",
        fragment.path,
    )


def is_parquet(file: pa.NativeFile, path: str) -> bool:
    """Return True for a Parquet file and False for an Arrow IPC file; raises a ValueError for any other file."""
    head = file.read_at(min(6, file.size()), 0)
    if head[:4] == IPC_STREAM:
        raise ValueError(
            f"{path} is in Arrow's streaming format, not its file format, so that its batches cannot be found without "
            f"reading it; give stream(pa.ipc.open_stream(pa.memory_map(path))), or write it with pa.ipc.new_file"
        )
    if head[:4] != b"PAR1" and head != b"ARROW1":
        raise ValueError(f"{path} is neither a file of Parquet nor one of Arrow IPC")
    return bool(head[:4] == b"PAR1")


def _row_group(file: pq.ParquetFile, number: int, columns: Sequence[str] | None) -> pa.RecordBatch:
    table = file.read_row_group(number, columns=columns)
    batches = table.combine_chunks().to_batches()
    found = batches[0] if batches else no_rows(table.schema)
    # pyarrow reads "a.b" as a field of the struct "a" as well, and returns both columns
    return found if columns is None else found.select(columns)


def no_rows(schema: pa.Schema) -> pa.RecordBatch:
    """Return an empty batch of a schema."""
    return pa.RecordBatch.from_arrays([pa.nulls(0, kind) for kind in schema.types], schema=schema)
