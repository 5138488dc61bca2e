"""Columns of lists: a scan, a reduction or a sort of the items of each list, and rows made of items.

The items of all lists are one column, and each list is a group of adjacent rows of it. A null list stays null, whatever
items it has in memory.
"""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from functools import lru_cache
from typing import Any, Protocol

from .. import kernels
from ..frames.messages import column_title, name_columns
from ..frames.protocol import Library
from ..frames.registry import column_of, columns_of, library_of, names_of
from ..frames.types import Array, Column, DType, Frame, Lists, Series, Values
from ..kernels.late_dataclass import dataclass
from .core.flat_frame import flat_frame
from .core.groups import INT64
from .core.segment_groups import SegmentGroups
from .groupby.library_reduction import FirstLastReduction, nulled
from .groupby.reduce import ReduceColumn, in_kernels
from .scan.column_scan import Scan
from .statistics.table import REDUCTIONS

LIST_DTYPES = (
    "lists are columns of Arrow or of cuDF, such as of dtype pd.ArrowDtype(pa.list_(pa.float64()))"
)


class ListOperation(Protocol):
    """An operation inside lists."""

    @property
    def label(self) -> str:
        """For messages."""

    def dtype(self, column: Column) -> DType:
        """Dtype of the answer; raises what the user should see before anything is computed."""

    def apply(self, column: Column) -> Array:
        """Array of the answers, one a row."""


def item_dtype(label: str, column: Column) -> DType:
    """Return the dtype of the items of a column of lists; raises a TypeError for any other column."""
    found = library_of(column).item_dtype(column.dtype)
    if found is None:
        title = column_title(column)
        raise TypeError(f"{label} of {title}: dtype {column.dtype} holds no lists; {LIST_DTYPES}")
    return found


def flat_items(label: str, column: Column) -> Column:
    """Return a column without rows of the items of a column of lists; raises a TypeError for lists of lists."""
    library, found = library_of(column), item_dtype(label, column)
    if library.item_dtype(found) is not None:
        raise TypeError(
            f"{label} of {column_title(column)}: its items are lists themselves, of dtype {found}; explode it first, "
            f"or take one level of it"
        )
    return _no_items(library, found, column.name)


@lru_cache(maxsize=256)
def _no_items(library: Library, dtype: DType, name: Hashable) -> Column:
    return library.series(library.empty(dtype), None, name)


def ordered_items(label: str, column: Column) -> Column:
    """Return the same as `flat_items`; raises a TypeError for items that have no order."""
    items = flat_items(label, column)
    try:
        library_of(items).sort_key(items)
    except (TypeError, ValueError) as error:
        name_columns(error, label, [items])
        raise
    return items


def of_lists(series: Series, operation: ListOperation) -> Any:
    """Return the answer of an operation for a series of lists."""
    library = library_of(series)
    with library.acquire(series):
        return library.rebuild(series, [operation.apply(series)])


def _groups(library: Library, found: Lists, reverse: bool = False) -> SegmentGroups:
    return SegmentGroups(library.xp, found.offsets, len(found.items), reverse)


def _null_where(library: Library, array: Array, missing: Values | None) -> Array:
    return array if missing is None else nulled(library, array, missing)


@dataclass(frozen=True)
class ListScan:
    """A scan inside each list."""

    scan: Scan

    @property
    def label(self) -> str:
        return self.scan.label

    def dtype(self, column: Column) -> DType:
        items = self.scan.dtype([flat_items(self.label, column)])
        return library_of(column).list_dtype(items, column.dtype)

    def apply(self, column: Column) -> Array:
        library = library_of(column)
        array = library.array(column)
        found = library.lists(array)
        groups = _groups(library, found, self.scan.reverse)
        items = self.scan.apply([library.as_column(found.items)], groups, None)
        dtype = library.list_dtype(items.dtype, column.dtype)
        return library.with_items(array, found, items, dtype)


@dataclass(frozen=True)
class ListReduction:
    """A named reduction of each list; without values it is null, except for a sum."""

    label: str

    def _operation(self, items: Column) -> Any:
        reduction, library = REDUCTIONS[self.label], library_of(items)
        if reduction.picks is not None and not in_kernels(library, items.dtype):
            return FirstLastReduction(reduction)
        if not library.is_number(items.dtype):
            checked = reduction.checked_times if library.raises_on_overflow(items.dtype) else None
            reduction = checked or reduction.times or reduction
        return ReduceColumn(reduction)

    def dtype(self, column: Column) -> DType:
        items = flat_items(self.label, column)
        found: DType = self._operation(items).dtype([items])
        return found

    def apply(self, column: Column) -> Array:
        library = library_of(column)
        found = library.lists(library.array(column))
        items = library.as_column(found.items)
        operation = self._operation(items)
        states = operation.aggregate([items], _groups(library, found))()
        return _null_where(library, operation.finalize([items], states), found.missing)


@dataclass(frozen=True)
class ListLength:
    """The number of items of each list, null ones too."""

    label = "len"

    def dtype(self, column: Column) -> DType:
        item_dtype(self.label, column)
        return library_of(column).length_dtype(column.dtype)

    def apply(self, column: Column) -> Array:
        library, dtype = library_of(column), self.dtype(column)
        found, layout = library.lists(library.array(column)), library.layout(dtype)
        assert layout is not None
        lengths = found.lengths.astype(layout.storage(dtype), copy=False)
        return layout.wrap(lengths, found.missing, dtype)


