"""Rolling windows: which rows the window of each row has, and statistics and operators over them."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from dataclasses import replace
from functools import lru_cache, partial
from typing import Any, Protocol

import numpy as np

from ... import kernels
from ...frames.keys import missing_in
from ...frames.messages import name_columns, naming
from ...frames.registry import library_of
from ...frames.types import Column, DType, GroupIds, Values
from ...kernels import BUILT_IN, BoundWindows, Operator, RowWindows
from ...kernels.bounded_cache import BoundedCache
from ...kernels.compiler.pack import written
from ...kernels.cpu.windows.rolling import bound_rolling
from ...kernels.late_dataclass import dataclass
from ...kernels.operators.segments import segmented
from ...kernels.rolling import window_starts
from ...kernels.windows import Windows
from ...kernels.windows_by_code import rolling_by_code, rolls_by_code
from ..core.groups import INT64
from ..core.plans import OfArray, Planned, PlannedOperation
from ..scan.kernel_scan import wrapped
from ..scan.plan import combined_plan
from ..statistics.groups import FLOAT64
from ..statistics.inputs import (
    FEW,
    NUMBERS,
    VALUES,
    Inputs,
    all_finite,
    check_columns,
    holds_integers,
    may_have_nulls,
    no,
    read,
    yes,
)
from ..statistics.table import WINDOWS, window_operator
from ..statistics.windows import WindowStatistic
from ..time.time_column import TimeColumn
from .exact import DecimalWindow, ExactMean, exact_operator, exact_window, holds_times
from .halo import RowExtent, TimeExtent, WindowExtent
from .surroundings import ColumnOverlap, WindowRows

_ADD = BUILT_IN["add"]


class Shape(Protocol):
    """Which rows are in the window of each row."""

    @property
    def plans(self) -> BoundedCache[Any, Any]:
        """Operations over such windows, and what else was found out."""

    @property
    def extent(self) -> WindowExtent: ...

    @property
    def until_row(self) -> RowWindows | None:
        """The windows, if each ends with its own row, so that only rows before may be of another group; else None."""

    @property
    def has_row(self) -> bool:
        """Whether each window has its own row."""

    def windows(self, rows: WindowRows) -> Windows:
        """Return the windows of the wanted rows."""


@dataclass(frozen=True)
class RowShape(Planned):
    """Windows of a number of rows.

    Parameters
    ----------
    before, after : int
        How many rows before each row and behind it; negative numbers leave rows out.
    """

    before: int
    after: int = 0

    @property
    def extent(self) -> RowExtent:
        return RowExtent(max(self.before, 0), max(self.after, 0))

    @property
    def of_group(self) -> RowWindows:
        """The windows in rows of one group."""
        return RowWindows(self.before, self.after)

    @property
    def until_row(self) -> RowWindows | None:
        return None if self.after else self.of_group

    @property
    def has_row(self) -> bool:
        return self.before >= 0 and self.after >= 0

    def windows(self, rows: WindowRows) -> Windows:
        if rows.groups is None:
            return _row_windows(self.before, self.after, rows.first, rows.count)
        return BoundWindows(*rows.groups.bounds, self.before, self.after)


_row_windows = lru_cache(maxsize=256)(RowWindows)


@dataclass(frozen=True)
class TimeShape(Planned):
    """Windows of a duration, in the unit of the times.

    Parameters
    ----------
    time_column : TimeColumn
    back : int
        How much earlier a row may be.
    ahead : int or None
        How much later a row may be; None if windows end with the row itself.
    itself : bool
        Whether the row itself is in its window, if windows end there.
    """

    time_column: TimeColumn
    back: int
    ahead: int | None = None
    itself: bool = True
    until_row = None

    @property
    def has_row(self) -> bool:
        return self.itself or self.ahead is not None

    @property
    def extent(self) -> TimeExtent:
        return TimeExtent(self.time_column, self.back, self.ahead)

    def windows(self, rows: WindowRows) -> Windows:
        assert rows.times is not None
        xp, times, wanted = rows.library.xp, rows.times, rows.wanted
        first, last = (None, None) if rows.groups is None else rows.groups.bounds
        starts = window_starts(times, self.back, starts=first)
        if self.ahead is None and self.itself:
            return BoundWindows(starts[wanted], None, after=rows.first)
        if self.ahead is None:  # rows of the same time are left out, too
            stops = window_starts(times, 0, starts=first)
        else:  # the same, looked up from behind
            ends = None if last is None else xp.ascontiguousarray(rows.length - last[::-1])
            behind = window_starts(-times[::-1], self.ahead, starts=ends)
            stops = rows.length - behind[::-1]
        return BoundWindows(starts[wanted], xp.ascontiguousarray(stops[wanted]))


def filled(shape: Shape, windows: Windows, length: int, count: int, least: int) -> slice | None:
    """Return which windows have at least `least` rows, of `count` windows of as many rows; None if they are bounds."""
    if least <= shape.has_row:
        return slice(0, count)
    if isinstance(windows, BoundWindows):
        return None
    first = windows.first
    if min(windows.before + windows.after + 1, length) < least:
        return slice(0, 0)
    # only windows at the ends have fewer rows
    start = min(max(least - windows.after - 1 - first, 0), count)
    stop = min(length + windows.before + 1 - least - first, count)
    return slice(start, max(stop, start))


@lru_cache(maxsize=256)
def _few_windows(before: int, after: int, least: int, count: int) -> tuple[RowWindows, int, int]:
    """Return the windows of a number of rows, and which of them have at least `least` rows, from one to another."""
    windows = RowWindows(before, after, 0, count)
    known = filled(RowShape(before, after), windows, count, count, least)
    assert known is not None
    return windows.within(count), known.start, known.stop


class Windowed(PlannedOperation):
    """The base of operations over windows."""

    shape: Shape
    min_periods: int

    @property
    def extent(self) -> WindowExtent:
        return self.shape.extent

    def takes_group_ids(self, codes: GroupIds) -> bool:
        return isinstance(self.shape, RowShape) and rolls_by_code(
            codes.array, codes.groups, self.shape.of_group
        )


@dataclass(frozen=True)
class RollingStatistic(Windowed):
    """A statistic of the rows in each window, in float64; picked integers, times and decimals stay so, and are exact.

    Parameters
    ----------
    name : str
        A key of `WINDOWS`.
    shape : Shape
    min_periods : int
        Observations that a window needs, else its answer is null.
    options : tuple of pairs
        Of the statistic.
    """

    name: str
    shape: Shape
    min_periods: int
    options: tuple[tuple[str, Any], ...] = ()

    @property
    def label(self) -> str:
        return f"rolling-{self.name}"

    def dtype(self, columns: Sequence[Column]) -> DType:
        check_columns(self.label, columns, WINDOWS[self.name].inputs)
        return np.dtype(np.float64)

    def plan(self, columns: Sequence[Column]) -> Windowed:
        column, picks = columns[0], WINDOWS[self.name].picks
        exact = None if self.options else exact_window(self.name, column)
        if exact is not None:
            return ExactWindow(exact, self.shape, self.min_periods)
        if picks is None or not (holds_integers(column) or holds_times(column)):
            return self
        return RollingOperator(picks, self.shape, max(self.min_periods, 1))

    def _way(self) -> tuple[WindowStatistic, Operator, Operator, int | None]:
        """Return the statistic, its operator and one for windows without nulls, and how many rows have an answer."""
        statistic, options = WINDOWS[self.name], dict(self.options)
        op = window_operator(self.name, **options)
        has_rows = bool(self.min_periods) or self.shape.has_row
        fast = None if options or not has_rows else statistic.uncounted
        enough = None if statistic.enough is None else statistic.enough(**options)
        return statistic, op, fast or op, enough

    def bound(self, column: Column) -> OfArray | None:
        statistic, op, fast, enough = self._way()
        shape = self.shape
        if self.planned([column])[0] is not self:
            return super().bound(column)
        if statistic.inputs != VALUES or column.dtype.kind not in NUMBERS:
            return None
        if not isinstance(shape, RowShape) or op.check:
            return None
        of_shape = shape.before, shape.after, max(self.min_periods, enough or 0)
        counts = statistic.counts and "reproducible" not in dict(self.options)
        counted = partial(_counted, op, VALUES, self.min_periods, counts)
        roll = bound_rolling(fast, FLOAT64)

        def answer(array: np.ndarray) -> Any:
            count, values = len(array), array.astype(np.float64, copy=False)
            if count >= FEW:
                return None
            windows, start, stop = _few_windows(*of_shape, count)
            if np.count_nonzero(np.isfinite(values)) < count:
                return kernels.rolling(counted(), values, windows)
            out = roll(values, windows)
            out[:start] = out[stop:] = np.nan
            return out

        return answer

    def apply(self, columns: Sequence[Column], rows: WindowRows) -> Any:
        statistic, op, fast, enough = self.plans.get("way") or self.plans.store("way", self._way())
        inputs = read(columns, statistic.inputs)
        counts = statistic.counts and "reproducible" not in dict(self.options)
        values = inputs if op.inputs > 1 else inputs[0]
        if rows.group_ids is not None:
            assert isinstance(self.shape, RowShape)
            codes, own = rows.group_ids, self.shape.of_group
            counted = _counted(op, statistic.inputs, self.min_periods, counts)
            return rows.floats(rolling_by_code(counted, codes.array, values, codes.groups, own))
        if rows.groups is not None and self.shape.until_row is not None:
            # a window that would reach into the group before begins at the head of its group
            counted = _counted_from_heads(op, statistic.inputs, self.min_periods, counts)
            inputs = rows.groups.heads, *inputs
            return rows.floats(kernels.rolling(counted, inputs, self.shape.until_row))
        windows = self.shape.windows(rows)
        known = filled(
            self.shape, windows, rows.length, rows.count, max(self.min_periods, enough or 0)
        )
        if known is not None:
            finite = all_finite(inputs, statistic.inputs)
            if finite is yes and fast.inputs == 1 and not isinstance(windows, RowWindows):
                # few rows in memory
                roll = self.plans.get("roll") or self.plans.store(
                    "roll", bound_rolling(fast, FLOAT64)
                )
                return rows.floats(roll(values, windows))
            ahead = finite not in (yes, no) and not may_have_nulls(columns)
            if ahead or finite():
                out = kernels.rolling(fast, values, windows)  # while a GPU may look for NaN
                if not ahead or finite():
                    out[: known.start] = out[known.stop :] = np.nan
                    return rows.floats(out, None if enough is None else known)
        counted = _counted(op, statistic.inputs, self.min_periods, counts)
        return rows.floats(kernels.rolling(counted, values, windows))


@lru_cache(maxsize=64)
def _counted(op: Operator, inputs: Inputs, least: int, counts: bool) -> Operator:
    """Return the operator of a statistic that is null for fewer observations than `least`.

    Its state begins with the number of observations; with `counts`, that of `op` does so already.
    """
    combine, is_tuple = op.combine, isinstance(op.identity, tuple)
    lower: Any = op.lower
    if counts:
        return replace(op, lower=lambda s: lower(s) if s[0] >= least else np.nan)
    named = [f"x{i}" for i in range(op.inputs)]
    values = [x for x, (_, what) in zip(named, inputs, strict=True) if what == "values"]
    observed = " and ".join(f"{x} - {x} == 0.0" for x in values) or "True"
    given = ", ".join(named)
    state = given if op.lift is None else f"{'*' * is_tuple}lift({given})"
    text = f"lambda lift: lambda {given}: (1.0 if {observed} else 0.0, {state})"
    lift = eval(written(text))(op.lift)

    def combine_scalar(a: Any, b: Any) -> Any:
        return (a[0] + b[0], combine(a[1], b[1]))

    def combine_tuple(a: Any, b: Any) -> Any:
        return (a[0] + b[0], *combine(a[1:], b[1:]))

    def element(s: Any) -> Any:
        return s[1] if s[0] >= least else np.nan

    def lowered(s: Any) -> Any:
        return lower(s[1]) if s[0] >= least else np.nan

    def lowered_tuple(s: Any) -> Any:
        return lower(s[1:]) if s[0] >= least else np.nan

    return Operator(
        combine_tuple if is_tuple else combine_scalar,
        (0.0, *op.identity) if is_tuple else (0.0, float(op.identity_for(np.dtype(np.float64)))),
        lift,
        lowered_tuple if is_tuple else element if lower is None else lowered,
        name=f"counted({op.name})",
        check=op.check,
    )


@lru_cache(maxsize=64)
def _counted_from_heads(op: Operator, inputs: Inputs, least: int, counts: bool) -> Operator:
    """Return the operator of `_counted` that begins anew at heads of groups; flags for these are its first input."""
    return segmented(_counted(op, inputs, least, counts))


@dataclass(frozen=True)
class RollingOperator(Windowed):
    """The elements of each window, combined by an operator."""

    op: Operator
    shape: Shape
    min_periods: int
    label = "rolling-scan"

    def dtype(self, columns: Sequence[Column]) -> DType:
        try:
            plan = combined_plan(library_of(columns[0]), self.op, columns)
        except (TypeError, ValueError) as error:
            name_columns(error, self.label, columns)
            raise
        return plan.library.nullable(plan.answers) if self.min_periods else plan.answers

    def plan(self, columns: Sequence[Column]) -> Windowed:
        exact = exact_operator(self.op, columns[0])
        return self if exact is None else ExactWindow(exact, self.shape, self.min_periods)

    def apply(self, columns: Sequence[Column], rows: WindowRows) -> Any:
        library = rows.library
        plan = combined_plan(library, self.op, columns)
        pairs = zip(plan.layouts, columns, strict=True)
        views = library.resolved([layout.view(library.array(c)) for layout, c in pairs])
        values: Any = views[0].values if len(views) == 1 else tuple(v.values for v in views)
        valid, nulls = None, None
        if any(view.nulls is not None for view in views):
            missing = missing_in(views)
            valid, nulls = ~missing, kernels.byte_mask(missing)
        out = self.combined(plan.meant, values, rows, nulls=nulls, dtype=plan.kernel_dtype)
        array = wrapped(plan, out, None, columns)
        if self.min_periods:
            with naming(self.op.name, columns):
                array = library.set_null(array, self._missing(rows, valid))
        return rows.returned(array)

    def combined(self, op: Operator, values: Values, rows: WindowRows, **options: Any) -> Values:
        """Return the elements of each window, combined."""
        if rows.group_ids is None:
            return kernels.rolling(op, values, self.shape.windows(rows), **options)
        assert isinstance(self.shape, RowShape)
        codes, own = rows.group_ids, self.shape.of_group
        return rolling_by_code(op, codes.array, values, codes.groups, own, **options)

    def _missing(self, rows: WindowRows, valid: Values | None) -> Values:
        """Return which windows have too few observations; `valid` says which rows are observations, None if all are."""
        if valid is None and rows.group_ids is not None and self.min_periods > self.shape.has_row:
            valid = rows.library.xp.ones(rows.length, np.bool_)
        if valid is not None:
            counts = self.combined(_ADD, valid.astype(np.int32), rows, dtype=INT64)
            return counts < self.min_periods
        windows = self.shape.windows(rows)
        known = filled(self.shape, windows, rows.length, rows.count, self.min_periods)
        if known is None:
            starts, stops = windows.limits(rows.library.xp.arange(rows.count), rows.length)
            return stops - starts < self.min_periods
        missing = rows.library.xp.ones(rows.count, bool)
        missing[known] = False
        return missing


@dataclass(frozen=True)
class ExactWindow(Windowed):
    """A statistic of the times or decimals of each window."""

    exact: ExactMean | DecimalWindow
    shape: Shape
    min_periods: int
    label = "rolling-exact"

    def dtype(self, columns: Sequence[Column]) -> DType:
        return self.exact.dtype(columns[0])

    def apply(self, columns: Sequence[Column], rows: WindowRows) -> Any:
        combine = partial(RollingOperator(_ADD, self.shape, 0).combined, rows=rows)
        return rows.returned(self.exact.answer(columns[0], combine, self.min_periods))


@dataclass(frozen=True)
class RollingColumns(ColumnOverlap):
    """An operation over windows of each column, except for one column that stays as it is.

    Parameters
    ----------
    beside : hashable, optional
        The name of that column: of the times.
    """

    beside: Hashable = None

    @property
    def key_columns(self) -> tuple[Hashable, ...]:
        return () if self.beside is None else (self.beside,)
