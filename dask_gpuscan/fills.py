"""Forward and backward fill: the last valid value is carried on, for columns of every dtype.

Fixed-width columns are scanned with an operator that takes the last value; for others, and where a limit counts
rows, the column's library fills the partition, and the value carried in fills its head. This module must never know
that there are several partitions.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from . import kernels
from .columns import layout_of, library_of
from .kernels import BUILT_IN, Operator

LAST_NUMBER = Operator(lambda a, b: a if b != b else b, np.nan, name="last-number", inputs=1)
"""`last` where no value is NaN: it tells that there is none yet, so the state is one number, which is moved faster."""


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

    def aggregate(self, columns: Sequence[Any]) -> Callable[[], Carried]:
        column = columns[0]
        library, count = library_of(column), len(column)
        found = library.seek_valid(column, from_end=not self.reverse)

        def carried() -> Carried:
            at = found()
            if at is None:
                return Carried(False, None, count)
            return Carried(True, library.keep(column, at), at if self.reverse else count - 1 - at)

        return carried

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
            if view.nulls is None:
                return layout.wrap(view.values.copy(), None, column.dtype)
            head = self._head(column) if kept is None else None  # a GPU scans while the host looks
            one_number = layout.nan_is_null and view.values.dtype.kind == "f"
            carry = None if kept is None else library.number(kept, column.dtype)
            filled, _ = kernels.scan(
                LAST_NUMBER if one_number else BUILT_IN["last"],
                view.values,
                nulls=view.nulls,
                reverse=self.reverse,
                carry_in=carry if carry is None or one_number else (carry, True),
                dtype=view.values.dtype,
                carry_out=False,
            )
            missing = None if head is None else self._rows_of(head(), column)
            return layout.wrap(filled, missing, column.dtype)
        filled = library.fill(column, self.reverse, self.limit)
        if kept is None or prefix is None:
            return filled
        reach = self._head(column)()
        if not reach:
            return filled
        if self.limit is not None:
            reach = min(reach, max(0, self.limit - prefix.since))
        near, count = library.repeat(kept, reach, column.dtype), len(column)
        if self.reverse:
            return library.concatenate([library.part(filled, 0, count - reach), near])
        return library.concatenate([near, library.part(filled, reach, count)])

    def _head(self, column: Any) -> Callable[[], int]:
        """Begin to look how many rows come before the first valid one, in scan order."""
        found, count = library_of(column).seek_valid(column, from_end=self.reverse), len(column)

        def head() -> int:
            valid = found()
            if valid is None:
                return count
            return count - 1 - valid if self.reverse else valid

        return head

    def _rows_of(self, head: int, column: Any) -> Any:
        """Where so many rows are, or None if there are none."""
        if not head:
            return None
        count = len(column)
        missing = library_of(column).numbers.zeros(count, np.bool_)
        missing[slice(count - head, count) if self.reverse else slice(0, head)] = True
        return missing
