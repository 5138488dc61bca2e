"""Puts ``.gpuscan`` on what each library has, once that is imported; the first ``.gpuscan`` imports the rest of us."""

from __future__ import annotations

import sys
from collections.abc import Callable, Sequence
from typing import Any

from ..forks import import_late
from .lazy_import import when_imported


class Late:
    """A class of this folder, imported when an object of it is made or one of its names is looked up.

    Parameters
    ----------
    module : str
        Relative to this folder.
    name : str
        Of the class.
    """

    def __init__(self, module: str, name: str) -> None:
        self._module, self._name = module, name
        self._found: Any = None

    @property
    def _kind(self) -> Any:
        if self._found is None:
            try:
                self._found = getattr(import_late(self._module, __package__), self._name)
            except AttributeError as error:
                # an AttributeError would read as if the frame had no ``gpuscan``
                raise ImportError(f"gpuscan cannot be imported: {error}") from error
        return self._found

    def __call__(self, obj: Any) -> Any:
        """Return an accessor of an object."""
        return (self._found or self._kind)(obj)

    def __getattr__(self, name: str) -> Any:
        return getattr(self._kind, name)

    def __dir__(self) -> list[str]:
        return dir(self._kind)


FRAMES = Late(".accessor", "Gpuscan")
INDEX = Late(".frame.order", "GpuscanIndex")
TABLES = Late(".tables.accessor", "TableGpuscan")
LAZY_FRAMES = Late(".tables.accessor", "LazyGpuscan")
XARRAY = Late(".xarray.accessor", "XarrayGpuscan")


def register_accessors() -> None:
    """Put ``.gpuscan`` on what each library has: now if that has been imported, or once it is."""
    when_imported("pandas", _of_pandas)
    when_imported("dask.dataframe", _of_dask)
    when_imported("cudf", _of_cudf)
    when_imported("polars", _of_polars)
    when_imported("xarray", _of_xarray)
    when_imported("dask_gpuscan.engines.stream.stream", _of_streams)


def _put(rows: Sequence[tuple[type, Callable[[str], Callable[[Any], Any]], Late]]) -> None:
    for cls, decorate, accessor in rows:
        if not hasattr(cls, "gpuscan"):  # a reload must not warn
            decorate("gpuscan")(accessor)


def _of_pandas() -> None:
    import pandas as pd

    extensions = pd.api.extensions
    _put(
        [
            (pd.Series, extensions.register_series_accessor, FRAMES),
            (pd.DataFrame, extensions.register_dataframe_accessor, FRAMES),
            (pd.Index, extensions.register_index_accessor, INDEX),
        ]
    )


def _of_dask() -> None:
    import dask.dataframe as dd
    from dask.dataframe import extensions

    _put(
        [
            # an Index of Dask's is a Series of Dask's, and has its accessor unless it has one first
            (dd.Index, extensions.register_index_accessor, INDEX),
            (dd.Series, extensions.register_series_accessor, FRAMES),
            (dd.DataFrame, extensions.register_dataframe_accessor, FRAMES),
        ]
    )


def _of_cudf() -> None:
    import cudf

    extensions = cudf.api.extensions
    _put(
        [
            (cudf.Series, extensions.register_series_accessor, FRAMES),
            (cudf.DataFrame, extensions.register_dataframe_accessor, FRAMES),
            (cudf.Index, extensions.register_index_accessor, INDEX),
        ]
    )
    when_imported("dask.sizeof", _sizes_of_cudf)


def _sizes_of_cudf() -> None:
    from dask_gpuscan_sizes import register_cudf

    register_cudf(sys.modules["dask.sizeof"].sizeof)


def _of_polars() -> None:
    import polars as pl

    _put(
        [
            (pl.DataFrame, pl.api.register_dataframe_namespace, TABLES),
            (pl.Series, pl.api.register_series_namespace, TABLES),
            (pl.LazyFrame, pl.api.register_lazyframe_namespace, LAZY_FRAMES),
        ]
    )


def _of_xarray() -> None:
    import xarray

    _put(
        [
            (xarray.DataArray, xarray.register_dataarray_accessor, XARRAY),
            (xarray.Dataset, xarray.register_dataset_accessor, XARRAY),
        ]
    )


def _of_streams() -> None:
    from ..engines.stream import stream

    _put([(stream.Stream, stream.register_accessor, FRAMES)])
