"""Buckets of time: which bucket a time is in, and the labels of buckets, as in resampling by pandas.

Buckets are numbered from 0, the bucket of the first time of all. Those of one width are found by arithmetic. Those of
a calendar (months, business days, days of a time zone) are found by their edges, which pandas makes from the first and
the last time.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from contextlib import suppress
from dataclasses import replace
from functools import cached_property, lru_cache, reduce
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd
from pandas.tseries.offsets import Day, Tick

from ... import kernels
from ...frames.protocol import Library
from ...frames.registry import library_of
from ...frames.types import DType, Frame, Scalar, Values
from ...kernels.arrays import check_memory
from ...kernels.cpu.core.limits import available
from ...kernels.late_dataclass import dataclass
from ...kernels.nulls import NAT
from ...kernels.sorted_values import is_sorted
from ..core.carry import DataFrameCarry
from ..core.groups import INT64
from .time_column import (
    TimeColumn,
    decrease,
    holds_nat,
    numbers_of,
    plainly_in_order,
    times_at,
    zone_of,
)

_WHOLE_DAYS = ("BME", "ME", "BQE", "QE", "BYE", "YE", "W")
"""Rules whose edges are the ends of days rather than their starts, if buckets are closed on the right."""

_FEW = 16
"""Rows a bucket from which on looking for edges among times takes less than dividing each of them."""

_AT_ONCE = 1 << 14
"""Rows that are divided in less time than it takes to begin to look for edges."""

_CALENDAR_DAYS = pd.__version__.startswith("3.0.")
"""Whether origins have no effect on days, and days closed on the right begin with an empty one, as in pandas 3.0."""


@dataclass(frozen=True)
class Span:
    """The first and the last time of some rows, as their column stores them; None without rows."""

    first: Scalar | None = None
    last: Scalar | None = None

    def then(self, later: Span) -> Span:
        """Return the span of these rows and of those that follow them."""
        first = later.first if self.first is None else self.first
        last = self.last if later.last is None else later.last
        return Span(first, last)


def span_of(frame: Frame, time_column: TimeColumn) -> Span:
    """Return the first and the last time of rows in order; nulls are passed over: their partition refuses them."""
    library, column = library_of(frame), time_column.column(frame)
    times = numbers_of(column)
    if len(times) and holds_nat(column):
        found = Span(times[0].item(), times[-1].item())
        if NAT not in (found.first, found.last):
            return found
    ends = [library.slice_column(column, i, i + 1) for i in {0, len(frame) - 1} if len(frame)]
    if any(library.missing(end) is not None for end in ends):
        times = times[library.valid(column)]
    return Span(times[0].item(), times[-1].item()) if len(times) else Span()


class SpanCarry(DataFrameCarry):
    """The base of carries that need the first and the last time of the rows before."""

    if TYPE_CHECKING:

        @property
        def time_column(self) -> TimeColumn:
            """Where the times are."""

    def meta(self, frame: Frame) -> Any:
        return self.apply(library_of(frame).no_rows(frame), None)

    def aggregate(self, partition: Frame) -> Span:
        with library_of(partition).acquire(partition):
            return span_of(partition, self.time_column)

    def combine(self, aggregates: Sequence[Span]) -> Span:
        return reduce(Span.then, aggregates)


def times_in_order(frame: Frame, time_column: TimeColumn, before: Span | None) -> Values:
    """Return the times of rows as numbers; raises a ValueError for null ones, and for those that decrease."""
    column = time_column.column(frame)
    times = plainly_in_order(column)
    in_order = times is not None
    if not in_order:
        if library_of(frame).missing(column) is not None:
            raise ValueError(
                f"resample: {time_column.title} has nulls; drop them first, with dropna"
            )
        times = numbers_of(column)
        in_order = is_sorted(times)
    last = None if before is None else before.last
    pair = None
    if last is not None and len(times) > 0 and times[0].item() < last:
        pair = last, times[0].item()
    elif not in_order:
        at = int((times[1:] < times[:-1]).argmax())
        pair = times[at].item(), times[at + 1].item()
    if pair is not None:
        raise ValueError(
            f"resample: times must not decrease, but in {time_column.title} "
            f"{decrease(column, *pair)}; sort by them first, with "
            f"gpuscan.sort_{'index' if time_column.on is None else 'values'}"
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
    """The dtype of the times."""
    unit: str

    @property
    def zone(self) -> Any:
        """The time zone of the times; None if they have none."""
        return zone_of(self.dtype)

    @property
    def is_fixed(self) -> bool:
        """Whether all buckets are of one width; days of a time zone are not."""
        if not isinstance(self.freq, Day):
            return isinstance(self.freq, Tick)
        return self.zone is None and not (_CALENDAR_DAYS and self.closed == "right")

    @cached_property
    def width(self) -> int:
        """How wide buckets of one width are, in the unit of the times."""
        return int(fixed_width(self.freq) // pd.Timedelta(1, self.unit))

    def plain(self) -> Buckets:
        """Return these buckets without an origin and an offset, if pandas says that these have no effect."""
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
        """Whether pandas may put an empty bucket first: if the first time is after the start of a day."""
        return not self.is_fixed and self.closed == "right" and not self._ends_days

    @property
    def _is_of_whole_days(self) -> bool:
        return self.freq.rule_code.split("-")[0] in _WHOLE_DAYS

    @property
    def _ends_days(self) -> bool:
        """Whether edges are the ends of days rather than their starts."""
        return self.closed == "right" and self._is_of_whole_days

    @property
    def _day(self) -> int:
        """How long a day is, in the unit of the times."""
        return int(pd.Timedelta(1, "D") // pd.Timedelta(1, self.unit))

    # --- what pandas says, given the first and the last time ---------------------------------------

    def _times(self, *stored: int) -> pd.DatetimeIndex:
        """Return times that are given as numbers."""
        return times_at(self.dtype, self.unit, *stored)

    @lru_cache(maxsize=16)  # noqa: B019 (of buckets, which are few and small)
    def _labels(self, first: int, last: int, label: str) -> pd.DatetimeIndex:
        """Return the labels of all buckets of a calendar; a partition asks for the same ones several times."""
        index = self._times(first, last)
        options = {"closed": self.closed, "origin": self.origin, "offset": self.offset}
        rows = pd.Series([0, 0], index=index)
        with suppress(Exception):  # pandas 2 raises errors of pytz
            return rows.resample(self.freq, label=label, **options).size().index
        return self._labels_by_clock(index, label)

    def _labels_by_clock(self, ends: pd.DatetimeIndex, label: str) -> pd.DatetimeIndex:
        """Return the labels of all buckets of a calendar, given the first and the last time.

        pandas raises where clocks skip a midnight that it asks for, or show it twice: of the first day, or of one
        after the last. Such a day begins with its first moment.
        """
        first, last = ends.tz_localize(None).normalize()
        start = self.freq.rollback(first) if self.closed == "left" else first - self.freq
        days = pd.date_range(start, last + self.freq, freq=self.freq, unit=self.unit)
        found = self._localized(days)
        if self._is_of_whole_days and stored(self._bounds(found))[-2] > stored(ends)[-1]:
            found = found[:-1]
        return found[1:] if label == "right" else found[:-1]

    def _bounds(self, labels: pd.DatetimeIndex) -> pd.DatetimeIndex:
        """Return where buckets begin and end, given their labels: the ends of days for some rules."""
        if not self._ends_days:
            return labels
        moment = pd.Timedelta(1, self.unit).as_unit(self.unit)
        ends = labels.tz_localize(None) + pd.Timedelta(1, "D").as_unit(self.unit) - moment
        last = np.zeros(len(ends), np.bool_)
        return ends.tz_localize(self.zone, ambiguous=last, nonexistent="shift_backward")

    def _edges(self, first: int, last: int) -> np.ndarray:
        """Return where buckets start and the last one ends, as numbers."""
        edges = pd.DatetimeIndex(self._labels(first, last, "left"), freq=None)
        return stored(self._bounds(edges.append(self._labels(first, last, "right")[-1:])))

    @lru_cache(maxsize=256)  # noqa: B019 (of buckets, which are few and small)
    def _left_edge(self, first: int) -> int:
        """Return the left edge of the first bucket, for buckets of one width."""
        origin = int(self._origins(first, lambda first: self._day_starts([first])[0]))
        return origin + (first - (self.closed == "right") - origin) // self.width * self.width

    def _start(self, first: int) -> int:
        """Return the first moment that is in the first bucket, for buckets of one width."""
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
            if high - low > len(times) // _FEW or len(times) < _AT_ONCE:
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
        start = self._origins(
            firsts, lambda firsts: library.xp.asarray(self._day_starts(library.fetch(firsts)()))
        )
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
        labels = library.xp.asarray(stored(one._labels(low, high, self.label)))
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

    def _origins(self, firsts: Values, day_starts: Callable[[Any], Any]) -> Any:
        """Return the times from which buckets of one width are counted, given first times and a function for days."""
        moment = pd.Timedelta(1, self.unit)
        offset = 0 if self.offset is None else self.offset // moment
        origin = self.origin
        if origin == "epoch":  # by the clock of the zone
            origin = pd.Timestamp("1970-01-01", tz=self.zone)
        if isinstance(origin, pd.Timestamp):
            return int(origin.as_unit(self.unit).asm8.view(INT64)) + offset
        if firsts is None:
            return offset
        if origin == "start":
            return firsts + offset
        return (firsts - firsts % self._day if self.zone is None else day_starts(firsts)) + offset

    def _day_starts(self, times: Iterable[int]) -> np.ndarray:
        """Return the starts of the days of times in their zone."""
        return stored(self._localized(self._times(*times).tz_localize(None).normalize()))

    def between(self, library: Library, labels: Values) -> Values | None:
        """Return the labels of all units from the first to the last of some; None for buckets of one width."""
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

    def check_memory(self, rows: int, first: int, last: int, columns: int = 1) -> None:
        """Raise a MemoryError if `rows` buckets, of times from the first to the last, do not fit into memory."""
        try:
            check_memory(rows, 8 * (columns + 2), available)
        except MemoryError as error:
            begin, end = self._times(first, last)
            raise MemoryError(
                f"resample with rule {self.freq.freqstr!r}, of times from {begin} to {end}: {error}; take a longer "
                f"rule, or leave out times that lie so far apart"
            ) from None

    def labels(self, span: Span, start: int, stop: int) -> pd.DatetimeIndex:
        """Return the labels of the buckets from `start` to `stop`, given the first and last time."""
        if span.first is None or span.last is None:
            zoned = self.zone is not None
            dtype = pd.DatetimeTZDtype(self.unit, self.zone) if zoned else f"M8[{self.unit}]"
            return pd.DatetimeIndex([], dtype=dtype, freq=self.freq)
        if not self.is_fixed:
            return self._labels(span.first, span.last, self.label)[start:stop]
        bucket = start + (self.label == "right")
        begin = np.int64(self._left_edge(span.first) + bucket * self.width)
        at = pd.Timestamp(begin.view(f"M8[{self.unit}]"))
        if self.zone is not None:
            at = at.tz_localize("UTC").tz_convert(self.zone)
        return pd.date_range(at, periods=stop - start, freq=self.freq, unit=self.unit)


def fixed_width(freq: Any) -> pd.Timedelta:
    """Return the width of the buckets of a rule."""
    return pd.Timedelta(freq.n, "D") if isinstance(freq, Day) else pd.Timedelta(freq)


def without_broken_rule(labels: pd.DatetimeIndex) -> pd.DatetimeIndex:
    """Return labels without their rule if the label that follows the last one does not exist.

    pandas computes that label before it joins indexes, and raises if clocks skip that midnight or show it twice.
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
