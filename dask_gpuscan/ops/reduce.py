"""Reductions of columns by runs of equal keys: from columns to states, and from states to columns of answers.

A reduction knows one column (or the columns that an operator takes together) and the runs in one partition; what
was open before comes as a host state. This module must never know which partition it works on.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import Any

import numpy as np

from .. import kernels
from ..frames.columns import is_number, layout_of, moved_layout, prepended
from ..frames.keys import Keys
from ..frames.messages import title
from ..frames.protocol import Library, View, missing_in
from ..frames.registry import library_of
from ..kernels import BUILT_IN, Operator
from ..kernels.product import product
from .overflow import refuse
from .reduction_table import FLOAT64, OWN, REDUCTIONS, SHOWING_NAN, Reduction, States, seeing
from .runs import INT64, Runs
from .scan import IGNORING_NAN, plan


@dataclass(frozen=True)
class ReduceColumn:
    """A reduction of columns of fixed width: one, or the inputs of one operator."""

    reduction: Reduction
    user: bool = False
    """Whether the operator is a user's, which lowers its own states."""

    @property
    def name(self) -> str:
        """Name of the reduction."""
        return self.reduction.name

    def dtype(self, columns: Sequence[Any]) -> Any:
        """Dtype of the answer; raises a TypeError that names the column and the way out."""
        try:
            return self._dtype(library_of(columns[0]), tuple(c.dtype for c in columns))
        except (TypeError, ValueError) as error:
            names = ", ".join(title(c) for c in columns)
            raise type(error)(f"{self.reduction.name} of {names}: {error}") from error

    def _dtype(self, library: Library, dtypes: tuple[Any, ...]) -> Any:
        reduction = self.reduction
        if self.user:
            return plan(library, reduction.op, dtypes, None).dtype
        if reduction.name in OWN:
            answer = INT64
        else:
            answer = library.grouped(reduction.name, dtypes[0])
        if reduction.of == "values" and not in_kernels(library, dtypes[0]):
            raise TypeError(
                f"dtype {dtypes[0]} cannot be reduced so; leave it out with numeric_only=True or by "
                f"choosing columns, or cast it with astype"
            )
        return answer

    def _carried(self, dtype: np.dtype) -> bool:
        """Whether states are those of a carrier: plain ones of many elements may overflow where a walk does not."""
        return kernels.carrier(self.reduction.op, dtype) is not self.reduction.op

    def _inputs(
        self, columns: Sequence[Any], views: list[View]
    ) -> tuple[Operator, Any, kernels.Nulls, Any]:
        """Operator, values, nulls and the dtype of the state; values are those of the views."""
        column, library, reduction = columns[0], library_of(columns[0]), self.reduction
        if reduction.of == "rows":
            return reduction.op, library.numbers.ones(len(column), INT64), None, INT64
        if reduction.of == "valid":
            return reduction.op, library.valid(column).astype(INT64), None, INT64
        if self.user:
            found = plan(library, reduction.op, tuple(c.dtype for c in columns), None)
            values = tuple(v.values for v in views)
            op, values, dtype = kernels.carried(reduction.op, values, found.kernel_dtype, None)
            return op, values, joint_nulls(views), dtype
        view, layout = views[0], layout_of(library, column.dtype)
        assert layout is not None
        op = reduction.op
        if op in IGNORING_NAN:
            op = seeing(IGNORING_NAN[op] if layout.passes_over_nan else op)
        elif op in (BUILT_IN["add"], BUILT_IN["multiply"]):
            answer = self._dtype(library, (column.dtype,))
            answers = layout_of(library, answer)
            assert answers is not None
            dtype = answers.storage(answer)
            if reduction.wide and dtype.kind == "f":
                dtype = FLOAT64
            op, values, dtype = kernels.carried(op, view.values, dtype, dtype)
            return op, values, view.nulls, dtype
        return op, view.values, view.nulls, None

    def runs(self, columns: Sequence[Any], keys: Keys, starts: bool) -> tuple[Any, States]:
        """Reduce each run; also return where the runs start, if wanted."""

        def reduced(views: list[View]) -> tuple[Any, States]:
            op, values, nulls, dtype = self._inputs(columns, views)
            options = {"key_nulls": keys.nulls, "nulls": nulls, "dtype": dtype, "starts": starts}
            first, states = kernels.reduce_by_key(op, keys.arrays, values, **options)
            return first, states if isinstance(states, tuple) else (states,)

        found: tuple[Any, States] = self._seeing_nan(columns, reduced)
        return found

    def state(self, columns: Sequence[Any]) -> tuple[Operator, States]:
        """Reduce rows of one run."""
        if self._counts_all(columns):
            return self.reduction.op, (INT64.type(len(columns[0])),)

        def reduced(views: list[View]) -> tuple[Operator, States]:
            op, values, nulls, dtype = self._inputs(columns, views)
            state = kernels.reduce(op, values, nulls=nulls, dtype=dtype)
            return op, state if isinstance(state, tuple) else (state,)

        found: tuple[Operator, States] = self._seeing_nan(columns, reduced)
        return found

    def _counts_all(self, columns: Sequence[Any]) -> bool:
        of = self.reduction.of
        return of == "rows" or (
            of == "valid" and library_of(columns[0]).missing(columns[0]) is None
        )

    def _seeing_nan(self, columns: Sequence[Any], reduced: Callable[..., Any]) -> Any:
        """Reduce without a look at which values are NaN, if the states show whether any was."""
        values = self.reduction.of == "values"
        views = [_view(library_of(c), c) for c in columns] if values else []
        field = SHOWING_NAN.get(self.name) if len(columns) == 1 and not self.user else None
        doubt = None if field is None else views[0].doubt
        if doubt is not None and field is not None:
            found = reduced(views)
            shown = found[1][field]
            total = kernels.reduce(BUILT_IN["add"], shown) if kernels.is_array(shown) else shown
            if not np.isnan(total):
                doubt.dispel()
                return found
        return reduced([view.in_band() for view in views])

    def join(self, states: Sequence[tuple[Operator, States]]) -> tuple[Operator, States]:
        """Reduce neighbouring parts of one run."""
        op = states[0][0]
        parts = [s if len(s) > 1 else s[0] for _, s in states]
        state = kernels.fold(op, parts)
        return op, state if isinstance(state, tuple) else (state,)

    def close(self, columns: Sequence[Any], states: States, runs: Runs, carried: Any) -> Any:
        """Return the answers of runs as an array, given the state of the one that was open before."""
        return self.answer(columns, self.closed(states, runs, carried))

    def closed(self, states: States, runs: Runs, carried: Any) -> States:
        """Return the states of runs, given that of the one that was open before; may write to the arrays given."""
        states = tuple(s[: len(runs.starts)] for s in states)
        if runs.before:
            pairs, library = zip(carried[1], states, strict=True), library_of(runs.series[0])
            return tuple(prepended(library, first, s) for first, s in pairs)
        if runs.joined:
            own = tuple(s.dtype.type(s[0].item()) for s in states)
            _, first = self.join([carried, (carried[0], own)])
            for s, value in zip(states, first, strict=True):
                s[0] = value
        return states

    def merge(self, library: Library, states: States, keys: Keys) -> States:
        """Reduce states of equal keys to one."""
        op = self.reduction.op
        if op in IGNORING_NAN and not self.user:
            op = seeing(op)
        return merged(kernels.carrier(op, states[0].dtype), states, keys)

    def answer(self, columns: Sequence[Any], states: States) -> Any:
        """Make states a column of answers."""
        library = library_of(columns[0])
        dtype = self._dtype(library, tuple(c.dtype for c in columns))
        layout = layout_of(library, dtype)
        assert layout is not None
        if self.user and not self._carried(layout.storage(dtype)):
            values, missing = lowered(library, self.reduction.op, states), None
        elif self.user:
            values, missing = REDUCTIONS["prod"].finish(library.numbers, states)
        else:
            try:
                values, missing = self.reduction.finish(library.numbers, states)
            except OverflowError:
                refuse(self.name, columns[0])
        if missing is not None and not bool(missing.any()):
            missing = None
        # nulls are written to a copy: states may be those of another task
        values = values.astype(layout.storage(dtype), copy=missing is not None)
        return layout.wrap(values, missing, dtype)


