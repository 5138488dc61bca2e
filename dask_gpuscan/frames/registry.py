"""Which library a frame or series belongs to, and its columns.

A further library is a folder beside `pandas` and `cudf`, and a row in `LIBRARIES`.
"""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from dataclasses import dataclass
from importlib import import_module
from typing import Any

import numpy as np

from .protocol import Column, Library, Values


@dataclass(frozen=True)
class Source:
    """Where the object of a library is imported from."""

    module: str
    name: str
    needs: str
    """What is said if that cannot be imported."""


LIBRARIES = {
    "pandas": Source("dask_gpuscan.frames.pandas", "PANDAS", "frames of pandas need pandas 3"),
    "cudf": Source(
        "dask_gpuscan.frames.cudf",
        "CUDF",
        "frames of cuDF need cuDF 26.10 or later from RAPIDS and the extra cuda13 "
        "(pip install 'dask-gpuscan[cuda13]')",
    ),
}
"""The libraries, by the top-level package in which the types of their frames, or bases of these, are defined."""

LIBRARY_OF: dict[type, Library] = {}
"""The library of each type that has been met."""


def library_of(obj: Any) -> Library:
    """Return the library of a frame, series or column that is not a Dask collection."""
    try:
        return LIBRARY_OF[type(obj)]
    except KeyError:
        return LIBRARY_OF.setdefault(type(obj), _library(type(obj)))


def is_frame(obj: Any) -> bool:
    """Tell whether an object is of one of the libraries: a frame, a series or an index."""
    return _source(type(obj)) is not None


def _source(kind: type) -> Source | None:
    packages = (base.__module__.partition(".")[0] for base in kind.__mro__)
    return next((LIBRARIES[p] for p in packages if p in LIBRARIES), None)


def _library(kind: type) -> Library:
    source = _source(kind)
    if source is None:
        raise TypeError(
            f"expected a frame or series of {' or '.join(LIBRARIES)}, found {kind.__name__}"
        )
    try:
        library: Library = getattr(import_module(source.module), source.name)
    except ImportError as error:
        raise ImportError(f"{source.needs}: {error}") from error
    return library


def each(frame: Any) -> list[Any]:
    """Return the columns of a frame, in order; of a series, itself."""
    return [frame] if frame.ndim == 1 else library_of(frame).columns(frame)


def names_of(frame: Any) -> list[Any]:
    """Return the names of the columns of a frame, in order; of a series, its own."""
    return [frame.name] if frame.ndim == 1 else library_of(frame).names(frame)


def unused_name(name: str, known: Sequence[Hashable]) -> str:
    """Return a name that none of these is: this one, with underscores behind it if need be."""
    while name in known:
        name += "_"
    return name


def column_of(frame: Any, name: Hashable) -> Any:
    """Return one column of a frame; of a series, itself."""
    column: Column = frame if frame.ndim == 1 else library_of(frame).column(frame, name)
    return column


def stored_numbers(column: Column) -> Values:
    """Return the numbers that a column of fixed width stores, those of nulls among them, without a copy."""
    library = library_of(column)
    layout = library.layout(column.dtype)
    assert layout is not None
    return layout.raw(library.array(column)).values


Schema = tuple[tuple[Hashable, Any], ...]
"""Names and dtypes of columns; extension dtypes by name, as categories may differ by partition."""


def schema_of(frame: Any) -> Schema:
    """Return the names and dtypes of the columns of a frame, or of a series."""
    return schema_of_columns(each(frame))


def schema_of_columns(columns: Sequence[Column]) -> Schema:
    """Return the names and dtypes of columns."""
    return tuple(
        (c.name, c.dtype if isinstance(c.dtype, np.dtype) else str(c.dtype)) for c in columns
    )


def common_schema(schemas: Sequence[Schema]) -> Schema:
    """Return the one schema of all; raises a ValueError that names what differs."""
    for other in schemas[1:]:
        _check_schema(schemas[0], other)
    return schemas[0]


def _check_schema(earlier: Schema, later: Schema) -> None:
    """Raise a ValueError that names what differs between partitions."""
    if earlier == later:
        return
    if len(earlier) != len(later) or any(a[0] != b[0] for a, b in zip(earlier, later, strict=True)):
        names = [", ".join(str(name) for name, _ in s) for s in (earlier, later)]
        raise ValueError(f"partitions do not match: columns ({names[0]}) and ({names[1]})")
    name, dtype, other = next(
        (a[0], a[1], b[1]) for a, b in zip(earlier, later, strict=True) if a != b
    )
    raise ValueError(
        f"partitions do not match: column {name!r} is {dtype} in one and {other} in another; "
        f"cast it with astype first"
    )
