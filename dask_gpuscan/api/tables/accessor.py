"""``.gpuscan`` of polars and of Arrow tables: the methods of `Gpuscan`, whose answers are tables."""

from __future__ import annotations

import functools
import inspect
from typing import TYPE_CHECKING, Any, NoReturn

from ..absent import attribute
from ..accessor import Gpuscan
from .tables import OF_AN_INDEX, TableSource, bridged, no_index


class TableGpuscan:
    """The methods of `Gpuscan` on a table, or a column, of polars or pyarrow.

    They are read as Arrow-backed frames of pandas, without a copy of numbers, times and strings of Arrow; views of
    strings, which polars has, are copied by each call, so choose the columns that it needs first. Dictionaries become
    categories. What comes back is a table or a column of the same library. Nulls are null, and NaN is a number, but
    in ``diff``, ``pct_change`` and windows, which take it for null. There is no index: keys of groups are columns.

    Parameters
    ----------
    table : table or column
        Of polars or pyarrow.

    See Also
    --------
    on : The same for any table.

    Examples
    --------
    >>> import polars as pl, dask_gpuscan
    >>> df = pl.DataFrame({"k": ["b", "b", "a"], "x": [1, 2, 3]})
    >>> df.gpuscan.groupby("k").agg(total=("x", "sum")).rows()
    [('a', 3), ('b', 3)]
    """

    def __init__(self, table: Any) -> None:
        self._table = table

    def __repr__(self) -> str:
        kind = type(self._table)
        return f"<gpuscan of a {kind.__module__.partition('.')[0]} {kind.__name__}>"

    if not TYPE_CHECKING:  # checkers refuse names that are not methods

        def __getattr__(self, name: str) -> NoReturn:
            """Raise an AttributeError that names what to use instead of a method that is absent."""
            attribute(self, "gpuscan", name)


def _method(name: str, member: Any) -> Any:
    """Return a method, or a property, of tables for that of frames; the table is read when it is called."""
    if name in OF_AN_INDEX:

        @functools.wraps(member)
        def refused(self: TableGpuscan, *_: Any, **__: Any) -> Any:
            raise no_index(name)

        return refused

    def found(self: TableGpuscan) -> Any:
        source = TableSource(self._table)
        return bridged(source, name, getattr(source.frame.gpuscan, name))

    if isinstance(member, property):
        return property(found, doc=member.__doc__)

    @functools.wraps(member)
    def call(self: TableGpuscan, *args: Any, **kwargs: Any) -> Any:
        if kwargs.get("level") is not None:
            raise TypeError(f"{name}: a table has no index, and no level of one; name columns")
        return found(self)(*args, **kwargs)

    return call


for _name, _member in inspect.getmembers(Gpuscan):
    if not _name.startswith("_"):
        setattr(TableGpuscan, _name, _method(_name, _member))


class LazyGpuscan:
    """The ``.gpuscan`` of a ``LazyFrame`` of polars: its one method computes the frame.

    Examples
    --------
    >>> import polars as pl, dask_gpuscan
    >>> lf = pl.LazyFrame({"x": [1, 2]})
    >>> lf.gpuscan.collect().cumsum()["x"].to_list()
    [1, 3]
    """

    def __init__(self, lazy: Any) -> None:
        self._lazy = lazy

    def __repr__(self) -> str:
        return "<gpuscan of a polars LazyFrame, to be collected>"

    def collect(self, **options: Any) -> Gpuscan[Any, Any, Any, bool]:
        """Compute the frame, and return its ``.gpuscan``; options are those of ``LazyFrame.collect``."""
        found: Any = TableGpuscan(self._lazy.collect(**options))
        return found

    def __getattr__(self, name: str) -> Any:
        raise AttributeError(
            f"gpuscan has no {name!r} for a LazyFrame, which has no rows yet; compute it first: gpuscan.collect(), "
            f"or read it in batches: dask_gpuscan.stream(lazy).gpuscan"
        )