def in_kernels(library: Library, dtype: Any) -> bool:
    """Tell whether kernels reduce columns of a dtype: of numbers, bool and times."""
    times = moved_layout(library, dtype) is not None and dtype.kind in "mM"
    return times or (is_number(library, dtype) and dtype.kind != "c")


def merged(op: Operator, states: States, keys: Keys) -> States:
    """Reduce each run of states to one."""
    values = states if len(states) > 1 else states[0]
    _, out = kernels.reduce_by_key(on_states(op, states), keys.arrays, values, starts=False)
    return out if isinstance(out, tuple) else (out,)


def lowered(library: Library, op: Operator, states: States) -> Any:
    """Return an operator's answers for states, one by one."""
    if op.lower is None:
        return states[0]
    rows = library.numbers.arange(len(states[0]), dtype=INT64)
    values = states if len(states) > 1 else states[0]
    _, out = kernels.reduce_by_key(on_states(op, states), [rows], values, starts=False, lower=True)
    return out


def on_states(op: Operator, states: States) -> Operator:
    """Return the operator whose elements are states of another."""
    number = states[0].dtype
    if number.kind == "f" and op == product(number):
        return product(number, states=True)
    return _on_states(op, tuple(s.dtype for s in states))


@lru_cache(maxsize=256)
def _on_states(op: Operator, dtypes: tuple[np.dtype, ...]) -> Operator:
    if len(dtypes) == 1:
        return replace(op, lift=None, inputs=1)
    # identities that depend on the dtype are those of operators whose state starts with the element
    identity = op.identity_for(*[dtypes[0]] * op.inputs)
    return Operator(op.combine, identity, None, op.lower, op.name)


def _view(library: Library, column: Any) -> View:
    layout = layout_of(library, column.dtype)
    assert layout is not None
    return layout.view(library.array(column))


def joint_nulls(views: list[View]) -> kernels.Nulls:
    """Return where any of the columns is null, for a kernel."""
    return views[0].nulls if len(views) == 1 else kernels.byte_mask(missing_in(views))
