"""Scans of arrays: NumPy, Dask, and anything that speaks Arrow; frames are passed on to their accessor.

The type of the input chooses the answer's. This module must never loop over elements.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import dask.array as da
import numpy as np
import pandas as pd
import pyarrow as pa

from . import kernels
from .carries import ColumnCarry
from .kernels import BUILT_IN, Operator
from .lookback import over_blocks, run
from .scans import ScanColumn


@dataclass(frozen=True)
class ArrayScan:
    """A scan of array blocks along an axis, as a carry."""

    label: str
    op: Operator
    axis: int
    exclusive: bool
    reverse: bool
    initial: Any
    dtype: Any

    columnwise = False
    keeps_index = True

    def _options(self, block: Any) -> dict[str, Any]:
        values = tuple(block) if isinstance(block, (list, tuple)) else block
        return {
            "op": self.op,
            "values": values,
            "axis": self.axis,
            "reverse": self.reverse,
            "dtype": self.dtype,
        }

    def meta(self, block: Any) -> Any:
        """Empty array of the answer's dtype; raises what does not fit."""
        blocks = block if isinstance(block, tuple) else (block,)
        dtypes = [b.dtype for b in blocks]
        types = kernels.signature(self.op, dtypes, self.dtype)
        if self.initial is not None:
            kernels.state(self.op, self.initial, dtypes, self.dtype, "initial")
        empty = [np.empty((0,) * blocks[0].ndim, d) for d in types.outputs]
        return empty[0] if types.scalar_output else tuple(empty)

    def aggregate(self, block: Any) -> Any:
        return kernels.reduce(**self._options(block))

    def combine(self, aggregates: Sequence[Any]) -> Any:
        return kernels.fold(self.op, aggregates)

    def apply(self, block: Any, prefix: Any) -> Any:
        options = self._options(block)
        carry = prefix
        if self.initial is not None:
            blocks = options["values"] if self.op.inputs > 1 else (options["values"],)
            start = kernels.state(
                self.op, self.initial, [b.dtype for b in blocks], self.dtype, "initial"
            )
            carry = start if prefix is None else self.combine(_broadcast(start, prefix))
        out, _ = kernels.scan(**options, exclusive=self.exclusive, carry_in=carry)
        return out


def _broadcast(start: Any, prefix: Any) -> list[Any]:
    """One state for all lines, repeated to the lines of `prefix`."""
    if isinstance(prefix, tuple):
        parts = zip(start, prefix, strict=True)
        return [tuple(np.broadcast_to(s, np.shape(p)) for s, p in parts), prefix]
    return [np.broadcast_to(start, np.shape(prefix)), prefix]


def scan(
    x: Any,
    op: Operator,
    axis: int | None = None,
    *,
    exclusive: bool = False,
    initial: Any = None,
    reverse: bool = False,
    dtype: Any = None,
    label: str | None = None,
) -> Any:
    """Scan an array by any operator.

    Parameters
    ----------
    x : array, or tuple of arrays
        NumPy and Dask arrays of any number of dimensions (one a parameter of the operator's lift);
        pyarrow Arrays and ChunkedArrays and anything else with ``__arrow_c_array__`` or
        ``__arrow_c_stream__``, which are scanned as pandas scans Arrow-backed columns and come out as
        pyarrow; pandas and Dask frames and series.
    op : Operator
    axis : int, optional
        Default: the flattened array, as in NumPy.
    exclusive : bool, default False
        Write the state before each element rather than after it.
    initial : state, optional
        Start from this state of the operator.
    reverse : bool, default False
        Run from the last element to the first.
    dtype : dtype, optional
        Of the answer; where the element is the state, also to accumulate in.

    Returns
    -------
    array or tuple of arrays
        Of the type of `x`; a tuple if the operator lowers its state to one. Lazy for Dask arrays.

    Raises
    ------
    TypeError, ValueError
        For inputs, arguments and operators that do not fit, before anything is computed.

    Examples
    --------
    >>> import numpy as np, dask_gpuscan
    >>> dask_gpuscan.scan(np.array([[1, 5], [7, 3]]), dask_gpuscan.maximum, axis=0)
    array([[1, 5],
           [7, 5]])
    """
    if not isinstance(op, Operator):
        raise TypeError(f"op must be a dask_gpuscan.Operator, found {op!r}")
    label = label or f"scan-{op.name}"
    if hasattr(x, "gpuscan"):
        if axis not in (None, 0):
            raise ValueError(f"axis must be 0 for a {type(x).__name__}, found {axis!r}")
        column = ScanColumn(label, op, True, exclusive, reverse, initial, dtype)
        return run(x, ColumnCarry(column))
    if not isinstance(x, (tuple, np.ndarray, da.Array)):
        if axis not in (None, 0, -1):
            raise ValueError(f"axis must be 0 for Arrow data, found {axis!r}")
        column = ScanColumn(label, op, True, exclusive, reverse, initial, dtype)
        return _scan_arrow(x, column)
    arrays = x if isinstance(x, tuple) else (x,)
    kinds = {da.Array if isinstance(a, da.Array) else type(a) for a in arrays}
    if not all(issubclass(kind, (np.ndarray, da.Array)) for kind in kinds) or len(kinds) != 1:
        names = ", ".join(type(a).__name__ for a in arrays)
        raise TypeError(f"x must be NumPy or Dask arrays, all of one kind, found {names}")
    if len({a.ndim for a in arrays}) > 1 or len(arrays) != op.inputs:
        raise TypeError(f"{op.name} takes {op.inputs} arrays of one shape, found {len(arrays)}")
    if axis is None:
        if arrays[0].ndim != 1:
            arrays = tuple(a.ravel() for a in arrays)
        axis = 0
    ndim = arrays[0].ndim
    if not isinstance(axis, (int, np.integer)) or not -ndim <= axis < ndim:
        raise ValueError(f"axis must be from {-ndim} to {ndim - 1} or None, found {axis!r}")
    wanted = None if dtype is None else np.dtype(dtype)
    carry = ArrayScan(label, op, int(axis) % ndim, exclusive, reverse, initial, wanted)
    inputs = arrays if op.inputs > 1 else arrays[0]
    if kinds == {da.Array}:
        meta = carry.meta(arrays)
        if isinstance(meta, tuple):
            raise TypeError(f"{op.name} has a tuple state and no lower; give it lower=")
        return over_blocks(arrays, carry, carry.axis, meta)
    carry.meta(arrays)
    return carry.apply(inputs, None)


