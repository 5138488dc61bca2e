"""Groups that lie between offsets, such as the items of lists."""

from __future__ import annotations

from collections.abc import Callable
from functools import cached_property
from typing import Any

import numpy as np

from ... import kernels
from ...frames.types import ArrayModule, Values
from ...kernels import Nulls, Operator
from .groups import GroupsAsRuns, RunArguments, States, fields_of


class SegmentGroups(GroupsAsRuns):
    """Groups lie between offsets, and may have no rows: a reduction has a state for these too.

    Parameters
    ----------
    xp : module
        Of the arrays: NumPy or CuPy.
    offsets : array of int32 or int64
        Where each group begins, from 0 on, and at last where the last one ends.
    rows : int
    reverse : bool
    """

    def __init__(self, xp: ArrayModule, offsets: Values, rows: int, reverse: bool = False) -> None:
        self.xp, self.offsets, self.reverse = xp, offsets, reverse
        self.segments = kernels.Segments(offsets, rows, check=False)

    def _runs(self) -> RunArguments:
        return {"keys": self.segments, "key_nulls": None}

    @cached_property
    def filled(self) -> Any:
        """Which groups have rows, as an array of bool; None if all have."""
        filled = self.offsets[1:] > self.offsets[:-1]
        return None if bool(filled.all()) else filled

    def borders(self, rows: int) -> tuple[Any, Any]:
        return self.offsets[:-1], self.offsets[1:] - 1

    def reduce(
        self, op: Operator, values: Values, *, nulls: Nulls = None, dtype: np.dtype | None = None
    ) -> Callable[[], States]:
        _, found = kernels.reduce_by_key(
            op, self.segments, values, nulls=nulls, dtype=dtype, starts=False
        )
        states = fields_of(found)
        if self.filled is None:
            return lambda: states
        inputs = [v.dtype for v in fields_of(values)]
        identity = fields_of(kernels.signature(op, inputs, dtype).identity)
        every = tuple(
            self.xp.full(len(self.filled), x, s.dtype)
            for x, s in zip(identity, states, strict=True)
        )
        for field, state in zip(every, states, strict=True):
            field[self.filled] = state
        return lambda: every
