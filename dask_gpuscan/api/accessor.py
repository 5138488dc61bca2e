"""The ``.gpuscan`` accessor of pandas, cuDF and Dask Series and DataFrames.

Its methods are kept by theme, one module each.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Generic, NoReturn

import dask.dataframe as dd
import pandas as pd
from dask.dataframe import extensions

from ..engines.run import as_taken
from ..engines.stream import stream
from .absent import no_attribute
from .frame.duplicates import DuplicateMethods
from .frame.filter import FilterMethods
from .frame.interpolate import InterpolateMethods
from .frame.lists import ListMethods
from .frame.order import GpuscanIndex, OrderMethods
from .frame.rank import RankMethods
from .frame.rows import RowMethods
from .frame.runs import RunMethods
from .frame.scans import ScanMethods
from .frame.sessions import SessionMethods
from .frame.shift import ShiftMethods
from .frame.sort import SortMethods
from .frame.top import TopMethods
from .groupby.groupby import GroupMethods
from .lazy_import import when_imported
from .stream import StreamMethods
from .types import FrameT, Obj, ScalarT, SeriesT
from .windows.expanding import WindowMethods
from .windows.resample import ResampleMethods
from .windows.rolling import RollingMethods


class Gpuscan(
    ScanMethods[Obj, SeriesT, FrameT],
    RowMethods[Obj, SeriesT, FrameT],
    InterpolateMethods[Obj, SeriesT, FrameT],
    WindowMethods[Obj, SeriesT, FrameT],
    RollingMethods[Obj, SeriesT, FrameT],
    FilterMethods[Obj, SeriesT, FrameT],
    RunMethods[Obj, SeriesT, FrameT],
    ListMethods[Obj, SeriesT, FrameT],
    GroupMethods[Obj, SeriesT, FrameT],
    SessionMethods[Obj, SeriesT, FrameT],
    ResampleMethods[Obj, SeriesT, FrameT],
    OrderMethods[ScalarT],
    DuplicateMethods[Obj, SeriesT, FrameT],
    RankMethods[Obj, SeriesT, FrameT],
    SortMethods[Obj, SeriesT, FrameT],
    ShiftMethods[Obj, SeriesT, FrameT],
    TopMethods[Obj, SeriesT, FrameT],
    StreamMethods[Obj, SeriesT, FrameT],
    Generic[Obj, SeriesT, FrameT, ScalarT],
):
    """Ordered operations on a pandas, cuDF or Dask Series or DataFrame, reached as ``.gpuscan``.

    On pandas and cuDF objects the answer is computed at once; on Dask collections it is lazy. It is that of
    pandas (or cuDF) on the whole data, whatever the partitions. Index, divisions, names and dtypes are kept.

    Examples
    --------
    >>> import pandas as pd, dask.dataframe as dd, dask_gpuscan
    >>> df = pd.DataFrame({"x": [1, 2, 3, 4]})
    >>> df.gpuscan.cumsum()["x"].tolist()
    [1, 3, 6, 10]
    >>> ddf = dd.from_pandas(df, npartitions=2)
    >>> ddf.gpuscan.cumsum()["x"].compute().tolist()
    [1, 3, 6, 10]
    """

    def __init__(self, obj: Obj) -> None:
        self._obj = as_taken(obj)

    def __repr__(self) -> str:
        return f"<gpuscan of a {type(self._obj).__module__.partition('.')[0]} {type(self._obj).__name__}>"

    if not TYPE_CHECKING:  # checkers refuse names that are not methods

        def __getattr__(self, name: str) -> NoReturn:
            """Raise an AttributeError that names what to use instead of a method of pandas that is absent."""
            if name.startswith("_"):
                raise AttributeError(name)
            raise no_attribute(self, "gpuscan", name)


def register() -> None:
    """Put ``.gpuscan`` on streams and on what pandas and Dask have; on cuDF's frames once cuDF is imported."""
    pandas = pd.api.extensions
    for cls, decorate, accessor in (
        (pd.Series, pandas.register_series_accessor, Gpuscan),
        (pd.DataFrame, pandas.register_dataframe_accessor, Gpuscan),
        (pd.Index, pandas.register_index_accessor, GpuscanIndex),
        # an Index of Dask's is a Series of Dask's, and has its accessor unless it has one first
        (dd.Index, extensions.register_index_accessor, GpuscanIndex),
        (dd.Series, extensions.register_series_accessor, Gpuscan),
        (dd.DataFrame, extensions.register_dataframe_accessor, Gpuscan),
        (stream.Stream, stream.register_accessor, Gpuscan),
    ):
        if not hasattr(cls, "gpuscan"):  # a reload must not warn
            decorate("gpuscan")(accessor)
    when_imported("cudf", _register_cudf)


def _register_cudf() -> None:
    import cudf
    from dask.sizeof import sizeof

    from dask_gpuscan_sizes import register_cudf

    register_cudf(sizeof)
    if not hasattr(cudf.Series, "gpuscan"):
        cudf.api.extensions.register_series_accessor("gpuscan")(Gpuscan)
        cudf.api.extensions.register_dataframe_accessor("gpuscan")(Gpuscan)
        cudf.api.extensions.register_index_accessor("gpuscan")(GpuscanIndex)
