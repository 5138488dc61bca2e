"""Records: rows whose value is larger, or smaller, than all before them, and the labels of these rows."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from typing import Any

from ...frames.registry import columns_of, library_of, names_of
from ...frames.types import Frame
from ..predicates.filter import truth


def masked_columns(frame: Frame, names: Sequence[Hashable]) -> Any:
    """Return a frame or series whose columns of these names have a null, and hold all values exactly."""
    library, arrays = library_of(frame), []
    for name, column in zip(names_of(frame), columns_of(frame), strict=True):
        array = library.array(column)
        arrays.append(library.to_masked(array) if name in names else array)
    return library.rebuild(frame, arrays)


def labels_of_records(frame: Frame, before: Frame, largest: bool) -> Any:
    """Return a frame or series with the labels of records instead of their values, and null instead of others.

    Parameters
    ----------
    frame : frame or series
        Columns that `before` does not have stay as they are.
    before : frame or series
        The largest value, or the smallest one, before each row; null where there is none.
    largest : bool
        Whether a record is larger than all before it; else it is smaller.
    """
    library = library_of(frame)
    rows = library.range_index(0, len(frame))
    labels = library.array(library.index_level(frame, 0))
    known = dict(zip(names_of(before), columns_of(before), strict=True))
    arrays = []
    for name, column in zip(names_of(frame), columns_of(frame), strict=True):
        array = library.array(column)
        if name in known:
            value: Any = library.series(array, rows)
            limit: Any = library.series(library.array(known[name]), rows)
            beyond = truth(value > limit if largest else value < limit)
            first = library.valid(column) & ~library.valid(known[name])
            array = library.set_null(labels, ~(beyond | first))
        arrays.append(array)
    return library.rebuild(frame, arrays)


def null_below(labels: Frame, counts: Frame, least: int) -> Any:
    """Return labels, null where fewer values were counted."""
    library, arrays = library_of(labels), []
    for column, count in zip(columns_of(labels), columns_of(counts), strict=True):
        enough = library.floats(count) >= least
        arrays.append(library.set_null(library.array(column), ~enough))
    return library.rebuild(labels, arrays)
