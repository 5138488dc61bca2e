"""The keys of groups, the columns that are made of others in groups, and the frame or series that these become."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from ..frames.keys import By, key_arrays
from ..frames.protocol import Library
from ..frames.registry import library_of
from .operation import Part, Typed, each_of, named_answers


@dataclass(frozen=True)
class GroupedColumns:
    """What is made of groups: parts, each of some columns of a frame or of a series."""

    by: By
    label: str = "groupby"
    parts: Sequence[Part[Typed]] = ()
    as_series: bool = False
    dropna: bool = True
    named: bool = False
    """Whether the names of the result's columns are the caller's, and not those of the frame's."""
    null_keys: bool = False
    """Whether rows may be in no group, so that answers are of dtypes that have a null."""

    def columns(self, frame: Any, part: Part[Typed]) -> list[Any]:
        """Return the columns that a part is made of."""
        if frame.ndim == 1:
            return [frame]
        if not part.sources:  # any column will do where rows are counted
            return [self.by.series(frame)[0]]
        return [self.by.column(frame, name) for name in part.sources]

    def check(self, frame: Any) -> None:
        """Raise the errors that a user should see early."""
        if not len(frame):  # of rows, `apply` tells
            key_arrays(self.by.series(frame))
        for part in self.parts:
            part.operation.dtype(self.columns(frame, part))

    def in_groups(self, library: Library, array: Any, null: Any) -> Any:
        """Return the answers of a scan, or of several, null in rows that are in no group."""

        def in_group(array: Any) -> Any:
            array = array if null is None else library.set_null(array, null)
            return library.to_nullable(array) if self.null_keys else array

        return each_of(in_group, array)

    def build(self, frame: Any, arrays: list[Any], index: Any) -> Any:
        """Make arrays, one a part, the result."""
        library = library_of(frame)
        if self.as_series:
            return library.series(arrays[0], index, self.parts[0].name)
        names, arrays = named_answers(self.parts, arrays)
        like = None if self.named or frame.ndim == 1 else frame
        return library.frame(arrays, names, index, like)
