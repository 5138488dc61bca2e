"""Scans of array blocks along an axis."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NoReturn

import numpy as np

from ... import kernels
from ...frames.types import Values
from ...kernels import Nulls, Operator
from ...kernels.late_dataclass import dataclass
from ...kernels.messages import shown
from ...kernels.nulls import NAT
from ...kernels.operators.signature import Signature, user_state
from ...kernels.scan import aggregating, carry_in_from, fold
from ..core.carry import Aggregate, Carry
from ..core.groups import fields_of
from ..scan.kernel_scan import ScanArguments
from ..scan.operator_traits import SIGNED_SUMS
from .nulls import Way, as_time, last_within, way

HALF, FLOAT = np.dtype(np.float16), np.dtype(np.float32)
LATEST = np.iinfo(np.int64).max
"""The last of times, as an integer."""


@dataclass(frozen=True)
class ArrayScan(Carry):
    """A scan of array blocks along an axis, as a carry. With `skipna`, NaN and NaT leave the state as it is."""

    label: str
    op: Operator
    axis: int
    options: ScanArguments
    limit: int | None = None
    """For a fill: how many elements in a row are filled at most."""

    @property
    def reverse(self) -> bool:
        return self.options.reverse

    def answer(self, arrays: Sequence[Values]) -> np.dtype:
        """Return the dtype of the answer, which is one array; raises an error for inputs that do not fit."""
        inputs = self.inputs(arrays)
        self.initial(inputs)
        if not inputs.types.scalar_output:
            refuse_states(self.op)
        return inputs.answer

    def inputs(self, block: Values) -> ScanInputs:
        """Return how a block is scanned; it is an array, or one for each input of the operator."""
        arrays = tuple(block) if isinstance(block, (list, tuple)) else (block,)
        time = arrays[0].dtype if arrays[0].dtype.kind in "mM" else None
        asked = self.options.dtype
        is_half = all(a.dtype == HALF for a in arrays) if asked is None else asked == HALF
        arrays = tuple([a.astype(FLOAT) if a.dtype == HALF else a for a in arrays])
        dtype, dtypes = self.dtype, [a.dtype for a in arrays]
        if self.limit is not None:
            found = Way(last_within(self.limit, time is not None))
        else:
            from_nothing = self.options.exclusive and self.options.initial is None
            found = way(self.op, dtypes, dtype, self.options.skipna, from_nothing)
        if time is not None:
            if not time.isnative:
                raise TypeError(
                    f"the kernels do not take arrays of dtype {time.str}; cast them with astype"
                )
            arrays = tuple([a.view(np.int64) for a in arrays])
        dtype = found.answer or dtype
        types = kernels.signature(found.op, [a.dtype for a in arrays], dtype)
        stays = time or (HALF if is_half and types.outputs[0] == FLOAT else None)
        return ScanInputs(found.op, found.nulls, arrays, types, dtype, stays)

    @property
    def dtype(self) -> np.dtype | None:
        """The dtype that kernels answer in: float for half floats."""
        return FLOAT if self.options.dtype == HALF else self.options.dtype

    def initial(self, inputs: ScanInputs) -> Any:
        """The user's initial value as a state of the operator, or None."""
        options, initial = self.options, self.options.initial
        if initial is None:
            if not options.exclusive or inputs.op not in SIGNED_SUMS:
                return None
            initial = 0.0
        if not all(np.isscalar(part) for part in fields_of(initial)):
            raise TypeError(f"initial must be a scalar or a state, found {shown(initial)}")
        if inputs.time is not None:
            initial = as_time(initial, inputs.time)
        dtypes = [a.dtype for a in inputs.arrays]
        return user_state(inputs.op, initial, dtypes, inputs.dtype, "initial")

    def aggregate(self, block: Values) -> Any:
        inputs, options = self.inputs(block), self.options
        by, read = aggregating(
            inputs.op,
            inputs.arrays,
            nulls=inputs.nulls,
            axis=self.axis,
            reverse=options.reverse,
            dtype=inputs.dtype,
        )
        return by, read()

    def combine(self, aggregates: Sequence[Aggregate]) -> Any:
        carry_operator = aggregates[0][0]
        return carry_operator, fold(carry_operator, [state for _, state in aggregates])

    def apply(self, block: Values, prefix: Aggregate) -> Any:
        inputs, options = self.inputs(block), self.options
        carry = self.initial(inputs)
        if prefix is not None:
            carry = carry_in_from(inputs.op, prefix[1], inputs.types.outputs[0], carry)
        out, _ = kernels.scan(
            inputs.op,
            inputs.arrays,
            nulls=inputs.nulls,
            axis=self.axis,
            exclusive=options.exclusive,
            reverse=options.reverse,
            carry_in=carry,
            dtype=inputs.dtype,
            carry_out=False,
        )
        return inputs.shown(out, options.exclusive)


def refuse_states(op: Operator) -> NoReturn:
    """Raise the error for an operator that answers with states of several fields, where one array is wanted."""
    raise TypeError(f"{op.name} has a tuple state and no lower; give it lower=")


@dataclass(frozen=True)
class ScanInputs:
    """How a block is scanned."""

    op: Operator
    nulls: Nulls
    arrays: tuple[Any, ...]
    types: Signature
    dtype: np.dtype | None
    """The dtype that kernels answer in."""
    stays: np.dtype | None
    """The dtype of the answer, if kernels use another one: integers for times, floats for half floats."""

    @property
    def time(self) -> np.dtype | None:
        """The dtype of the block, if its arrays are the integers of times."""
        return None if self.stays == HALF else self.stays

    @property
    def answer(self) -> np.dtype:
        """The dtype of the answer."""
        return self.types.outputs[0] if self.stays is None else self.stays

    def shown(self, out: Values, exclusive: Values) -> Any:
        """Return the answer of kernels as an array of the answer's dtype."""
        if self.stays is None:
            return out
        if exclusive and self.time is not None and self.op not in SIGNED_SUMS:
            out[(out == NAT + 1) | (out == LATEST)] = NAT  # no time before them
        return out.astype(HALF) if self.stays == HALF else out.view(self.stays)
