"""Scans of arrays of one kind along one axis, in groups and not."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
from numpy.exceptions import AxisError

from ...engines.run import array_engine_of
from ...kernels import BUILT_IN, Operator
from ...kernels.arrays import numpy_dtype
from ...kernels.messages import shown
from ...kernels.scalars import is_integer
from ...ops.arrays.groups import GroupedArrayScan
from ...ops.arrays.scan import ArrayScan
from ...ops.scan.kernel_scan import ScanArguments


def scan_along(
    label: str,
    arrays: tuple[Any, ...],
    op: Operator,
    axis: int,
    options: dict[str, Any],
    codes: Any = None,
) -> Any:
    """Scan arrays along an axis.

    Parameters
    ----------
    label : str
        For the names of tasks.
    arrays : tuple of arrays
        Already checked.
    op : Operator
    axis : int
        From 0 on.
    options : dict
        Keywords of `ScanArguments`. NaN and NaT are values, unless `skipna` says that they are not.
    codes : NumPy array of int64, optional
        The group of each place along the axis, from 0 on; negative in no group. Chunks of Dask arrays have known sizes.

    Raises
    ------
    TypeError, ValueError
        For arrays and arguments that do not fit.
    """
    found = ScanArguments(**{"skipna": False} | options)
    if found.dtype is not None:
        found = replace(found, dtype=numpy_dtype(found.dtype))
    return _walk(arrays, ArrayScan(label, op, axis, found), codes)


WITHOUT_NULLS = "biuSU"
"""Kinds of dtypes that have no NaN."""


def fill_along(label: str, x: Any, axis: int, limit: int | None, codes: Any = None) -> Any:
    """Fill NaN and NaT of an array along an axis: "ffill" or "bfill" it; for codes see `scan_along`."""
    (array,) = check_arrays(BUILT_IN["last"], x)
    if array.dtype.kind in WITHOUT_NULLS:
        return array.copy()
    answer = None if array.dtype.kind in "mM" else array.dtype
    options = ScanArguments(reverse=label == "bfill", dtype=answer)
    return _walk((array,), ArrayScan(label, BUILT_IN["last"], axis, options, limit), codes)


def _walk(arrays: tuple[Any, ...], scan: ArrayScan, codes: Any) -> Any:
    carry = scan if codes is None else GroupedArrayScan(scan, bool((codes < 0).any()))
    return array_engine_of(*arrays).scan(arrays, carry, codes)


def check_axis(axis: Any, ndim: int) -> int:
    """Return the axis, counted from the first; None is the only one."""
    if axis is None and ndim == 1:
        return 0
    if not is_integer(axis) or not -ndim <= axis < ndim:
        kind = AxisError if is_integer(axis) else ValueError
        raise kind(f"axis must be from {-ndim} to {ndim - 1} or None, found {shown(axis)}")
    return int(axis) % ndim


def check_arrays(op: Operator, x: Any) -> tuple[Any, ...]:
    """Return the input arrays of an operator; all of one kind and shape."""
    arrays = x if isinstance(x, tuple) else (x,)
    engine = array_engine_of(*arrays)
    kinds = {engine.kind(a) for a in arrays}
    if len(kinds) != 1 or None in kinds:
        names = ", ".join(type(a).__name__ for a in arrays)
        raise TypeError(f"x must be NumPy, CuPy or Dask arrays, all of one kind, found {names}")
    for a in arrays:
        if isinstance(engine.meta(a), np.ma.MaskedArray):
            raise TypeError(
                "x must not be a masked array: scan a nullable column (Int64, Float64) or an Arrow array, "
                "or fill it"
            )
    if len(arrays) != op.inputs:
        raise TypeError(f"{op.name} takes {op.inputs} arrays, found {len(arrays)}")
    if len(arrays) > 1:
        shapes = [a.shape for a in arrays]
        known = [s for s in shapes if not any(np.isnan(length) for length in s)]
        if len({a.ndim for a in arrays}) > 1 or len(set(known)) > 1:
            raise ValueError(f"x must be arrays of one shape, found {shapes}")
    if arrays[0].ndim == 0:
        raise ValueError("x must have at least one dimension, found a 0-d array")
    return arrays
