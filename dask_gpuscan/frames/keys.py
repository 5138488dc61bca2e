"""Key columns: as arrays that kernels compare, and as values that partitions exchange.

Columns of fixed width are compared as they are; others by the numbers that their library gives equal values within
one partition. Between partitions the values are compared, never these numbers or hashes.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterator, Sequence
from contextlib import contextmanager
from functools import reduce
from numbers import Number
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa

from .. import kernels
from ..kernels.factorize import first_met, flags_at
from ..kernels.late_dataclass import dataclass
from ..kernels.messages import not_among, shown
from .key_values import Missing, key_value
from .messages import ColumnError
from .protocol import Library
from .registry import library_of, names_of
from .types import Array, Column, Frame, GroupIds, HostRow, Values, View


@dataclass(frozen=True)
class By:
    """Names of the columns, and of levels of the index, that are keys; without names, a series is its own key."""

    columns: tuple[Hashable, ...]
    levels: tuple[Hashable, ...] = ()
    """Those among `columns` that are levels of the index."""

    @property
    def names(self) -> list[Hashable]:
        """Return the names of the keys that are columns."""
        return [name for name in self.columns if name not in self.levels]

    def series(self, library: Library, frame: Any) -> list[Column]:
        """Return the keys of a frame or series of a library, in order."""
        if not self.columns:
            return [frame]
        return [self.column(library, frame, name) for name in self.columns]

    def column(self, library: Library, frame: Any, name: Hashable) -> Column:
        """Return a column of a frame, or the level of its index that is a key."""
        if name in self.levels:
            return library.index_level(frame, library.index_names(frame).index(name))
        column: Column = frame if frame.ndim == 1 else library.column(frame, name)
        return column

    def check(self, frame: Frame) -> None:
        """Raise a TypeError for keys that cannot be hashed, if a frame has no rows: with rows, `apply` does."""
        if not len(frame):
            library = library_of(frame)
            key_arrays(library, self.series(library, frame))

    def may_be_null(self, frame: Frame, by_dtype: bool) -> bool:
        """Return whether any key is null; with `by_dtype`, whether any can be."""
        library = library_of(frame)
        series = self.series(library, frame)
        if by_dtype:
            return any(library.holds_null(c.dtype) for c in series)
        return any_null(library, series) is not None


def check_by(meta: Any, by: Any, argument: str = "by", levels_too: bool = True) -> By:
    """Return the keys for a name or a list of names: columns, and with `levels_too` levels of the index.

    Raises
    ------
    TypeError
        If `by` is neither.
    ValueError
        For a name that is missing, or that is there twice.
    """
    if is_one_name(meta, by):
        by = [by]
    if not isinstance(by, (list, tuple)) or not all(map(is_name, by)):
        found = shown(by)
        raise TypeError(
            f"{argument} must be the name of a column or a list of names, found {found}; "
            f"assign other keys as columns first"
        )
    if not by:
        raise ValueError(f"{argument} must name at least one column")
    columns, levels = _columns(meta), []
    index_names = library_of(meta).index_names(meta) if levels_too else []
    for name in by:
        if list(by).count(name) > 1 or columns.count(name) > 1:
            raise ValueError(f"{argument} names {shown(name)}, which is there twice")
        if name not in columns:
            if name is None or name not in index_names:
                known = [*columns, *(n for n in index_names if n is not None)]
                if meta.ndim == 1 and not known:
                    raise ColumnError(
                        f"{argument}={shown(name)} is not a column: a Series has none; give keys of its rows, "
                        f"or level= for labels"
                    )
                raise ColumnError(f"{argument}={not_among(name, known)}")
            levels.append(name)
        elif name is not None and name in index_names:
            raise ValueError(
                f"{argument} names {shown(name)}, which is both a column and a level of the index"
            )
    return By(tuple(by), tuple(levels))


def is_name(given: object) -> bool:
    """Return whether an object can be the name of a column: arrays, frames and <NA> cannot, even if hashable."""
    ndim = getattr(given, "ndim", 0)
    is_scalar = isinstance(given, Hashable) and given is not pd.NA
    return is_scalar and not (isinstance(ndim, int) and ndim)


def is_one_name(meta: Any, by: Any) -> bool:
    """Return whether `by` is one name: a string or number, or anything else that is the name of a column."""
    if isinstance(by, (str, Number)):
        return True
    return by is not None and is_name(by) and by in _columns(meta)


def check_subset(meta: Any, subset: Any, argument: str = "subset") -> By:
    """Return the columns that distinguish rows: all of a frame, or the named ones."""
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
        twice = [name for name in subset if subset.count(name) > 1]
        if twice:
            raise ValueError(
                f"column {shown(twice[0])} is there twice; name columns by {argument}="
            )
    if isinstance(subset, (np.ndarray, pd.Index)) and subset.ndim == 1:
        subset = list(subset)
    return check_by(meta, subset, argument, levels_too=False)


def _columns(meta: Any) -> list[Any]:
    return [] if meta.ndim == 1 else names_of(meta)


@dataclass(frozen=True)
class Keys:
    """Keys as kernels take them: an array and its nulls for each column."""

    arrays: list[Values]
    nulls: list[kernels.Nulls]

    def __repr__(self) -> str:
        dtypes = ", ".join(str(array.dtype) for array in self.arrays)
        return f"<Keys of {len(self.arrays[0])} rows: {dtypes}>"

    def head_flags(self) -> Values:
        """Return an array of bool that is True where a run of equal keys begins."""
        return kernels.head_flags(self.arrays, nulls=self.nulls)


def are_factorized(library: Library, series: Sequence[Column]) -> bool:
    """Return whether some keys, such as text, must be factorized for kernels, which takes long."""
    return None in [library.moved_layout(c.dtype) for c in series]


def key_arrays(library: Library, series: Sequence[Column]) -> Keys:
    """Return key columns as kernels take them; raises a TypeError for values that cannot be hashed."""
    arrays: list[Values] = []
    nulls: list[kernels.Nulls] = []
    for column in series:
        layout = library.moved_layout(column.dtype)
        if layout is None:
            values, null = library.factorize(column)
        else:
            view = layout.raw(library.array(column))
            values, null = view.values, view.nulls
        arrays.append(values)
        nulls.append(null)
    return Keys(arrays, nulls)


@contextmanager
def named_keys(series: Sequence[Column]) -> Iterator[None]:
    """Name the column in errors in the block for values that cannot be hashed; these name no one of several keys."""
    try:
        yield
    except (TypeError, NotImplementedError):
        for column in series:
            library_of(column).factorize(column)  # its error names the column
        raise


def group_ids_of(library: Library, series: Sequence[Column], arrays: Sequence[Array]) -> GroupIds:
    """Return the groups of rows with these keys, given as columns, which errors name, and as arrays."""
    try:
        return library.dense_group_ids(list(arrays))
    except (TypeError, NotImplementedError):
        with named_keys(series):
            raise


def any_null(library: Library, series: Sequence[Column]) -> Values | None:
    """Return where any key is null, as an array of bool; None if no key is."""
    null = None
    for column in series:
        missing = library.missing(column)
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
    """The keys of the first or last row of a partition, on the host, to compare with those of its neighbours."""

    values: tuple[Hashable, ...]
    """Objects that are equal where keys are, also for nulls and NaN."""
    rows: tuple[HostRow, ...]
    """One row of each key, to make columns of."""

    @classmethod
    def of(cls, rows: tuple[HostRow, ...]) -> BoundaryKey:
        """Return the keys that these rows hold."""
        return cls(tuple(map(_value, rows)), rows)


def boundary_key(library: Library, series: Sequence[Column], row: int) -> BoundaryKey:
    """Return the keys of a row."""
    return BoundaryKey.of(tuple([library.host_row(c, row) for c in series]))


def key_scalar(row: Any) -> Any:
    """Return the key of one row: an exact scalar of Arrow for columns of Arrow, else the library's value."""
    if isinstance(row, pd.Categorical) and row.codes[0] >= 0:
        row = row.categories.array[row.codes]
    if isinstance(getattr(row, "dtype", None), pd.ArrowDtype):
        row = row.__arrow_array__()
    return row[0]


