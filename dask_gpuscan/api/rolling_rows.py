"""What rolling windows are of: the rows of a frame or series, beside a column of times."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from dataclasses import dataclass, replace
from typing import Any

from ..graph.lookaround import look_around
from ..ops.operation import Part
from ..ops.rolling import RollingColumns
from ..ops.surroundings import NamedHalo
from .window_rows import FrameRows, without


@dataclass(frozen=True)
class FrameNeighbours(FrameRows):
    """All rows of a frame or series.

    Parameters
    ----------
    obj : frame or series
    on : name, optional
        The column of times, which stays as it is.
    """

    on: Hashable = None

    def names(self, numeric_only: bool = False) -> list[Hashable]:
        """Names of the columns that are in windows."""
        return without(super().names(numeric_only), self.on)

    def each(self, operation: Any, numeric_only: bool) -> Any:
        """Return the answers of an operation on each column."""
        obj = self._numbers(self.on) if numeric_only else self.obj
        return look_around(obj, RollingColumns(operation, beside=self.on))

    def parts(self, label: str, parts: Sequence[Part[Any]], as_series: bool) -> Any:
        """Return the answers of operations, one column each."""
        names = [n for part in parts for n in part.sources]
        carry = NamedHalo(label, tuple(parts), as_series)
        return look_around(self._only([*names, *([] if self.on is None else [self.on])]), carry)

    def beside(
        self, names: list[Hashable], others: Sequence[Any], what: str, by_label: bool
    ) -> tuple[FrameNeighbours, list[Hashable], list[Hashable]]:
        """Return the same rows with more columns, and how these and the others are called there."""
        rows, own, theirs = super().beside(names, others, what, by_label)
        return replace(self, obj=rows.obj), own, theirs
