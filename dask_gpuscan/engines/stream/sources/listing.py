"""Lists the files of paths, patterns, folders and lists in order, on any file system."""

from __future__ import annotations

import os
import re
import stat
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import suppress
from functools import cached_property
from glob import glob, has_magic
from typing import Any
from urllib.parse import unquote

import pyarrow as pa
import pyarrow.fs as pafs

from ....forks import importing
from ....kernels.late_dataclass import dataclass
from ....kernels.messages import shown
from ..filesystems import as_path, filesystem_of, is_url
from .fragments import LOGGED, Fragment

SUFFIXES = (".parquet", ".parq", ".pq", ".arrow", ".feather", ".ipc")
"""The suffixes of files that are read in a folder."""

Order = str | Callable[[str], Any] | None


def natural(path: str) -> tuple[Any, ...]:
    """Return a sort key for a path that compares numbers as numbers: ``2`` comes before ``10``.

    Examples
    --------
    >>> sorted(["day-10.parquet", "day-9.parquet", "day.parquet", "2026-11-02/a", "2026-02-10/a"], key=natural)
    ['2026-02-10/a', '2026-11-02/a', 'day.parquet', 'day-9.parquet', 'day-10.parquet']
    """
    parts = path.split("/")
    parts[-1:] = os.path.splitext(parts[-1])
    return tuple([_natural(part) for part in parts]), path


def _natural(text: str) -> tuple[Any, ...]:
    pieces: list[Any] = _NUMBERS.split(text)
    if len(pieces) > 1:
        numbers = [one.lstrip("0") for one in pieces[1::2]]
        pieces[1::2] = zip(map(len, numbers), numbers, strict=True)
    return tuple(pieces)


_NUMBERS = re.compile("([0-9]+)")


@dataclass(frozen=True)
class Listing:
    """The files of a path, a pattern, a folder, or a list of these.

    Parameters
    ----------
    given : tuple of str
    in_list : bool
        Whether the user gave a list: then files are identified by the paths in it, and keep their order.
    order : "name", "modified", callable or None
        How files are sorted; None for the order of a list, or else by name.
    may_be_empty : bool, default False
        Whether there may be no files, as the schema is known without them.
    """

    given: tuple[str, ...]
    in_list: bool = False
    order: Order = None
    may_be_empty: bool = False

    @property
    def root(self) -> str:
        """The folder to which paths are relative; empty for a list."""
        if self.in_list:
            return ""
        (one,) = map(_Given, self.given)
        return one.root if is_url(one.root) else os.path.abspath(one.root)

    @cached_property
    def filesystem(self) -> pafs.FileSystem | None:
        """The file system; None for local files."""
        if not any(map(is_url, self.given)):
            return None
        found = [filesystem_of(path)[0] for path in self.given]
        if any(one != found[0] for one in found[1:]) or not all(map(is_url, self.given)):
            raise ValueError("source must be paths of one file system, found several")
        return found[0]

    def compared(
        self, known: Sequence[Fragment], in_midst: bool
    ) -> tuple[Sequence[Fragment], list[Fragment]]:
        """Return the files that were read, the last one in part if `in_midst`, and the files to compare them with."""
        return known, self.fragments()

    def fragments(self) -> list[Fragment]:
        """Return the present files, in order.

        Raises
        ------
        FileNotFoundError
            If a path, a folder or a pattern has no files.
        """
        found, _ = list[Fragment](), self.filesystem  # raises an error for several file systems
        for one in map(_Given, self.given):
            some = sorted(one.files(), key=lambda each: natural(each.path))
            if not some and not self.may_be_empty:
                if not one.is_folder:
                    raise FileNotFoundError(f"no file is called {one.path}")
                raise FileNotFoundError(
                    f"folder {one.path} has no files of Parquet or Arrow IPC ({', '.join(SUFFIXES)}); with schema=, "
                    f"it may be empty"
                )
            folder = "" if not self.in_list else one.root.rstrip("/") + "/" if one.root else ""
            found += [each._replace(path=folder + each.path) for each in some]
        if self.in_list:
            _check_once(found)
        return sort(found, self.order)

    def reads(self, path: str) -> bool:
        """Return whether a file belongs, or would belong, to the source."""
        return any(_Given(one).reads(path) for one in self.given)


