"""A partition cut into pieces, one for each new partition, and new partitions joined from these pieces."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import ExitStack
from functools import cached_property
from itertools import pairwise
from typing import Any, Protocol, TypeAlias

import numpy as np

from ... import kernels
from ...frames.keys import By, named_keys
from ...frames.protocol import Library
from ...frames.registry import Schema, library_of, schema_of
from ...frames.types import Array, Frame, Values
from ...kernels.late_dataclass import dataclass
from ..core.flat_frame import FlatColumn, flat_columns
from ..core.groups import INT64

Flat: TypeAlias = tuple[list[FlatColumn], list[Values]]
"""How columns lie in arrays, and the arrays."""


@dataclass(frozen=True)
class PartitionSlices:
    """A partition cut into pieces: each is some adjacent rows, which are not copied."""

    rows: Any
    """The rows of all pieces."""
    bounds: Values
    """Where each piece starts and stops, of shape (pieces, 2), on the host."""

    @staticmethod
    def of(rows: Frame, bounds: Sequence[Sequence[int]]) -> PartitionSlices:
        return PartitionSlices(rows, np.array(bounds, np.int64).reshape(-1, 2))

    def __reduce__(self) -> Any:  # without cached properties
        return PartitionSlices, (self.rows, self.bounds)

    def __getitem__(self, number: int) -> Any:
        start, stop = self.bounds[number].tolist()
        return self.library.rows(self.rows, slice(start, stop))

    def has_rows(self, number: int) -> bool:
        return bool(self.bounds[number, 0] < self.bounds[number, 1])

    def filled(self) -> Iterator[tuple[int, PartitionSlices]]:
        """Return the pieces that have rows, and the first one, so that one task sees the columns of all partitions."""
        for number in range(len(self.bounds)):
            if number == 0 or self.has_rows(number):
                rows = self[number]
                yield number, PartitionSlices.of(rows, [(0, len(rows))])

    def some(self, first: int, last: int) -> list[Any]:
        """Return the pieces from one to another as rows and bounds, which Dask sends without a copy."""
        bounds = self.bounds[first:last]
        filled = bounds[bounds[:, 0] < bounds[:, 1]]
        start, stop = (int(filled.min()), int(filled.max())) if len(filled) else (0, 0)
        rows = self.library.rows(self.rows, slice(start, stop))
        return [rows, np.clip(bounds - start, 0, stop - start)]

    def flat(self) -> Flat:
        """Return the columns, and the index as the last of them, in arrays."""
        # cuDF may spill between two tasks
        return self._on_host if self.library.xp is np else self._flat()

    def _flat(self) -> Flat:
        rows, library = self.rows, self.library
        columns = [rows] if rows.ndim == 1 else library.columns(rows)
        return flat_columns(library, [*columns, library.index_level(rows, 0)])

    @cached_property
    def _on_host(self) -> Flat:
        return self._flat()

    @cached_property
    def library(self) -> Library:
        """The library of the rows."""
        return library_of(self.rows)

    @cached_property
    def schema(self) -> Schema:
        """The names and dtypes, which all partitions must share."""
        return schema_of(self.rows)

    @cached_property
    def kind(self) -> Any:
        """A value that pieces must share to be joined column by column; None if they cannot be."""
        rows, library = self.rows, self.library
        index = library.index(rows)
        dtypes = [rows.dtype] if rows.ndim == 1 else library.dtypes(rows)
        plain = (
            index.nlevels == 1
            and isinstance(index.dtype, np.dtype)
            and index.dtype.kind in "iufbmM"
        )
        if not plain or any(hasattr(dtype, "categories") for dtype in dtypes):
            return None
        return type(rows), self.schema.names, dtypes, index.dtype, index.name


def are_alike(parts: Sequence[PartitionSlices]) -> bool:
    """Return whether pieces of partitions can be joined column by column."""
    first = parts[0].kind
    return first is not None and all(part.kind == first for part in parts[1:])


def join_alike(parts: Sequence[PartitionSlices], number: int) -> Any:
    """Return the pieces with a number, one after the other; they are alike."""
    first, library = parts[0].rows, parts[0].library
    with ExitStack() as stack:
        for part in parts:
            stack.enter_context(library.acquire(part.rows))
        flats = [part.flat() for part in parts]
        ranges = [part.bounds[number].tolist() for part in parts]
        count = len(flats[0][0])
        *arrays, labels = [
            _concatenated_column(library, flats, ranges, place) for place in range(count)
        ]
        index = library.key_index([labels], library.index_names(first))
        return library.rebuild(first, arrays, index)


def _concatenated_column(
    library: Library, flats: Sequence[Flat], ranges: Sequence[Sequence[int]], place: int
) -> Array:
    """Return these rows of the columns at one place."""
    xp, columns = library.xp, [columns[place] for columns, _ in flats]
    layout, dtype = columns[0].layout, columns[0].dtype
    if layout is None:
        pairs = zip(columns, ranges, strict=True)
        return library.concatenate([library.slice_array(c.array, *ends) for c, ends in pairs])

    def rows(after: int) -> Values:
        found = []
        for (_, arrays), column, (start, stop) in zip(flats, columns, ranges, strict=True):
            if after and not column.masked:
                found.append(xp.zeros(stop - start, np.bool_))
            else:
                found.append(arrays[column.start + after][start:stop])
        return xp.concatenate(found)

    missing = rows(1) if [column for column in columns if column.masked] else None
    return layout.wrap(rows(0), missing, dtype)


class Splitter(Protocol):
    """How partitions are cut."""

    @property
    def label(self) -> str:
        """For the names of tasks."""

    def pieces(self, frame: Frame, count: int) -> PartitionSlices:
        """Return the rows of a partition for each of `count` new ones, as these will hold them."""


class Join(Protocol):
    """A function that joins the pieces of a new partition."""

    def __call__(
        self, parts: Sequence[PartitionSlices], number: int, origins: Sequence[int]
    ) -> Any:
        """Return the new partition of a number, given its pieces and which partitions they came from, in order."""


@dataclass(frozen=True)
class ByKey:
    """Rows with equal keys go to one new partition, in their order."""

    by: By
    label = "by-key"

    def pieces(self, frame: Frame, count: int) -> PartitionSlices:
        library = library_of(frame)
        with library.acquire(frame):
            series = self.by.series(library, frame)
            with named_keys(series):
                hashes = library.hash_rows(series)
            targets = (hashes % library.xp.uint64(count)).astype(INT64)
            return pieces_of(frame, kernels.argsort(targets), targets, count)


def pieces_of(frame: Frame, order: Values, targets: Values, count: int) -> PartitionSlices:
    """Return the rows of a partition by target, given an order of rows in which targets do not decrease."""
    library = library_of(frame)
    xp = library.xp
    bounds = xp.searchsorted(targets[order], xp.arange(count + 1, dtype=INT64)).tolist()
    return PartitionSlices.of(library.rows(frame, order), list(pairwise(bounds)))
