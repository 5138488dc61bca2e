"""What states leave out once it is old."""

from __future__ import annotations

from contextlib import suppress
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from ....frames.protocol import Library
from ....kernels.messages import shown
from ....kernels.scalars import is_number
from ....ops.groupby.hashed import Table
from ....ops.time.sessions import last_times
from ....ops.windows.halo import RowArrays

if TYPE_CHECKING:
    from .operations import Operation


def newer(one: Operation, before: Any) -> Operation:
    """Return an operation without what it has seen that is older than a time."""
    seen, dtype = one.seen, one.times
    if dtype is None or not isinstance(seen, (RowArrays, Table)):
        return one
    least = _stored(seen.library, before, dtype)
    times = seen.times if isinstance(seen, RowArrays) else last_times(seen.states[0])
    return replace(one, seen=seen.take(seen.library.xp.flatnonzero(times >= least)))


def _stored(library: Library, time: Any, dtype: Any) -> Any:
    """Return the number that a column of times stores for a time."""
    if is_number(time) and library.is_number(dtype) and time == time:
        return time
    if not (is_number(time) or library.is_number(dtype)):
        with suppress(TypeError):
            return library.stored_number(time, dtype)
    raise TypeError(f"before must be a time as {dtype} has them, found {shown(time)}")
