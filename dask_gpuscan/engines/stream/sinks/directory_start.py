"""Where a run of a directory begins: all checks that come before any change."""

from __future__ import annotations

import os
from bisect import bisect_left
from dataclasses import replace
from typing import Any

import pyarrow as pa

from ....kernels.late_dataclass import dataclass
from ..filesystems import is_url
from ..passes import Pass
from ..sources.fragments import ChangedSourceError, Fragment, Progress, error_of_gone
from ..sources.source import Source, Start
from ..states.state import State
from ..whole_files import read_if_there
from .directory import Directory, digest_of_state
from .manifest import Kept, Manifest, Part

Stream = Any
"""A `Stream`; its methods call this module."""


@dataclass(frozen=True)
class Options:
    """A user's options for a directory."""

    rows_per_file: int
    by_source: bool
    """Whether there is one part for each file of the source."""
    checkpoints: int
    """The number of bytes that checkpoints may take."""
    exported: str | None
    """A second place where the state is written."""
    writer: dict[str, Any]


@dataclass()
class Begin:
    """The point from which a run goes on."""

    state: State | None
    """The state to go on from; None to begin anew."""
    start: Start
    """Where the source begins, and how its files differ."""
    parts: tuple[Part, ...] = ()
    """The parts that stay."""
    leaving: tuple[Part, ...] = ()
    checkpoints: tuple[Kept, ...] = ()
    cut: tuple[Part, int] | None = None
    """A part, and the number of its first rows that stay."""
    exported: str | None = None
    """The digest of the exported state."""
    base: str | None = None
    schema: pa.Schema | None = None
    redo: bool = False
    error: Exception | None = None

    @property
    def difference(self) -> Exception | None:
        """The error that forbids the run; None if it can go on."""
        return self.error or (None if self.redo else self.start.comparison.error)

    @property
    def again(self) -> tuple[Fragment, ...]:
        """The files that were read, wholly or in part, and are read again."""
        known = 0 if self.state is None else len(self.state.fragments)
        in_part = self.start.rest[:1] if self.start.behind else ()
        return (*self.start.seen, *in_part)[known:]

    def start_in(self, source: Source) -> Start:
        """Return where a pass over the source begins."""
        if not self.redo:
            return self.start
        return source.start(self.state, [one.path for one in self.again])

    def facts(self) -> Progress:
        """Return what the run would find."""
        found, error = self.start.comparison.facts, self.difference
        if error is not None:
            return replace(found, error=str(error))
        paths = [one.path for one in self.again if one.path not in found.removed]
        return replace(found, again=paths) if self.redo else found


def begin_of(stream: Stream, directory: Directory, options: Options, look: bool = False) -> Begin:
    """Check a directory, the exported state, the query and the source; return where a run goes on."""
    source, manifest = stream._source, directory.manifest
    _check_places(stream, directory, options)
    found = None if options.exported is None else read_if_there(options.exported)
    exported = None if found is None else digest_of_state(found)
    base = None if source.state is None else digest_of_state(source.state.content())
    if manifest is None and found is not None:
        raise ValueError(
            f"{options.exported} is a state, and {directory.path} is not the directory that was written with it. "
            f"Nothing was changed. To go on from the state in a new directory, give load_state({options.exported!r}) "
            f"to stream(), and state=True here"
        )
    if manifest is None:
        others = directory.others(None)
        if others:
            raise ValueError(
                f"{directory.path} holds {others[0]}, and nothing says from which rows; give another directory, or "
                f"remove the files"
            )
        Pass([stream])  # checks the query
        return Begin(None, source.start(), base=base)
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
    redo = source.files is not None and source.files.rules.changed == "redo"
    last = manifest.state
    if redo:
        manifest = directory.with_states(manifest)
    state = directory.state(manifest, manifest.state)
    start = source.start(state)
    at = start.first
    if manifest.state is not last and at is None:
        at = len(state.fragments)  # parts after that state are written again
    damaged = directory.damaged(manifest)
    begin = Begin(
        state,
        start,
        manifest.parts,
        checkpoints=manifest.checkpoints,
        exported=exported,
        base=base,
        schema=manifest.schema,
    )
    of_sides = Pass([stream], state).difference(of_sides=True)  # checks the query
    changed_parts = [one.name for one in manifest.parts if directory.is_changed(one)]
    if changed_parts:
        begin.error = ValueError(
            f"{directory.path}: {changed_parts[0]} was changed after it was written. Restore it; or move it away, and "
            f'what follows is written again with stream(..., changed="redo")'
        )
    elif damaged is not None and not redo:
        begin.error = ValueError(
            f"{directory.path}: {directory.told_missing(manifest.parts[damaged])}; restore it, or write all that "
            f'follows again with stream(..., changed="redo")'
        )
    elif source.state is not None and at is not None and at < len(source.state.fragments) and redo:
        begin.error = ChangedSourceError(
            f"file {start.seen[at].path!r} was read by the state that stream() was given, and is not as it was: make "
            f"that state anew, and then the directory",
            start.seen[at].path,
        )
    elif redo and not (at is None and damaged is None and of_sides is None):
        _go_back(begin, stream, directory, manifest, at, damaged)
        if source.files is not None and source.files.rules.removed == "keep":
            begin.error = _gone(begin) or _gone_of_sides(stream, state, begin.state)
    elif of_sides is not None:
        begin.error = of_sides
    return begin


