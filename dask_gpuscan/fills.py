"""Forward and backward fill: the last valid value is carried on, for every dtype that pandas fills.

Fixed-width columns are scanned with the operator `last`; for others, and where a limit counts rows, pandas
fills the partition and the value carried in fills its head. This module must never know that there are
several partitions.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd

from . import kernels
from .columns import layout_of
from .kernels import BUILT_IN


@dataclass(frozen=True)
class Carried:
    """The last valid value of some rows, and how many rows have come since; all rows if none was valid."""

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
        at = _first_valid(column, from_end=not self.reverse)
        if at is None:
            return Carried(False, None, len(column))
        return Carried(True, column.iloc[at], at if self.reverse else len(column) - 1 - at)

    def combine(self, aggregates: Sequence[Carried]) -> Carried:
        since = 0
        for later in reversed(aggregates):
            since += later.since
            if later.seen:
                return Carried(True, later.value, since)
        return Carried(False, None, since)

    def apply(self, columns: Sequence[Any], prefix: Carried | None) -> Any:
        column = columns[0]
        count = len(column)
        valid = _first_valid(column, from_end=self.reverse)
        head = count if valid is None else count - 1 - valid if self.reverse else valid
        layout = layout_of(column.dtype)
        if layout is not None and self.limit is None:
            view = layout.view(column.array)
            filled = self._scan(view)
            missing = None
            if head:
                missing = np.zeros(count, np.bool_)
                missing[self._head(count, head)] = True
            array = layout.wrap(filled, missing, column.dtype)
        else:
            fill = column.bfill if self.reverse else column.ffill
            array = fill(limit=self.limit).array.copy()
            if isinstance(array, pd.arrays.NumpyExtensionArray):
                array = array.to_numpy()
        if prefix is not None and prefix.seen and head:
            reach = head if self.limit is None else min(head, max(0, self.limit - prefix.since))
            if isinstance(array, pd.Categorical) and prefix.value not in array.categories:
                array = array.add_categories([prefix.value])
            array[self._head(count, reach)] = prefix.value
        return array

    def _head(self, count: int, rows: int) -> slice:
        """The first rows in scan order."""
        return slice(count - rows, count) if self.reverse else slice(0, rows)

    def _scan(self, view: Any) -> np.ndarray:
        if view.nulls is None:
            return np.array(view.values)
        filled, _ = kernels.scan(
            BUILT_IN["last"],
            view.values,
            nulls=view.nulls,
            reverse=self.reverse,
            dtype=view.values.dtype,
        )
        return filled  # type: ignore[no-any-return]


def _first_valid(column: Any, from_end: bool) -> int | None:
    """Position of the first (or last) valid row, without looking at more rows than it takes."""
    count, done, chunk = len(column), 0, 64
    while done < count:
        end = min(count, done + chunk)
        piece = column.iloc[count - end : count - done] if from_end else column.iloc[done:end]
        valid = np.asarray(piece.notna())
        if valid.any():
            if from_end:
                return count - 1 - done - int(valid[::-1].argmax())
            return done + int(valid.argmax())
        done, chunk = end, 4 * chunk
    return None
