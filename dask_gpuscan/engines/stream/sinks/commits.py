"""Answers of streams in tables: rows, and the state behind them, in one transaction, so that a repeated run goes on.

A table keeps the place of its newest state, and a state is written whole before its transaction. So a run that is
killed at any moment leaves what its last transaction has written, and the next one begins there.
"""

from __future__ import annotations

import re
import secrets
from dataclasses import replace
from typing import Any, Protocol

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


class Target(Protocol):
    """A table that rows are written to."""

    replace: bool
    """Whether the first transaction replaces all rows."""

    def begun(self) -> tuple[bytes, str] | None:
        """Return the content of the state behind its rows, and where it is; None if there is none yet."""

    def commit(self, rows: pa.Table, state: bytes | None) -> None:
        """Write rows, and the state behind them if there is one, in one transaction."""


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
    facts = start.comparison.facts if start.comparison else Progress()
    error = passing.difference()
    if error is not None and files is not None and files.rules.changed == "redo":
        if files.rules.removed == "keep" and start.comparison and start.comparison.archived:
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


def check_names(known: pa.Schema, found: pa.Schema, uri: str) -> None:
    """Check that a stream has the columns of a table, in any order; raises a ValueError if not."""
    if sorted(known.names) != sorted(found.names):
        raise ValueError(
            f"table {uri} has the columns {', '.join(known.names)}, and the stream {', '.join(found.names)}"
        )


# --- versions of states ------------------------------------------------------------------------------


def checked_name(name: str | None) -> str:
    """Return what a writer is called; raises a ValueError for a name that is none of a file."""
    name = NAME if name is None else name
    if not isinstance(name, str) or not re.fullmatch(r"[\w-][\w.-]*", name, re.ASCII):
        raise ValueError(f"name must be of letters, digits, '_', '-' and '.', found {shown(name)}")
    return name


def checked_rows(rows: Any, name: str) -> int:
    """Return a positive number of rows; raises a ValueError, which names the argument, for what is none."""
    if not is_integer(rows) or rows < 1:
        raise ValueError(f"{name} must be a positive integer, found {shown(rows)}")
    return int(rows)


def version_behind(version: int | None) -> int:
    """Return a version for the next state: a number in the high bits counts, and those below are of this attempt alone.

    So two writers, or two attempts, never write the same file, whoever of them commits.
    """
    return (number_of(version) + 1) << 32 | secrets.randbits(32)


def number_of(version: int | None) -> int:
    """Return which transaction of a writer a version is of, counted from 1."""
    return 0 if version is None else version >> 32


def place_of(name: str, version: int) -> str:
    """Return where a state is in the folder of a table."""
    return f"{FOLDER}/{name}/{version}.arrow"


def lost_to_another(name: str, uri: str, known: int | None) -> RuntimeError:
    """Return the error of a writer that another one has overtaken."""
    return RuntimeError(
        f"another writer called {name!r} has written to {uri} behind version {known} of its transactions, from which "
        f"this one went on: rows of this transaction were not written. Run again to go on behind the other's, or give "
        f"writers of different rows different names"
    )


def state_is_lost(name: str, uri: str, version: int, why: BaseException) -> ValueError:
    """Return the error for a state that a table names and that cannot be read."""
    return ValueError(
        f"{uri} is at version {version} of the transactions of {name!r}, and its state {place_of(name, version)} "
        f"cannot be read ({why}): restore it, write under another name, or write all rows with begin_anew=True"
    )