class _Given:
    """One path of a user, as it is now: a folder, a pattern, or else a file.

    Parameters
    ----------
    path : str
    """

    def __init__(self, path: str) -> None:
        self.path = path if is_url(path) else path.replace(os.sep, "/")
        local: tuple[pafs.FileSystem | None, str] = None, self.path
        self.filesystem, self.inner = filesystem_of(path) if is_url(path) else local
        """The file system, None if it is local, and the path in it."""
        self.is_pattern = has_magic(path)
        if self.filesystem is None:
            self.is_folder = os.path.isdir(path)
            self.is_pattern &= not os.path.exists(path)
        else:
            info = None if self.is_pattern else self.filesystem.get_file_info(self.inner)
            self.is_folder = info is not None and info.type == pafs.FileType.Directory
        self.root = self.path.rpartition("/")[0]
        """The folder of its files, to which their names are relative."""
        if self.is_folder:
            self.root = self.path.rstrip("/") or "/"
        while self.is_pattern and has_magic(self.root):
            self.root = self.root.rpartition("/")[0]

    def reads(self, path: str) -> bool:
        """Return whether a file belongs, or would belong, to these."""
        if is_url(self.path) != is_url(path):
            return False
        root, place = self.root, path
        if not is_url(path):
            root, place = os.path.realpath(root or "."), os.path.realpath(path)
        if not place.startswith(root.rstrip("/") + "/"):
            return False
        name = place[len(root) :].strip("/").replace(os.sep, "/")
        if self.is_folder:
            return _is_data(name)
        matches = _matches(self.path[len(self.root) :].strip("/"))
        return has_magic(self.path) and matches(name) and not _is_ours(name)

    def files(self) -> Iterator[Fragment]:
        """Yield the present files.

        Raises
        ------
        FileNotFoundError
            If a path is of no file.
        """
        if not (self.is_folder or self.is_pattern):
            name = self.inner.rpartition("/")[2]
            one = now(Fragment(name, 0, 0, place=self.inner), self.filesystem)
            if one is None:
                raise FileNotFoundError(f"no file is called {self.path}")
            yield one
        elif self.filesystem is None:
            yield from self._local()
        else:
            yield from self._remote(self.filesystem)

    def _local(self) -> Iterator[Fragment]:
        places: Iterable[str] = _walk(self.root)
        if self.is_pattern:
            found = glob(self.path, recursive=True)
            places = [one for one in found if os.path.isfile(one) and not _is_ours(one)]
        behind = len(self.root) + (self.root not in ("", "/"))
        for place in places:
            name = place[behind:].replace(os.sep, "/")
            one = now(Fragment(name, 0, 0, place=place), None)
            if one is not None:  # it was not removed meanwhile
                yield one

    def _remote(self, filesystem: pafs.FileSystem) -> Iterator[Fragment]:
        _, root = filesystem_of(self.root)
        matches = _matches(self.inner) if self.is_pattern else None
        selector = pafs.FileSelector(root, recursive=True, allow_not_found=True)
        for info in filesystem.get_file_info(selector):
            name = info.path[len(root) :].strip("/")
            wanted = matches(info.path) and not _is_ours(name) if matches else _is_data(name)
            if info.type == pafs.FileType.File and wanted:
                yield Fragment(name, info.size, _modified(info, filesystem), place=info.path)


def sort(found: Iterable[Fragment], order: Order) -> list[Fragment]:
    """Sort files; if `order` is None, keep their order."""
    if order is None:
        return list(found)
    keys: dict[str, Callable[[Fragment], Any]] = {
        "name": lambda one: natural(one.path),
        "modified": lambda one: (one.modified, natural(one.path)),
    }
    try:
        key = keys[order] if isinstance(order, str) else lambda one: order(one.path)
        return sorted(found, key=key)
    except TypeError as error:
        raise ValueError(
            f"order: what the function returns for paths cannot be sorted: {error}"
        ) from error


def _check_once(found: Sequence[Fragment]) -> None:
    met = set[str]()
    for one in found:
        place = os.path.realpath(one.place)
        if place in met:
            raise ValueError(f"source must name each file once, found {one.path!r} twice")
        met.add(place)


def _walk(folder: str, above: tuple[str, ...] = ()) -> Iterator[str]:
    """Yield the files in a folder and its subfolders, except names that begin with ``.`` or ``_``.

    Raises
    ------
    FileNotFoundError
        If a link leads nowhere.
    """
    here = os.path.realpath(folder)
    if here in above:
        return  # a link to a parent folder
    with os.scandir(folder) as entries:
        for entry in entries:
            if entry.name.startswith((".", "_")):
                continue
            if entry.is_dir():
                yield from _walk(entry.path, (*above, here))
            elif entry.name.lower().endswith(SUFFIXES):
                if not os.path.exists(entry.path):
                    raise FileNotFoundError(f"{entry.path} is a link that leads nowhere")
                yield entry.path


def _is_ours(path: str) -> bool:
    """Return whether a file is one of our own files in a directory or table."""
    return "_gpuscan" in path.replace(os.sep, "/").split("/")[:-1]


def _is_data(name: str) -> bool:
    hidden = any(part.startswith((".", "_")) for part in name.split("/"))
    return not hidden and name.lower().endswith(SUFFIXES)


