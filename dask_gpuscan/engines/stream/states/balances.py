"""What operations of a state would answer, and how their states are joined: by their carries, where these are known."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from ....frames.pandas.library import PANDAS
from ....frames.registry import names_of
from ....ops.core.carry import OverlapCarry
from ....ops.core.columnwise import one_table
from ....ops.time.time_column import times_of
from ....ops.windows.halo import RowArrays

Operation = Any
"""An `Operation`, whose module calls this one."""


def listed(one: Operation) -> Any:
    """Return what an operation would answer as a frame of pandas; None if it has no table."""
    if one.seen is None:
        return None
    if one.carry is not None:
        return one.carry.last(one.meta, one.seen)
    if one.table is None or not isinstance(one.seen, RowArrays):
        return one.table
    rows, table = one.seen.unpack(), one.table
    arrays = [*(rows.keys or []), *rows.columns]
    if rows.times is not None and len(arrays) < table.shape[1]:
        times = table.iloc[:, -1]
        arrays.append(times_of(times, rows.times))
    return one_table(PANDAS, names_of(table), arrays)


def kept_table(one: Operation) -> Any:
    """Return what is kept of an operation without its carry: what that lists, but for rows that are kept anyway."""
    table = listed(one)
    return table[:0] if table is not None and isinstance(one.seen, RowArrays) else table


def joined(one: Operation, later: Operation) -> Operation:
    """Return an operation that has seen the rows of two; raises a ValueError if it cannot be."""
    if one.depends and not (one.seen is None and later.seen is None):
        raise ValueError(
            f"state of {one.name} is of what depends on rows before, and cannot be joined with a later one"
        )
    if one.seen is None or later.seen is None:
        return later if one.seen is None else one
    known = later if one.carry is None else one
    if known.carry is None:
        raise ValueError(
            f"state of {one.name} cannot be joined with a later one: it waits for rows, or is of a merge; or it was "
            f"read of a file that does not say how. Then compute stream([batch without rows], state=state, ends=False) "
            f"of the same operations, and join the state of that"
        )
    carry = known.carry
    summary: Any = carry.before if isinstance(carry, OverlapCarry) else carry
    return replace(known, seen=summary.combine([one.seen, later.seen]))
