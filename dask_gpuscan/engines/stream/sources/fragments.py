"""Which files a stream has seen: the identity of each, and how files that are there now differ from those.

A file is a *fragment* of its source. States keep the fragments that were read, in their order, so that a stream goes on
by what a file is, and not by how many rows came before. This module knows neither states nor how files are read.
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
"""Bytes at either end of a file that its digest is of; the footer of Parquet is always among them."""

RACY = 2 * 10**9
"""Nanoseconds for which the time of a change may stay the same though more is written."""

FRESH = -1
"""Stands for the time of a change of files that may have been written to within one tick of a clock."""

LOGGED = -2
"""Stands for the time of a change of files that a log has listed: these are never written again."""


class Fragment(NamedTuple):
    """A file of a source, and by what it is known again."""

    path: str
    """Relative to the root of the source, with ``/`` between folders; of a list of files, as it was given."""
    size: int
    modified: int
    """When it was last written, in nanoseconds since 1970."""
    changed: int = 0
    """When anything of it, such as its time of writing, was last set; 0 where the file system does not say."""
    rows: int = -1
    """How many rows it has; -1 if that is not known, as it was not read."""
    digest: str = ""
    """Of the bytes at both ends; empty if it was not read."""
    place: str = ""
    """Where it is: no part of its identity."""

    def told(self) -> str:
        """Return its identity for messages."""
        when = time.strftime("%Y-%m-%d %H:%M:%S", time.gmtime(self.modified / 1e9))
        rows = f"{self.rows:,} rows, " if self.rows >= 0 else ""
        return f"{rows}{self.size:,} bytes, written {when} UTC"


def columns_of_fragments(fragments: Sequence[Fragment]) -> list[list[Any]]:
    """Return the identities of files as a list for each part of one, which JSON can hold.

    Times are written as what they differ from the one before, or from each other, which takes fewer digits.
    """
    if not fragments:
        return []
    path, size, modified, changed, rows, digest, _ = zip(*fragments, strict=True)
    steps = [now - before for before, now in pairwise((0, *modified))]
    lags = [c - m if c > 0 else c - _NEVER for m, c in zip(modified, changed, strict=True)]
    return [list(column) for column in (path, size, steps, lags, rows, digest)]


_NEVER = 1 << 62
"""Stands for what no two times differ by."""


def fragments_of_columns(columns: Sequence[Sequence[Any]]) -> tuple[Fragment, ...]:
    """Return the files whose identities `columns_of_fragments` has written; raises a ValueError for anything else."""
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
    """Files that a state has seen are not there as they were: nothing was read or written.

    Parameters
    ----------
    message : str
    path : str
        Of the first file that differs.

    See Also
    --------
    stream : Says what to do: its arguments ``changed``, ``removed`` and ``late``.

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
    """Return the digest of the ends of a file.

    Parameters
    ----------
    read : callable
        Returns so many bytes of the file from an offset on.
    size : int
        Of the file, in bytes.
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
    """Return whether a file is what it was; `digest` reads it if its times do not say.

    A file that was written again with the bytes that it had is the same if it is so small that the digest is of all.
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
    """Return a fragment that was just looked into, to be so again if it may be written to within one tick."""
    last = max(fragment.modified, fragment.changed)
    is_fresh = fragment.changed != LOGGED and time.time_ns() - last < RACY
    return fragment._replace(changed=FRESH) if is_fresh else fragment


# --- what to do where files differ -------------------------------------------------------------------


@dataclass(frozen=True)
class Rules:
    """What a stream that goes on does where files differ from those that were seen."""

    changed: str = "error"
    """"error", "redo" from the first file that differs, or "keep" what was seen of a file that is another one now."""
    removed: str | None = None
    """"keep" what was seen of files that are gone, ahead of all that are there; None: as `changed` says."""
    late: str | None = None
    """"append" new files that sort before some that were seen behind those; None: as `changed` says."""

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
    """What a run would find: the paths of files, in the order in which they are read.

    Attributes
    ----------
    seen : list of str
        Files that were read by earlier runs, and are as they were.
    new : list of str
        Files that would be read for the first time.
    changed, removed, late : list of str
        Files that were read and are other ones now, that were read and are gone, and new ones that sort before a file
        that was read.
    again : list of str
        Files that would be read once more, by ``changed="redo"``.
    error : str or None
        Why the run would be refused.

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
    """How the files of a source differ from those that were seen.

    Parameters
    ----------
    known : sequence of Fragment
        Those that were seen, as they are now where they are kept.
    rest : sequence of Fragment
        Those that follow if no file differs, in order.
    first : int or None
        Position of the first of the known ones that is not as it was, or has another one before it.
    error : ChangedSourceError or None
        What differs there.
    facts : Progress
    archived : sequence of str
        Files that are gone, ahead of all that are still there, as where old ones are archived.
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
    """Return how files that are there differ from those that were seen; both are in the order in which they are read.

    `in_midst` says that the last one was read in part: what is left of it must be what it was. The files of `again`
    were read behind those that were seen, and are read again.
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
    """Return the position of the first known file that is not next in an order, and what differs."""
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
    """Return whether there are new files in the folder of one that is gone, as where a day is written again."""
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
    """Return the error of a file that is gone, and whose rows would have to be computed again."""
    return ChangedSourceError(
        f"file {path!r} of the source is not there, and its rows would have to be computed again, as something before "
        f'them differs. Put it back; or leave removed="keep" out, to go on without its rows',
        path,
    )
