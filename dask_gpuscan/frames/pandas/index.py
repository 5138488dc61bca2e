"""The labels of rows of pandas."""

from __future__ import annotations

from collections.abc import Hashable, Sequence

import numpy as np
import pandas as pd
import pyarrow as pa

from ..index import check_one_level
from ..protocol import DType, Values
from .layouts import PandasArray, bare, with_null
from .same_keys import comparable, object_codes, time_keys


class PandasIndex:
    """Indexes of pandas."""

    def index(self, frame: pd.DataFrame) -> pd.Index:
        return frame.index

    def index_names(self, frame: pd.DataFrame) -> list[Hashable]:
        return list(frame.index.names)

    def index_level(self, frame: pd.DataFrame, number: int) -> pd.Series:
        index = frame.index
        if not isinstance(index, pd.MultiIndex):
            values = index
        else:  # a number may be a name, too
            values = index.set_names(range(index.nlevels)).get_level_values(number)
        # pandas would look for strings in bare arrays of objects
        return pd.Series(values.array, dtype=values.dtype, name=index.names[number], copy=False)

    def is_sorted(self, index: pd.Index) -> bool:
        return bool(index.is_monotonic_increasing)

    def same_index(self, index: pd.Index, other: pd.Index) -> bool:
        return index is other or bool(index.equals(other))

    def key_index(
        self, arrays: list[PandasArray], names: Sequence[Hashable], levels: bool = False
    ) -> pd.Index:
        for array, name in zip(arrays, names, strict=True):
            if bare(array).dtype == np.float16:
                raise TypeError(
                    f"column {name!r} of dtype float16 cannot be an index of pandas; cast it with astype"
                )
        if len(arrays) == 1 and not levels:
            array = with_null(arrays[0], np.nan)
            return pd.Index(array, dtype=array.dtype, name=names[0])
        coded = {i: _coded(a) for i, a in enumerate(arrays) if _is_never_sorted(a.dtype)}
        values = [coded[i][0] if i in coded else _level(a) for i, a in enumerate(arrays)]
        index = pd.MultiIndex.from_arrays(values, names=names)
        for i, (_, level) in coded.items():
            index = index.set_levels(level, level=i, verify_integrity=False)
        return index

    def index_of_pairs(self, index: pd.Index, frame: pd.DataFrame) -> pd.Index:
        check_one_level(index, frame.columns)
        names = [index.name, frame.columns.name]
        return pd.MultiIndex.from_product([index, frame.columns], names=names)

    def range_index(self, start: int, stop: int) -> pd.Index:
        return pd.RangeIndex(start, stop)

    def index_of_times(self, times: pd.DatetimeIndex, dtype: DType, name: Hashable) -> pd.Index:
        times = times.rename(name)
        return times.astype(dtype) if isinstance(dtype, pd.ArrowDtype) else times

    def take_index(self, index: pd.Index, positions: Values) -> pd.Index:
        if not isinstance(index, pd.RangeIndex) or not len(positions):
            return index.take(positions)
        if len(positions) == len(index) and _is_every_row(positions):
            return index
        # pandas would look whether the rows are evenly spaced, which takes longer than to choose them
        rows = positions
        if (index.start, index.step) != (0, 1):
            rows = index.start + index.step * positions
        return pd.Index(rows, name=index.name, copy=False)

    def argsort_index(self, index: pd.Index) -> Values:
        return index.argsort(kind="stable")

    def sort_by_index(self, frame: pd.DataFrame) -> pd.DataFrame:
        # pandas sorts no nulls of categories to the end, and no index of long doubles
        if isinstance(frame.index, pd.CategoricalIndex) or frame.index.dtype == np.longdouble:
            return frame.iloc[frame.index.argsort(kind="stable")]
        levels = [self.index_level(frame, i).array for i in range(frame.index.nlevels)]
        if any(_is_never_sorted(level.dtype) for level in levels):
            index = self.key_index([_sortable(level) for level in levels], frame.index.names)
            rows = pd.Series(range(len(frame)), index, dtype=np.int64)
            return frame.iloc[self.sort_by_index(rows)]
        by_times = any(
            _timed(level) is not level for level in getattr(frame.index, "levels", [frame.index])
        )
        try:
            return frame.sort_index(kind="stable", key=_timed if by_times else None)
        except TypeError:
            return frame  # keys that have no order stay as they appear

    def reset_index(self, frame: pd.DataFrame, start: int, drop: bool) -> pd.DataFrame:
        out = frame.reset_index(drop=drop)
        for i in range(0 if drop else frame.index.nlevels):  # pandas would look for strings
            dtype = frame.index.get_level_values(i).dtype
            if out.dtypes.iloc[i] != dtype:
                out.isetitem(i, out.iloc[:, i].astype(dtype))
        out.index = self.range_index(start, start + len(frame))
        return out


def _level(array: PandasArray) -> PandasArray:
    """Return an array as a level of an index of several, in which pandas wants keys that are the same to be equal."""
    if array.dtype == object:
        codes, found = object_codes(bare(array))
        # pandas would look for strings and numbers in bare arrays of objects
        return pd.Index(np.append(found, np.nan)[codes], dtype=object)
    if isinstance(array.dtype, pd.ArrowDtype) or array.dtype == np.longdouble:
        return comparable(array)
    return array


def _timed(index: pd.Index) -> pd.Index:
    """Return an index of objects that are times of several classes as one that has their order; any other as it is."""
    if index.dtype != object or pd.api.types.infer_dtype(index) == "string":
        return index
    values = index.to_numpy()
    keys = time_keys(values)
    return index if keys is values else pd.Index(keys, dtype=object)


def _is_every_row(positions: Values) -> bool:
    """Tell whether positions count from 0; mostly, the first of them tell."""
    first = positions[:64]
    counts = bool((first == np.arange(len(first))).all())
    return counts and bool((np.diff(positions) == 1).all())


def _is_never_sorted(dtype: DType) -> bool:
    """Tell whether Arrow sorts no arrays of a dtype, as pandas does to make levels of them."""
    if not isinstance(dtype, pd.ArrowDtype):
        return False
    kind = dtype.pyarrow_dtype
    return bool(pa.types.is_dictionary(kind) or pa.types.is_float16(kind))


def _sortable(array: PandasArray) -> PandasArray:
    """Return an array that pandas sorts."""
    if not _is_never_sorted(array.dtype):
        return array
    kind = array.dtype.pyarrow_dtype
    plain = kind.value_type if pa.types.is_dictionary(kind) else pa.float32()
    return array.astype(pd.ArrowDtype(plain))


def _coded(array: PandasArray) -> tuple[PandasArray, pd.Index]:
    """Return the numbers of values in their order, null where these are, and the values by number."""
    codes, _ = pd.factorize(comparable(_sortable(array)), sort=True)
    found, first = np.unique(codes, return_index=True)
    return pd.arrays.IntegerArray(codes, codes < 0), pd.Index(array.take(first[found >= 0]))
