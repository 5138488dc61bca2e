"""Whether values never decrease, or never increase, over all partitions.

The table of some rows says whether they are in order, and holds the first and the last of them. Neighbours are in order
if both are, and the last row of one and the first of the next are.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ...frames.messages import column_title
from ...frames.registry import Schema, common_schema, library_of, schema_of
from ...frames.types import Frame
from ...kernels.late_dataclass import dataclass
from ..core.carry import Partition, TreeReduction


@dataclass(frozen=True)
class Ordered:
    """Whether some rows are in order, and their ends."""

    is_ordered: bool
    ends: Any
    """The first and the last row, as a series; empty without rows."""
    schema: Schema


@dataclass(frozen=True)
class Monotonic(TreeReduction):
    """Whether a series never decreases, or with `decreasing` never increases.

    With a null, neither is true; but nulls of categories are less than all categories, as in pandas.
    """

    decreasing: bool = False

    @property
    def label(self) -> str:
        return f"is-monotonic-{'decreasing' if self.decreasing else 'increasing'}"

    def _is_ordered(self, column: Partition) -> bool:
        try:
            return library_of(column).is_monotonic(column, self.decreasing)
        except (TypeError, NotImplementedError) as error:
            method = self.label.replace("-", "_")
            raise TypeError(
                f"{method} of {column_title(column)}: values of dtype {column.dtype} have no order"
            ) from error

    def check(self, frame: Partition) -> None:
        """Raise the errors that a user should see early."""
        self._is_ordered(library_of(frame).no_rows(frame))

    def meta(self, frame: Frame) -> bool:
        return True

    def table(self, partition: Partition) -> Ordered:
        return Ordered(self._is_ordered(partition), _ends(partition), schema_of(partition))

    def merge(self, tables: Sequence[Ordered]) -> Ordered:
        schema = common_schema([t.schema for t in tables])
        some = [t for t in tables if len(t.ends)]
        if not some:
            return tables[0]
        library, name = library_of(some[0].ends), some[0].ends.name
        joined = library.concatenate([library.array(t.ends) for t in some])
        ends = library.series(joined, None, name)
        is_ordered = all(t.is_ordered for t in some) and self._is_ordered(ends)
        return Ordered(is_ordered, _ends(ends), schema)

    def finish(self, tables: Sequence[Ordered], frame: Frame) -> bool:
        return self.merge(tables).is_ordered


def _ends(series: Partition) -> Any:
    """The first and last row of a series."""
    rows = [0, len(series) - 1] if len(series) else slice(0)
    return library_of(series).rows(series, rows)
