"""Buckets of time: which bucket a time is in, and the labels of buckets, as pandas' resampling has them.

Buckets are numbered from 0, which is that of the first time of all. Arithmetic finds those of one width. Those of
a calendar (months, business days, days of a time zone) are found by their edges, which pandas makes of the first and
last time.
"""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from functools import lru_cache, reduce
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd
from pandas.tseries.offsets import Day, Tick

from ... import kernels
from ...frames.protocol import Library
from ...frames.registry import library_of
from ...frames.types import DType, Values
from ..core.carry import DataFrameCarry
from ..core.groups import INT64
from .time_column import TimeColumn, numbers_of

_WHOLE_DAYS = ("BME", "ME", "BQE", "QE", "BYE", "YE", "W")
"""Rules whose edges, where buckets are closed on the right, are the ends of days rather than their starts."""

_FEW = 16
"""Rows a bucket from which on looking for edges among times takes less than dividing each of them."""
_CALENDAR_DAYS = pd.__version__.startswith("3.0.")
"""Whether origins have no effect on days, and days closed on the right begin with an empty one, as in pandas 3.0."""


@dataclass(frozen=True)
class Span:
    """The first and the last time of some rows, as their column stores them; None of no rows."""

    first: int | None = None
    last: int | None = None
    partitions: int = 1

    def then(self, later: Span) -> Span:
        """Return the span of these rows and of those that follow them."""
        first = later.first if self.first is None else self.first
        last = self.last if later.last is None else later.last
        return Span(first, last, self.partitions + later.partitions)


def span_of(frame: Any, time_column: TimeColumn) -> Span:
    """Return the first and the last time of rows in order; nulls are passed over, and refused where they are."""
    library, column, times = (
        library_of(frame),
        time_column.column(frame),
        time_column.numbers(frame),
    )
    ends = [library.slice_column(column, i, i + 1) for i in {0, len(frame) - 1} if len(frame)]
    if any(library.missing(end) is not None for end in ends):
        times = times[library.valid(column)]
    return Span(times[0].item(), times[-1].item()) if len(times) else Span()


class SpanCarry(DataFrameCarry):
    """What carries have in common that need to know the first and the last time of the rows before."""

    if TYPE_CHECKING:

        @property
        def time_column(self) -> TimeColumn:
            """Where the times are."""

    def meta(self, frame: Any) -> Any:
        return self.apply(library_of(frame).no_rows(frame), None)

    def aggregate(self, partition: Any) -> Span:
        with library_of(partition).acquire(partition):
            return span_of(partition, self.time_column)

    def combine(self, aggregates: Sequence[Span]) -> Span:
        return reduce(Span.then, aggregates)


def times_in_order(frame: Any, time_column: TimeColumn, before: Span | None) -> Values:
    """Return the times of rows as numbers.

    Raises
    ------
    ValueError
        For times that are null, or earlier than those before them; it names the partition.
    """
    number = 0 if before is None else before.partitions
    column = time_column.column(frame)
    if library_of(frame).missing(column) is not None:
        raise ValueError(
            f"resample: {time_column.title} has nulls in partition {number}; drop them first, with dropna"
        )
    times = numbers_of(column)
    last = None if before is None else before.last
    falls = last is not None and len(times) > 0 and times[0].item() < last
    if falls or not kernels.is_sorted(times):
        raise ValueError(
            f"resample: times must not decrease, those of {time_column.title} do in partition {number}; sort by "
            f"them first, with gpuscan.sort_{'index' if time_column.on is None else 'values'}"
        )
    return times


