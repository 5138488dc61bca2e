"""Directories of Parquet that later runs add to: files with rows (parts), and a manifest that commits them.

A run locks the directory and checks its files. It writes parts and states under new names in folders that readers skip,
and replaces the manifest when they are on disk. Only then it moves the parts to their places and removes the parts that
they replace. A reader at any time, also after a run was killed, sees the first rows of the present or of the previous
manifest.
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
    """The files of a directory that later runs add to.

    Parameters
    ----------
    path : str
        The path or URL of the directory.
    options : dict
        Options of `pyarrow.parquet.ParquetWriter`.
    """

    def __init__(self, path: str, options: dict[str, Any]) -> None:
        self.given = path
        self.store, self.path = store_of(path)
        self.options = options
        self.own = f"{self.path}/{FOLDER}"
        folder, _, name = self.path.rpartition("/")
        self.beside = f"{folder}/.{name}{FOLDER}"
        self.aside = self.beside
        """The folder of incomplete files: not in the directory, as some readers read all folders in it."""
        self.manifest: Manifest | None = None
        """The manifest of the directory; None if nothing was committed."""
        self.pending: Manifest | None = None
        """The manifest that is replacing it now: either may be on disk."""
        self.before = set[str]()
        """The names of our files before the run."""
        self.is_above_synced = False

    def check_options(self, schema: pa.Schema) -> None:
        """Raise a TypeError for options that `pyarrow.parquet.ParquetWriter` does not take."""
        check_writer(schema, self.options)

    # --- who writes ---------------------------------------------------------------------------------

    @contextmanager
    def locked(self) -> Iterator[None]:
        """Lock the directory for this run and read its manifest; if nothing is committed, all of our files are removed.

        Raises
        ------
        RuntimeError
            If another run has locked it; the message names that run.
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
            self.manifest = self.read()  # first, as files that it names must not be removed
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
        """Remove the temporary files of a run, and the lock if nothing was committed."""
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
        """Remove the owner files of runs that were killed."""
        for name in self.store.names(self.own):
            if name.startswith("owner-"):
                self.store.remove(f"{self.own}/{name}")

    def _chosen_aside(self) -> str:
        """Return the folder next to the directory, or a folder in it if files cannot be moved from the other one."""
        try:
            self.store.make_folder(self.aside)
            if self.store.moves(self.aside, self.path):
                return self.aside
        except OSError:
            pass
        self.store.remove_folder(self.aside)
        return self.own

    def _remove_staged(self) -> None:
        """Remove our files that no manifest names; without a manifest, which may come back, only those of this run."""
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
        """Return the manifest on disk; None if there is none."""
        path = f"{self.own}/{NAME}"
        if self.store.facts(path) is None:
            return None
        found = self.store.read(path)
        return manifest_of(held(found, path), path)

    def state(self, manifest: Manifest, kept: Kept) -> State:
        """Return a state that the manifest names, with the files that it has read."""
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
        """Remove replaced parts, last one first, and move new parts to their places, first one first."""
        waiting = {one.name: place for one in manifest.parts if (place := self._staged(one))}
        in_place = {one.name for one in manifest.parts} - waiting.keys()
        for number, one in reversed(list(enumerate(manifest.leaving))):
            if number == 0 and one.name in waiting:
                continue  # the new part replaces it in one step, so that there is always a first part
            if one.name not in in_place and self.is_whole(one):
                self.store.remove(f"{self.path}/{one.name}")
        for name, place in waiting.items():
            self.store.move(place, f"{self.path}/{name}")
        if manifest.leaving or any(one.staged for one in manifest.parts):
            self.store.sync_folder(self.path)

    def _staged(self, part: Part) -> str | None:
        """Return the path of a part that was not moved to its place yet; None if it was moved."""
        if part.staged:
            for folder in (self.beside, self.own):
                if self.store.facts(f"{folder}/{part.staged}") is not None:
                    return f"{folder}/{part.staged}"
        return None

    def is_whole(self, part: Part) -> bool:
        """Return whether a part is in its place and unchanged."""
        path = f"{self.path}/{part.name}"
        facts = self.store.facts(path)
        if facts is None or facts[0] != part.size:
            return False
        return facts[1] == part.modified or self.digest(path, facts[0]) == part.digest

    def digest(self, path: str, size: int) -> str:
        """Return the digest of a Parquet file."""
        place = self.store.place(path)
        with pa.OSFile(place) if isinstance(place, str) else place as file:
            return digest_of(file.read_at, size)

    def damaged(self, manifest: Manifest) -> int | None:
        """Return the number of the first part that is missing or changed; None if all parts can be used."""
        for number, one in enumerate(manifest.parts):
            if not self.is_whole(one) and self._staged(one) is None:
                return number
        return None

    def is_changed(self, part: Part) -> bool:
        """Return whether the file in a part's place is not what this or an earlier run has written there."""
        is_there = self.store.facts(f"{self.path}/{part.name}") is not None
        return is_there and not self.is_whole(part) and self._staged(part) is None

    def told_missing(self, part: Part) -> str:
        """Return a text that says that a part is not in its place."""
        found = f"{part.name} is not there as it was written"
        if part.staged:
            found += (
                f" (a run was killed before it was moved there: {part.staged} in {self.aside}, or in such a folder "
                f"beside the place where the directory was)"
            )
        return found

    def with_states(self, manifest: Manifest) -> Manifest:
        """Return a manifest without states that have no file; if its own has none, the last checkpoint replaces it."""
        states = [one for one in manifest.checkpoints if self._has(one)]
        if self._has(manifest.state) or not states:
            return replace(manifest, checkpoints=tuple(states))
        last = states[-1]
        return replace(manifest, state=last, checkpoints=tuple(states), part=-1)

    def _has(self, kept: Kept) -> bool:
        facts = self.store.facts(f"{self.own}/{kept.name}")
        return facts is not None and facts[0] == kept.size

    def others(self, manifest: Manifest | None) -> list[str]:
        """Return the Parquet files in the directory that are not ours."""
        ours = set[str]()
        if manifest is not None:
            ours = {one.name for one in manifest.parts}
        names = self.store.names(self.path)
        return [n for n in names if n.endswith(SUFFIX) and n not in ours and n[:1] not in "._"]

    def warn_of_others(self, manifest: Manifest) -> None:
        """Warn of other files that readers of the directory would read too; they are not changed."""
        others = self.others(manifest)
        if others:
            warnings.warn(
                f"{self.path} holds {', '.join(others[:3])}{' and others' * (len(others) > 3)}, which no run has "
                f"written; readers of the directory read their rows too",
                stacklevel=2,
            )

    # --- what is written ----------------------------------------------------------------------------

    def new_part(self) -> tuple[str, Any]:
        """Return the temporary name of a new part, and the file or path to write it to."""
        name = f"new-{token()}{SUFFIX}"
        return name, self.store.new(f"{self.aside}/{name}")

    def written_part(self, staged: str, rows: int, number: int, stem: str, free: set[str]) -> Part:
        """Return the part of a complete file, with a name that no other file has; names in `free` may be used again."""
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
        """Write a state to a file of its own, without its fragments, which are in the manifest."""
        name, seen = f"state-{token()}{SUFFIX}", len(state.fragments) - (state.part >= 0)
        content = replace(state, fragments=(), part=-1, root="").content()
        content = without_rows(content, schema, self.options)
        self.store.put(f"{self.aside}/{name}", content)
        return Kept(name, len(content), seen, rows)

    def commit(self, manifest: Manifest) -> None:
        """Replace the manifest, which commits the parts and states that it names."""
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
        """Wait until the folders that this run has made are on disk."""
        if self.is_above_synced:
            return
        if self.manifest is None:
            self.store.sync_folder(self.path)
        if self.manifest is None or self.aside != self.own:
            self.store.sync_folder(self.path.rpartition("/")[0] or "/")
        self.is_above_synced = True


def digest_of_state(content: bytes) -> str:
    """Return the digest by which the manifest identifies an exported state."""
    return hashlib.sha256(content).hexdigest()
