"""Scans of columns within groups, by an operator.

A scan knows the keys of one partition and the state of the group that goes on in it, or the codes of its keys and the
states of all groups. This module must never know which partition it works on.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from .. import kernels
from ..frames.columns import is_number, layout_of, moved_layout
from ..frames.keys import Codes, Keys
from ..frames.messages import title
from ..frames.protocol import Library, View, missing_in
from ..frames.registry import library_of
from ..kernels import BUILT_IN, InBand, Operator
from .reduce import joint_nulls, merged, on_states
from .reduction_table import FLOAT64, States
from .runs import INT64
from .scan import METHODS, Plan, plan

_ANY = BUILT_IN["logical_any"]


def scan_groups(op: Operator, keys: list[Any], values: Any, **options: Any) -> Any:
    """Scan within runs of equal keys, without a wait for what is open after the last row."""
    out, _ = kernels.scan_by_key(op, keys, values, carry_out=False, **options)
    return out


@dataclass(frozen=True)
class ScanGroups:
    """A scan by an operator of a column, or of several that are the operator's inputs."""

    label: str
    op: Operator
    exclusive: bool = False
    reverse: bool = False
    null_keys: bool = False
    """Whether rows may be in no group: as pandas does, integers are then scanned as float64, which has a null."""

    def dtype(self, columns: Sequence[Any]) -> Any:
        """Dtype of the answer; raises a TypeError that names the column and the way out."""
        try:
            return self._plan(columns).dtype
        except (TypeError, ValueError) as error:
            names = ", ".join(title(c) for c in columns)
            raise type(error)(f"{self.label} of {names}: {error}") from error

    def _plan(self, columns: Sequence[Any]) -> Plan:
        library, dtypes = library_of(columns[0]), tuple(c.dtype for c in columns)
        for dtype in dtypes:
            if layout_of(library, dtype) is not None and moved_layout(library, dtype) is None:
                raise TypeError(
                    f"dtype {dtype} cannot be scanned within groups; cast it with astype"
                )
        requested = None
        if self.op in METHODS:
            answer = library.grouped(METHODS[self.op], dtypes[0])
            requested = answer if is_number(library, answer) else None
            if self.null_keys and not library.holds_null(answer):
                requested = FLOAT64
        return plan(library, self.op, dtypes, requested)

    def _options(self, found: Plan, views: list[View]) -> dict[str, Any]:
        values = tuple(v.values for v in views) if len(views) > 1 else views[0].values
        return {"values": values, "nulls": joint_nulls(views), "dtype": found.kernel_dtype}

    def state(self, columns: Sequence[Any]) -> tuple[Operator, Any]:
        """Reduce the rows of one group."""
        found = self._plan(columns)
        options = self._options(found, [v.in_band() for v in found.views(columns)])
        return kernels.aggregate(found.op, reverse=self.reverse, **options)

    def join(self, states: Sequence[tuple[Operator, Any]]) -> tuple[Operator, Any]:
        """Reduce neighbouring parts of one group."""
        op = states[0][0]
        return op, kernels.fold(op, [state for _, state in states])

    def apply(self, columns: Sequence[Any], keys: Keys, carried: Any, continues: bool) -> Any:
        """Scan a partition, from the state of the group that goes on in it."""
        found = self._plan(columns)
        views = found.views(columns)
        doubt = views[0].doubt if len(views) == 1 else None
        views = [v.settled() if doubt is None else v.in_band() for v in views]
        options = self._options(found, views)
        nulls, met = options["nulls"], None
        if doubt is not None and isinstance(nulls, InBand):  # the kernel tells whether there is any
            met = library_of(columns[0]).numbers.zeros(1, np.bool_)
        carry_in = None
        if continues:
            carry_in = kernels.seed(found.op, carried[1], found.kernel_dtype)
        out = scan_groups(
            found.op,
            keys.arrays,
            key_nulls=keys.nulls,
            exclusive=self.exclusive,
            reverse=self.reverse,
            carry_in=carry_in,
            continues=continues,
            met=met,
            **options,
        )
        if doubt is not None and met is not None:
            whole = self._wrapped(found, views, None, out)  # while the kernel runs
            if not met[0]:
                doubt.dispel()
                return whole
        return self._wrapped(found, views, nulls, out)

    def _wrapped(self, found: Plan, views: list[View], nulls: Any, out: Any) -> Any:
        missing = None
        if nulls is not None and found.marks:
            missing = missing_in(views)
        return found.layout.wrap(out, missing, found.dtype)

    def runs(self, columns: Sequence[Any], keys: Keys, starts: bool) -> tuple[Any, States]:
        """Reduce each group to its state."""
        found = self._plan(columns)
        options = self._options(found, [v.in_band() for v in found.views(columns)])
        answer = found.kernel_dtype
        op, values, dtype = kernels.carried(found.op, options["values"], answer, answer)
        options |= {"values": values, "dtype": dtype}
        first, states = kernels.reduce_by_key(op, keys.arrays, starts=starts, **options)
        return first, states if isinstance(states, tuple) else (states,)

    def states_by_code(self, columns: Sequence[Any], codes: Codes) -> States:
        """Reduce the rows of each code to a state."""
        found = self._plan(columns)
        options = self._options(found, found.views(columns))
        answer = found.kernel_dtype
        op, values, dtype = kernels.carried(found.op, options["values"], answer, answer)
        options |= {"values": values, "dtype": dtype}
        states = kernels.reduce_by_code(op, codes.array, groups=codes.groups, **options)
        return states if isinstance(states, tuple) else (states,)

    def apply_by_code(self, columns: Sequence[Any], codes: Codes, prior: States | None) -> Any:
        """Scan a partition in the rows' order, from the states of the first codes."""
        found = self._plan(columns)
        views = found.views(columns)
        options = self._options(found, views)
        carry_in = None
        if prior is not None:
            state = prior if len(prior) > 1 else prior[0]
            carry_in = kernels.seed(found.op, state, found.kernel_dtype)
        out, _ = kernels.scan_by_code(
            found.op,
            codes.array,
            groups=codes.groups,
            exclusive=self.exclusive,
            carry_in=carry_in,
            **options,
        )
        return self._wrapped(found, views, options["nulls"], out)

    def merge(self, library: Library, states: States, keys: Keys) -> States:
        """Reduce states of equal keys to one."""
        return merged(kernels.carrier(self.op, states[0].dtype), states, keys)

    def apply_after(
        self, columns: Sequence[Any], prior: States, order: Any, back: Any, keys: Keys
    ) -> Any:
        """Scan a partition with the states of groups before its rows: elements are lifted to states first."""
        found = self._plan(columns)
        views = [v.settled() for v in found.views(columns)]
        options = self._options(found, views)
        numbers = library_of(columns[0]).numbers
        rows = numbers.arange(len(columns[0]), dtype=INT64)
        _, states = kernels.reduce_by_key(found.op, [rows], starts=False, **options)
        states = states if isinstance(states, tuple) else (states,)
        if kernels.carrier(found.op, found.kernel_dtype) is not found.op:
            prior = (kernels.seed(found.op, prior, found.kernel_dtype),)
        pairs = zip(prior, states, strict=True)
        both = tuple(numbers.concatenate([a, b])[order] for a, b in pairs)
        out = scan_groups(
            on_states(found.op, both),
            keys.arrays,
            both if len(both) > 1 else both[0],
            exclusive=self.exclusive,
            dtype=found.kernel_dtype if len(both) == 1 else None,
        )
        out = out[back].astype(found.kernel_dtype, copy=False)
        return self._wrapped(found, views, options["nulls"], out)


