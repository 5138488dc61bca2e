"""The file systems of paths and URLs: those of pyarrow, and of fsspec for URLs that pyarrow does not open."""

from __future__ import annotations

import os
from typing import Any
from urllib.parse import urlsplit

import pyarrow as pa
from fsspec.core import url_to_fs
from pyarrow import fs

from ...kernels.messages import shown


def is_url(path: str | os.PathLike[str]) -> bool:
    """Return whether a path is a URL, such as ``s3://bucket/name``."""
    return isinstance(path, str) and "://" in path


def as_path(name: str, given: Any) -> str:
    """Return a path or a URL as a str; raises a TypeError that names the argument for anything else."""
    found = os.fspath(given) if isinstance(given, (str, os.PathLike)) else None
    if not isinstance(found, str) or not found:
        raise TypeError(f"{name} must be a path or a URL, found {shown(given)}")
    return found


def filesystem_of(url: str | os.PathLike[str]) -> tuple[fs.FileSystem, str]:
    """Return the file system of a path or a URL, and the path in it.

    Parameters
    ----------
    url : path or str
        A local path, or a URL that pyarrow (``file``, ``s3``, ``gs``, ``hdfs``, ``abfs``) or fsspec opens.

    Raises
    ------
    ValueError
        If a URL is not understood, or needs a package that is not installed.

    Examples
    --------
    >>> from dask_gpuscan.engines.stream.filesystems import filesystem_of
    >>> filesystem, path = filesystem_of("file:///tmp/totals.arrow")
    >>> filesystem.type_name, path
    ('local', '/tmp/totals.arrow')
    """
    if not is_url(url):
        return fs.LocalFileSystem(), os.fspath(url)
    url = os.fspath(url)
    try:
        found: tuple[fs.FileSystem, str] = fs.FileSystem.from_uri(url)
        return found
    except pa.ArrowNotImplementedError:  # pyarrow was built without this file system
        return _of_fsspec(url)
    except pa.ArrowInvalid as error:
        if "Unrecognized filesystem" in str(error):
            return _of_fsspec(url)
        raise ValueError(
            f"{shown_url(url)} is not understood: {str(error).replace(url, shown_url(url))}"
        ) from None


def _of_fsspec(url: str) -> tuple[fs.FileSystem, str]:
    try:
        found: tuple[Any, str] = url_to_fs(url)
    except ImportError as error:
        raise ValueError(
            f"{shown_url(url)} needs a package that is not installed: {error}"
        ) from error
    except ValueError as error:
        raise ValueError(
            f"{shown_url(url)} is of no file system that pyarrow or fsspec knows: {error}"
        ) from None
    return fs.PyFileSystem(fs.FSSpecHandler(found[0])), found[1]


def shown_url(path: str | os.PathLike[str]) -> str:
    """Return a path or a URL for a message, without its password and options."""
    if not is_url(path):
        return os.fspath(path)
    parts = urlsplit(os.fspath(path))
    place = parts.netloc.rpartition("@")[2]
    return f"{parts.scheme}://{place}{parts.path}"
