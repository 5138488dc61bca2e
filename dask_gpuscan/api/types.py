"""The types of frames and of arguments that the signatures of public methods name.

`dask_gpuscan.on` sets the types of a class that is generic over these; checkers then know what each method returns.
"""

from __future__ import annotations

import datetime
from collections.abc import Callable, Hashable, Sequence
from typing import TYPE_CHECKING, Any, Generic, Literal, Protocol, TypeAlias, TypeVar

import numpy as np
from pandas.tseries.offsets import BaseOffset

MYPY = False
"""True for mypy, to which cuDF's classes are Any: overloads of these would match whatever is asked."""

if TYPE_CHECKING:
    if MYPY:

        class CudfSeries:
            """Stands for cuDF's Series."""

        class CudfFrame:
            """Stands for cuDF's DataFrame."""

    else:
        pass

Obj = TypeVar("Obj")
"""The frame or series that methods are of."""

SeriesT = TypeVar("SeriesT")
"""The series of its library."""

FrameT = TypeVar("FrameT")
"""The frame of its library."""

ScalarT = TypeVar("ScalarT")
"""The answer to a question: a bool, or a lazy scalar of Dask's."""


class SpeaksArrow(Protocol):
    """A table or column that speaks Arrow."""

    def __arrow_c_stream__(self, requested_schema: Any = None) -> Any: ...


Table = TypeVar("Table", bound=SpeaksArrow)
"""A table or column that speaks Arrow."""


class Lazy(Protocol):
    """A LazyFrame of polars."""

    def explain(self) -> str:
        """Return the plan of the query."""


LazyTable = TypeVar("LazyTable", bound=Lazy)
"""A LazyFrame of polars."""


class HasDimensions(Protocol):
    """A DataArray or a Dataset of xarray."""

    @property
    def chunksizes(self) -> Any:
        """The sizes of chunks along each dimension."""


Dimensioned = TypeVar("Dimensioned", bound=HasDimensions)
"""A DataArray or a Dataset of xarray."""

Names: TypeAlias = Hashable | Sequence[Hashable]
"""One name of a column, or several."""

Reset: TypeAlias = Hashable | SeriesT | Callable[..., Any] | None
"""After which rows a scan starts anew: a column or a series of bool, a text or a function."""

Keys: TypeAlias = Any
"""What rows are grouped by: names, and series, arrays, functions of labels and groupers of pandas."""

Axis: TypeAlias = Literal[0, 1, "index", "columns", "rows"]

Duration: TypeAlias = str | datetime.timedelta | np.timedelta64 | BaseOffset

Keep: TypeAlias = Literal["first", "last"]

Closed: TypeAlias = Literal["right", "left", "both", "neither"]

Side: TypeAlias = Literal["left", "right"]

TopKeep: TypeAlias = Literal["first", "last", "all"]

Interpolation: TypeAlias = Literal["linear", "lower", "higher", "midpoint", "nearest"]


class Methods(Generic[Obj, SeriesT, FrameT]):
    """Methods of a frame or series, or of its rows in groups or windows."""

    _obj: Any
