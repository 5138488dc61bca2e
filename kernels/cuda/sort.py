"""Sorting of CuPy arrays."""

from collections.abc import Sequence
from typing import Any

import cupy

from ..cpu.sort import codes
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
