"""Scans of array blocks along an axis within groups of rows in any order.

A row is all elements of a block at one position along the axis, and has a code. Elements of one line along the axis
are a group if their rows have the same code. Rows in no group have codes below zero.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import cached_property
from math import prod
from typing import Any, Unpack

import numpy as np

from ... import kernels
from ...forks import import_late
from ...frames.keys import Keys
from ...frames.types import ArrayModule, GroupIds, Values
from ...kernels import Nulls, Operator
from ...kernels.by_code import max_groups
from ...kernels.late_dataclass import dataclass
from ...kernels.scan import carry_in_from, carry_inputs
from ..core.carry import Carry
from ..core.groups import (
    AdjacentGroups,
    GroupScanArguments,
    NumberedGroups,
    ReducibleGroups,
    States,
    fields_of,
    merged,
    state_of,
)
from ..core.sorted_groups import SortedGroups
from ..scan.kernel_scan import starting_from
from ..scan.overflow import check_exact
from .scan import ArrayScan, ScanInputs

_NONE = np.empty(0, np.int64)


class RowGroups(ReducibleGroups):
    """The elements of a block in groups.

    Parameters
    ----------
    xp : module
        NumPy or CuPy.
    shape : tuple of int
        Of the block.
    axis : int
    rows : NumPy array
        The code of each row, from 0 to `count` - 1. Each code has a row.
    count : int
    before : NumPy array, optional
        Codes whose groups had states before.

    Notes
    -----
    Values and answers have the shape of the block, and so have states, with one code a place along the axis. If there
    is room for the states of all groups, no element is moved; else those of a group are brought together.
    """

    marks_nulls = True

    def __init__(
        self,
        xp: ArrayModule,
        shape: tuple[int, ...],
        axis: int,
        rows: Values,
        count: int,
        before: Values = _NONE,
    ) -> None:
        self.xp, self.shape, self.axis = xp, shape, axis
        self.rows, self.count, self.before = rows, count, before
        self._outer, self._inner = prod(shape[:axis]), prod(shape[axis + 1 :])
        self._groups = self._outer * count * self._inner
        self._dtype = np.dtype(np.int32 if self._groups < 2**31 else np.int64)

    def scan(self, op: Operator, values: Values, **options: Unpack[GroupScanArguments]) -> Any:
        flat = _flat(values)
        carry_in = options.pop("carry_in", None)
        if carry_in is not None:
            options["carry_in"] = _flat(carry_in)
        if self._are_few:
            before = self._codes(self.before) if len(self.before) else None
            out = NumberedGroups(self._coded, before).scan(op, flat, **options)
        elif carry_in is None:
            order, keys = self._sorted(self.rows)
            out = kernels.put(
                AdjacentGroups(keys).scan(op, _taken(flat, order), **options), order, check=False
            )
        else:
            order, keys = self._sorted(np.concatenate([self.before, self.rows]))
            before = self._outer * len(self.before) * self._inner
            out = SortedGroups(self.xp, keys, order, before).scan(op, flat, **options)
        return out.reshape(self.shape)

    def reduce(
        self, op: Operator, values: Values, *, nulls: Nulls = None, dtype: np.dtype | None = None
    ) -> Callable[[], States]:
        if self._are_few:
            groups: ReducibleGroups = NumberedGroups(self._coded)
            read = groups.reduce(op, _flat(values), nulls=nulls, dtype=dtype)
            return lambda: tuple([s.reshape(self._states_shape) for s in read()])
        order, keys = self._sorted(self.rows)
        begun = AdjacentGroups(keys).reduce(
            op, _taken(_flat(values), order), nulls=nulls, dtype=dtype
        )
        lines = self._outer, self._inner, self.count
        return lambda: tuple(
            [s.reshape(lines).swapaxes(1, 2).reshape(self._states_shape) for s in begun()]
        )

    @property
    def _states_shape(self) -> tuple[int, ...]:
        return (*self.shape[: self.axis], self.count, *self.shape[self.axis + 1 :])

    @property
    def _are_few(self) -> bool:
        most = max_groups(self.xp.empty(0, self._dtype))
        return most is None or self._groups <= most

    @cached_property
    def _coded(self) -> GroupIds:
        return GroupIds(self._codes(self.rows), self._groups)

    def _codes(self, rows: Values) -> Any:
        """Return the group of each element of some rows, in C order."""
        xp, dtype = self.xp, self._dtype
        outer = xp.arange(self._outer, dtype=dtype)[:, None] * dtype.type(self.count)
        first = (outer + xp.asarray(rows, dtype=dtype)) * dtype.type(self._inner)
        return (first[:, :, None] + xp.arange(self._inner, dtype=dtype)).ravel()

    def _sorted(self, rows: Values) -> tuple[Any, Keys]:
        """Return an order of elements in which those of each group are adjacent, and the groups in that order.

        The rows of earlier groups, whose states are elements here, come first, then those of the block.
        """
        xp, before = self.xp, len(rows) - len(self.rows)
        order = np.argsort(rows, kind="stable")
        outer = xp.arange(self._outer, dtype=np.int64)[:, None, None]
        inner = xp.arange(self._inner, dtype=np.int64)[None, :, None]
        at = xp.asarray(order)
        own = (outer * len(self.rows) + at - before + self._outer * before) * self._inner
        places = xp.where(at < before, (outer * before + at) * self._inner, own) + inner
        codes = xp.asarray(rows[order], dtype=np.int64)
        keys = (outer * self._inner + inner) * self.count + codes
        return places.ravel(), Keys([keys.ravel()], [None])


def array_module(array: Values) -> Any:
    """Return the module of an array: NumPy or CuPy."""
    return np if isinstance(array, np.ndarray) else import_late("cupy")


def _flat(values: Values) -> Any:
    return state_of(tuple([v.ravel() for v in fields_of(values)]))


def _taken(values: Values, order: Values) -> Any:
    return state_of(tuple([v[order] for v in fields_of(values)]))


@dataclass(frozen=True)
class RowStates:
    """The states of groups after some blocks."""

    op: Operator
    """The operator that combines states."""
    codes: Any
    """The codes that have rows, ascending; a NumPy array."""
    states: States
    """One array a field, of the shape of a block, with one code a place along the axis."""


@dataclass(frozen=True)
class GroupedArrayScan(Carry):
    """A scan of array blocks within groups, as a carry; the last array of each block holds the codes of its rows."""

    scan: ArrayScan
    has_none: bool
    """Whether there are rows in no group: their answers are NaN or NaT."""

    @property
    def label(self) -> str:
        return f"groups-{self.scan.label}"

    @property
    def reverse(self) -> bool:
        return self.scan.reverse

    @property
    def axis(self) -> int:
        """The axis that groups lie along."""
        return self.scan.axis

    def answer(self, arrays: Sequence[Values]) -> np.dtype:
        """Return the dtype of the answer, which is one array; raises an error for inputs that do not fit."""
        return self._answer(self.scan.answer(arrays))

    def _answer(self, found: np.dtype) -> np.dtype:
        """Return the dtype of the answer, from that without groups."""
        if not self.has_none or found.kind in "mM":
            return found
        return np.result_type(found, np.float32)

    def _block(self, block: Sequence[Any]) -> tuple[ScanInputs, Any]:
        """Return a block and the codes of its rows, in scan order."""
        *arrays, codes = block
        if self.reverse:
            arrays = [np.flip(a, self.scan.axis) for a in arrays]
            codes = codes[::-1]
        return self.scan.inputs(arrays), codes

    def aggregate(self, block: Sequence[Any]) -> RowStates:
        inputs, codes = self._block(block)
        op, values, dtype = inputs.op, state_of(inputs.arrays), inputs.dtype
        if op.in_order:
            op, values, dtype = carry_inputs(op, values, inputs.types.outputs[0], dtype)
        found, rows = np.unique(codes, return_inverse=True)
        groups = self._groups(inputs.arrays[0], rows, len(found))
        return RowStates(op, found, groups.reduce(op, values, nulls=inputs.nulls, dtype=dtype)())

    def combine(self, aggregates: Sequence[RowStates]) -> RowStates:
        op, fields = aggregates[0].op, [a.states for a in aggregates]
        states = tuple(
            [np.concatenate(each, axis=self.scan.axis) for each in zip(*fields, strict=True)]
        )
        found, rows = np.unique(np.concatenate([a.codes for a in aggregates]), return_inverse=True)
        return RowStates(op, found, merged(op, states, self._groups(states[0], rows, len(found))))

    def apply(self, block: Sequence[Any], prefix: RowStates | None) -> Any:
        inputs, codes = self._block(block)
        axis, options = self.scan.axis, self.scan.options
        found, rows = np.unique(codes, return_inverse=True)
        before, carry_in = _NONE, None
        xp = array_module(inputs.arrays[0])
        if prefix is not None:
            here = np.flatnonzero(np.isin(prefix.codes, found))
            before = np.searchsorted(found, prefix.codes[here])
            at = xp.asarray(here)
            carry_in = state_of(tuple([xp.take(s, at, axis=axis) for s in prefix.states]))
            if inputs.op.in_order:
                carry_in = carry_in_from(inputs.op, carry_in, inputs.types.outputs[0])
        op, initial = inputs.op, self.scan.initial(inputs)
        if initial is not None:
            op = starting_from(op, initial, tuple(type(x) for x in fields_of(initial)))
        groups = self._groups(inputs.arrays[0], rows, len(found), before)
        out = groups.scan(
            op,
            state_of(inputs.arrays),
            nulls=inputs.nulls,
            exclusive=options.exclusive,
            carry_in=carry_in if len(before) else None,
            dtype=inputs.dtype,
        )
        out = out.astype(inputs.types.outputs[0], copy=False)
        out = inputs.shown(out, options.exclusive and initial is None)
        if self.has_none:
            none = (slice(None),) * axis + (xp.asarray(np.flatnonzero(codes < 0)),)
            if out.dtype.kind in "iu" and out.dtype.itemsize == 8:
                out[none] = 0
                check_exact(out, f"{self.scan.label} in groups, with elements in none")
            out = out.astype(self._answer(inputs.answer), copy=False)
            out[none] = np.array("NaT" if out.dtype.kind in "mM" else np.nan, out.dtype)[()]
        return np.flip(out, axis) if self.reverse else out

    def _groups(self, like: Values, rows: Values, count: int, before: Values = _NONE) -> RowGroups:
        return RowGroups(array_module(like), like.shape, self.scan.axis, rows, count, before)
