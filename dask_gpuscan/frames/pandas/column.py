"""Columns of pandas, without what a series takes to be made."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from functools import lru_cache
from typing import TypeAlias
from weakref import ref

import pandas as pd

from ...kernels.bounded_cache import BoundedCache
from ..types import Column, DType
from .layouts import PandasArray, bare


class PandasColumn:
    """A column and its name, in the place of a series: it is made in a tenth of the time."""

    __slots__ = ("array", "dtype", "name")

    def __init__(self, name: Hashable, array: PandasArray) -> None:
        self.name, self.array = name, bare(array)
        self.dtype: DType = self.array.dtype

    def __len__(self) -> int:
        return len(self.array)


AnyColumn: TypeAlias = PandasColumn | pd.Series
"""A column of a frame, or what a user gave as one."""


def series_of(column: AnyColumn) -> pd.Series:
    """Return a column as a series, of which pandas can be asked; that of a column alone counts its rows."""
    if isinstance(column, pd.Series):
        return column
    return pd.Series(column.array, dtype=column.dtype, name=column.name, copy=False)


def column_at(frame: pd.DataFrame, place: int, name: Hashable) -> PandasColumn:
    """Return the column of a frame at a place."""
    return PandasColumn(name, frame._get_column_array(place))


LABELS: BoundedCache[int, tuple[ref[pd.Index], list[Hashable]]] = BoundedCache()
"""What `names_in` has returned, by the address of the labels, which never change: strings are slow to read."""


def names_in(labels: pd.Index) -> list[Hashable]:
    """Return the labels of columns as a new list."""
    place = id(labels)
    found = LABELS.get(place)
    if found is None or found[0]() is not labels:
        own = ref(labels, lambda _: LABELS.pop(place, None))
        found = LABELS.store(place, (own, labels.tolist()))
    return found[1].copy()


def labels_of(names: Sequence[Hashable]) -> pd.Index:
    """Return names as the labels of columns, as pandas would read them, but for None among texts, which stays."""
    if all(type(name) is str for name in names):
        return _text_labels(tuple(names)).view()  # whose own name may be set
    if any(name is None for name in names):
        return pd.Index(names, dtype=object, tupleize_cols=False)
    return pd.Index(names, tupleize_cols=False)


@lru_cache(maxsize=256)
def _text_labels(names: tuple[Hashable, ...]) -> pd.Index:
    return pd.Index(names, tupleize_cols=False)


def every_column(frame: pd.DataFrame) -> list[Column]:
    """Return the columns of a frame, in order."""
    return [column_at(frame, i, name) for i, name in enumerate(names_in(frame.columns))]


class PandasSparse:
    """Columns of `pandas.SparseDtype`."""

    def holds(self, dtype: DType) -> bool:
        return isinstance(dtype, pd.SparseDtype)

    def dense(self, column: AnyColumn) -> AnyColumn:
        if not self.holds(column.dtype):
            return column
        return PandasColumn(column.name, column.array.to_dense())

    def array(self, dense: PandasArray, dtype: DType) -> PandasArray:
        return pd.arrays.SparseArray(dense, dtype=dtype)


SPARSE = PandasSparse()
