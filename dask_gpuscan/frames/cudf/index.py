"""The labels of rows of cuDF."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from typing import Any

import cudf
import cupy
import numpy as np
from cudf.core.column import ColumnBase

from ..index import check_one_level
from ..protocol import DType, Values
from .layouts import LAYOUT


class CudfIndex:
    """Indexes of cuDF."""

    def index(self, frame: cudf.DataFrame) -> cudf.Index:
        return frame.index

    def index_names(self, frame: cudf.DataFrame) -> list[Hashable]:
        return list(frame.index.names)

    def index_level(self, frame: cudf.DataFrame, number: int) -> cudf.Series:
        index = frame.index
        return cudf.Series._from_column(index._columns[number], name=index.names[number])

    def is_sorted(self, index: cudf.Index) -> bool:
        return bool(index.is_monotonic_increasing)

    def same_index(self, index: cudf.Index, other: cudf.Index) -> bool:
        return index is other or bool(index.equals(other))

    def key_index(
        self, arrays: list[ColumnBase], names: Sequence[Hashable], levels: bool = False
    ) -> cudf.Index:
        try:
            if len(arrays) == 1 and not levels:
                return cudf.Index._from_column(arrays[0], name=names[0])
            columns = [cudf.Series._from_column(a) for a in arrays]
            return cudf.MultiIndex.from_arrays(columns, names=names)
        except NotImplementedError as error:
            dtypes = ", ".join(str(a.dtype) for a in arrays)
            raise TypeError(
                f"cuDF has no index of dtype {dtypes}, as a reduction by {', '.join(map(repr, names))} "
                f"would have; cast the key with astype"
            ) from error

    def index_of_pairs(self, index: cudf.Index, frame: cudf.DataFrame) -> cudf.Index:
        names = cudf.Index(frame.columns)
        check_one_level(index, names)
        rows, each = cupy.arange(len(index)), cupy.arange(len(names))
        levels = [
            index.take(cupy.repeat(rows, len(names))),
            names.take(cupy.tile(each, len(index))),
        ]
        return cudf.MultiIndex.from_arrays(levels, names=[index.name, names.name])

    def range_index(self, start: int, stop: int) -> cudf.Index:
        return cudf.RangeIndex(start, stop)

    def index_of_times(self, times: Any, dtype: DType, name: Hashable) -> cudf.Index:
        # as numbers, since cuDF takes no time that has a frequency which it does not know
        return self.key_index([LAYOUT.wrap(cupy.asarray(times.asi8), None, dtype)], [name])

    def take_index(self, index: cudf.Index, positions: Values) -> cudf.Index:
        if not isinstance(index, cudf.RangeIndex):
            return index.take(positions)
        start, step = index.start, index.step
        rows = positions if (start, step) == (0, 1) else start + step * positions
        return self.key_index([LAYOUT.wrap(rows, None, np.dtype(np.int64))], [index.name])

    def argsort_index(self, index: cudf.Index) -> Values:
        return index.argsort()

    def sort_by_index(self, frame: cudf.DataFrame) -> cudf.DataFrame:
        return frame.sort_index()

    def reset_index(self, frame: cudf.DataFrame, start: int, drop: bool) -> cudf.DataFrame:
        out = frame.reset_index(drop=drop)
        out.index = self.range_index(start, start + len(frame))
        return out
