"""Key columns: as arrays that kernels compare, and as values that partitions tell each other.

Columns of fixed width are compared as they are; others by the codes that their library gives equal values within
one partition. Between partitions values themselves are compared, never codes or hashes.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from numbers import Number
from typing import Any

import numpy as np
import pandas as pd

from .. import kernels
from ..kernels.messages import not_among, shown
from .key_values import Missing, key_value
from .protocol import Column, Frame, HostRow, Library, Values, View
from .registry import column_of, library_of, names_of


@dataclass(frozen=True)
class By:
    """Names of the columns, and of levels of the index, that are keys; without names a series is its own key."""

    columns: tuple[Hashable, ...]
    levels: tuple[Hashable, ...] = ()
    """Those among `columns` that are levels of the index."""

    @property
    def names(self) -> list[Hashable]:
        """Return the names of those that are no levels of the index."""
        return [name for name in self.columns if name not in self.levels]

    def series(self, frame: Any) -> list[Column]:
        """Return the keys of a frame or series, in order."""
        return [self.column(frame, name) for name in self.columns] or [frame]

    def column(self, frame: Frame, name: Hashable) -> Column:
        """Return a column of a frame, or the level of its index that is a key."""
        if name in self.levels:
            library = library_of(frame)
            return library.index_level(frame, library.index_names(frame).index(name))
        column: Column = column_of(frame, name)
        return column

    def may_be_null(self, frame: Frame, by_dtype: bool) -> bool:
        """Tell whether any key is null; by its dtype, whether any can be."""
        series = self.series(frame)
        if by_dtype:
            return any(library_of(c).holds_null(c.dtype) for c in series)
        return any_null(series) is not None


def check_by(meta: Any, by: Any, argument: str = "by") -> By:
    """Return the keys that a name or a list of names stands for.

    Raises
    ------
    TypeError
        If `by` is neither.
    ValueError
        For names that are not there, or that are there twice.
    """
    if _is_name(meta, by):
        by = [by]
    if not isinstance(by, (list, tuple)) or not all(map(is_name, by)):
        found = shown(by)
        raise TypeError(
            f"{argument} must be the name of a column or a list of names, found {found}; "
            f"assign other keys as columns first"
        )
    if not by:
        raise ValueError(f"{argument} must name at least one column")
    columns, index_names, levels = _columns(meta), library_of(meta).index_names(meta), []
    for name in by:
        if list(by).count(name) > 1 or columns.count(name) > 1:
            raise ValueError(f"{argument} names {shown(name)}, which is there twice")
        if name not in columns:
            if name is None or name not in index_names:
                known = [*columns, *(n for n in index_names if n is not None)]
                raise ValueError(f"{argument}={not_among(name, known)}")
            levels.append(name)
        elif name is not None and name in index_names:
            raise ValueError(
                f"{argument} names {shown(name)}, which is both a column and a level of the index"
            )
    return By(tuple(by), tuple(levels))


def is_name(given: object) -> bool:
    """Tell whether something can be the name of a column: arrays and frames cannot, though some are hashable."""
    ndim = getattr(given, "ndim", 0)
    return isinstance(given, Hashable) and not (isinstance(ndim, int) and ndim)


def _is_name(meta: Any, by: Any) -> bool:
    """Tell whether `by` is one name: a string or number, or anything else that is the name of a column."""
    if isinstance(by, (str, Number)):
        return True
    return by is not None and is_name(by) and by in _columns(meta)


def check_subset(meta: Any, subset: Any, argument: str = "subset") -> By:
    """Return the columns that tell rows apart: all of a frame, or those that are named."""
    if meta.ndim == 1:
        if subset is not None:
            raise TypeError(f"{argument} is for DataFrames, found {shown(subset)} for a Series")
        return By(())
    if subset is None:
        subset = names_of(meta)
        if not subset:
            raise ValueError(
                f"{argument} must name at least one column, found a frame without columns"
            )
    if isinstance(subset, (np.ndarray, pd.Index)):
        subset = list(subset)
    found = check_by(meta, subset, argument)
    if found.levels:
        raise ValueError(f"{argument}={not_among(found.levels[0], names_of(meta))}")
    return found


def _columns(meta: Any) -> list[Any]:
    return [] if meta.ndim == 1 else names_of(meta)


@dataclass(frozen=True)
class Keys:
    """Keys as kernels take them: one array a column, and where it is null."""

    arrays: list[Values]
    nulls: list[kernels.Nulls]

    def __repr__(self) -> str:
        dtypes = ", ".join(str(array.dtype) for array in self.arrays)
        return f"<Keys of {len(self.arrays[0])} rows: {dtypes}>"

    def head_flags(self) -> Values:
        """Return an array of bool that is True where a run of equal keys starts."""
        return kernels.head_flags(self.arrays, nulls=self.nulls)


@dataclass(frozen=True)
class Codes:
    """Keys as numbers: equal where keys are, from 0 to `groups` - 1."""

    array: Values
    groups: int

    def __repr__(self) -> str:
        return f"<Codes of {len(self.array)} rows in {self.groups} groups>"


def are_coded(series: Sequence[Column]) -> bool:
    """Tell whether some keys, such as text, are numbered before kernels see them, which takes longer than comparing."""
    return any(library_of(c).moved_layout(c.dtype) is None for c in series)


def key_arrays(series: Sequence[Column]) -> Keys:
    """Show key columns to the kernels; raises a TypeError for values that cannot be hashed."""
    arrays: list[Values] = []
    nulls: list[kernels.Nulls] = []
    for column in series:
        library = library_of(column)
        layout = library.moved_layout(column.dtype)
        if layout is None:
            values, null = library.codes(column)
        else:
            view = layout.raw(library.array(column))
            values, null = view.values, view.nulls
        arrays.append(values)
        nulls.append(null)
    return Keys(arrays, nulls)


@contextmanager
def named_keys(series: Sequence[Column]) -> Iterator[None]:
    """While keys are given codes together, let an error for values that cannot be hashed name their column."""
    try:
        yield
    except (TypeError, NotImplementedError):
        for column in series:
            library_of(column).codes(column)  # which knows its name
        raise


def any_null(series: Sequence[Column]) -> Values | None:
    """Return where any key is null, as an array of bool; None if none is."""
    null = None
    for column in series:
        missing = library_of(column).missing(column)
        if missing is not None:
            null = missing if null is None else null | missing
    return null


def missing_in(views: Sequence[View]) -> Values:
    """Return where any of several columns is null, as an array of bool."""
    missing = views[0].missing()
    for view in views[1:]:
        missing = missing | view.missing()
    return missing


@dataclass(frozen=True)
class BoundaryKey:
    """The keys of the first or last row of a partition, on the host: compared with the rows of its neighbours."""

    values: tuple[Hashable, ...]
    """Equal where keys are, for nulls and NaN too."""
    rows: tuple[HostRow, ...]
    """One for each key, to be put into a column again."""


def boundary_key(series: Sequence[Column], row: int) -> BoundaryKey:
    """Return the keys of a row."""
    rows = tuple(library_of(c).host_row(c, row) for c in series)
    return BoundaryKey(tuple(map(_value, rows)), rows)


def _value(row: HostRow) -> Hashable:
    value = row[0]
    if row.null_count if hasattr(row, "null_count") else value is pd.NA or pd.isna(row)[0]:
        return Missing.NULL
    return key_value(value.as_py() if hasattr(value, "as_py") else value)


FIRST_PROBE = 4096
"""Rows in which the end of a run is looked for first, before more are: a GPU takes no longer for them than for one."""


def last_head(library: Library, heads: Values) -> int | None:
    """Return the last row that is flagged as the start of a run, or None if the last few rows have none."""
    flags = library.fetch(heads[-FIRST_PROBE:])()[::-1]
    found = int(flags.argmax())
    return len(heads) - 1 - found if flags[found] else None


def last_start(series: Sequence[Column]) -> int:
    """Return the row where the last run of equal keys starts, without looking at more than it takes."""
    count, size = len(series[0]), FIRST_PROBE
    while True:
        begin = max(0, count - size)
        heads = _head_flags(series, begin, count)
        start = count - 1 - int(heads[::-1].argmax())
        if start > begin or not begin:
            return start
        size *= 8


def first_end(series: Sequence[Column]) -> int:
    """Return the row after the first run of equal keys."""
    count, size = len(series[0]), FIRST_PROBE
    while True:
        stop = min(size, count)
        later = _head_flags(series, 0, stop)[1:]
        end = int(later.argmax()) if len(later) else 0
        if len(later) and (end or bool(later[0])):
            return end + 1
        if stop == count:
            return count
        size *= 8


def _head_flags(series: Sequence[Column], start: int, stop: int) -> Values:
    """Tell of the rows from `start` to `stop` where runs of equal keys start; the first of them is a start."""
    return key_arrays([library_of(c).slice_column(c, start, stop) for c in series]).head_flags()
