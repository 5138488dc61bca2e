"""Compiled kernels on disk: entries that are written whole, checked before use, and made again if damaged.

The folder is ``$DASK_GPUSCAN_CACHE``, else ``$XDG_CACHE_HOME/dask-gpuscan``, else ``~/.cache/dask-gpuscan``.
Where nothing can be written, nothing is kept. This module must never know what an entry holds.
"""

import contextlib
import hashlib
import os
import tempfile
from pathlib import Path

_DIGEST = 32


def folder() -> Path:
    """Return the folder of the entries."""
    chosen = os.environ.get("DASK_GPUSCAN_CACHE")
    if chosen:
        return Path(chosen)
    root = os.environ.get("XDG_CACHE_HOME") or os.path.join(os.path.expanduser("~"), ".cache")
    return Path(root) / "dask-gpuscan"


def read(key: str) -> bytes | None:
    """Return the entry under `key`, or None if there is none that is whole."""
    try:
        entry = (folder() / key).read_bytes()
    except OSError:
        return None
    digest, content = entry[:_DIGEST], entry[_DIGEST:]
    return content if hashlib.sha256(content).digest() == digest else None


def write(key: str, content: bytes) -> None:
    """Keep `content` under `key`; readers see the whole entry or none."""
    with contextlib.suppress(OSError):
        folder().mkdir(parents=True, exist_ok=True)
        handle, name = tempfile.mkstemp(dir=folder(), prefix=".new-")
        try:
            with os.fdopen(handle, "wb") as file:
                file.write(hashlib.sha256(content).digest() + content)
            os.replace(name, folder() / key)
        except OSError:
            os.unlink(name)
            raise
