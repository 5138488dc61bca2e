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
    """The last valid value of some rows, and how many rows have come since; all rows if none was valid.

    The value is an array of one row, which any dtype can give and take.
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
        at = _first_valid(column, from_end=not self.reverse)
        if at is None:
            return Carried(False, None, len(column))
        since = at if self.reverse else len(column) - 1 - at
        return Carried(True, column.iloc[[at]].array, since)

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
        seen = prefix is not None and prefix.seen
        if layout is not None and self.limit is None:
            values = self._scan(layout.view(column.array))
            missing = None
            if head and seen:
                values[self._head(count, head)] = layout.view(prefix.value).values[0]  # type: ignore[union-attr]
            elif head:
                missing = np.zeros(count, np.bool_)
                missing[self._head(count, head)] = True
            return layout.wrap(values, missing, column.dtype)
        fill = column.bfill if self.reverse else column.ffill
        filled = fill(limit=self.limit)
        if seen and head:
            assert prefix is not None
            reach = head
            if self.limit is not None:
                reach = min(head, max(0, self.limit - prefix.since))
            near = prefix.value.take(np.zeros(reach, np.intp))
            return _joined(
                [filled.array[: -reach or None], near]
                if self.reverse
                else [near, filled.array[reach:]]
            )
        return _bare(filled.array.copy())

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


def _joined(arrays: list[Any]) -> Any:
    """One array of the same dtype; categoricals get the categories of both."""
    if isinstance(arrays[0], pd.Categorical):
        return pd.api.types.union_categoricals(arrays)
    parts = [pd.Series(_bare(a), dtype=_bare(a).dtype) for a in arrays]
    return _bare(pd.concat(parts, ignore_index=True).array)


def _bare(array: Any) -> Any:
    """What pandas wraps around a NumPy array taken off."""
    return array.to_numpy() if isinstance(array, pd.arrays.NumpyExtensionArray) else array


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
