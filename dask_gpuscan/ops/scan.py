"""Scans of columns by an operator: which dtype comes out, what nulls do, and how a carry is seeded.

Where a column's library has the method (cumsum, cumprod, cummax, cummin), it is asked for the dtype, so that
the answer is its own. This module must never loop over elements, nor know that there are partitions.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import Any

import numpy as np

from .. import kernels
from ..frames.columns import is_number, layout_of
from ..frames.messages import title
from ..frames.protocol import Layout, Library, View, missing_in
from ..frames.registry import library_of
from ..kernels import BUILT_IN, InBand, Mask, Operator, byte_mask
from .overflow import OVERFLOWS, check_overflow

METHODS = {
    BUILT_IN["add"]: "cumsum",
    BUILT_IN["multiply"]: "cumprod",
    BUILT_IN["maximum"]: "cummax",
    BUILT_IN["minimum"]: "cummin",
}
"""The method of a library that scans by an operator."""

IGNORING_NAN = {
    BUILT_IN["maximum"]: Operator(
        lambda a, b: a if (a > b) | (b != b) else b,
        BUILT_IN["maximum"].identity,
        name="maximum-but-nan",
        inputs=1,
        null_identity=True,
    ),
    BUILT_IN["minimum"]: Operator(
        lambda a, b: a if (a < b) | (b != b) else b,
        BUILT_IN["minimum"].identity,
        name="minimum-but-nan",
        inputs=1,
        null_identity=True,
    ),
}
"""Extremes as Arrow takes them."""


def _least_zero(dtype: np.dtype) -> Any:
    zero = -0.0 if dtype.kind in "fc" else 0
    return complex(zero, zero) if dtype.kind == "c" else zero


SIGNED_SUM = Operator(BUILT_IN["add"].combine, _least_zero, name="add", inputs=1)
"""Sums that begin with -0.0, which changes no number, as NumPy has them over rows. Those of groups begin with 0.0."""

SHOWING_NAN = tuple(METHODS)
"""Operators whose states stay NaN once they have met one."""

LOGICAL = (BUILT_IN["logical_any"], BUILT_IN["logical_all"])
"""Operators that answer at nulls too: their answers are plain bool, as those of any() and all() are."""

POSITIONAL = (BUILT_IN["first"], BUILT_IN["last"])
"""Operators that only choose among elements, and so take times too."""


@dataclass(frozen=True)
class Plan:
    """What a scan needs to know about the dtypes of its inputs."""

    library: Library
    layouts: tuple[Layout, ...]
    storages: tuple[np.dtype, ...]
    kernel_dtype: np.dtype
    """Dtype to answer in, and to accumulate in where the element itself is the state."""
    dtype: Any
    """Dtype of the result."""
    layout: Layout
    """Layout of the result."""
    marks: bool
    """Whether answers at nulls are null."""
    op: Operator
    """Operator that writes the answers."""
    shows_nan: bool
    """Whether its state stays NaN once it has met one."""
    checks_overflow: bool
    """Whether the library raises, rather than wrapping around, for this dtype."""

    def views(self, columns: Sequence[Any]) -> list[View]:
        """Show the columns to the kernels."""
        pairs = zip(self.layouts, columns, strict=True)
        return [layout.view(self.library.array(c)) for layout, c in pairs]


class Rows:
    """The inputs of a scan: their numbers, and where a row is null because one of its parts is."""

    values: Any
    nulls: kernels.Nulls

    def __init__(self, views: list[View]) -> None:
        self.views = views
        if len(views) == 1:
            self.values, self.nulls = views[0].values, views[0].nulls
        else:
            self.values = tuple(v.values for v in views)
            kinds = [v.nulls for v in views if v.nulls is not None]
            masked = any(isinstance(k, Mask) for k in kinds)
            self.nulls = byte_mask(self.missing()) if masked else kinds[0] if kinds else None
        self.doubts = [v.doubt for v in views if v.doubt is not None]

    def missing(self) -> Any:
        """Return the nulls as an array of bool."""
        return missing_in(self.views)

    def settled(self) -> Rows:
        """Return rows whose nulls are all known."""
        return Rows([view.settled() for view in self.views]) if self.doubts else self

    def met_nan(self, state: Any) -> bool:
        """Tell whether a scan may have met a NaN that should have been a null; its state shows it."""
        if not self.doubts:
            return False
        if np.isnan(state[0] if isinstance(state, tuple) else state):
            return True
        for doubt in self.doubts:
            doubt.dispel()
        return False


@dataclass(frozen=True)
class State:
    """A column's aggregate: a state and its operator, whether it saw a value, whether it met a null."""

    carrier: Operator
    state: Any
    seen: bool
    null: bool


