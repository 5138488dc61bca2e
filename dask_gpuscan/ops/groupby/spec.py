"""The specification of a group-by: keys, operations on columns, and the frame that answers become.

`strategy` chooses the way in which groups are found.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import field
from functools import cached_property
from typing import Any

from ... import kernels
from ...frames.keys import By, any_null
from ...frames.messages import naming
from ...frames.protocol import Library
from ...frames.registry import library_of
from ...frames.types import Array, Column, Frame, Labels, Missing, Values
from ...kernels.late_dataclass import dataclass
from ..core.columnwise import map_outputs, named_answers
from ..core.operation import Needs, Part
from ..core.plans import PlannedOperation


def key_order(library: Library, keys: Sequence[Array]) -> Any:
    """Return the positions of groups in the order of their keys, nulls last; None for several keys and some dtypes."""
    if len(keys) > 1:
        return None
    layout = library.layout(keys[0].dtype)
    if layout is None or layout.storage(keys[0].dtype).kind not in "biufmM":
        return library.text_order(keys[0])
    values, nulls = library.sort_key(library.as_column(keys[0]))
    return kernels.argsort(values, nulls=[nulls])


@dataclass(frozen=True)
class GroupBySpec:
    """A group-by: keys, and parts, each computed from some columns of a frame or from a series."""

    by: By
    label: str = "groupby"
    parts: Sequence[Part[Any]] = ()
    as_series: bool = False
    dropna: bool = True
    named: bool = False
    """Whether the caller names the columns of the result; else they have the names of the frame's."""
    null_keys: bool = field(default=False, repr=False)
    """Whether rows may be in no group, so that answers need dtypes that have a null."""
    each_row: bool = False
    """Whether there is an answer for each row (scans) rather than for each group (reductions)."""
    sort: bool = True
    """Whether groups in any order are in the order of their keys in the answer; else in order of appearance."""

    @cached_property
    def needs(self) -> Needs:
        """The parts of a group that its operations must see."""
        return max([part.operation.needs for part in self.parts], default=Needs.STATES)

    @cached_property
    def reverse(self) -> bool:
        """Whether scans meet rows from the last to the first."""
        return True in [part.operation.reverse for part in self.parts]

    def columns(self, library: Library, frame: Frame, part: Part[Any]) -> list[Any]:
        """Return the columns that a part is computed from."""
        if frame.ndim == 1:
            return [frame]
        if not part.sources:  # any column will do where rows are counted
            return [self.by.series(library, frame)[0]]
        return [self.by.column(library, frame, name) for name in part.sources]

    def check(self, frame: Frame) -> None:
        """Raise the errors that a user should see early."""
        self.by.check(frame)
        self.planned(library_of(frame), frame)

    def planned(
        self, library: Library, frame: Frame, checks: bool = True
    ) -> list[tuple[list[Any], Any, Any]]:
        """Return the columns, planned operation and dtype of each part; without checks, None for what has no plan."""
        found = []
        for part in self.parts:
            sources, operation = part.sources, part.operation
            if frame.ndim == 2 and len(sources) == 1 and not self.by.levels:
                columns = [library.column(frame, sources[0])]
            else:
                columns = self.columns(library, frame, part)
            if isinstance(operation, PlannedOperation):
                operation, dtype = operation.planned(columns)
            else:
                dtype = operation.dtype(columns) if checks else None
            found.append((columns, operation, dtype))
        return found

    def without_rows(self, library: Library, frame: Frame, index: Labels) -> Any:
        """Return the result for a frame without rows, under an index without rows."""
        arrays = []
        planned = self.planned(library, frame)
        for part, (columns, _, dtype) in zip(self.parts, planned, strict=True):
            array = map_outputs(library.empty, dtype)
            arrays.append(self.in_groups(part, columns, array, None))
        return self.build(library, frame, arrays, index)

    def in_groups(
        self, part: Part[Any], columns: Sequence[Column], array: Array, null: Missing
    ) -> Any:
        """Return the answers of a part, one array or several, with null in rows that are in no group."""
        if null is None and not self.null_keys:
            return array
        library = library_of(columns[0])

        def in_group(array: Array) -> Any:
            array = array if null is None else library.set_null(array, null)
            return library.to_nullable(array) if self.null_keys else array

        with naming(part.operation.label, columns):
            return map_outputs(in_group, array)

    def from_groups(
        self,
        library: Library,
        frame: Frame,
        keys: list[Array],
        arrays: list[Array],
        may_be_null: bool = True,
    ) -> Any:
        """Return the result, given the keys of groups, which may be null, and their answers; leaves out null keys."""
        drops = self.dropna and may_be_null
        null = any_null(library, [library.as_column(a) for a in keys]) if drops else None
        if null is not None:
            positions = library.xp.flatnonzero(~null)
            keys, arrays = self.taken(library, keys, arrays, positions)
        return self.build(library, frame, arrays, self.index_of_groups(library, keys))

    def index_of_groups(self, library: Library, keys: list[Array]) -> Any:
        """Return the index of the result, given the keys of groups."""
        return library.key_index(keys, self.by.columns)

    def taken(
        self, library: Library, keys: list[Array], arrays: list[Array], groups: Values
    ) -> tuple[list[Any], list[Any]]:
        """Return the keys and the answers of some groups, given their numbers."""
        keys = [library.take(a, groups) for a in keys]
        return keys, [self.take_groups(library, a, groups) for a in arrays]

    def take_groups(self, library: Library, array: Array, groups: Values) -> Any:
        """Return the answers of some groups, given all answers and the numbers of these groups."""
        return library.take(array, groups)

    def build(self, library: Library, frame: Frame, arrays: list[Array], index: Labels) -> Any:
        """Return the result, given one array for each part."""
        if self.as_series:
            return library.series(arrays[0], index, self.parts[0].name)
        names, arrays = named_answers(self.parts, arrays)
        like = None if self.named or frame.ndim == 1 else frame
        return library.frame(arrays, names, index, like)
