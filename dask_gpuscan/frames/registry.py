"""Which library a frame or series belongs to, and its columns.

A third library is one line in `_FOUND_IN`, and a folder that answers the protocols of `protocol`.
"""

from __future__ import annotations

from typing import Any

from .protocol import Library

_LIBRARIES: dict[type, Library] = {}
"""The library of each type that has been met."""


def library_of(obj: Any) -> Library:
    """Return the library of a frame or series that is not a Dask collection."""
    kind = type(obj)
    if kind not in _LIBRARIES:
        _LIBRARIES[kind] = _library(kind)
    return _LIBRARIES[kind]


def _library(kind: type) -> Library:
    if kind.__module__.partition(".")[0] == "cudf":
        try:
            from .cudf import CUDF
        except ImportError as error:
            raise ImportError(
                f"frames of cuDF need cuDF 26.10 or later from RAPIDS and the extra cuda13 "
                f"(pip install 'dask-gpuscan[cuda13]'): {error}"
            ) from error
        return CUDF
    from .pandas import PANDAS

    return PANDAS


def each(frame: Any) -> list[Any]:
    """Return the columns of a frame, in order; of a series, itself."""
    return [frame] if frame.ndim == 1 else library_of(frame).columns(frame)


def names_of(frame: Any) -> list[Any]:
    """Return the names of the columns of a frame, in order; of a series, its own."""
    return [frame.name] if frame.ndim == 1 else library_of(frame).names(frame)


def column_of(frame: Any, name: Any) -> Any:
    """Return one column of a frame; of a series, itself."""
    return frame if frame.ndim == 1 else library_of(frame).column(frame, name)
