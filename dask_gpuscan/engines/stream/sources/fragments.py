"""The identities of the files that a stream has read, and their comparison with the present files.

A file is a *fragment* of its source. States keep the fragments that were read, in order, so that a stream goes on after
these files, and not after a number of rows. This module knows neither states nor how files are read.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Collection, Iterable, Sequence
from dataclasses import field
from hashlib import blake2b
from itertools import accumulate, pairwise, takewhile
from typing import Any, NamedTuple

from ....kernels.late_dataclass import dataclass
from ....kernels.messages import shown

ENDS = 1 << 15
"""The number of bytes at each end of a file that are digested; the footer of a Parquet file is always digested, too."""

RACY = 2 * 10**9
"""How long a file's time of change may stay the same although more is written, in nanoseconds."""

FRESH = -1
"""The time of change of a file that may be written again within the same clock tick."""

LOGGED = -2
"""The time of change of a file in the log of a table: such files are never written again."""


class Fragment(NamedTuple):
    """A file of a source, with its identity."""

    path: str
    """The path relative to the root of the source, with ``/`` between folders; in a list of files, as it was given."""
    size: int
    modified: int
    """The time of the last write, in nanoseconds since 1970."""
    changed: int = 0
    """The time of the last change of contents or metadata; 0 if the file system does not say."""
    rows: int = -1
    """The number of rows; -1 if the file was not read."""
    digest: str = ""
    """The digest of the bytes at both ends; empty if the file was not read."""
    place: str = ""
    """The path in the file system; no part of the identity."""

    def told(self) -> str:
        """Return the identity as a text for a message."""
        when = time.strftime("%Y-%m-%d %H:%M:%S", time.gmtime(self.modified / 1e9))
        rows = f"{self.rows:,} rows, " if self.rows >= 0 else ""
        return f"{rows}{self.size:,} bytes, written {when} UTC"


def columns_of_fragments(fragments: Sequence[Fragment]) -> list[list[Any]]:
    """Return the identities of files as a list for each field, which JSON can hold.

    Times are written as differences to the time before, or between both times of a file, which takes fewer digits.
    """
    if not fragments:
        return []
    path, size, modified, changed, rows, digest, _ = zip(*fragments, strict=True)
    steps = [now - before for before, now in pairwise((0, *modified))]
    lags = [c - m if c > 0 else c - _NEVER for m, c in zip(modified, changed, strict=True)]
    return [list(column) for column in (path, size, steps, lags, rows, digest)]


_NEVER = 1 << 62
"""An offset larger than the difference of any two times; it marks files without a time of change."""


def fragments_of_columns(columns: Sequence[Sequence[Any]]) -> tuple[Fragment, ...]:
    """Return the files in lists of `columns_of_fragments`; raises a ValueError for anything else."""
    kinds = (str, int, int, int, int, str)
    if not columns:
        return ()
    pairs = zip(kinds, columns, strict=False)
    fits = all(type(one) is kind for kind, column in pairs for one in column)
    if not fits or len(columns) != len(kinds) or len(set(map(len, columns))) > 1:
        raise ValueError("its files are not those of a source")
    path, size, steps, lags, rows, digest = columns
    modified = list(accumulate(steps))
    changed = [
        lag + _NEVER if lag <= -_NEVER // 2 else lag + m
        for m, lag in zip(modified, lags, strict=True)
    ]
    return tuple(map(Fragment, path, size, modified, changed, rows, digest))


class ChangedSourceError(ValueError):
    """Files that a state has read were changed or removed, or new ones come before them: nothing was read or written.

    Parameters
    ----------
    message : str
    path : str
        The path of the first file that differs.

    See Also
    --------
    stream : The arguments ``changed``, ``removed`` and ``late`` say what to do.

    Examples
    --------
    >>> import pathlib, tempfile, pandas as pd, dask_gpuscan
    >>> days = pathlib.Path(tempfile.mkdtemp())
    >>> pd.DataFrame({"sold": [4, 2]}).to_parquet(days / "1.parquet")
    >>> totals = dask_gpuscan.stream(days).gpuscan.cumsum()
    >>> totals.compute().to_pydict()
    {'sold': [4, 6]}
    >>> pd.DataFrame({"sold": [5, 2]}).to_parquet(days / "1.parquet")
    >>> try:
    ...     dask_gpuscan.stream(days, state=totals.state).gpuscan.cumsum().compute()
    ... except dask_gpuscan.ChangedSourceError as error:
    ...     print(error.path)
    1.parquet
    """

    __module__ = "dask_gpuscan"

    def __init__(self, message: str, path: str = "") -> None:
        super().__init__(message)
        self.path = path


