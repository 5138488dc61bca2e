"""Sparse columns of pandas."""

from __future__ import annotations

import pandas as pd

from ..protocol import DType
from .layouts import PandasArray


class PandasSparse:
    """Columns of `pandas.SparseDtype`."""

    def holds(self, dtype: DType) -> bool:
        return isinstance(dtype, pd.SparseDtype)

    def dense(self, column: pd.Series) -> pd.Series:
        if not self.holds(column.dtype):
            return column
        return pd.Series(column.array.to_dense(), column.index, name=column.name, copy=False)

    def array(self, dense: PandasArray, dtype: DType) -> PandasArray:
        return pd.arrays.SparseArray(dense, dtype=dtype)


SPARSE = PandasSparse()
