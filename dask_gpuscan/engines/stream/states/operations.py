"""The operations of a state, in memory and in files.

A file holds the carry of an operation if its class is one of a few; otherwise it holds the table that the carry lists.
"""

from __future__ import annotations

from collections.abc import Hashable
from contextlib import suppress
from dataclasses import field, replace
from typing import Any

import pyarrow as pa

from ....frames.protocol import Library
from ....frames.registry import columns_of, names_of
from ....kernels.late_dataclass import dataclass
from ....kernels.messages import shown
from ....kernels.scalars import is_number
from ..options import described
from .records import HOLDS, is_record, part_of, require
from .values import read_value, write_value


@dataclass(frozen=True)
class Operation:
    """An operation of a stream.

    Parameters
    ----------
    name : str
    options : str
    seen : object
        The operation's state; None if it keeps nothing.
    by : sequence of names, optional
        The names of the keys of groups.
    times : dtype, optional
        The dtype of the times in `seen` that `State.expire` compares.
    carry : carry, optional
        Joins and lists states; None if it is not known, or can do neither.
    meta : frame or series, optional
        The input without rows; given with `carry`.
    table : DataFrame, optional
        The table that `carry` would list, if `carry` is not known; without its rows if `seen` holds these.
    depends : bool, default True
        Whether the input depends on earlier rows.
    """

    name: str
    options: str
    seen: Any
    by: tuple[Hashable, ...] = ()
    times: Any = None
    carry: Any = field(default=None, compare=False, repr=False)
    meta: Any = field(default=None, compare=False, repr=False)
    table: Any = field(default=None, compare=False, repr=False)
    depends: bool = True

    def __getstate__(self) -> dict[str, Any]:
        """Return what is pickled: not the carry, as a user's function in it may not be picklable."""
        table = self.listed()
        if table is not None and part_of(self.seen, "frame"):
            table = table[:0]  # its rows are in `seen`
        return {**vars(self), "carry": None, "meta": None, "table": table}

    def keys(self) -> Any:
        """Return the keys in the state as an index; None if it has no keys."""
        keys = part_of(self.seen, "keys")
        if not keys:
            return None
        names = self.by or [None] * len(keys)  # a series is its own key
        return self.seen.library.key_index(keys, names).drop_duplicates()

    def listed(self) -> Any:
        """Return the last answers as a frame; None if there is no such table."""
        if self.seen is None:
            return None
        if self.carry is not None:
            return self.carry.last(self.meta, self.seen)
        if self.table is None or not part_of(self.seen, "frame"):
            return self.table
        *_, last = (None, *columns_of(self.table))
        return self.seen.frame(names_of(self.table), last)

    def joined(self, later: Operation) -> Operation:
        """Return the operation after its rows and those of `later`; raises a ValueError if states cannot be joined."""
        if self.depends and not (self.seen is None and later.seen is None):
            raise ValueError(
                f"state of {self.name} is of what depends on rows before, and cannot be joined with a later one"
            )
        if self.seen is None or later.seen is None:
            return later if self.seen is None else self
        known = later if self.carry is None else self
        if known.carry is None:
            raise ValueError(
                f"state of {self.name} cannot be joined with a later one: it waits for rows, or is of a merge; or it "
                f"was read of a file that does not say how. Then compute stream([batch without rows], state=state, "
                f"ends=False) of the same operations, and join the state of that"
            )
        return replace(known, seen=known.carry.combine([self.seen, later.seen]))

    def newer(self, before: Any) -> Operation:
        """Return the operation without the entries of its state that are older than a time."""
        seen, times = self.seen, None if self.times is None else part_of(self.seen, "times")
        if times is None:
            return self
        least = _stored(seen.library, before, self.times)
        return replace(self, seen=seen.take(seen.library.xp.flatnonzero(times >= least)))


def _stored(library: Library, time: Any, dtype: Any) -> Any:
    """Return the number that a column of times stores for a time."""
    if is_number(time) and library.is_number(dtype) and time == time:
        return time
    if not (is_number(time) or library.is_number(dtype)):
        with suppress(TypeError):
            return library.stored_number(time, dtype)
    raise TypeError(f"before must be a time as {dtype} has them, found {shown(time)}")


# --- in files ----------------------------------------------------------------------------------------


def write_operation(one: Operation, leaves: list[pa.Array]) -> dict[str, Any]:
    """Return an operation as a JSON value; its arrays are appended to `leaves`."""
    known: dict[str, Any] = {"name": one.name, "options": one.options, "depends": one.depends}
    for name in ("seen", "by", "times"):
        known[name] = write_part(getattr(one, name), leaves, f"of {one.name}")
    # the carry if a file can hold it, otherwise the table that the carry lists
    for names in (
        (("carry", "meta"), ("table",))[one.carry is None :] if one.seen is not None else ()
    ):
        found = list(leaves)
        with suppress(TypeError, pa.ArrowException):
            parts = vars(one) if "carry" in names else one.__getstate__()
            known |= {name: write_value(parts[name], found) for name in names}
            leaves[:] = found
            break
    return known


def write_part(value: Any, leaves: list[pa.Array], whose: str) -> Any:
    """Return a value as a JSON value; raises a TypeError with `whose` if it cannot be written."""
    try:
        return write_value(value, leaves)
    except (TypeError, pa.ArrowInvalid, pa.ArrowNotImplementedError) as error:
        raise TypeError(f"state {whose} cannot be written: {error}") from error


def read_operation(known: dict[str, Any], leaves: list[Any]) -> Operation:
    """Return an operation that `write_operation` has written; raises an error of any type for anything else."""
    given = {
        name: read_value(known[name], leaves) for name in ("name", "options", "seen", "by", "times")
    }
    one = Operation(**given, depends=known.get("depends", True))
    require(isinstance(one.name, str) and isinstance(one.options, str), "an operation")
    is_named = isinstance(one.by, tuple) and all(isinstance(name, Hashable) for name in one.by)
    require(is_named, "names of keys")
    if one.by and is_record(one.seen) and hasattr(one.seen, "keys"):
        require(len(one.by) == len(one.seen.keys or []), "a name for each key")
    require(one.times is None or isinstance(one.times, HOLDS["DType"]), "a dtype of times")
    require(type(one.depends) is bool, "whether it depends on rows before")
    if "carry" not in known:
        table = read_value(known.get("table"), leaves)
        require(table is None or isinstance(table, HOLDS["Frame"]), "a table")
        return replace(one, table=table)
    carry, meta = (read_value(known[name], leaves) for name in ("carry", "meta"))
    require(isinstance(meta, HOLDS["Frame"]) and not len(meta), "an input without rows")
    require(carry.label == one.name and described(carry) == one.options, "an operation")
    return replace(one, carry=carry, meta=meta)