@dataclass(frozen=True)
class ScanColumn:
    """A scan of one column, or of several that are the operator's inputs."""

    label: str
    op: Operator
    skipna: bool = True
    exclusive: bool = False
    reverse: bool = False
    initial: Any = None
    requested: Any = None

    def dtype(self, columns: Sequence[Any]) -> Any:
        try:
            plan = self._plan(columns)
            self._initial(columns, plan)
        except (TypeError, ValueError) as error:
            names = ", ".join(title(c) for c in columns)
            raise type(error)(f"{self.label} of {names}: {error}") from error
        return plan.dtype

    def _plan(self, columns: Sequence[Any]) -> Plan:
        dtypes = tuple(c.dtype for c in columns)
        return plan_over_rows(library_of(columns[0]), self.op, dtypes, self.requested)

    def _initial(self, columns: Sequence[Any], plan: Plan) -> Any:
        """The user's initial value as a state of the operator, or None."""
        value = self.initial
        if isinstance(value, dict):
            value = value.get(columns[0].name)
        if value is None:
            return plan.kernel_dtype.type(0) if plan.op == SIGNED_SUM and self.exclusive else None
        if not is_number(plan.library, plan.dtype):
            value = plan.library.stored(value, plan.dtype)
        for part in value if isinstance(value, tuple) else (value,):
            if not np.isscalar(part):
                raise TypeError(f"initial must be a scalar or a state, found {value!r}")
        return kernels.state(self.op, value, plan.storages, plan.kernel_dtype, "initial")

    def _rows(self, columns: Sequence[Any], plan: Plan) -> Rows:
        """Show the columns: nulls that are not known may stay so if the answer will tell."""
        rows = Rows(plan.views(columns))
        return rows if self.skipna and plan.shows_nan else rows.settled()

    def aggregate(self, columns: Sequence[Any]) -> Callable[[], State]:
        plan = self._plan(columns)
        rows = self._rows(columns, plan)
        begun = self._reduce(plan, rows)
        return lambda: self._aggregated(plan, rows, *begun)

    def _aggregated(
        self, plan: Plan, rows: Rows, carrier: Operator, read: Callable[[], Any]
    ) -> State:
        state = read()
        if rows.met_nan(state):
            rows = rows.settled()
            carrier, read = self._reduce(plan, rows)
            state = read()
        seen, null = len(rows.views[0].values) > 0, False
        if rows.nulls is not None and (
            not self.skipna or (self.exclusive and self.op.null_identity)
        ):
            missing = rows.missing()
            seen, null = not missing.all(), bool(missing.any())
        return State(carrier, state, seen, null)

    def _reduce(self, plan: Plan, rows: Rows) -> tuple[Operator, Callable[[], Any]]:
        return kernels.aggregating(
            plan.op, rows.values, dtype=plan.kernel_dtype, nulls=rows.nulls, reverse=self.reverse
        )

    def combine(self, aggregates: Sequence[State]) -> State:
        carrier = aggregates[0].carrier
        return State(
            carrier,
            kernels.fold(carrier, [a.state for a in aggregates]),
            any(a.seen for a in aggregates),
            any(a.null for a in aggregates),
        )

    def apply(self, columns: Sequence[Any], prefix: State | None) -> Any:
        plan = self._plan(columns)
        rows = self._rows(columns, plan)
        initial = self._initial(columns, plan)
        carry_in = initial
        if prefix is not None:
            carry_in = kernels.seed(self.op, prefix.state, plan.kernel_dtype, initial)
        out, state = self._scan(plan, rows, carry_in)
        if rows.met_nan(state):
            rows = rows.settled()
            out, _ = self._scan(plan, rows, carry_in)
        missing = self._missing(plan, rows, prefix, initial) if plan.marks else None
        if plan.checks_overflow:
            before = self.op.identity_for(*plan.storages) if carry_in is None else carry_in
            null = missing if isinstance(missing, np.ndarray) else None
            check_overflow(self, columns[0], rows.views[0], out, before, null)
        return plan.layout.wrap(out, missing, plan.dtype)

    def _scan(self, plan: Plan, rows: Rows, carry_in: Any) -> tuple[Any, Any]:
        return kernels.scan(
            plan.op,
            rows.values,
            nulls=rows.nulls,
            exclusive=self.exclusive,
            reverse=self.reverse,
            carry_in=carry_in,
            dtype=plan.kernel_dtype,
            mark_nulls=plan.marks and self.skipna and _in_band(plan, rows.nulls),
            carry_out=bool(rows.doubts),
        )

    def _missing(self, plan: Plan, rows: Rows, prefix: State | None, initial: Any) -> Any:
        """Where the answer is null, if the kernel has not written its nulls itself."""
        missing: Any = None
        if not self.skipna:
            missing = self._from_first_null(plan.library, rows, prefix)
        elif rows.nulls is not None and not _in_band(plan, rows.nulls):
            missing = rows.views[0] if len(rows.views) == 1 else rows.missing()
        if self.exclusive and self.op.null_identity and initial is None:
            missing = self._before_first_value(plan.library, rows, prefix, missing)
        return missing

    def _from_first_null(self, library: Library, rows: Rows, prefix: State | None) -> Any:
        """Without skipna, a null makes all that follows null."""
        count = len(rows.views[0].values)
        null = library.numbers.zeros(count, np.bool_)
        if prefix is not None and prefix.null:
            null[:] = True
        elif rows.nulls is not None:
            missing = rows.missing()
            if not missing.any():
                return None
            if self.reverse:
                last = count - 1 - int(missing[::-1].argmax())
                null[: last + (not self.exclusive)] = True
            else:
                null[int(missing.argmax()) + self.exclusive :] = True
        else:
            return None
        return null

    def _before_first_value(
        self, library: Library, rows: Rows, prefix: State | None, missing: Any
    ) -> Any:
        """Where nothing came before, a minimum is better told by a null than by its identity."""
        count = len(rows.views[0].values)
        if (prefix is not None and prefix.seen) or not count:
            return missing
        arrays = library.numbers
        valid = arrays.ones(count, np.bool_) if rows.nulls is None else ~rows.missing()
        null = missing.missing() if isinstance(missing, View) else missing
        null = arrays.zeros(count, np.bool_) if null is None else null
        if self.reverse:
            first = count - 1 - int(valid[::-1].argmax()) if valid.any() else 0
            null[first:] = True
        else:
            first = int(valid.argmax()) if valid.any() else count - 1
            null[: first + 1] = True
        return null


