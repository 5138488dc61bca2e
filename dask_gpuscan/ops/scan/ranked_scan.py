"""Running extremes of values that have an order but no numbers, such as strings: their ranks are scanned.

A column's library numbers its values in their order, together with earlier ones. The running maximum of these
numbers says from which row each answer is taken; for a minimum, the least value has the highest number.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from ...frames.protocol import Library
from ...frames.registry import library_of
from ...frames.types import Column, DType, Values
from ...kernels import BUILT_IN
from ...kernels.late_dataclass import dataclass
from ..core.groups import Groups, ReducibleGroups
from .operator_traits import traits_of
from .value_scan import Start, ValueScan

HIGHEST = BUILT_IN["maximum"]


@dataclass(frozen=True)
class RankedScan(ValueScan):
    """A running maximum or minimum of one column, by the ranks of its values."""

    def answer(self, library: Library, dtype: DType) -> Any:
        library.answer_dtype(self.method, dtype)
        return dtype

    def reduced(self, library: Library, column: Column, groups: ReducibleGroups) -> Any:
        ranks, rows = self._ranks(library, column, library.valid(column))
        (best,) = groups.reduce(HIGHEST, ranks)()
        at = rows[library.xp.maximum(library.xp.atleast_1d(library.xp.asarray(best)), -1)]
        if groups.is_one and int(at[0]) < 0:
            return library.empty(column.dtype)
        return library.take(library.array(column), at, nulls=True)

    def scanned(
        self, column: Column, valid: Values, shown: Values, groups: Groups, start: Start
    ) -> Any:
        library = library_of(column)
        before = [a for a in (start.initial, start.before) if len(a)]
        array = library.array(column)
        if before:
            array = library.concatenate([*before, array])
            column = library.as_column(array)
            valid = library.valid(column)
        ranks, rows = self._ranks(library, column, valid)
        first = len(start.initial)
        least = int(ranks[0]) if first else -1
        carry: Any = ranks[first : first + len(start.before)]
        if start.of_one:
            carry = ranks.dtype.type(int(carry[0]) if len(carry) else -1)
        elif not len(carry):
            carry = None
        found = groups.scan(
            HIGHEST,
            ranks[first + len(start.before) :],
            exclusive=self.options.exclusive,
            carry_in=carry,
            dtype=ranks.dtype,
        )
        xp = library.xp
        at = xp.where(shown, rows[xp.maximum(found, least)], -1)
        return library.take(array, at, nulls=True)

    def _ranks(self, library: Library, column: Column, valid: Values) -> tuple[Any, Any]:
        """Return numbers that grow with the values, or fall for a minimum, and a row of each number.

        Nulls have the number -1 and the row -1.
        """
        xp = library.xp
        codes, _ = library.sort_key(column)
        ranks = codes.astype(np.int64 if codes.dtype.itemsize > 4 else np.int32)
        highest = int(ranks.max()) if len(ranks) else 0
        if traits_of(self.op).extreme < 0:
            ranks = highest - ranks
        ranks[~valid] = -1
        rows = xp.full(highest + 2, -1, np.int64)
        rows[ranks[valid]] = xp.flatnonzero(valid)
        return ranks, rows
