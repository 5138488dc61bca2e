"""Sessions: events that follow each other within a gap, numbered over all partitions.

A session number is a scan by an operator whose state is the first and the last time and how many gaps lie between;
a table of sessions is a group-by of those numbers. This module must never know partitions.
"""

from __future__ import annotations

from collections.abc import Hashable
from typing import Any

import numpy as np
import pandas as pd

from .arguments import one_of
from .columns import column_of, is_number, layout_of, library_of, names_of
from .kernels import Operator
from .keys import By, check_by
from .lookback import is_lazy, meta_of

NUMBER = "session"
"""Name of the session numbers."""


GAP = "session gap"
"""Name of the column of gaps."""


def _combine(a: Any, b: Any) -> Any:
    if a[0] == 0:
        return b
    if b[0] == 0:
        return a
    wide = b[1] - a[2] > b[3]
    return (a[0] + b[0], a[1], b[2], b[3], a[4] + b[4] + wide, a[5] | b[5] | (b[1] < a[2]))


def _nothing(time: np.dtype, gap: np.dtype) -> Any:
    return (0, time.type(0), time.type(0), gap.type(0), 0, False)


def _event(time: Any, gap: Any) -> Any:
    return (1, time, time, gap, 0, False)


def _number(s: Any) -> Any:
    return -1 if s[5] else s[4]


GAPS = Operator(_combine, _nothing, _event, _number, name="sessionize", inputs=2)
"""Counts gaps between times, -1 once they are out of order. The gap is data, so that one kernel serves all gaps.

State: (events, first time, last time, gap, gaps, whether they are out of order).
"""


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
        whole = dtype.kind != "f" and float(gap).is_integer() and gap < 2**63
        return int(gap) if whole else float(gap)
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


def _numbers(frame: Any, time: Any, gap: Any) -> Any:
    """The frame with its times as plain numbers, under the name of the session numbers, and with gaps."""
    library, column = library_of(frame), frame[time]
    if library.missing(column) is not None:
        raise ValueError(f"time: column {time!r} has nulls; drop them first")
    layout = layout_of(library, column.dtype)
    assert layout is not None
    with library.reading(frame):
        values = layout.raw(library.array(column)).values
        plain = np.dtype(np.float64 if values.dtype.kind == "f" else np.int64)
        found = layout_of(library, plain)
        assert found is not None
        array = found.wrap(values.astype(plain, copy=False), None, plain)
        names = [name for name in frame.columns if name != time]
        arrays = [library.array(frame[name]) for name in names]
        numbers = library.frame([*arrays, array], [*names, NUMBER], frame.index)
        return numbers.assign(**{GAP: gap})


def _in_order(numbers: Any, time: Any) -> Any:
    lowest = numbers.min()
    if not pd.isna(lowest) and lowest < 0:
        raise ValueError(
            f"time: column {time!r} must not decrease (within each key of by); sort by it first"
        )
    return numbers


def sessionize(obj: Any, time: Any, by: Any, gap: Any, clustered: bool | None) -> Any:
    """Return the session number of each row."""
    keys, wide = _check(obj, time, by, gap)
    for name in (NUMBER, GAP):
        if name in keys.columns:
            raise ValueError(f"by names {name!r}, which is a column of the result; rename it first")
    columns = [n for n in keys.columns if n not in keys.levels]
    frame, lazy = obj[[*columns, time]], is_lazy(obj)
    if lazy:
        meta = _numbers(frame._meta, time, wide)
        times = frame.map_partitions(_numbers, time, wide, meta=meta)
    else:
        times = _numbers(frame, time, wide)
    if by is None:
        found = times[[NUMBER, GAP]].gpuscan.scan(GAPS)
    else:
        groups = times.gpuscan.groupby(list(keys.columns), clustered=clustered)
        found = groups[[NUMBER, GAP]].scan(GAPS)
    if lazy:
        found = found.rename(NUMBER)
        return found.map_partitions(_in_order, time, meta=found._meta)
    found.name = NUMBER  # which copies nothing
    return _in_order(found, time)


def sessions(
    obj: Any, time: Any, by: Any, gap: Any, clustered: bool | None, named: dict[str, Any]
) -> Any:
    """Return one row a session."""
    keys, _ = _check(obj, time, by, gap)
    reserved = (NUMBER, "start", "end", "count")
    for name in (*keys.columns, *named):
        if name in reserved:
            raise ValueError(f"{name!r} is the name of a column of the result; choose another")
    numbered = obj.assign(**{NUMBER: sessionize(obj, time, by, gap, clustered)})
    together = clustered if keys.columns else True
    groups = numbered.gpuscan.groupby([*keys.columns, NUMBER], clustered=together)
    table = groups.agg(start=(time, "first"), end=(time, "last"), count=(time, "size"), **named)
    return table.gpuscan.reset_index()