def _value(row: HostRow) -> Hashable:
    value = key_scalar(row)
    is_null = not isinstance(value, pa.Scalar) and (value is pd.NA or pd.isna(row)[0])
    return Missing.NULL if is_null else key_value(value)


FIRST_PROBE = 4096
"""Rows in which the end of a run is looked for first: a GPU takes no longer for them than for one row."""


def last_head(library: Library, heads: Values) -> int | None:
    """Return the last row that is flagged as the start of a run; None if the last few rows have no flag."""
    flags = library.fetch(heads[-FIRST_PROBE:])()[::-1]
    found = int(flags.argmax())
    return len(heads) - 1 - found if flags[found] else None


def last_start(library: Library, series: Sequence[Column]) -> int:
    """Return the row where the last run of equal keys starts; looks at few rows first."""
    count, size = len(series[0]), FIRST_PROBE
    while True:
        begin = max(0, count - size)
        heads = _head_flags(library, series, begin, count)
        start = count - 1 - int(heads[::-1].argmax())
        if start > begin or not begin:
            return start
        size *= 8


def first_end(library: Library, series: Sequence[Column]) -> int:
    """Return the row after the first run of equal keys; looks at few rows first."""
    count, size = len(series[0]), FIRST_PROBE
    while True:
        stop = min(size, count)
        later = _head_flags(library, series, 0, stop)[1:]
        end = int(later.argmax()) if len(later) else 0
        if len(later) and (end or bool(later[0])):
            return end + 1
        if stop == count:
            return count
        size *= 8


