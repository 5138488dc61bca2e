"""Directories of Parquet that go on: parts, and a manifest that is the only point at which they are committed.

A run holds the lock of the directory and checks all that is there. It writes parts and states under names of their own
in folders that readers pass over, and replaces the manifest once they are on disk. Only then do parts move to their
places, and those that they replace go. Whoever reads the directory meanwhile, or after the run was killed, sees the
first rows of what the manifest says, or of what it said before.
"""

from __future__ import annotations

import hashlib
import warnings
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import replace
from typing import Any

import pyarrow as pa

from ..sources.fragments import digest_of
from ..states.state import State, state_in
from .arrow import check_writer
from .manifest import FOLDER, NAME, Kept, Manifest, Part, held, manifest_of, without_rows
from .stores import owner, store_of, token, told_owner

SUFFIX = ".parquet"


class Directory:
    """The files of a directory that goes on.

    Parameters
    ----------
    path : str
        Of the directory, or its URL.
    options : dict
        Of `pyarrow.parquet.ParquetWriter`.
    """

    def __init__(self, path: str, options: dict[str, Any]) -> None:
        self.given = path
        self.store, self.path = store_of(path)
        self.options = options
        self.own = f"{self.path}/{FOLDER}"
        folder, _, name = self.path.rpartition("/")
        self.beside = f"{folder}/.{name}{FOLDER}"
        self.aside = self.beside
        """Where files are until they are whole: not in the directory, as some readers look everywhere in it."""
        self.manifest: Manifest | None = None
        self.pending: Manifest | None = None  # takes its place: either may be there
        """What the directory holds; None if nothing was committed."""
        self.before = set[str]()
        """The names of files of ours that were there."""
        self.is_above_synced = False

    def check_options(self, schema: pa.Schema) -> None:
        """Raise a TypeError for options that a writer of Parquet does not take."""
        check_writer(schema, self.options)

    # --- who writes ---------------------------------------------------------------------------------

    @contextmanager
    def locked(self) -> Iterator[None]:
        """Hold the directory for this run alone, and read its manifest; nothing is left if nothing is committed.

        Raises
        ------
        RuntimeError
            If another run holds it, naming that.
        """
        store = self.store
        is_new = not store.has_folder(self.path)
        store.make_folder(self.own)
        lock, mine = f"{self.own}/lock", f"{self.own}/{owner()}"
        with ExitStack() as stack:
            stack.callback(self._remove_folders, is_new)
            try:
                stack.enter_context(store.locked(lock))
            except BlockingIOError:
                raise RuntimeError(
                    f"another run writes to {self.path}: {self._running()}; wait until it ends"
                ) from None
            self.manifest = self.read()  # before anything is removed that it may name
            self.before = {*self.store.names(self.own), *self.store.names(self.beside)}
            stack.callback(self._leave, lock, mine)
            self._clean()
            store.put(mine, b"")
            self.aside = self._chosen_aside()
            yield

    def _running(self) -> str:
        names = [name for name in self.store.names(self.own) if name.startswith("owner-")]
        return ", ".join(map(told_owner, names)) or "it has just begun"

    def _leave(self, lock: str, mine: str) -> None:
        """Remove what only a run needs; all that is ours if nothing was committed."""
        self._remove_staged()
        self.store.remove(mine)
        if self.manifest is None:
            self.store.remove(lock)

    def _remove_folders(self, is_new: bool) -> None:
        if self.manifest is None:
            self.store.remove_folder(self.own)
            if is_new:
                self.store.remove_folder(self.path)

    def _clean(self) -> None:
        """Remove what runs have left that were killed."""
        for name in self.store.names(self.own):
            if name.startswith("owner-"):
                self.store.remove(f"{self.own}/{name}")

    def _chosen_aside(self) -> str:
        """Return the folder beside the directory, or one in it where files cannot be moved from there."""
        try:
            self.store.make_folder(self.aside)
            if self.store.moves(self.aside, self.path):
                return self.aside
        except OSError:
            pass
        self.store.remove_folder(self.aside)
        return self.own

    def _remove_staged(self) -> None:
        """Remove files of ours that no manifest names; without one, as it may be put back, those of this run."""
        known, staged = {NAME, "lock"}, set[str]()
        for manifest in (self.manifest, self.pending):
            if manifest is not None:
                known |= {one.name for one in (manifest.state, *manifest.checkpoints)}
                staged |= {one.staged for one in manifest.parts}
        if self.manifest is None:
            known |= self.before
        for folder in (self.beside, self.own):
            for name in self.store.names(folder):
                ours = name.startswith(("new-", "state-")) and name.endswith(SUFFIX)
                if ours and name not in known | staged:
                    self.store.remove(f"{folder}/{name}")
        self.store.remove_folder(self.beside)

    # --- what is there ------------------------------------------------------------------------------

    def read(self) -> Manifest | None:
        """Return the manifest; None if there is none."""
        path = f"{self.own}/{NAME}"
        if self.store.facts(path) is None:
            return None
        found = self.store.read(path)
        return manifest_of(held(found, path), path)

    def state(self, manifest: Manifest, kept: Kept) -> State:
        """Return a state that the manifest names, as that of the files that it has seen."""
        path = f"{self.own}/{kept.name}"
        if not self._has(kept):
            raise ValueError(
                f"{path}, which the manifest of {self.path} names, is not there as it was written; restore it, or go "
                f'back to an earlier state with changed="redo"'
            )
        state = state_in(held(self.store.read(path), path), path)
        part = manifest.part if kept is manifest.state else -1
        fragments = manifest.fragments[: kept.fragments + (part >= 0)]
        return replace(state, fragments=fragments, part=part, root=manifest.root)

    def finish(self, manifest: Manifest) -> None:
        """Remove parts that were replaced, last first, and move new ones to their places, first one first."""
        waiting = {one.name: place for one in manifest.parts if (place := self._staged(one))}
        in_place = {one.name for one in manifest.parts} - waiting.keys()
        for number, one in reversed(list(enumerate(manifest.leaving))):
            if number == 0 and one.name in waiting:
                continue  # the new part takes its place in one step, so that there is always one
            if one.name not in in_place and self.is_whole(one):
                self.store.remove(f"{self.path}/{one.name}")
        for name, place in waiting.items():
            self.store.move(place, f"{self.path}/{name}")
        if manifest.leaving or any(one.staged for one in manifest.parts):
            self.store.sync_folder(self.path)

    def _staged(self, part: Part) -> str | None:
        """Return where a part is that has not been moved to its place; None if it has."""
        if part.staged:
            for folder in (self.beside, self.own):
                if self.store.facts(f"{folder}/{part.staged}") is not None:
                    return f"{folder}/{part.staged}"
        return None

    def is_whole(self, part: Part) -> bool:
        """Return whether a part is in its place as it was written."""
        path = f"{self.path}/{part.name}"
        facts = self.store.facts(path)
        if facts is None or facts[0] != part.size:
            return False
        return facts[1] == part.modified or self.digest(path, facts[0]) == part.digest

    def digest(self, path: str, size: int) -> str:
        """Return the digest of a file of Parquet."""
        place = self.store.place(path)
        with pa.OSFile(place) if isinstance(place, str) else place as file:
            return digest_of(file.read_at, size)

    def damaged(self, manifest: Manifest) -> int | None:
        """Return the number of the first part that is not there as it was written; None if all are, or will be."""
        for number, one in enumerate(manifest.parts):
            if not self.is_whole(one) and self._staged(one) is None:
                return number
        return None

    def is_changed(self, part: Part) -> bool:
        """Return whether a part is in its place, and another one than was written, or than was there before it."""
        is_there = self.store.facts(f"{self.path}/{part.name}") is not None
        return is_there and not self.is_whole(part) and self._staged(part) is None

    def told_missing(self, part: Part) -> str:
        """Return what is wrong with a part that is not in its place, for a message."""
        found = f"{part.name} is not there as it was written"
        if part.staged:
            found += (
                f" (a run was killed before it was moved there: {part.staged} in {self.aside}, or in such a folder "
                f"beside the place where the directory was)"
            )
        return found

    def with_states(self, manifest: Manifest) -> Manifest:
        """Return a manifest without the states whose files are not there; the last one that is becomes its state."""
        states = [one for one in manifest.checkpoints if self._has(one)]
        if self._has(manifest.state) or not states:
            return replace(manifest, checkpoints=tuple(states))
        last = states[-1]
        return replace(manifest, state=last, checkpoints=tuple(states), part=-1)

    def _has(self, kept: Kept) -> bool:
        facts = self.store.facts(f"{self.own}/{kept.name}")
        return facts is not None and facts[0] == kept.size

    def others(self, manifest: Manifest | None) -> list[str]:
        """Return the files of Parquet in the directory that are not ours."""
        ours = set[str]()
        if manifest is not None:
            ours = {one.name for one in manifest.parts}
        names = self.store.names(self.path)
        return [n for n in names if n.endswith(SUFFIX) and n not in ours and n[:1] not in "._"]

    def warn_of_others(self, manifest: Manifest) -> None:
        """Warn of files that readers of the directory take for its rows; they are left as they are."""
        others = self.others(manifest)
        if others:
            warnings.warn(
                f"{self.path} holds {', '.join(others[:3])}{' and others' * (len(others) > 3)}, which no run has "
                f"written; readers of the directory read their rows too",
                stacklevel=2,
            )

    # --- what is written ----------------------------------------------------------------------------

    def new_part(self) -> tuple[str, Any]:
        """Return the name of a new part until it is moved, and what it is written to."""
        name = f"new-{token()}{SUFFIX}"
        return name, self.store.new(f"{self.aside}/{name}")

    def written_part(self, staged: str, rows: int, number: int, stem: str, free: set[str]) -> Part:
        """Return a part that is written whole; its name is one that no file has, or one that is free."""
        path = f"{self.aside}/{staged}"
        self.store.sync(path)
        facts = self.store.facts(path)
        assert facts is not None
        names = set(self.store.names(self.path)) - free
        first = f"part-{number:08}{stem}"
        name, count = f"{first}{SUFFIX}", 0
        while name in names:
            count += 1
            name = f"{first}-{count}{SUFFIX}"
        return Part(name, rows, *facts, self.digest(path, facts[0]), staged)

    def write_state(self, state: State, rows: int, schema: pa.Schema) -> Kept:
        """Write a state to a file of its own, without the files that it has seen: the manifest has them."""
        name, seen = f"state-{token()}{SUFFIX}", len(state.fragments) - (state.part >= 0)
        content = replace(state, fragments=(), part=-1, root="").content()
        content = without_rows(content, schema, self.options)
        self.store.put(f"{self.aside}/{name}", content)
        return Kept(name, len(content), seen, rows)

    def commit(self, manifest: Manifest) -> None:
        """Replace the manifest: from now on the directory holds what it says."""
        store, before = self.store, self.manifest
        known = set() if before is None else {before.state, *before.checkpoints}
        for one in {manifest.state, *manifest.checkpoints} - known:
            store.sync(f"{self.aside}/{one.name}")
            if self.aside != self.own:
                store.move(f"{self.aside}/{one.name}", f"{self.own}/{one.name}")
        if self.aside != self.own:
            store.sync_folder(self.aside)
        store.sync_folder(self.own)
        self._sync_above()
        content = without_rows(manifest.content(), manifest.schema, self.options)
        staged = f"{self.aside}/new-{token()}{SUFFIX}"
        store.put(staged, content)
        store.sync(staged)
        self.pending = manifest
        store.move(staged, f"{self.own}/{NAME}")
        self.manifest, self.pending = manifest, None
        store.sync_folder(self.own)
        self.finish(manifest)
        in_place = tuple([replace(one, staged="") for one in manifest.parts])
        self.manifest = replace(manifest, parts=in_place, leaving=())
        for one in known - {manifest.state, *manifest.checkpoints}:
            store.remove(f"{self.own}/{one.name}")

    def _sync_above(self) -> None:
        """Wait until the names of the folders are on disk that this run has made."""
        if self.is_above_synced:
            return
        if self.manifest is None:
            self.store.sync_folder(self.path)
        if self.manifest is None or self.aside != self.own:
            self.store.sync_folder(self.path.rpartition("/")[0] or "/")
        self.is_above_synced = True


def digest_of_state(content: bytes) -> str:
    """Return by what the manifest knows a state that lies elsewhere."""
    return hashlib.sha256(content).hexdigest()
