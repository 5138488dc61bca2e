"""Scans of arrays: NumPy, CuPy, Dask, and anything that speaks Arrow; frames are passed on to their accessor.

The type of the input chooses the answer's. This module must never loop over elements.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any, TypedDict, TypeVar, overload

import pandas as pd
import pyarrow as pa
from numpy.typing import NDArray

from ...engines.run import array_engine_of, run
from ...kernels import BUILT_IN, Operator
from ...ops.core.columnwise import ColumnCarry
from ...ops.scan.column_scan import Scan
from ...ops.scan.kernel_scan import ScanArguments
from ..accessors import XARRAY
from ..arguments import check_dtype, check_flags, check_keywords, check_operator, sum_of
from ..on import on
from ..tables.tables import is_table, known_table
from .axis import check_arrays, check_axis, scan_along
from .grids import summed_area_table

if TYPE_CHECKING:
    from typing_extensions import Unpack

X = TypeVar("X")
"""The type of an array or a frame."""


class ScanKeywords(TypedDict, total=False):
    """Keywords of running sums, products and extremes; `Gpuscan.cumsum` describes those of frames."""

    exclusive: bool
    initial: Any
    reverse: bool
    skipna: bool
    dtype: Any
    numeric_only: bool


class SumKeywords(ScanKeywords, total=False):
    """Keywords of running sums."""

    reproducible: bool


def scan(
    x: Any,
    op: Operator,
    axis: int | None = None,
    *,
    exclusive: bool = False,
    initial: Any = None,
    reverse: bool = False,
    skipna: bool | None = None,
    dtype: Any = None,
) -> Any:
    """Scan an array by any operator.

    Parameters
    ----------
    x : array, or tuple of arrays
        NumPy, CuPy and Dask arrays of any number of dimensions (one a parameter of the operator's lift);
        pyarrow Arrays and ChunkedArrays and anything else with ``__arrow_c_array__`` or
        ``__arrow_c_stream__``, which are scanned as pandas scans Arrow-backed columns and come out as
        pyarrow; pandas, cuDF, Dask and polars frames and series, and what else `on` takes.
    op : Operator
    axis : int, optional
        Default: the flattened array, as in NumPy.
    exclusive : bool, default False
        Write the state before each element rather than after it.
    initial : state, optional
        Start from this state of the operator.
    reverse : bool, default False
        Run from the last element to the first.
    skipna : bool, optional
        Pass over NaN and NaT: each gets the state before it, and what comes before the first value is NaN for extremes,
        else the identity. By default False for NumPy, CuPy and Dask arrays; for Arrow and frames True, as in
        `Gpuscan.cumsum`.
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
    numpy.exceptions.AxisError
        For an `axis` that is not there; it is a ValueError and an IndexError.

    See Also
    --------
    operator : Make an operator.
    Gpuscan.scan : Scan a Series or a DataFrame.
    dask_gpuscan.kernels.scan : The primitive itself.

    Examples
    --------
    >>> import numpy as np, dask_gpuscan
    >>> dask_gpuscan.scan(np.array([[1, 5], [7, 3]]), dask_gpuscan.maximum, axis=0)
    array([[1, 5],
           [7, 5]])
    """
    check_operator(op)
    options: dict[str, Any] = {
        "exclusive": exclusive,
        "initial": initial,
        "reverse": reverse,
        "dtype": dtype,
    }
    if skipna is not None:
        options["skipna"] = skipna
    x, is_frame = frame_or_array(x)
    if is_frame:
        check_axis(axis, 1)
        return on(x).scan(op, **options)
    return _scan(f"scan-{op.name}", x, op, axis, options)


def frame_or_array(x: Any) -> tuple[Any, bool]:
    """Return an input, a table as one of polars or pyarrow, and whether it is a frame whose own methods are called.

    Raises
    ------
    TypeError
        For objects of xarray, which have dimensions with names.
    """
    if getattr(type(x), "gpuscan", None) is XARRAY:
        raise TypeError(
            f"x has dimensions with names, found a {type(x).__name__}; call its method, as in x.gpuscan.cumsum(dim)"
        )
    x = known_table(x) if is_table(x) else x
    return x, hasattr(type(x), "gpuscan") or isinstance(x, (pa.Table, pa.RecordBatch))


def _scan(label: str, x: Any, op: Operator, axis: int | None, options: dict[str, Any]) -> Any:
    if not isinstance(x, tuple) and array_engine_of(x).kind(x) is None:
        check_axis(axis, 1)
        found = ScanArguments(**options)
        return _scan_arrow(x, Scan(label, op, replace(found, dtype=check_dtype(found.dtype))))
    arrays = check_arrays(op, x)
    if axis is None and arrays[0].ndim != 1:
        arrays = tuple(_flat(a) for a in arrays)
    return scan_along(label, arrays, op, check_axis(axis, arrays[0].ndim), options)


def _flat(array: Any) -> Any:
    """Return the elements of an array, row by row; Dask cannot reshape an array in chunks without elements."""
    is_in_chunks = not array.size and hasattr(array, "rechunk")
    return (array.rechunk(array.shape) if is_in_chunks else array).ravel()


def _scan_arrow(x: Any, column: Scan) -> Any:
    """Scan Arrow data as an Arrow-backed column of pandas; Arrow comes out."""
    if not isinstance(x, (pa.Array, pa.ChunkedArray)):
        raise TypeError(
            f"x must be an array (NumPy, CuPy, Dask, Arrow) or a frame or series (pandas, cuDF, Dask, polars), "
            f"found {type(x).__name__}"
        )
    chunked = x if isinstance(x, pa.ChunkedArray) else pa.chunked_array([x])
    series = pd.Series(pd.arrays.ArrowExtensionArray(chunked), copy=False)
    out = run(series, ColumnCarry(column)).array.__arrow_array__()
    return out if isinstance(x, pa.ChunkedArray) else out.chunk(0)


def _named(name: str, x: Any, op: str, axis: int | None, options: dict[str, Any]) -> Any:
    """Scan by a built-in operator under the name that pandas and NumPy give it."""
    keywords = SumKeywords if name == "cumsum" else ScanKeywords
    check_keywords(name, options, keywords.__annotations__)
    x, is_frame = frame_or_array(x)
    if is_frame:
        return getattr(on(x), name)(axis=0 if axis is None else axis, **options)
    flags = ("numeric_only", "reproducible")
    check_flags(**{flag: options[flag] for flag in flags if flag in options})
    if options.pop("numeric_only", False):
        raise TypeError(f"numeric_only is for frames, found x of type {type(x).__name__}")
    if options.pop("reproducible", False):
        op = sum_of(True)
    return _scan(name, x, BUILT_IN[op], axis, options)


@overload
def cumsum(
    x: NDArray[Any], axis: int | tuple[int, ...] | None = None, **options: Unpack[SumKeywords]
) -> NDArray[Any]: ...
@overload
def cumsum(
    x: X, axis: int | tuple[int, ...] | None = None, **options: Unpack[SumKeywords]
) -> X: ...
def cumsum(x: Any, axis: int | tuple[int, ...] | None = None, **options: Any) -> Any:
    """Return the running sum of an array; see `scan` for the parameters.

    Along several axes of an array, ``axis=(0, 1)``, it is `summed_area_table`, which takes `dtype` alone;
    ``axis=(0,)`` means ``axis=0``. With
    ``reproducible=True`` the bits of floating-point sums depend on the elements alone, as by `add_reproducible`.

    See Also
    --------
    scan : By any operator; says what the parameters mean.
    summed_area_table : Along several axes.

    Examples
    --------
    >>> import numpy as np, dask_gpuscan
    >>> dask_gpuscan.cumsum(np.array([1, 2, 3]), exclusive=True)
    array([0, 1, 3])
    """
    if isinstance(axis, tuple) and len(axis) == 1 and axis[0] is not None:
        (axis,) = axis
    if isinstance(axis, tuple):
        check_keywords("cumsum of several axes", options, ("dtype",))
        return summed_area_table(x, axis, **options)
    return _named("cumsum", x, "add", axis, options)


@overload
def cumprod(
    x: NDArray[Any], axis: int | None = None, **options: Unpack[ScanKeywords]
) -> NDArray[Any]: ...
@overload
def cumprod(x: X, axis: int | None = None, **options: Unpack[ScanKeywords]) -> X: ...
def cumprod(x: Any, axis: int | None = None, **options: Any) -> Any:
    """Return the running product of an array; see `scan` for the parameters.

    Examples
    --------
    >>> import numpy as np, dask_gpuscan
    >>> dask_gpuscan.cumprod(np.array([1.0, 2.0, 3.0]))
    array([1., 2., 6.])
    """
    return _named("cumprod", x, "multiply", axis, options)


@overload
def cummax(
    x: NDArray[Any], axis: int | None = None, **options: Unpack[ScanKeywords]
) -> NDArray[Any]: ...
@overload
def cummax(x: X, axis: int | None = None, **options: Unpack[ScanKeywords]) -> X: ...
def cummax(x: Any, axis: int | None = None, **options: Any) -> Any:
    """Return the running maximum of an array; see `scan` for the parameters.

    Examples
    --------
    >>> import pyarrow as pa, dask_gpuscan
    >>> dask_gpuscan.cummax(pa.array([1, None, 3])).to_pylist()
    [1, None, 3]
    """
    return _named("cummax", x, "maximum", axis, options)


@overload
def cummin(
    x: NDArray[Any], axis: int | None = None, **options: Unpack[ScanKeywords]
) -> NDArray[Any]: ...
@overload
def cummin(x: X, axis: int | None = None, **options: Unpack[ScanKeywords]) -> X: ...
def cummin(x: Any, axis: int | None = None, **options: Any) -> Any:
    """Return the running minimum of an array; see `scan` for the parameters.

    Examples
    --------
    >>> import numpy as np, dask_gpuscan
    >>> dask_gpuscan.cummin(np.array([3, 1, 2]))
    array([3, 1, 1])
    """
    return _named("cummin", x, "minimum", axis, options)
