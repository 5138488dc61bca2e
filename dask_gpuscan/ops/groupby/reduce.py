"""Reductions of groups in kernels, from columns to states to answers; and which operation reduces a column."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import suppress
from functools import lru_cache
from typing import Any, NamedTuple

import numpy as np

from ... import kernels
from ...frames.keys import missing_in
from ...frames.messages import HINT, name_columns
from ...frames.protocol import Library
from ...frames.registry import library_of, view_of
from ...frames.types import Array, Column, DType, Layout, Values, View
from ...kernels import BUILT_IN, Operator
from ...kernels.arrays import is_array
from ...kernels.late_dataclass import dataclass
from ...kernels.nulls import missing_in_band
from ...kernels.scan import aggregating, carry_inputs, carry_operator
from ..core.groups import (
    INT64,
    ReducibleGroups,
    States,
    fields_of,
    folded,
    lowered,
    merged,
    ones,
)
from ..core.operation import StateReduction
from ..core.plans import PlannedOperation
from ..runs import EndedRuns
from ..scan.host_scan import check_reproducible
from ..scan.kernel_scan import wrapped
from ..scan.operator_traits import REPRODUCIBLE_SUM, operator_for, operator_of
from ..scan.overflow import refuse
from ..scan.plan import FLOAT64, combined_plan
from ..statistics.groups import Reduction, seeing
from ..statistics.table import REDUCTIONS, REPRODUCIBLE, STATISTICS
from .decimals import CastReduction, DecimalMean, DecimalSum
from .library_reduction import CountChanges, FirstLastReduction, LibraryReduction, nulled


class _Kernel(NamedTuple):
    """How a column of one dtype is reduced by a kernel, and what its states become."""

    library: Library
    op: Operator
    state: np.dtype | None
    """The dtype of the state, if it is not that of the column."""
    layout: Layout | None
    answers: Layout
    answer: DType
    storage: np.dtype
    """The dtype of the numbers of answers."""


@dataclass(frozen=True)
class ReduceColumn(PlannedOperation, StateReduction):
    """A reduction of columns of fixed width: one, or the inputs of one operator."""

    reduction: Reduction
    user: bool = False
    """Whether the operator is a user's, which lowers its states to answers."""

    @property
    def name(self) -> str:
        """Name of the reduction."""
        return self.reduction.name

    def kernel(self, columns: Sequence[Column]) -> _Kernel:
        """Return what kernels do for columns of these dtypes that are not a user's operator's inputs."""
        kind, dtype = type(columns[0]), columns[0].dtype
        if hasattr(dtype, "categories"):  # see `planned`
            return self._kernel(columns)
        key = kind, dtype, _Kernel
        found: _Kernel = self.plans.get(key) or self.plans.store(key, self._kernel(columns))
        return found

    def _kernel(self, columns: Sequence[Column]) -> _Kernel:
        reduction, library = self.reduction, library_of(columns[0])
        _, answer = self.planned(columns)
        answers = library.layout(answer)
        assert answers is not None
        storage, layout = answers.storage(answer), library.layout(columns[0].dtype)
        op = reduction.op
        state: np.dtype | None = None
        if reduction.of != "values":
            state = INT64
        elif reduction.over_nan is not None:
            assert layout is not None
            op = seeing(reduction.over_nan if layout.groups_pass_over_nan else op)
        elif reduction.wide:
            state = storage
            if storage.kind in "fc":
                if reduction.of_floats is not None:
                    op = reduction.of_floats[storage.itemsize < FLOAT64.itemsize]
                state = FLOAT64 if storage.kind == "f" else np.dtype(np.complex128)
        return _Kernel(library, op, state, layout, answers, answer, storage)

    def dtype(self, columns: Sequence[Column]) -> Any:
        """Dtype of the answer; raises a TypeError that names the column and the way out."""
        reduction, library, dtype = self.reduction, library_of(columns[0]), columns[0].dtype
        answer: DType = INT64
        try:
            if self.user:
                return combined_plan(library, reduction.op, columns).answers
            if reduction.library_has:
                answer = library.group_dtype(reduction.dtype_of or reduction.name, dtype)
            if not _is_reduced(reduction, library, dtype):
                raise TypeError(f"dtype {dtype} cannot be reduced this way; {HINT}")
        except (TypeError, ValueError) as error:
            name_columns(error, reduction.name, columns)
            raise
        return answer

    def _carried(self, dtype: np.dtype) -> bool:
        """Return whether states are those of a carry operator, because plain states of many elements may overflow."""
        return carry_operator(self.reduction.op, dtype) is not self.reduction.op

    def _inputs(
        self, columns: Sequence[Column], views: list[View]
    ) -> tuple[Operator, Any, kernels.Nulls, Any]:
        """Return the operator, its values (those of the views), their nulls, and the dtype of the state."""
        column, reduction = columns[0], self.reduction
        if reduction.of == "rows":
            return reduction.op, ones(library_of(column).xp, len(column)), None, INT64
        if reduction.of == "valid":
            return reduction.op, library_of(column).valid(column).astype(INT64), None, INT64
        if self.user:
            found = combined_plan(library_of(column), reduction.op, columns)
            values = tuple(v.values for v in views)
            op, values, dtype = carry_inputs(found.meant, values, found.kernel_dtype, None)
            return op, values, joint_nulls(views), dtype
        view, kernel = views[0], self.kernel(columns)
        if reduction.wide and kernel.op.in_order:
            assert kernel.state is not None
            op, values, dtype = carry_inputs(kernel.op, view.values, kernel.state, kernel.state)
            return op, values, view.nulls, dtype
        return kernel.op, view.values, view.nulls, kernel.state

    def aggregate(self, columns: Sequence[Column], groups: ReducibleGroups) -> Callable[[], States]:
        if groups.is_one and self._counts_all(columns):
            return lambda: (INT64.type(len(columns[0])),)
        field, views = None, list[View]()
        if self.reduction.of != "values":
            library = library_of(columns[0])
        elif self.user:
            library, views = library_of(columns[0]), [view_of(c) for c in columns]
        else:
            kernel, field = self.kernel(columns), self.reduction.nan_field
            library, layout = kernel.library, kernel.layout
            assert layout is not None
            views = [layout.view(library.array(columns[0]))]
        if field is None:
            return self._reduce(columns, library.in_band(views), groups)

        def saw_nan(found: States) -> bool:
            shown = found[field]
            total = kernels.reduce(BUILT_IN["add"], shown) if is_array(shown) else shown
            return bool(np.isnan(total))

        return library.assume_no_nan(
            views, lambda views: self._reduce(columns, views, groups), saw_nan, library.in_band
        )

    def _reduce(
        self, columns: Sequence[Column], views: list[View], groups: ReducibleGroups
    ) -> Callable[[], States]:
        if self.at_borders:
            found = self._at_borders(columns, views, groups)
            if found is not None:
                return lambda: found
        op, values, nulls, dtype = self._inputs(columns, views)
        if not groups.is_one:
            return groups.reduce(op, values, nulls=nulls, dtype=dtype)
        # the operator combines carried states already, and is its own carry operator
        _, wait = aggregating(op, values, nulls=nulls, dtype=dtype)
        return lambda: fields_of(wait())

    @property
    def at_borders(self) -> bool:
        return self.reduction.picks is not None or self.reduction.of != "values"

    def _at_borders(
        self, columns: Sequence[Column], views: list[View], groups: ReducibleGroups
    ) -> States | None:
        """Return states that need only the first and last row of each group, and no kernel; None if they need more."""
        reduction = self.reduction
        borders = groups.borders(len(columns[0]))
        if borders is None:
            return None
        first, last = borders
        if reduction.picks is None:
            return (last - first + 1,) if self._counts_all(columns) else None
        values, nulls, filled = views[0].values, views[0].nulls, groups.filled
        if isinstance(nulls, kernels.Mask):
            return None
        rows = first if reduction.picks == "first" else last
        if filled is not None:  # groups without rows may take any row
            if not len(values):
                return None
            rows = rows.clip(0, len(values) - 1)
        picked = values[rows]
        if nulls and bool(missing_in_band(picked).any()):
            return None
        if groups.is_one:
            return picked.dtype.type(picked[0].item()), np.bool_(True)
        seen = library_of(columns[0]).xp.ones(len(picked), np.bool_) if filled is None else filled
        return picked, seen

    def _counts_all(self, columns: Sequence[Column]) -> bool:
        of = self.reduction.of
        return of == "rows" or (
            of == "valid" and library_of(columns[0]).missing(columns[0]) is None
        )

    def combine(self, states: Sequence[States]) -> States:
        return folded(self._carries(states[0]), list(states))

    def merge(self, library: Library, states: States, groups: ReducibleGroups) -> States:
        return merged(self._carries(states), states, groups)

    def _carries(self, states: States) -> Operator:
        """Return the operator that combines states."""
        op, over_nan = self.reduction.op, self.reduction.over_nan
        if over_nan is not None:
            return seeing(over_nan if states[0].dtype.kind == "f" else op)
        if op.in_order:
            return carry_operator(op, states[0].dtype)
        if self.reduction.of_floats is not None and len(states) > 1:
            return self.reduction.of_floats[0]
        return operator_of(op, states) if self.user else op

    def finalize_runs(
        self, columns: Sequence[Column], states: States, runs: EndedRuns, carried: States | None
    ) -> Any:
        return self.finalize(columns, self.closed(states, runs, carried))

    def closed(self, states: States, runs: EndedRuns, carried: States | None) -> States:
        """Return the states of runs, given the state of the run that was open before; may write to `states`."""
        states = tuple(s[: len(runs.starts)] for s in states)
        if runs.before:
            assert carried is not None
            pairs = zip(carried, states, strict=True)
            return tuple(runs.library.prepend_number(first, s) for first, s in pairs)
        if runs.joined:
            own = tuple(s.dtype.type(s[0].item()) for s in states)
            assert carried is not None
            first = self.combine([carried, own])
            for s, value in zip(states, first, strict=True):
                s[0] = value
        return states

    def of_nothing(self, columns: Sequence[Column]) -> Any:
        library, dtype = library_of(columns[0]), self.dtype(columns)
        value: float | None = 0 if self.reduction.of == "rows" else None
        if value is None and not self.user:
            value = STATISTICS[self.name].of_none
        if value is None:
            return None
        layout = library.layout(dtype)
        assert layout is not None
        return layout.wrap(library.xp.full(1, value, layout.storage(dtype)), None, dtype)

    def finalize(self, columns: Sequence[Column], states: States) -> Any:
        if self.user:
            library = library_of(columns[0])
            plan = combined_plan(library, self.reduction.op, columns)
            if self._carried(plan.kernel_dtype):
                values, _ = REDUCTIONS["prod"].finish(library.xp, states)
            else:
                values = lowered(library, operator_of(self.reduction.op, states), states)
            return wrapped(plan, values.astype(plan.kernel_dtype, copy=False), None, columns)
        kernel = self.kernel(columns)
        if self.reduction.lowers:
            states = (lowered(kernel.library, self.reduction.op, states), *states)
        try:
            values, missing = self.reduction.finish(kernel.library.xp, states)
        except OverflowError:
            refuse(self.name, columns[0], columns[0].dtype)
        if missing is not None and not bool(missing.any()):
            missing = None
        # nulls are written to a copy: states may be those of another task
        values = values.astype(kernel.storage, copy=missing is not None)
        return kernel.answers.wrap(values, missing, kernel.answer)


