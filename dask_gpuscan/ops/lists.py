"""What is done inside the lists of a column: a scan, a reduction, a sort of the items of each.

The items of all lists are one column, whose rows are in groups that lie beside each other: a list is a group. A null
list stays null, whatever items it has in memory.
"""

from __future__ import annotations

from collections.abc import Hashable
from dataclasses import dataclass
from functools import lru_cache
from typing import Any, Protocol

from .. import kernels
from ..frames.lists import Lists
from ..frames.messages import column_title, of_columns
from ..frames.protocol import Array, Column, DType, Library, Values
from ..frames.registry import library_of
from .column_scan import Scan
from .groups import INT64, SegmentGroups
from .library_reduction import FirstLastReduction, nulled
from .reduce import ReduceColumn, in_kernels
from .reduction_table import REDUCTIONS

LIST_DTYPES = (
    "lists are columns of Arrow or of cuDF, such as of dtype pd.ArrowDtype(pa.list_(pa.float64()))"
)


class ListOperation(Protocol):
    """What is done inside lists."""

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
    """Return a column of no rows, of the items of a column of lists; raises a TypeError where these are lists."""
    library, found = library_of(column), item_dtype(label, column)
    if library.item_dtype(found) is not None:
        raise TypeError(
            f"{label} of {column_title(column)}: its items are lists themselves, of dtype {found}; explode it first, "
            f"or take one level of it"
        )
    return _no_items(library, found, column.name)


@lru_cache(maxsize=256)
def _no_items(library: Library, dtype: DType, name: Hashable) -> Column:
    items: Column = library.series(library.empty(dtype), None, name)  # type: ignore[assignment]
    return items


def ordered_items(label: str, column: Column) -> Column:
    """Return what `flat_items` does; raises a TypeError for items that have no order."""
    items = flat_items(label, column)
    with of_columns(label, [items]):
        library_of(items).sort_key(items)
    return items


def of_lists(series: Any, operation: ListOperation) -> Any:
    """Return what an operation answers for a series of lists."""
    library = library_of(series)
    with library.reading(series):
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
    """A named reduction of each list: null, but for a sum, where there is no value."""

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
    """The items of each list in order; equal ones stay as they are."""

    ascending: bool = True
    nulls_first: bool = False
    label = "sort"

    def dtype(self, column: Column) -> DType:
        ordered_items(self.label, column)
        return column.dtype

    def order(self, found: Lists, items: Column) -> Values:
        """Return the positions of the items of all lists in the order of each list."""
        key, nulls = library_of(items).sort_key(items)
        _, (order,) = kernels.segmented_sort(
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
    """Return how lists of a dtype are reduced."""
    library = library_of(column)
    items = library.item_dtype(column.dtype)
    sorts = name in ("min", "max") and items is not None and not in_kernels(library, items)
    return ListExtreme(name) if sorts else ListReduction(name)
