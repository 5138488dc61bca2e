"""Stores of directories: their files can be locked, and replaced in one step.

Each change to a directory is one call of a method here, so that tests can end a process, or fill the disk, at each one.
"""

from __future__ import annotations

import errno
import os
import secrets
import socket
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any, ClassVar

import pyarrow as pa

from ....forks import importing
from ..filesystems import filesystem_of, is_url, shown_url
from ..whole_files import sync_folder

Facts = tuple[int, int]
"""The size of a file in bytes, and when it was written in nanoseconds."""


MOST_TRIES = 1000
"""How often a folder or a lock is made again if another run removes it."""


class LocalStore:
    """Local files and folders, by their paths."""

    def names(self, folder: str) -> list[str]:
        """Return the names in a folder; an empty list if there is no folder."""
        try:
            return sorted(os.listdir(folder))
        except FileNotFoundError:
            return []

    def has_folder(self, path: str) -> bool:
        """Return whether there is a folder."""
        return os.path.isdir(path)

    def facts(self, path: str) -> Facts | None:
        """Return the size and the time of a file; None if there is none."""
        try:
            found = os.stat(path)
        except FileNotFoundError:
            return None
        return found.st_size, found.st_mtime_ns

    def read(self, path: str) -> bytes:
        """Return the content of a file."""
        with open(path, "rb") as file:
            return file.read()

    def place(self, path: str) -> Any:
        """Return the path or object from which pyarrow reads a file."""
        return path

    def new(self, path: str) -> Any:
        """Create a new file, and return the path or object to which pyarrow writes it."""
        flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | getattr(os, "O_NOFOLLOW", 0)
        os.close(os.open(path, flags, 0o666))
        return path

    def put(self, path: str, content: bytes) -> None:
        """Write a new file that only its user may read."""
        flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | getattr(os, "O_NOFOLLOW", 0)
        with open(os.open(path, flags, 0o600), "wb") as file:
            file.write(content)

    def sync(self, path: str) -> None:
        """Wait until a file is on disk."""
        with open(path, "rb+") as file:
            os.fsync(file.fileno())

    def sync_folder(self, folder: str) -> None:
        """Wait until the names in a folder are on disk."""
        sync_folder(Path(folder))

    def move(self, path: str, to: str) -> None:
        """Rename a file in one step, and replace a file that has the new name."""
        os.replace(path, to)

    def remove(self, path: str) -> None:
        """Remove a file if it exists."""
        with suppress(FileNotFoundError):
            os.unlink(path)

    def make_folder(self, folder: str) -> None:
        """Make a folder and its parents, even while another run removes them."""
        for left in reversed(range(MOST_TRIES)):
            try:
                return os.makedirs(folder, exist_ok=True)
            except (FileExistsError, FileNotFoundError):
                if not left:
                    raise

    def remove_folder(self, folder: str) -> None:
        """Remove a folder if it is empty."""
        with suppress(OSError):
            os.rmdir(folder)

    def moves(self, folder: str, to: str) -> bool:
        """Return whether files can be moved from a folder to another in one step."""
        return os.stat(folder).st_dev == os.stat(to).st_dev

    @contextmanager
    def locked(self, path: str) -> Iterator[None]:
        """Hold a lock, which ends with its process; raises a BlockingIOError if another process or thread has it."""
        for left in reversed(range(MOST_TRIES)):
            self.make_folder(os.path.dirname(path))  # an earlier run may have removed the folder
            try:
                handle = os.open(path, os.O_RDWR | os.O_CREAT, 0o666)
            except FileNotFoundError:
                if not left:
                    raise
                continue
            try:
                _lock(handle)
                try:
                    if _is_there(handle, path):
                        yield
                        return
                finally:
                    _unlock(handle)  # not only closed, as a forked process may have it open
            finally:
                os.close(handle)
        raise BlockingIOError(errno.EWOULDBLOCK, "the file is locked")


def _is_there(handle: int, path: str) -> bool:
    """Return whether an open file still has this path: the run that had its lock may have removed it."""
    try:
        return os.path.samestat(os.stat(path), os.fstat(handle))
    except FileNotFoundError:
        return False


