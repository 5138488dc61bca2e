"""A frame as arrays that kernels move, and frames made of the moved rows.

Columns of fixed width are arrays; others and the index are gathered at the positions of the rows.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ... import kernels
from ...frames.protocol import Library
from ...frames.types import Array, Column, DType, Labels, Layout, Values
from ...kernels.late_dataclass import dataclass
from .groups import INT64


@dataclass(frozen=True)
class FlatColumn:
    """How a column lies in the arrays of its frame."""

    array: Array
    dtype: DType
    layout: Layout | None
    """None if its values have no fixed width."""
    start: int
    """Which array of the frame holds its numbers."""
    masked: bool
    """Whether the next array says where it is null."""

    def wrapped(self, arrays: Sequence[Values]) -> Array:
        """Return the column made of these arrays, which replace those of its frame."""
        assert self.layout is not None
        missing = arrays[self.start + 1] if self.masked else None
        return self.layout.wrap(arrays[self.start], missing, self.dtype)


@dataclass(frozen=True)
class FlatFrame:
    """A frame or series of a library, and its arrays of fixed width."""

    library: Library
    frame: Any
    columns: list[FlatColumn]
    arrays: list[Values]

    @property
    def others(self) -> list[DType]:
        """The dtypes of the columns that are not in the arrays."""
        return [c.dtype for c in self.columns if c.layout is None]

    def rebuild(
        self, arrays: Sequence[Values], positions: Values, index: Labels | None = None
    ) -> Any:
        """Return a frame of the rows at some positions, given these rows of the arrays.

        Positions may be None where all columns are in the arrays and there is an index.
        """
        library = self.library
        made: list[Array] = []
        for c in self.columns:
            if c.layout is None:
                made.append(library.take(c.array, positions))
            else:
                made.append(c.wrapped(arrays))
        if index is None:
            index = library.take_index(library.index(self.frame), positions)
        return library.rebuild(self.frame, made, index)

    def repeated(self, counts: Values, new_index: bool) -> Any:
        """Return a frame with each row as often as counts say, with a range as its index or the rows' own.

        Raises
        ------
        ValueError
            If a count is negative.
        MemoryError
            If the frame would not fit into memory; raised before any is taken.
        """
        library = self.library
        width = sum(getattr(dtype, "itemsize", 8) for dtype in self.others)
        # columns that are not in the arrays are taken at the rows' positions
        needs_rows = bool(self.others) or not self.arrays or not new_index
        rows = [library.xp.arange(len(self.frame), dtype=INT64)] * needs_rows
        arrays = kernels.run_length_decode(counts, [*rows, *self.arrays], beside=width)
        count, positions = len(arrays[0]), arrays.pop(0) if needs_rows else None
        index = library.range_index(0, count) if new_index else None
        return self.rebuild(arrays, positions, index)


def flat_frame(library: Library, frame: Any) -> FlatFrame:
    """Return a frame or series with its columns of fixed width as arrays."""
    columns = [frame] if frame.ndim == 1 else library.columns(frame)
    return FlatFrame(library, frame, *flat_columns(library, columns))


def flat_columns(
    library: Library, given: Sequence[Column]
) -> tuple[list[FlatColumn], list[Values]]:
    """Return how columns lie in arrays, and the arrays."""
    columns: list[FlatColumn] = []
    arrays: list[Values] = []
    for column in given:
        array, start, masked = library.array(column), len(arrays), False
        layout = library.moved_layout(column.dtype)
        if layout is not None:
            view = layout.raw(array)
            masked = layout.nulls == "mask" and view.nulls is not None
            arrays += [view.values, view.missing()] if masked else [view.values]
        columns.append(FlatColumn(array, column.dtype, layout, start, masked))
    return columns, arrays
