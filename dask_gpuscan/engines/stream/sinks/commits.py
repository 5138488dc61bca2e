"""Streams written to tables: rows and the state after them are committed in one transaction, so that later runs go on.

A table keeps the path of its newest state, and a state is written before the transaction that names it. If a run is
killed, the table holds what the last transaction has written, and the next run begins there.
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
"""The number of rows after which a transaction is committed: memory holds them until then."""

NAME = "dask_gpuscan"
"""The default name of writers."""

FOLDER = "_gpuscan"
"""The folder of states in the folder of a table; clean-ups of tables leave names with a leading ``_`` alone."""

_BYTES_PER_COMMIT = 1 << 30


class Target:
    """A table that rows are written to, with the states of one writer.

    Parameters
    ----------
    name : str, optional
        The name of the writer.
    replace : bool
        Whether the first transaction replaces all rows.
    """

    where: str
    """The folder of the table, also for messages."""
    versions: Sequence[int]
    """The versions of the last states, newest first."""

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
        """The version of the newest state; None if there is no state yet."""
        return self.versions[0] if self.versions else None

    def begun(self) -> tuple[bytes, str] | None:
        """Return the content and the path of the newest state; None if there is no state yet."""
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
        """Write rows, and the state after them if it is given, in one transaction."""
        rows = self._fitted(rows)
        if state is None:
            return self._append(rows)
        self._check_own()
        # the high bits count transactions, and the low bits are random, so that two writers, or two attempts of one
        # writer, never write the same file
        version = ((self.newest or 0) >> 32) + 1 << 32 | secrets.randbits(32)
        self._put(version, state)
        self._transact(rows, version)
        self.replace = False
        return self._clean()

    def place(self, version: int) -> str:
        """Return the path of a state in the folder of the table."""
        return f"{FOLDER}/{self.name}/{version}.arrow"

    def lost_to_another(self) -> RuntimeError:
        """Return the error if another writer of this name has committed first."""
        return RuntimeError(
            f"another writer called {self.name!r} has written to {self.where} after version {self.newest} of its "
            f"transactions, from which this one went on: rows of this transaction were not written. Run again to go on "
            f"after the other's, or give writers of different rows different names"
        )

    def check_names(self, known: pa.Schema, found: pa.Schema) -> None:
        """Raise a ValueError unless a stream has the columns of the table, in any order."""
        if sorted(known.names) != sorted(found.names):
            raise ValueError(
                f"table {self.where} has the columns {', '.join(known.names)}, and the stream {', '.join(found.names)}"
            )

    def _fitted(self, rows: pa.Table) -> pa.Table:
        """Return rows in the schema of the table; raises a ValueError for other columns."""
        raise NotImplementedError

    def _check_own(self) -> None:
        """Raise the error of `lost_to_another` if this writer's version in the table has changed."""
        raise NotImplementedError

    def _append(self, rows: pa.Table) -> None:
        """Write rows in a transaction without a state."""
        raise NotImplementedError

    def _transact(self, rows: pa.Table, version: int) -> None:
        """Write rows in a transaction that names a state, which becomes the newest one of this writer."""
        raise NotImplementedError

    def _read(self, place: str) -> bytes:
        """Return the content of a state."""
        raise NotImplementedError

    def _put(self, version: int, content: bytes) -> None:
        """Write a state."""
        raise NotImplementedError

    def _clean(self) -> None:
        """Remove the states of this writer except the last two."""
        raise NotImplementedError


def write(
    stream: Any, target: Target, rows: int | None, begin_anew: bool, dry_run: bool = False
) -> Progress | None:
    """Write a stream to a table, after the rows that were written before.

    Parameters
    ----------
    stream : Stream
    target : Target
    rows : int, optional
        The number of rows after which a transaction and a state are committed; None for one transaction and no state.
    begin_anew : bool
        Whether to ignore the state of the table.
    dry_run : bool, default False
        Whether to write nothing, and return the files that a run would read.
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
    """Return a schema with the times of tables: in microseconds, and in UTC if they have a time zone."""
    return pa.schema([field.with_type(_in_microseconds(field.type)) for field in schema])


def _in_microseconds(kind: pa.DataType) -> pa.DataType:
    return pa.timestamp("us", kind.tz and "UTC") if pa.types.is_timestamp(kind) else kind


def checked_rows(rows: Any, name: str) -> int:
    """Return a positive number of rows; raises a ValueError that names the argument for anything else."""
    if not is_integer(rows) or rows < 1:
        raise ValueError(f"{name} must be a positive integer, found {shown(rows)}")
    return int(rows)
