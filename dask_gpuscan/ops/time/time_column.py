"""The times of rows, and their unit: windows and buckets of time are measured by them."""

from __future__ import annotations

from collections.abc import Hashable
from typing import Any

import numpy as np
import pandas as pd

from ...frames.registry import column_of, library_of, stored_numbers
from ...frames.types import Column, DType, Frame, Values
from ...kernels.late_dataclass import dataclass
from ...kernels.nulls import NAT
from ...kernels.sorted_values import is_sorted
from ..core.groups import INT64


@dataclass(frozen=True)
class TimeColumn:
    """The column, or the index, that holds the times of rows.

    Parameters
    ----------
    on : hashable, optional
        The name of a column; by default, the index.
    """

    on: Hashable = None

    def column(self, frame: Frame) -> Column:
        """Return the times of a frame's rows."""
        if self.on is None:
            return library_of(frame).index_level(frame, 0)
        column: Column = column_of(frame, self.on)
        return column

    @property
    def title(self) -> str:
        """Its name in messages."""
        return "the index" if self.on is None else f"column {self.on!r}"

    def check(self, frame: Frame) -> Column:
        """Return the times of a frame's rows; raises a TypeError unless they are times."""
        library, column = library_of(frame), self.column(frame)
        dtype = column.dtype
        levels = len(library.index_names(frame)) if self.on is None else 1
        is_time = library.layout(dtype) is not None and not library.is_numeric(dtype)
        if levels > 1 or not is_time or isinstance(dtype, pd.PeriodDtype):
            raise TypeError(
                f"windows of time need datetimes or timedeltas, found {self.title} of dtype {dtype}; "
                f"name a column of times with on="
            )
        return column

    def numbers(self, frame: Frame) -> Values:
        """Return the times of a frame's rows as int64, in their own unit; any number for nulls."""
        return numbers_of(self.column(frame))

    def times(self, frame: Frame, column: Column | None = None) -> Values:
        """Return the times of a frame's rows as int64, in their own unit; raises a ValueError for nulls."""
        column = self.column(frame) if column is None else column
        if library_of(frame).missing(column) is not None:
            raise ValueError(f"{self.title} has null times; drop those rows first")
        return numbers_of(column)

    def times_in_order(self, frame: Frame) -> tuple[Values, bool]:
        """Return what `times` does, and whether they are known not to decrease; checks that there are times."""
        column = self.check(frame)
        times = plainly_in_order(column)
        return (self.times(frame, column), False) if times is None else (times, True)

    def unit(self, frame: Frame) -> pd.Timedelta:
        """Return the unit of the times."""
        return pd.Timedelta(1, library_of(frame).time_unit(self.column(frame).dtype))


def zone_of(dtype: DType) -> Any:
    """Return the time zone of times of a dtype; None if they have none."""
    if isinstance(dtype, pd.ArrowDtype):
        return dtype.pyarrow_dtype.tz
    return getattr(dtype, "tz", None)


def times_at(dtype: DType, unit: str, *stored: int) -> pd.DatetimeIndex:
    """Return times of a dtype and its unit that are given as numbers."""
    index = pd.DatetimeIndex(np.array(stored, INT64).view(f"M8[{unit}]"))
    zone = zone_of(dtype)
    return index if zone is None else index.tz_localize("UTC").tz_convert(zone)


def decrease(column: Column, later: int, earlier: int) -> str:
    """Return the text that an earlier time of a column comes after a later one."""
    one, other = (time_in(column, time) for time in (later, earlier))
    return f"{other} comes after {one}"


def time_in(column: Column, stored: Values) -> Any:
    """Return a time of a column that is given as a number, for messages."""
    library = library_of(column)
    times = library.to_pandas(times_of(column, library.xp.array([stored])))
    return pd.Series(times).iloc[0]


def numbers_of(times: Column) -> Values:
    """Return a column of times as int64, in their own unit; any number for nulls."""
    return stored_numbers(times).astype(INT64, copy=False)


def holds_nat(column: Column) -> bool:
    """Return whether nulls among times are one number, the least of all."""
    layout = library_of(column).layout(column.dtype)
    return layout is not None and layout.nulls == "in band"


def plainly_in_order(column: Column) -> Any:
    """Return times as numbers if they do not decrease and the first shows that none is null; else None: look closer."""
    times = numbers_of(column)
    none_is_null = holds_nat(column) and len(times) > 0 and times[0].item() != NAT
    return times if none_is_null and is_sorted(times) else None


def times_of(column: Column, stored: Values) -> Any:
    """Return an array of times of the dtype of a column, made from numbers."""
    library = library_of(column)
    layout = library.layout(column.dtype)
    assert layout is not None
    return layout.wrap(stored.astype(layout.storage(column.dtype)), None, column.dtype)


def check_order(time_column: TimeColumn, frame: Frame, times: Values, heads: Values | None) -> None:
    """Raise a ValueError if times decrease, or do so within groups, whose first rows `heads` marks."""
    if is_sorted(times, heads):
        return
    late = times[1:] < times[:-1]
    at = int((late if heads is None else late & ~heads[1:]).argmax())
    where = decrease(time_column.column(frame), times[at].item(), times[at + 1].item())
    within = "" if heads is None else " within a group"
    raise ValueError(
        f"{time_column.title} must not decrease{within}, and {where}; sort by it first"
    )
