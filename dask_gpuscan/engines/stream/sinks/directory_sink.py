"""Writes a stream to a directory, and decides when to end parts and to write states.

The thread that computes batches decides when parts end, and another thread writes them (`_Writing`).
"""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import replace
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

from ..passes import Pass
from ..sources.fragments import Progress, columns_of_fragments
from ..states.state import State
from ..threads import Behind
from ..whole_files import write_whole
from .arrow import TableMaker, no_rows_of
from .directory import Directory, digest_of_state
from .directory_start import Begin, Options, begin_of
from .manifest import Exported, Manifest, Part

Stream = Any
"""A `Stream`; its methods call this module."""

COMMIT_SHARE = 40
"""After a commit, the next one waits for this many times its duration, so that commits take a fortieth of the time."""

KEEP_SHARE = 10
"""The same for checkpoints, which are written while the next file is computed."""

FEWEST_ROWS = 2**18
"""The fewest rows after which a part ends because a checkpoint is written."""

PART_SHARE = 8
"""A part ends at a checkpoint if it has at least this fraction of all rows, so that a run that goes back copies few."""

CHECKPOINTS = "256 MiB"
"""The default size of all checkpoints (states after files of the source) together."""

MOST_CHECKPOINTS = 1000
"""The largest number of checkpoints."""


def to_directory(stream: Stream, path: str, options: Options) -> None:
    """Write a stream to a directory with its state, after the rows that earlier runs have written.

    Parameters
    ----------
    stream : Stream
    path : str
        The path or URL of the directory.
    options : Options
    """
    empty = no_rows_of(stream)
    directory = Directory(path, options.writer)
    directory.check_options(empty.schema)
    with directory.locked():
        begin = begin_of(stream, directory, options)
        if begin.difference is not None:
            raise begin.difference
        passing = stream.begin(begin.state, begin.start_in(stream._source))
        if error := passing.difference():
            raise error
        passing.joins = not options.by_source
        make = TableMaker(stream, begin.schema)
        writing = _Writing(directory, begin, options, empty.schema)
        try:
            with Behind(writing) as behind:
                for item in _items(passing, make, writing, options):
                    behind.put(item)
            writing.end(passing.state)
        except BaseException:
            writing.abandon()
            raise


def progress(stream: Stream, path: str, options: Options) -> Progress:
    """Return what a run would find, and change nothing."""
    directory = Directory(path, options.writer)
    directory.manifest = directory.read()
    return begin_of(stream, directory, options, look=True).facts()


# --- what is computed --------------------------------------------------------------------------------


