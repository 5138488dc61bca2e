"""Scans of array blocks along an axis."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from .. import kernels
from ..kernels import Operator, Signature
from ..kernels.messages import shown
from .groups import fields_of
from .operator_facts import FACTS, PLAIN, SIGNED_SUM
from .scan_options import ScanOptions

HALF, FLOAT = np.dtype(np.float16), np.dtype(np.float32)


@dataclass(frozen=True)
class ArrayScan:
    """A scan of array blocks along an axis, as a carry."""

    label: str
    op: Operator
    axis: int
    options: ScanOptions

    @property
    def reverse(self) -> bool:
        return self.options.reverse

    def check(self, arrays: Sequence[Any]) -> Signature:
        """Return the types of the answer; raises what does not fit."""
        types = self._signature(arrays)
        self._initial(arrays, types.outputs[0])
        return types

    def dtype(self, arrays: Sequence[Any]) -> np.dtype:
        """Return the dtype of answers of one value: half floats, which are summed as floats, stay half floats."""
        asked, found = self.options.dtype, self._signature(arrays).outputs[0]
        is_half = all(a.dtype == HALF for a in arrays) if asked is None else asked == HALF
        return HALF if is_half and found == FLOAT else found

    def _signature(self, arrays: Sequence[Any]) -> Signature:
        return kernels.signature(self.op, [_stored(a.dtype) for a in arrays], self._scanned)

    @property
    def _scanned(self) -> np.dtype | None:
        """The dtype that kernels are asked for."""
        return None if self.options.dtype is None else _stored(self.options.dtype)

    def _op(self, answer: np.dtype) -> Operator:
        """The operator that scans rows which are in no groups, for answers of a dtype."""
        found = FACTS.get(self.op.token, PLAIN).over_rows if answer.kind in "fc" else None
        return found or self.op

    def _initial(self, arrays: Sequence[Any], answer: np.dtype) -> Any:
        """The user's initial value as a state of the operator, or None."""
        options, initial = self.options, self.options.initial
        if initial is None:
            signed = options.exclusive and self._op(answer) == SIGNED_SUM
            return answer.type(0) if signed else None
        if not all(np.isscalar(part) for part in fields_of(initial)):
            raise TypeError(f"initial must be a scalar or a state, found {shown(initial)}")
        dtypes = [_stored(a.dtype) for a in arrays]
        return kernels.state(self.op, initial, dtypes, self._scanned, "initial")

    def aggregate(self, block: Any) -> Any:
        arrays, options = _readable(block), self.options
        op = self._op(self._signature(arrays).outputs[0])
        return kernels.aggregate(
            op, arrays, axis=self.axis, reverse=options.reverse, dtype=self._scanned
        )

    def combine(self, aggregates: Sequence[Any]) -> Any:
        carry_operator = aggregates[0][0]
        return carry_operator, kernels.fold(carry_operator, [state for _, state in aggregates])

    def apply(self, block: Any, prefix: Any) -> Any:
        arrays, options = _readable(block), self.options
        answer = self._signature(arrays).outputs[0]
        carry = self._initial(arrays, answer)
        if prefix is not None:
            carry = kernels.carry_in_from(self.op, prefix[1], answer, carry)
        out, _ = kernels.scan(
            self._op(answer),
            arrays,
            axis=self.axis,
            exclusive=options.exclusive,
            reverse=options.reverse,
            carry_in=carry,
            dtype=self._scanned,
            carry_out=False,
        )
        return out if isinstance(out, tuple) else out.astype(self.dtype(_blocks(block)), copy=False)


def _blocks(block: Any) -> tuple[Any, ...]:
    return tuple(block) if isinstance(block, (list, tuple)) else (block,)


def _stored(dtype: np.dtype) -> np.dtype:
    """Return the dtype in which kernels take numbers of a dtype."""
    return FLOAT if dtype == HALF else dtype


def _readable(block: Any) -> tuple[Any, ...]:
    return tuple(a.astype(_stored(a.dtype), copy=False) for a in _blocks(block))