@dataclass(frozen=True)
class Buckets:
    """A rule that cuts the times of a column into buckets."""

    freq: Any
    closed: str
    label: str
    origin: Any
    offset: pd.Timedelta | None
    dtype: DType
    """Of the times."""
    unit: str

    @property
    def zone(self) -> Any:
        """The time zone of the times; None if they have none."""
        if isinstance(self.dtype, pd.ArrowDtype):
            return self.dtype.pyarrow_dtype.tz
        return getattr(self.dtype, "tz", None)

    @property
    def is_fixed(self) -> bool:
        """Whether all buckets are of one width; days of a time zone are not."""
        if not isinstance(self.freq, Day):
            return isinstance(self.freq, Tick)
        return self.zone is None and not (_CALENDAR_DAYS and self.closed == "right")

    @property
    def width(self) -> int:
        """How wide buckets of one width are, in the unit of the times."""
        return int(fixed_width(self.freq) // pd.Timedelta(1, self.unit))

    def plain(self) -> Buckets:
        """Return these buckets without what pandas says has no effect on them."""
        # in pandas 2 a day is a Tick
        is_span = self.is_fixed and not (_CALENDAR_DAYS and isinstance(self.freq, Day))
        has_effect = is_span or isinstance(self.freq, Tick)
        return self if has_effect else replace(self, origin="start_day", offset=None)

    @property
    def depends_on_first(self) -> bool:
        """Whether the edges of buckets depend on the first of all times."""
        if not self.is_fixed:
            return bool(self.freq.n > 1) or self.begins_empty
        divides_day = self.zone is None and self._day % self.width == 0
        return self.origin == "start" or (self.origin == "start_day" and not divides_day)

    @property
    def begins_empty(self) -> bool:
        """Whether pandas may put an empty bucket before the first: before that of a time after the start of a day."""
        return not self.is_fixed and self.closed == "right" and not self._ends_days

    @property
    def _ends_days(self) -> bool:
        """Whether edges are the ends of days rather than their starts."""
        return self.closed == "right" and self.freq.rule_code.split("-")[0] in _WHOLE_DAYS

    @property
    def _day(self) -> int:
        """How long a day is, in the unit of the times."""
        return int(pd.Timedelta(1, "D") // pd.Timedelta(1, self.unit))

    # --- what pandas says, given the first and the last time ---------------------------------------

    def _times(self, *stored: int) -> pd.DatetimeIndex:
        """Return times that are given as numbers."""
        index = pd.DatetimeIndex(np.array(stored, INT64).view(f"M8[{self.unit}]"))
        return index if self.zone is None else index.tz_localize("UTC").tz_convert(self.zone)

    def _labels(self, first: int, last: int, label: str) -> pd.DatetimeIndex:
        """Return the labels of all buckets."""
        index = self._times(first, last)
        options = {"closed": self.closed, "origin": self.origin, "offset": self.offset}
        rows = pd.Series([0, 0], index=index).resample(self.freq, label=label, **options)
        return rows.size().index

    def _labels_until(self, first: int, last: int, label: str) -> pd.DatetimeIndex:
        """Return the labels of all buckets, and maybe of later ones.

        pandas asks for the midnight one rule after the last time of all, and raises where clocks skip it or show it
        twice. Rows that follow have another last time; here labels are asked for up to a noon after that midnight.
        """
        with suppress(Exception):  # pytz's own of pandas 2
            return self._labels(first, last, label)
        day = self._times(last, last)[-1].tz_localize(None).normalize()
        later = pd.DatetimeIndex([day + self.freq + pd.Timedelta(36, "h")], tz=self.zone)
        return self._labels(first, int(stored(later.as_unit(self.unit))[0]), label)

    def _edges(self, first: int, last: int) -> np.ndarray:
        """Return where buckets start and the last one ends, as numbers; maybe those of later buckets too."""
        edges = pd.DatetimeIndex(self._labels_until(first, last, "left"), freq=None)
        edges = edges.append(self._labels_until(first, last, "right")[-1:])
        if self._ends_days:
            moment = pd.Timedelta(1, self.unit).as_unit(self.unit)
            edges = edges.tz_localize(None) + pd.Timedelta(1, "D").as_unit(self.unit) - moment
            edges = edges.tz_localize(self.zone)
        return stored(edges)

    @lru_cache(maxsize=256)  # noqa: B019 (of buckets, which are few and small)
    def _left_edge(self, first: int) -> int:
        """Return the left edge of the first bucket, of those of one width."""
        return int(stored(self._labels(first, first, "left"))[0])

    def _start(self, first: int) -> int:
        """Return the first moment that is in the first bucket, of those of one width."""
        return self._left_edge(first) + (self.closed == "right")

    # --- buckets by number -------------------------------------------------------------------------

    def numbers(self, library: Library, times: Values, first: int | None) -> Values:
        """Return the number of the bucket of each time, given the first of those before; times do not decrease."""
        xp = library.xp
        if not len(times):
            return xp.zeros(0, INT64)
        ends = times[0].item(), times[-1].item()
        first, low, side = ends[0] if first is None else first, 0, self.closed
        if self.is_fixed:
            start, side = self._start(first), "left"
            low, high = ((end - start) // self.width for end in ends)
            if high - low > len(times) // _FEW:
                found = times - start
                found //= self.width
                return found
            edges = start + self.width * xp.arange(low, high + 2, dtype=INT64)
        else:
            edges = xp.asarray(self._edges(first, ends[1]))
        bounds = xp.searchsorted(times, edges, side=side).astype(INT64, copy=False)
        numbers = xp.arange(low, low + len(edges) - 1, dtype=INT64)
        (found,) = kernels.run_length_decode(bounds[1:] - bounds[:-1], [numbers])
        return found

    def labels_of(self, library: Library, times: Values, firsts: Values | None) -> Values:
        """Return the label of the bucket of each time, as a number; times may be in any order.

        Parameters
        ----------
        library : Library
        times : array
        firsts : array, optional
            For each time the one from which its buckets are counted; None if they are the same for all.
        """
        if not len(times):
            return times
        if not self.is_fixed:
            return self._calendar_labels(library, times, firsts)
        start = self._origins(library, firsts)
        number = (times - start - (self.closed == "right")) // self.width
        return start + (number + (self.label == "right")) * self.width

    def _calendar_labels(self, library: Library, times: Values, firsts: Values | None) -> Values:
        """Return the labels of buckets of one unit of a calendar, or of several counted from the first times."""
        several, one = self.freq.n - 1, replace(self, freq=self.freq.base)
        low, high = int(times.min()), int(times.max())
        if several:
            assert firsts is not None
            days = self._times(int(firsts.min()), high).tz_localize(None).normalize()
            days = pd.DatetimeIndex([days[0] - self.freq, days[1] + self.freq])
            low, high = map(int, stored(self._localized(days)))
        side = "right" if self.closed == "left" else "left"
        edges = library.xp.asarray(one._edges(low, high))
        labels = library.xp.asarray(stored(one._labels_until(low, high, self.label)))
        units = library.xp.searchsorted(edges, times, side=side) - 1
        if several:
            start = library.xp.searchsorted(edges, firsts, side=side) - 1
            start -= several if self.closed == "right" else 0
            units -= (units - start) % self.freq.n
            units += several if self.label == "right" else 0
        return labels[units]

    def _localized(self, days: pd.DatetimeIndex) -> pd.DatetimeIndex:
        """Return the starts of days in the zone of the times."""
        days = days.as_unit(self.unit)
        if self.zone is None:
            return days
        first = np.ones(len(days), np.bool_)
        return days.tz_localize(self.zone, ambiguous=first, nonexistent="shift_forward")

    def _origins(self, library: Library, firsts: Values | None) -> Any:
        """Return from where buckets of one width are counted, given the first times."""
        moment = pd.Timedelta(1, self.unit)
        offset = 0 if self.offset is None else self.offset // moment
        origin = self.origin
        if origin == "epoch":  # that of the zone's own clock
            origin = pd.Timestamp("1970-01-01", tz=self.zone)
        if isinstance(origin, pd.Timestamp):
            return int(origin.as_unit(self.unit).asm8.view(INT64)) + offset
        if firsts is None:
            return offset
        if self.origin == "start":
            return firsts + offset
        if self.zone is None:
            return firsts - firsts % self._day + offset
        days = self._times(*library.fetch(firsts)()).normalize()
        return library.xp.asarray(stored(days)) + offset

    def between(self, library: Library, labels: Values) -> Values | None:
        """Return the labels of all units from the first to the last of some; None of buckets of one width."""
        if self.is_fixed or not len(labels):
            return None
        ends = self._times(int(labels.min()), int(labels.max())).tz_localize(None).normalize()
        found = pd.date_range(*ends, freq=self.freq.base, unit=self.unit)
        return library.xp.asarray(stored(self._localized(found)))

    def count(self, first: int, last: int) -> int:
        """Return the number of all buckets."""
        if not self.is_fixed:
            return len(self._labels(first, last, self.label))
        return (last - self._start(first)) // self.width + 1

    def labels(self, span: Span, start: int, stop: int) -> pd.DatetimeIndex:
        """Return the labels of the buckets from `start` to `stop`, given the first and last time."""
        if span.first is None or span.last is None:
            zoned = self.zone is not None
            dtype = pd.DatetimeTZDtype(self.unit, self.zone) if zoned else f"M8[{self.unit}]"
            return pd.DatetimeIndex([], dtype=dtype, freq=self.freq)
        if not self.is_fixed:
            return self._labels_until(span.first, span.last, self.label)[start:stop]
        bucket = start + (self.label == "right")
        begin = np.array([self._left_edge(span.first) + bucket * self.width])
        at = pd.DatetimeIndex(begin.view(f"M8[{self.unit}]"))
        if self.zone is not None:
            at = at.tz_localize("UTC").tz_convert(self.zone)
        return pd.date_range(at[0], periods=stop - start, freq=self.freq, unit=self.unit)


def fixed_width(freq: Any) -> pd.Timedelta:
    """Return how wide buckets of one width are."""
    return pd.Timedelta(freq.n, "D") if isinstance(freq, Day) else pd.Timedelta(freq)


def without_broken_rule(labels: pd.DatetimeIndex) -> pd.DatetimeIndex:
    """Return labels without their rule where it leads nowhere from the last one.

    pandas asks where it leads before it joins indexes, and raises where clocks skip that midnight or show it twice.
    """
    with suppress(Exception):  # pytz's own of pandas 2
        _ = labels[-1:] + labels.freq
        return labels
    return pd.DatetimeIndex(labels, freq=None)


def stored(index: pd.DatetimeIndex) -> np.ndarray:
    """Return times as numbers in their own unit."""
    if index.tz is not None:
        index = index.tz_convert(None)
    numbers: np.ndarray = index.to_numpy(dtype=f"M8[{index.unit}]").view(INT64)
    return numbers