@dataclass(frozen=True)
class NullIfNone(StateReduction):
    """A reduction that is null for groups without values; the last field of its states counts values."""

    inner: ReduceColumn

    @property
    def name(self) -> str:
        return self.inner.name

    @property
    def at_borders(self) -> bool:
        return self.inner.at_borders

    def dtype(self, columns: Sequence[Column]) -> Any:
        return self.inner.dtype(columns)

    def aggregate(self, columns: Sequence[Column], groups: ReducibleGroups) -> Callable[[], States]:
        reduced, library = self.inner.aggregate(columns, groups), library_of(columns[0])

        def states() -> States:
            found = reduced()  # after this, it is known whether any value is NaN
            if not groups.is_one and library.missing(columns[0]) is None:
                # each group has a row, and so a value
                return (*found, library.one_each(len(found[0])))
            return (*found, *_VALUES.aggregate(columns, groups)())

        return states

    def combine(self, states: Sequence[States]) -> States:
        reduced = self.inner.combine([s[:-1] for s in states])
        return (*reduced, *_VALUES.combine([s[-1:] for s in states]))

    def merge(self, library: Library, states: States, groups: ReducibleGroups) -> States:
        reduced = self.inner.merge(library, states[:-1], groups)
        return (*reduced, *_VALUES.merge(library, states[-1:], groups))

    def finalize_runs(
        self, columns: Sequence[Column], states: States, runs: EndedRuns, carried: States | None
    ) -> Any:
        reduced, counted = (None, None) if carried is None else (carried[:-1], carried[-1:])
        array = self.inner.finalize_runs(columns, states[:-1], runs, reduced)
        none_before = runs.before and counted is not None and not counted[0]
        if not none_before and library_of(columns[0]).missing(columns[0]) is None:
            return array
        return self._nulled(columns, array, _VALUES.closed(states[-1:], runs, counted)[0])

    def finalize(self, columns: Sequence[Column], states: States) -> Any:
        return self._nulled(columns, self.inner.finalize(columns, states[:-1]), states[-1])

    def _nulled(self, columns: Sequence[Column], array: Array, counts: Values) -> Any:
        if counts.strides == (0,):  # ones
            return array
        return nulled(library_of(columns[0]), array, counts == 0)


