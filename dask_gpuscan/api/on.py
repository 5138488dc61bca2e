"""`on`: what ``.gpuscan`` gives, by a function whose types checkers and editors know, for tables of Arrow too."""

# pandas is read as Any here, so that overloads look alike. Protocols are the bounds of type variables: to mypy a Series
# of pandas-stubs, which has __getattr__, is whatever a protocol asks for, and on(series) would be Any.
# mypy: disable-error-code="overload-cannot-match"

from __future__ import annotations

from typing import TYPE_CHECKING, Any, TypeAlias, overload

import pandas as pd

from .accessor import Gpuscan
from .frame.order import GpuscanIndex
from .tables.accessor import LazyGpuscan, TableGpuscan
from .tables.tables import is_table, known_table
from .types import Dimensioned, LazyTable, Table
from .xarray.accessor import XarrayGpuscan

if TYPE_CHECKING:
    import dask.dataframe as dd

    from ..engines.stream.stream import Stream
    from .types import CudfFrame, CudfSeries

    OnSeries: TypeAlias = Gpuscan[pd.Series, pd.Series, pd.DataFrame, bool]
    OnFrame: TypeAlias = Gpuscan[pd.DataFrame, pd.Series, pd.DataFrame, bool]
    OnDaskSeries: TypeAlias = Gpuscan[dd.Series, dd.Series, dd.DataFrame, dd.Scalar]
    OnDaskFrame: TypeAlias = Gpuscan[dd.DataFrame, dd.Series, dd.DataFrame, dd.Scalar]
    OnCudfSeries: TypeAlias = Gpuscan[CudfSeries, CudfSeries, CudfFrame, bool]
    OnCudfFrame: TypeAlias = Gpuscan[CudfFrame, CudfSeries, CudfFrame, bool]


@overload
def on(obj: dd.Series) -> OnDaskSeries: ...
@overload
def on(obj: dd.DataFrame) -> OnDaskFrame: ...
@overload
def on(obj: pd.Series) -> OnSeries: ...
@overload
def on(obj: pd.DataFrame) -> OnFrame: ...
@overload
def on(obj: CudfSeries) -> OnCudfSeries: ...
@overload
def on(obj: CudfFrame) -> OnCudfFrame: ...
@overload
def on(obj: Stream) -> Gpuscan[Stream, Any, Any, Any]: ...
@overload
def on(obj: Dimensioned) -> XarrayGpuscan[Dimensioned]: ...
@overload
def on(obj: Table) -> Gpuscan[Table, Any, Any, bool]: ...
@overload
def on(obj: LazyTable) -> LazyGpuscan: ...
def on(obj: Any) -> Any:
    """Return the methods of ``.gpuscan``, of a type that checkers and editors know, for tables that speak Arrow too.

    Accessors are put on classes of other libraries when this package is imported, so a checker cannot see them. It does
    see the type that this function returns, and the type that each of its methods returns: objects of pandas for
    pandas, of Dask for Dask.

    Parameters
    ----------
    obj : Series, DataFrame, table, DataArray or Dataset
        Of pandas, cuDF, Dask or polars; of xarray; a ``Table``, ``RecordBatch``, ``ChunkedArray`` or ``Array`` of
        pyarrow; a relation of DuckDB, or anything else with ``__arrow_c_stream__`` or ``__arrow_c_array__``.

    Returns
    -------
    Gpuscan, TableGpuscan or XarrayGpuscan
        The same as ``obj.gpuscan``, where there is one. Answers are of the kind of `obj`; those of tables that are
        neither of polars nor of pyarrow are ``pyarrow.Table`` and ``pyarrow.ChunkedArray``.

    Raises
    ------
    TypeError
        For any other object, and for columns that have no type in Arrow.

    See Also
    --------
    Gpuscan : The methods.
    XarrayGpuscan : Those of xarray.
    cumsum, cumprod, cummax, cummin, scan : Scans of arrays, which take tables too.

    Examples
    --------
    >>> import pandas as pd, pyarrow as pa, dask_gpuscan
    >>> df = pd.DataFrame({"x": [1, 2, 3]})
    >>> dask_gpuscan.on(df).cumsum()["x"].tolist()
    [1, 3, 6]
    >>> table = pa.table({"k": ["b", "b", "a"], "x": [1, None, 3]})
    >>> dask_gpuscan.on(table).groupby("k")["x"].cumsum().to_pylist()
    [1, None, 3]
    """
    found = getattr(obj, "gpuscan", None) if hasattr(type(obj), "gpuscan") else None
    if found is None and is_table(obj):
        found = TableGpuscan(known_table(obj))
    if not isinstance(found, Gpuscan | TableGpuscan | LazyGpuscan | XarrayGpuscan):
        way_out = "; take to_series() of it" if isinstance(found, GpuscanIndex) else ""
        raise TypeError(
            f"obj must be a Series or DataFrame of pandas, cuDF, Dask or polars, a table with __arrow_c_stream__, or "
            f"a DataArray or Dataset of xarray, found {type(obj).__name__}{way_out}"
        )
    return found