def _check_places(stream: Stream, directory: Directory, options: Options) -> None:
    """Raise a ValueError if the directory or the exported state lies where other files are read or written."""
    files, exported = stream._source.files, options.exported
    if files is not None:
        for place, what in ((directory.given, "part-0.parquet"), (exported, "")):
            if place is not None and files.listing.reads(f"{place}/{what}" if what else place):
                raise ValueError(
                    f"{place} lies in the source, whose next run would read it; write to another folder, or to one "
                    f"whose name begins with an underscore"
                )
    if exported is None or is_url(exported):
        return
    place = os.path.realpath(exported)
    if os.path.isdir(place) or not os.path.isdir(os.path.dirname(place)):
        raise ValueError(
            f"state must be the path of a file in a folder that is there, found {exported}"
        )
    if not is_url(directory.given) and place.startswith(os.path.realpath(directory.path) + os.sep):
        raise ValueError(
            f"state {exported} lies in the directory, whose readers would take it for rows; with state=True the "
            f"directory has its own"
        )


def _gone(begin: Begin) -> ChangedSourceError | None:
    """Return the error for a removed file that would have to be read again; None if there is none."""
    archived = begin.start.comparison.archived
    gone = [one.path for one in begin.again if one.path in archived]
    return error_of_gone(gone[0]) if gone else None


def _gone_of_sides(stream: Stream, known: State, then: State | None) -> ChangedSourceError | None:
    """Return the same error for files of the right sides of as-of merges."""
    passing, before = Pass([stream], known), Pass([stream], then)
    for step, seen, again in zip(passing.steps, passing.seen, before.seen, strict=True):
        gone = step.gone(seen, again)
        if gone:
            return error_of_gone(gone[0])
    return None


def _check_exported(directory: Directory, manifest: Manifest, digest: str, path: str) -> None:
    known = manifest.exported
    if known is None or digest not in (known.digest, known.before):
        raise ValueError(
            f"{path} is not the state that {directory.path} was written with: one of both is of another run. Nothing "
            f"was changed. The directory holds its own state: with state=True, or with another path, it goes on"
        )


def _go_back(
    begin: Begin,
    stream: Stream,
    directory: Directory,
    manifest: Manifest,
    at: int | None,
    damaged: int | None,
) -> None:
    """Go back to the last state before the first file that differs and before the first damaged part."""
    most = len(manifest.fragments) if at is None else at
    bounds = [0]
    for part in manifest.parts:
        bounds.append(bounds[-1] + part.rows)
    limit = bounds[-1] if damaged is None else bounds[damaged]
    kept = [one for one in manifest.checkpoints if one.fragments <= most and one.rows <= limit]
    begin.redo, rows = True, 0

    def is_other(one: Kept) -> bool:
        passing = Pass([stream], directory.state(manifest, one))
        return passing.difference(of_sides=True) is not None

    kept = kept[: bisect_left(kept, True, key=is_other)]
    begin.state = None
    if kept:
        begin.state, rows = directory.state(manifest, kept[-1]), kept[-1].rows
    begin.checkpoints = tuple(kept)
    whole = sum(stop <= rows for stop in bounds[1:])
    files = kept[-1].fragments if kept else 0
    while whole > files and not manifest.parts[whole - 1].rows:
        whole -= 1  # the part of a file without rows that is read again
    if damaged is not None:
        whole = min(whole, damaged)  # a damaged part may have no rows
    begin.parts, begin.leaving = manifest.parts[:whole], manifest.parts[whole:]
    if rows > bounds[whole]:
        begin.cut = manifest.parts[whole], rows - bounds[whole]
