"""Answers of streams in tables: rows, and the state behind them, in one transaction, so that a repeated run goes on.

A table keeps the place of its newest state, and a state is written whole before its transaction. So a run that is
killed at any moment leaves what its last transaction has written, and the next one begins there.
"""

from __future__ import annotations

import re
import secrets
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import pyarrow as pa

from ....kernels.messages import shown
from ....kernels.scalars import is_integer
from ..sources.fragments import Progress, error_of_gone
from ..sources.listing import natural
from ..states.state import State, state_in
from ..threads import Behind
from .arrow import no_rows_of, tables

ROWS_PER_COMMIT = 1 << 20
"""Rows after which a transaction is committed: memory holds them until then."""

NAME = "dask_gpuscan"
"""What writers are called that are given no name."""

FOLDER = "_gpuscan"
"""Of states, in the folder of a table; what begins with ``_`` is left alone where files are cleaned up."""

_BYTES_PER_COMMIT = 1 << 30


class Target:
    """A table that rows are written to, with the states of one writer.

    Parameters
    ----------
    name : str, optional
        Of the writer.
    replace : bool
        Whether the first transaction replaces all rows.
    """

    where: str
    """The table, for messages, and the folder that it is in."""
    versions: Sequence[int]
    """Those of the last states, the newest first."""

    def __init__(self, name: str | None, replace: bool) -> None:
        self.name, self.replace = NAME if name is None else name, replace
        if not isinstance(name, str | None) or not re.fullmatch(
            r"[\w-][\w.-]*", self.name, re.ASCII
        ):
            raise ValueError(
                f"name must be of letters, digits, '_', '-' and '.', found {shown(name)}"
            )

    @property
    def newest(self) -> int | None:
        """The version of the newest state; None if there is none yet."""
        return self.versions[0] if self.versions else None

    def begun(self) -> tuple[bytes, str] | None:
        """Return the content of the state behind its rows, and where it is; None if there is none yet."""
        if self.newest is None:
            return None
        place = self.place(self.newest)
        try:
            return self._read(place), f"{self.where}/{place}"
        except OSError as error:
            raise ValueError(
                f"{self.where} is at version {self.newest} of the transactions of {self.name!r}, and its state "
                f"{place} cannot be read ({error}): restore it, write under another name, or write all rows with "
                f"begin_anew=True"
            ) from error

    def commit(self, rows: pa.Table, state: bytes | None) -> None:
        """Write rows, and the state behind them if there is one, in one transaction."""
        rows = self._fitted(rows)
        if state is None:
            return self._append(rows)
        self._check_own()
        # a number in the high bits counts, and those below are of this attempt alone, so that two writers, or two
        # attempts, never write the same file, whoever of them commits
        version = ((self.newest or 0) >> 32) + 1 << 32 | secrets.randbits(32)
        self._put(version, state)
        self._transact(rows, version)
        self.replace = False
        return self._clean()

    def place(self, version: int) -> str:
        """Return where a state is in the folder of the table."""
        return f"{FOLDER}/{self.name}/{version}.arrow"

    def lost_to_another(self) -> RuntimeError:
        """Return the error of a writer that another one has overtaken."""
        return RuntimeError(
            f"another writer called {self.name!r} has written to {self.where} behind version {self.newest} of its "
            f"transactions, from which this one went on: rows of this transaction were not written. Run again to go on "
            f"behind the other's, or give writers of different rows different names"
        )

    def check_names(self, known: pa.Schema, found: pa.Schema) -> None:
        """Raise a ValueError unless a stream has the columns of the table, in any order."""
        if sorted(known.names) != sorted(found.names):
            raise ValueError(
                f"table {self.where} has the columns {', '.join(known.names)}, and the stream {', '.join(found.names)}"
            )

    def _fitted(self, rows: pa.Table) -> pa.Table:
        """Return rows as the table takes them; raises a ValueError for other columns."""
        raise NotImplementedError

    def _check_own(self) -> None:
        """Raise the error of `lost_to_another` if there is another version of this writer."""
        raise NotImplementedError

    def _append(self, rows: pa.Table) -> None:
        """Write rows in a transaction without a state."""
        raise NotImplementedError

    def _transact(self, rows: pa.Table, version: int) -> None:
        """Write rows in a transaction that names a state, which is the newest one of this writer from then on."""
        raise NotImplementedError

    def _read(self, place: str) -> bytes:
        """Return the content of a state."""
        raise NotImplementedError

    def _put(self, version: int, content: bytes) -> None:
        """Write a state."""
        raise NotImplementedError

    def _clean(self) -> None:
        """Remove the states of this writer but the last two."""
        raise NotImplementedError


def write(
    stream: Any, target: Target, rows: int | None, begin_anew: bool, dry_run: bool = False
) -> Progress | None:
    """Write a stream to a table, behind what was written before; or say what that would read.

    Parameters
    ----------
    stream : Stream
    target : Target
    rows : int, optional
        Rows after which a transaction is committed, with a state; None for one transaction without a state.
    begin_anew : bool
        Whether the state of the table is not asked for.
    dry_run : bool, default False
        Whether nothing is written.
    """
    last, begun = None, None
    if rows is not None and not begin_anew and (found := target.begun()) is not None:
        last, begun = found[0], state_in(*found)
    start, files = stream._source.start(begun), stream._source.files
    passing, waiting = stream.begin(begun, start), list[pa.Table]()
    facts: Progress = start.comparison.facts
    error = passing.difference()
    if error is not None and files is not None and files.rules.changed == "redo":
        if files.rules.removed == "keep" and start.comparison.archived:
            error = error_of_gone(start.comparison.archived[0])
        else:
            facts = replace(facts, again=sorted([*facts.seen, *facts.changed], key=natural))
            last, error, target.replace = None, None, True
            passing = stream.begin(None)
    if dry_run:
        return replace(facts, error=None if error is None else str(error))
    if error is not None:
        raise error

    def commit(state: State) -> None:
        nonlocal last
        content = b"" if rows is None else state.content()
        if waiting or content != last:
            whole = pa.concat_tables(waiting).combine_chunks() if waiting else no_rows_of(stream)
            target.commit(whole, None if rows is None else content)
        waiting.clear()
        last = content

    def take(item: tuple[pa.Table, State]) -> None:
        table, state = item
        waiting.append(table)
        if rows is not None and (
            sum(one.num_rows for one in waiting) >= rows
            or sum(one.nbytes for one in waiting) >= _BYTES_PER_COMMIT
        ):
            commit(state)

    with Behind(take) as behind:
        for table in tables(stream, passing):
            behind.put((table, passing.state))
    commit(passing.state)
    return None


def in_microseconds(schema: pa.Schema) -> pa.Schema:
    """Return a schema whose times are as tables have them: in microseconds, and of UTC if they have a time zone."""
    return pa.schema([field.with_type(_in_microseconds(field.type)) for field in schema])


def _in_microseconds(kind: pa.DataType) -> pa.DataType:
    return pa.timestamp("us", kind.tz and "UTC") if pa.types.is_timestamp(kind) else kind


def checked_rows(rows: Any, name: str) -> int:
    """Return a positive number of rows; raises a ValueError, which names the argument, for what is none."""
    if not is_integer(rows) or rows < 1:
        raise ValueError(f"{name} must be a positive integer, found {shown(rows)}")
    return int(rows)
