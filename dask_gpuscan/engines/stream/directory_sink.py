"""Writes a stream to a directory that goes on: what is checked before, which parts and states are written, and when.

The thread that computes decides when parts end, and another one writes them (`_Writing`).
"""

from __future__ import annotations

import time
from bisect import bisect_left
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass, replace
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

from .adopted import adopted
from .directory import Directory, digest_of_state
from .fragments import ChangedSourceError, Progress, columns_of_fragments
from .manifest import Exported, Kept, Manifest, Part
from .passes import Pass
from .sinks import TableMaker, no_rows_of
from .state import State
from .threads import Behind
from .whole_files import read_if_there, write_whole

Stream = Any
"""A `Stream`, whose methods call this module."""

COMMIT_SHARE = 40
"""A commit waits until this many times the time of the last one has passed, so that commits take a fortieth."""

CHECKPOINTS = "256 MiB"
"""What states behind files may take."""

MOST_CHECKPOINTS = 1000
"""States that are kept at most."""


@dataclass(frozen=True)
class Options:
    """What a user says of how a directory is written."""

    rows_per_file: int
    by_source: bool
    """Whether there is one part for each file of the source."""
    checkpoints: int
    """Bytes that states behind files may take."""
    exported: str | None
    """Where else the state is written."""
    writer: dict[str, Any]


def to_directory(stream: Stream, path: str, options: Options) -> None:
    """Write files to a directory, and behind them the state that they end with; go on behind those there.

    Parameters
    ----------
    stream : Stream
    path : str
        Of the directory.
    options : Options
    """
    empty = no_rows_of(stream)
    directory = Directory(path, options.writer)
    directory.check_options(empty.schema)
    with directory.locked():
        begin = _begin(stream, directory, options)
        begin.check()
        passing = stream.begin(begin.state, None if begin.redo else begin.start)
        passing.check_sources()
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
    """Return what a run would find, without a change to anything."""
    directory = Directory(path, options.writer)
    directory.manifest = directory.read()
    return _begin(stream, directory, options, look=True).facts()


# --- what is checked ---------------------------------------------------------------------------------


@dataclass
class _Begin:
    """From where a run goes on."""

    state: State | None
    """None for the beginning."""
    parts: tuple[Part, ...] = ()
    """Those that stay."""
    leaving: tuple[Part, ...] = ()
    checkpoints: tuple[Kept, ...] = ()
    cut: tuple[Part, int] | None = None
    """A part of which only so many rows stay."""
    exported: str | None = None
    """The digest of the state that lies elsewhere now."""
    base: str | None = None
    schema: pa.Schema | None = None
    redo: bool = False
    start: Any = None
    """Where the source begins, and how it differs."""
    error: Exception | None = None

    def check(self) -> None:
        """Raise the error of what cannot go on."""
        if self.error is not None:
            raise self.error
        if not self.redo and self.start.comparison is not None:
            self.start.comparison.check()

    def facts(self) -> Progress:
        """Return what the run would find."""
        comparison = self.start.comparison if self.start is not None else None
        found = Progress() if comparison is None else comparison.facts
        if self.error is not None:
            return replace(found, error=str(self.error))
        if self.redo:
            known = 0 if self.state is None else len(self.state.fragments)
            paths = [one.path for one in self.start.seen[known:]]
            gone = set(found.removed)
            return replace(found, again=[path for path in paths if path not in gone])
        return replace(found, error=comparison.why or None) if comparison else found


def _begin(stream: Stream, directory: Directory, options: Options, look: bool = False) -> _Begin:
    """Check a directory, the state that lies elsewhere, the query and the source; return from where a run goes on."""
    source, manifest = stream._source, directory.manifest
    found = None if options.exported is None else read_if_there(options.exported)
    exported = None if found is None else digest_of_state(found)
    base = None if source.state is None else digest_of_state(source.state.content())
    if manifest is None and found is not None:
        manifest = adopted(stream, directory, found, str(options.exported))
        if not look:
            directory.commit(manifest)
    if manifest is None:
        others = directory.others(None)
        if others:
            raise ValueError(
                f"{directory.path} holds {others[0]}, and nothing says from which rows; give another directory, or "
                f"remove the files"
            )
        Pass([stream])  # checks the query
        return _Begin(None, base=base, start=source.start())
    if not look:
        directory.finish(manifest)
        directory.warn_of_others(manifest)
    if exported is not None:
        _check_exported(directory, manifest, exported, str(options.exported))
    if base != manifest.base:
        raise ValueError(
            f"{directory.path} goes on from another state than the source does; give stream() the state that it "
            f"had when the directory was begun"
        )
    state = directory.state(manifest, manifest.state)
    start = source.start(state)
    at = start.first
    damaged = (
        None if look and any(one.staged for one in manifest.parts) else directory.damaged(manifest)
    )
    begin = _Begin(
        state,
        manifest.parts,
        (),
        manifest.checkpoints,
        None,
        exported,
        base,
        manifest.schema,
        start=start,
    )
    of_sides = _sides(Pass([stream], state))  # checks the query
    redo = source.files is not None and source.files.rules.changed == "redo"
    if damaged is not None and not redo:
        name = manifest.parts[damaged].name
        begin.error = ValueError(
            f"{directory.path}: {name} is not there as it was written; restore it, or write all that follows again "
            f'with stream(..., changed="redo")'
        )
    elif redo and not (at is None and damaged is None and of_sides is None):
        _go_back(begin, stream, directory, manifest, at, damaged)
    elif of_sides is not None:
        begin.error = of_sides
    return begin