def _head_flags(library: Library, series: Sequence[Column], start: int, stop: int) -> Values:
    """Return where runs of equal keys start from `start` to `stop`; the first row there is a start."""
    parts = [library.slice_column(column, start, stop) for column in series]
    return key_arrays(library, parts).head_flags()


def mixed_group_ids(
    arrays: Sequence[Array],
    ids_of: Callable[[Array, int], GroupIds | None],
    most: int,
) -> GroupIds | None:
    """Return group ids that are equal where the rows of all arrays are.

    None if an array has no ids by `ids_of`, or there would be more than `most`.
    """
    found: list[GroupIds] = []
    product = 1
    for array in arrays:
        one = ids_of(array, most)
        if one is None or product * one.groups > most:
            return None
        found.append(one)
        product *= one.groups

    def pair(a: GroupIds, b: GroupIds) -> GroupIds:
        dtype = _dtype_of(a.groups * b.groups)
        ids = a.array.astype(dtype, copy=False) * dtype.type(b.groups)
        ids += b.array.astype(dtype, copy=False)
        first, second = a.keys_of, b.keys_of
        keys_of = None
        if first is not None and second is not None:

            def keys_of(codes: Values) -> list[Array]:
                return [*first(codes // b.groups), *second(codes % b.groups)]

        return GroupIds(ids, a.groups * b.groups, a.ordered and b.ordered, keys_of=keys_of)

    return reduce(pair, found)


def shared_group_ids(
    arrays: Sequence[Array],
    others: Sequence[Array],
    ends_of: Callable[[Array], tuple[int, int] | None],
    ids_of: Callable[[Array, int, tuple[int, int]], GroupIds | None],
    most: int,
) -> tuple[GroupIds, GroupIds] | None:
    """Return group ids of rows of two kinds that are equal where the rows of all arrays are.

    Parameters
    ----------
    arrays, others : sequence of arrays
        The columns of the rows of either kind.
    ends_of : callable
        Returns the least and the greatest value of an array, in the wrong order if it has no rows; None if it has no
        ids.
    ids_of : callable
        Takes an array, the most ids, and its least and greatest value; returns its ids, or None.
    most
        As for `mixed_group_ids`.
    """
    ranges = []
    for pair in zip(arrays, others, strict=True):
        found = [ends for ends in map(ends_of, pair) if ends is not None]
        if len(found) < 2:
            return None
        ends = [(low, high) for low, high in found if low <= high] or [(0, 0)]
        ranges.append((min(low for low, _ in ends), max(high for _, high in ends)))

    def ids(arrays: Sequence[Array]) -> GroupIds | None:
        given = iter(ranges)
        return mixed_group_ids(arrays, lambda a, most: ids_of(a, most, next(given)), most)

    one, other = ids(arrays), ids(others)
    return None if one is None or other is None else (one, other)


def dense_ids(ids: GroupIds) -> GroupIds:
    """Return ids of the groups that have rows, in the order of their numbers, and the first row of each."""
    if ids.first_rows is not None:
        return ids
    codes, first = kernels.factorize(ids.array, ids.groups, check=False)
    return GroupIds(codes, len(first), ids.ordered, first)


def is_first_of_group(ids: GroupIds) -> Values:
    """Return whether each row is the first one of its group."""
    if ids.first_rows is None:
        return first_met(ids.array, ids.groups, check=False)
    return flags_at(ids.first_rows, len(ids.array), check=False)


def paired_group_ids(
    found: Sequence[GroupIds],
    most: int,
    number: Callable[[Values], GroupIds],
) -> GroupIds:
    """Return group ids that are equal where all of these are.

    If there would be more than `most`, `number` makes them from words of 8 bytes.
    """

    def pair(a: GroupIds, b: GroupIds) -> GroupIds:
        groups = a.groups * b.groups
        words = a.array.astype(np.uint64) * np.uint64(b.groups) + b.array.astype(np.uint64)
        if groups > most:
            return number(words)
        return GroupIds(words.view(np.int64).astype(_dtype_of(groups), copy=False), groups)

    return reduce(pair, found)


def _dtype_of(groups: int) -> np.dtype:
    """Return the smallest dtype of the ids of so many groups that kernels take."""
    return np.dtype(np.int32 if groups < 1 << 31 else np.int64)
