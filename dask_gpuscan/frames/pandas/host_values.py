"""Values of pandas that no kernel takes, and NumPy and Python combine: objects, strings, decimals and wide floats."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pandas as pd
import pyarrow as pa

from ... import kernels
from ...kernels.arrays import check_memory
from ...kernels.cpu.core.limits import available
from ..types import DType, Texts
from .arrow import arrow_of_array
from .decimals import decimals_of, is_decimal, limbs_of, of_sums, whole_of, widest
from .layouts import PandasArray, bare

WIDE = tuple(d for d in map(np.dtype, (np.longdouble, np.clongdouble)) if d.char in "gG")
"""Floats of more than 64 bits."""

WHOLE = (np.dtype(object), *WIDE)
"""Dtypes of NumPy that no kernel takes."""


MOST = 2**31 - 1
"""The most bytes of strings in an array of Arrow with offsets of 32 bits."""

FUNCTIONS = {
    "cumsum": np.add,
    "cumprod": np.multiply,
    "cummax": np.maximum,
    "cummin": np.minimum,
}
"""NumPy's functions; for objects they call Python's."""


def is_string(dtype: DType) -> bool:
    """Return whether columns of a dtype hold strings and nulls, and nothing else."""
    if isinstance(dtype, pd.ArrowDtype):
        kind = dtype.pyarrow_dtype
        return bool(pa.types.is_string(kind) or pa.types.is_large_string(kind))
    return isinstance(dtype, pd.StringDtype)


class PandasHostValues:
    """Columns of pandas as NumPy arrays."""

    def combines(self, method: str | None, dtype: DType) -> bool:
        if method not in FUNCTIONS:
            return False
        if is_string(dtype) or is_decimal(dtype):
            return method != "cumprod"
        if not isinstance(dtype, np.dtype):
            return False
        return dtype in WHOLE or (dtype.kind == "c" and method in ("cummax", "cummin"))

    def of_nothing(self, method: str, dtype: DType) -> object:
        if method == "cumsum":
            if is_decimal(dtype):
                return 0
            return "" if is_string(dtype) else np.longdouble(0) if dtype in WIDE else None
        return None

    holds_decimals = staticmethod(is_decimal)
    limbs = staticmethod(limbs_of)
    whole = staticmethod(whole_of)

    def narrow(self, array: PandasArray) -> np.ndarray:
        try:
            return whole_of(limbs_of(array)).astype(np.int64)
        except OverflowError:
            raise OverflowError(
                f"rows are matched by decimals of up to 18 digits, found more in a column of {array.dtype}"
            ) from None

    def dtype(self, method: str, dtype: DType) -> DType:
        return of_sums(dtype) if method == "cumsum" and is_decimal(dtype) else dtype

    def state_dtype(self, method: str, dtype: DType) -> DType:
        return widest(dtype) if method == "cumsum" and is_decimal(dtype) else dtype

    def takes_dtype(self, dtype: DType, requested: DType) -> bool:
        return is_decimal(requested) and (dtype.kind in "iu" or is_decimal(dtype))

    def values(self, array: PandasArray) -> np.ndarray:
        array = bare(array)
        if is_decimal(array.dtype):
            return whole_of(limbs_of(array))
        return array if isinstance(array, np.ndarray) else np.asarray(array, dtype=object)

    def array(self, values: np.ndarray, valid: np.ndarray, dtype: DType) -> PandasArray:
        if is_decimal(dtype):
            return decimals_of(values, valid, dtype)
        is_numpy = isinstance(dtype, np.dtype)
        if not valid.all():
            values[~valid] = np.nan if is_numpy else None
        return values if is_numpy else pd.array(values, dtype=dtype)

    def running(self, method: str, values: np.ndarray) -> np.ndarray:
        if _joins(method, values):
            lengths = np.fromiter(map(len, values), np.int64, len(values))
            check_memory(len(values), int(lengths.cumsum().mean()), available)
        return FUNCTIONS[method].accumulate(values)

    def total(self, method: str, values: np.ndarray) -> object:
        return "".join(values) if _joins(method, values) else FUNCTIONS[method].reduce(values)

    def joins(self, method: str | None, dtype: DType) -> bool:
        in_arrow = isinstance(dtype, pd.ArrowDtype) or getattr(dtype, "storage", "") == "pyarrow"
        return method == "cumsum" and in_arrow and is_string(dtype)

    def texts(self, arrays: Sequence[PandasArray], rows: np.ndarray) -> Texts:
        chunks = [
            c for array in arrays for c in arrow_of_array(array).cast(pa.large_string()).chunks
        ]
        whole = pa.concat_arrays(chunks) if chunks else pa.array([], pa.large_string())
        found = whole.fill_null("").take(pa.array(rows))
        _, offsets, data = found.buffers()
        bounds = np.frombuffer(offsets, np.int64, len(found) + 1, 8 * found.offset)
        return Texts(np.frombuffer(data or b"", np.uint8), bounds)

    def pieces(
        self,
        texts: Texts,
        begin: np.ndarray,
        end: np.ndarray,
        missing: np.ndarray,
        dtype: DType,
    ) -> PandasArray:
        counts = end - begin
        offsets = np.zeros(len(counts) + 1, np.int64)
        np.cumsum(counts, out=offsets[1:])
        size = int(offsets[-1])
        check_memory(len(counts), size // max(len(counts), 1), available)
        narrow = isinstance(dtype, pd.ArrowDtype) and dtype.pyarrow_dtype == pa.string()
        if narrow and size > MOST:
            raise OverflowError(
                f"the strings take {size:,} bytes, and a column of {dtype} holds {MOST:,}; "
                f"cast it to pandas.ArrowDtype(pyarrow.large_string())"
            )
        data = kernels.interval_move(counts, texts.data, gather=begin)
        bits = pa.array(~missing).buffers()[1] if missing.any() else None
        buffers = [bits, pa.py_buffer(offsets), pa.py_buffer(data)]
        return pd.array(pa.Array.from_buffers(pa.large_string(), len(counts), buffers), dtype=dtype)


def _joins(method: str, values: np.ndarray) -> bool:
    is_sum = method == "cumsum" and values.dtype.kind == "O" and len(values) > 0
    return is_sum and all(isinstance(value, str) for value in values)


HOST_VALUES = PandasHostValues()
