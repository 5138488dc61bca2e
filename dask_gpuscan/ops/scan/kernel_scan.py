"""Scans of columns by an operator, in groups or not: their options, the effect of nulls, and how a carry is handed on.

Rows that are in no groups are one group. The states of a scan are those of its operator, then, where its options need
them, whether there was a value and whether there was a null.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Sequence
from dataclasses import replace
from functools import lru_cache, partial
from operator import attrgetter
from typing import Any, NamedTuple

import numpy as np

from ...frames.keys import missing_in
from ...frames.messages import check_flags, column_title, naming
from ...frames.protocol import Library
from ...frames.registry import library_of
from ...frames.types import Array, Column, Missing, Values, View
from ...kernels import InBand, Mask, Operator, byte_mask
from ...kernels.arrays import is_array
from ...kernels.late_dataclass import dataclass
from ...kernels.messages import shown
from ...kernels.operators.built_in import traits_of
from ...kernels.operators.clamped import clamped_add
from ...kernels.operators.signature import user_state
from ...kernels.options import ScanOptions
from ...kernels.scan import BoundScan, carry_in_from, carry_inputs, carry_operator
from ..core.groups import (
    ANY,
    Groups,
    GroupsAsRuns,
    ReducibleGroups,
    States,
    at_identity,
    fields_of,
    folded,
    lowered,
    merged,
    state_of,
)
from ..core.operation import Needs
from ..core.plans import OfArray, Planned
from .operator_traits import PLAIN, TRAITS
from .overflow import Walk, check_held, check_overflow
from .plan import Bounds, ScanPlan, scan_plan


@dataclass(frozen=True)
class ScanArguments:
    """How a scan is done; `Gpuscan.cumsum` explains it to users.

    Parameters
    ----------
    exclusive : bool
        Whether a row's answer is the state before it.
    initial : scalar, state or dict of column to these, optional
        The start value of a scan, or of the scan of each group.
    reverse : bool
        Whether rows are met from the last to the first.
    skipna : bool
        Whether a scan continues after nulls; else all rows from the first null on are null.
    dtype : dtype, optional
        To accumulate and answer in.

    Raises
    ------
    ValueError
        For a flag that is neither True nor False.
    """

    exclusive: bool = False
    initial: Any = None
    reverse: bool = False
    skipna: bool = True
    dtype: Any = None

    def __post_init__(self) -> None:
        for name in ("exclusive", "reverse", "skipna"):
            check_flags(**{name: getattr(self, name)})
            object.__setattr__(self, name, bool(getattr(self, name)))

    def initial_of(self, name: Hashable) -> Any:
        """Return the start value for a column of this name."""
        return self.initial.get(name) if isinstance(self.initial, dict) else self.initial


@dataclass(frozen=True)
class ScanBase(Planned):
    """The base of all scans of columns: a name for tasks and messages, an operator and options."""

    label: str
    op: Operator
    options: ScanArguments = ScanArguments()
    in_groups: bool = False
    bounds: Bounds = None
    """The bounds that a sum is clamped to at each step."""

    needs = Needs.STATES

    @property
    def reverse(self) -> bool:
        return self.options.reverse

    def __dask_tokenize__(self) -> tuple[Any, ...]:
        return (self.label, self.op.token, repr((self.options, self.bounds)), self.in_groups)


@dataclass(frozen=True)
class KernelScan(ScanBase):
    """A scan of one column of fixed width, or of several that are the operator's inputs.

    Columns of other dtypes, or of another library, take another scan.
    """

    def dtype(self, columns: Sequence[Column]) -> Any:
        plan = self._plan(columns)
        self.initial_state(plan)
        return plan.answers

    def _plan(self, columns: Sequence[Column]) -> ScanPlan:
        found: ScanPlan | None = self.plans.get("scan")
        if found is None:
            library, dtypes = library_of(columns[0]), tuple([c.dtype for c in columns])
            asked = self.options.dtype, self.in_groups, self.bounds
            found = self.plans.store("scan", scan_plan(library, self.op, dtypes, *asked))
        return found

    def initial_state(self, plan: ScanPlan) -> Any:
        """Return the initial value as a state of the operator, or None."""
        value = self.options.initial
        if value is None or "initial" in self.plans:
            return None if value is None else self.plans["initial"]
        if not plan.library.is_number(plan.dtype):
            value = plan.library.stored_number(value, plan.dtype)
        for part in fields_of(value):
            if not np.isscalar(part):
                raise TypeError(f"initial must be a scalar or a state, found {shown(value)}")
        if self.bounds is not None:
            value = (0, value, value)  # clamps all that came before to the value
        state = user_state(plan.op, value, plan.storages, plan.kernel_dtype, "initial")
        return self.plans.store("initial", state)

    # --- states in addition to the operator's -----------------------------------------------------

    def _needs_seen(self) -> bool:
        """Whether states say if there was a value: the identity of a minimum would look like one."""
        options = self.options
        return options.exclusive and self.op.null_identity and options.initial is None

    def _extra(self, missing: Missing, count: int, groups: ReducibleGroups) -> States:
        """Whether groups have a value, and whether they have a null, if options need this."""
        extra: list[Any] = []
        for needed, of_values in ((self._needs_seen(), True), (not self.options.skipna, False)):
            if not needed:
                continue
            if groups.is_one:
                some = missing is not None and bool(missing.any())
                all_ = some and bool(missing.all())
                extra.append(np.bool_(count > 0 and not all_ if of_values else some))
            else:
                extra += groups.reduce(ANY, ~missing if of_values else missing)()
        return tuple(extra)

    def _parts(self, states: States) -> Parts:
        """Return states as their parts."""
        rest = list(states)
        null = None if self.options.skipna else rest.pop()
        seen = rest.pop() if self._needs_seen() else None
        return Parts(tuple(rest), seen, null)

    # --- what groups hand on ----------------------------------------------------------------------

    def _views(self, plan: ScanPlan, columns: Sequence[Column]) -> list[View]:
        """Return views of the columns; raises an error for a value that the requested integers do not hold."""
        array, integers = plan.library.array, plan.held_by
        if len(columns) == 1:
            views = [plan.layouts[0].view(array(columns[0]))]
        else:
            views = [x.view(array(c)) for x, c in zip(plan.layouts, columns, strict=True)]
        if integers is None:
            return views
        for view, column in zip(views, columns, strict=True):
            if view.values.dtype.kind == "f":
                _check_whole(integers, view, column)
            elif not np.can_cast(view.values.dtype, integers):
                with naming(self.label, columns):
                    check_held(view.values, view, integers, plan.answers)
        return views

    def aggregate(self, columns: Sequence[Column], groups: ReducibleGroups) -> Callable[[], States]:
        plan = self._plan(columns)
        library, views = plan.library, self._views(plan, columns)
        if not groups.is_one:
            views = library.in_band(views)
        elif not (self.options.skipna and plan.keeps_nan):
            views = library.resolved(views)

        def run(views: list[View]) -> Callable[[], tuple[View, States]]:
            inputs = joined(views)
            begun = self._reduce(plan, inputs, groups)
            return lambda: (inputs, begun())

        wait = library.assume_no_nan(views, run, lambda found: bool(np.isnan(found[1][0])))

        def states() -> States:
            inputs, found = wait()
            if not self._needs_seen() and self.options.skipna:
                return found
            missing = None if groups.is_one and inputs.nulls is None else inputs.missing()
            return (*found, *self._extra(missing, len(columns[0]), groups))

        return states

    def _reduce(
        self, plan: ScanPlan, inputs: View, groups: ReducibleGroups
    ) -> Callable[[], States]:
        answer = plan.kernel_dtype
        op, values = plan.op, inputs.values
        dtype: np.dtype | None = answer
        if op.in_order:
            op, values, dtype = carry_inputs(op, values, answer, answer)
        return groups.reduce(op, values, nulls=inputs.nulls, dtype=dtype)

    def combine(self, states: Sequence[States]) -> States:
        if len(states) == 1:
            return states[0]
        parts = [self._parts(s).fields for s in states]
        op = self._combining(parts[0])
        extra = [s[len(parts[0]) :] for s in states]
        return (*folded(op, parts), *(np.bool_(any(each)) for each in zip(*extra, strict=True)))

    def merge(self, library: Library, states: States, groups: ReducibleGroups) -> States:
        parts = self._parts(states).fields
        extra = states[len(parts) :]
        found = merged(self._combining(parts), parts, groups)
        return (*found, *(merged(ANY, (flags,), groups)[0] for flags in extra))

    def _combining(self, fields: States) -> Operator:
        """The operator that combines states; an extreme of floating-point states passes over NaN if it may."""
        dtype = getattr(fields[0], "dtype", None)
        if dtype is None:  # an integer of 128 bits
            return self.op
        if self.bounds is not None:
            return clamped_add(dtype)
        if self.op.in_order:
            return carry_operator(self.op, dtype)
        traits = TRAITS.get(self.op.token, PLAIN)
        if dtype.kind == "f" and traits.over_nan is not None:
            return traits.over_nan
        if len(fields) == 1:
            return traits.of_integers or self.op
        return self.op if traits.over_groups is None else traits.over_groups[0]

    def last(self, columns: Sequence[Column], states: States) -> Any:
        """Array of the answer after all rows of each group, given arrays of states."""
        plan, parts = self._plan(columns), self._parts(states)
        initial = self.initial_state(plan)
        state = carry_in_from(plan.op, state_of(parts.fields), plan.kernel_dtype, initial)
        values = lowered(plan.library, plan.op, fields_of(state))
        missing = parts.null
        if plan.has_nulls and plan.op.null_identity and initial is None:
            identity = plan.op.identity_for(*plan.storages)
            nothing = at_identity(fields_of(state), identity) | (values != values)
            missing = nothing if missing is None else missing | nothing
        missing = missing if plan.has_nulls else None
        # nulls are written to a copy: the states go on
        values = values.astype(plan.kernel_dtype, copy=missing is not None)
        return wrapped(plan, values, missing, columns)

    # --- the scan itself --------------------------------------------------------------------------

    def apply(self, columns: Sequence[Column], groups: Groups, prior: States | None) -> Any:
        plan = self._plan(columns)
        before = Parts() if prior is None else self._parts(prior)
        if groups.is_one and not self.in_groups:
            return self._apply_to_one(columns, groups, plan, before)[0]
        library, views = plan.library, self._views(plan, columns)
        initial = self.initial_state(plan)
        carry_in = None
        if before.fields:
            carry_in = state_of(before.fields)
            if plan.op.in_order:
                carry_in = carry_in_from(plan.op, carry_in, plan.kernel_dtype)
        op = plan.op
        if initial is not None:
            op = starting_from(op, initial, tuple(type(x) for x in fields_of(initial)))
        options: dict[str, Any] = {
            "exclusive": self.options.exclusive,
            "carry_in": carry_in,
            "dtype": plan.kernel_dtype,
        }
        plain = len(columns) == 1 and self.options.skipna and not self._needs_seen()
        if isinstance(groups, GroupsAsRuns) and plain and views[0].unchecked_nan is not None:
            (shown,) = library.in_band(views)
            if isinstance(shown.nulls, InBand):  # the kernel finds out whether there is any NaN
                saw_null = library.xp.zeros(1, np.bool_)
                out = groups.scan(op, shown.values, nulls=shown.nulls, saw_null=saw_null, **options)

                def wrap(views: list[View]) -> Callable[[], Any]:  # while the kernel runs
                    has_nulls = plan.has_nulls and views[0].nulls is not None
                    missing = views[0].missing() if has_nulls else None
                    array = wrapped(plan, out, missing, columns)
                    return lambda: array

                return library.assume_no_nan(
                    views, wrap, lambda _: bool(saw_null[0]), library.in_band
                )()
        inputs = joined(library.resolved(views))
        marks = plan.has_nulls and self.options.skipna and _writes_nulls(plan, inputs)
        if marks and groups.marks_nulls:
            options["mark_nulls"] = True
        out = groups.scan(op, inputs.values, nulls=inputs.nulls, **options)
        missing = None
        if plan.has_nulls and not self.options.skipna:
            missing = self._after_null(inputs, groups, before.null)
        elif plan.has_nulls and inputs.nulls is not None and not options.get("mark_nulls"):
            missing = inputs.missing()
        if plan.has_nulls and self._needs_seen():
            missing = self._before_value(
                plan, inputs, groups, before.seen, missing, len(columns[0])
            )
        return wrapped(plan, out, missing, columns)

    def follow(
        self, columns: Sequence[Column], groups: Groups, prior: States | None
    ) -> tuple[Any, States] | None:
        """Return the answers of rows, and the states of all rows so far; None if one pass does not find both.

        It does not for options whose states say more than the operator's, or that begin with another value; and it does
        not if rounding depends on where rows are cut, as answers have the bits that partitions have.
        """
        options, plan = self.options, self._plan(columns)
        begins_elsewhere = options.exclusive or options.initial is not None
        if begins_elsewhere or not options.skipna or self.in_groups:
            return None
        if plan.kernel_dtype is None or plan.kernel_dtype.kind not in traits_of(plan.op).exact:
            return None
        before = Parts() if prior is None else self._parts(prior)
        array, state = self._apply_to_one(columns, groups, plan, before, True)
        return array, fields_of(state)

    def _apply_to_one(
        self,
        columns: Sequence[Column],
        groups: Groups,
        plan: ScanPlan,
        before: Parts,
        carry_out: bool = False,
    ) -> tuple[Any, Any]:
        """Scan rows that are in no groups; return the answers, and with `carry_out` the state behind the last row."""
        options, library, views = self.options, plan.library, self._views(plan, columns)
        if not (options.skipna and plan.keeps_nan):
            views = library.resolved(views)
        start = self.initial_state(plan)
        if start is None and options.exclusive:
            start = plan.zero
        carry_in = start
        if before.fields:
            carry_in = state_of(before.fields)
            if start is not None or self.op.in_order:
                carry_in = carry_in_from(plan.op, carry_in, plan.kernel_dtype, start)
        if not any(map(_UNCHECKED_NAN, views)):
            inputs = joined(views)
            out, state = self._scanning(plan, inputs)(inputs.values, carry_in, carry_out)
        else:

            def run(views: list[View]) -> Callable[[], tuple[View, Any, Any]]:
                inputs = joined(views)
                out, state = self._scanning(plan, inputs)(inputs.values, carry_in, True)
                return lambda: (inputs, out, state)

            inputs, out, state = library.assume_no_nan(
                views, run, lambda found: bool(np.isnan(fields_of(found[2])[0]))
            )()
        missing: Any = None
        if plan.has_nulls and not options.skipna:
            missing = self._after_null(inputs, groups, before.null)
        elif plan.has_nulls and inputs.nulls is not None and not _writes_nulls(plan, inputs):
            missing = inputs if len(columns) == 1 else inputs.missing()
        if plan.has_nulls and self._needs_seen():
            missing = self._before_value(
                plan, inputs, groups, before.seen, missing, len(columns[0])
            )
        if plan.checks_overflow:
            assert plan.traits.overflow is not None
            first = plan.op.identity_for(*plan.storages) if carry_in is None else carry_in
            walk = Walk(self.label, options.exclusive, options.reverse)
            flags = missing if isinstance(missing, np.ndarray) else None
            check_overflow(
                plan.traits.overflow, walk, columns[0], plan.dtype, inputs, out, first, flags
            )
        return wrapped(plan, out, missing, columns), state

    def bound(self, column: Column) -> OfArray | None:
        plan, options = self._plan([column]), self.options
        array: Any = plan.library.array(column)
        (view,) = self._views(plan, [column])
        knows_nulls = isinstance(view.nulls, InBand) or array.dtype.kind not in "fc"
        plain = view.values is array and knows_nulls and plan.kernel_dtype == plan.answers
        if not plain or options.exclusive or not options.skipna or self.in_groups:
            return None
        if options.initial is not None or plan.held_by is not None:
            return None
        return self._scanning(plan, view).of_arrays(array.dtype)

    def _scanning(self, plan: ScanPlan, inputs: View) -> BoundScan:
        """Return the scan of rows that are in no groups."""
        kind = type(inputs.nulls)
        scan: BoundScan | None = self.plans.get(kind)
        if scan is None:
            given, marks = self.options, plan.has_nulls and self.options.skipna
            flags = given.exclusive, given.reverse
            marks = marks and _writes_nulls(plan, inputs)
            options = ScanOptions(inputs.nulls, -1, *flags, plan.kernel_dtype, marks)
            scan = BoundScan(plan.op, options)
            if kind is not Mask:
                self.plans.store(kind, scan)
        return scan

    def _after_null(self, inputs: View, groups: Groups, null: Values | None) -> Any:
        """Where the group has a null so far."""
        if inputs.nulls is None and null is None:
            return None
        return groups.any_so_far(
            inputs.missing(), exclusive=self.options.exclusive, carry_in=_flag(null)
        )

    def _before_value(
        self,
        plan: ScanPlan,
        inputs: View,
        groups: Groups,
        seen: Values | None,
        missing: Missing,
        count: int,
    ) -> Any:
        """Where the group has no earlier value, or `missing` is true."""
        if groups.is_one and bool(seen):
            return missing
        xp = plan.library.xp
        valid = xp.ones(count, np.bool_) if inputs.nulls is None else ~inputs.missing()
        found = groups.any_so_far(valid, exclusive=True, carry_in=_flag(seen))
        null = xp.ones(count, np.bool_) if found is None else ~found
        if missing is None:
            return null
        return null | (missing if is_array(missing) else missing.missing())


class Parts(NamedTuple):
    """The states of groups, or of one group, in their parts."""

    fields: States = ()
    """Those of the operator; empty if there were no rows before."""
    seen: Any = None
    """Whether there was a value; None if options do not need this."""
    null: Any = None
    """Whether there was a null; None if options do not need this."""


_UNCHECKED_NAN = attrgetter("unchecked_nan")


def joined(views: list[View]) -> View:
    """Return the inputs of a scan as one view; the values of several are a tuple, null where any of them is."""
    if len(views) == 1:
        return views[0]
    kinds = [v.nulls for v in views if v.nulls is not None]
    missing, nulls = partial(missing_in, views), kinds[0] if kinds else None
    if any(isinstance(k, Mask) for k in kinds):
        nulls = byte_mask(missing())
    unchecked = [v.unchecked_nan for v in views if v.unchecked_nan is not None]
    values = tuple(v.values for v in views)
    return View(values, nulls, missing, unchecked_nan=unchecked[0] if unchecked else None)


def wrapped(plan: ScanPlan, values: Values, missing: Missing, columns: Sequence[Column]) -> Array:
    """Return answers for columns in the dtype that users get, null where `missing`.

    Raises
    ------
    OverflowError
        For an answer that their dtype does not hold.
    """
    layout = plan.layout
    if plan.is_plain:
        return layout.wrap(values, missing, plan.dtype)
    with naming(plan.traits.library_method or plan.op.name, columns):
        if plan.narrows:
            storage = layout.storage(plan.answers)
            check_held(values, missing, storage, plan.answers)
            return layout.wrap(values.astype(storage), missing, plan.answers)
        return plan.library.from_masked(layout.wrap(values, missing, plan.dtype), plan.answers)


def _check_whole(dtype: np.dtype, view: View, column: Column) -> None:
    """Raise a ValueError if integers of a dtype do not hold the whole part of a float that is not null."""
    known, values = np.iinfo(dtype), view.values
    fits = (values >= float(known.min)) | (values > float(known.min) - 1)
    outside = ~(fits & (values < float(known.max) + 1) | view.resolved().missing())
    if bool(outside.any()):
        raise ValueError(
            f"{column_title(column)} has {values[outside][0].item()}, which {dtype} does not hold; fill or filter it "
            f"first, or ask for another dtype"
        )


def _writes_nulls(plan: ScanPlan, inputs: View) -> bool:
    """Return whether the kernel itself can write the nulls of the result."""
    return isinstance(inputs.nulls, InBand) and plan.layout.nulls == "in band"


def _flag(flag: Any) -> Any:
    """A flag as a state on the host; an array of flags unchanged."""
    return flag if flag is None or is_array(flag) else np.bool_(flag)


@lru_cache(maxsize=256)
def starting_from(op: Operator, initial: Any, types: tuple[type, ...]) -> Operator:
    """Return the operator that starts every scan, in every group, from a state.

    `types` are those of the state's parts: 1 and 1.0 are equal, and their operators are not.
    """
    combine = op.combine
    if op.lower is None:
        return replace(op, lower=lambda s: combine(initial, s))
    lower = op.lower
    return replace(op, lower=lambda s: lower(combine(initial, s)))