def digest_of(read: Callable[[int, int], bytes], size: int) -> str:
    """Return the digest of both ends of a file.

    Parameters
    ----------
    read : callable
        Returns a number of bytes of the file from an offset on.
    size : int
        The size of the file in bytes.
    """
    head = read(min(size, ENDS), 0)
    length = min(size - len(head), ENDS)
    tail = read(length, size - length)
    if head[:4] == b"PAR1" and tail[-4:] == b"PAR1":
        footer = min(int.from_bytes(tail[-8:-4], "little") + 8, size - len(head))
        if footer > length:
            tail = read(footer, size - footer)
    return blake2b(head + tail, digest_size=8).hexdigest()


def is_same(known: Fragment, found: Fragment, digest: Callable[[Fragment], str]) -> bool:
    """Return whether a file is unchanged; `digest` reads it if its times are not enough.

    A file that was written again with the same bytes is unchanged if it is so small that the digest covers all of it.
    """
    if known.size != found.size:
        return False
    written = known.modified != found.modified
    has_times = bool(found.modified or found.changed)
    if has_times and not written and known.changed == found.changed:
        return True
    if written and known.size > 2 * ENDS:
        return False
    return bool(known.digest) and digest(found) == known.digest


def settled(fragment: Fragment) -> Fragment:
    """Mark a fragment as `FRESH` if it may be written again within the same clock tick, so that its digest counts."""
    last = max(fragment.modified, fragment.changed)
    is_fresh = fragment.changed != LOGGED and time.time_ns() - last < RACY
    return fragment._replace(changed=FRESH) if is_fresh else fragment


# --- what to do if files differ ----------------------------------------------------------------------


@dataclass(frozen=True)
class Rules:
    """What to do if files differ from those that were read."""

    changed: str = "error"
    """"error", "redo" from the first file that differs, or "keep" the rows that were read from changed files."""
    removed: str | None = None
    """"keep" the rows that were read from removed files before all present files; None: as `changed` says."""
    late: str | None = None
    """"append" new files that sort before files that were read, after these; None: as `changed` says."""

    def __post_init__(self) -> None:
        known = {
            "changed": ("error", "redo", "keep"),
            "removed": (None, "keep"),
            "late": (None, "append"),
        }
        for name, options in known.items():
            found = getattr(self, name)
            if not isinstance(found, str | None):
                raise TypeError(f"{name} must be a text, found {shown(found)}")
            if found not in options:
                listed = ", ".join(map(repr, options))
                raise ValueError(f"{name} must be one of {listed}, found {shown(found)}")


@dataclass(frozen=True)
class Progress:
    """The files that a run would find: their paths, in the order in which they are read.

    Attributes
    ----------
    seen : list of str
        Files that earlier runs have read, and that have not changed.
    new : list of str
        Files that would be read for the first time.
    changed, removed, late : list of str
        Files that were read and have changed, files that were read and were removed, and new files that sort before a
        file that was read.
    again : list of str
        Files that would be read again, with ``changed="redo"``.
    error : str or None
        Why the run would be refused; None if it would not.

    See Also
    --------
    Stream.to_parquet : Returns it for ``dry_run=True``.

    Examples
    --------
    >>> import pathlib, tempfile, pandas as pd, dask_gpuscan
    >>> folder = pathlib.Path(tempfile.mkdtemp())
    >>> pd.DataFrame({"sold": [4, 2]}).to_parquet(folder / "1.parquet")
    >>> totals = dask_gpuscan.stream(folder / "*.parquet").gpuscan.cumsum()
    >>> totals.to_parquet(folder / "totals", state=True, dry_run=True).new
    ['1.parquet']
    """

    seen: list[str] = field(default_factory=list)
    new: list[str] = field(default_factory=list)
    changed: list[str] = field(default_factory=list)
    removed: list[str] = field(default_factory=list)
    late: list[str] = field(default_factory=list)
    again: list[str] = field(default_factory=list)
    error: str | None = None


@dataclass(frozen=True)
class Comparison:
    """How the present files of a source differ from those that were read.

    Parameters
    ----------
    known : sequence of Fragment
        The files that were read, with their present identities.
    rest : sequence of Fragment
        The files to read next if no file differs, in order.
    first : int or None
        The position of the first file that was read and has changed, was removed, or has a new file before it.
    error : ChangedSourceError or None
        The error for that file.
    facts : Progress
    archived : sequence of str
        The removed files before all that are still there, such as old files that were archived.
    """

    known: tuple[Fragment, ...] = ()
    rest: tuple[Fragment, ...] = ()
    first: int | None = None
    error: ChangedSourceError | None = None
    facts: Progress = field(default_factory=Progress)
    archived: tuple[str, ...] = ()


