"""Directories that a release before manifests has written: their rows were counted, and their files not known."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pyarrow.parquet as pq

from ..filesystems import filesystem_of
from ..sources.fragments import Fragment, digest_of, settled
from ..sources.listing import opened
from ..states.state import State, state_in
from .arrow import no_rows_of
from .directory import Directory, digest_of_state
from .manifest import Exported, Manifest, Part

Stream = Any


def adopted(
    stream: Stream, directory: Directory, content: bytes, path: str, look: bool
) -> tuple[Manifest | None, State]:
    """Return the manifest of a directory that an earlier release has written, and its state with the files it has seen.

    Parameters
    ----------
    stream : Stream
        Its source must begin with the files that were read.
    directory : Directory
    content : bytes
        Of the state.
    path : str
        Of the state.
    look : bool
        Whether nothing is written; then there is no manifest.

    Raises
    ------
    ValueError
        If the state is not of such a directory, or if the files were read in another order than that of now.
    """
    state = state_in(content, path)
    names = directory.others(None)
    if state.fragments or names != [f"part-{number:08}.parquet" for number in range(state.files)]:
        raise ValueError(
            f"{path} is a state, and {directory.path} is not the directory that was written with it. Nothing was "
            f"changed. To go on from the state in a new directory, give load_state({path!r}) to stream(), and "
            f"state=True here"
        )
    parts = tuple([_part(directory, name) for name in names])
    filesystem, place = filesystem_of(path)
    written = int(filesystem.get_file_info(place).mtime_ns or 0)
    fragments, part = _seen(stream, state, directory, written)
    schema = no_rows_of(stream).schema
    if names:
        schema = pq.read_schema(directory.store.place(f"{directory.path}/{names[0]}"))
    seen = replace(state, fragments=fragments, part=part, root=stream._source.root)
    if look:
        return None, seen
    kept = directory.write_state(state, sum(one.rows for one in parts), schema)
    manifest = Manifest(
        replace(kept, fragments=len(fragments) - (part >= 0)),
        parts,
        fragments=fragments,
        part=part,
        root=stream._source.root,
        exported=Exported(digest_of_state(content)),
        schema=schema,
    )
    return manifest, seen


def _part(directory: Directory, name: str) -> Part:
    path = f"{directory.path}/{name}"
    facts = directory.store.facts(path)
    assert facts is not None
    rows = pq.read_metadata(directory.store.place(path)).num_rows
    return Part(name, rows, *facts, directory.digest(path, facts[0]))


def _seen(
    stream: Stream, state: State, directory: Directory, written: int
) -> tuple[tuple[Fragment, ...], int]:
    """Return the files that so many rows are of, and how many rows of the last one were read.

    Files that are newer than the state were not read.
    """
    files = stream._source.files
    if files is None:
        return (), -1
    there = [one for one in files.listing.fragments() if one.modified <= written]
    by_text = there if files.listing.in_list else sorted(there, key=lambda one: one.path)
    found, rows, part = list[Fragment](), 0, -1
    for one in by_text:
        if rows >= state.rows:
            break
        count = files.rows_of(one)
        with opened(one, files.listing.filesystem) as file:
            digest = digest_of(file.read_at, one.size)
        found.append(settled(one)._replace(rows=count, digest=digest))
        rows += count
        if rows > state.rows:
            part = count - (rows - state.rows)
    if rows < state.rows:
        raise ValueError(f"state is of more rows than the source has: {state.rows - rows} more")
    names, now = [one.path for one in found], [one.path for one in there[: len(found)]]
    if names != now:
        first = next(i for i, name in enumerate(names) if name != now[i])
        raise ValueError(
            f"{directory.path} was written by a release that read files in the order of their names as texts: "
            f"{names[first]!r} where {now[first]!r} is next. Rows may be missing, or there twice. Write a new directory"
        )
    return tuple(found), part
