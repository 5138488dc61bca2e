"""The ``.gpuscan`` accessor of pandas, cuDF and Dask Series and DataFrames.

Its methods are kept by theme, one module each.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Generic, NoReturn

from ..engines.run import engine_of
from .absent import attribute
from .frame.duplicates import DuplicateMethods
from .frame.filter import FilterMethods
from .frame.fold import FoldMethods
from .frame.interpolate import InterpolateMethods
from .frame.intervals import IntervalMethods
from .frame.lists import ListMethods
from .frame.order import OrderMethods
from .frame.ordered import OrderByMethods
from .frame.rank import RankMethods
from .frame.resume import ResumeMethods
from .frame.rows import RowMethods
from .frame.runs import RunMethods
from .frame.scans import ScanMethods
from .frame.sessions import SessionMethods
from .frame.shift import ShiftMethods
from .frame.sort import SortMethods
from .frame.top import TopMethods
from .groupby.groupby import GroupMethods
from .types import FrameT, Obj, ScalarT, SeriesT
from .windows.expanding import WindowMethods
from .windows.resample import ResampleMethods


class Gpuscan(
    ScanMethods[Obj, SeriesT, FrameT],
    RowMethods[Obj, SeriesT, FrameT],
    InterpolateMethods[Obj, SeriesT, FrameT],
    WindowMethods[Obj, SeriesT, FrameT],
    FilterMethods[Obj, SeriesT, FrameT],
    FoldMethods[Obj, SeriesT, FrameT],
    RunMethods[Obj, SeriesT, FrameT],
    ListMethods[Obj, SeriesT, FrameT],
    GroupMethods[Obj, SeriesT, FrameT],
    SessionMethods[Obj, SeriesT, FrameT],
    IntervalMethods[Obj, SeriesT, FrameT],
    ResampleMethods[Obj, SeriesT, FrameT],
    OrderMethods[ScalarT],
    OrderByMethods[Obj, SeriesT, FrameT],
    DuplicateMethods[Obj, SeriesT, FrameT],
    RankMethods[Obj, SeriesT, FrameT],
    SortMethods[Obj, SeriesT, FrameT],
    ShiftMethods[Obj, SeriesT, FrameT],
    TopMethods[Obj, SeriesT, FrameT],
    ResumeMethods[Obj, SeriesT, FrameT],
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
        self._obj = engine_of(obj).accepted(obj)

    def __repr__(self) -> str:
        return f"<gpuscan of a {type(self._obj).__module__.partition('.')[0]} {type(self._obj).__name__}>"

    if not TYPE_CHECKING:  # checkers refuse names that are not methods

        def __getattr__(self, name: str) -> NoReturn:
            """Raise an AttributeError that names what to use instead of a method of pandas that is absent."""
            attribute(self, "gpuscan", name)