def compare(
    known: Sequence[Fragment],
    found: Sequence[Fragment],
    rules: Rules,
    digest: Callable[[Fragment], str],
    in_midst: bool = False,
    again: Collection[str] = (),
) -> Comparison:
    """Return how the present files (`found`) differ from those that were read (`known`); both are in reading order.

    `in_midst` says that the last known file was read in part, so that it must not have changed. The files of `again`
    were read after the known files, and are read again.
    """
    there = {one.path: one for one in found}
    names = {one.path for one in known}
    kept, changed, removed = list[Fragment](), set[str](), set[str]()
    for one in known:
        now = there.get(one.path)
        if now is None:
            removed.add(one.path)
            kept.append(one)
        elif is_same(one, now, digest):
            kept.append(settled(now)._replace(rows=one.rows, digest=one.digest))
        else:
            changed.add(one.path)
            read = digest(now) if rules.changed == "keep" else ""
            kept.append(settled(now)._replace(rows=one.rows, digest=read))
    new = [one for one in found if one.path not in names]
    last = max((i for i, one in enumerate(found) if one.path in names), default=0)
    late = [one for one in found[:last] if one.path not in names]
    order = list(found)
    if rules.late == "append":
        order = [there[one.path] for one in known if one.path in there] + new
    ahead = takewhile(lambda one: one.path in removed, known)
    never_read = [one for one in new if one.path not in again]
    archived = tuple([one.path for one in ahead if not _is_written_anew(one, never_read)])
    keeps = archived if rules.removed == "keep" else ()
    first, error = _first_difference(kept, order, changed, removed, names, keeps, rules)
    if first is None and in_midst and (path := known[-1].path) in changed | removed:
        why = f"file {path!r} of the source was changed or removed after a part of it was read. {_WAY_OUT}"
        first, error = len(known) - 1, ChangedSourceError(why, path)
    facts = Progress(
        [one.path for one in known if one.path not in changed | removed],
        [one.path for one in new],
        [one.path for one in known if one.path in changed],
        [one.path for one in known if one.path in removed],
        [one.path for one in late],
    )
    count = sum(one.path not in removed for one in known)
    return Comparison(tuple(kept), tuple(order[count:]), first, error, facts, archived)


def _first_difference(
    known: Sequence[Fragment],
    order: Sequence[Fragment],
    changed: set[str],
    removed: set[str],
    names: set[str],
    keeps: Sequence[str],
    rules: Rules,
) -> tuple[int | None, ChangedSourceError | None]:
    """Return the position of the first known file that is not the next in order or has changed, and its error."""
    place = 0
    for i, one in enumerate(known):
        if one.path in removed:
            if one.path in keeps:
                continue
            return i, ChangedSourceError(_removed(one, order, names, rules), one.path)
        now = order[place]
        if now.path != one.path:
            return i, ChangedSourceError(_out_of_order(one, now, now.path in names), now.path)
        if one.path in changed and rules.changed != "keep":
            return i, ChangedSourceError(_changed(one, now), one.path)
        place += 1
    return None, None


_WAY_OUT = 'changed="redo" goes back to the rows before it and computes what follows again'


def _is_written_anew(one: Fragment, new: Iterable[Fragment]) -> bool:
    """Return whether the folder of a removed file has new files, such as if the folder of a day is written again."""
    folder = one.path.rpartition("/")[0]
    return bool(folder) and any(now.path.rpartition("/")[0] == folder for now in new)


def _removed(one: Fragment, order: Iterable[Fragment], names: set[str], rules: Rules) -> str:
    if one.changed == LOGGED:
        return (
            f"rows of the file {one.path!r} of the table were read before, and were changed or removed by an update, "
            f"a merge or a delete. {_WAY_OUT}"
        )
    if rules.removed == "keep":
        return (
            f'file {one.path!r} of the source was read before, and is not there. removed="keep" is for files ahead of '
            f"all that are still there, in folders without new ones. Put it back; or {_WAY_OUT}"
        )
    facts = one.size, one.modified
    same = [o.path for o in order if o.path not in names and (o.size, o.modified) == facts]
    renamed = f"; it may be called {same[0]!r} now" if same else ""
    return (
        f"file {one.path!r} of the source was read before, and is not there{renamed}. Put it back; or "
        f'removed="keep" keeps what was read of it; or {_WAY_OUT}'
    )


def _changed(one: Fragment, now: Fragment) -> str:
    return (
        f"file {one.path!r} of the source was changed after it was read: it is of {now.told()}. {_WAY_OUT}; "
        f'changed="keep" keeps what was read of it'
    )


def _out_of_order(one: Fragment, now: Fragment, was_read: bool) -> str:
    if was_read:
        return (
            f"file {now.path!r} of the source was read behind {one.path!r}, and comes before it now. Give files in "
            f'the order in which they were read (late="append" keeps that of files that came late); or {_WAY_OUT}'
        )
    return (
        f"file {now.path!r} of the source is new, and comes before {one.path!r}, which was read. "
        f'{_WAY_OUT}; late="append" reads it behind those that were read'
    )


def error_of_gone(path: str) -> ChangedSourceError:
    """Return the error for a removed file that would have to be read again."""
    return ChangedSourceError(
        f"file {path!r} of the source is not there, and its rows would have to be computed again, as something before "
        f'them differs. Put it back; or leave removed="keep" out, to go on without its rows',
        path,
    )
