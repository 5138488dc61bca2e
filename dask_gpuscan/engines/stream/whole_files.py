"""Files that are written whole or not at all: a file gets its name once all of it is on disk.

Until then it has a random name in the same folder, so that nobody can put a link in its place.
"""

from __future__ import annotations

import errno
import os
import secrets
from contextlib import suppress
from pathlib import Path
from typing import BinaryIO

from pyarrow import fs

from .filesystems import filesystem_of

_NO_FOLDERS_ON_DISK = (errno.EINVAL, errno.ENOTSUP, errno.EACCES)
"""Errors of file systems that do not sync folders, and of folders that may not be read."""


class NewFile:
    """A local file that gets its name when it is closed, and is removed if it is abandoned.

    Parameters
    ----------
    path : path
        An existing file or link of this name is replaced; the target of a link stays.
    private : bool, default False
        Whether only its user may read the file.
    """

    def __init__(self, path: str | os.PathLike[str], private: bool = False) -> None:
        self.path = Path(path)
        name = f".{self.path.name[:50]}.{secrets.token_hex(8)}.part"
        self.part = self.path.with_name(name)
        """Its path until it is closed."""
        mode = 0o600 if private else 0o666

        def create(name: str, flags: int) -> int:
            return os.open(name, flags | getattr(os, "O_NOFOLLOW", 0), mode)

        self.file: BinaryIO = open(self.part, "xb", opener=create)  # noqa: SIM115
        """The file, open for writing bytes."""

    def close(self) -> None:
        """Wait until the file is on disk, and give it its name."""
        self.file.flush()
        os.fsync(self.file.fileno())
        self.file.close()
        self.part.replace(self.path)
        sync_folder(self.path.parent)

    def abandon(self) -> None:
        """Close the file, and remove it if it does not have its name yet."""
        self.file.close()
        self.part.unlink(missing_ok=True)


def sync_folder(folder: Path) -> None:
    """Wait until the names in a folder are on disk."""
    if os.name != "posix":
        return
    try:
        handle = os.open(folder, os.O_RDONLY)
        try:
            os.fsync(handle)
        finally:
            os.close(handle)
    except OSError as error:
        if error.errno not in _NO_FOLDERS_ON_DISK:
            raise


def write_whole(path: str | os.PathLike[str], content: bytes, private: bool = False) -> None:
    """Write a file whole or not at all.

    Parameters
    ----------
    path : path or URL
        The file of a URL is whole if its file system shows files only after they are closed, as object stores do.
    content : bytes
    private : bool, default False
        Whether only its user may read the file; for local files only.
    """
    filesystem, place = filesystem_of(path)
    if not isinstance(filesystem, fs.LocalFileSystem):
        with filesystem.open_output_stream(place, compression=None) as file:
            file.write(content)
        return
    new = NewFile(place, private)
    try:
        new.file.write(content)
        new.close()
    except BaseException:
        new.abandon()
        raise


def read_if_there(path: str | os.PathLike[str]) -> bytes | None:
    """Return the content of the file at a path or URL; None if there is none."""
    with suppress(FileNotFoundError):
        return read_whole(path)
    return None


def read_whole(path: str | os.PathLike[str]) -> bytes:
    """Return the content of the file at a path or URL."""
    filesystem, place = filesystem_of(path)
    if isinstance(filesystem, fs.LocalFileSystem):
        return Path(place).read_bytes()
    with filesystem.open_input_file(place) as file:
        content: bytes = file.read()
    return content
