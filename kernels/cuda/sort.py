"""Sorting of CuPy arrays."""

from collections.abc import Sequence
from typing import Any

import cupy
import numpy as np

from ..nulls import InBand, Mask
from ..sort_key import SortKey


def sort(
    keys: Sequence[SortKey], arrays: Sequence[Any], starts: Any, *, positions: bool
) -> list[Any]:
    """Return arrays in the order of keys; see `kernels.sort_pairs`."""
    order = cupy.arange(len(keys[0].values))
    columns = [column for key in keys for column in codes(cupy, key)]
    if starts is not None:
        flags = cupy.zeros(len(order), cupy.int64)
        flags[starts] = 1
        columns.insert(0, cupy.cumsum(flags))
    for column in columns[::-1]:
        order = order[cupy.argsort(column[order], kind="stable")]
    return [a[order] for a in arrays] + [order] * positions


def codes(xp: Any, key: SortKey) -> list[Any]:
    """Return arrays that have the order of a key, the most significant first."""
    values: Any = key.values
    missing = None
    if values.dtype.kind in "mM":
        values = values.view(np.int64)
        missing = values == np.iinfo(np.int64).min
    elif values.dtype.kind == "f":
        values = values.astype(np.float64) + 0.0
        missing = values != values
        values = xp.where(missing, 0.0, values).view(np.int64)
        values = xp.where(values < 0, ~values ^ np.int64(np.iinfo(np.int64).min), values)
    elif isinstance(key.nulls, InBand) and values.dtype == np.int64:
        missing = values == np.iinfo(np.int64).min
    level = xp.zeros(len(values), np.int8)
    if missing is not None:
        level[missing] = 1
    if isinstance(key.nulls, Mask):
        level[null_flags(xp, key.nulls, len(values))] = 2
    if values.dtype.kind == "V":
        fields = [values["high"], values["low"]]
    elif values.dtype.kind == "b":
        fields = [values.view(np.int8)]
    else:
        fields = [values]
    if key.nulls_first:
        level = -level
    for field in fields:
        field = field if not key.descending else ~field
    return [
        level,
        *(xp.where(level == 0, ~f if key.descending else f, f.dtype.type(0)) for f in fields),
    ]


def null_flags(xp: Any, mask: Mask, count: int) -> Any:
    """Return which elements a mask tells missing."""
    if mask.shift == 0:
        return mask.buffer[mask.offset : mask.offset + count] == mask.null
    bits = xp.unpackbits(mask.buffer, bitorder="little")
    return bits[mask.offset : mask.offset + count] == mask.null
