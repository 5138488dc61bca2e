"""Compiled kernels on disk: entries that are written whole, checked before use, and made again if damaged.

The folder is ``$DASK_GPUSCAN_CACHE``, else ``$XDG_CACHE_HOME/dask-gpuscan``, else ``~/.cache/dask-gpuscan``.
If nothing can be written, nothing is kept, and the log says why. Digests detect damage, but do not protect against
other users: a folder that others can write into is not used.
"""

import contextlib
import errno
import hashlib
import logging
import os
import re
import stat
import tempfile
from functools import lru_cache
from pathlib import Path

LIMIT = 1 << 30
"""The most bytes of all entries; beyond it, the entries that were read longest ago are removed."""

_FOREIGN = "it belongs to another user, or others can write into it"
_DIGEST = 32
_NEW = ".new-"
_OURS = re.compile(rf"{re.escape(_NEW)}|[0-9a-f]{{64}}\.[a-z]+$")


def folder() -> Path | None:
    """Return the folder of the entries; None if it would be in the home folder and there is no home folder."""
    chosen = os.environ.get("DASK_GPUSCAN_CACHE")
    if chosen:
        chosen = os.path.expanduser(chosen)
        return None if chosen.startswith("~") else Path(chosen)
    for root in (os.environ.get("XDG_CACHE_HOME", ""), os.path.expanduser("~/.cache")):
        if os.path.isabs(root):
            return Path(root) / "dask-gpuscan"
    return None


def read(key: str) -> bytes | None:
    """Return the entry under `key`; None if there is no complete entry.

    Parameters
    ----------
    key : str
        The name of the file: 64 hexadecimal digits, a dot and the kind of the entry.
    """
    place = folder()
    try:
        if place is None:
            return None
        if not _is_private(place):
            _warn(_not_kept(_FOREIGN))
            return None
        entry = _read_own(place / key)
    except OSError:
        return None
    content = entry[_DIGEST:]
    return content if _digest(key, content) == entry[:_DIGEST] else None


def write(key: str, content: bytes) -> None:
    """Keep `content` under `key`, if possible; readers see the whole entry or none."""
    digest = _digest(key, content)
    try:
        place = _made()
        _replace(place / key, digest + content)
    except OSError as error:
        _warn(_not_kept(error.strerror or str(error)))
        return
    if digest[0] % 16 == 0:  # check the size of the folder once in a while
        with contextlib.suppress(OSError):
            _evict(place)


def fate() -> str:
    """Say whether entries are kept, and where, or why not."""
    try:
        place = _made()
        with tempfile.TemporaryFile(dir=place, prefix=_NEW):
            return f"kept in {place} for later calls"
    except OSError as error:
        return _not_kept(error.strerror or str(error))


def _not_kept(why: str) -> str:
    place = folder()
    return f"not kept{f' in {place}' if place else ''}: {why}. Choose another folder by DASK_GPUSCAN_CACHE"


def _made() -> Path:
    """Return the folder, which is created if needed; an OSError says why it cannot be used."""
    place = folder()
    if place is None:
        raise FileNotFoundError(errno.ENOENT, "there is no home folder")
    try:
        place.mkdir(mode=0o700, parents=True, exist_ok=True)
    except FileExistsError as error:
        raise NotADirectoryError(errno.ENOTDIR, os.strerror(errno.ENOTDIR)) from error
    if not _is_private(place):
        raise PermissionError(errno.EACCES, _FOREIGN)
    return place


def _read_own(path: Path) -> bytes:
    """Return the content of a file of this user that nobody else can write to; raise an OSError for any other.

    Its folder may have been open to others before.
    """
    flags = os.O_RDONLY | getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_NONBLOCK", 0)
    handle = os.open(path, flags | getattr(os, "O_BINARY", 0))
    with os.fdopen(handle, "rb") as file:
        found = os.fstat(handle)
        own = not hasattr(os, "geteuid") or (
            found.st_uid == os.geteuid() and not found.st_mode & (stat.S_IWGRP | stat.S_IWOTH)
        )
        if not own or not stat.S_ISREG(found.st_mode):
            raise PermissionError(f"{path} is no file of this user's alone")
        return file.read()


def _digest(key: str, content: bytes) -> bytes:
    """Return the digest of an entry; it covers the key, so that the entry of another key is not valid."""
    return hashlib.sha256(key.encode() + b"\0" + content).digest()


def _is_private(place: Path) -> bool:
    """Return whether a folder, and a link that leads to it, are this user's, and nobody else can write into it."""
    if not hasattr(os, "geteuid"):  # Windows, where a user's profile is private
        return True
    found = place.stat()
    owners = {found.st_uid, place.lstat().st_uid}
    return owners == {os.geteuid()} and not found.st_mode & (stat.S_IWGRP | stat.S_IWOTH)


@lru_cache(maxsize=16)
def _warn(of: str) -> None:
    """Log once that kernels are not kept."""
    logging.getLogger(__name__).warning("compiled kernels are %s", of)


def _replace(path: Path, entry: bytes) -> None:
    """Write a file that only its user may read, under another name, and then rename it."""
    handle, name = tempfile.mkstemp(dir=path.parent, prefix=_NEW)
    try:
        with os.fdopen(handle, "wb") as file:
            file.write(entry)
        os.replace(name, path)
    except BaseException:
        os.unlink(name)
        raise


def _evict(place: Path) -> None:
    """Remove the entries read longest ago, as far as the file system knows, until the rest is within the limit.

    Users may choose a folder that holds other files.
    """
    with os.scandir(place) as found:
        files = [file for file in found if _OURS.match(file.name)]
        files = [file for file in files if file.is_file(follow_symlinks=False)]
        ours = [(file.stat(follow_symlinks=False), file.path) for file in files]
    total = 0
    for status, path in sorted(ours, key=lambda one: one[0].st_atime, reverse=True):
        total += status.st_size
        if total > LIMIT:
            with contextlib.suppress(OSError):
                os.unlink(path)