def over_rows(op: Operator, dtype: np.dtype) -> Operator:
    """Return the operator that scans rows which are in no groups, for answers of a dtype."""
    return SIGNED_SUM if op == BUILT_IN["add"] and dtype.kind in "fc" else op


@lru_cache(maxsize=4096)
def plan_over_rows(library: Library, op: Operator, dtypes: tuple[Any, ...], requested: Any) -> Plan:
    """Return the plan of a scan of rows which are in no groups."""
    found = plan(library, op, dtypes, requested)
    if found.layout.passes_over_nan:  # Arrow's sums begin with 0.0
        return found
    return replace(found, op=over_rows(found.op, found.kernel_dtype))


@lru_cache(maxsize=4096)
def plan(library: Library, op: Operator, dtypes: tuple[Any, ...], requested: Any) -> Plan:
    """Work out the dtypes of a scan; raises a TypeError that says what can be done."""
    layouts = []
    for dtype in dtypes:
        layout = layout_of(library, dtype)
        if layout is None:
            raise TypeError(
                f"dtype {dtype} cannot be scanned; leave it out with numeric_only=True or "
                f"by choosing columns, or cast it with astype"
            )
        layouts.append(layout)
    storages = tuple(x.storage(d) for x, d in zip(layouts, dtypes, strict=True))
    families = zip(layouts, dtypes, strict=True)
    masked = [(x, d) for x, d in families if x.nulls == "mask"]
    own, source = (
        (layouts[-1], dtypes[-1]) if not masked else masked[-1]
    )  # the one that holds nulls
    times = [d for d in dtypes if not is_number(library, d)]
    method = METHODS.get(op)
    result: Any
    if requested is not None:
        if times:
            raise TypeError(f"dtype={requested} cannot be asked for a column of {times[0]}")
        result = _requested(library, requested, own, source)
        if own.nulls == "in band" and storages[-1].kind == "f" and _is_numpy_integer(result):
            raise TypeError(
                f"dtype={result} cannot hold the nulls of a column of {source}; ask for a nullable dtype "
                f"such as 'Int64', or cast the column"
            )
    elif method is not None:
        result = library.answer(method, source)
    elif times:
        if op not in POSITIONAL:
            raise TypeError(
                f"{op.name} is not defined for {times[0]}; cast it with astype('int64')"
            )
        result = source
    else:
        answer = kernels.signature(op, storages)
        if not answer.scalar_output:
            raise TypeError(
                f"{op.name} has a tuple state and no lower, so it has no one value a row; "
                f"give it lower="
            )
        out = answer.outputs[0]
        nullable = any(s.kind in "fc" for s in storages)
        if nullable and out.kind in "biu" and own.nulls == "in band" and op not in LOGICAL:
            out = np.dtype(np.float64)  # the only NumPy type that holds the answers and their nulls
        result = own.result(out, source)
    layout = layout_of(library, result)
    assert layout is not None
    kernel_dtype = layout.storage(result)
    kernels.signature(op, storages, kernel_dtype)
    holds_null = layout.nulls == "mask" or kernel_dtype.kind in "fc" or bool(times)
    answers = IGNORING_NAN.get(op, op) if own.passes_over_nan else op
    wraps = kernel_dtype.kind not in "iu" or answers not in OVERFLOWS
    return Plan(
        library,
        tuple(layouts),
        storages,
        kernel_dtype,
        result,
        layout,
        marks=holds_null and op not in LOGICAL,
        op=answers,
        shows_nan=op in SHOWING_NAN and kernel_dtype.kind == "f",
        checks_overflow=not wraps and library.raises_on_overflow(result),
    )


def _requested(library: Library, requested: Any, own: Layout, source: Any) -> Any:
    """The dtype that a user asked for, in the family of the column unless it names its own."""
    if not is_number(library, requested):
        raise TypeError(f"dtype must be a numeric dtype, found {requested}")
    return own.result(requested, source) if isinstance(requested, np.dtype) else requested


def _is_numpy_integer(dtype: Any) -> bool:
    return isinstance(dtype, np.dtype) and dtype.kind in "biu"


def _in_band(plan: Plan, nulls: kernels.Nulls) -> bool:
    """Whether the kernel itself can write the nulls of the result."""
    return isinstance(nulls, InBand) and plan.layout.nulls == "in band"
