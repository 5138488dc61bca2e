"""Nulls filled from the last value before them and the next one after: on a line between both, or as the one before.

A partition gets the nearest value on either side, how far away it is, and at which index value it lies.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from ...frames.messages import column_title
from ...frames.protocol import Library
from ...frames.registry import columns_of, library_of, stored_numbers
from ...frames.types import ArrayModule, Column, Frame, Values
from ...kernels.late_dataclass import dataclass
from ...kernels.messages import shown
from ..core.carry import OverlapCarry, Summary
from ..core.groups import INT64
from ..scan.overflow import check_exact
from ..statistics.groups import FLOAT64

NOWHERE = 2**61
"""The place of a value that does not exist."""

_FAR = 2**60
"""More rows than there are."""

_REACHED: dict[str, Callable[[Any, Any], Any]] = {
    "forward": lambda since, until: since,
    "backward": lambda since, until: until,
    "both": lambda since, until: since | until,
}
"""Which nulls are filled, by the direction, given whether a value is near enough before, and behind."""

DIRECTIONS = tuple(_REACHED)

_AREAS: dict[str | None, Callable[[Any, Any], Any]] = {
    None: lambda filled, between: filled,
    "inside": lambda filled, between: filled & between,
    "outside": lambda filled, between: filled & ~between,
}
"""Which of these remain, by the area, given whether there are values on both sides."""

AREAS = tuple(_AREAS)

BY_INDEX = ("index", "values", "time")
"""The methods that measure distances by the index; all mean the same."""

METHODS = ("linear", *BY_INDEX, "pad")


@dataclass(frozen=True)
class Nearest:
    """The value of a column that is nearest to a border, on one side of it."""

    rows: int
    """Rows between the border and the value; without a value, all rows."""
    value: Any = None
    """The value, as a row on the host; None if there is none."""
    x: Any = None
    """Its index value, as a number, where the index counts."""
    far: Any = None
    """The farthest value of the same index value, as a row on the host."""


@dataclass(frozen=True)
class Surroundings:
    """The nearest values in the partitions on one side."""

    columns: tuple[Nearest, ...]
    last: Any
    """The last index value, as a number; None without rows, or if the index does not count."""


@dataclass(frozen=True)
class NearestValues(Summary):
    """The summary of the partitions before or, with `behind`, of those behind."""

    method: str
    behind: bool

    def aggregate(self, partition: Frame) -> Surroundings:
        library = library_of(partition)
        with library.acquire(partition):
            xs = index_numbers(partition) if self.method in BY_INDEX else None
            columns = tuple(self._nearest(library, c, xs) for c in columns_of(partition))
            last = xs[-1].item() if xs is not None and len(xs) else None
        return Surroundings(columns, last)

    def _nearest(self, library: Library, column: Column, xs: Values | None) -> Nearest:
        count = len(column)
        row = library.seek_valid(column, from_end=not self.behind)()
        if row is None:
            return Nearest(count)
        rows = row if self.behind else count - 1 - row
        value = library.host_row(column, row)
        if xs is None:
            return Nearest(rows, value)
        x, far = xs[row].item(), row
        if self.behind:
            stop = int(library.xp.searchsorted(xs, xs[row : row + 1], side="right")[0])
            tied = library.slice_column(column, row, stop)
            far = row + (library.seek_valid(tied, from_end=True)() or 0)
        return Nearest(rows, value, x, value if far == row else library.host_row(column, far))

    def combine(self, aggregates: Sequence[Surroundings]) -> Surroundings:
        columns = zip(*(a.columns for a in aggregates), strict=True)
        lasts = [a.last for a in aggregates if a.last is not None]
        return Surroundings(tuple(map(_nearest_of, columns)), lasts[-1] if lasts else None)


def _nearest_of(parts: Sequence[Nearest]) -> Nearest:
    """Return the nearest value of several stretches of rows; the last one is next to the border."""
    rows, found = 0, None
    for part in reversed(parts):
        if part.value is None:
            rows += part.rows
        elif found is None:
            found = Nearest(rows + part.rows, part.value, part.x, part.far)
        elif found.x is not None and part.x == found.x:
            found = Nearest(found.rows, found.value, found.x, part.far)
        else:
            break
    return Nearest(rows) if found is None else found


def index_numbers(frame: Frame) -> Values:
    """Return the index of a frame or series as numbers.

    Raises
    ------
    ValueError
        If it has nulls, or decreases.
    """
    library = library_of(frame)
    level = library.index_level(frame, 0)
    if library.missing(level) is not None:
        raise ValueError(
            "index must have no nulls, as distances are taken from it; drop them first"
        )
    return stored_numbers(level)


def exact_times(column: Column) -> bool:
    """Return whether a column holds times of Arrow: exact, as pandas interpolates only its own, rounded as floats."""
    library = library_of(column)
    layout = library.layout(column.dtype)
    return column.dtype.kind in "mM" and layout is not None and not layout.nan_is_null


def time_on_line(
    xp: ArrayModule, x: Values, left: tuple[Values, Values], right: tuple[Values, Values]
) -> Values:
    """Return the times at places on lines between pairs of times, rounded down, by integers.

    Differences of times may not fit 64 bits. So each time is divided separately, and sums that wrap around wrap back.
    """
    step, apart = x - left[0], xp.maximum(right[0] - left[0], 1)
    whole = right[1] // apart - left[1] // apart
    rest = right[1] % apart - left[1] % apart
    return left[1] + whole * step + rest * step // apart


@dataclass(frozen=True)
class Interpolate(OverlapCarry):
    """Each null is filled from the values around it."""

    method: str = "linear"
    limit: int | None = None
    direction: str = "forward"
    area: str | None = None

    label = "interpolate"
    columnwise = keeps_index = True

    @property
    def before(self) -> NearestValues:
        return NearestValues(self.method, behind=False)

    @property
    def after(self) -> NearestValues:
        return NearestValues(self.method, behind=True)

    # --- before anything is computed --------------------------------------------------------------

    def check(self, frame: Frame) -> None:
        for column in columns_of(frame):
            self.dtype(column)
        if self.method in BY_INDEX:
            self._check_index(frame)

    def _check_index(self, frame: Frame) -> None:
        library = library_of(frame)
        names = library.index_names(frame)
        if len(names) > 1:
            raise ValueError(
                f"method={self.method!r} needs an index of one level, found {len(names)} levels; "
                f"method='linear' takes any index"
            )
        dtype = library.index_level(frame, 0).dtype
        has_layout = library.layout(dtype) is not None
        is_time = has_layout and not library.is_number(dtype)
        if self.method == "time" and not is_time:
            raise ValueError(
                f"method='time' needs an index of times, found dtype {dtype}; method='index' takes numbers too"
            )
        if not has_layout or dtype.kind == "c":
            raise TypeError(
                f"method={self.method!r} needs an index of numbers or times, found dtype {dtype}; "
                f"method='linear' takes any index"
            )

    def dtype(self, column: Column) -> Any:
        """Dtype of a filled column; raises a TypeError for one that cannot be interpolated."""
        library, dtype = library_of(column), column.dtype
        if self.method == "pad":
            return dtype
        layout = library.layout(dtype)
        if layout is not None and library.is_number(dtype):
            if not library.holds_null(dtype) or dtype.kind in "fc":
                return dtype
            if dtype.kind in "iu":
                return layout.result(FLOAT64, dtype)
        if layout is not None and dtype.kind in "mM":
            if self.method == "linear":
                return dtype
            raise TypeError(
                f"interpolate of {column_title(column)}: times are interpolated by method='linear' only, "
                f"found {shown(self.method)}"
            )
        raise TypeError(
            f"interpolate of {column_title(column)}: dtype {dtype} is not a number; choose numeric columns, "
            f"cast it with astype, or use method='pad'"
        )

    def meta(self, frame: Frame) -> Any:
        library = library_of(frame)
        empty = [library.empty(self.dtype(column)) for column in columns_of(frame)]
        return library.rebuild(library.no_rows(frame), empty)

    # --- the fill itself --------------------------------------------------------------------------

    def apply(
        self, partition: Frame, before: Surroundings | None, after: Surroundings | None
    ) -> Any:
        library, columns = library_of(partition), columns_of(partition)
        with library.acquire(partition):
            xs = None
            if self.method in BY_INDEX:
                xs = self._ordered(partition, before)
            sides = [
                [Nearest(0)] * len(columns) if side is None else side.columns
                for side in (before, after)
            ]
            arrays = [self._filled(c, xs, *near) for c, *near in zip(columns, *sides, strict=True)]
        return library.rebuild(partition, arrays)

    def _ordered(self, partition: Frame, before: Surroundings | None) -> Values:
        """Return the index as numbers; raises a ValueError if it decreases."""
        library, xs = library_of(partition), index_numbers(partition)
        last = None if before is None else before.last
        falls = last is not None and len(xs) and xs[0].item() < last
        if falls or not library.is_sorted(library.index(partition)):
            raise ValueError(
                f"index must not decrease, as method={self.method!r} takes distances from it; sort by it first, with "
                f"gpuscan.sort_index()"
            )
        return xs

    def _filled(self, column: Column, xs: Values | None, before: Nearest, after: Nearest) -> Any:
        library, count = library_of(column), len(column)
        xp, missing = library.xp, library.missing(column)
        if missing is None:
            return self.converted(column, None, None, None)
        rows, known = xp.flatnonzero(missing), xp.flatnonzero(~missing)
        places = xp.concatenate(
            [
                xp.asarray([-1 - before.rows if before.value is not None else -NOWHERE], INT64),
                known,
                xp.asarray([count + after.rows if after.value is not None else NOWHERE], INT64),
            ]
        )
        earlier = rows - xp.arange(len(rows), dtype=INT64)  # values before each null
        taken = places[earlier]
        since, until = rows - taken, places[earlier + 1] - rows
        filled = self.reached(since, until)
        if self.method == "pad":
            return self._padded(column, rows, xp.where(filled, taken, rows), before)
        found = self._on_lines(column, xs, rows, known, before, after)
        return self.converted(column, rows, found, rows[~filled])

    def reached(self, since: Values, until: Values) -> Values:
        """Return which nulls are filled, given how many rows each is behind a value, and before one."""
        most = min(self.limit or _FAR, _FAR)
        filled = _REACHED[self.direction](since <= most, until <= most)
        return _AREAS[self.area](filled, (since < _FAR) & (until < _FAR))

    def _on_lines(
        self,
        column: Column,
        xs: Values | None,
        rows: Values,
        known: Values,
        before: Nearest,
        after: Nearest,
    ) -> Values:
        """Return the values of some rows on the lines between known ones; behind the last known one, its value."""
        library, count = library_of(column), len(column)
        xp, values = library.xp, stored_numbers(column)[known]
        ends = [(before.x, before.value), (after.x, after.value), (after.x, after.far)]
        places = rows
        if xs is None:
            ends = [(-1 - before.rows, before.value), (count + after.rows, after.value)]
        else:
            places, known = xs[rows], xs[known]
        given = [(x, library.number(v, column.dtype)) for x, v in ends if v is not None]
        head = int(before.value is not None)
        points, numbers = ([pair[i] for pair in given] for i in (0, 1))
        points = _between(xp, points[:head], known, points[head:]).astype(FLOAT64)
        values = _between(xp, numbers[:head], values, numbers[head:])
        if not len(points):
            return xp.zeros(len(rows), FLOAT64)
        if exact_times(column):
            places, points = places.astype(INT64), points.astype(INT64)
            right = xp.searchsorted(points, places).clip(1, max(len(points) - 1, 1))
            right = xp.minimum(right, len(points) - 1)
            left = xp.maximum(right - 1, 0)
            ends = [(points[at], values[at].astype(INT64)) for at in (left, right)]
            return time_on_line(xp, places.clip(points[0], points[-1]), *ends)
        values = values.astype(np.result_type(values.dtype, FLOAT64), copy=False)
        return xp.interp(places.astype(FLOAT64), points, values)

    def converted(
        self, column: Column, rows: Values | None, found: Values | None, null: Values | None
    ) -> Any:
        """Return a column in the dtype of the answer, with found values in some rows, and null in others."""
        library, dtype = library_of(column), self.dtype(column)
        if rows is None and dtype == column.dtype:
            return library.copy(library.array(column))
        layout = library.layout(dtype)
        assert layout is not None
        own = stored_numbers(column)
        if own.dtype.kind in "iu" and dtype != column.dtype:
            known = own if rows is None else own[library.valid(column)]
            check_exact(known, f"interpolate of {column_title(column)}")
        out = own.astype(layout.storage(dtype))
        missing = None
        if rows is not None:
            assert null is not None
            assert found is not None
            # half floats, which are stored in more bits, are rounded once
            narrow = isinstance(dtype, np.dtype) and dtype.kind in "fc"
            out[rows] = found.astype(dtype) if narrow else found
            if len(null):
                missing = library.xp.zeros(len(column), np.bool_)
                missing[null] = True
        return layout.wrap(out, missing, dtype)

    def _padded(self, column: Column, rows: Values, taken: Values, before: Nearest) -> Any:
        """Return a column whose nulls in `rows` are taken from other rows, negative for the value before all rows.

        A null that stays null is the same one: there are several nulls among objects.
        """
        library = library_of(column)
        xp, array = library.xp, library.array(column)
        positions = xp.arange(len(column), dtype=INT64)
        positions[rows] = taken
        if before.value is not None:
            array = library.prepend(before.value, array)
            positions = xp.maximum(positions, -1) + 1
        return library.take(array, positions)


def _between(xp: ArrayModule, left: list[Any], values: Values, right: list[Any]) -> Values:
    """Return numbers with others from the host before and behind them."""
    parts = [xp.asarray(left, values.dtype), values, xp.asarray(right, values.dtype)]
    return xp.concatenate(parts) if left or right else values