@dataclass(frozen=True)
class ListSort:
    """The items of each list in order; equal items stay in their order."""

    ascending: bool = True
    nulls_first: bool = False
    label = "sort"

    def dtype(self, column: Column) -> DType:
        ordered_items(self.label, column)
        return column.dtype

    def order(self, found: Lists, items: Column) -> Values:
        """Return the positions of the items of all lists in the order of each list."""
        key, nulls = library_of(items).sort_key(items)
        _, (order,) = kernels.sort_pairs(
            key,
            offsets=found.offsets.astype(INT64, copy=False),
            nulls=[nulls],
            descending=not self.ascending,
            nulls_first=self.nulls_first,
            positions=True,
        )
        return order

    def apply(self, column: Column) -> Array:
        library = library_of(column)
        array = library.array(column)
        found = library.lists(array)
        order = self.order(found, library.as_column(found.items))
        return library.with_items(array, found, library.take(found.items, order), column.dtype)


@dataclass(frozen=True)
class ListExtreme:
    """The smallest or largest item of each list, of a dtype that kernels do not reduce: the first one in order."""

    label: str

    def dtype(self, column: Column) -> DType:
        return ordered_items(self.label, column).dtype

    def apply(self, column: Column) -> Array:
        library = library_of(column)
        found = library.lists(library.array(column))
        order = ListSort(self.label == "min").order(found, library.as_column(found.items))
        first, length = found.offsets[:-1], found.lengths
        xp = library.xp
        rows = xp.full(len(length), -1, INT64)
        rows[length > 0] = order[first[length > 0]]
        array = library.take(found.items, rows, nulls=True)
        return _null_where(library, array, found.missing)


def list_reduction(name: str, column: Column) -> ListOperation:
    """Return the operation that reduces lists of a dtype."""
    library = library_of(column)
    items = library.item_dtype(column.dtype)
    sorts = name in ("min", "max") and items is not None and not in_kernels(library, items)
    return ListExtreme(name) if sorts else ListReduction(name)


# --- rows of items -----------------------------------------------------------------------------------


@dataclass(frozen=True)
class Explode:
    """One row for each item of lists; a null list, and one without items, has one row with a null item."""

    columns: tuple[Hashable, ...]
    """Names of the columns of lists; the name of a series."""
    ignore_index: bool = False
    label = "explode"

    def _lists(self, frame: Frame) -> list[Column]:
        return [column_of(frame, name) for name in self.columns]

    def check(self, frame: Frame) -> None:
        """Raise the errors that a user should see early."""
        for column in self._lists(frame):
            item_dtype(self.label, column)

    def apply(self, frame: Frame) -> Any:
        """Return the rows of a partition for each item."""
        library = library_of(frame)
        with library.acquire(frame):
            columns = self._lists(frame)
            found = [library.lists(library.array(c)) for c in columns]
            counts = [_counts(library, lists) for lists in found]
            _check_counts(columns, counts)
            repeats = library.xp.maximum(counts[0], 1)
            others = self._repeated(frame, repeats)
            items = {
                name: _items(library, lists, count, repeats, len(others))
                for name, lists, count in zip(self.columns, found, counts, strict=True)
            }
            rest = iter(columns_of(others))
            arrays = [
                items[name] if name in items else library.array(next(rest))
                for name in names_of(frame)
            ]
            return library.rebuild(frame, arrays, library.index(others))

    def _repeated(self, frame: Frame, repeats: Values) -> Any:
        """Return the columns that hold no lists, and the index, with each row repeated."""
        library = library_of(frame)
        if frame.ndim == 1:
            frame = library.frame([], [], library.index(frame))
        flat = flat_frame(
            library, library.select(frame, [n not in self.columns for n in names_of(frame)])
        )
        return flat.repeated(repeats, new_index=self.ignore_index)


def _counts(library: Library, lists: Lists) -> Values:
    ends = lists.offsets
    counts = library.xp.subtract(ends[1:], ends[:-1], dtype=INT64)
    if lists.missing is not None:
        counts[lists.missing] = 0  # whatever items they have in memory
    return counts


def _check_counts(columns: Sequence[Column], counts: Sequence[Values]) -> None:
    """Raise a ValueError if lists of a row need different numbers of rows."""
    for column, other in zip(columns[1:], counts[1:], strict=True):
        differ = other.clip(1) != counts[0].clip(1)
        if bool(differ.any()):
            row = int(differ.argmax())
            one, two = (max(int(c[row]), 1) for c in (counts[0], other))
            raise ValueError(
                f"explode: lists of a row must have as many items each, found {one} in {column_title(columns[0])} and "
                f"{two} in {column_title(column)}"
            )


def _items(library: Library, lists: Lists, counts: Values, repeats: Values, rows: int) -> Array:
    """Return the item of each of `rows` rows, null for a list without items."""
    items = lists.items
    if lists.missing is None and rows == len(items):
        return library.copy(items)
    xp, layout = library.xp, library.moved_layout(items.dtype)
    (empty,) = kernels.run_length_decode(repeats, [counts == 0])
    # a row of a list without items reads the item that comes next, and is null
    first = xp.minimum(lists.offsets[:-1], max(len(items) - 1, 0), dtype=INT64)

    def gathered(source: Values) -> Values:
        return (
            kernels.interval_move(repeats, source, gather=first)
            if len(source)
            else xp.zeros(rows, source.dtype)
        )

    if layout is None:
        at = xp.where(empty, -1, gathered(xp.arange(len(items), dtype=INT64)))
        return library.take(items, at, nulls=True)
    view = layout.raw(items)
    missing = empty if view.nulls is None else gathered(view.missing()) | empty
    return layout.wrap(gathered(view.values), missing, items.dtype)