@dataclass(frozen=True)
class ScanAfterValues(ScanGroups):
    """An exclusive scan whose answer is null where its group has no value before a row."""

    def _valid(self, columns: Sequence[Any]) -> Any:
        valid = library_of(columns[0]).valid(columns[0])
        for column in columns[1:]:
            valid = valid & library_of(column).valid(column)
        return valid

    def state(self, columns: Sequence[Any]) -> tuple[Any, bool]:
        return super().state(columns), bool(self._valid(columns).any())

    def join(self, states: Sequence[tuple[Any, bool]]) -> tuple[Any, bool]:
        return super().join([state for state, _ in states]), any(seen for _, seen in states)

    def apply(self, columns: Sequence[Any], keys: Keys, carried: Any, continues: bool) -> Any:
        state, seen_before = carried if continues else (None, False)
        out = super().apply(columns, keys, state, continues)
        seen = scan_groups(
            _ANY,
            keys.arrays,
            self._valid(columns),
            key_nulls=keys.nulls,
            exclusive=True,
            reverse=self.reverse,
            carry_in=np.bool_(seen_before) if continues else None,
            continues=continues,
        )
        return self._nulled(columns, out, seen)

    def _nulled(self, columns: Sequence[Any], out: Any, seen: Any) -> Any:
        return library_of(columns[0]).nulled(out, ~seen) if self._plan(columns).marks else out

    def runs(self, columns: Sequence[Any], keys: Keys, starts: bool) -> tuple[Any, States]:
        first, states = super().runs(columns, keys, starts)
        _, seen = kernels.reduce_by_key(_ANY, keys.arrays, self._valid(columns), starts=False)
        return first, (*states, seen)

    def states_by_code(self, columns: Sequence[Any], codes: Codes) -> States:
        states = super().states_by_code(columns, codes)
        seen = kernels.reduce_by_code(_ANY, codes.array, self._valid(columns), codes.groups)
        return (*states, seen)

    def apply_by_code(self, columns: Sequence[Any], codes: Codes, prior: States | None) -> Any:
        *inner, seen_before = (None,) if prior is None else prior
        out = super().apply_by_code(columns, codes, None if prior is None else tuple(inner))
        seen, _ = kernels.scan_by_code(
            _ANY,
            codes.array,
            self._valid(columns),
            codes.groups,
            exclusive=True,
            carry_in=seen_before,
        )
        return self._nulled(columns, out, seen)

    def merge(self, library: Library, states: States, keys: Keys) -> States:
        *inner, seen = states
        return (*super().merge(library, tuple(inner), keys), *merged(_ANY, (seen,), keys))

    def apply_after(
        self, columns: Sequence[Any], prior: States, order: Any, back: Any, keys: Keys
    ) -> Any:
        *inner, seen_before = prior
        out = super().apply_after(columns, tuple(inner), order, back, keys)
        numbers = library_of(columns[0]).numbers
        valid = numbers.concatenate([seen_before, self._valid(columns)])[order]
        seen = scan_groups(_ANY, keys.arrays, valid, exclusive=True)
        return self._nulled(columns, out, seen[back])