def _sides(passing: Pass) -> ChangedSourceError | None:
    """Return the error of files that another side of the query has read, and that are not as they were."""
    try:
        for step, seen in zip(passing.steps, passing.seen, strict=True):
            step.check_sources(seen)
    except ChangedSourceError as error:
        return error
    return None


def _check_exported(directory: Directory, manifest: Manifest, digest: str, path: str) -> None:
    known = manifest.exported
    if known is None or digest not in (known.digest, known.before):
        raise ValueError(
            f"{path} is not the state that {directory.path} was written with: one of both is of another run. Nothing "
            f"was changed. The directory holds its own state: with state=True, or with another path, it goes on"
        )


def _go_back(
    begin: _Begin,
    stream: Stream,
    directory: Directory,
    manifest: Manifest,
    at: int | None,
    damaged: int | None,
) -> None:
    """Go back to the last state before the first file that differs, and before the first part that is damaged."""
    most = len(manifest.fragments) if at is None else at
    bounds = [0]
    for part in manifest.parts:
        bounds.append(bounds[-1] + part.rows)
    limit = bounds[-1] if damaged is None else bounds[damaged]
    kept = [one for one in manifest.checkpoints if one.fragments <= most and one.rows <= limit]
    begin.redo, rows = True, 0

    def is_other(one: Kept) -> bool:
        return _sides(Pass([stream], directory.state(manifest, one))) is not None

    kept = kept[: bisect_left(kept, True, key=is_other)]
    begin.state = None
    if kept:
        begin.state, rows = directory.state(manifest, kept[-1]), kept[-1].rows
    begin.checkpoints = tuple(kept)
    whole = sum(stop <= rows for stop in bounds[1:])
    begin.parts, begin.leaving = manifest.parts[:whole], manifest.parts[whole:]
    if rows > bounds[whole]:
        begin.cut = manifest.parts[whole], rows - bounds[whole]


# --- what is computed --------------------------------------------------------------------------------


def _items(
    passing: Pass, make: TableMaker, writing: _Writing, options: Options
) -> Iterator[tuple[Any, ...]]:
    """Yield what is written, in order: a method of `_Writing` with its arguments."""
    rows = closed = 0
    behind_file: State | None = None
    for (batch,) in passing:
        if behind_file is not None:
            yield writing.keep, behind_file
        table = make(batch)
        if table is not None:
            rows += table.num_rows
            yield writing.table, table
        place = passing.place
        at_end = place is not None and place.is_whole
        if place is not None and at_end and options.by_source:
            yield writing.close, make.schema, _stem(place.fragment.path)
            rows, closed = 0, closed + 1
        elif not options.by_source and rows >= options.rows_per_file:
            yield (writing.close,)
            rows, closed = 0, closed + 1
        if rows == 0 and closed and writing.should_commit():
            yield writing.commit, passing.state
            closed, at_end = 0, False
        behind_file = passing.state if at_end and writing.should_keep() else None


def _stem(path: str) -> str:
    """Return what the name of a part says of the file of the source that it is of."""
    name = path.rpartition(".")[0] or path
    plain = "".join(c if c.isascii() and (c.isalnum() or c in "-_.") else "-" for c in name)
    return f"-{plain[-100:].strip('-.')}"


# --- what is written ---------------------------------------------------------------------------------


