"""Answers of groups brought to their rows, and the numbers of groups."""

from __future__ import annotations

from typing import Any

from ...frames.keys import By, group_ids_of
from ...frames.protocol import Library
from ...frames.registry import columns_of, library_of, names_of
from ...frames.types import Array, Column, Frame, Values
from ..core.groups import INT64


def _places(library: Library, rows: Frame, groups: Frame, by: By) -> Values:
    """Return the place of the group of each row among groups, whose index has their keys; -1 for rows in none."""
    series, count = by.series(library, rows), len(groups)
    arrays = []
    for level, column in enumerate(series):
        keys = library.array(library.index_level(groups, level))
        if keys.dtype != column.dtype:  # labels of objects may have become strings
            keys = library.cast(keys, column.dtype)
        arrays.append(library.concatenate([keys, library.array(column)]))
    ids = group_ids_of(library, series, arrays)
    places = library.xp.full(ids.groups, -1, INT64)
    places[ids.array[:count]] = library.xp.arange(count, dtype=INT64)
    return places[ids.array[count:]]


def broadcast(rows: Frame, groups: Frame, by: By, nullable: bool) -> Any:
    """Return the answers of the group of each row, null where it is in none.

    Parameters
    ----------
    rows : frame or series
    groups : frame or series
        The answers, with keys as index.
    by : By
    nullable : bool
        Whether answers need dtypes that have a null.
    """
    library = library_of(rows)
    with library.acquire(rows):
        places = _places(library, rows, groups, by)

        def of_rows(column: Column) -> Array:
            array = library.array(column)
            array = library.to_nullable(array) if nullable else array
            return library.take(array, places, nulls=True)

        arrays, index = [of_rows(column) for column in columns_of(groups)], library.index(rows)
        names = names_of(groups)
        if groups.ndim == 1:
            return library.series(arrays[0], index, names[0])
        return library.frame(arrays, names, index, groups)


def group_numbers(rows: Frame, groups: Frame, by: By, nullable: bool, ascending: bool) -> Any:
    """Return the number of the group of each row, counted from the first group or from the last; see `broadcast`."""
    library = library_of(rows)
    with library.acquire(rows):
        places = _places(library, rows, groups, by)
        missing = places < 0
        array = library.from_integers(places if ascending else len(groups) - 1 - places)
        array = library.set_null(array, missing) if bool(missing.any()) else array
        array = library.to_nullable(array) if nullable else array
        return library.series(array, library.index(rows))
