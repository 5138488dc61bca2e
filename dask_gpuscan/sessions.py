"""Sessions: events that follow each other within a gap, numbered over all partitions.

A session number is a scan by an operator whose state is the first and the last time and how many gaps lie between;
a table of sessions is a group-by of those numbers. This module must never know partitions.
"""

from __future__ import annotations

from collections.abc import Hashable
from functools import lru_cache
from typing import Any

import numpy as np
import pandas as pd
from dask.base import is_dask_collection

from .arguments import one_of
from .columns import is_number, layout_of, library_of
from .kernels import Operator
from .keys import By, check_by

NUMBER = "session"
"""Name of the session numbers."""


@lru_cache(maxsize=64)
def gaps(gap: Any) -> Operator:
    """Return the operator that counts gaps between times, -1 once they are out of order.

    State: (events, first time, last time, gaps, whether they are out of order).
    """

    def combine(a: Any, b: Any) -> Any:
        if a[0] == 0:
            return b
        if b[0] == 0:
            return a
        wide = b[1] - a[2] > gap
        return (a[0] + b[0], a[1], b[2], a[3] + b[3] + wide, a[4] | b[4] | (b[1] < a[2]))

    return Operator(combine, _nothing, _event, _number, name="sessionize", inputs=1)


def _nothing(dtype: np.dtype) -> Any:
    return (0, dtype.type(0), dtype.type(0), 0, False)


def _event(time: Any) -> Any:
    return (1, time, time, 0, False)


def _number(s: Any) -> Any:
    return -1 if s[4] else s[3]


def _check(obj: Any, time: Any, by: Any, gap: Any) -> tuple[By, Any]:
    """Return the keys, and the gap in the units of the times."""
    meta = obj._meta if is_dask_collection(obj) else obj
    if meta.ndim == 1:
        raise TypeError("sessions are those of a DataFrame; found a Series, use to_frame() first")
    if not isinstance(time, Hashable) or list(meta.columns).count(time) != 1:
        raise ValueError(f"time names {time!r}, found {one_of(meta.columns)}")
    found = By(()) if by is None else check_by(meta, by)
    if time in found.columns:
        raise ValueError(f"time and by both name {time!r}")
    return found, _units(meta, time, gap)


def _units(meta: Any, time: Any, gap: Any) -> Any:
    library, dtype = library_of(meta), meta[time].dtype
    if is_number(library, dtype) and dtype.kind in "iuf":
        if isinstance(gap, bool) or not isinstance(gap, (int, float, np.number)) or not gap >= 0:
            raise ValueError(f"gap must be a number that is not negative, found {gap!r}")
        whole = dtype.kind != "f" and float(gap).is_integer()
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


def _numbers(frame: Any, time: Any) -> Any:
    """The frame with its times as plain numbers, under the name of the session numbers."""
    library, column = library_of(frame), frame[time]
    if not bool(library.valid(column).all()):
        raise ValueError(f"time: column {time!r} has nulls; drop them first")
    layout = layout_of(library, column.dtype)
    assert layout is not None
    with library.reading(frame):
        values = layout.raw(library.array(column)).values
        plain = np.dtype(np.float64 if values.dtype.kind == "f" else np.int64)
        found = layout_of(library, plain)
        assert found is not None
        array = found.wrap(values.astype(plain), None, plain)
        return frame.drop(columns=[time]).assign(
            **{NUMBER: library.series(array, frame.index, NUMBER)}
        )


def _in_order(numbers: Any, time: Any) -> Any:
    if bool((numbers == -1).any()):
        raise ValueError(
            f"time: column {time!r} must not decrease (within each key of by); sort by it first"
        )
    return numbers.rename(NUMBER)


def sessionize(obj: Any, time: Any, by: Any, gap: Any, clustered: bool | None) -> Any:
    """Return the session number of each row."""
    keys, wide = _check(obj, time, by, gap)
    if NUMBER in keys.columns:
        raise ValueError(f"by names {NUMBER!r}, which is the name of the result; rename it first")
    columns = [n for n in keys.columns if n not in keys.levels]
    frame, lazy = obj[[*columns, time]], is_dask_collection(obj)
    if lazy:
        meta = _numbers(frame._meta, time)
        times = frame.map_partitions(_numbers, time, meta=meta)
    else:
        times = _numbers(frame, time)
    if by is None:
        found = times[NUMBER].gpuscan.scan(gaps(wide))
    else:
        groups = times.gpuscan.groupby(list(keys.columns), clustered=clustered)
        found = groups[NUMBER].scan(gaps(wide))
    if lazy:
        return found.map_partitions(_in_order, time, meta=found._meta.rename(NUMBER))
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
