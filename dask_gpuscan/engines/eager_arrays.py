"""The engine of arrays in memory: it implements `run.ArrayEngine` and computes at once."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ..kernels.arrays import is_array
from ..kernels.grids import box_filter, summed_area_table, window_sum
from ..ops.arrays.groups import GroupedArrayScan
from ..ops.arrays.scan import ArrayScan

__all__ = ["box_filter", "kind", "meta", "positions", "scan", "summed_area_table", "window_sum"]


def kind(obj: Any) -> type | None:
    """Return the class of a NumPy or CuPy array; None for anything else."""
    return type(obj) if is_array(obj) else None


def meta(array: Any) -> Any:
    """Return the array itself."""
    return array


def positions(array: Any) -> Any:
    """Return the array itself: positions in it are arrays of its library."""
    return array


def scan(arrays: Sequence[Any], carry: ArrayScan | GroupedArrayScan, codes: Any = None) -> Any:
    """Apply a carry to whole arrays."""
    if codes is None:
        return carry.apply(arrays, None)
    carry.answer(arrays)  # raises an error for arrays that do not fit
    return carry.apply((*arrays, codes), None)
