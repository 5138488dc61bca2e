"""Rows of frames read as streams: `resume` goes on from a state, and LazyFrames of polars are joined."""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from typing import TYPE_CHECKING, Any, TypeVar

from ...engines.run import is_stream
from ...forks import importing
from ..tables.tables import is_lazy_frame
from ..types import FrameT, Methods, Obj, SeriesT

if TYPE_CHECKING:
    from ...engines.stream.states.state import State
    from ...engines.stream.stream import Stream

F = TypeVar("F", bound=Callable[..., Any])


def streams_lazy_frames(function: F) -> F:
    """Let a function of two frames take a LazyFrame of polars as the first: its answer is one, too."""

    @wraps(function)
    def call(left: Any, right: Any, *args: Any, **kwargs: Any) -> Any:
        if is_lazy_frame(right):
            if not (is_lazy_frame(left) or is_stream(left)):
                raise TypeError(
                    f"{function.__name__}: right is a LazyFrame, and left is not; give right.collect()"
                )
            right = _stream(right)
        if not is_lazy_frame(left):
            return function(left, right, *args, **kwargs)
        return function(_stream(left), right, *args, **kwargs).to_polars()

    return call  # type: ignore[return-value]


class ResumeMethods(Methods[Obj, SeriesT, FrameT]):
    """The part of `Gpuscan` that goes on from states."""

    def resume(self, state: State | None) -> Stream:
        """Return the rows as a stream whose operations go on from what they have seen of earlier rows.

        Parameters
        ----------
        state : State or None
            Of the same operations, from `Stream.state` or `load_state`; None for the first rows.

        Returns
        -------
        Stream
            ``compute()`` of a stream made from it returns a frame; if the rows are a Dask collection, ``to_dask()``
            returns a collection whose partitions run in parallel.

        See Also
        --------
        dask_gpuscan.stream : More about streams and their states.

        Examples
        --------
        >>> import pandas as pd, dask_gpuscan
        >>> monday = pd.DataFrame({"sold": [4, 2]}).gpuscan.resume(None).gpuscan.cumsum()
        >>> monday.compute()["sold"].tolist()
        [4, 6]
        >>> tuesday = pd.DataFrame({"sold": [5]}).gpuscan.resume(monday.state)
        >>> tuesday.gpuscan.cumsum().compute()["sold"].tolist()
        [11]
        """
        return _stream(self._obj, state)


def _stream(source: Any, state: State | None = None) -> Stream:
    with importing:
        from ..stream import stream

    return stream(source, state=state)
