"""Scans of arrays along an axis within groups of rows, which have codes."""

from __future__ import annotations

from typing import Any

import dask.array as da
import numpy as np

from ..graph.lookback import over_blocks
from ..ops.array_groups import GroupedArrayScan
from ..ops.array_scan import ArrayScan
from .array_scans import checked, meta_like


def scan_groups(arrays: tuple[Any, ...], scan: ArrayScan, codes: Any) -> Any:
    """Scan arrays of one kind within groups: computed at once, or lazily for Dask's.

    Parameters
    ----------
    arrays : tuple of arrays
        The inputs of the scan's operator.
    scan : ArrayScan
    codes : NumPy array of int64
        The group of each place along the axis, from 0 on; below zero, of none.

    Raises
    ------
    TypeError, ValueError
        For what does not fit, and Dask arrays whose chunks along the axis are not known.
    """
    carry = GroupedArrayScan(scan, bool((codes < 0).any()))
    answer = carry.answer(checked(arrays, scan))
    if not isinstance(arrays[0], da.Array):
        return carry.apply((*arrays, codes), None)
    chunks = arrays[0].chunks[scan.axis]
    if any(np.isnan(rows) for rows in chunks):
        raise ValueError("groups need chunks of known sizes; call compute_chunk_sizes() first")
    beside = da.from_array(codes, chunks=(chunks,))
    return over_blocks(arrays, carry, scan.axis, meta_like(arrays[0], answer), beside)
