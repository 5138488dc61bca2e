"""Forward and backward fill: the last valid value is carried on, for columns of every dtype.

Fixed-width columns are scanned with the operator `last`; for others, and where a limit counts rows, the
column's library fills the partition, and the value carried in fills its head. This module must never know
that there are several partitions.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from . import kernels
from .columns import View, layout_of, library_of
from .kernels import BUILT_IN


@dataclass(frozen=True)
class Carried:
    """The last valid value of some rows, and how many rows have come since; all rows if none was valid.

    The value is a row that the column's library keeps, of any dtype.
    """

    seen: bool
    value: Any
    since: int


@dataclass(frozen=True)
class FillColumn:
    """Forward fill, or with `reverse` backward fill, of at most `limit` nulls in a row."""

    reverse: bool = False
    limit: int | None = None

    @property
    def label(self) -> str:
        return "bfill" if self.reverse else "ffill"

    def dtype(self, columns: Sequence[Any]) -> Any:
        return columns[0].dtype

    def aggregate(self, columns: Sequence[Any]) -> Carried:
        column = columns[0]
        at = library_of(column).first_valid(column, from_end=not self.reverse)
        if at is None:
            return Carried(False, None, len(column))
        since = at if self.reverse else len(column) - 1 - at
        return Carried(True, library_of(column).keep(column, at), since)

    def combine(self, aggregates: Sequence[Carried]) -> Carried:
        since = 0
        for later in reversed(aggregates):
            since += later.since
            if later.seen:
                return Carried(True, later.value, since)
        return Carried(False, None, since)

    def apply(self, columns: Sequence[Any], prefix: Carried | None) -> Any:
        column = columns[0]
        library = library_of(column)
        layout = layout_of(library, column.dtype)
        kept = prefix.value if prefix is not None and prefix.seen else None
        if layout is not None and self.limit is None:
            view = layout.view(library.array(column)).settled()
            number = None if kept is None else library.number(kept, column.dtype)
            missing = (
                self._before_first(column) if kept is None and view.nulls is not None else None
            )
            return layout.wrap(self._scan(view, number), missing, column.dtype)
        filled = library.fill(column, self.reverse, self.limit)
        head = self._head(column)
        if kept is None or not head:
            return filled
        assert prefix is not None
        reach = head if self.limit is None else min(head, max(0, self.limit - prefix.since))
        near, count = library.repeat(kept, reach, column.dtype), len(column)
        if self.reverse:
            return library.concatenate([library.part(filled, 0, count - reach), near])
        return library.concatenate([near, library.part(filled, reach, count)])

    def _head(self, column: Any) -> int:
        """How many rows come before the first valid one, in scan order."""
        valid, count = library_of(column).first_valid(column, from_end=self.reverse), len(column)
        if valid is None:
            return count
        return count - 1 - valid if self.reverse else valid

    def _before_first(self, column: Any) -> Any:
        """Where those rows are, or None if there are none."""
        head, count = self._head(column), len(column)
        if not head:
            return None
        missing = library_of(column).numbers.zeros(count, np.bool_)
        missing[slice(count - head, count) if self.reverse else slice(0, head)] = True
        return missing

    def _scan(self, view: View, number: Any) -> Any:
        if view.nulls is None:
            return view.values.copy()
        filled, _ = kernels.scan(
            BUILT_IN["last"],
            view.values,
            nulls=view.nulls,
            reverse=self.reverse,
            carry_in=None if number is None else (number, True),
            dtype=view.values.dtype,
            carry_out=False,
        )
        return filled