def _matches(pattern: str) -> Callable[[str], bool]:
    with importing:
        from fsspec.utils import glob_translate

    match = re.compile(glob_translate(pattern)).match
    return lambda path: match(path) is not None


def stat_local(path: str) -> tuple[int, int, int] | None:
    """Return the size of a file and its times of writing and of change; None if there is no file."""
    try:
        found = os.stat(path)
    except FileNotFoundError:
        return None
    if not stat.S_ISREG(found.st_mode):
        raise ValueError(f"{path} is no file")
    return found.st_size, found.st_mtime_ns, found.st_ctime_ns if os.name == "posix" else 0


def _modified(info: pafs.FileInfo, filesystem: pafs.FileSystem) -> int:
    """Return the time at which a file was written; 0 if its file system does not say."""
    if info.mtime_ns is not None:
        return int(info.mtime_ns)
    handler = getattr(filesystem, "handler", None)  # pyarrow asks fsspec for no times
    try:
        return int(handler.fs.modified(info.path).timestamp() * 1e9)  # type: ignore[union-attr]
    except (AttributeError, LookupError, NotImplementedError, TypeError):
        return 0


# --- one file ----------------------------------------------------------------------------------------


def now(fragment: Fragment, filesystem: pafs.FileSystem | None) -> Fragment | None:
    """Return a fragment with the present size and times of its file; None if the file was removed."""
    if filesystem is None:
        facts = stat_local(fragment.place)
        return facts and fragment._replace(size=facts[0], modified=facts[1], changed=facts[2])
    info = filesystem.get_file_info(fragment.place)
    if info.type != pafs.FileType.File:
        return None
    modified = fragment.modified if fragment.changed == LOGGED else _modified(info, filesystem)
    return fragment._replace(size=info.size, modified=modified)


def opened(fragment: Fragment, filesystem: pafs.FileSystem | None) -> pa.NativeFile:
    """Open the file of a fragment, not as a memory map, as another program may shorten the file."""
    if filesystem is None:
        return pa.OSFile(fragment.place)
    return filesystem.open_input_file(fragment.place)


# --- a user's source ---------------------------------------------------------------------------------


def listing_of(source: Any, order: Any, may_be_empty: bool) -> Listing | None:
    """Return the listing of paths; None if a source is something else."""
    is_list = isinstance(source, (list, tuple)) and bool(source)
    given = list(source) if is_list else [source]
    if not all(isinstance(path, (str, os.PathLike)) for path in given):
        return None
    paths = tuple([_plain(as_path("source", path)) for path in given])
    if not (order is None or callable(order)) and order not in ("name", "modified"):
        raise ValueError(
            f"order must be a function of a path, or one of 'name' and 'modified', found {shown(order)}"
        )
    return Listing(paths, is_list, order, may_be_empty)


def _plain(path: str) -> str:
    try:
        path.encode()
    except UnicodeEncodeError as error:
        raise ValueError(f"paths must be of UTF-8, found {shown(path)}") from error
    if path.startswith("file:///"):
        return unquote(path[len("file://") :])
    return os.path.expanduser(path)


# --- partitions --------------------------------------------------------------------------------------

NO_VALUE = "__HIVE_DEFAULT_PARTITION__"
"""The name of the folder for rows with a null key."""

Values = dict[str, str | None]


def hive_values(path: str) -> Values:
    """Return the keys and values in the folders of a path, such as ``day=2026-11-01/part-0.parquet``.

    Examples
    --------
    >>> hive_values("shop=a%20b/day=7/part-0.parquet")
    {'shop': 'a b', 'day': '7'}
    """
    pairs = [part.partition("=") for part in path.split("/")[:-1] if "=" in part.strip("=")]
    return {
        unquote(key): None if value == NO_VALUE else unquote(value)
        for key, _, value in pairs
        if key
    }


def partition_schema(values: Sequence[Values]) -> pa.Schema:
    """Return the names and types of the columns in the names of folders: integers, dates, or texts.

    Raises
    ------
    ValueError
        If paths have different keys.
    """
    names = list(values[0]) if values else []
    for one in values:
        if list(one) != names:
            raise ValueError(
                f"folders of the source must all name the same keys, found {', '.join(names) or '(none)'} and "
                f"{', '.join(one) or '(none)'}"
            )
    return pa.schema([(name, _type_of([one[name] for one in values])) for name in names])


def _type_of(texts: Iterable[str | None]) -> pa.DataType:
    known = {text for text in texts if text is not None}
    if known and all(re.fullmatch(r"-?[0-9]{1,18}", text) for text in known):
        return pa.int64()
    if known and all(re.fullmatch(r"\d{4}-\d\d-\d\d", text, re.ASCII) for text in known):
        with suppress(pa.ArrowInvalid):
            return pa.array(sorted(known)).cast(pa.date32()).type
    return pa.string()
