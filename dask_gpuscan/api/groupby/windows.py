"""Windows of the rows of each group: ``rolling``, ``expanding`` and ``ewm`` of groups."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from dataclasses import replace
from typing import Any, Self

from ...kernels.late_dataclass import dataclass
from ...ops.core.operation import Part
from ..types import FrameT, Obj, SeriesT
from ..windows.expanding import WindowMethods
from ..windows.windows import aligned_columns, is_kept, without
from .scans import GroupByScans


@dataclass(frozen=True)
class GroupRows:
    """The rows of groups."""

    groups: GroupByScans[Any, Any, Any]

    @property
    def obj(self) -> Any:
        """The frame or series that is grouped."""
        return self.groups._obj

    @property
    def as_series(self) -> bool:
        """Whether the answer for one column is a series."""
        return self.groups._as_series

    def names(self, numeric_only: bool = False) -> list[Hashable]:
        """Names of the columns."""
        names = self.groups._columns(numeric_only)
        if not numeric_only or self.as_series:
            return names
        return [n for n in names if is_kept(self.groups._column(n))]

    def choose(self, columns: Any) -> Self:
        """Return the same rows of some columns."""
        groups: Any = self.groups
        return replace(self, groups=groups[columns])

    def each(self, operation: Any, numeric_only: bool) -> Any:
        """Return the answers of an operation on each column."""
        parts = [Part(n, (n,), operation) for n in self.names(numeric_only)]
        return self._answers(operation.label, parts, self.as_series, named=False)

    def parts(self, label: str, parts: Sequence[Part[Any]], as_series: bool) -> Any:
        """Return the answers of operations, one column each."""
        return self._answers(label, parts, as_series, named=True)

    def scans_of(self, obj: Any, names: list[Hashable]) -> Any:
        """Return the same groups of another frame or series with the same rows."""
        groups = self.groups._of(obj)
        return groups if obj.ndim == 1 else groups[names[0] if self.as_series else names]

    def _answers(self, label: str, parts: Sequence[Part[Any]], as_series: bool, named: bool) -> Any:
        return self.groups._scan(label, parts, as_series, named)

    def align_columns(
        self, names: list[Hashable], others: Sequence[Any], what: str, by_label: bool
    ) -> tuple[Self, list[Hashable], list[Hashable]]:
        """Return the same rows with more columns, and how these and the others are called there."""
        groups, obj = self.groups, self.obj
        frame, own, theirs = aligned_columns(obj, others, what, by_label)
        own = names if obj.ndim == 2 else own
        return replace(self, groups=groups._of(frame)[[*own, *theirs]]), own, theirs


@dataclass(frozen=True)
class GroupNeighbours(GroupRows):
    """The rows of groups, with a column of times."""

    on: Hashable = None

    def names(self, numeric_only: bool = False) -> list[Hashable]:
        """Names of the columns that are in windows."""
        return without(super().names(numeric_only), self.on)

    def _answers(self, label: str, parts: Sequence[Part[Any]], as_series: bool, named: bool) -> Any:
        return self.groups._around(label, parts, as_series, named)


class GroupByWindows(GroupByScans[Obj, SeriesT, FrameT], WindowMethods[Obj, SeriesT, FrameT]):
    """The part of `GroupBy` that makes windows."""

    _IN_GROUPS = True
    _ROWS, _NEIGHBOURS = GroupRows, GroupNeighbours
