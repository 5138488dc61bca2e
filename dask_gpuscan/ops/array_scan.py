"""Scans of array blocks along an axis, as a carry."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from .. import kernels
from ..kernels import Operator, Signature
from .scan import SIGNED_SUM, over_rows


@dataclass(frozen=True)
class ArrayScan:
    """A scan of array blocks along an axis, as a carry."""

    label: str
    op: Operator
    axis: int
    exclusive: bool
    reverse: bool
    initial: Any
    dtype: Any

    def check(self, arrays: Sequence[Any]) -> Signature:
        """Return the types of the answer; raises what does not fit."""
        self._initial(arrays)
        return kernels.signature(self.op, [a.dtype for a in arrays], self.dtype)

    def _answer(self, arrays: Sequence[Any]) -> np.dtype:
        return kernels.signature(self.op, [a.dtype for a in arrays], self.dtype).outputs[0]

    def _initial(self, arrays: Sequence[Any]) -> Any:
        """The user's initial value as a state of the operator, or None."""
        if self.initial is None:
            answer = self._answer(arrays)
            signed = over_rows(self.op, answer) == SIGNED_SUM
            return answer.type(0) if signed and self.exclusive else None
        parts = self.initial if isinstance(self.initial, tuple) else (self.initial,)
        if not all(np.isscalar(part) for part in parts):
            raise TypeError(f"initial must be a scalar or a state, found {self.initial!r}")
        dtypes = [a.dtype for a in arrays]
        return kernels.state(self.op, self.initial, dtypes, self.dtype, "initial")

    def aggregate(self, block: Any) -> Any:
        arrays = _blocks(block)
        op = over_rows(self.op, self._answer(arrays))
        return kernels.aggregate(op, arrays, axis=self.axis, reverse=self.reverse, dtype=self.dtype)

    def combine(self, aggregates: Sequence[Any]) -> Any:
        carrier = aggregates[0][0]
        return carrier, kernels.fold(carrier, [state for _, state in aggregates])

    def apply(self, block: Any, prefix: Any) -> Any:
        arrays = _blocks(block)
        carry = self._initial(arrays)
        if prefix is not None:
            carry = kernels.seed(self.op, prefix[1], self._answer(arrays), carry)
        out, _ = kernels.scan(
            over_rows(self.op, self._answer(arrays)),
            arrays,
            axis=self.axis,
            exclusive=self.exclusive,
            reverse=self.reverse,
            carry_in=carry,
            dtype=self.dtype,
            carry_out=False,
        )
        return out


def _blocks(block: Any) -> tuple[Any, ...]:
    return tuple(block) if isinstance(block, (list, tuple)) else (block,)