def _scan_arrow(x: Any, column: ScanColumn) -> Any:
    """Scan Arrow data as an Arrow-backed column of pandas; Arrow comes out."""
    if isinstance(x, (pa.Array, pa.ChunkedArray)):
        data = x
    elif hasattr(x, "__arrow_c_array__"):
        data = pa.array(x)
    elif hasattr(x, "__arrow_c_stream__"):
        data = pa.chunked_array(x)
    else:
        raise TypeError(
            f"x must be an array (NumPy, Dask, Arrow) or a frame or series (pandas, Dask), "
            f"found {type(x).__name__}"
        )
    chunked = data if isinstance(data, pa.ChunkedArray) else pa.chunked_array([data])
    series = pd.Series(pd.arrays.ArrowExtensionArray(chunked), copy=False)
    out = run(series, ColumnCarry(column)).array.__arrow_array__()
    return out if isinstance(data, pa.ChunkedArray) else out.combine_chunks()


def cumsum(x: Any, axis: int | None = None, **options: Any) -> Any:
    """Return the running sum of an array; see `scan` for the parameters.

    Examples
    --------
    >>> import numpy as np, dask_gpuscan
    >>> dask_gpuscan.cumsum(np.array([1, 2, 3]), exclusive=True)
    array([0, 1, 3])
    """
    return scan(x, BUILT_IN["add"], axis, label="cumsum", **options)


def cumprod(x: Any, axis: int | None = None, **options: Any) -> Any:
    """Return the running product of an array; see `scan` for the parameters.

    Examples
    --------
    >>> import numpy as np, dask_gpuscan
    >>> dask_gpuscan.cumprod(np.array([1.0, 2.0, 3.0]))
    array([1., 2., 6.])
    """
    return scan(x, BUILT_IN["multiply"], axis, label="cumprod", **options)


def cummax(x: Any, axis: int | None = None, **options: Any) -> Any:
    """Return the running maximum of an array; see `scan` for the parameters.

    Examples
    --------
    >>> import pyarrow as pa, dask_gpuscan
    >>> dask_gpuscan.cummax(pa.array([1, None, 3])).to_pylist()
    [1, None, 3]
    """
    return scan(x, BUILT_IN["maximum"], axis, label="cummax", **options)


def cummin(x: Any, axis: int | None = None, **options: Any) -> Any:
    """Return the running minimum of an array; see `scan` for the parameters.

    Examples
    --------
    >>> import numpy as np, dask_gpuscan
    >>> dask_gpuscan.cummin(np.array([3, 1, 2]))
    array([3, 1, 1])
    """
    return scan(x, BUILT_IN["minimum"], axis, label="cummin", **options)
