"""Rows of cuDF with equal keys."""

from __future__ import annotations

from typing import Any

import cudf
import numpy as np
import pylibcudf as plc
from cudf.core.column import ColumnBase

from ...kernels import Nulls
from ..protocol import Values
from .codes import range_codes
from .layouts import view_of


class CudfGrouping:
    """Codes and hashes of keys, and cuDF's own reductions."""

    reduces_groups = False

    def codes(self, column: cudf.Series) -> tuple[Values, Nulls]:
        if isinstance(column.dtype, cudf.CategoricalDtype):
            view = view_of(column._column.codes)
            return view.values, view.nulls
        return self.group_codes([column._column]), None

    def parts_keys(self, column: cudf.Series) -> bool:
        return False

    def group_codes(self, arrays: list[ColumnBase]) -> Values:
        _, codes = plc.transform.encode(plc.Table([a.plc_column for a in arrays]))
        return view_of(ColumnBase.create(codes, np.dtype(np.int32))).values

    def dense_codes(self, arrays: list[ColumnBase]) -> tuple[Values, int]:
        found = range_codes(arrays)
        if found is not None:
            return found
        codes = self.group_codes(arrays)
        return codes, int(codes.max()) + 1 if len(codes) else 0

    def own_codes(self, array: ColumnBase) -> None:
        return None  # to join columns costs little

    def hash_rows(self, columns: list[Any]) -> Values:
        frame = cudf.DataFrame()
        for i, column in enumerate(columns):
            series = cudf.Series._from_column(column._column)
            if isinstance(column.dtype, cudf.CategoricalDtype):  # whose codes differ by partition
                series = series.astype(column.dtype.categories.dtype)
            frame[i] = series
        return view_of(frame.hash_values(method="xxhash64")._column).values

    def group_reduce(self, method: str, column: cudf.Series, codes: Values) -> ColumnBase:
        plain = cudf.Series._from_column(column._column)
        return getattr(plain.groupby(cudf.Series(codes)), method)().sort_index()._column

    def first_last(self, array: ColumnBase) -> ColumnBase:
        return array
