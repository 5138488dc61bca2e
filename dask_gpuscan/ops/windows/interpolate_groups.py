"""Nulls of groups filled from the values around them, which two fills, forward and backward, bring to each row."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from typing import Any

import numpy as np

from ...frames.protocol import Library
from ...frames.registry import column_of, library_of, names_of, stored_numbers, unused_name
from ...frames.types import ArrayModule, Column, Frame, Values
from ..core.groups import INT64
from ..statistics.groups import FLOAT64
from .interpolate import NOWHERE, Interpolate, exact_times, time_on_line


def append_places(frame: Frame, names: Sequence[Hashable], number: Hashable) -> Any:
    """Return a frame with one more column for each name: the row's number in its group, null where that column is."""
    library = library_of(frame)
    columns, numbers = [column_of(frame, name) for name in names], column_of(frame, number)
    for column in columns:
        missing = library.missing(column)
        place = library.to_masked(library.array(numbers))
        if missing is not None:
            place = library.set_null(place, missing)
        title = unused_name("place", [str(name) for name in names_of(frame)])
        frame = library.append(frame, library.series(place, library.index(frame)), title)
    return frame


def interpolate_rows(
    frame: Frame,
    before: Any,
    after: Any,
    names: Sequence[Hashable],
    number: Hashable,
    places: Sequence[Hashable],
    fill: Interpolate,
    null_keys: bool,
) -> Any:
    """Return columns whose nulls are replaced by points on lines between the values around them.

    Parameters
    ----------
    frame, before, after : frame
        Rows, and the same rows filled forward and backward within groups.
    names : sequence
        The columns of the answer.
    number : name
        The column of the number of each row in its group, null in rows that are in no group.
    places : sequence
        The columns that number rows with values, one a name.
    fill : Interpolate
        Which nulls are filled.
    null_keys : bool
        Whether rows may be in no group, so that answers need dtypes that have a null.
    """
    library = library_of(frame)
    numbers = column_of(frame, number)
    ungrouped = library.missing(numbers)
    arrays = []
    for name, place in zip(names, places, strict=True):
        column = column_of(frame, name)
        sides = [(column_of(side, name), column_of(side, place)) for side in (before, after)]
        array = _filled(library, column, stored_numbers(numbers), sides, fill)
        if ungrouped is not None:
            array = library.set_null(array, ungrouped)
        arrays.append(library.to_nullable(array) if null_keys else array)
    return library.frame(arrays, list(names), library.index(frame), frame)


def _filled(
    library: Library,
    column: Column,
    numbers: Values,
    sides: Sequence[tuple[Any, Any]],
    fill: Interpolate,
) -> Any:
    missing = library.missing(column)
    if missing is None:
        return fill.converted(column, None, None, None)
    xp, rows, is_exact = library.xp, library.xp.flatnonzero(missing), exact_times(column)
    at, known, places, values = numbers[rows], [], [], []
    for value, place in sides:
        known.append(library.valid(place)[rows])
        places.append(stored_numbers(place)[rows])
        own = stored_numbers(value)[rows]
        dtype = INT64 if is_exact else xp.result_type(own.dtype, FLOAT64)
        values.append(own.astype(dtype, copy=False))
    since = xp.where(known[0], at - places[0], NOWHERE)
    until = xp.where(known[1], places[1] - at, NOWHERE)
    found = xp.where(known[0], values[0], values[1])
    between = xp.flatnonzero(known[0] & known[1])
    ends = [(place[between], value[between]) for place, value in zip(places, values, strict=True)]
    found[between] = (time_on_line if is_exact else _on_line)(xp, at[between], *ends)
    return fill.converted(column, rows, found, rows[~fill.reached(since, until)])


def _on_line(
    xp: ArrayModule, x: Values, left: tuple[Values, Values], right: tuple[Values, Values]
) -> Values:
    """Return the values at places on lines between two values each, with the rounding of `numpy.interp`."""
    with np.errstate(invalid="ignore"):  # infinities
        slope = (right[1] - left[1]) / (right[0] - left[0])
        found = slope * (x - left[0]) + left[1]
        found = xp.where(xp.isnan(found), slope * (x - right[0]) + right[1], found)
    return xp.where(left[1] == right[1], left[1], found)
