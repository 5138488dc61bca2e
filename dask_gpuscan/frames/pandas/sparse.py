"""Sparse columns of pandas, which are computed on as dense ones."""

from __future__ import annotations

import pandas as pd

from ..types import DType
from .layouts import AnyColumn, PandasArray, PandasColumn


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
