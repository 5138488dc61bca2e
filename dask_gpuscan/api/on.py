"""`on`: what ``.gpuscan`` gives, by a function, for whatever speaks Arrow too."""

from __future__ import annotations

from typing import Any

from .table_accessor import TableGpuscan
from .tables import is_table, known_table


def on(obj: Any) -> Any:
    """Return the methods of ``.gpuscan`` on a frame, a series or anything that speaks Arrow as a table.

    Parameters
    ----------
    obj : table, frame or series
        A ``Table``, ``RecordBatch``, ``ChunkedArray`` or ``Array`` of pyarrow, a relation of DuckDB, anything
        else with ``__arrow_c_stream__`` or ``__arrow_c_array__``, or what has ``.gpuscan``: frames and series of
        pandas, cuDF, Dask and polars.

    Returns
    -------
    Gpuscan or TableGpuscan
        Whose answers are of the kind of `obj`: of polars or pyarrow, or frames; those of other tables are
        ``pyarrow.Table`` and ``pyarrow.ChunkedArray``.

    Raises
    ------
    TypeError
        For anything else, and for columns that have no type in Arrow.

    See Also
    --------
    cumsum, cumprod, cummax, cummin, scan : Scans of arrays, which take tables too.

    Examples
    --------
    >>> import pyarrow as pa, dask_gpuscan
    >>> table = pa.table({"k": ["b", "b", "a"], "x": [1, None, 3]})
    >>> dask_gpuscan.on(table).groupby("k")["x"].cumsum().to_pylist()
    [1, None, 3]
    >>> dask_gpuscan.on(table).filter("x > 1").to_pylist()
    [{'k': 'a', 'x': 3}]
    """
    if hasattr(type(obj), "gpuscan"):
        return obj.gpuscan
    if is_table(obj):
        return TableGpuscan(known_table(obj))
    raise TypeError(
        f"obj must be a Series or DataFrame (pandas, cuDF, Dask, polars) or a table with __arrow_c_stream__, "
        f"found {type(obj).__name__}"
    )