_VALUES = ReduceColumn(REDUCTIONS["count"])


def in_kernels(library: Library, dtype: DType) -> bool:
    """Return whether kernels reduce columns of a dtype: numbers, bool and times."""
    times = library.moved_layout(dtype) is not None and dtype.kind in "mM"
    return times or (library.is_number(dtype) and dtype.kind != "c")


def _is_reduced(reduction: Reduction, library: Library, dtype: DType) -> bool:
    """Return whether kernels can reduce columns of a dtype this way; complex numbers have sums only."""
    adds = reduction.of_floats is not None and library.is_number(dtype)
    return reduction.of != "values" or adds or in_kernels(library, dtype)


def joint_nulls(views: list[View]) -> kernels.Nulls:
    """Return where any of the columns is null, in the form that kernels take."""
    return views[0].nulls if len(views) == 1 else kernels.byte_mask(missing_in(views))


# --- which operation reduces a column ----------------------------------------------------------------


def reproducible(library: Library, dtype: DType, name: str) -> Any:
    """Return how a column of a dtype is reduced to a sum or a mean whose bits depend on its values alone.

    Raises
    ------
    TypeError
        For numbers that kernels do not add.
    """
    check_reproducible(library, dtype)
    layout, table = library.layout(dtype), REDUCTIONS
    if layout is not None and library.is_number(dtype):
        storage = layout.storage(dtype)
        sums_floats = operator_for(REPRODUCIBLE_SUM, storage) is REPRODUCIBLE_SUM
        if sums_floats or (name == "mean" and storage.kind in "biu"):
            table = REPRODUCIBLE
    return reduction_of(library, dtype, table[name])


