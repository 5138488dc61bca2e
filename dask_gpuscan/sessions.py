"""Sessions: events that follow each other within a gap, numbered over all partitions.

A session number is the number of gaps before a row; a table of sessions is a group-by of those numbers. This module
must never know how gaps are counted.
"""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd

from .arguments import one_of
from .carries import run
from .clustered import Part
from .columns import column_of, is_number, layout_of, library_of, names_of
from .gaps import CountGaps, State
from .keys import By, check_by
from .lookback import meta_of

NUMBER = "session"
"""Name of the session numbers."""


@dataclass(frozen=True)
class SessionNumbers:
    """The session number of each row of a series of times."""

    gaps: CountGaps
    label = "sessionize"
    columnwise = reverse = False
    keeps_index = True

    def check(self, times: Any) -> None:
        pass

    def meta(self, times: Any) -> Any:
        return self.apply(times, None)

    def aggregate(self, partition: Any) -> State:
        with library_of(partition).reading(partition):
            return self.gaps.state([partition])

    def combine(self, aggregates: Sequence[State]) -> State:
        return self.gaps.join(aggregates)

    def apply(self, partition: Any, prefix: State) -> Any:
        library = library_of(partition)
        with library.reading(partition):
            array = self.gaps.apply([partition], None, prefix, prefix is not None)
            return library.series(array, partition.index, NUMBER)


def _check(obj: Any, time: Any, by: Any, gap: Any) -> tuple[By, Any]:
    """Return the keys, and the gap in the units of the times."""
    meta = meta_of(obj)
    if meta.ndim == 1:
        raise TypeError("sessions are those of a DataFrame; found a Series, use to_frame() first")
    if not isinstance(time, Hashable) or names_of(meta).count(time) != 1:
        raise ValueError(f"time names {time!r}, found {one_of(names_of(meta))}")
    found = By(()) if by is None else check_by(meta, by)
    if time in found.columns:
        raise ValueError(f"time and by both name {time!r}")
    return found, _units(meta, time, gap)


def _units(meta: Any, time: Any, gap: Any) -> Any:
    library, dtype = library_of(meta), column_of(meta, time).dtype
    if is_number(library, dtype) and dtype.kind in "iuf":
        if isinstance(gap, bool) or not isinstance(gap, (int, float, np.number)) or not gap >= 0:
            raise ValueError(f"gap must be a number that is not negative, found {gap!r}")
        return float(gap) if dtype.kind == "f" else int(min(gap, 2**64 - 1))
    if layout_of(library, dtype) is None or dtype.kind not in "mM":
        raise TypeError(f"time must be a column of times or numbers, found dtype {dtype}")
    try:
        wide = pd.Timedelta(gap)
    except (TypeError, ValueError):
        wide = pd.NaT
    if isinstance(gap, (int, float, np.number)) or wide is pd.NaT or wide < pd.Timedelta(0):
        raise ValueError(
            f"gap must be a duration that is not negative, such as '30min', found {gap!r}"
        )
    return int(wide // pd.Timedelta(1, library.unit(dtype)))


def sessionize(obj: Any, time: Any, by: Any, gap: Any, clustered: bool | None) -> Any:
    """Return the session number of each row."""
    keys, wide = _check(obj, time, by, gap)
    if NUMBER in keys.columns:
        raise ValueError(f"by names {NUMBER!r}, which is the name of the result; rename it first")
    return _numbers(obj, time, keys, wide, clustered, dropna=True)


def _numbers(obj: Any, time: Any, keys: By, gap: Any, clustered: bool | None, dropna: bool) -> Any:
    gaps = CountGaps(time, gap)
    if not keys.columns:
        return run(obj[time], SessionNumbers(gaps))
    groups = obj.gpuscan.groupby(list(keys.columns), clustered=clustered, dropna=dropna)
    return groups.scan_part(Part(NUMBER, (time, *keys.columns), gaps))


def sessions(
    obj: Any, time: Any, by: Any, gap: Any, clustered: bool | None, named: dict[str, Any]
) -> Any:
    """Return one row a session."""
    keys, wide = _check(obj, time, by, gap)
    if meta_of(obj).columns.nlevels > 1:
        raise TypeError(
            "sessions are those of a DataFrame whose columns have one level; rename them first"
        )
    reserved = (NUMBER, "start", "end", "count")
    for name in (*keys.columns, *named):
        if name in reserved:
            raise ValueError(f"{name!r} is the name of a column of the result; choose another")
    number = NUMBER
    while number in names_of(meta_of(obj)):  # a column of the frame may have that name
        number += "_"
    # rows with null keys, which the table leaves out, are numbered too: so numbers stay integers
    numbers = _numbers(obj, time, keys, wide, clustered, dropna=False)
    numbered = obj.assign(**{number: numbers})
    together = clustered if keys.columns else True
    groups = numbered.gpuscan.groupby([*keys.columns, number], clustered=together)
    table = groups.agg(start=(time, "first"), end=(time, "last"), count=(time, "size"), **named)
    table = table.gpuscan.reset_index()
    return table if number == NUMBER else table.rename(columns={number: NUMBER})
