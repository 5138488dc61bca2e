"""Arrays that Arrow cannot number or sort, as arrays of the same values that it can."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.compute as pc

from ..types import DType
from .layouts import PandasArray
from .native import one_array


def is_dictionary(dtype: DType) -> bool:
    """Return whether a dtype is of Arrow's dictionaries: entries may be null or equal, and Arrow does not sort them."""
    return isinstance(dtype, pd.ArrowDtype) and bool(pa.types.is_dictionary(dtype.pyarrow_dtype))


def is_ordered_dictionary(dtype: DType) -> bool:
    """Return whether a dtype is of Arrow's dictionaries whose entries are in an order."""
    kind = getattr(dtype, "pyarrow_dtype", None)
    return isinstance(kind, pa.DictionaryType) and bool(kind.ordered)


def decoded(array: PandasArray) -> PandasArray:
    """Return an array of Arrow's without a dictionary; any other as it is."""
    if not is_dictionary(array.dtype):
        return array
    chunked = pa.chunked_array(array.__arrow_array__())
    return type(array)(chunked.cast(chunked.type.value_type))


def is_narrow_decimal(dtype: DType) -> bool:
    """Return whether a dtype is of Arrow's decimals of 32 or 64 bits, which Arrow can neither number nor sort."""
    kind = dtype.pyarrow_dtype if isinstance(dtype, pd.ArrowDtype) else None
    return kind is not None and bool(pa.types.is_decimal(kind)) and kind.bit_width < 128


def numbered_dtype(dtype: DType) -> DType:
    """Return a dtype that Arrow can number for the values of a dtype: the values of dictionaries, wide decimals."""
    if not isinstance(dtype, pd.ArrowDtype):
        return dtype
    kind = dtype.pyarrow_dtype
    if is_dictionary(dtype):
        return numbered_dtype(pd.ArrowDtype(kind.value_type))
    wide = pa.decimal128(kind.precision, kind.scale) if is_narrow_decimal(dtype) else kind
    return pd.ArrowDtype(wide)  # type: ignore[no-any-return]


def wide_decimals(array: PandasArray) -> PandasArray:
    """Return decimals as those of 128 bits."""
    return array.astype(numbered_dtype(array.dtype))


def _is_interval(dtype: DType) -> bool:
    return isinstance(dtype, pd.ArrowDtype) and bool(pa.types.is_interval(dtype.pyarrow_dtype))


def is_sortable(dtype: DType) -> bool:
    """Return whether pandas can sort arrays of a dtype, as it does for levels of an index; Arrow cannot sort all."""
    is_half = isinstance(dtype, pd.ArrowDtype) and pa.types.is_float16(dtype.pyarrow_dtype)
    is_odd = is_dictionary(dtype) or is_narrow_decimal(dtype) or _is_interval(dtype)
    return not is_half and not is_odd


def is_level(dtype: DType) -> bool:
    """Return whether pandas makes levels of arrays of a dtype; for dates and times of day it uses Python's objects."""
    kind = dtype.pyarrow_dtype if isinstance(dtype, pd.ArrowDtype) else None
    return is_sortable(dtype) and not (kind and (pa.types.is_date(kind) or pa.types.is_time(kind)))


def sortable(array: PandasArray) -> PandasArray:
    """Return an array that pandas sorts."""
    array = decoded(array)
    if _is_interval(array.dtype):
        return _ordered_intervals(array)
    if is_narrow_decimal(array.dtype):
        return wide_decimals(array)
    return array if is_sortable(array.dtype) else array.astype(pd.ArrowDtype(pa.float32()))


def _ordered_intervals(array: PandasArray) -> PandasArray:
    """Return intervals as bytes that have the order of their months, then of their days, then of their nanoseconds."""
    whole = one_array(pa.chunked_array(array.__arrow_array__()))
    fields = [("months", "i4"), ("days", "i4"), ("nanoseconds", "i8")]
    given = np.frombuffer(whole.buffers()[1] or b"", fields, len(whole), 16 * whole.offset)
    found = np.empty(len(whole), [(name, f">u{dtype[1]}") for name, dtype in fields])
    for name, dtype in fields:  # the sign comes first, and is set where numbers are not negative
        found[name] = given[name].view(f"u{dtype[1]}") ^ (1 << 8 * int(dtype[1]) - 1)
    kind = pa.binary(16)
    valid = whole.is_valid()
    keys = pa.Array.from_buffers(kind, len(whole), [None, pa.py_buffer(found)])
    return type(array)(pa.chunked_array([pc.if_else(valid, keys, pa.scalar(None, kind))]))