class _Writing:
    """Writes parts and states, and commits them."""

    def __init__(
        self, directory: Directory, begin: _Begin, options: Options, schema: pa.Schema
    ) -> None:
        self.directory, self.begin, self.options = directory, begin, options
        self.schema = begin.schema or schema
        self.parts, self.checkpoints = list(begin.parts), list(begin.checkpoints)
        self.exported = begin.exported
        self.rows = sum(one.rows for one in self.parts)
        self.file: _Open | None = None
        self.committed, self.commit_took = time.monotonic(), 0.0
        self.kept, self.keep_took = time.monotonic(), 0.0
        self.closed = 0
        if begin.cut is not None:
            self._write_cut(*begin.cut)

    def __call__(self, item: tuple[Any, ...]) -> None:
        method, *given = item
        method(*given)

    def table(self, table: pa.Table) -> None:
        """Write rows to the open part."""
        if self.file is None:
            self.schema = self.begin.schema or (table.schema if not self.parts else self.schema)
            self.file = _Open(self.directory, self.schema)
        self.file.writer.write_table(table)
        self.rows += table.num_rows

    def _write_cut(self, part: Part, rows: int) -> None:
        """Write the first rows of a part to a new one."""
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
        """End the open part; with a schema, there is one though it may have no rows."""
        if self.file is None:
            if schema is None:
                return
            self.schema = self.begin.schema or schema
            self.file = _Open(self.directory, self.schema)
        staged, self.file = self.file.end(), None
        taken = (*self.parts, *self.begin.leaving)
        self.parts.append(self.directory.written_part(staged, len(self.parts), stem, taken))
        self.closed += 1

    def should_keep(self) -> bool:
        """Return whether the state behind this file is kept."""
        waited = time.monotonic() - self.kept
        return self.options.checkpoints > 0 and waited >= COMMIT_SHARE * self.keep_took

    def keep(self, state: State) -> None:
        """Keep the state behind a file, so that rows behind it can be computed again."""
        began = time.monotonic()
        self.checkpoints.append(self.directory.write_state(state, self.rows, self.schema))
        self._thin_out()
        self.kept, self.keep_took = time.monotonic(), time.monotonic() - began

    def _thin_out(self) -> None:
        """Leave states out while they take too many bytes: those between near ones, and old ones first."""
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
        """Return whether what was written is committed now; rows that replace others are committed together."""
        waited = time.monotonic() - self.committed
        return not self.begin.redo and waited >= COMMIT_SHARE * self.commit_took

    def commit(self, state: State) -> None:
        """Commit the parts that are whole, and the state behind them."""
        began = time.monotonic()
        kept = self.directory.write_state(state, self.rows, self.schema)
        if state.part < 0 and self.options.checkpoints and not state.ended and state.fragments:
            self.checkpoints.append(kept)
            self._thin_out()
        content = None if self.options.exported is None else state.content()
        exported = None
        if content is not None:
            exported = Exported(digest_of_state(content), self.exported)
        manifest = Manifest(
            kept,
            tuple(self.parts),
            self.begin.leaving,
            tuple(self.checkpoints),
            state.fragments,
            state.part,
            state.root,
            exported,
            self.begin.base,
            self.schema,
        )
        self.directory.commit(manifest)
        self.parts = [replace(one, staged="") for one in self.parts]
        if content is not None and exported is not None:
            write_whole(str(self.options.exported), content, private=True)
            self.exported = exported.digest
        self.closed = 0
        self.committed = time.monotonic()
        self.commit_took = self.committed - began

    def end(self, state: State) -> None:
        """Commit all, unless nothing is new."""
        self.close()
        before = self.begin.state
        same = before is not None and _counts(before) == _counts(state)
        known = self.directory.manifest
        is_written = self.options.exported is None or (
            known is not None and known.exported and known.exported.digest == self.exported
        )
        if not (same and is_written and not self.closed and not self.begin.redo):
            self.commit(state)

    def abandon(self) -> None:
        """Close the open part; its file is removed with all that nothing names."""
        if self.file is not None:
            self.file.abandon()


def _counts(state: State) -> tuple[Any, ...]:
    return state.rows, state.ended, state.part, columns_of_fragments(state.fragments)


class _Open:
    """A part that is written to."""

    def __init__(self, directory: Directory, schema: pa.Schema) -> None:
        self.name, self._file = directory.new_part()
        self.writer = pq.ParquetWriter(self._file, schema, **directory.options)

    def end(self) -> str:
        """Return its name once it is whole."""
        self.writer.close()
        if hasattr(self._file, "close"):
            self._file.close()
        return self.name

    def abandon(self) -> None:
        with suppress(
            OSError, pa.ArrowException
        ):  # the error that is raised says that the disk is full
            self.writer.close()
