"""Rows of pandas with equal keys."""

from __future__ import annotations

from functools import reduce

import numpy as np
import pandas as pd
import pyarrow as pa

from ...kernels import Nulls
from ..messages import column_title, first_line
from ..protocol import Values
from .codes import own_codes, range_codes
from .layouts import PandasArray, bare, with_null
from .same_keys import comparable, key_hashes, parts_keys

_ODD = np.uint64(0x9E3779B97F4A7C15)


class PandasGrouping:
    """Codes and hashes of keys, and pandas' own reductions."""

    reduces_groups = True

    def codes(self, column: pd.Series) -> tuple[Values, Nulls]:
        try:
            array = comparable(column.array)
            if isinstance(array, pd.Categorical):
                return array.codes.astype(np.int64), None
            return pd.factorize(array)[0], None
        except (TypeError, pa.ArrowException) as error:
            reason = "" if isinstance(error, pa.ArrowException) else f": {first_line(error)}"
            raise TypeError(
                f"{column_title(column)} of dtype {column.dtype} has values that cannot be hashed{reason}; "
                f"leave it out of the keys, or cast it with astype"
            ) from error

    def group_codes(self, arrays: list[PandasArray]) -> Values:
        keys = [pd.Series(a, dtype=a.dtype, copy=False) for a in map(comparable, arrays)]
        groups = keys[0].groupby(keys, sort=False, dropna=False, observed=True)
        return groups.ngroup().to_numpy()

    def dense_codes(self, arrays: list[PandasArray]) -> tuple[Values, int]:
        found = range_codes([bare(a) for a in arrays])
        if found is not None:
            return found
        codes = self.group_codes(arrays)
        return codes, int(codes.max()) + 1 if len(codes) else 0

    def own_codes(self, array: PandasArray) -> tuple[Values, int] | None:
        return own_codes(bare(array))

    def parts_keys(self, column: pd.Series) -> bool:
        return parts_keys(column.array)

    def hash_rows(self, columns: list[pd.Series]) -> Values:
        hashes = (key_hashes(column.array) for column in columns)
        return reduce(lambda before, own: before * _ODD + own, hashes)

    def group_reduce(self, method: str, column: pd.Series, codes: Values) -> PandasArray:
        array = bare(getattr(column.groupby(codes), method)().array)
        # pandas looks whether all answers for objects are strings
        found = column.dtype == object and isinstance(array.dtype, pd.StringDtype)
        return array.astype(object) if found else array

    def first_last(self, array: PandasArray) -> PandasArray:
        return with_null(array, None)