def _items(
    passing: Pass, make: TableMaker, writing: _Writing, options: Options
) -> Iterator[tuple[Any, ...]]:
    """Yield what to write, in order, as methods of `_Writing` with their arguments."""
    if writing.begin.cut is not None:
        yield writing.write_cut, *writing.begin.cut
    rows, total, closed = 0, writing.rows, 0
    behind_file: State | None = None
    for (batch,) in passing:
        if behind_file is not None:
            yield writing.keep, behind_file
        table = make(batch)
        if table is not None:
            rows, total = rows + table.num_rows, total + table.num_rows
            yield writing.table, table
        place = passing.place
        at_end = place is not None and place.is_whole
        keeps = at_end and writing.should_keep()
        enough = max(FEWEST_ROWS, total // PART_SHARE) if keeps else options.rows_per_file
        if place is not None and at_end and options.by_source:
            yield writing.close, make.schema, _stem(place.fragment.path)
            rows, closed = 0, closed + 1
        elif not options.by_source and rows >= min(enough, options.rows_per_file):
            yield (writing.close,)
            rows, closed = 0, closed + 1
        if rows == 0 and closed and writing.should_commit():
            yield writing.commit, passing.state
            closed, keeps = 0, False
        behind_file = passing.state if keeps else None


def _stem(path: str) -> str:
    """Return the name of a source's file as the end of a part's name."""
    name = path.rpartition(".")[0] or path
    plain = "".join(c if c.isascii() and (c.isalnum() or c in "-_.") else "-" for c in name)
    return f"-{plain[-100:].strip('-.')}"


# --- what is written ---------------------------------------------------------------------------------


class _Writing:
    """Writes parts and states, and commits them."""

    def __init__(
        self, directory: Directory, begin: Begin, options: Options, schema: pa.Schema
    ) -> None:
        self.directory, self.begin, self.options = directory, begin, options
        self.schema = begin.schema or schema
        self.parts, self.checkpoints = list(begin.parts), list(begin.checkpoints)
        self.exported = begin.exported
        self.rows = sum(one.rows for one in self.parts)
        self.file: _Open | None = None
        leaving = [one for one in begin.leaving if directory.is_whole(one)]
        self._free = {one.name for one in leaving}
        """The names of parts that new parts replace."""
        self.committed, self.commit_took = time.monotonic(), 0.0
        self.kept, self.keep_took = time.monotonic(), 0.0
        self.closed = 0

    def __call__(self, item: tuple[Any, ...]) -> None:
        method, *given = item
        method(*given)

    def table(self, table: pa.Table) -> None:
        """Write rows to the open part."""
        if self.file is None:
            self.schema = self.begin.schema or (table.schema if not self.parts else self.schema)
            self.file = _Open(self.directory, self.schema)
        self.file.write(table)
        self.rows += table.num_rows

    def write_cut(self, part: Part, rows: int) -> None:
        """Copy the first rows of a part to a new part."""
        place = self.directory.store.place(f"{self.directory.path}/{part.name}")
        with pq.ParquetFile(place) as file:
            for group in range(file.num_row_groups):
                table = file.read_row_group(group).slice(0, rows)
                rows -= table.num_rows
                self.table(table.cast(self.schema))
                if not rows:
                    break
        self.close()

    def close(self, schema: pa.Schema | None = None, stem: str = "") -> None:
        """End the open part; if there is none and a schema is given, write a part without rows."""
        if self.file is None:
            if schema is None:
                return
            self.schema = self.begin.schema or schema
            self.file = _Open(self.directory, self.schema)
        self.file.end()
        written, self.file = (self.file.name, self.file.rows), None
        self.parts.append(self.directory.written_part(*written, len(self.parts), stem, self._free))
        self.closed += 1

    def should_keep(self) -> bool:
        """Return whether to write a checkpoint after this file."""
        waited = time.monotonic() - self.kept
        return self.options.checkpoints > 0 and waited >= KEEP_SHARE * self.keep_took

    def keep(self, state: State) -> None:
        """Write the state after a file as a checkpoint, so that a later run can compute the rows after it again."""
        began = time.monotonic()
        self.checkpoints.append(self.directory.write_state(state, self.rows, self.schema))
        self._thin_out()
        self.kept, self.keep_took = time.monotonic(), time.monotonic() - began

    def _thin_out(self) -> None:
        """Drop checkpoints while there are too many: first those with near neighbours, and old ones."""
        found = self.checkpoints
        while len(found) > MOST_CHECKPOINTS or (
            len(found) > 1 and sum(one.size for one in found) > self.options.checkpoints
        ):
            last = found[-1].fragments
            gaps = [
                (found[i + 1].fragments - (found[i - 1].fragments if i else 0))
                / (last - found[i].fragments + 1)
                for i in range(len(found) - 1)
            ]
            found.pop(min(range(len(gaps)), key=gaps.__getitem__))

    def should_commit(self) -> bool:
        """Return whether to commit now; if rows replace others, all are committed together at the end."""
        waited = time.monotonic() - self.committed
        # rows after the end are refused, so that nothing may be committed before the pass has found none
        has_ended = self.begin.state is not None and self.begin.state.ended
        return not (self.begin.redo or has_ended) and waited >= COMMIT_SHARE * self.commit_took

    def commit(self, state: State) -> None:
        """Commit the parts that have ended, and the state after them."""
        began = time.monotonic()
        kept = self.directory.write_state(state, self.rows, self.schema)
        if state.part < 0 and self.options.checkpoints and not state.ended and state.fragments:
            self.checkpoints.append(kept)
            self._thin_out()
        content = None if self.options.exported is None else state.content()
        digest = None if content is None else digest_of_state(content)
        manifest = Manifest(
            kept,
            tuple(self.parts),
            self.begin.leaving,
            tuple(self.checkpoints),
            state.fragments,
            state.part,
            state.root,
            None if digest is None else Exported(digest, self.exported),
            self.begin.base,
            self.schema,
        )
        self.directory.commit(manifest)
        self.parts = [replace(one, staged="") for one in self.parts]
        if content is not None:
            write_whole(str(self.options.exported), content, private=True)
            self.exported = digest
        self.closed = 0
        self.committed = time.monotonic()
        self.commit_took = self.committed - began

    def end(self, state: State) -> None:
        """Commit what is new; if there are no rows at all, write a part without rows for readers."""
        self.close(None if self.parts else self.schema)
        before = self.begin.state
        same = before is not None and _counts(before) == _counts(state)
        known = self.directory.manifest
        is_written = self.options.exported is None or (
            known is not None and known.exported and known.exported.digest == self.exported
        )
        if not (same and is_written and not self.closed and not self.begin.redo):
            self.commit(state)

    def abandon(self) -> None:
        """Close the open part; `Directory.locked` removes its file."""
        if self.file is not None:
            self.file.abandon()


def _counts(state: State) -> tuple[Any, ...]:
    return state.rows, state.ended, state.part, columns_of_fragments(state.fragments)


class _Open:
    """A part that is written to."""

    def __init__(self, directory: Directory, schema: pa.Schema) -> None:
        self.name, self._file = directory.new_part()
        self.writer = pq.ParquetWriter(self._file, schema, **directory.options)
        self.rows = 0

    def write(self, table: pa.Table) -> None:
        """Write rows to it."""
        self.writer.write_table(table)
        self.rows += table.num_rows

    def end(self) -> None:
        """Finish its file."""
        self.writer.close()
        if hasattr(self._file, "close"):
            self._file.close()

    def abandon(self) -> None:
        with suppress(OSError, pa.ArrowException):
            self.writer.close()  # fails again if the disk is full, which another error already says
