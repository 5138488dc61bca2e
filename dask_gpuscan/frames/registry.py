"""Finds the library that a frame or series belongs to, its columns and its schema.

A further library is a folder next to `pandas` and `cudf`, and a row in `LIBRARIES`.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Sequence
from typing import Any, NoReturn

import numpy as np
import pandas as pd

from ..forks import import_late
from ..kernels.late_dataclass import dataclass
from .messages import FLAG
from .protocol import Library
from .types import Column, Values, View


@dataclass(frozen=True)
class LibrarySource:
    """The place from which the object of a library is imported."""

    module: str
    name: str
    needs: str
    """The message if that cannot be imported."""


LIBRARIES = {
    "pandas": LibrarySource(
        "dask_gpuscan.frames.pandas.library",
        "PANDAS",
        "frames of pandas need pandas 2.2.2 or later",
    ),
    "cudf": LibrarySource(
        "dask_gpuscan.frames.cudf.library",
        "CUDF",
        "frames of cuDF need cuDF 26.10 or later from RAPIDS and the extra cuda13 "
        "(pip install 'dask-gpuscan[cuda13]')",
    ),
}
"""The libraries, by the top-level package in which the types of their frames, or bases of these, are defined."""

LIBRARY_OF: dict[type, Library] = {}
"""The library of each type that was asked for before."""


def library_of(obj: Any) -> Library:
    """Return the library of a frame, series or column that is not a Dask collection."""
    try:
        return LIBRARY_OF[type(obj)]
    except KeyError:
        return LIBRARY_OF.setdefault(type(obj), _library(type(obj)))


def is_frame(obj: Any) -> bool:
    """Return whether an object is of one of the libraries: a frame, a series or an index."""
    return _source(type(obj)) is not None


def is_rows(obj: Any) -> bool:
    """Return whether an object is a frame or a series of one of the libraries."""
    return is_frame(obj) and hasattr(type(obj), "iloc")


def _source(kind: type) -> LibrarySource | None:
    packages = (base.__module__.partition(".")[0] for base in kind.__mro__)
    return next((LIBRARIES[p] for p in packages if p in LIBRARIES), None)


def _library(kind: type) -> Library:
    source = _source(kind)
    if source is None:
        raise TypeError(
            f"expected a frame or series of {' or '.join(LIBRARIES)}, found {kind.__name__}"
        )
    try:
        library: Library = getattr(import_late(source.module), source.name)
    except ImportError as error:
        raise ImportError(f"{source.needs}: {error}") from error
    return library


def columns_of(frame: Any) -> list[Any]:
    """Return the columns of a frame, in order; of a series, itself."""
    return [frame] if frame.ndim == 1 else library_of(frame).columns(frame)


def names_of(frame: Any) -> list[Any]:
    """Return the names of the columns of a frame, in order; of a series, its own."""
    return [frame.name] if frame.ndim == 1 else library_of(frame).names(frame)


def check_names(names: Iterable[Hashable]) -> None:
    """Raise a ValueError for a column, or a series, that is named <NA>, as that can be compared with no name."""
    for name in names:
        if name is pd.NA:
            raise ValueError(
                "a column is named <NA>, which no name can be compared with; rename it first"
            )


def unused_name(name: str, known: Sequence[Hashable]) -> str:
    """Return a name that is not among these: this name, followed by underscores if need be."""
    while name in known:
        name += "_"
    return name


def of_levels(name: str, frame: Any) -> Hashable:
    """Return a name for a new column, which has a level for each one of the labels of a frame."""
    levels = frame.columns.nlevels
    return name if levels == 1 else (name, *[""] * (levels - 1))


def column_of(frame: Any, name: Hashable) -> Any:
    """Return one column of a frame; of a series, itself."""
    column: Column = frame if frame.ndim == 1 else library_of(frame).column(frame, name)
    return column


def choose_columns(frame: Any, names: Iterable[Hashable]) -> Any:
    """Return a frame with the columns of these names; a series as it is."""
    if frame.ndim == 1:
        return frame
    library = library_of(frame)
    names, known = list(names), library.names(frame)
    # a list of names that are bool would be a mask of rows, and pandas is slow to look texts up
    are_flags = bool(names) and set(FLAG).issuperset(map(type, names))
    has_all = len(set(known)) == len(known) and set(names).issubset(known)
    if not are_flags and not (isinstance(frame, pd.DataFrame) and has_all):
        return frame[names]
    if names == known:
        return frame.copy(deep=False)
    return library.columns_at(frame, [known.index(name) for name in names])


def stored_numbers(column: Column) -> Values:
    """Return the numbers that a column of fixed width stores, with those in the place of nulls, without a copy."""
    library = library_of(column)
    layout = library.layout(column.dtype)
    assert layout is not None
    return layout.raw(library.array(column)).values


def view_of(column: Column) -> View:
    """Show a column of fixed width with its nulls, without a copy."""
    library = library_of(column)
    layout = library.layout(column.dtype)
    assert layout is not None
    return layout.view(library.array(column))


@dataclass(frozen=True)
class Schema:
    """Names and dtypes of columns; extension dtypes by name, as categories may differ by partition."""

    names: tuple[Hashable, ...]
    dtypes: tuple[Any, ...]
    levels: tuple[tuple[Hashable, Any], ...] = ()
    """Names and dtypes of the levels of the index that have names: they can be keys."""

    @property
    def fits(self) -> bool:
        """Whether names are names, and each has a dtype, as may not be in a file."""
        pairs = [*zip(self.names, self.dtypes, strict=False), *self.levels]
        return len(self.names) == len(self.dtypes) and all(
            isinstance(name, Hashable) and isinstance(dtype, np.dtype | str)
            for name, dtype in pairs
        )


def aligned(partition: Any, names: Sequence[Hashable] | None) -> Any:
    """Return a partition with its columns in the order of `names`, those of its collection.

    A series is returned as it is. Raises a ValueError if the partition has other columns.
    """
    if names is None or partition.ndim == 1:
        return partition
    found = library_of(partition).names(partition)
    if found == names or same_names(found, names):
        return partition
    places = [next((i for i, f in enumerate(found) if _is_same(f, n)), None) for n in names]
    if len(found) != len(names) or set(places) != set(range(len(found))):
        _refuse_names(names, found)
    return partition.iloc[:, places]


def _is_same(one: Hashable, other: Hashable) -> bool:
    """Return whether two names are the same; NaN equals NaN."""
    return bool(one == other or (one != one and other != other))


def same_names(one: Sequence[Hashable], other: Sequence[Hashable]) -> bool:
    """Return whether names are the same, in the same order."""
    return len(one) == len(other) and all(map(_is_same, one, other))


def schema_of(frame: Any) -> Schema:
    """Return the names and dtypes of the columns of a frame, or of a series, and of its index."""
    library = library_of(frame)
    names = [frame.name] if frame.ndim == 1 else library.names(frame)
    dtypes = [frame.dtype] if frame.ndim == 1 else library.dtypes(frame)
    levels: list[tuple[Hashable, Any]] = []
    of_levels = library.index_names(frame)
    if [name for name in of_levels if name is not None]:
        for name, dtype in zip(of_levels, library.index_dtypes(frame), strict=True):
            if name is not None:
                levels.append((name, _plain(dtype)))
    plain = [dtype if isinstance(dtype, np.dtype) else str(dtype) for dtype in dtypes]
    return Schema(tuple(names), tuple(plain), tuple(levels))


def schema_of_columns(columns: Sequence[Column]) -> Schema:
    """Return the names and dtypes of columns."""
    return Schema(tuple([c.name for c in columns]), tuple([_plain(c.dtype) for c in columns]))


def _plain(dtype: Any) -> Any:
    return dtype if isinstance(dtype, np.dtype) else str(dtype)


EXPLAINED = (TypeError, AssertionError)
"""Errors that other dtypes than those that were checked lead to."""


def explain_failure(checked: Schema | None, partition: Any) -> None:
    """Raise a ValueError if a partition, whose computation failed, has other dtypes than those that were checked.

    The dtypes of some Dask collections are not those of their partitions.
    """
    if checked is not None:
        common_schema([checked, schema_of(partition)])


def common_schema(schemas: Sequence[Schema]) -> Schema:
    """Return the one schema of all; raises a ValueError that names the first difference."""
    for other in schemas[1:]:
        _check_schema(schemas[0], other)
    return schemas[0]


def _check_schema(earlier: Schema, later: Schema) -> None:
    """Raise a ValueError that names a difference between partitions."""
    if earlier == later:
        return
    if not same_names(earlier.names, later.names):
        _refuse_names(earlier.names, later.names)
    for name, dtype, other in zip(earlier.names, earlier.dtypes, later.dtypes, strict=True):
        if dtype != other:
            raise ValueError(
                f"partitions do not match: column {name!r} is {dtype} in one and {other} in another; "
                f"cast it with astype first"
            )
    others = dict(later.levels)
    for name, dtype in earlier.levels:
        if dtype != others.get(name, dtype):
            raise ValueError(
                f"partitions do not match: index {name!r} is {dtype} in one and {others[name]} in another; "
                f"cast it with astype first"
            )


def _refuse_names(one: Sequence[Hashable], other: Sequence[Hashable]) -> NoReturn:
    lists = [", ".join(map(str, names)) for names in (one, other)]
    raise ValueError(f"partitions do not match: columns ({lists[0]}) and ({lists[1]})")