def reduction_of(library: Library, dtype: DType, reduction: Reduction) -> Any:
    """Return how a column of a dtype is reduced."""
    # a dtype with categories takes long to hash, and the cache would keep it
    known = _reduction_of.__wrapped__ if hasattr(dtype, "categories") else _reduction_of
    return known(library, dtype, reduction)


@lru_cache(maxsize=1024)
def _reduction_of(library: Library, dtype: DType, reduction: Reduction) -> Any:
    host = library.host_values
    if host is not None and not isinstance(dtype, np.dtype) and host.holds_decimals(dtype):
        if reduction.name == "sum":
            return DecimalSum(reduction)
        if reduction.name == "mean":
            return DecimalMean(DecimalSum(REDUCTIONS["sum"]), _VALUES)
        if reduction.name in ("var", "std", "sem"):
            floats = library.group_dtype(reduction.name, dtype)
            return CastReduction(reduction_of(library, floats, reduction))
    if not _is_reduced(reduction, library, dtype):
        if reduction.picks is not None:
            return FirstLastReduction(reduction)
        if reduction.compares:
            return CountChanges(reduction)
        if reduction.by_library:
            return LibraryReduction(reduction)
    if reduction.times is not None and dtype.kind in "mM" and in_kernels(library, dtype):
        with suppress(TypeError):  # raised later, with the name of the column
            answer = library.group_dtype(reduction.name, dtype)
            if answer != dtype:  # for dates without a time
                return CastReduction(reduction_of(library, answer, reduction))
    if not library.is_number(dtype):
        checked = reduction.checked_times if library.raises_on_overflow(dtype) else None
        reduction = checked or reduction.times or reduction
    found = ReduceColumn(reduction)
    return NullIfNone(found) if reduction.null_if_none and library.null_sums else found
