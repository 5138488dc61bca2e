"""The files of a source, in order: those of patterns, folders and lists, on any file system."""

from __future__ import annotations

import os
import re
import stat
from collections.abc import Callable, Iterable, Iterator, Sequence
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
from .fragments import LOGGED, Fragment, digest_of

SUFFIXES = (".parquet", ".parq", ".pq", ".arrow", ".feather", ".ipc")
"""Of files that are read of a folder."""

Order = str | Callable[[str], Any] | None


def natural(path: str) -> tuple[Any, ...]:
    """Return what paths are sorted by: numbers in them count as numbers, so that ``2`` comes before ``10``.

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
    """Files by what a user gave: a path, a pattern, a folder, or a list of these.

    Parameters
    ----------
    given : tuple of str
    in_list : bool
        Whether they were given as a list: then paths are known as they were given, and keep their order.
    order : "name", "modified", callable or None
        By which files are sorted; None for the order of a list, and of names else.
    may_be_empty : bool, default False
        Whether there may be no files, as the schema of the rows is known.
    """

    given: tuple[str, ...]
    in_list: bool = False
    order: Order = None
    may_be_empty: bool = False

    @property
    def root(self) -> str:
        """The folder that paths are relative to; empty for a list."""
        if self.in_list:
            return ""
        (path,) = self.given
        root = self._root(path)
        return root if is_url(root) else os.path.abspath(root)

    @cached_property
    def filesystem(self) -> pafs.FileSystem | None:
        """Where files are; None for local ones."""
        if not any(map(is_url, self.given)):
            return None
        found = [filesystem_of(path)[0] for path in self.given]
        if any(one != found[0] for one in found[1:]) or not all(map(is_url, self.given)):
            raise ValueError("source must be paths of one file system, found several")
        return found[0]

    def compared(
        self, known: Sequence[Fragment], in_midst: bool
    ) -> tuple[Sequence[Fragment], list[Fragment]]:
        """Return files that were seen, the last one in part if `in_midst`, and files to compare them with."""
        return known, self.fragments()

    def fragments(self) -> list[Fragment]:
        """Return the files that are there, in order.

        Raises
        ------
        FileNotFoundError
            For a path, a folder or a pattern without files.
        """
        found, _ = list[Fragment](), self.filesystem  # which refuses several
        for path in self.given:
            some = sorted(self._of(path), key=lambda one: natural(one.path))
            if not some and not self.may_be_empty:
                raise FileNotFoundError(self._nothing(path))
            found += some
        if self.in_list:
            _check_once(found)
        return sort(found, self.order)

    def _nothing(self, path: str) -> str:
        if self._is_folder(path):
            return (
                f"folder {path} has no files of Parquet or Arrow IPC ({', '.join(SUFFIXES)}); with schema=, it may be "
                f"empty"
            )
        return f"no file is called {path}"

    def reads(self, path: str) -> bool:
        """Return whether a file is, or would be, one of the source."""
        for given in self.given:
            if is_url(given) != is_url(path):
                continue
            root, place = self._root(given), path
            if not is_url(path):
                root, place = os.path.realpath(root or "."), os.path.realpath(path)
            name = place[len(root) :].strip("/")
            if not place.startswith(root.rstrip("/") + "/"):
                continue
            if self._is_folder(given):
                found = _is_data(name.replace(os.sep, "/"))
            else:
                pattern = given.replace(os.sep, "/")[len(self._root(given)) :].strip("/")
                found = has_magic(given) and _matches(pattern)(name) and not _is_ours(name)
            if found:
                return True
        return False

    def _of(self, path: str) -> Iterator[Fragment]:
        """Yield the files of one of the paths that were given."""
        root = self._root(path)
        as_given = "" if not self.in_list else root.rstrip("/") + "/" if root else ""
        found = self._remote(path) if is_url(path) else self._local(path)
        for name, place, size, *times in found:
            yield Fragment(as_given + name, size, *times)._replace(place=place)

    def _root(self, path: str) -> str:
        """Return the folder that a path, a pattern or a folder is of."""
        path = path if is_url(path) else path.replace(os.sep, "/")
        if self._is_folder(path):
            return path.rstrip("/") or "/"
        if has_magic(path) and not self._exists(path):
            while has_magic(path):
                path = path.rpartition("/")[0] if "/" in path else ""
            return path
        return path.rpartition("/")[0] if "/" in path else ""

    def _exists(self, path: str) -> bool:
        return not is_url(path) and os.path.exists(path)

    def _is_folder(self, path: str) -> bool:
        if not is_url(path):
            return os.path.isdir(path)
        if has_magic(path):
            return False
        filesystem, inner = filesystem_of(path)
        return bool(filesystem.get_file_info(inner).type == pafs.FileType.Directory)

    def _local(self, path: str) -> Iterator[tuple[Any, ...]]:
        root = self._root(path)
        if os.path.isdir(path):
            places: Iterable[str] = _walk(root)
        elif has_magic(path) and not os.path.exists(path):
            found = glob(path, recursive=True)
            places = [one for one in found if os.path.isfile(one) and not _is_ours(one)]
        else:
            if not os.path.exists(path):
                raise FileNotFoundError(f"no file is called {path}")
            places = [path]
        behind = len(root) + (root not in ("", "/"))
        for place in places:
            facts = stat_local(place)
            if facts is not None:  # not removed meanwhile
                yield place[behind:].replace(os.sep, "/"), place, *facts

    def _remote(self, path: str) -> Iterator[tuple[Any, ...]]:
        filesystem, inner = filesystem_of(path)
        if has_magic(path):
            (_, root), matches = filesystem_of(self._root(path)), _matches(inner)
        elif not self._is_folder(path):
            info = filesystem.get_file_info(inner)
            if info.type != pafs.FileType.File:
                raise FileNotFoundError(f"no file is called {path}")
            yield inner.rpartition("/")[2], inner, info.size, _modified(info, filesystem)
            return
        else:
            root, matches = inner, _is_data
        selector = pafs.FileSelector(root, recursive=True, allow_not_found=True)
        for info in filesystem.get_file_info(selector):
            name = info.path[len(root) :].strip("/")
            wanted = matches(info.path) if has_magic(path) else matches(name)
            wanted = wanted and not _is_ours(name)
            if info.type == pafs.FileType.File and wanted:
                yield name, info.path, info.size, _modified(info, filesystem)


def sort(found: Iterable[Fragment], order: Order) -> list[Fragment]:
    """Return files in an order; without one, as they are."""
    if order is None:
        return list(found)
    if order == "name":
        return sorted(found, key=lambda one: natural(one.path))
    if order == "modified":
        return sorted(found, key=lambda one: (one.modified, natural(one.path)))
    assert callable(order)
    try:
        return sorted(found, key=lambda one: order(one.path))
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
    """Yield the files of a folder and the folders in it, but hidden ones and those whose name begins with ``_``.

    Raises
    ------
    FileNotFoundError
        For a link that leads nowhere.
    """
    here = os.path.realpath(folder)
    if here in above:
        return  # a link to a folder that this one is in
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
    """Return whether a file is one that directories that go on keep for themselves."""
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
    """Return the size of a file, when it was written and when it was changed; None if there is none."""
    try:
        found = os.stat(path)
    except FileNotFoundError:
        return None
    if not stat.S_ISREG(found.st_mode):
        raise ValueError(f"{path} is no file")
    return found.st_size, found.st_mtime_ns, found.st_ctime_ns if os.name == "posix" else 0


def _modified(info: pafs.FileInfo, filesystem: pafs.FileSystem) -> int:
    """Return when a file was written; 0 if its file system does not say."""
    if info.mtime_ns is not None:
        return int(info.mtime_ns)
    handler = getattr(
        filesystem, "handler", None
    )  # of fsspec, whose times pyarrow does not ask for
    try:
        return int(handler.fs.modified(info.path).timestamp() * 1e9)  # type: ignore[union-attr]
    except (AttributeError, LookupError, NotImplementedError, TypeError):
        return 0


# --- one file ----------------------------------------------------------------------------------------


def now(fragment: Fragment, filesystem: pafs.FileSystem | None) -> Fragment | None:
    """Return a fragment with the size and times that its file has now; None if it is gone."""
    if filesystem is None:
        facts = stat_local(fragment.place)
        return (
            None
            if facts is None
            else fragment._replace(size=facts[0], modified=facts[1], changed=facts[2])
        )
    info = filesystem.get_file_info(fragment.place)
    if info.type != pafs.FileType.File:
        return None
    modified = fragment.modified if fragment.changed == LOGGED else _modified(info, filesystem)
    return fragment._replace(size=info.size, modified=modified)


def opened(fragment: Fragment, filesystem: pafs.FileSystem | None) -> pa.NativeFile:
    """Open the file of a fragment: it is not mapped into memory, as it may be cut off meanwhile."""
    if filesystem is None:
        return pa.OSFile(fragment.place)
    return filesystem.open_input_file(fragment.place)


def digest_at(fragment: Fragment, filesystem: pafs.FileSystem | None) -> str:
    """Return the digest of the file of a fragment."""
    with opened(fragment, filesystem) as file:
        return digest_of(file.read_at, fragment.size)


# --- what is given -----------------------------------------------------------------------------------


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


def _plain(path: Any) -> str:
    if isinstance(path, bytes):
        raise TypeError(f"paths must be texts, found {shown(path)}")
    text = str(path)
    try:
        text.encode()
    except UnicodeEncodeError as error:
        raise ValueError(f"paths must be of UTF-8, found {shown(text)}") from error
    if text.startswith("file:///"):
        return unquote(text[len("file://") :])
    return os.path.expanduser(text)


# --- partitions --------------------------------------------------------------------------------------

NO_VALUE = "__HIVE_DEFAULT_PARTITION__"
"""The name of the folder of rows whose key is null."""

Values = dict[str, str | None]


def hive_values(path: str) -> Values:
    """Return the keys and values that the folders of a path name, as in ``day=2026-11-01/part-0.parquet``.

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
    """Return names and types of the columns that folders stand for: integers, dates, or texts.

    Raises
    ------
    ValueError
        If some paths name other keys.
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
        try:
            pa.array(sorted(known)).cast(pa.date32())
        except pa.ArrowInvalid:
            return pa.string()
        return pa.date32()
    return pa.string()
