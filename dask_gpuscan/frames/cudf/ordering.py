"""Columns of cuDF as keys that kernels sort."""

from __future__ import annotations

from typing import Any

import cudf
import numpy as np
import pylibcudf as plc
from cudf.core.column import ColumnBase

from ...kernels import Nulls
from ..messages import column_title
from ..protocol import Values
from .layouts import LAYOUT, nulls_of, view_of

_NESTED = (cudf.ListDtype, cudf.StructDtype)


class CudfOrdering:
    """Columns of cuDF in order: numbers as they are, others by the ranks of their distinct values."""

    def sort_key(self, column: cudf.Series) -> tuple[Values, Nulls]:
        array: ColumnBase = column._column
        if isinstance(array.dtype, cudf.CategoricalDtype):
            array = array.codes
        if LAYOUT.matches(array.dtype):
            view = LAYOUT.raw(array)
            return view.values, view.nulls
        if isinstance(array.dtype, _NESTED):
            raise TypeError(
                f"{column_title(column)} of dtype {array.dtype} has values without an order; "
                f"leave it out of the keys"
            )
        # the codes number distinct values in their order (libcudf, encode)
        _, codes = plc.transform.encode(plc.Table([array.plc_column]))
        ranks = ColumnBase.create(codes, np.dtype(np.int32))
        return view_of(ranks).values, nulls_of(array) if array.null_count else None

    def rank_values(self, column: cudf.Series) -> cudf.Series:
        return column

    def as_key(self, values: Any) -> cudf.Series:
        return cudf.Series(values)