def _lock(handle: int) -> None:
    if os.name == "nt":  # pragma: no cover
        with importing:
            import msvcrt

        try:
            msvcrt.locking(handle, msvcrt.LK_NBLCK, 1)  # type: ignore[attr-defined]
        except OSError as error:
            raise BlockingIOError(error.errno, "the file is locked") from error
        return
    with importing:
        import fcntl

    try:
        fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError as error:
        if error.errno in (errno.EWOULDBLOCK, errno.EACCES):
            raise BlockingIOError(error.errno, "the file is locked") from error
        raise


def _unlock(handle: int) -> None:
    if os.name == "nt":  # pragma: no cover
        return
    with importing:
        import fcntl

    fcntl.flock(handle, fcntl.LOCK_UN)


class MemoryStore(LocalStore):
    """Files in the memory file system of fsspec."""

    _locked: ClassVar[dict[str, object]] = {}

    def __init__(self, filesystem: Any) -> None:
        self.fs = filesystem

    def names(self, folder: str) -> list[str]:
        if not self.fs.isdir(folder):
            return []
        return sorted(name.rpartition("/")[2] for name in self.fs.ls(folder, detail=False))

    def has_folder(self, path: str) -> bool:
        return bool(self.fs.isdir(path))

    def facts(self, path: str) -> Facts | None:
        if not self.fs.isfile(path):
            return None
        return int(self.fs.size(path)), int(self.fs.modified(path).timestamp() * 1e9)

    def read(self, path: str) -> bytes:
        found: bytes = self.fs.cat_file(path)
        return found

    def place(self, path: str) -> Any:
        return pa.BufferReader(self.read(path))

    def new(self, path: str) -> Any:
        return self.fs.open(path, "wb")

    def put(self, path: str, content: bytes) -> None:
        self.fs.pipe_file(path, content)

    def sync(self, path: str) -> None:
        pass

    def sync_folder(self, folder: str) -> None:
        pass

    def move(self, path: str, to: str) -> None:
        self.fs.store[to] = self.fs.store.pop(path)

    def remove(self, path: str) -> None:
        if self.fs.isfile(path):
            self.fs.rm_file(path)

    def make_folder(self, folder: str) -> None:
        self.fs.makedirs(folder, exist_ok=True)

    def remove_folder(self, folder: str) -> None:
        if self.fs.isdir(folder) and not self.fs.ls(folder):
            self.fs.rmdir(folder)

    def moves(self, folder: str, to: str) -> bool:
        return True

    @contextmanager
    def locked(self, path: str) -> Iterator[None]:
        mine = object()
        if self._locked.setdefault(path, mine) is not mine:
            raise BlockingIOError(errno.EWOULDBLOCK, "the file is locked")
        try:
            yield
        finally:
            del self._locked[path]


def store_of(path: str) -> tuple[LocalStore, str]:
    """Return the store of a directory, and the path in it.

    Raises
    ------
    ValueError
        If the file system of a URL cannot replace files in one step.
    """
    if not is_url(path):
        return LocalStore(), os.path.realpath(os.path.expanduser(path))
    scheme = path.partition("://")[0]
    if scheme in ("file", "memory"):
        filesystem, inner = filesystem_of(path)
        return (LocalStore() if scheme == "file" else MemoryStore(filesystem.handler.fs)), inner
    raise ValueError(
        f"{shown_url(path)}: a directory that goes on needs files that are replaced in one step, which a store of "
        f"objects has not; use to_delta or to_iceberg, whose tables commit rows and state together"
    )


def token() -> str:
    """Return a random part of a name."""
    return secrets.token_hex(8)


def owner() -> str:
    """Return a file name with this process, its machine and the present time."""
    host = "".join(c if c.isalnum() else "-" for c in socket.gethostname())[:60]
    return f"owner-{os.getpid()}-{time.strftime('%Y%m%dT%H%M%SZ', time.gmtime())}-{host}"


def told_owner(name: str) -> str:
    """Return a name of `owner` as a text for a message.

    Examples
    --------
    >>> told_owner("owner-7-20261101T080000Z-night")
    'process 7 on night, since 20261101T080000Z'
    """
    _, process, since, host = name.split("-", 3)
    return f"process {process} on {host}, since {since}"
